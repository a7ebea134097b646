"""Streams for the pages: one for each kind, made from the kind's properties and checked."""

from __future__ import annotations

import json
from typing import Any

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.grammar.definition import Definition, EventField, Header, Kind
from mmsp_fsm.model.wire import to_base64

PIECES: dict[str, list[Any]] = {
    "text": ["High water ", "at Brest is ", "at 14:20."],
    "bytes": [to_base64(piece) for piece in (b"high water", b" at Brest")],
    "whole": [[0.25, -0.5, 1.0]],
}
"""What fragments carry, by how they join."""

WHOLE: dict[str, Any] = {
    "text": "High water at Brest is at 14:20.",
    "bytes": to_base64(b"high water at Brest"),
    "whole": [0.25, -0.5, 1.0],
}

CLOSED: dict[str, tuple[list[Any], Any]] = {"json_object": (['{"port": ', '"Brest"}'], {"port": "Brest"})}
"""The same of kinds whose done item holds something else."""

FIRST_TIME, STEP = 1_760_000_000_000, 40
"""Unix time in milliseconds."""


def sample(definition: Definition, kind: Kind) -> list[dict[str, Any]]:
    """A small conforming stream that holds a group of `kind`, as events."""
    items = _group(kind)
    if kind.hidden:  # by itself no answer
        items += _group(next(one for one in definition.kinds.values() if not one.hidden))
    delta, stop = definition.event.types
    events = [_event(definition, delta, [item], None) for item in items]
    events.append(_event(definition, stop, [], _reason(definition, kind)))
    for number, event in enumerate(events):
        for entry in definition.event.field:
            if entry.holds == "time":
                event[entry.name] = FIRST_TIME + STEP * number
    _hold(definition, events)
    return events


def lines(events: list[dict[str, Any]]) -> str:
    """Events as a recording in JSON lines."""
    return "\n".join(json.dumps(event) for event in events)


def _group(kind: Kind) -> list[dict[str, Any]]:
    pieces, whole = CLOSED[kind.closes] if kind.closes is not None else (PIECES[kind.joins], WHOLE[kind.joins])
    if kind.one_piece:
        pieces = pieces[:1] if len(pieces) == 1 else [whole]
    header = {header.name: _value(header) for header in kind.header}
    later = {header.name: "" if header.later == "empty" else header_value for header, header_value in
             zip(kind.header, header.values(), strict=True)}  # fmt: skip
    items = [{"type": kind.delta, **(later if number else header), kind.grows: piece}
             for number, piece in enumerate(pieces)]  # fmt: skip
    return [*items, {"type": kind.done, **header, kind.grows: whole}]


def _value(header: Header) -> str:
    return "application/octet-stream" if header.later == "same" else f"{header.name}-1"


def _reason(definition: Definition, kind: Kind) -> str:
    said = definition.finish_reasons
    needed = [name for name, reason in said.items() if reason.needs == kind.name]
    fitting = [name for name in definition.event.finish_reasons
               if name not in said or (said[name].needs is None and said[name].denies != kind.name)]  # fmt: skip
    return (needed or fitting)[0]


def _event(definition: Definition, event_type: str, items: list[Any], reason: str | None) -> dict[str, Any]:
    def value(entry: EventField) -> Any:
        return {
            "constant": entry.value,
            "event_type": event_type,
            "items": items,
            "usage": dict.fromkeys(definition.usage.counts, 7) if reason else None,
            "finish_reason": reason,
        }.get(entry.holds)

    return {entry.name: value(entry) for entry in definition.event.field}


def _hold(definition: Definition, events: list[dict[str, Any]]) -> None:
    checker = StreamChecker(definition, rules=definition.default_rules, keep_message=False)
    for event in events:
        checker.feed(event)
    found = checker.close().diagnostics
    assert not found, f"an example does not conform: {found[0].code} {found[0].message}"
