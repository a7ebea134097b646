"""Ways to write a mutated stream: records put in, left out, torn, and spelled as no JSON library would."""

from __future__ import annotations

import json
from typing import Any

from mmsp_fsm.testing.faults.basics import Choices, Record, Stream

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
