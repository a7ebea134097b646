"""What a group may carry and what its done item must hold, for the recogniser: told quickly where it is plain.

Each function gives the usable value, or raises ValueError (or one of its kind) where the answer is not a plain yes.
What is plain is told by C code; the rest by `mmsp_fsm.jsonvalues`, so that both passes read alike. Protocol, "Items"
and "Tool calls".
"""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from mmsp_fsm.builders import JOIN, SIZE, ItemBuilder
from mmsp_fsm.definition import Kind
from mmsp_fsm.jsonvalues import Decoded, decode, decode_utf8, difference, flaw, join_text, plain
from mmsp_fsm.limits import Limits
from mmsp_fsm.wire import from_base64

AROUND = 3
"""Levels of objects and arrays around an item's field: the event, its items, the item."""

_OBJECT = msgspec.json.Decoder(dict[str, Any])
_NUMBERS = {int, float}


class Contents:
    """Reads the contents of one stream's items, within its limits."""

    __slots__ = ("_deepest", "_fidelity", "_internal", "_limits", "_raw")

    def __init__(self, limits: Limits, internal: tuple[str, ...]) -> None:
        self._limits = limits
        self._internal = internal
        self._deepest = limits.nesting - AROUND
        self._raw: bytes | None = None  # the fidelity that was read last, which the done item repeats
        self._fidelity: dict[str, Any] = {}

    @property
    def usable(self) -> bool:
        """Whether the limits let any event pass: a vector is one level deeper than its item."""
        return self._deepest >= 1

    # ── Fragments ────────────────────────────────────────────────────────────────────────────────────────────

    def fragment(self, kind: Kind, content: Any) -> Any:
        """The content of a fragment that stands in a dict, or in a struct (which vouches for its type)."""
        if kind.joins == "text":
            if type(content) is not str:
                raise TypeError
            return content
        if kind.joins == "bytes":
            return content if type(content) is bytes else from_base64(_text(content))
        if type(content) is not list or not _NUMBERS.issuperset(map(type, content)) or not all(map(_finite, content)):
            raise TypeError
        return content.copy()

    def fidelity(self, value: Any) -> dict[str, Any]:
        """A fidelity that may be carried, as a dict or as raw JSON."""
        if type(value) is msgspec.Raw:
            raw = bytes(value)
            if raw != self._raw:
                self._fidelity = self._checked(self._strict(raw))
                self._raw = raw
            return self._fidelity
        return self._checked(self._plain(value))

    def _checked(self, fidelity: dict[str, Any]) -> dict[str, Any]:
        if any(name in fidelity for name in self._internal):
            raise ValueError
        return fidelity

    # ── Done items ───────────────────────────────────────────────────────────────────────────────────────────

    def done(self, group: ItemBuilder, content: Any) -> Any:
        """The content of a done item that holds what `group` carried."""
        kind, pieces = group.kind, group.pieces
        if kind.closes is not None:
            text = "".join(pieces)
            self._weigh(group, text)
            return self._closed(text, content)
        content = self.fragment(kind, content)
        joined = pieces[0] if len(pieces) == 1 else "".join(pieces) if kind.joins == "text" else b"".join(pieces)
        self._weigh(group, joined)
        if joined != content and difference(JOIN[kind.joins](pieces), content) is not None:
            raise ValueError
        return content

    def _weigh(self, group: ItemBuilder, joined: Any) -> None:
        # No content takes more than 8 bytes an element, so that most groups need not be looked at.
        limit = self._limits.group_bytes
        if 8 * len(joined) > limit and sum(map(SIZE[group.kind.joins], group.pieces)) > limit:
            raise ValueError

    def _closed(self, joined: str, content: Any) -> dict[str, Any]:
        """The object that joined text stands for, where `content` is equal to it."""
        value = self.parsed(joined)
        if type(content) is not msgspec.Raw:
            content = self._plain(content)
            alike = False
        else:
            raw = bytes(content)
            if raw == joined.encode("utf-8", "surrogatepass"):
                return value
            # In Python True == 1, which JSON values are not.
            alike = b"true" not in raw and b"false" not in raw and "true" not in joined and "false" not in joined
            content = self._object(raw)
        if not (alike and value == content) and difference(value, content) is not None:
            raise ValueError
        closed: dict[str, Any] = content
        return closed

    def parsed(self, joined: str) -> dict[str, Any]:
        """The object that joined text stands for; of no key twice, which would be warned of."""
        if not joined:
            return {}
        if joined.count("[") + joined.count("{") <= self._limits.nesting:
            try:
                value: dict[str, Any] = _OBJECT.decode(joined)
            except (msgspec.DecodeError, UnicodeEncodeError):
                pass
            else:
                if _keys(value) != joined.count(":"):  # there are others, within strings or of keys named twice
                    json.loads(joined, object_pairs_hook=_once)
                return value
        decoded = decode(join_text([joined]), self._limits.nesting)
        if not decoded.clean or decoded.repeated is not None or not isinstance(decoded.value, dict):
            raise ValueError
        return decoded.value

    def unparsed(self, group: ItemBuilder) -> bool:
        """Whether what `group` carried so far is no JSON object."""
        parsed = group.parsed()
        return not isinstance(parsed, Decoded) or not isinstance(parsed.value, dict)

    # ── Objects that the protocol does not look into ─────────────────────────────────────────────────────────

    def _object(self, raw: bytes) -> dict[str, Any]:
        if raw.count(b"[") + raw.count(b"{") <= self._deepest:
            try:
                value: dict[str, Any] = _OBJECT.decode(raw)
                return value
            except msgspec.DecodeError:
                pass
        return self._strict(raw)

    def _strict(self, raw: bytes) -> dict[str, Any]:
        decoded = decode(decode_utf8(raw), self._deepest)
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


def _text(content: Any) -> str:
    if type(content) is not str:
        raise TypeError
    return content


def _finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # an integer beyond a double; whether it is too long, the machine says
        return False


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
