"""Structs: typed decoding of records as bytes, made from the forms.

The structs are stricter than the protocol in places (a lone half of a surrogate pair, a field named twice with another
type), never laxer: what they refuse is looked at again. Fields that `msgspec` would read too laxly (fidelity, a call's
arguments) stay raw, and are read by `mmsp_fsm.fastpath.contents`. Protocol, "Events" and "Items".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Annotated, Any, Literal, Union

import msgspec
import pybase64
from attrs import define, field, frozen

from mmsp_fsm.fastpath.long_records import Style, hollow_decoder, make_style
from mmsp_fsm.fastpath.shapes import Form, Forms, Turn
from mmsp_fsm.grammar.definition import Definition, EventField, Presence

Raw = msgspec.Raw

FEW = 200
"""Records that are read as dicts before typed decoders are made: making them costs as much as reading a thousand."""

ABSENT = msgspec.UNSET
"""Stands in a struct where the optional field is absent."""

_JOINED: dict[str, Any] = {"text": str, "bytes": str, "whole": list[int | float]}
"""What the growing field is in a struct, by how fragments join."""

_CONVERT: dict[str, Callable[[Any], Any] | None] = {
    "text": None,
    "bytes": partial(pybase64.b64decode, validate=True),
    "whole": None,
}
"""What makes of it the content that the group keeps. Each raises ValueError where it is none."""

_SEPARATORS = ((", ", ": "), (",", ":"))
"""How JSON writers separate what they write."""


@frozen(eq=False)
class Typed:
    """How the items of one kind look as structs.

    There is one for the first fragment, for later ones (whose header says what is known to be empty), and for the
    done item; the growing field is called `content` in each. `header_of` gives the header's values, `same_of` those
    alone that are the same on each fragment; both as the form's getter does.
    """

    first: type[msgspec.Struct]
    later: type[msgspec.Struct]
    done: type[msgspec.Struct]
    header_of: Callable[[Any], Any] | None
    same_of: Callable[[Any], Any] | None
    convert: Callable[[Any], Any] | None
    styles: tuple[Style, ...]


@frozen(eq=False)
class StructRow:
    """What is legal in one state: `decode` makes a struct of a delta event with such an item, `turns` are by the
    item's.
    """

    turns: dict[type[msgspec.Struct], tuple[Turn, Typed]]
    decode: Callable[[Any], Any]


Growth = tuple[str, Any, Any]
"""The name of the events' items, what an event is converted into, and which item in it grows the group."""


@frozen(eq=False)
class Structs:
    """All that is made of the forms: by the kind's name, by state, and to decode a stop event."""

    by_kind: dict[str, Typed]
    rows: dict[str, StructRow]
    decode_stop: Callable[[bytes], Any]


@define(eq=False)
class Decoders:
    """The typed decoders of `forms`, made once so many records have come that making them pays."""

    forms: Forms
    _structs: Structs | None = None
    _records: int = 0
    _growths: dict[Form, Growth | None] = field(factory=dict)

    def structs_for(self, records: int) -> Structs | None:
        """The decoders of records as bytes, of which `records` more are to be read; None while there are few."""
        if self._structs is None:
            self._records += records
            if self._records > FEW:
                self._structs = make_structs(self.forms)
        return self._structs

    def growth_for(self, form: Form) -> Growth | None:
        """How events that are dicts extend an open group of `form`.

        None while there are few groups, and where the types of such an event do not decide.
        """
        self._records += 1
        if self._records <= FEW:
            return None
        if form not in self._growths:
            self._growths[form] = make_growth(self.forms, form)
        return self._growths[form]


def make_structs(forms: Forms) -> Structs:
    """The structs of `forms`."""
    definition = forms.definition
    typed = {name: _typed(definition, form) for name, form in forms.by_kind.items()}
    rows = {state: _row(definition, row.turns, typed) for state, row in forms.rows.items()}
    return Structs(typed, rows, msgspec.json.Decoder(_event(definition, "stop", None)).decode)


def make_growth(forms: Forms, form: Form) -> Growth | None:
    """What events that are dicts are converted into while a group of `form` is open; None where their types do not
    tell enough.
    """
    typed = _typed(forms.definition, form)
    if form.kind.joins != "text" or form.kind.one_piece or typed.same_of is not None:
        return None
    items = typed.later | typed.done | _NoItem
    return forms.items_name, _event(forms.definition, "delta", items), typed.later


def _row(definition: Definition, turns: dict[str, Turn], typed: dict[str, Typed]) -> StructRow:
    by_struct: dict[type[msgspec.Struct], tuple[Turn, Typed]] = {}
    begins: list[bytes] = []
    for turn in turns.values():
        of = typed[turn.form.kind.name]
        by_struct[{"open": of.first, "grow": of.later, "close": of.done}[turn.action]] = turn, of
        if turn.form.kind.joins == "bytes":
            begins += [style.done_lead if turn.action == "close" else style.lead for style in of.styles]
    # Of a union, for where there is none, msgspec would let the tag be absent.
    legal: Any = (*by_struct, _NoItem)
    items: Any = Union[legal]  # noqa: UP007
    decode = msgspec.json.Decoder(_event(definition, "delta", items)).decode
    return StructRow(by_struct, hollow_decoder(decode, begins) if begins else decode)


class _NoItem(msgspec.Struct, tag_field="type", tag=""):
    """No item has this type."""


# ── Items ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _typed(definition: Definition, form: Form) -> Typed:
    kind = form.kind
    attributes = [f"header_{name}" for name in form.names]  # none is called `content` so
    rename = {"content": kind.grows, **dict(zip(attributes, form.names, strict=True))}
    rename["fidelity"] = definition.fidelity.key
    header = [(name, str) for name in attributes]
    types = (Literal[""] if one.later == "empty" else str for one in kind.header)
    empty = list(zip(attributes, types, strict=True))
    joined = _JOINED[kind.joins]

    def item(symbol: str, holds: Any, fields: list[Any]) -> type[msgspec.Struct]:
        entries = [("content", holds), *fields, ("fidelity", Raw | msgspec.UnsetType, ABSENT)]
        return _struct(symbol.replace(".", "_"), entries, tag_field="type", tag=symbol, rename=rename)

    same = [name for name, one in zip(attributes, kind.header, strict=True) if one.later == "same"]
    return Typed(
        first=item(kind.delta, joined, header),
        later=item(kind.delta, joined, empty),
        done=item(kind.done, Raw if kind.closes is not None else joined, header),
        header_of=attrgetter(*attributes) if attributes else None,
        same_of=attrgetter(*same) if same else None,
        convert=_CONVERT[kind.joins],
        styles=tuple(make_style(definition, kind, *one) for one in _SEPARATORS),
    )


def _struct(name: str, entries: list[tuple[Any, ...]], **options: Any) -> type[msgspec.Struct]:
    return msgspec.defstruct(name, entries, forbid_unknown_fields=True, gc=False, **options)


# ── Events ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _event(definition: Definition, event_type: str, item: Any) -> type[msgspec.Struct]:
    entries = []
    for entry in definition.event.field:
        presence = entry.delta if event_type == "delta" else entry.stop
        # No tag: where there is no union, msgspec would let the tag be absent.
        holds = Literal[event_type] if entry.holds == "event_type" else _field_type(definition, entry, presence, item)
        entries.append((entry.name, holds))
    return _struct(f"{event_type}_event", entries)


def _field_type(definition: Definition, entry: EventField, presence: Presence | None, item: Any) -> Any:
    if presence is not None and presence.must == "null":
        return None
    if entry.holds == "items":
        return tuple[item] if presence is not None and presence.must == "one" else tuple[()]
    if entry.holds == "usage":
        count = Annotated[int, msgspec.Meta(ge=0)] | None
        return _struct("usage", [(name, count) for name in definition.usage.counts])
    if entry.holds == "time":
        return int
    return Literal[(entry.value,) if entry.holds == "constant" else definition.event.finish_reasons]
