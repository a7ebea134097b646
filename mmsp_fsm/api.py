"""The Python way in: `validate` and `parse`, for one stream in whatever form a program has it."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import AsyncIterable, Iterable, Mapping
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, cast, get_args

from attrs import evolve

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.checker.raising import exception_of
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.grammar.selection import selected
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.model.objects import UniMessage
from mmsp_fsm.recordings.archives import inner_suffix
from mmsp_fsm.recordings.formats import Format
from mmsp_fsm.recordings.reading import feed_recording
from mmsp_fsm.recordings.remote import is_address, open_address, path_of

Stream = str | PathLike[str] | bytes | BinaryIO | io.TextIOBase | Iterable[object]
"""What `validate` and `parse` take: a path or an address (`s3://...`), the bytes of a recording, an open file, or an
iterable of events."""


def validate(
    stream: Stream,
    *,
    format: Format | None = None,
    select: Iterable[str] | None = None,
    extend_select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    limits: Limits | None = None,
) -> StreamReport:
    """Check one stream and say what was found.

    `stream` is a path, the bytes of a recording, an open file (binary or text), or an iterable of events (dicts or
    `UniEvent`); an exception that the iterable raises is the stream's, one of its legal ends. `format` overrides what
    the content tells ("jsonl", "json", "sse"). `select`, `extend_select` and `ignore` choose rules by code, name or
    family. The report's `message` is the message of a conforming stream that stopped.

    Raises OSError where a file cannot be read, TypeError for what is no stream, ValueError for another format, and
    UnknownRuleError (a ValueError).
    """
    check_words(format, limits)
    rules = selected(default(), select, extend_select, ignore)
    checker = StreamChecker(rules=rules, limits=limits)
    return feed_stream(checker, stream, format)


def parse(
    stream: Stream,
    *,
    format: Format | None = None,
    limits: Limits | None = None,
) -> UniMessage:
    """The message of one stream, given as `validate` takes it.

    Raises `StreamFailedError` where the stream conforms and ended with an error; `StreamProtocolError` where it breaks
    the protocol: `IncompleteStreamError` if it was cut, `ToolCallArgumentParseError` if a call's arguments are no JSON
    object; and what `validate` raises. Protocol, "Grammar": the done items are the message.
    """
    check_words(format, limits)
    checker = StreamChecker(limits=limits)
    report = feed_stream(checker, stream, format)
    if report.message is None:
        raise exception_of(checker) or AssertionError("a stream without a message has a reason")
    return report.message


def check_words(format: Format | None, limits: Limits | None) -> None:
    """Raises ValueError for another format, TypeError for limits that are none."""
    if format is not None and format not in get_args(Format):
        raise ValueError(f"format is {', '.join(get_args(Format))} or None, not {format!r}")
    if limits is not None and not isinstance(limits, Limits):
        raise TypeError(f"limits is mmsp_fsm.Limits(...), not {type(limits).__name__}")


def feed_stream(checker: StreamChecker, stream: Stream, format: Format | None) -> StreamReport:
    """Feed `stream`, given as `validate` takes it, to `checker`, and close that."""
    if isinstance(stream, str) and is_address(stream):
        with open_address(stream) as remote:
            report = feed_recording(checker, remote, suffix=inner_suffix(path_of(stream)), format=format)
        return evolve(report, source=stream)
    if isinstance(stream, (str, PathLike)):
        path = Path(stream)
        if "\0" in str(path):
            raise FileNotFoundError(errno.ENOENT, "a path holds no NUL character", str(path))
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            raise FileNotFoundError(errno.ENOENT, "no path is written so", ascii(str(path))) from None
        with path.open("rb") as file:
            report = feed_recording(checker, file, suffix=inner_suffix(path), format=format)
        return evolve(report, source=fspath(stream))
    binary = _binary(stream)
    if binary is not None:
        return feed_recording(checker, binary, format=format)
    if isinstance(stream, Mapping):
        raise TypeError("one event is no stream: give an iterable of events")
    if isinstance(stream, AsyncIterable):
        raise TypeError("validate and parse read synchronously: collect an async stream's events first")
    if not isinstance(stream, Iterable):
        raise TypeError(f"a path, bytes, an open file or an iterable of events is due, not {type(stream).__name__}")
    return _feed_events(checker, stream)


def _binary(stream: Any) -> BinaryIO | None:
    """`stream` as a binary file, where it is bytes or a file."""
    if isinstance(stream, (bytes, bytearray, memoryview)):
        return io.BytesIO(stream)
    if isinstance(stream, io.TextIOBase):
        return _binary_of_text(stream)
    return stream if callable(getattr(stream, "read", None)) else None


def _binary_of_text(stream: io.TextIOBase) -> BinaryIO:
    """The bytes of a text file as they stand, where it was opened as UTF-8; else what its encoding makes of them."""
    if (getattr(stream, "encoding", None) or "").lower().replace("-", "") == "utf8" and hasattr(stream, "buffer"):
        with suppress(OSError):  # what was read ahead is not to be lost; a file that was iterated over cannot tell
            if stream.seekable():
                stream.seek(stream.tell())
            return cast(BinaryIO, stream.buffer)
    return io.BytesIO(stream.read().encode("utf-8", "surrogatepass"))


def _feed_events(checker: StreamChecker, events: Iterable[object]) -> StreamReport:
    iterator = iter(events)
    while True:
        try:
            event = next(iterator)
        except StopIteration:
            break
        except Exception as error:  # whatever the stream raises is its end, and the checker judges whether a legal one
            checker.feed(error)
            break
        checker.feed(event)
    return checker.close()
