"""Vectors that stay as they are written: most are only compared with one another, and that takes no numbers.

Protocol, "Embeddings".
"""

from __future__ import annotations

from typing import Any

import msgspec

_NUMBERS = msgspec.json.Decoder(list[int | float])

_PLAIN = bytes(
    ord("0") if chr(byte).isdigit() and byte < 128 else byte if chr(byte) in ".-, \t\r\n[]" else ord("?")
    for byte in range(256)
)
"""Each digit as 0, and as ? what an array of numbers without exponents does not hold."""

_TOO_LONG = b"0" * 99
"""Digits with which a number without an exponent may be beyond a double: fewer than it takes, but found faster."""


def read_vector(raw: msgspec.Raw) -> bytes | list[int | float]:
    """An array of numbers as its text, where it is plain that all are finite; else as a list.

    Raises ValueError (msgspec's) where it is another value, or holds a number that is out of range.
    """
    text = bytes(raw)
    shape = text.translate(_PLAIN)
    if shape[:1] == b"[" and b"?" not in shape and shape.find(b"[", 1) < 0 and _TOO_LONG not in shape:
        return text
    return _NUMBERS.decode(text)


def whole_vector(vector: Any) -> list[int | float]:
    """A vector as a list."""
    return _NUMBERS.decode(vector) if isinstance(vector, bytes) else vector
