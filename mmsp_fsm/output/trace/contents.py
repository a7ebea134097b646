"""What a page shows of contents: text as it stands, bytes and vectors by their size and first values, all of it cut.

A stream may hold gigabytes, and a page has to open. So each piece has a largest length, and all of them share a budget.
"""

from __future__ import annotations

import json
from typing import Any

from attrs import define

from mmsp_fsm.machine.symbols import Hole
from mmsp_fsm.output.excerpts import excerpt

FEWEST = 40
"""Characters that are shown of every piece, even where the budget is spent."""

HEAD = 16
"""Bytes of data, and numbers of a vector, that are shown."""


def embedded(value: Any) -> str:
    """JSON that may stand inside an HTML `script` element, whatever it holds, and in ASCII, whatever the encoding.

    HTML ends such an element at `</script`, and looks for `<!--` in it, so no `<` stands there as it is; `>` and `&`
    are escaped for those who read HTML as XML, and so is all beyond ASCII (U+2028, halves of a surrogate pair).
    """
    text = json.dumps(value, separators=(",", ":"), check_circular=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@define
class Budget:
    """The bytes that contents may still take in a page."""

    left: int
    cut: int = 0

    def fit(self, text: str, most: int) -> str:
        """`text`, or its beginning and a note of what is missing: at most `most` characters while the budget lasts."""
        most = most if self.left > 0 else FEWEST
        if len(text) > most:
            self.cut += 1
            text = f"{text[:most]} [… {len(text) - most:,} more characters are not in this page]"
        self.left -= len(embedded(text)) - 2
        return text


def shown(content: Any) -> tuple[str, int]:
    """What is shown of an item's content, uncut, and its size in characters, bytes or numbers."""
    if isinstance(content, Hole):
        return "[it cannot be used]", 0
    if isinstance(content, str):
        return content, len(content)
    if isinstance(content, bytes):
        head = content[:HEAD].hex(" ") + (" …" if len(content) > HEAD else "")
        return f"[{len(content):,} bytes] {head}".rstrip(), len(content)
    if isinstance(content, list):
        head = json.dumps(content[:HEAD])[1:-1] + (", …" if len(content) > HEAD else "")
        return f"[{len(content):,} numbers] {head}".rstrip(), len(content)
    text = json.dumps(content, ensure_ascii=False, indent=2)
    return text, len(text)


def marked(record: bytes | None, pointer: str) -> list[str] | None:
    """The part of a record that a pointer leads to: what stands before it, the part itself, what stands behind it."""
    if not record:
        return None
    part = excerpt(record, pointer)
    return [("…" if part.cut_before else "") + part.before, part.marked, part.after + ("…" if part.cut_after else "")]
