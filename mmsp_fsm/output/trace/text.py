"""A trace as lines of text, each event as soon as it is known."""

from __future__ import annotations

from typing import TextIO

from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.checker.step import Step
from mmsp_fsm.output.text import Renderer
from mmsp_fsm.recordings.framing import Record
from mmsp_fsm.recordings.sources import Unreadable


class TextTrace:
    """Writes each event, what is wrong with it below it, and the verdict."""

    def __init__(self, out: TextIO, renderer: Renderer) -> None:
        self._out = out
        self._renderer = renderer

    def begin(self) -> None:
        """Nothing stands before the first event."""

    def step(self, record: Record, step: Step, created_at: int | None, since: int | None) -> None:  # noqa: ARG002
        """Write one record."""
        for line in self._renderer.step(record, step, since):
            self._out.write(line + "\n")

    def add(self, one: StreamReport | Unreadable) -> None:
        """Write the verdict."""
        if isinstance(one, StreamReport):
            for line in self._renderer.ending(one):
                self._out.write(line + "\n")

    def end(self) -> None:
        """Nothing stands after the verdict."""
