"""The checker, sans I/O: one record in, one step out, a report at the end.

It holds no rules and no table: the reader tells what a record is, the machine what follows, the builders what a group
must hold. What is here is the order of these, what counts as one fault, and the making of diagnostics.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, cast

from attrs import define, field, frozen

from mmsp_fsm.builders import ItemBuilder, Place
from mmsp_fsm.definition import Cell, Definition
from mmsp_fsm.diagnostics import Diagnostic, Outcome, StreamReport
from mmsp_fsm.errors import DefinitionError
from mmsp_fsm.jsonvalues import NotJsonError, decode, decode_utf8, plain, type_name
from mmsp_fsm.ledger import Ledger
from mmsp_fsm.limits import Limits
from mmsp_fsm.loading import default
from mmsp_fsm.machine import Machine
from mmsp_fsm.model import ITEM_CLASSES, DoneItem, FinishReason, Item, UniMessage, UsageMetadata
from mmsp_fsm.reader import RecordReader
from mmsp_fsm.signs import Finding, Hole, ItemView, Reading, Sign
from mmsp_fsm.streambuilder import Move, StreamBuilder
from mmsp_fsm.wire import is_model, to_dict

What = Literal["opened", "grew", "closed", "stopped", "failed", "nothing"]
"""What one event did: to the open group, or to the stream."""


@frozen
class Step:
    """What one record did: its 0-based `event` index, its moves in order, what was reported, the `state` after it."""

    event: int
    state: str
    moves: tuple[Move, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    # What happened, for a program that acts on it: of the last move, where an event that breaks E121 made several.

    @property
    def what(self) -> What:
        """What happened to the open group or the stream; "nothing" too for an item of a group left open earlier."""
        move = self.moves[-1]
        if move.late or move.outcome is None or not move.outcome.do:
            return "nothing"
        action = move.outcome.do[-1]
        if action == "resume" and move.group is not None and move.group.kind is move.item.kind:
            return "grew"
        return _WHAT.get(action, "nothing")

    @property
    def kind(self) -> str | None:
        """The name of the kind of the event's item; None where there is none, or none that the protocol knows."""
        view = self.moves[-1].sign.item
        return view.kind.name if view is not None else None

    @property
    def item(self) -> Item | None:
        """The item as an object of `mmsp_fsm.model`, whatever was found in it; None where it has no usable content."""
        view = self.moves[-1].sign.item
        if view is None or isinstance(view.content, Hole):
            return None
        try:
            return _model_item(view)
        except (TypeError, KeyError):  # a field that has no default is absent; a definition without classes
            return None


_WHAT: dict[str, What] = {
    "open": "opened",
    "resume": "opened",
    "grow": "grew",
    "close": "closed",
    "settle": "closed",
    "stray": "closed",
    "finish": "stopped",
    "fail": "failed",
}


class StreamChecker:
    """Checks one stream, record by record. Nothing that is fed to it makes it raise.

    `rules` holds the codes to report (by default all but those that are off);
    `keep_message` tells whether the done items are kept for the report's message, which takes their memory. Raises
    DefinitionError where it is to keep them and `mmsp_fsm.model` was not generated from `definition`.
    """

    def __init__(
        self,
        definition: Definition | None = None,
        *,
        rules: Iterable[str] | None = None,
        limits: Limits | None = None,
        keep_message: bool = True,
    ) -> None:
        self.definition = definition if definition is not None else default()
        self.limits = limits if limits is not None else Limits()
        self.rules = frozenset(rules) if rules is not None else self.definition.default_rules
        if keep_message and (
            strange := [name for name, kind in self.definition.kinds.items() if kind.done not in ITEM_CLASSES]
        ):
            raise DefinitionError(f"mmsp_fsm.model has no class for {', '.join(strange)}: run `make generate`")
        self._reader = RecordReader(self.definition)
        self._machine = _machine(self.definition)
        self._builder = StreamBuilder(self.definition, self.limits, keep_message)
        self._ledger = Ledger(self.definition, self.rules, self.limits)
        self._clock = _Clock(self.definition)
        self._events = 0
        self._end: Sign | None = None
        self._followers = 0
        self._first_follower: int | None = None
        self._report: StreamReport | None = None

    @property
    def state(self) -> str:
        """The machine's state."""
        return self._builder.state

    @property
    def expected(self) -> tuple[str, ...]:
        """The symbols that may come next, without those that a guard would refuse."""
        group = self._builder.group
        here = Move(Sign("end", ""), Place(self._events), self.state, self.state, group=group)
        here.pieces = len(group.pieces) if group is not None else 0
        return self._builder.expected(here)

    @property
    def events(self) -> int:
        """Records taken so far."""
        return self._events

    @property
    def outcome(self) -> Outcome:
        """How the stream ended, as far as it is known: `truncated` until a stop or an error has come."""
        if self._end is None:
            return "truncated"
        return "stopped" if self._end.symbol == "stop" else "failed"

    def feed(self, event: object, *, line: int | None = None) -> Step:
        """Take one event: a dict as JSON or the protocol's clients give it, a model object, or an exception that the
        stream raised. `line` is its 1-based line where it has one.
        """
        try:
            if isinstance(event, BaseException):
                event = self._error_record(event)
            value = plain(to_dict(event) if is_model(event) else event, self.limits.nesting)
        except (NotJsonError, RecursionError) as error:
            return self.feed_unreadable(f"the event cannot be read: {error}", line=line)
        except Exception as error:  # a Python object may do anything when it is looked at
            message = f"the event is a Python {type_name(event)} that raises {type_name(error)} when it is read"
            return self.feed_unreadable(message, line=line)
        return self._take(value, False, Place(self._events, line, value))

    def feed_record(self, data: bytes, *, line: int | None = None) -> Step:
        """Take one record as the bytes of its JSON text."""
        if len(data) > self.limits.record_bytes:
            message = f"the record is longer than {self.limits.record_bytes} bytes"
            return self.feed_unreadable(message, data=data[:256], line=line)
        try:
            decoded = decode(decode_utf8(data), self.limits.nesting)
        except NotJsonError as error:
            return self.feed_unreadable(f"the record is not JSON: {error}", data=data, line=line)
        return self._take(decoded.value, decoded.clean, Place(self._events, line, data))

    def feed_unreadable(self, message: str, *, data: bytes = b"", line: int | None = None) -> Step:
        """Take a record that could not be read at all; `message` says why, `data` is what there is of it."""
        sign = Sign("unreadable", "", findings=[Finding(self.definition.check.not_json, "", message)])
        place = Place(self._events, line, data)
        if self._end is not None:
            return self._follow(sign, place)
        return self._walk(Reading([sign]), place)

    def note(self, code: str, message: str, *, line: int | None = None) -> Diagnostic | None:
        """Report a rule of the recording itself, which no record shows (W510), at the end of what was read."""
        move = Move(Sign("end", ""), Place(self._events, line), self.state, self.state)
        return self._ledger.enter(Finding(code, "", message), move, self._builder)

    def close(self, *, line: int | None = None) -> StreamReport:
        """Nothing more comes: the report. `line` is the 1-based line at which the next record would have stood."""
        if self._report is None:
            end = Sign("end", "")
            self._move(end, Place(self._events, line))
            if self._first_follower is not None and self._followers > 1:
                more = self._followers - 1
                follow = "one more record follows" if more == 1 else f"{more} more records follow"
                self._ledger.amend(self._first_follower, follow)
            self._report = self._make_report()
        return self._report

    @property
    def unparsed(self) -> ItemBuilder | None:
        """The first group whose done item stood where its joined text could not become one."""
        return self._builder.unparsed

    # ── One record ───────────────────────────────────────────────────────────────────────────────────────────

    def _error_record(self, error: BaseException) -> dict[str, Any]:
        """The error record that an exception of the stream stands for."""
        try:
            message = str(error)
        except Exception:  # its text is the stream's, and so is what happens when it is asked for
            message = ""
        return {self.definition.error.key: {"type": type_name(error), "message": message}}

    def _take(self, value: Any, clean: bool, place: Place) -> Step:
        if self._end is not None:
            return self._follow(self._reader.glance(value), place)
        reading = self._reader.read(value, clean)
        if reading.created_at is not None:
            reading.findings += self._clock.look(reading.created_at)
        return self._walk(reading, place)

    def _walk(self, reading: Reading, place: Place) -> Step:
        """Take the signs of one record through the machine, in order."""
        self._events += 1
        start = len(self._ledger.kept)
        here = Move(reading.signs[0], place, self.state, self.state, group=self._builder.group)
        for finding in reading.findings:
            self._ledger.enter(finding, here, self._builder)
        moves = tuple([self._move(sign, place) for sign in reading.signs])
        return Step(place.event, self.state, moves, tuple(self._ledger.kept[start:]))

    def _follow(self, sign: Sign, place: Place) -> Step:
        """Take a record after the end: the first is one error, whatever it holds; the rest is counted."""
        self._events += 1
        start = len(self._ledger.kept)
        if self._followers == 0:
            move = self._move(sign, place)
            self._first_follower = start if len(self._ledger.kept) > start else None
        else:
            move = Move(sign, place, self.state, self.state)
        self._followers += 1
        return Step(place.event, self.state, (move,), tuple(self._ledger.kept[start:]))

    def _move(self, sign: Sign, place: Place) -> Move:
        """Take one sign: to the books, if it is an item of a group left open; else through the machine."""
        builder = self._builder
        group = builder.group
        move = Move(sign, place, self.state, self.state, group=group, pieces=len(group.pieces) if group else 0)
        if sign.item is not None and self._end is None and builder.take_late(sign.item):
            move.late = True
        else:
            self._machine.move(builder, move)
        said = self._said(move)
        for finding in (*said, *sign.findings, *move.findings):
            self._ledger.enter(finding, move, builder)
        if self._end is None and sign.symbol in ("stop", "error"):
            self._end = sign
        return move

    def _said(self, move: Move) -> list[Finding]:
        """What the row that the machine took reports, unless the reader has said why already."""
        outcome = move.outcome
        if outcome is None or move.sign.symbol == "unreadable":
            return []
        if isinstance(outcome, Cell):
            if outcome.legal or not outcome.says or (move.sign.findings and move.sign.symbol == "unknown"):
                return []
            return [Finding(outcome.rules[0], move.sign.pointer, outcome.says)]
        says = f"{outcome.says}: {move.detail}" if move.detail else outcome.says
        return [Finding(outcome.rule, move.sign.pointer, says)]

    # ── The report ───────────────────────────────────────────────────────────────────────────────────────────

    def _make_report(self) -> StreamReport:
        ledger, builder = self._ledger, self._builder
        done_items = tuple(_done_item(item) for item in builder.done_items) if ledger.sound else ()
        message = None
        if ledger.sound and self._end is not None and self._end.symbol == "stop" and builder.keep:
            message = UniMessage(
                content_items=list(done_items),
                usage_metadata=UsageMetadata(**(self._end.usage or {})),
                finish_reason=cast(FinishReason, self._end.reason),
                created_at=self._end.created_at or 0,
            )
        failed = ledger.sound and self._end is not None and self._end.symbol == "error"
        return StreamReport(
            outcome=self.outcome,
            events=self._events,
            groups=builder.groups,
            errors=ledger.errors,
            warnings=ledger.warnings,
            diagnostics=tuple(ledger.kept),
            message=message,
            error=self._end.error if failed and self._end is not None else None,
            done_items=done_items,
        )


@define
class _Clock:
    """The times of one stream: whether they are in milliseconds, and whether they go back. Protocol, "Events"."""

    definition: Definition
    _latest: dict[bool, int] = field(factory=dict)

    def look(self, created_at: int) -> list[Finding]:
        check, pointer = self.definition.check, "/created_at"
        seconds = created_at < self.definition.time.milliseconds_from
        findings = []
        if seconds and True not in self._latest:
            message = f"created_at is {created_at}, which would be early in 1970: it looks like seconds"
            findings.append(Finding(check.time_in_seconds, pointer, message))
        latest = self._latest.setdefault(seconds, created_at)
        if created_at < latest:
            message = f"created_at is {created_at}, and an earlier event's was {latest}, {latest - created_at} later"
            findings.append(Finding(check.time_goes_back, pointer, message))
        self._latest[seconds] = max(latest, created_at)
        return findings


def _done_item(item: ItemView) -> DoneItem:
    """The model object of a done item that was read without a fault."""
    return cast(DoneItem, _model_item(item))


def _model_item(item: ItemView) -> Item:
    fields: dict[str, Any] = {name: value for name, value in item.header.items() if isinstance(value, str)}
    fields |= {item.kind.grows: item.content, "fidelity": None if isinstance(item.fidelity, Hole) else item.fidelity}
    return ITEM_CLASSES[item.kind.done if item.phase == "done" else item.kind.delta](**fields)


_MACHINES: dict[int, Machine] = {}


def _machine(definition: Definition) -> Machine:
    """The machine of `definition`, built once: it holds no stream's state, so all streams share it."""
    machine = _MACHINES.get(id(definition))
    if machine is None or machine.definition is not definition:
        machine = _MACHINES[id(definition)] = Machine(definition)
    return machine
