"""The format is told from the content; the suffix settles a tie; how the content is cut into chunks decides nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmsp_fsm.recordings.formats import BOM, HEAD, Teller, detect

OBJECT = b'{"event_type":"delta","content_items":[]}'
FIELD = b"data: " + OBJECT
ARRAY = b"[" + OBJECT + b"," + OBJECT + b"]"
PRETTY = json.dumps([json.loads(OBJECT)] * 2, indent=1).encode()
KEPT_OPEN = b"[" + OBJECT + b",\n" + OBJECT + b",\n"
BIG = b"[" + b",".join([OBJECT] * (HEAD // len(OBJECT) + 2)) + b"]"
SUFFIXES = ("", ".jsonl", ".ndjson", ".json", ".sse", ".txt")

TOLD = {
    "an object": ("jsonl", OBJECT),
    "an object and a line end": ("jsonl", OBJECT + b"\n"),
    "an object alone, cut": ("jsonl", OBJECT[:5]),
    "an object after blanks": ("jsonl", b" \t" + OBJECT),
    "objects": ("jsonl", OBJECT + b"\n" + OBJECT),
    "objects, CRLF": ("jsonl", OBJECT + b"\r\n" + OBJECT + b"\r\n"),
    "objects after blank lines": ("jsonl", b"\n\r\n  \n" + OBJECT),
    "objects after a BOM": ("jsonl", BOM + OBJECT),
    "an array as the first record, then an object": ("jsonl", b"[1,2]\n" + OBJECT),
    "arrays as records": ("jsonl", b"[1,2]\n[3,4]\n"),
    "a line torn at its start, then an object": ("jsonl", b'"text": "x"}], "created_at": 1}\n' + OBJECT),
    "a line torn before a colon, then an object": ("jsonl", b': "x"}], "created_at": 1}\n' + OBJECT),
    "a line torn before a bracket, then an object": ("jsonl", b'[{"text": "x"}], "created_at": 1}\n' + OBJECT),
    "a line torn before a bracket in a text, then an object": ("jsonl", b'[see "x"}], "created_at": 1}\n' + OBJECT),
    "garbage, then an object": ("jsonl", b"\x93\x00\xff\n" + OBJECT),
    "a log, then an object": ("jsonl", b"[2026-01-01] started\n" + OBJECT),
    "NULs, then an object": ("jsonl", b"\0" * 200 + b"\n" + OBJECT),
    "a field": ("sse", FIELD),
    "a field, LF": ("sse", FIELD + b"\n\n" + FIELD + b"\n\n"),
    "a field, CRLF": ("sse", FIELD + b"\r\n\r\n"),
    "a field, CR": ("sse", FIELD + b"\r\r" + FIELD + b"\r\r"),
    "a field after a BOM": ("sse", BOM + FIELD),
    "a field without a blank": ("sse", b"data:" + OBJECT),
    "a field of which nothing but the name came": ("sse", b"data:"),
    "a comment": ("sse", b": keep-alive\n\n" + FIELD),
    "a comment alone": ("sse", b": keep-alive\n\n"),
    "an empty comment": ("sse", b":\n\n" + FIELD),
    "an event field": ("sse", b"event: message\n" + FIELD),
    "a bare event field": ("sse", b"event\n" + FIELD),
    "an id field": ("sse", b"id: 1\n" + FIELD),
    "a retry field": ("sse", b"retry: 3000\n\n" + FIELD),
    "the done marker": ("sse", b"data: [DONE]\n\n"),
    "headers, then fields": ("sse", b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + FIELD),
    "a line torn at its start, then a field": ("sse", b'"text": "x"}]}\n\n' + FIELD),
    "a pretty array": ("json", PRETTY),
    "a pretty array, CRLF": ("json", PRETTY.replace(b"\n", b"\r\n")),
    "a pretty array after blank lines": ("json", b"\n \n" + PRETTY),
    "a pretty array after a BOM": ("json", BOM + PRETTY),
    "an array that stays open": ("json", KEPT_OPEN),
    "an array that stays open, cut": ("json", KEPT_OPEN[:-9]),
    "a bracket on a line of its own": ("json", b"[\n"),
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(("due", "head"), TOLD.values(), ids=TOLD)
def test_content_is_believed_whatever_the_suffix(due, head, suffix):
    assert detect(head, suffix) == due


# One line that is an array may be an array of records or one record, until another line tells.
LONE = {
    "a compact array": ARRAY,
    "a compact array and a line end": ARRAY + b"\n",
    "a compact array after blank lines": b"\n\r\n" + ARRAY,
    "a compact array after a BOM": BOM + ARRAY,
    "a compact array, torn": ARRAY[:-5],
    "a bracket": b"[",
    "an empty array": b"[]",
    "a compact array, longer than what is looked at": BIG,
    "a compact array, then text": ARRAY + b" x",
    "a compact array, then a line of text": ARRAY + b"\nx\n",
    "brackets and quotes in strings": b'["]", "\\"]", "["]',
}


@pytest.mark.parametrize("head", LONE.values(), ids=LONE)
def test_the_suffix_settles_what_one_line_with_an_array_is(head):
    assert {suffix: detect(head, suffix) for suffix in SUFFIXES} == {
        "": "json",
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".json": "json",
        ".sse": "json",
        ".txt": "json",
    }


NOTHING = {
    "nothing": b"",
    "a BOM": BOM,
    "half a BOM": BOM[:2],
    "white space": b" \n\r\n\t",
    "garbage": b"\x93\x00\xff\x01\n\x80",
    "NULs": b"\0" * 300,
    "UTF-16, little-endian": OBJECT.decode().encode("utf-16"),
    "UTF-16, big-endian": b"\xfe\xff" + OBJECT.decode().encode("utf-16-be"),
    "text": b"once upon a time\nthere was a checker\n",
    "a number": b"12",
    "half a field name": b"dat",
    "a field that is indented": b" data: x",
}


@pytest.mark.parametrize("head", NOTHING.values(), ids=NOTHING)
def test_where_no_line_decides_the_suffix_does(head):
    assert {suffix: detect(head, suffix) for suffix in SUFFIXES} == {
        "": "jsonl",
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".json": "jsonl",
        ".sse": "sse",
        ".txt": "jsonl",
    }


def test_what_stands_beyond_the_head_decides_nothing():
    noise = b"x\n" * (HEAD // 2)
    assert detect(noise[2:] + FIELD, "") == "jsonl"
    assert detect(noise[: -2 * len(FIELD)] + FIELD, "") == "sse"


def test_the_suffix_may_be_written_in_capitals():
    assert [detect(ARRAY, suffix) for suffix in (".JSONL", ".NdJson", ".JSON")] == ["jsonl", "jsonl", "json"]
    assert detect(b"", ".SSE") == "sse"


PIECES = st.sampled_from(
    [
        b"[",
        b"]",
        b"{",
        b"}",
        b'"',
        b"\\",
        b",",
        b":",
        b"\n",
        b"\r",
        b" ",
        b"x",
        b"data",
        b"data:",
        b"event",
        BOM,
        BOM[:1],
        OBJECT,
        ARRAY,
        FIELD,
        b"\0",
        b"\xff",
    ]
)
CONTENT = st.lists(PIECES, max_size=12).map(b"".join) | st.binary(max_size=40)


def told_by_chunks(data, suffix, cuts):
    teller = Teller(suffix)
    for end in [*sorted({cut for cut in cuts if cut < len(data)}), len(data)]:
        if told := teller.look(data[:end]):
            return told
    return teller.settle(data)


@given(CONTENT, st.sampled_from(SUFFIXES), st.lists(st.integers(0, 60)))
def test_it_never_raises_and_chunks_decide_nothing(data, suffix, cuts):
    due = detect(data, suffix)
    assert due in ("jsonl", "json", "sse")
    assert told_by_chunks(data, suffix, cuts) == due
    assert told_by_chunks(data, suffix, range(len(data))) == due


@given(CONTENT, CONTENT, st.sampled_from(SUFFIXES))
def test_what_is_told_early_stays_so(data, more, suffix):
    told = Teller(suffix).look(data)
    if told is not None:
        assert detect(data + more, suffix) == told


@pytest.mark.parametrize("head", [b"{", b"data:", b": keep-alive\n", b"id: 1", b"[\n", b"[1]\n[", BOM + b"{"])
def test_it_is_told_before_the_end(head):
    assert Teller("").look(head) == detect(head, "")


@pytest.mark.parametrize("head", [b"", BOM[:2], b"[", b"[1]", b"[1]\n", b"dat", b"data", b": keep", b"x\n", b"\n"])
def test_it_is_not_told_too_early(head):
    assert Teller("").look(head) is None
