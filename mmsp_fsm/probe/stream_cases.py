"""The judges of the stream that a text prompt brings (P1), and the advice (P5)."""

from __future__ import annotations

from email.message import Message

from mmsp_fsm.probe.catalog import Judgement, failed, not_shown, passed
from mmsp_fsm.probe.exchanges import STRAGGLER, Exchange, error_of
from mmsp_fsm.probe.judging import grammar, judges, judges_stream, no_success, nothing_in, report_of
from mmsp_fsm.probe.probe import Probe

APART = 0.5
"""Seconds between the making of two events from which on it can be told whether they were held back."""

SLACK = 5.0
"""Seconds that a comment may be late: networks are."""

TICK = 0.05
"""Seconds by which two silences may differ and be the same one."""


# ── P1: the stream of a text prompt ──────────────────────────────────────────────────────────────────────────────


@judges("P101")
def _status(probe: Probe) -> Judgement:
    one = probe.exchange("plain")
    if one.status is None:
        return failed(f"no answer came: {one.fault}")
    if one.status != 200:
        return failed(one.answered)
    return passed("the answer is 200")


@judges_stream("P102", unless=no_success)
def _content_type(_: Probe, one: Exchange) -> Judgement:
    value = one.header("content-type")
    if value is None:
        return failed("there is no content-type")
    parsed = Message()
    parsed["content-type"] = value
    charset = parsed.get_param("charset", "utf-8")
    if parsed.get_content_type() != "text/event-stream":
        return failed(f"content-type is {value}")
    if str(charset).lower().replace("-", "") != "utf8":
        return failed(f"the charset is {charset}")
    return passed(f"content-type is {value}")


@judges_stream("P103", unless=no_success)
def _encoding(_: Probe, one: Exchange) -> Judgement:
    value = one.header("content-encoding") or "identity"
    if value.strip().lower() != "identity":
        return failed(f"content-encoding is {value}, and accept-encoding was identity")
    return passed("the bytes are plain")


@judges_stream("P104")
def _framing(_: Probe, one: Exchange) -> Judgement:
    faults = one.scan.faults
    if faults:
        return failed(faults[0] + (f", and {len(faults) - 1} more" if len(faults) > 1 else ""))
    if not one.event_count:
        return not_shown("no event came")
    return passed(f"{one.event_count} events are framed as they should be")


@judges_stream("P105")
def _grammar(_: Probe, one: Exchange) -> Judgement:
    report = report_of(one)
    return (
        grammar(one, with_end=False)
        or nothing_in(report)
        or passed(f"{report.events} events in {report.groups} closed groups conform")
    )


@judges_stream("P106")
def _end(_: Probe, one: Exchange) -> Judgement:
    report = report_of(one)
    if report.outcome == "truncated":
        why = f": {one.fault}" if one.fault is not None else ""
        return failed(f"{report.events} events came, and neither a stop event nor an error{why}")
    return passed(f"the stream {report.outcome}")


@judges_stream("P107")
def _marker(_: Probe, one: Exchange) -> Judgement:
    if one.scan.after_marker:
        return failed(f"{one.scan.after_marker} blocks follow [DONE]")
    if one.scan.markers and report_of(one).outcome == "truncated":
        return not_shown("[DONE] came, and neither a stop nor an error that it could follow")
    if one.scan.markers:
        return passed("[DONE] is the last block")
    if one.fault is not None:
        return not_shown(f"the end was not reached: {one.fault}")
    return failed("no [DONE] came")


@judges_stream("P108")
def _complete(_: Probe, one: Exchange) -> Judgement:
    if one.fault is not None and one.fault.stage == "body":
        return failed(str(one.fault))
    if one.fault is not None:
        return not_shown(str(one.fault))
    if one.lingered:
        return not_shown("the response stayed open")
    if one.header("transfer-encoding") is None and one.header("content-length") is None:
        return not_shown("the response has neither chunks nor a length: where it ends, only the connection tells")
    return passed("the response is complete")


@judges_stream("P109")
def _held_back(_: Probe, one: Exchange) -> Judgement:
    if len(one.made) < 2:
        return not_shown("fewer than two events have a time")
    (first_at, first_made), (last_at, last_made) = one.made
    made, came = last_made - first_made, last_at - first_at
    if made < APART:
        return not_shown(f"all events were made within {max(made, 0):.1f} s")
    if came < made / 2:
        return failed(f"events made over {made:.1f} s came within {came:.1f} s")
    return passed(f"events made over {made:.1f} s came over {came:.1f} s")


@judges_stream("P110")
def _keep_alive(probe: Probe, one: Exchange) -> Judgement:
    due = probe.target.keep_alive
    silence, gap = one.signs.longest, one.events.longest
    if silence > due + min(SLACK, due):
        return failed(f"for {silence:.1f} s nothing came")
    if gap < due:
        return not_shown(f"the longest silence between two events was {gap:.1f} s")
    if not one.scan.comments or silence > gap - TICK:  # what comments there are came elsewhere
        return not_shown(f"a silence of {gap:.1f} s ended before a comment was due for certain")
    return passed(f"comments came in a silence of {gap:.0f} s")


# ── P5: advice ───────────────────────────────────────────────────────────────────────────────────────────────────


@judges_stream("P501", unless=no_success)
def _cache_control(_: Probe, one: Exchange) -> Judgement:
    value = one.header("cache-control")
    words = {word.strip().lower() for word in (value or "").split(",")}
    if not words & {"no-cache", "no-store"}:
        return failed("there is no cache-control" if value is None else f"cache-control is {value}")
    return passed(f"cache-control is {value}")


@judges_stream("P502", unless=no_success)
def _content_length(_: Probe, one: Exchange) -> Judgement:
    value = one.header("content-length")
    return passed("there is none") if value is None else failed(f"content-length is {value}")


@judges_stream("P503")
def _open(_: Probe, one: Exchange) -> Judgement:
    if not one.scan.markers:
        return not_shown("no [DONE] came")
    if one.lingered:
        return failed(f"the response was still open {STRAGGLER:g} s after [DONE]")
    return passed("the response ended")


@judges_stream("P504")
def _other_fields(_: Probe, one: Exchange) -> Judgement:
    if one.scan.other_fields:
        return failed(f"there are fields {', '.join(one.scan.other_fields)}")
    return passed("blocks hold data alone") if one.event_count else not_shown("no event came")


@judges("P505")
def _refusal_type(probe: Probe) -> Judgement:
    one = probe.exchange("unknown-model")
    if one.status is None or not 400 <= one.status < 500 or error_of(one.body) is None:
        return not_shown("no error object came by status")
    value = one.header("content-type")
    kind = (value or "").partition(";")[0].strip().lower()
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        return passed(f"content-type is {value}")
    return failed("there is no content-type" if value is None else f"content-type is {value}")


@judges_stream("P506")
def _warnings(_: Probe, one: Exchange) -> Judgement:
    report = report_of(one)
    warnings = [found for found in report.diagnostics if found.severity == "warning"]
    if warnings:
        first = warnings[0]
        return failed(f"event {first.event}: {first.code} {first.message}", report)
    return nothing_in(report) or passed("there is none")


@judges("P507")
def _challenge(probe: Probe) -> Judgement:
    if not probe.target.key:
        return not_shown("no key was given")
    one = probe.exchange("key-missing")
    if one.status != 401:
        return not_shown("no 401 came")
    value = one.header("www-authenticate")
    return failed("there is no www-authenticate") if value is None else passed(f"www-authenticate is {value}")
