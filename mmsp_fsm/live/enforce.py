"""`enforce`: a live stream passes through, each event as it is, and the first that breaks the protocol raises.

    for event in mmsp_fsm.enforce(stream): ...
    async for event in mmsp_fsm.enforce(stream): ...

    with mmsp_fsm.enforce(stream, on_violation="record") as checked:
        for event in checked: ...
    print(checked.report.verdict)

It is one generator around the stream. An event is handed on, untouched, before the next one is read; there is no task,
no thread and no queue. Protocol, "Grammar".
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from inspect import isawaitable
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, overload

from attrs import evolve

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.grammar.selection import selected
from mmsp_fsm.live.watch import OnViolation, Watch, check_choice
from mmsp_fsm.machine.limits import Limits

T = TypeVar("T")
G = TypeVar("G", bound="Generator[Any, None, None] | AsyncGenerator[Any, None]")


@overload
def enforce(
    stream: AsyncIterable[T],
    *,
    on_violation: OnViolation = "raise",
    select: Iterable[str] | None = None,
    extend_select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    limits: Limits | None = None,
) -> AsyncEnforcedStream[T]: ...


@overload
def enforce(
    stream: Iterable[T],
    *,
    on_violation: OnViolation = "raise",
    select: Iterable[str] | None = None,
    extend_select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    limits: Limits | None = None,
) -> EnforcedStream[T]: ...


def enforce(
    stream: Iterable[Any] | AsyncIterable[Any],
    *,
    on_violation: OnViolation = "raise",
    select: Iterable[str] | None = None,
    extend_select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    limits: Limits | None = None,
) -> EnforcedStream[Any] | AsyncEnforcedStream[Any]:
    """Pass on the events of `stream`, sync or async, each the very object that came, as soon as it is checked.

    Events are dicts as JSON gives them, dicts with bytes, or `UniEvent` objects. `on_violation` says what an error
    (never a warning) leads to:

    - "raise": `StreamProtocolError` in place of the event that breaks the protocol, which is not handed on;
      `IncompleteStreamError` where the stream ends with neither stop nor error; `ToolCallArgumentParseError` for a
      call's done item whose arguments are no JSON object;
    - "record": the event is handed on, and the error stands in the report;
    - a function: the same, and it is called with each error's `Diagnostic` before the event is handed on. What it
      raises ends the stream.

    An exception of the stream itself passes through, the same object, whatever `on_violation` says. It is judged: where
    the protocol forbids it (after the stop; a cut-short call's outside a call), it bears a note that says so, and the
    report an error. Cancellation, KeyboardInterrupt and GeneratorExit are the consumer's, and no end of the stream.

    `select`, `extend_select`, `ignore` and `limits` are as in `validate`: a rule that is not selected raises nothing.
    The source is closed (`aclose` or `close`, where it has one) as soon as nobody reads it any more: at its end, at an
    error, and when the consumer leaves. `with` and `async with` make sure of that, and give the `report`.

    Raises TypeError for what is no stream of events, ValueError for another `on_violation`, `UnknownRuleError`.
    """
    check_choice(on_violation)
    if limits is not None and not isinstance(limits, Limits):
        raise TypeError(f"limits is mmsp_fsm.Limits(...), not {type(limits).__name__}")
    rules = selected(default(), select, extend_select, ignore)
    kept = limits if limits is not None else Limits()
    if on_violation != "record":  # the first error is to be had, however few are kept
        kept = evolve(kept, diagnostics=max(1, kept.diagnostics))
    return passage(stream, Watch(StreamChecker(rules=rules, limits=kept), on_violation))


def passage(stream: Iterable[Any] | AsyncIterable[Any], watch: Watch) -> EnforcedStream[Any] | AsyncEnforcedStream[Any]:
    """`stream` under a watch. Raises TypeError for what is no stream of events."""
    if isinstance(stream, AsyncIterable):
        return AsyncEnforcedStream(stream, watch)
    if isawaitable(stream):
        raise TypeError("this is to be awaited first: it gives the stream")
    if isinstance(stream, (str, bytes, bytearray, memoryview)) or callable(getattr(stream, "read", None)):
        raise TypeError("enforce takes a live stream of events; a recording is for mmsp_fsm.validate")
    if isinstance(stream, Mapping):
        raise TypeError("one event is no stream: give an iterable of events")
    if not isinstance(stream, Iterable):
        raise TypeError(f"an iterable or async iterable of events is due, not {type(stream).__name__}")
    return EnforcedStream(stream, watch)


class _Enforced(ABC, Generic[T, G]):
    """What sync and async streams have in common: the watch, and who holds the generator.

    A loop alone holds the generator that it runs, so that leaving the loop closes the source at once. In a `with`
    block, and once `next` was called, this object holds it, so that reading may go on.
    """

    def __init__(self, stream: Any, watch: Watch) -> None:
        self._stream, self._watch = stream, watch
        self._held: G | None = None
        self._given: weakref.ref[G] | None = None

    @property
    def checker(self) -> StreamChecker:
        """The checker that the events are fed to, for its `state`, `events` and `expected`."""
        return self._watch.checker

    @property
    def report(self) -> StreamReport:
        """What was found. Where the consumer left before the end, nothing is said of a missing one.

        Raises RuntimeError while the stream is still being read.
        """
        return self._watch.report

    @abstractmethod
    def _begin(self) -> G:
        """A generator around the source, not begun."""

    def _run(self) -> G:
        """The generator, which was left if nobody holds it any more."""
        if self._held is not None:
            return self._held
        running = self._given() if self._given is not None else None
        if running is None:
            running = self._begin()
            if self._given is not None:
                self._watch.leave()
            self._given = weakref.ref(running)
        return running

    def _hold(self) -> G:
        self._held = self._run()
        return self._held


class EnforcedStream(_Enforced[T, Generator[T, None, None]]):
    """A sync stream under `enforce`: an iterator of its events, and a context manager that closes it."""

    def _begin(self) -> Generator[T, None, None]:
        return _pass_on(self._stream, self._watch)

    def __iter__(self) -> Iterator[T]:
        return self._run()

    def __next__(self) -> T:
        return next(self._hold())

    def __enter__(self) -> Self:
        self._hold()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, reason: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with _Closing(reason):
            self.close()

    def close(self) -> None:
        """Leave the stream, and close the source."""
        running = self._hold()
        running.close()
        if not self._watch.begun:
            self._watch.begun = True
            _close(self._stream)
        self._watch.leave()

    def throw(self, error: BaseException) -> T:
        """Leave the stream by an exception, and close the source. Raises `error`."""
        try:
            return self._hold().throw(error)
        except BaseException as reason:
            with _Closing(reason):
                self.close()
            raise


class AsyncEnforcedStream(_Enforced[T, AsyncGenerator[T, None]]):
    """An async stream under `enforce`: an async iterator of its events, and a context manager that closes it."""

    def _begin(self) -> AsyncGenerator[T, None]:
        return _pass_on_async(self._stream, self._watch)

    def __aiter__(self) -> AsyncIterator[T]:
        return self._run()

    async def __anext__(self) -> T:
        return await anext(self._hold())

    async def __aenter__(self) -> Self:
        self._hold()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, reason: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with _Closing(reason):
            await self.aclose()

    async def aclose(self) -> None:
        """Leave the stream, and close the source."""
        running = self._hold()
        await running.aclose()
        if not self._watch.begun:
            self._watch.begun = True
            await _aclose(self._stream)
        self._watch.leave()

    async def athrow(self, error: BaseException) -> T:
        """Leave the stream by an exception, and close the source. Raises `error`."""
        try:
            return await self._hold().athrow(error)
        except BaseException as reason:
            with _Closing(reason):
                await self.aclose()
            raise


# ── The generators ───────────────────────────────────────────────────────────────────────────────────────────────


def _pass_on(stream: Iterable[T], watch: Watch) -> Generator[T, None, None]:
    if watch.begun:
        return
    watch.begun = watch.left = True  # left, in case there is no iterator to be had
    iterator = iter(stream)
    watch.left = False
    pull, (takes, feed) = iterator.__next__, watch.feeders()
    try:
        while True:
            try:
                event = pull()
            except StopIteration:
                break
            except Exception as error:
                watch.judge(error)
                raise
            if not takes(event):
                step = feed(event)
                if step.diagnostics:
                    watch.take(step)
            yield event
        watch.finish()
    except BaseException as reason:
        watch.leave()
        with _Closing(reason):
            _close(iterator, stream)
        raise
    _close(iterator, stream)


async def _pass_on_async(stream: AsyncIterable[T], watch: Watch) -> AsyncGenerator[T, None]:
    if watch.begun:
        return
    watch.begun = watch.left = True  # left, in case there is no iterator to be had
    iterator = aiter(stream)
    watch.left = False
    pull, (takes, feed) = iterator.__anext__, watch.feeders()
    try:
        while True:
            try:
                event = await pull()
            except StopAsyncIteration:
                break
            except Exception as error:
                watch.judge(error)
                raise
            if not takes(event):
                step = feed(event)
                if step.diagnostics:
                    watch.take(step)
            yield event
        watch.finish()
    except BaseException as reason:
        watch.leave()
        with _Closing(reason):
            await _aclose(iterator, stream)
        raise
    await _aclose(iterator, stream)


# ── Closing the source ───────────────────────────────────────────────────────────────────────────────────────────


class _Closing:
    """What closing raises is noted on the exception that is already on its way, and not put in its place."""

    def __init__(self, reason: BaseException | None) -> None:
        self._reason = reason

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, failure: BaseException | None, __: object) -> bool:
        if not isinstance(failure, Exception) or not isinstance(self._reason, Exception):
            return False
        with suppress(Exception):
            self._reason.add_note(f"mmsp-fsm: closing the stream failed, too: {failure!r}")
        return True


def _close(*sources: object) -> None:
    for source in _each(sources):
        close = getattr(source, "close", None)
        if callable(close):
            close()


async def _aclose(*sources: object) -> None:
    for source in _each(sources):
        close = getattr(source, "aclose", None) or getattr(source, "close", None)
        if callable(close):
            closing = close()
            if isawaitable(closing):
                await closing


def _each(sources: tuple[object, ...]) -> Iterator[object]:
    """The iterator, and the stream that it was got from where that is another."""
    seen: list[object] = []
    for source in sources:
        if all(source is not one for one in seen):
            seen.append(source)
            yield source
