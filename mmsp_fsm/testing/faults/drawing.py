"""The strategy `faults`: mutators with Hypothesis' draws for choices, on streams that suit them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar, cast

from attrs import frozen
from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.grammar.selection import selected
from mmsp_fsm.live.events import Event
from mmsp_fsm.testing.faults import MUTATORS
from mmsp_fsm.testing.faults.basics import Due, Mutator, NotApplicable, Record, Stream
from mmsp_fsm.testing.faults.records import as_bytes
from mmsp_fsm.testing.stream_strategies import Ending, streams

T = TypeVar("T")

TRIES = 4
"""Streams on which a mutator is tried before the next one is: most apply to nearly all streams that they are given."""


@frozen
class FaultyStream:
    """A stream that conformed until one thing was done to it.

    `fault` is that thing's name, and `says` a sentence about it. `records` are the stream's: an event as
    `json.loads` gives it, or bytes where the fault lies in the bytes of a record. `due` is what a checker must report,
    nothing else and nothing less: code, event, and pointer where that is beyond doubt. `rules` are those to select.
    """

    fault: str
    says: str
    records: tuple[Record, ...]
    due: tuple[Due, ...]
    rules: frozenset[str]

    @property
    def errors(self) -> tuple[Due, ...]:
        """What breaks the protocol; empty where the fault draws warnings alone."""
        return tuple(one for one in self.due if one.code.startswith("E"))

    @property
    def events(self) -> list[Event] | None:
        """The records as a program has them; None where one of them is no JSON value that Python can say."""
        events = [one for one in self.records if isinstance(one, dict)]
        return events if len(events) == len(self.records) else None

    @property
    def recording(self) -> bytes:
        """The stream as JSON lines. A record that is no JSON may hold a line end: `lines` keeps them apart."""
        return b"".join(line + b"\n" for line in self.lines)

    @property
    def lines(self) -> list[bytes]:
        """Each record as bytes."""
        return [as_bytes(one) for one in self.records]


class Draws:
    """A mutator's choices as Hypothesis' draws, so that they shrink."""

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw

    def of(self, options: Sequence[T]) -> T:
        """One of `options`."""
        return options[self.between(0, len(options) - 1)]

    def between(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        if low > high:
            raise NotApplicable
        return self._draw(st.integers(low, high))


def suiting(mutator: Mutator, definition: Definition | None = None) -> SearchStrategy[list[Event]]:
    """Conforming streams that hold what `mutator` needs.

    Raises `NotApplicable` where the definition has no such kind.
    """
    ending = cast("Ending | None", mutator.ending)
    if mutator.trait is None:
        return streams(definition, ending=ending)
    known = definition if definition is not None else default()
    names = [name for name, kind in known.kinds.items() if mutator.trait(kind)]
    if not names:
        raise NotApplicable
    return st.sampled_from(names).flatmap(
        lambda name: streams(definition, holding=name, times=mutator.times, ending=ending)
    )


def names() -> tuple[str, ...]:
    """The names of all faults."""
    return tuple(mutator.name for mutator in MUTATORS if mutator.rules)


def faults(
    definition: Definition | None = None, *, named: Iterable[str] | None = None, rules: Iterable[str] | None = None
) -> SearchStrategy[FaultyStream]:
    """Streams with exactly one fault each, which has a name, and of which what a checker must report is known.

    `named` takes the names of some faults (`mmsp_fsm.testing.faults.drawing.names()` lists them), `rules` rules, by
    code, name or family, of which at least one error or warning must be due. Raises ValueError for a name that no
    fault has, and where no fault is left; UnknownRuleError for a rule that is none.
    """
    wanted = set(names()) if named is None else {named} if isinstance(named, str) else set(named)
    if strange := wanted - set(names()):
        raise ValueError(f"there is no fault named {', '.join(sorted(map(repr, strange)))}")
    known = definition if definition is not None else default()
    codes = None if rules is None else selected(known, rules)
    chosen = [
        mutator
        for mutator in MUTATORS
        if mutator.name in wanted and mutator.rules and (codes is None or mutator.rules & codes)
    ]
    if not chosen:
        raise ValueError("no fault breaks any of these rules")
    return _faulty(known, {mutator.name: mutator for mutator in chosen}, codes)


def _faulty(
    definition: Definition, chosen: dict[str, Mutator], codes: frozenset[str] | None
) -> SearchStrategy[FaultyStream]:
    @st.composite
    def faulty(draw: DrawFn) -> FaultyStream:
        mutator = chosen[draw(st.sampled_from(list(chosen)))]
        for _ in range(TRIES):
            try:
                stream = Stream.of(draw(suiting(mutator, definition)), definition)
                records, due = mutator.make(stream, Draws(draw))
            except NotApplicable:
                continue
            if due and (codes is None or any(one.code in codes for one in due)):
                in_order = tuple(sorted(due, key=lambda one: (one.event, one.code)))
                rules = selected(definition, None, mutator.extend)
                return FaultyStream(mutator.name, mutator.sentence, tuple(records), in_order, rules)
        reject()
        raise AssertionError

    return faulty()
