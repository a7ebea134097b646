"""Ends: stops, error records, and what follows them."""

from __future__ import annotations

from typing import Any

from mmsp_fsm.testing.faults.basics import Choices, Due, Mutant, Record, Stream, is_call, mutator, of_text
from mmsp_fsm.testing.faults.ways import NO_OBJECT, NO_STRING, inserted, torn

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
