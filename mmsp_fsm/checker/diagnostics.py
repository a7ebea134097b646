"""What the checker says: diagnostics, and the report of one stream.

These are plain values. Text, JSON, SARIF and exceptions are views of them; nothing here prints.
"""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from mmsp_fsm.grammar.definition import Rule, Severity
from mmsp_fsm.model.objects import DoneItem, UniMessage

Verdict = Literal["conforming", "violating"]
Outcome = Literal["stopped", "failed", "truncated"]


@frozen
class Related:
    """Another place that a diagnostic speaks of, such as the fragment that opened the group.

    `event` is the record's 0-based index in its stream, `line` its 1-based line (None without a file); `pointer` and
    `record` as in a diagnostic.
    """

    event: int
    line: int | None
    message: str
    pointer: str = ""
    record: bytes | None = None


@frozen
class Diagnostic:
    """One fault: which rule, what stands there, what this state expected, and where.

    `event` is the 0-based index of the record in its stream (for a missing end, the number of records read);
    `line` the 1-based line at which the record begins, None without a file; `pointer` a JSON pointer (RFC 6901)
    into the record; `state` and `expected` are the machine's state and the symbols that it would have accepted.
    `record` is the beginning of the record as it stands, None where there is none: raw model output, so whoever shows
    it escapes it.
    """

    rule: Rule
    message: str
    event: int
    line: int | None
    pointer: str
    state: str
    expected: tuple[str, ...]
    related: tuple[Related, ...] = ()
    record: bytes | None = None

    @property
    def code(self) -> str:
        """The rule's stable code, such as `E302`."""
        return self.rule.code

    @property
    def severity(self) -> Severity:
        """`error` (the protocol is broken) or `warning` (advice)."""
        return self.rule.severity


@frozen
class StreamReport:
    """What was found in one stream.

    `source` names where the stream came from, `stream` which one it is where a source holds several (the key
    or the number), else None. `events` counts records (error and unreadable ones included), `groups` those
    closed. `errors` and `warnings` are the true totals, `counts` those of each rule by its code; `diagnostics`
    holds the first of them, in the order of the stream. `message` is the message of a conforming stream that
    stopped; `error` the error record's object of one that failed; `done_items` the done items that came, in both
    cases (empty where the stream violates).
    """

    outcome: Outcome
    events: int
    groups: int
    errors: int
    warnings: int
    diagnostics: tuple[Diagnostic, ...]
    message: UniMessage | None = None
    error: dict[str, object] | None = None
    done_items: tuple[DoneItem, ...] = ()
    source: str | None = None
    stream: str | int | None = None
    counts: dict[str, int] = field(factory=dict)

    @property
    def verdict(self) -> Verdict:
        """`violating` when an error was reported, else `conforming`: warnings never change it."""
        return "violating" if self.errors else "conforming"

    @property
    def conforming(self) -> bool:
        """Whether the stream conforms."""
        return not self.errors
