"""Keeping what a server sent, without the key: on its way to a file it is blanked, wherever a read has cut it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

SHORTEST_KEY = 6
"""Characters below which a key is no secret, but a word such as EMPTY, and stands in honest text."""


class Keeper:
    """Takes the pieces of one body, and writes them to `path` (None: nowhere) byte for byte, the key's bytes as `*`.

    `found` tells whether the key was there. Raises OSError where it cannot write.
    """

    def __init__(self, path: Path | None, key: str | None) -> None:
        self._file: BinaryIO | None = path.open("wb") if path is not None else None
        self._key = secret(key)
        self._held = b""  # the end of what came, where the key may have begun
        self.found = False

    def take(self, piece: bytes) -> None:
        """The next piece."""
        data = self._held + piece
        if self._key is not None:
            if self._key in data:
                self.found = True
                data = data.replace(self._key, b"*" * len(self._key))
            hold = len(self._key) - 1
            data, self._held = data[:-hold], data[-hold:]
        if self._file is not None:
            self._file.write(data)

    def close(self) -> None:
        """Nothing more comes."""
        if self._file is not None:
            self._file.write(self._held)
            self._file.close()


def secret(key: str | None) -> bytes | None:
    """The bytes of a key that must not be shown; None where there is none."""
    return key.encode("utf-8", "surrogateescape") if key is not None and len(key) >= SHORTEST_KEY else None


def hiding(key: str | None) -> Callable[[str], str]:
    """A function that takes the key out of a text, as it stands and as JSON writes it."""
    if secret(key) is None or key is None:
        return lambda text: text
    forms = {key, json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1]}
    pattern = re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)))
    return lambda text: pattern.sub("[key]", text)
