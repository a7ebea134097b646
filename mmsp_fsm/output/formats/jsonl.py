"""JSON lines: a stream's object on a line as soon as it is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from attrs import asdict

from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.engines.results import Summary
from mmsp_fsm.output.formats.json import json_text, stream_object
from mmsp_fsm.output.formats.registry import OutputOptions
from mmsp_fsm.output.statistics import statistics_object
from mmsp_fsm.recordings.sources import Unreadable

if TYPE_CHECKING:
    from mmsp_fsm.output.counting import Statistics


class JsonLines:
    """Writes each stream as the JSON document holds it, on a line of its own, and hands it on at once.

    A source that could not be read is a line with the one key `unreadable`. There is no line of totals, so that every
    line speaks of a stream or a source; statistics that were asked for are a last line, with the totals.
    """

    def __init__(self, out: TextIO, options: OutputOptions) -> None:
        self._out, self._ascii_only = out, options.ascii_only

    def begin(self) -> None:
        """Nothing stands before the first stream."""

    def add(self, one: StreamReport | Unreadable) -> None:
        """Write one line."""
        if isinstance(one, Unreadable):
            self._write({"unreadable": {"source": one.source, "message": one.message}})
        else:
            self._write(stream_object(one))

    def end(self, summary: Summary, statistics: Statistics | None = None) -> None:
        """Write the statistics, if there are any."""
        if statistics is not None:
            self._write({"summary": asdict(summary), "statistics": statistics_object(statistics)})

    def _write(self, value: Any) -> None:
        self._out.write(json_text(value, ascii_only=self._ascii_only) + "\n")
        self._out.flush()  # somebody may wait for it
