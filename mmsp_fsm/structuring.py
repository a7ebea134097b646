"""A cattrs converter that coerces nothing: a wrong type is refused instead of bent into the right one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, get_args, get_origin

from attrs import has
from cattrs import Converter, ForbiddenExtraKeysError, transform_error
from cattrs.cols import list_structure_factory
from cattrs.gen import make_dict_structure_fn, override

Hook = Callable[[Any, Any], Any]


def strict_converter(source: str = "source") -> Converter:
    """A new converter that refuses unknown keys, and any value that is not of the declared type exactly.

    Left alone, cattrs would make `True` of `"no"`, 1 of `1.5` and `["n", "o"]` of `"no"`. `source` is the key under
    which a field of that name is written.
    """
    converter = Converter()

    def sequence(cls: Any, converter: Converter) -> Hook:
        elements: Hook = list_structure_factory(list[get_args(cls)[0]], converter)  # type: ignore[arg-type,misc]
        return lambda value, _: get_origin(cls)(elements(_container(value, list), cls))

    def attrs_class(cls: Any, converter: Converter) -> Hook:
        renamed = {"source": override(rename=source)}
        structure: Hook = make_dict_structure_fn(cls, converter, _cattrs_forbid_extra_keys=True, **renamed)  # type: ignore[arg-type]
        return lambda value, _: structure(_container(value, dict), cls)

    converter.register_structure_hook_factory(_is_sequence, sequence)
    converter.register_structure_hook_factory(has, attrs_class)
    for exact in (str, int, bool, bytes):
        converter.register_structure_hook(exact, exactly)
    return converter


def _is_sequence(cls: Any) -> bool:
    return get_origin(cls) in (list, tuple)


def _container(value: object, kind: type) -> object:
    if not isinstance(value, kind):
        raise TypeError(f"{kind.__name__} is due, not {value!r}")
    return value


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
    if isinstance(error, AttributeError):  # where cattrs looks for the items of a mapping
        return "a table is due"
    return str(error).replace(" not in literal typing.Literal", " is none of ")
