"""Splitting: the streams that one recording holds, each checked by itself.

Streams that follow one another end with their stop or error; those of a log are told apart by a key beside each event,
and may be interleaved. Only so many of a log are kept open.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from attrs import define, evolve, field

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.model.json_values import NotJsonError, decode_record
from mmsp_fsm.recordings.framing import Record
from mmsp_fsm.recordings.reading import Recording, feed_from, finish

Key = str | int | None

_INDEX = re.compile(r"0|[1-9][0-9]{0,17}")
"""An index into an array as RFC 6901 writes it; no array is so long that it needs more digits."""


def split_by_end(recording: Recording, new_checker: Callable[[], StreamChecker]) -> Iterator[StreamReport]:
    """The report of each stream, where one ends after each stop or error; `stream` is its 0-based number.

    What follows the last one, and be it unreadable, is a stream of its own.
    """
    number, checker = 0, new_checker()
    for found in recording.batches():
        at = 0
        while at < len(found):
            if checker.ended:  # and its report waited, for had nothing followed, a done marker might be missing
                yield evolve(checker.close(), stream=number)
                number, checker = number + 1, new_checker()
            at = feed_from(checker, found, at)
            if checker.ended and not recording.has_marker:
                yield evolve(checker.close(), stream=number)
                number, checker = number + 1, new_checker()
    if checker.events:
        yield evolve(finish(checker, recording), stream=number)


# ── Logs ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@define(eq=False)
class _Open:
    """A stream of a log that may go on, and how many began before it."""

    born: int
    checker: StreamChecker


@define(eq=False)
class LogSplitter:
    """Tells the streams of a log apart: `key` and `event` are JSON pointers (RFC 6901) into each of its lines, of which
    an event may be nested `nesting` deep.

    Of more than `max_open` streams the one that was idle longest is closed, and its key begins another one when it
    comes again. Lines of which it cannot be told to which stream they belong make up one without a key.
    """

    key: str
    event: str
    max_open: int
    nesting: int
    new_checker: Callable[[], StreamChecker]
    _open: OrderedDict[Key, _Open] = field(factory=OrderedDict)
    _born: int = 0

    def split(self, recording: Recording) -> Iterator[StreamReport]:
        """The report of each stream: of one that is closed early at once, of the others at the end, as they began."""
        for record in recording:
            value, fault = self._read(record)
            key = self._key_of(value) if fault is None else None
            if key not in self._open and len(self._open) >= self.max_open:
                idle, closed = self._open.popitem(last=False)
                yield evolve(closed.checker.close(line=record.line), stream=idle)
            self._feed(self._checker_of(key), record, value, fault, key)
        for key, one in sorted(self._open.items(), key=lambda entry: entry[1].born):
            yield evolve(one.checker.close(line=recording.line), stream=key)
        self._open.clear()

    def _checker_of(self, key: Key) -> StreamChecker:
        if key not in self._open:
            self._open[key] = _Open(self._born, self.new_checker())
            self._born += 1
        self._open.move_to_end(key)
        return self._open[key].checker

    def _feed(self, checker: StreamChecker, record: Record, value: Any, fault: str | None, key: Key) -> None:
        if fault is None and key is None:
            fault = f"this line of the log has no string or integer at {self.key}, to tell its stream by"
        if fault is not None:
            checker.feed_unreadable(fault, data=record.data, line=record.line)
            return
        try:
            event = _at(value, self.event)
        except LookupError:
            message = f"this line of the log has nothing at {self.event}, where its event is due"
            checker.feed_unreadable(message, data=record.data, line=record.line)
            return
        if isinstance(event, str):  # some write the event as a text that holds its JSON
            checker.feed_record(event.encode("utf-8", "surrogatepass"), line=record.line)
        else:
            checker.feed(event, line=record.line)

    def _key_of(self, value: Any) -> Key:
        try:
            key = _at(value, self.key)
        except LookupError:
            return None
        return key if isinstance(key, (str, int)) and not isinstance(key, bool) else None

    def _read(self, record: Record) -> tuple[Any, str | None]:
        """The value of a line of the log, or why there is none."""
        if record.fault is not None:
            return None, record.fault
        try:
            return decode_record(record.data, self.nesting + self.event.count("/")).value, None
        except NotJsonError as error:
            return None, f"the line of the log is not JSON: {error}"


def _at(value: Any, pointer: str) -> Any:
    """What a pointer leads to in a value. Raises LookupError where it leads nowhere."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and _INDEX.fullmatch(name):
            value = value[int(name)]
        elif isinstance(value, dict):
            value = value[name]
        else:
            raise LookupError(pointer)
    return value
