"""Done items that need no decoding: where a group has one long fragment, the done item's record is that one again.

An image or a vector comes in one fragment, and its done item repeats it. Where both records are written as servers
write them, they differ in the item's type and the event's time alone, which comparing bytes tells in a fraction of the
time that decoding takes. Protocol, "Items": the done item is the first fragment with everything that was carried.
"""

from __future__ import annotations

import json
from typing import Any

from attrs import frozen

from mmsp_fsm.forms import Form


@frozen
class Repeat:
    """What a done item's record is, up to its time: how it begins, the value that it grew, and how it goes on."""

    lead: bytes
    value: bytes
    trail: bytes

    def time_of(self, record: bytes) -> int | None:
        """The time of the event, where `record` is the one that is waited for; None says nothing of it."""
        at = len(self.lead)
        if not record.startswith(self.lead) or not record.startswith(self.value, at):
            return None
        at += len(self.value)
        if not record.startswith(self.trail, at):
            return None
        digits = record[at + len(self.trail) :].rstrip(b" \t\r\n")
        if not digits.endswith(b"}") or not digits[:-1].isdigit() or len(digits) > 18 or digits.startswith(b"0"):
            return None
        return int(digits[:-1])


def expect_repeat(form: Form, record: bytes, header: Any, created_at: int) -> Repeat | None:
    """What the done item's record would be, by the group's first `record`, which was decoded and holds no fidelity.

    None where the record is written otherwise, or the done item holds another value than the fragments do.
    """
    if form.kind.closes is not None:
        return None
    for style in form.styles:
        if not record.startswith(style.lead):
            continue
        written = zip(style.keys, form.values(header), strict=True)
        trail = b"".join([key + json.dumps(value).encode() for key, value in written]) + style.tail
        end = record.rstrip(b" \t\r\n").removesuffix(trail + b"%d}" % created_at)
        value = end[len(style.lead) :]
        # The record is valid, so that a value without a quote inside is one value, and nothing stands beside it.
        if len(end) < len(record) - len(trail) and _is_one(value):
            return Repeat(style.done_lead, value, trail)
    return None


def _is_one(value: bytes) -> bool:
    """Whether what stands in a valid record is one string without escaped quotes, or one array without strings."""
    if value.startswith(b'"'):
        return value.find(b'"', 1) == len(value) - 1
    return value.startswith(b"[") and value.endswith(b"]") and b'"' not in value
