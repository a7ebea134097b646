"""Forms: the shapes that the recogniser says yes to, made from the definition.

A form is one kind's: its items as `msgspec` structs, which refuse whatever has another shape, and the same for dicts.
The structs are stricter than the protocol in places (a lone half of a surrogate pair, a field named twice), never
laxer: what they refuse is looked at again. Fields that hold what `msgspec` would read too laxly (fidelity, a call's
arguments) stay raw, and are read by `mmsp_fsm.jsonvalues`. Protocol, "Events" and "Items".
"""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import attrgetter, itemgetter
from typing import Annotated, Any, Literal, Union

import msgspec
from attrs import field, frozen

from mmsp_fsm.definition import Definition, EventField, Kind, Presence

Raw = msgspec.Raw
ABSENT = msgspec.UNSET
"""Stands in a struct where the optional field is absent."""

_JOINED: dict[str, Any] = {"text": str, "bytes": str, "whole": list[int | float]}
"""What the growing field is on the wire, by how fragments join."""


@frozen
class Style:
    """How servers write the record of a delta event of one kind, with one way to write separators.

    `lead` and `done_lead` go up to the growing field's value, `keys` stand before the header's, `tail` goes on behind
    the item up to the time, which comes last.
    """

    lead: bytes
    done_lead: bytes
    keys: tuple[bytes, ...]
    tail: bytes


@frozen(eq=False)
class Form:
    """How the items of one kind look, as structs and as dicts.

    A struct's growing field is called `content` whatever the kind calls it. `struct_header` and `dict_header` give the
    header's values of a struct or a dict, one as it is and several as a tuple; None where the kind has no header.
    `size` counts the item's fields, fidelity apart.
    """

    kind: Kind
    delta: type[msgspec.Struct]
    done: type[msgspec.Struct]
    styles: tuple[Style, ...]
    size: int = field(init=False)
    names: tuple[str, ...] = field(init=False)
    struct_header: Callable[[Any], Any] | None = field(init=False)
    dict_header: Callable[[Any], Any] | None = field(init=False)

    def __attrs_post_init__(self) -> None:
        names = tuple(header.name for header in self.kind.header)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "size", 2 + len(names))
        object.__setattr__(self, "struct_header", attrgetter(*_attributes(self.kind)) if names else None)
        object.__setattr__(self, "dict_header", itemgetter(*names) if names else None)

    def values(self, header: Any) -> tuple[Any, ...]:
        """The header's values, however many there are."""
        return header if len(self.names) > 1 else (header,) if self.names else ()

    def later(self, header: Any) -> Any:
        """What the header of later fragments is, by that of the first."""
        pairs = zip(self.kind.header, self.values(header), strict=True)
        values = tuple("" if entry.later == "empty" else value for entry, value in pairs)
        return values if len(values) > 1 else values[0] if values else None


@frozen(eq=False)
class Row:
    """What is legal in one state: the actions (open, grow, close) of items, by type and by struct, and the stop."""

    by_type: dict[str, tuple[str, Form]]
    by_struct: dict[type[msgspec.Struct], tuple[str, Form]]
    stops: bool


@frozen(eq=False)
class Forms:
    """All forms of one definition, and its table as the recogniser walks it: `rows` by state, `to` by cell.

    `delta` and `stop` decode an event of that type. Of a dict, `event` gives the event type, items, usage, finish
    reason and time; `constants` are the other fields with their values, `fields` counts all.
    """

    definition: Definition
    delta: msgspec.json.Decoder[Any]
    stop: msgspec.json.Decoder[Any]
    rows: dict[str, Row]
    to: dict[tuple[str, str], str]
    event: Callable[[dict[str, Any]], tuple[Any, ...]]
    constants: tuple[tuple[str, str | None], ...]
    fields: int


def make_forms(definition: Definition) -> Forms:
    """The forms of `definition`."""
    forms = {kind.name: _form(definition, kind) for kind in definition.kinds.values()}
    structs = [struct for form in forms.values() for struct in (form.delta, form.done)]
    names: dict[str, str] = {entry.holds: entry.name for entry in definition.event.field}
    looked_at = ("event_type", "items", "usage", "finish_reason", "time")
    return Forms(
        definition=definition,
        delta=msgspec.json.Decoder(_event_struct(definition, "delta", Union[tuple(structs)])),  # noqa: UP007
        stop=msgspec.json.Decoder(_event_struct(definition, "stop", None)),
        rows={state: _row(definition, state, forms) for state in definition.states},
        to={at: cell.to for at, cell in definition.cells.items()},
        event=itemgetter(*(names[holds] for holds in looked_at)),
        constants=tuple((entry.name, entry.value) for entry in definition.event.field if entry.holds == "constant"),
        fields=len(definition.event.field),
    )


# ── The table ────────────────────────────────────────────────────────────────────────────────────────────────────


def _row(definition: Definition, state: str, forms: dict[str, Form]) -> Row:
    legal = {cell.symbol: cell.do for cell in definition.row(state) if cell.legal}
    by_type: dict[str, tuple[str, Form]] = {}
    by_struct: dict[type[msgspec.Struct], tuple[str, Form]] = {}
    for form in forms.values():
        for symbol, struct in ((form.kind.delta, form.delta), (form.kind.done, form.done)):
            if legal.get(symbol) in (("open",), ("grow",), ("close",)):
                by_type[symbol] = by_struct[struct] = (legal[symbol][0], form)
    return Row(by_type, by_struct, legal.get("stop") == ("finish",))


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
    structs = []
    for symbol, holds in ((kind.delta, _JOINED[kind.joins]), (kind.done, Raw if kind.closes else _JOINED[kind.joins])):
        entries = [("content", holds), *header, ("fidelity", Raw | msgspec.UnsetType, ABSENT)]
        structs.append(_struct(symbol.replace(".", "_"), entries, tag_field="type", tag=symbol, rename=rename))
    return Form(kind, structs[0], structs[1], tuple(_style(definition, kind, *one) for one in _SEPARATORS))


def _event_struct(definition: Definition, event_type: str, item: Any) -> type[msgspec.Struct]:
    entries = []
    for entry in definition.event.field:
        presence = entry.delta if event_type == "delta" else entry.stop
        entries.append((entry.name, _field_type(definition, entry, presence, event_type, item)))
    return _struct(f"{event_type}_event", entries)


def _field_type(
    definition: Definition, entry: EventField, presence: Presence | None, event_type: str, item: Any
) -> Any:
    if presence is not None and presence.must == "null":
        return None
    if entry.holds == "items":
        return tuple[item] if presence is not None and presence.must == "one" else tuple[()]
    if entry.holds == "usage":
        count = Annotated[int, msgspec.Meta(ge=0)] | None
        return _struct("usage", [(name, count) for name in definition.usage.counts])
    if entry.holds == "time":
        return int
    words = {"constant": (entry.value,), "event_type": (event_type,)}.get(entry.holds, definition.event.finish_reasons)
    return Literal[words]


# ── Styles ───────────────────────────────────────────────────────────────────────────────────────────────────────

_SEPARATORS = ((", ", ": "), (",", ":"))


def _style(definition: Definition, kind: Kind, comma: str, colon: str) -> Style:
    words = {"event_type": "delta", "items": [{"type": 0}], "time": 0}
    event = {entry.name: entry.value or words.get(entry.holds) for entry in definition.event.field}
    head, _, tail = json.dumps(event, separators=(comma, colon)).partition("0}")

    def key(name: str) -> bytes:
        return f"{comma}{json.dumps(name)}{colon}".encode()

    lead, done_lead = ((head + json.dumps(symbol)).encode() + key(kind.grows) for symbol in (kind.delta, kind.done))
    keys = tuple(key(header.name) for header in kind.header)
    return Style(lead, done_lead, keys, ("}" + tail.removesuffix("0}")).encode())
