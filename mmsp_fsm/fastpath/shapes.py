"""Forms: the shapes that the recogniser says yes to, made from the definition, and the table that it walks.

A form is one kind's: what its items look like as dicts, and what a first fragment's header tells of the later ones.
`mmsp_fsm.fastpath.typed_records` makes the same of bytes. Protocol, "Events" and "Items".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from operator import itemgetter
from typing import Any

from attrs import define, field, frozen

from mmsp_fsm.grammar.definition import Definition, Kind


@define
class Told:
    """What a first fragment's header tells: what the later ones' is, as the getters give it, and
    whether one fragment alone may have content.
    """

    later: Any
    same: Any
    alone: bool


KEPT_HEADERS = 64
"""Headers of which it is remembered what they tell; there are few, apart from those that name each group."""


@frozen(eq=False)
class RawKey:
    """The name of a field that is read as raw JSON, and how records write it."""

    name: str
    written: bytes

    def named_once(self, record: bytes) -> None:
        """Raises ValueError where `record` may name the field twice: what is not the last one, msgspec skips, and
        checks nothing of it.
        """
        if record.count(self.written) != 1 or (b"\\" in record and _escapes(self.name).search(record) is not None):
            raise ValueError


def raw_key(name: str) -> RawKey:
    """The key of the field `name`."""
    return RawKey(name, b'"%s"' % name.encode())


@cache
def _escapes(name: str) -> re.Pattern[bytes]:
    """Escapes that stand for a character of `name`."""
    units = name.encode("utf-16-be")
    each = {rb"\\u%s" % units[at : at + 2].hex().encode() for at in range(0, len(units), 2)}
    return re.compile(b"|".join(sorted(each)), re.IGNORECASE)


@frozen(eq=False)
class Form:
    """How the items of one kind look as dicts.

    `grows_key` is the growing field's name. `names` are the header's fields, and `header_of`
    gives their values, one as it is and several as a tuple (None where there is none); `needed` are those that are
    never empty, `fixed` is what all headers of this kind tell, where that does not depend on their values; `told_at`
    is the index of the one that tells a group from others. `size` counts an item's fields, fidelity apart.
    """

    kind: Kind
    names: tuple[str, ...]
    grows_key: RawKey
    size: int
    told_at: int | None
    header_of: Callable[[Any], Any] | None
    fixed: Told | None
    needed: tuple[bool, ...]
    _told: dict[tuple[Any, ...], Told] = field(factory=dict)

    def values(self, header: Any) -> tuple[Any, ...]:
        """The header's values, however many there are."""
        return header if len(self.names) > 1 else (header,) if self.names else ()

    def told(self, values: tuple[Any, ...]) -> Told:
        """What the header's `values` on a first fragment tell. Raises ValueError or TypeError where it is a fault."""
        if self.fixed is not None:
            for value, needed in zip(values, self.needed, strict=True):
                if type(value) is not str or (needed and not value):
                    raise ValueError
            return self.fixed
        told = self._told.get(values)
        if told is None:
            told = self._tell(values)
            if len(self._told) < KEPT_HEADERS:
                self._told[values] = told
        return told

    def _tell(self, values: tuple[Any, ...]) -> Told:
        later, same = [], []
        for entry, value in zip(self.kind.header, values, strict=True):
            if type(value) is not str:
                raise TypeError
            if not value and entry.empty is not None:
                raise ValueError
            later.append("" if entry.later == "empty" else value)
            same += [value] if entry.later == "same" else []
        when = bool(self.kind.one_piece_when)
        alone = when and self.kind.comes_in_one_piece(dict(zip(self.names, values, strict=True)))
        return Told(_one_or_all(later), _one_or_all(same), self.kind.one_piece or alone)


def _one_or_all(values: list[str]) -> Any:
    """As the getters give them."""
    return tuple(values) if len(values) > 1 else values[0] if values else None


@frozen(eq=False)
class Turn:
    """What an item does that is legal in one state: its action (open, grow or close), and the state after it."""

    action: str
    form: Form
    to: str


@frozen(eq=False)
class Row:
    """What is legal in one state: items, by type, and whether the stop event is."""

    turns: dict[str, Turn]
    stops: bool


@frozen(eq=False)
class Forms:
    """The forms of one definition, and its table as the recogniser walks it: `rows` by state, `to` by cell.

    `event` gives of a dict its event type, items, usage, finish reason and time; `constants` are the other fields with
    their values, `fields` counts all.
    """

    definition: Definition
    by_kind: dict[str, Form]
    rows: dict[str, Row]
    to: dict[tuple[str, str], str]
    event: Callable[[dict[str, Any]], tuple[Any, ...]]
    items_name: str
    constants: tuple[tuple[str, str | None], ...]
    fidelity_key: RawKey
    fields: int


def make_forms(definition: Definition) -> Forms:
    """The forms of `definition`."""
    forms = {kind.name: _form(kind) for kind in definition.kinds.values()}
    names: dict[str, str] = {entry.holds: entry.name for entry in definition.event.field}
    looked_at = ("event_type", "items", "usage", "finish_reason", "time")
    return Forms(
        definition=definition,
        by_kind=forms,
        rows={state: _row(definition, state, forms) for state in definition.states},
        to={at: cell.to for at, cell in definition.cells.items()},
        event=itemgetter(*(names[holds] for holds in looked_at)),
        items_name=names["items"],
        constants=tuple((entry.name, entry.value) for entry in definition.event.field if entry.holds == "constant"),
        fidelity_key=raw_key(definition.fidelity.key),
        fields=len(definition.event.field),
    )


def _form(kind: Kind) -> Form:
    names = tuple(header.name for header in kind.header)
    told = bool(kind.one_piece_when) or any(header.later == "same" for header in kind.header)
    return Form(
        kind=kind,
        names=names,
        grows_key=raw_key(kind.grows),
        size=2 + len(names),
        told_at=names.index(kind.told_by) if kind.told_by is not None else None,
        header_of=itemgetter(*names) if names else None,
        fixed=None if told else Told(("",) * len(names) if len(names) > 1 else "", None, kind.one_piece),
        needed=tuple(header.empty is not None for header in kind.header),
    )


def _row(definition: Definition, state: str, forms: dict[str, Form]) -> Row:
    legal = {cell.symbol: cell for cell in definition.row(state) if cell.legal}
    turns: dict[str, Turn] = {}
    for form in forms.values():
        for symbol, action in ((form.kind.delta, "open"), (form.kind.delta, "grow"), (form.kind.done, "close")):
            if symbol in legal and legal[symbol].do == (action,):
                turns[symbol] = Turn(action, form, legal[symbol].to)
    return Row(turns, "stop" in legal and legal["stop"].do == ("finish",))
