"""Reads a recording through the checker: bytes, records, steps, and the report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.checker.step import Step
from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.model.json_values import NotJsonError, decode_record
from mmsp_fsm.recordings.archives import CHUNK, Unpacked
from mmsp_fsm.recordings.formats import BOM, Format, Teller
from mmsp_fsm.recordings.framing import (
    Batch,
    Framing,
    JsonArray,
    JsonLines,
    Record,
    ServerSentEvents,
    batched,
    one_by_one,
)


class Recording:
    """One recording being read: an iterator of its records, and what only its end can tell.

    `format` overrides what the content tells; `suffix` settles a tie. Raises OSError where the file cannot be read,
    TypeError where it gives anything but bytes. Where the recording does not begin with `file`, its first bytes tell
    nothing: neither a byte order mark, nor an archive, nor a format, which is then to be given.
    """

    def __init__(
        self,
        file: BinaryIO,
        definition: Definition,
        limits: Limits,
        *,
        suffix: str = "",
        format: Format | None = None,
        begins: bool = True,
    ) -> None:
        self._file = Unpacked(file, begins=begins)
        self._nesting = limits.nesting
        if begins or format is None:
            self._head, self.format = self._read_head(suffix, format)
        else:
            self._head, self.format = b"", format
        self._marker = definition.recording.done_marker.encode()
        self._framing: Framing = self._make_framing(limits)

    @property
    def line(self) -> int:
        """The 1-based line at which the next record would begin."""
        return self._framing.line

    @property
    def is_lines(self) -> bool:
        """Whether it is JSON lines, as they stand in the file."""
        return self.format == "jsonl" and self._file.is_plain

    @property
    def has_marker(self) -> bool:
        """Whether recordings of this format end with a done marker."""
        return isinstance(self._framing, ServerSentEvents)

    @property
    def marker_missing(self) -> bool:
        """Whether this is a recording that ends with a done marker, and none came."""
        return isinstance(self._framing, ServerSentEvents) and not self._framing.marker_seen and self.fault is None

    @property
    def fault(self) -> str | None:
        """Why the recording could not be read to its end, once that is known: its archive is torn or corrupt."""
        return self._file.fault

    def __iter__(self) -> Iterator[Record]:
        return one_by_one(self.batches())

    def batches(self) -> Iterator[Batch | Record]:
        """The records as they come, many at once; and between them those that cannot be read."""
        head, self._head = self._head, b""
        yield from self._framing.feed(head)
        memory = self._file.in_memory
        if memory is not None and isinstance(self._framing, JsonLines):
            while lines := memory.readlines(CHUNK):  # what is in memory need not be copied to be cut
                yield from self._framing.feed_lines(lines, max(CHUNK, len(lines[-1])))
        while chunk := self._file.read1(CHUNK):
            yield from self._framing.feed(chunk)
        if self.fault is None:
            yield from self._framing.close()
        else:
            yield from batched(torn_end(self._framing, self.fault, self._nesting))

    def _make_framing(self, limits: Limits) -> Framing:
        if self.format == "jsonl":
            return JsonLines(limits)
        if self.format == "sse":
            return ServerSentEvents(limits, self._marker)
        return JsonArray(limits)

    def _read_head(self, suffix: str, format: Format | None) -> tuple[bytes, Format]:
        """The first bytes, without a byte order mark, and the format. No more is read than tells it: a pipe is live."""
        teller = Teller(suffix)
        head = bytearray()
        told: Format | None = None
        while told is None and (chunk := self._file.read1(CHUNK)):
            head += chunk
            told = teller.look(head)
            if format is not None and len(head) >= len(BOM):
                break
        return bytes(head.removeprefix(BOM)), format or told or teller.settle(head)


def feed_recording(
    checker: StreamChecker,
    file: BinaryIO,
    *,
    suffix: str = "",
    format: Format | None = None,
) -> StreamReport:
    """Feed a recording to `checker`, and give its report."""
    return feed_all(checker, Recording(file, checker.definition, checker.limits, suffix=suffix, format=format))


def feed_all(checker: StreamChecker, recording: Recording) -> StreamReport:
    """Feed all records of a recording, and give the report."""
    for one in recording.batches():
        at = 0
        while at < len(one):
            at = feed_from(checker, one, at)
    return finish(checker, recording)


def feed_from(checker: StreamChecker, found: Batch | Record, at: int) -> int:
    """Feed records from the index `at` on; gives the index behind the last, or behind the one that ended the stream."""
    if isinstance(found, Batch):
        return checker.feed_records(found.records, found.lines, at)
    feed(checker, found)
    return 1


def feed(checker: StreamChecker, record: Record) -> Step:
    """Feed one record."""
    if record.fault is None:
        return checker.feed_record(record.data, line=record.line)
    return checker.feed_unreadable(record.fault, data=record.data, line=record.line)


def finish(checker: StreamChecker, recording: Recording) -> StreamReport:
    """Nothing more comes: what is missing at the end, and the report."""
    if recording.marker_missing:
        marker = checker.definition.recording.done_marker
        message = f"the recording does not end with {marker}"
        checker.note(checker.definition.check.done_marker_missing, message, line=recording.line)
    return checker.close(line=recording.line)


def torn_end(framing: Framing, fault: str, nesting: int) -> Iterator[Record]:
    """What the last bytes make, and last the record that says `fault`."""
    last: Record | None = None
    for record in one_by_one(framing.close()):
        if last is not None:
            yield last
        last = record
    if last is not None and _is_whole(last, nesting):
        yield last
        last = None
    yield Record(last.data, last.line, fault) if last is not None else Record(b"", framing.line, fault)


def _is_whole(record: Record, nesting: int) -> bool:
    try:
        decode_record(record.data, nesting)
    except NotJsonError:
        return False
    return record.fault is None
