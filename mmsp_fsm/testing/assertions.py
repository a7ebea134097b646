"""`assert_conforms`: an assertion whose failure reads like a compiler's message, in any test framework.

report = mmsp_fsm.assert_conforms(client.stream(request))
assert report.message.finish_reason == "stop"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeGuard

from attrs import evolve

from mmsp_fsm.api import Stream, check_words, feed_stream
from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.grammar.selection import selected
from mmsp_fsm.live.events import recorded
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.output.text import Renderer
from mmsp_fsm.recordings.formats import Format

SHOWN = 10
"""Diagnostics of one stream that a failure shows; the rest is counted."""

checker_class: type[StreamChecker] = StreamChecker
"""What checks the streams. The pytest plugin puts one here that counts what the machine does."""

heard: Callable[[StreamReport], None] | None = None
"""What hears the report of every stream that a test read, where the plugin counts them."""


class ConformanceError(AssertionError):
    """A stream that does not conform, where a test says that it does.

    `report` is what was found; `recording` the stream as JSON lines, None where it was a recording already.
    """

    def __init__(self, report: StreamReport, recording: bytes | None = None) -> None:
        self.report, self.recording = report, recording
        super().__init__(told(report))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.report, self.recording)


def assert_conforms(
    stream: Stream,
    *,
    format: Format | None = None,
    select: Iterable[str] | None = None,
    extend_select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    limits: Limits | None = None,
    warnings: bool = True,
) -> StreamReport:
    """The report of a stream that conforms. Stream, format, rules and limits are given as `validate` takes them.

    Raises `ConformanceError`, an AssertionError, for one that does not; with `warnings` false, for one that draws a
    warning, too. An exception that the stream raises is one of its ends: the report's `error` tells it. An async
    stream's events are to be collected first; raises TypeError for it, and what else `validate` raises.
    """
    __tracebackhide__ = True
    check_words(format, limits)
    rules = selected(default(), select, extend_select, ignore)
    kept: list[object] = []
    taken = _kept(stream, kept) if _is_live(stream) else stream
    report = feed_stream(checker_class(rules=rules, limits=limits), taken, format)
    if heard is not None:
        heard(report)
    if fails(report, warnings):
        raise ConformanceError(report, b"".join(map(recorded, kept)) if taken is not stream else None)
    return report


def fails(report: StreamReport, warnings: bool) -> bool:
    """Whether a report fails its test; `warnings` says whether it may hold some."""
    return not report.conforming or (report.warnings > 0 and not warnings)


def told(report: StreamReport) -> str:
    """A report as text, the verdict first; nothing of it is raw model output."""
    renderer = Renderer()
    return "\n".join([renderer.verdict(report), "", *renderer.stream(_shown(report))]).rstrip()


def _shown(report: StreamReport) -> StreamReport:
    return evolve(report, diagnostics=report.diagnostics[:SHOWN])


def _is_live(stream: object) -> TypeGuard[Iterable[object]]:
    """Whether `stream` is an iterable of events, not a recording."""
    recording = isinstance(stream, (str, bytes, bytearray, memoryview, Mapping)) or hasattr(stream, "read")
    return isinstance(stream, Iterable) and not recording


def _kept(stream: Iterable[object], kept: list[object]) -> Iterator[object]:
    """The events of `stream`, and in `kept` a second time."""
    try:
        for event in stream:
            kept.append(event)
            yield event
    except Exception as error:
        kept.append(error)
        raise
