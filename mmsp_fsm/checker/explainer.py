"""The explaining pass: one record after another through the reader, the machine and the ledger.

It holds no rules and no table: the reader tells what a record is, the machine what follows, the builders what a group
must hold. What is here is the order of these, and what counts as one fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mmsp_fsm.checker.diagnostics import Diagnostic
from mmsp_fsm.checker.log import Ledger
from mmsp_fsm.checker.record_reader import RecordReader
from mmsp_fsm.grammar.definition import Cell, Definition
from mmsp_fsm.machine.item_builder import Place
from mmsp_fsm.machine.stream_builder import Move, StreamBuilder
from mmsp_fsm.machine.symbols import Finding, Reading, Sign

if TYPE_CHECKING:
    from mmsp_fsm.machine.machine import Machine


class Explainer:
    """Explains the records of one stream: it drives `builder` by the machine and enters what it finds in the ledger."""

    def __init__(self, machine: Machine, builder: StreamBuilder, rules: frozenset[str]) -> None:
        self.definition: Definition = machine.definition
        self.ledger = Ledger(machine.definition, rules, builder.limits)
        self._reader = RecordReader(machine.definition)
        self._machine = machine
        self._builder = builder
        self._followers = 0
        self._first_follower: int | None = None

    def take(self, value: Any, clean: bool, place: Place) -> tuple[Move, ...]:
        """Take a decoded record. `clean` promises that it holds no number that JSON cannot write."""
        if self._builder.end is not None:
            return self._follow(self._reader.glance(value), place)
        reading = self._reader.read(value, clean)
        if reading.created_at is not None:
            reading.findings += self._look_at_time(reading.created_at)
        return self._walk(reading, place)

    def take_unreadable(self, message: str, place: Place) -> tuple[Move, ...]:
        """Take a record that could not be read at all; `message` says why."""
        sign = Sign("unreadable", "", findings=[Finding(self.definition.check.not_json, "", message)])
        return self._follow(sign, place) if self._builder.end is not None else self._walk(Reading([sign]), place)

    def note(self, code: str, message: str, place: Place) -> Diagnostic | None:
        """Report a rule of the recording itself, which no record shows."""
        move = Move(Sign("end", ""), place, self._builder.state, self._builder.state)
        return self.ledger.enter(Finding(code, "", message), move, self._builder)

    def close(self, place: Place) -> None:
        """Nothing more comes."""
        self._move(Sign("end", ""), place)
        if self._first_follower is not None and self._followers > 1:
            more = self._followers - 1
            follow = "one more record follows" if more == 1 else f"{more} more records follow"
            self.ledger.amend(self._first_follower, follow)

    # ── One record ───────────────────────────────────────────────────────────────────────────────────────────

    def _walk(self, reading: Reading, place: Place) -> tuple[Move, ...]:
        """Take the signs of one record through the machine, in order."""
        builder = self._builder
        here = Move(reading.signs[0], place, builder.state, builder.state, group=builder.group)
        for finding in reading.findings:
            self.ledger.enter(finding, here, builder)
        return tuple([self._move(sign, place) for sign in reading.signs])

    def _follow(self, sign: Sign, place: Place) -> tuple[Move, ...]:
        """Take a record after the end: the first is one error, whatever it holds; the rest is counted."""
        start = len(self.ledger.kept)
        if self._followers == 0:
            move = self._move(sign, place)
            self._first_follower = start if len(self.ledger.kept) > start else None
        else:
            move = Move(sign, place, self._builder.state, self._builder.state)
        self._followers += 1
        return (move,)

    def _look_at_time(self, created_at: int) -> list[Finding]:
        """Whether a time is in milliseconds, and whether it goes back. Protocol, "Events"."""
        check, builder, pointer = self.definition.check, self._builder, "/created_at"
        findings = []
        if created_at >= self.definition.time.milliseconds_from:
            latest, builder.latest = builder.latest, max(builder.latest, created_at)
        else:
            earlier = builder.latest_in_seconds
            latest = created_at if earlier is None else earlier
            if earlier is None:
                message = f"created_at is {created_at}, which would be early in 1970: it looks like seconds"
                findings.append(Finding(check.time_in_seconds, pointer, message))
            builder.latest_in_seconds = max(latest, created_at)
        if created_at < latest:
            message = f"created_at is {created_at}, and an earlier event's was {latest}, {latest - created_at} later"
            findings.append(Finding(check.time_goes_back, pointer, message))
        return findings

    def _move(self, sign: Sign, place: Place) -> Move:
        """Take one sign: to the books, if it is an item of a group left open; else through the machine."""
        builder = self._builder
        group = builder.group
        move = Move(sign, place, builder.state, builder.state, group=group, pieces=len(group.pieces) if group else 0)
        if sign.item is not None and builder.end is None and builder.take_late(sign.item):
            move.late = True
        else:
            self._machine.move(builder, move)
        said = self._said(move)
        for finding in (*said, *sign.findings, *move.findings):
            self.ledger.enter(finding, move, builder)
        if builder.end is None and sign.symbol in ("stop", "error"):
            builder.end = sign
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
