"""`StreamWriter` writes what the grammar allows, refuses the rest before it is sent, and `unparse` undoes `parse`."""

import io
import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsp_fsm
from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.grammar.selection import selected
from mmsp_fsm.model import (
    EmbeddingDoneItem,
    InlineDataDoneItem,
    TextDeltaItem,
    TextDoneItem,
    ToolCallDoneItem,
    UniMessage,
    UsageMetadata,
)
from mmsp_fsm.testing.strategies import messages
from tests.streams import TIME

USAGE = UsageMetadata(cached_tokens=0, prompt_tokens=12, thoughts_tokens=None, response_tokens=7)
ERRORS = {code for code, rule in default().rules.items() if rule.severity == "error"}


def writer(**how):
    return mmsp_fsm.StreamWriter(clock=lambda: TIME, **how)


def event(item=None, **more):
    items = [] if item is None else [item]
    return {
        "role": "assistant",
        "event_type": "delta",
        "content_items": items,
        "usage_metadata": None,
        "finish_reason": None,
        "created_at": TIME,
        **more,
    }


# ── Events ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_text():
    w = writer()
    assert w.open("text", "Hel") == event({"type": "text.delta", "text": "Hel"})
    assert list(w.grow("lo")) == [
        "role",
        "event_type",
        "content_items",
        "usage_metadata",
        "finish_reason",
        "created_at",
    ]
    assert w.state == "text_open"
    assert w.expected == ("text.delta", "text.done", "error")
    assert w.close() == event({"type": "text.done", "text": "Hello"})
    usage = {"cached_tokens": None, "prompt_tokens": 10, "thoughts_tokens": None, "response_tokens": 5}
    assert w.stop(prompt_tokens=10, response_tokens=5) == event(
        event_type="stop", usage_metadata=usage, finish_reason="stop"
    )
    assert (w.state, w.events, w.warnings) == ("stopped", 4, [])


def test_a_call():
    w = writer()
    first = w.open("tool_call", name="get", tool_call_id="c1")
    assert first["content_items"] == [{"type": "tool_call.delta", "name": "get", "tool_call_id": "c1", "arguments": ""}]
    later = w.grow('{"a": 1')
    assert later["content_items"] == [
        {"type": "tool_call.delta", "name": "", "tool_call_id": "", "arguments": '{"a": 1'}
    ]
    w.grow(', "b": [1.0, 12345678901234567890123]}')
    assert w.close()["content_items"] == [
        {
            "type": "tool_call.done",
            "name": "get",
            "tool_call_id": "c1",
            "arguments": {"a": 1, "b": [1.0, 12345678901234567890123]},
        }
    ]
    assert w.stop()["finish_reason"] == "tool_call"


def test_a_call_without_arguments():
    w = writer()
    w.open("tool_call", name="get", tool_call_id="c1")
    assert w.close()["content_items"][0]["arguments"] == {}


def test_bytes_travel_as_base64():
    w = writer()
    for given_as in (b"\0\1", bytearray(b"\0\1"), memoryview(b"\0\1"), "AAE="):
        assert w.open("inline_data", given_as, mime_type="audio/wav")["content_items"][0]["data"] == "AAE="
        assert w.grow(b"\2")["content_items"][0] == {
            "type": "inline_data.delta",
            "mime_type": "audio/wav",
            "data": "Ag==",
        }
        assert w.close()["content_items"][0]["data"] == "AAEC"
    with pytest.raises(mmsp_fsm.RefusedEventError, match="E203"):
        w.open("inline_data", "A", mime_type="audio/wav")
    assert w.state == "between_groups"


def test_fidelity_stands_on_one_fragment_and_on_the_done_item():
    w = writer()
    w.open("thinking", "Hm")
    signed = w.grow(fidelity={"signature": "x"})
    assert signed["content_items"] == [{"type": "thinking.delta", "thinking": "", "fidelity": {"signature": "x"}}]
    with pytest.raises(mmsp_fsm.RefusedEventError, match="E408"):
        w.grow(fidelity={"signature": "y"})
    assert w.close()["content_items"] == [{"type": "thinking.done", "thinking": "Hm", "fidelity": {"signature": "x"}}]


def test_a_failure():
    w = writer()
    w.open("text", "Hel")
    assert w.fail(TimeoutError("too slow"), status=504) == {
        "error": {"type": "TimeoutError", "message": "too slow", "status": 504}
    }
    assert w.state == "failed"
    assert writer().fail("UpstreamError")["error"] == {"type": "UpstreamError", "message": ""}

    class UnspeakableError(Exception):
        def __str__(self):
            raise RuntimeError

    assert writer().fail(UnspeakableError())["error"] == {"type": "UnspeakableError", "message": ""}


def test_times_never_go_back():
    times = iter([TIME, TIME - 9, TIME + 5, TIME, TIME])
    w = mmsp_fsm.StreamWriter(clock=lambda: next(times))
    events = [w.open("text", "a"), w.grow("b"), w.grow("c"), w.close(), w.stop()]
    assert [one["created_at"] - TIME for one in events] == [0, 0, 5, 5, 5]
    assert w.warnings == []


def test_the_clock_is_the_machines_by_default():
    import time

    before = time.time_ns() // 1_000_000
    w = mmsp_fsm.StreamWriter()
    created_at = w.open("text", "a")["created_at"]
    assert before <= created_at <= time.time_ns() // 1_000_000


# ── Bytes ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("format", ["jsonl", "sse"])
def test_it_writes_recordings(format):
    out = io.BytesIO()
    w = writer(out=out, format=format)
    w.open("text", 'é\u2028\n"\ud83d')
    w.grow("\ude00")
    w.close()
    w.stop()
    report = mmsp_fsm.validate(out.getvalue(), format=format, select=["ALL"])
    assert [one.code for one in report.diagnostics] == []
    assert report.message.content_items == [TextDoneItem(text='é\u2028\n"😀')]
    assert out.getvalue().endswith(b"\n\ndata: [DONE]\n\n" if format == "sse" else b"}\n")
    assert "é\u2028".encode() in out.getvalue()


def test_an_error_ends_a_recording_too():
    out = io.BytesIO()
    writer(out=out, format="sse").fail("UpstreamError", "gone")
    assert out.getvalue() == b'data: {"error": {"type": "UpstreamError", "message": "gone"}}\n\ndata: [DONE]\n\n'


def test_encode_gives_the_same_bytes():
    out = io.BytesIO()
    w, other = writer(out=out, format="sse"), writer(format="sse")
    for one in (w, other):
        one.open("text", "a")
        one.close()
    again = writer(format="sse")
    events = [again.open("text", "a"), again.close(), again.stop()]
    w.stop()
    assert b"".join(map(again.encode, events)) == out.getvalue()


def test_each_event_is_written_before_the_next_is_asked_for():
    out = io.BytesIO()
    w = writer(out=out)
    for number, write in enumerate([lambda: w.open("text", "a"), lambda: w.grow("b"), w.close, w.stop], 1):
        write()
        assert out.getvalue().count(b"\n") == number


# ── Refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────

CALL = {"name": "f", "tool_call_id": "c1"}
REFUSED = {
    "E302": (lambda w: w.open("text", "a"), lambda w: w.open("thinking", "b")),
    "E304": (lambda w: w.open("text", "a"), lambda w: w.stop()),
    "E305": (lambda w: w.stop(), lambda w: w.open("text", "a")),
    "E306": (lambda w: w.stop(), lambda w: w.stop()),
    "E308": (lambda w: w.stop(), lambda w: w.fail("UpstreamError")),
    "E309": (lambda w: w.fail("UpstreamError"), lambda w: w.fail("UpstreamError")),
    "E401": (lambda w: None, lambda w: w.open("tool_call", name="", tool_call_id="c1")),
    "E402": (lambda w: None, lambda w: w.open("tool_call", name="f", tool_call_id="")),
    "E103": (lambda w: None, lambda w: w.open("tool_call", name="f")),
    "E104": (lambda w: None, lambda w: w.open("text", "a", mime_type="audio/wav")),
    "E105": (lambda w: w.open("text", "a"), lambda w: w.grow(5)),
    "E101": (lambda w: None, lambda w: w.open("embedding", [float("nan")])),
    "E102": (lambda w: None, lambda w: w.stop(usage={"prompt_tokens": 1}, response_tokens="x")),
    "E404": (lambda w: w.open("tool_call", '{"a"', **CALL), lambda w: w.close()),
    "E405": (lambda w: w.open("tool_call", "[]", **CALL), lambda w: w.close()),
    "E408": (lambda w: w.open("text", "a", fidelity={"a": 1}), lambda w: w.grow("b", fidelity={"a": 1})),
    "E409": (lambda w: w.open("text", "a", fidelity={"a": 1}), lambda w: w.close(fidelity={"a": 2})),
    "E410": (lambda w: w.open("embedding", [1.0]), lambda w: w.grow([2.0])),
    "E411": (lambda w: w.open("inline_data", b"a", mime_type="image/png"), lambda w: w.grow(b"b")),
    "E412": (lambda w: w.open("text", "a"), lambda w: w.fail("ToolCallArgumentParseError")),
    "E108": (lambda w: None, lambda w: w.stop("end_turn")),
}
REFUSED["E105 of a count"] = REFUSED.pop("E102")
LEGAL = {
    "between_groups": lambda w: w.open("text", "z"),
    "text_open": lambda w: w.grow("z"),
    "tool_call_open": lambda w: w.grow(" "),
    "embedding_open": lambda w: w.close(),
    "inline_data_open": lambda w: w.close(),
}


@pytest.mark.parametrize("earlier", [0, 2], ids=["at once", "later"])
@pytest.mark.parametrize("code", REFUSED)
def test_what_the_grammar_forbids_is_refused(code, earlier):
    prepare, forbidden = REFUSED[code]
    out = io.BytesIO()
    w = writer(out=out)
    for number in range(earlier):
        w.group("tool_call", {"n": number}, size=1, name="f", tool_call_id=f"e{number}")
        w.group("embedding", [1.5, 2])
    prepare(w)
    for _ in range(2):
        written, state, expected, events = out.getvalue(), w.state, w.expected, w.events
        with pytest.raises(mmsp_fsm.RefusedEventError) as caught:
            forbidden(w)
        error = caught.value
        assert [one.code for one in error.diagnostics] == [code.split()[0]]
        assert {one.event for one in error.diagnostics} == {events}
        assert (error.state, error.expected) == (state, expected)
        assert f"is refused in {state}, where {' or '.join(expected)} may stand: {code[:4]}" in str(error)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
        assert (w.state, w.expected, w.events, out.getvalue()) == (state, expected, events, written)
    if state in LEGAL:
        LEGAL[state](w)
        if w.state != "between_groups":
            if w.state == "tool_call_open":
                w.fail("ToolCallArgumentParseError")
            else:
                w.close()
        if w.state == "between_groups":
            w.stop()
    report = mmsp_fsm.validate(out.getvalue())
    assert report.verdict == "conforming", report.diagnostics
    assert report.groups == 2 * earlier + (state not in ("stopped", "failed", "tool_call_open"))


def test_related_places_are_where_they_were_written():
    w = writer()
    w.group("text", "abc", size=1)
    w.open("text", "a")
    for _ in range(2):
        with pytest.raises(mmsp_fsm.RefusedEventError) as caught:
            w.stop()
        assert [(one.event, [place.event for place in one.related]) for one in caught.value.diagnostics] == [(5, [4])]


def test_a_fragment_without_a_group_is_refused():
    w = writer()
    for write in (w.grow, w.close):
        with pytest.raises(mmsp_fsm.RefusedEventError, match=r"is refused in between_groups, where text.delta or"):
            write()
    assert w.stop()["event_type"] == "stop"


def test_a_group_of_the_same_kind_is_opened_only_when_the_first_is_closed():
    w = writer()
    w.open("text", "a")
    with pytest.raises(mmsp_fsm.RefusedEventError, match=r"another text group is refused in text_open, where text.d"):
        w.open("text", "b")
    assert w.close()["content_items"][0]["text"] == "a"
    w.open("tool_call", **CALL)
    with pytest.raises(mmsp_fsm.RefusedEventError, match="another tool_call group"):
        w.open("tool_call", name="g", tool_call_id="c2")


def test_what_was_reported_of_ids_outlives_a_refusal():
    w = writer()
    w.group("tool_call", {}, name="f", tool_call_id="c1")
    with pytest.raises(mmsp_fsm.RefusedEventError):
        w.grow()
    with pytest.raises(mmsp_fsm.RefusedEventError):
        w.stop("no reason")
    w.group("tool_call", {}, name="f", tool_call_id="c1")
    assert [(one.code, one.event) for one in w.warnings] == [("W505", 2)]


def test_warnings_refuse_nothing():
    w = writer()
    w.group("inline_data", b"a")
    w.stop()
    assert [one.code for one in w.warnings] == ["W508"]


@pytest.mark.parametrize("wrong", ["video", "text.delta", "", None])
def test_a_kind_is_told_by_its_name(wrong):
    with pytest.raises(ValueError, match="a kind is text, thinking"):
        writer().open(wrong)


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "1"])
def test_a_size_is_a_number(size):
    with pytest.raises(ValueError, match="size"):
        writer().group("text", "abc", size=size)
    with pytest.raises(ValueError, match="format"):
        writer(format="json")


ACTIONS = st.one_of(
    st.tuples(st.just("open"), st.sampled_from(sorted(default().kinds)), st.booleans()),
    st.tuples(st.just("grow"), st.sampled_from(["", "{}", b"a", [1.0], '{"a": 1', None]), st.booleans()),
    st.tuples(st.sampled_from(["close", "stop", "fail", "fail_call"])),
)
CONTENT = {"text": ["a", "{"], "bytes": [b"a"], "whole": [[1.5]]}


@given(actions=st.lists(ACTIONS, max_size=12), data=st.data())
@settings(deadline=None, derandomize=True)
def test_whatever_is_asked_of_it_what_it_writes_conforms(actions, data):
    """A writer's output is the beginning of a conforming stream, and it refuses exactly what a checker reports."""
    w, written = writer(), []
    for number, (action, *rest) in enumerate(actions):
        try:
            if action == "open":
                kind = default().kinds[rest[0]]
                header = {entry.name: data.draw(st.sampled_from(["image/png", "a", ""])) for entry in kind.header}
                content = data.draw(st.sampled_from(CONTENT[kind.joins]))
                fidelity = {"n": number} if rest[1] else None
                written.append(w.open(kind.name, content, fidelity=fidelity, **header))
            elif action == "grow":
                written.append(w.grow(rest[0], fidelity={"n": 1} if rest[1] else None))
            elif action == "close":
                written.append(w.close())
            elif action == "stop":
                written.append(w.stop())
            else:
                written.append(w.fail("ToolCallArgumentParseError" if action == "fail_call" else "UpstreamError"))
        except mmsp_fsm.RefusedEventError:
            pass
        checker = StreamChecker()
        for one in json.loads(json.dumps(written)):
            assert [d.code for d in checker.feed(one).diagnostics if d.severity == "error"] == []
        assert (checker.state, checker.expected) == (w.state, w.expected)


# ── Whole messages ───────────────────────────────────────────────────────────────────────────────────────────────

SIZES = st.none() | st.integers(1, 5)


@given(message=messages(), size=SIZES, cut_pairs=st.booleans())
@settings(max_examples=300, deadline=None, derandomize=True)
def test_parse_undoes_unparse(message, size, cut_pairs):
    """`parse(unparse(m)) == m`, as events, as JSON lines and as server-sent events, without an error or a warning."""
    events = mmsp_fsm.unparse(message, size=size, cut_pairs=cut_pairs)
    report = mmsp_fsm.validate(events, select=["ALL"])
    assert [one.code for one in report.diagnostics] == []
    assert report.message == message
    assert mmsp_fsm.parse(events) == message
    for format in ("jsonl", "sse"):
        encode = writer(format=format).encode
        assert mmsp_fsm.parse(b"".join(map(encode, events)), format=format) == message


def message_of(*items, reason="stop", **more):
    return UniMessage(content_items=list(items), usage_metadata=USAGE, finish_reason=reason, created_at=TIME, **more)


def pieces_of(message, **how):
    events = mmsp_fsm.unparse(message, **how)
    return [next(iter(event["content_items"][0].values())) and event["content_items"][0] for event in events[:-2]]


def test_texts_are_cut_in_characters():
    message = message_of(TextDoneItem(text="a😀bé"))
    assert [item["text"] for item in pieces_of(message)] == ["a😀bé"]
    assert [item["text"] for item in pieces_of(message, size=1)] == ["a", "😀", "b", "é"]
    assert [item["text"] for item in pieces_of(message, size=3)] == ["a😀b", "é"]
    assert [item["text"] for item in pieces_of(message, size=2, cut_pairs=True)] == ["a\ud83d", "\ude00b", "é"]
    assert [item["text"] for item in pieces_of(message_of(TextDoneItem(text="")), size=2)] == [""]


def test_bytes_are_cut_in_bytes_and_images_are_not():
    audio = message_of(InlineDataDoneItem(data=b"abc", mime_type="audio/wav"))
    assert [item["data"] for item in pieces_of(audio, size=2)] == ["YWI=", "Yw=="]
    image = message_of(InlineDataDoneItem(data=b"abc", mime_type="IMAGE/png"))
    assert [item["data"] for item in pieces_of(image, size=2)] == ["YWJj"]
    vector = message_of(EmbeddingDoneItem(embedding=[1.5, 2]))
    assert [item["embedding"] for item in pieces_of(vector, size=1)] == [[1.5, 2]]


def test_arguments_are_cut_as_their_json():
    call = message_of(ToolCallDoneItem(name="f", tool_call_id="c1", arguments={"a": "é"}), reason="tool_call")
    assert [item["arguments"] for item in pieces_of(call, size=5)] == ['{"a":', ' "é"}']
    assert [item["name"] for item in pieces_of(call, size=5)] == ["f", ""]


def test_the_last_fragment_carries_the_fidelity():
    message = message_of(TextDoneItem(text="abc", fidelity={"s": 1}))
    assert [item.get("fidelity") for item in pieces_of(message, size=2)] == [None, {"s": 1}]


@pytest.mark.parametrize(
    ("item", "code"),
    [
        (ToolCallDoneItem(name="f", tool_call_id="", arguments={}), "E402"),
        (ToolCallDoneItem(name="f", tool_call_id="c", arguments={"a": float("nan")}), "E404"),
        (EmbeddingDoneItem(embedding=[float("inf")]), "E101"),
        (TextDoneItem(text=5), "E105"),
        (InlineDataDoneItem(data=None, mime_type="audio/wav"), None),
    ],
)
def test_a_message_that_the_protocol_does_not_allow_is_refused(item, code):
    if code is None:
        assert mmsp_fsm.parse(mmsp_fsm.unparse(message_of(item))).content_items[0].data == b""
        return
    with pytest.raises(mmsp_fsm.RefusedEventError) as caught:
        mmsp_fsm.unparse(message_of(item))
    assert [one.code for one in caught.value.diagnostics] == [code]


def test_every_rule_is_on_in_a_writer():
    assert selected(default(), None) >= ERRORS


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: mmsp_fsm.unparse(None), TypeError, "a UniMessage is due, not NoneType"),
        (lambda: mmsp_fsm.unparse({"content_items": []}), TypeError, "a UniMessage is due, not dict"),
        (lambda: mmsp_fsm.unparse(message_of({"type": "text.done", "text": "a"})), TypeError, "and here is dict"),
        (lambda: mmsp_fsm.unparse(message_of(TextDeltaItem(text="a"))), TypeError, "and here is TextDeltaItem"),
        (lambda: mmsp_fsm.unparse(message_of(5)), TypeError, "and here is int"),
        (lambda: mmsp_fsm.StreamWriter(5), TypeError, "out is a file"),
        (lambda: mmsp_fsm.StreamWriter("x"), TypeError, "out is a file"),
        (lambda: mmsp_fsm.StreamWriter(clock=5), TypeError, "clock is a function"),
        (lambda: mmsp_fsm.StreamWriter().stop("stop", 5), TypeError, "usage is"),
        (
            lambda: mmsp_fsm.StreamWriter().group("tool_call", {"a": {1}}, name="f", tool_call_id="i"),
            ValueError,
            "arguments",
        ),
    ],
)
def test_arguments_that_are_none(make, error, says):
    with pytest.raises(error, match=says):
        make()
