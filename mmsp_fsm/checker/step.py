"""Steps: what one record did to its stream, for a program that acts on it.

Of an event without a fault next to nothing is noted: what its step tells is read off the event when it is asked for.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

from mmsp_fsm.checker.diagnostics import Diagnostic
from mmsp_fsm.machine.stream_builder import Move
from mmsp_fsm.machine.symbols import Hole, ItemView
from mmsp_fsm.model.objects import ITEM_CLASSES, Item


class MoveReader(Protocol):
    """What can read an accepted event once more: the checker that accepted it."""

    def move_of(self, step: Step, event: Any, line: int | None, before: str) -> Move:
        """The move that `event` made from the state `before`."""


Taken = tuple[MoveReader, Any, "int | None", str]
"""An event that was taken without a fault, its line, and the state before it."""

What = Literal["opened", "grew", "closed", "stopped", "failed", "nothing"]
"""What one event did: to the open group, or to the stream."""


class Step:
    """What one record did: its 0-based `event` index, the `state` after it, the `diagnostics` that it drew."""

    __slots__ = ("_moves", "_taken", "diagnostics", "event", "state")

    def __init__(
        self,
        event: int,
        state: str,
        diagnostics: tuple[Diagnostic, ...] = (),
        moves: tuple[Move, ...] = (),
        taken: Taken | None = None,
    ) -> None:
        self.event = event
        self.state = state
        self.diagnostics = diagnostics
        self._moves = moves
        self._taken = taken

    @property
    def moves(self) -> tuple[Move, ...]:
        """The machine's moves in order: one, unless an event has several items.

        Of an event without a fault they are made when they are asked for, of the event as it then is.
        """
        if self._taken is not None:
            checker, *taken = self._taken
            self._moves, self._taken = (checker.move_of(self, *taken),), None
        return self._moves

    def __repr__(self) -> str:
        return f"Step(event={self.event}, state={self.state!r}, diagnostics={self.diagnostics!r})"

    # What happened, for a program that acts on it: of the last move, where an event that breaks E121 made several.

    @property
    def what(self) -> What:
        """What happened to the open group or the stream; "nothing" too for an item of a group left open earlier."""
        move = self.moves[-1]
        if move.late or move.outcome is None or not move.outcome.do:
            return "nothing"
        action = move.outcome.do[-1]
        if action == "resume" and move.group is not None and move.group.kind is move.item.kind:
            return "grew"
        return _WHAT.get(action, "nothing")

    @property
    def kind(self) -> str | None:
        """The name of the kind of the event's item; None where there is none, or none that the protocol knows."""
        view = self.moves[-1].sign.item
        return view.kind.name if view is not None else None

    @property
    def item(self) -> Item | None:
        """The item as an object of `mmsp_fsm.model`, whatever was found in it; None where it has no usable content."""
        view = self.moves[-1].sign.item
        if view is None or isinstance(view.content, Hole):
            return None
        try:
            return model_item(view)
        except (TypeError, KeyError):  # a field that has no default is absent; a definition without classes
            return None


_WHAT: dict[str, What] = {
    "open": "opened",
    "resume": "opened",
    "grow": "grew",
    "close": "closed",
    "settle": "closed",
    "stray": "closed",
    "finish": "stopped",
    "fail": "failed",
}


def model_item(item: ItemView) -> Item:
    """The model object of an item. Raises TypeError or KeyError where a field is missing, or there is no class."""
    fields: dict[str, Any] = {name: value for name, value in item.header.items() if isinstance(value, str)}
    fields |= {item.kind.grows: item.content, "fidelity": None if isinstance(item.fidelity, Hole) else item.fidelity}
    return ITEM_CLASSES[item.kind.done if item.phase == "done" else item.kind.delta](**fields)
