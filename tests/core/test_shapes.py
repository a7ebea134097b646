"""The shape of single records: which rule, at which pointer, and which symbol can still be told."""

# ruff: noqa: E501  (tables of records)

import json
import math

import pytest

from mmsp_fsm.checker.record_reader import RecordReader
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.machine.symbols import Hole
from mmsp_fsm.model.json_values import Foreign, decode, plain
from tests.streams import TIME, USAGE, c, delta, error, report_of, stop, t, without

NAN, INF = math.nan, math.inf
ITEM, TYPE = "/content_items/0", "/content_items/0/type"
TEXT = {"type": "text.delta", "text": "a"}
DATA = {"type": "inline_data.delta", "data": "YQ==", "mime_type": "audio/pcm"}
VECTOR = {"type": "embedding.delta", "embedding": [0.5]}
CALL = {"type": "tool_call.delta", "name": "f", "arguments": "{}", "tool_call_id": "c1"}
CALLED = {"type": "tool_call.done", "name": "f", "arguments": {}, "tool_call_id": "c1"}
DIGITS = "9" * 4300


def read(record):
    """The symbols of a record, and each finding as (code, pointer), those of the whole record first."""
    reader = RecordReader(default())
    if isinstance(record, bytes):
        decoded = decode(record.decode(), 500)
        reading = reader.read(decoded.value, decoded.clean)
    else:
        reading = reader.read(plain(record, 500), clean=False)
    found = [*reading.findings, *(one for sign in reading.signs for one in sign.findings)]
    return [sign.symbol for sign in reading.signs], [(one.code, one.pointer) for one in found]


def shape(name, record, *gives, symbols):
    return pytest.param(record, list(gives), symbols.split(), id=name)


def text(name, record, *gives):
    return shape(name, record, *gives, symbols="text.delta")


def stopped(name, record, *gives):
    return shape(name, record, *gives, symbols="stop")


def item(name, value, *gives, symbols=None):
    """A delta event with this one item; the pointers of what is found are the item's."""
    symbols = symbols if symbols is not None else value["type"]
    return shape(name, delta(value), *((code, ITEM + pointer) for code, pointer in gives), symbols=symbols)


def lost(name, record, *gives):
    return shape(name, record, *gives, symbols="unreadable")


def unknown(name, record, *gives):
    return shape(name, record, *gives, symbols="unknown")


def raw(record, old, new):
    """The bytes of a record, with a part of its JSON written otherwise."""
    written = json.dumps(record)
    assert written.count(old) == 1
    return written.replace(old, new).encode()


GOOD = [
    text("a delta event", delta(TEXT)),
    stopped("the stop event", stop()),
    shape("an error record", error(), symbols="error"),
    *(item(f"a {one['type']} item", one) for one in (TEXT, DATA, VECTOR, CALL, CALLED)),
    *(stopped(f"the reason {reason}", stop(reason)) for reason in default().event.finish_reasons),
    stopped("counts of null", stop(usage_metadata=dict.fromkeys(USAGE))),
    stopped("counts beyond 64 bits", stop(usage_metadata=dict.fromkeys(USAGE, 2**70))),
    stopped("counts of 4,300 digits", stop(usage_metadata=dict.fromkeys(USAGE, int(DIGITS)))),
    stopped("time of zero", stop(created_at=0)),
    stopped("another order of keys", dict(reversed(stop().items()))),
    item("an empty fidelity", {**TEXT, "fidelity": {}}),
    item("a deep fidelity", {**TEXT, "fidelity": {"a": [{"b": None}]}}),
    item("half a pair", {**TEXT, "text": "\ud83d"}),
    item("bytes in a program", {**DATA, "data": b"a"}),
    item("a byte array in a program", {**DATA, "data": bytearray(b"a")}),
    item("stray bits", {**DATA, "data": "YR=="}),
    item("no bytes", {**DATA, "data": ""}),
    item("an empty vector", {**VECTOR, "embedding": []}),
    item("a vector of integers", {**VECTOR, "embedding": [1, -2, 10**30]}),
    item("a tuple in a program", {**VECTOR, "embedding": (0.5, 1)}),
    item("a fragment's header is the group's matter", without(CALL, "name", "tool_call_id")),
    item("an empty header too", {**CALL, "name": "", "tool_call_id": ""}),
    item("a media type is no required field", without(DATA, "mime_type")),
    shape("an error with more inside", error(status=500, client=None, error={"x": [1]}), symbols="error"),
    shape("an error without words", error(message=""), symbols="error"),
    text("a key named twice, the last one right", raw(delta(TEXT), '"role": "assistant"', '"role": 5, "role": "assistant"')),
    text("white space", b"\t " + json.dumps(delta(TEXT), indent=2).encode() + b"\r\n"),
]  # fmt: skip

E101 = [
    stopped("NaN as the time", stop(created_at=NAN), ("E101", "/created_at")),
    stopped("NaN as the role", stop(role=NAN), ("E101", "/role")),
    stopped("NaN as a count", stop(usage_metadata={**USAGE, "prompt_tokens": NAN}), ("E101", "/usage_metadata/prompt_tokens")),
    stopped("NaN as the usage", stop(usage_metadata=NAN), ("E101", "/usage_metadata")),
    stopped("NaN as the reason", stop(NAN), ("E101", "/finish_reason")),
    stopped("NaN in an unknown field", stop(extra=[1, {"a": NAN}]), ("E101", "/extra/1/a")),
    stopped("NaN in an unknown count", stop(usage_metadata={**USAGE, "total": NAN}), ("E101", "/usage_metadata/total")),
    text("NaN as a delta's usage", delta(TEXT, usage_metadata=NAN), ("E101", "/usage_metadata")),
    text("NaN as a delta's reason", delta(TEXT, finish_reason=[NAN]), ("E101", "/finish_reason/0")),
    text("NaN in a fidelity", delta({**TEXT, "fidelity": {"a/b": [0, INF]}}), ("E101", f"{ITEM}/fidelity/a~1b/1")),
    text("NaN as a fidelity", delta({**TEXT, "fidelity": NAN}), ("E101", f"{ITEM}/fidelity")),
    text("NaN as the text", delta({**TEXT, "text": NAN}), ("E101", f"{ITEM}/text")),
    item("NaN in a vector", {**VECTOR, "embedding": [1, NAN, "a", INF]}, ("E101", "/embedding/1")),
    item("NaN in arguments", {**CALLED, "arguments": {"x": -INF}}, ("E101", "/arguments/x")),
    item("NaN as a name", {**CALL, "name": NAN}, ("E101", "/name")),
    item("NaN as the data", {**DATA, "data": NAN}, ("E101", "/data")),
    item("NaN as the type", {"type": NAN}, ("E101", "/type"), symbols="unreadable"),
    lost("NaN as an item", delta(NAN), ("E101", ITEM)),
    lost("NaN as the items", delta(content_items=NAN), ("E101", "/content_items")),
    stopped("NaN as the stop's items is said", stop(content_items=NAN), ("E101", "/content_items")),
    lost("NaN alone", NAN, ("E101", "")),
    lost("a list with NaN", [1, NAN], ("E101", "/1")),
    lost("NaN as the event type of a stop", stop(event_type=NAN), ("E101", "/event_type")),
    text("NaN as the event type of a delta", delta(TEXT, event_type=NAN), ("E101", "/event_type")),
    stopped("two of them are one", stop(created_at=NAN, role=INF), ("E101", "/role")),
    stopped("beside another fault", stop("end", created_at=NAN), ("E108", "/finish_reason"), ("E101", "/created_at")),
    shape("in an error", error(x={"y": NAN}), ("E101", "/error/x/y"), symbols="error"),
    shape("as an error", {"error": NAN}, ("E101", "/error"), symbols="error"),
    shape("as an error's type", error(NAN), ("E101", "/error/type"), symbols="error"),
    shape("beside an error", {**error(), "x": NAN}, ("E101", "/x"), symbols="error"),
    stopped("a time beyond a double", raw(stop(), str(TIME), "1e999"), ("E101", "/created_at")),
    stopped("a time of 4,301 digits", raw(stop(), str(TIME), "1" + DIGITS), ("E101", "/created_at")),
    stopped("in a program too", stop(created_at=10**4300), ("E101", "/created_at")),
    stopped("Infinity in words", raw(stop(), str(TIME), "-Infinity"), ("E101", "/created_at")),
]  # fmt: skip

E102 = [
    *(lost(f"a record: {json.dumps(value)}", value, ("E102", "")) for value in (None, True, 5, 0.5, "x", [], [{}])),
    lost("a record: a Python set", {1}, ("E102", "")),
    lost("a record: bytes", b"5", ("E102", "")),
    *(lost(f"an item: {json.dumps(value)}", delta(value), ("E102", ITEM)) for value in (None, False, 5, "text.delta", [TEXT])),
    *(shape(f"an error: {json.dumps(value)}", {"error": value}, ("E102", "/error"), symbols="error")
      for value in (None, True, 5, "gone", [], [{}])),
    *(stopped(f"the usage: {json.dumps(value)}", stop(usage_metadata=value), ("E102", "/usage_metadata"))
      for value in (False, 0, 19, "19", [], [USAGE])),
    *(text(f"a fidelity: {json.dumps(value)}", delta({**TEXT, "fidelity": value}), ("E102", f"{ITEM}/fidelity"))
      for value in (None, False, 0, "sig", [], [{}])),
]  # fmt: skip

E103 = [
    *(text(f"{name} on a delta", without(delta(TEXT), name), ("E103", f"/{name}"))
      for name in ("role", "event_type", "usage_metadata", "finish_reason", "created_at")),
    *(stopped(f"{name} on the stop", without(stop(), name), ("E103", f"/{name}"))
      for name in ("role", "content_items", "usage_metadata", "finish_reason", "created_at")),
    lost("content_items on a delta", without(delta(TEXT), "content_items"), ("E103", "/content_items")),
    lost("event_type on the stop", without(stop(), "event_type"), ("E103", "/event_type")),
    text("all that can be", {"content_items": [TEXT]}, *(("E103", f"/{name}") for name in
         ("role", "event_type", "usage_metadata", "finish_reason", "created_at"))),
    *(stopped(f"the count {name}", stop(usage_metadata=without(USAGE, name)), ("E103", f"/usage_metadata/{name}")) for name in USAGE),
    item("an item's type", {"text": "a"}, ("E103", "/type"), symbols="unreadable"),
    item("all of an item", {}, ("E103", "/type"), symbols="unreadable"),
    *(item(f"the {name} of {kind}.{phase}", {"type": f"{kind}.{phase}"}, ("E103", f"/{name}"))
      for kind, name in (("text", "text"), ("thinking", "thinking"), ("inline_data", "data"),
                         ("inline_thinking", "data"), ("embedding", "embedding"))
      for phase in ("delta", "done")),
    item("a call's arguments", without(CALL, "arguments"), ("E103", "/arguments")),
    *(item(f"the done call's {name}", without(CALLED, name), ("E103", f"/{name}")) for name in ("name", "arguments", "tool_call_id")),
    *(shape(f"an error's {name}", {"error": without(error()["error"], name)}, ("E103", f"/error/{name}"), symbols="error")
      for name in ("type", "message")),
    shape("both of an error's", {"error": {}}, ("E103", "/error/type"), ("E103", "/error/message"), symbols="error"),
    lost("another protocol's chunk", {"id": 1, "choices": []}, ("E103", "/event_type")),
    lost("a ping", {"type": "ping"}, ("E103", "/event_type")),
    lost("nothing at all", {}, ("E103", "/event_type")),
]  # fmt: skip

E104 = [
    text("on a delta", delta(TEXT, id=1), ("E104", "/id")),
    stopped("on the stop", stop(latency=None), ("E104", "/latency")),
    stopped("an error on the stop", {**stop(), **error()}, ("E104", "/error")),
    text("two of them", delta(TEXT, a=1, b={}), ("E104", "/a"), ("E104", "/b")),
    text("a name with a slash", delta(TEXT, **{"a/b~c": 1}), ("E104", "/a~1b~0c")),
    text("a name without letters", delta(TEXT, **{"": 1}), ("E104", "/")),
    text("another case", {**without(delta(TEXT), "role"), "Role": "assistant"}, ("E104", "/Role"), ("E103", "/role")),
    text("a key that is no string", {**delta(TEXT), 5: 1}, ("E104", "/<int>")),
    stopped("in the usage", stop(usage_metadata={**USAGE, "total_tokens": 19}), ("E104", "/usage_metadata/total_tokens")),
    item("in an item", {**TEXT, "index": 0}, ("E104", "/index")),
    item("another kind's", {**TEXT, "mime_type": "a/b"}, ("E104", "/mime_type")),
    item("another kind's growing field", {**TEXT, "thinking": "a"}, ("E104", "/thinking")),
    shape("beside an error", {**error(), "created_at": TIME}, ("E104", "/created_at"), symbols="error"),
    shape("items beside an error", {**error(), "content_items": []}, ("E104", "/content_items"), symbols="error"),
]  # fmt: skip

E105 = [
    *(stopped(f"the time: {json.dumps(value)}", stop(created_at=value), ("E105", "/created_at"))
      for value in (None, True, -1, 5.0, "1760000000000", [TIME], {})),
    *(stopped(f"the time: {written}", raw(stop(), str(TIME), written), ("E105", "/created_at"))
      for written in ("1760000000000.0", "1.76e12", "1E1", "-0.0", "1e-999")),
    *(stopped(f"a count: {json.dumps(value)}", stop(usage_metadata={**USAGE, "prompt_tokens": value}),
              ("E105", "/usage_metadata/prompt_tokens")) for value in (True, False, -1, 5.0, "5", [], {})),
    stopped("a count: 5.0", raw(stop(), '"prompt_tokens": 12', '"prompt_tokens": 12.0'), ("E105", "/usage_metadata/prompt_tokens")),
    stopped("a count: 1E1", raw(stop(), '"prompt_tokens": 12', '"prompt_tokens": 1E1'), ("E105", "/usage_metadata/prompt_tokens")),
    *(stopped(f"the role: {json.dumps(value)}", stop(role=value), ("E105", "/role")) for value in (None, True, 5, ["assistant"], {})),
    *(stopped(f"the reason: {json.dumps(value)}", stop(value), ("E105", "/finish_reason")) for value in (False, 0, ["stop"], {})),
    *(text(f"the event type of a delta: {json.dumps(value)}", delta(TEXT, event_type=value), ("E105", "/event_type"))
      for value in (None, True, 5, ["delta"], {})),
    *(lost(f"the event type of a stop: {json.dumps(value)}", stop(event_type=value), ("E105", "/event_type"))
      for value in (None, True, 5, ["stop"])),
    *(lost(f"a delta's items: {json.dumps(value)}", delta(content_items=value), ("E105", "/content_items"))
      for value in (None, False, 0, "text", {}, TEXT)),
    *(stopped(f"the stop's items: {json.dumps(value)}", stop(content_items=value), ("E105", "/content_items"))
      for value in (None, False, "", {})),
    *(item(f"an item's type: {json.dumps(value)}", {"type": value}, ("E105", "/type"), symbols="unreadable")
      for value in (None, True, 5, ["text.delta"], {})),
    *(item(f"the text: {json.dumps(value)}", {**TEXT, "text": value}, ("E105", "/text")) for value in (None, True, 5, ["a"], {})),
    item("the text: bytes", {**TEXT, "text": b"a"}, ("E105", "/text")),
    item("the text: a Python set", {**TEXT, "text": {1}}, ("E105", "/text")),
    *(item(f"a fragment's arguments: {json.dumps(value)}", {**CALL, "arguments": value}, ("E105", "/arguments"))
      for value in (None, True, {}, [])),
    *(item(f"the done arguments: {json.dumps(value)}", {**CALLED, "arguments": value}, ("E105", "/arguments"))
      for value in (None, True, "{}", "", [])),
    *(item(f"the data: {json.dumps(value)}", {**DATA, "data": value}, ("E105", "/data")) for value in (None, False, 0, [97], {})),
    *(item(f"a vector: {json.dumps(value)}", {**VECTOR, "embedding": value}, ("E105", "/embedding"))
      for value in (None, 0.5, "0.5", {}, [None], [True], [0.5, "1"], [[0.5]], [True, None, "x", {}])),
    *(item(f"the {name}: {json.dumps(value)}", {**CALL, name: value}, ("E105", f"/{name}"))
      for name in ("name", "tool_call_id") for value in (None, 5, [])),
    *(item(f"the media type: {json.dumps(value)}", {**DATA, "mime_type": value}, ("E105", "/mime_type")) for value in (None, 5, [])),
    item("two of an item's", {**CALLED, "name": 5, "arguments": "{}"}, ("E105", "/name"), ("E105", "/arguments")),
    *(shape(f"an error's {name}: {json.dumps(value)}", error(**{name: value}), ("E105", f"/error/{name}"), symbols="error")
      for name in ("message",) for value in (None, 5, ["x"], {})),
    *(shape(f"an error's type: {json.dumps(value)}", error(value), ("E105", "/error/type"), symbols="error")
      for value in (None, 5, ["x"], {})),
]  # fmt: skip

WORDS = [
    *(text(f"the role {json.dumps(value)}", delta(TEXT, role=value), ("E106", "/role"))
      for value in ("user", "model", "Assistant", "assistant ", "")),
    *(unknown(f"the event type {json.dumps(value)}", delta(TEXT, event_type=value), ("E107", "/event_type"))
      for value in ("start", "unused", "Delta", "delta ", "", "error", "content_block_delta")),
    unknown("an unknown event type, whatever else is wrong", {"event_type": "ping", "x": 1, "role": 5}, ("E107", "/event_type")),
    *(stopped(f"the reason {json.dumps(value)}", stop(value), ("E108", "/finish_reason"))
      for value in ("end_turn", "STOP", "stop ", "", "tool_calls", "max_tokens")),
]  # fmt: skip

EVENTS = [
    unknown("no item", delta(), ("E121", "/content_items")),
    shape("two items", delta(TEXT, CALL), ("E121", "/content_items"), symbols="text.delta tool_call.delta"),
    shape("three items, each read", delta(TEXT, {**TEXT, "text": 5}, {"type": "x"}), ("E121", "/content_items"),
          ("E105", "/content_items/1/text"), ("E201", "/content_items/2/type"), symbols="text.delta text.delta unknown"),
    shape("two items, one of them none", delta(TEXT, 5), ("E121", "/content_items"), ("E102", "/content_items/1"),
          symbols="text.delta unreadable"),
    *(text(f"usage {json.dumps(value)}", delta(TEXT, usage_metadata=value), ("E122", "/usage_metadata"))
      for value in (USAGE, {}, [], 0, False, "")),
    *(text(f"reason {json.dumps(value)}", delta(TEXT, finish_reason=value), ("E123", "/finish_reason"))
      for value in ("stop", "end_turn", "", 0, False, [], {})),
    text("both", delta(TEXT, usage_metadata=USAGE, finish_reason="stop"), ("E122", "/usage_metadata"), ("E123", "/finish_reason")),
    *(stopped(f"{len(value)} items on the stop", stop(content_items=value), ("E124", "/content_items"))
      for value in ([TEXT], [5, None], [{"type": "x"}, {}, NAN])),
    stopped("no usage", stop(usage_metadata=None), ("E125", "/usage_metadata")),
    stopped("no reason", stop(None), ("E126", "/finish_reason")),
    stopped("neither", stop(None, usage_metadata=None), ("E125", "/usage_metadata"), ("E126", "/finish_reason")),
]  # fmt: skip

ITEMS = [
    *(item(f"the type {json.dumps(value)}", {"type": value, "text": "a"}, ("E201", "/type"), symbols="unknown")
      for value in ("text", "thinking", "partial_tool_call", "tool_call", "video.delta", "text.delta ", "Text.delta", "text.",
                    "text.stop", "text.delta.done", "", ".delta", "image_urls", "image", "tool_results.done")),
    *(item(f"the type {json.dumps(value)}", {"type": value, "x": 5}, ("E202", "/type"), symbols="unknown")
      for value in ("image_url", "image_url.delta", "image_url.done", "image_url.xyz", "tool_result", "tool_result.done",
                    "tool_result.")),
    *(item(f"the data {json.dumps(value)}", {**DATA, "data": value}, ("E203", "/data"))
      for value in ("Y", "YQ", "YQ=", "Y===", "YQ==YQ==", "A-_A", "YQ ==", "YQ==\n", "data:audio/pcm;base64,YQ==", "é")),
    item("a done item's data too", {**DATA, "type": "inline_thinking.done", "data": "!"}, ("E203", "/data")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("record", "gives", "symbols"), GOOD + E101 + E102 + E103 + E104 + E105 + WORDS + EVENTS + ITEMS
)
def test_the_shape_of_a_record(record, gives, symbols):
    assert read(record) == (symbols, gives)


def test_every_shape_rule_is_here():
    said = {code for case in E101 + E102 + E103 + E104 + E105 + WORDS + EVENTS + ITEMS for code, _ in case.values[1]}
    assert said == {code for code in default().rules if code < "E3"}


def test_what_is_found_points_at_something_or_at_what_is_absent():
    reader = RecordReader(default())
    for case in E101 + E102 + E104 + E105 + WORDS + EVENTS + ITEMS:
        record = case.values[0]
        value = decode(record.decode(), 500).value if isinstance(record, bytes) else plain(record, 500)
        reading = reader.read(value, clean=False)
        for finding in [*reading.findings, *(one for sign in reading.signs for one in sign.findings)]:
            at = value
            parts = finding.pointer.split("/")[1:]
            for number, part in enumerate(parts):
                key = part.replace("~1", "/").replace("~0", "~")
                if finding.code == "E103" and number == len(parts) - 1:
                    assert key not in at
                    break
                at = at[int(key)] if isinstance(at, list) else at[key]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (delta(TEXT, event_type="start"), "which is of the protocol before 0.5"),
        (delta(TEXT, event_type="unused"), "which is of the protocol before 0.5"),
        (delta({"type": "text", "text": "a"}), "the protocol before 0.5 wrote items so"),
        (delta({"type": "partial_tool_call"}), "the protocol before 0.5 wrote items so"),
        (delta({"type": "video.delta"}), "a type is text, thinking, tool_call, inline_data, inline_thinking, embedding with"),
        (delta({"type": "image_url"}), "is written by the user only"),
        ({"choices": 1, "id": 2}, '(it holds "choices", "id"): it is no event of MMSP, perhaps another protocol\'s chunk'),
        ({}, "(it holds nothing)"),
        (delta(TEXT, role="user"), 'role is "assistant", and here is "user"'),
        (stop("end"), 'finish_reason is "stop" or "length" or "tool_call" or "unknown", and here is "end"'),
        (stop(created_at=True), "created_at is an integer >= 0 (Unix time in ms), and here is true"),
        (stop(created_at=-5), "and here is -5"),
        (stop(usage_metadata=[]), "usage_metadata is an object, and here is an array"),
        (delta(TEXT, TEXT), "a delta event carries one item, and here are 2 items"),
        (delta(), "a delta event carries one item, and here is none"),
        (stop(content_items=[TEXT]), "a stop event carries no items, and here is one"),
        (delta({**TEXT, "text": {1}}), "text is a string, and here is a Python set"),
        (delta({**DATA, "data": "A"}), "data is no standard padded base64: its length, 1, is no multiple of 4"),
        (5, "a record is an object, and here is 5"),
        (delta({**TEXT, "x\x1b": 1}), 'a text.delta item has no field "x\\u001b"'),
        (without(stop(), "role"), "an event has a field role, and here it is absent"),
    ],
)  # fmt: skip
def test_what_is_said(record, said):
    reading = RecordReader(default()).read(plain(record, 500), clean=False)
    (found,) = [*reading.findings, *(one for sign in reading.signs for one in sign.findings)]
    assert said in found.message
    assert found.message.isprintable()


# ── What is read ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_cannot_be_used_leaves_a_hole():
    def view(value):
        (sign,) = RecordReader(default()).read(plain(delta(value), 500), clean=False).signs
        return sign.item

    assert view(DATA).content == b"a"
    assert view({**DATA, "data": b"a"}).content == b"a"
    assert view({**DATA, "data": "!"}).content is Hole.UNKNOWN
    assert view(without(DATA, "data")).content is Hole.UNKNOWN
    assert view({**TEXT, "text": 5}).content is Hole.UNKNOWN
    assert view({**VECTOR, "embedding": [NAN]}).content is Hole.UNKNOWN
    assert view(TEXT).fidelity is None
    assert view({**TEXT, "fidelity": {"a": 1}}).fidelity == {"a": 1}
    assert view({**TEXT, "fidelity": []}).fidelity is Hole.UNKNOWN
    assert view(CALL).header == {"name": "f", "tool_call_id": "c1"}
    assert view(without(CALL, "name")).header == {"name": Hole.ABSENT, "tool_call_id": "c1"}
    assert view({**CALL, "name": 5}).header == {"name": Hole.UNKNOWN, "tool_call_id": "c1"}
    assert [view(one).told_by for one in (CALL, {**CALL, "tool_call_id": 5}, TEXT)] == ["c1", "", ""]
    assert [view(one).has_content for one in (TEXT, {**TEXT, "text": ""}, {**VECTOR, "embedding": []})] == [
        True,
        False,
        False,
    ]


def test_what_is_read_of_the_ends():
    reader = RecordReader(default())
    (sign,) = reader.read(stop("length"), clean=True).signs
    assert (sign.reason, sign.usage, sign.created_at) == ("length", USAGE, TIME)
    (sign,) = reader.read(error(status=5), clean=True).signs
    assert sign.error == {"type": "UpstreamError", "message": "gone", "status": 5}
    assert reader.read(stop(created_at=-1), clean=True).created_at is None
    assert reader.read(delta(TEXT), clean=True).created_at == TIME


# ── The header of a first fragment is the group's to check ───────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("fragment", "gives"),
    [
        (without(CALL, "name"), [("E103", f"{ITEM}/name")]),
        (without(CALL, "tool_call_id"), [("E103", f"{ITEM}/tool_call_id")]),
        (without(CALL, "name", "tool_call_id"), [("E103", f"{ITEM}/name"), ("E103", f"{ITEM}/tool_call_id")]),
        ({**CALL, "name": ""}, [("E401", f"{ITEM}/name")]),
        ({**CALL, "tool_call_id": ""}, [("E402", f"{ITEM}/tool_call_id")]),
        ({**CALL, "name": "", "tool_call_id": ""}, [("E401", f"{ITEM}/name"), ("E402", f"{ITEM}/tool_call_id")]),
        (without(DATA, "mime_type"), [("W508", f"{ITEM}/mime_type")]),
        ({**DATA, "mime_type": ""}, []),
    ],
)
def test_the_header_of_a_first_fragment(fragment, gives):
    said = report_of(delta(fragment), error()).diagnostics
    assert [(one.code, one.pointer) for one in said] == gives


# ── After an end ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("record", "symbol", "codes"),
    [
        (delta(TEXT), "text.delta", []),
        (delta({**TEXT, "text": 5}, role=5), "text.delta", []),
        (delta({"type": "x"}), "unknown", []),
        (delta({"type": "image_url"}), "unknown", []),
        (delta(), "unknown", []),
        (delta(5), "unknown", []),
        (delta(content_items=5), "unknown", []),
        (delta(NAN), "unknown", []),
        (without(delta(TEXT), "event_type"), "text.delta", []),
        (stop(), "stop", []),
        (stop(usage_metadata=None, created_at=NAN), "stop", []),
        (error(), "error", []),
        ({"error": 5, "x": 1}, "error", []),
        ({**stop(), **error()}, "stop", []),
        (delta(event_type="ping"), "unknown", ["E107"]),
        (delta(event_type=5), "unknown", ["E107"]),
        ({}, "unknown", ["E107"]),
        (5, "unreadable", ["E102"]),
        (None, "unreadable", ["E102"]),
        ([], "unreadable", ["E102"]),
        (NAN, "unreadable", ["E101"]),
        (Foreign("set"), "unreadable", ["E102"]),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_record_after_the_end_is_only_glanced_at(record, symbol, codes):
    sign = RecordReader(default()).glance(record)
    assert (sign.symbol, [one.code for one in sign.findings]) == (symbol, codes)


# ── Nothing is kept from one record to the next ──────────────────────────────────────────────────────────────────


def test_a_reader_keeps_nothing():
    reader = RecordReader(default())
    first = reader.read(plain(delta(NAN), 500), clean=False)
    second = reader.read(delta(TEXT), clean=True)
    third = reader.read(plain(delta({**TEXT, "text": NAN}), 500), clean=False)
    assert [one.code for one in first.signs[0].findings] == ["E101"]
    assert (second.findings, second.signs[0].findings) == ([], [])
    assert [one.code for one in third.signs[0].findings] == ["E101"]


def test_shapes_stop_no_group():
    said = report_of(
        t("a"),
        {**t("b"), "role": "x", "created_at": "now", "id": 1},
        delta({"type": "text.done", "text": "ab"}),
        stop(),
    )
    assert [(one.code, one.event, one.pointer) for one in said.diagnostics] == [
        ("E104", 1, "/id"),
        ("E106", 1, "/role"),
        ("E105", 1, "/created_at"),
    ]
    said = report_of(c("{", "f", "c1"), c(5), c("}"), delta({**CALLED, "arguments": {"other": 1}}), stop("tool_call"))
    assert [(one.code, one.event) for one in said.diagnostics] == [("E105", 1)]
