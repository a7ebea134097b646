"""A cattrs converter that coerces nothing: a wrong type is refused instead of bent into the right one."""

from __future__ import annotations

import re
from typing import Any, get_args, get_origin

from cattrs import Converter, ForbiddenExtraKeysError, transform_error
from cattrs.cols import list_structure_factory

SEQUENCES: tuple[Any, ...] = (list, tuple)


def strict_converter() -> Converter:
    """A new converter that refuses unknown keys, and any value that is not of the declared type exactly.

    Left alone, cattrs would make `True` of `"no"`, 1 of `1.5` and `["n", "o"]` of `"no"`.
    """
    converter = Converter(forbid_extra_keys=True)
    for exact in (str, int, bool, bytes):
        converter.register_structure_hook(exact, exactly)
    converter.register_structure_hook_factory(lambda cls: get_origin(cls) in SEQUENCES, _sequence)
    return converter


def _sequence(cls: Any, converter: Converter) -> Any:
    elements: Any = list_structure_factory(list[get_args(cls)[0]], converter)  # type: ignore[arg-type,misc]
    return lambda value, _: get_origin(cls)(elements(exactly(value, list), cls))


def exactly(value: object, exact: type) -> object:
    """`value`, if it is of the type `exact` and of no other. Raises TypeError."""
    if type(value) is not exact:
        raise TypeError(f"{exact.__name__} is due, not {value!r}")
    return value


def faults(error: Exception) -> list[tuple[str, str]]:
    """What a strict converter refused: each path (`a.b[2].c`, "" for the whole), and what is wrong there."""
    found = (fault.rpartition(" @ ") for fault in transform_error(error, path="", format_exception=_sentence))
    return [(re.sub(r"\['([^']*)'\]", r".\1", path).removeprefix("."), what) for what, _, path in found]


def _sentence(error: BaseException, _: object) -> str:
    if isinstance(error, ForbiddenExtraKeysError):
        return f"there is no key {', '.join(sorted(error.extra_fields))}"
    if isinstance(error, KeyError):
        return "this key is absent"
    if isinstance(error, AttributeError) or "is not iterable" in str(error):  # cattrs took it for a mapping
        return "an object is due"
    return str(error).replace(" not in literal typing.Literal", " is none of ")
