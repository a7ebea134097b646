"""`StreamWriter`: correct events for servers and for test fakes, and a refusal where the grammar forbids one.

    writer = StreamWriter(file, format="sse")
    writer.open("text", "Hel")
    writer.grow("lo")
    writer.close()
    writer.stop(prompt_tokens=10, response_tokens=5)

A kind is told by its name, and what it takes by the definition's properties of it. Each event is fed to a
`StreamChecker` before it is written: the machine that checks streams is the one that refuses. Protocol, "Grammar".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal, Protocol, get_args

from attrs import asdict, define, evolve, field

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import Diagnostic
from mmsp_fsm.checker.errors import RefusedEventError
from mmsp_fsm.grammar.definition import Definition, Kind
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.live.events import (
    Event,
    arguments_text,
    comes_whole,
    cut,
    event_of,
    later_header,
    nothing,
    record_bytes,
)
from mmsp_fsm.machine.item_builder import JOIN
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.model.json_values import NotJsonError, decode, type_name
from mmsp_fsm.model.objects import UsageMetadata
from mmsp_fsm.model.wire import from_base64, to_base64

WireFormat = Literal["jsonl", "sse"]
"""How records are written: JSON lines, or server-sent events."""


class Output(Protocol):
    """Where a writer writes: a binary file, or anything else that takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Take the bytes of one record."""


@define
class _Open:
    """The open group: what its first fragment carried, and its fragments' contents and fidelity."""

    kind: Kind
    header: dict[str, Any]
    pieces: list[Any] = field(factory=list)
    fidelity: dict[str, Any] | None = None
    events: list[Event] = field(factory=list)


class StreamWriter:
    """Writes one stream. Each method returns the event it wrote, as the JSON value that travels (bytes as base64).

    `out` gets each event's bytes, as `format` says ("jsonl" or "sse"), before the method returns; without it, take the
    events, or `encode` them. `clock` gives Unix time in milliseconds; times that go back are written as the latest one.

    All methods raise `RefusedEventError` for what the grammar forbids, says what may stand there, and write nothing
    then; the stream goes on as if it had not been asked. Warnings are in `warnings`, and refuse nothing.
    """

    def __init__(
        self,
        out: Output | None = None,
        *,
        format: WireFormat = "jsonl",
        clock: Callable[[], int] | None = None,
        definition: Definition | None = None,
        limits: Limits | None = None,
    ) -> None:
        if format not in get_args(WireFormat):
            raise ValueError(f"format is {' or '.join(get_args(WireFormat))}, not {format!r}")
        if out is not None and not callable(getattr(out, "write", None)):
            raise TypeError(f"out is a file to write bytes to, not {type_name(out)}")
        if clock is not None and not callable(clock):
            raise TypeError(f"clock is a function that gives Unix milliseconds, not {type_name(clock)}")
        self.definition = definition if definition is not None else default()
        self.warnings: list[Diagnostic] = []
        self.events = 0
        self._out, self._format = out, format
        self._clock = clock if clock is not None else lambda: time.time_ns() // 1_000_000
        self._limits = evolve(limits if limits is not None else Limits(), diagnostics=100)
        self._checker = self._new_checker()
        names = {entry.holds: entry.name for entry in self.definition.event.field}
        self._type_field, self._time_field = names["event_type"], names["time"]
        self._latest: int | None = None
        self._group: _Open | None = None
        self._closed: list[_Open] = []
        self._end: Event | None = None

    @property
    def state(self) -> str:
        """The machine's state."""
        return self._checker.state

    @property
    def expected(self) -> tuple[str, ...]:
        """The symbols that may come next, as the state and the open group allow."""
        return self._checker.expected

    # ── Groups ───────────────────────────────────────────────────────────────────────────────────────────────

    def open(
        self, kind: str, content: Any = None, *, fidelity: Mapping[str, Any] | None = None, **fields: Any
    ) -> Event:
        """Open a group of the kind named `kind` with its first fragment.

        `content` is what the fragment carries: a text, bytes (or their base64), a vector; nothing by default. `fields`
        are the kind's others, such as a call's `name` and `tool_call_id`. Raises ValueError for a kind that is not of
        the grammar.
        """
        known = self._kind(kind)
        if self._group is not None and self._group.kind is known:  # its fragment would grow the open group
            raise RefusedEventError(f"another {kind} group", self.state, self.expected)
        if known.grows in fields:
            content = fields.pop(known.grows)
        group = _Open(known, {name: value for name, value in fields.items() if value is not None})
        event = self._fragment(group, group.header, content, fidelity, f"{kind}.delta")
        self._group = group
        return event

    def grow(self, content: Any = None, *, fidelity: Mapping[str, Any] | None = None) -> Event:
        """Write another fragment of the open group. `fidelity` may stand on one of its fragments."""
        group = self._opened("a fragment")
        return self._fragment(group, later_header(group.kind, group.header), content, fidelity, group.kind.delta)

    def close(self, *, fidelity: Mapping[str, Any] | None = None) -> Event:
        """Close the open group with its done item: the first fragment, and all that the fragments carried.

        `fidelity` is the fragments' unless it is given.
        """
        group = self._opened("a done item")
        carried = dict(fidelity) if fidelity is not None else group.fidelity
        item = self._item(group.kind, group.kind.done, group.header, self._joined(group), carried)
        event = self._send(self._delta(item), group.kind.done)
        self._group = None
        self._closed.append(_Open(group.kind, group.header))  # without its content: see _restore
        return event

    def group(
        self,
        kind: str,
        content: Any = None,
        *,
        size: int | None = None,
        cut_pairs: bool = False,
        fidelity: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> list[Event]:
        """Write a whole group, cut into fragments of `size` characters or bytes (one by default).

        `content` is what the done item holds, for a call the arguments as an object. `cut_pairs` makes `size` count
        UTF-16 code units, so that a pair may be cut. An image and a vector are never cut. The last fragment carries
        `fidelity`. Raises ValueError for another size.
        """
        known = self._kind(kind)
        if size is not None and (type(size) is not int or size < 1):
            raise ValueError(f"size is a number of characters or bytes from 1 on, not {size!r}")
        if known.grows in fields:
            content = fields.pop(known.grows)
        if known.closes is not None:
            content = arguments_text(content if content is not None else {})
        elif content is None:
            content = nothing(known)
        whole = comes_whole(known, fields) or known.joins == "whole" or not hasattr(content, "__getitem__")
        pieces = [content] if whole else cut(content, size, cut_pairs)
        carried = [None] * (len(pieces) - 1) + [fidelity or None]
        events = [self.open(kind, pieces[0], fidelity=carried[0], **fields)]
        events += [self.grow(piece, fidelity=one) for piece, one in zip(pieces[1:], carried[1:], strict=True)]
        return [*events, self.close(fidelity=fidelity)]

    # ── Ends ─────────────────────────────────────────────────────────────────────────────────────────────────

    def stop(
        self,
        finish_reason: str | None = None,
        usage: Mapping[str, int | None] | UsageMetadata | None = None,
        **counts: int | None,
    ) -> Event:
        """End the stream with the stop event.

        `finish_reason` is by default the one that the message's kinds call for; a count of the usage that is not
        given is null. Protocol, "Events".
        """
        if usage is not None and not isinstance(usage, (UsageMetadata, Mapping)):
            raise TypeError(f"usage is a UsageMetadata or its counts by name, not {type_name(usage)}")
        given = asdict(usage) if isinstance(usage, UsageMetadata) else dict(usage or {})
        full = {**dict.fromkeys(self.definition.usage.counts), **given, **counts}
        reason = finish_reason if finish_reason is not None else self._reason()
        values = {"items": [], "usage": full, "finish_reason": reason, "time": self._now()}
        return self._finish(event_of(self.definition, "stop", values), "stop")

    def fail(self, error: BaseException | str, message: str | None = None, **more: Any) -> Event:
        """End the stream with an error record. `error` is an exception, or the name of an error's type.

        `message` is by default the exception's text; `more` goes into the record beside it. Protocol, "On the wire".
        """
        text = message
        if isinstance(error, BaseException):
            if text is None:
                with suppress(Exception):  # its text is the stream's, and so is what happens when it is asked for
                    text = str(error)
            error = type_name(error)
        record = {self.definition.error.key: {"type": error, "message": text if text is not None else "", **more}}
        return self._finish(record, "error")

    def encode(self, event: Event) -> bytes:
        """The bytes of an event as `format` says; as server-sent events, an end brings the `[DONE]` block with it."""
        data = record_bytes(event)
        if self._format == "jsonl":
            return data + b"\n"
        block = b"data: " + data + b"\n\n"
        if self.definition.error.key in event or event.get(self._type_field) == "stop":
            block += f"data: {self.definition.recording.done_marker}\n\n".encode()
        return block

    # ── Details ──────────────────────────────────────────────────────────────────────────────────────────────

    def _kind(self, name: str) -> Kind:
        kind = self.definition.kinds.get(name)
        if kind is None:
            raise ValueError(f"a kind is {', '.join(self.definition.kinds)}, not {name!r}")
        return kind

    def _opened(self, what: str) -> _Open:
        if self._group is None:
            raise RefusedEventError(f"{what} without an open group", self.state, self.expected)
        return self._group

    def _fragment(
        self, group: _Open, header: dict[str, Any], content: Any, fidelity: Mapping[str, Any] | None, what: str
    ) -> Event:
        piece = _content(group.kind, content)
        carried = dict(fidelity) if fidelity is not None else None
        event = self._send(self._delta(self._item(group.kind, group.kind.delta, header, piece, carried)), what)
        group.pieces.append(piece)
        group.fidelity = group.fidelity or carried or None
        group.events.append(event)
        return event

    def _item(
        self, kind: Kind, written: str, header: dict[str, Any], content: Any, fidelity: dict[str, Any] | None
    ) -> Event:
        if kind.joins == "bytes" and isinstance(content, bytes):
            content = to_base64(content)
        item = {"type": written, **header, kind.grows: content}
        return item if fidelity is None else {**item, self.definition.fidelity.key: fidelity}

    def _joined(self, group: _Open) -> Any:
        joined = JOIN[group.kind.joins](group.pieces)
        if group.kind.closes is None:
            return joined
        try:
            parsed = decode(joined, self._limits.nesting) if joined else None
        except NotJsonError:
            parsed = None
        # Where there is no object to be had, the machine says so.
        return parsed.value if parsed is not None and parsed.clean and isinstance(parsed.value, dict) else {}

    def _delta(self, item: Event) -> Event:
        return event_of(self.definition, "delta", {"items": [item], "time": self._now()})

    def _now(self) -> int:
        now = self._clock()
        return now if self._latest is None or now > self._latest else self._latest

    def _reason(self) -> str:
        seen = {group.kind.name for group in self._closed}
        reasons = [(name, self.definition.finish_reasons.get(name)) for name in self.definition.event.finish_reasons]
        due = [name for name, says in reasons if says is not None and says.needs in seen]
        return due[0] if due else next(name for name, says in reasons if says is None or says.needs is None)

    def _finish(self, record: Event, what: str) -> Event:
        self._end = self._send(record, what)
        return self._end

    def _send(self, event: Event, what: str) -> Event:
        shift = self.events - self._checker.events
        step = self._checker.feed(event)
        errors = tuple(one for one in step.diagnostics if one.severity == "error")
        if errors:
            self._restore()
            raise RefusedEventError(what, self.state, self.expected, _shifted(errors, shift))
        self.warnings += _shifted(step.diagnostics, shift)
        self.events += 1
        self._latest = event.get(self._time_field, self._latest)
        if self._out is not None:
            self._out.write(self.encode(event))
        return event

    def _new_checker(self) -> StreamChecker:
        return StreamChecker(self.definition, limits=self._limits, keep_message=False)

    def _restore(self) -> None:
        """A checker in the state before the event that was refused.

        What matters of a closed group is its kind and its header, so it is fed without its content.
        """
        self._checker = self._new_checker()
        for event in self._so_far():
            self._checker.feed(event)

    def _so_far(self) -> Iterator[Event]:
        for group in self._closed:
            kind, header = group.kind, group.header
            empty = {} if kind.closes is not None else nothing(kind)
            for written, content in ((kind.delta, nothing(kind)), (kind.done, empty)):
                item = self._item(kind, written, header, content, None)
                yield event_of(self.definition, "delta", {"items": [item], "time": self._latest})
        if self._group is not None:
            yield from self._group.events
        if self._end is not None:
            yield self._end


def _content(kind: Kind, given: Any) -> Any:
    """What a fragment carries; the machine says whether the kind allows it."""
    if given is None:
        return nothing(kind)
    if isinstance(given, (bytearray, memoryview)):
        return bytes(given)
    if kind.joins == "bytes" and isinstance(given, str):
        with suppress(ValueError):
            return from_base64(given)
    return list(given) if kind.joins == "whole" and isinstance(given, (list, tuple)) else given


def _shifted(diagnostics: tuple[Diagnostic, ...], shift: int) -> tuple[Diagnostic, ...]:
    """The diagnostics with the indices of events as they were written, `shift` further than the checker counts."""
    if not shift:
        return diagnostics
    return tuple(
        evolve(
            one,
            event=one.event + shift,
            related=tuple(evolve(place, event=place.event + shift) for place in one.related),
        )
        for one in diagnostics
    )
