"""Coverage: which states, transitions, guards and violations of the machine a set of recordings walked.

It counts moves as they come and keeps nothing else, so its memory does not grow with the recordings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from attrs import define, field, frozen

from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.checker.step import Step
from mmsp_fsm.diagrams.folding import ANY, OTHER, by_cells, folds, open_state
from mmsp_fsm.diagrams.views import legally_reached
from mmsp_fsm.grammar.definition import Cell, Definition, Guard

VERSION = 1
"""Of the JSON document's shape."""

Key = tuple[str, str, str]
"""A state, a symbol, and the guard that decided, or nothing."""


@frozen
class Row:
    """One line of the table: an outcome of the machine, how often it was taken, and by which kinds never.

    `what` is transition, guard or violation; `counted` says whether it is among what the percentage is of.
    """

    what: str
    state: str
    symbol: str
    outcome: str
    count: int
    never: tuple[str, ...] = ()
    counted: bool = False


@define
class Coverage:
    """The counts over all streams so far. `kinds` narrows what the percentage is of to what a producer sends."""

    definition: Definition
    kinds: Collection[str]
    streams: int = 0
    events: int = 0
    taken: Counter[Key] = field(factory=Counter)
    visits: Counter[str] = field(factory=Counter)
    _state: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._state = self.definition.initial.name

    def step(self, step: Step) -> None:
        """Count the moves of one record. An item of a group left open moves nothing, nor does what follows an end."""
        self.events += 1
        for move in step.moves:
            if move.outcome is not None:
                when = move.outcome.when if isinstance(move.outcome, Guard) else ""
                self.taken[move.before, move.symbol, when] += 1
                self.visits[move.after] += 1
        self._state = step.state

    def end(self, _: StreamReport) -> None:
        """A stream has ended: nothing more comes, which is a symbol too."""
        self.streams += 1
        self.taken[self._state, "end", ""] += 1
        self.visits[self.definition.initial.name] += 1
        self._state = self.definition.initial.name

    def count(self, cell: Cell, outcome: Cell | Guard) -> int:
        """How often an outcome of a cell was taken."""
        return self.taken[cell.state, cell.symbol, outcome.when if isinstance(outcome, Guard) else ""]

    def counted(self, cell: Cell) -> bool:
        """Whether the percentage is of this cell too: a transition that streams without a fault can take."""
        speaks_of = {self.definition.states[cell.state].kind, self.definition.symbols[cell.symbol].kind} - {None}
        return cell.legal and cell.state in legally_reached(self.definition) and speaks_of <= set(self.kinds)

    @property
    def legal(self) -> tuple[int, int]:
        """Of the transitions that count, how many were taken, and how many there are."""
        cells = [cell for cell in self.definition.cells.values() if self.counted(cell)]
        return sum(1 for cell in cells if self.count(cell, cell)), len(cells)

    @property
    def percent(self) -> float:
        """The same as a percentage."""
        walked, of = self.legal
        return 100 * walked / of if of else 100.0

    @property
    def words(self) -> str:
        """What was read, and how much of the machine that walked."""
        read = ", ".join(
            f"{number:,} {noun}{'' if number == 1 else 's'}"
            for number, noun in ((self.streams, "stream"), (self.events, "event"))
        )
        walked, of = self.legal
        return f"{read}: {walked} of {of} legal transitions taken"

    # ── As rows ──────────────────────────────────────────────────────────────────────────────────────────────

    def states(self, expand: bool = False) -> Iterator[tuple[str, int]]:
        """Each state, and how often a move led there (the first: how many streams began there, too)."""
        for fold in folds(self.definition, by_cells(self.definition), expand):
            yield fold.state, sum(self.visits[open_state(self.definition, kind)] for kind in fold.kinds)
        for state in self.definition.states.values():
            if state.kind is None:
                yield state.name, self.visits[state.name]

    def rows(self, expand: bool = False) -> Iterator[Row]:
        """Each outcome; kinds that behave alike are one row unless `expand`."""
        groups: dict[tuple[str, str, str, str], list[tuple[Cell, Cell | Guard]]] = {}
        for cell in self.definition.cells.values():
            outcomes: list[Cell | Guard] = [cell, *cell.guards]
            for outcome in outcomes:
                what = "guard" if isinstance(outcome, Guard) else "transition" if cell.legal else "violation"
                state, symbol, to = self._names(cell, outcome, expand)
                words = f"{outcome.when.replace('_', ' ')} {outcome.rule}" if isinstance(outcome, Guard) else to
                words += f" {' '.join(cell.rules)}" if what == "violation" else ""
                groups.setdefault((what, state, symbol, words), []).append((cell, outcome))
        for what in ("transition", "guard", "violation"):
            for (kind, state, symbol, words), members in groups.items():
                if kind == what:
                    counts = [self.count(*one) for one in members]
                    counted = what == "transition" and any(self.counted(cell) for cell, _ in members)
                    never = tuple(self._never(members)) if what == "transition" and any(counts) else ()
                    yield Row(what, state, symbol, words, sum(counts), never, counted)

    def document(self) -> dict[str, Any]:
        """All of it as JSON: every cell by itself."""
        walked, of = self.legal
        cells = [(cell, outcome) for cell in self.definition.cells.values() for outcome in (cell, *cell.guards)]
        return {
            "version": VERSION,
            "streams": self.streams,
            "events": self.events,
            "legal": {"walked": walked, "of": of, "percent": round(self.percent, 2), "kinds": list(self.kinds)},
            "states": [{"state": state, "count": count} for state, count in self.states(expand=True)],
            "transitions": [
                {**self._entry(cell, cell), "counted": self.counted(cell)} for cell, one in cells
                if one is cell and cell.legal
            ],
            "guards": [
                {**self._entry(cell, one), "when": one.when, "rules": [one.rule]} for cell, one in cells
                if isinstance(one, Guard)
            ],
            "violations": [
                {**self._entry(cell, cell), "rules": list(cell.rules)} for cell, one in cells
                if one is cell and not cell.legal
            ],
        }  # fmt: skip

    def _entry(self, cell: Cell, outcome: Cell | Guard) -> dict[str, Any]:
        return {"state": cell.state, "symbol": cell.symbol, "to": outcome.to, "count": self.count(cell, outcome)}

    def _names(self, cell: Cell, outcome: Cell | Guard, expand: bool) -> tuple[str, str, str]:
        """State, symbol and next state, with letters for kinds that are folded."""
        if expand:
            return cell.state, cell.symbol, outcome.to
        own = self.definition.states[cell.state].kind or self.definition.symbols[cell.symbol].kind
        fold = next((one for one in folds(self.definition, by_cells(self.definition)) if own in one), None)
        of_symbol = self.definition.symbols[cell.symbol].kind
        names = []
        for name, kind in (
            (cell.state, self.definition.states[cell.state].kind),
            (cell.symbol, of_symbol),
            (outcome.to, self.definition.states[outcome.to].kind),
        ):
            letter = (fold.name if fold is not None else ANY) if kind == own else OTHER
            names.append(name if kind is None else letter + name.removeprefix(kind))
        return names[0], names[1], names[2]

    def _never(self, members: list[tuple[Cell, Cell | Guard]]) -> Iterator[str]:
        """The kinds that speak in these cells, and of which none was ever taken."""
        seen: dict[str, int] = {}
        for cell, outcome in members:
            kind = self.definition.states[cell.state].kind or self.definition.symbols[cell.symbol].kind
            if kind is not None:
                seen[kind] = seen.get(kind, 0) + self.count(cell, outcome)
        return (kind for kind, count in seen.items() if not count)
