"""What a group may carry and what its done item must hold, for the recogniser: told quickly where it is plain.

Each function gives the usable value, or raises ValueError (or one of its kind) where the answer is not a plain yes.
What is plain is told by C code; the rest by `mmsp_fsm.model.json_values`, so that both passes read alike. Protocol,
"Items" and "Tool calls".
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from mmsp_fsm.grammar.definition import Kind
from mmsp_fsm.machine.item_builder import JOIN, SIZE
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.model.json_values import Decoded, NotJsonError, decode, decode_record, difference, flaw, join_text, plain
from mmsp_fsm.model.wire import from_base64

AROUND = 3
"""Levels of objects and arrays around an item's field: the event, its items, the item."""

JOINED: dict[str, Callable[[list[Any]], Any]] = {"text": "".join, "bytes": b"".join, "whole": JOIN["whole"]}
"""How contents join, but for halves of a surrogate pair that meet."""

_OBJECT = msgspec.json.Decoder(dict[str, Any])
_text_of = msgspec.json.Encoder().encode
_NUMBERS = {int, float}


def given_text(content: Any) -> str:
    """The text of an item that stands in a dict."""
    if type(content) is not str:
        raise TypeError
    return content


def given_bytes(content: Any) -> bytes:
    """The bytes of an item that stands in a dict, in base64 or as they are."""
    return content if type(content) is bytes else from_base64(given_text(content))


def given_numbers(content: Any) -> list[int | float]:
    """A copy of the vector of an item that stands in a dict."""
    if type(content) is not list or not _NUMBERS.issuperset(map(type, content)):
        raise TypeError
    if not all(map(math.isfinite, content)):  # OverflowError where an integer is beyond a double
        raise ValueError
    return content.copy()


GIVEN: dict[str, Callable[[Any], Any]] = {"text": given_text, "bytes": given_bytes, "whole": given_numbers}
"""Content that is given in a program, by how a kind's fragments join."""


class Contents:
    """Reads the contents of one stream's items, within its limits."""

    __slots__ = ("_deepest", "_fidelity", "_internal", "_limits", "_raw")

    def __init__(self, limits: Limits, internal: tuple[str, ...]) -> None:
        self._limits = limits
        self._internal = frozenset(internal)
        self._deepest = limits.nesting - AROUND
        self._raw: bytes | None = None  # the fidelity that was read last, which the done item repeats
        self._fidelity: dict[str, Any] = {}

    @property
    def usable(self) -> bool:
        """Whether the limits let any event pass: a vector is one level deeper than its item."""
        return self._deepest >= 1

    # ── Fragments ────────────────────────────────────────────────────────────────────────────────────────────

    def fidelity(self, value: Any) -> dict[str, Any]:
        """A fidelity that may be carried, as a dict or as raw JSON."""
        if type(value) is msgspec.Raw:
            raw = bytes(value)
            if raw == self._raw:
                self._raw = None  # the next group has one of its own, which a program may change
                return self._fidelity
            self._fidelity, self._raw = self._checked(self._strict(raw)), raw
            return self._fidelity
        return self._checked(self._plain(value))

    def _checked(self, fidelity: dict[str, Any]) -> dict[str, Any]:
        if not self._internal.isdisjoint(fidelity):
            raise ValueError
        return fidelity

    # ── Done items ───────────────────────────────────────────────────────────────────────────────────────────

    def done(self, kind: Kind, pieces: list[Any], content: Any) -> Any:
        """The content of a done item, which holds what its group's `pieces` join to."""
        joined = pieces[0] if len(pieces) == 1 else JOINED[kind.joins](pieces)
        # No content takes more than 8 bytes an element, so that most groups need not be weighed.
        if 8 * len(joined) > self._limits.group_bytes < sum(map(SIZE[kind.joins], pieces)):
            raise ValueError
        if kind.closes is not None:
            return self._closed(joined, content)
        if joined != content and difference(join_text(pieces) if kind.joins == "text" else joined, content) is not None:
            raise ValueError
        return content

    def _closed(self, joined: str, content: Any) -> dict[str, Any]:
        """The object that joined text stands for, where `content` is equal to it."""
        value = self.parsed(joined)
        if type(content) is msgspec.Raw:
            raw = bytes(content)
            if self._shallow(raw) and str(raw, "utf-8") == joined:
                return value
            closed = self._object(raw)
        else:
            closed = self._plain(content)
        if not _identical(value, closed) and difference(value, closed) is not None:
            raise ValueError
        return closed

    def parsed(self, joined: str) -> dict[str, Any]:
        """The object that joined text stands for; of no key twice, which would be warned of."""
        if not joined:
            return {}
        nesting = self._limits.nesting
        if len(joined) <= nesting or joined.count("[") + joined.count("{") <= nesting:
            try:
                value: dict[str, Any] = _OBJECT.decode(joined)
            except (msgspec.DecodeError, UnicodeEncodeError):
                pass
            else:
                if not _names_once(joined, value):
                    json.loads(joined, object_pairs_hook=_once)
                return value
        decoded = decode(join_text([joined]), self._limits.nesting)
        if not decoded.clean or decoded.repeated is not None or not isinstance(decoded.value, dict):
            raise ValueError
        return decoded.value

    def is_object(self, joined: str) -> bool:
        """Whether joined text is a JSON object, keys named twice or not; "" stands for one."""
        try:
            decoded = decode(join_text([joined]), self._limits.nesting) if joined else Decoded({}, True)
        except NotJsonError:
            return False
        return decoded.clean and isinstance(decoded.value, dict)

    # ── Objects that the protocol does not look into ─────────────────────────────────────────────────────────

    def _object(self, raw: bytes) -> dict[str, Any]:
        if self._shallow(raw):
            with suppress(msgspec.DecodeError):
                value: dict[str, Any] = _OBJECT.decode(raw)
                return value
        return self._strict(raw)

    def _shallow(self, raw: bytes) -> bool:
        return len(raw) <= self._deepest or raw.count(b"[") + raw.count(b"{") <= self._deepest

    def _strict(self, raw: bytes) -> dict[str, Any]:
        decoded = decode_record(raw, self._deepest)
        if not decoded.clean or not isinstance(decoded.value, dict):
            raise TypeError
        return decoded.value

    def _plain(self, value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise TypeError
        copy: dict[str, Any] = plain(value, self._deepest)
        if flaw(copy) is not None:
            raise ValueError
        return copy


def _identical(one: Any, other: Any) -> bool:
    """Whether it is plain that two values are equal and of the same types all through, as most that are equal are.

    Of what is equal in Python, the text tells 1 from 1.0 and true; where there is none, no answer is given.
    """
    with suppress(ValueError, OverflowError, RecursionError):
        return bool(one == other and _text_of(one) == _text_of(other))
    return False


def _names_once(text: str, value: Any) -> bool:
    """Whether it is plain that no object in `text`, which says `value`, names a key twice.

    Where no white space stands before a colon, each key that is written is one of the quotes with a colon behind.
    """
    if " :" in text or "\n" in text or "\t" in text or "\r" in text:
        return False
    count = text.count('":')
    return count == len(value) or count == _keys(value)


def _keys(value: Any) -> int:
    """How many keys the objects in `value` have."""
    if type(value) is dict:
        return len(value) + sum([_keys(one) for one in value.values() if type(one) is dict or type(one) is list])
    return sum([_keys(one) for one in value if type(one) is dict or type(one) is list])


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError
    return value
