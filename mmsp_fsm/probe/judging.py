"""What the judges have in common. A judge looks at exchanges, and says whether what its case demands was seen.

None passes what it has not seen: where nothing came that could have been wrong, it says "not shown".
"""

from __future__ import annotations

from collections.abc import Callable

from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.model.wire import to_json
from mmsp_fsm.probe.catalog import Judgement, failed, not_shown
from mmsp_fsm.probe.exchanges import Exchange
from mmsp_fsm.probe.probe import Probe
from mmsp_fsm.probe.requests import plain_kind

Judge = Callable[[Probe], Judgement]
StreamJudge = Callable[[Probe, Exchange], Judgement]
JUDGES: dict[str, Judge] = {}
"""The judge of each case, by code."""


def judges(code: str) -> Callable[[Judge], Judge]:
    """Register a judge."""

    def register(judge: Judge) -> Judge:
        JUDGES[code] = judge
        return judge

    return register


# ── Of any stream ────────────────────────────────────────────────────────────────────────────────────────────────


def no_success(one: Exchange) -> Judgement | None:
    """That the answer was not 200, so that nothing can be said of a stream's header."""
    if one.status is None:
        return not_shown(f"no answer came: {one.fault}")
    if one.status != 200:
        return not_shown(f"no stream came: {one.answered}")
    return None


def no_stream(one: Exchange) -> Judgement | None:
    """That no stream came, so that nothing can be said of it."""
    unread = not_shown("the stream cannot be read as it is encoded") if one.report is None else None
    return no_success(one) or unread


def report_of(one: Exchange) -> StreamReport:
    """The report of an exchange that brought a stream, as `no_stream` tells."""
    assert one.report is not None
    return one.report


def judges_stream(
    code: str, name: str = "plain", *, unless: Callable[[Exchange], Judgement | None] = no_stream
) -> Callable[[StreamJudge], StreamJudge]:
    """Register the judge of one exchange, the text prompt's or another's; it is asked only where a stream came.

    `unless` says where there is none that it could judge.
    """

    def register(judge: StreamJudge) -> StreamJudge:
        def judged(probe: Probe) -> Judgement:
            one = probe.exchange(name)
            return unless(one) or judge(probe, one)

        JUDGES[code] = judged
        return judge

    return register


def end_rule() -> str:
    """The rule for a stream that has no end, which is a case of its own."""
    definition = default()
    return definition.cells[definition.initial.name, "end"].rules[0]


def grammar(one: Exchange, *, with_end: bool = True) -> Judgement | None:
    """That a stream breaks the grammar; None where it does not."""
    report = report_of(one)
    errors = [found for found in report.diagnostics if found.severity == "error"]
    if not with_end:
        errors = [found for found in errors if found.code != end_rule()]
    if not errors:
        return None
    if one.fault is not None and with_end and errors[0].code == end_rule():
        return failed(f"{one.name}: the stream had not ended: {one.fault}", report)
    more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
    first = errors[0]
    return failed(f"{one.name}, event {first.event}: {first.code} {first.message}{more}", report)


def nothing_in(report: StreamReport) -> Judgement | None:
    """That a stream held nothing that could have been wrong."""
    if report.groups:
        return None
    if report.error is not None:
        return not_shown(f"no content came: the stream ended with {_said(report)}")
    return not_shown("no content came")


def sound(one: Exchange) -> Judgement | None:
    """That a stream is not one with content, from beginning to its stop; None where it is."""
    if (unsound := no_stream(one) or grammar(one)) is not None or one.report is None:
        return unsound
    if one.report.groups and one.report.error is not None:
        return not_shown(f"the stream ended with {_said(one.report)}")
    return nothing_in(one.report)


def _said(report: StreamReport) -> str:
    """What the error says that ended a stream."""
    error = report.error or {}
    return ": ".join(str(error[name]) for name in default().error.fields if name in error)[:200]


def text_of(one: Exchange) -> str:
    """What a stream says to people."""
    kind = plain_kind(default())
    items = [to_json(item) for item in one.report.done_items] if one.report is not None else []
    return "".join(str(item[kind.grows]) for item in items if item["type"] == kind.done)
