"""Telling a recording from other JSON: a `.json` file in a folder may be anything."""

from __future__ import annotations

import json
import re
from typing import Any, BinaryIO

from mmsp_fsm.recordings.archives import Unpacked, inner_suffix

PEEK = 1 << 16
"""Bytes of a file that are looked at."""

_STARTS = ('{"role":"assistant",', '{"error":{')
"""How a recording begins, white space apart; of a torn one that may be all there is."""

_NAMES = ('"event_type"', '"content_items"')
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


def holds_events(path: str) -> bool:
    """Whether a file in a folder is a recording, sound or broken. Raises OSError where it cannot be read."""
    if inner_suffix(path) != ".json":
        return True
    with open(path, "rb") as file:
        return is_recording(file)


def is_recording(file: BinaryIO) -> bool:
    """Whether a file that holds JSON is a recording. Raises OSError where it cannot be read."""
    head = Unpacked(file).read(PEEK)
    # So that UTF-16 shows the ASCII in it. Reading the file will say that it should be UTF-8.
    text = head.decode("utf-8", "replace").replace("\0", "").lstrip("\ufeff\ufffd")
    return _shows_events(text.lstrip().removeprefix("["))


def _shows_events(text: str) -> bool:
    """Whether one of the values that `text` begins with is an event, or the first that is broken was meant as one."""
    at = 0
    while True:
        start = _skip(text, at)
        if start == len(text) and at > 0:
            return False
        try:
            value, at = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return _was_event(text[start:])
        if _is_event(value):
            return True


def _is_event(value: Any) -> bool:
    """Whether a value is an event or an error record, faulty perhaps, or a log line that holds an event."""
    if not isinstance(value, dict):
        return False
    error = value.get("error")  # a common word: elsewhere it is null or stands beside other keys
    if "event_type" in value or "content_items" in value or isinstance(error, dict) or value.keys() == {"error"}:
        return True
    return any(isinstance(one, dict) and isinstance(one.get("event_type"), str) for one in value.values())


def _was_event(text: str) -> bool:
    begin = "".join(text[:PEEK].split())
    if any(begin.startswith(start) or start.startswith(begin) for start in _STARTS):
        return True
    return any(name in text for name in _NAMES)


def _skip(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    return match.end() if match else at
