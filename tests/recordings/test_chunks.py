"""However the bytes of a recording arrive, what is read of it and said of its streams is the same."""

import io
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mmsp_fsm.engines.checking import CheckOptions, check_source
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.recordings.sources import Source

BASE = 1_760_000_000_000
USAGE = {"cached_tokens": 0, "prompt_tokens": 1, "thoughts_tokens": None, "response_tokens": 1}


class Dripping(io.RawIOBase):
    """A file that gives its bytes in pieces of these sizes, in turn, and less where less is asked for."""

    def __init__(self, data, sizes):
        self._data, self._sizes, self._at = data, sizes or [len(data) or 1], 0

    def read1(self, size=-1):
        due, self._sizes = self._sizes[0], [*self._sizes[1:], self._sizes[0]]
        piece = self._data[self._at :][: due if size < 0 else min(due, size)]
        self._at += len(piece)
        return piece

    read = read1


def event(items, event_type="delta", usage=None, reason=None):
    return json.dumps({"role": "assistant", "event_type": event_type, "content_items": items, "usage_metadata": usage,
                       "finish_reason": reason, "created_at": BASE}).encode()  # fmt: skip


EVENTS = [
    event([{"type": "text.delta", "text": "a"}]),
    event([{"type": "text.done", "text": "a"}]),
    event([], "stop", USAGE, "stop"),
    b'{"error": {"type": "UpstreamError", "message": "gone"}}',
]
LOG = [b'{"request": "%s", "event": ' % key + one + b"}" for key in (b"a", b"b") for one in EVENTS]
ENDS = [b"\n", b"\r\n", b"\r\r\n", b"\r", b"\n\n", b" \r\n", b"\r\n\r\n", b",", b"", b" "]
SCRAPS = [b"[", b"]", b"{", b"}", b'"', b"x", b"xx", b"data", b":", b" ", b"data: [DONE]", b"[DONE]", b": ", b"\0"]
HEADS = [b"", b"", b"\xef\xbb\xbf", b"\xef", b"[", b"\x1f\x8b", b"BZh", b"PK", b"\xfd7zXZ", b"\x50\x2a\x4d", b"\0" * 99]

PIECES = st.one_of(
    *(
        st.tuples(st.sampled_from([b"", b"data: ", b"data:"]), st.sampled_from(records), st.sampled_from(ENDS)).map(
            b"".join
        )
        for records in (EVENTS, LOG, SCRAPS)
    ),
    st.sampled_from(ENDS),
    st.binary(max_size=4),
)
CONTENT = st.tuples(st.sampled_from(HEADS), st.lists(PIECES, max_size=12).map(b"".join)).map(b"".join)
SIZES = st.lists(st.integers(1, 200), min_size=1, max_size=8)
LIMITS = st.none() | st.integers(1, 12) | st.integers(150, 300)
SPLITS = {
    "one stream": {},
    "split by stop": {"split": "stop"},
    "split by key": {"split": "key", "stream_key": "/request"},
}


def read(data, sizes, options, suffix=""):
    """Each record, where the next would stand, and what could not be read."""
    recording = options.recording(Dripping(data, sizes), suffix)
    return [(one.data, one.line, one.fault) for one in recording], recording.line, recording.fault, recording.format


@pytest.mark.parametrize("suffix", ["", ".jsonl", ".sse", ".json"])
@pytest.mark.parametrize("format", [None, "jsonl", "sse", "json"])
@given(data=CONTENT, sizes=SIZES, limit=LIMITS)
@example(data=b"x\r\r\n", sizes=[1], limit=2)
@example(data=b"x\r\r\nx\r\r\n", sizes=[5, 3], limit=3)
@example(data=b"x" * 20 + b"\r\r\n", sizes=[7], limit=20)
def test_the_records_are_the_same(suffix, format, data, sizes, limit):
    options = CheckOptions(format=format, limits=Limits() if limit is None else Limits(record_bytes=limit))
    assert read(data, sizes, options, suffix) == read(data, [], options, suffix) == read(data, [1], options, suffix)


@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
@given(data=CONTENT, sizes=SIZES, limit=LIMITS)
@example(data=b"x\r\r\n", sizes=[1], limit=2)
@example(data=EVENTS[2] + b"\r\r\n" + EVENTS[0] + b"\r\r\n", sizes=[1], limit=len(EVENTS[2]) + 1)
def test_the_reports_are_the_same(split, data, sizes, limit):
    options = CheckOptions(limits=Limits() if limit is None else Limits(record_bytes=limit), **split)

    def said(cut):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Source, "open", lambda _: Dripping(data, cut))
            return list(check_source(Source("a"), options))

    assert said(sizes) == said([]) == said([1])
