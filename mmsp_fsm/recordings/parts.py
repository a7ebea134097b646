"""Parts of one large recording, cut where one stream ends, so that several processes can check it.

A part is checked as if it were a recording; what it cannot know, how many lines and streams come before it, is added
when its results are joined to those of the parts before.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import BinaryIO

from attrs import evolve

from mmsp_fsm.checker import StreamChecker
from mmsp_fsm.diagnostics import Diagnostic, StreamReport
from mmsp_fsm.recordings.checking import CheckOptions
from mmsp_fsm.recordings.sources import Part, Source
from mmsp_fsm.runs import Found, NoStreams, PartEnd, Unreadable

LEAST = 4 << 20
"""Bytes of a part, at least: below, handing it out and cutting cost more than is gained."""

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


def parts_of(source: Source, options: CheckOptions, count: int) -> list[Source]:
    """The parts of a source, about `count` of them; the source alone where it cannot be cut, or it does not pay.

    It can where its streams follow one another, in JSON lines that are not compressed, in a file that can be sought.
    """
    path = source.path
    if options.split != "stop" or count < 2 or path is None or not path.is_file():
        return [source]
    try:
        size = os.stat(path).st_size
        count = min(count, size // LEAST)
        if count < 2:
            return [source]
        with source.open() as file:
            if not options.recording(file, source.suffix).is_lines:
                return [source]
        with path.open("rb") as file:
            cuts = sorted({_cut(file, size * number // count, size, options) for number in range(1, count)} - {size})
    except OSError:
        return [source]  # reading it will say why
    bounds = [0, *cuts, size]
    return [evolve(source, part=Part(start, end, end == size)) for start, end in pairwise(bounds)]


def _cut(file: BinaryIO, wanted: int, size: int, options: CheckOptions) -> int:
    """Where the first stream ends behind the offset `wanted`; the end of the file where none is near."""
    file.seek(wanted)
    limit = options.limits.record_bytes + 2
    while file.readline(limit)[-1:] not in (b"\n", b""):  # the rest of the line that is being cut
        pass
    while (at := file.tell()) < min(size, wanted + SEARCHED):
        line = file.readline(limit)
        if not line.endswith(b"\n"):
            return size
        if _ends_a_stream(line, options):
            return at + len(line)
    return size


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
