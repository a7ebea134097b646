"""Which cells of the machine the streams of a test run walked: what was tested of the protocol, and what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.checker.step import Step
from mmsp_fsm.fastpath.recognizer import bare
from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.model.json_values import WHITE
from mmsp_fsm.testing import assertions


@define
class Coverage:
    """The cells walked (state and symbol) and the rules reported, each with how often."""

    cells: Counter[tuple[str, str]] = field(factory=Counter)
    rules: Counter[str] = field(factory=Counter)
    streams: int = 0
    definition: Definition = field(factory=default)
    _before: type[StreamChecker] = StreamChecker

    def begin(self) -> None:
        """From now on, what checks the streams of tests counts here."""
        self._before = assertions.checker_class
        assertions.checker_class, assertions.heard = _counting(self), self.hear

    def end(self) -> None:
        """Count no more."""
        assertions.checker_class, assertions.heard = self._before, None

    def take(self, step: Step) -> None:
        """Count what one record did."""
        for move in step.moves:
            if move.outcome is not None:
                self.cells[move.before, move.symbol] += 1

    def hear(self, report: StreamReport) -> None:
        """Count a stream that was read, and what was found in it, also what only its end could tell."""
        self.streams += 1
        self.rules.update(report.counts)

    def dump(self) -> dict[str, Any]:
        """The counts as plain values."""
        cells = [[*cell, count] for cell, count in self.cells.items()]
        return {"streams": self.streams, "cells": cells, "rules": dict(self.rules)}

    def load(self, dumped: dict[str, Any] | None) -> None:
        """Add what `dump` gave in another process; None where that was not to be had."""
        if dumped is not None:
            self.streams += dumped["streams"]
            for state, symbol, count in dumped["cells"]:
                self.cells[state, symbol] += count
            self.rules.update(dumped["rules"])

    def lines(self) -> list[str]:
        """The summary: how many transitions were walked, which were not, and which rules were reported.

        What is taken as legal after a record that could not be read is no transition of the protocol.
        """
        states, cells = self.definition.states, self.definition.cells
        told = [key for key in cells if states[key[0]].role != "unsure" and key[1] != "end"]
        legal = [key for key in told if cells[key].legal]
        walked = [key for key in legal if self.cells[key]]
        streams = f"{self.streams} stream" + ("" if self.streams == 1 else "s")
        lines = [f"{streams}; {len(walked)} of {len(legal)} transitions walked"]
        for state in states:
            missing = [symbol for at, symbol in legal if at == state and not self.cells[at, symbol]]
            if missing:
                lines.append(f"  not in {state}: {', '.join(missing)}")
        if self.rules:
            lines.append("rules reported: " + ", ".join(f"{code} ({self.rules[code]})" for code in sorted(self.rules)))
        return lines


def _counting(coverage: Coverage) -> type[StreamChecker]:
    """A checker that counts in `coverage` what each record does, however it comes in."""

    class CountingChecker(StreamChecker):
        _counting = False

        def takes(self, event: object) -> bool:  # noqa: ARG002 - the checker's own name
            """Nothing without a step, which is counted."""
            return False

        def feed(self, event: object, *, line: int | None = None) -> Step:
            return self._counted(lambda: super(CountingChecker, self).feed(event, line=line))

        def feed_record(self, data: bytes, *, line: int | None = None) -> Step:
            return self._counted(lambda: super(CountingChecker, self).feed_record(data, line=line))

        def feed_unreadable(self, message: str, *, data: bytes = b"", line: int | None = None) -> Step:
            return self._counted(lambda: super(CountingChecker, self).feed_unreadable(message, data=data, line=line))

        def feed_records(self, records: list[bytes], lines: Sequence[int | None], at: int = 0) -> int:
            """One by one: many at once make no step that could be counted."""
            ended = self.ended
            while at < len(records) and (ended or not self.ended):
                record = bare(records[at])
                if record.strip(WHITE):
                    self.feed_record(record, line=lines[at])
                at += 1
            return at

        def _counted(self, take: Callable[[], Step]) -> Step:
            if self._counting:  # one way in leads through another
                return take()
            self._counting = True
            try:
                step = take()
            finally:
                self._counting = False
            coverage.take(step)
            return step

    return CountingChecker
