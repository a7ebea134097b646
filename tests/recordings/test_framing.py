"""Records are cut from bytes where the format says, whatever the bytes are and however they are cut into chunks."""

import json
import time
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.recordings.framing import SHOWN, JsonArray, JsonLines, ServerSentEvents, one_by_one

MARKER = b"[DONE]"
A, B, C = b'{"a":1}', b'{"b":2}', b'{"c":3}'

SEPARATORS = {
    "U+2028": "\u2028".encode(),
    "U+2029": "\u2029".encode(),
    "U+0085": "\u0085".encode(),
    "form feed": b"\f",
    "vertical tab": b"\v",
    "file separator": b"\x1c",
    "NUL": b"\0",
}


def framing(kind, limit=None):
    limits = Limits() if limit is None else Limits(record_bytes=limit)
    if kind == "sse":
        return ServerSentEvents(limits, MARKER)
    return JsonLines(limits) if kind == "jsonl" else JsonArray(limits)


def chunks(data, cuts):
    borders = [0, *sorted({cut for cut in cuts if 0 < cut < len(data)}), len(data)]
    return [data[start:end] for start, end in pairwise(borders)]


def read_chunks(kind, pieces, limit=None):
    """The records, the line after them, and whether a done marker came."""
    reader = framing(kind, limit)
    records = [record for piece in pieces for record in one_by_one(reader.feed(piece))]
    records += one_by_one(reader.close())
    return records, reader.line, getattr(reader, "marker_seen", None)


def read(kind, data, limit=None):
    """The records as (data, line), and faults as (data, line, fault); however `data` is cut, they are the same."""
    whole = read_chunks(kind, [data], limit)
    assert read_chunks(kind, chunks(data, range(len(data))), limit) == whole
    assert read_chunks(kind, chunks(data, range(0, len(data), 7)), limit) == whole
    return [(one.data, one.line) if one.fault is None else (one.data, one.line, one.fault) for one in whole[0]]


def lines_and_faults(records):
    return [(one[1], len(one) == 3) for one in records]


# ── Laws ─────────────────────────────────────────────────────────────────────────────────────────────────────

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
CUTS = st.lists(st.integers(1, 200), max_size=12)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=3)


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def agree(kind, data, cuts, due, line):
    """However the data is cut, the records are those that are due."""
    for borders in ([], range(len(data)), cuts):
        records, end, marker = read_chunks(kind, chunks(data, borders))
        assert [(one.data, one.line, one.fault) for one in records] == [(text, at, None) for text, at in due]
        assert end == line
    return marker


@given(
    st.lists(st.tuples(st.none() | VALUES, st.sampled_from([b"\n", b"\r\n"]), st.sampled_from([b"", b" ", b"\t"]))),
    st.booleans(),
    CUTS,
)
def test_jsonl_gives_the_values_that_were_written(written, ended, cuts):
    data, due = b"", []
    for number, (value, end, space) in enumerate(written, 1):
        text = space if value is None else space + compact(value)
        if value is not None:
            due.append((text, number))
        data += text + end
    line = len(written) + 1
    if not ended and data.endswith(b"\n"):  # the last line, without its line end, is none if nothing is left of it
        data = data.removesuffix(b"\n").removesuffix(b"\r")
        line -= data == b"" or data.endswith(b"\n")
    agree("jsonl", data, cuts, due, line)


NOISE = st.sampled_from(
    [b": keep-alive", b":", b"event: message", b"id: 7", b"id", b"retry: 3000", b"other: x", b"other"]
)


@st.composite
def sse_recordings(draw):
    """A recording, the (data, line) of its records, the line after them, and whether it has a marker."""
    end = draw(st.sampled_from([b"\n", b"\r", b"\r\n"]))
    colon = draw(st.sampled_from([b"data:", b"data: "]))
    lines, due, marker = [], [], False
    for block in draw(
        st.lists(st.none() | st.sampled_from([b"[DONE]", b" [DONE] ", b"[DONE]\t"]) | OBJECTS, max_size=5)
    ):
        lines += draw(st.lists(NOISE, max_size=2))
        if isinstance(block, bytes):
            lines.append(b"data:" + block)
            marker = True
        elif block is not None:
            text = (
                compact(block)
                if draw(st.booleans())
                else json.dumps(block, indent=draw(st.sampled_from([0, 2]))).encode()
            )
            due.append((text, len(lines) + 1))
            for part in text.split(b"\n"):
                # One blank after the colon is the format's: where the text begins with one, it needs another.
                lines.append((colon if not part.startswith(b" ") else b"data: ") + part)
                lines += draw(st.lists(NOISE, max_size=1))
        lines += draw(st.lists(NOISE, max_size=1))
        lines += [b""] * draw(st.integers(1, 2))
    data = b"".join(line + end for line in lines)
    after = len(lines) + 1
    while data.endswith(end) and not draw(st.booleans()):  # cut anywhere in the line ends at its end
        data = data.removesuffix(end)
        after = 1 + data.count(end) + (data != b"" and not data.endswith(end))
    return data, due, after, marker


@given(sse_recordings(), CUTS)
def test_sse_gives_the_values_that_were_sent(recording, cuts):
    data, due, line, marker = recording
    assert agree("sse", data, cuts, due, line) == marker


@given(st.lists(VALUES, max_size=5), st.sampled_from([None, 0, 1]), st.sampled_from([b"", b"\n", b" \r\n\t"]), CUTS)
def test_an_array_gives_its_elements(values, indent, around, cuts):
    text = json.dumps(values, ensure_ascii=False, indent=indent).encode()
    data = around + text + around
    for borders in ([], range(len(data)), cuts):
        records, end, _ = read_chunks("json", chunks(data, borders))
        assert [json.loads(one.data) for one in records] == json.loads(text)
        assert all(one.fault is None and one.data == one.data.strip(b" \t\r\n") for one in records)
        assert end == 1 + data.count(b"\n")
        at = 0
        for one in records:
            at = data.index(one.data, at)
            assert one.line == 1 + data.count(b"\n", 0, at)
            at += len(one.data)


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
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\r\r\n",
        b" ",
        b"x",
        b"x" * 30,
        b"data",
        b"data: ",
        b"\xef\xbb\xbf",
        A,
        b"data: " + A,
        b"[DONE]",
        b"data: [DONE]",
        b"event: x",
        b"\0",
        b"\xff",
        b" " * 30,
    ]
)
CONTENT = st.lists(PIECES, max_size=14).map(b"".join) | st.binary(max_size=60)


@pytest.mark.parametrize("kind", ["jsonl", "sse", "json"])
@given(data=CONTENT, cuts=CUTS, limit=st.none() | st.integers(0, 40))
def test_no_bytes_raise_and_chunks_decide_nothing(kind, data, cuts, limit):
    whole, line, marker = read_chunks(kind, [data], limit)
    assert read_chunks(kind, chunks(data, cuts), limit) == (whole, line, marker)
    assert read_chunks(kind, chunks(data, range(len(data))), limit) == (whole, line, marker)
    begins = [one.line for one in whole]
    assert begins == sorted(begins)
    assert all(1 <= begin <= line for begin in begins)
    for one in whole:
        if one.fault is None:
            assert one.data.strip(b" \t\r\n")
            assert limit is None or len(one.data) <= limit
        else:
            assert len(one.data) <= SHOWN


@pytest.mark.parametrize("kind", ["jsonl", "sse", "json"])
def test_nothing_is_no_record(kind):
    for data in (b"", b"\n", b" \t\r\n\r\n", b"\n\n\n"):
        assert read(kind, data) == []
    assert read_chunks(kind, [b"", b"", b""]) == ([], 1, False if kind == "sse" else None)


# ── JSONL ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_jsonl_drops_one_cr_before_the_line_end():
    assert read("jsonl", A + b"\r\n" + B + b"\r\r\n" + C + b"\r") == [(A, 1), (B + b"\r", 2), (C, 3)]


@pytest.mark.parametrize("limit", range(1, 8))
def test_jsonl_drops_one_cr_near_the_limit_too(limit):
    for data in (b"x\r\r\n", b"x\r\r\nx\r\r\n", b"xx\r\r\r\n1\r\r\n", b"x\r\r", b"x\n\n\r\r\n"):
        lines = [line.removesuffix(b"\n").removesuffix(b"\r") for line in data.split(b"\n")]
        due = [line for line in lines if line.strip() or len(line) > limit]
        assert [one[0] for one in read("jsonl", data, limit)] == due


def test_jsonl_ends_no_line_at_a_lone_cr():
    assert read("jsonl", A + b"\r" + B + b"\n" + C) == [(A + b"\r" + B, 1), (C, 2)]


@pytest.mark.parametrize("separator", SEPARATORS.values(), ids=SEPARATORS)
def test_jsonl_ends_a_line_at_lf_alone(separator):
    assert read("jsonl", A + separator + B + b"\n" + C) == [(A + separator + B, 1), (C, 2)]
    assert read("jsonl", separator + b"\n" + C) == [(separator, 1), (C, 2)]


def test_jsonl_reads_a_last_line_without_a_line_end():
    assert read("jsonl", A + b"\n" + B) == [(A, 1), (B, 2)]
    assert read("jsonl", A + b"\n" + B[:3]) == [(A, 1), (B[:3], 2)]


def test_jsonl_counts_blank_lines():
    assert read("jsonl", b"\n" + A + b"\n \t\r\n\n" + B + b"\n\n") == [(A, 2), (B, 5)]


# ── Server-sent events ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"], ids=["LF", "CR", "CRLF"])
def test_sse_ends_lines_at_each_of_three_line_ends(end):
    data = end.join([b"data: " + A, b"", b": x", b"data: " + B, b"", b"data: [DONE]", b"", b""])
    assert read("sse", data) == [(A, 1), (B, 4)]
    assert read_chunks("sse", [data])[1:] == (8, True)


def test_sse_line_ends_may_be_mixed():
    assert read("sse", b"data: " + A + b"\r\n\ndata: " + B + b"\r\rdata: " + C + b"\n\r\n") == [(A, 1), (B, 3), (C, 5)]


@pytest.mark.parametrize("separator", SEPARATORS.values(), ids=SEPARATORS)
def test_sse_ends_a_line_nowhere_else(separator):
    text = b'{"a":"' + separator + b'"}'
    assert read("sse", b"data: " + text + b"\n\ndata: " + B + b"\n\n") == [(text, 1), (B, 3)]


def test_sse_joins_the_data_lines_of_a_block():
    data = b'event: x\ndata: {"a":\n: a comment\nid: 1\ndata:1\ndata\ndata:  }\n\n'
    assert read("sse", data) == [(b'{"a":\n1\n\n }', 2)]


def test_sse_takes_one_blank_after_the_colon():
    assert read("sse", b"data:" + A + b"\n\ndata: " + B + b"\n\ndata:  " + C + b"\n\n") == [
        (A, 1),
        (B, 3),
        (b" " + C, 5),
    ]


@pytest.mark.parametrize(
    "block",
    [
        b": keep-alive",
        b"event: ping",
        b"id: 1\nretry: 3",
        b"data",
        b"data:",
        b"data: ",
        b"data:\ndata:  \t",
        b"other: " + A,
        b"database: " + A,
        b"   ",
        b"\t",
        b"HTTP/1.1 200 OK",
        b"content-type: text/event-stream",
        b"1a4",
    ],
)
def test_sse_blocks_without_data_are_none(block):
    assert read("sse", block) == []
    assert read("sse", block + b"\n\ndata: " + A + b"\n\n") == [(A, block.count(b"\n") + 3)]


def test_sse_reads_a_last_block_without_its_end():
    for rest in (b"", b"\n", b"\r", b"\r\n"):
        assert read("sse", b"data: " + A + b"\n\ndata: " + B + rest) == [(A, 1), (B, 3)]


@pytest.mark.parametrize(
    "marker",
    [b"data: [DONE]", b"data:[DONE]", b"data:  [DONE] \t", b"event: end\ndata: [DONE]", b"data:\ndata: [DONE]\ndata:"],
)
def test_sse_sees_the_marker_wherever_it_stands(marker):
    event = b"data: " + A + b"\n\n"
    for data in (marker, event + marker, event + marker + b"\n\n", marker + b"\n\n" + event, (marker + b"\n\n") * 2):
        assert [one for one, _ in read("sse", data)] == [A] * data.count(A)
        assert read_chunks("sse", [data])[2] is True


def test_sse_reads_records_after_the_marker():
    assert read("sse", b"data: [DONE]\n\ndata: " + A + b"\n\ndata: [DONE]\n\n") == [(A, 3)]


@pytest.mark.parametrize("value", [b"[DONE] x", b"[DONE", b'"[DONE]"', b"[done]", b"[DONE][DONE]"])
def test_sse_takes_nothing_else_for_the_marker(value):
    data = b"data: " + value + b"\n\n"
    assert read("sse", data) == [(value, 1)]
    assert read_chunks("sse", [data])[2] is False


@pytest.mark.parametrize("colon", [b"data: ", b"data:", b"data:  "])
def test_sse_cut_inside_the_marker_has_lost_the_marker_alone(colon):
    event, marker = b"data: " + A + b"\n\n", colon + MARKER
    for length in range(len(marker)):
        assert read("sse", event + marker[:length]) == [(A, 1)], marker[:length]
        assert read_chunks("sse", [event + marker[:length]])[2] is False


def test_sse_cut_inside_a_record_gives_what_came_of_it():
    event = b"data: " + A
    assert [read("sse", event[:length]) for length in range(len(event) + 1)] == [[]] * 7 + [
        [(A[:length], 1)] for length in range(1, len(A) + 1)
    ]


LOST = {
    "an object": A,
    "an indented object": b"  " + A,
    "an array": b"[1]",
    "the tail of a torn record": b'"text":"x"}],"created_at":1}',
    "the tail of a torn record, without a colon": b"1}",
    "a field after a log's time": b"[2026-01-01] data: " + A,
    "an indented field": b" data: " + A,
    "a field after a BOM in the middle": b"\xef\xbb\xbfdata: " + A,
    "NULs": b"\0" * 200,
    "binary data": b"\x1f\x8b\x08\x00",
    "UTF-16": ("data: " + A.decode()).encode("utf-16-le"),
}


@pytest.mark.parametrize("line", LOST.values(), ids=LOST)
def test_sse_says_where_a_record_lost_its_field(line):
    says = "this line is no field of server-sent events: it does not begin with `data:`"
    event = b"data: " + B + b"\n\n"
    assert read("sse", event + line + b"\n\n" + event) == [(B, 1), (line[:SHOWN], 3, says), (B, 5)]
    assert read("sse", event + line) == [(B, 1), (line[:SHOWN], 3, says)]


def test_sse_ends_a_block_at_a_line_that_lost_its_field():
    records = read("sse", b"data: " + A + b"\n" + B + b"\n" + C + b"\ndata: " + A + b"\n\n")
    assert lines_and_faults(records) == [(1, False), (2, True), (3, True), (4, False)]


def test_sse_passes_over_a_marker_that_lost_its_field():
    for line in (b"[DONE]", b" [DONE] ", b" data: [DONE]"):
        data = b"data: " + A + b"\n\n" + line + b"\n\n"
        assert read("sse", data) == [(A, 1)]
        assert read_chunks("sse", [data])[2] is False


# ── Arrays ───────────────────────────────────────────────────────────────────────────────────────────────────

TRICKY = [
    {"a": 'a "quoted" ] } , [ { text', "b": "\\", "c": '\\"'},
    {"a": [[], {}, [[{"b": []}]]], "": ","},
    {"\u2028": "\u2029\u0085"},
]
TORN = "the array is torn: the recording ends inside it"
COMMA = "a comma stands here without an element"
AFTER = "something follows the end of the array"


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_cut_at_each_byte_gives_the_elements_before_and_one_fault(indent):
    data = json.dumps(TRICKY, ensure_ascii=False, indent=indent).encode()
    ends, decoder, text = [], json.JSONDecoder(), data.decode()
    at = 1
    for _ in TRICKY:
        start = at + text[at:].index("{")
        at = decoder.raw_decode(text, start)[1]
        ends.append(len(text[:at].encode()))
    for length in range(1, len(data)):
        records = read("json", data[:length])
        whole = sum(length >= end for end in ends)
        assert [json.loads(one[0]) for one in records[:-1]] == TRICKY[:whole], data[:length]
        assert [one[2] for one in records[whole:]] == [TORN]


def test_a_tear_stands_where_what_is_left_begins():
    assert read("json", b"[\n" + A + b",\n" + B[:4]) == [(A, 2), (B[:4], 3, TORN)]
    assert read("json", b"[\n" + A + b",\n") == [(A, 2), (b"", 3, TORN)]
    assert read("json", b"[\n" + A + b"\n") == [(A, 2), (b"", 3, TORN)]
    assert read("json", b"[") == [(b"", 1, TORN)]
    assert read("json", b"[ 12") == [(b"12", 1, TORN)]
    assert read("json", b'["] , ') == [(b'"] ,', 1, TORN)]
    assert read("json", b'["\\') == [(b'"\\', 1, TORN)]
    assert read("json", b"[" + A + b" " + B[:4]) == [(A + b" " + B[:4], 1, TORN)]


@pytest.mark.parametrize(
    ("data", "due"),
    [
        (b"[" + A + b",]", [(A, 1), (b",", 1, COMMA)]),
        (b"[" + A + b",\n]", [(A, 1), (b",", 1, COMMA)]),
        (b"[" + A + b",,\n" + B + b"]", [(A, 1), (b",", 1, COMMA), (B, 2)]),
        (b"[" + A + b",\n,,,\n" + B + b"]", [(A, 1), (b",", 2, COMMA), (B, 3)]),
        (b"[," + A + b"]", [(b",", 1, COMMA), (A, 1)]),
        (b"[,]", [(b",", 1, COMMA)]),
        (b"[" + A + b", ]", [(A, 1), (b",", 1, COMMA)]),
        (b"[,," + A + b",,," + B + b",,]", [(b",", 1, COMMA), (A, 1), (b",", 1, COMMA), (B, 1), (b",", 1, COMMA)]),
        (b"[" + A + b"] x", [(A, 1), (b"x", 1, AFTER)]),
        (b"[" + A + b"]\n\n]\n", [(A, 1), (b"]", 3, AFTER)]),
        (b"[" + A + b"]\n[" + B + b"]", [(A, 1), (b"[" + B + b"]", 2, AFTER)]),
        (b"[" + A + b"]\0\0", [(A, 1), (b"\0\0", 1, AFTER)]),
        (b"[]", []),
        (b" [ \n ] \n", []),
        (b"[ ] , ", [(b",", 1, AFTER)]),
    ],
)
def test_what_keeps_a_text_from_being_an_array_is_one_fault(data, due):
    assert read("json", data) == due


@pytest.mark.parametrize(
    ("broken", "due"),
    [
        (b'{"x":1]', [b'{"x":1]']),  # closed by another bracket
        (b'{"x":1}}', [b'{"x":1}}']),  # closed twice
        (b"{x y}", [b"{x y}"]),
        (A + b" " + B, [A + b" " + B]),  # a comma is missing
        (b"\f" + A, [b"\f" + A]),  # a form feed is no white space
        (b"\0", [b"\0"]),
        (b"}", [b"}"]),
        (b"\xff\xfe", [b"\xff\xfe"]),
        (b'"]\\"[,"', [b'"]\\"[,"']),
        (b"1 , null,tru", [b"1", b"null", b"tru"]),
    ],
)
def test_an_element_that_is_broken_costs_only_itself(broken, due):
    records = read("json", b"[" + A + b",\n" + broken + b" ,\n" + C + b"]")
    assert records == [(A, 1), *((one, 2) for one in due), (C, 3)]


@pytest.mark.parametrize("torn", [b'{"b":2]', b'{"b":[1]\n]', b"{]", b'{"b": "x\n]', b"[}"])
def test_a_torn_element_that_something_closed_is_one_fault(torn):
    records = read("json", b"[" + A + b"," + torn)
    assert records == [(A, 1), (torn, 1, TORN)]


@pytest.mark.parametrize("data", [A, b"12", b"x [1]", b"\xef\xbb\xbf[", b"]", b",", b"data: x\n\ndata: y"])
def test_what_begins_with_no_bracket_is_one_fault(data):
    says = "this is no JSON array: it does not begin with a bracket"
    assert read("json", b"\n " + data + b"\n") == [(data, 2, says)]


# ── Limits ───────────────────────────────────────────────────────────────────────────────────────────────────

LIMIT = 1000
LONG = f"the record is longer than {LIMIT} bytes"


def sized(size):
    return b'{"a":"' + b"x" * (size - 8) + b'"}'


def framed(kind, *texts, end=b"\n"):
    if kind == "json":
        return b"[" + (b"," + end).join(texts) + b"]"
    return b"".join(b"data: " + text + 2 * end if kind == "sse" else text + end for text in texts)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("kind", ["jsonl", "sse", "json"])
def test_a_record_may_be_as_long_as_the_limit_and_no_longer(kind, end):
    step = 2 if kind == "sse" else 1
    assert read(kind, framed(kind, sized(LIMIT), B, end=end), LIMIT) == [(sized(LIMIT), 1), (B, 1 + step)]
    for size in (LIMIT + 1, LIMIT + 2, LIMIT + 3, LIMIT + 7, 5 * LIMIT):
        due = [(A, 1), (sized(size)[:SHOWN], 1 + step, LONG), (B, 1 + 2 * step)]
        assert read(kind, framed(kind, A, sized(size), B, end=end), LIMIT) == due


@pytest.mark.parametrize("kind", ["jsonl", "sse"])
def test_a_long_record_at_the_end_is_one_fault(kind):
    data = framed(kind, A, sized(3 * LIMIT)).rstrip()
    assert lines_and_faults(read(kind, data, LIMIT)) == [(1, False), (3 if kind == "sse" else 2, True)]


def test_the_blank_after_the_colon_is_no_part_of_the_record():
    for colon in (b"data:", b"data: "):
        assert read("sse", colon + sized(LIMIT) + b"\n\n", LIMIT) == [(sized(LIMIT), 1)]
        assert read("sse", colon + sized(LIMIT + 1) + b"\n\n", LIMIT) == [(sized(LIMIT + 1)[:SHOWN], 1, LONG)]


def test_the_lines_of_a_block_count_together():
    half = b"x" * 500
    assert read("sse", b"data: " + half + b"\ndata: " + half[1:] + b"\n\n", LIMIT) == [(half + b"\n" + half[1:], 1)]
    data = b"data: " + half + b"\ndata: " + half + b"\ndata: y\n\ndata: " + A + b"\n\n"
    assert read("sse", data, LIMIT) == [(half[:SHOWN], 1, LONG), (A, 5)]


def test_white_space_at_the_beginning_hides_no_record_that_is_too_long():
    text = b" " * 300 + b"x" * 2000
    assert lines_and_faults(read("sse", b"data:" + text, LIMIT)) == [(1, True)]
    assert lines_and_faults(read("sse", b"data:" + text + b"\n\n", LIMIT)) == [(1, True)]


def test_what_carries_nothing_may_be_as_long_as_it_likes():
    data = b": " + b"x" * 5000 + b"\nevent: " + b"y" * 5000 + b"\n\ndata: " + A + b"\n\n"
    assert read("sse", data, LIMIT) == [(A, 4)]


def test_a_limit_below_what_is_shown_shows_the_same_however_it_is_cut():
    for kind in ("jsonl", "sse", "json"):
        for size in (9, 10, 16, 17, 250, 256, 257, 262, 263, 300):
            records = read(kind, framed(kind, b"x" * size, b"1"), 8)
            assert [one[0] for one in records] == [b"x" * min(size, SHOWN), b"1"]


def test_the_marker_is_seen_whatever_the_limit():
    assert read_chunks("sse", [b"data: [DONE]\n\n"], 2) == ([], 3, True)


@pytest.mark.parametrize("kind", ["jsonl", "sse"])
@pytest.mark.parametrize("limit", [1 << 20, 1 << 30])
def test_memory_is_bounded_by_the_limit_and_by_what_came(kind, limit):
    """A line takes no more than the limit, and twice itself while it is handed over."""
    reader, piece = framing(kind, limit), b"x" * 4096
    count = (24 << 20) // len(piece) if limit < 1 << 30 else 1024
    tracemalloc.start()
    records = list(one_by_one(reader.feed(b"data: ")))
    for _ in range(count):
        records += one_by_one(reader.feed(piece))
    records += one_by_one(reader.feed(b"\n\n"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(records) == 1
    assert (records[0].fault is None) == (limit == 1 << 30)
    assert peak < 16 << 20


@pytest.mark.parametrize("kind", ["jsonl", "sse"])
def test_a_line_that_comes_in_small_pieces_takes_no_more_memory_than_one_that_comes_whole(kind):
    reader = framing(kind)
    tracemalloc.start()
    assert list(one_by_one(reader.feed(b"data: "))) == []
    for _ in range(20_000):
        assert list(one_by_one(reader.feed(b"xyz"))) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 18


def test_a_block_of_many_empty_lines_takes_no_more_memory_than_its_bytes():
    reader = framing("sse")
    tracemalloc.start()
    for _ in range(10):
        assert list(one_by_one(reader.feed(b"data:\n" * 4000))) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert list(one_by_one(reader.feed(b"\n"))) == []
    assert peak < 1 << 18


def test_blank_lines_are_not_kept():
    reader = framing("jsonl")
    tracemalloc.start()
    for _ in range(20_000):
        assert list(one_by_one(reader.feed(b"\n"))) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert reader.line == 20_001
    assert peak < 1 << 16


HARD = {
    "brackets nested deep": (b"[" + b"[" * 100_000 + b"]" * 100_000 + b"," + A + b"]", 2),
    "brackets that never close": (b"[" * 100_000, 1),
    "brackets that do not fit": (b"[" + b"[" * 100_000 + b"}" * 100_000 + b"," + A + b"]", 2),
    "brackets that close nothing": (b"[" + b"}" * 100_000 + b"," + A + b"]", 2),
    "commas": (b"[" + b"," * 100_000 + b"]", 1),
    "white space": (b"[" + b" " * 1_000_000 + b"," + A + b"]", 2),
    "a string of escapes": (b'["' + b"\\n" * 1_000_000 + b'",' + A + b"]", 2),
    "a string of quotes that never ends": (b'["' + b'\\"' * 1_000_000, 1),
    "many elements": (b"[" + b",".join([A] * 20_000) + b"]", 20_000),
}


@pytest.mark.parametrize(("data", "records"), HARD.values(), ids=HARD)
def test_hard_arrays_take_time_and_memory_in_proportion(data, records):
    began = time.process_time()
    assert len(read_chunks("json", [data])[0]) == records
    assert time.process_time() - began < 2


@pytest.mark.parametrize("line", [b" " * 1_000_000 + b"x", b"{" * 1_000_000, b": }" * 300_000, b'"' * 1_000_000])
def test_hard_lines_take_time_in_proportion(line):
    began = time.process_time()
    for kind in ("jsonl", "sse"):
        read_chunks(kind, [line + b"\n\n"])
    assert time.process_time() - began < 2
