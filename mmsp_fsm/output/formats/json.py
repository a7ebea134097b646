"""JSON output, version 1: one document over all streams, written as they come."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TextIO

from attrs import asdict

from mmsp_fsm.checker.diagnostics import Diagnostic, StreamReport
from mmsp_fsm.engines.results import Summary
from mmsp_fsm.output.escaping import is_hidden
from mmsp_fsm.output.formats.registry import OutputOptions
from mmsp_fsm.output.statistics import statistics_object
from mmsp_fsm.recordings.sources import Unreadable

if TYPE_CHECKING:
    from mmsp_fsm.output.counting import Statistics

VERSION = 1
"""Of the document's shape; it changes when a field does."""

# Where characters may stand that JSON lets stand raw and a terminal would obey or hide.
_BEYOND_ASCII = re.compile("[^ -~\n]+")


def json_text(value: Any, *, ascii_only: bool = False, indent: int | None = None) -> str:
    """`value` as JSON that is valid and safe wherever it is printed; readable UTF-8 unless `ascii_only`."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    return text if ascii_only else _BEYOND_ASCII.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return "".join(json.dumps(one)[1:-1] if is_hidden(one) else one for one in match.group())


def stream_object(report: StreamReport) -> dict[str, Any]:
    """One stream as the document holds it."""
    return {
        "source": report.source,
        "stream": report.stream,
        "verdict": report.verdict,
        "outcome": report.outcome,
        "events": report.events,
        "groups": report.groups,
        "errors": report.errors,
        "warnings": report.warnings,
        "diagnostics": [diagnostic_object(one) for one in report.diagnostics],
    }


def diagnostic_object(one: Diagnostic) -> dict[str, Any]:
    """One diagnostic as the document holds it."""
    return {
        "code": one.code,
        "rule": one.rule.name,
        "severity": one.severity,
        "message": one.message,
        "event": one.event,
        "line": one.line,
        "pointer": one.pointer,
        "state": one.state,
        "expected": list(one.expected),
        "related": [{"event": r.event, "line": r.line, "message": r.message} for r in one.related],
    }


class JsonDocument:
    """Writes the document: each stream as soon as it is known, what could not be read and the totals at the end."""

    def __init__(self, out: TextIO, options: OutputOptions) -> None:
        self._out = out
        self._ascii_only = options.ascii_only
        self._unreadable: list[dict[str, str]] = []
        self._streams = 0

    def begin(self) -> None:
        """Write what stands before the first stream."""
        self._out.write(f'{{"version": {VERSION},\n "streams": [')

    def add(self, one: StreamReport | Unreadable) -> None:
        """Write one stream; what could not be read is kept for the end."""
        if isinstance(one, Unreadable):
            self._unreadable.append({"source": one.source, "message": one.message})
            return
        self._out.write(",\n  " if self._streams else "\n  ")
        self._out.write(self._text(stream_object(one)))
        self._streams += 1

    def end(self, summary: Summary, statistics: Statistics | None = None) -> None:
        """Write the rest."""
        unreadable, totals = self._text(self._unreadable), self._text(asdict(summary))
        self._out.write(f'],\n "unreadable": {unreadable},\n "summary": {totals}')
        if statistics is not None:
            self._out.write(f',\n "statistics": {self._text(statistics_object(statistics))}')
        self._out.write("}\n")

    def _text(self, value: Any) -> str:
        return json_text(value, ascii_only=self._ascii_only)
