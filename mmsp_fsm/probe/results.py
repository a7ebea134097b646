"""What came of the cases: plain values. Text, JSON and JUnit are views of them; nothing here prints."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.probe.catalog import Case

Outcome = Literal["passed", "failed", "not shown", "error"]
"""`not shown`: what the case asks for did not come, so nothing can be said. `error`: the server could not be asked."""

OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "not shown", "error")


@frozen
class Judgement:
    """What a case's judge says: the outcome, a sentence, and the stream's report where that says more."""

    outcome: Outcome
    says: str
    report: StreamReport | None = None


def passed(says: str) -> Judgement:
    """What is demanded was seen."""
    return Judgement("passed", says)


def failed(says: str, report: StreamReport | None = None) -> Judgement:
    """The contrary was seen."""
    return Judgement("failed", says, report)


def not_shown(says: str) -> Judgement:
    """Neither was seen."""
    return Judgement("not shown", says)


@frozen
class Result:
    """A case, what came of it, and how many seconds that took."""

    case: Case
    judgement: Judgement
    seconds: float = 0.0

    @property
    def outcome(self) -> Outcome:
        """What came of it."""
        return self.judgement.outcome
