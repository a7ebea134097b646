"""Framing: the bytes of a recording, cut into records. What a record means is not looked at.

Each reader is fed chunks as they arrive and gives the records that are complete, so that a live pipe is not kept
waiting and a recording is never held whole. Protocol, "On the wire".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from attrs import define, field, frozen

from mmsp_fsm.limits import Limits

SHOWN = 256
"""Bytes that are kept of a record that is too long to read, to show what it was."""

BLANK = b" \t\r"
"""What a blank line of JSONL may hold."""


@frozen
class Record:
    """The bytes of one record's JSON text, and the 1-based line at which it begins.

    `fault` is a sentence where framing knows already that it cannot be read; `data` is then what there is to show.
    """

    data: bytes
    line: int
    fault: str | None = None


class Framing(Protocol):
    """What the readers have in common."""

    line: int
    """The 1-based line at which the next record would begin."""

    def feed(self, chunk: bytes) -> Iterator[Record]:
        """The records that `chunk` completes."""

    def close(self) -> Iterator[Record]:
        """Nothing more comes: what the last bytes make."""


def _too_long(limits: Limits) -> str:
    return f"the record is longer than {limits.record_bytes} bytes"


@define
class _Partial:
    """A line that is not complete yet. Of one that is too long only the beginning is held, and its true size."""

    limit: int
    size: int = 0
    _pieces: list[bytes] = field(factory=list)

    def hold(self, piece: bytes) -> None:
        """Add what came of the line."""
        if self.size <= self.limit:
            self._pieces.append(piece)
        self.size += len(piece)
        if self.size > self.limit:
            self._pieces = [b"".join(self._pieces)[:SHOWN]]

    def take(self, rest: bytes) -> tuple[bytes, int]:
        """The line, now that `rest` has completed it, and its size in bytes."""
        if not self.size:
            return rest, len(rest)
        self.hold(rest)
        line, size = b"".join(self._pieces), self.size
        self._pieces, self.size = [], 0
        return line, size


@define
class JsonLines:
    """JSONL: a record a line. Lines end at LF (a CR before it is dropped) and nowhere else; blank ones are none."""

    limits: Limits
    line: int = 1
    _partial: _Partial = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._partial = _Partial(self.limits.record_bytes + 1)  # one more for the CR that may be dropped

    def feed(self, chunk: bytes) -> Iterator[Record]:
        """The records that `chunk` completes."""
        lines = chunk.split(b"\n")
        last = lines.pop()
        for line in lines:
            yield from self._end_line(line)
        self._partial.hold(last)

    def close(self) -> Iterator[Record]:
        """The last line, if no line end follows it."""
        if self._partial.size:
            yield from self._end_line(b"")

    def _end_line(self, rest: bytes) -> Iterator[Record]:
        line, size = self._partial.take(rest)
        number, self.line = self.line, self.line + 1
        if size > self.limits.record_bytes + 1:
            yield Record(line[:SHOWN], number, _too_long(self.limits))
        elif line.strip(BLANK):
            yield Record(line.removesuffix(b"\r"), number)


_SSE_LINE_END = re.compile(rb"\r\n|\r|\n")


@define
class ServerSentEvents:
    """SSE text as a server sent it: a record a block, the `data` lines of a block joined by LF.

    Lines end at LF, CR or CRLF. Comments and other fields carry nothing; nor does the done marker, of which
    `marker_seen` tells whether it came. A line of JSON without its `data:` is a record that cannot be read.
    """

    limits: Limits
    done_marker: bytes
    line: int = 1
    marker_seen: bool = False
    _partial: _Partial = field(init=False)
    _cr_ended: bool = False
    _began: int = 1
    _data: list[bytes] = field(factory=list)
    _size: int = 0

    def __attrs_post_init__(self) -> None:
        self._partial = _Partial(self.limits.record_bytes + len(b"data: "))

    def feed(self, chunk: bytes) -> Iterator[Record]:
        """The records that `chunk` completes."""
        if self._cr_ended and chunk:
            chunk = chunk.removeprefix(b"\n")  # the second half of a CRLF
            self._cr_ended = False
        start = 0
        for end in _SSE_LINE_END.finditer(chunk):
            yield from self._end_line(chunk[start : end.start()])
            start = end.end()
        self._cr_ended = self._cr_ended or chunk.endswith(b"\r")
        self._partial.hold(chunk[start:])

    def close(self) -> Iterator[Record]:
        """The last block, if no blank line follows it; a done marker that was cut carries nothing either."""
        if self._partial.size:
            yield from self._end_line(b"")
        data = b"\n".join(self._data).strip()
        if data != self.done_marker and self.done_marker.startswith(data):
            self._data, self._size = [], 0
        yield from self._end_block()

    def _end_line(self, rest: bytes) -> Iterator[Record]:
        line, size = self._partial.take(rest)
        number, self.line = self.line, self.line + 1
        if not line:
            yield from self._end_block()
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            if not self._data:
                self._began = number
            self._take(value.removeprefix(b" "), size - len(line))
        elif line.lstrip(BLANK)[:1] in (b"{", b"["):
            yield Record(line[:SHOWN], number, "this line is no field of server-sent events: `data:` is missing")

    def _take(self, value: bytes, cut: int) -> None:
        """Add a data line; `cut` is how many bytes of it are not held."""
        self._size += len(value) + cut + bool(self._data)
        self._data.append(value)
        if self._size > self.limits.record_bytes:
            self._data = [b"\n".join(self._data)[:SHOWN]]

    def _end_block(self) -> Iterator[Record]:
        data, size = b"\n".join(self._data), self._size
        self._data, self._size = [], 0
        if size > self.limits.record_bytes:
            yield Record(data, self._began, _too_long(self.limits))
        elif data.strip() == self.done_marker:
            self.marker_seen = True
        elif data:
            yield Record(data, self._began)


@define
class JsonArray:
    """One JSON array: a record an element. It is held whole, for its end may be anywhere.

    The elements are told apart by brackets, strings and commas alone, so that one that is broken costs only itself.
    """

    limits: Limits
    line: int = 1
    _pieces: list[bytes] = field(factory=list)

    def feed(self, chunk: bytes) -> Iterator[Record]:
        """Nothing yet: an array's elements are given at its end."""
        self._pieces.append(chunk)
        return iter(())

    def close(self) -> Iterator[Record]:
        """The elements, and one record for each thing that keeps the whole from being an array."""
        text = b"".join(self._pieces)
        self._pieces = []
        at = 0
        for start, end, fault in _elements(text):
            begin = end - len(text[start:end].lstrip())
            self.line += text.count(b"\n", at, begin)
            at = begin
            data = text[begin:end].rstrip()
            if fault is None and len(data) > self.limits.record_bytes:
                fault = _too_long(self.limits)
            yield Record(data if fault is None else data[:SHOWN], self.line, fault)
        self.line += text.count(b"\n", at)


_ARRAY_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]|,', re.DOTALL)
_DEPTH = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}


def _elements(text: bytes) -> Iterator[tuple[int, int, str | None]]:
    """The elements of a JSON array as (start, end, fault): offsets into `text`, and why one cannot be read."""
    start = text.find(b"[") + 1
    depth, whole, comma = 0, start, False
    for match in _ARRAY_TOKEN.finditer(text, start - 1):
        token = match.group()
        depth += _DEPTH.get(token, 0)
        if (token == b"," and depth == 1) or depth == 0:
            if text[start : match.start()].strip():
                yield start, match.start(), None
            elif comma or token == b",":
                yield match.start(), match.end(), "a comma stands here without an element"
            comma, start = token == b",", match.end()
        if depth == 0:
            if text[start:].strip():
                yield start, len(text), "something follows the end of the array"
            return
        if depth == 1:
            whole = match.end()
    if start < whole and not text[whole:].strip():  # the tear is between two elements
        yield start, whole, None
        start = whole
    yield start, len(text), "the array is torn: the recording ends inside it"
