"""Compressed recordings: what they hold, unpacked as it arrives and in bounded steps.

Whether a file is compressed is told from its content, never from its name. An archive that is torn or corrupt gives
what can be read before the fault, and `Unpacked.fault` says what the fault is.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import Any

from mmsp_fsm.recordings.codecs import (
    CODECS,
    MEMORY,
    STRANGERS,
    SUFFIXES,
    TAR,
    TAR_HEAD,
    Codec,
    Decompressor,
    begins,
    may_begin,
)

SLICE = 1 << 12
"""Bytes given to a decompressor at once. What a failing step had made is lost: this is how little that is."""

REPLAY = 1 << 16
"""Bytes of a part that are kept, so that a small one which fails can be unpacked once more, byte by byte."""


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


def inner_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix of what a file holds, in lower case: `.jsonl` of `trace.jsonl.gz` as of `trace.jsonl`."""
    stem, suffix = os.path.splitext(os.fspath(path))
    return (os.path.splitext(stem)[1] if suffix.lower() in SUFFIXES else suffix).lower()


class Unpacked:
    """A binary file's content, unpacked where it is compressed; read like a file, and once.

    `is_plain` tells, once something was read, that it is not compressed. `fault` is a sentence once the archive showed
    that it is torn, corrupt or none that can be read; what was read before is sound, or the best there is. Not more
    than a step's output and the format's window is held, whatever the archive would grow to. Raises what reading
    `file` raises.

    Where the recording does not begin with `file` (it is a part of one), it is taken as it is: what an archive begins
    with is there like any other bytes.
    """

    def __init__(self, file: Any, *, begins: bool = True) -> None:
        self.fault: str | None = None
        self._file = file
        self._raw = RawReader(file)
        self.is_plain = not begins
        self._chunks = self._open() if begins else self._rest()
        self._chunk, self._at = b"", 0  # the chunk that is being given, and what of it was

    def read1(self, size: int = CHUNK) -> bytes:
        """The next bytes, `size` at most (without a bound if it is negative), as soon as there are some; none at the
        end.
        """
        if self._at == len(self._chunk):
            self._chunk, self._at = next(self._chunks, b""), 0
        if self._at == 0 and not 0 <= size < len(self._chunk):
            self._at = len(self._chunk)
            return self._chunk
        start, self._at = self._at, len(self._chunk) if size < 0 else min(self._at + size, len(self._chunk))
        return self._chunk[start : self._at]

    @property
    def in_memory(self) -> io.BytesIO | None:
        """The file itself, where its content is in memory as it is, and all that was read of it was given."""
        given = self._at == len(self._chunk)
        return self._file if self.is_plain and given and isinstance(self._file, io.BytesIO) else None

    def read(self, size: int = -1) -> bytes:
        """The next `size` bytes, fewer only at the end; without a size, all of them."""
        held = bytearray()
        while (size < 0 or len(held) < size) and (chunk := self.read1(size - len(held) if size >= 0 else -1)):
            held += chunk
        return bytes(held)

    def _open(self) -> Iterator[bytes]:
        """The content, once the first bytes have told what it is."""
        head = b""
        while any(may_begin(head, codec) for codec in CODECS) and (chunk := self._raw.read1()):
            head += chunk
        codec = next((one for one in CODECS if begins(head, one) or _is_stump(head, one)), None)
        if codec is None:
            yield from self._plain(_before(head, self._rest()), "this", True)
        else:
            yield from self._plain(self._unpack(codec, head), f"what the {codec.name} archive holds", False)

    def _rest(self) -> Iterator[bytes]:
        while chunk := self._raw.read1():
            yield chunk

    def _plain(self, chunks: Iterator[bytes], what: str, is_plain: bool) -> Iterator[bytes]:
        """Content that should be a recording, and is not looked into further than its first bytes."""
        head = b""
        for chunk in chunks:
            head += chunk
            if not _is_open(head):
                break
        if name := _archive(head):
            self.fault = f"{what} is itself a {name} archive, which is not unpacked"
            return
        self.is_plain = is_plain
        if head:
            yield head
        yield from chunks

    def _unpack(self, codec: Codec, head: bytes) -> Iterator[bytes]:
        """The content of an archive's parts, one after another."""
        try:
            errors = codec.errors()
            codec.start()
        except ImportError:
            self.fault = f"this {codec.name} archive needs the Python module {codec.module}, which is missing here"
            return
        data = head
        while data:
            part = _Part(codec, errors)
            yield from self._one_part(part, data)
            if self.fault is not None:
                return
            data = self._next_part(codec, part.rest)

    def _one_part(self, part: _Part, data: bytes) -> Iterator[bytes]:
        while True:
            for at in range(0, len(data), SLICE):
                piece = data[at : at + SLICE]
                yield from part.feed(piece)
                if part.fault is not None:
                    self.fault = f"the {part.codec.name} archive cannot be unpacked from here on: {part.fault}"
                    return
                if part.ended:
                    part.rest += data[at + SLICE :]
                    return
            data = self._raw.read1()
            if not data:
                self.fault = _torn(part.codec)
                return

    def _next_part(self, codec: Codec, rest: bytes) -> bytes:
        """The bytes from the next part's beginning on; none where the archive ends."""
        zeros = 0
        while True:
            if codec.padding and (padded := len(rest) - len(rest.lstrip(b"\0"))):
                zeros += padded
                rest = rest[padded:]
            if rest and not may_begin(rest, codec):
                break
            chunk = self._raw.read1()
            if not chunk:
                break
            rest += chunk
        if (rest and may_begin(rest, codec)) or (codec.padding and zeros % codec.padding):
            self.fault = _torn(codec)
        elif rest and not begins(rest, codec):
            self.fault = f"something follows the end of the {codec.name} archive that is no part of it"
        if self.fault is not None:
            return b""
        return rest


class _Part:
    """One part of an archive being unpacked."""

    def __init__(self, codec: Codec, errors: tuple[type[Exception], ...]) -> None:
        self.codec = codec
        self.fault: str | None = None
        self.rest = b""
        self._errors = errors
        self._one = codec.start()
        self._kept: bytearray | None = bytearray()
        self._given = 0

    @property
    def ended(self) -> bool:
        """Whether its end was reached; `rest` is then what followed in the bytes that it was fed."""
        return self._one.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What `data` makes, in bounded steps."""
        if self._kept is not None:
            self._kept = self._kept + data if max(len(self._kept), self._given) < REPLAY else None
        try:
            for chunk in _steps(self._one, data, CHUNK):
                self._given += len(chunk)
                yield chunk
        except self._errors as error:
            self.fault = _reason(error)
        if self.fault is not None and self._kept is not None:
            yield from self._replay(self._kept)
        if self.fault is None and self._one.eof:
            self.rest = self._one.unused_data

    def _replay(self, data: bytearray) -> Iterator[bytes]:
        """What a part that failed gives beyond what it gave already: again, in the smallest steps."""
        one, made = self.codec.start(), bytearray()
        try:
            for at in range(len(data)):
                for chunk in _steps(one, bytes(data[at : at + 1]), 256):
                    made += chunk
        except self._errors:
            pass
        if len(made) > self._given:
            yield bytes(made[self._given :])


def _steps(one: Decompressor, data: bytes, size: int) -> Iterator[bytes]:
    """All that `one` makes of `data`, at most `size` bytes at a time."""
    chunk = one.decompress(data, size)
    while True:
        if chunk:
            yield chunk
        if one.eof or (one.needs_input and len(chunk) < size):  # bzip2 holds back what it has made of all its input
            return
        chunk = one.decompress(b"", size)


def _torn(codec: Codec) -> str:
    return f"the {codec.name} archive is torn: the file ends inside it"


def _is_stump(head: bytes, codec: Codec) -> bool:
    """Whether all of a file is so little of an archive that its beginning is torn; a letter or a bracket is none."""
    return may_begin(head, codec) and any(not 0x20 <= byte < 0x7F for byte in head)


def _reason(error: Exception) -> str:
    words = str(error).rpartition(": ")[2].lower()
    if "memory" in words:
        return f"that would take more than {MEMORY >> 20} MiB of memory for its window"
    return words or type(error).__name__


def _before(head: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from chunks


def _archive(head: bytes) -> str | None:
    """The name of the archive that begins with `head`."""
    if head[257:].startswith(TAR):
        return "tar"
    known = {codec.name: codec.magics for codec in CODECS} | {name: (magic,) for name, magic in STRANGERS.items()}
    return next((name for name, magics in known.items() if head.startswith(magics)), None)


def _is_open(head: bytes) -> bool:
    """Whether more bytes are needed to tell whether an archive begins here. A recording is never kept waiting."""
    if any(may_begin(head, codec) for codec in CODECS):
        return True
    if any(len(head) < len(magic) and magic.startswith(head) for magic in STRANGERS.values()):
        return True
    return len(head) < TAR_HEAD and b"\0" in head[:108]  # a tar begins with a name and zeros
