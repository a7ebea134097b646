"""Showing a record as it stands: its text, cut to what a person can read, with the place of a pointer marked."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from mmsp_fsm.diagnostics import Excerpt
from mmsp_fsm.jsonvalues import Foreign

LEAD = 60
"""Characters shown before the marked part, and after it."""

LONGEST_MARK = 60
"""Characters of the marked part that are shown."""

READ = 1 << 16
"""Characters of a record that are looked at: beyond, a mark is not worth its cost."""

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def excerpt(record: bytes | Any, pointer: str) -> Excerpt:
    """An excerpt of `record` (its bytes as read, or an in-process value) around what `pointer` leads to.

    Where the pointer leads nowhere (a field that is absent) the nearest thing that holds it is marked.
    """
    if isinstance(record, bytes):
        text = record[: 4 * READ].decode("utf-8", "backslashreplace")
    else:
        text = json.dumps(record, default=_foreign, ensure_ascii=False)
    start, end = _span(text, pointer) if len(text) <= READ else (0, len(text))
    end = min(end, start + LONGEST_MARK)
    left = 0 if start <= LEAD else start - LEAD
    right = min(len(text), end + LEAD)
    return Excerpt(text[left:right], start - left, end - left, left > 0, right < len(text))


def _foreign(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return f"<{value.name if isinstance(value, Foreign) else type(value).__name__}>"


def _span(text: str, pointer: str) -> tuple[int, int]:
    """The 0-based offsets of what `pointer` leads to in the JSON `text`; of all of it where it is not JSON."""
    start = _skip(text, 0)
    end = len(text.rstrip())
    try:
        for part in pointer.split("/")[1:]:
            inner = _member(text, start, part.replace("~1", "/").replace("~0", "~"))
            if inner is None:
                break
            start, end = inner
    except (ValueError, IndexError, RecursionError):
        return _skip(text, 0), len(text.rstrip())
    return start, end


def _member(text: str, start: int, key: str) -> tuple[int, int] | None:
    """Where the value of `key` stands in the object or array at `start`. The last of a key named twice counts."""
    if text[start] not in "{[":
        return None
    closing = "}" if text[start] == "{" else "]"
    found = None
    at = _skip(text, start + 1)
    number = 0
    while text[at] != closing:
        name = str(number)
        if closing == "}":
            name, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        if name == key:
            found = at, end
        number += 1
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
