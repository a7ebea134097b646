"""How objects travel as JSON and back: every class both ways, base64 by the letter, and nothing bent into shape."""

import base64
import json
import re
import string
import typing

import pytest
from attrs import evolve, fields
from hypothesis import given, settings
from hypothesis import strategies as st

from mmsp_fsm.grammar.loading import default
from mmsp_fsm.model import (
    ITEM_CLASSES,
    DeltaItem,
    DoneItem,
    EmbeddingDeltaItem,
    InlineDataDeltaItem,
    InlineThinkingDoneItem,
    Item,
    TextDeltaItem,
    TextDoneItem,
    ToolCallDeltaItem,
    ToolCallDoneItem,
    UniEvent,
    UniMessage,
    UsageMetadata,
)
from mmsp_fsm.model.wire import from_base64, is_model, structure, to_base64, to_dict, to_json

TIME = 1760000000000

# ── Base64 ───────────────────────────────────────────────────────────────────────────────────────────────────────

STANDARD = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
"""RFC 4648, section 4: groups of four, the last one padded."""


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", b""),
        ("Zg==", b"f"),
        ("Zm8=", b"fo"),
        ("Zm9v", b"foo"),
        ("Zm9vYg==", b"foob"),
        ("Zm9vYmE=", b"fooba"),
        ("Zm9vYmFy", b"foobar"),
        ("+/+/", b"\xfb\xff\xbf"),
        ("AAAA", b"\0\0\0"),
    ],
)
def test_base64_of_the_rfc(text, data):
    assert from_base64(text) == data
    assert to_base64(data) == text


@pytest.mark.parametrize(
    ("text", "data"), [("Zh==", b"f"), ("Zv==", b"f"), ("Zm9=", b"fo"), ("Zm//", b"fo\xff"), ("AB==", b"\0")]
)
def test_stray_low_bits_in_the_last_character_are_accepted(text, data):
    assert from_base64(text) == data


@pytest.mark.parametrize(
    "text",
    [
        "A", "AA", "AAA", "AAAAA", "A===", "====", "=", "=AAA", "AA=A", "A=AA", "AA==AAAA", "AAAA====", "AAA==", "AA=",
        "A-_A", "AAA.", "AA A", " AAAA", "AAAA ", "AAAA\n", "AA\nAA", "AA==\n", "\n", "AAA\0", "AAAé", "ＡＡＡＡ",
        "AAA\ud83d", "Zm9v\r\n", "data:;base64,AAAA", "AA==AA==", "AAA=AAA=", "\ufeffAAA",
    ],
)  # fmt: skip
def test_anything_else_is_refused(text):
    assert STANDARD.fullmatch(text) is None
    with pytest.raises(ValueError, match=r"."):
        from_base64(text)


ALPHABET = string.ascii_letters + string.digits + "+/=-_ \n\0é"


@settings(deadline=None)
@given(st.one_of(st.text(ALPHABET, max_size=12), st.text(max_size=6), st.binary(max_size=9).map(to_base64)))
def test_what_is_accepted_is_what_the_rfc_accepts(text):
    if STANDARD.fullmatch(text):
        data = from_base64(text)
        assert len(data) == len(text) * 3 // 4 - text.count("=")
        assert data == base64.b64decode(text)
    else:
        with pytest.raises(ValueError, match=r"."):
            from_base64(text)


@settings(deadline=None)
@given(st.binary(max_size=100))
def test_bytes_travel_and_come_back(data):
    text = to_base64(data)
    assert text == base64.b64encode(data).decode()
    assert STANDARD.fullmatch(text)
    assert from_base64(text) == data


# ── Objects ──────────────────────────────────────────────────────────────────────────────────────────────────────

TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
OBJECTS = st.dictionaries(
    TEXTS,
    st.recursive(
        st.none() | st.booleans() | NUMBERS | TEXTS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=3,
)
BY_TYPE = {
    str: TEXTS,
    bytes: st.binary(max_size=12),
    dict[str, typing.Any]: OBJECTS,
    list[float]: st.lists(NUMBERS, max_size=4),
}
COUNTS = st.none() | st.integers(0)


def values_of(annotation):
    """A strategy for a field of this type, optional ones included."""
    if annotation in BY_TYPE:
        return BY_TYPE[annotation]
    return st.none() | st.one_of(*(BY_TYPE[one] for one in typing.get_args(annotation) if one is not type(None)))


def instances(cls):
    hints = typing.get_type_hints(cls)
    return st.builds(cls, **{field.name: values_of(hints[field.name]) for field in fields(cls)})


ITEMS = st.one_of(*map(instances, ITEM_CLASSES.values()))
DONE_ITEMS = st.one_of(*(instances(cls) for cls in typing.get_args(DoneItem)))
USAGES = st.builds(UsageMetadata, **dict.fromkeys(default().usage.counts, COUNTS))
REASONS = st.sampled_from(default().event.finish_reasons)
EVENTS = st.one_of(
    st.builds(
        UniEvent, event_type=st.just("delta"), content_items=ITEMS.map(lambda item: [item]), created_at=st.integers(0)
    ),
    st.builds(
        UniEvent,
        event_type=st.just("stop"),
        content_items=st.just([]),
        usage_metadata=USAGES,
        finish_reason=REASONS,
        created_at=st.integers(0),
    ),
)
MESSAGES = st.builds(
    UniMessage,
    content_items=st.lists(DONE_ITEMS, max_size=3),
    usage_metadata=USAGES,
    finish_reason=REASONS,
    created_at=st.integers(0),
)


def travelled(value):
    return json.loads(json.dumps(to_json(value), ensure_ascii=False))


@pytest.mark.parametrize("cls", ITEM_CLASSES.values(), ids=lambda cls: cls.type)
def test_every_item_class_comes_back(cls):
    @settings(deadline=None)
    @given(instances(cls))
    def law(item):
        wire = travelled(item)
        assert wire["type"] == cls.type
        assert structure(wire, Item) == item
        assert structure(to_dict(item), Item) == item

    law()


@settings(deadline=None)
@given(EVENTS)
def test_every_event_comes_back(event):
    wire = travelled(event)
    assert list(wire) == [entry.name for entry in default().event.field]
    assert structure(wire, UniEvent) == event
    assert structure(to_dict(event), UniEvent) == event


@settings(deadline=None)
@given(MESSAGES)
def test_every_message_comes_back(message):
    assert structure(travelled(message), UniMessage) == message
    assert structure(to_dict(message), UniMessage) == message


def test_the_classes_are_the_definition_s():
    kinds = default().kinds.values()
    assert list(ITEM_CLASSES) == [symbol for kind in kinds for symbol in (kind.delta, kind.done)]
    assert set(typing.get_args(Item)) == set(ITEM_CLASSES.values())
    assert [cls.type for cls in typing.get_args(DeltaItem)] == [kind.delta for kind in kinds]
    assert [cls.type for cls in typing.get_args(DoneItem)] == [kind.done for kind in kinds]
    for kind in kinds:
        for symbol in (kind.delta, kind.done):
            names = {field.name for field in fields(ITEM_CLASSES[symbol])}
            assert names == {*(header.name for header in kind.header), kind.grows, default().fidelity.key}


@pytest.mark.parametrize(
    ("item", "wire"),
    [
        (TextDeltaItem(text="a"), {"type": "text.delta", "text": "a"}),
        (TextDoneItem(text="", fidelity={"s": [1]}), {"type": "text.done", "text": "", "fidelity": {"s": [1]}}),
        (TextDeltaItem(text="", fidelity={}), {"type": "text.delta", "text": "", "fidelity": {}}),
        (
            ToolCallDeltaItem(arguments="{"),
            {"type": "tool_call.delta", "arguments": "{", "name": "", "tool_call_id": ""},
        ),
        (
            ToolCallDoneItem(arguments={"a": b"x"}, name="f", tool_call_id="c"),
            {"type": "tool_call.done", "arguments": {"a": b"x"}, "name": "f", "tool_call_id": "c"},
        ),
        (InlineDataDeltaItem(data=b"foo"), {"type": "inline_data.delta", "data": "Zm9v"}),
        (
            InlineThinkingDoneItem(data=b"", mime_type="image/png"),
            {"type": "inline_thinking.done", "data": "", "mime_type": "image/png"},
        ),
        (EmbeddingDeltaItem(embedding=[1, 0.5]), {"type": "embedding.delta", "embedding": [1, 0.5]}),
    ],
    ids=lambda value: getattr(value, "type", ""),
)
def test_how_items_travel(item, wire):
    assert to_json(item) == wire
    assert next(iter(to_json(item))) == "type"
    in_process = {**wire, "data": item.data} if hasattr(item, "data") else wire
    assert to_dict(item) == in_process
    assert structure(wire, Item) == structure(in_process, Item) == item


def test_how_events_travel():
    delta = UniEvent(
        event_type="delta", content_items=[InlineDataDeltaItem(data=b"f", mime_type="a/b")], created_at=TIME
    )
    item = {"type": "inline_data.delta", "data": "Zg==", "mime_type": "a/b"}
    wire = {
        "role": "assistant",
        "event_type": "delta",
        "content_items": [item],
        "usage_metadata": None,
        "finish_reason": None,
        "created_at": TIME,
    }
    assert to_json(delta) == wire
    assert to_dict(delta) == {**wire, "content_items": [{**item, "data": b"f"}]}
    usage = UsageMetadata(cached_tokens=0, prompt_tokens=1, thoughts_tokens=None, response_tokens=2)
    stop = evolve(delta, event_type="stop", content_items=[], usage_metadata=usage, finish_reason="length")
    assert to_json(stop) == {
        **wire,
        "event_type": "stop",
        "content_items": [],
        "usage_metadata": {"cached_tokens": 0, "prompt_tokens": 1, "thoughts_tokens": None, "response_tokens": 2},
        "finish_reason": "length",
    }
    message = UniMessage(
        content_items=[TextDoneItem(text="a")], usage_metadata=usage, finish_reason="stop", created_at=TIME
    )
    assert to_json(message) == {
        "role": "assistant",
        "content_items": [{"type": "text.done", "text": "a"}],
        "usage_metadata": to_json(stop)["usage_metadata"],
        "finish_reason": "stop",
        "created_at": TIME,
    }


def test_only_events_are_fed_as_model_objects():
    event = UniEvent(event_type="delta", content_items=[], created_at=TIME)
    assert is_model(event)
    for value in ({}, None, TextDeltaItem(text=""), [event], UniEvent):
        assert not is_model(value)


# ── What has another shape ───────────────────────────────────────────────────────────────────────────────────────

EVENT = {
    "role": "assistant",
    "event_type": "delta",
    "content_items": [{"type": "text.delta", "text": "a"}],
    "usage_metadata": None,
    "finish_reason": None,
    "created_at": TIME,
}
ITEM_DUE = "an item of one of these types is due: " + ", ".join(cls.type for cls in typing.get_args(Item))
COUNTED = default().usage.counts


def event(**more):
    return {**EVENT, **more}


def items(*some):
    return event(content_items=list(some))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (event(created_at="1"), "created_at: int is due, not '1'"),
        (event(created_at=True), "created_at: int is due, not True"),
        (event(created_at=1.0), "created_at: int is due, not 1.0"),
        (event(role="user"), "role: user is none of ['assistant']"),
        (event(event_type="start"), "event_type: start is none of ['delta', 'stop']"),
        (event(finish_reason="end"), "finish_reason: end is none of ['stop', 'length', 'tool_call', 'unknown']"),
        (event(latency=1), "there is no key latency"),
        ({key: one for key, one in EVENT.items() if key != "created_at"}, "created_at: this key is absent"),
        (event(content_items={}), "content_items: list is due, not {}"),
        (event(content_items=""), "content_items: list is due, not ''"),
        (event(content_items=None), "content_items: list is due, not None"),
        (event(usage_metadata=[]), "usage_metadata: an object is due"),
        (event(usage_metadata={}), "; ".join(f"usage_metadata.{name}: this key is absent" for name in COUNTED)),
        (items({"type": "text.delta", "text": 5}), "content_items[0].text: str is due, not 5"),
        (items({"type": "text.delta", "text": b"a"}), "content_items[0].text: str is due, not b'a'"),
        (items({"type": "text.delta"}), "content_items[0].text: this key is absent"),
        (items({"type": "text.delta", "text": "", "x": 1}), "content_items[0]: there is no key x"),
        (items({"type": "text.delta", "text": "", "fidelity": []}), "content_items[0].fidelity: dict is due, not []"),
        (items({"type": "inline_data.delta", "data": "A"}),
         "content_items[0].data: its length, 1, is no multiple of 4"),
        (items({"type": "inline_data.delta", "data": [1]}), "content_items[0].data: base64 text is due, not [1]"),
        (items({"type": "embedding.delta", "embedding": "1"}), "content_items[0].embedding: list is due, not '1'"),
        (items({"type": "tool_call.done", "arguments": "{}", "name": "f", "tool_call_id": "c"}),
         "content_items[0].arguments: dict is due, not '{}'"),
        (items({"type": "text", "text": ""}), f"content_items[0]: {ITEM_DUE}"),
        (items({"type": ["text.delta"]}), f"content_items[0]: {ITEM_DUE}"),
        (items({}), f"content_items[0]: {ITEM_DUE}"),
        (items("a", 5), f"content_items[0]: {ITEM_DUE}; content_items[1]: {ITEM_DUE}"),
        (5, "an object is due"),
        ([], "an object is due"),
        (None, "an object is due"),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else "",
)  # fmt: skip
def test_an_event_of_another_shape_is_refused_with_its_path(value, said):
    with pytest.raises(ValueError, match=r".") as refused:
        structure(value, UniEvent)
    assert str(refused.value) == said


def test_a_message_holds_done_items_alone():
    message = {
        "role": "assistant",
        "content_items": [{"type": "text.delta", "text": "a"}],
        "usage_metadata": dict.fromkeys(default().usage.counts),
        "finish_reason": "stop",
        "created_at": TIME,
    }
    types = ", ".join(cls.type for cls in typing.get_args(DoneItem))
    with pytest.raises(ValueError, match=r".") as refused:
        structure(message, UniMessage)
    assert str(refused.value) == f"content_items[0]: an item of one of these types is due: {types}"


def test_an_item_alone_is_refused_without_a_path():
    with pytest.raises(ValueError, match=r".") as refused:
        structure({"type": "video.delta"}, Item)
    assert str(refused.value) == ITEM_DUE
    with pytest.raises(ValueError, match=r".") as refused:
        structure({"type": "text.delta"}, Item)
    assert str(refused.value) == "text: this key is absent"
