"""Showing a record as it stands: its text, cut to what a person can read, with the place of a pointer marked."""

from __future__ import annotations

import json
import re

from attrs import frozen

LEAD = 36
"""Characters shown before the marked part, and after it."""

LONGEST_MARK = 44
"""Characters of the marked part that are shown."""

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


@frozen
class Excerpt:
    """A part of a record: what stands before the mark, the marked part, what stands behind it.

    It is raw model output: whoever shows it escapes it. `cut_before` and `cut_after` say whether the record goes on.
    """

    before: str
    marked: str
    after: str
    cut_before: bool = False
    cut_after: bool = False


def excerpt(record: bytes, pointer: str) -> Excerpt:
    """An excerpt of `record` around what the JSON pointer leads to.

    Where it leads nowhere (a field that is absent), the nearest thing that holds it is marked; where the record is not
    JSON, all of it.
    """
    text = record.decode("utf-8", "backslashreplace")
    start, end = _span(text, pointer)
    end = min(end, start + LONGEST_MARK)
    left, right = max(0, start - LEAD), min(len(text), end + LEAD)
    return Excerpt(text[left:start], text[start:end], text[end:right], left > 0, right < len(text))


def _span(text: str, pointer: str) -> tuple[int, int]:
    """The 0-based offsets of what `pointer` leads to in the JSON `text`, of which the end may be cut off."""
    start = _skip(text, 0)
    end = len(text.rstrip())
    for part in pointer.split("/")[1:]:
        inner = _member(text, start, part.replace("~1", "/").replace("~0", "~"))
        if inner is None:
            break
        start, end = inner
    return start, end


def _member(text: str, start: int, key: str) -> tuple[int, int] | None:
    """Where the value of `key` stands in the object or array at `start`. The last of a key named twice counts."""
    closing = {"{": "}", "[": "]"}.get(text[start : start + 1])
    if closing is None:
        return None
    found = None
    at = _skip(text, start + 1)
    number = 0
    while text[at : at + 1] not in (closing, ""):
        name = str(number)
        try:
            if closing == "}":
                name, at = _DECODER.raw_decode(text, at)
                at = _skip(text, _skip(text, at) + 1)
            _, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):  # it is cut off here, or no JSON from here on
            return (at, len(text)) if name == key and at < len(text) else found
        if name == key:
            found = at, end
        number += 1
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
