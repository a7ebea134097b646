"""Compressed formats: how each is told from its first bytes, and what unpacks it in bounded steps."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

from attrs import frozen

MEMORY = 1 << 27
"""Bytes that unpacking may take for its window: what `zstd` itself takes by default, and twice what `xz -9` needs."""


class Decompressor(Protocol):
    """What unpacks one part (member, stream, frame) of an archive, as Python's `bz2` and `lzma` do it."""

    @property
    def eof(self) -> bool:
        """Whether the part's end was reached."""

    @property
    def needs_input(self) -> bool:
        """Whether more bytes are needed before more comes out."""

    @property
    def unused_data(self) -> bytes:
        """What followed the part's end."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Take `data`, and give at most `max_length` bytes. Raises one of the codec's errors."""


@frozen
class Codec:
    """A compressed format.

    `magics` are the beginnings of a part, one of which each part has; `start` makes a decompressor (it raises
    ImportError where the Python module `module` is missing), and `errors` what that raises. `padding` is the size of
    the pieces of zero bytes that may stand after a part; 0 where none may.
    """

    name: str
    module: str
    magics: tuple[bytes, ...]
    start: Callable[[], Decompressor]
    errors: Callable[[], tuple[type[Exception], ...]]
    padding: int = 0


class _Member:
    """A gzip member, unpacked by `zlib` with the interface of the others."""

    def __init__(self) -> None:
        import zlib

        self._one = zlib.decompressobj(wbits=zlib.MAX_WBITS + 16)  # gzip's header and checksum
        self._full = False

    @property
    def eof(self) -> bool:
        return self._one.eof

    @property
    def needs_input(self) -> bool:
        return not (self._full or self._one.unconsumed_tail or self._one.eof)

    @property
    def unused_data(self) -> bytes:
        return self._one.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        out = self._one.decompress(self._one.unconsumed_tail + data, max_length)
        self._full = len(out) == max_length  # then there may be more, though all was taken in
        return out


def _gzip_errors() -> tuple[type[Exception], ...]:
    import zlib

    return (zlib.error,)


def _start_bzip2() -> Decompressor:
    import bz2

    return bz2.BZ2Decompressor()


def _bzip2_errors() -> tuple[type[Exception], ...]:
    return (OSError, ValueError)


def _start_xz() -> Decompressor:
    import lzma

    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY)


def _xz_errors() -> tuple[type[Exception], ...]:
    import lzma

    return (lzma.LZMAError,)


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        import compression.zstd as zstd
    else:
        import backports.zstd as zstd
    return zstd


def _start_zstd() -> Decompressor:
    zstd = _zstd()
    window = MEMORY.bit_length() - 1
    one: Decompressor = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: window})
    return one


def _zstd_errors() -> tuple[type[Exception], ...]:
    return (_zstd().ZstdError,)


_SKIPPABLE = tuple(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))

CODECS = (
    Codec("gzip", "zlib", (b"\x1f\x8b",), _Member, _gzip_errors, padding=1),
    Codec("bzip2", "bz2", (b"BZh",), _start_bzip2, _bzip2_errors),
    Codec("xz", "lzma", (b"\xfd7zXZ\x00",), _start_xz, _xz_errors, padding=4),
    Codec("zstd", "backports.zstd", (b"\x28\xb5\x2f\xfd", *_SKIPPABLE), _start_zstd, _zstd_errors),
)
"""What is unpacked."""

STRANGERS = {"zip": b"PK\x03\x04", "7z": b"7z\xbc\xaf\x27\x1c", "lz4": b"\x04\x22\x4d\x18"}
"""The beginnings of archives that are known, and not unpacked."""

SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
"""What such files are called. Content tells what they are; this tells only which suffix stands before it."""

TAR, TAR_HEAD = b"ustar", 512
"""What stands at byte 257 of a tar archive's first header, and the bytes of that header."""


def begins(head: bytes, codec: Codec) -> bool:
    """Whether `head` begins a part of an archive."""
    return head.startswith(codec.magics)


def may_begin(head: bytes, codec: Codec) -> bool:
    """Whether `head` is empty or the beginning of a beginning: more bytes will tell."""
    return any(len(head) < len(magic) and magic.startswith(head) for magic in codec.magics)
