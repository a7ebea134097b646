"""What every mutator needs: a conforming stream and its groups, choices, and the expected diagnostics."""

from __future__ import annotations

import base64
import json
import math
import random
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple, Protocol, TypeVar

from attrs import define, field, frozen

from mmsp_fsm.grammar.definition import Definition, Kind
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.live.events import Event, event_of

T = TypeVar("T")

Record = dict[str, Any] | bytes
"""An event, or the raw bytes of a record where the fault lies in the bytes."""

IMAGE, AUDIO = "image/png", "audio/wav"
ITEM = "/content_items/0"


class Due(NamedTuple):
    """A diagnostic that is due: its code, its event, and its pointer where that is beyond doubt."""

    code: str
    event: int
    pointer: str | None = None


Mutant = tuple[Sequence[Record], list[Due]]
"""The records of a mutated stream, and what a checker must report of it."""


class NotApplicable(Exception):  # noqa: N818  (no error: the stream does not have what a mutator needs)
    """This stream has nothing that the mutator could change."""


class Choices(Protocol):
    """Where a mutator's choices come from."""

    def of(self, options: Sequence[T]) -> T:
        """One of `options`; raises `NotApplicable` where there is none."""

    def between(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included; raises `NotApplicable` where there is none."""


class RandomChoices:
    """Choices of a seeded generator, for runs without Hypothesis."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, options: Sequence[T]) -> T:
        """One of `options`."""
        return options[self.between(0, len(options) - 1)]

    def between(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        if low > high:
            raise NotApplicable
        return self._random.randint(low, high)


# ── What a kind is, by its properties ────────────────────────────────────────────────────────────────────────────


def is_call(kind: Kind) -> bool:
    """Its groups are told apart by an id, and close as a JSON object."""
    return kind.told_by is not None and kind.closes is not None


def of_bytes(kind: Kind) -> bool:
    """It grows bytes, some of which come in one piece, as its media type says."""
    return kind.joins == "bytes" and bool(kind.one_piece_when)


def of_vectors(kind: Kind) -> bool:
    """It comes whole."""
    return kind.joins == "whole" and kind.one_piece


def of_text(kind: Kind) -> bool:
    """It grows a text, and closes as it."""
    return kind.joins == "text" and kind.closes is None


def media(kind: Kind) -> str:
    """The header field that every fragment repeats: the media type."""
    return next(entry.name for entry in kind.header if entry.later == "same")


# ── Streams ──────────────────────────────────────────────────────────────────────────────────────────────────────


@define
class Group:
    """Where a group lies in its stream; `done` is None where an error broke it off."""

    kind: Kind
    fragments: list[int]
    done: int | None

    @property
    def first(self) -> int:
        """The index of the first fragment."""
        return self.fragments[0]

    @property
    def indices(self) -> list[int]:
        """The indices of all its events."""
        return [*self.fragments, *([] if self.done is None else [self.done])]


@define
class Stream:
    """A conforming stream, and its groups. The events are the mutator's to change."""

    definition: Definition
    events: list[Event]
    groups: list[Group] = field(factory=list)

    @classmethod
    def of(cls, events: list[Event], definition: Definition | None = None) -> Stream:
        """A stream of copies of `events`, which conform."""
        stream = cls(definition if definition is not None else default(), [deepcopy(event) for event in events])
        for i in stream.deltas:
            kind, _, phase = stream.item(i)["type"].partition(".")
            last = stream.groups[-1] if stream.groups else None
            if last is None or last.done is not None:
                last = Group(stream.definition.kinds[kind], [], None)
                stream.groups.append(last)
            if phase == "done":
                last.done = i
            else:
                last.fragments.append(i)
        return stream

    @property
    def kinds(self) -> list[Kind]:
        """All kinds."""
        return list(self.definition.kinds.values())

    def kind_of(self, trait: Callable[[Kind], bool]) -> Kind:
        """The first kind that has a trait; raises `NotApplicable` where none has."""
        for kind in self.kinds:
            if trait(kind):
                return kind
        raise NotApplicable

    @property
    def deltas(self) -> list[int]:
        """The indices of the delta events."""
        return [i for i, event in enumerate(self.events) if event.get("event_type") == "delta"]

    @property
    def last(self) -> int:
        """The index of the last event."""
        return len(self.events) - 1

    @property
    def stopped(self) -> bool:
        """Whether it ends by a stop, not by an error."""
        return "error" not in self.events[-1]

    @property
    def closed(self) -> list[Group]:
        """The groups that are closed."""
        return [group for group in self.groups if group.done is not None]

    def item(self, i: int) -> dict[str, Any]:
        """The item of event `i`."""
        items: list[dict[str, Any]] = self.events[i]["content_items"]
        return items[0]

    def group_at(self, i: int) -> Group:
        """The group that event `i` is of."""
        return next(group for group in self.groups if i in group.indices)

    def after(self, group: Group) -> Group | None:
        """The group that follows directly, None where the stream's end does."""
        at = next(i for i, one in enumerate(self.groups) if one is group)
        return self.groups[at + 1] if at + 1 < len(self.groups) else None

    def closed_of(self, trait: Callable[[Kind], bool]) -> list[Group]:
        """The closed groups whose kind has a trait."""
        return [group for group in self.closed if trait(group.kind)]

    def content(self, i: int) -> Any:
        """What the item of event `i` holds in the growing field."""
        return self.item(i)[self.group_at(i).kind.grows]

    def carriers(self, group: Group) -> list[int]:
        """The fragments that carry fidelity."""
        return [i for i in group.fragments if self.item(i).get("fidelity")]

    def time(self, i: int) -> int:
        """A time for a record to stand before event `i`."""
        times = [event["created_at"] for event in self.events if "created_at" in event]
        before = [event["created_at"] for event in self.events[:i] if "created_at" in event]
        return before[-1] if before else times[0] if times else 10**12

    def delta(self, i: int, *items: Any) -> Event:
        """A delta event to stand before event `i`."""
        return event_of(self.definition, "delta", {"items": list(items), "time": self.time(i)})

    def plain(self, content: Any = "x") -> dict[str, Any]:
        """A fragment of a text."""
        kind = self.kind_of(of_text)
        return {"type": kind.delta, kind.grows: content}

    def fresh(self, kind: Kind) -> list[dict[str, Any]]:
        """The two items of a small group of `kind`, with an id that no other call has."""
        ids = {self.item(i).get(kind.told_by) for i in self.deltas} if kind.told_by is not None else set()
        header: dict[str, str] = {}
        for entry in kind.header:
            if entry.name == kind.told_by:
                header[entry.name] = next(f"new{n}" for n in range(99) if f"new{n}" not in ids)
            else:
                header[entry.name] = AUDIO if entry.later == "same" else "look"
        contents: dict[str, Any] = {"text": "ab", "bytes": "QUI=", "whole": [0.5]}
        content, closed = ("", {}) if kind.closes is not None else (contents[kind.joins], contents[kind.joins])
        return [
            {"type": kind.delta, **header, kind.grows: content},
            {"type": kind.done, **header, kind.grows: closed},
        ]

    @property
    def cut_short(self) -> str:
        """The error that may stand in place of a call's done item."""
        return self.kind_of(is_call).cut_short_by or ""

    @property
    def call_fields(self) -> list[str]:
        """The fields that a call's first fragment alone carries: its name and its id."""
        return [entry.name for entry in self.kind_of(is_call).header if entry.empty is not None]

    @property
    def call_choices(self) -> list[list[str]]:
        """One of those fields, or all."""
        return [*([name] for name in self.call_fields), self.call_fields]


# ── Mutators ─────────────────────────────────────────────────────────────────────────────────────────────────────


@frozen
class Mutator:
    """A mutator, the rules it may speak of, and what the stream it is given holds: `times` groups of a kind, or more.

    `extend` names rules that are to be selected beside those that are on.
    """

    name: str
    make: Callable[[Stream, Choices], Mutant]
    rules: frozenset[str]
    trait: Callable[[Kind], bool] | None
    times: int
    ending: str | None
    extend: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What it does, and what follows from that."""
        return (self.make.__doc__ or "").strip()


MUTATORS: list[Mutator] = []
"""All of them, once the package's modules are imported."""


def mutator(
    *rules: str,
    holding: Callable[[Kind], bool] | None = None,
    times: int = 1,
    ending: str | None = None,
    extend: tuple[str, ...] = (),
) -> Callable[[Callable[[Stream, Choices], Mutant]], Callable[[Stream, Choices], Mutant]]:
    """Enter a function among the mutators."""

    def enter(make: Callable[[Stream, Choices], Mutant]) -> Callable[[Stream, Choices], Mutant]:
        MUTATORS.append(Mutator(make.__name__, make, frozenset(rules), holding, times, ending, extend))
        return make

    return enter


def stays(s: Stream, i: int) -> list[Due]:
    """What follows from event `i` when the machine stays where it was: an unknown event type, item type or no item.

    Contract, "Recovery": "an unknown or user-only item, an unknown event type: reported, and the machine stays";
    "Groups": the open group "is not compared, but stays open"; a lost first fragment "shows as E401 and E402".
    """
    if i == s.last:
        return [Due("E307", len(s.events))] if s.stopped else []
    group = s.group_at(i)
    if i == group.done:
        return never_closed(s, group, compared=False)
    if i != group.first:
        return []
    error = s.events[-1].get("error") or {}
    if error.get("type") == s.cut_short and s.groups[-1] is group:
        raise NotApplicable
    if len(group.fragments) > 1:
        return [Due("E401", i + 1), Due("E402", i + 1)] if is_call(group.kind) else []
    return [] if group.done is None else [Due("E301", group.done)]


def never_closed(s: Stream, group: Group, compared: bool, shift: int = 0) -> list[Due]:
    """What follows when the done item of `group` is not there. `shift` moves the indices of what comes after it."""
    assert group.done is not None
    at = group.done + 1 + shift
    follower = s.after(group)
    if follower is None:
        return [Due("E304", at)] if s.stopped and group.done == s.last - 1 else []
    if follower.kind != group.kind or is_call(group.kind):
        return [Due("E302", at)]
    # Two groups of a kind whose groups nothing tells apart become one.
    if s.carriers(group) or s.carriers(follower) or s.item(group.first).get("fidelity"):
        raise NotApplicable
    if of_vectors(group.kind):
        return [Due("E410", at)]
    if of_bytes(group.kind):
        raise NotApplicable  # E411, W508, E407 as the case may be
    if not compared or follower.done is None or not any(s.content(i) for i in group.fragments):
        return []
    return [Due("E406", follower.done + shift)]


def verdict(kind: Kind, pieces: Iterable[Any], done: Any) -> str | None:
    """The error of a done item after fragments that carried `pieces`: E404, E405, E406 or none."""
    pieces = list(pieces)
    if of_bytes(kind):
        joined: Any = b"".join(base64.b64decode(piece) for piece in pieces)
        return None if joined == base64.b64decode(done) else "E406"
    if of_vectors(kind):
        raise NotApplicable
    text = whole("".join(pieces))
    if not is_call(kind):
        return None if text == whole(done) else "E406"
    try:
        value = strictly(text) if text else {}
    except ValueError:
        return "E404"
    if not isinstance(value, dict):
        return "E405"
    return None if equal(value, done) else "E406"


def whole(text: str) -> str:
    """`text` as whole characters: halves of a pair that meet are one."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def strictly(text: str) -> Any:
    """What RFC 8259 reads in `text`; raises ValueError. A key named twice would be a warning: not applicable."""

    def refuse(word: str) -> float:
        raise ValueError(word)

    def pairs(of: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(of)) < len(of):
            raise NotApplicable
        return dict(of)

    def finite(digits: str) -> float:
        value = float(digits)
        return value if math.isfinite(value) else refuse(digits)

    return json.loads(text, parse_constant=refuse, parse_float=finite, object_pairs_hook=pairs)


def equal(a: Any, b: Any) -> bool:
    """Whether two JSON values are the same: numbers by value, keys in any order, booleans no numbers."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return isinstance(a, (int, float)) == isinstance(b, (int, float)) and a == b
