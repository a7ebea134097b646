"""Done items, fidelity, and contents that come in one piece."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from mmsp_fsm.testing.faults.basics import (
    IMAGE,
    ITEM,
    Choices,
    Due,
    Group,
    Mutant,
    NotApplicable,
    Stream,
    equal,
    is_call,
    media,
    mutator,
    of_bytes,
    of_text,
    of_vectors,
    verdict,
)
from mmsp_fsm.testing.faults.calls import with_arguments
from mmsp_fsm.testing.faults.records import inserted, without

# ── Done items ───────────────────────────────────────────────────────────────────────────────────────────────────────


@mutator("E406")
def done_text_altered(s: Stream, pick: Choices) -> Mutant:
    """A done item holds another text than the fragments carried."""
    group = pick.of(s.closed_of(of_text))
    assert group.done is not None
    name, text = group.kind.grows, s.content(group.done)
    other = pick.of([text + "x", text[:-1], text[1:], " " + text, text.upper(), text + "\ud83d", ""])
    code = verdict(group.kind, [text], other)
    s.item(group.done)[name] = other
    return s.events, [Due(code, group.done, f"{ITEM}/{name}")] if code else []


@mutator("E406", holding=of_bytes)
def done_bytes_altered(s: Stream, pick: Choices) -> Mutant:
    """A done item holds other bytes than the fragments carried."""
    group = pick.of(s.closed_of(of_bytes))
    assert group.done is not None
    data = base64.b64decode(s.content(group.done))
    other = pick.of(
        [data + b"\0", b"\0" + data + b"\1", data[:-1] or b"x", bytes([data[0] ^ 1]) + data[1:] if data else b"x"]
    )
    s.item(group.done)[group.kind.grows] = base64.b64encode(other).decode()
    return s.events, [Due("E406", group.done, f"{ITEM}/{group.kind.grows}")]


@mutator("E406", holding=of_vectors)
def done_vector_altered(s: Stream, pick: Choices) -> Mutant:
    """A done item holds another vector than the fragment carried."""
    group = pick.of(s.closed_of(of_vectors))
    assert group.done is not None
    vector = list(s.content(group.done))
    changed = [*vector[:-1], 1 if vector[-1] != 1 else 2] if vector else [0]
    s.item(group.done)[group.kind.grows] = pick.of([[*vector, 0.5], vector[:-1] if vector else [0], changed])
    return s.events, [Due("E406", group.done)]


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in `value`, itself left out."""
    inner: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    return [at for key, one in inner for at in ((*path, key), *leaves(one, (*path, key)))]


def another(value: Any) -> list[Any]:
    """Values that are not `value`, near ones first."""
    if isinstance(value, bool):
        return [not value, int(value), None, str(value)]
    if isinstance(value, int):
        return [value + 1, value - 1, value == 1, str(value), [value]]
    if isinstance(value, float):
        return [-value if value else 1.0, str(value), None]
    if isinstance(value, str):
        return [value + " ", [value], None, {value: 0}]
    if value is None:
        return [False, 0, "", "null", {}]
    return [None, json.dumps(value), "", 0]


@mutator("E406", holding=is_call)
def done_arguments_altered(s: Stream, pick: Choices) -> Mutant:
    """One value in the done arguments is another: a text, a digit of a long integer, 1 for true."""
    group = pick.of([group for group in s.closed_of(is_call) if group.done and s.content(group.done)])
    assert group.done is not None
    before = deepcopy(s.content(group.done))
    *path, last = pick.of(leaves(before))
    inside = s.content(group.done)
    for key in path:
        inside = inside[key]
    inside[last] = pick.of(another(inside[last]))
    if equal(before, s.content(group.done)):
        raise NotApplicable
    return s.events, [Due("E406", group.done)]


@mutator("E406", holding=is_call)
def done_arguments_key(s: Stream, pick: Choices) -> Mutant:
    """The done arguments have a key more, or one less."""
    group = pick.of(s.closed_of(is_call))
    assert group.done is not None
    held = s.content(group.done)
    if held and pick.of([True, False]):
        del held[pick.of(list(held))]
    else:
        held[next(key for key in ("new", "newer", "newest", "x", "y") if key not in held)] = pick.of([None, 0, ""])
    return s.events, [Due("E406", group.done)]


@mutator("E406", holding=is_call)
def long_integer_loses_a_digit(s: Stream, pick: Choices) -> Mutant:
    """An integer beyond 64 bits differs in its last digit; as doubles they would be equal."""
    group = pick.of(s.closed_of(is_call))
    assert group.done is not None
    number = 10 ** pick.between(17, 300) + 1
    with_arguments(s, pick, group, json.dumps({"n": number}))
    s.item(group.done)[group.kind.grows] = {"n": number + pick.of([-1, 1])}
    return s.events, [Due("E406", group.done, f"{ITEM}/{group.kind.grows}/n")]


@mutator("E407", holding=is_call)
def done_call_header_changed(s: Stream, pick: Choices) -> Mutant:
    """A call's done item has another name, another id or both: one error for each."""
    group = pick.of(s.closed_of(is_call))
    assert group.done is not None
    names = pick.of(s.call_choices)
    for name in names:
        s.item(group.done)[name] += "+"
    return s.events, [Due("E407", group.done, f"{ITEM}/{name}") for name in names]


@mutator("E407", holding=of_bytes)
def done_mime_type_changed(s: Stream, pick: Choices) -> Mutant:
    """The done item's mime_type is not the first fragment's."""
    group = pick.of(s.closed_of(of_bytes))
    assert group.done is not None
    s.item(group.done)[media(group.kind)] += "+x"
    return s.events, [Due("E407", group.done, f"{ITEM}/{media(group.kind)}")]


@mutator("E406")
def first_fragment_lost(s: Stream, pick: Choices) -> Mutant:
    """A group's first fragment is lost without a trace: the done item tells, unless it carried nothing."""
    groups = [group for group in s.closed if not is_call(group.kind) and len(group.fragments) > 1]
    group = pick.of([group for group in groups if not s.item(group.first).get("fidelity")])
    assert group.done is not None
    code = verdict(group.kind, [s.content(i) for i in group.fragments[1:]], s.content(group.done))
    return without(s, group.first), [Due(code, group.done - 1)] if code else []


@mutator("E302")
def group_abandoned(s: Stream, pick: Choices) -> Mutant:
    """A group breaks off where the next one begins, and never comes back: one error, and none at the stop."""
    pairs = [(a, b) for a in s.closed if (b := s.after(a)) and (a.kind != b.kind or is_call(a.kind))]
    group, _ = pick.of(pairs)
    kept = pick.between(1, len(group.fragments))
    gone = group.indices[kept:]
    return without(s, *gone), [Due("E302", group.first + kept)]


@mutator("E302")
def groups_nested(s: Stream, pick: Choices) -> Mutant:
    """Inside a group stands a group inside which stands a third: one error for each that was broken into."""
    group = pick.of(s.closed)
    others = [kind for kind in s.kinds if kind != group.kind]
    inner, third = pick.of([(a, b) for a in others for b in others if a != b])
    at = pick.of(group.indices[1:])
    items = [s.fresh(inner)[0], *s.fresh(third), s.fresh(inner)[1]]
    return inserted(s, at, *(s.delta(at, item) for item in items)), [Due("E302", at), Due("E302", at + 1)]


@mutator("E406", "E404", "E405")
def later_fragment_lost(s: Stream, pick: Choices) -> Mutant:
    """A later fragment is lost without a trace: the done item tells, unless it carried nothing."""
    i = pick.of([i for group in s.closed for i in group.fragments[1:] if not s.item(i).get("fidelity")])
    group = s.group_at(i)
    assert group.done is not None
    code = verdict(group.kind, [s.content(j) for j in group.fragments if j != i], s.content(group.done))
    return without(s, i), [Due(code, group.done - 1)] if code else []


@mutator("E406", "E404", "E405", "E410", "E411")
def later_fragment_twice(s: Stream, pick: Choices) -> Mutant:
    """A later fragment comes twice (a retry): the done item tells, unless it carried nothing."""
    i = pick.of([i for group in s.closed for i in group.fragments[1:] if not s.item(i).get("fidelity")])
    group = s.group_at(i)
    assert group.done is not None
    records = inserted(s, i, deepcopy(s.events[i]))
    if of_bytes(group.kind) and s.item(i)[media(group.kind)].startswith("image/") and s.content(i):
        return records, [Due("E411", i + 1)]
    pieces = [s.content(j) for j in sorted([*group.fragments, i])]
    code = verdict(group.kind, pieces, s.content(group.done))
    return records, [Due(code, group.done + 1)] if code else []


@mutator("E406", "E404", "E405")
def later_fragments_swapped(s: Stream, pick: Choices) -> Mutant:
    """Two later fragments have changed places: the done item tells, unless they are alike."""
    i = pick.of([i for group in s.closed for i in group.fragments[1:-1]])
    group = s.group_at(i)
    a, b = s.events[i], s.events[i + 1]
    a["content_items"], b["content_items"] = b["content_items"], a["content_items"]
    assert group.done is not None
    code = verdict(group.kind, [s.content(j) for j in group.fragments], s.content(group.done))
    return s.events, [Due(code, group.done)] if code else []


# ── Fidelity ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@mutator("E408")
def fidelity_repeated(s: Stream, pick: Choices) -> Mutant:
    """Several fragments carry fidelity, the same or others: once a group; the done item may hold any one."""
    group = pick.of([group for group in s.groups if len(group.fragments) > 1])
    carriers = [i for i in group.fragments if pick.of([True, False])]
    places = sorted({*carriers, *s.carriers(group)})
    if len(places) < 2:
        raise NotApplicable
    for number, i in enumerate(places):
        s.item(i)["fidelity"] = {"signature": pick.of(["same", f"s{number}"])}
    if group.done is not None:
        s.item(group.done)["fidelity"] = deepcopy(s.item(pick.of(places))["fidelity"])
    return s.events, [Due("E408", places[1], f"{ITEM}/fidelity")]


def closed_with_fidelity(s: Stream) -> list[Group]:
    """The closed groups of which a fragment carries fidelity."""
    return [group for group in s.closed if s.carriers(group)]


@mutator("E409")
def fidelity_mismatched(s: Stream, pick: Choices) -> Mutant:
    """The done item's fidelity is another one."""
    group = pick.of(closed_with_fidelity(s))
    assert group.done is not None
    s.item(group.done)["fidelity"]["more"] = (
        pick.of([None, 1, "x"]) if "more" not in s.item(group.done)["fidelity"] else []
    )
    return s.events, [Due("E409", group.done)]


@mutator("E409")
def fidelity_lost(s: Stream, pick: Choices) -> Mutant:
    """A fragment carried fidelity and the done item has none; an empty one counts as none."""
    group = pick.of(closed_with_fidelity(s))
    assert group.done is not None
    if pick.of([True, False]):
        s.item(group.done)["fidelity"] = {}
    else:
        del s.item(group.done)["fidelity"]
    return s.events, [Due("E409", group.done)]


@mutator("E409")
def fidelity_invented(s: Stream, pick: Choices) -> Mutant:
    """No fragment carried fidelity, and the done item has one."""
    group = pick.of([group for group in s.closed if not s.carriers(group)])
    assert group.done is not None
    s.item(group.done)["fidelity"] = pick.of([{"signature": ""}, {"a": {"item_id": 1}}])
    return s.events, [Due("E409", group.done)]


@mutator("W512")
def fidelity_with_item_id(s: Stream, pick: Choices) -> Mutant:
    """A fidelity carries item_id, on the fragment and on the done item: once a group."""
    group = pick.of(closed_with_fidelity(s))
    carrier = s.carriers(group)[0]
    for i in (carrier, group.done):
        s.item(i or 0)["fidelity"]["item_id"] = "rs_1"
    return s.events, [Due("W512", carrier)]


# ── Contents that come in one piece ──────────────────────────────────────────────────────────────────────────────────


@mutator("E410", holding=of_vectors)
def vector_in_pieces(s: Stream, pick: Choices) -> Mutant:
    """An embedding group has more fragments, whatever they hold: once a group, and the done item is not compared."""
    group = pick.of([group for group in s.groups if of_vectors(group.kind)])
    at = group.first + 1
    more = [{"type": group.kind.delta, group.kind.grows: pick.of([[], [0.5], s.content(group.first)])}
            for _ in range(pick.between(1, 3))]  # fmt: skip
    return inserted(s, at, *(s.delta(at, item) for item in more)), [Due("E410", at)]


@mutator("E406", "E411", holding=of_bytes)
def image_in_pieces(s: Stream, pick: Choices) -> Mutant:
    """An image's bytes come in several fragments: once a group, and the done item is not compared."""
    group = pick.of([group for group in s.groups if of_bytes(group.kind)])
    for i in group.indices:
        s.item(i)[media(group.kind)] = IMAGE
    at = group.fragments[-1] + 1
    more = [s.delta(at, {**s.fresh(group.kind)[0], media(group.kind): IMAGE}) for _ in range(pick.between(1, 2))]
    data = [i for i in group.fragments if s.content(i)]
    records = inserted(s, at, *more)
    if len(data) > 1:
        return records, [Due("E411", data[1])]
    if data:
        return records, [Due("E411", at)]
    if len(more) > 1:
        return records, [Due("E411", at + 1)]
    return records, [Due("E406", group.done + 1)] if group.done is not None else []


@mutator("E103", "E105", "E101", holding=of_bytes)
def image_fragment_without_usable_data(s: Stream, pick: Choices) -> Mutant:
    """A group breaks off where the next one begins, and never comes back: one error, none at the stop."""
    group = pick.of([group for group in s.groups if of_bytes(group.kind)])
    for i in group.indices:
        s.item(i)[media(group.kind)] = IMAGE
    if sum(bool(s.content(i)) for i in group.fragments) > 1:
        raise NotApplicable
    at = pick.of([group.first, group.first + 1])
    item = {**s.fresh(group.kind)[0], media(group.kind): IMAGE}
    code, value = pick.of([("E103", None), ("E105", None), ("E105", 0), ("E101", math.nan)])
    if code == "E103":
        del item[group.kind.grows]
    else:
        item[group.kind.grows] = value
    return inserted(s, at, s.delta(at, item)), [Due(code, at, f"{ITEM}/{group.kind.grows}")]
