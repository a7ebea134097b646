"""Forms: the shapes that the recogniser says yes to, made from the definition.

A form is one kind's: its items as `msgspec` structs, which refuse whatever has another shape, and the same for dicts.
The structs are stricter than the protocol in places (a lone half of a surrogate pair, a field named twice), never
laxer: what they refuse is looked at again. Fields that hold what `msgspec` would read too laxly (fidelity, a call's
arguments) stay raw, and are read by `mmsp_fsm.jsonvalues`. Protocol, "Events" and "Items".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter, itemgetter
from typing import Annotated, Any, Literal, Union

import msgspec
import pybase64
from attrs import define, field, frozen

from mmsp_fsm.definition import Definition, EventField, Kind, Presence
from mmsp_fsm.longrecords import Style, hollow_decoder, make_style

Raw = msgspec.Raw
ABSENT = msgspec.UNSET
"""Stands in a struct where the optional field is absent."""

_JOINED: dict[str, Any] = {"text": str, "bytes": str, "whole": list[int | float]}
"""What the growing field is in a struct, by how fragments join."""

CONVERT: dict[str, Callable[[Any], Any] | None] = {
    "text": None,
    "bytes": partial(pybase64.b64decode, validate=True),
    "whole": None,
}
"""What makes of it the content that the group keeps. Each raises ValueError where it is none."""


@define
class Told:
    """What a first fragment's header tells: what the later ones' is, as `dict_header` and `same_header` give it, and
    whether one fragment alone may have content.
    """

    later: Any
    same: Any
    alone: bool


KEPT_HEADERS = 64
"""Headers of which it is remembered what they tell; there are few, apart from those that name each group."""


@frozen(eq=False)
class Form:
    """How the items of one kind look, as structs and as dicts.

    There is a struct for the first fragment, for later ones (whose header says what is known to be empty), and for the
    done item; the growing field is called `content` in each. The getters give the header's values, one as it is and
    several as a tuple, and are None where there is none: of a struct, of a dict, and of a struct those alone that are
    the same on each fragment. `size` counts the item's fields, fidelity apart.
    """

    kind: Kind
    first: type[msgspec.Struct]
    later: type[msgspec.Struct]
    done: type[msgspec.Struct]
    styles: tuple[Style, ...]
    size: int = field(init=False)
    told_at: int | None = field(init=False)
    convert: Callable[[Any], Any] | None = field(init=False)
    nothing_told: Told = field(init=False)
    _told: dict[tuple[Any, ...], Told] = field(init=False, factory=dict)
    names: tuple[str, ...] = field(init=False)
    struct_header: Callable[[Any], Any] | None = field(init=False)
    same_header: Callable[[Any], Any] | None = field(init=False)
    dict_header: Callable[[Any], Any] | None = field(init=False)

    def __attrs_post_init__(self) -> None:
        names = tuple(header.name for header in self.kind.header)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "nothing_told", Told(None, None, self.kind.one_piece))
        object.__setattr__(self, "convert", CONVERT[self.kind.joins])
        object.__setattr__(self, "size", 2 + len(names))
        object.__setattr__(self, "told_at", names.index(self.kind.told_by) if self.kind.told_by else None)
        same = [name for name, one in zip(_attributes(self.kind), self.kind.header, strict=True) if one.later == "same"]
        object.__setattr__(self, "struct_header", attrgetter(*_attributes(self.kind)) if names else None)
        object.__setattr__(self, "same_header", attrgetter(*same) if same else None)
        object.__setattr__(self, "dict_header", itemgetter(*names) if names else None)

    def values(self, header: Any) -> tuple[Any, ...]:
        """The header's values, however many there are."""
        return header if len(self.names) > 1 else (header,) if self.names else ()

    def told(self, values: tuple[Any, ...]) -> Told:
        """What the header's `values` on a first fragment tell. Raises TypeError where one is no string."""
        told = self._told.get(values)
        if told is None:
            told = self._tell(values)
            if self.told_at is None and len(self._told) < KEPT_HEADERS:
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
    """What is legal in one state: items, by type and by struct, and the state to which the stop leads (None: illegal).

    `decode` decodes a delta event that carries such an item.
    """

    by_type: dict[str, Turn]
    by_struct: dict[type[msgspec.Struct], Turn]
    decode: Callable[[bytes], Any]
    stop: str | None


@frozen(eq=False)
class Forms:
    """All forms of one definition, and its table as the recogniser walks it: `rows` by state, `to` by cell.

    `stop` decodes a stop event. Of a dict, `event` gives the event type, items, usage, finish
    reason and time; `constants` are the other fields with their values, `fields` counts all.
    """

    definition: Definition
    stop: msgspec.json.Decoder[Any]
    rows: dict[str, Row]
    to: dict[tuple[str, str], str]
    event: Callable[[dict[str, Any]], tuple[Any, ...]]
    constants: tuple[tuple[str, str | None], ...]
    fields: int


def make_forms(definition: Definition) -> Forms:
    """The forms of `definition`."""
    forms = {kind.name: _form(definition, kind) for kind in definition.kinds.values()}
    names: dict[str, str] = {entry.holds: entry.name for entry in definition.event.field}
    looked_at = ("event_type", "items", "usage", "finish_reason", "time")
    return Forms(
        definition=definition,
        stop=msgspec.json.Decoder(_event_struct(definition, "stop", None)),
        rows={state: _row(definition, state, forms) for state in definition.states},
        to={at: cell.to for at, cell in definition.cells.items()},
        event=itemgetter(*(names[holds] for holds in looked_at)),
        constants=tuple((entry.name, entry.value) for entry in definition.event.field if entry.holds == "constant"),
        fields=len(definition.event.field),
    )


# ── The table ────────────────────────────────────────────────────────────────────────────────────────────────────


def _row(definition: Definition, state: str, forms: dict[str, Form]) -> Row:
    legal = {cell.symbol: cell for cell in definition.row(state) if cell.legal}
    by_type: dict[str, Turn] = {}
    by_struct: dict[type[msgspec.Struct], Turn] = {}
    leads: list[bytes] = []
    for form in forms.values():
        for symbol, action, struct in (
            (form.kind.delta, "open", form.first),
            (form.kind.delta, "grow", form.later),
            (form.kind.done, "close", form.done),
        ):
            if symbol in legal and legal[symbol].do == (action,):
                by_type[symbol] = by_struct[struct] = Turn(action, form, legal[symbol].to)
                if form.kind.joins == "bytes":
                    leads += [style.done_lead if action == "close" else style.lead for style in form.styles]
    items = Union[tuple(by_struct)] if by_struct else None  # noqa: UP007
    decode = msgspec.json.Decoder(_event_struct(definition, "delta", items)).decode
    stop = legal["stop"].to if "stop" in legal and legal["stop"].do == ("finish",) else None
    return Row(by_type, by_struct, hollow_decoder(decode, leads) if leads else decode, stop)


_SEPARATORS = ((", ", ": "), (",", ":"))
"""How JSON writers separate what they write."""


# ── Structs ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _attributes(kind: Kind) -> list[str]:
    """How a struct calls the header's fields: as they are named, but for one that would be named `content`."""
    return [f"header_{header.name}" for header in kind.header]


def _struct(name: str, entries: list[tuple[Any, ...]], **options: Any) -> type[msgspec.Struct]:
    return msgspec.defstruct(name, entries, forbid_unknown_fields=True, gc=False, **options)


def _form(definition: Definition, kind: Kind) -> Form:
    rename = {"content": kind.grows, **dict(zip(_attributes(kind), (one.name for one in kind.header), strict=True))}
    rename["fidelity"] = definition.fidelity.key
    header = [(name, str) for name in _attributes(kind)]
    types = (Literal[""] if one.later == "empty" else str for one in kind.header)
    empty = list(zip(_attributes(kind), types, strict=True))
    joined = _JOINED[kind.joins]
    structs = []
    for symbol, holds, fields in (
        (kind.delta, joined, header),
        (kind.delta, joined, empty),
        (kind.done, Raw if kind.closes else joined, header),
    ):
        entries = [("content", holds), *fields, ("fidelity", Raw | msgspec.UnsetType, ABSENT)]
        structs.append(_struct(symbol.replace(".", "_"), entries, tag_field="type", tag=symbol, rename=rename))
    return Form(
        kind, structs[0], structs[1], structs[2], tuple(make_style(definition, kind, *one) for one in _SEPARATORS)
    )


def _event_struct(definition: Definition, event_type: str, item: Any) -> type[msgspec.Struct]:
    entries, tag = [], {}
    for entry in definition.event.field:
        presence = entry.delta if event_type == "delta" else entry.stop
        if entry.holds == "event_type":
            tag = {"tag_field": entry.name, "tag": event_type}
        else:
            entries.append((entry.name, _field_type(definition, entry, presence, item)))
    return _struct(f"{event_type}_event", entries, **tag)


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
