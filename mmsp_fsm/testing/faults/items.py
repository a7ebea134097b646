"""Items: their shape, and bytes as base64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mmsp_fsm.testing.faults.basics import (
    AUDIO,
    ITEM,
    Choices,
    Due,
    Mutant,
    Stream,
    is_call,
    media,
    mutator,
    of_bytes,
    of_text,
    of_vectors,
    stays,
)
from mmsp_fsm.testing.faults.records import NO_OBJECT, NO_STRING, inserted

# ── Items: their shape ───────────────────────────────────────────────────────────────────────────────────────────────


@mutator("E102")
def item_no_object(s: Stream, pick: Choices) -> Mutant:
    """An item is no object: nobody can tell what it was, so whatever comes next is legal."""
    i = pick.of(s.deltas)
    s.events[i]["content_items"] = [pick.of(NO_OBJECT)]
    return s.events, [Due("E102", i, ITEM)]


@mutator("E103")
def item_type_absent(s: Stream, pick: Choices) -> Mutant:
    """An item has no type: nobody can tell what it was."""
    i = pick.of(s.deltas)
    del s.item(i)["type"]
    return s.events, [Due("E103", i, f"{ITEM}/type")]


@mutator("E105")
def item_type_no_string(s: Stream, pick: Choices) -> Mutant:
    """An item's type is no string: nobody can tell what it was."""
    i = pick.of(s.deltas)
    s.item(i)["type"] = pick.of(NO_STRING)
    return s.events, [Due("E105", i, f"{ITEM}/type")]


@mutator("E201")
def item_type_garbled_midway(s: Stream, pick: Choices) -> Mutant:
    """The type of a later fragment is garbled: the group stays open and is not compared."""
    i = pick.of([i for group in s.groups for i in group.fragments[1:]])
    name = s.kind_of(of_text).name
    s.item(i)["type"] = pick.of([name, f"{name}z.delta", f"{name}.Delta", f"{name}.delta ", "", "delta"])
    return s.events, [Due("E201", i, f"{ITEM}/type")]


@mutator("E201", "E301", "E302", "E304", "E401", "E402", "E410")
def item_type_garbled(s: Stream, pick: Choices) -> Mutant:
    """The type of any item is garbled: the machine stays, as if it had not come."""
    i = pick.of(s.deltas)
    s.item(i)["type"] = pick.of([*s.definition.older.items, "hologram.delta", f"{s.kind_of(of_text).done}.", "x"])
    return s.events, [Due("E201", i, f"{ITEM}/type"), *stays(s, i)]


@mutator("E201")
def unknown_item_inserted(s: Stream, pick: Choices) -> Mutant:
    """An item of an unknown type stands somewhere before the end."""
    at = pick.between(0, s.last)
    item = {**s.plain(), "type": pick.of(["hologram.delta", s.kind_of(of_text).name, "refusal.done"])}
    return inserted(s, at, s.delta(at, item)), [Due("E201", at, f"{ITEM}/type")]


@mutator("E202")
def user_only_item_inserted(s: Stream, pick: Choices) -> Mutant:
    """An item that only the user writes stands somewhere before the end; any suffix is the same."""
    at = pick.between(0, s.last)
    name = pick.of([one + suffix for one in s.definition.user_only.items for suffix in ("", ".delta", ".done", ".xyz")])
    return inserted(s, at, s.delta(at, {**s.plain(1), "type": name})), [Due("E202", at, f"{ITEM}/type")]


@mutator("E103")
def content_absent(s: Stream, pick: Choices) -> Mutant:
    """An item lacks the field that its fragments grow: its group is not compared."""
    i = pick.of(s.deltas)
    name = s.group_at(i).kind.grows
    del s.item(i)[name]
    return s.events, [Due("E103", i, f"{ITEM}/{name}")]


@mutator("E104")
def item_field_unknown(s: Stream, pick: Choices) -> Mutant:
    """An item has a field that its kind does not have."""
    i = pick.of(s.deltas)
    known = {*s.item(i), s.definition.fidelity.key, *(entry.name for entry in s.group_at(i).kind.header)}
    names = [
        "index",
        "id",
        "Type",
        *(name for kind in s.kinds for name in (kind.grows, *(e.name for e in kind.header))),
    ]
    name = pick.of([name for name in names if name not in known])
    s.item(i)[name] = pick.of(["x", None, 0])
    return s.events, [Due("E104", i, f"{ITEM}/{name}")]


@mutator("E105")
def content_wrong(s: Stream, pick: Choices) -> Mutant:
    """The growing field holds a value of another type."""
    i = pick.of(s.deltas)
    group = s.group_at(i)
    if of_vectors(group.kind):
        values: Sequence[Any] = [None, "", {}, 1, ["1"], [True], [1, None, "x"], [[]]]
    elif is_call(group.kind) and i == group.done:
        values = [None, "{}", "", [], 1]
    else:
        values = NO_STRING
    s.item(i)[group.kind.grows] = pick.of(values)
    return s.events, [Due("E105", i)]


@mutator("E105", holding=is_call)
def call_header_no_string(s: Stream, pick: Choices) -> Mutant:
    """A call's name or id holds no string, as a null on continuation chunks."""
    group = pick.of([group for group in s.groups if is_call(group.kind)])
    i, name = pick.of(group.indices), pick.of(s.call_fields)
    s.item(i)[name] = pick.of(NO_STRING)
    return s.events, [Due("E105", i, f"{ITEM}/{name}")]


@mutator("E105", holding=of_bytes)
def mime_type_no_string(s: Stream, pick: Choices) -> Mutant:
    """A mime_type holds no string, null included: E105 and no warning."""
    group = pick.of([group for group in s.groups if of_bytes(group.kind)])
    i = pick.of(group.indices)
    s.item(i)[media(group.kind)] = pick.of(NO_STRING)
    return s.events, [Due("E105", i, f"{ITEM}/{media(group.kind)}")]


@mutator("E102")
def fidelity_no_object(s: Stream, pick: Choices) -> Mutant:
    """A fidelity is no object (null is none): E102 beats E105, and the group's fidelity is not compared."""
    group = pick.of(s.groups)
    places = [*s.carriers(group), *([] if group.done is None else [group.done])] or group.fragments
    i = pick.of(places)
    s.item(i)["fidelity"] = pick.of(NO_OBJECT)
    return s.events, [Due("E102", i, f"{ITEM}/fidelity")]


@mutator("E103", holding=is_call)
def call_header_absent_first(s: Stream, pick: Choices) -> Mutant:
    """A call's first fragment lacks its name, its id or both: E103 once a field, and what follows from it is silent."""
    group = pick.of([group for group in s.groups if is_call(group.kind)])
    names = pick.of(s.call_choices)
    for name in names:
        del s.item(group.first)[name]
    return s.events, [Due("E103", group.first, f"{ITEM}/{name}") for name in names]


@mutator("E103", holding=is_call)
def call_header_absent_done(s: Stream, pick: Choices) -> Mutant:
    """A call's done item lacks its name, its id or both: one error for each field."""
    group = pick.of(s.closed_of(is_call))
    assert group.done is not None
    names = pick.of(s.call_choices)
    for name in names:
        del s.item(group.done)[name]
    return s.events, [Due("E103", group.done, f"{ITEM}/{name}") for name in names]


# ── Bytes as base64 ──────────────────────────────────────────────────────────────────────────────────────────────────


def with_data(s: Stream) -> list[int]:
    """The indices of the items that hold bytes, and some."""
    return [i for group in s.groups if of_bytes(group.kind) for i in group.indices if s.content(i)]


def bad_base64(s: Stream, i: int, text: str) -> Mutant:
    """Event `i` holds `text` where base64 is due."""
    name = s.group_at(i).kind.grows
    s.item(i)[name] = text
    return s.events, [Due("E203", i, f"{ITEM}/{name}")]


@mutator("E203", holding=of_bytes)
def base64_url_alphabet(s: Stream, pick: Choices) -> Mutant:
    """Data is written in the alphabet of URLs."""
    i = pick.of(with_data(s))
    text = s.content(i)
    at = pick.between(0, len(text.rstrip("=")) - 1)
    return bad_base64(s, i, text[:at] + pick.of("-_") + text[at + 1 :])


@mutator("E203", holding=of_bytes)
def base64_without_padding(s: Stream, pick: Choices) -> Mutant:
    """Data has lost its padding, or its last character."""
    i = pick.of(with_data(s))
    text = s.content(i)
    return bad_base64(s, i, text.rstrip("=") if text.endswith("=") else text[:-1])


@mutator("E203", holding=of_bytes)
def base64_white_space(s: Stream, pick: Choices) -> Mutant:
    """Data has white space within, or around."""
    i = pick.of(with_data(s))
    text = s.content(i)
    at = pick.between(0, len(text))
    return bad_base64(s, i, text[:at] + pick.of([" ", "\n", "\r\n", "\t", "    "]) + text[at:])


@mutator("E203", holding=of_bytes)
def base64_foreign_character(s: Stream, pick: Choices) -> Mutant:
    """Data holds a character of no alphabet, or padding in its middle or beyond its end."""
    i = pick.of(with_data(s))
    text = s.content(i)
    return bad_base64(
        s, i, pick.of(["=" + text[1:], "é" + text[1:], text[:-1] + "*", text + "====", "====", "\0" + text])
    )


@mutator("E203", holding=of_bytes)
def base64_data_url(s: Stream, pick: Choices) -> Mutant:
    """Data is a data URL."""
    i = pick.of(with_data(s))
    return bad_base64(s, i, f"data:{AUDIO};base64,{s.content(i)}")
