"""Hypothesis strategies of conforming streams and of messages, for the tests of whoever reads or writes MMSP.

    from hypothesis import given
    from mmsp_fsm.testing.strategies import faults, streams

    @given(streams())
    def test_my_client_reads_every_stream(events): ...

    @given(faults(rules=["E3"]))
    def test_my_client_finds_every_group_that_is_broken_into(faulty): ...  # .events, .lines, .errors

Everything is read from the definition: what it says of a kind (`joins`, `closes`, `header`, ...) decides how a group
of that kind is made, so a kind added there is generated too. What is generated covers all that a definition allows:
any number of fragments, empty ones among them, cut anywhere (within a character of two code units, too); fidelity on
any fragment; arguments in any JSON spelling; ends by stop and by error, at every place where an error may stand. The
streams conform and draw no warning, not even those that are off by default. Protocol, "Grammar" and "Items".

They shrink towards few groups, few fragments and short texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import Any, Literal, TypeVar

from attrs import define, field
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from mmsp_fsm.grammar.definition import Definition, Header, Kind
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.live.events import Event, comes_whole, escaped, event_of, later_header
from mmsp_fsm.model.json_values import whole_characters
from mmsp_fsm.model.objects import UniMessage
from mmsp_fsm.model.wire import structure, to_base64

Ending = Literal["stop", "error"]
T = TypeVar("T")

ODD_CHARACTERS = '"\\/\n\r\t\0\x1b\x7f\x85\u2028\u2029\ufeff\u202eé\u0301€😀\U0010ffff\ud83d\ude00'
"""Characters that readers of JSON, of lines and of UTF-16 get wrong; two halves of a pair among them."""

WHITE_SPACE = ("", " ", "\n", " \t\r\n")
MEDIA = ("audio/wav", "audio/pcm;rate=24000", "application/pdf", "video/mp4", "image/png", "image/svg+xml")
ERROR_TYPES = ("UpstreamError", "ProviderStreamError", "EmptyResponseError", "StreamProtocolError", "RateLimitError")
NO_OBJECT = ("[]", "[{}]", "null", "1", '"{}"', " ", "{]", "{'a': 1}", "{}{}", '{"a": NaN}', '{"a": 1,}', "tru")
"""Texts that are no JSON object: what a call cut short may have joined to."""

EXACT = 2**53
"""Integers up to which a double is exact."""


# ── What is offered ──────────────────────────────────────────────────────────────────────────────────────────────


def streams(
    definition: Definition | None = None,
    *,
    holding: str | None = None,
    times: int = 1,
    ending: Ending | None = None,
) -> SearchStrategy[list[Event]]:
    """Streams that conform and draw no warning, each as a list of events (dicts as `json.loads` gives them).

    `holding` names a kind of which each stream holds at least one closed group, or `times` of them next to each other;
    `ending` chooses how the streams end (by default in either way).
    """
    return _drawn(definition, holding, ending, times).map(lambda drawn: drawn.events)


def messages(definition: Definition | None = None) -> SearchStrategy[UniMessage]:
    """Messages such as a conforming stream leaves behind. The definition's kinds must have their item classes."""
    return _drawn(definition, None, "stop").map(_message_of)


def streams_with_messages(
    definition: Definition | None = None, *, holding: str | None = None, ending: Ending | None = None
) -> SearchStrategy[tuple[list[Event], UniMessage | None]]:
    """Streams as `streams` gives them, each with the message it must parse to; None where it ends by an error."""
    return _drawn(definition, holding, ending).map(
        lambda drawn: (drawn.events, None if drawn.stop is None else _message_of(drawn))
    )


# ── Values ───────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def texts(min_size: int = 0) -> SearchStrategy[str]:
    """Strings as sequences of UTF-16 code units: halves of a pair may stand alone, and never meet unjoined."""
    characters = st.one_of(st.characters(codec="utf-8"), st.sampled_from(ODD_CHARACTERS))
    return st.text(characters, min_size=min_size, max_size=8 + min_size).map(whole_characters)


@cache
def json_values() -> SearchStrategy[Any]:
    """JSON values: integers beyond 64 bits, floats, texts, and nested ones."""
    integers = st.one_of(
        st.integers(-9, 9), st.integers(), st.sampled_from([2**53 + 1, 2**63, -(2**64) - 1, 10**30 + 7])
    )
    scalars = st.one_of(st.none(), st.booleans(), integers, _floats(), texts())
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(), inner, max_size=3), max_leaves=5
    )


@cache
def json_objects() -> SearchStrategy[dict[str, Any]]:
    """JSON objects, small ones first; some lie under a few dozen levels of others."""
    plain = st.dictionaries(texts(), json_values(), max_size=3)
    deep = st.builds(_buried, plain, st.integers(1, 40), st.booleans())
    return st.one_of(plain, plain, plain, deep)


def _floats() -> SearchStrategy[float]:
    return st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, -0.0, 1.0, 1e22, 5e-324]))


def _buried(value: dict[str, Any], levels: int, in_lists: bool) -> dict[str, Any]:
    for _ in range(levels):
        value = {"": [value] if in_lists else value}
    return value


# ── Groups ───────────────────────────────────────────────────────────────────────────────────────────────────────


@define
class _Group:
    """The items of one group: its fragments, and the done item."""

    kind: Kind
    fragments: list[dict[str, Any]]
    done: dict[str, Any]


@define
class _Drawn:
    """A stream as drawn; `stop` is None where it ends by an error."""

    definition: Definition
    events: list[Event] = field(factory=list)
    done_items: list[dict[str, Any]] = field(factory=list)
    stop: Event | None = None


def _group(draw: DrawFn, definition: Definition, kind: Kind, taken: set[str]) -> _Group:
    """A whole group. `taken` holds what tells the earlier groups of its kind from each other."""
    header = {entry.name: draw(_header_values(kind, entry)) for entry in kind.header}
    if kind.told_by is not None:
        while header[kind.told_by] in taken:
            header[kind.told_by] += "'"
        taken.add(header[kind.told_by])
    pieces, content = _content(draw, kind, header)
    fragments = [_fragment(kind, header, piece, first=not i) for i, piece in enumerate(pieces)]
    done = {"type": kind.done, **header, kind.grows: content}
    _fidelity(draw, definition, fragments, done)
    if draw(st.booleans()):
        done = dict(reversed(done.items()))
    return _Group(kind, fragments, done)


def _header_values(kind: Kind, entry: Header) -> SearchStrategy[str]:
    pattern = kind.one_piece_when.get(entry.name)
    if entry.later == "empty":
        return texts(1)
    if pattern is None:
        return st.sampled_from(MEDIA)
    return st.sampled_from([*MEDIA, *(pattern.replace("*", word) for word in ("jpeg", "x"))])


def _fragment(kind: Kind, header: dict[str, str], piece: Any, first: bool) -> dict[str, Any]:
    return {"type": kind.delta, **(header if first else later_header(kind, header)), kind.grows: piece}


def _content(draw: DrawFn, kind: Kind, header: dict[str, str]) -> tuple[list[Any], Any]:
    """What each fragment carries in the growing field, and what the done item holds there."""
    if kind.joins == "whole":
        vector = draw(st.lists(st.one_of(_floats(), st.integers(-(2**64), 2**64)), max_size=4))
        return [vector], vector
    whole = comes_whole(kind, header)
    if kind.joins == "bytes":
        data = draw(st.binary(max_size=12))
        chunks = _around(draw, data, b"", kind) if whole else _cut(draw, data)
        return [to_base64(chunk) for chunk in chunks], to_base64(data)
    content: Any
    if kind.closes is not None:
        value = draw(json_objects())
        text, content = draw(_spellings(value)), draw(_rewritings(value))
    else:
        text = content = draw(texts())
    return (_around(draw, text, "", kind) if whole else _cut_text(draw, text)), content


def _around(draw: DrawFn, content: T, nothing: T, kind: Kind) -> list[T]:
    """The content in one fragment; where the kind allows more, others around it may carry fidelity alone."""
    before, after = draw(st.integers(0, not kind.one_piece)), draw(st.integers(0, not kind.one_piece))
    return [nothing] * before + [content] + [nothing] * after


def _cut(draw: DrawFn, data: bytes) -> list[bytes]:
    """`data` in pieces, empty ones among them."""
    at = [0, *sorted(draw(st.lists(st.integers(0, len(data)), max_size=3))), len(data)]
    return [data[a:b] for a, b in pairwise(at)]


def _cut_text(draw: DrawFn, text: str) -> list[str]:
    """`text` in pieces, cut between any two of its UTF-16 code units."""
    units = text.encode("utf-16-le", "surrogatepass")
    at = [0, *sorted(draw(st.lists(st.integers(0, len(units) // 2), max_size=3))), len(units) // 2]
    return [units[2 * a : 2 * b].decode("utf-16-le", "surrogatepass") for a, b in pairwise(at)]


@st.composite
def _spellings(draw: DrawFn, value: dict[str, Any]) -> str:
    """A JSON text of `value`: with or without escapes and white space; "" may stand for an object without keys."""
    if not value and draw(st.booleans()):
        return ""
    style: dict[str, Any] = draw(
        st.sampled_from([{"separators": (",", ":")}, {}, {"indent": 1}, {"separators": (" ,\n", "\t: ")}])
    )
    text = escaped(json.dumps(value, ensure_ascii=draw(st.booleans()), **style))
    return draw(st.sampled_from(WHITE_SPACE)) + text + draw(st.sampled_from(WHITE_SPACE))


def _rewritings(value: dict[str, Any]) -> SearchStrategy[dict[str, Any]]:
    """`value`, or an equal one: its keys in another order, 1.0 for 1 and 1 for 1.0."""
    return st.booleans().map(lambda other: _rewritten(value) if other else value)


def _rewritten(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rewritten(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [_rewritten(one) for one in value]
    if type(value) is int and abs(value) < EXACT:
        return float(value)
    if type(value) is float and value.is_integer() and abs(value) < EXACT:
        return int(value)
    return value


def _fidelity(draw: DrawFn, definition: Definition, fragments: list[dict[str, Any]], done: dict[str, Any]) -> None:
    """Give one fragment and the done item a fidelity, or none; an empty object counts as none."""
    key = definition.fidelity.key
    places = st.integers(0, len(fragments) - 1)
    carrier = draw(st.none() | places)
    hollow = draw(st.none() | places)
    if hollow is not None:
        fragments[hollow][key] = {}
    if carrier is not None:
        opaque = {name: one for name, one in draw(json_objects()).items() if name not in definition.fidelity.internal}
        value = opaque or {"signature": draw(texts())}
        fragments[carrier][key] = value
        done[key] = dict(reversed(value.items()))
    elif draw(st.booleans()):
        done[key] = {}


# ── Streams ──────────────────────────────────────────────────────────────────────────────────────────────────────


@st.composite
def _drawn(
    draw: DrawFn, definition: Definition | None, holding: str | None, ending: Ending | None, times: int = 1
) -> _Drawn:
    known = definition if definition is not None else default()
    end = ending if ending is not None else draw(st.sampled_from(("stop", "error")))
    drawn = _Drawn(known)
    taken: dict[str, set[str]] = {name: set() for name in known.kinds}
    groups = [
        _group(draw, known, kind, taken[kind.name])
        for kind in draw(_plans(known, holding, times, answers=end == "stop"))
    ]
    items = [item for group in groups for item in (*group.fragments, group.done)]
    drawn.done_items = [group.done for group in groups]
    tail = None
    if end == "error":
        broken_off, tail = _failure(draw, known, taken)
        items += broken_off
    moments = _times(draw, known, len(items) + 1)
    drawn.events = [_delta_event(known, item, time) for item, time in zip(items, moments, strict=False)]
    if tail is None:
        seen = {group.kind.name for group in groups}
        tail = drawn.stop = _stop_event(draw, known, seen, moments[-1])
    drawn.events.append(tail)
    return drawn


@st.composite
def _plans(draw: DrawFn, definition: Definition, holding: str | None, times: int, answers: bool) -> list[Kind]:
    """The kinds of a stream's groups, in order. `answers` asks for one that is not hidden."""
    kinds = list(definition.kinds.values())
    if holding is not None and holding not in definition.kinds:
        raise ValueError(f"holding names a kind ({', '.join(definition.kinds)}), not {holding!r}")
    plan = draw(st.lists(st.sampled_from(kinds), max_size=3))
    if holding is not None and (times > 1 or all(kind.name != holding for kind in plan)):
        at = draw(st.integers(0, len(plan)))
        plan[at:at] = [definition.kinds[holding]] * times
    if answers and all(kind.hidden for kind in plan):
        plan.append(draw(st.sampled_from([kind for kind in kinds if not kind.hidden])))
    return plan


def _failure(draw: DrawFn, definition: Definition, taken: dict[str, set[str]]) -> tuple[list[dict[str, Any]], Event]:
    """The end by an error: the fragments of the group that it broke off, if any, and its record."""
    error = {"type": draw(_error_types(definition)), "message": draw(texts())}
    kind = draw(st.none() | st.sampled_from(list(definition.kinds.values())))
    fragments: list[dict[str, Any]] = []
    if kind is not None:
        group = _group(draw, definition, kind, taken[kind.name])
        fragments = group.fragments[: draw(st.integers(1, len(group.fragments)))]
        if kind.cut_short_by is not None and draw(st.booleans()):
            error["type"] = kind.cut_short_by
            _cut_short(draw, kind, fragments)
    extra = {key: one for key, one in draw(json_objects()).items() if key not in definition.error.fields}
    return fragments, {definition.error.key: {**error, **extra}}


def _error_types(definition: Definition) -> SearchStrategy[str]:
    reserved = {kind.cut_short_by for kind in definition.kinds.values()}
    return st.one_of(st.sampled_from(ERROR_TYPES), texts().filter(lambda text: text not in reserved))


def _cut_short(draw: DrawFn, kind: Kind, fragments: list[dict[str, Any]]) -> None:
    """Make `fragments` join to what is no JSON object, and not to the "" that stands for one."""
    joined = whole_characters("".join(fragment[kind.grows] for fragment in fragments))
    last = joined.rfind("}")
    if last > 0 and draw(st.booleans()):
        bad = joined[:last].rstrip("}") or NO_OBJECT[0]
    else:
        bad = draw(st.sampled_from(NO_OBJECT))
    pieces = _cut_text(draw, bad)
    while len(pieces) < len(fragments):
        pieces.append("")
    pieces[len(fragments) - 1 :] = [whole_characters("".join(pieces[len(fragments) - 1 :]))]
    for fragment, piece in zip(fragments, pieces, strict=True):
        fragment[kind.grows] = piece


def _times(draw: DrawFn, definition: Definition, count: int) -> list[int]:
    """Times in milliseconds, rising or equal."""
    earliest = definition.time.milliseconds_from
    time = draw(st.integers(earliest, 100 * earliest))
    steps = draw(st.lists(st.sampled_from((0, 1, 40, 100_000)), min_size=1, max_size=3))
    times = []
    for number in range(count):
        times.append(time)
        time += steps[number % len(steps)]
    return times


def _delta_event(definition: Definition, item: dict[str, Any], time: int) -> Event:
    return event_of(definition, "delta", {"items": [item], "time": time})


def _stop_event(draw: DrawFn, definition: Definition, seen: set[str], time: int) -> Event:
    """A stop event whose finish reason agrees with the kinds of the message."""
    counts = st.none() | st.integers(0, 300) | st.integers(0, 2**70)
    usage = {name: draw(counts) for name in definition.usage.counts}
    reason = draw(st.sampled_from(list(_reasons(definition, seen))))
    return event_of(definition, "stop", {"items": [], "usage": usage, "finish_reason": reason, "time": time})


def _reasons(definition: Definition, seen: set[str]) -> Iterable[str]:
    for name in definition.event.finish_reasons:
        says = definition.finish_reasons.get(name)
        if says is None or ((says.needs is None or says.needs in seen) and says.denies not in seen):
            yield name


def _message_of(drawn: _Drawn) -> UniMessage:
    """The message that a stopped stream leaves: its done items as they stand, the rest from the stop event."""
    assert drawn.stop is not None
    value = {}
    for entry in drawn.definition.event.field:
        if entry.holds == "items":
            value[entry.name] = drawn.done_items
        elif entry.holds != "event_type":
            value[entry.name] = drawn.stop[entry.name]
    return structure(value, UniMessage)
