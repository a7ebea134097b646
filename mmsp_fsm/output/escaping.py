"""Making hostile text safe to print: what a terminal would obey or hide becomes a visible escape."""

from __future__ import annotations

import re
import unicodedata

# Controls (C0, DEL, C1), surrogates, line and paragraph separators. Format characters (bidi controls, zero widths,
# tags) are told by their category, for there are many and new ones come.
_ASCII_SAFE = re.compile(r"[ -~]*")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Blanks other than the space look like it, and are escaped where a person is to see what stands there.
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co")
_BLANK = "Zs"
# Marks and letters that show nothing: variation selectors (a text can be hidden in them), joiners, Hangul fillers.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# Vowels and final consonants of Hangul, drawn into the cell of the consonant before them.
_CONJOINING = re.compile("[\u1161-\u11ff\ud7b0-\ud7ff]")


def visible(text: str, *, ascii_only: bool = False) -> str:
    r"""`text` with every character that is not plainly visible as an escape: `\\n`, `\\x1b`, `\\u202e`, `\\ud83d`.

    With `ascii_only` every character beyond ASCII is one, for a terminal that knows no others. Each character is mapped
    on its own, so that marks can be put under parts of a text.
    """
    if _ASCII_SAFE.fullmatch(text):
        return text
    text = "".join(character if _plain(character) else _escape(character) for character in text)
    return text.encode("ascii", "backslashreplace").decode("ascii") if ascii_only else text


def is_hidden(character: str) -> bool:
    """Whether a terminal obeys `character`, or shows nothing of it; a blank shows."""
    return unicodedata.category(character) in _HIDDEN or _UNSEEN.match(character) is not None


def clip(text: str, longest: int, *, ascii_only: bool = False) -> str:
    """The beginning of `text`, made visible, in about `longest` characters; dots tell that there was more."""
    if len(text) <= longest:
        return visible(text, ascii_only=ascii_only)
    return visible(text[:longest], ascii_only=ascii_only) + ("..." if ascii_only else "…")


def width(text: str) -> int:
    """Columns that visible text takes on a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    # Not `unicodedata.combining`: that is 0 for the vowel signs of Thai and most Indic scripts, which take no column.
    if unicodedata.category(character) in ("Mn", "Me") or _CONJOINING.match(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _plain(character: str) -> bool:
    return " " <= character <= "~" or not (is_hidden(character) or unicodedata.category(character) == _BLANK)


def _escape(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
