"""A recording that is cut into parts says what it says in one piece, whatever is in it and wherever it is cut."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmsp_fsm.engines import parts as module
from mmsp_fsm.engines.checking import CheckOptions, check_source
from mmsp_fsm.engines.parts import joined, parts_of
from mmsp_fsm.engines.results import NoStreams
from mmsp_fsm.recordings.codecs import CODECS, STRANGERS
from mmsp_fsm.recordings.sources import Part, Source

BASE = 1_760_000_000_000
USAGE = {"cached_tokens": 0, "prompt_tokens": 1, "thoughts_tokens": None, "response_tokens": 1}
OPTIONS = CheckOptions(split="stop")


def event(items, event_type="delta", usage=None, reason=None):
    return {"role": "assistant", "event_type": event_type, "content_items": items, "usage_metadata": usage,
            "finish_reason": reason, "created_at": BASE}  # fmt: skip


LINES = [
    json.dumps(event([{"type": "text.delta", "text": "a"}])).encode(),
    json.dumps(event([{"type": "text.delta", "text": "a"}])).encode(),
    json.dumps(event([{"type": "text.done", "text": "a"}])).encode(),
    json.dumps(event([], "stop", USAGE, "stop")).encode(),
    json.dumps(event([{"type": "text.delta"}], "stop", USAGE, "stop")).encode(),
    json.dumps({"error": {"type": "UpstreamError", "message": "gone"}}).encode(),
    b"",
    b"  \r",
    b"{",
    b"[]",
    b"\xef\xbb\xbf" + json.dumps(event([], "stop", USAGE, "stop")).encode(),
    b'{"error": 1, "event_type": "delta"}',
]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(module, "LEAST", 1)


def cut(path, count, options=OPTIONS):
    found = list(parts_of(Source("a", path), options, count))
    return found, list(joined(one for part in found for one in check_source(part, options)))


@settings(max_examples=200)
@given(lines=st.lists(st.sampled_from(LINES), max_size=40), count=st.integers(2, 9), end=st.sampled_from([b"", b"\n"]))
def test_parts_say_what_the_whole_says(tmp_path_factory, lines, count, end):
    path = tmp_path_factory.mktemp("parts") / "a.jsonl"
    path.write_bytes(b"\n".join(lines) + end)
    whole = list(check_source(Source("a", path), OPTIONS))
    parts, found = cut(path, count)
    assert found == whole
    data = path.read_bytes()
    if len(parts) > 1:
        assert b"".join(data[one.part.start : one.part.end] for one in parts) == data
        assert [one.part.last for one in parts] == [False] * (len(parts) - 1) + [True]


MAGICS = [magic for codec in CODECS for magic in codec.magics] + list(STRANGERS.values())


@pytest.mark.parametrize("magic", [*MAGICS, b"\xef\xbb\xbf", b"data: ", b"[", b"\0" * 257 + b"ustar"])
def test_what_a_part_begins_with_is_no_archive_and_no_format(tmp_path, magic):
    """A line inside a recording may begin like an archive: it is broken, and the recording goes on."""
    stream = LINES[0] + b"\n" + LINES[2] + b"\n" + LINES[3] + b"\n"
    path = tmp_path / "a.jsonl"
    path.write_bytes(stream + magic + b"x" * 40 + b"\n" + 9 * stream)
    whole = list(check_source(Source("a", path), OPTIONS))
    assert len(whole) == 10
    parts = [Part(0, len(stream), False), Part(len(stream), path.stat().st_size, True)]
    found = [one for part in parts for one in check_source(Source("a", path, part=part), OPTIONS)]
    assert list(joined(found)) == whole
    assert cut(path, 9)[1] == whole


def test_many_streams_are_cut_about_evenly(tmp_path):
    choose = random.Random(1)
    lines = [line for _ in range(300) for line in [LINES[0]] * choose.randint(1, 9) + [LINES[3]]]
    (tmp_path / "a").write_bytes(b"\n".join(lines) + b"\n")
    parts, _ = cut(tmp_path / "a", 4)
    sizes = [one.part.end - one.part.start for one in parts]
    assert len(sizes) == 4
    assert max(sizes) < 1.2 * min(sizes)


def test_one_stream_is_not_cut(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([LINES[0]] * 100))
    parts, _ = cut(tmp_path / "a.jsonl", 4)
    assert [part.part for part in parts] in ([None], [parts[0].part])
    assert len(parts) == 1


@pytest.mark.parametrize(
    ("name", "data", "options"),
    [
        ("a.sse", b"data: {}\n\n" * 100, OPTIONS),
        ("a.json", b"[\n" + b",\n".join([LINES[3]] * 50) + b"]", OPTIONS),
        ("a.jsonl", b"\n".join([LINES[3]] * 50), CheckOptions()),
        ("a.jsonl", b"\n".join([LINES[3]] * 50), CheckOptions(split="key", stream_key="/a")),
    ],
    ids=["sse", "array", "no split", "split by key"],
)
def test_what_cannot_be_cut_stays_whole(tmp_path, name, data, options):
    (tmp_path / name).write_bytes(data)
    assert list(parts_of(Source("a", tmp_path / name), options, 4)) == [Source("a", tmp_path / name)]


def test_a_compressed_recording_stays_whole(tmp_path):
    import gzip

    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b"\n".join([LINES[3]] * 500)))
    assert len(list(parts_of(Source("a", tmp_path / "a.jsonl.gz"), OPTIONS, 4))) == 1


@pytest.mark.parametrize("source", [Source("a"), Source("a", address="memory://a")])
def test_what_is_no_file_stays_whole(source):
    assert list(parts_of(source, OPTIONS, 4)) == [source]


def test_a_small_file_stays_whole(tmp_path, monkeypatch):
    monkeypatch.undo()
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([LINES[3]] * 500))
    assert len(list(parts_of(Source("a", tmp_path / "a.jsonl"), OPTIONS, 4))) == 1


def test_a_file_that_goes_is_said(tmp_path):
    source = Source("a", tmp_path / "a.jsonl")
    assert list(parts_of(source, OPTIONS, 4)) == [source]


def test_a_blank_recording_holds_no_stream(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"\n \n" * 50)
    assert cut(tmp_path / "a.jsonl", 3)[1] == [NoStreams("a")]
