"""The groups of a trace: which item belongs to which, and what became of each.

The machine forgets a group once it is closed or left open; who looks at a stream wants them all. What the machine did
(its actions) tells them apart here; no rule is decided a second time.
"""

from __future__ import annotations

from typing import Any, Literal

from attrs import define, field

from mmsp_fsm.machine.stream_builder import Move
from mmsp_fsm.machine.symbols import Hole, ItemView

Fate = Literal["open", "done", "left open", "done late", "cut short", "never opened"]

FATES: dict[str, Fate] = {"late": "done late", "close": "done", "settle": "done"}
"""What becomes of a group by what the builders do with its done item; nothing of that says that none was open."""


@define(eq=False)
class Group:
    """One group: its kind, what its first item bore, the events at which it began, last grew and ended, its size."""

    kind: str
    joins: str
    header: dict[str, str]
    told_by: str
    first: int
    last: int
    fate: Fate = "open"
    end: int | None = None
    fragments: int = 0
    size: int = 0


@define
class Groups:
    """The groups of one stream, in the order in which they began."""

    all: list[Group] = field(factory=list)
    left: list[Group] = field(factory=list)
    open: Group | None = None

    def take(self, move: Move, event: int) -> Group | None:
        """The group that a move's item belongs to; None where it has no item."""
        actions = move.action.split("+")
        if "leave" in actions:
            self._end("left open", event)
        if "fail" in actions:
            self._end("cut short", event)
        item = move.sign.item
        if item is None:
            return None
        group = self._owner(item, actions, event)
        if item.phase == "done":
            if self.open is group:
                self.open = None
            group.fate, group.end = FATES.get(actions[0], "never opened"), event
            if group in self.left:
                self.left.remove(group)
        else:
            group.fragments += 1
            group.last = event
        return group

    def _owner(self, item: ItemView, actions: list[str], event: int) -> Group:
        if "late" in actions:
            left = [one for one in self.left if one.kind == item.kind.name]
            mine = [one for one in left if item.told_by in ("", one.told_by)]
            return (mine or left or [self._begin(item, event)])[-1]
        same = self.open is not None and self.open.kind == item.kind.name
        if self.open is not None and same and "open" not in actions and item.told_by in ("", self.open.told_by):
            return self.open
        if self.open is not None and same and not {"open", "resume"} & set(actions):
            return self.open
        if item.phase == "done":
            return self._begin(item, event)
        self.open = self._begin(item, event)
        return self.open

    def _begin(self, item: ItemView, event: int) -> Group:
        header = {name: value for name, value in item.header.items() if not isinstance(value, Hole)}
        group = Group(item.kind.name, item.kind.joins, header, item.told_by, event, event)
        self.all.append(group)
        return group

    def _end(self, fate: Fate, event: int) -> None:
        if self.open is not None:
            self.open.fate, self.open.end = fate, event
            if fate == "left open":
                self.left.append(self.open)
            self.open = None


def group_object(group: Group, places: dict[int, int | None], most: int) -> dict[str, Any]:
    """A group as the page holds it. `places` gives each event's time on the scale; `most` the length of a header."""
    start, last = places.get(group.first), places.get(group.last)
    passed = last - start if start is not None and last is not None else 0
    return {
        "kind": group.kind,
        "header": {name: value[:most] for name, value in group.header.items() if value},
        "first": group.first,
        "last": group.last,
        "end": group.end,
        "fate": group.fate,
        "fragments": group.fragments,
        "size": group.size,
        "unit": {"text": "characters", "bytes": "bytes", "whole": "numbers"}[group.joins],
        "join": "" if group.joins == "text" else "\n",
        "rate": round(group.size * 1000 / passed, 1) if passed > 0 else None,
    }
