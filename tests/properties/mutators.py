"""Mutators: each takes a conforming stream, does one thing to it, and says exactly what a checker must report.

What each expects is derived from the protocol and from the contract's readings of it, never from running the checker;
the comments name the sentence wherever a reader may wonder. A mutator is a function of a `Stream` and of `Choices`
(Hypothesis' draws, or a `random.Random`); it returns the records of the mutated stream (an event as a dict, or the raw
bytes of a record where the fault lies in the bytes) and the faults due. `pick.of([])` tells that it is not applicable.
"""

from __future__ import annotations

import base64
import json
import math
import random
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple, Protocol, TypeVar

from attrs import define, field

from mmsp_fsm.loading import default

T = TypeVar("T")
Record = dict[str, Any] | bytes

KINDS = default().kinds
GROWS = {name: kind.grows for name, kind in KINDS.items()}
BYTES = ("inline_data", "inline_thinking")
IMAGE, AUDIO = "image/png", "audio/wav"
PARSE_ERROR = "ToolCallArgumentParseError"
DIGITS = "@digits@"


class Fault(NamedTuple):
    """A diagnostic that is due: its code, its event, and its pointer where that is beyond doubt."""

    code: str
    event: int
    pointer: str | None = None


Mutant = tuple[list[Record], list[Fault]]


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
        return options[self.between(0, len(options) - 1)]

    def between(self, low: int, high: int) -> int:
        if low > high:
            raise NotApplicable
        return self._random.randint(low, high)


@define
class Group:
    """Where a group lies in its stream; `done` is None where an error broke it off."""

    kind: str
    fragments: list[int]
    done: int | None

    @property
    def first(self) -> int:
        return self.fragments[0]

    @property
    def indices(self) -> list[int]:
        return [*self.fragments, *([] if self.done is None else [self.done])]


@define
class Stream:
    """A conforming stream, and its groups. The events are the mutator's to change."""

    events: list[dict[str, Any]]
    groups: list[Group] = field(factory=list)

    @classmethod
    def of(cls, events: list[dict[str, Any]]) -> Stream:
        stream = cls([deepcopy(event) for event in events])
        for i in stream.deltas:
            kind, _, phase = stream.item(i)["type"].partition(".")
            last = stream.groups[-1] if stream.groups else None
            if last is None or last.done is not None:
                last = Group(kind, [], None)
                stream.groups.append(last)
            if phase == "done":
                last.done = i
            else:
                last.fragments.append(i)
        return stream

    @property
    def deltas(self) -> list[int]:
        return [i for i, event in enumerate(self.events) if event.get("event_type") == "delta"]

    @property
    def last(self) -> int:
        return len(self.events) - 1

    @property
    def stopped(self) -> bool:
        return "error" not in self.events[-1]

    @property
    def closed(self) -> list[Group]:
        return [group for group in self.groups if group.done is not None]

    def item(self, i: int) -> dict[str, Any]:
        return self.events[i]["content_items"][0]

    def group_at(self, i: int) -> Group:
        return next(group for group in self.groups if i in group.indices)

    def after(self, group: Group) -> Group | None:
        """The group that follows directly, None where the stream's end does."""
        at = next(i for i, one in enumerate(self.groups) if one is group)
        return self.groups[at + 1] if at + 1 < len(self.groups) else None

    def closed_of(self, *kinds: str) -> list[Group]:
        return [group for group in self.closed if group.kind in kinds]

    def content(self, i: int) -> Any:
        item = self.item(i)
        return item[GROWS[item["type"].partition(".")[0]]]

    def carriers(self, group: Group) -> list[int]:
        return [i for i in group.fragments if self.item(i).get("fidelity")]

    def time(self, i: int) -> int:
        """A time for a record to stand before event `i`."""
        times = [event["created_at"] for event in self.events if "created_at" in event]
        before = [event["created_at"] for event in self.events[:i] if "created_at" in event]
        return before[-1] if before else times[0] if times else 10**12

    def delta(self, i: int, *items: Any) -> dict[str, Any]:
        """A delta event to stand before event `i`."""
        return {"role": "assistant", "event_type": "delta", "content_items": list(items), "usage_metadata": None,
                "finish_reason": None, "created_at": self.time(i)}  # fmt: skip

    def fresh(self, kind: str) -> list[dict[str, Any]]:
        """The two items of a small group of `kind`, with an id that no other call has."""
        ids = {self.item(i).get("tool_call_id") for i in self.deltas}
        header: dict[str, str] = {}
        if kind == "tool_call":
            header = {"name": "look", "tool_call_id": next(f"new{n}" for n in range(99) if f"new{n}" not in ids)}
        elif kind in BYTES:
            header = {"mime_type": AUDIO}
        content, closed = {"tool_call": ("", {}), "embedding": ([0.5], [0.5])}.get(
            kind, ("QUI=", "QUI=") if kind in BYTES else ("ab", "ab")
        )
        return [
            {"type": f"{kind}.delta", **header, GROWS[kind]: content},
            {"type": f"{kind}.done", **header, GROWS[kind]: closed},
        ]


@define(frozen=True)
class Mutator:
    """A mutator, the rules it may speak of, and what the stream it is given holds."""

    name: str
    make: Callable[[Stream, Choices], Mutant]
    rules: frozenset[str]
    holding: str | None
    ending: str | None
    extend: tuple[str, ...]

    @property
    def sentence(self) -> str:
        return (self.make.__doc__ or "").strip()


MUTATORS: list[Mutator] = []


def mutator(
    *rules: str, holding: str | None = None, ending: str | None = None, extend: tuple[str, ...] = ()
) -> Callable[[Callable[[Stream, Choices], Mutant]], Callable[[Stream, Choices], Mutant]]:
    """Enter a function among the mutators."""

    def enter(make: Callable[[Stream, Choices], Mutant]) -> Callable[[Stream, Choices], Mutant]:
        MUTATORS.append(Mutator(make.__name__, make, frozenset(rules), holding, ending, extend))
        return make

    return enter


# ── What follows, by the protocol ────────────────────────────────────────────────────────────────────────────────


def stays(s: Stream, i: int) -> list[Fault]:
    """What follows from event `i` when the machine stays where it was: an unknown event type, item type or no item.

    Contract, "Recovery": "an unknown or user-only item, an unknown event type: reported, and the machine stays";
    "Groups": the open group "is not compared, but stays open"; a lost first fragment "shows as E401 and E402".
    """
    if i == s.last:
        return [Fault("E307", len(s.events))] if s.stopped else []
    group = s.group_at(i)
    if i == group.done:
        return never_closed(s, group, compared=False)
    if i != group.first:
        return []
    error = s.events[-1].get("error") or {}
    if error.get("type") == PARSE_ERROR and s.groups[-1] is group:
        raise NotApplicable
    if len(group.fragments) > 1:
        return [Fault("E401", i + 1), Fault("E402", i + 1)] if group.kind == "tool_call" else []
    return [] if group.done is None else [Fault("E301", group.done)]


def never_closed(s: Stream, group: Group, compared: bool, shift: int = 0) -> list[Fault]:
    """What follows when the done item of `group` is not there. `shift` moves the indices of what comes after it."""
    assert group.done is not None
    at = group.done + 1 + shift
    follower = s.after(group)
    if follower is None:
        return [Fault("E304", at)] if s.stopped and group.done == s.last - 1 else []
    if follower.kind != group.kind or group.kind == "tool_call":
        return [Fault("E302", at)]
    # Two groups of a kind whose groups nothing tells apart become one.
    if s.carriers(group) or s.carriers(follower) or s.item(group.first).get("fidelity"):
        raise NotApplicable
    if group.kind == "embedding":
        return [Fault("E410", at)]
    if group.kind in BYTES:
        raise NotApplicable  # E411, W508, E407 as the case may be
    if not compared or follower.done is None or not any(s.content(i) for i in group.fragments):
        return []
    return [Fault("E406", follower.done + shift)]


def verdict(kind: str, pieces: Iterable[Any], done: Any) -> str | None:
    """The error of a done item after fragments that carried `pieces`: E404, E405, E406 or none."""
    pieces = list(pieces)
    if kind in BYTES:
        joined: Any = b"".join(base64.b64decode(piece) for piece in pieces)
        return None if joined == base64.b64decode(done) else "E406"
    if kind == "embedding":
        raise NotApplicable
    text = whole("".join(pieces))
    if kind != "tool_call":
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


# ── Ways to write ────────────────────────────────────────────────────────────────────────────────────────────────

ITEM = "/content_items/0"
NO_STRING = (None, 0, 1.5, True, [], {}, ["text"])
NO_ARRAY = (None, {}, "", "text", 0, True)
NO_OBJECT = (None, [], "", "{}", 3, False)
NO_COUNT = ("1", 1.0, 0.5, -1, True, False, [], {}, "")
NO_TIME = (None, *NO_COUNT)


def as_bytes(event: Record) -> bytes:
    """A record as the bytes of its JSON."""
    return event if isinstance(event, bytes) else json.dumps(event).encode()


def spelled(event: dict[str, Any], spelling: str) -> bytes:
    """The bytes of an event in which `DIGITS` stands for a number written as `spelling`."""
    return json.dumps(event).replace(json.dumps(DIGITS), spelling).encode()


def torn(event: dict[str, Any], pick: Choices) -> bytes:
    data = json.dumps(event, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return data[: pick.between(1, len(data) - 1)]


def inserted(s: Stream, at: int, *records: Record) -> list[Record]:
    return [*s.events[:at], *records, *s.events[at:]]


def without(s: Stream, *indices: int) -> list[Record]:
    return [event for i, event in enumerate(s.events) if i not in indices]


def replaced(s: Stream, at: int, record: Record) -> list[Record]:
    return [*s.events[:at], record, *s.events[at + 1 :]]


# ── Events: their six fields ─────────────────────────────────────────────────────────────────────────────────────


@mutator("E103")
def event_field_absent(s: Stream, pick: Choices) -> Mutant:
    """One of the six fields is left out of an event.

    Without event_type a delta is told by its item; a stop without it, and a delta without items, count as unreadable.
    """
    i = pick.of(events_of(s))
    name = pick.of(list(s.events[i]))
    del s.events[i][name]
    return s.events, [Fault("E103", i, f"/{name}")]


def events_of(s: Stream) -> list[int]:
    return [i for i, event in enumerate(s.events) if "error" not in event]


@mutator("E104")
def event_field_unknown(s: Stream, pick: Choices) -> Mutant:
    """An event has a seventh field."""
    i = pick.of(events_of(s))
    s.events[i][pick.of(["id", "delta", "", "Role", "a/b"])] = pick.of([None, 1, {}])
    return s.events, [Fault("E104", i)]


@mutator("E104")
def event_with_error_key(s: Stream, pick: Choices) -> Mutant:
    """An event has a key `error` beside its event_type: an event with an unknown field."""
    i = pick.of(events_of(s))
    s.events[i]["error"] = pick.of([None, {"type": "UpstreamError", "message": "m"}])
    return s.events, [Fault("E104", i, "/error")]


@mutator("E106")
def role_of_another(s: Stream, pick: Choices) -> Mutant:
    """The role is another string."""
    i = pick.of(events_of(s))
    s.events[i]["role"] = pick.of(["user", "system", "", "Assistant", "assistant "])
    return s.events, [Fault("E106", i, "/role")]


@mutator("E105")
def role_no_string(s: Stream, pick: Choices) -> Mutant:
    """The role is no string."""
    i = pick.of(events_of(s))
    s.events[i]["role"] = pick.of(NO_STRING)
    return s.events, [Fault("E105", i, "/role")]


@mutator("E105")
def event_type_no_string(s: Stream, pick: Choices) -> Mutant:
    """The event type is no string: a delta is still told by its item, a stop counts as unreadable."""
    i = pick.of(events_of(s))
    s.events[i]["event_type"] = pick.of(NO_STRING)
    return s.events, [Fault("E105", i, "/event_type")]


@mutator("E107", "E301", "E302", "E304", "E401", "E402", "E410")
def event_type_unknown_on_delta(s: Stream, pick: Choices) -> Mutant:
    """A delta event is of an unknown type: the machine stays, as if its item had not come."""
    i = pick.of(s.deltas)
    s.events[i]["event_type"] = pick.of(["start", "unused", "Delta", "", "chunk"])
    return s.events, [Fault("E107", i, "/event_type"), *stays(s, i)]


@mutator("E107", "E307", ending="stop")
def event_type_unknown_on_stop(s: Stream, pick: Choices) -> Mutant:
    """The stop event is of an unknown type: the machine stays, so the stream has no end."""
    s.events[-1]["event_type"] = pick.of(["done", "end", "STOP", "message_stop"])
    return s.events, [Fault("E107", s.last, "/event_type"), Fault("E307", len(s.events))]


@mutator("E107")
def unknown_event_inserted(s: Stream, pick: Choices) -> Mutant:
    """An event of an unknown type stands somewhere before the end: the open group is not compared, but stays open."""
    at = pick.between(0, s.last)
    event = s.delta(at, *pick.of([[], [{"type": "text.delta", "text": "x"}]]))
    event["event_type"] = pick.of(["start", "ping"])
    return inserted(s, at, event), [Fault("E107", at, "/event_type")]


@mutator("E105")
def items_no_array(s: Stream, pick: Choices) -> Mutant:
    """content_items is no array; on a delta event nobody can tell what it was."""
    i = pick.of(events_of(s))
    s.events[i]["content_items"] = pick.of(NO_ARRAY)
    return s.events, [Fault("E105", i, "/content_items")]


@mutator("E121", "E301", "E302", "E304", "E401", "E402", "E410")
def item_lost(s: Stream, pick: Choices) -> Mutant:
    """A delta event has lost its item: the machine stays."""
    i = pick.of(s.deltas)
    s.events[i]["content_items"] = []
    return s.events, [Fault("E121", i, "/content_items"), *stays(s, i)]


@mutator("E121")
def empty_delta_inserted(s: Stream, pick: Choices) -> Mutant:
    """A delta event without items stands somewhere before the end."""
    at = pick.between(0, s.last)
    return inserted(s, at, s.delta(at)), [Fault("E121", at, "/content_items")]


@mutator("E121")
def items_together(s: Stream, pick: Choices) -> Mutant:
    """Two or three events' items come in one event: the machine moves once for each, in order."""
    count = pick.between(2, 3)
    i = pick.of([i for i in s.deltas if i + count - 1 in s.deltas])
    for j in range(i + 1, i + count):
        s.events[i]["content_items"].append(s.item(j))
    return without(s, *range(i + 1, i + count)), [Fault("E121", i, "/content_items")]


@mutator("E122")
def usage_on_delta(s: Stream, pick: Choices) -> Mutant:
    """A delta event carries usage, or anything but null in its place: E122 alone."""
    i = pick.of(s.deltas)
    counts = {"cached_tokens": 0, "prompt_tokens": 1, "thoughts_tokens": None, "response_tokens": 5}
    s.events[i]["usage_metadata"] = pick.of([counts, {}, 0, "", [], False, {"x": 1}])
    return s.events, [Fault("E122", i, "/usage_metadata")]


@mutator("E123")
def finish_reason_on_delta(s: Stream, pick: Choices) -> Mutant:
    """A delta event carries a finish reason, or anything but null in its place: E123 alone."""
    i = pick.of(s.deltas)
    s.events[i]["finish_reason"] = pick.of(["stop", "tool_call", "", "eos", 0, {}, False])
    return s.events, [Fault("E123", i, "/finish_reason")]


@mutator("E124", ending="stop")
def items_on_stop(s: Stream, pick: Choices) -> Mutant:
    """The stop event carries items, which are not looked at."""
    items = [[{"type": "text.done", "text": "a"}], [{"type": "nothing"}], [1], [None, {}], [{"type": "text.delta"}]]
    s.events[-1]["content_items"] = pick.of(items)
    return s.events, [Fault("E124", s.last, "/content_items")]


@mutator("E125", ending="stop")
def usage_null(s: Stream, pick: Choices) -> Mutant:
    """The stop event has no usage."""
    s.events[-1]["usage_metadata"] = None
    return s.events, [Fault("E125", s.last, "/usage_metadata")]


@mutator("E126", ending="stop")
def finish_reason_null(s: Stream, pick: Choices) -> Mutant:
    """The stop event has no finish reason."""
    s.events[-1]["finish_reason"] = None
    return s.events, [Fault("E126", s.last, "/finish_reason")]


@mutator("E102", ending="stop")
def usage_no_object(s: Stream, pick: Choices) -> Mutant:
    """The stop event's usage is no object: E102 beats E105."""
    s.events[-1]["usage_metadata"] = pick.of(NO_OBJECT[1:])
    return s.events, [Fault("E102", s.last, "/usage_metadata")]


@mutator("E105", ending="stop")
def finish_reason_no_string(s: Stream, pick: Choices) -> Mutant:
    """The stop event's finish reason is no string."""
    s.events[-1]["finish_reason"] = pick.of(NO_STRING[1:])
    return s.events, [Fault("E105", s.last, "/finish_reason")]


@mutator("E108", ending="stop")
def finish_reason_unknown(s: Stream, pick: Choices) -> Mutant:
    """The stop event's finish reason is a string outside the four."""
    s.events[-1]["finish_reason"] = pick.of(["", "tool_calls", "STOP", "end_turn", "stop "])
    return s.events, [Fault("E108", s.last, "/finish_reason")]


@mutator("E105")
def created_at_wrong(s: Stream, pick: Choices) -> Mutant:
    """created_at is no integer >= 0, an integer written with a fraction included."""
    i = pick.of(events_of(s))
    now = s.events[i]["created_at"]
    s.events[i]["created_at"] = pick.of([*NO_TIME, float(now), str(now), -now])
    return s.events, [Fault("E105", i, "/created_at")]


@mutator("E105", ending="stop")
def count_wrong(s: Stream, pick: Choices) -> Mutant:
    """A count of the usage is neither an integer >= 0 nor null."""
    name = pick.of(list(s.events[-1]["usage_metadata"]))
    s.events[-1]["usage_metadata"][name] = pick.of(NO_COUNT)
    return s.events, [Fault("E105", s.last, f"/usage_metadata/{name}")]


@mutator("E103", ending="stop")
def count_absent(s: Stream, pick: Choices) -> Mutant:
    """Some counts are left out of the usage: one error for each field."""
    usage = s.events[-1]["usage_metadata"]
    names = list(usage)[pick.between(0, len(usage) - 1) :]
    for name in names:
        del usage[name]
    return s.events, [Fault("E103", s.last, f"/usage_metadata/{name}") for name in names]


@mutator("E104", ending="stop")
def count_unknown(s: Stream, pick: Choices) -> Mutant:
    """The usage has a count that the protocol does not know."""
    name = pick.of(["total_tokens", "Cached_tokens", "x"])
    s.events[-1]["usage_metadata"][name] = pick.of([None, 1, "1"])
    return s.events, [Fault("E104", s.last, f"/usage_metadata/{name}")]


# ── Items: their shape ───────────────────────────────────────────────────────────────────────────────────────────


@mutator("E102")
def item_no_object(s: Stream, pick: Choices) -> Mutant:
    """An item is no object: nobody can tell what it was, so whatever comes next is legal."""
    i = pick.of(s.deltas)
    s.events[i]["content_items"] = [pick.of(NO_OBJECT)]
    return s.events, [Fault("E102", i, ITEM)]


@mutator("E103")
def item_type_absent(s: Stream, pick: Choices) -> Mutant:
    """An item has no type: nobody can tell what it was."""
    i = pick.of(s.deltas)
    del s.item(i)["type"]
    return s.events, [Fault("E103", i, f"{ITEM}/type")]


@mutator("E105")
def item_type_no_string(s: Stream, pick: Choices) -> Mutant:
    """An item's type is no string: nobody can tell what it was."""
    i = pick.of(s.deltas)
    s.item(i)["type"] = pick.of(NO_STRING)
    return s.events, [Fault("E105", i, f"{ITEM}/type")]


@mutator("E201")
def item_type_garbled_midway(s: Stream, pick: Choices) -> Mutant:
    """The type of a later fragment is garbled: the group stays open and is not compared."""
    i = pick.of([i for group in s.groups for i in group.fragments[1:]])
    s.item(i)["type"] = pick.of(["text", "tekst.delta", "text.Delta", "text.delta ", "", "delta"])
    return s.events, [Fault("E201", i, f"{ITEM}/type")]


@mutator("E201", "E301", "E302", "E304", "E401", "E402", "E410")
def item_type_garbled(s: Stream, pick: Choices) -> Mutant:
    """The type of any item is garbled: the machine stays, as if it had not come."""
    i = pick.of(s.deltas)
    s.item(i)["type"] = pick.of(["text", "partial_tool_call", "video.delta", "text.done.", "x"])
    return s.events, [Fault("E201", i, f"{ITEM}/type"), *stays(s, i)]


@mutator("E201")
def unknown_item_inserted(s: Stream, pick: Choices) -> Mutant:
    """An item of an unknown type stands somewhere before the end."""
    at = pick.between(0, s.last)
    item = {"type": pick.of(["video.delta", "text", "refusal.done"]), "text": "x"}
    return inserted(s, at, s.delta(at, item)), [Fault("E201", at, f"{ITEM}/type")]


@mutator("E202")
def user_only_item_inserted(s: Stream, pick: Choices) -> Mutant:
    """An item that only the user writes stands somewhere before the end; any suffix is the same."""
    at = pick.between(0, s.last)
    name = pick.of(["image_url", "tool_result", "image_url.delta", "tool_result.done", "image_url.xyz"])
    return inserted(s, at, s.delta(at, {"type": name, "text": 1})), [Fault("E202", at, f"{ITEM}/type")]


@mutator("E103")
def content_absent(s: Stream, pick: Choices) -> Mutant:
    """An item lacks the field that its fragments grow: its group is not compared."""
    i = pick.of(s.deltas)
    name = GROWS[s.group_at(i).kind]
    del s.item(i)[name]
    return s.events, [Fault("E103", i, f"{ITEM}/{name}")]


@mutator("E104")
def item_field_unknown(s: Stream, pick: Choices) -> Mutant:
    """An item has a field that its kind does not have."""
    i = pick.of(s.deltas)
    known = {*s.item(i), "fidelity", "mime_type"} if s.group_at(i).kind in BYTES else {*s.item(i), "fidelity"}
    name = pick.of([name for name in ("index", "text", "thinking", "mime_type", "id", "Type") if name not in known])
    s.item(i)[name] = pick.of(["x", None, 0])
    return s.events, [Fault("E104", i, f"{ITEM}/{name}")]


@mutator("E105")
def content_wrong(s: Stream, pick: Choices) -> Mutant:
    """The growing field holds a value of another type."""
    i = pick.of(s.deltas)
    group = s.group_at(i)
    if group.kind == "embedding":
        values: Sequence[Any] = [None, "", {}, 1, ["1"], [True], [1, None, "x"], [[]]]
    elif group.kind == "tool_call" and i == group.done:
        values = [None, "{}", "", [], 1]
    else:
        values = NO_STRING
    s.item(i)[GROWS[group.kind]] = pick.of(values)
    return s.events, [Fault("E105", i)]


@mutator("E105", holding="tool_call")
def call_header_no_string(s: Stream, pick: Choices) -> Mutant:
    """A call's name or id holds no string, as a null on continuation chunks."""
    group = pick.of([group for group in s.groups if group.kind == "tool_call"])
    i, name = pick.of(group.indices), pick.of(["name", "tool_call_id"])
    s.item(i)[name] = pick.of(NO_STRING)
    return s.events, [Fault("E105", i, f"{ITEM}/{name}")]


@mutator("E105", holding="inline_data")
def mime_type_no_string(s: Stream, pick: Choices) -> Mutant:
    """A mime_type holds no string, null included: E105 and no warning."""
    group = pick.of([group for group in s.groups if group.kind in BYTES])
    i = pick.of(group.indices)
    s.item(i)["mime_type"] = pick.of(NO_STRING)
    return s.events, [Fault("E105", i, f"{ITEM}/mime_type")]


@mutator("E102")
def fidelity_no_object(s: Stream, pick: Choices) -> Mutant:
    """A fidelity is no object (null is none): E102 beats E105, and the group's fidelity is not compared."""
    group = pick.of(s.groups)
    places = [*s.carriers(group), *([] if group.done is None else [group.done])] or group.fragments
    i = pick.of(places)
    s.item(i)["fidelity"] = pick.of(NO_OBJECT)
    return s.events, [Fault("E102", i, f"{ITEM}/fidelity")]


@mutator("E103", holding="tool_call")
def call_header_absent_first(s: Stream, pick: Choices) -> Mutant:
    """A call's first fragment lacks its name, its id or both: E103 once a field, and what follows from it is silent."""
    group = pick.of([group for group in s.groups if group.kind == "tool_call"])
    names = pick.of([["name"], ["tool_call_id"], ["name", "tool_call_id"]])
    for name in names:
        del s.item(group.first)[name]
    return s.events, [Fault("E103", group.first, f"{ITEM}/{name}") for name in names]


@mutator("E103", holding="tool_call")
def call_header_absent_done(s: Stream, pick: Choices) -> Mutant:
    """A call's done item lacks its name, its id or both: one error for each field."""
    group = pick.of(s.closed_of("tool_call"))
    assert group.done is not None
    names = pick.of([["name"], ["tool_call_id"], ["name", "tool_call_id"]])
    for name in names:
        del s.item(group.done)[name]
    return s.events, [Fault("E103", group.done, f"{ITEM}/{name}") for name in names]


# ── Bytes as base64 ──────────────────────────────────────────────────────────────────────────────────────────────


def with_data(s: Stream) -> list[int]:
    return [i for group in s.groups if group.kind in BYTES for i in group.indices if s.content(i)]


def bad_base64(s: Stream, i: int, text: str) -> Mutant:
    s.item(i)["data"] = text
    return s.events, [Fault("E203", i, f"{ITEM}/data")]


@mutator("E203", holding="inline_data")
def base64_url_alphabet(s: Stream, pick: Choices) -> Mutant:
    """data is written in the alphabet of URLs."""
    i = pick.of(with_data(s))
    text = s.content(i)
    at = pick.between(0, len(text.rstrip("=")) - 1)
    return bad_base64(s, i, text[:at] + pick.of("-_") + text[at + 1 :])


@mutator("E203", holding="inline_thinking")
def base64_without_padding(s: Stream, pick: Choices) -> Mutant:
    """data has lost its padding, or its last character."""
    i = pick.of(with_data(s))
    text = s.content(i)
    return bad_base64(s, i, text.rstrip("=") if text.endswith("=") else text[:-1])


@mutator("E203", holding="inline_data")
def base64_white_space(s: Stream, pick: Choices) -> Mutant:
    """data has white space within, or around."""
    i = pick.of(with_data(s))
    text = s.content(i)
    at = pick.between(0, len(text))
    return bad_base64(s, i, text[:at] + pick.of([" ", "\n", "\r\n", "\t", "    "]) + text[at:])


@mutator("E203", holding="inline_thinking")
def base64_foreign_character(s: Stream, pick: Choices) -> Mutant:
    """data holds a character of no alphabet, or padding in its middle or beyond its end."""
    i = pick.of(with_data(s))
    text = s.content(i)
    return bad_base64(
        s, i, pick.of(["=" + text[1:], "é" + text[1:], text[:-1] + "*", text + "====", "====", "\0" + text])
    )


@mutator("E203", holding="inline_data")
def base64_data_url(s: Stream, pick: Choices) -> Mutant:
    """data is a data URL."""
    i = pick.of(with_data(s))
    return bad_base64(s, i, f"data:{AUDIO};base64,{s.content(i)}")


# ── Order: groups that are not opened, not closed, or broken into ────────────────────────────────────────────────


@mutator("E301")
def fragments_lost(s: Stream, pick: Choices) -> Mutant:
    """All fragments of a group are lost: its done item stands alone."""
    group = pick.of(s.closed)
    return without(s, *group.fragments), [Fault("E301", group.first)]


@mutator("E301")
def done_twice(s: Stream, pick: Choices) -> Mutant:
    """A done item comes twice: no group is open at the second."""
    group = pick.of(s.closed)
    assert group.done is not None
    return inserted(s, group.done, deepcopy(s.events[group.done])), [Fault("E301", group.done + 1)]


@mutator("E302", "E304", "E406", "E410")
def done_lost(s: Stream, pick: Choices) -> Mutant:
    """A done item is lost. What tells is what follows: another group's fragment, the stop, or a merged group's done."""
    group = pick.of(s.closed)
    assert group.done is not None
    return without(s, group.done), never_closed(s, group, compared=True, shift=-1)


@mutator("E301", "E302", "E304")
def done_too_early(s: Stream, pick: Choices) -> Mutant:
    """A whole group, then one more fragment of its kind: it opens a second group, which nobody closes."""
    group = pick.of([group for group in s.closed if group.kind != "tool_call"])
    assert group.done is not None
    follower = s.after(group)
    late = s.fresh(group.kind)[0]
    if follower is not None and follower.kind == group.kind:
        raise NotApplicable
    at = group.done + 1
    code = "E302" if follower is not None else "E304" if s.stopped else None
    return inserted(s, at, s.delta(at, late)), [Fault(code, at + 1)] if code else []


@mutator("E302")
def group_inserted(s: Stream, pick: Choices) -> Mutant:
    """A whole group of another kind stands inside a group: one error, at the fragment that broke in."""
    group = pick.of(s.closed)
    kind = pick.of([kind for kind in KINDS if kind != group.kind])
    at = pick.of(group.indices[1:])
    return inserted(s, at, *(s.delta(at, item) for item in s.fresh(kind))), [Fault("E302", at, f"{ITEM}/type")]


@mutator("E302", holding="tool_call")
def call_inserted(s: Stream, pick: Choices) -> Mutant:
    """A whole call with an id of its own stands inside a call: one error, at the fragment that broke in."""
    group = pick.of(s.closed_of("tool_call"))
    at = pick.of(group.indices[1:])
    return inserted(s, at, *(s.delta(at, item) for item in s.fresh("tool_call"))), [Fault("E302", at)]


@mutator("E302", "E304")
def fragment_inserted(s: Stream, pick: Choices) -> Mutant:
    """A fragment of another kind stands inside a group, and opens a group of its own that nobody closes."""
    group = pick.of(s.closed)
    follower = s.after(group)
    kind = pick.of([kind for kind in KINDS if kind not in (group.kind, follower.kind if follower else None)])
    at = pick.of(group.indices[1:])
    assert group.done is not None
    second = "E302" if follower is not None else "E304" if s.stopped else None
    faults = [Fault("E302", at)] + ([Fault(second, group.done + 2)] if second else [])
    return inserted(s, at, s.delta(at, s.fresh(kind)[0])), faults


@mutator("E302")
def groups_interleaved(s: Stream, pick: Choices) -> Mutant:
    """Two neighbouring groups interleave: one error, and the first one's late items are its own."""
    return interleaved(s, pick, [(a, b) for a, b in neighbours(s) if a.kind != b.kind])


@mutator("E302", holding="tool_call")
def calls_interleaved(s: Stream, pick: Choices) -> Mutant:
    """Two neighbouring calls interleave: their fragments cannot be told apart, so it is one error and nothing more."""
    return interleaved(s, pick, [(a, b) for a, b in neighbours(s) if a.kind == b.kind == "tool_call"])


@mutator("E302", holding="tool_call")
def fresh_call_interleaved(s: Stream, pick: Choices) -> Mutant:
    """A call interleaves with a new one, done items and fidelities included: one error."""
    group = pick.of(s.closed_of("tool_call"))
    first, done = s.fresh("tool_call")
    later = {"type": "tool_call.delta", "name": "", "tool_call_id": "", "arguments": ""}
    pick.of([first, later])["fidelity"] = done["fidelity"] = {"signature": "s"}
    return merged(s, pick, group, [s.delta(group.done or 0, item) for item in (first, later, done)], group.done)


def neighbours(s: Stream) -> list[tuple[Group, Group]]:
    pairs = [(group, s.after(group)) for group in s.closed]
    return [(a, b) for a, b in pairs if b is not None and b.done is not None]


def interleaved(s: Stream, pick: Choices, pairs: list[tuple[Group, Group]]) -> Mutant:
    a, b = pick.of(pairs)
    return merged(s, pick, a, [s.events[i] for i in b.indices], b.done)


def merged(s: Stream, pick: Choices, a: Group, second: list[dict[str, Any]], last: int | None) -> Mutant:
    """Interleave group `a` with the events `second`, which begin before its done item."""
    assert last is not None
    first = [s.events[i] for i in a.indices]
    times = sorted(event["created_at"] for event in (*first, *second))
    lead = pick.between(1, len(first) - 1)
    order, rest, others = first[:lead] + second[:1], first[lead:], second[1:]
    while rest or others:
        order.append((rest if not others or (rest and pick.of([True, False])) else others).pop(0))
    events = [{**event, "created_at": time} for event, time in zip(order, times, strict=True)]
    return [*s.events[: a.first], *events, *s.events[last + 1 :]], [Fault("E302", a.first + lead)]


@mutator("E303")
def done_of_another_kind(s: Stream, pick: Choices) -> Mutant:
    """In place of a group's done item stands one of another kind."""
    group = pick.of(s.closed)
    assert group.done is not None
    kind = pick.of([kind for kind in KINDS if kind != group.kind])
    s.events[group.done]["content_items"] = [s.fresh(kind)[1]]
    return s.events, [Fault("E303", group.done, f"{ITEM}/type")]


@mutator("E303")
def foreign_done_inserted(s: Stream, pick: Choices) -> Mutant:
    """Inside a group stands a done item of another kind: it closes the group, whose late items are silent."""
    group = pick.of(s.closed)
    at = pick.of(group.indices[1:])
    kind = pick.of([kind for kind in KINDS if kind != group.kind])
    return inserted(s, at, s.delta(at, s.fresh(kind)[1])), [Fault("E303", at)]


# ── Ends ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@mutator("E304", ending="stop")
def stop_inside_group(s: Stream, pick: Choices) -> Mutant:
    """The stop event comes inside a group, and nothing after it."""
    i = pick.of([i for group in s.closed for i in group.fragments])
    return [*s.events[: i + 1], s.events[-1]], [Fault("E304", i + 1)]


@mutator("E304", "E305", ending="stop")
def stop_overtakes(s: Stream, pick: Choices) -> Mutant:
    """The stop event overtakes the rest of a group: it is one error, what follows it another."""
    i = pick.of([i for group in s.closed for i in group.fragments])
    stop = s.events.pop()
    return inserted(s, i + 1, stop), [Fault("E304", i + 1), Fault("E305", i + 2)]


@mutator("E124", "E304", ending="stop")
def stop_carries_done(s: Stream, pick: Choices) -> Mutant:
    """The stop event carries the last group's done item: the items of a stop move nothing, so the group stays open."""
    done = s.events.pop(-2)
    s.events[-1]["content_items"] = done["content_items"]
    return s.events, [Fault("E124", s.last), Fault("E304", s.last)]


def followers(s: Stream, pick: Choices, codes: dict[str, str]) -> Mutant:
    """Append records to an ended stream; the first decides the one error."""
    stop = {**s.delta(len(s.events)), "event_type": "stop", "finish_reason": "stop", "usage_metadata": dict.fromkeys(
        ["cached_tokens", "prompt_tokens", "thoughts_tokens", "response_tokens"])}  # fmt: skip
    delta = s.delta(
        len(s.events), pick.of([{"type": "text.delta", "text": "x"}, {"type": "text.done"}, {"type": "no"}])
    )
    known: dict[str, Record] = {
        "delta": delta,
        "empty": s.delta(len(s.events)),
        "stop": stop,
        "bare stop": {"event_type": "stop"},
        "error": {"error": {"type": PARSE_ERROR, "message": ""}},
        "unknown": {**delta, "event_type": "ping"},
        "number": b"5",
        "null": b"null",
        "torn": torn(delta, pick),
        "zeros": b"\0" * 20,
    }
    name = pick.of(list(codes))
    more = [known[pick.of(list(known))] for _ in range(pick.between(0, 3))]
    return [*s.events, known[name], *more], [Fault(codes[name], len(s.events))]


UNREADABLE_AFTER = {"unknown": "E107", "number": "E102", "null": "E102", "torn": "E101", "zeros": "E101"}


@mutator("E305", "E306", "E308", ending="stop")
def records_after_stop(s: Stream, pick: Choices) -> Mutant:
    """Records follow the stop event: one error at the first, by what it is, whose contents are not looked at."""
    return followers(s, pick, {"delta": "E305", "empty": "E305", "stop": "E306", "bare stop": "E306", "error": "E308"})


@mutator("E308", "E309", ending="error")
def records_after_error(s: Stream, pick: Choices) -> Mutant:
    """Records follow the error: one error at the first, by what it is, whose contents are not looked at."""
    return followers(s, pick, {"delta": "E309", "empty": "E309", "stop": "E308", "bare stop": "E308", "error": "E309"})


@mutator("E101", "E102", "E107")
def odd_records_after_end(s: Stream, pick: Choices) -> Mutant:
    """What follows the end is unreadable, no object or of an unknown type: that is the one error."""
    return followers(s, pick, UNREADABLE_AFTER)


@mutator("E308", "E309", ending="stop")
def error_midway(s: Stream, pick: Choices) -> Mutant:
    """An error record stands in a stream that goes on: one error at the first record that follows."""
    at = pick.between(0, s.last)
    record = {"error": {"type": "UpstreamError", "message": "overloaded"}}
    return inserted(s, at, record), [Fault("E308" if at == s.last else "E309", at + 1)]


@mutator("E307")
def end_missing(s: Stream, pick: Choices) -> Mutant:
    """The stream is cut anywhere before its end, all of it perhaps: one error, inside a group too."""
    count = pick.between(0, s.last)
    return s.events[:count], [Fault("E307", count)]


# ── Calls ────────────────────────────────────────────────────────────────────────────────────────────────────────


@mutator("E401", "E402", holding="tool_call")
def call_header_emptied(s: Stream, pick: Choices) -> Mutant:
    """A call's first fragment has an empty name or id; what follows from it is silent."""
    group = pick.of([group for group in s.groups if group.kind == "tool_call"])
    name, number = ("name", "E401"), ("tool_call_id", "E402")
    emptied = pick.of([[name], [number], [name, number]])
    for field_name, _ in emptied:
        s.item(group.first)[field_name] = ""
    return s.events, [Fault(code, group.first, f"{ITEM}/{field_name}") for field_name, code in emptied]


@mutator("E402", holding="tool_call")
def call_id_comes_late(s: Stream, pick: Choices) -> Mutant:
    """A call's id comes on a later fragment: part of the fault that its first fragment had none."""
    group = pick.of([group for group in s.closed_of("tool_call") if len(group.fragments) > 1])
    s.item(pick.of(group.fragments[1:]))["tool_call_id"] = s.item(group.first)["tool_call_id"]
    s.item(group.first)["tool_call_id"] = ""
    return s.events, [Fault("E402", group.first, f"{ITEM}/tool_call_id")]


@mutator("E401", "E402", holding="tool_call")
def call_beginning_lost(s: Stream, pick: Choices) -> Mutant:
    """A call's first fragment is lost: the next one has neither name nor id, and nothing more is said."""
    group = pick.of([group for group in s.closed_of("tool_call") if len(group.fragments) > 1])
    return without(s, group.first), [Fault("E401", group.first), Fault("E402", group.first)]


@mutator("E403", holding="tool_call")
def call_header_repeated(s: Stream, pick: Choices) -> Mutant:
    """A later fragment repeats the id, or sets a name again, or both: once a fragment."""
    group = pick.of([group for group in s.groups if group.kind == "tool_call" and len(group.fragments) > 1])
    i = pick.of(group.fragments[1:])
    first = s.item(group.first)
    again = pick.of([{"name": first["name"]}, {"name": "other"}, {"tool_call_id": first["tool_call_id"]},
                     {"name": first["name"], "tool_call_id": first["tool_call_id"]}])  # fmt: skip
    s.item(i).update(again)
    return s.events, [Fault("E403", i)]


@mutator("E403", holding="tool_call")
def call_header_on_every_fragment(s: Stream, pick: Choices) -> Mutant:
    """Every fragment of a call carries its name and id: one error for each later fragment."""
    group = pick.of([group for group in s.groups if group.kind == "tool_call"])
    first = s.item(group.first)
    for i in group.fragments[1:]:
        s.item(i).update(name=first["name"], tool_call_id=first["tool_call_id"])
    return s.events, [Fault("E403", i) for i in group.fragments[1:]]


@mutator("E302", holding="tool_call")
def call_id_changes_midway(s: Stream, pick: Choices) -> Mutant:
    """From a later fragment on, the done item included, a call has another name and id: it is another call."""
    group = pick.of([group for group in s.closed_of("tool_call") if len(group.fragments) > 1])
    i = pick.of(group.fragments[1:])
    header = {name: s.fresh("tool_call")[0][name] for name in ("name", "tool_call_id")}
    assert group.done is not None
    s.item(i).update(header)
    s.item(group.done).update(header)
    return s.events, [Fault("E302", i)]


def arguments(s: Stream, group: Group) -> str:
    return "".join(s.content(i) for i in group.fragments)


def with_arguments(s: Stream, pick: Choices, group: Group, text: str) -> None:
    """Spread another text over the fragments of a call."""
    at = sorted(pick.between(0, len(text)) for _ in group.fragments[1:])
    for i, a, b in zip(group.fragments, [0, *at], [*at, len(text)], strict=True):
        s.item(i)["arguments"] = text[a:b]


def calls_with_text(s: Stream) -> list[Group]:
    return [group for group in s.closed_of("tool_call") if whole(arguments(s, group)).strip()]


@mutator("E404", holding="tool_call")
def arguments_cut(s: Stream, pick: Choices) -> Mutant:
    """The arguments have lost their last brace, and perhaps more before it."""
    group = pick.of(calls_with_text(s))
    assert group.done is not None
    text = arguments(s, group).rstrip()[:-1]
    with_arguments(s, pick, group, text[: pick.between(1, len(text))])
    return s.events, [Fault("E404", group.done)]


@mutator("E404", "E405", "E406", holding="tool_call")
def arguments_lose_a_character(s: Stream, pick: Choices) -> Mutant:
    """One character of the arguments is lost, wherever: malformed, no object, another object, or harmless."""
    group = pick.of(calls_with_text(s))
    text = arguments(s, group)
    at = pick.between(0, len(text) - 1)
    text = text[:at] + text[at + 1 :]
    with_arguments(s, pick, group, text)
    assert group.done is not None
    code = verdict("tool_call", [text], s.content(group.done))
    return s.events, [Fault(code, group.done)] if code else []


@mutator("E404", holding="tool_call")
def arguments_malformed(s: Stream, pick: Choices) -> Mutant:
    """The arguments are no strict JSON: two objects, a blank, NaN, a number beyond a double, a trailing comma."""
    group = pick.of(s.closed_of("tool_call"))
    assert group.done is not None
    bad = [" ", "{}{}", "{'a': 1}", '{"a": NaN}', '{"a": -Infinity}', '{"a": 1e999}', '{"a": 1,}', "{",
           "\ufeff{}", "{}\0", '{"a": ' + "9" * 4301 + "}", '{"a": 01}', '{"a": "\n"}', "\u00a0{}"]  # fmt: skip
    with_arguments(s, pick, group, pick.of(bad))
    return s.events, [Fault("E404", group.done)]


@mutator("E405", holding="tool_call")
def arguments_no_object(s: Stream, pick: Choices) -> Mutant:
    """The arguments are JSON, and no object: wrapped into an array, a number, a string that holds JSON."""
    group = pick.of(s.closed_of("tool_call"))
    assert group.done is not None
    text = whole(arguments(s, group)) or "{}"
    with_arguments(s, pick, group, pick.of([f"[{text}]", "1", "null", "true", json.dumps(text), " [] ", "-0.0"]))
    return s.events, [Fault("E405", group.done)]


@mutator("W507", holding="tool_call")
def arguments_key_twice(s: Stream, pick: Choices) -> Mutant:
    """An object in the arguments names a key twice; the last one counts, so it is a warning alone."""
    group = pick.of([group for group in s.closed_of("tool_call") if group.done and s.content(group.done)])
    assert group.done is not None
    key = json.dumps(pick.of(list(s.content(group.done))))
    text = whole(arguments(s, group))
    at = text.index("{") + 1
    with_arguments(s, pick, group, text[:at] + f"{key}: {pick.of(['0', 'null', '{}'])}, " + text[at:])
    return s.events, [Fault("W507", group.done)]


# ── Done items ───────────────────────────────────────────────────────────────────────────────────────────────────


@mutator("E406")
def done_text_altered(s: Stream, pick: Choices) -> Mutant:
    """A done item holds another text than the fragments carried."""
    group = pick.of(s.closed_of("text", "thinking"))
    assert group.done is not None
    name, text = GROWS[group.kind], s.content(group.done)
    other = pick.of([text + "x", text[:-1], text[1:], " " + text, text.upper(), text + "\ud83d", ""])
    code = verdict(group.kind, [text], other)
    s.item(group.done)[name] = other
    return s.events, [Fault(code, group.done, f"{ITEM}/{name}")] if code else []


@mutator("E406", holding="inline_data")
def done_bytes_altered(s: Stream, pick: Choices) -> Mutant:
    """A done item holds other bytes than the fragments carried."""
    group = pick.of(s.closed_of(*BYTES))
    assert group.done is not None
    data = base64.b64decode(s.content(group.done))
    other = pick.of(
        [data + b"\0", b"\0" + data + b"\1", data[:-1] or b"x", bytes([data[0] ^ 1]) + data[1:] if data else b"x"]
    )
    s.item(group.done)["data"] = base64.b64encode(other).decode()
    return s.events, [Fault("E406", group.done, f"{ITEM}/data")]


@mutator("E406", holding="embedding")
def done_vector_altered(s: Stream, pick: Choices) -> Mutant:
    """A done item holds another vector than the fragment carried."""
    group = pick.of(s.closed_of("embedding"))
    assert group.done is not None
    vector = list(s.content(group.done))
    changed = [*vector[:-1], 1 if vector[-1] != 1 else 2] if vector else [0]
    s.item(group.done)["embedding"] = pick.of([[*vector, 0.5], vector[:-1] if vector else [0], changed])
    return s.events, [Fault("E406", group.done)]


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in `value`, itself left out."""
    inner: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    return [at for key, one in inner for at in ((*path, key), *leaves(one, (*path, key)))]


def another(value: Any) -> list[Any]:
    """Values that are not `value`, near ones first."""
    if isinstance(value, bool):
        return [not value, int(value), None, str(value)]
    if isinstance(value, int):
        return [value + 1, value - 1, value == 1, str(value), [value]]
    if isinstance(value, float):
        return [-value if value else 1.0, str(value), None]
    if isinstance(value, str):
        return [value + " ", [value], None, {value: 0}]
    if value is None:
        return [False, 0, "", "null", {}]
    return [None, json.dumps(value), "", 0]


@mutator("E406", holding="tool_call")
def done_arguments_altered(s: Stream, pick: Choices) -> Mutant:
    """One value in the done arguments is another: a text, a digit of a long integer, 1 for true."""
    group = pick.of([group for group in s.closed_of("tool_call") if group.done and s.content(group.done)])
    assert group.done is not None
    before = deepcopy(s.content(group.done))
    *path, last = pick.of(leaves(before))
    inside = s.content(group.done)
    for key in path:
        inside = inside[key]
    inside[last] = pick.of(another(inside[last]))
    if equal(before, s.content(group.done)):
        raise NotApplicable
    return s.events, [Fault("E406", group.done)]


@mutator("E406", holding="tool_call")
def done_arguments_key(s: Stream, pick: Choices) -> Mutant:
    """The done arguments have a key more, or one less."""
    group = pick.of(s.closed_of("tool_call"))
    assert group.done is not None
    held = s.content(group.done)
    if held and pick.of([True, False]):
        del held[pick.of(list(held))]
    else:
        held[next(key for key in ("new", "newer", "newest", "x", "y") if key not in held)] = pick.of([None, 0, ""])
    return s.events, [Fault("E406", group.done)]


@mutator("E406", holding="tool_call")
def long_integer_loses_a_digit(s: Stream, pick: Choices) -> Mutant:
    """An integer beyond 64 bits differs in its last digit; as doubles they would be equal."""
    group = pick.of(s.closed_of("tool_call"))
    assert group.done is not None
    number = 10 ** pick.between(17, 300) + 1
    with_arguments(s, pick, group, json.dumps({"n": number}))
    s.item(group.done)["arguments"] = {"n": number + pick.of([-1, 1])}
    return s.events, [Fault("E406", group.done, f"{ITEM}/arguments/n")]


@mutator("E407", holding="tool_call")
def done_call_header_changed(s: Stream, pick: Choices) -> Mutant:
    """A call's done item has another name, another id or both: one error for each."""
    group = pick.of(s.closed_of("tool_call"))
    assert group.done is not None
    names = pick.of([["name"], ["tool_call_id"], ["name", "tool_call_id"]])
    for name in names:
        s.item(group.done)[name] += "+"
    return s.events, [Fault("E407", group.done, f"{ITEM}/{name}") for name in names]


@mutator("E407", holding="inline_data")
def done_mime_type_changed(s: Stream, pick: Choices) -> Mutant:
    """The done item's mime_type is not the first fragment's."""
    group = pick.of(s.closed_of(*BYTES))
    assert group.done is not None
    s.item(group.done)["mime_type"] += "+x"
    return s.events, [Fault("E407", group.done, f"{ITEM}/mime_type")]


@mutator("E406")
def first_fragment_lost(s: Stream, pick: Choices) -> Mutant:
    """A group's first fragment is lost without a trace: the done item tells, unless it carried nothing."""
    groups = [group for group in s.closed if group.kind != "tool_call" and len(group.fragments) > 1]
    group = pick.of([group for group in groups if not s.item(group.first).get("fidelity")])
    assert group.done is not None
    code = verdict(group.kind, [s.content(i) for i in group.fragments[1:]], s.content(group.done))
    return without(s, group.first), [Fault(code, group.done - 1)] if code else []


@mutator("E302")
def group_abandoned(s: Stream, pick: Choices) -> Mutant:
    """A group breaks off where the next one begins, and never comes back: one error, and none at the stop."""
    pairs = [(a, b) for a in s.closed if (b := s.after(a)) and (a.kind != b.kind or a.kind == "tool_call")]
    group, _ = pick.of(pairs)
    kept = pick.between(1, len(group.fragments))
    gone = group.indices[kept:]
    return without(s, *gone), [Fault("E302", group.first + kept)]


@mutator("E302")
def groups_nested(s: Stream, pick: Choices) -> Mutant:
    """Inside a group stands a group inside which stands a third: one error for each that was broken into."""
    group = pick.of(s.closed)
    others = [kind for kind in KINDS if kind != group.kind]
    inner, third = pick.of([(a, b) for a in others for b in others if a != b])
    at = pick.of(group.indices[1:])
    items = [s.fresh(inner)[0], *s.fresh(third), s.fresh(inner)[1]]
    return inserted(s, at, *(s.delta(at, item) for item in items)), [Fault("E302", at), Fault("E302", at + 1)]


@mutator("E406", "E404", "E405")
def later_fragment_lost(s: Stream, pick: Choices) -> Mutant:
    """A later fragment is lost without a trace: the done item tells, unless it carried nothing."""
    i = pick.of([i for group in s.closed for i in group.fragments[1:] if not s.item(i).get("fidelity")])
    group = s.group_at(i)
    assert group.done is not None
    code = verdict(group.kind, [s.content(j) for j in group.fragments if j != i], s.content(group.done))
    return without(s, i), [Fault(code, group.done - 1)] if code else []


@mutator("E406", "E404", "E405", "E410", "E411")
def later_fragment_twice(s: Stream, pick: Choices) -> Mutant:
    """A later fragment comes twice (a retry): the done item tells, unless it carried nothing."""
    i = pick.of([i for group in s.closed for i in group.fragments[1:] if not s.item(i).get("fidelity")])
    group = s.group_at(i)
    assert group.done is not None
    records = inserted(s, i, deepcopy(s.events[i]))
    if group.kind in BYTES and s.item(i)["mime_type"].startswith("image/") and s.content(i):
        return records, [Fault("E411", i + 1)]
    pieces = [s.content(j) for j in sorted([*group.fragments, i])]
    code = verdict(group.kind, pieces, s.content(group.done))
    return records, [Fault(code, group.done + 1)] if code else []


@mutator("E406", "E404", "E405")
def later_fragments_swapped(s: Stream, pick: Choices) -> Mutant:
    """Two later fragments have changed places: the done item tells, unless they are alike."""
    i = pick.of([i for group in s.closed for i in group.fragments[1:-1]])
    group = s.group_at(i)
    a, b = s.events[i], s.events[i + 1]
    a["content_items"], b["content_items"] = b["content_items"], a["content_items"]
    assert group.done is not None
    code = verdict(group.kind, [s.content(j) for j in group.fragments], s.content(group.done))
    return s.events, [Fault(code, group.done)] if code else []


# ── Fidelity ─────────────────────────────────────────────────────────────────────────────────────────────────────


@mutator("E408")
def fidelity_repeated(s: Stream, pick: Choices) -> Mutant:
    """Several fragments carry fidelity, the same or others: once a group; the done item may hold any one."""
    group = pick.of([group for group in s.groups if len(group.fragments) > 1])
    carriers = [i for i in group.fragments if pick.of([True, False])]
    places = sorted({*carriers, *s.carriers(group)})
    if len(places) < 2:
        raise NotApplicable
    for number, i in enumerate(places):
        s.item(i)["fidelity"] = {"signature": pick.of(["same", f"s{number}"])}
    if group.done is not None:
        s.item(group.done)["fidelity"] = deepcopy(s.item(pick.of(places))["fidelity"])
    return s.events, [Fault("E408", places[1], f"{ITEM}/fidelity")]


def closed_with_fidelity(s: Stream) -> list[Group]:
    return [group for group in s.closed if s.carriers(group)]


@mutator("E409")
def fidelity_mismatched(s: Stream, pick: Choices) -> Mutant:
    """The done item's fidelity is another one."""
    group = pick.of(closed_with_fidelity(s))
    assert group.done is not None
    s.item(group.done)["fidelity"]["more"] = (
        pick.of([None, 1, "x"]) if "more" not in s.item(group.done)["fidelity"] else []
    )
    return s.events, [Fault("E409", group.done)]


@mutator("E409")
def fidelity_lost(s: Stream, pick: Choices) -> Mutant:
    """A fragment carried fidelity and the done item has none; an empty one counts as none."""
    group = pick.of(closed_with_fidelity(s))
    assert group.done is not None
    if pick.of([True, False]):
        s.item(group.done)["fidelity"] = {}
    else:
        del s.item(group.done)["fidelity"]
    return s.events, [Fault("E409", group.done)]


@mutator("E409")
def fidelity_invented(s: Stream, pick: Choices) -> Mutant:
    """No fragment carried fidelity, and the done item has one."""
    group = pick.of([group for group in s.closed if not s.carriers(group)])
    assert group.done is not None
    s.item(group.done)["fidelity"] = pick.of([{"signature": ""}, {"a": {"item_id": 1}}])
    return s.events, [Fault("E409", group.done)]


@mutator("W512")
def fidelity_with_item_id(s: Stream, pick: Choices) -> Mutant:
    """A fidelity carries item_id, on the fragment and on the done item: once a group."""
    group = pick.of(closed_with_fidelity(s))
    carrier = s.carriers(group)[0]
    for i in (carrier, group.done):
        s.item(i or 0)["fidelity"]["item_id"] = "rs_1"
    return s.events, [Fault("W512", carrier)]


# ── Contents that come in one piece ──────────────────────────────────────────────────────────────────────────────


@mutator("E410", holding="embedding")
def vector_in_pieces(s: Stream, pick: Choices) -> Mutant:
    """An embedding group has more fragments, whatever they hold: once a group, and the done item is not compared."""
    group = pick.of([group for group in s.groups if group.kind == "embedding"])
    at = group.first + 1
    more = [{"type": "embedding.delta", "embedding": pick.of([[], [0.5], s.content(group.first)])}
            for _ in range(pick.between(1, 3))]  # fmt: skip
    return inserted(s, at, *(s.delta(at, item) for item in more)), [Fault("E410", at)]


@mutator("E406", "E411", holding="inline_data")
def image_in_pieces(s: Stream, pick: Choices) -> Mutant:
    """An image's bytes come in several fragments: once a group, and the done item is not compared."""
    group = pick.of([group for group in s.groups if group.kind in BYTES])
    for i in group.indices:
        s.item(i)["mime_type"] = IMAGE
    at = group.fragments[-1] + 1
    more = [s.delta(at, {**s.fresh(group.kind)[0], "mime_type": IMAGE}) for _ in range(pick.between(1, 2))]
    data = [i for i in group.fragments if s.content(i)]
    records = inserted(s, at, *more)
    if len(data) > 1:
        return records, [Fault("E411", data[1])]
    if data:
        return records, [Fault("E411", at)]
    if len(more) > 1:
        return records, [Fault("E411", at + 1)]
    return records, [Fault("E406", group.done + 1)] if group.done is not None else []


@mutator("E103", "E105", "E101", holding="inline_data")
def image_fragment_without_usable_data(s: Stream, pick: Choices) -> Mutant:
    """A group breaks off where the next one begins, and never comes back: one error, none at the stop."""
    group = pick.of([group for group in s.groups if group.kind in BYTES])
    for i in group.indices:
        s.item(i)["mime_type"] = IMAGE
    if sum(bool(s.content(i)) for i in group.fragments) > 1:
        raise NotApplicable
    at = pick.of([group.first, group.first + 1])
    item = {**s.fresh(group.kind)[0], "mime_type": IMAGE}
    code, value = pick.of([("E103", None), ("E105", None), ("E105", 0), ("E101", math.nan)])
    if code == "E103":
        del item["data"]
    else:
        item["data"] = value
    return inserted(s, at, s.delta(at, item)), [Fault(code, at, f"{ITEM}/data")]


# ── Errors ───────────────────────────────────────────────────────────────────────────────────────────────────────


def parse_error(**more: Any) -> dict[str, Any]:
    return {"error": {"type": PARSE_ERROR, "message": "the arguments do not parse", **more}}


@mutator("E412")
def parse_error_outside_call(s: Stream, pick: Choices) -> Mutant:
    """The error of a call's arguments comes where no call is open: first of all, between groups, in another kind."""
    at = pick.of(
        [0, *(i + 1 for group in s.groups for i in group.indices if group.kind != "tool_call" or i == group.done)]
    )
    return [*s.events[:at], parse_error()], [Fault("E412", at)]


@mutator("W511", holding="tool_call")
def parse_error_unwarranted(s: Stream, pick: Choices) -> Mutant:
    """The error of a call's arguments comes though they are a JSON object, "" included."""
    group = pick.of(s.closed_of("tool_call"))
    assert group.done is not None
    return [*s.events[: group.done], parse_error(tool_name="f")], [Fault("W511", group.done)]


@mutator(ending="stop")
def error_anywhere(s: Stream, pick: Choices) -> Mutant:
    """Any other error may end a stream anywhere, in every open state: no fault."""
    return [*s.events[: pick.between(0, s.last)], {"error": {"type": "UpstreamError", "message": ""}}], []


@mutator("E102", ending="error")
def error_no_object(s: Stream, pick: Choices) -> Mutant:
    """An error is no object; it still ends the stream."""
    s.events[-1] = {"error": pick.of(NO_OBJECT)}
    return s.events, [Fault("E102", s.last, "/error")]


@mutator("E103", ending="error")
def error_field_absent(s: Stream, pick: Choices) -> Mutant:
    """An error lacks its type or its message; it still ends the stream."""
    name = pick.of(["type", "message"])
    del s.events[-1]["error"][name]
    return s.events, [Fault("E103", s.last, f"/error/{name}")]


@mutator("E105", ending="error")
def error_field_no_string(s: Stream, pick: Choices) -> Mutant:
    """An error's type or message is no string; it still ends the stream."""
    name = pick.of(["type", "message"])
    s.events[-1]["error"][name] = pick.of(NO_STRING)
    return s.events, [Fault("E105", s.last, f"/error/{name}")]


@mutator("E104", ending="error")
def error_record_with_more(s: Stream, pick: Choices) -> Mutant:
    """An error record has a second key."""
    name = pick.of(["created_at", "role", "usage_metadata", "x"])
    s.events[-1][name] = pick.of([None, 1])
    return s.events, [Fault("E104", s.last, f"/{name}")]


# ── Times, the message, and other advice ─────────────────────────────────────────────────────────────────────────


@mutator("W501")
def times_in_seconds(s: Stream, pick: Choices) -> Mutant:
    """All times from one event on are in seconds: once a stream, and no W502 for the jump."""
    events = events_of(s)
    at = pick.between(0, len(events) - 1)
    start = pick.of([0, 1_700_000_000, 10**11 - 10**6])
    for number, i in enumerate(events[at:]):
        s.events[i]["created_at"] = start + number
    return s.events, [Fault("W501", events[at], "/created_at")]


@mutator("W502")
def time_goes_back(s: Stream, pick: Choices) -> Mutant:
    """One event's time lies before an earlier one's."""
    i = pick.of(events_of(s)[1:])
    latest = s.events[i - 1]["created_at"]
    s.events[i]["created_at"] = pick.between(10**11, latest - 1)
    return s.events, [Fault("W502", i, "/created_at")]


@mutator("W503", ending="stop")
def finish_reason_without_call(s: Stream, pick: Choices) -> Mutant:
    """The finish reason is tool_call, and the message holds no call."""
    if s.closed_of("tool_call"):
        raise NotApplicable
    s.events[-1]["finish_reason"] = "tool_call"
    return s.events, [Fault("W503", s.last, "/finish_reason")]


@mutator("W504", holding="tool_call", ending="stop", extend=("W504",))
def call_without_finish_reason(s: Stream, pick: Choices) -> Mutant:
    """The finish reason is stop, and the message holds a call."""
    s.events[-1]["finish_reason"] = "stop"
    return s.events, [Fault("W504", s.last, "/finish_reason")]


@mutator(holding="tool_call", ending="stop")
def call_without_finish_reason_unasked(s: Stream, pick: Choices) -> Mutant:
    """The finish reason is stop, and the message holds a call: said only when W504 is selected."""
    s.events[-1]["finish_reason"] = "stop"
    return s.events, []


@mutator("W505", holding="tool_call")
def call_id_reused(s: Stream, pick: Choices) -> Mutant:
    """Two calls of one message share an id."""
    first = pick.of(s.closed_of("tool_call"))
    taken = s.item(first.first)["tool_call_id"]
    items = s.fresh("tool_call")
    for item in items:
        item["tool_call_id"] = taken
    at = pick.of(
        [group.first for group in s.groups if group.first > first.first] + ([s.last] if s.groups[-1].done else [])
    )
    return inserted(s, at, *(s.delta(at, item) for item in items)), [Fault("W505", at)]


@mutator("W506", ending="stop")
def nothing_but_thinking(s: Stream, pick: Choices) -> Mutant:
    """The stream stops with thinking only, or with nothing."""
    visible = [i for group in s.groups if group.kind not in ("thinking", "inline_thinking") for i in group.indices]
    records = without(s, *visible)
    s.events[-1]["finish_reason"] = pick.of(["stop", "length", "unknown"])
    return records, [Fault("W506", len(records) - 1)]


@mutator("W503", "W506", ending="stop")
def call_announced_and_nothing(s: Stream, pick: Choices) -> Mutant:
    """The stream stops with nothing, and says that it holds a call: two warnings."""
    s.events[-1]["finish_reason"] = "tool_call"
    return s.events[-1:], [Fault("W503", 0), Fault("W506", 0)]


@mutator("W508", holding="inline_data")
def mime_type_absent(s: Stream, pick: Choices) -> Mutant:
    """Some items of a group have no mime_type: once a group, also where the done item alone has none."""
    group = pick.of([group for group in s.groups if group.kind in BYTES])
    bare = [i for i in group.indices if pick.of([True, False])] or [pick.of(group.indices)]
    for i in bare:
        del s.item(i)["mime_type"]
    return s.events, [Fault("W508", bare[0], f"{ITEM}/mime_type")]


@mutator("W508", holding="inline_data")
def mime_type_changes(s: Stream, pick: Choices) -> Mutant:
    """The mime_type changes on later fragments: once a group; the done item's is the first fragment's."""
    group = pick.of([group for group in s.groups if group.kind in BYTES and len(group.fragments) > 1])
    at = pick.between(1, len(group.fragments) - 1)
    for i in group.fragments[at:]:
        s.item(i)["mime_type"] += "+x"
    return s.events, [Fault("W508", group.fragments[at], f"{ITEM}/mime_type")]


@mutator("W509", holding="tool_call")
def later_header_absent(s: Stream, pick: Choices) -> Mutant:
    """Later fragments of a call leave name or id out instead of empty: once a group."""
    group = pick.of([group for group in s.groups if group.kind == "tool_call" and len(group.fragments) > 1])
    at = pick.between(1, len(group.fragments) - 1)
    names = pick.of([["name"], ["tool_call_id"], ["name", "tool_call_id"]])
    for i in group.fragments[at:]:
        for name in names:
            del s.item(i)[name]
    return s.events, [Fault("W509", group.fragments[at])]


# ── Records that cannot be read ──────────────────────────────────────────────────────────────────────────────────


@mutator("E101")
def record_torn(s: Stream, pick: Choices) -> Mutant:
    """A record is torn, inside a group, between two or at the end: one error and no echo."""
    i = pick.between(0, s.last)
    return replaced(s, i, torn(s.events[i], pick)), [Fault("E101", i)]


@mutator("E101")
def last_record_torn(s: Stream, pick: Choices) -> Mutant:
    """The stream is cut within a record, and nothing follows: one error, and no missing end besides."""
    i = pick.between(0, s.last)
    return [*s.events[:i], torn(s.events[i], pick)], [Fault("E101", i)]


GARBAGE = (
    b"nonsense",
    b"{} {}",
    b"{'a': 1}",
    b'{"a": 1,}',
    b'{"a": "\n"}',
    b"\0" * 200,
    b"\x80",
    b"\xc3(",
    b'{"a": "\xed\xa0\xbd"}',
    b"\xff\xfe{\0}\0",
    b"\xef\xbb\xbf\xef\xbb\xbf{}",
    b"[" * 501 + b"]" * 501,
    b'{"a":' * 501 + b"1" + b"}" * 501,
)


@mutator("E101")
def garbage_inserted(s: Stream, pick: Choices) -> Mutant:
    """What is no JSON stands before a record: it could have been anything, so one error and no echo."""
    at = pick.between(0, s.last)
    return inserted(s, at, pick.of(GARBAGE)), [Fault("E101", at)]


@mutator("E101")
def record_garbage(s: Stream, pick: Choices) -> Mutant:
    """In place of a record stands what is no JSON: one error and no echo, for the last record neither."""
    i = pick.between(0, s.last)
    return replaced(s, i, pick.of(GARBAGE)), [Fault("E101", i)]


@mutator("E101")
def done_torn_before_its_like(s: Stream, pick: Choices) -> Mutant:
    """The done item of a group is torn, and the next group is of its kind with another header: no echo in that one."""
    at = pick.of([0, *(group.done + 1 for group in s.groups if group.done is not None)])
    kind = pick.of(BYTES)
    mine, other = pick.of([(IMAGE, AUDIO), (AUDIO, IMAGE), (AUDIO, "audio/mpeg")])
    fragment, done = s.fresh(kind)
    first = [{**fragment, "mime_type": mine}, {**done, "mime_type": mine}]
    empty = {**fragment, "mime_type": other, "data": ""}
    second = [{**fragment, "mime_type": other}, *[empty] * pick.between(0, 2), {**done, "mime_type": other}]
    events: list[Record] = [s.delta(at, item) for item in (*first, *second)]
    events[1] = b"{"
    return inserted(s, at, *events), [Fault("E101", at + 1)]


@mutator("E101")
def record_in_utf16(s: Stream, pick: Choices) -> Mutant:
    """A record is written in UTF-16, with a mark or without."""
    i = pick.between(0, s.last)
    return replaced(s, i, json.dumps(s.events[i]).encode(pick.of(["utf-16", "utf-16-le", "utf-16-be"]))), [
        Fault("E101", i)
    ]


@mutator("E101")
def two_records_in_one(s: Stream, pick: Choices) -> Mutant:
    """A line end is lost between two records: one that is no JSON, and nothing more."""
    i = pick.between(0, s.last - 1)
    both = as_bytes(s.events[i]) + as_bytes(s.events[i + 1])
    return [*s.events[:i], both, *s.events[i + 2 :]], [Fault("E101", i)]


@mutator("E102")
def record_no_object(s: Stream, pick: Choices) -> Mutant:
    """In place of a record, or before it, stands an array, a number, a string or null: one error and no echo."""
    i = pick.between(0, s.last)
    record = pick.of([b"[]", b"[{}]", b"5", b"-1e5", b'"x"', b"null", b"true", b"[" * 500 + b"]" * 500])
    change = pick.of([replaced, inserted])
    return change(s, i, record), [Fault("E102", i, "")]


@mutator("E103")
def another_protocols_record(s: Stream, pick: Choices) -> Mutant:
    """In place of a record, or before it, stands another protocol's chunk or a ping: one E103, and no echo."""
    i = pick.between(0, s.last)
    chunks: list[Record] = [
        {},
        {"type": "ping"},
        {"role": "assistant"},
        {"id": "c", "choices": [{"delta": {"content": "x"}}], "usage": None},
        {"type": "message_stop", "created_at": -1, "x": {}},
        {"usage_metadata": 1, "finish_reason": 2},
    ]
    change = pick.of([replaced, inserted])
    return change(s, i, pick.of(chunks)), [Fault("E103", i, "/event_type")]


@mutator("E101")
def two_unreadable_records(s: Stream, pick: Choices) -> Mutant:
    """Two unreadable records in a row are two faults."""
    i = pick.between(0, s.last)
    return [*s.events[:i], b"{", b"}", *s.events[i + 1 :]], [Fault("E101", i), Fault("E101", i + 1)]


# ── Numbers that JSON cannot write ───────────────────────────────────────────────────────────────────────────────

NO_NUMBER = ("NaN", "Infinity", "-Infinity", "1e999", "-1E+400", "1" + "0" * 4300, "-" + "9" * 5000)


def no_number(s: Stream, i: int, pick: Choices, pointer: str | None = None) -> Mutant:
    """Event `i`, in which `DIGITS` stands, with a number that JSON cannot write there: its symbol can still be told."""
    return replaced(s, i, spelled(s.events[i], pick.of(NO_NUMBER))), [Fault("E101", i, pointer)]


@mutator("E101", ending="stop")
def no_number_in_usage(s: Stream, pick: Choices) -> Mutant:
    """A count is NaN, Infinity, or a number beyond what is exact: E101, and the stream has stopped."""
    name = pick.of(list(s.events[-1]["usage_metadata"]))
    s.events[-1]["usage_metadata"][name] = DIGITS
    return no_number(s, s.last, pick, f"/usage_metadata/{name}")


@mutator("E101")
def no_number_in_event(s: Stream, pick: Choices) -> Mutant:
    """An event's role or time, or a field that it should not have, is NaN: E101 says it all, the machine moves."""
    i = pick.of(events_of(s))
    name = pick.of(["role", "created_at", "seventh"])
    s.events[i][name] = DIGITS
    return no_number(s, i, pick, f"/{name}")


@mutator("E101")
def no_number_in_fragment(s: Stream, pick: Choices) -> Mutant:
    """A fragment's content, or a number within a vector, is NaN: the group is not compared."""
    i = pick.of([i for group in s.groups for i in group.fragments])
    kind = s.group_at(i).kind
    s.item(i)[GROWS[kind]] = [*s.content(i), DIGITS, 1] if kind == "embedding" else DIGITS
    return no_number(s, i, pick)


@mutator("E101")
def no_number_in_done(s: Stream, pick: Choices) -> Mutant:
    """A done item's content holds NaN: nothing more is said of it."""
    group = pick.of(s.closed)
    assert group.done is not None
    if group.kind == "tool_call":
        s.content(group.done)["n"] = pick.of([DIGITS, [DIGITS], {"m": DIGITS}])
    else:
        s.item(group.done)[GROWS[group.kind]] = [DIGITS] if group.kind == "embedding" else DIGITS
    return no_number(s, group.done, pick)


@mutator("E101")
def no_number_in_fidelity(s: Stream, pick: Choices) -> Mutant:
    """A fidelity holds NaN: the group's fidelity is not compared."""
    group = pick.of(s.groups)
    i = pick.of([*s.carriers(group), *([] if group.done is None else [group.done])] or group.fragments)
    s.item(i)["fidelity"] = pick.of([{"n": DIGITS}, {"a": [1, DIGITS]}, DIGITS])
    return no_number(s, i, pick)


@mutator("E101", ending="error")
def no_number_in_error(s: Stream, pick: Choices) -> Mutant:
    """An error record holds NaN; it still ends the stream."""
    name = pick.of(["status", "more"])
    s.events[-1]["error"][name] = pick.of([DIGITS, [DIGITS]])
    return no_number(s, s.last, pick)


@mutator("E101")
def no_number_as_item(s: Stream, pick: Choices) -> Mutant:
    """An item, or content_items itself, is NaN: nobody can tell what it was, and E101 says it all."""
    i = pick.of(s.deltas)
    s.events[i]["content_items"] = pick.of([[DIGITS], DIGITS])
    return no_number(s, i, pick)


@mutator("E101")
def no_number_as_type(s: Stream, pick: Choices) -> Mutant:
    """An item's type is NaN: nobody can tell what it was."""
    i = pick.of(s.deltas)
    s.item(i)["type"] = DIGITS
    return no_number(s, i, pick, f"{ITEM}/type")


@mutator("E101", "E305", "E309")
def no_number_after_end(s: Stream, pick: Choices) -> Mutant:
    """A delta event that holds NaN follows the end: its symbol can be told, and its contents are not looked at."""
    event = s.delta(len(s.events), {"type": "text.delta", "text": DIGITS})
    return [*s.events, spelled(event, "NaN")], [Fault("E305" if s.stopped else "E309", len(s.events))]


@mutator("E101")
def nested_too_deep(s: Stream, pick: Choices) -> Mutant:
    """A record is nested 501 deep: it cannot be read, and what comes next is legal."""
    i = pick.of(s.deltas)
    s.item(i)["fidelity"] = nested(501 - 3)
    return s.events, [Fault("E101", i)]


def nested(levels: int) -> dict[str, Any]:
    value: Any = []
    for _ in range(levels - 2):
        value = [value]
    return {"deep": value}


# ── Changes that break nothing ───────────────────────────────────────────────────────────────────────────────────


@mutator()
def nested_as_deep_as_allowed(s: Stream, pick: Choices) -> Mutant:
    """A fidelity is nested to the limit, on a fragment and on the done item: no fault."""
    group = pick.of([group for group in s.closed if not s.carriers(group)])
    assert group.done is not None
    for i in (pick.of(group.fragments), group.done):
        s.item(i)["fidelity"] = nested(500 - 3)
    return s.events, []


@mutator()
def keys_named_twice(s: Stream, pick: Choices) -> Mutant:
    """A record names a key twice: the last one counts, so there is no fault."""
    i = pick.of(events_of(s))
    data = as_bytes(s.events[i])
    first = pick.of([b'"role": "user"', b'"event_type": "x"', b'"content_items": 5', b'"created_at": -1'])
    return replaced(s, i, b"{" + first + b", " + data[1:]), []


@mutator()
def written_otherwise(s: Stream, pick: Choices) -> Mutant:
    """Records are written with white space around and within, with escapes, with their keys turned round: no fault."""

    def turned(value: Any) -> Any:
        return {key: value[key] for key in reversed(value)}

    records: list[Record] = []
    for event in s.events:
        text = json.dumps(turned(event), indent=pick.of([None, 1]), separators=pick.of([(",", ":"), (" , ", " : ")]))
        records.append(f"{pick.of(['', ' ', chr(9)])}{text}{pick.of(['', chr(13), '  '])}".encode())
    return records, []


@mutator(ending="stop")
def longest_integer(s: Stream, pick: Choices) -> Mutant:
    """A count of 4,300 digits is exact: no fault."""
    s.events[-1]["usage_metadata"][pick.of(list(s.events[-1]["usage_metadata"]))] = DIGITS
    return replaced(s, s.last, spelled(s.events[-1], "9" * 4300)), []


@mutator("E105", ending="stop")
def count_with_exponent(s: Stream, pick: Choices) -> Mutant:
    """A count is written with a fraction or an exponent: E105, though some decoders let it pass."""
    name = pick.of(list(s.events[-1]["usage_metadata"]))
    s.events[-1]["usage_metadata"][name] = DIGITS
    record = spelled(s.events[-1], pick.of(["5.0", "1E1", "0e0", "-0.0", "12e-1"]))
    return replaced(s, s.last, record), [Fault("E105", s.last, f"/usage_metadata/{name}")]


@mutator()
def fidelity_empty(s: Stream, pick: Choices) -> Mutant:
    """Empty fidelities stand on items that have none: they count as none."""
    for i in s.deltas:
        if pick.of([True, False]):
            s.item(i).setdefault("fidelity", {})
    return s.events, []


@mutator()
def fidelity_item_id_deeper(s: Stream, pick: Choices) -> Mutant:
    """item_id deeper within a fidelity is the producer's own business: no warning."""
    group = pick.of(closed_with_fidelity(s))
    for i in (s.carriers(group)[0], group.done):
        s.item(i or 0)["fidelity"]["inner"] = {"item_id": "x"}
    return s.events, []


@mutator(holding="tool_call")
def numbers_spelled_otherwise(s: Stream, pick: Choices) -> Mutant:
    """Numbers in the arguments are written otherwise than in the done item: they compare by value."""
    group = pick.of(s.closed_of("tool_call"))
    assert group.done is not None
    text, value = pick.of(
        [("1E0", 1), ("1.0", 1), ("-0", 0), ("-0.0", 0), ("0.1e1", 1.0), ("100", 1e2), ("12e-1", 1.2)]
    )
    with_arguments(s, pick, group, f'{{"n": {text}}}')
    s.item(group.done)["arguments"] = {"n": value}
    return s.events, []


@mutator(holding="inline_data")
def base64_with_stray_bits(s: Stream, pick: Choices) -> Mutant:
    """Stray low bits in the last character of base64 are accepted."""
    i = pick.of([i for i in with_data(s) if s.content(i).endswith("==")])
    text = s.content(i)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    bits = alphabet.index(text[-3]) & 0b110000
    s.item(i)["data"] = text[:-3] + alphabet[bits | pick.between(0, 15)] + "=="
    return s.events, []
