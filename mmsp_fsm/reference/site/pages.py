"""The pages beside the rules': overview, grammar, events, kinds, the machine, the JSON output, the glossary."""

from __future__ import annotations

import io
import tomllib
from collections.abc import Iterator
from typing import Any

from mmsp_fsm.diagrams.cards import CLOSED, JOINED, MUST, builders_view, events_view
from mmsp_fsm.diagrams.picture import Picture
from mmsp_fsm.diagrams.railroad import grammar_text, productions, syntax_diagram
from mmsp_fsm.diagrams.rendering import draw
from mmsp_fsm.diagrams.views import group_view, stream_view, violations_view
from mmsp_fsm.engines.results import Summary
from mmsp_fsm.grammar.definition import Cell, Definition, EventField, Header, Kind
from mmsp_fsm.grammar.loading import grammar_folder
from mmsp_fsm.output.formats.json import JsonDocument
from mmsp_fsm.output.formats.registry import OutputOptions
from mmsp_fsm.output.pages import rule_page
from mmsp_fsm.reference.schema import schemas
from mmsp_fsm.reference.site.markdown import (
    Medium,
    Page,
    Writer,
    anchor,
    code,
    codes,
    fence,
    plain,
    slug,
    table,
    toctree,
)
from mmsp_fsm.reference.site.rules import report_of, rule_pages, traced
from mmsp_fsm.reference.site.samples import lines, sample

SHOWN_RULE = "E302"
"""The rule whose bad example the page of the JSON output shows."""


def pages(definition: Definition, medium: Medium) -> list[Page]:
    """Every page, in the order in which they are read."""
    first = [
        _grammar(definition, medium),
        _events(definition, medium),
        _kinds(definition, medium),
        *(_kind(definition, kind, medium) for kind in definition.kinds.values()),
        _machine(definition, medium),
    ]
    rest = [*rule_pages(definition, medium), _output(definition, medium), _glossary(definition, medium)]
    return [_index(definition, medium, [*first, *rest]), *first, *rest]


def pictures(definition: Definition) -> dict[str, bytes]:
    """The SVG files that the pages link to, by path."""
    views = [stream_view(definition), violations_view(definition), events_view(definition), builders_view(definition)]
    views += [group_view(definition, kind) for kind in definition.kinds.values()]
    made = {f"diagrams/{one.name}.svg": draw(one, "svg", lambda code: f"../{rule_page(code)}") for one in views}
    for name, node in productions(definition, grammar_text()).items():
        drawn = syntax_diagram(definition, name, node, lambda one: f"syntax-{one}.svg")
        made[f"diagrams/syntax-{name}.svg"] = drawn.encode()
    return made


def _index(definition: Definition, medium: Medium, rest: list[Page]) -> Page:
    protocol, writer = definition.protocol, Writer("index", medium)
    listed = [page for page in rest if "/" not in page.path or page.path.endswith("/index")]
    parts = [
        f"{plain(protocol.title)} ({plain(protocol.name)}) streams one message of a language model as events. These "
        "pages are made from the definition that the checker `mmsp-fsm` runs on, and show what it says.",
        _picture(writer, stream_view(definition)),
        "## Pages",
        "\n".join(f"- {writer.link(plain(page.title), page.path)}" for page in listed),
    ]
    if medium == "html":
        parts.append(toctree(page.path for page in listed))
    return Page("index", f"{protocol.name} {protocol.version}: reference", "\n\n".join(parts))


def _picture(writer: Writer, picture: Picture) -> str:
    drawn = draw(picture, "svg", lambda code: writer.address(f"rules/{code}")).decode()
    return writer.figure(f"diagrams/{picture.name}.svg", drawn, picture.title)


def _grammar(definition: Definition, medium: Medium) -> Page:
    writer = Writer("grammar", medium)
    parts = [
        "A stream as its symbols: the items of the delta events in order, then the stop event; an error may end it.",
        fence(grammar_text()),
    ]
    for name, node in productions(definition, grammar_text()).items():
        drawn = syntax_diagram(definition, name, node, lambda one: f"#syntax-{one}")
        parts += [
            anchor(f"syntax-{name}"),
            f"## {plain(name)}",
            writer.figure(f"diagrams/syntax-{name}.svg", drawn, f"The syntax of {name}"),
        ]
    return Page("grammar", "Grammar", "\n\n".join(parts))


def _events(definition: Definition, medium: Medium) -> Page:
    writer = Writer("events", medium)
    error, check = definition.error, definition.check
    rows = [
        (
            code(entry.name),
            _held(definition, entry),
            _must(entry, "delta", writer),
            _must(entry, "stop", writer),
            writer.rules([entry.mismatch] if entry.mismatch else []),
        )
        for entry in definition.event.field
    ]
    parts = [
        "All six fields are present on every event.".replace("six", str(len(definition.event.field))),
        table(("field", "holds", "on a delta event", "on the stop event", "another value"), rows),
        f"An absent field is {writer.rule(check.missing_field)}, an unknown one {writer.rule(check.unknown_field)}, a "
        f"value of another type {writer.rule(check.wrong_type)}.",
        _picture(writer, events_view(definition)),
        "## The usage",
        f"Exactly these counts, each an integer of at least 0 or null: {codes(definition.usage.counts)}.",
        "## The error record",
        f"An object with the one key {code(error.key)}, which holds an object with the strings {codes(error.fields)} "
        "and whatever else. It ends the stream, in place of the stop event.",
        "## Items of the user",
        f"No stream carries {codes(definition.user_only.items)}, in any form: {writer.rule(check.user_only_item)}.",
        f"## Before version {plain(definition.older.before)}",
        f"Streams carried events of the types {codes(definition.older.events)} and items of the types "
        f"{codes(definition.older.items)}, without a suffix. They do not conform any more.",
    ]
    return Page("events", "Events", "\n\n".join(parts))


def _held(definition: Definition, entry: EventField) -> str:
    return {
        "constant": code(f'"{entry.value}"'),
        "event_type": codes(f'"{one}"' for one in definition.event.types),
        "items": "an array of items",
        "usage": "the token counts of the request",
        "finish_reason": codes(f'"{one}"' for one in definition.event.finish_reasons),
        "time": "Unix time in milliseconds",
    }[entry.holds]


def _must(entry: EventField, event_type: str, writer: Writer) -> str:
    presence = entry.delta if event_type == "delta" else entry.stop
    return f"{MUST[presence.must]} ({writer.rule(presence.rule)})" if presence is not None else "the same"


def _kinds(definition: Definition, medium: Medium) -> Page:
    writer = Writer("kinds/index", medium)
    rows = [
        (writer.link(code(kind.name), f"kinds/{kind.name}"), code(kind.grows), JOINED[kind.joins])
        for kind in definition.kinds.values()
    ]
    parts = [
        f"A group is one or more fragments, {code('K.delta')}, and the done item, {code('K.done')}, of one kind K.",
        table(("kind", "its fragments grow", "they join to"), rows),
        _picture(writer, builders_view(definition)),
    ]
    if medium == "html":
        parts.append(toctree(f"kinds/{kind}" for kind in definition.kinds))
    return Page("kinds/index", "Kinds of items", "\n\n".join(parts))


def _kind(definition: Definition, kind: Kind, medium: Medium) -> Page:
    writer = Writer(f"kinds/{kind.name}", medium)
    check, fidelity = definition.check, definition.fidelity
    closes = CLOSED[kind.closes] if kind.closes is not None else JOINED[kind.joins]
    rows = [
        (code("type"), code(kind.delta), code(kind.delta), code(kind.done), ""),
        (code(kind.grows), "a part", "a part", closes, writer.rule(check.content_mismatch)),
        *(_header(header, writer, check.header_mismatch) for header in kind.header),
        (code(fidelity.key), "at most one fragment's", "at most one fragment's", "the same",
         writer.rules([check.fidelity_repeated, check.fidelity_mismatch])),
    ]  # fmt: skip
    guards = [
        (code(cell.symbol), plain(guard.says), writer.rule(guard.rule))
        for cell in definition.cells.values()
        if definition.states[cell.state].kind == kind.name
        for guard in cell.guards
    ]
    parts = [
        f"Its fragments grow {code(kind.grows)}: {JOINED[kind.joins]}.",
        *([f"It is no answer by itself ({writer.rule(check.nothing_but_hidden)})."] if kind.hidden else []),
        "## Fields",
        table(("field", "first fragment", "later fragments", "done item", "rules"), rows),
        "## A group",
        _picture(writer, group_view(definition, kind)),
        *(["## What is refused inside", table(("symbol", "where", "rule"), guards)] if guards else []),
        "## A stream",
        "It conforms:",
        fence(lines(sample(definition, kind)), "json"),
    ]
    return Page(f"kinds/{kind.name}", f"The kind {kind.name}", "\n\n".join(parts))


def _header(header: Header, writer: Writer, changed: str) -> tuple[str, ...]:
    rules = [header.absent, header.empty, header.later_absent, header.later_other, changed]
    later = "empty" if header.later == "empty" else "the same"
    return (code(header.name), "its value", later, "the first fragment's", writer.rules(one for one in rules if one))


def _machine(definition: Definition, medium: Medium) -> Page:
    writer = Writer("machine", medium)
    states = [
        (anchor(slug("state", state.name)) + code(state.name), plain(state.title))
        for state in definition.states.values()
    ]
    symbols = [(code(symbol.name), plain(symbol.title)) for symbol in definition.symbols.values()]
    grid = [
        (code(symbol), *(_cell(definition.cells[state, symbol], writer) for state in definition.states))
        for symbol in definition.symbols
    ]
    parts = [
        "Each symbol has one outcome in each state: a transition, or a violation with its rules. A cell leads to its "
        "row below, or to the rules that refuse it.",
        "## The table",
        table(("symbol", *(code(state) for state in definition.states)), grid),
        "## All of it as a picture",
        _picture(writer, violations_view(definition)),
        "## States",
        table(("state", "in which"), states),
        "## Symbols",
        table(("symbol", "which is"), symbols),
        "## Rows",
        table(("state", "symbol", "what is done", "next state", "rules", "guards, asked first"),
              (_row(cell, writer) for cell in definition.cells.values())),
    ]  # fmt: skip
    return Page("machine", "The machine", "\n\n".join(parts))


def _cell(cell: Cell, writer: Writer) -> str:
    to = writer.link(f"→ {code(cell.to)}", "machine", slug(cell.state, cell.symbol)) if cell.legal else ""
    return " ".join(filter(None, (to, writer.rules([*cell.rules, *(guard.rule for guard in cell.guards)]))))


def _row(cell: Cell, writer: Writer) -> tuple[str, ...]:
    guards = "; ".join(f"{plain(guard.when.replace('_', ' '))} {writer.rule(guard.rule)}" for guard in cell.guards)
    where = anchor(slug(cell.state, cell.symbol)) + code(cell.state)
    done = plain(", ".join(cell.do)) if cell.do else "nothing"
    return where, code(cell.symbol), done, code(cell.to), writer.rules(cell.rules), guards


def _output(definition: Definition, medium: Medium) -> Page:
    writer = Writer("output", medium)
    schema = schemas(definition)["report"]
    out = io.StringIO()
    document = JsonDocument(out, OutputOptions(complain=lambda _: None))
    rule = definition.rules.get(SHOWN_RULE) or next(iter(definition.rules.values()))
    report = report_of(definition, rule, rule.bad, f"bad.{rule.bad.format}")
    document.begin()
    document.add(report)
    document.end(Summary().plus(report))
    parts = [
        "`mmsp-fsm validate --format json` prints one document over all streams of a run.",
        _fields(schema),
    ]
    for name, one in schema["$defs"].items():
        parts += [anchor(f"output-{name}"), f"## {plain(one['title'])}: `{name}`", _fields(one)]
    parts += [
        "## An example",
        f"Of the bad stream of {writer.rule(rule.code)}:",
        fence(out.getvalue(), "json"),
        "## Of one stream, event by event",
        "`mmsp-fsm trace --format json` prints an object for each record: the `moves` of the machine that it made "
        "(state before, symbol, action, state after), its `created_at`, and the milliseconds since the last record "
        "that has a time (null where there is none). Diagnostics and `report` are as above. Of the same stream:",
        fence(traced(definition, rule, rule.bad, f"bad.{rule.bad.format}"), "json"),
        "## Schemas",
        "JSON Schema (2020-12), as `mmsp-fsm schema` prints them: "
        + ", ".join(f"[{name}]({writer.address(f'schema/{name}.json')})" for name in schemas(definition)),
    ]
    return Page("output", "The JSON output", "\n\n".join(parts))


def _fields(schema: dict[str, Any]) -> str:
    required = schema["required"]
    rows = [
        (code(name) + ("" if name in required else " (optional)"), _type(one), plain(one.get("description", "")))
        for name, one in schema["properties"].items()
    ]
    return table(("field", "type", "what it says"), rows)


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#output-{name})"
    if "const" in schema:
        return code(str(schema["const"]))
    if "enum" in schema:
        return codes(schema["enum"]) if len(schema["enum"]) < 6 else f"one of {len(schema['enum'])} words"
    if schema.get("type") == "array":
        return f"array of {_type(schema['items'])}"
    return plain(" or ".join(schema["type"]) if isinstance(schema["type"], list) else schema["type"])


def _glossary(definition: Definition, medium: Medium) -> Page:
    del medium  # a list reads the same everywhere
    words = tomllib.loads((grammar_folder() / "glossary.toml").read_text(encoding="utf-8"))
    rows = [
        *words.items(),
        *((state.name, f"The state in which {state.title}.") for state in definition.states.values()),
    ]
    rows += [(symbol.name, f"The symbol of {symbol.title}.") for symbol in definition.symbols.values()]

    def entries() -> Iterator[str]:
        for word, meaning in sorted(rows, key=lambda row: row[0].lower()):
            yield f"- {anchor(slug('word', word))}**{plain(word)}**: {plain(meaning)}"

    return Page("glossary", "Glossary", "\n".join(entries()))
