"""Detects the format of a recording from its content; the suffix decides a tie."""

from __future__ import annotations

import json
import re
from typing import Any, BinaryIO, Literal

from attrs import define, field

from mmsp_fsm.recordings.archives import Unpacked, inner_suffix

Format = Literal["jsonl", "json", "sse"]

BOM = b"\xef\xbb\xbf"
"""A UTF-8 byte order mark; dropped at the very start of a recording, and only there."""

HEAD = 1 << 16
"""Bytes in which the format is told, at most: a torn or foreign beginning is shorter."""

LINE_SUFFIXES = (".jsonl", ".ndjson")
"""Suffixes by which one line that holds an array is a record, and not an array of records."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_FIELD = re.compile(rb"(?:data|event|id|retry):")
_BARE_FIELD = re.compile(rb"(?:data|event|id|retry)\Z")
# A comment; but the tail of a torn line of JSON may begin with a colon too.
_COMMENT = re.compile(rb":(?!.*\}\s*\Z)", re.DOTALL)
_ARRAY = re.compile(rb"\[\s*(?:[\[\]{\",0-9tfn-]|\Z)")
# Possessive: a string of a million escapes would otherwise cost a backtracking point each.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
_DEPTH = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}


def detect(head: bytes, suffix: str) -> Format:
    """The format of a recording that begins with `head`, in a file with this suffix ("" where there is none)."""
    teller = Teller(suffix)
    return teller.look(head) or teller.settle(head)


def _lower(suffix: str) -> str:
    return suffix.lower()


@define(eq=False)
class Teller:
    """Tells the format of a recording while it arrives: however it is cut into chunks, the answer is the same.

    The first line that decides is believed; lines before it may be torn or foreign. An object is JSONL, a field or a
    comment is SSE; and only what begins with a bracket is an array.
    """

    suffix: str = field(converter=_lower)
    _at: int = 0  # where the first line begins that is not looked at yet
    _seen: int = 0  # up to where no line end is found
    _first: bool = True  # whether nothing but blank lines came before it
    _closed: bool = False  # whether the first line holds an array and its end

    def look(self, head: bytes | bytearray) -> Format | None:
        """The format, once it is told; `head` is all that came so far."""
        if self._at == 0:
            if len(head) < len(BOM) and BOM.startswith(head):
                return None
            self._at = len(BOM) if head.startswith(BOM) else 0
        while end := _LINE_END.search(head, max(self._at, self._seen), HEAD):
            told = self._tell(bytes(head[self._at : end.start()]))
            if told is not None:
                return told
            self._at = end.end()
        self._seen = len(head)
        told = self._tell_early(bytes(head[self._at : HEAD]))
        return self.settle(head) if told is None and len(head) >= HEAD else told

    def settle(self, head: bytes | bytearray) -> Format:
        """The format where nothing more comes, and no line decided."""
        told = self._tell(bytes(head[self._at : HEAD]), more=False)
        if told is not None:
            return told
        if self._closed:
            return "jsonl" if self.suffix in LINE_SUFFIXES else "json"
        # An empty file is no JSON array yet, whatever it is called.
        return "sse" if self.suffix == ".sse" else "jsonl"

    def _tell_early(self, line: bytes) -> Format | None:
        """What a line decides that may not be whole."""
        if line.lstrip(b" \t").startswith((b"{", b"[") if self._closed else b"{"):
            return "jsonl"
        return "sse" if _FIELD.match(line) else None

    def _tell(self, line: bytes, *, more: bool = True) -> Format | None:
        """What a whole line decides; `more` says whether its end was seen."""
        if told := self._tell_early(line):
            return told
        if _BARE_FIELD.match(line) or _COMMENT.match(line):
            return "sse"
        text = line.strip(b" \t")
        if not text:
            return None
        first, self._first = self._first, False
        return self._tell_array(text, more=more) if first and _ARRAY.match(text) else None

    def _tell_array(self, text: bytes, *, more: bool) -> Format | None:
        """What the first line decides where it begins an array: one that stays open goes on in the next line.

        One that is closed may be a whole array, or a record of JSONL, or what a tear left of one.
        """
        depth = 0
        for match in _TOKEN.finditer(text):
            depth += _DEPTH.get(match.group(), 0)
            if depth == 0:
                self._closed = True
                return None
        return "json" if more or self.suffix not in LINE_SUFFIXES else "jsonl"


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
