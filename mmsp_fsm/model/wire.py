"""How the protocol's objects travel as JSON values, and back: a cattrs converter, and the only place that knows.

- `bytes` travel as standard padded base64 text (RFC 4648, section 4); in a program they may stay bytes.
- An item is an object whose `type` tells its class; the other keys are its fields.
- An optional field (`fidelity`, `mime_type`) that is None is left out; the six fields of an event never are.
- Objects that the protocol does not look into (`fidelity`, a call's arguments) and vectors pass through as they
  stand. cattrs' own JSON preset would write bytes as base85.

cattrs is imported when the first object is converted: a verdict needs none.

Protocol, "Items" and "On the wire".
"""

from __future__ import annotations

import binascii
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import pybase64
from attrs import fields

from mmsp_fsm.model.objects import ITEM_CLASSES, DoneItem, Item, UniEvent, UniMessage

if TYPE_CHECKING:
    from cattrs import Converter

T = TypeVar("T")

OPAQUE = (dict[str, Any], list[float])
"""Field types whose values pass through as they stand."""


def to_base64(data: bytes) -> str:
    """Standard padded base64."""
    return pybase64.b64encode_as_string(data)


def from_base64(text: str) -> bytes:
    """The bytes of standard padded base64. Stray low bits in the last character are accepted.

    Raises ValueError where `text` is anything else: another alphabet, white space, padding absent or misplaced.
    """
    try:
        return pybase64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(_no_base64(text)) from None


def _no_base64(text: str) -> str:
    """Why `text` is no base64, by the standard library's stricter eye."""
    if len(text) % 4:
        return f"its length, {len(text)}, is no multiple of 4"
    if text.endswith("==="):  # binascii lets a whole group of padding pass
        return "excess padding"
    try:
        binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError) as error:
        return str(error)
    return "it is no standard alphabet with padding"


def to_json(value: UniMessage | UniEvent | Item) -> dict[str, Any]:
    """A model object as the JSON value that travels, bytes as base64 text."""
    result: dict[str, Any] = _converter(base64=True).unstructure(value)
    return result


def to_dict(value: UniMessage | UniEvent | Item) -> dict[str, Any]:
    """A model object as the dict that a program hands around: as `to_json`, but bytes stay bytes."""
    result: dict[str, Any] = _converter(base64=False).unstructure(value)
    return result


def structure(value: object, into: type[T]) -> T:
    """Make `UniEvent`, `UniMessage` or an item of a JSON value. Raises ValueError where it has another shape.

    Only the shape is looked at; whether a stream conforms is the checker's to say.
    """
    from cattrs import BaseValidationError

    from mmsp_fsm.grammar.converter import faults

    try:
        return _converter(base64=True).structure(value, into)
    except (BaseValidationError, ValueError, TypeError, AttributeError) as error:
        raise ValueError("; ".join(f"{path}: {what}" if path else what for path, what in faults(error))) from None


@cache
def _converter(base64: bool) -> Converter:
    from mmsp_fsm.grammar.converter import strict_converter

    converter = strict_converter()
    converter.register_structure_hook(bytes, _bytes)
    converter.register_unstructure_hook(bytes, to_base64 if base64 else lambda data: data)
    converter.register_structure_hook_func(OPAQUE.__contains__, _opaque)
    converter.register_unstructure_hook_func(OPAQUE.__contains__, lambda value: value)
    for item in ITEM_CLASSES.values():
        converter.register_unstructure_hook(item, _with_type(converter, item))
    for union in (Item, DoneItem):
        converter.register_structure_hook(union, _by_type(converter, {cls.type: cls for cls in union.__args__}))
    return converter


def _with_type(converter: Converter, item: type[Any]) -> Callable[[Any], dict[str, Any]]:
    from cattrs.gen import make_dict_unstructure_fn, override

    optional: dict[str, Any] = {f.name: override(omit_if_default=True) for f in fields(item) if f.default is None}
    fields_of = make_dict_unstructure_fn(item, converter, **optional)
    return lambda value: {"type": item.type, **fields_of(value)}


def _by_type(converter: Converter, classes: dict[str, type[Any]]) -> Callable[[Any, Any], Any]:
    def structure(value: Any, _: Any) -> Any:
        written = value.get("type") if isinstance(value, dict) else None
        if not isinstance(written, str) or written not in classes:
            raise ValueError(f"an item of one of these types is due: {', '.join(classes)}")
        return converter.structure({key: one for key, one in value.items() if key != "type"}, classes[written])

    return structure


def _bytes(value: object, _: object) -> bytes:
    if isinstance(value, str):
        return from_base64(value)
    if isinstance(value, bytes):
        return value
    raise TypeError(f"base64 text is due, not {value!r}")


def _opaque(value: Any, cls: Any) -> Any:
    if not isinstance(value, cls.__origin__):
        raise TypeError(f"{cls.__origin__.__name__} is due, not {value!r}")
    return value


def is_model(value: object) -> TypeGuard[UniEvent]:
    """Whether `value` is an event as a class of `mmsp_fsm.model`."""
    return isinstance(value, UniEvent)
