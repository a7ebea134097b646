"""The packed definition: what `mmsp_fsm.grammar.loading` reads instead of the grammar's files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from attrs import fields

from mmsp_fsm.grammar.definition import Definition, Grammar
from mmsp_fsm.grammar.loading import Packed, made_of


def packed(definition: Definition, folder: Path) -> str:
    """The definition that was loaded from `folder`, as JSON: a line for each state, cell, rule and the like."""
    grammar = Grammar(**{field.name: getattr(definition, field.name) for field in fields(Grammar)})
    cells = tuple(definition.cells.values())
    whole = msgspec.to_builtins(
        Packed(made_of(folder), grammar, definition.states, definition.symbols, cells, definition.rules)
    )
    return "{\n" + ",\n".join(f"{_json(key)}: {_lines(part)}" for key, part in whole.items()) + "\n}\n"


def _lines(part: Any) -> str:
    """A part of the definition, each of its entries on a line where there are several."""
    if isinstance(part, Mapping) and any(isinstance(one, Mapping) for one in part.values()):
        return "{\n" + ",\n".join(f"{_json(name)}: {_json(one)}" for name, one in part.items()) + "\n}"
    if isinstance(part, (list, tuple)):
        return "[\n" + ",\n".join(_json(one) for one in part) + "\n]"
    return _json(part)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
