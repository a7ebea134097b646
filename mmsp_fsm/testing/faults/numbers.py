"""Numbers that JSON cannot write."""

from __future__ import annotations

from typing import Any

from mmsp_fsm.testing.faults.basics import ITEM, Choices, Due, Mutant, Stream, is_call, mutator, of_vectors
from mmsp_fsm.testing.faults.events import events_of
from mmsp_fsm.testing.faults.ways import DIGITS, replaced, spelled

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
