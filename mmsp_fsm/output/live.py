"""A stream as it arrives: the text of its groups, and what is wrong, where it is wrong.

What a model says stands behind a gutter, line by line, so that nothing it says can pass for a line of ours; it passes
through `visible`, as everything from a stream does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, TextIO

from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.checker.step import Step
from mmsp_fsm.machine.stream_builder import Move
from mmsp_fsm.machine.symbols import Hole, ItemView
from mmsp_fsm.model.json_values import show, whole_characters
from mmsp_fsm.output.escaping import clip, visible, width
from mmsp_fsm.output.text import Renderer

GUTTER = "  > "
"""What stands before every line that a model said; no line of ours begins so."""

NARROWEST = 40
"""Columns below which a terminal's own line breaks are no worse than ours."""

_COUNTS = 8  # of the usage, that are shown: it is the server's, and may hold any
_LONGEST = 80
_LINE_END = re.compile(r"\r\n|\r|\n")
_CUT_OFF = re.compile("[\ud800-\udbff]$")


class LiveText:
    """Prints a stream record by record; each record is printed, and the output flushed, before the next is asked for.

    `columns` is the terminal's width, None where the output is none: longer lines are broken there, so that the gutter
    stands before every line.
    """

    def __init__(
        self, out: TextIO, renderer: Renderer, *, source: str, columns: int | None = None, ascii_only: bool = False
    ) -> None:
        self._out, self._renderer, self._source = out, renderer, source
        self._columns = columns if columns is not None and columns >= NARROWEST else None
        self._ascii_only = ascii_only
        self._label: tuple[Any, ...] | None = None  # whose text stands in the last line
        self._at = 0  # columns (characters, where there are none) of the line that stands open; 0 where none does
        self._half = ""  # the first half of a character that a fragment's end has cut

    def step(self, step: Step) -> None:
        """Print what one record did, and what is wrong with it."""
        for move in step.moves:
            self._move(move)
        self._faults(line for one in step.diagnostics for line in (*self._renderer.diagnostic(one, self._source), ""))
        self._out.flush()

    def end(self, report: StreamReport, seen: int) -> None:
        """Print what only the end could tell, and the verdict; `seen` diagnostics have been printed."""
        late = report.diagnostics[seen:]
        self._faults(line for one in late for line in (*self._renderer.diagnostic(one, self._source), ""))
        self._flush_half()
        self._line_end()
        self._out.write(self._renderer.verdict(report) + "\n")
        self._out.flush()

    # ── One move ─────────────────────────────────────────────────────────────────────────────────────────────

    def _move(self, move: Move) -> None:
        item, sign = move.sign.item, move.sign
        if item is None:
            if sign.symbol == "stop":
                counts = list(islice((sign.usage or {}).items(), _COUNTS))
                usage = ", ".join(f"{self._clip(name)} {self._clip(show(count))}" for name, count in counts)
                self._head("stop", ": ".join(part for part in (self._clip(sign.reason or ""), usage) if part))
            elif sign.symbol == "error":
                error = sign.error or {}
                said = [str(error[name]) for name in ("type", "message") if isinstance(error.get(name), str)]
                self._head("error", ": ".join(map(self._clip, said)))
            else:  # the diagnostic below shows it
                self._head(f"{sign.symbol} record", "")
            self._label = None
        elif item.phase == "delta":
            self._fragment(item, move)
        else:
            note = "(late)" if move.late else "(no group was open)" if "stray" in move.action else ""
            self._head(item.kind.done, note)
            self._label = None

    def _fragment(self, item: ItemView, move: Move) -> None:
        told = tuple(value for value in item.header.values() if isinstance(value, str) and value)
        label = (item.kind.name, move.late)
        if "open" in move.action or label != self._label:
            note = "(late)" if move.late else "" if "open" in move.action else "(goes on)"
            self._head(item.kind.name, " ".join(part for part in (*map(self._clip, told), note) if part))
            self._label = label
        if isinstance(item.content, str):
            self._text(item.content)
        elif isinstance(item.content, bytes):
            self._mark(f"[{len(item.content)} bytes]")
        elif isinstance(item.content, list):
            self._mark(f"[{len(item.content)} numbers]")
        if item.fidelity is not None and not isinstance(item.fidelity, Hole):
            self._mark("[fidelity]")

    # ── Lines ────────────────────────────────────────────────────────────────────────────────────────────────

    def _head(self, name: str, more: str) -> None:
        self._flush_half()
        self._line_end()
        self._out.write(self._renderer.heading(name) + (f" {more}" if more else "") + "\n")

    def _text(self, text: str) -> None:
        """Print text of a fragment behind the gutter; its line may go on with the next one."""
        text = whole_characters(self._half + text)
        cut = _CUT_OFF.search(text)
        self._half = cut.group() if cut else ""
        first, *rest = _LINE_END.split(text.removesuffix(self._half))
        self._write(first)
        for line in rest:
            self._line_end(blank=True)
            self._write(line)

    def _mark(self, mark: str) -> None:
        """Print what stands for a content that is no text."""
        self._write(f" {mark}" if self._at > len(GUTTER) else mark)

    def _write(self, text: str) -> None:
        """Print a part of one line; a line that is too long is broken."""
        shown = visible(text, ascii_only=self._ascii_only)
        if self._columns is None:
            if shown and not self._at:
                self._begin_line()
            self._out.write(shown)
            self._at += len(shown)
            return
        parts: list[str] = []
        for character in shown:
            taken = width(character)
            if self._at + taken > self._columns:
                parts.append("\n")
                self._at = 0
            if not self._at:
                parts.append(GUTTER)
                self._at = len(GUTTER)
            parts.append(character)
            self._at += taken
        self._out.write("".join(parts))

    def _begin_line(self) -> None:
        self._out.write(GUTTER)
        self._at = len(GUTTER)

    def _line_end(self, *, blank: bool = False) -> None:
        """End the line that stands open; with `blank`, an empty one is a line too."""
        if not self._at and blank:
            self._begin_line()
        if self._at:
            self._out.write("\n")
        self._at = 0

    def _flush_half(self) -> None:
        """Show half a character whose other half did not come."""
        half, self._half = self._half, ""
        if half:
            self._write(half)

    def _faults(self, lines: Iterable[str]) -> None:
        for number, line in enumerate(lines):
            if not number:
                self._flush_half()
                self._line_end()
                self._label = None if self._label is None else (*self._label[:1], None)  # its header is due again
                self._out.write("\n")
            self._out.write(line + "\n")

    def _clip(self, text: str) -> str:
        return clip(text, _LONGEST, ascii_only=self._ascii_only)
