"""Whatever bytes a recording holds, and however they arrive, the report says what is wrong with them, and once."""

import io
import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mmsp_fsm
from mmsp_fsm import Limits
from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.checker.step import Step
from mmsp_fsm.engines.checking import CheckOptions, check_source, walk_source
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.recordings.formats import BOM, HEAD, detect
from mmsp_fsm.recordings.framing import Record
from mmsp_fsm.recordings.reading import Recording
from mmsp_fsm.recordings.sources import Source, Unreadable
from tests.streams import HI, error, stop, t, t_done

STREAM = [*HI, stop()]
LINES = [json.dumps(event, ensure_ascii=False).encode() for event in STREAM]
JSONL = b"".join(line + b"\n" for line in LINES)
SSE = b"".join(b"data: " + line + b"\n\n" for line in LINES)
MARKED = SSE + b"data: [DONE]\n\n"
ARRAY = json.dumps(STREAM).encode()
PRETTY = json.dumps(STREAM, indent=2).encode()


def said(stream, **how):
    """The (code, event, line) of each diagnostic."""
    return [(one.code, one.event, one.line) for one in mmsp_fsm.validate(stream, **how).diagnostics]


# ── What conforms ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "data",
    [
        JSONL,
        JSONL.rstrip(),
        JSONL.replace(b"\n", b"\r\n"),
        JSONL.replace(b"\n", b"\n\n \n"),
        b"\n\n" + JSONL,
        BOM + JSONL,
        MARKED,
        MARKED.rstrip(),
        MARKED.replace(b"\n", b"\r"),
        MARKED.replace(b"\n", b"\r\n"),
        BOM + MARKED,
        b": keep-alive\n\n" + MARKED,
        b"event: message\n" + MARKED,
        MARKED + b"data: [DONE]\n\n",
        b"data: [DONE]\n\n" + SSE,
        ARRAY,
        PRETTY,
        BOM + PRETTY,
        b"\n" + ARRAY + b"\n",
    ],
)
def test_it_conforms_however_it_is_written(data):
    report = mmsp_fsm.validate(data)
    assert (report.verdict, report.outcome, report.events, report.diagnostics) == ("conforming", "stopped", 3, ())
    assert report.message is not None


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x7f"])
def test_separators_that_stand_raw_in_a_text_end_no_line(separator):
    stream = [t(f"a{separator}b"), t_done(f"a{separator}b"), stop()]
    lines = [json.dumps(event, ensure_ascii=False) for event in stream]
    assert separator in lines[0]
    assert said("\n".join(lines).encode()) == []
    assert said("".join(f"data: {line}\n\n" for line in lines).encode() + b"data: [DONE]") == []
    assert said(f"[{','.join(lines)}]".encode()) == []


@pytest.mark.parametrize("separator", [b"\f", b"\v", b"\x1c", b"\xc2\x85", b"\xe2\x80\xa8", b"\r"])
def test_two_events_that_something_else_parts_are_one_record(separator):
    data = separator.join(LINES[:2]) + b"\n" + LINES[2]
    assert said(data) == [("E101", 0, 1)]
    assert mmsp_fsm.validate(data).events == 2


# ── What cannot be read ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("data", [b"", BOM, b"\n", b" \r\n\t\n"])
def test_an_empty_recording_lacks_its_end_at_event_0(data):
    report = mmsp_fsm.validate(data)
    assert [(one.code, one.event) for one in report.diagnostics] == [("E307", 0)]
    assert (report.verdict, report.outcome, report.events) == ("violating", "truncated", 0)
    assert said(data, format="json")[0][:2] == ("E307", 0)
    assert [one[:2] for one in said(data, format="sse")] == [("W510", 0), ("E307", 0)]


UNREADABLE = {
    "invalid UTF-8": b'{"a": "\xff"}',
    "UTF-8 that is cut": b'{"a": "\xe2\x82"}',
    "UTF-8 that is too long": b'{"a": "\xc0\x80"}',
    "an encoded surrogate": b'{"a": "\xed\xa0\x80"}',
    "Latin-1": b'{"a": "\xe9"}',
    "NULs": b"\0" * 200,
    "one NUL": b'{"a": \0 1}',
    "a BOM in the middle": BOM + LINES[1],
    "binary data": b"\x1f\x8b\x08\x00\x01\x02",
    "text": b"panic: goroutine 1",
    "a form feed": b"\f",
    "the done marker": b"[DONE]",
    "half a record": LINES[1][:40],
    "two records": LINES[0] + LINES[1],
}


@pytest.mark.parametrize("bad", UNREADABLE.values(), ids=UNREADABLE)
def test_a_line_that_cannot_be_read_is_one_error_and_no_echo(bad):
    data = b"".join(line + b"\n" for line in (LINES[0], bad, *LINES[1:]))
    assert said(data) == [("E101", 1, 2)]
    assert said(b"\n" + bad + b"\n" + JSONL) == [("E101", 0, 2)]
    assert said(LINES[0] + b"\n" + bad) == [("E101", 1, 2)]


@pytest.mark.parametrize(
    "bad",
    [one for one in UNREADABLE.values() if one != b"[DONE]"],
    ids=[one for one in UNREADABLE if one != "the done marker"],
)
def test_a_block_that_cannot_be_read_is_one_error_and_no_echo(bad):
    blocks = [b"data: " + one + b"\n\n" for one in (LINES[0], bad, *LINES[1:])]
    assert said(b"".join(blocks) + b"data: [DONE]") == [("E101", 1, 3)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("data", [JSONL, MARKED, ARRAY, PRETTY], ids=["jsonl", "sse", "array", "pretty"])
@pytest.mark.parametrize("kind", [None, "jsonl", "sse", "json"])
def test_utf_16_is_not_json(data, encoding, kind):
    report = mmsp_fsm.validate(data.decode().encode(encoding), format=kind)
    assert report.verdict == "violating"
    assert {one.code for one in report.diagnostics if one.severity == "error"} == {"E101"}
    assert {one.code for one in report.diagnostics if one.severity == "warning"} <= {"W510"}


def test_utf_16_is_called_by_its_name():
    assert "UTF-16" in mmsp_fsm.validate(JSONL.decode().encode("utf-16")).diagnostics[0].message


@pytest.mark.parametrize("missing", [1, 2, 60, 150])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_torn_last_line_is_one_error_and_no_missing_end(number, missing):
    data = b"".join(line + b"\n" for line in LINES[:number]) + LINES[number][:-missing]
    report = mmsp_fsm.validate(data)
    assert [(one.code, one.event, one.line) for one in report.diagnostics] == [("E101", number, number + 1)]
    assert (report.outcome, report.events) == ("truncated", number + 1)


@pytest.mark.parametrize("data", [JSONL, MARKED, ARRAY, PRETTY], ids=["jsonl", "sse", "array", "pretty"])
def test_a_recording_cut_anywhere_has_one_error_at_most(data):
    suffix = "json" if data.startswith(b"[") else None
    for length in range(len(data)):
        codes = [one[0] for one in said(data[:length], format=suffix or detect(data, ""))]
        errors = [code for code in codes if code != "W510"]
        assert errors in ([], ["E101"], ["E307"]), data[:length]
        if errors == []:
            assert data[:length].count(b"stop") == JSONL.count(b"stop")
        if data is MARKED:
            assert codes.count("W510") == (not data[:length].endswith((b"[DONE]", b"[DONE]\n", b"[DONE]\n\n")))


def test_a_torn_array_gives_its_elements_and_one_error():
    assert said(PRETTY[:-2]) == [("E101", 3, PRETTY.count(b"\n"))]
    assert said(b"[" + LINES[0] + b",\n" + LINES[1][:20]) == [("E101", 1, 2)]
    assert said(b"[" + LINES[0] + b"," + LINES[1] + b",," + LINES[2] + b"]") == [("E101", 2, 1)]
    assert said(ARRAY + b"\nx") == [("E101", 3, 2)]


def test_json_that_is_no_array_of_events():
    assert said(LINES[0], format="json") == [("E101", 0, 1)]
    assert said(b"[1]", format="json")[0] == ("E102", 0, 1)
    assert said(b"[]") == [("E307", 0, 1)]


# ── The done marker ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_done_marker_is_asked_of_sse_alone():
    assert said(SSE) == [("W510", 3, 7)]
    assert said(SSE.rstrip()) == [("W510", 3, 6)]
    assert [said(data) for data in (JSONL, ARRAY, MARKED)] == [[], [], []]
    assert said(SSE, select=["W510"]) == said(SSE)
    assert said(SSE, ignore=["W510"]) == []
    assert mmsp_fsm.validate(SSE).verdict == "conforming"
    message = mmsp_fsm.validate(SSE).diagnostics[0].message
    assert message == "the recording does not end with [DONE]"


@pytest.mark.parametrize("length", range(len("data: [DONE]")))
def test_a_recording_cut_inside_the_marker_has_lost_the_marker_alone(length):
    data = SSE + b"data: [DONE]"[:length]
    assert [one[:2] for one in said(data)] == [("W510", 3)]


def test_records_after_the_marker_are_records():
    assert said(MARKED + SSE) == [("E305", 3, 9)]
    assert said(b"".join(b"data: " + line + b"\n\ndata: [DONE]\n\n" for line in LINES)) == []


def test_a_failed_stream_is_followed_by_the_marker_too():
    data = b"data: " + json.dumps(error()).encode() + b"\n\n"
    assert [one[0] for one in said(data)] == ["W510"]
    assert said(data + b"data: [DONE]\n\n") == []


# ── Lines and limits ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_line_is_where_its_record_begins():
    bad = json.dumps(t("x") | {"role": "user"}).encode()
    assert said(b"\n\n" + bad + b"\n") == [("E106", 0, 3), ("E307", 1, 4)]
    assert said(b": x\n\nevent: y\ndata: " + bad.replace(b", ", b",\ndata: ") + b"\n\n")[0] == ("E106", 0, 4)
    pretty = b"[\n" + bad + b",\n\n" + json.dumps(json.loads(bad), indent=1).encode() + b"\n,\n" + bad + b"\n]\n"
    third = 1 + pretty[: pretty.rindex(bad)].count(b"\n")
    assert said(pretty) == [("E106", 0, 2), ("E106", 1, 4), ("E106", 2, third), ("E307", 3, third + 2)]


@pytest.mark.parametrize("data", [JSONL, MARKED, ARRAY], ids=["jsonl", "sse", "array"])
def test_a_record_beyond_the_limit_is_one_error_and_the_rest_is_read(data):
    limit = max(len(line) for line in LINES)
    assert said(data, limits=Limits(record_bytes=limit)) == []
    report = mmsp_fsm.validate(data, limits=Limits(record_bytes=limit - 1))
    assert [(one.code, one.event) for one in report.diagnostics] == [("E101", 2)]
    assert report.diagnostics[0].message == f"the record is longer than {limit - 1} bytes"
    assert report.events == 3


# ── How it arrives ───────────────────────────────────────────────────────────────────────────────────────────


class Pipe(io.RawIOBase):
    """A file that gives its chunks one by one, and counts how many were asked for."""

    def __init__(self, *chunks):
        self.chunks = chunks
        self.given = 0
        self.asked_after_end = 0

    def read1(self, size=-1):
        if self.given == len(self.chunks):
            self.asked_after_end += 1
            return b""
        self.given += 1
        return self.chunks[self.given - 1]

    def read(self, size=-1):
        raise AssertionError("a pipe that has read1 is read with it")


def recording(file, **how):
    return Recording(file, default(), Limits(), **how)


def times(*chunks, **how):
    """How many chunks had been asked for when each record was given."""
    pipe = Pipe(*chunks)
    given = [pipe.given for _ in recording(pipe, **how)]
    assert pipe.asked_after_end == 1, "a terminal would have to be ended twice"
    return given


def test_a_record_is_given_as_soon_as_its_line_has_ended():
    assert times(b'{"a":1}\n', b'{"b":2}\n', b"\n", b'{"c"', b":3}", b"\n", b'{"d":4}') == [1, 2, 6, 7]
    assert times(BOM[:1], BOM[1:], b"\n", b"{", b"}\n", b"{}\n") == [5, 6]
    assert times(b'torn"}\n', b'{"a":1}\n', b'{"b":2}\n') == [2, 2, 3]
    assert times(b"torn\n", b"{}\n", format="jsonl") == [1, 2]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"], ids=["LF", "CR", "CRLF"])
def test_a_block_is_given_as_soon_as_it_has_ended(end):
    assert times(b"data: 1" + end, end, b": x" + end, b"data: 2" + end, b"data: 3" + 2 * end) == [2, 5]
    assert times(b": keep-alive" + 2 * end, b"data: 1" + 2 * end, b"event: x" + end, b"data: 2" + end, end) == [2, 5]


def test_an_array_is_given_at_its_end():
    assert times(b"[", b"1,", b"2]") == [3, 3]


CHUNKS = st.lists(
    st.sampled_from(
        [b"[", b"]", b"{}", b"\n", b"\r", b"data: ", b": x\n", b"x\n", b"\n\n", b"[1]\n", b",", BOM, b"\xef", b" "]
    )
    | st.binary(max_size=8).filter(len),
    max_size=8,
)


@given(CHUNKS, st.sampled_from(["", ".jsonl", ".json", ".sse"]), st.sampled_from([None, "jsonl", "sse", "json"]))
def test_the_records_are_the_same_however_the_bytes_arrive(chunks, suffix, kind):
    data = b"".join(chunks)
    whole = recording(io.BytesIO(data), suffix=suffix, format=kind)
    records = list(whole)
    assert whole.format == (kind or detect(data, suffix))
    for pieces in (chunks, [data[at : at + 1] for at in range(len(data))]):
        one = recording(Pipe(*pieces), suffix=suffix, format=kind)
        assert (one.format, list(one), one.line) == (whole.format, records, whole.line)
        assert one.marker_missing == whole.marker_missing


@pytest.mark.parametrize("head", [b"x\n" * (HEAD // 2 + 9), b"x" * 3 * HEAD + b"\n", b" " * 2 * HEAD + b"\n"])
def test_a_beginning_that_tells_nothing_is_read_all_the_same(head):
    data = head + b"".join(LINES)
    for size in (4096, 70_000, len(data)):
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        assert list(recording(Pipe(*pieces))) == list(recording(io.BytesIO(data)))


def test_the_byte_order_mark_is_dropped_at_the_very_start_alone():
    assert [one.data for one in recording(io.BytesIO(BOM + b"1\n" + BOM + b"2\n"))] == [b"1", BOM + b"2"]
    assert [one.data for one in recording(io.BytesIO(BOM + BOM + b"1\n"))] == [BOM + b"1"]
    assert [one.data for one in recording(io.BytesIO(b"\n" + BOM + b"1\n"))] == [BOM + b"1"]
    for kind in ("jsonl", "sse", "json"):
        assert list(recording(Pipe(BOM[:2], BOM[2:]), format=kind)) == []


# ── Files of all sorts ───────────────────────────────────────────────────────────────────────────────────────


class Gives:
    """A file without `read1`, which gives what it is told to."""

    def __init__(self, *chunks):
        self.chunks = list(chunks)

    def read(self, size=-1):
        return self.chunks.pop(0) if self.chunks else b""


@pytest.mark.parametrize("chunk", [bytes, bytearray, memoryview])
def test_a_file_may_give_whatever_holds_bytes(chunk):
    assert said(Gives(chunk(JSONL[:50]), chunk(JSONL[50:]))) == []


@pytest.mark.parametrize("chunk", [JSONL.decode(), 7, [], object()])
def test_a_file_that_gives_anything_else_is_a_typeerror(chunk):
    due = f"a file opened in binary mode is due; this one gave {type(chunk).__name__}"
    with pytest.raises(TypeError, match=due):
        mmsp_fsm.validate(Gives(chunk))
    with pytest.raises(TypeError, match=due):
        mmsp_fsm.validate(Gives(JSONL, chunk))


def test_a_file_that_has_nothing_yet_is_an_oserror_and_no_end():
    with pytest.raises(BlockingIOError, match="nothing to read at the moment"):
        mmsp_fsm.validate(Gives(JSONL, None))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes always wait there")
@pytest.mark.parametrize("buffering", [0, -1], ids=["raw", "buffered"])
def test_a_pipe_that_does_not_wait_is_no_end_either(buffering):
    read, write = os.pipe()
    os.set_blocking(read, False)
    with os.fdopen(read, "rb", buffering) as file:
        os.write(write, LINES[0] + b"\n")
        with pytest.raises(BlockingIOError):
            mmsp_fsm.validate(file)
        os.write(write, JSONL)
        os.close(write)
        assert said(file) == []


def test_a_file_that_fails_is_an_oserror():
    class Failing(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            raise OSError(5, "Input/output error")

    for file in (Failing(), io.BufferedReader(Failing())):
        with pytest.raises(OSError, match="Input/output error"):
            mmsp_fsm.validate(file)


def test_files_in_text_mode_and_in_binary_mode(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(BOM + JSONL.replace(b"\n", b"\r\n"))
    with path.open(encoding="utf-8") as text, path.open("rb") as binary, path.open("rb", buffering=0) as raw:
        assert [said(file) for file in (text, binary, raw)] == [[], [], []]
    assert said(io.BytesIO(JSONL)) == said(io.StringIO(JSONL.decode())) == []
    assert said(io.StringIO(MARKED.decode().replace("\n", "\r\n"), newline="")) == []
    # What StringIO holds may be no text at all: half a surrogate pair is no UTF-8.
    assert said(io.StringIO(JSONL.decode().replace("Hi", "\ud800", 1)))[0] == ("E101", 0, 1)


def test_an_iterable_of_events_is_no_recording():
    def broken():
        yield from HI
        raise ConnectionResetError("gone")

    assert said(iter(STREAM)) == []
    report = mmsp_fsm.validate(broken())
    assert (report.verdict, report.outcome, report.events) == ("conforming", "failed", 3)


async def events():
    for event in STREAM:
        yield event


@pytest.mark.parametrize("value", [STREAM[0], 7, None, events(), object(), 1.5])
def test_what_is_no_stream_is_a_typeerror(value):
    with pytest.raises(TypeError):
        mmsp_fsm.validate(value)


# ── Sources ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_source_is_checked_and_named_in_its_report(tmp_path):
    path = tmp_path / "A.SSE"
    path.write_bytes(b"")
    (report,) = check_source(Source("a name", path), CheckOptions())
    assert (report.source, [one.code for one in report.diagnostics]) == ("a name", ["W510", "E307"])
    assert [one.code for one in mmsp_fsm.validate(path).diagnostics] == ["W510", "E307"]
    (report,) = check_source(Source("", path), CheckOptions(format="jsonl"))
    assert [one.code for one in report.diagnostics] == ["E307"]
    (report,) = check_source(Source("", path), CheckOptions(rules=frozenset({"W510"})))
    assert report.verdict == "conforming"


def test_a_source_that_cannot_be_read_is_said(tmp_path):
    for path, says in (
        (tmp_path, "is a directory"),
        (tmp_path / "missing", "no such file or directory"),
        (Path(tmp_path, "x" * 300), "file name too long"),
    ):
        for read in (check_source, walk_source):
            assert list(read(Source("a", path), CheckOptions())) == [Unreadable("a", says)]


WALKED = ["jsonl", "sse", "sse without a marker", "array", "torn", "empty", "violating"]


@pytest.mark.parametrize("data", [JSONL, MARKED, SSE, ARRAY, JSONL[:-20], b"", b"\0\n" + JSONL + JSONL], ids=WALKED)
def test_walking_a_source_gives_each_record_with_its_step_and_the_report_at_last(tmp_path, data):
    path = tmp_path / "a"
    path.write_bytes(data)
    *steps, report = walk_source(Source("a", path), CheckOptions())
    assert isinstance(report, StreamReport)
    assert [report] == list(check_source(Source("a", path), CheckOptions()))
    assert len(steps) == report.events
    for number, (record, step) in enumerate(steps):
        assert isinstance(record, Record)
        assert isinstance(step, Step)
        assert step.event == number


def test_walking_a_source_that_is_live_does_not_wait_for_the_next_record(monkeypatch):
    pipe = Pipe(*JSONL.splitlines(keepends=True))
    monkeypatch.setattr(Source, "open", lambda self: pipe)
    assert [pipe.given for _ in walk_source(Source("live"), CheckOptions())] == [1, 2, 3, 3]


def test_bytes_that_are_no_recording_never_raise():
    for data in (os.urandom(5000), bytes(range(256)) * 20, b"\xff" * 1000, b"[" * 100_000, b'{"a":' * 100_000):
        for kind in (None, "jsonl", "sse", "json"):
            report = mmsp_fsm.validate(data, format=kind)
            assert report.verdict == "violating"
