"""The rule catalogue for people: one rule explained, and all of them listed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mmsp_fsm.grammar.definition import Example, Rule

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = 100
"""Where prose is wrapped. Examples are streams and stand as they are."""


def explained(rule: Rule) -> Iterator[str]:
    """The lines of one rule: all that its entry in the catalogue says."""
    yield f"{rule.code} {rule.name} ({rule.severity}{'' if rule.default else ', off unless selected'})"
    yield ""
    yield from _prose(rule.summary)
    for title, text in (("Why", rule.why), ("Where it comes from", rule.cause), ("How to mend it", rule.mend)):
        yield ""
        yield title
        yield from _prose(text, "  ")
    yield ""
    yield f'Protocol: "{rule.protocol}". Such a fault usually comes from the {rule.layer}.'
    for title, example in (("A stream with this fault", rule.bad), ("The same stream mended", rule.good)):
        yield ""
        yield from _example(title, example)


def listed(rules: Iterable[Rule]) -> Iterator[str]:
    """One line for each rule: code, name, severity, and what it reports."""
    chosen = list(rules)
    longest = max((len(rule.name) for rule in chosen), default=0)
    for rule in chosen:
        severity = rule.severity if rule.default else f"{rule.severity} (off)"
        yield f"{rule.code}  {rule.name:<{longest}}  {severity:<13}  {rule.summary}"


def table(rules: Iterable[Rule]) -> Table:
    """The same as a table for a terminal."""
    from rich.table import Table
    from rich.text import Text

    result = Table("code", "name", "severity", "reported when", header_style="bold", box=None, pad_edge=False)
    for rule in rules:
        severity = rule.severity if rule.default else f"{rule.severity} (off)"
        style = "red" if rule.severity == "error" else "yellow"
        result.add_row(rule.code, rule.name, Text(severity, style), Text(rule.summary))
    return result


def _prose(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(" ".join(text.split()), COLUMNS, initial_indent=indent, subsequent_indent=indent)


def _example(title: str, example: Example) -> Iterator[str]:
    limits = ", ".join(f"{name} {value}" for name, value in example.limits.items())
    yield f"{title} ({example.format}{', read with ' + limits if limits else ''})"
    for line in example.text.strip("\n").split("\n"):
        yield f"  {line}"
