"""Framing: the bytes of a recording, cut into records. What a record means is not looked at.

Each reader is fed chunks as they arrive and gives the records that are complete, so that a live pipe is not kept
waiting and a recording is never held whole. However the bytes are cut into chunks, the records are the same. Protocol,
"On the wire".
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from attrs import define, field, frozen

from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.model.json_values import WHITE

MOST = 1024
"""Records in one batch, at most, where they are not all there already."""

SHOWN = 256
"""Bytes that are kept of a record that is too long to read, to show what it was."""

_PREFIX = b"data: "
"""What may stand in a line beside its record's bytes."""


@frozen
class Record:
    """The bytes of one record's JSON text, and the 1-based line at which it begins.

    `fault` is a sentence where framing knows already that it cannot be read; `data` is then what there is to show.
    """

    data: bytes
    line: int
    fault: str | None = None

    def __len__(self) -> int:
        return 1


@define
class Batch:
    """Records that can be read, many at once, and their 1-based lines.

    A record may have its line end behind it; one of white space alone is a blank line, and none.
    """

    records: list[bytes]
    lines: Sequence[int]

    def __len__(self) -> int:
        return len(self.records)


class Framing(Protocol):
    """What the readers have in common."""

    line: int
    """The 1-based line at which the next record would begin."""

    def feed(self, chunk: bytes) -> Iterator[Batch | Record]:
        """The records that `chunk` completes: batches, and between them those that cannot be read."""

    def close(self) -> Iterator[Batch | Record]:
        """Nothing more comes: what the last bytes make."""


def one_by_one(found: Iterable[Batch | Record]) -> Iterator[Record]:
    """The records of batches as they are, without blank lines and line ends; and those between that cannot be read."""
    for one in found:
        if isinstance(one, Record):
            yield one
            continue
        for data, line in zip(one.records, one.lines, strict=True):
            if data.strip(WHITE):
                yield Record(_bare(data), line)


def _bare(line: bytes) -> bytes:
    """A line without its line end, of which a CR is the first half."""
    return line.removesuffix(b"\n").removesuffix(b"\r")


def batched(records: Iterable[Record]) -> Iterator[Batch | Record]:
    """Records one by one, as batches and those that cannot be read."""
    batch, lines = [], []
    for record in records:
        if record.fault is None:
            batch.append(record.data)
            lines.append(record.line)
        if batch and (record.fault is not None or len(batch) == MOST):
            yield Batch(batch, lines)
            batch, lines = [], []
        if record.fault is not None:
            yield record
    if batch:
        yield Batch(batch, lines)


def _too_long(limits: Limits) -> str:
    return f"the record is longer than {limits.record_bytes} bytes"


@define(eq=False)
class _Partial:
    """A line that is not complete yet. Of one longer than `limit` only the beginning is held, and its true size."""

    limit: int
    size: int = 0
    _held: bytes | bytearray = b""

    def hold(self, piece: bytes) -> None:
        """Add what came of the line."""
        self.size += len(piece)
        if not self._held and self.size <= self.limit:
            self._held = piece  # most lines are cut once, and need not be copied for it
            return
        if isinstance(self._held, bytes):
            self._held = bytearray(self._held)
        if self.size <= self.limit:
            self._held += piece
        else:
            kept = SHOWN + len(_PREFIX)
            self._held += piece[: max(kept - len(self._held), 0)]
            del self._held[kept:]

    def take(self, rest: bytes) -> tuple[bytes, int]:
        """The line, now that `rest` has completed it, and its size in bytes."""
        if not self.size:
            return rest, len(rest)
        if self.size + len(rest) <= self.limit and isinstance(self._held, bytes):
            line, size = self._held + rest, self.size + len(rest)
        else:
            self.hold(rest)
            line, size = bytes(self._held), self.size
        self._held, self.size = b"", 0
        return line, size


@define(eq=False)
class JsonLines:
    """JSONL: a record a line. Lines end at LF (a CR before it is dropped) and nowhere else; blank ones are none."""

    limits: Limits
    line: int = 1
    _partial: _Partial = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._partial = _Partial(self.limits.record_bytes + 2)  # two more for the line end, which does not count

    def feed(self, chunk: bytes) -> Iterator[Batch | Record]:
        """The lines that `chunk` completes, with their line ends."""
        # Far faster than to split, which does not look for a byte by `memchr`.
        return self.feed_lines(io.BytesIO(chunk).readlines(), len(chunk))

    def feed_lines(self, lines: list[bytes], longest: int) -> Iterator[Batch | Record]:
        """The same, where lines are cut already, none longer than `longest`; the last may be a part of one."""
        if lines and not lines[-1].endswith(b"\n"):
            last = lines.pop()
            if not lines:
                self._partial.hold(last)
                return
            yield from self._take(lines, longest)
            self._partial.hold(last)
        elif lines:
            yield from self._take(lines, longest)

    def close(self) -> Iterator[Batch | Record]:
        """The last line, if no line end follows it."""
        if self._partial.size:
            yield from self._take([b""], 0)

    def _take(self, lines: list[bytes], longest: int) -> Iterator[Batch | Record]:
        """Lines, the first of which goes on where the last chunk ended."""
        lines[0], size = self._partial.take(lines[0])
        first, self.line = self.line, self.line + len(lines)
        limit = self.limits.record_bytes
        if size <= limit and longest <= limit:
            yield Batch(lines, range(first, self.line))
            return
        ended = len(lines[0]) == size  # else it is cut, and its end is not there to be looked at
        sizes = [len(_bare(line)) for line in lines]
        sizes[0] = sizes[0] if ended else size
        # What can be read keeps its line end here, too: who takes it off does so once.
        yield from batched(
            Record(_bare(line)[:SHOWN], number, _too_long(self.limits)) if length > limit else Record(line, number)
            for number, (line, length) in enumerate(zip(lines, sizes, strict=True), first)
        )


_SSE_LINE_END = re.compile(rb"\r\n|\r|\n")
# What stands before the colon of an event where something was lost: JSON, binary data, the middle of a torn record.
_NO_FIELD = re.compile(rb"[^\t -~]|[\"\[\]{}]")
_NO_FIELD_SAYS = "this line is no field of server-sent events: it does not begin with `data:`"


@define(eq=False)
class ServerSentEvents:
    """SSE text as a server sent it: a record a block, the `data` lines of a block joined by LF.

    Lines end at LF, CR or CRLF. Comments and other fields carry nothing; nor does the done marker, of which
    `marker_seen` tells whether it came. A line that cannot be a field ends the block before it and is a record that
    cannot be read: something of it was lost.
    """

    limits: Limits
    done_marker: bytes
    line: int = 1
    marker_seen: bool = False
    _partial: _Partial = field(init=False)
    _cr_ended: bool = False
    _began: int = 1
    _data: bytes | bytearray | None = None
    _size: int = 0

    def __attrs_post_init__(self) -> None:
        self._partial = _Partial(self.limits.record_bytes + len(_PREFIX))

    def feed(self, chunk: bytes) -> Iterator[Batch | Record]:
        """The records that `chunk` completes."""
        return batched(self._feed(chunk))

    def close(self) -> Iterator[Batch | Record]:
        """The last block, if no blank line follows it; a done marker that was cut carries nothing either."""
        return batched(self._close())

    def _feed(self, chunk: bytes) -> Iterator[Record]:
        if self._cr_ended and chunk:
            chunk = chunk.removeprefix(b"\n")  # the second half of a CRLF
            self._cr_ended = False
        start = 0
        for end in _SSE_LINE_END.finditer(chunk):
            yield from self._end_line(chunk[start : end.start()])
            start = end.end()
        self._cr_ended = self._cr_ended or chunk.endswith(b"\r")
        self._partial.hold(chunk[start:])

    def _close(self) -> Iterator[Record]:
        if self._partial.size:
            yield from self._end_line(b"")
        if self._data is not None and self._size == len(self._data):
            text = self._data.strip()
            if text != self.done_marker and self.done_marker.startswith(text):
                self._data = None
        yield from self._end_block()

    def _end_line(self, rest: bytes) -> Iterator[Record]:
        line, size = self._partial.take(rest)
        number, self.line = self.line, self.line + 1
        if not line:
            yield from self._end_block()
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            if self._data is None:
                self._began = number
            self._take(value.removeprefix(b" "), size - len(line))
        elif self._lost_its_field(line[:SHOWN]):
            yield from self._end_block()
            yield Record(line[:SHOWN], number, _NO_FIELD_SAYS)

    def _lost_its_field(self, line: bytes) -> bool:
        name, _, value = line.partition(b":")
        lost = value if name.strip() == b"data" else line if _NO_FIELD.search(name) else b""
        return lost.strip() not in (b"", self.done_marker)

    def _take(self, value: bytes, cut: int) -> None:
        """Add a data line; `cut` is how many bytes of it are not held."""
        if self._data is None:
            self._data, self._size = value, len(value) + cut
        else:
            # One array, and no list of lines: a line may hold as little as nothing, and still costs its object.
            self._data = bytearray(self._data) if isinstance(self._data, bytes) else self._data
            self._data += b"\n" + value
            self._size += 1 + len(value) + cut
        if self._size > self.limits.record_bytes:
            self._data = self._data[:SHOWN]

    def _end_block(self) -> Iterator[Record]:
        if self._data is None:
            return
        data, size = bytes(self._data), self._size
        self._data = None
        if size == len(data) and data.strip() == self.done_marker:
            self.marker_seen = True
        elif size > self.limits.record_bytes:
            yield Record(data, self._began, _too_long(self.limits))
        elif data.strip(WHITE):
            yield Record(data, self._began)


@define(eq=False)
class JsonArray:
    """One JSON array: a record an element. It is held whole, for its end may be anywhere.

    The elements are told apart by brackets, strings and commas alone, so that one that is broken costs only itself.
    """

    limits: Limits
    line: int = 1
    _held: io.BytesIO = field(factory=io.BytesIO)

    def feed(self, chunk: bytes) -> Iterator[Batch | Record]:
        """Nothing yet: an array's elements are given at its end."""
        self._held.write(chunk)
        return iter(())

    def close(self) -> Iterator[Batch | Record]:
        """The elements, and one record for each thing that keeps the whole from being an array."""
        return batched(self._elements())

    def _elements(self) -> Iterator[Record]:
        from mmsp_fsm.recordings.json_array import elements

        text = self._held.getvalue()
        self._held = io.BytesIO()
        at = 0
        for element in elements(text):
            start, end, fault = element.start, element.end, element.fault
            self.line += text.count(b"\n", at, start)
            at = start
            if fault is None and end - start > self.limits.record_bytes:
                fault = _too_long(self.limits)
            yield Record(text[start : end if fault is None else min(end, start + SHOWN)], self.line, fault)
        self.line += text.count(b"\n", at)
