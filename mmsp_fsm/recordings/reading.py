"""Reading a recording through the checker: bytes, records, steps, and the report."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import BinaryIO

from mmsp_fsm.checker import Step, StreamChecker
from mmsp_fsm.definition import Definition
from mmsp_fsm.diagnostics import StreamReport
from mmsp_fsm.limits import Limits
from mmsp_fsm.recordings.formats import BOM, Format, Teller
from mmsp_fsm.recordings.framing import Batch, Framing, JsonArray, JsonLines, Record, ServerSentEvents, one_by_one

CHUNK = 1 << 16
"""Bytes asked for at once: enough that a call costs little, and so few that memory is used again instead of mapped."""


class Recording:
    """One recording being read: an iterator of its records, and what only its end can tell.

    `format` overrides what the content tells; `suffix` settles a tie. Raises OSError where the file cannot be read,
    TypeError where it gives anything but bytes.
    """

    def __init__(
        self,
        file: BinaryIO,
        definition: Definition,
        limits: Limits,
        *,
        suffix: str = "",
        format: Format | None = None,
    ) -> None:
        self._file = file
        self._ended = False
        self._head, self.format = self._read_head(suffix, format)
        self._marker = definition.recording.done_marker.encode()
        self._framing: Framing = self._make_framing(limits)

    @property
    def line(self) -> int:
        """The 1-based line at which the next record would begin."""
        return self._framing.line

    @property
    def has_marker(self) -> bool:
        """Whether recordings of this format end with a done marker."""
        return isinstance(self._framing, ServerSentEvents)

    @property
    def marker_missing(self) -> bool:
        """Whether this is a recording that ends with a done marker, and none came."""
        return isinstance(self._framing, ServerSentEvents) and not self._framing.marker_seen

    def __iter__(self) -> Iterator[Record]:
        return one_by_one(self.batches())

    def batches(self) -> Iterator[Batch | Record]:
        """The records as they come, many at once; and between them those that cannot be read."""
        head, self._head = self._head, b""
        yield from self._framing.feed(head)
        if isinstance(self._file, io.BytesIO) and isinstance(self._framing, JsonLines):
            while lines := self._file.readlines(CHUNK):  # what is in memory need not be copied to be cut
                yield from self._framing.feed_lines(lines, max(CHUNK, len(lines[-1])))
        while chunk := self._read():
            yield from self._framing.feed(chunk)
        yield from self._framing.close()

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
        while told is None and (chunk := self._read()):
            head += chunk
            told = teller.look(head)
            if format is not None and len(head) >= len(BOM):
                break
        return bytes(head.removeprefix(BOM)), format or told or teller.settle(head)

    def _read(self) -> bytes:
        """The next bytes; none at the end, after which the file is not asked again (a terminal would wait)."""
        if self._ended:
            return b""
        chunk: object = getattr(self._file, "read1", self._file.read)(CHUNK)
        if isinstance(chunk, bytes) and not chunk and not _waits(self._file):
            chunk = self._file.read(1)  # `read1` says the same of the end and of nothing yet
        if chunk is None:
            raise BlockingIOError("the file has nothing to read at the moment; give one that waits")
        if not isinstance(chunk, (bytes, bytearray, memoryview)):
            raise TypeError(f"a file opened in binary mode is due; this one gave {type(chunk).__name__}")
        self._ended = not chunk
        return bytes(chunk)


def _waits(file: BinaryIO) -> bool:
    """Whether reading from `file` waits until there is something to read, or the end."""
    try:
        return os.get_blocking(file.fileno())
    except (AttributeError, OSError, TypeError, ValueError):  # no descriptor, or none that this platform can ask
        return True


def feed_recording(
    checker: StreamChecker,
    file: BinaryIO,
    *,
    suffix: str = "",
    format: Format | None = None,
) -> StreamReport:
    """Feed a recording to `checker`, and give its report."""
    recording = Recording(file, checker.definition, checker.limits, suffix=suffix, format=format)
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
