"""Bytes from whatever a program calls a file, each time as soon as there are some."""

from __future__ import annotations

import os
from typing import Any

CHUNK = 1 << 16
"""Bytes asked for at once: enough that a call costs little, and so few that memory is used again instead of mapped."""


class RawReader:
    """The bytes of `file`, which has at least `read`. After its end it is not asked again (a terminal would wait)."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._ended = False

    def read1(self, size: int = CHUNK) -> bytes:
        """The next bytes, `size` at most where the file heeds it; none at the end.

        Raises OSError where the file cannot be read or has nothing at the moment, TypeError where it gives anything
        but bytes.
        """
        if self._ended:
            return b""
        chunk: object = getattr(self._file, "read1", self._file.read)(size)
        if isinstance(chunk, bytes) and not chunk and not _waits(self._file):
            chunk = self._file.read(1)  # `read1` says the same of the end and of nothing yet
        if chunk is None:
            raise BlockingIOError("the file has nothing to read at the moment; give one that waits")
        if not isinstance(chunk, (bytes, bytearray, memoryview)):
            raise TypeError(f"a file opened in binary mode is due; this one gave {type(chunk).__name__}")
        self._ended = not chunk
        return bytes(chunk)


def _waits(file: Any) -> bool:
    """Whether reading from `file` waits until there is something to read, or the end."""
    try:
        return os.get_blocking(file.fileno())
    except (AttributeError, OSError, TypeError, ValueError):  # no descriptor, or none that this platform can ask
        return True
