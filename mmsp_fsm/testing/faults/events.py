"""Faults in the fields of an event, and numbers that JSON cannot write."""

from __future__ import annotations

from typing import Any

from mmsp_fsm.testing.faults.basics import (
    ITEM,
    Choices,
    Due,
    Mutant,
    Stream,
    is_call,
    mutator,
    of_text,
    of_vectors,
    stays,
)
from mmsp_fsm.testing.faults.records import (
    DIGITS,
    NO_ARRAY,
    NO_COUNT,
    NO_OBJECT,
    NO_STRING,
    NO_TIME,
    inserted,
    replaced,
    spelled,
    without,
)


@mutator("E103")
def event_field_absent(s: Stream, pick: Choices) -> Mutant:
    """One of the six fields is left out of an event.

    Without event_type a delta is told by its item; a stop without it, and a delta without items, count as unreadable.
    """
    i = pick.of(events_of(s))
    name = pick.of(list(s.events[i]))
    del s.events[i][name]
    return s.events, [Due("E103", i, f"/{name}")]


def events_of(s: Stream) -> list[int]:
    """The indices of all events: the error record is none."""
    return [i for i, event in enumerate(s.events) if "error" not in event]


@mutator("E104")
def event_field_unknown(s: Stream, pick: Choices) -> Mutant:
    """An event has a seventh field."""
    i = pick.of(events_of(s))
    s.events[i][pick.of(["id", "delta", "", "Role", "a/b"])] = pick.of([None, 1, {}])
    return s.events, [Due("E104", i)]


@mutator("E104")
def event_with_error_key(s: Stream, pick: Choices) -> Mutant:
    """An event has a key `error` beside its event_type: an event with an unknown field."""
    i = pick.of(events_of(s))
    s.events[i]["error"] = pick.of([None, {"type": "UpstreamError", "message": "m"}])
    return s.events, [Due("E104", i, "/error")]


@mutator("E106")
def role_of_another(s: Stream, pick: Choices) -> Mutant:
    """The role is another string."""
    i = pick.of(events_of(s))
    s.events[i]["role"] = pick.of(["user", "system", "", "Assistant", "assistant "])
    return s.events, [Due("E106", i, "/role")]


@mutator("E105")
def role_no_string(s: Stream, pick: Choices) -> Mutant:
    """The role is no string."""
    i = pick.of(events_of(s))
    s.events[i]["role"] = pick.of(NO_STRING)
    return s.events, [Due("E105", i, "/role")]


@mutator("E105")
def event_type_no_string(s: Stream, pick: Choices) -> Mutant:
    """The event type is no string: a delta is still told by its item, a stop counts as unreadable."""
    i = pick.of(events_of(s))
    s.events[i]["event_type"] = pick.of(NO_STRING)
    return s.events, [Due("E105", i, "/event_type")]


@mutator("E107", "E301", "E302", "E304", "E401", "E402", "E410")
def event_type_unknown_on_delta(s: Stream, pick: Choices) -> Mutant:
    """A delta event is of an unknown type: the machine stays, as if its item had not come."""
    i = pick.of(s.deltas)
    s.events[i]["event_type"] = pick.of(["start", "unused", "Delta", "", "chunk"])
    return s.events, [Due("E107", i, "/event_type"), *stays(s, i)]


@mutator("E107", "E307", ending="stop")
def event_type_unknown_on_stop(s: Stream, pick: Choices) -> Mutant:
    """The stop event is of an unknown type: the machine stays, so the stream has no end."""
    s.events[-1]["event_type"] = pick.of(["done", "end", "STOP", "message_stop"])
    return s.events, [Due("E107", s.last, "/event_type"), Due("E307", len(s.events))]


@mutator("E107")
def unknown_event_inserted(s: Stream, pick: Choices) -> Mutant:
    """An event of an unknown type stands somewhere before the end: the open group is not compared, but stays open."""
    at = pick.between(0, s.last)
    event = s.delta(at, *pick.of([[], [s.plain()]]))
    event["event_type"] = pick.of(["start", "ping"])
    return inserted(s, at, event), [Due("E107", at, "/event_type")]


@mutator("E105")
def items_no_array(s: Stream, pick: Choices) -> Mutant:
    """content_items is no array; on a delta event nobody can tell what it was."""
    i = pick.of(events_of(s))
    s.events[i]["content_items"] = pick.of(NO_ARRAY)
    return s.events, [Due("E105", i, "/content_items")]


@mutator("E121", "E301", "E302", "E304", "E401", "E402", "E410")
def item_lost(s: Stream, pick: Choices) -> Mutant:
    """A delta event has lost its item: the machine stays."""
    i = pick.of(s.deltas)
    s.events[i]["content_items"] = []
    return s.events, [Due("E121", i, "/content_items"), *stays(s, i)]


@mutator("E121")
def empty_delta_inserted(s: Stream, pick: Choices) -> Mutant:
    """A delta event without items stands somewhere before the end."""
    at = pick.between(0, s.last)
    return inserted(s, at, s.delta(at)), [Due("E121", at, "/content_items")]


@mutator("E121")
def items_together(s: Stream, pick: Choices) -> Mutant:
    """Two or three events' items come in one event: the machine moves once for each, in order."""
    count = pick.between(2, 3)
    i = pick.of([i for i in s.deltas if i + count - 1 in s.deltas])
    for j in range(i + 1, i + count):
        s.events[i]["content_items"].append(s.item(j))
    return without(s, *range(i + 1, i + count)), [Due("E121", i, "/content_items")]


@mutator("E122")
def usage_on_delta(s: Stream, pick: Choices) -> Mutant:
    """A delta event carries usage, or anything but null in its place: E122 alone."""
    i = pick.of(s.deltas)
    counts = {name: pick.of([0, 5, None]) for name in s.definition.usage.counts}
    s.events[i]["usage_metadata"] = pick.of([counts, {}, 0, "", [], False, {"x": 1}])
    return s.events, [Due("E122", i, "/usage_metadata")]


@mutator("E123")
def finish_reason_on_delta(s: Stream, pick: Choices) -> Mutant:
    """A delta event carries a finish reason, or anything but null in its place: E123 alone."""
    i = pick.of(s.deltas)
    s.events[i]["finish_reason"] = pick.of([*s.definition.event.finish_reasons, "", "eos", 0, {}, False])
    return s.events, [Due("E123", i, "/finish_reason")]


@mutator("E124", ending="stop")
def items_on_stop(s: Stream, pick: Choices) -> Mutant:
    """The stop event carries items, which are not looked at."""
    kind = s.kind_of(of_text)
    items = [[s.fresh(kind)[1]], [{"type": "nothing"}], [1], [None, {}], [{"type": kind.delta}]]
    s.events[-1]["content_items"] = pick.of(items)
    return s.events, [Due("E124", s.last, "/content_items")]


@mutator("E125", ending="stop")
def usage_null(s: Stream, pick: Choices) -> Mutant:
    """The stop event has no usage."""
    s.events[-1]["usage_metadata"] = None
    return s.events, [Due("E125", s.last, "/usage_metadata")]


@mutator("E126", ending="stop")
def finish_reason_null(s: Stream, pick: Choices) -> Mutant:
    """The stop event has no finish reason."""
    s.events[-1]["finish_reason"] = None
    return s.events, [Due("E126", s.last, "/finish_reason")]


@mutator("E102", ending="stop")
def usage_no_object(s: Stream, pick: Choices) -> Mutant:
    """The stop event's usage is no object: E102 beats E105."""
    s.events[-1]["usage_metadata"] = pick.of(NO_OBJECT[1:])
    return s.events, [Due("E102", s.last, "/usage_metadata")]


@mutator("E105", ending="stop")
def finish_reason_no_string(s: Stream, pick: Choices) -> Mutant:
    """The stop event's finish reason is no string."""
    s.events[-1]["finish_reason"] = pick.of(NO_STRING[1:])
    return s.events, [Due("E105", s.last, "/finish_reason")]


@mutator("E108", ending="stop")
def finish_reason_unknown(s: Stream, pick: Choices) -> Mutant:
    """The stop event's finish reason is a string outside the four."""
    s.events[-1]["finish_reason"] = pick.of(["", "tool_calls", "STOP", "end_turn", "stop "])
    return s.events, [Due("E108", s.last, "/finish_reason")]


@mutator("E105")
def created_at_wrong(s: Stream, pick: Choices) -> Mutant:
    """created_at is no integer >= 0, an integer written with a fraction included."""
    i = pick.of(events_of(s))
    now = s.events[i]["created_at"]
    s.events[i]["created_at"] = pick.of([*NO_TIME, float(now), str(now), -now])
    return s.events, [Due("E105", i, "/created_at")]


@mutator("E105", ending="stop")
def count_wrong(s: Stream, pick: Choices) -> Mutant:
    """A count of the usage is neither an integer >= 0 nor null."""
    name = pick.of(list(s.events[-1]["usage_metadata"]))
    s.events[-1]["usage_metadata"][name] = pick.of(NO_COUNT)
    return s.events, [Due("E105", s.last, f"/usage_metadata/{name}")]


@mutator("E103", ending="stop")
def count_absent(s: Stream, pick: Choices) -> Mutant:
    """Some counts are left out of the usage: one error for each field."""
    usage = s.events[-1]["usage_metadata"]
    names = list(usage)[pick.between(0, len(usage) - 1) :]
    for name in names:
        del usage[name]
    return s.events, [Due("E103", s.last, f"/usage_metadata/{name}") for name in names]


@mutator("E104", ending="stop")
def count_unknown(s: Stream, pick: Choices) -> Mutant:
    """The usage has a count that the protocol does not know."""
    name = pick.of(["total_tokens", "Cached_tokens", "x"])
    s.events[-1]["usage_metadata"][name] = pick.of([None, 1, "1"])
    return s.events, [Due("E104", s.last, f"/usage_metadata/{name}")]


NO_NUMBER = ("NaN", "Infinity", "-Infinity", "1e999", "-1E+400", "1" + "0" * 4300, "-" + "9" * 5000)


def no_number(s: Stream, i: int, pick: Choices, pointer: str | None = None) -> Mutant:
    """Event `i`, in which `DIGITS` stands, with a number that JSON cannot write there: its symbol can still be told."""
    return replaced(s, i, spelled(s.events[i], pick.of(NO_NUMBER))), [Due("E101", i, pointer)]


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
    s.item(i)[kind.grows] = [*s.content(i), DIGITS, 1] if of_vectors(kind) else DIGITS
    return no_number(s, i, pick)


@mutator("E101")
def no_number_in_done(s: Stream, pick: Choices) -> Mutant:
    """A done item's content holds NaN: nothing more is said of it."""
    group = pick.of(s.closed)
    assert group.done is not None
    if is_call(group.kind):
        s.content(group.done)["n"] = pick.of([DIGITS, [DIGITS], {"m": DIGITS}])
    else:
        s.item(group.done)[group.kind.grows] = [DIGITS] if of_vectors(group.kind) else DIGITS
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
    event = s.delta(len(s.events), s.plain(DIGITS))
    return [*s.events, spelled(event, "NaN")], [Due("E305" if s.stopped else "E309", len(s.events))]


@mutator("E101")
def nested_too_deep(s: Stream, pick: Choices) -> Mutant:
    """A record is nested 501 deep: it cannot be read, and what comes next is legal."""
    i = pick.of(s.deltas)
    s.item(i)["fidelity"] = nested(501 - 3)
    return s.events, [Due("E101", i)]


def nested(levels: int) -> dict[str, Any]:
    """An object that is `levels` deep."""
    value: Any = []
    for _ in range(levels - 2):
        value = [value]
    return {"deep": value}
