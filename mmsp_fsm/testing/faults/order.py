"""Faults in the order of items (groups not opened, not closed, interrupted) and at the end of a stream."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from mmsp_fsm.testing.faults.basics import (
    ITEM,
    Choices,
    Due,
    Group,
    Mutant,
    NotApplicable,
    Record,
    Stream,
    is_call,
    mutator,
    never_closed,
    of_text,
)
from mmsp_fsm.testing.faults.records import NO_OBJECT, NO_STRING, inserted, torn, without


@mutator("E301")
def fragments_lost(s: Stream, pick: Choices) -> Mutant:
    """All fragments of a group are lost: its done item stands alone."""
    group = pick.of(s.closed)
    return without(s, *group.fragments), [Due("E301", group.first)]


@mutator("E301")
def done_twice(s: Stream, pick: Choices) -> Mutant:
    """A done item comes twice: no group is open at the second."""
    group = pick.of(s.closed)
    assert group.done is not None
    return inserted(s, group.done, deepcopy(s.events[group.done])), [Due("E301", group.done + 1)]


@mutator("E302", "E304", "E406", "E410")
def done_lost(s: Stream, pick: Choices) -> Mutant:
    """A done item is lost. What tells is what follows: another group's fragment, the stop, or a merged group's done."""
    group = pick.of(s.closed)
    assert group.done is not None
    return without(s, group.done), never_closed(s, group, compared=True, shift=-1)


@mutator("E301", "E302", "E304")
def done_too_early(s: Stream, pick: Choices) -> Mutant:
    """A whole group, then one more fragment of its kind: it opens a second group, which nobody closes."""
    group = pick.of([group for group in s.closed if not is_call(group.kind)])
    assert group.done is not None
    follower = s.after(group)
    late = s.fresh(group.kind)[0]
    if follower is not None and follower.kind == group.kind:
        raise NotApplicable
    at = group.done + 1
    code = "E302" if follower is not None else "E304" if s.stopped else None
    return inserted(s, at, s.delta(at, late)), [Due(code, at + 1)] if code else []


@mutator("E302")
def group_inserted(s: Stream, pick: Choices) -> Mutant:
    """A whole group of another kind stands inside a group: one error, at the fragment that broke in."""
    group = pick.of(s.closed)
    kind = pick.of([kind for kind in s.kinds if kind != group.kind])
    at = pick.of(group.indices[1:])
    return inserted(s, at, *(s.delta(at, item) for item in s.fresh(kind))), [Due("E302", at, f"{ITEM}/type")]


@mutator("E302", holding=is_call)
def call_inserted(s: Stream, pick: Choices) -> Mutant:
    """A whole call with an id of its own stands inside a call: one error, at the fragment that broke in."""
    group = pick.of(s.closed_of(is_call))
    at = pick.of(group.indices[1:])
    return inserted(s, at, *(s.delta(at, item) for item in s.fresh(s.kind_of(is_call)))), [Due("E302", at)]


@mutator("E302", "E304")
def fragment_inserted(s: Stream, pick: Choices) -> Mutant:
    """A fragment of another kind stands inside a group, and opens a group of its own that nobody closes."""
    group = pick.of(s.closed)
    follower = s.after(group)
    kind = pick.of([kind for kind in s.kinds if kind not in (group.kind, follower.kind if follower else None)])
    at = pick.of(group.indices[1:])
    assert group.done is not None
    second = "E302" if follower is not None else "E304" if s.stopped else None
    faults = [Due("E302", at)] + ([Due(second, group.done + 2)] if second else [])
    return inserted(s, at, s.delta(at, s.fresh(kind)[0])), faults


@mutator("E302")
def groups_interleaved(s: Stream, pick: Choices) -> Mutant:
    """Two neighbouring groups interleave: one error, and the first one's late items are its own."""
    return interleaved(s, pick, [(a, b) for a, b in neighbours(s) if a.kind != b.kind])


@mutator("E302", holding=is_call, times=2)
def calls_interleaved(s: Stream, pick: Choices) -> Mutant:
    """Two neighbouring calls interleave: their fragments cannot be told apart, so it is one error and nothing more."""
    return interleaved(s, pick, [(a, b) for a, b in neighbours(s) if a.kind == b.kind and is_call(a.kind)])


@mutator("E302", holding=is_call)
def fresh_call_interleaved(s: Stream, pick: Choices) -> Mutant:
    """A call interleaves with a new one, done items and fidelities included: one error."""
    group = pick.of(s.closed_of(is_call))
    first, done = s.fresh(group.kind)
    later = {**first, **dict.fromkeys([*s.call_fields, group.kind.grows], "")}
    pick.of([first, later])["fidelity"] = done["fidelity"] = {"signature": "s"}
    return merged(s, pick, group, [s.delta(group.done or 0, item) for item in (first, later, done)], group.done)


def neighbours(s: Stream) -> list[tuple[Group, Group]]:
    """The closed groups that follow one another."""
    pairs = [(group, s.after(group)) for group in s.closed]
    return [(a, b) for a, b in pairs if b is not None and b.done is not None]


def interleaved(s: Stream, pick: Choices, pairs: list[tuple[Group, Group]]) -> Mutant:
    """Two groups of one of the `pairs` interleave."""
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
    return [*s.events[: a.first], *events, *s.events[last + 1 :]], [Due("E302", a.first + lead)]


@mutator("E303")
def done_of_another_kind(s: Stream, pick: Choices) -> Mutant:
    """In place of a group's done item stands one of another kind."""
    group = pick.of(s.closed)
    assert group.done is not None
    kind = pick.of([kind for kind in s.kinds if kind != group.kind])
    s.events[group.done]["content_items"] = [s.fresh(kind)[1]]
    return s.events, [Due("E303", group.done, f"{ITEM}/type")]


@mutator("E303")
def foreign_done_inserted(s: Stream, pick: Choices) -> Mutant:
    """Inside a group stands a done item of another kind: it closes the group, whose late items are silent."""
    group = pick.of(s.closed)
    at = pick.of(group.indices[1:])
    kind = pick.of([kind for kind in s.kinds if kind != group.kind])
    return inserted(s, at, s.delta(at, s.fresh(kind)[1])), [Due("E303", at)]


# ── Ends ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@mutator("E304", ending="stop")
def stop_inside_group(s: Stream, pick: Choices) -> Mutant:
    """The stop event comes inside a group, and nothing after it."""
    i = pick.of([i for group in s.closed for i in group.fragments])
    return [*s.events[: i + 1], s.events[-1]], [Due("E304", i + 1)]


@mutator("E304", "E305", ending="stop")
def stop_overtakes(s: Stream, pick: Choices) -> Mutant:
    """The stop event overtakes the rest of a group: it is one error, what follows it another."""
    i = pick.of([i for group in s.closed for i in group.fragments])
    stop = s.events.pop()
    return inserted(s, i + 1, stop), [Due("E304", i + 1), Due("E305", i + 2)]


@mutator("E124", "E304", ending="stop")
def stop_carries_done(s: Stream, pick: Choices) -> Mutant:
    """The stop event carries the last group's done item: the items of a stop move nothing, so the group stays open."""
    done = s.events.pop(-2)
    s.events[-1]["content_items"] = done["content_items"]
    return s.events, [Due("E124", s.last), Due("E304", s.last)]


def followers(s: Stream, pick: Choices, codes: dict[str, str]) -> Mutant:
    """Append records to an ended stream; the first decides the one error."""
    stop = {**s.delta(len(s.events)), "event_type": "stop", "finish_reason": "stop", "usage_metadata": dict.fromkeys(
        s.definition.usage.counts)}  # fmt: skip
    delta = s.delta(len(s.events), pick.of([s.plain(), {"type": s.kind_of(of_text).done}, {"type": "no"}]))
    known: dict[str, Record] = {
        "delta": delta,
        "empty": s.delta(len(s.events)),
        "stop": stop,
        "bare stop": {"event_type": "stop"},
        "error": {"error": {"type": s.cut_short, "message": ""}},
        "unknown": {**delta, "event_type": "ping"},
        "number": b"5",
        "null": b"null",
        "torn": torn(delta, pick),
        "zeros": b"\0" * 20,
    }
    name = pick.of(list(codes))
    more = [known[pick.of(list(known))] for _ in range(pick.between(0, 3))]
    return [*s.events, known[name], *more], [Due(codes[name], len(s.events))]


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
    return inserted(s, at, record), [Due("E308" if at == s.last else "E309", at + 1)]


@mutator("E307")
def end_missing(s: Stream, pick: Choices) -> Mutant:
    """The stream is cut anywhere before its end, all of it perhaps: one error, inside a group too."""
    count = pick.between(0, s.last)
    return s.events[:count], [Due("E307", count)]


# ── Errors ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def parse_error(s: Stream, **more: Any) -> dict[str, Any]:
    """The error record of a call whose arguments do not parse."""
    return {"error": {"type": s.cut_short, "message": "the arguments do not parse", **more}}


@mutator("E412")
def parse_error_outside_call(s: Stream, pick: Choices) -> Mutant:
    """The error of a call's arguments comes where no call is open: first of all, between groups, in another kind."""
    at = pick.of(
        [0, *(i + 1 for group in s.groups for i in group.indices if not is_call(group.kind) or i == group.done)]
    )
    return [*s.events[:at], parse_error(s)], [Due("E412", at)]


@mutator("W511", holding=is_call)
def parse_error_unwarranted(s: Stream, pick: Choices) -> Mutant:
    """The error of a call's arguments comes though they are a JSON object, "" included."""
    group = pick.of(s.closed_of(is_call))
    assert group.done is not None
    return [*s.events[: group.done], parse_error(s, tool_name="f")], [Due("W511", group.done)]


@mutator(ending="stop")
def error_anywhere(s: Stream, pick: Choices) -> Mutant:
    """Any other error may end a stream anywhere, in every open state: no fault."""
    return [*s.events[: pick.between(0, s.last)], {"error": {"type": "UpstreamError", "message": ""}}], []


@mutator("E102", ending="error")
def error_no_object(s: Stream, pick: Choices) -> Mutant:
    """An error is no object; it still ends the stream."""
    s.events[-1] = {"error": pick.of(NO_OBJECT)}
    return s.events, [Due("E102", s.last, "/error")]


@mutator("E103", ending="error")
def error_field_absent(s: Stream, pick: Choices) -> Mutant:
    """An error lacks its type or its message; it still ends the stream."""
    name = pick.of(["type", "message"])
    del s.events[-1]["error"][name]
    return s.events, [Due("E103", s.last, f"/error/{name}")]


@mutator("E105", ending="error")
def error_field_no_string(s: Stream, pick: Choices) -> Mutant:
    """An error's type or message is no string; it still ends the stream."""
    name = pick.of(["type", "message"])
    s.events[-1]["error"][name] = pick.of(NO_STRING)
    return s.events, [Due("E105", s.last, f"/error/{name}")]


@mutator("E104", ending="error")
def error_record_with_more(s: Stream, pick: Choices) -> Mutant:
    """An error record has a second key."""
    name = pick.of(["created_at", "role", "usage_metadata", "x"])
    s.events[-1][name] = pick.of([None, 1])
    return s.events, [Due("E104", s.last, f"/{name}")]
