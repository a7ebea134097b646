"""Reading a recording through the checker: bytes, records, steps, and the report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from attrs import evolve

from mmsp_fsm.checker import Step, StreamChecker
from mmsp_fsm.definition import Definition
from mmsp_fsm.diagnostics import StreamReport
from mmsp_fsm.limits import Limits
from mmsp_fsm.recordings.formats import BOM, Format, detect
from mmsp_fsm.recordings.framing import Framing, JsonArray, JsonLines, Record, ServerSentEvents
from mmsp_fsm.recordings.sources import Source

CHUNK = 1 << 18
"""Bytes asked for at once: enough that the cost of a call vanishes, little beside any record limit."""

HEAD = 1 << 16
"""Bytes in which the format is told, at most."""


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
        format: Format | None = None,  # noqa: A002
    ) -> None:
        self._file = file
        self._head = self._read_head()
        self.format: Format = format or detect(self._head, suffix)
        self._marker = definition.recording.done_marker.encode()
        self._framing: Framing = self._make_framing(limits)

    @property
    def line(self) -> int:
        """The 1-based line at which the next record would begin."""
        return self._framing.line

    @property
    def marker_missing(self) -> bool:
        """Whether this is a recording that ends with a done marker, and none came."""
        return isinstance(self._framing, ServerSentEvents) and not self._framing.marker_seen

    def __iter__(self) -> Iterator[Record]:
        yield from self._framing.feed(self._head.removeprefix(BOM))
        self._head = b""
        while chunk := self._read():
            yield from self._framing.feed(chunk)
        yield from self._framing.close()

    def _make_framing(self, limits: Limits) -> Framing:
        if self.format == "jsonl":
            return JsonLines(limits)
        if self.format == "sse":
            return ServerSentEvents(limits, self._marker)
        return JsonArray(limits)

    def _read_head(self) -> bytes:
        """The first bytes, up to a first line that holds something: a pipe may give them one by one."""
        head = b""
        while len(head) < HEAD and b"\n" not in head.lstrip():
            chunk = self._read()
            if not chunk:
                break
            head += chunk
        return head

    def _read(self) -> bytes:
        read = getattr(self._file, "read1", self._file.read)
        chunk = read(CHUNK)
        if isinstance(chunk, bytes):
            return chunk
        if isinstance(chunk, (bytearray, memoryview)):
            return bytes(chunk)
        if chunk is None:
            raise BlockingIOError("the file has nothing to read at the moment; give one that waits")
        raise TypeError(f"a file opened in binary mode is due; this one gave {type(chunk).__name__}")


def feed_recording(
    checker: StreamChecker,
    file: BinaryIO,
    *,
    suffix: str = "",
    format: Format | None = None,  # noqa: A002
) -> StreamReport:
    """Feed a recording to `checker`, and give its report."""
    recording = Recording(file, checker.definition, checker.limits, suffix=suffix, format=format)
    for record in recording:
        feed(checker, record)
    return finish(checker, recording)


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


def check_source(
    source: Source,
    *,
    format: Format | None = None,  # noqa: A002
    rules: frozenset[str] | None = None,
    limits: Limits | None = None,
    keep_message: bool = False,
) -> StreamReport:
    """Check the one stream of a source. Raises OSError where it cannot be read."""
    checker = StreamChecker(rules=rules, limits=limits, keep_message=keep_message)
    with source.open() as file:
        report = feed_recording(checker, file, suffix=source.suffix, format=format)
    return evolve(report, source=source.name)


def walk_source(
    source: Source,
    *,
    format: Format | None = None,  # noqa: A002
    rules: frozenset[str] | None = None,
    limits: Limits | None = None,
) -> Iterator[tuple[Record, Step] | StreamReport]:
    """Each record of a source with the step that it made; last the report. Raises OSError."""
    checker = StreamChecker(rules=rules, limits=limits, keep_message=False)
    with source.open() as file:
        recording = Recording(file, checker.definition, checker.limits, suffix=source.suffix, format=format)
        for record in recording:
            yield record, feed(checker, record)
        yield evolve(finish(checker, recording), source=source.name)
