"""One HTTP exchange: status, headers, the body through framing and checker, or a refusal.

Every exchange ends: each wait, the whole exchange and what is kept of it are bounded.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, cast

from attrs import define, evolve, field, frozen

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.probe.client import Answer, Patience, Request, TransportError
from mmsp_fsm.probe.strict_sse import Scanner
from mmsp_fsm.recordings.reading import Recording, feed

STRAGGLER = 2.0
"""Seconds that the end of a response may take after the done marker."""

BODY_LIMIT = 512 * 1024 * 1024
"""Bytes of one body that are read: eight events of the longest kind."""

_LONGEST_TIMED = 1 << 20


@frozen
class Bounds:
    """What one exchange may take: `seconds` in all, and `body_bytes`."""

    seconds: float = 120.0
    body_bytes: int = BODY_LIMIT
    verify: bool = True


@define
class Beat:
    """When something came, in seconds of a clock that only goes forward: first, last, and the longest silence."""

    first: float | None = None
    last: float = 0.0
    longest: float = 0.0
    count: int = 0

    def tick(self) -> float:
        """It comes now."""
        now = time.monotonic()
        if self.first is None:
            self.first = now
        else:
            self.longest = max(self.longest, now - self.last)
        self.last = now
        self.count += 1
        return now


@define
class Exchange:
    """What one request brought. `status` is None where no answer came; `fault` is why it was not read to its end.

    `body` is the beginning of the body, as it came; `events` and `signs` (any bytes at all) hold when something came,
    the headers first; `made` the arrival and the `created_at` (s) of the first event and the last that have one.
    `lingered` tells that the response stayed open after the done marker, `left` that we left midway, as was asked.
    """

    name: str
    status: int | None = None
    reason: str = ""
    headers: list[tuple[str, str]] = field(factory=list)
    fault: TransportError | None = None
    body: bytes = b""
    report: StreamReport | None = None
    scan: Scanner = field(factory=lambda: Scanner(default().recording.done_marker.encode()))
    events: Beat = field(factory=Beat)
    signs: Beat = field(factory=Beat)
    made: list[tuple[float, float]] = field(factory=list)
    lingered: bool = False
    left: bool = False
    echoes_key: bool = False
    seconds: float = 0.0

    @property
    def event_count(self) -> int:
        """The events that came."""
        return self.events.count - 1 if self.events.count else 0

    @property
    def answered(self) -> str:
        """What was answered instead of a stream, or why nothing was."""
        if self.status is None:
            return str(self.fault)
        return f"the server answered {describe(self.status, self.reason, self.header('location'), self.body)}"

    def header(self, name: str) -> str | None:
        """The value of a header (its name in lower case)."""
        values = [value for one, value in self.headers if one == name]
        return ", ".join(values) if values else None


class _Tap:
    """An answer's body as a file, of which every byte is looked at when it comes."""

    def __init__(self, answer: Answer, exchange: Exchange, limit: int, keep: Callable[[bytes], object]) -> None:
        self._answer, self._exchange, self._limit, self._keep = answer, exchange, limit, keep
        self._size = 0

    def read1(self, _: int = -1) -> bytes:
        exchange = self._exchange
        if exchange.scan.markers:
            self._answer.silence = STRAGGLER
        try:
            chunk = self._answer.read1()
        except TransportError as error:
            if error.stage != "time" or not exchange.scan.markers:
                raise
            exchange.lingered = True
            chunk = b""
        self._keep(chunk)
        self._size += len(chunk)
        if self._size > self._limit:
            raise TransportError(f"the body is longer than {self._limit} bytes", "time")
        exchange.body += chunk[: max(BODY_BYTES - len(exchange.body), 0)]
        if chunk:
            exchange.scan.feed(chunk)
            exchange.signs.tick()
        return chunk

    read = read1


def exchange(
    name: str,
    request: Request,
    bounds: Bounds,
    *,
    leave: bool = False,
    keep: Callable[[bytes], object] = lambda _: None,
) -> Exchange:
    """Send a request and watch its answer to the end; with `leave`, to the first event.

    `keep` is given each piece of the body as it comes. Raises RequestError where the request cannot be sent; what the
    server does wrong is in the exchange.
    """
    seen = Exchange(name)
    began = time.monotonic()
    try:
        patience = Patience(bounds.seconds, bounds.seconds, bounds.verify)
        with Answer(request, patience) as answer:
            seen.status, seen.reason, seen.headers = answer.status, answer.reason, answer.headers
            seen.signs.tick()
            seen.events.tick()
            encoded = (answer.header("content-encoding") or "identity").strip().lower() != "identity"
            if answer.status == 200 and not encoded:
                _watch(_Tap(answer, seen, bounds.body_bytes, keep), seen, leave)
            else:
                seen.body = read_body(answer)
                keep(seen.body)
    except TransportError as error:
        seen.fault = error
    seen.seconds = time.monotonic() - began
    if seen.fault is not None and seen.fault.stage == "time" and seen.signs.first is not None:
        seen.signs.longest = max(seen.signs.longest, time.monotonic() - seen.signs.last)
    return seen


def _watch(tap: _Tap, seen: Exchange, leave: bool) -> None:
    """Take the events through the checker as they come, and report on those that came."""
    checker = StreamChecker()
    recording = None
    try:
        recording = Recording(cast(BinaryIO, tap), checker.definition, checker.limits, suffix=".sse", format="sse")
        for record in recording:
            feed(checker, record)
            arrived = seen.events.tick()
            if (made := _created_at(record.data)) is not None:
                seen.made[1:] = [(arrived, made / 1000)]
            if leave and checker.outcome == "truncated":
                seen.left = True
                break
    except TransportError as error:
        seen.fault = error
    # Not `finish`: that the marker is missing is a case of its own, and not said twice.
    report = checker.close(line=recording.line if recording is not None else None)
    seen.report = evolve(report, source=seen.name)
    if not seen.left and seen.fault is None:
        seen.scan.close()


def _created_at(record: bytes) -> int | None:
    if len(record) > _LONGEST_TIMED:
        return None
    try:
        value = json.loads(record)
    except (ValueError, RecursionError):
        return None
    created = value.get("created_at") if isinstance(value, dict) else None
    return created if isinstance(created, int) and not isinstance(created, bool) else None


BODY_BYTES = 1 << 16
"""Of the body of a refusal; an error object is far shorter, and a page of HTML is not read."""

_SHOWN = 300


def read_body(answer: Answer, longest: int = BODY_BYTES) -> bytes:
    """The beginning of an answer's body, without waiting long for its end. Raises TransportError."""
    body = bytearray()
    while len(body) < longest and (chunk := answer.read1()):
        body += chunk
    return bytes(body[:longest])


def refusal(answer: Answer) -> str:
    """What a server answered instead of a stream, in some words of which it chose a part."""
    body = b""
    with suppress(TransportError):
        body = read_body(answer)
    return describe(answer.status, answer.reason, answer.header("location"), body)


def describe(status: int, reason: str, location: str | None, body: bytes) -> str:
    """The status, where it leads, and the error that the body holds."""
    line = f"{status} {reason}".rstrip()
    if 300 <= status < 400 and location is not None:
        return f"{line}: it leads to {location[:_SHOWN]}, and a redirect is not followed: give that URL"
    said = error_of(body)
    if said is not None:
        parts = [str(said[name]) for name in ("type", "message") if isinstance(said.get(name), str)]
        return f"{line}: {': '.join(parts)[:_SHOWN]}"
    text = " ".join(body.decode("utf-8", "replace").split())
    return f"{line}: {text[:_SHOWN]}" if text and not text.startswith("<") else line


def error_of(body: bytes) -> dict[str, Any] | None:
    """The error object that a body holds; None where it holds none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, dict) else None
