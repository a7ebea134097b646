"""A cattrs converter that coerces nothing: a wrong type is refused instead of bent into the right one."""

from __future__ import annotations

from cattrs import Converter


def strict_converter() -> Converter:
    """A new converter that refuses unknown keys, and any scalar that is not of the declared type exactly.

    Left alone, cattrs would make `True` of `"no"` and 1 of `1.5`.
    """
    converter = Converter(forbid_extra_keys=True)
    for exact in (str, int, bool, bytes):
        converter.register_structure_hook(exact, exactly)
    return converter


def exactly(value: object, exact: type) -> object:
    """`value`, if it is of the type `exact` and of no other. Raises TypeError."""
    if type(value) is not exact:
        raise TypeError(f"{exact.__name__} is due, not {value!r}")
    return value
