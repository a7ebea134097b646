"""The ledger of one stream: it makes diagnostics of findings, keeps the first ones and counts them all."""

from __future__ import annotations

from attrs import define, evolve, field

from mmsp_fsm.definition import Definition
from mmsp_fsm.diagnostics import Diagnostic, Related
from mmsp_fsm.excerpts import excerpt
from mmsp_fsm.limits import Limits
from mmsp_fsm.signs import Finding
from mmsp_fsm.streambuilder import Move, StreamBuilder


@define
class Ledger:
    """The diagnostics of one stream: the first errors and the first warnings are kept, all are counted.

    `sound` is false once there was an error of any rule, selected or not: then there is no message to be had.
    """

    definition: Definition
    rules: frozenset[str]
    limits: Limits
    errors: int = 0
    warnings: int = 0
    sound: bool = True
    kept: list[Diagnostic] = field(factory=list)
    _room: dict[str, int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._room = {"error": self.limits.diagnostics, "warning": self.limits.diagnostics}

    @property
    def count(self) -> int:
        """Diagnostics kept so far."""
        return len(self.kept)

    def since(self, start: int) -> tuple[Diagnostic, ...]:
        """The diagnostics kept from `start` on."""
        return tuple(self.kept[start:])

    def enter(self, finding: Finding, move: Move, builder: StreamBuilder) -> Diagnostic | None:
        """Make the diagnostic of `finding`, found where `move` was made; None where it is not selected or kept."""
        rule = self.definition.rules[finding.code]
        self.sound = self.sound and rule.severity == "warning"
        if finding.code not in self.rules:
            return None
        if rule.severity == "error":
            self.errors += 1
        else:
            self.warnings += 1
        if self._room[rule.severity] == 0:
            return None
        self._room[rule.severity] -= 1
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
            excerpt=excerpt(place.record, finding.pointer) if place.record is not None else None,
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
        shown = excerpt(opened.record, "/content_items/0") if opened.record is not None else None
        return (Related(opened.event, opened.line, message, shown),)
