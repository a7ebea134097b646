"""Loading the grammar: as `make generate` packed it, expanded and checked already, else from the files as written.

The packed form only saves time. It notes what it was made of, and where those files say anything else now, they are
read: an edit counts at once.
"""

from __future__ import annotations

from binascii import crc32
from functools import cache
from pathlib import Path

import msgspec
from attrs import fields, frozen

from mmsp_fsm.grammar.definition import Cell, Definition, Grammar, Rule, State, Symbol

GRAMMAR, CATALOGUE, PACKED = "mmsp.toml", "rules.toml", "definition.json"
"""The files of the grammar's folder: two written by hand, and the definition that was made of them."""


@frozen
class Packed:
    """A definition as JSON can hold it, and of which bytes of each file it was made: how many, and their checksum."""

    made_of: dict[str, tuple[int, int]]
    grammar: Grammar
    states: dict[str, State]
    symbols: dict[str, Symbol]
    cells: tuple[Cell, ...]
    rules: dict[str, Rule]


def grammar_folder() -> Path:
    """Where the packaged grammar lies: inside the package as installed, beside it in a checkout."""
    inside = Path(__file__).parent
    return inside if (inside / GRAMMAR).exists() else inside.parent.parent / "grammar"


@cache
def default() -> Definition:
    """The definition that this package ships."""
    folder = grammar_folder()
    return unpacked(folder) or load(folder)


def load(folder: Path) -> Definition:
    """Load and check `mmsp.toml` and `rules.toml` of `folder`. Raises `DefinitionError`, or OSError."""
    from mmsp_fsm.grammar.source import build, parse

    grammar, catalogue = (parse((folder / name).read_bytes(), name) for name in (GRAMMAR, CATALOGUE))
    return build(grammar, catalogue)


def unpacked(folder: Path) -> Definition | None:
    """The definition that was packed in `folder`; None where there is none, or it is not what the files say now."""
    try:
        packed = msgspec.json.decode((folder / PACKED).read_bytes(), type=Packed)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    if packed.made_of != made_of(folder):
        return None
    return Definition(
        **{field.name: getattr(packed.grammar, field.name) for field in fields(Grammar)},
        states=packed.states,
        symbols=packed.symbols,
        cells={(cell.state, cell.symbol): cell for cell in packed.cells},
        rules=packed.rules,
    )


def made_of(folder: Path) -> dict[str, tuple[int, int]]:
    """What tells whether the files are those that a definition was made of. Raises OSError."""
    contents = {name: (folder / name).read_bytes() for name in (GRAMMAR, CATALOGUE)}
    return {name: (len(content), crc32(content)) for name, content in contents.items()}
