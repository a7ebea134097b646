"""The watch over one live stream: it hands the checker what comes, and knows what to do with what is found.

`enforce` and the pytest plugin drive it. It reads nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from inspect import iscoroutinefunction
from typing import Literal

from attrs import define, evolve, field

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import Diagnostic, StreamReport
from mmsp_fsm.checker.raising import protocol_error
from mmsp_fsm.checker.step import Step

OnViolation = Literal["raise", "record"] | Callable[[Diagnostic], object]
"""What an error leads to: an exception, an entry in the report alone, or a call with its diagnostic."""

CHOICES = ("raise", "record")


def check_choice(on_violation: object) -> None:
    """Raises ValueError for a word that is no choice, TypeError for what cannot be called with a diagnostic."""
    if isinstance(on_violation, str):
        if on_violation not in CHOICES:
            raise ValueError(f"on_violation is {' or '.join(map(repr, CHOICES))} or a function, not {on_violation!r}")
    elif not callable(on_violation):
        raise TypeError(f"on_violation is a word or a function, not {type(on_violation).__name__}")
    elif iscoroutinefunction(on_violation):
        raise TypeError("on_violation is called as a plain function: a coroutine would never be awaited")


@define(eq=False)
class Watch:
    """One stream under watch. `begun` is set once it is read; `over` once it has ended by itself."""

    checker: StreamChecker
    on_violation: OnViolation = "raise"
    begun: bool = False
    over: bool = False
    left: bool = False
    _report: StreamReport | None = field(default=None, init=False)

    def feeders(self) -> tuple[Callable[[object], bool], Callable[[object], Step]]:
        """What each event is given to first, and what it is fed to where that does not take it."""
        return self.checker.takes, self.checker.feed

    def take(self, step: Step) -> None:
        """See to the diagnostics of one event. Raises `StreamProtocolError` if it breaks the protocol and that is due.

        Warnings are kept for the report.
        """
        self._see_to(step.diagnostics)

    def judge(self, error: Exception) -> None:
        """The stream raised `error`: its end, legal there or not. It is the caller's to raise it further.

        Whatever `on_violation` says, the stream's own exception is what its consumer gets; where the protocol forbids
        it there, it bears a note (PEP 678) that says so.
        """
        _, feed = self.feeders()
        step = feed(error)
        self.over = True
        forbidden = [one for one in step.diagnostics if one.severity == "error"]
        if forbidden:
            with suppress(Exception):  # an exception of the stream's own making may refuse
                error.add_note(f"mmsp-fsm: {protocol_error(self.checker, forbidden)}")
        if not isinstance(self.on_violation, str):
            self._see_to(step.diagnostics)

    def finish(self) -> None:
        """The stream has ended without an exception. Raises `IncompleteStreamError` if its end is missing."""
        self.over = True
        report = self.report
        self._see_to(tuple(one for one in report.diagnostics if one.event >= report.events))

    def leave(self) -> None:
        """Nobody reads the stream any more, though it may go on: whether its end is missing cannot be told."""
        self.left = True

    @property
    def report(self) -> StreamReport:
        """What was found. Raises RuntimeError while the stream is still being read."""
        if self._report is None:
            if not self.over and not self.left:
                raise RuntimeError("the stream is still being read: its report is there once it has ended or was left")
            self._report = self._closed() if self.over else self._closed_midway()
        return self._report

    def _see_to(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        errors = [one for one in diagnostics if one.severity == "error"]
        if not errors or self.on_violation == "record":
            return
        if self.on_violation == "raise":
            raise protocol_error(self.checker, diagnostics)
        assert not isinstance(self.on_violation, str)
        for one in errors:
            self.on_violation(one)

    def _closed(self) -> StreamReport:
        return self.checker.close()

    def _closed_midway(self) -> StreamReport:
        """The report without a missing end, which the checker cannot but see."""
        checker = self.checker
        end = checker.definition.cells[checker.state, "end"]
        report = checker.close()
        if end.legal or end.rules[0] not in checker.rules:
            return report
        code = end.rules[0]
        kept = tuple(one for one in report.diagnostics if one.event < report.events or one.code != code)
        counts = {rule: count - (rule == code) for rule, count in report.counts.items()}
        counts = {rule: count for rule, count in counts.items() if count}
        return evolve(report, errors=report.errors - 1, diagnostics=kept, counts=counts)
