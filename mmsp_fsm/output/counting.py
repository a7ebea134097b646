"""What went wrong how often in a run, and where the most: counted for who asks for statistics."""

from __future__ import annotations

import heapq

from attrs import define, field, frozen

from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.recordings.sources import Unreadable


@frozen
class RuleCount:
    """How often a rule, by its code, was broken in a run, and in how many streams."""

    code: str
    count: int
    streams: int


@frozen
class SourceCount:
    """What one source came to: its streams, and the errors and warnings of all of them."""

    source: str
    streams: int
    errors: int
    warnings: int


@define(eq=False)
class Statistics:
    """Rules by count and the worst sources of one run, in memory that does not grow with it.

    The reports of one source must come one after the other. Counts are true totals, of the diagnostics too that a
    stream's report does not keep.
    """

    worst: int = 10
    _rules: dict[str, RuleCount] = field(factory=dict, init=False)
    _current: SourceCount | None = field(default=None, init=False)
    _heap: list[tuple[int, int, int, SourceCount]] = field(factory=list, init=False)
    _sources: int = field(default=0, init=False)

    def add(self, one: StreamReport | Unreadable) -> None:
        """Count one stream. A source that could not be read has broken no rule."""
        if isinstance(one, Unreadable):
            return
        for code, count in one.counts.items():
            known = self._rules.get(code) or RuleCount(code, 0, 0)
            self._rules[code] = RuleCount(code, known.count + count, known.streams + 1)
        source, last = one.source or "", self._current
        if last is None or last.source != source:
            self._settle()
            last = SourceCount(source, 0, 0, 0)
        self._current = SourceCount(source, last.streams + 1, last.errors + one.errors, last.warnings + one.warnings)

    def rules(self) -> list[RuleCount]:
        """The rules that were broken, the most frequent first."""
        return sorted(self._rules.values(), key=lambda one: (-one.count, one.code))

    def sources(self) -> list[SourceCount]:
        """The worst sources, the worst first, and of equally bad ones the first; those without a fault are left out."""
        self._settle()
        return [entry[-1] for entry in sorted(self._heap, key=lambda entry: entry[:-1], reverse=True)]

    def _settle(self) -> None:
        """The current source is complete: keep it if it is one of the worst."""
        done, self._current = self._current, None
        if done is None or not (done.errors or done.warnings):
            return
        self._sources += 1
        heapq.heappush(self._heap, (done.errors, done.warnings, -self._sources, done))
        if len(self._heap) > self.worst:
            heapq.heappop(self._heap)
