"""Records that cannot be read, and how a mutated stream is written as bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mmsp_fsm.testing.faults.basics import AUDIO, IMAGE, Choices, Due, Mutant, Record, Stream, media, mutator, of_bytes


@mutator("E101")
def record_torn(s: Stream, pick: Choices) -> Mutant:
    """A record is torn, inside a group, between two or at the end: one error and no echo."""
    i = pick.between(0, s.last)
    return replaced(s, i, torn(s.events[i], pick)), [Due("E101", i)]


@mutator("E101")
def last_record_torn(s: Stream, pick: Choices) -> Mutant:
    """The stream is cut within a record, and nothing follows: one error, and no missing end besides."""
    i = pick.between(0, s.last)
    return [*s.events[:i], torn(s.events[i], pick)], [Due("E101", i)]


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
    return inserted(s, at, pick.of(GARBAGE)), [Due("E101", at)]


@mutator("E101")
def record_garbage(s: Stream, pick: Choices) -> Mutant:
    """In place of a record stands what is no JSON: one error and no echo, for the last record neither."""
    i = pick.between(0, s.last)
    return replaced(s, i, pick.of(GARBAGE)), [Due("E101", i)]


@mutator("E101")
def done_torn_before_its_like(s: Stream, pick: Choices) -> Mutant:
    """The done item of a group is torn, and the next group is of its kind with another header: no echo in that one."""
    at = pick.of([0, *(group.done + 1 for group in s.groups if group.done is not None)])
    kind = pick.of([kind for kind in s.kinds if of_bytes(kind)])
    mine, other = pick.of([(IMAGE, AUDIO), (AUDIO, IMAGE), (AUDIO, "audio/mpeg")])
    fragment, done = s.fresh(kind)
    first = [{**fragment, media(kind): mine}, {**done, media(kind): mine}]
    empty = {**fragment, media(kind): other, kind.grows: ""}
    second = [{**fragment, media(kind): other}, *[empty] * pick.between(0, 2), {**done, media(kind): other}]
    events: list[Record] = [s.delta(at, item) for item in (*first, *second)]
    events[1] = b"{"
    return inserted(s, at, *events), [Due("E101", at + 1)]


@mutator("E101")
def record_in_utf16(s: Stream, pick: Choices) -> Mutant:
    """A record is written in UTF-16, with a mark or without."""
    i = pick.between(0, s.last)
    return replaced(s, i, json.dumps(s.events[i]).encode(pick.of(["utf-16", "utf-16-le", "utf-16-be"]))), [
        Due("E101", i)
    ]


@mutator("E101")
def two_records_in_one(s: Stream, pick: Choices) -> Mutant:
    """A line end is lost between two records: one that is no JSON, and nothing more."""
    i = pick.between(0, s.last - 1)
    both = as_bytes(s.events[i]) + as_bytes(s.events[i + 1])
    return [*s.events[:i], both, *s.events[i + 2 :]], [Due("E101", i)]


@mutator("E102")
def record_no_object(s: Stream, pick: Choices) -> Mutant:
    """In place of a record, or before it, stands an array, a number, a string or null: one error and no echo."""
    i = pick.between(0, s.last)
    record = pick.of([b"[]", b"[{}]", b"5", b"-1e5", b'"x"', b"null", b"true", b"[" * 500 + b"]" * 500])
    change = pick.of(CHANGES)
    return change(s, i, record), [Due("E102", i, "")]


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
    change = pick.of(CHANGES)
    return change(s, i, pick.of(chunks)), [Due("E103", i, "/event_type")]


@mutator("E101")
def two_unreadable_records(s: Stream, pick: Choices) -> Mutant:
    """Two unreadable records in a row are two faults."""
    i = pick.between(0, s.last)
    return [*s.events[:i], b"{", b"}", *s.events[i + 1 :]], [Due("E101", i), Due("E101", i + 1)]


DIGITS = "@digits@"
"""Stands in an event for a number that `spelled` writes."""


NO_STRING: tuple[Any, ...] = (None, 0, 1.5, True, [], {}, ["x"])
NO_ARRAY: tuple[Any, ...] = (None, {}, "", "x", 0, True)
NO_OBJECT: tuple[Any, ...] = (None, [], "", "{}", 3, False)
NO_COUNT: tuple[Any, ...] = ("1", 1.0, 0.5, -1, True, False, [], {}, "")
NO_TIME = (None, *NO_COUNT)


def as_bytes(event: Record) -> bytes:
    """A record as the bytes of its JSON."""
    return event if isinstance(event, bytes) else json.dumps(event).encode()


def spelled(event: dict[str, Any], spelling: str) -> bytes:
    """The bytes of an event in which `DIGITS` stands for a number written as `spelling`."""
    return json.dumps(event).replace(json.dumps(DIGITS), spelling).encode()


def torn(event: dict[str, Any], pick: Choices) -> bytes:
    """The beginning of an event's bytes."""
    data = json.dumps(event, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return data[: pick.between(1, len(data) - 1)]


def inserted(s: Stream, at: int, *records: Record) -> list[Record]:
    """The events, with `records` before event `at`."""
    return [*s.events[:at], *records, *s.events[at:]]


def without(s: Stream, *indices: int) -> list[Record]:
    """The events without those at `indices`."""
    return [event for i, event in enumerate(s.events) if i not in indices]


def replaced(s: Stream, at: int, record: Record) -> list[Record]:
    """The events, with `record` in place of event `at`."""
    return [*s.events[:at], record, *s.events[at + 1 :]]


CHANGES: tuple[Callable[[Stream, int, Record], list[Record]], ...] = (replaced, inserted)
"""A record put in the place of another, or before it."""
