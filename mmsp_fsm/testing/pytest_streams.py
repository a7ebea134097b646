"""The streams that one test receives: each is checked while the test reads it, and judged when the test is done."""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from functools import wraps
from inspect import getattr_static, isawaitable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeVar, overload
from weakref import WeakSet
from zlib import crc32

from attrs import define, field

from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.checker.step import Step
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.grammar.selection import selected
from mmsp_fsm.live.enforce import AsyncEnforcedStream, EnforcedStream, passage
from mmsp_fsm.live.events import recorded
from mmsp_fsm.live.watch import Watch
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.testing import assertions

T = TypeVar("T")

LONGEST_NAME = 120
"""Characters of a test's name in the name of a recording."""


@define
class Options:
    """How the streams of a test are checked: what the marker `mmsp` says."""

    select: Iterable[str] | None = None
    extend_select: Iterable[str] = ()
    ignore: Iterable[str] = ()
    limits: Limits | None = None
    warnings: bool = True
    watch: Iterable[str] = ()


def options_of(marks: list[dict[str, Any]]) -> Options:
    """What the marks of a test say, the nearest first: it decides where several say the same. Raises TypeError for a
    word that the marker does not have.
    """
    merged: dict[str, Any] = {}
    for mark in marks:
        merged = {**mark, **merged}
    try:
        return Options(**merged)
    except TypeError as error:
        raise TypeError(f"the marker mmsp: {error}") from None


@define(eq=False)
class RecordingWatch(Watch):
    """A watch that keeps each event as a line of a recording, as it was when it came."""

    lines: list[bytes] = field(factory=list)

    def feeders(self) -> tuple[Callable[[object], bool], Callable[[object], Step]]:
        """Each event is kept, then fed."""
        feed, keep = self.checker.feed, self.lines.append

        def feed_and_keep(event: object) -> Step:
            keep(recorded(event))
            return feed(event)

        return lambda _: False, feed_and_keep


@define(eq=False)
class Streams:
    """The streams of one test. Call it with a stream to have that checked; use what it returns in the stream's place.

    The events pass untouched, as through `enforce`, and nothing is raised; what is wrong fails the test when its
    function is done.
    """

    options: Options
    _keeping: bool = False
    _watches: list[Watch] = field(factory=list)
    _passed: WeakSet[Any] = field(factory=WeakSet)
    _undo: list[Callable[[], None]] = field(factory=list)

    @overload
    def __call__(self, stream: AsyncIterable[T]) -> AsyncEnforcedStream[T]: ...

    @overload
    def __call__(self, stream: Iterable[T]) -> EnforcedStream[T]: ...

    def __call__(self, stream: Any) -> Any:
        """`stream`, sync or async, checked while it is read. Raises TypeError for what is no stream of events."""
        if isinstance(stream, (EnforcedStream, AsyncEnforcedStream)) and stream in self._passed:
            return stream
        chosen = self.options
        rules = selected(default(), chosen.select, chosen.extend_select, chosen.ignore)
        checker = assertions.checker_class(rules=rules, limits=chosen.limits)
        watch = (RecordingWatch if self._keeping else Watch)(checker, "record")
        passed = passage(stream, watch)
        self._watches.append(watch)
        self._passed.add(passed)
        return passed

    def watch(self, target: object, name: str) -> None:
        """Check every stream that the function or method `name` of `target` (a module, class or object) returns.

        Until the test is done; what it returns that is no stream is left alone.
        """
        original, static = getattr(target, name), getattr_static(target, name)

        @wraps(original)
        def watched(*args: Any, **more: Any) -> Any:
            return self._pass(original(*args, **more))

        own = name in getattr(target, "__dict__", {})
        special = isinstance(target, type) and isinstance(static, (staticmethod, classmethod))
        setattr(target, name, staticmethod(watched) if special else watched)
        self._undo.append(lambda: setattr(target, name, static) if own else delattr(target, name))

    def watch_all(self) -> None:
        """Watch what the marker names. Raises ImportError or AttributeError for a name that leads nowhere."""
        names = self.options.watch
        for path in [names] if isinstance(names, str) else names:
            target, _, name = path.replace(":", ".").rpartition(".")
            self.watch(resolve_name(target), name)

    def unwatch(self) -> None:
        """Put back what `watch` changed."""
        while self._undo:
            self._undo.pop()()

    def reports(self) -> list[StreamReport]:
        """The report of each stream that was read, in the order in which they were passed.

        A stream that nobody reads any more is judged by what was read of it.
        """
        begun = [one for one in self._watches if one.begun]
        for watch in begun:
            if not watch.over:
                watch.leave()
        return [watch.report for watch in begun]

    def text(self) -> str:
        """What fails the test; "" if nothing does."""
        failing = [assertions.told(one) for one in self.reports() if assertions.fails(one, self.options.warnings)]
        return "\n\n".join(failing)

    def recordings(self) -> list[bytes]:
        """What was received, a recording for each stream."""
        return [b"".join(one.lines) for one in self._watches if isinstance(one, RecordingWatch) and one.begun]

    def _pass(self, result: Any) -> Any:
        if _is_stream(result):
            return self(result)
        return self._later(result) if isawaitable(result) else result

    async def _later(self, result: Awaitable[Any]) -> Any:
        return self._pass(await result)


def _is_stream(value: object) -> bool:
    if isinstance(value, (str, bytes, bytearray, memoryview, Mapping)):
        return False
    return isinstance(value, (AsyncIterable, Iterable)) and not hasattr(value, "read")


def keep(folder: Path, test: str, streams: Streams | None, error: BaseException | None) -> list[str]:
    """Write what a failing test received into `folder`; the lines that tell where, or why not."""
    recordings = streams.recordings() if streams is not None else []
    if isinstance(error, assertions.ConformanceError) and error.recording is not None:
        recordings.append(error.recording)
    name = re.sub(r"[^\w.-]+", "-", test, flags=re.ASCII).strip("-.")[-LONGEST_NAME:]
    lines = []
    for number, recording in enumerate(recordings):
        path = folder / f"{name}-{crc32(test.encode('utf-8', 'replace')):08x}-{number}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(recording)
        except OSError as failure:
            lines.append(f"could not be kept: {failure}")
        else:
            lines.append(str(path))
    return lines
