"""JSON Schema of what `validate --format json` prints, version 1."""

from __future__ import annotations

from typing import Any, get_args

from attrs import fields

from mmsp_fsm.checker.diagnostics import Outcome, Verdict
from mmsp_fsm.engines.results import Summary
from mmsp_fsm.grammar.definition import Definition, Severity
from mmsp_fsm.output.counting import SourceCount
from mmsp_fsm.output.formats.json import VERSION
from mmsp_fsm.recordings.sources import Unreadable

Schema = dict[str, Any]

COUNT: Schema = {"type": "integer", "minimum": 0}
LINE: Schema = {"type": ["integer", "null"], "minimum": 1}
TEXT: Schema = {"type": "string"}


def report_schema(definition: Definition) -> Schema:
    """Of the document over all streams of a run. `statistics` is there only where it was asked for."""
    document = {
        "version": _said({"const": VERSION}, "of the document's shape"),
        "streams": {"type": "array", "items": {"$ref": "#/$defs/stream"}},
        "unreadable": {"type": "array", "items": {"$ref": "#/$defs/unreadable"}},
        "summary": {"$ref": "#/$defs/summary"},
        "statistics": {"$ref": "#/$defs/statistics"},
    }
    return {
        "title": "What `mmsp-fsm validate --format json` prints",
        "description": "One document over all streams of a run; statistics with `--statistics` only. "
        "`--format jsonl` prints one stream a line.",
        **_closed(document, "statistics"),
        "$defs": {
            "stream": _stream(),
            "diagnostic": _diagnostic(definition),
            "related": _related(),
            "unreadable": {
                "title": "What could not be read",
                **_closed({one.name: TEXT for one in fields(Unreadable)}),
            },
            "summary": {"title": "The totals", **_closed({one.name: COUNT for one in fields(Summary)})},
            "statistics": _statistics(),
            "rule_count": _rule_count(definition),
            "source_count": _source_count(),
        },
    }


def _stream() -> Schema:
    properties = {
        "source": _said({"type": ["string", "null"]}, "where it came from; <stdin> is standard input"),
        "stream": _said(
            {"type": ["string", "integer", "null"]},
            "which stream of the source: its key or number; null where it is one",
        ),
        "verdict": _said({"enum": list(get_args(Verdict))}, "violating where an error was reported"),
        "outcome": _said({"enum": list(get_args(Outcome))}, "how it ended: a stop event, an error, neither"),
        "events": _said(COUNT, "its records, error and unreadable ones included"),
        "groups": _said(COUNT, "those closed"),
        "errors": _said(COUNT, "all of them, also where not all are listed"),
        "warnings": _said(COUNT, "all of them, also where not all are listed"),
        "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
    }
    return {"title": "One stream", **_closed(properties)}


def _diagnostic(definition: Definition) -> Schema:
    symbols = {"enum": list(definition.symbols)}
    properties = {
        **_rule(definition),
        "message": _said(TEXT, "a sentence; not stable"),
        "event": _said(COUNT, "0-based index of the record in its stream; for a missing end, the records read"),
        "line": _said(LINE, "1-based line at which the record begins; null without a file"),
        "pointer": _said(TEXT, "a JSON pointer (RFC 6901) into the record"),
        "state": _said({"enum": list(definition.states)}, "the machine's"),
        "expected": _said({"type": "array", "items": symbols}, "the symbols that would have been legal"),
        "related": {"type": "array", "items": {"$ref": "#/$defs/related"}},
    }
    return {"title": "One fault", **_closed(properties)}


def _statistics() -> Schema:
    properties = {
        "rules": {"type": "array", "items": {"$ref": "#/$defs/rule_count"}},
        "sources": {"type": "array", "items": {"$ref": "#/$defs/source_count"}},
    }
    return {"title": "Rules by count, and the worst sources", **_closed(properties)}


def _rule_count(definition: Definition) -> Schema:
    properties = {
        **_rule(definition),
        "count": _said(COUNT, "how often it was broken, also where not all diagnostics are listed"),
        "streams": _said(COUNT, "in how many streams"),
    }
    return {"title": "How often a rule was broken", **_closed(properties)}


def _source_count() -> Schema:
    counts = {one.name: TEXT if one.name == "source" else COUNT for one in fields(SourceCount)}
    return {"title": "What one source came to", **_closed(counts)}


def _rule(definition: Definition) -> dict[str, Schema]:
    return {
        "code": _said({"enum": list(definition.rules)}, "the rule's stable code"),
        "rule": _said({"enum": [rule.name for rule in definition.rules.values()]}, "the rule's stable name"),
        "severity": {"enum": list(get_args(Severity))},
    }


def _related() -> Schema:
    return {"title": "A place that a diagnostic speaks of", **_closed({"event": COUNT, "line": LINE, "message": TEXT})}


def _said(schema: Schema, words: str) -> Schema:
    return {**schema, "description": words}


def _closed(properties: dict[str, Schema], *optional: str) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
