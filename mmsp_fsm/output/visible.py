"""Making hostile text safe to print: what a terminal would obey or hide becomes a visible escape."""

from __future__ import annotations

import re
import unicodedata

# Controls (C0, DEL, C1), surrogates, line and paragraph separators. Format characters (bidi controls, zero widths,
# tags) are told by their category, for there are many and new ones come.
_ASCII_SAFE = re.compile(r"[ -~]*")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co")


def visible(text: str) -> str:
    r"""`text` with every character that is not plainly visible as an escape: `\\n`, `\\x1b`, `\\u202e`, `\\ud83d`."""
    if _ASCII_SAFE.fullmatch(text):
        return text
    return "".join(character if _plain(character) else _escape(character) for character in text)


def width(text: str) -> int:
    """Columns that visible text takes on a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text
    )


def _plain(character: str) -> bool:
    return " " <= character <= "~" or unicodedata.category(character) not in _HIDDEN


def _escape(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
