"""Parts of one large recording, cut where one stream ends, so that several processes can check it.

A part is checked as if it were a recording; what it cannot know, how many lines and streams come before it, is added
when its results are joined to those of the parts before.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import BinaryIO

from attrs import evolve

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import Diagnostic, StreamReport
from mmsp_fsm.engines.checking import CheckOptions
from mmsp_fsm.engines.results import Found, NoStreams, PartEnd
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.recordings.sources import Part, Source, Unreadable

LEAST, MOST = 4 << 20, 32 << 20
"""Bytes of a part: with less, handing it out and cutting cost more than is gained; with more, one process may still be
busy with the last part when all others are done.
"""

SEARCHED = 64 << 20
"""Bytes in which the end of a stream is looked for behind the place where a cut is wanted."""


def in_parts(
    sources: Iterable[Source | Unreadable], options: CheckOptions, processes: int
) -> Iterator[Source | Unreadable]:
    """The sources, those that are large in as many parts as keep so many processes busy to the end."""
    for source in sources:
        if isinstance(source, Unreadable):
            yield source
        else:
            yield from parts_of(source, options, 8 * processes)


def parts_of(source: Source, options: CheckOptions, count: int) -> Iterator[Source]:
    """The parts of a source, `count` of them or more, each as soon as it is known; the source alone where it cannot be
    cut, or it does not pay.

    It can where its streams follow one another, in JSON lines that are not compressed, in a file that can be sought.
    """
    path = source.path
    size = _size_in_lines(source, options)
    count = min(max(count, size // MOST), size // LEAST)
    if path is None or count < 2:
        yield source
        return
    start = searched = 0
    with suppress(OSError), path.open("rb") as file:  # reading the part that is left will say why
        for number in range(1, count):
            wanted = size * number // count
            if wanted < searched:
                continue
            end, searched = _cut(file, wanted, size, options), file.tell()
            if end is not None and end < size:
                yield evolve(source, part=Part(start, end, False))
                start = end
    yield evolve(source, part=Part(start, size, True))


def _size_in_lines(source: Source, options: CheckOptions) -> int:
    """The bytes of a source that can be cut; 0 where it cannot."""
    path = source.path
    if options.split != "stop" or path is None or not path.is_file():
        return 0
    with suppress(OSError), source.open() as file:  # reading it will say why
        if options.recording(file, source.suffix).is_lines:
            return os.stat(path).st_size
    return 0


def _cut(file: BinaryIO, wanted: int, size: int, options: CheckOptions) -> int | None:
    """Where the first stream ends behind the offset `wanted`; None where none does near. `file` is left where it is.

    A record that writes these words with escapes is passed over: another one ends a stream, too.
    """
    stop, error = b'"stop"', f'"{default().error.key}"'.encode()
    file.seek(wanted)
    limit = options.limits.record_bytes + 2
    while file.readline(limit)[-1:] not in (b"\n", b""):  # the rest of the line that is being cut
        pass
    at, most = file.tell(), min(size, wanted + SEARCHED)
    while at < most:
        line = file.readline(limit)
        at += len(line)
        if not line.endswith(b"\n"):
            return None
        if (stop in line or error in line) and _ends_a_stream(line, options):
            return at
    return None


def _ends_a_stream(line: bytes, options: CheckOptions) -> bool:
    """Whether a stream ends with this record, whatever came before it."""
    checker = StreamChecker(rules=(), limits=options.limits, keep_message=False)
    checker.feed_records([line], [None])
    return checker.ended


def joined(results: Iterable[Found | PartEnd]) -> Iterator[Found]:
    """The results of a run, those of parts as if their recording had been checked in one piece."""
    lines = streams = 0
    for one in results:
        if isinstance(one, PartEnd):
            lines, streams = lines + one.lines, streams + one.streams
            if one.last:
                if not streams:
                    yield NoStreams(one.source)
                lines = streams = 0
        elif isinstance(one, StreamReport) and (lines or streams):
            yield _shifted(one, lines, streams)
        else:
            yield one


def _shifted(report: StreamReport, lines: int, streams: int) -> StreamReport:
    stream = report.stream + streams if isinstance(report.stream, int) else report.stream
    return evolve(report, stream=stream, diagnostics=tuple(_moved(one, lines) for one in report.diagnostics))


def _moved(one: Diagnostic, lines: int) -> Diagnostic:
    related = tuple(evolve(at, line=at.line + lines if at.line is not None else None) for at in one.related)
    return evolve(one, line=one.line + lines if one.line is not None else None, related=related)
