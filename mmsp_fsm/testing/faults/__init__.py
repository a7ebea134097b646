"""Mutators: each takes a conforming stream, does one thing to it, and says exactly what a checker must report.

What each expects is derived from the protocol and from the contract's readings of it, never from running a checker;
the comments name the sentence wherever a reader may wonder. A mutator is a function of a `Stream` and of `Choices`
(Hypothesis' draws, or a `random.Random`); it returns the records of the mutated stream and what is due.
`pick.of([])` tells that it is not applicable. The strategy `faults` draws from them.
"""

from __future__ import annotations

from mmsp_fsm.testing.faults import (
    advice,
    calls,
    contents,
    events,
    harmless,
    items,
    order,
    records,
)
from mmsp_fsm.testing.faults.basics import MUTATORS

__all__ = [
    "MUTATORS",
    "advice",
    "calls",
    "contents",
    "events",
    "harmless",
    "items",
    "order",
    "records",
]
