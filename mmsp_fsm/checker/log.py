"""The ledger of one stream: it makes diagnostics of findings, keeps the first ones and counts them all."""

from __future__ import annotations

import json
from typing import Any

from attrs import define, evolve, field

from mmsp_fsm.checker.diagnostics import Diagnostic, Related
from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.machine.stream_builder import Move, StreamBuilder
from mmsp_fsm.machine.symbols import Finding
from mmsp_fsm.model.json_values import Foreign
from mmsp_fsm.model.wire import to_base64

KEPT = 1 << 16
"""Bytes of a record that a diagnostic keeps, so that a stream's diagnostics take little memory whatever they show."""


@define(eq=False)
class Ledger:
    """The diagnostics of one stream: the first errors and the first warnings are kept, all are counted.

    `counts` holds the true total of each rule by its code. `sound` is false once there was an error of any rule,
    selected or not: then there is no message to be had.
    """

    definition: Definition
    rules: frozenset[str]
    limits: Limits
    errors: int = 0
    warnings: int = 0
    counts: dict[str, int] = field(factory=dict)
    sound: bool = True
    kept: list[Diagnostic] = field(factory=list)

    def enter(self, finding: Finding, move: Move, builder: StreamBuilder) -> Diagnostic | None:
        """Make the diagnostic of `finding`, found where `move` was made; None where it is not selected or kept."""
        rule = self.definition.rules[finding.code]
        self.sound = self.sound and rule.severity == "warning"
        if finding.code not in self.rules:
            return None
        self.counts[finding.code] = self.counts.get(finding.code, 0) + 1
        self.errors += rule.severity == "error"
        self.warnings += rule.severity == "warning"
        if (self.errors if rule.severity == "error" else self.warnings) > self.limits.diagnostics:
            return None
        place = move.place
        diagnostic = Diagnostic(
            rule=rule,
            message=finding.message,
            event=place.event,
            line=place.line,
            pointer=finding.pointer,
            state=move.before,
            expected=builder.expected(move),
            related=self._related(move),
            record=_beginning(place.record),
        )
        self.kept.append(diagnostic)
        return diagnostic

    def amend(self, index: int, more: str) -> None:
        """Add to the message of a diagnostic what only later records could tell."""
        first = self.kept[index]
        self.kept[index] = evolve(first, message=f"{first.message}; {more}")

    def _related(self, move: Move) -> tuple[Related, ...]:
        group = move.group
        if group is None or group.opened.event >= move.place.event:
            return ()
        opened = group.opened
        message = f"the {group.kind.name} group was opened here"
        return (Related(opened.event, opened.line, message, "/content_items/0", _beginning(opened.record)),)


def _beginning(record: Any) -> bytes | None:
    """What is kept of a record to show it: its bytes as read, or the JSON of an in-process value."""
    if record is None or isinstance(record, bytes):
        return record and record[:KEPT].rstrip(b"\r\n")
    return json.dumps(record, default=_stand_in, ensure_ascii=False).encode("utf-8", "backslashreplace")[:KEPT]


def _stand_in(value: object) -> str:
    if isinstance(value, bytes):
        return to_base64(value)
    return f"<{value.name if isinstance(value, Foreign) else type(value).__name__}>"
