"""Times, the message, and other advice."""

from __future__ import annotations

from mmsp_fsm.testing.faults.basics import (
    ITEM,
    Choices,
    Due,
    Mutant,
    NotApplicable,
    Stream,
    is_call,
    media,
    mutator,
    of_bytes,
)
from mmsp_fsm.testing.faults.events import events_of
from mmsp_fsm.testing.faults.records import inserted, without


@mutator("W501")
def times_in_seconds(s: Stream, pick: Choices) -> Mutant:
    """All times from one event on are in seconds: once a stream, and no W502 for the jump."""
    events = events_of(s)
    at = pick.between(0, len(events) - 1)
    start = pick.of([0, 1_700_000_000, 10**11 - 10**6])
    for number, i in enumerate(events[at:]):
        s.events[i]["created_at"] = start + number
    return s.events, [Due("W501", events[at], "/created_at")]


@mutator("W502")
def time_goes_back(s: Stream, pick: Choices) -> Mutant:
    """One event's time lies before an earlier one's."""
    i = pick.of(events_of(s)[1:])
    latest = s.events[i - 1]["created_at"]
    s.events[i]["created_at"] = pick.between(10**11, latest - 1)
    return s.events, [Due("W502", i, "/created_at")]


def reason_for_calls(s: Stream) -> str:
    """The finish reason that says that the message holds a call."""
    call = s.kind_of(is_call).name
    return pick_first([name for name, says in s.definition.finish_reasons.items() if says.needs == call])


def reason_without_calls(s: Stream) -> str:
    """The finish reason that says that it holds none."""
    call = s.kind_of(is_call).name
    return pick_first([name for name, says in s.definition.finish_reasons.items() if says.denies == call])


def pick_first(names: list[str]) -> str:
    """The first of `names`; raises `NotApplicable` where there is none."""
    if not names:
        raise NotApplicable
    return names[0]


@mutator("W503", ending="stop")
def finish_reason_without_call(s: Stream, pick: Choices) -> Mutant:
    """The finish reason announces a call, and the message holds no call."""
    if s.closed_of(is_call):
        raise NotApplicable
    s.events[-1]["finish_reason"] = reason_for_calls(s)
    return s.events, [Due("W503", s.last, "/finish_reason")]


@mutator("W504", holding=is_call, ending="stop", extend=("W504",))
def call_without_finish_reason(s: Stream, pick: Choices) -> Mutant:
    """The finish reason is stop, and the message holds a call."""
    s.events[-1]["finish_reason"] = reason_without_calls(s)
    return s.events, [Due("W504", s.last, "/finish_reason")]


@mutator(holding=is_call, ending="stop")
def call_without_finish_reason_unasked(s: Stream, pick: Choices) -> Mutant:
    """The finish reason is stop, and the message holds a call: said only when W504 is selected."""
    s.events[-1]["finish_reason"] = reason_without_calls(s)
    return s.events, []


@mutator("W505", holding=is_call)
def call_id_reused(s: Stream, pick: Choices) -> Mutant:
    """Two calls of one message share an id."""
    first = pick.of(s.closed_of(is_call))
    taken = s.item(first.first)[s.call_fields[-1]]
    items = s.fresh(s.kind_of(is_call))
    for item in items:
        item[s.call_fields[-1]] = taken
    at = pick.of(
        [group.first for group in s.groups if group.first > first.first] + ([s.last] if s.groups[-1].done else [])
    )
    return inserted(s, at, *(s.delta(at, item) for item in items)), [Due("W505", at)]


@mutator("W506", ending="stop")
def nothing_but_thinking(s: Stream, pick: Choices) -> Mutant:
    """The stream stops with thinking only, or with nothing."""
    visible = [i for group in s.groups if not group.kind.hidden for i in group.indices]
    records = without(s, *visible)
    s.events[-1]["finish_reason"] = pick.of(["stop", "length", "unknown"])
    return records, [Due("W506", len(records) - 1)]


@mutator("W503", "W506", ending="stop")
def call_announced_and_nothing(s: Stream, pick: Choices) -> Mutant:
    """The stream stops with nothing, and says that it holds a call: two warnings."""
    s.events[-1]["finish_reason"] = reason_for_calls(s)
    return s.events[-1:], [Due("W503", 0), Due("W506", 0)]


@mutator("W508", holding=of_bytes)
def mime_type_absent(s: Stream, pick: Choices) -> Mutant:
    """Some items of a group have no mime_type: once a group, also where the done item alone has none."""
    group = pick.of([group for group in s.groups if of_bytes(group.kind)])
    bare = [i for i in group.indices if pick.of([True, False])] or [pick.of(group.indices)]
    for i in bare:
        del s.item(i)[media(group.kind)]
    return s.events, [Due("W508", bare[0], f"{ITEM}/{media(group.kind)}")]


@mutator("W508", holding=of_bytes)
def mime_type_changes(s: Stream, pick: Choices) -> Mutant:
    """The mime_type changes on later fragments: once a group; the done item's is the first fragment's."""
    group = pick.of([group for group in s.groups if of_bytes(group.kind) and len(group.fragments) > 1])
    at = pick.between(1, len(group.fragments) - 1)
    for i in group.fragments[at:]:
        s.item(i)[media(group.kind)] += "+x"
    return s.events, [Due("W508", group.fragments[at], f"{ITEM}/{media(group.kind)}")]


@mutator("W509", holding=is_call)
def later_header_absent(s: Stream, pick: Choices) -> Mutant:
    """Later fragments of a call leave name or id out instead of empty: once a group."""
    group = pick.of([group for group in s.groups if is_call(group.kind) and len(group.fragments) > 1])
    at = pick.between(1, len(group.fragments) - 1)
    names = pick.of(s.call_choices)
    for i in group.fragments[at:]:
        for name in names:
            del s.item(i)[name]
    return s.events, [Due("W509", group.fragments[at])]
