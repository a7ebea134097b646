"""The item builder: it collects the fragments of one group and says what the done item must hold.

A kind's properties choose what it does (`joins`, `closes`, `header`, ...); nothing here knows a kind by name.
Protocol, "Items" and "Tool calls".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, field

from mmsp_fsm.grammar.definition import Definition, Header, Kind
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.machine.symbols import Finding, Hole, ItemView, told
from mmsp_fsm.model.json_values import (
    Decoded,
    NotJsonError,
    decode,
    difference,
    flaw,
    follow,
    join_text,
    name_of,
    point,
    show,
)


@define
class Place:
    """Where a record stands: its 0-based event index, its 1-based line, and the record itself for excerpts."""

    event: int
    line: int | None = None
    record: Any = None


JOIN: dict[str, Callable[[list[Any]], Any]] = {
    "text": join_text,
    "bytes": b"".join,
    "whole": lambda pieces: pieces[0] if pieces else [],
}
"""How the contents of fragments combine."""

SIZE: dict[str, Callable[[Any], int]] = {
    "text": lambda text: len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")),
    "bytes": len,
    "whole": lambda vector: 8 * len(vector),
}
"""What a fragment's content takes, in bytes."""


@define
class ItemBuilder:
    """One group while it is open.

    `header`, `pieces` and `fidelities` hold what the fragments carried; the three `..._known` tell whether that is all
    of it, so that the done item can be held against it; `shared` says that some may be another group's. `repaired`
    marks a group with a fault of which a done item that differs would only be the echo. `said` holds the rules that are
    reported once a group, once they were; `found` is where findings go.
    """

    definition: Definition
    kind: Kind
    opened: Place
    limits: Limits
    header: dict[str, str | Hole] = field(factory=dict)
    pieces: list[Any] = field(factory=list)
    size: int = 0
    fragments: int = 0
    with_content: int = 0
    fidelities: list[dict[str, Any]] = field(factory=list)
    content_known: bool = True
    header_known: bool = True
    fidelity_known: bool = True
    shared: bool = False
    repaired: bool = False
    too_large: bool = False
    said: set[str] = field(factory=set)
    found: list[Finding] = field(factory=list)

    # ── What the machine's actions do ────────────────────────────────────────────────────────────────────────

    def open(self, item: ItemView) -> None:
        """Take the first fragment. Protocol, "Items": it alone carries a call's name and id."""
        self.header = dict(item.header)
        missing = 0
        for header in self.kind.header:
            value = item.header[header.name]
            if value is Hole.ABSENT:
                self._once(header.absent, item, header.name, f"{header.name} is absent")
                missing += header.empty is not None
            elif value == "" and header.empty is not None:
                message = f"the first fragment of a {self.kind.name} group carries {header.name}, and here it is empty"
                self._say(header.empty, item, header.name, message)
                missing += 1
        identified = sum(header.empty is not None for header in self.kind.header)
        if missing:
            # What follows from a missing name or id is part of that fault; with neither, the first fragment is lost.
            self.repaired = True
            if missing == identified:
                self.distrust()
        self._take(item)

    def resume(self, item: ItemView, known: ItemBuilder | None) -> None:
        """Take a fragment after a record that could not be read: it may be this group's first, or a later one."""
        self.header = dict(item.header)
        if known is not None and self.kind.told_by is not None and not item.told_by:
            self.header, self.opened = known.header, known.opened
        elif not item.complete:
            self.distrust()
        if known is not None:
            self.distrust()
        for header in self.kind.header:
            if item.header[header.name] is Hole.ABSENT and header.absent == header.later_absent:
                self._once(header.absent, item, header.name, f"{header.name} is absent")
        self._take(item)

    def grow(self, item: ItemView, once_a_group: str | None = None) -> None:
        """Take a later fragment. `once_a_group` is the rule of a guard that refused it, to be said no more."""
        if once_a_group is not None:
            self.said.add(once_a_group)
            self.repaired = True
        if not self.shared or item.told_by in ("", self.told_by):
            self._later_header(item)
        self._take(item)

    def close(self, item: ItemView, compare_content: bool) -> None:
        """Compare the done item with what the fragments carried.

        Protocol, "Items": it is the first fragment with the growing field replaced by everything carried.
        """
        check = self.definition.check
        for header in self.kind.header:
            self._done_header(header, item)
        if self.too_large:
            message = f"the group's joined {self.kind.grows} is beyond {self.limits.group_bytes} bytes: not compared"
            self._say(check.not_compared, item, self.kind.grows, message)
        elif self.content_known and compare_content:
            self._done_content(item)
        self._done_fidelity(item)

    def carry(self, pieces: list[Any]) -> None:
        """Take over the contents of fragments that drew no fault."""
        self.pieces = pieces
        self.fragments = len(pieces)
        self.with_content = sum(len(piece) > 0 for piece in pieces)
        self.size = sum(map(SIZE[self.kind.joins], pieces))
        self._bound()

    def distrust(self, shared: bool = False) -> None:
        """A record of this group may be missing (or another's, if `shared`): nothing is compared any more."""
        self.shared = self.shared or shared
        self.content_known = self.header_known = self.fidelity_known = False

    def blur(self) -> None:
        """The content of a fragment could not be used."""
        self.content_known = False
        self.pieces.clear()

    # ── What a guard asks ────────────────────────────────────────────────────────────────────────────────────

    def parsed(self, pieces: int | None = None) -> Decoded | NotJsonError:
        """The first `pieces` fragments joined and read as the JSON of a done item; "" stands for {}."""
        joined = join_text(self.pieces[:pieces])
        try:
            decoded = decode(joined, self.limits.nesting) if joined else Decoded({}, True)
        except NotJsonError as error:
            return error
        if not decoded.clean and (found := flaw(decoded.value)) is not None:
            return NotJsonError(f"it holds {found[1]} at {found[0]}")
        return decoded

    def judged(self) -> bool:
        """Whether the joined content is known, so that it can be judged."""
        return self.content_known and not self.too_large

    def in_one_piece(self) -> bool:
        """Whether the group's content comes in one fragment because of what its header says."""
        return self.kind.comes_in_one_piece(self.header)

    @property
    def told_by(self) -> str:
        """What tells this group from others of its kind; "" where that is unknown."""
        return told(self.kind, self.header)

    # ── Details ──────────────────────────────────────────────────────────────────────────────────────────────

    def _take(self, item: ItemView) -> None:
        self.fragments += 1
        self.with_content += item.has_content
        if item.content is Hole.UNKNOWN:
            self.blur()
        elif self.judged():
            self.size += SIZE[self.kind.joins](item.content)
            self.pieces.append(item.content)
            self._bound()
        self._fragment_fidelity(item)

    def _bound(self) -> None:
        if self.size > self.limits.group_bytes:
            self.too_large = True
            self.pieces.clear()

    def _later_header(self, item: ItemView) -> None:
        said_other = False
        for header in self.kind.header:
            value = item.header[header.name]
            first = self.header[header.name]
            if value is Hole.UNKNOWN or first is Hole.UNKNOWN:
                continue
            if value is Hole.ABSENT:
                message = f"{header.name} is absent on a later fragment"
                self._once(header.later_absent, item, header.name, message)
            elif header.later == "same":
                if first is not Hole.ABSENT and value != first:
                    message = f"{header.name} was {show(first)} on the first fragment, and here it is {show(value)}"
                    self._once(header.later_other, item, header.name, message)
            elif value and (first == "" or first is Hole.ABSENT):
                self.header[header.name] = value  # late, which is part of the fault that the first one reported
            elif value and not said_other:
                said_other = True
                message = f"{header.name} is set on the first fragment only, and here it is {show(value)} again"
                self._say(header.later_other, item, header.name, message)

    def _done_header(self, header: Header, item: ItemView) -> None:
        done, first = item.header[header.name], self.header.get(header.name, Hole.UNKNOWN)
        if done is Hole.ABSENT and header.absent == header.later_absent:
            self._once(header.absent, item, header.name, f"{header.name} is absent on the done item")
        if not self.header_known or self.repaired or not (isinstance(done, str) and isinstance(first, str)):
            return
        if difference(done, first) is not None:
            message = f"{header.name} is {show(done)} on the done item, and was {show(first)} on the first fragment"
            self._say(self.definition.check.header_mismatch, item, header.name, message)

    def _done_content(self, item: ItemView) -> None:
        check = self.definition.check
        grows = self.kind.grows
        if self.kind.closes is not None:
            parsed = self.parsed()
            if isinstance(parsed, NotJsonError):
                return
            joined = parsed.value
            if parsed.repeated is not None:
                message = f"the joined {grows} name the key {show(parsed.repeated)} twice; the last one counts"
                self._say(check.duplicate_key, item, grows, message)
        else:
            joined = JOIN[self.kind.joins](self.pieces)
        if item.content is Hole.UNKNOWN or self.repaired:
            return
        where = difference(joined, item.content)
        if where is not None:
            message = contrast(grows, joined, item.content, where)
            self.found.append(Finding(check.content_mismatch, item.pointer + point(grows) + where, message))

    def _fragment_fidelity(self, item: ItemView) -> None:
        check, key = self.definition.check, self.definition.fidelity.key
        if item.fidelity is Hole.UNKNOWN:
            self.fidelity_known = False
        elif isinstance(item.fidelity, dict) and item.fidelity:
            if self.fidelities and not self.shared:
                self._once(check.fidelity_repeated, item, key, f"a second fragment of the group carries {key}")
            if len(self.fidelities) < KEPT_FIDELITIES:
                self.fidelities.append(item.fidelity)
            else:
                self.fidelity_known = False
            self._internal(item)

    def _done_fidelity(self, item: ItemView) -> None:
        check, key = self.definition.check, self.definition.fidelity.key
        done = item.fidelity or None
        if isinstance(done, dict):
            self._internal(item)
        if done is Hole.UNKNOWN or not self.fidelity_known:
            return
        if done is None and not self.fidelities:
            return
        if done is None:
            message = f"the done item has no {key}, and a fragment carried one"
        elif not self.fidelities:
            message = f"the done item has {key}, and no fragment carried one"
        elif all(difference(carried, done) is not None for carried in self.fidelities):
            message = f"the done item's {key} is not the one that the fragments carried"
        else:
            return
        self._say(check.fidelity_mismatch, item, key, message)

    def _internal(self, item: ItemView) -> None:
        key = self.definition.fidelity.key
        for name in self.definition.fidelity.internal:
            if isinstance(item.fidelity, dict) and name in item.fidelity:
                message = f"{key} carries {name}, which never leaves a client"
                self._once(self.definition.check.internal_fidelity, item, key, message, name)

    def _once(self, code: str, item: ItemView, name: str, message: str, *deeper: str) -> None:
        """Report a rule that is reported once a group; a required field that is absent is its own fault each time."""
        if code not in self.said:
            if code != self.definition.check.missing_field:
                self.said.add(code)
            self._say(code, item, name, message, *deeper)

    def _say(self, code: str, item: ItemView, name: str, message: str, *deeper: str) -> None:
        self.found.append(Finding(code, item.pointer + point(name, *deeper), message))


KEPT_FIDELITIES = 100
"""Fidelities of one group that are kept to compare: more than one is a fault already, and memory is bounded."""


def may_be_object(last: str) -> bool:
    """Whether a text that ends with `last` may be a JSON object."""
    end = last.rstrip()
    return not end or end.endswith("}")


def contrast(name: str, joined: Any, done: Any, where: str) -> str:
    """A sentence that says how a done item's content differs from the joined one, at the pointer `where`."""
    if isinstance(joined, (str, bytes)) and isinstance(done, type(joined)) and not where:
        unit = "character" if isinstance(joined, str) else "byte"
        at = _common(joined, done)
        return (
            f"the done item's {name} is not what the fragments carried: from {unit} {at} on it holds "
            f"{_tail(done, at)}, and the fragments join to {_tail(joined, at)}"
        )
    place = f" at {where}" if where else ""
    return (
        f"the done item's {name} is not what the fragments carried:{place} it holds {_at(done, where)}, "
        f"and the fragments join to {_at(joined, where)}"
    )


def _common(a: Any, b: Any) -> int:
    """How many characters or bytes `a` and `b` begin with in common, found by halving: contents may be large."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _tail(content: Any, at: int) -> str:
    if at >= len(content):
        return "nothing more"
    return show(content[at:], 24) if isinstance(content, str) else f"{len(content) - at} other bytes"


def _at(value: Any, where: str) -> str:
    try:
        value = follow(value, where)
    except (LookupError, ValueError, TypeError):
        return "nothing"
    return name_of(value) if isinstance(value, (dict, list)) else show(value)
