"""The state machine: `transitions`, built from the definition's cells. Nobody else imports that library.

Each cell is a transition of the library; its guards are transitions before it, with a condition each. Violations are
transitions too, so that the machine is total and never refuses a symbol. One machine serves every stream: what it
moves, and what its actions and conditions are methods of, is a stream's `StreamBuilder`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from transitions import Machine as TransitionsMachine

from mmsp_fsm.grammar.definition import Cell, Definition, Guard
from mmsp_fsm.machine.stream_builder import Move, StreamBuilder


class Machine:
    """The machine of one definition."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self._machine = TransitionsMachine(
            model=None,
            states=list(definition.states),
            initial=definition.initial.name,
            auto_transitions=False,
        )
        for cell in definition.cells.values():
            for guard in cell.guards:
                self._add(cell, guard, guard.when)
            self._add(cell, cell, None)

    def move(self, builder: StreamBuilder, move: Move) -> None:
        """Take `move`'s symbol: run the outcome's actions on `builder` and change its state."""
        self._machine.events[move.symbol].trigger(builder, move)
        move.after = builder.state

    def _add(self, cell: Cell, outcome: Cell | Guard, condition: str | None) -> None:
        before: list[str | Callable[..., bool | None]] = [partial(_took, outcome), *outcome.do]
        self._machine.add_transition(cell.symbol, cell.state, outcome.to, conditions=condition, before=before)


def _took(outcome: Cell | Guard, move: Move) -> None:
    move.outcome = outcome
