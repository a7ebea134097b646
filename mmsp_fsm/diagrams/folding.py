"""Kinds that behave alike, told by what the definition says of them and never by their names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from attrs import evolve, frozen

from mmsp_fsm.grammar.definition import Cell, Definition, Kind

ANY, OTHER = "K", "O"
"""What stands for the kind of the group that a folded state speaks of, and for any other kind."""


@frozen
class Fold:
    """Kinds that are drawn as one. `name` is the kind's own where there is only one, else K."""

    kinds: tuple[Kind, ...]
    state: str

    @property
    def name(self) -> str:
        """What stands for its kinds in symbols and states."""
        return self.kinds[0].name if len(self.kinds) == 1 else ANY

    @property
    def names(self) -> str:
        """Its kinds, as the grammar writes alternatives."""
        return " | ".join(kind.name for kind in self.kinds)

    def __contains__(self, kind: object) -> bool:
        return kind in {one.name for one in self.kinds}


def folds(definition: Definition, sameness: Callable[[Kind], Hashable], expand: bool = False) -> tuple[Fold, ...]:
    """The kinds of `definition` by what `sameness` says of each; with `expand` each kind by itself."""
    groups: dict[Hashable, list[Kind]] = {}
    for kind in definition.kinds.values():
        groups.setdefault(kind.name if expand else sameness(kind), []).append(kind)
    return tuple(_fold(definition, tuple(kinds)) for kinds in groups.values())


def by_legal_cells(definition: Definition) -> Callable[[Kind], Hashable]:
    """Alike in what is legal: the same symbols lead from the same states to the same states by the same actions."""
    return lambda kind: frozenset(_outcome(definition, cell, kind) for cell in _cells(definition, kind) if cell.legal)


def by_cells(definition: Definition) -> Callable[[Kind], Hashable]:
    """Alike in all rows of the machine, violations included. Guards narrow a row for some kinds, and say for which."""
    return lambda kind: frozenset(_outcome(definition, cell, kind) for cell in _cells(definition, kind))


def by_properties(kind: Kind) -> Hashable:
    """Alike in what the item builder does with them: all their properties but the names they bear."""
    bare = evolve(kind, name="", grows="", hidden=False)
    return (bare, tuple(sorted(kind.one_piece_when.items())))


def open_state(definition: Definition, kind: Kind) -> str:
    """The state in which a group of `kind` is open."""
    return next(state.name for state in definition.states.values() if state.kind == kind.name)


def _fold(definition: Definition, kinds: tuple[Kind, ...]) -> Fold:
    state = open_state(definition, kinds[0])
    return Fold(kinds, state if len(kinds) == 1 else state.replace(kinds[0].name, ANY, 1))


def _cells(definition: Definition, kind: Kind) -> Iterable[Cell]:
    """The cells that speak of a kind: those of its state, and those of its symbols in states without a group."""
    for cell in definition.cells.values():
        of_state = definition.states[cell.state].kind
        if of_state == kind.name or (of_state is None and definition.symbols[cell.symbol].kind == kind.name):
            yield cell


def _outcome(definition: Definition, cell: Cell, kind: Kind) -> Hashable:
    """What a cell says, with `kind` and every other kind replaced by what stands for them."""
    read = definition.symbols[cell.symbol]
    symbol = cell.symbol if read.kind is None else (read.kind == kind.name, cell.symbol.removeprefix(read.kind))
    return _place(definition, cell.state, kind), symbol, _place(definition, cell.to, kind), cell.do, cell.rules


def _place(definition: Definition, state: str, kind: Kind) -> str:
    of = definition.states[state].kind
    return state if of is None else ANY if of == kind.name else OTHER
