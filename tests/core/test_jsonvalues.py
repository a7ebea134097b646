"""What JSON is here: strict decoding, values given in a program, equality, pointers."""

import enum
import json
import math
import time
from collections import OrderedDict, UserDict, namedtuple
from decimal import Decimal
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmsp_fsm.model.json_values import (
    Decoded,
    Foreign,
    NotJsonError,
    decode,
    decode_utf8,
    difference,
    flaw,
    follow,
    join_text,
    name_of,
    plain,
    point,
    show,
    whole_characters,
)

NESTING = 500
HIGH, LOW, BOTH = "\ud83d", "\ude00", "😀"


def same(a, b):
    """Equal values of equal types, at every level: `1 == True` and `1 == 1.0` do not count; NaN equals itself."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)
    return a == b


# ── Decoding ─────────────────────────────────────────────────────────────────────────────────────────────────────

CLEAN = {
    "null": None,
    "true": True,
    " [ ] ": [],
    "\t{}\r\n": {},
    '"a"': "a",
    "0": 0,
    "-0": 0,
    "-0.0": -0.0,
    "1.0": 1.0,
    "1E0": 1.0,
    "1e2": 100.0,
    "1e-999": 0.0,
    "1e308": 1e308,
    "1.7976931348623157e308": 1.7976931348623157e308,
    "9007199254740993": 9007199254740993,
    "9" * 199 + "e99": float("9" * 199 + "e99"),
    "9" * 4300: 10**4300 - 1,
    "-" + "9" * 4300: 1 - 10**4300,
    r'"\ud83d\ude00"': BOTH,
    r'"\ud83d"': HIGH,
    r'"\ude00\ud83d"': LOW + HIGH,
    '"\u2028\u2029\x85\x7f\ufeff"': "\u2028\u2029\x85\x7f\ufeff",
    r'"\u0000\n\u001f\/"': "\0\n\x1f/",
    f'"{HIGH}"': HIGH,
    '{"NaN": "Infinity", "1e999": "9e9999"}': {"NaN": "Infinity", "1e999": "9e9999"},
    '[1, 1.0, true, "1"]': [1, 1.0, True, "1"],
    '{"b": 1, "a": {"c": []}}': {"b": 1, "a": {"c": []}},
}


@pytest.mark.parametrize("text", CLEAN, ids=lambda text: ascii(text[:30]))
def test_json_is_decoded(text):
    decoded = decode(text, NESTING)
    assert same(decoded.value, CLEAN[text])
    assert (decoded.clean, decoded.repeated) == (True, None)


NOT_FINITE = {
    "NaN": math.nan,
    "Infinity": math.inf,
    "-Infinity": -math.inf,
    "1e999": math.inf,
    "-1e999": -math.inf,
    "1E+400": math.inf,
    "1.8e308": math.inf,
    "9" * 309 + ".5": math.inf,
    "1" * 250 + "e99": math.inf,
    "9" * 299 + "e10": math.inf,
    "-" + "9" * 200 + "E+0109": -math.inf,
    "9" * 4301: math.inf,
    "-" + "1" + "0" * 4300: -math.inf,
    "1" + "0" * 100_000: math.inf,
}


@pytest.mark.parametrize("number", NOT_FINITE, ids=lambda text: f"{text[:12]} ({len(text)})")
def test_a_number_that_json_cannot_write_is_a_non_finite_float(number):
    for text, path in ((number, ""), (f"[1, {number}]", "/1"), (f'{{"a": {{"b": {number}}}}}', "/a/b")):
        decoded = decode(text, NESTING)
        assert not decoded.clean
        assert same(follow(decoded.value, path), NOT_FINITE[number])
        assert flaw(decoded.value)[0] == path


@pytest.mark.parametrize("digits", ["9" * 300, "9" * 308, "9" * 400, "1" * 4299])
def test_a_long_integer_is_exact_and_clean(digits):
    assert decode(digits, NESTING) == Decoded(int(digits), True)


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        ('{"a": 1, "a": 2}', "a"),
        ('{"a": 1, "b": {"c": 1, "d": 2, "c": 3}}', "c"),
        (r'{"a": 1, "\u0061": 2}', "a"),
        ('{"": 1, "": 1}', ""),
        ('[{"x": 1, "x": 2}, {"y": 1, "y": 2}]', "x"),
        ('{"a": 1, "b": 2, "b": 3, "a": 4}', "b"),
        ('{"a": {"a": 1}}', None),
        ('[{"a": 1}, {"a": 2}]', None),
        ('{"a": 1, "A": 2}', None),
    ],
)
def test_of_a_key_named_twice_the_last_counts_and_is_told(text, repeated):
    decoded = decode(text, NESTING)
    assert decoded.repeated == repeated
    assert decoded.value == json.loads(text)


NO_JSON = {
    "": "expecting value at character 0",
    " ": "expecting value at character 1",
    "nul": "expecting value at character 0",
    "nan": "expecting value at character 0",
    "None": "expecting value at character 0",
    "True": "expecting value at character 0",
    "'a'": "expecting value at character 0",
    "+1": "expecting value at character 0",
    ".5": "expecting value at character 0",
    "01": "extra data at character 1",
    "1.": "extra data at character 1",
    "1e": "extra data at character 1",
    "-": "expecting value at character 0",
    "--1": "expecting value at character 0",
    "{} {}": "extra data at character 3",
    "[1,]": ("expecting value at character 3", "illegal trailing comma before end of array at character 2"),
    '{"a": 1,}': (
        "expecting property name enclosed in double quotes at character 8",
        "illegal trailing comma before end of object at character 7",
    ),
    "{a: 1}": "expecting property name enclosed in double quotes at character 1",
    '{"a" 1}': "expecting ':' delimiter at character 5",
    '{"a": 1 "b": 2}': "expecting ',' delimiter at character 8",
    "[1 2]": "expecting ',' delimiter at character 3",
    "[1": "expecting ',' delimiter at character 2",
    '{"torn": ': "expecting value at character 9",
    '"a': "unterminated string at character 0",
    '"\\x"': "invalid \\escape at character 1",
    '"\\u12"': "invalid \\uXXXX escape at character 2",
    '"a\nb"': "invalid control character at character 2",
    '"\t"': "invalid control character at character 1",
    '"\0"': "invalid control character at character 1",
    '"\x1f"': "invalid control character at character 1",
    "\ufeff{}": "unexpected UTF-8 BOM (decode using utf-8-sig) at character 0",
    "\xa0{}": "expecting value at character 0",
    "{}\x0c": "extra data at character 2",
    "{}\0": "extra data at character 2",
    "// a\n1": "expecting value at character 0",
    "0x10": "extra data at character 1",
    "1_000": "extra data at character 1",
    "-NaN": "expecting value at character 0",
    "+Infinity": "expecting value at character 0",
}
"""Two sentences where newer versions of Python say it otherwise."""


@pytest.mark.parametrize("text", NO_JSON, ids=ascii)
def test_what_is_no_json_is_refused_with_its_place(text):
    with pytest.raises(NotJsonError) as refused:
        decode(text, NESTING)
    said, _, near = str(refused.value).partition(", near ")
    assert said in ((NO_JSON[text],) if isinstance(NO_JSON[text], str) else NO_JSON[text])
    assert near.isascii()


@pytest.mark.parametrize(("opening", "closing", "levels"), [("[", "]", 1), ('{"a":', "}", 1), ('[{"[":', "}]", 2)])
def test_nesting_is_read_up_to_the_limit(opening, closing, levels):
    for times in (1, NESTING // levels):
        assert decode(opening * times + "1" + closing * times, NESTING).clean
    for times in (NESTING // levels + 1, 100_000):
        with pytest.raises(NotJsonError, match=DEEP):
            decode(opening * times + "1" + closing * times, NESTING)


DEEP = r"^it is nested more than 500 deep$"


@pytest.mark.parametrize("limit", [1, 2, 10, 900])
def test_the_limit_is_the_deepest_that_is_read(limit):
    decode("[" * limit + "]" * limit, limit)
    with pytest.raises(NotJsonError, match=f"^it is nested more than {limit} deep$"):
        decode("[" * (limit + 1) + "]" * (limit + 1), limit)


def test_brackets_are_counted_where_they_nest_and_not_in_strings():
    assert decode(json.dumps("[{" * 1000), NESTING).clean
    assert decode(json.dumps(['\\"[' * 1000, "\\"]), NESTING).clean
    assert decode(json.dumps([[]] * 1000), NESTING).clean
    assert decode(json.dumps({str(n): {} for n in range(1000)}), NESTING).clean


def test_a_limit_of_nothing_reads_scalars_alone():
    assert decode("1", 0) == Decoded(1, True)
    with pytest.raises(NotJsonError, match=r"^it is nested more than 0 deep$"):
        decode("[]", 0)


@pytest.mark.parametrize(
    "text",
    ["[" * 1_000_000, '{"a":' * 200_000, "[" * 501 + '"' + "\\n" * 500_000, '["' + "\\\\" * 500_000 + '"' + ",[" * 501],
    ids=["brackets", "objects", "a torn string", "after a long string"],
)
def test_a_nesting_without_end_is_refused_in_no_time(text):
    start = time.perf_counter()
    with pytest.raises(NotJsonError, match=DEEP):
        decode(text, NESTING)
    assert time.perf_counter() - start < 3


def test_a_limit_beyond_what_can_be_read_is_no_crash():
    with pytest.raises(NotJsonError, match=r"^it is nested too deep to read$"):
        decode("[" * 100_000 + "]" * 100_000, 10**6)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff", "it is not UTF-8: byte 0xff at offset 0"),
        (b'{"a": "\xe9"}', "it is not UTF-8: byte 0xe9 at offset 7"),
        (b'"\xed\xa0\xbd"', "it is not UTF-8: byte 0xed at offset 1"),
        (b'"\xed\xa0\xbd\xed\xb8\x80"', "it is not UTF-8: byte 0xed at offset 1"),
        (b'"\xc0\x80"', "it is not UTF-8: byte 0xc0 at offset 1"),
        (b'"\xf4\x90\x80\x80"', "it is not UTF-8: byte 0xf4 at offset 1"),
        (b'"\xf0\x9f\x98', "it is not UTF-8: byte 0xf0 at offset 1"),
        ("{}".encode("utf-16"), "it is not UTF-8: byte 0xff at offset 0; it looks like UTF-16"),
        (b"\xfe\xff" + "{}".encode("utf-16-be"), "it is not UTF-8: byte 0xfe at offset 0; it looks like UTF-16"),
        ('"é"'.encode("utf-16-le"), "it is not UTF-8: byte 0xe9 at offset 2; it looks like UTF-16"),
    ],
)
def test_what_is_no_utf_8_is_refused_with_its_place(data, said):
    with pytest.raises(NotJsonError) as refused:
        decode_utf8(data)
    assert str(refused.value) == said


def test_utf_16_without_a_mark_is_text_full_of_nul_and_no_json():
    text = decode_utf8('{"a": 1}'.encode("utf-16-le"))
    with pytest.raises(NotJsonError):
        decode(text, NESTING)


def test_utf_8_is_read_as_it_stands():
    assert decode_utf8("\ufeff{}é😀\u2028".encode()) == "\ufeff{}é😀\u2028"
    assert decode_utf8(b"") == ""


TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(VALUES, st.booleans())
def test_every_json_value_is_decoded_as_the_standard_library_decodes_it(value, escaped):
    text = json.dumps(value, ensure_ascii=escaped)
    decoded = decode(decode_utf8(text.encode()), NESTING)
    assert same(decoded.value, json.loads(text))
    assert (decoded.clean, decoded.repeated) == (True, None)
    assert flaw(decoded.value) is None


@settings(deadline=None)
@given(st.text('[]{}":,\\ue+-.0159aNf \n\0é', max_size=12))
def test_a_text_is_refused_where_the_standard_library_refuses_it(text):
    try:
        due = json.loads(text)
    except json.JSONDecodeError:
        with pytest.raises(NotJsonError):
            decode(text, NESTING)
    else:
        assert same(decode(text, NESTING).value, due)


# ── In a program ─────────────────────────────────────────────────────────────────────────────────────────────────


class Text(str):
    def __str__(self):
        raise RuntimeError("no text")

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    def __hash__(self):
        return str.__hash__(self)


class Whole(int):
    def __int__(self):
        raise RuntimeError("no number")

    def __lt__(self, other):
        raise RuntimeError("no order")

    __gt__ = __le__ = __ge__ = __lt__


class Number(float):
    def __float__(self):
        raise RuntimeError("no number")


class Table(dict):
    def items(self):
        raise RuntimeError("no items")

    def __iter__(self):
        raise RuntimeError("no keys")

    def __len__(self):
        raise RuntimeError("no length")

    __getitem__ = keys = values = get = items


class Row(list):
    def __iter__(self):
        raise RuntimeError("no elements")

    def __len__(self):
        raise RuntimeError("no length")

    __getitem__ = __iter__


class Colour(enum.IntEnum):
    RED = 1


class Word(enum.StrEnum):
    STOP = "stop"


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "copy"),
    [
        (None, None),
        (True, True),
        (1, 1),
        (-0.0, -0.0),
        ("a", "a"),
        (HIGH, HIGH),
        ((), []),
        ((1, (2,)), [1, [2]]),
        (Point(1, "y"), [1, "y"]),
        ({"a": (1, {"b": ()})}, {"a": [1, {"b": []}]}),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (b"abc", b"abc"),
        (bytearray(b"abc"), b"abc"),
        (memoryview(b"abc")[1:], b"bc"),
        ([b"\xff"], [b"\xff"]),
        (Text("a"), "a"),
        (Whole(7), 7),
        (Number(0.5), 0.5),
        (Colour.RED, 1),
        (Word.STOP, "stop"),
        (Table(a=[1]), {"a": [1]}),
        (Row([1, Row()]), [1, []]),
        ({Text("k"): Whole(1)}, {"k": 1}),
        ({1: "a"}, {"<int>": "a"}),
        ({None: 1, ("a",): 2}, {"<NoneType>": 1, "<tuple>": 2}),
        (10**4300 - 1, 10**4300 - 1),
        (1 - 10**4300, 1 - 10**4300),
        (10**4300, math.inf),
        (-(10**4300), -math.inf),
        (10**100_000, math.inf),
        (Whole(10**5000), math.inf),
        ({"a": 10**5000}, {"a": math.inf}),
        (math.nan, math.nan),
        (Number("inf"), math.inf),
        (object(), Foreign("object")),
        ({1, 2}, Foreign("set")),
        (frozenset(), Foreign("frozenset")),
        (Decimal(1), Foreign("Decimal")),
        (1j, Foreign("complex")),
        (range(3), Foreign("range")),
        (print, Foreign("builtin_function_or_method")),
        (int, Foreign("type")),
        (MappingProxyType({}), Foreign("mappingproxy")),
        (UserDict(a=1), Foreign("UserDict")),
        ([{"a": iter(())}], [{"a": Foreign("tuple_iterator")}]),
        (Ellipsis, Foreign("ellipsis")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_python_value_becomes_json_s_types_alone(value, copy):
    assert same(plain(value, NESTING), copy)


def test_the_copy_is_another_object_at_every_level():
    inner = {"c": [1]}
    value = {"a": inner, "b": [inner]}
    copy = plain(value, NESTING)
    inner["c"].append(2)
    value["b"].append(3)
    assert copy == {"a": {"c": [1]}, "b": [{"c": [1]}]}


def test_bytes_are_copied_too():
    data = bytearray(b"abc")
    copy = plain(data, NESTING)
    data[0] = 0
    assert copy == b"abc"
    assert type(copy) is bytes


@pytest.mark.parametrize("make", [lambda inner: [inner], lambda inner: {"a": inner}, lambda inner: (inner,)])
def test_python_nesting_is_read_up_to_the_limit(make):
    value = 1
    for depth in range(NESTING + 1):
        if depth == NESTING:
            deepest = plain(value, NESTING)
        value = make(value)
    assert deepest is not None
    with pytest.raises(NotJsonError, match=DEEP):
        plain(value, NESTING)
    with pytest.raises(NotJsonError, match=r"^it is nested more than 2 deep$"):
        plain(value, 2)


def test_the_limit_of_python_nesting_is_exact():
    assert plain([[]], 2) == [[]]
    with pytest.raises(NotJsonError, match=r"^it is nested more than 1 deep$"):
        plain([[]], 1)
    assert plain(1, 0) == 1
    with pytest.raises(NotJsonError, match=r"^it is nested more than 0 deep$"):
        plain([], 0)


def test_what_contains_itself_is_refused():
    row, table, branching = [], {}, []
    row.append(row)
    table["a"] = {"b": [table]}
    branching += [branching, [branching], {"a": branching}]
    for value in (row, table, branching, {"x": (row,)}):
        with pytest.raises(NotJsonError, match=DEEP):
            plain(value, NESTING)


def unfolding(levels, leaf):
    for _ in range(levels):
        leaf = [leaf, leaf]
    return leaf


def test_what_is_shared_is_copied_in_bounded_time():
    start = time.perf_counter()
    shared = {"a": [1, 2]}
    assert plain([shared] * 1000, NESTING) == [{"a": [1, 2]}] * 1000
    assert plain(unfolding(10, 1), NESTING) == unfolding(10, 1)
    for levels in (40, 400):
        with pytest.raises(NotJsonError, match=r"^its parts contain one another so often that it unfolds without end$"):
            plain(unfolding(levels, {}), NESTING)
    wide = [0] * 1000
    for _ in range(4):
        wide = [wide] * 1000
    with pytest.raises(NotJsonError, match="unfolds without end"):
        plain(wide, NESTING)
    assert time.perf_counter() - start < 5


def test_what_is_shared_at_many_depths_is_copied_in_bounded_time():
    value = []
    for _ in range(200):
        value = [value, [value]]
    start = time.perf_counter()
    with pytest.raises(NotJsonError):
        plain(value, NESTING)
    assert time.perf_counter() - start < 5


def test_a_shared_value_at_a_greater_depth_is_still_held_to_the_limit():
    shared = [[1]]
    assert plain([shared, shared], 3) == [[[1]], [[1]]]
    with pytest.raises(NotJsonError, match=r"^it is nested more than 3 deep$"):
        plain([shared, [shared]], 3)


@settings(deadline=None)
@given(VALUES)
def test_a_json_value_is_its_own_copy(value):
    assert same(plain(value, NESTING), value)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, None),
        ({"a": [1, "x", b"", True]}, None),
        (math.nan, ("", "NaN")),
        ([1, -math.inf], ("/1", "an infinite number (or one beyond what a double holds)")),
        ({"a/b": {"~": [math.inf]}}, ("/a~1b/~0/0", "an infinite number (or one beyond what a double holds)")),
        ({"a": Foreign("set")}, ("/a", "a Python set")),
        ([[math.nan], math.inf], ("/0/0", "NaN")),
        ({"b": math.inf, "a": math.nan}, ("/b", "an infinite number (or one beyond what a double holds)")),
        ([1e308, 10**400, -0.0], None),
    ],
)
def test_the_first_part_that_json_cannot_write(value, found):
    assert flaw(value) == found


def test_a_flaw_is_found_however_deep():
    value = math.nan
    for _ in range(10_000):
        value = [value]
    assert flaw(value) == ("/0" * 10_000, "NaN")


# ── Strings ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("pieces", "joined"),
    [
        ([], ""),
        (["a", "", "b"], "ab"),
        ([HIGH, LOW], BOTH),
        ([HIGH + LOW], BOTH),
        (["x" + HIGH, LOW + "y"], f"x{BOTH}y"),
        ([LOW, HIGH], LOW + HIGH),
        ([HIGH, "a", LOW], f"{HIGH}a{LOW}"),
        ([HIGH, HIGH, LOW, LOW], HIGH + BOTH + LOW),
        ([HIGH, "", LOW], BOTH),
        ([BOTH, HIGH], BOTH + HIGH),
    ],
)
def test_halves_of_a_pair_that_meet_become_one_character(pieces, joined):
    assert join_text(pieces) == joined
    assert whole_characters("".join(pieces)) == joined


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "é", BOTH, HIGH, LOW, "\udbff", "\udfff", "\ud800", "\U0010ffff"]), max_size=8))
def test_joining_means_joining_code_units(pieces):
    def units(text):
        return text.encode("utf-16-le", "surrogatepass")

    assert units(join_text(pieces)) == b"".join(map(units, pieces))
    assert whole_characters(join_text(pieces)) == join_text(pieces)


# ── Equality ─────────────────────────────────────────────────────────────────────────────────────────────────────

EQUAL = [
    (1, 1.0),
    (0, -0.0),
    (0.0, -0.0),
    (100, 1e2),
    (2**53, float(2**53)),
    (2**53 + 1, float(2**53)),
    (10**22, 1e22),
    (10**400, 10**400),
    ("", ""),
    (HIGH + LOW, BOTH),
    ([], []),
    ([1, {"a": 2.0}], [1.0, {"a": 2}]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({HIGH + LOW: 1}, {BOTH: 1}),
    ({"a": HIGH + LOW}, {"a": BOTH}),
    (b"a", b"a"),
    (None, None),
    (True, True),
]
DIFFERENT = [
    (1, True, ""),
    (0, False, ""),
    (1.0, True, ""),
    (True, False, ""),
    (0, None, ""),
    (None, False, ""),
    (1, "1", ""),
    ("", None, ""),
    ("", [], ""),
    ([], {}, ""),
    (2**53, 2**53 + 1, ""),
    (10**30 + 7, 10**30 + 8, ""),
    (10**400, 1e308, ""),
    (1e308, 10**400, ""),
    (0.1, 0.1 + 2**-55, ""),
    ("a", "A", ""),
    ("é", "e\u0301", ""),
    (HIGH, BOTH, ""),
    (LOW + HIGH, BOTH, ""),
    (b"a", "a", ""),
    (b"a", b"b", ""),
    ([1], [1, 2], "/1"),
    ([1, 2, 3], [1], "/1"),
    ([], [0], "/0"),
    ([1, [2, [3]]], [1, [2, [4]]], "/1/1/0"),
    ({"a": 1}, {"a": 2}, "/a"),
    ({"a": 1}, {}, "/a"),
    ({}, {"a": 1}, "/a"),
    ({"a": None}, {}, "/a"),
    ({"a": 1, "b": 2}, {"a": 1, "c": 2}, "/b"),
    ({"a/b": {"c~d": 1}}, {"a/b": {"c~d": 2}}, "/a~1b/c~0d"),
    ({"": 1}, {"": 2}, "/"),
    ({"a": 1, "b": 2}, {"b": 3, "a": 4}, "/a"),
    ({"z": 1, "y": 2, "x": 3}, {}, "/z"),
    ({}, {"z": 1, "y": 2, "x": 3}, "/z"),
    ({"a": [True]}, {"a": [1]}, "/a/0"),
    (math.nan, math.nan, ""),
]


@pytest.mark.parametrize(("a", "b"), EQUAL, ids=lambda value: ascii(value)[:20])
def test_these_are_equal(a, b):
    assert difference(a, b) is None
    assert difference(b, a) is None


@pytest.mark.parametrize(("a", "b", "where"), DIFFERENT, ids=lambda value: ascii(value)[:20])
def test_these_differ_and_where(a, b, where):
    assert difference(a, b) == where
    assert difference(b, a) is not None


def test_spellings_of_numbers_are_equal():
    for text in ("[1, 0, 100]", "[1.0, -0, 1e2]", "[1E0, -0.0, 100.0]", "[10e-1, 0e5, 1E+2]"):
        assert difference(decode(text, NESTING).value, [1, 0, 100]) is None


def test_equality_looks_however_deep():
    a, b, c = 1, 1.0, 2
    for _ in range(10_000):
        a, b, c = [a], [b], [c]
    assert difference(a, b) is None
    assert difference(a, c) == "/0" * 10_000


@settings(deadline=None)
@given(VALUES)
def test_a_value_equals_itself_rewritten(value):
    assert difference(value, json.loads(json.dumps(value))) is None
    assert difference(value, [value]) is not None
    assert difference([value, 1], [value, 2]) == "/1"


def at(value, pointer):
    """What a pointer leads to, in a list; nothing where it leads nowhere."""
    try:
        return [follow(value, pointer)]
    except (LookupError, ValueError, TypeError):
        return []


@settings(deadline=None)
@given(VALUES, VALUES)
def test_a_difference_is_mutual_and_leads_to_what_differs(a, b):
    where = difference(a, b)
    assert (where is None) == (difference(b, a) is None)
    if where is not None:
        found = [*at(a, where), *at(b, where)]
        assert found
        assert len(found) == 1 or difference(*found) == ""


# ── Pointers ─────────────────────────────────────────────────────────────────────────────────────────────────────

RFC_6901 = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
    "~1": 9,
    "~": {"/": [10]},
}


@pytest.mark.parametrize(
    ("parts", "pointer", "value"),
    [
        ((), "", RFC_6901),
        (("foo",), "/foo", ["bar", "baz"]),
        (("foo", 0), "/foo/0", "bar"),
        (("",), "/", 0),
        (("a/b",), "/a~1b", 1),
        (("c%d",), "/c%d", 2),
        (("e^f",), "/e^f", 3),
        (("g|h",), "/g|h", 4),
        (("i\\j",), "/i\\j", 5),
        (('k"l',), '/k"l', 6),
        ((" ",), "/ ", 7),
        (("m~n",), "/m~0n", 8),
        (("~1",), "/~01", 9),
        (("~", "/", 0), "/~0/~1/0", 10),
    ],
)
def test_a_pointer_is_written_and_followed(parts, pointer, value):
    assert point(*parts) == pointer
    assert follow(RFC_6901, pointer) == value


@pytest.mark.parametrize("pointer", ["/nothing", "/foo/2", "/foo/x", "/foo/0/0", "/a~1b/c", "/foo/"])
def test_a_pointer_that_leads_nowhere(pointer):
    with pytest.raises((LookupError, ValueError, TypeError)):
        follow(RFC_6901, pointer)


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=4), VALUES)
def test_every_place_has_a_pointer(keys, value):
    nested = value
    for key in reversed(keys):
        nested = {"other": 1, key: nested}
    assert same(follow(nested, point(*keys)), value)


# ── Words ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (1, "a number"),
        (math.nan, "a number"),
        ("", "a string"),
        (b"", "bytes"),
        ([], "an array"),
        ({}, "an object"),
        (Foreign("set"), "a Python set"),
    ],
)
def test_the_name_of_a_value(value, name):
    assert name_of(value) == name


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (-1.5, "-1.5"),
        (1e22, "1e+22"),
        ("a\x1b[31mé\n", '"a\\u001b[31m\\u00e9\\n"'),
        ("a" * 40, '"' + "a" * 40 + '"'),
        ("a" * 41, '"' + "a" * 40 + '"…'),
        (10**39, "1" + "0" * 39),
        (10**40, "a long integer"),
        (-(10**4000), "a long integer"),
        ([1], "an array"),
        ({"a": 1}, "an object"),
        (b"a", "bytes"),
        (HIGH, '"\\ud83d"'),
        (math.inf, "Infinity"),
    ],
)
def test_a_value_is_shown_on_one_short_line(value, shown):
    assert show(value) == shown


@settings(deadline=None)
@given(st.text(max_size=200))
def test_what_is_shown_is_printable_and_short(text):
    shown = show(text)
    assert shown.removesuffix("…").isascii()
    assert shown.isprintable()
    assert len(shown) <= 12 * 40 + 3
