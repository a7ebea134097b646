"""Changes that break nothing."""

from __future__ import annotations

import json
from typing import Any

from mmsp_fsm.testing.faults.basics import Choices, Due, Mutant, Record, Stream, is_call, mutator, of_bytes
from mmsp_fsm.testing.faults.calls import with_arguments
from mmsp_fsm.testing.faults.contents import closed_with_fidelity
from mmsp_fsm.testing.faults.events import events_of, nested
from mmsp_fsm.testing.faults.items import with_data
from mmsp_fsm.testing.faults.records import DIGITS, as_bytes, replaced, spelled


@mutator()
def nested_as_deep_as_allowed(s: Stream, pick: Choices) -> Mutant:
    """A fidelity is nested to the limit, on a fragment and on the done item: no fault."""
    group = pick.of([group for group in s.closed if not s.carriers(group)])
    assert group.done is not None
    for i in (pick.of(group.fragments), group.done):
        s.item(i)["fidelity"] = nested(500 - 3)
    return s.events, []


@mutator()
def keys_named_twice(s: Stream, pick: Choices) -> Mutant:
    """A record names a key twice: the last one counts, so there is no fault."""
    i = pick.of(events_of(s))
    data = as_bytes(s.events[i])
    first = pick.of([b'"role": "user"', b'"event_type": "x"', b'"content_items": 5', b'"created_at": -1'])
    return replaced(s, i, b"{" + first + b", " + data[1:]), []


@mutator()
def written_otherwise(s: Stream, pick: Choices) -> Mutant:
    """Records are written with white space around and within, with escapes, with their keys turned round: no fault."""

    def turned(value: Any) -> Any:
        return {key: value[key] for key in reversed(value)}

    records: list[Record] = []
    for event in s.events:
        text = json.dumps(turned(event), indent=pick.of([None, 1]), separators=pick.of([(",", ":"), (" , ", " : ")]))
        records.append(f"{pick.of(['', ' ', chr(9)])}{text}{pick.of(['', chr(13), '  '])}".encode())
    return records, []


@mutator(ending="stop")
def longest_integer(s: Stream, pick: Choices) -> Mutant:
    """A count of 4,300 digits is exact: no fault."""
    s.events[-1]["usage_metadata"][pick.of(list(s.events[-1]["usage_metadata"]))] = DIGITS
    return replaced(s, s.last, spelled(s.events[-1], "9" * 4300)), []


@mutator("E105", ending="stop")
def count_with_exponent(s: Stream, pick: Choices) -> Mutant:
    """A count is written with a fraction or an exponent: E105, though some decoders let it pass."""
    name = pick.of(list(s.events[-1]["usage_metadata"]))
    s.events[-1]["usage_metadata"][name] = DIGITS
    record = spelled(s.events[-1], pick.of(["5.0", "1E1", "0e0", "-0.0", "12e-1"]))
    return replaced(s, s.last, record), [Due("E105", s.last, f"/usage_metadata/{name}")]


@mutator()
def fidelity_empty(s: Stream, pick: Choices) -> Mutant:
    """Empty fidelities stand on items that have none: they count as none."""
    for i in s.deltas:
        if pick.of([True, False]):
            s.item(i).setdefault("fidelity", {})
    return s.events, []


@mutator()
def fidelity_item_id_deeper(s: Stream, pick: Choices) -> Mutant:
    """item_id deeper within a fidelity is the producer's own business: no warning."""
    group = pick.of(closed_with_fidelity(s))
    for i in (s.carriers(group)[0], group.done):
        s.item(i or 0)["fidelity"]["inner"] = {"item_id": "x"}
    return s.events, []


@mutator(holding=is_call)
def numbers_spelled_otherwise(s: Stream, pick: Choices) -> Mutant:
    """Numbers in the arguments are written otherwise than in the done item: they compare by value."""
    group = pick.of(s.closed_of(is_call))
    assert group.done is not None
    text, value = pick.of(
        [("1E0", 1), ("1.0", 1), ("-0", 0), ("-0.0", 0), ("0.1e1", 1.0), ("100", 1e2), ("12e-1", 1.2)]
    )
    with_arguments(s, pick, group, f'{{"n": {text}}}')
    s.item(group.done)[group.kind.grows] = {"n": value}
    return s.events, []


@mutator(holding=of_bytes)
def base64_with_stray_bits(s: Stream, pick: Choices) -> Mutant:
    """Stray low bits in the last character of base64 are accepted."""
    i = pick.of([i for i in with_data(s) if s.content(i).endswith("==")])
    text = s.content(i)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    bits = alphabet.index(text[-3]) & 0b110000
    s.item(i)[s.group_at(i).kind.grows] = text[:-3] + alphabet[bits | pick.between(0, 15)] + "=="
    return s.events, []
