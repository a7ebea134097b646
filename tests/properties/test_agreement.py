"""The two passes never disagree: what the recogniser says yes to, the machine reports nothing about."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from agreement import accepted, checked, disagreements, lengthened, one_by_one, variations, written
from hypothesis import given
from hypothesis import strategies as st
from test_laws import DEFINITION, in_utf8

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.fastpath.contents import Contents
from mmsp_fsm.fastpath.recognizer import Recogniser
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.recordings.framing import Record
from mmsp_fsm.recordings.reading import Recording
from mmsp_fsm.testing.faults import MUTATORS
from mmsp_fsm.testing.faults.basics import NotApplicable, Stream
from mmsp_fsm.testing.faults.drawing import Draws, suiting
from mmsp_fsm.testing.strategies import streams

DATA = Path(__file__).parent.parent / "data"
RECORDINGS = sorted(path for path in (DATA / "recordings").iterdir() if path.suffix in (".jsonl", ".sse"))
CASES = [json.loads(line) for line in (DATA / "cases.jsonl").read_bytes().split(b"\n") if line]
EXAMPLES = [
    pytest.param(example, id=f"{rule.code} {which}")
    for rule in DEFINITION.rules.values()
    for which, example in (("bad", rule.bad), ("good", rule.good))
]


def records_of(data: bytes, format: Any = None) -> list[bytes]:
    recording = Recording(io.BytesIO(data), DEFINITION, Limits(), format=format)
    return [record.data for record in recording if isinstance(record, Record) and record.fault is None]


# ── What both say ────────────────────────────────────────────────────────────────────────────────────────────────


@given(events=streams(), data=st.data())
def test_the_passes_agree_on_what_conforms(events: list[dict[str, Any]], data: st.DataObject) -> None:
    """Values and bytes, however they are written and cut into batches."""
    choose = data.draw(st.randoms(use_true_random=False))
    for stream in (events, lengthened(events)):
        assert list(disagreements(stream)) == []
        assert list(disagreements([written(event, choose) for event in stream])) == []


@given(data=st.data())
def test_the_passes_agree_on_what_is_broken(data: st.DataObject) -> None:
    """One mutation of a conforming stream, and a few bytes damaged besides."""
    mutator = data.draw(st.sampled_from(MUTATORS))
    events: list[Any] = data.draw(suiting(mutator))
    with suppress(NotApplicable):
        events, _ = mutator.make(Stream.of(events), Draws(data.draw))
    if data.draw(st.booleans()):
        events = lengthened(events)
    assert list(disagreements(events)) == []
    for records in variations(events, data.draw(st.randoms(use_true_random=False))) if events else ():
        assert list(disagreements(records)) == []


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_the_passes_agree_on_recordings(path: Path) -> None:
    assert list(disagreements(records_of(path.read_bytes()))) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_passes_agree_on_cases(case: dict[str, Any]) -> None:
    data = case["input"].encode("utf-8", "surrogatepass")
    assert list(disagreements(records_of(data, case["format"]))) == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_passes_agree_on_examples(example: Any) -> None:
    records = records_of(example.text.encode(), example.format)
    assert list(disagreements(records, Limits(**example.limits))) == []


OTHERS = [None, True, 0, -1, 1.5, "", "x", [], [1], {}, {"a": 1}, 10**30, "delta", "stop", "assistant"]
"""What is put in the place of each value of an event."""


def edits(value: Any) -> Iterator[Any]:
    """`value` with one part absent, moved, doubled, or another in its place."""
    if isinstance(value, dict):
        for key, one in value.items():
            rest = {name: inner for name, inner in value.items() if name != key}
            yield rest
            yield {**rest, key: one}
            yield {**value, key + "x": one}
            for other in [*OTHERS, *edits(one)]:
                yield {**value, key: other}
    elif isinstance(value, list):
        yield value + value
        for number, one in enumerate(value):
            yield value[:number] + value[number + 1 :]
            for other in [*OTHERS, *edits(one)]:
                yield [*value[:number], other, *value[number + 1 :]]


def every_kind() -> list[dict[str, Any]]:
    """A stream with a group of each kind, of two fragments where it may have them."""
    contents: dict[str, list[Any]] = {"text": ["a", "b"], "bytes": [b"ab", b"c"], "whole": [[1, 2.5]]}
    items: list[dict[str, Any]] = []
    for kind in DEFINITION.kinds.values():
        pieces = ['{"a": [', "1]}"] if kind.closes else contents[kind.joins]
        for number, piece in enumerate(pieces):
            header = {one.name: "" if number and one.later == "empty" else "audio/x" for one in kind.header}
            items.append({"type": kind.delta, kind.grows: piece, **header})
        closed = {"a": [1]} if kind.closes else pieces[0] if kind.joins == "whole" else type(pieces[0])().join(pieces)
        header = {one.name: "audio/x" for one in kind.header}
        items.append({"type": kind.done, kind.grows: closed, **header, "fidelity": {}})
    common = {"role": "assistant", "created_at": 1_700_000_000_000}
    deltas: list[dict[str, Any]] = [
        {**common, "event_type": "delta", "content_items": [item], "usage_metadata": None, "finish_reason": None}
        for item in items
    ]
    usage = dict.fromkeys(DEFINITION.usage.counts, 1)
    stop = {**common, "event_type": "stop", "content_items": [], "usage_metadata": usage, "finish_reason": "tool_call"}
    return [*deltas, stop]


WHOLE = every_kind()


def _as_text(value: bytes) -> str:
    return base64.b64encode(value).decode()


@pytest.mark.parametrize("place", range(len(WHOLE)))
def test_the_passes_agree_on_every_part_of_every_event(place: int) -> None:
    """Each value of each event absent, doubled or another, as values and as bytes, as dicts and as structs."""
    assert checked(WHOLE, one_by_one, recognise=False).diagnostics == ()
    assert StreamChecker()._passes.decoders.structs_for(1000) is not None
    for event in edits(WHOLE[place]):
        records = [*WHOLE[:place], event, *WHOLE[place + 1 :]]
        assert list(disagreements(records)) == []
        assert list(disagreements([json.dumps(one, default=_as_text).encode() for one in records])) == []


@pytest.mark.parametrize(
    "limits", [Limits(nesting=n) for n in (1, 3, 4, 5, 9)] + [Limits(group_bytes=n) for n in (1, 9)]
)
@given(events=streams())
def test_the_passes_agree_within_narrow_limits(limits: Limits, events: list[dict[str, Any]]) -> None:
    assert list(disagreements(events, limits)) == []
    assert list(disagreements([in_utf8(event) for event in events], limits)) == []


# ── What the recogniser alone must do ────────────────────────────────────────────────────────────────────────────


@given(events=streams())
def test_the_recogniser_says_yes_to_every_stream_that_conforms(events: list[dict[str, Any]]) -> None:
    """Not one record needs the machine: values, and bytes with and without escapes."""
    assert accepted(events)
    assert accepted([in_utf8(event) for event in events])
    assert accepted([json.dumps(event).encode() for event in events])


def test_the_recogniser_says_yes_to_the_recordings_that_conform_without_a_warning() -> None:
    explained = 0
    for path in RECORDINGS:
        records = records_of(path.read_bytes())
        report = checked(records, one_by_one, recognise=False)
        if not report.diagnostics:
            assert accepted(records), path.name
            explained += 1
    assert explained > 150


def test_after_a_warning_the_recogniser_goes_on_at_the_next_boundary() -> None:
    """One warning costs its group, and not the rest of the stream."""
    items = [{"type": "text.delta", "text": "a"}] * 3 + [{"type": "text.done", "text": "aaa"}]
    events = [
        {"role": "assistant", "event_type": "delta", "content_items": [items[number % 4]], "usage_metadata": None,
         "finish_reason": None, "created_at": 1_700_000_000_000 + number}
        for number in range(100)
    ]  # fmt: skip
    events[1]["created_at"] -= 1000
    checker = StreamChecker(rules=DEFINITION.rules)
    for event in events:
        checker.feed(event)
    assert checker.explained == 3
    assert [one.code for one in checker.close().diagnostics] == ["W502", "E307"]


# ── A check that can fail ────────────────────────────────────────────────────────────────────────────────────────


def planted(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    if what == "done items are not compared":
        monkeypatch.setattr(Contents, "done", lambda self, kind, pieces, content: content)
    elif what == "times are not looked at":
        real = Recogniser.take_records

        def without_times(self: Recogniser, *args: Any) -> int:
            self.builder.latest = 0
            return real(self, *args)

        monkeypatch.setattr(Recogniser, "take_records", without_times)
    else:
        monkeypatch.setattr(Recogniser, "hand_over", lambda self: setattr(self, "ready", False))


@pytest.mark.parametrize(
    "what", ["done items are not compared", "times are not looked at", "groups are not handed over"]
)
def test_a_disagreement_is_caught(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    planted(monkeypatch, what)
    told = []
    for rule in DEFINITION.rules.values():
        records = records_of(rule.bad.text.encode(), rule.bad.format)
        if not rule.bad.limits:
            try:
                told += list(disagreements(records))
            except (AssertionError, AttributeError) as error:
                told.append(repr(error))
    assert told
