"""Corners in which a quicker reading could differ from the machine's: the passes agree there too, and rightly."""

from __future__ import annotations

import base64
import copy
import enum
import json
import tomllib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
from agreement import ALL_RULES, checked, disagreements, in_batches, one_by_one
from test_laws import DEFINITION

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.grammar.loading import grammar_folder
from mmsp_fsm.grammar.source import build
from mmsp_fsm.machine.limits import Limits

T = 1_700_000_000_000
NAMES = [entry.name for entry in DEFINITION.event.field]


@pytest.fixture(autouse=True, scope="module")
def _structs() -> None:
    """As after many records: what is decoded from bytes is decoded into structs."""
    assert StreamChecker()._passes.decoders.structs_for(1000) is not None


def event(item: dict[str, Any], **other: Any) -> dict[str, Any]:
    fields = {"role": "assistant", "event_type": "delta", "content_items": [item], "usage_metadata": None,
              "finish_reason": None, "created_at": T, **other}  # fmt: skip
    return {name: fields[name] for name in NAMES}


def stop(reason: Any = "stop", **other: Any) -> dict[str, Any]:
    usage = dict.fromkeys(DEFINITION.usage.counts, 1)
    return event({}, event_type="stop", content_items=[], **{"usage_metadata": usage, "finish_reason": reason} | other)


def text(what: str, content: Any, **other: Any) -> dict[str, Any]:
    return event({"type": f"text.{what}", "text": content, **other})


def audio(what: str, content: Any, mime_type: Any = "audio/x") -> dict[str, Any]:
    return event({"type": f"inline_data.{what}", "data": content, "mime_type": mime_type})


def call(pieces: list[str], arguments: Any, name: str = "f", identity: str = "i") -> list[dict[str, Any]]:
    first = {"type": "tool_call.delta", "name": name, "tool_call_id": identity}
    later = {"type": "tool_call.delta", "name": "", "tool_call_id": ""}
    fragments = [event({**(later if n else first), "arguments": piece}) for n, piece in enumerate(pieces)]
    done = event({"type": "tool_call.done", "name": name, "tool_call_id": identity, "arguments": arguments})
    return [*fragments, done, stop("tool_call")]


def line(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()


def codes(records: list[Any], limits: Limits | None = None) -> list[str]:
    """The codes of what is said of `records`, in whatever way they come; as the machine alone says them."""
    assert list(disagreements(records, limits)) == []
    return [one.code for one in checked(records, one_by_one, recognise=False, limits=limits).diagnostics]


def codes_of_bytes(events: list[Any], limits: Limits | None = None) -> list[str]:
    return codes([line(one) for one in events], limits)


LONG = "x" * 1100
BASE64 = base64.b64encode(b"q" * 6000).decode()


# ── Long records ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_done_item_repeats_its_first_fragment_where_a_second_one_came() -> None:
    assert codes_of_bytes([text("delta", LONG), text("delta", "yy"), text("done", LONG), stop()]) == ["E406"]
    assert codes_of_bytes([text("delta", LONG), text("delta", "yy"), text("done", LONG + "yy"), stop()]) == []


@pytest.mark.parametrize("cut", [1, 2, 20])
def test_a_done_item_that_repeats_its_fragment_is_torn(cut: int) -> None:
    torn = [line(text("delta", LONG)), line(text("done", LONG))[:-cut]]
    assert codes(torn)[0] == "E101"
    assert codes([*torn, line(stop())])[0] == "E101"


@pytest.mark.parametrize("behind", [b" ", b"}", b"\0", b" x", b",", b"\x0c"])
def test_what_stands_behind_a_done_item_that_repeats_its_fragment(behind: bytes) -> None:
    records = [line(text("delta", LONG)), line(text("done", LONG)) + behind, line(stop())]
    assert codes(records) == ([] if behind == b" " else ["E101"])


@pytest.mark.parametrize("content", ["x" * 1300, "é" * 700, "😀" * 400])
def test_a_done_item_repeats_a_fragment_beyond_the_limit(content: str) -> None:
    events = [text("delta", "a"), text("done", "a"), text("delta", content), text("done", content), stop()]
    assert codes_of_bytes(events, Limits(group_bytes=len(content.encode()))) == []
    assert codes_of_bytes(events, Limits(group_bytes=len(content.encode()) - 1)) == ["W513"]


FIELDS_BEHIND = {
    '"type":"inline_data.done"': (["E301", "E301"], ["E301"]),
    '"mime_type":"b/c"': (["E407"], ["W508"]),
    '"data":"QQ=="': (["E406"], ["E406"]),
    '"\\u0064ata":"QQ=="': (["E406"], ["E406"]),
    '"fidelity":{"data":1}': (["E409"], ["E409"]),
    '"fidelity":null': (["E102"], ["E102"]),
    '"x":1': (["E104"], ["E104"]),
}
"""What is said of a first and of a second fragment with this field behind its base64."""


@pytest.mark.parametrize("field", FIELDS_BEHIND)
def test_fields_that_come_again_behind_long_base64(field: str) -> None:
    whole = line(audio("delta", BASE64)).replace(b'"audio/x"}', b'"audio/x",' + field.encode() + b"}")
    first = codes([whole, line(audio("done", BASE64)), line(stop())])
    second = codes([line(audio("delta", BASE64)), whole, line(audio("done", BASE64 + BASE64)), line(stop())])
    assert (first, second) == FIELDS_BEHIND[field]


@pytest.mark.parametrize(
    "items",
    [b'[{"type":"text.delta","text":"hi"}]', b'[{"type":"inline_data.delta","data":"","mime_type":"audio/x"}]', b"[]"],
)
def test_items_that_come_again_behind_long_base64(items: bytes) -> None:
    twice = line(audio("delta", BASE64))[:-1] + b',"content_items":' + items + b"}"
    expected = {b"t": [], b"i": ["E406"], b"": ["E121"]}
    records = [twice, line(text("done", "hi") if b"text" in items else audio("done", BASE64)), line(stop())]
    assert codes(records)[:1] == expected[items[10:11]]


# ── Raw fields that come twice, and what is nested deep ──────────────────────────────────────────────────────────


LOST = {b'{"a":"\xff"}': True, b'{"a":"\\x"}': True, b"[" * 600 + b"]" * 600: True, b'"\xed\xa0\x80"': True,
        b'{"a":1e999}': False, b"9" * 4301: False}  # fmt: skip
"""Values of a field that comes again, and whether they leave the record no JSON: of two fields the last one counts."""


@pytest.mark.parametrize("lost", LOST, ids=range(len(LOST)))
@pytest.mark.parametrize("key", [b"%s", b"\\u0066idelity"])
def test_a_raw_field_that_does_not_count_is_read_too(lost: bytes, key: bytes) -> None:
    key = key.replace(b"%s", b"fidelity")
    first = line(text("delta", "a", fidelity=0)).replace(b'"fidelity":0', b'"%s":%s,"fidelity":{}' % (key, lost))
    assert ("E101" in codes([first, line(text("done", "a")), line(stop())])) == LOST[lost]
    records = [line(one) for one in call(["{}"], {})]
    records[1] = records[1].replace(b'"arguments":', b'"arguments":%s,"arguments":' % lost)
    assert ("E101" in codes(records)) == LOST[lost]


@pytest.mark.parametrize("level", [496, 497, 498, 499, 500, 501])
def test_arguments_as_deep_as_their_record_may_be(level: int) -> None:
    """What is joined may be nested 500 deep, and the done item's record, in which they stand three levels down, too."""
    joined = '{"a":' + "[" * (level - 1) + "]" * (level - 1) + "}"
    records = [line(one) for one in call([joined], 0)]
    records[1] = records[1].replace(b'"arguments":0', b'"arguments":' + joined.encode())
    assert codes(records)[:1] == ([] if level <= 497 else ["E101"])


def test_arguments_whose_bytes_are_no_utf_8() -> None:
    records = [line(one) for one in call(['{"a":"\ud83d"}'], 0)]
    records[1] = records[1].replace(b'"arguments":0', b'"arguments":{"a":"\xed\xa0\xbd"}')
    assert codes(records)[0] == "E101"


# ── Groups that are weighed amid a batch ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("fidelity", [{}, {"k": 1}])
@pytest.mark.parametrize("before", [0, 100, 254, 255, 256])
def test_a_group_grows_beyond_the_limit(fidelity: dict[str, Any], before: int) -> None:
    fragments = [text("delta", "a")] * before + [text("delta", "a", fidelity=fidelity)] + [text("delta", "a")] * 300
    carried = {"fidelity": fidelity} if fidelity else {}
    events = [*fragments, text("done", "a" * len(fragments), **carried), stop()]
    assert codes_of_bytes(events, Limits(group_bytes=100)) == ["W513"]
    assert codes(events, Limits(group_bytes=100)) == ["W513"]
    assert codes_of_bytes(events, Limits(group_bytes=len(fragments))) == []


def test_long_fragments_are_weighed_as_they_come() -> None:
    """An open group beyond the limit is not kept: neither of values nor of bytes."""
    for feed in (one_by_one, in_batches(3)):
        checker = StreamChecker(limits=Limits(group_bytes=5000))
        records: list[Any] = [text("delta", LONG)] * 9
        feed(checker, [line(one) for one in records] if feed is not one_by_one else records)
        group = checker._recogniser.group.as_builder() or checker._builder.group
        assert group is not None
        assert group.too_large
        assert group.pieces == []


@pytest.mark.parametrize("ready", [False, True])
def test_short_fragments_are_weighed_after_so_many(ready: bool) -> None:
    """Of dicts, too, whether C code tells their types or not."""
    checker = StreamChecker(limits=Limits(group_bytes=5000))
    checker._passes.decoders._records = 10**6 if ready else 0
    for _ in range(2000):
        checker.feed(text("delta", "x" * 10))
    group = checker._recogniser.group.as_builder() or checker._builder.group
    assert group is not None
    assert group.pieces == []


@pytest.mark.parametrize("last", ["", " ", "{}", '"}', "]"])
def test_what_may_come_next_is_told_without_all_that_came(last: str) -> None:
    """In both passes alike; a group of many fragments is not looked through for it."""
    for events in (call(["{", '"a": 1', last], {})[:3], [text("delta", "a")] * 3, AUDIO_STREAM[:2]):
        both, alone = StreamChecker(), StreamChecker(recognise=False)
        for one in events:
            both.feed(one)
            alone.feed(one)
        assert both.expected == alone.expected
        sketch = both._recogniser.group.as_builder(sketched=True)
        assert sketch is not None
        assert len(sketch.pieces) <= (3 if "arguments" in str(events) else 0)


def test_groups_do_not_share_their_fidelity() -> None:
    carried = {"fidelity": {"s": {"x": 1}}}
    events = [text("delta", "a", **carried), text("done", "a", **carried)] * 2 + [stop()]
    checker = StreamChecker()
    assert checker.feed_records([line(one) for one in events], [None] * 5) == 5
    message = checker.close().message
    assert message is not None
    one, other = message.content_items
    assert one.fidelity == other.fidelity == {"s": {"x": 1}}
    assert one.fidelity is not other.fidelity


# ── Python objects ───────────────────────────────────────────────────────────────────────────────────────────────


class Word(enum.StrEnum):
    """Words as a program may write them down."""

    AUDIO = "audio/x"
    STOP = "stop"
    DELTA = "delta"
    TEXT = "text.delta"
    A = "a"
    AA = "aa"


class Like:
    """Equal to a string, and none."""

    def __init__(self, word: str) -> None:
        self.word = word

    def __eq__(self, other: object) -> bool:
        return self.word == other

    def __hash__(self) -> int:
        return hash(self.word)


def with_value(events: list[dict[str, Any]], path: tuple[Any, ...], value: Any) -> list[dict[str, Any]]:
    events = copy.deepcopy(events)
    place: Any = events
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return events


TEXT_STREAM = [text("delta", "a"), text("delta", "a"), text("done", "aa"), stop()]
AUDIO_STREAM = [audio("delta", b"a"), audio("delta", b"b"), audio("done", b"ab"), stop()]
WORDS = [
    (TEXT_STREAM, (0, "content_items", 0, "type"), Word.TEXT),
    (TEXT_STREAM, (1, "content_items", 0, "type"), Word.TEXT),
    (TEXT_STREAM, (0, "content_items", 0, "text"), Word.A),
    (TEXT_STREAM, (1, "content_items", 0, "text"), Word.A),
    (TEXT_STREAM, (2, "content_items", 0, "text"), Word.AA),
    (TEXT_STREAM, (0, "event_type"), Word.DELTA),
    (TEXT_STREAM, (1, "event_type"), Word.DELTA),
    (TEXT_STREAM, (3, "event_type"), Word.STOP),
    (TEXT_STREAM, (3, "finish_reason"), Word.STOP),
    *[(AUDIO_STREAM, (n, "content_items", 0, "mime_type"), Word.AUDIO) for n in range(3)],
]


@pytest.mark.parametrize(("events", "path", "word"), WORDS)
def test_words_of_an_enumeration_are_strings_and_what_only_equals_one_is_none(
    events: list[dict[str, Any]], path: tuple[Any, ...], word: Word
) -> None:
    assert codes(with_value(events, path, word)) == []
    assert codes(with_value(events, path, Like(word.value)))[0] == "E105"
    checker = StreamChecker(rules=ALL_RULES)
    for one in with_value(events, path, word):
        checker.feed(one)
    report = checker.close()
    assert "Word" not in repr(report)


@pytest.mark.parametrize(
    "where", [(0,), (1,), (3,), (0, "content_items", 0), (1, "content_items", 0), (3, "usage_metadata")]
)
def test_a_key_that_only_equals_a_name_is_another(where: tuple[Any, ...]) -> None:
    events = copy.deepcopy(TEXT_STREAM)
    place: Any = events
    for part in where:
        place = place[part]
    name = next(iter(place))
    value = place.pop(name)
    place[Like(name)] = value
    assert codes(events) == (["E103"] if name == "type" else ["E104", "E103"])


@pytest.mark.parametrize("value", [10**4300, -(10**4300)], ids=["positive", "negative"])
def test_integers_that_are_longer_than_any_is_exact(value: int) -> None:
    for path in [(0, "created_at"), (1, "created_at"), (3, "created_at"), (3, "usage_metadata", "prompt_tokens")]:
        assert codes(with_value(TEXT_STREAM, path, value))[0] == "E101"


@pytest.mark.parametrize(
    "usage", [tuple((n, 1) for n in DEFINITION.usage.counts), [[n, 1] for n in DEFINITION.usage.counts], "", 0]
)
def test_usage_that_is_no_object(usage: Any) -> None:
    events = with_value(TEXT_STREAM, (3, "usage_metadata"), usage)
    assert codes(events) == ["E102"]
    assert codes_of_bytes(events) == ["E102"]


def test_arguments_with_halves_of_surrogate_pairs_as_keys() -> None:
    high, low = "\ud83d", "\ude00"
    assert codes(call(['{"' + high, low + '": 1}'], {"😀": 1})) == []
    assert codes(call(['{"a": "' + high, low + '"}'], {"a": "😀"})) == []
    both = {high + low: 1, "😀": 2}
    assert codes(call(['{"😀": 2}'], both)) == ["E406"]
    turned = dict(reversed(list(both.items())))
    reports = [checked(call(['{"😀": 2}'], one), one_by_one) for one in (both, turned)]
    assert [one.errors for one in reports] == [1, 1]


def test_a_foreign_object_is_named_in_whatever_event_it_stands() -> None:
    strange = OrderedDict(text("delta", "a"), role={1, 2})
    assert codes([strange]) == ["E105", "E307"]
    assert "a Python set" in checked([strange], one_by_one).diagnostics[0].message


def test_a_raw_field_whose_name_is_no_letters_alone() -> None:
    """A kind of another definition, whose field's name is written with an escape the first time."""
    grammar = tomllib.loads((grammar_folder() / "mmsp.toml").read_text())
    grammar["kind"]["js"] = {"grows": "data2", "joins": "text", "closes": "json_object"}
    definition = build(grammar, tomllib.loads((grammar_folder() / "rules.toml").read_text()))
    lost = line(event({"type": "js.done", "data2": 0})).replace(b'"data2":0', b'"data\\u0032":{"a":"\xff"},"data2":{}')
    records = [line(event({"type": "js.delta", "data2": "{}"})), lost, line(stop())]
    for recognise in (True, False):
        checker = StreamChecker(definition, keep_message=False, recognise=recognise)
        checker._passes.decoders.structs_for(1000)
        for record in records:
            checker.feed_record(record)
        assert checker.close().diagnostics[0].code == "E101"


@pytest.mark.parametrize("ascii_only", [True, False])
def test_long_base64_in_a_field_that_writers_may_escape(ascii_only: bool) -> None:
    grammar = tomllib.loads((grammar_folder() / "mmsp.toml").read_text())
    grammar["kind"]["film"] = {"grows": "dé", "joins": "bytes"}
    definition = build(grammar, tomllib.loads((grammar_folder() / "rules.toml").read_text()))
    twice = base64.b64encode(b"q" * 12000).decode()
    pieces = [("delta", BASE64), ("delta", BASE64), ("done", twice)]
    events = [*(event({"type": f"film.{what}", "dé": content}) for what, content in pieces), stop()]
    checker = StreamChecker(definition, keep_message=False)
    checker._passes.decoders.structs_for(1000)
    checker.feed_records([json.dumps(one, ensure_ascii=ascii_only).encode() for one in events], [None] * 4)
    assert checker.explained == 0
    assert checker.close().diagnostics == ()


def test_an_event_that_its_owner_changes_afterwards() -> None:
    def related(change: Callable[[dict[str, Any]], None]) -> StreamReport:
        checker = StreamChecker()
        first: dict[str, Any] = event({"type": "embedding.delta", "embedding": [1.0], "fidelity": {"a": [1]}})
        checker.feed(first)
        change(first)
        checker.feed(text("delta", "a"))
        return checker.close()

    def change(first: dict[str, Any]) -> None:
        first["role"] = "changed"
        first["content_items"][0]["embedding"].append("changed")
        first["content_items"][0]["type"] = "changed"

    left = related(lambda _: None)
    assert left.diagnostics[0].related
    assert related(change) == left
