"""JSON Schema (2020-12) of what streams are made of, and of what `validate --format json` prints.

A schema knows one value at a time: what follows what, and what a done item must hold, are the machine's to say. Where a
rule is one of shape, `$comment` names it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mmsp_fsm.grammar.definition import Definition, EventField, Kind, Phase, Presence
from mmsp_fsm.output.formats.json import VERSION
from mmsp_fsm.reference.report_schema import report_schema

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

# Not `$` alone: some engines let it match before a last line feed.
BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$(?!\n)"

CONTENT: dict[str, Schema] = {
    "text": {"type": "string"},
    "bytes": {"type": "string", "contentEncoding": "base64", "pattern": BASE64},
    "whole": {"type": "array", "items": {"type": "number"}},
}
"""What a field holds, by how the contents of fragments join."""

CLOSED: dict[str, Schema] = {"json_object": {"type": "object"}}
"""What a done item holds instead."""


def schemas(definition: Definition) -> dict[str, Schema]:
    """Every schema, by its name."""
    makers: dict[str, Callable[[Definition], Schema]] = {
        "event": event_schema,
        "message": message_schema,
        "report": report_schema,
    }
    return {name: _named(name, make(definition), definition) for name, make in makers.items()}


def schema_text(schema: Schema) -> str:
    """A schema as it is printed and committed."""
    return json.dumps(schema, indent=2, ensure_ascii=True) + "\n"


def event_schema(definition: Definition) -> Schema:
    """Of one record of a stream: a delta event, the stop event, or the error record."""
    items: dict[str, Schema] = {}
    for kind in definition.kinds.values():
        items |= {kind.delta: _item(definition, kind, "delta"), kind.done: _item(definition, kind, "done")}
    events = {f"{event_type}_event": _event(definition, event_type) for event_type in definition.event.types}
    records = [*events, "error_record"]
    return {
        "title": f"A record of a stream of {definition.protocol.name} {definition.protocol.version}",
        "description": "One record: an event, or the error record that ends a stream.",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in records],
        "$defs": {
            **events,
            "error_record": _error_record(definition),
            "item": {"title": "An item", "oneOf": [{"$ref": f"#/$defs/{name}"} for name in items]},
            **items,
            **_shared(definition),
        },
    }


def message_schema(definition: Definition) -> Schema:
    """Of the message that a conforming stream leaves behind, as `parse` prints it."""
    done = {kind.done: _item(definition, kind, "done") for kind in definition.kinds.values()}
    fields = {
        entry.name: _field(definition, entry, Presence("value", "")) for entry in definition.event.field
        if entry.holds != "event_type"
    }  # fmt: skip
    items = next(entry.name for entry in definition.event.field if entry.holds == "items")
    fields[items] = {"type": "array", "items": {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in done]}}
    return {
        "title": f"A message of {definition.protocol.name} {definition.protocol.version}",
        "description": "The done items of a stream that stopped, with the rest of its stop event.",
        **_closed(fields),
        "$defs": {**done, **_shared(definition)},
    }


def _named(name: str, schema: Schema, definition: Definition) -> Schema:
    version = VERSION if name == "report" else definition.protocol.version
    return {"$schema": DIALECT, "$id": f"urn:mmsp-fsm:schema:{name}:{version}", **schema}


def _closed(properties: dict[str, Schema], optional: tuple[str, ...] = ()) -> Schema:
    """An object of these fields and no other."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _event(definition: Definition, event_type: str) -> Schema:
    stop = event_type in definition.symbols
    fields = {}
    for entry in definition.event.field:
        if entry.holds == "event_type":
            fields[entry.name] = {"const": event_type, "$comment": entry.mismatch}
        else:
            fields[entry.name] = _field(definition, entry, entry.stop if stop else entry.delta)
    return {"title": f"A {event_type} event", **_closed(fields)}


def _field(definition: Definition, entry: EventField, presence: Presence | None) -> Schema:
    """What an event's field holds, where it `must` be null, given, or how many items."""
    must = presence.must if presence is not None else "value"
    comment = {"$comment": presence.rule} if presence is not None and presence.rule else {}
    if must == "null":
        return {"type": "null", **comment}
    if entry.holds == "items":
        count = 1 if must == "one" else 0
        return {"type": "array", "items": {"$ref": "#/$defs/item"}, "minItems": count, "maxItems": count, **comment}
    held: dict[str, Schema] = {
        "constant": {"const": entry.value},
        "finish_reason": {"enum": list(definition.event.finish_reasons)},
        "usage": {"$ref": "#/$defs/usage"},
        "time": {"type": "integer", "minimum": 0, "description": "Unix time in milliseconds"},
    }
    return {**held[entry.holds], **comment}


def _item(definition: Definition, kind: Kind, phase: Phase) -> Schema:
    what = "A fragment" if phase == "delta" else "The done item"
    content = CLOSED[kind.closes] if phase == "done" and kind.closes is not None else CONTENT[kind.joins]
    fields: dict[str, Schema] = {"type": {"const": f"{kind.name}.{phase}"}, kind.grows: content}
    optional = [definition.fidelity.key]
    for header in kind.header:
        fields[header.name] = {"type": "string"}
        if phase == "delta" or header.absent != definition.check.missing_field:
            optional.append(header.name)
    fields[definition.fidelity.key] = {"$ref": "#/$defs/fidelity"}
    return {"title": f"{what} of a {kind.name} group", **_closed(fields, tuple(optional))}


def _error_record(definition: Definition) -> Schema:
    error = definition.error
    held = {"type": "object", "properties": {name: {"type": "string"} for name in error.fields}}
    return {"title": "An error record", **_closed({error.key: {**held, "required": list(error.fields)}})}


def _shared(definition: Definition) -> dict[str, Schema]:
    count = {"type": ["integer", "null"], "minimum": 0}
    return {
        "usage": {
            "title": "The usage",
            "description": "Token counts; null where the provider does not report one.",
            **_closed(dict.fromkeys(definition.usage.counts, count)),
        },
        "fidelity": {"title": "A fidelity", "description": "An opaque object.", "type": "object"},
    }
