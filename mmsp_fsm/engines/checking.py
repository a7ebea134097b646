"""Checking the streams of a source: which options a run has, and one report after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Literal

from attrs import evolve, field, frozen

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.checker.step import Step
from mmsp_fsm.engines.results import Found, NoStreams, PartEnd
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.recordings.formats import Format
from mmsp_fsm.recordings.framing import Record
from mmsp_fsm.recordings.reading import Recording, feed, feed_all, finish
from mmsp_fsm.recordings.sources import Part, Source, Unreadable, why

Split = Literal["stop", "key"]


@frozen
class CheckOptions:
    """How the recordings of a run are checked. A plain value, so that it can be sent to other processes.

    `rules` holds the codes to report (None: those that are on by default); `format` overrides what the content tells;
    `keep_message` tells whether reports carry the message. `split` tells how several streams in one recording are told
    apart: each ends with its stop or error, or bears a key, at the JSON pointer `stream_key` beside the event at
    `event`; no more than `max_open` of those are kept open.
    """

    rules: frozenset[str] | None = None
    limits: Limits = field(factory=Limits)
    format: Format | None = None
    keep_message: bool = False
    split: Split | None = None
    stream_key: str = ""
    event: str = "/event"
    max_open: int = 10_000

    def checker(self) -> StreamChecker:
        """A checker of one more stream."""
        return StreamChecker(rules=self.rules, limits=self.limits, keep_message=self.keep_message)

    def recording(self, file: BinaryIO, suffix: str, part: Part | None = None) -> Recording:
        """A recording, or a part of one in lines, to be read so. Raises OSError."""
        format, begins = ("jsonl", part.start == 0) if part is not None else (self.format, True)
        return Recording(file, default(), self.limits, suffix=suffix, format=format, begins=begins)


def check_source(source: Source, options: CheckOptions) -> Iterator[Found | PartEnd]:
    """Check the streams of a source: a report each, as soon as it is known; last, why it could not be read on.

    Of a part of a recording that is followed by what `mmsp_fsm.engines.parts` joins it by.
    """
    part, streams = source.part, 0
    try:
        with source.open() as file:
            recording = options.recording(file, source.suffix, part)
            for report in _reports(recording, options):
                streams += 1
                yield evolve(report, source=source.name)
            if recording.fault is not None:
                yield Unreadable(source.name, recording.fault)
            elif part is not None:
                yield PartEnd(source.name, recording.line - 1, streams, part.last)
            elif not streams:
                yield NoStreams(source.name)
    except OSError as error:
        yield Unreadable(source.name, why(error))


def _reports(recording: Recording, options: CheckOptions) -> Iterator[StreamReport]:
    if options.split is None:
        yield feed_all(options.checker(), recording)
        return
    from mmsp_fsm.recordings.splitting import LogSplitter, split_by_end

    if options.split == "stop":
        yield from split_by_end(recording, options.checker)
    else:
        nesting = options.limits.nesting
        log = LogSplitter(options.stream_key, options.event, options.max_open, nesting, options.checker)
        yield from log.split(recording)


Walked = tuple[Record, Step] | StreamReport | Unreadable
"""What walking a source gives, one after the other."""


def walk_source(source: Source, options: CheckOptions) -> Iterator[Walked]:
    """Each record of a source with the step that it made, and the report; last, why it could not be read on."""
    checker = options.checker()
    try:
        with source.open() as file:
            recording = options.recording(file, source.suffix)
            for record in recording:
                yield record, feed(checker, record)
            yield evolve(finish(checker, recording), source=source.name)
            if recording.fault is not None:
                yield Unreadable(source.name, recording.fault)
    except OSError as error:
        yield Unreadable(source.name, why(error))
