"""A run over many sources: what is found, what could not be read, and the totals."""

from __future__ import annotations

from attrs import evolve, frozen

from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.recordings.sources import Unreadable


@frozen
class NoStreams:
    """A source that was to be split into streams, and holds none: that is said, and is no failure."""

    source: str


@frozen
class PartEnd:
    """The end of a part of a recording, and how many lines and streams it held; `last` if the recording ends, too."""

    source: str
    lines: int
    streams: int
    last: bool


Found = StreamReport | NoStreams | Unreadable
"""What a run finds, one after the other."""


@frozen
class Summary:
    """The totals over all streams of one run."""

    streams: int = 0
    conforming: int = 0
    violating: int = 0
    events: int = 0
    errors: int = 0
    warnings: int = 0
    unreadable: int = 0

    def plus(self, one: StreamReport | Unreadable) -> Summary:
        """These totals with one more stream, or one more source that could not be read."""
        if isinstance(one, Unreadable):
            return evolve(self, unreadable=self.unreadable + 1)
        return evolve(
            self,
            streams=self.streams + 1,
            conforming=self.conforming + one.conforming,
            violating=self.violating + (not one.conforming),
            events=self.events + one.events,
            errors=self.errors + one.errors,
            warnings=self.warnings + one.warnings,
        )
