"""Server-sent events, strictly: what the recordings' framing forgives, and a server should not do.

WHATWG HTML, "Server-sent events": lines end at LF, CR or CRLF; a line is a comment or a field; a blank line ends a
block, and a block that none ends is dropped. Everything is UTF-8.
"""

from __future__ import annotations

import codecs
import re

from attrs import define, field

from mmsp_fsm.model.json_values import show

FIELDS = ("data", "event", "id", "retry")
_HELD = 256
"""Bytes of a line that are looked at: enough for a field's name and the done marker."""

_LINE_END = re.compile(rb"\r\n|\r|\n")


@define
class Scanner:
    """Looks at the bytes of a body as they come. `faults` holds a sentence for each that breaks the framing.

    `markers` counts done markers, `after_marker` the data blocks behind the first; `other_fields` names the fields that
    carry no data; `comments` counts comments.
    """

    done_marker: bytes
    faults: list[str] = field(factory=list)
    comments: int = 0
    markers: int = 0
    after_marker: int = 0
    other_fields: dict[str, None] = field(factory=dict)
    _decoder: codecs.IncrementalDecoder = field(factory=codecs.getincrementaldecoder("utf-8"))
    _readable: bool = True
    _line: bytearray = field(factory=bytearray)
    _number: int = 1
    _cr_ended: bool = False
    _pending: bool = False  # a block stands open
    _data: bytes | None = None  # the beginning of its data
    _head: bytes | None = b""  # what may be the beginning of a byte order mark

    def feed(self, chunk: bytes) -> None:
        """Look at the next bytes."""
        self._decode(chunk)
        if self._head is not None:
            chunk = self._head + chunk
            if len(chunk) < len(codecs.BOM_UTF8) and codecs.BOM_UTF8.startswith(chunk):
                self._head = chunk
                return
            chunk, self._head = chunk.removeprefix(codecs.BOM_UTF8), None
        if self._cr_ended and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._cr_ended = False
        start = 0
        for end in _LINE_END.finditer(chunk):
            self._hold(chunk[start : end.start()])
            self._end_line()
            start = end.end()
        self._cr_ended = self._cr_ended or chunk.endswith(b"\r")
        self._hold(chunk[start:])

    def close(self) -> None:
        """Nothing more comes."""
        self._decode(b"", final=True)
        if self._line or self._pending:
            self._say("the last block is not ended by a blank line, so clients drop it")
            self._end_line()
            self._end_block()

    def _decode(self, chunk: bytes, *, final: bool = False) -> None:
        if not self._readable:
            return
        try:
            self._decoder.decode(chunk, final)
        except UnicodeDecodeError as error:
            self._readable = False
            self._say(f"it is not UTF-8: byte 0x{error.object[error.start]:02x}")

    def _hold(self, piece: bytes) -> None:
        self._line += piece[: max(_HELD - len(self._line), 0)]

    def _end_line(self) -> None:
        line, self._line = bytes(self._line), bytearray()
        if not line:
            self._end_block()
        else:
            self._take(line)
        self._number += 1

    def _take(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        if colon and not name:
            self.comments += 1
            return
        shown = show(name.decode("latin-1"))
        if name not in (one.encode() for one in FIELDS):
            self._say(f"a line is neither a field nor a comment: it begins with {shown}")
            return
        self._pending = True
        if name != b"data":
            self.other_fields[name.decode()] = None
        elif self._data is None:
            self._data = value.removeprefix(b" ")
        else:
            self._data = (self._data + b"\n" + value)[:_HELD]

    def _end_block(self) -> None:
        data, self._data, self._pending = self._data, None, False
        if data is None:
            return
        if data.strip() == self.done_marker:
            self.markers += 1
        elif self.markers:
            self.after_marker += 1

    def _say(self, fault: str) -> None:
        if len(self.faults) < 100:
            self.faults.append(f"line {self._number}: {fault}")
