"""The grammar as attrs classes: what `grammar/mmsp.toml` and `grammar/rules.toml` say. Everything else asks this.

The comments in mmsp.toml say what each word means. `mmsp_fsm.grammar.source` makes a `Definition` of those files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Literal

from attrs import field, frozen

Severity = Literal["error", "warning"]
Joins = Literal["text", "bytes", "whole"]
Phase = Literal["delta", "done"]
Action = Literal[
    "open", "grow", "close", "leave", "finish", "fail", "stray", "doubt", "lose", "resume", "settle"
]  # fmt: skip
Predicate = Literal[
    "another_group",
    "another_name",
    "second_piece",
    "second_content",
    "not_json",
    "not_an_object",
    "cut_short_elsewhere",
]
Property = Literal["told_by", "one_piece", "one_piece_when", "closes", "cut_short_by", "hidden", "header"]


@frozen
class Header:
    """A field beside the growing one, such as a call's `name`, and the rules that speak of it."""

    name: str
    absent: str
    later: Literal["empty", "same"]
    later_absent: str
    later_other: str
    empty: str | None = None


@frozen
class Kind:
    """One kind of item, told by its properties (the comment above `[kind]` in mmsp.toml says what each means)."""

    grows: str
    joins: Joins
    name: str = ""
    closes: Literal["json_object"] | None = None
    header: tuple[Header, ...] = ()
    told_by: str | None = None
    cut_short_by: str | None = None
    one_piece: bool = False
    one_piece_when: dict[str, str] = field(factory=dict, hash=False)
    hidden: bool = False

    def comes_in_one_piece(self, header: Mapping[str, object]) -> bool:
        """Whether a group with this header has one fragment with content."""
        values = ((header.get(name), pattern) for name, pattern in self.one_piece_when.items())
        return any(isinstance(value, str) and fnmatchcase(value.lower(), pattern) for value, pattern in values)

    @property
    def delta(self) -> str:
        """The symbol, and the item type, of a fragment."""
        return f"{self.name}.delta"

    @property
    def done(self) -> str:
        """The symbol, and the item type, of the done item."""
        return f"{self.name}.done"


@frozen
class Presence:
    """What an event field must hold on one type of event, and the rule when it does not."""

    must: Literal["one", "none", "null", "value"]
    rule: str


@frozen
class EventField:
    """One of the fields that every event has."""

    name: str
    holds: Literal["constant", "event_type", "items", "usage", "finish_reason", "time"]
    value: str | None = None
    mismatch: str | None = None
    delta: Presence | None = None
    stop: Presence | None = None


@frozen
class EventLayer:
    """The fields of an event, in the order in which servers write them."""

    types: tuple[str, ...]
    finish_reasons: tuple[str, ...]
    field: tuple[EventField, ...]


@frozen
class FinishReason:
    """What a finish reason says of the message: that it holds an item of a kind, or none."""

    needs: str | None = None
    denies: str | None = None


@frozen
class Usage:
    """The counts of `usage_metadata`."""

    counts: tuple[str, ...]


@frozen
class ErrorRecord:
    """The record that ends a stream by error: its one key, and the strings inside."""

    key: str
    fields: tuple[str, ...]


@frozen
class Fidelity:
    """The opaque object that any item may carry, and its keys that never leave a client."""

    key: str
    internal: tuple[str, ...]


@frozen
class UserOnly:
    """Item types that no stream carries."""

    items: tuple[str, ...]


@frozen
class Older:
    """What streams carried before a version of the protocol."""

    before: str
    events: tuple[str, ...]
    items: tuple[str, ...]


@frozen
class Time:
    """`milliseconds_from`: a smaller `created_at` is in seconds."""

    milliseconds_from: int


@frozen
class RecordingEnd:
    """The text of the SSE block that ends a recording."""

    done_marker: str


@frozen
class Protocol:
    """The protocol's name and the version that this grammar describes."""

    name: str
    title: str
    version: str


@frozen
class Checks:
    """The rule that each check reports which looks at every record, whatever the state."""

    not_json: str
    not_an_object: str
    missing_field: str
    unknown_field: str
    wrong_type: str
    unknown_item: str
    user_only_item: str
    bad_base64: str
    content_mismatch: str
    header_mismatch: str
    fidelity_repeated: str
    fidelity_mismatch: str
    time_in_seconds: str
    time_goes_back: str
    reason_without_item: str
    item_without_reason: str
    group_id_reused: str
    nothing_but_hidden: str
    duplicate_key: str
    done_marker_missing: str
    cut_short_unwarranted: str
    internal_fidelity: str
    not_compared: str


@frozen
class State:
    """A state of the machine. `kind` is the kind of the open group, None where none is open."""

    name: str
    role: Literal["initial", "open", "ended", "unsure"]
    title: str
    kind: str | None = None


@frozen
class Symbol:
    """What the machine reads. `kind` is the item's kind, None for symbols that are no item."""

    name: str
    title: str
    kind: str | None = None


@frozen
class Guard:
    """An outcome of a cell that stands when `when` holds: what the symbol alone could not decide."""

    when: Predicate
    rule: str
    to: str
    do: tuple[Action, ...]
    says: str


@frozen
class Cell:
    """The outcome of one symbol in one state. It is a violation when it has `rules`, else a transition."""

    state: str
    symbol: str
    to: str
    do: tuple[Action, ...]
    rules: tuple[str, ...] = ()
    says: str = ""
    guards: tuple[Guard, ...] = ()

    @property
    def legal(self) -> bool:
        """Whether the protocol allows the symbol here (a guard may still refuse it)."""
        return not self.rules


@frozen
class Example:
    """A small stream in one of the recording formats; `limits` are those to check it with, where not the usual."""

    format: Literal["jsonl", "sse", "json"]
    text: str
    limits: dict[str, int] = field(factory=dict, hash=False)


@frozen
class Rule:
    """One rule of the catalogue, with all that is said of it anywhere: one entry, read by every output."""

    name: str
    severity: Severity
    default: bool
    layer: Literal["model", "producer", "transport", "recorder"]
    protocol: str
    summary: str
    why: str
    cause: str
    mend: str
    bad: Example
    good: Example
    code: str = ""


@frozen
class Grammar:
    """mmsp.toml without its machine: what streams are made of."""

    protocol: Protocol
    kinds: dict[str, Kind]
    event: EventLayer
    finish_reasons: dict[str, FinishReason]
    usage: Usage
    error: ErrorRecord
    fidelity: Fidelity
    user_only: UserOnly
    older: Older
    time: Time
    recording: RecordingEnd
    check: Checks


@frozen
class Definition(Grammar):
    """The grammar of one protocol and its rules, expanded, complete and checked; see `mmsp_fsm.grammar.loading`."""

    states: dict[str, State]
    symbols: dict[str, Symbol]
    cells: dict[tuple[str, str], Cell]
    rules: dict[str, Rule]

    @property
    def initial(self) -> State:
        """The state in which every stream begins."""
        return next(state for state in self.states.values() if state.role == "initial")

    @property
    def default_rules(self) -> frozenset[str]:
        """The codes of the rules that are on unless somebody chooses."""
        return frozenset(code for code, rule in self.rules.items() if rule.default)

    def row(self, state: str) -> Iterator[Cell]:
        """The cells of one state, in the order of the symbols."""
        return (self.cells[state, symbol] for symbol in self.symbols)
