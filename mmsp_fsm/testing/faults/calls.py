"""Calls: their names, ids and arguments."""

from __future__ import annotations

import json

from mmsp_fsm.testing.faults.basics import ITEM, Choices, Due, Group, Mutant, Stream, is_call, mutator, verdict, whole
from mmsp_fsm.testing.faults.records import without


@mutator("E401", "E402", holding=is_call)
def call_header_emptied(s: Stream, pick: Choices) -> Mutant:
    """A call's first fragment has an empty name or id; what follows from it is silent."""
    group = pick.of([group for group in s.groups if is_call(group.kind)])
    known = [(entry.name, entry.empty) for entry in group.kind.header if entry.empty is not None]
    emptied = pick.of([*([one] for one in known), known])
    for field_name, _ in emptied:
        s.item(group.first)[field_name] = ""
    return s.events, [Due(code, group.first, f"{ITEM}/{field_name}") for field_name, code in emptied]


@mutator("E402", holding=is_call)
def call_id_comes_late(s: Stream, pick: Choices) -> Mutant:
    """A call's id comes on a later fragment: part of the fault that its first fragment had none."""
    group = pick.of([group for group in s.closed_of(is_call) if len(group.fragments) > 1])
    s.item(pick.of(group.fragments[1:]))[s.call_fields[-1]] = s.item(group.first)[s.call_fields[-1]]
    s.item(group.first)[s.call_fields[-1]] = ""
    return s.events, [Due("E402", group.first, f"{ITEM}/{s.call_fields[-1]}")]


@mutator("E401", "E402", holding=is_call)
def call_beginning_lost(s: Stream, pick: Choices) -> Mutant:
    """A call's first fragment is lost: the next one has neither name nor id, and nothing more is said."""
    group = pick.of([group for group in s.closed_of(is_call) if len(group.fragments) > 1])
    return without(s, group.first), [Due("E401", group.first), Due("E402", group.first)]


@mutator("E403", holding=is_call)
def call_header_repeated(s: Stream, pick: Choices) -> Mutant:
    """A later fragment repeats the id, or sets a name again, or both: once a fragment."""
    group = pick.of([group for group in s.groups if is_call(group.kind) and len(group.fragments) > 1])
    i = pick.of(group.fragments[1:])
    first = s.item(group.first)
    name, number = s.call_fields
    both = {name: first[name], number: first[number]}
    again = pick.of([{name: first[name]}, {name: "other"}, {number: first[number]}, both])
    s.item(i).update(again)
    return s.events, [Due("E403", i)]


@mutator("E403", holding=is_call)
def call_header_on_every_fragment(s: Stream, pick: Choices) -> Mutant:
    """Every fragment of a call carries its name and id: one error for each later fragment."""
    group = pick.of([group for group in s.groups if is_call(group.kind)])
    first = s.item(group.first)
    for i in group.fragments[1:]:
        s.item(i).update({name: first[name] for name in s.call_fields})
    return s.events, [Due("E403", i) for i in group.fragments[1:]]


@mutator("E302", holding=is_call)
def call_id_changes_midway(s: Stream, pick: Choices) -> Mutant:
    """From a later fragment on, the done item included, a call has another name and id: it is another call."""
    group = pick.of([group for group in s.closed_of(is_call) if len(group.fragments) > 1])
    i = pick.of(group.fragments[1:])
    header = {name: s.fresh(s.kind_of(is_call))[0][name] for name in s.call_fields}
    assert group.done is not None
    s.item(i).update(header)
    s.item(group.done).update(header)
    return s.events, [Due("E302", i)]


def arguments(s: Stream, group: Group) -> str:
    """What the fragments of a call join to, before halves of pairs meet."""
    return "".join(s.content(i) for i in group.fragments)


def with_arguments(s: Stream, pick: Choices, group: Group, text: str) -> None:
    """Spread another text over the fragments of a call."""
    at = sorted(pick.between(0, len(text)) for _ in group.fragments[1:])
    for i, a, b in zip(group.fragments, [0, *at], [*at, len(text)], strict=True):
        s.item(i)[group.kind.grows] = text[a:b]


def calls_with_text(s: Stream) -> list[Group]:
    """The closed calls whose arguments are not blank."""
    return [group for group in s.closed_of(is_call) if whole(arguments(s, group)).strip()]


@mutator("E404", holding=is_call)
def arguments_cut(s: Stream, pick: Choices) -> Mutant:
    """The arguments have lost their last brace, and perhaps more before it."""
    group = pick.of(calls_with_text(s))
    assert group.done is not None
    text = arguments(s, group).rstrip()[:-1]
    with_arguments(s, pick, group, text[: pick.between(1, len(text))])
    return s.events, [Due("E404", group.done)]


@mutator("E404", "E405", "E406", holding=is_call)
def arguments_lose_a_character(s: Stream, pick: Choices) -> Mutant:
    """One character of the arguments is lost, wherever: malformed, no object, another object, or harmless."""
    group = pick.of(calls_with_text(s))
    text = arguments(s, group)
    at = pick.between(0, len(text) - 1)
    text = text[:at] + text[at + 1 :]
    with_arguments(s, pick, group, text)
    assert group.done is not None
    code = verdict(group.kind, [text], s.content(group.done))
    return s.events, [Due(code, group.done)] if code else []


@mutator("E404", holding=is_call)
def arguments_malformed(s: Stream, pick: Choices) -> Mutant:
    """The arguments are no strict JSON: two objects, a blank, NaN, a number beyond a double, a trailing comma."""
    group = pick.of(s.closed_of(is_call))
    assert group.done is not None
    bad = [" ", "{}{}", "{'a': 1}", '{"a": NaN}', '{"a": -Infinity}', '{"a": 1e999}', '{"a": 1,}', "{",
           "\ufeff{}", "{}\0", '{"a": ' + "9" * 4301 + "}", '{"a": 01}', '{"a": "\n"}', "\u00a0{}"]  # fmt: skip
    with_arguments(s, pick, group, pick.of(bad))
    return s.events, [Due("E404", group.done)]


@mutator("E405", holding=is_call)
def arguments_no_object(s: Stream, pick: Choices) -> Mutant:
    """The arguments are JSON, and no object: wrapped into an array, a number, a string that holds JSON."""
    group = pick.of(s.closed_of(is_call))
    assert group.done is not None
    text = whole(arguments(s, group)) or "{}"
    with_arguments(s, pick, group, pick.of([f"[{text}]", "1", "null", "true", json.dumps(text), " [] ", "-0.0"]))
    return s.events, [Due("E405", group.done)]


@mutator("W507", holding=is_call)
def arguments_key_twice(s: Stream, pick: Choices) -> Mutant:
    """An object in the arguments names a key twice; the last one counts, so it is a warning alone."""
    group = pick.of([group for group in s.closed_of(is_call) if group.done and s.content(group.done)])
    assert group.done is not None
    key = json.dumps(pick.of(list(s.content(group.done))))
    text = whole(arguments(s, group))
    at = text.index("{") + 1
    with_arguments(s, pick, group, text[:at] + f"{key}: {pick.of(['0', 'null', '{}'])}, " + text[at:])
    return s.events, [Due("W507", group.done)]
