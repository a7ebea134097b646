"""What a definition must be before anything trusts it: total, closed under its own names, and without dead parts.

Each law is a function that yields the sentences of what breaks it.
"""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword

from attrs import asdict

from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.grammar.errors import DefinitionError

LOOKED_UP = {"event_type": "event_type", "content_items": "items", "usage_metadata": "usage",
             "finish_reason": "finish_reason", "created_at": "time"}  # fmt: skip
"""The fields of an event that are read by their names."""


def check(definition: Definition) -> None:
    """Raise `DefinitionError` with every fault found in `definition`."""
    faults = [f"mmsp.toml: {fault}" for law in (_kinds, _events, _states, _total) for fault in law(definition)]
    if not faults:
        # Reachability and the rules' use can only be told of a table whose names are all known.
        faults += [f"mmsp.toml: {fault}" for fault in _reachable(definition)]
        faults += [f"rules.toml: {fault}" for fault in _rules(definition)]
    if faults:
        raise DefinitionError("; ".join(faults))


def _kinds(definition: Definition) -> Iterator[str]:
    if not definition.kinds:
        yield "there is no [kind]"
    for name, kind in definition.kinds.items():
        where = f"kind.{name}"
        if not name.isidentifier() or name != name.lower():
            yield f"{where}: a kind's name is lower case letters, digits and _"
        fields = [header.name for header in kind.header]
        for field in (kind.grows, *fields):
            if not field.isidentifier() or iskeyword(field):
                yield f"{where}: {field!r} is no field name"
            if field in ("type", definition.fidelity.key):
                yield f"{where}: {field} is a field of every item, so no kind declares it"
        if len({kind.grows, *fields}) <= len(fields):
            yield f"{where} declares a field twice"
        if kind.told_by is not None and kind.told_by not in fields:
            yield f"{where}.told_by is {kind.told_by}, a field that its header does not declare"
        for field in kind.one_piece_when:
            if field not in fields:
                yield f"{where}.one_piece_when looks at {field}, a field that its header does not declare"
        if kind.closes is not None and kind.joins != "text":
            yield f"{where}.closes = {kind.closes!r} reads joined text, but it joins {kind.joins}"
        if kind.joins == "whole" and not kind.one_piece:
            yield f"{where} joins whole values, so it needs one_piece = true"
        if name in definition.user_only.items:
            yield f"{where} is in user_only.items too"


def _events(definition: Definition) -> Iterator[str]:
    event, usage = definition.event, definition.usage
    if sorted(event.types) != ["delta", "stop"]:
        yield f"event.types is {list(event.types)}; an event is a delta or a stop"
    names = [entry.name for entry in event.field]
    lists = {"event.field": names, "event.finish_reasons": event.finish_reasons, "usage.counts": usage.counts}
    for key, words in lists.items():
        if len(set(words)) < len(words):
            yield f"{key} names one twice"
    for name, holds in LOOKED_UP.items():
        if not any((entry.name, entry.holds) == (name, holds) for entry in event.field):
            yield f"event.field lacks {name}, which holds {holds!r}"
    for entry in event.field:
        if entry.holds == "constant" and entry.value is None:
            yield f"event.field.{entry.name} holds a constant, and has no value"
    for name, reason in definition.finish_reasons.items():
        if name not in definition.event.finish_reasons:
            yield f"finish_reason.{name} is not in event.finish_reasons"
        for kind in (reason.needs, reason.denies):
            if kind is not None and kind not in definition.kinds:
                yield f"finish_reason.{name} speaks of {kind}, which is no kind"


def _states(definition: Definition) -> Iterator[str]:
    for role in ("initial", "unsure"):
        count = sum(state.role == role for state in definition.states.values())
        if count != 1:
            yield f"machine.states has {count} states of role {role}; there is exactly one"
    items = (symbol for kind in definition.kinds.values() for symbol in (kind.delta, kind.done))
    for symbol in ("stop", "error", "unknown", "unreadable", "end", *items):
        if symbol not in definition.symbols:
            yield f"machine.symbols lacks {symbol}"
    for name in definition.kinds:
        if not any(state.kind == name and state.role == "open" for state in definition.states.values()):
            yield f"machine.states has no open state for the kind {name}"


def _total(definition: Definition) -> Iterator[str]:
    for state in definition.states:
        for symbol in definition.symbols:
            if (state, symbol) not in definition.cells:
                yield f"the cell {state} x {symbol} has no outcome: add it to machine.transitions or machine.violations"
    for (state, symbol), cell in definition.cells.items():
        if state not in definition.states:
            yield f"the row {state} x {symbol} starts from {state}, which is no state"
        if symbol not in definition.symbols:
            yield f"the row {state} x {symbol} is on {symbol}, which is no symbol"
        for to in (cell.to, *(guard.to for guard in cell.guards)):
            if to not in definition.states:
                yield f"the row {state} x {symbol} goes to {to}, which is no state"
        if not cell.legal and not cell.says and symbol not in ("unknown", "unreadable"):
            yield f"the row {state} x {symbol} is a violation, and says nothing"


def _reachable(definition: Definition) -> Iterator[str]:
    reached = {definition.initial.name}
    frontier = list(reached)
    while frontier:
        for cell in definition.row(frontier.pop()):
            for to in (cell.to, *(guard.to for guard in cell.guards)):
                if to not in reached:
                    reached.add(to)
                    frontier.append(to)
    for state in definition.states:
        if state not in reached:
            yield f"no row leads to the state {state}"


def _rules(definition: Definition) -> Iterator[str]:
    used = dict(_uses(definition))
    for code, where in used.items():
        if code not in definition.rules:
            yield f"there is no rule {code}, which mmsp.toml names at {where}"
    names: dict[str, str] = {}
    for code, rule in definition.rules.items():
        if code not in used:
            yield f"nothing in mmsp.toml can report {code} ({rule.name})"
        if {"E": "error", "W": "warning"}.get(code[:1]) != rule.severity:
            yield f"{code}.severity is {rule.severity}; E codes are errors, W codes warnings"
        if names.setdefault(rule.name, code) != code:
            yield f"{code}.name is {rule.name}, which is {names[rule.name]}'s"


def _uses(definition: Definition) -> Iterator[tuple[str, str]]:
    """Each rule that the grammar can report, with a key that names it."""
    for name, code in asdict(definition.check).items():
        yield code, f"check.{name}"
    for kind in definition.kinds.values():
        for header in kind.header:
            for code in (header.absent, header.empty, header.later_absent, header.later_other):
                if code is not None:
                    yield code, f"kind.{kind.name}.header.{header.name}"
    for field in definition.event.field:
        for code in (field.mismatch, field.delta and field.delta.rule, field.stop and field.stop.rule):
            if code:
                yield code, f"event.field.{field.name}"
    for cell in definition.cells.values():
        for code in (*cell.rules, *(guard.rule for guard in cell.guards)):
            yield code, f"the cell {cell.state} x {cell.symbol}"
