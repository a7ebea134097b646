"""A trace as one HTML page that needs nothing else: no network, no other file, no Graphviz.

What a stream holds is hostile. It gets into the page as JSON inside a `script` element that is no script, and from
there as text nodes alone. A Content-Security-Policy lets run and style what has the right hash, and load nothing.

The files in `page_files` are the page's HTML, style and script. `string.Template` fills the HTML: six places, no loops.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any, TextIO

from mmsp_fsm.checker.diagnostics import Diagnostic, Related, StreamReport
from mmsp_fsm.checker.step import Step
from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.output.escaping import clip
from mmsp_fsm.output.formats.json import diagnostic_object, stream_object
from mmsp_fsm.output.trace.contents import Budget, embedded, marked, shown
from mmsp_fsm.output.trace.groups import Group, Groups, group_object
from mmsp_fsm.output.trace.picture import machine_svg
from mmsp_fsm.output.trace.times import scale
from mmsp_fsm.output.trace.walked import Walk, broken_rule
from mmsp_fsm.recordings.framing import Record
from mmsp_fsm.recordings.sources import Unreadable
from mmsp_fsm.version import VERSION

MOST_MOVES = 50_000
"""Moves that a page shows; of what follows it shows only the records with diagnostics, and the last one."""

CONTENT_BYTES = 10_000_000
"""Bytes of contents, and of records as they stand, each. With the moves' own a page stays under 40 MB."""

LONGEST_PIECE, LONGEST_RECORD, LONGEST_NAME = 20_000, 2_000, 200
"""Characters shown of an item's content, of a record as it stands, and of a name that a model made up."""


class PageTrace:
    """Writes the page, once the stream is known; nothing where it could not be read."""

    def __init__(self, out: TextIO, definition: Definition, limits: Limits) -> None:
        self._out, self._definition, self._limits = out, definition, limits
        self._walk = Walk(definition)
        self._groups = Groups()
        self._numbers: dict[Group, int] = {}
        self._rows: list[dict[str, Any]] = []
        self._times: list[int | None] = []
        self._last: tuple[Record, Step, int | None] | None = None
        self._moves = 0
        self._diagnostics: list[dict[str, Any]] = []
        self._contents, self._records = Budget(CONTENT_BYTES), Budget(CONTENT_BYTES)
        self._first_answer: int | None = None
        self._report: StreamReport | None = None

    def begin(self) -> None:
        """Nothing stands before the page."""

    def step(self, record: Record, step: Step, created_at: int | None, since: int | None) -> None:  # noqa: ARG002
        """Keep what the page shows of one record."""
        self._walk.add(step)
        self._last = record, step, created_at
        if self._moves < MOST_MOVES or step.diagnostics:
            self._keep_last()

    def add(self, one: StreamReport | Unreadable) -> None:
        """Keep the report."""
        if isinstance(one, StreamReport):
            self._report = one

    def end(self) -> None:
        """Write the page."""
        if self._report is not None:
            self._out.write(page(self._data(self._report), machine_svg(self._walk)))

    # ── Parts ────────────────────────────────────────────────────────────────────────────────────────────────

    def _keep_last(self) -> None:
        if self._last is not None:
            record, step, time = self._last
            self._rows.append(self._row(record, step))
            self._times.append(time)
            self._moves += len(self._rows[-1]["moves"])
            self._last = None

    def _row(self, record: Record, step: Step) -> dict[str, Any]:
        text = record.data.decode("utf-8", "backslashreplace")
        room = max(MOST_MOVES - self._moves, 1)
        return {
            "event": step.event,
            "line": record.line,
            "moves": [self._move(move, step) for move in step.moves[:room]],
            "faults": [self._fault(one) for one in step.diagnostics],
            "raw": self._records.fit(text, LONGEST_RECORD),
            **({"more": len(step.moves) - room} if len(step.moves) > room else {}),
        }

    def _move(self, move: Any, step: Step) -> list[Any]:
        """A move as the page's script takes it apart: states, symbol, action, rule, group, what it brings, if done."""
        made: list[Any] = [move.before, move.symbol, move.action, move.after, broken_rule(move, step.diagnostics)]
        group = self._groups.take(move, step.event) if self._moves < MOST_MOVES else None
        if group is None:
            return made
        text, size = shown(move.item.content)
        made += [self._numbers.setdefault(group, len(self._numbers)), self._contents.fit(text, LONGEST_PIECE)]
        if move.item.phase == "done":
            return [*made, 1]
        group.size += size
        if size and self._first_answer is None and not move.item.kind.hidden:
            self._first_answer = step.event
        return made

    def _fault(self, one: Diagnostic) -> int:
        """Keep a diagnostic, and give its number in the page."""
        told: dict[str, Any] = diagnostic_object(one)
        told["pointer"] = clip(one.pointer, LONGEST_NAME)
        told["mend"] = one.rule.mend
        told["excerpt"] = marked(one.record, one.pointer)
        told["related"] = [self._related(related) for related in one.related]
        self._diagnostics.append(told)
        return len(self._diagnostics) - 1

    def _related(self, one: Related) -> dict[str, Any]:
        return {"event": one.event, "line": one.line, "message": one.message}

    def _data(self, report: StreamReport) -> dict[str, Any]:
        """All that the page's script shows."""
        self._keep_last()
        end = self._walk.way_out(report)
        late = [self._fault(one) for one in report.diagnostics if one.event >= report.events]
        last = {"event": report.events, "line": None, "moves": [[end.before, end.symbol, "", end.before, end.rule]]}
        self._rows.append({**last, "faults": late, "raw": "", "end": 1})
        self._times.append(None)
        line = scale(self._times, self._definition)
        places: dict[int, int | None] = {}
        for row, place in zip(self._rows, line.places, strict=True):
            row["at"] = places[row["event"]] = place
        error = report.error.get("type") if report.error is not None else None
        return {
            "tool": f"mmsp-fsm {VERSION}",
            "protocol": f"{self._definition.protocol.name} {self._definition.protocol.version}",
            **{name: value for name, value in stream_object(report).items() if name != "diagnostics"},
            "closed": report.groups,
            "error": clip(str(error), LONGEST_NAME) if error is not None else None,
            "kinds": list(self._definition.kinds),
            "initial": self._definition.initial.name,
            "zero": line.zero,
            "strange": line.strange,
            "answer": self._first_answer,
            "cut": self._contents.cut + self._records.cut,
            "rows": self._rows,
            "groups": [group_object(group, places, LONGEST_NAME) for group in self._numbers],
            "diagnostics": self._diagnostics,
        }


def page(data: dict[str, Any], machine: str) -> str:
    """The page of what `data` holds, all of it in ASCII, so that no encoding can spoil it."""
    style, script = _file("page.css"), _file("page.js")
    name = str(data["source"] or "the stream")
    text = Template(_file("page.html")).substitute(
        policy=(
            f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
            "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        title=escape(clip(name, LONGEST_NAME)),
        style=style,
        machine=machine,
        data=embedded(data),
        script=script,
    )
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


@cache
def _file(name: str) -> str:
    """One of the page's files."""
    return (files("mmsp_fsm.output.trace") / "page_files" / name).read_text(encoding="ascii")


def _hash(text: str) -> str:
    """What a Content-Security-Policy calls a text by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("ascii")).digest()).decode("ascii")
