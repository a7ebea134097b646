"""The grammar as written: TOML, structured with cattrs, expanded from `{kind}` to every kind, and checked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from attrs import evolve, field, fields, frozen
from cattrs import BaseValidationError, Converter
from cattrs.gen import make_dict_structure_fn, override

from mmsp_fsm.grammar.converter import exactly, faults, strict_converter
from mmsp_fsm.grammar.definition import (
    Action,
    Cell,
    Definition,
    Grammar,
    Guard,
    Kind,
    Predicate,
    Property,
    Rule,
    State,
    Symbol,
)
from mmsp_fsm.grammar.errors import DefinitionError
from mmsp_fsm.grammar.validation import check

T = TypeVar("T")


@frozen(kw_only=True)
class Row:
    """A transition as written, `{kind}` and all."""

    source: str | list[str]
    on: str | list[str]
    to: str
    do: tuple[Action, ...] = ()
    where: Property | None = field(default=None, init=False)
    says: str = field(default="", init=False)


@frozen(kw_only=True)
class ViolationRow(Row):
    """A violation as written."""

    rules: tuple[str, ...]
    says: str = ""


@frozen(kw_only=True)
class GuardRow(Row):
    """A guard as written."""

    when: Predicate
    rule: str
    says: str
    where: Property | None = None


@frozen
class MachineRows:
    """The `[machine]` part of mmsp.toml as written."""

    states: tuple[State, ...]
    symbols: tuple[Symbol, ...]
    transitions: tuple[Row, ...]
    violations: tuple[ViolationRow, ...]
    guards: tuple[GuardRow, ...]


@frozen(kw_only=True)
class Written(Grammar):
    """mmsp.toml as written."""

    machine: MachineRows


def build(grammar: Mapping[str, Any], catalogue: Mapping[str, Any]) -> Definition:
    """Make the definition of a grammar and a rule catalogue as TOML gives them. Raises `DefinitionError`."""
    content = dict(grammar)
    content["kinds"], content["finish_reasons"] = content.pop("kind", {}), content.pop("finish_reason", {})
    written = _structure(content, Written, "mmsp.toml")
    rules = _structure(catalogue, dict[str, Rule], "rules.toml")
    machine, kinds = written.machine, {name: evolve(kind, name=name) for name, kind in written.kinds.items()}
    definition = Definition(
        **{field.name: getattr(written, field.name) for field in fields(Grammar)} | {"kinds": kinds},
        states=_each_kind("states", machine.states, kinds),
        symbols=_each_kind("symbols", machine.symbols, kinds),
        cells=_cells(machine, kinds),
        rules={code: evolve(rule, code=code) for code, rule in rules.items()},
    )
    check(definition)
    return definition


def parse(text: bytes, file: str) -> dict[str, Any]:
    """The content of a TOML file. Raises `DefinitionError`, which names `file`."""
    try:
        return tomllib.loads(text.decode("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DefinitionError(f"{file} is not TOML: {error}") from None
    except UnicodeDecodeError as error:
        raise DefinitionError(f"{file} is not UTF-8: {error.reason} at offset {error.start}") from None


def _structure(value: object, into: type[T], file: str) -> T:
    try:
        return _converter().structure(value, into)
    except (BaseValidationError, TypeError, AttributeError) as error:
        sentences = []
        for path, what in faults(error):
            key = re.sub(r"^(kind|finish_reason)s\b|\.source$", lambda part: part[1] or ".from", path)
            sentences.append(f"{file}: {key}: {what}" if key else f"{file}: {what}")
        raise DefinitionError("; ".join(sentences)) from None


@cache
def _converter() -> Converter:
    converter = strict_converter()
    converter.register_structure_hook(str | list[str], _string_or_strings)
    for row in (Row, ViolationRow, GuardRow):
        hook = make_dict_structure_fn(row, converter, _cattrs_forbid_extra_keys=True, source=override(rename="from"))
        converter.register_structure_hook(row, hook)
    return converter


def _string_or_strings(value: object, _: object) -> object:
    return value if isinstance(value, list) and all(isinstance(one, str) for one in value) else exactly(value, str)


Named = TypeVar("Named", State, Symbol)


def _each_kind(part: str, rows: tuple[Named, ...], kinds: Mapping[str, Kind]) -> dict[str, Named]:
    named: dict[str, Named] = {}
    for row in rows:
        for kind in kinds if "{kind}" in row.name else [""]:
            one = evolve(row, name=_fill(row.name, kind), title=_fill(row.title, kind), kind=kind or row.kind)
            if one.name in named:
                raise DefinitionError(f"mmsp.toml: machine.{part} names {one.name} twice")
            named[one.name] = one
    return named


def _cells(machine: MachineRows, kinds: Mapping[str, Kind]) -> dict[tuple[str, str], Cell]:
    cells: dict[tuple[str, str], Cell] = {}
    rows: dict[tuple[str, str], str] = {}
    for part, written in (("transitions", machine.transitions), ("violations", machine.violations)):
        for number, row in enumerate(written):
            key = f"machine.{part}[{number}]"
            rules = row.rules if isinstance(row, ViolationRow) else ()
            if isinstance(row, ViolationRow) and not rules:
                raise DefinitionError(f"mmsp.toml: {key} names no rules")
            for state, symbol, to, says in _places(row, kinds):
                if (state, symbol) in cells:
                    first = rows[state, symbol]
                    raise DefinitionError(
                        f"mmsp.toml: {key} gives the cell {state} x {symbol} a second outcome, after {first}"
                    )
                rows[state, symbol] = key
                cells[state, symbol] = Cell(state, symbol, to, row.do, rules, says)
    for number, guard in enumerate(machine.guards):
        for state, symbol, to, says in _places(guard, kinds):
            cell = cells.get((state, symbol))
            if cell is None or not cell.legal:
                key = f"machine.guards[{number}]"
                raise DefinitionError(f"mmsp.toml: {key} guards {state} x {symbol}, which is no transition")
            guards = (*cell.guards, Guard(guard.when, guard.rule, to, guard.do, says))
            cells[state, symbol] = evolve(cell, guards=guards)
    return cells


def _places(row: Row, kinds: Mapping[str, Kind]) -> Iterator[tuple[str, str, str, str]]:
    """Every (state, symbol, next state, sentence) that a row as written stands for."""
    for source in [row.source] if isinstance(row.source, str) else row.source:
        for on in [row.on] if isinstance(row.on, str) else row.on:
            written = f"{source} {on} {row.to}"
            for kind in kinds if "{kind}" in written else [""]:
                if row.where and not (kind and getattr(kinds[kind], row.where)):
                    continue
                for other in kinds if "{other}" in written else [""]:
                    if not other or other != kind:
                        state, symbol, to, says = (_fill(text, kind, other) for text in (source, on, row.to, row.says))
                        yield state, symbol, to, says


def _fill(text: str, kind: str, other: str = "") -> str:
    for place, name in (("{kind}", kind), ("{other}", other)):
        if f"a {place}" in text and name.startswith(tuple("aeiou")):
            text = re.sub(rf"\ba {re.escape(place)}", f"an {place}", text)
        text = text.replace(place, name)
    return text
