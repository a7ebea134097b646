"""Several streams in one recording: each by itself, none lost, and only so many kept open."""

import io
import json

import pytest

import mmsp_fsm
from mmsp_fsm.engines.checking import CheckOptions, check_source
from mmsp_fsm.engines.results import NoStreams
from mmsp_fsm.recordings.sources import Source

BASE = 1_760_000_000_000
USAGE = {"cached_tokens": 0, "prompt_tokens": 1, "thoughts_tokens": None, "response_tokens": 1}


def delta(item, time=BASE):
    return {"role": "assistant", "event_type": "delta", "content_items": [item], "usage_metadata": None,
            "finish_reason": None, "created_at": time}  # fmt: skip


def stop(time=BASE):
    return {"role": "assistant", "event_type": "stop", "content_items": [], "usage_metadata": USAGE,
            "finish_reason": "stop", "created_at": time}  # fmt: skip


def text(word):
    return [delta({"type": "text.delta", "text": word}), delta({"type": "text.done", "text": word})]


ERROR = {"error": {"type": "UpstreamError", "message": "gone"}}
ONE = [*text("one"), stop()]
TWO = [*text("two"), ERROR]


def jsonl(*records):
    return b"".join(json.dumps(one).encode() + b"\n" if not isinstance(one, bytes) else one + b"\n" for one in records)


def sse(*records, end=b"data: [DONE]\n\n"):
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in records) + end


@pytest.fixture
def check(monkeypatch):
    """The reports of some bytes."""

    def check(data, **options):
        monkeypatch.setattr(Source, "open", lambda _: io.BytesIO(data))
        return list(check_source(Source("log"), CheckOptions(**options)))

    return check


def told(found):
    return [(one.stream, one.outcome, [(d.code, d.event, d.line) for d in one.diagnostics]) for one in found]


# ── --split stop ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_stream_ends_with_its_stop_or_its_error(check):
    assert told(check(jsonl(*ONE, *TWO, *ONE), split="stop")) == [
        (0, "stopped", []),
        (1, "failed", []),
        (2, "stopped", []),
    ]


def test_events_are_counted_anew_and_lines_are_the_file_s(check):
    found = check(jsonl(*ONE, text("x")[1], stop(), *ONE), split="stop", rules=frozenset({"E301"}))
    assert told(found) == [(0, "stopped", []), (1, "stopped", [("E301", 0, 4)]), (2, "stopped", [])]
    assert [one.events for one in found] == [3, 2, 3]


def test_ids_and_times_are_a_stream_s_own(check):
    call = [
        delta({"type": "tool_call.delta", "name": "f", "tool_call_id": "c1", "arguments": ""}),
        delta({"type": "tool_call.done", "name": "f", "tool_call_id": "c1", "arguments": {}}),
        stop() | {"finish_reason": "tool_call"},
    ]
    found = check(jsonl(*call, *[one | {"created_at": BASE - 5} for one in call]), split="stop")
    assert told(found) == [(0, "stopped", []), (1, "stopped", [])]


@pytest.mark.parametrize("tail", [b'{"role": "assis', b"\0", b"[1]"], ids=["torn", "NUL", "no object"])
def test_an_unreadable_tail_is_a_stream_of_its_own(check, tail):
    (_, rest) = check(jsonl(*ONE, tail), split="stop")
    assert (rest.stream, rest.events, [d.event for d in rest.diagnostics]) == (1, 1, [0])
    assert rest.diagnostics[0].code in ("E101", "E102")


def test_a_stream_that_does_not_end_is_truncated(check):
    assert told(check(jsonl(*ONE, *text("x")), split="stop")) == [
        (0, "stopped", []),
        (1, "truncated", [("E307", 2, 6)]),
    ]


@pytest.mark.parametrize(
    "data", [b"", b"\n \r\n\n", b": keep-alive\n\n", b"[]"], ids=["empty", "blank", "comment", "array"]
)
def test_an_empty_recording_holds_no_stream(check, data):
    assert check(data, split="stop") == [NoStreams("log")]
    assert check(data, split="key", stream_key="/r") == [NoStreams("log")]


def test_blank_lines_behind_the_last_stream_are_no_stream(check):
    assert len(check(jsonl(*ONE) + b"\n\r\n  \n", split="stop")) == 1


def test_a_missing_marker_is_said_of_the_last_stream(check):
    assert told(check(sse(*ONE, *TWO), split="stop")) == [(0, "stopped", []), (1, "failed", [])]
    assert told(check(sse(*ONE, *TWO, end=b""), split="stop")) == [
        (0, "stopped", []),
        (1, "failed", [("W510", 3, 13)]),
    ]


def test_in_an_array(check):
    assert told(check(json.dumps([*ONE, *TWO]).encode(), split="stop")) == [(0, "stopped", []), (1, "failed", [])]


@pytest.mark.parametrize("size", [1, 7, 100, 1 << 20])
def test_however_the_bytes_arrive(monkeypatch, size):
    class Dripping(io.BytesIO):
        def read1(self, _=-1):
            return super().read1(size)

        def readlines(self, _=-1):
            return [super().readline(size)] if super().tell() < len(data) else []

    data = jsonl(*ONE, *TWO, text("x")[1], stop())
    monkeypatch.setattr(Source, "open", lambda _: Dripping(data))
    found = list(check_source(Source("log"), CheckOptions(split="stop")))
    assert told(found) == [(0, "stopped", []), (1, "failed", []), (2, "stopped", [("E301", 0, 7)])]


def test_a_report_is_given_as_soon_as_the_stream_has_ended(monkeypatch):
    read = []

    class Pipe(io.RawIOBase):
        chunks = [jsonl(*ONE), jsonl(*TWO), jsonl(*ONE)]

        def read1(self, _=-1):
            read.append(len(read))
            return self.chunks.pop(0) if self.chunks else b""

        read = read1

    monkeypatch.setattr(Source, "open", lambda _: Pipe())
    found = check_source(Source("log"), CheckOptions(split="stop"))
    assert [(next(found).stream, len(read)) for _ in range(3)] == [(0, 1), (1, 2), (2, 3)]


# ── --split key ──────────────────────────────────────────────────────────────────────────────────────────────────


def log(*entries):
    return jsonl(*({"request": key, "event": event} for key, event in entries))


def interleaved(**streams):
    rows = []
    for number in range(max(map(len, streams.values()))):
        rows += [(key, events[number]) for key, events in streams.items() if number < len(events)]
    return log(*rows)


KEY = {"split": "key", "stream_key": "/request"}


def test_interleaved_streams_are_told_apart(check):
    found = check(interleaved(a=ONE, b=TWO, c=text("x")), **KEY)
    assert told(found) == [("a", "stopped", []), ("b", "failed", []), ("c", "truncated", [("E307", 2, 9)])]


def test_a_fault_is_at_the_line_of_the_log_and_the_event_of_its_stream(check):
    found = check(interleaved(a=ONE, b=[text("x")[1], stop()]), **KEY)
    assert told(found) == [("a", "stopped", []), ("b", "stopped", [("E301", 0, 2)])]
    (fault,) = found[1].diagnostics
    assert json.loads(fault.record) == text("x")[1]


def test_what_follows_a_stop_under_the_same_key_is_a_violation(check):
    found = check(log(*[("a", one) for one in [*ONE, *ONE]]), **KEY)
    assert told(found) == [("a", "stopped", [("E305", 3, 4)])]


def test_keys_are_strings_or_integers(check):
    found = check(log(*[(7, one) for one in ONE], *[("7", one) for one in TWO]), **KEY)
    assert told(found) == [(7, "stopped", []), ("7", "failed", [])]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"{", "the line of the log is not JSON"),
        (b'{"event": {}}', "no string or integer at /request"),
        (b'{"request": null, "event": {}}', "no string or integer at /request"),
        (b'{"request": true, "event": {}}', "no string or integer at /request"),
        (b'{"request": 1.5, "event": {}}', "no string or integer at /request"),
        (b"[]", "no string or integer at /request"),
        (b'"request"', "no string or integer at /request"),
    ],
)
def test_a_line_that_belongs_to_no_stream_is_said(check, line, says):
    *_, rest = check(interleaved(a=ONE) + line + b"\n", **KEY)
    assert (rest.stream, rest.verdict) == (None, "violating")
    assert [(d.code, d.line) for d in rest.diagnostics] == [("E101", 4)]
    assert says in rest.diagnostics[0].message


def test_a_line_without_an_event_is_said_of_its_stream(check):
    found = check(
        log(*[("a", one) for one in ONE[:2]]) + b'{"request": "a", "level": "info"}\n' + log(("a", stop())), **KEY
    )
    assert [(d.code, d.event) for d in found[0].diagnostics] == [("E101", 2)]
    assert "nothing at /event" in found[0].diagnostics[0].message


def test_pointers_lead_anywhere(check):
    rows = [{"a/b": {"~": [0, {"id": "k"}]}, "data": [{"text": json.dumps(one)}]} for one in ONE]
    found = check(jsonl(*rows), split="key", stream_key="/a~1b/~0/1/id", event="/data/0/text")
    assert told(found) == [("k", "stopped", [])]


@pytest.mark.parametrize("index", ["٣", "٠", "00", "01", "-", "-0", "+0", " 0", "0x0", "1", "³", "", "9" * 4400])
def test_an_index_that_json_pointers_do_not_know_leads_nowhere(check, index):
    """RFC 6901: an index is ASCII digits without a leading zero; however long, it is no number to be computed."""
    rows = [{"request": ["a"], "events": [one]} for one in ONE]
    found = check(jsonl(*rows), split="key", stream_key=f"/request/{index}", event="/events/0")
    assert [(one.stream, one.verdict) for one in found] == [(None, "violating")]
    found = check(jsonl(*rows), split="key", stream_key="/request/0", event=f"/events/{index}")
    assert [(one.stream, one.verdict) for one in found] == [("a", "violating")]
    assert {d.code for d in found[0].diagnostics} == {"E101"}


def test_a_name_of_digits_is_a_name(check):
    rows = [{"٣": {"007": "a"}, "9" * 4400: one} for one in ONE]
    found = check(jsonl(*rows), split="key", stream_key="/٣/007", event="/" + "9" * 4400)
    assert told(found) == [("a", "stopped", [])]


def test_the_event_may_be_the_whole_line(check):
    rows = [one | {"request": "r"} for one in ONE]
    found = check(jsonl(*rows), split="key", stream_key="/request", event="")
    assert {d.code for d in found[0].diagnostics} == {"E104"}


def test_beyond_max_open_the_stream_idle_longest_is_closed(check):
    rows = [("a", ONE[0]), ("b", ONE[0]), ("a", ONE[1]), ("c", ONE[0]), ("b", ONE[1]), ("a", stop())]
    found = check(log(*rows), **KEY, max_open=2)
    # b is closed when c comes; it comes again as another stream when a is idle longest.
    assert [(one.stream, one.outcome, one.events) for one in found] == [
        ("b", "truncated", 1),
        ("a", "truncated", 2),
        ("c", "truncated", 1),
        ("b", "truncated", 1),
        ("a", "stopped", 1),
    ]


def test_a_long_log_takes_no_more_memory_than_its_open_streams(check):
    data = b"".join(interleaved(**{f"{number}": ONE}) for number in range(500))
    found = check(data, **KEY, max_open=10)
    assert [one.stream for one in found] == [str(number) for number in range(500)]
    assert all(one.conforming for one in found)


def test_numbers_that_json_cannot_write_are_found_in_a_log(check):
    line = b'{"request": "a", "event": ' + json.dumps(text("x")[0]).replace(str(BASE), "NaN").encode() + b"}\n"
    assert [d.code for d in check(line, **KEY)[0].diagnostics] == ["E101", "E307"]


def test_a_split_recording_says_what_its_streams_say_alone(check):
    streams = [rule.bad for rule in mmsp_fsm.checker.checker.default().rules.values() if rule.bad.format == "jsonl"]
    alone = [mmsp_fsm.validate(one.text.encode()) for one in streams if not one.limits]
    rows = [(str(number), line) for number, one in enumerate(s for s in streams if not s.limits)
            for line in one.text.splitlines()]  # fmt: skip
    found = check(jsonl(*({"request": key, "event": line} for key, line in rows)), **KEY)
    assert [[(d.code, d.event) for d in one.diagnostics] for one in found] == [
        [(d.code, d.event) for d in one.diagnostics] for one in alone
    ]
