"""The pages of the rules: what each says, why, a bad stream with what the tool prints of it, and a good one."""

from __future__ import annotations

import io
from collections.abc import Iterator

from attrs import evolve

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.grammar.definition import Definition, Example, Rule
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.output.text import Renderer
from mmsp_fsm.output.trace.events import JsonTrace
from mmsp_fsm.output.trace.times import Stopwatch, created_at
from mmsp_fsm.recordings.reading import Recording, feed, feed_recording, finish
from mmsp_fsm.reference.site.markdown import Medium, Page, Writer, code, fence, plain, slug, table, toctree

FAMILIES = {
    "E1": "Shape: records, events and their fields",
    "E2": "Shape: items",
    "E3": "Order: groups and ends",
    "E4": "Groups: what they hold",
    "W5": "Advice",
}
"""The families of rules by the beginning of their codes."""


def rule_pages(definition: Definition, medium: Medium) -> Iterator[Page]:
    """The list of all rules, and a page for each."""
    yield _index(definition, medium)
    for rule in definition.rules.values():
        yield _page(definition, rule, medium)


def printed(definition: Definition, rule: Rule, example: Example, name: str) -> str:
    """What `mmsp-fsm validate NAME` prints of an example, without its totals."""
    report = report_of(definition, rule, example, name)
    renderer = Renderer()
    return "\n".join([*renderer.stream(report), renderer.verdict(report)])


def report_of(definition: Definition, rule: Rule, example: Example, name: str) -> StreamReport:
    """The report of an example, its rule looked at though it may be off."""
    checker = StreamChecker(
        definition, rules=definition.default_rules | {rule.code}, limits=Limits(**example.limits), keep_message=False
    )
    report = feed_recording(
        checker, io.BytesIO(example.text.encode()), suffix=f".{example.format}", format=example.format
    )
    return evolve(report, source=name)


def traced(definition: Definition, rule: Rule, example: Example, name: str) -> str:
    """What `mmsp-fsm trace --format json NAME` prints of an example."""
    limits = Limits(**example.limits)
    checker = StreamChecker(definition, rules=definition.default_rules | {rule.code}, limits=limits, keep_message=False)
    recording = Recording(io.BytesIO(example.text.encode()), definition, limits, format=example.format)
    out, watch = io.StringIO(), Stopwatch()
    trace = JsonTrace(out)
    trace.begin()
    for record in recording:
        time = created_at(record, definition, limits)
        trace.step(record, feed(checker, record), time, watch.lap(time))
    trace.add(evolve(finish(checker, recording), source=name))
    trace.end()
    return out.getvalue()


def _index(definition: Definition, medium: Medium) -> Page:
    writer = Writer("rules/index", medium)
    parts = ["Codes and names are stable: `E` breaks the protocol, `W` is advice."]
    families = dict.fromkeys(code[:2] for code in definition.rules)
    for family in families:
        rows = [
            (
                writer.rule(rule.code),
                code(rule.name),
                plain(rule.summary) + ("" if rule.default else " (off by default)"),
            )
            for rule in definition.rules.values()
            if rule.code.startswith(family)
        ]
        parts += [f"## {FAMILIES.get(family, family)}", table(("code", "name", "reported when"), rows)]
    if medium == "html":
        parts.append(toctree(f"rules/{one}" for one in definition.rules))
    return Page("rules/index", "Rules", "\n\n".join(parts))


def _page(definition: Definition, rule: Rule, medium: Medium) -> Page:
    path = f"rules/{rule.code}"
    writer = Writer(path, medium)
    default = "reported by default" if rule.default else f"off unless selected (`--extend-select {rule.code}`)"
    bad, good = f"bad.{rule.bad.format}", f"good.{rule.good.format}"
    parts = [
        plain(rule.summary),
        f"{'An error' if rule.severity == 'error' else 'A warning'}, {default}. It enforces the section "
        f"“{plain(rule.protocol)}” of the protocol, and such a fault usually comes from the {rule.layer}.",
        "## Why",
        plain(rule.why),
        "## Where it comes from",
        plain(rule.cause),
        "## A stream with this fault",
        *_example(rule.bad, bad),
        f"`mmsp-fsm validate {_options(rule)}{bad}` prints:",
        fence(printed(definition, rule, rule.bad, bad)),
        "## How a producer mends it",
        plain(rule.mend),
        "The same stream mended:",
        *_example(rule.good, good),
        fence(printed(definition, rule, rule.good, good)),
        *_in_the_machine(definition, rule, writer),
    ]
    return Page(path, f"{rule.code} {rule.name}", "\n\n".join(parts))


def _options(rule: Rule) -> str:
    limits = {"record_bytes": "--max-record-bytes", "group_bytes": "--max-group-bytes", "nesting": "--max-nesting"}
    words = [] if rule.default else [f"--extend-select {rule.code}"]
    words += [f"{limits[name]} {value}" for name, value in rule.bad.limits.items() if name in limits]
    return "".join(f"{word} " for word in words)


def _example(example: Example, name: str) -> Iterator[str]:
    yield f"`{name}`:"
    yield fence(example.text)


def _in_the_machine(definition: Definition, rule: Rule, writer: Writer) -> Iterator[str]:
    """Where in the state x symbol table it is reported, if it is a rule of the table."""
    rows = []
    for cell in definition.cells.values():
        link = writer.link("in the table", "machine", slug(cell.state, cell.symbol))
        if rule.code in cell.rules:
            rows.append((code(cell.state), code(cell.symbol), "", code(cell.to), link))
        rows += [
            (code(cell.state), code(cell.symbol), plain(guard.when.replace("_", " ")), code(guard.to), link)
            for guard in cell.guards
            if guard.rule == rule.code
        ]
    if rows:
        yield "## In the machine"
        yield table(("state", "symbol", "where", "goes on in", "row"), rows)
