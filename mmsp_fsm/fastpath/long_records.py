"""Long records: images, audio and vectors, whose value is not decoded where the bytes around it tell enough.

Both ways rest on how servers write a delta event: with its fields in the protocol's order, so that all that stands
around one long value is known. A record that is written otherwise is decoded as any other. Protocol, "Events" and
"Items".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from attrs import define, frozen

from mmsp_fsm.grammar.definition import Definition, Kind
from mmsp_fsm.model.json_values import WHITE

LONG = 4096
"""Bytes from which a record's value is cut out before it is decoded: below, that costs more than it saves."""

TAIL = 512
"""Bytes in which what stands behind the value is looked for, with the quote that ends it."""


@frozen
class Style:
    """How servers write the record of a delta event of one kind, with one way to write separators.

    `lead` and `done_lead` go up to the growing field's value, `keys` stand before the header's, `tail` goes on behind
    the item up to the time, which comes last.
    """

    lead: bytes
    done_lead: bytes
    keys: tuple[bytes, ...]
    tail: bytes


def make_style(definition: Definition, kind: Kind, comma: str, colon: str) -> Style:
    """How records of `kind` are written with these separators."""
    words = {"event_type": "delta", "items": [{"type": 0}], "time": 0}
    event = {entry.name: entry.value or words.get(entry.holds) for entry in definition.event.field}
    head, _, tail = json.dumps(event, separators=(comma, colon)).partition("0}")

    def key(name: str) -> bytes:
        return f"{comma}{json.dumps(name)}{colon}".encode()

    lead, done_lead = ((head + json.dumps(symbol)).encode() + key(kind.grows) for symbol in (kind.delta, kind.done))
    keys = tuple(key(header.name) for header in kind.header)
    return Style(lead, done_lead, keys, ("}" + tail.removesuffix("0}")).encode())


# ── Base64 that is cut out ───────────────────────────────────────────────────────────────────────────────────────


def hollow_decoder(decode: Callable[[Any], Any], begins: Sequence[bytes]) -> Callable[[Any], Any]:
    """Decode as `decode` does, but for the base64 of a long record, which becomes the item's `content` as it stands.

    `begins` are what records with base64 begin with, up to the value. What is cut out is no more than bytes without a
    quote: decoding the base64 shows that it is a string of no escapes, so that the rest is read as if it stood there.
    """
    leads = [(lead + b'"', *_around(lead)) for lead in begins if b"\\" not in lead]

    def decode_hollow(record: bytes) -> Any:
        if len(record) < LONG:
            return decode(record)
        tail = record[-TAIL:]
        rest = tail[tail.find(b'"') :]
        # Without an escape no key can be written in two ways, so that each around the value stands there once.
        for lead, items, grows in leads if b"\\" not in rest else ():
            if record.startswith(lead) and items not in rest and grows not in rest:
                event = decode(lead + rest)
                event.content_items[0].content = memoryview(record)[len(lead) : len(record) - len(rest)]
                return event
        return decode(record)

    return decode_hollow


def _around(lead: bytes) -> tuple[bytes, bytes]:
    """The keys that stand around the value behind `lead`, in their quotes: the items', and the growing field's."""
    items, grows = re.findall(rb'("[^"]*"):\s*(?:\[|$)', lead)
    return items, grows


# ── Done items that repeat their fragment ────────────────────────────────────────────────────────────────────────


@define
class Repeat:
    """What the record of a done item is whose group has one fragment, up to its time: that fragment's over again.

    How it begins, the value that it grew, and how it goes on.
    """

    lead: bytes
    value: memoryview
    trail: bytes

    def time_of(self, record: bytes) -> int | None:
        """The time of the event, where `record` is the one that is waited for; None says nothing of it."""
        at = len(self.lead)
        if not record.startswith(self.lead) or not record.startswith(self.value, at):
            return None
        at += len(self.value)
        if not record.startswith(self.trail, at):
            return None
        digits, brace, rest = record[at + len(self.trail) :].partition(b"}")
        if not brace or not digits.isdigit() or len(digits) > 18 or digits.startswith(b"0") or rest.strip(WHITE):
            return None
        return int(digits)


def expect_repeat(
    styles: Sequence[Style], record: bytes, content: Any, values: Sequence[str], created_at: int
) -> Repeat | None:
    """What the done item's record would be, by the group's first `record`, which was decoded and holds no fidelity.

    `content` is what it was decoded to, a view where it was cut out; `values` are the header's. None where the record
    is written otherwise.
    """
    for style in styles:
        if not record.startswith(style.lead):
            continue
        trail = style.tail
        if values:
            written = zip(style.keys, values, strict=True)
            trail = b"".join([key + msgspec.json.encode(value) for key, value in written]) + trail
        rest = trail + b"%d}" % created_at
        end = len(record) - record.endswith(b"\n")
        start, stop = len(style.lead), end - len(rest)
        cut_out = isinstance(content, memoryview) and len(content) == stop - start - 2
        if record.endswith(rest, 0, end) and (cut_out or _is_one(record, start, stop)):
            return Repeat(style.done_lead, memoryview(record)[start:stop], trail)
    return None


def _is_one(record: bytes, start: int, stop: int) -> bool:
    """Whether what stands between two offsets is one value: a string with no quote inside, or an array of no strings.

    The record is valid, and what is around is known, so that no more than that needs to be looked at.
    """
    quote = record.find(b'"', start + 1, stop)
    if record.startswith(b'"', start):
        return quote == stop - 1
    return quote < 0 and record.startswith(b"[", start) and record.endswith(b"]", start, stop)
