"""A trace as JSON, version 1: an object for each record, as soon as it is known, and the report at the end.

    {"version": 1,
     "events": [{"event": 1, "line": 2, "created_at": 1760000000014, "since_last_ms": 14,
                 "moves": [{"before": "text_open", "symbol": "text.done", "action": "close",
                            "after": "between_groups"}],
                 "diagnostics": []}],
     "report": {...}, "unreadable": []}

`event`, `line`, the diagnostics, `report` and `unreadable` are those of `validate --format json`; `report` is null
where the recording could not be read to its end. A record makes a move for each of its items, and one where it has
none; `before` and `after` are states of the machine, `action` is what the builders did ("" for nothing, `late` for an
item of a group that was left open). `created_at` is the record's own; `since_last_ms` is its distance from the last
record that has one. Both are null where no integer stands there (and beyond 2**53).
"""

from __future__ import annotations

from typing import Any, TextIO

from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.checker.step import Step
from mmsp_fsm.output.formats.json import VERSION, diagnostic_object, json_text, stream_object
from mmsp_fsm.recordings.framing import Record
from mmsp_fsm.recordings.sources import Unreadable


def event_object(record: Record, step: Step, created_at: int | None, since: int | None) -> dict[str, Any]:
    """One record of a trace as the document holds it."""
    return {
        "event": step.event,
        "line": record.line,
        "created_at": created_at,
        "since_last_ms": since,
        "moves": [
            {"before": move.before, "symbol": move.symbol, "action": move.action, "after": move.after}
            for move in step.moves
        ],
        "diagnostics": [diagnostic_object(one) for one in step.diagnostics],
    }


class JsonTrace:
    """Writes the document, each event as soon as it is known."""

    def __init__(self, out: TextIO, *, ascii_only: bool = False) -> None:
        self._out = out
        self._ascii_only = ascii_only
        self._events = 0
        self._report: StreamReport | None = None
        self._unreadable: list[dict[str, str]] = []

    def begin(self) -> None:
        """Write what stands before the first event."""
        self._out.write(f'{{"version": {VERSION},\n "events": [')

    def step(self, record: Record, step: Step, created_at: int | None, since: int | None) -> None:
        """Write one record."""
        self._out.write(",\n  " if self._events else "\n  ")
        self._out.write(self._text(event_object(record, step, created_at, since)))
        self._events += 1

    def add(self, one: StreamReport | Unreadable) -> None:
        """Keep the report, or why there is none, for the end."""
        if isinstance(one, Unreadable):
            self._unreadable.append({"source": one.source, "message": one.message})
        else:
            self._report = one

    def end(self) -> None:
        """Write the rest."""
        report = self._text(None if self._report is None else stream_object(self._report))
        self._out.write(f'],\n "report": {report},\n "unreadable": {self._text(self._unreadable)}}}\n')

    def _text(self, value: Any) -> str:
        return json_text(value, ascii_only=self._ascii_only)
