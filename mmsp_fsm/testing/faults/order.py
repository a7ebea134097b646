"""Order: groups that are not opened, not closed, or broken into."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from mmsp_fsm.testing.faults.basics import ITEM, Choices, Due, Group, Mutant, NotApplicable, Stream, is_call, mutator
from mmsp_fsm.testing.faults.consequences import never_closed
from mmsp_fsm.testing.faults.ways import inserted, without


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
