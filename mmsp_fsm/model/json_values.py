"""What JSON is here: strict decoding with limits, values given in a program, and when two values are equal.

A decoded value is made of dict, list, str, int, float, bool and None (and bytes, in a program). Two readings of
the protocol are kept here and nowhere else: strings are sequences of UTF-16 code units, so halves of a surrogate
pair may stand alone until they are joined; and a number that JSON cannot write (NaN, Infinity, one beyond a
double, an integer of more than 4,300 digits) is read as a non-finite float, so that the rest of its record can
still be told. Protocol, "On the wire".
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec
from attrs import frozen

WHITE = b" \t\r\n"
"""JSON's white space, and no more: a form feed or a NUL is content."""

LONGEST_INTEGER = 4300
"""Digits up to which an integer is exact: what CPython converts by default."""

BEYOND = 10**LONGEST_INTEGER
"""The first integer that is not exact."""

_MOST_SHARED = 1_000_000
_SURROGATE = re.compile("[\ud800-\udfff]")
_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|([\[{])|([\]}])', re.DOTALL)


class NotJsonError(ValueError):
    """A text that is no JSON value, or is nested too deep to read; the text of the error says which and where."""


@frozen
class Foreign:
    """Stands for a Python object that no JSON value corresponds to; `name` is its type's."""

    name: str


@frozen
class Decoded:
    """A decoded value. `clean` is false when it holds a number that JSON cannot write; `repeated` is a key that
    some object in it names twice (the last counts), None where none does.
    """

    value: Any
    clean: bool
    repeated: str | None = None


def decode_utf8(data: bytes) -> str:
    """The text of `data`. Raises `NotJsonError` where it is not UTF-8 (encoded surrogates are not)."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        hint = "; it looks like UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[1:2] == b"\0" else ""
        raise NotJsonError(f"it is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}{hint}") from None


def decode_record(data: bytes, nesting: int) -> Decoded:
    """Decode the bytes of a record, as `decode` does their text. Of a key named twice nothing is told.

    What a quicker decoder accepts that refuses whatever is not plain (numbers beyond a double, halves of surrogate
    pairs) need not be read with care; only nesting it does not mind.
    """
    if len(data) <= nesting or data.count(b"[") + data.count(b"{") <= nesting:
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return Decoded(msgspec.json.decode(data), True)
    return decode(decode_utf8(data), nesting)


def decode(text: str, nesting: int) -> Decoded:
    """Decode one JSON text, strictly. Raises `NotJsonError`; `nesting` is the deepest that is read."""
    if text.count("[") + text.count("{") > nesting and _depth(text) > nesting:
        raise NotJsonError(f"it is nested more than {nesting} deep")
    hooks = _Hooks()
    try:
        value = json.loads(
            text,
            object_pairs_hook=hooks.object,
            parse_constant=hooks.constant,
            parse_float=hooks.decimal,
            parse_int=hooks.integer,
        )
    except json.JSONDecodeError as error:
        near = text[max(error.pos - 10, 0) : error.pos + 10]
        raise NotJsonError(f"{_plain(error.msg)} at character {error.pos}, near {show(near)}") from None
    except RecursionError:
        raise NotJsonError("it is nested too deep to read") from None
    return Decoded(value, hooks.clean, hooks.repeated)


class _Hooks:
    """Notes what a plain `json.loads` passes over."""

    def __init__(self) -> None:
        self.clean = True
        self.repeated: str | None = None

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs) and self.repeated is None:
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self.repeated = key
                    break
                seen.add(key)
        return value

    def constant(self, name: str) -> float:
        self.clean = False
        return float(name)

    def decimal(self, digits: str) -> float:
        value = float(digits)
        self.clean = self.clean and math.isfinite(value)
        return value

    def integer(self, digits: str) -> int | float:
        if len(digits.lstrip("-")) <= LONGEST_INTEGER:
            with suppress(ValueError):  # a program may have set Python's own limit lower
                return int(digits)
        self.clean = False
        return -math.inf if digits[0] == "-" else math.inf


def _plain(message: str) -> str:
    """The standard library's message, without its capital and what it expects to stand behind it."""
    message = message.split(": ")[0].removesuffix(" at").removesuffix(" starting")
    return message[:1].lower() + message[1:]


def _depth(text: str) -> int:
    depth = deepest = 0
    for match in _BRACKETS.finditer(text):
        if match.lastindex == 1:
            depth += 1
            deepest = max(deepest, depth)
        elif match.lastindex == 2:
            depth -= 1
    return deepest


def plain(value: Any, nesting: int) -> Any:
    """A copy of an in-process value made of JSON's types alone, with `Foreign` for whatever has no counterpart.

    bytes stay bytes; a tuple becomes a list; subclasses become their base. Raises `NotJsonError` where the value
    is nested more than `nesting` deep, contains itself, or would unfold into far more than it is.
    """
    return _plain_copy(value, nesting, 0, {}, [0, 0])


def _plain_copy(value: Any, nesting: int, depth: int, done: dict[int, tuple[Any, int, int]], met: list[int]) -> Any:
    # A loop a level, and no comprehension: each costs a Python frame, and 500 levels have to fit.
    exact = type(value)
    if exact is str or exact is bool or value is None or exact is float:
        return value
    if exact is int or (isinstance(value, int) and exact is not bool):
        number = int.__int__(value)
        return number if -BEYOND < number < BEYOND else math.inf if number > 0 else -math.inf
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if not isinstance(value, (dict, list, tuple)):
        return Foreign(type_name(value))
    if depth >= nesting:
        raise NotJsonError(f"it is nested more than {nesting} deep")
    # What is shared is copied once for each depth at most; `met` counts values, and those of them met again, since
    # whoever walks through the copy meets them as often as they are reached.
    known = done.get(id(value))
    if known is not None and known[1] >= depth:
        met[:] = met[0] + known[2], met[1] + known[2]
        if met[1] > _MOST_SHARED:
            raise NotJsonError("its parts contain one another so often that it unfolds without end")
        return known[0]
    before = met[0]
    copy: Any
    if isinstance(value, dict):
        copy = {}
        for key, one in dict.items(value):
            copy[key if type(key) is str else _key(key)] = _plain_copy(one, nesting, depth + 1, done, met)
    else:
        copy = []
        for one in list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value):
            copy.append(_plain_copy(one, nesting, depth + 1, done, met))
    met[0] += 1 + len(copy)
    done[id(value)] = (copy, depth, met[0] - before)
    return copy


def _key(key: object) -> str:
    return str.__str__(key) if isinstance(key, str) else f"<{type(key).__name__}>"


def type_name(value: object) -> str:
    """The name of a value's type, asked past a metaclass that might answer otherwise, or raise."""
    return str(type.__dict__["__name__"].__get__(type(value)))


def flaw(value: Any) -> tuple[str, str] | None:
    """The first part of `value` that JSON cannot write: its pointer and a name for it, or None."""
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        pointer, one = stack.pop()
        if isinstance(one, float) and not math.isfinite(one):
            return pointer, "NaN" if one != one else "an infinite number (or one beyond what a double holds)"
        if isinstance(one, Foreign):
            return pointer, f"a Python {one.name}"
        if isinstance(one, dict):
            stack.extend((pointer + point(key), inner) for key, inner in reversed(one.items()))
        elif isinstance(one, list):
            stack.extend((f"{pointer}/{i}", one[i]) for i in range(len(one) - 1, -1, -1))
    return None


def whole_characters(text: str) -> str:
    """`text` with each high and low surrogate that meet made one character."""
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def join_text(pieces: Iterable[str]) -> str:
    """The concatenation of `pieces`; halves of a surrogate pair that meet become one character."""
    return whole_characters("".join(pieces))


def difference(one: Any, other: Any) -> str | None:
    """The pointer of the first place at which two JSON values differ; None if they are equal.

    Objects do not order their keys; integers are compared exactly, other numbers as doubles, booleans are no
    numbers; strings are compared by code units.
    """
    stack = [("", one, other)]
    while stack:
        pointer, a, b = stack.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            a, b = _by_whole_keys(a), _by_whole_keys(b)
            for key in (*a, *b) if a.keys() != b.keys() else ():
                if key not in a or key not in b:
                    return pointer + point(key)
            stack.extend((pointer + point(key), a[key], b[key]) for key in reversed(a))
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return f"{pointer}/{min(len(a), len(b))}"
            stack.extend((f"{pointer}/{i}", a[i], b[i]) for i in range(len(a) - 1, -1, -1))
        elif not _same_scalar(a, b):
            return pointer
    return None


def _by_whole_keys(value: dict[str, Any]) -> dict[str, Any]:
    if any(_SURROGATE.search(key) for key in value):
        whole = {whole_characters(key): one for key, one in value.items()}
        return whole if len(whole) == len(value) else value
    return value


def _same_scalar(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        try:
            return float(a) == float(b)
        except OverflowError:  # an integer beyond a double equals no double
            return False
    if isinstance(a, str) and isinstance(b, str):
        return a == b or whole_characters(a) == whole_characters(b)
    return type(a) is type(b) and bool(a == b)


def point(*parts: str | int) -> str:
    """A JSON pointer of `parts` (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def follow(value: Any, pointer: str) -> Any:
    """What `pointer` leads to in `value`. Raises LookupError, ValueError or TypeError where it leads nowhere."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def name_of(value: Any) -> str:
    """JSON's word for the type of `value`, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Foreign):
        return f"a Python {value.name}"
    for kinds, name in (((int, float), "a number"), (str, "a string"), (bytes, "bytes"), (list, "an array")):
        if isinstance(value, kinds):
            return name
    return "an object"


def show(value: Any, longest: int = 40) -> str:
    """`value` as JSON for a message, ASCII alone, cut to `longest` characters."""
    if isinstance(value, str) and len(value) > longest:
        return json.dumps(value[:longest]) + "…"
    if isinstance(value, (str, int, float, bool)) or value is None:
        text = json.dumps(value) if not isinstance(value, int) or abs(value) < 10**longest else "a long integer"
        return text if len(text) <= 6 * longest + 2 else text[: 6 * longest] + "…"
    return name_of(value)
