"""The cases of a probe as plain values (`cases.toml`), their prompts, and the result of each case."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from attrs import frozen

from mmsp_fsm.checker.diagnostics import StreamReport


@frozen
class Case:
    """One demand on a server: stable `code` and `name`, what passes, and who suffers otherwise.

    `severity` is `error` where the protocol, server-sent events or HTTP demand it, `warning` where it is advice.
    """

    code: str
    name: str
    sends: str
    demands: str
    why: str
    shown_by: str = "an answer"
    severity: Literal["error", "warning"] = "error"


@frozen
class Catalogue:
    """All cases by code, the prompts by name, and the tool that is offered."""

    cases: dict[str, Case]
    prompts: dict[str, str]
    tool: dict[str, Any]


@cache
def catalogue() -> Catalogue:
    """The packaged catalogue, read once."""
    value = tomllib.loads(files("mmsp_fsm.probe").joinpath("cases.toml").read_text(encoding="utf-8"))
    return Catalogue({one["code"]: Case(**one) for one in value["case"]}, value["prompts"], value["tool"])


def find_cases(words: list[str]) -> list[Case]:
    """The cases that `words` choose, in the catalogue's order: codes, names or families (`P3`); all without words.

    Raises ValueError, which names the word, for one that chooses nothing.
    """
    cases = list(catalogue().cases.values())
    if not words:
        return cases
    chosen = set()
    for word in words:
        found = {one.code for one in cases if word and (one.code.startswith(word.upper()) or one.name == word.lower())}
        if not found:
            raise ValueError(f"there is no case {word!r}; `mmsp-fsm probe --list` shows all")
        chosen |= found
    return [one for one in cases if one.code in chosen]


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
