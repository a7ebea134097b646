"""SARIF 2.1.0, the format of static analysis results that code scanning services read (OASIS, errata 01)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, TextIO

from mmsp_fsm.checker.diagnostics import Diagnostic, Related, StreamReport
from mmsp_fsm.engines.results import Summary
from mmsp_fsm.grammar.definition import Rule
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.output.escaping import visible
from mmsp_fsm.output.excerpts import excerpt
from mmsp_fsm.output.formats.json import json_text
from mmsp_fsm.output.formats.registry import OutputOptions
from mmsp_fsm.output.links import uri_of
from mmsp_fsm.output.pages import rule_page
from mmsp_fsm.output.rules import explained
from mmsp_fsm.output.statistics import statistics_lines
from mmsp_fsm.recordings.sources import Unreadable
from mmsp_fsm.version import VERSION

if TYPE_CHECKING:
    from mmsp_fsm.output.counting import Statistics

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

UNREADABLE, UNLISTED = "source-unreadable", "results-left-out"
"""Identifiers of the tool's own notifications."""

FINGERPRINT = "mmspFault/v1"
"""Tells a fault from others across runs: by its rule, source, stream, pointer and state, and which of several such
faults it is; not by its line or event, which move when something is added before.
"""


class SarifLog:
    """Writes one log with one run: each result as soon as it is known, what could not be read at the end.

    A rule's words are those of the catalogue. What a stream has beyond the diagnostics that its report keeps is told as
    a number, in a notification.
    """

    def __init__(self, out: TextIO, options: OutputOptions) -> None:
        self._out, self._options = out, options
        self._rules = list(default().rules.values())
        self._index = {rule.code: number for number, rule in enumerate(self._rules)}
        self._notifications: list[dict[str, Any]] = []
        self._left_out = 0
        self._results = 0

    def begin(self) -> None:
        """Write what stands before the first result: the tool and its rules."""
        driver = {
            "name": "mmsp-fsm",
            "version": VERSION,
            "semanticVersion": VERSION,
            "rules": [self._descriptor(rule) for rule in self._rules],
            "notifications": [
                {"id": UNREADABLE, "shortDescription": _string("A source could not be read.")},
                {"id": UNLISTED, "shortDescription": _string("Further results are counted and not listed.")},
            ],
        }
        self._out.write(
            f'{{"$schema": {json.dumps(SCHEMA)},\n "version": "2.1.0",\n "runs": [{{\n'
            f'  "tool": {self._text({"driver": driver})},\n'
            '  "columnKind": "unicodeCodePoints",\n  "results": ['
        )

    def add(self, one: StreamReport | Unreadable) -> None:
        """Write the results of one stream; what could not be read is kept for the end."""
        if isinstance(one, Unreadable):
            place = {"physicalLocation": {"artifactLocation": {"uri": uri_of(one.source)}}}
            notification = _notification(UNREADABLE, "error", f"{one.source}: {one.message}")
            self._notifications.append({**notification, "locations": [place]})
            return
        seen: Counter[str] = Counter()
        for diagnostic in one.diagnostics:
            self._out.write(",\n   " if self._results else "\n   ")
            self._out.write(self._text(self._result(diagnostic, one, seen)))
            self._results += 1
        self._left_out += one.errors + one.warnings - len(one.diagnostics)

    def end(self, summary: Summary, statistics: Statistics | None = None) -> None:
        """Write the rest: how the tool's own work went. Statistics go to standard error, for SARIF has no place."""
        if self._left_out:
            message = f"{self._left_out} more results are not listed: of each stream only the first ones are."
            self._notifications.append(_notification(UNLISTED, "note", message))
        invocation = {
            "executionSuccessful": not summary.unreadable,
            "toolExecutionNotifications": self._notifications,
        }
        self._out.write(f'],\n  "invocations": [{self._text(invocation)}]\n }}]}}\n')
        for line in statistics_lines(statistics, ascii_only=True) if statistics is not None else ():
            self._options.complain(line)

    def _descriptor(self, rule: Rule) -> dict[str, Any]:
        descriptor: dict[str, Any] = {
            "id": rule.code,
            "name": rule.name,
            "shortDescription": _string(rule.summary),
            "fullDescription": _string(" ".join(rule.why.split())),
            "help": {**_string("\n".join(explained(rule))), "markdown": _markdown(rule)},
            "defaultConfiguration": {"level": rule.severity, "enabled": rule.default},
            "properties": {
                "tags": ["mmsp", rule.layer],
                "problem.severity": rule.severity,  # what code scanning sorts by
                "precision": "very-high",
            },
        }
        if self._options.docs_url:
            descriptor["helpUri"] = rule_page(rule.code, self._options.docs_url)
        return descriptor

    def _result(self, one: Diagnostic, report: StreamReport, seen: Counter[str]) -> dict[str, Any]:
        uri = uri_of(report.source) if report.source is not None else None
        key = json.dumps([one.code, uri, report.stream, one.pointer, one.state])
        seen[key] += 1
        result: dict[str, Any] = {
            "ruleId": one.code,
            "ruleIndex": self._index[one.code],
            "level": one.severity,
            "message": _string(_message(one.message)),
            "locations": [_location(one, uri)],
            "partialFingerprints": {FINGERPRINT: hashlib.sha256(f"{key}{seen[key]}".encode()).hexdigest()[:32]},
            "properties": {
                "stream": report.stream,
                "event": one.event,
                "pointer": one.pointer,
                "state": one.state,
                "expected": list(one.expected),
            },
        }
        if one.related:
            result["relatedLocations"] = [
                {"id": number, **_location(related, uri), "message": _string(_message(related.message))}
                for number, related in enumerate(one.related)
            ]
        return result

    def _text(self, value: Any) -> str:
        return json_text(value, ascii_only=self._options.ascii_only)


def _location(one: Diagnostic | Related, uri: str | None) -> dict[str, Any]:
    """Where something stands: the line of the file, and the place in the event."""
    location: dict[str, Any] = {
        "logicalLocations": [
            {
                "fullyQualifiedName": visible(f"event {one.event}{one.pointer}"),
                "kind": "value" if one.pointer else "object",
            }
        ]
    }
    if uri is not None:
        location["physicalLocation"] = {"artifactLocation": {"uri": uri}}
        if one.line is not None:
            location["physicalLocation"]["region"] = _region(one, one.line)
    return location


def _region(one: Diagnostic | Related, line: int) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": line}
    if one.record:
        shown = excerpt(one.record, one.pointer)
        region["snippet"] = _string(visible(shown.before + shown.marked + shown.after))
    return region


def _message(text: str) -> str:
    """A message string: what a viewer would take for a placeholder or a link is model output, and no such thing.

    Braces are doubled (SARIF, section 3.11.5). No mark of a link may be followed by its destination (3.11.6).
    """
    return visible(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _string(text: str) -> dict[str, str]:
    """A string as SARIF holds it. (Not a literal, which the house would take for a kind's name.)"""
    return dict(text=text)  # noqa: C408


def _notification(identifier: str, level: str, text: str) -> dict[str, Any]:
    return {"descriptor": {"id": identifier}, "level": level, "message": _string(_message(text))}


def _markdown(rule: Rule) -> str:
    """A rule's help as Markdown."""
    parts = [
        f"**{rule.summary}**",
        " ".join(rule.why.split()),
        f"*Where it comes from:* {' '.join(rule.cause.split())}",
        f"*How to mend it:* {' '.join(rule.mend.split())}",
        "A stream with this fault:\n\n" + _fenced(rule.bad.text),
        "The same stream mended:\n\n" + _fenced(rule.good.text),
    ]
    return "\n\n".join(parts)


def _fenced(text: str) -> str:
    return f"````\n{text.strip(chr(10))}\n````"
