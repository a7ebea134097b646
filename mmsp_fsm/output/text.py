"""Text output: diagnostics as a modern compiler prints them, a line for each stream, and the totals.

Everything that comes from a stream or a file name passes through `visible`, so that no model output reaches a terminal
raw, and none is taken for markup.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from mmsp_fsm.checker.diagnostics import Diagnostic, Related, StreamReport
from mmsp_fsm.checker.step import Step
from mmsp_fsm.engines.results import Summary
from mmsp_fsm.output.escaping import clip, visible, width
from mmsp_fsm.output.excerpts import Excerpt, excerpt
from mmsp_fsm.output.formats.registry import OutputOptions
from mmsp_fsm.output.pages import rule_page
from mmsp_fsm.output.statistics import print_statistics
from mmsp_fsm.output.trace.times import duration
from mmsp_fsm.recordings.framing import Record
from mmsp_fsm.recordings.sources import Unreadable

if TYPE_CHECKING:
    from mmsp_fsm.output.counting import Statistics

STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "bold": "1",
    "gutter": "1;34",
    "related": "36",
    "good": "32",
}
"""What each style is in a terminal's own numbers (ECMA-48, SGR)."""

COLUMNS = 100
"""Where long help is wrapped."""

LONGEST_NAME = 120
"""Characters shown of a JSON pointer or an error's type, which may be names of any length that a model made up."""


class TextRun:
    """Prints a run: each stream as soon as it is known, what could not be read on standard error, and the totals and
    the statistics last. `quiet` leaves out all but diagnostics, and statistics that were asked for.
    """

    def __init__(self, out: TextIO, options: OutputOptions) -> None:
        self._out, self._options = out, options
        self._renderer = Renderer(color=options.color, ascii_only=options.ascii_only, docs_url=options.docs_url)

    def begin(self) -> None:
        """Nothing stands before the first stream."""

    def add(self, one: StreamReport | Unreadable) -> None:
        """Print one stream, or why a source could not be read."""
        if isinstance(one, Unreadable):
            self._options.complain(self._renderer.unreadable(one))
            return
        for line in self._renderer.stream(one):
            self._out.write(line + "\n")
        if not self._options.quiet:
            self._out.write(self._renderer.verdict(one) + "\n")
            if one.diagnostics:
                self._out.write("\n")

    def end(self, summary: Summary, statistics: Statistics | None = None) -> None:
        """Print the totals, and the statistics if there are any."""
        if not self._options.quiet:
            self._out.write(self._renderer.summary(summary) + "\n")
        if statistics is not None:
            print_statistics(statistics, self._out, self._options)


class Renderer:
    """Renders diagnostics and reports as lines of text. `color` says whether the terminal is to colour it,
    `ascii_only` that it knows no other characters (the marks would not stand under what they mark). Codes of rules are
    links to their pages below `docs_url` where there is colour: a terminal that knows no escapes would print them.
    """

    def __init__(self, *, color: bool = False, ascii_only: bool = False, docs_url: str | None = None) -> None:
        self._color = color
        self._ascii_only = ascii_only
        self._docs_url = docs_url

    def stream(self, report: StreamReport) -> Iterator[str]:
        """The lines of one stream's diagnostics, each with a blank line behind."""
        for diagnostic in report.diagnostics:
            yield from self.diagnostic(diagnostic, report.source, report.stream)
            yield ""
        errors = report.errors - sum(one.severity == "error" for one in report.diagnostics)
        warnings = report.warnings - sum(one.severity == "warning" for one in report.diagnostics)
        left = [_count(number, noun) for number, noun in ((errors, "error"), (warnings, "warning")) if number]
        if left:
            yield f"... and {' and '.join(left)} more of this stream"
            yield ""

    def diagnostic(self, one: Diagnostic, source: str | None, stream: str | int | None = None) -> Iterator[str]:
        """The lines of one diagnostic: what, where, the records as they stand, expectation, and help."""
        yield self._code(one) + self.styled("bold", f": {self._visible(one.message)}")
        parts: tuple[Diagnostic | Related, ...] = (one, *one.related)
        gutter = max(len(_label(part)) for part in parts)
        pad = " " * gutter
        yield f"{pad}{self._gutter('-->')} {self._place(one, source, stream)}"
        for related in one.related:
            yield from self._record(related, gutter, "-", "related", self._visible(related.message))
        yield from self._record(one, gutter, "^", one.severity, "")
        yield f"{pad} {self._gutter('|')}"
        yield from self._notes(one, pad)

    def verdict(self, report: StreamReport) -> str:
        """One line that says what a stream comes to."""
        name = f"{self._visible(report.source or 'the stream')}: "
        name += f"stream {self._clipped(str(report.stream))}: " if report.stream is not None else ""
        records = f"{report.outcome} after {_count(report.events, 'event')} in {_count(report.groups, 'closed group')}"
        if report.outcome == "failed" and report.error is not None:
            records += f" with {self._clipped(str(report.error.get('type')))}"
        found = f", {_faults(report.errors, report.warnings)}" if report.errors or report.warnings else ""
        style = "good" if report.conforming else "error"
        return name + self.styled(style, report.verdict) + f", {records}{found}"

    def summary(self, summary: Summary) -> str:
        """The line of totals."""
        parts = [f"{_count(summary.streams, 'stream')}: {summary.conforming} conforming, {summary.violating} violating"]
        parts.append(f"{_count(summary.events, 'event')}, {_faults(summary.errors, summary.warnings)}")
        if summary.unreadable:
            parts.append(f"{_count(summary.unreadable, 'source')} could not be read")
        return "; ".join(parts)

    def unreadable(self, one: Unreadable) -> str:
        """The line for a source that could not be read."""
        return self.styled("error", "error") + f": {self._visible(one.source)}: {self._visible(one.message)}"

    def complaint(self, sentence: str) -> str:
        """The line for what keeps a command from its work."""
        return self.styled("error", "error") + f": {self._visible(sentence)}"

    def step(self, record: Record, step: Step, since: int | None) -> Iterator[str]:
        """The lines of one event of a trace: each move, and below them what is wrong. `since` is the time since the
        last event, in ms.
        """
        where = f"{step.event:>5} {'line ' + str(record.line):<9} {duration(since):>9}"
        for move in step.moves:
            states = f"{move.before:<22} {self._visible(move.symbol):<22} {move.action or '-':<12} {move.after}"
            yield f"{where}  {states}"
            where = " " * len(where)
        for diagnostic in step.diagnostics:
            yield self._trace_line(diagnostic)

    def heading(self, name: str) -> str:
        """A name that begins a part of something longer."""
        return self.styled("bold", self._visible(name))

    def ending(self, report: StreamReport) -> Iterator[str]:
        """The last lines of a trace: what was wrong only at the end, and the verdict."""
        for diagnostic in report.diagnostics:
            if diagnostic.event >= report.events:
                yield self._trace_line(diagnostic)
        yield self.verdict(report)

    # ── Parts ────────────────────────────────────────────────────────────────────────────────────────────────

    def _trace_line(self, one: Diagnostic) -> str:
        return f"{' ' * 27}{self._code(one)} {self._visible(one.message)}"

    def _code(self, one: Diagnostic) -> str:
        """Severity and code; on a terminal a link to the rule's page, where there is one (OSC 8)."""
        text = self.styled(one.severity, f"{one.severity}[{one.code}]")
        if not (self._color and self._docs_url):
            return text
        return f"\x1b]8;;{rule_page(one.code, self._docs_url)}\x1b\\{text}\x1b]8;;\x1b\\"

    def _place(self, one: Diagnostic, source: str | None, stream: str | int | None) -> str:
        parts = [self._visible(source)] if source is not None else []
        if one.line is not None:
            parts.append(str(one.line))
        where = ":".join(parts)
        event = f"stream {self._clipped(str(stream))}, " if stream is not None else ""
        event += f"event {one.event}" + (f", {self._clipped(one.pointer)}" if one.pointer else "")
        return f"{where} ({event})" if where else event

    def _record(self, part: Diagnostic | Related, gutter: int, mark: str, style: str, message: str) -> Iterator[str]:
        """The record that a diagnostic or a related place speaks of, and the mark below it."""
        if not part.record:
            return
        yield f"{' ' * gutter} {self._gutter('|')}"
        shown = excerpt(part.record, part.pointer)
        text, before, marked = self._line(shown)
        yield f"{self._gutter(_label(part).rjust(gutter))} {self._gutter('|')} {text}"
        line = mark * max(1, width(marked)) + (f" {message}" if message else "")
        yield f"{' ' * gutter} {self._gutter('|')} {' ' * width(before)}{self.styled(style, line)}"

    def _notes(self, one: Diagnostic, pad: str) -> Iterator[str]:
        expected = _or(one.expected)
        notes = [
            ("state", f"{one.state}; here may stand {expected}" if expected else one.state),
            ("help", one.rule.mend),
            ("rule", f"{one.rule.name} (mmsp-fsm explain {one.code})"),
        ]
        for name, text in notes:
            first, *rest = textwrap.wrap(text, COLUMNS - len(pad) - 10, break_long_words=False) or [""]
            yield f"{pad} {self._gutter('=')} {self.styled('bold', name + ':')} {first}"
            for line in rest:
                yield f"{pad}   {' ' * len(name)}  {line}"

    def _line(self, shown: Excerpt) -> tuple[str, str, str]:
        """The visible line of an excerpt, its part before the mark, and the marked part."""
        dots = "..." if self._ascii_only else "…"
        before = (dots if shown.cut_before else "") + self._visible(shown.before)
        marked = self._visible(shown.marked)
        after = self._visible(shown.after) + (dots if shown.cut_after else "")
        return before + marked + after, before, marked

    def _visible(self, text: str) -> str:
        return visible(text, ascii_only=self._ascii_only)

    def _clipped(self, text: str) -> str:
        return clip(text, LONGEST_NAME, ascii_only=self._ascii_only)

    def _gutter(self, text: str) -> str:
        return self.styled("gutter", text)

    def styled(self, style: str, text: str) -> str:
        """`text` in a style of STYLES, where the output is coloured."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self._color else text


def _label(part: Diagnostic | Related) -> str:
    """What stands in the gutter: the line's number, or the event's where there are no lines."""
    return str(part.line) if part.line is not None else f"event {part.event}"


def _or(words: Iterable[str]) -> str:
    *some, last = list(words) or [""]
    return f"{', '.join(some)} or {last}" if some else last


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _faults(errors: int, warnings: int) -> str:
    return f"{_count(errors, 'error')}, {_count(warnings, 'warning')}"
