"""Telling the format of a recording from its content; the suffix settles a tie."""

from __future__ import annotations

import re
from typing import Literal

Format = Literal["jsonl", "json", "sse"]

BOM = b"\xef\xbb\xbf"
"""A UTF-8 byte order mark; dropped at the very start of a recording, and only there."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_SSE_LINE = re.compile(rb"(?:data|event|id|retry)(?::|$)|:")
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)


def detect(head: bytes, suffix: str) -> Format:
    """The format of a recording that begins with `head`, in a file with this suffix ("" where there is none).

    The first line that decides is believed: lines before it may be torn or foreign.
    """
    head = head.removeprefix(BOM)
    if head.lstrip(b" \t\r\n").startswith(b"["):
        return "jsonl" if _is_line_of_arrays(head, suffix) else "json"
    for line in _LINE_END.split(head):
        if line.lstrip(b" \t").startswith(b"{"):
            return "jsonl"
        if _SSE_LINE.match(line):
            return "sse"
    # Nothing decides: an empty file is no JSON array yet, whatever it is called.
    return "sse" if suffix == ".sse" else "jsonl"


def _is_line_of_arrays(head: bytes, suffix: str) -> bool:
    """Whether content that begins with a bracket is JSON lines whose first record happens to be an array."""
    line, _, rest = head.lstrip(b" \t\r\n").partition(b"\n")
    depth = 0
    for match in _TOKEN.finditer(line):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(match.group(), 0)
        if depth == 0:
            whole = not line[match.end() :].strip()
            return whole and (bool(rest.strip()) or suffix in (".jsonl", ".ndjson"))
    return False
