"""Reading the grammar's files: TOML, structured with cattrs, expanded from `{kind}` to every kind, and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from attrs import evolve, fields, frozen
from cattrs import BaseValidationError, Converter, transform_error
from cattrs.gen import make_dict_structure_fn, override

from mmsp_fsm.definition import (
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
from mmsp_fsm.errors import DefinitionError
from mmsp_fsm.laws import check
from mmsp_fsm.structuring import exactly, strict_converter

T = TypeVar("T")


@frozen
class Row:
    """A row of the table as written, `{kind}` and all: a transition, a violation (`rules`) or a guard (`when`)."""

    source: str | list[str]
    on: str | list[str]
    to: str
    do: tuple[Action, ...] = ()
    rules: tuple[str, ...] = ()
    rule: str | None = None
    when: Predicate | None = None
    where: Property | None = None
    says: str = ""


@frozen
class MachineRows:
    """The `[machine]` part of mmsp.toml as written."""

    states: tuple[State, ...]
    symbols: tuple[Symbol, ...]
    transitions: tuple[Row, ...]
    violations: tuple[Row, ...]
    guards: tuple[Row, ...]


def grammar_folder() -> Path:
    """Where the packaged grammar lies: inside the package as installed, beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / "grammar"
    return inside if inside.is_dir() else package.parent / "grammar"


@cache
def default() -> Definition:
    """The definition that this package ships."""
    return load(grammar_folder())


def load(folder: Path) -> Definition:
    """Load and check `mmsp.toml` and `rules.toml` of `folder`. Raises `DefinitionError`, or OSError."""
    return build(_toml(folder / "mmsp.toml"), _toml(folder / "rules.toml"))


def build(grammar: Mapping[str, Any], catalogue: Mapping[str, Any]) -> Definition:
    """Make the definition of a grammar and a rule catalogue as TOML gives them. Raises `DefinitionError`."""
    content = dict(grammar)
    machine = _structure(content.pop("machine", {}), MachineRows, "mmsp.toml: machine")
    content["kinds"], content["finish_reasons"] = content.pop("kind", {}), content.pop("finish_reason", {})
    written = _structure(content, Grammar, "mmsp.toml")
    rules = _structure(catalogue, dict[str, Rule], "rules.toml")
    kinds = {name: evolve(kind, name=name) for name, kind in written.kinds.items()}
    definition = Definition(
        **{field.name: getattr(written, field.name) for field in fields(Grammar)} | {"kinds": kinds},
        states={state.name: state for state in _each_kind(machine.states, kinds)},
        symbols={symbol.name: symbol for symbol in _each_kind(machine.symbols, kinds)},
        cells=_cells(machine, kinds),
        rules={code: evolve(rule, code=code) for code, rule in rules.items()},
    )
    check(definition)
    return definition


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DefinitionError(f"{path.name} is not TOML: {error}") from None


def _structure(value: Mapping[str, Any], into: type[T], file: str) -> T:
    try:
        return _converter().structure(value, into)
    except BaseValidationError as error:
        faults = "; ".join(transform_error(error, path=""))
        raise DefinitionError(f"{file}: {faults.replace(' @ .', ' at ')}") from None


@cache
def _converter() -> Converter:
    converter = strict_converter()
    converter.register_structure_hook(str | list[str], _string_or_strings)
    row = make_dict_structure_fn(Row, converter, _cattrs_forbid_extra_keys=True, source=override(rename="from"))
    converter.register_structure_hook(Row, row)
    return converter


def _string_or_strings(value: object, _: object) -> object:
    return value if isinstance(value, list) and all(isinstance(one, str) for one in value) else exactly(value, str)


Named = TypeVar("Named", State, Symbol)


def _each_kind(rows: tuple[Named, ...], kinds: Mapping[str, Kind]) -> Iterator[Named]:
    for row in rows:
        if "{kind}" not in row.name:
            yield row
            continue
        for kind in kinds:
            yield evolve(row, name=_fill(row.name, kind), title=_fill(row.title, kind), kind=kind)


def _cells(machine: MachineRows, kinds: Mapping[str, Kind]) -> dict[tuple[str, str], Cell]:
    cells: dict[tuple[str, str], Cell] = {}
    for part, rows in (("transitions", machine.transitions), ("violations", machine.violations)):
        for number, row in enumerate(rows):
            if part == "violations" and not row.rules:
                raise DefinitionError(f"mmsp.toml: machine.violations[{number}] names no rules")
            if part == "transitions" and row.rules:
                raise DefinitionError(f"mmsp.toml: machine.transitions[{number}] is legal, yet it names rules")
            for state, symbol, to, says in _places(row, kinds):
                if (state, symbol) in cells:
                    raise DefinitionError(
                        f"mmsp.toml: machine.{part}[{number}] gives the cell {state} x {symbol} a second outcome"
                    )
                cells[state, symbol] = Cell(state, symbol, to, row.do, row.rules, says)
    for number, row in enumerate(machine.guards):
        if row.when is None or row.rule is None:
            raise DefinitionError(f"mmsp.toml: machine.guards[{number}] needs `when` and `rule`")
        for state, symbol, to, says in _places(row, kinds):
            cell = cells.get((state, symbol))
            if cell is None or not cell.legal:
                raise DefinitionError(
                    f"mmsp.toml: machine.guards[{number}] guards {state} x {symbol}, which is no transition"
                )
            guard = Guard(row.when, row.rule, to, row.do, says)
            cells[state, symbol] = evolve(cell, guards=(*cell.guards, guard))
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
    return text.replace("{kind}", kind).replace("{other}", other)
