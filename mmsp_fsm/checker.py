"""The checker, sans I/O: one record in, one step out, a report at the end.

It holds no rules and no table: the reader tells what a record is, the machine what follows, the builders what a group
must hold. What is here is the order of these, what counts as one fault, and the making of diagnostics.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from attrs import define, field, frozen

from mmsp_fsm.builders import Place
from mmsp_fsm.definition import Cell, Definition, Predicate
from mmsp_fsm.diagnostics import Diagnostic, Outcome, StreamReport
from mmsp_fsm.errors import (
    IncompleteStreamError,
    MMSPError,
    StreamFailedError,
    StreamProtocolError,
    ToolCallArgumentParseError,
)
from mmsp_fsm.jsonvalues import NotJsonError, decode, decode_utf8, join_text, plain
from mmsp_fsm.ledger import Ledger
from mmsp_fsm.limits import Limits
from mmsp_fsm.loading import default
from mmsp_fsm.machine import Machine
from mmsp_fsm.model import ITEM_CLASSES, DoneItem, UniMessage, UsageMetadata
from mmsp_fsm.selection import selected
from mmsp_fsm.shapes import Finding, ItemView, Reading, RecordReader, Sign
from mmsp_fsm.streambuilder import Move, StreamBuilder
from mmsp_fsm.wire import is_model, to_dict


@frozen
class Step:
    """What one record did: its 0-based `event` index, its moves in order, what was reported, the `state` after it."""

    event: int
    state: str
    moves: tuple[Move, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class StreamChecker:
    """Checks one stream, record by record. Nothing that is fed to it makes it raise.

    `rules` holds the codes to report (see `mmsp_fsm.selection.selected`; by default all but those that are off);
    `keep_message` tells whether the done items are kept for the report's message, which takes their memory.
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
        self.rules = frozenset(rules) if rules is not None else selected(self.definition)
        self._reader = RecordReader(self.definition)
        self._machine = _machine(self.definition)
        self._builder = StreamBuilder(self.definition, self.limits, keep_message)
        self._ledger = Ledger(self.definition, self.rules, self.limits)
        self._clock = _Clock(self.definition)
        self._events = 0
        self._end: Sign | None = None
        self._after_end = _AfterEnd()
        self._report: StreamReport | None = None

    @property
    def state(self) -> str:
        """The machine's state."""
        return self._builder.state

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
        if isinstance(event, BaseException):
            return self.feed_exception(event)
        try:
            value = plain(to_dict(event) if is_model(event) else event, self.limits.nesting)
        except (NotJsonError, RecursionError) as error:
            return self.feed_unreadable(f"the event cannot be read: {error}", line=line)
        except Exception as error:  # a Python object may do anything when it is looked at
            return self.feed_unreadable(f"the event is a Python {type(event).__name__} that cannot be read: "
                                        f"{type(error).__name__}", line=line)  # fmt: skip
        return self._take(value, False, self._place(line, value))

    def feed_record(self, data: bytes, *, line: int | None = None) -> Step:
        """Take one record as the bytes of its JSON text."""
        if len(data) > self.limits.record_bytes:
            message = f"the record is longer than {self.limits.record_bytes} bytes"
            return self.feed_unreadable(message, data=data[:256], line=line)
        try:
            decoded = decode(decode_utf8(data), self.limits.nesting)
        except NotJsonError as error:
            return self.feed_unreadable(f"the record is not JSON: {error}", data=data, line=line)
        return self._take(decoded.value, decoded.clean, self._place(line, data))

    def feed_exception(self, error: BaseException) -> Step:
        """Take the exception that the stream raised, which is one of its legal ends."""
        return self.feed({self.definition.error.key: {"type": type(error).__name__, "message": str(error)}})

    def feed_unreadable(self, message: str, *, data: bytes = b"", line: int | None = None) -> Step:
        """Take a record that could not be read at all; `message` says why, `data` is what there is of it."""
        sign = Sign("unreadable", "", findings=[Finding(self.definition.check.not_json, "", message)])
        place = self._place(line, data)
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
            if self._after_end.first is not None and self._after_end.count > 1:
                more = self._after_end.count - 1
                follow = "one more record follows" if more == 1 else f"{more} more records follow"
                self._ledger.amend(self._after_end.first, follow)
            self._report = self._make_report()
        return self._report

    def exception(self) -> MMSPError | None:
        """What to raise for a stream that gives no message, once it is closed; None where there is a message.

        A violation of a rule that is not selected counts too, for there is no message either.
        """
        report = self.close()
        if report.message is not None or (report.outcome == "stopped" and self._ledger.sound):
            return None
        if self._ledger.sound and report.error is not None:
            return StreamFailedError(report.error, report.done_items)
        first = next((one.code for one in report.diagnostics if one.severity == "error"), None)
        unparsed = self._builder.unparsed
        if unparsed is not None and first in _rules_of(self.definition, ("not_json", "not_an_object")):
            header = {name: value for name, value in unparsed.header.items() if isinstance(value, str)}
            return ToolCallArgumentParseError(
                report.diagnostics, header.get("name", ""), unparsed.told_by, join_text(unparsed.pieces)
            )
        if first in self.definition.cells[self.definition.initial.name, "end"].rules:
            return IncompleteStreamError(report.diagnostics)
        return StreamProtocolError(report.diagnostics)

    # ── One record ───────────────────────────────────────────────────────────────────────────────────────────

    def _place(self, line: int | None, record: Any) -> Place:
        return Place(self._events, line, record)

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
        start = self._ledger.count
        here = Move(reading.signs[0], place, self.state, self.state, group=self._builder.group)
        for finding in reading.findings:
            self._ledger.enter(finding, here, self._builder)
        moves = tuple([self._move(sign, place) for sign in reading.signs])
        return Step(place.event, self.state, moves, self._ledger.since(start))

    def _follow(self, sign: Sign, place: Place) -> Step:
        """Take a record after the end: the first is one error, whatever it holds; the rest is counted."""
        self._events += 1
        start = self._ledger.count
        if self._after_end.count == 0:
            move = self._move(sign, place)
            self._after_end.first = self._ledger.last if self._ledger.count > start else None
        else:
            move = Move(sign, place, self.state, self.state)
        self._after_end.count += 1
        return Step(place.event, self.state, (move,), self._ledger.since(start))

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
                finish_reason=self._end.reason,  # type: ignore[arg-type]
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
class _AfterEnd:
    """What followed the end of the stream: how many records, and where in the ledger the first one's error stands."""

    count: int = 0
    first: int | None = None


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


def _rules_of(definition: Definition, predicates: Iterable[Predicate]) -> set[str]:
    """The rules of the guards that ask one of `predicates`."""
    guards = (guard for cell in definition.cells.values() for guard in cell.guards)
    return {guard.rule for guard in guards if guard.when in predicates}


def _done_item(item: ItemView) -> DoneItem:
    """The model object of a done item that was read without a fault."""
    fields: dict[str, Any] = {name: value for name, value in item.header.items() if isinstance(value, str)}
    fields |= {item.kind.grows: item.content, "fidelity": item.fidelity}
    return cast(DoneItem, ITEM_CLASSES[item.kind.done](**fields))


_MACHINES: dict[int, Machine] = {}


def _machine(definition: Definition) -> Machine:
    """The machine of `definition`, built once: it holds no stream's state, so all streams share it."""
    machine = _MACHINES.get(id(definition))
    if machine is None or machine.definition is not definition:
        machine = _MACHINES[id(definition)] = Machine(definition)
    return machine
