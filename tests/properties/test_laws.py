"""Laws of the checker, each stated in one sentence and then attacked with generated streams, mutants and garbage."""

from __future__ import annotations

import enum
import io
import json
import math
from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Any, TypeVar

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mmsp_fsm
from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.grammar.selection import selected
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.model import UniEvent, UniMessage
from mmsp_fsm.model.wire import structure, to_dict, to_json
from mmsp_fsm.testing.faults import MUTATORS
from mmsp_fsm.testing.faults.basics import Choices, Mutant, Mutator, NotApplicable, RandomChoices, Record, Stream
from mmsp_fsm.testing.faults.drawing import Draws, suiting
from mmsp_fsm.testing.faults.records import as_bytes
from mmsp_fsm.testing.strategies import messages, streams, streams_with_messages
from mmsp_fsm.testing.stream_strategies import json_values, texts

T = TypeVar("T")

DEFINITION = default()
ALL_RULES = selected(DEFINITION, ["ALL"])
EXAMPLES = settings().max_examples
SHARE = max(8, EXAMPLES // len(MUTATORS))
"""Examples of each mutator: together they have what one law has, and a few at least."""

NOT_MUTATED = {"W510", "W513"}
"""W510 is the reader's, W513 needs 256 MiB or other limits."""


def check(records: Iterable[object], feed: str = "feed", rules: Iterable[str] | None = None) -> StreamReport:
    checker = StreamChecker(rules=rules)
    for record in records:
        getattr(checker, feed)(record)
    return checker.close()


def mutated(mutator: Mutator, events: list[dict[str, Any]], pick: Choices) -> Mutant:
    try:
        return mutator.make(Stream.of(events), pick)
    except NotApplicable:
        assume(False)
        raise


def found(report: StreamReport) -> list[tuple[str, int]]:
    return sorted((one.code, one.event) for one in report.diagnostics)


def told(report: StreamReport) -> dict[str, Any]:
    """All that a report says, but for how the record was written."""
    said = [
        (one.code, one.event, one.pointer, one.message, one.state, one.expected, [at.event for at in one.related])
        for one in report.diagnostics
    ]
    return {"said": said, "outcome": report.outcome, "events": report.events, "groups": report.groups,
            "errors": report.errors, "warnings": report.warnings, "message": report.message}  # fmt: skip


# ── What conforms ────────────────────────────────────────────────────────────────────────────────────────────────


def as_model(event: dict[str, Any]) -> object:
    return event if "error" in event else structure(event, UniEvent)


def with_bytes(event: dict[str, Any]) -> object:
    return event if "error" in event else to_dict(structure(event, UniEvent))


WAYS: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "dicts": ("feed", lambda event: event),
    "dicts with bytes": ("feed", with_bytes),
    "model objects": ("feed", as_model),
    "JSON with escapes": ("feed_record", as_bytes),
    "JSON in UTF-8": ("feed_record", lambda event: in_utf8(event)),
}


def in_utf8(event: dict[str, Any]) -> bytes:
    """The JSON of an event as servers write it: unescaped, but for halves of pairs, which UTF-8 cannot hold."""
    text = json.dumps(event, ensure_ascii=False)
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text).encode()


@pytest.mark.parametrize("way", WAYS)
@given(drawn=streams_with_messages())
@settings(max_examples=max(50, EXAMPLES // len(WAYS)))
def test_a_generated_stream_conforms_and_parses_to_its_message(way: str, drawn: Any) -> None:
    """A generated stream draws no error and no warning, of any rule, and parses back to the message it came from."""
    events, message = drawn
    feed, form = WAYS[way]
    report = check(map(form, events), feed, ALL_RULES)
    assert found(report) == []
    assert report.message == message
    assert report.outcome == ("failed" if message is None else "stopped")
    assert report.events == len(events)
    if message is None:
        assert report.error == events[-1]["error"]
    else:
        assert to_json(report.message) == to_json(message)  # type: ignore[arg-type]


@given(drawn=streams_with_messages())
@settings(max_examples=max(50, EXAMPLES // 4))
def test_validate_and_parse_agree_with_the_checker(drawn: Any) -> None:
    """`validate` and `parse` say of a recording's bytes, and of the list of its events, what the checker says."""
    events, message = drawn
    lines = b"".join(in_utf8(event) + b"\n" for event in events)
    for source in (events, iter(events), lines, io.BytesIO(lines)):
        report = mmsp_fsm.validate(source, extend_select=["ALL"])
        assert found(report) == []
        assert report.message == message
    for source in (events, lines):
        if message is not None:
            assert mmsp_fsm.parse(source) == message
        else:
            with pytest.raises(mmsp_fsm.StreamFailedError) as caught:
                mmsp_fsm.parse(source)
            assert caught.value.error == events[-1]["error"]


@given(message=messages())
def test_a_message_survives_the_wire(message: UniMessage) -> None:
    """A message written as JSON text and read again is the same message."""
    assert structure(json.loads(json.dumps(to_json(message))), UniMessage) == message
    assert structure(to_dict(message), UniMessage) == message


@given(events=streams())
def test_an_event_survives_the_wire(events: list[dict[str, Any]]) -> None:
    """A conforming event read into the model and written again is the same JSON value."""
    for event in events:
        if "error" not in event:
            assert to_json(structure(event, UniEvent)) == event


# ── One fault, one error ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mutator", MUTATORS, ids=lambda mutator: mutator.name)
@given(data=st.data())
@settings(max_examples=SHARE)
def test_a_mutation_is_reported_exactly(mutator: Mutator, data: st.DataObject) -> None:
    """A mutated stream draws exactly the diagnostics that its mutator states, at their events, and nothing else."""
    events = data.draw(suiting(mutator))
    records, due = mutated(mutator, events, Draws(data.draw))
    assert {fault.code for fault in due} <= mutator.rules
    report = check(map(as_bytes, records), "feed_record", selected(DEFINITION, None, mutator.extend))
    assert found(report) == sorted((fault.code, fault.event) for fault in due), [
        f"{one.code} at {one.event}{one.pointer}: {one.message}" for one in report.diagnostics
    ]
    places = {(one.code, one.event, one.pointer) for one in report.diagnostics}
    for fault in due:
        assert fault.pointer is None or fault in places
    assert report.verdict == ("violating" if any(fault.code[0] == "E" for fault in due) else "conforming")


def test_every_rule_has_a_mutator() -> None:
    """Each rule of the catalogue is what some mutator may speak of, and each mutator says what it does."""
    assert {code for mutator in MUTATORS for code in mutator.rules} == set(DEFINITION.rules) - NOT_MUTATED
    assert all(mutator.sentence for mutator in MUTATORS)
    assert len({mutator.name for mutator in MUTATORS}) == len(MUTATORS)


# ── One stream, many ways in ─────────────────────────────────────────────────────────────────────────────────────


@given(data=st.data())
def test_bytes_and_values_give_the_same_report(data: st.DataObject) -> None:
    """Feeding the bytes of records and feeding their decoded values gives the same report, word for word."""
    mutator = data.draw(st.sampled_from(MUTATORS))
    events = data.draw(suiting(mutator))
    records, _ = mutated(mutator, events, Draws(data.draw))
    values = [decoded(record) for record in records]
    assume(all(value is not UNREADABLE for value in values))
    read, given = told(check(map(as_bytes, records), "feed_record")), told(check(values))
    # What is nested too deep is no record, and cannot be read as an event of a program.
    assert str(read).replace("the record is not JSON: it is nested", "the event cannot be read: it is nested") == str(
        given
    )


UNREADABLE = object()


def exact(digits: str) -> float:
    """An integer of up to 4,300 digits, and beyond that what counts as one that JSON cannot write."""
    return int(digits) if len(digits.lstrip("-")) <= 4300 else math.inf


def decoded(record: Record) -> object:
    """A record as json.loads gives it; `UNREADABLE` where it does not (or turns into what the bytes did not say)."""
    if not isinstance(record, bytes):
        return record
    try:
        return json.loads(record.decode(), parse_int=exact)
    except (ValueError, RecursionError):
        return UNREADABLE


# ── Garbage ──────────────────────────────────────────────────────────────────────────────────────────────────────


def sound(report: StreamReport, fed: int) -> None:
    """A report is consistent with itself, with the number of records fed, and with the definition."""
    errors = [one for one in report.diagnostics if one.severity == "error"]
    warnings = [one for one in report.diagnostics if one.severity == "warning"]
    limit = Limits().diagnostics
    assert report.events == fed
    assert len(errors) == min(report.errors, limit)
    assert len(warnings) == min(report.warnings, limit)
    assert report.verdict == ("violating" if report.errors else "conforming")
    assert report.outcome in ("stopped", "failed", "truncated")
    assert 0 <= report.groups <= sum(len(DEFINITION.kinds) for _ in range(fed)) * 100
    if report.message is not None:
        assert report.outcome == "stopped"
        assert not report.errors
    if report.errors:
        assert report.error is None
        assert report.done_items == ()
    for one in report.diagnostics:
        assert one.state in DEFINITION.states
        assert set(one.expected) <= set(DEFINITION.symbols)
        assert 0 <= one.event <= fed
        assert one.message
        assert one.pointer == "" or one.pointer.startswith("/")
        for related in one.related:
            assert 0 <= related.event < max(one.event, 1)
        json.dumps([one.message, one.pointer])
        assert one.record is None or isinstance(one.record, bytes)


ITEMS = [
    {"type": "text.delta", "text": "a"},
    {"type": "text.done", "text": "a"},
    {"type": "tool_call.delta", "name": "f", "tool_call_id": "c", "arguments": "{"},
    {"type": "tool_call.done"},
    {"type": "inline_data.delta", "data": "*"},
    {"type": "embedding.delta", "embedding": [math.nan]},
    {"type": "image_url"},
    {"type": None},
]
WORDS = ["assistant", "delta", "stop", "tool_call", "length", "", None, 0, -1, 1.5, True, 10**12, math.inf, [], {}]
EVENT_PARTS = st.sampled_from([*WORDS, *ITEMS, {"error": {}}])
PARTS = st.one_of(EVENT_PARTS, st.lists(EVENT_PARTS, max_size=3), json_values())
KEYS = st.sampled_from(
    ["role", "event_type", "content_items", "usage_metadata", "finish_reason", "created_at", "error", "x"]
)
NEARLY_EVENTS = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "role": st.just("assistant"),
            "event_type": st.sampled_from(["delta", "stop", "x", 1]),
            "content_items": st.lists(EVENT_PARTS, max_size=3),
            "usage_metadata": PARTS,
            "finish_reason": PARTS,
            "created_at": st.just(10**12),
            "error": PARTS,
        },
    ),
    st.dictionaries(KEYS, PARTS, max_size=6),
)
JSON_RECORDS = st.lists(st.one_of(NEARLY_EVENTS, json_values()), max_size=8)


@given(records=JSON_RECORDS)
def test_any_json_values_are_survived(records: list[Any]) -> None:
    """Whatever JSON values are fed, nothing is raised, and the report is consistent; as bytes it is the same."""
    report = check(records)
    sound(report, len(records))
    assert told(check(map(as_bytes, records), "feed_record")) == told(report)
    sound(mmsp_fsm.validate(records), len(records))


TORN_RECORDS = streams().map(lambda events: as_bytes(events[0])[:-7])
RAW_RECORDS = st.lists(st.one_of(st.binary(max_size=40), NEARLY_EVENTS.map(as_bytes), TORN_RECORDS), max_size=6)


@given(records=RAW_RECORDS)
def test_any_bytes_are_survived(records: list[bytes]) -> None:
    """Whatever bytes are fed as records, or given as a recording, nothing is raised and the report is consistent."""
    sound(check(records, "feed_record"), len(records))
    for glue in (b"\n", b"\n\ndata: ", b",", b""):
        report = mmsp_fsm.validate(glue.join(records))
        sound(report, report.events)


class Hostile:
    """An object whose every look raises."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("do not look at me")

    __eq__ = __hash__ = __repr__ = __str__ = __bool__ = __len__ = __iter__ = __getitem__ = __contains__ = _refuse
    __int__ = __float__ = __index__ = __format__ = __lt__ = __getattr__ = _refuse


class Masked:
    """An object that raises when it is asked for its class."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError("no class")


class HostileDict(dict):  # type: ignore[type-arg]
    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("no")

    get = items = keys = values = __getitem__ = __iter__ = __len__ = __contains__ = __eq__ = _refuse


class HostileStr(str):
    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("no")

    __eq__ = __hash__ = __len__ = __str__ = __getitem__ = __contains__ = partition = encode = _refuse  # type: ignore[assignment]


class HostileError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Word(str, enum.Enum):  # noqa: UP042  (the older spelling is the one met in the field)
    DELTA = "delta"


class Number(enum.IntEnum):
    ONE = 1


class Listy(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise RuntimeError("no")

    __len__ = __getitem__ = __iter__  # type: ignore[assignment]


def cycle() -> list[Any]:
    value: list[Any] = []
    value.append({"self": value})
    return value


def released() -> memoryview:
    view = memoryview(b"abc")
    view.release()
    return view


WIDE = 12
"""Levels of doubling; 60 are to be survived as well, once nothing unfolds what is shared."""


def wide() -> list[Any]:
    """A small object that unfolds into a huge one when what it shares is copied each time."""
    value: list[Any] = [1]
    for _ in range(WIDE):
        value = [value, value]
    return value


ODDITIES: dict[str, Callable[[], Any]] = {
    "set": lambda: {1, 2},
    "generator": lambda: (one for one in "ab"),
    "hostile": Hostile,
    "masked": Masked,
    "hostile dict": lambda: HostileDict(event_type="delta"),
    "hostile str": lambda: HostileStr("delta"),
    "list that does not iterate": lambda: Listy([1]),
    "str enum": lambda: Word.DELTA,
    "int enum": lambda: Number.ONE,
    "date": lambda: date(2024, 2, 29),
    "decimal": lambda: Decimal("NaN"),
    "complex": lambda: 1j,
    "NaN": lambda: math.nan,
    "infinity": lambda: -math.inf,
    "huge integer": lambda: 10**5000,
    "cycle": cycle,
    "wide": wide,
    "tuple": lambda: ({"type": "text.delta", "text": "a"},),
    "bytes": lambda: b"\xff",
    "bytearray": lambda: bytearray(b"a"),
    "released view": released,
    "mapping": lambda: MappingProxyType({"event_type": "delta"}),
    "function": lambda: len,
    "class": lambda: dict,
    "module": lambda: json,
    "keys of no kind": lambda: {1: 2, None: 3, (): 4, frozenset(): 5},
    "half a pair": lambda: "\ud83d",
    "deep": lambda: json.loads("[" * 400 + "]" * 400),
    "very deep": lambda: deep(3000),
    "model class": lambda: UniEvent,
    "hollow event": lambda: UniEvent(event_type="delta", content_items=[], created_at=1),
    "odd event": lambda: UniEvent(event_type=Hostile(), content_items=5, created_at={}),  # type: ignore[arg-type]
    "exception": lambda: ValueError("x"),
    "hostile exception": HostileError,
    "exception in halves": lambda: ValueError("\ud83d"),
    "stop iteration": StopIteration,
}


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


ODD = st.sampled_from(sorted(ODDITIES))


@st.composite
def odd_records(draw: st.DrawFn) -> tuple[Any, str]:
    """An odd object as a record, or at some place in a record, and its name."""
    name = draw(ODD)
    odd = ODDITIES[name]()
    event = draw(streams())[draw(st.integers(0, 1)) - 1]
    event = json.loads(json.dumps(event))
    place = draw(
        st.sampled_from(["record", "field", "item", "items", "content", "fidelity", "usage", "error", "key", "extra"])
    )
    items = event.get("content_items") or [{}]
    try:
        match place:
            case "record":
                return odd, name
            case "field":
                event[draw(st.sampled_from(sorted(event)))] = odd
            case "item":
                event["content_items"] = [odd]
            case "items":
                event["content_items"] = odd
            case "content":
                items[0][draw(st.sampled_from([*items[0], "type"]))] = odd
            case "fidelity":
                items[0]["fidelity"] = [odd, [odd], {"a": [odd]}][draw(st.integers(0, 2))]
            case "usage":
                event["usage_metadata"] = {"cached_tokens": odd}
            case "error":
                return {"error": [odd, {"type": odd, "message": odd, "x": [odd]}][draw(st.integers(0, 1))]}, name
            case "key":
                event[odd] = 1
            case "extra":
                event["seventh"] = [{"a": odd}]
    except (TypeError, ValueError, RuntimeError):  # no key of a dict
        return odd, name
    return event, name


@given(records=st.lists(odd_records(), max_size=4))
def test_any_python_object_is_survived(records: list[tuple[Any, str]]) -> None:
    """Whatever Python objects are fed, or stand in an iterable given to `validate`, nothing is raised."""
    objects = [record for record, _ in records]
    checker = StreamChecker()
    for number, one in enumerate(objects):
        step = checker.feed(one)
        assert step.event == number
        assert step.state in DEFINITION.states
    sound(checker.close(), len(objects))
    sound(mmsp_fsm.validate(iter(objects)), len(objects))


@pytest.mark.parametrize("name", sorted(ODDITIES))
def test_an_odd_object_is_survived(name: str) -> None:
    """Each odd object, as a record by itself and inside one, is survived by `feed`, before and after an end."""
    usage = dict.fromkeys(DEFINITION.usage.counts)
    stop = {"role": "assistant", "event_type": "stop", "content_items": [], "usage_metadata": usage,
            "finish_reason": "stop", "created_at": 10**12}  # fmt: skip
    odd = ODDITIES[name]
    records = [odd(), {"event_type": odd()}, {"event_type": "delta", "content_items": [odd()]}, {"error": odd()},
               {**stop, "created_at": odd(), "finish_reason": odd(), "role": odd()}]  # fmt: skip
    for record in records:
        for before in ([], [stop]):
            report = check([*before, record])
            sound(report, len(before) + 1)


NO_SOURCES = [
    None,
    5,
    1.5,
    object(),
    {"event_type": "delta"},
    len,
    UniEvent(event_type="stop", content_items=[], created_at=1),
]


@pytest.mark.parametrize("source", NO_SOURCES, ids=lambda source: type(source).__name__)
def test_what_is_no_stream_is_refused(source: Any) -> None:
    """`validate` and `parse` raise TypeError for what is no stream at all."""
    for take in (mmsp_fsm.validate, mmsp_fsm.parse):
        with pytest.raises(TypeError):
            take(source)


@given(path=texts())
@settings(max_examples=min(EXAMPLES, 200))
def test_any_path_is_survived(path: str) -> None:
    """A path that leads nowhere, or cannot be one, is an OSError, never another exception."""
    with pytest.raises(OSError):  # noqa: PT011
        mmsp_fsm.validate("/nowhere/" + path)


class Raising:
    """An iterable of events that raises."""

    def __init__(self, events: list[Any], error: Exception) -> None:
        self.events, self.error = events, error

    def __iter__(self) -> Any:
        yield from self.events
        raise self.error


@given(events=streams(ending="stop"), data=st.data())
@settings(max_examples=max(50, EXAMPLES // 4))
def test_an_exception_of_the_stream_is_one_of_its_ends(events: list[Any], data: st.DataObject) -> None:
    """An exception that the stream raises before its stop is a legal end, anywhere; after it, it is E308."""
    cut = data.draw(st.integers(0, len(events)))
    report = mmsp_fsm.validate(
        Raising(events[:cut], data.draw(st.sampled_from([ValueError("x"), KeyError(), OSError(5, "x")])))
    )
    assert found(report) == ([("E308", cut)] if cut == len(events) else [])
    assert report.outcome == ("stopped" if cut == len(events) else "failed")


@given(st.integers(0, 10**6), st.data())
def test_mutators_work_without_hypothesis(seed: int, data: st.DataObject) -> None:
    """A mutator leaves the stream it was given alone, and gives the same mutant for the same choices."""
    mutator = MUTATORS[seed % len(MUTATORS)]
    events = data.draw(suiting(mutator))
    before = json.dumps(events)
    mutants = [mutated(mutator, events, RandomChoices(seed)) for _ in range(2)]
    assert mutants[0] == mutants[1] or "nan" in repr(mutants[0])
    assert json.dumps(events) == before


def test_a_tuple_of_items_is_a_list_of_them() -> None:
    """In a program content_items may be a tuple."""
    item = {"type": "text.delta", "text": "a"}
    event = {"role": "assistant", "event_type": "delta", "content_items": (item,), "usage_metadata": None,
             "finish_reason": None, "created_at": 10**12}  # fmt: skip
    assert found(check([event])) == [("E307", 1)]
