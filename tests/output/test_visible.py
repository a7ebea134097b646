"""No model output reaches a terminal raw."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmsp_fsm.output.escaping import visible, width
from mmsp_fsm.output.formats.json import json_text

HOSTILE = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    "\u00ad", "\u061c", "\u200b", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u2066", "\u2069",
    "\ufeff", "\ud83d", "\udc80", "\U000e0041",
]  # fmt: skip

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [red] text\\n", "plain [red] text\\n"),
        ("a\nb\rc\td", r"a\nb\rc\td"),
        ("\x1b[2J\x07\x9b", r"\x1b[2J\x07\x9b"),
        ("\u202eevil\u2066", r"\u202eevil\u2066"),
        ("x\ud83d", r"x\ud83d"),
        ("\U000e0041", r"\U000e0041"),
        ("Füße 潮 😀", "Füße 潮 😀"),
    ],
)
def test_what_is_not_plainly_visible_is_escaped(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize("character", HOSTILE, ids=lambda one: f"U+{ord(one):04X}")
def test_no_hostile_character_stands_raw(character):
    assert character not in visible(f"a{character}b")
    assert character not in json_text(f"a{character}b")


@given(ANY_TEXT)
def test_visible_text_is_printable(text):
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co"}
    assert not {unicodedata.category(one) for one in visible(text)} & hidden


@given(st.recursive(ANY_TEXT | st.integers() | st.none() | st.booleans(), lambda inner: st.lists(inner)
       | st.dictionaries(ANY_TEXT, inner)), st.booleans())  # fmt: skip
def test_json_text_says_the_same_value(value, ascii_only):
    text = json_text(value, ascii_only=ascii_only)
    assert json.loads(text) == json.loads(json.dumps(value))
    text.encode("ascii" if ascii_only else "utf-8")


def test_columns():
    assert [width(text) for text in ("abc", "潮", "e\u0301", "")] == [3, 2, 1, 0]


@pytest.mark.parametrize("character", list("\ufe0f\U000e0100\u034f\u115f\u3164\u180b\u180e\U0001d173"))
def test_what_shows_nothing_is_escaped_everywhere(character):
    assert character not in visible(f"a{character}b")
    assert character not in json_text(f"a{character}b")


def test_blanks_that_look_like_a_space_are_escaped_for_people_alone():
    assert visible("a\u00a0b\u3000c d") == r"a\xa0b\u3000c d"
    assert json_text("a\u00a0b\u3000c d") == '"a\u00a0b\u3000c d"'


def test_a_terminal_of_ascii_gets_ascii():
    assert visible("Füße 潮\x1b", ascii_only=True) == r"F\xfc\xdfe \u6f6e\x1b"


@given(ANY_TEXT, ANY_TEXT, st.booleans())
def test_each_character_is_mapped_on_its_own(one, other, ascii_only):
    parts = visible(one, ascii_only=ascii_only) + visible(other, ascii_only=ascii_only)
    assert visible(one + other, ascii_only=ascii_only) == parts
    assert parts.isprintable()
    assert parts.isascii() or not ascii_only


def test_vowel_signs_take_no_column():
    assert [width(text) for text in ("กิ", "कु", "한", "\u1112\u1161\u11ab")] == [1, 1, 2, 2]
