"""The views about what things hold: `events`, the layer above the items, and `builders`, how an item grows."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import get_args

from mmsp_fsm.diagrams.folding import ANY, Fold, by_properties, folds
from mmsp_fsm.diagrams.picture import Edge, EdgeRole, Line, Node, NodeRole, Picture, merged
from mmsp_fsm.diagrams.views import LEGEND, START
from mmsp_fsm.grammar.definition import Action, Definition, EventField, Guard, Header
from mmsp_fsm.machine.stream_builder import StreamBuilder

NBSP = "\u00a0"

JOINED = {"text": "text, concatenated", "bytes": "bytes, concatenated", "whole": "one value, whole"}
"""How the contents of fragments combine."""

CLOSED = {"json_object": "the text, parsed: a JSON object"}
"""What a done item holds instead of what its fragments join to."""

MUST = {"one": "exactly one item", "none": "no items", "null": "null", "value": "given"}
"""What an event's field must hold."""

RUNNING = "running"


def events_view(definition: Definition) -> Picture:
    """The layer of events: delta events while the response runs, then the stop event, or an error."""
    first = definition.initial.name
    nodes = [Node(START, "start", (), LEGEND["start"])]
    nodes.append(Node(RUNNING, "state", (Line(RUNNING),), "the response runs: a group may be open or none"))
    edges = [Edge(START, RUNNING, "legal")]
    cells = [cell for cell in definition.row(first) if cell.legal]
    for event_type in definition.event.types:
        stop = definition.symbols.get(event_type)
        card = f"{event_type} event"
        rows = tuple(_event_row(definition, entry, event_type) for entry in definition.event.field)
        nodes.append(Node(card, "card", (Line(card), *rows), f"what a {event_type} event holds"))
        ends = dict.fromkeys(cell.to for cell in cells if stop is not None and cell.symbol == stop.name)
        edges += [Edge(RUNNING, card, "legal"), *(Edge(card, to, "legal") for to in ends or {RUNNING: None})]
        nodes += [_ended(definition, to) for to in ends]
    error = definition.error
    held = tuple(Line("", f"{name}: a string", (definition.check.missing_field,)) for name in error.fields)
    nodes.append(Node("error record", "card", (Line("error record"), *held, Line("", "and whatever else")), "an error"))
    edges.append(Edge(RUNNING, "error record", "legal"))
    for to in dict.fromkeys(cell.to for cell in cells if cell.symbol == error.key):
        nodes.append(_ended(definition, to))
        edges.append(Edge("error record", to, "legal"))
    title = f"The events of {definition.protocol.name} {definition.protocol.version}"
    subtitle = ("delta_event* stop_event, and an error may end the stream at any time",)
    return Picture("events", title, subtitle, tuple(nodes), merged(edges), _legend(nodes))


def builders_view(definition: Definition, expand: bool = False) -> Picture:
    """What each action does to an item: the first fragment opens it, later ones grow it, the done item closes it."""
    first = definition.initial
    nodes = [Node(START, "start", (), LEGEND["start"]), Node(first.name, "state", (Line(first.name),), first.title)]
    edges = [Edge(START, first.name, "legal")]
    for fold in folds(definition, by_properties, expand):
        growing, done = f"growing {fold.names}", f"done {fold.names}"
        nodes.append(Node(growing, "card", tuple(_growing(definition, fold)), "the item while it is built"))
        nodes.append(Node(done, "card", tuple(_done(definition, fold)), "what the done item must hold"))
        kind = fold.kinds[0]
        for cell in definition.cells.values():
            if definition.symbols[cell.symbol].kind != kind.name or not cell.legal:
                continue
            line = Line(cell.symbol.replace(kind.name, fold.name, 1), "+".join(cell.do), (), _sentence(cell.do))
            if cell.state == first.name:
                edges.append(Edge(first.name, growing, "legal", (line,)))
            elif definition.states[cell.state].kind == kind.name:
                to = growing if definition.states[cell.to].kind == kind.name else done
                edges.append(Edge(growing, to, "legal", (line,)))
    longest = max(map(len, get_args(Action)))
    actions = tuple(Line(action.ljust(longest, NBSP), _sentence((action,))) for action in get_args(Action))
    nodes.append(Node("actions", "note", (Line("what each action does"), *actions), "what each action does"))
    title = f"What the actions do to the items of {definition.protocol.name} {definition.protocol.version}"
    letters = (f"{ANY} stands for each kind of the card in turn",)
    return Picture("builders", title, letters, tuple(nodes), merged(edges), _legend(nodes))


def _event_row(definition: Definition, entry: EventField, event_type: str) -> Line:
    held = {
        "constant": f'"{entry.value}"',
        "event_type": f'"{event_type}"',
        "finish_reason": " | ".join(f'"{reason}"' for reason in definition.event.finish_reasons),
        "usage": ", ".join(definition.usage.counts),
        "time": "Unix time in ms",
    }.get(entry.holds, "")
    presence = entry.stop if event_type in definition.symbols else entry.delta
    rules = tuple(rule for rule in (presence.rule if presence else None, entry.mismatch) if rule is not None)
    if presence is not None and presence.must != "value":
        held, rules = MUST[presence.must], (presence.rule,)
    return Line("", f"{entry.name}: {held}", rules)


def _growing(definition: Definition, fold: Fold) -> Iterator[Line]:
    kind = fold.kinds[0]
    yield Line(fold.names)
    yield Line("", f"{_grows(fold)}: {JOINED[kind.joins]}")
    for header in kind.header:
        yield Line("", f"{header.name}: the first fragment's", _of_first(header))
        later = "then empty" if header.later == "empty" else "then the same"
        yield Line(
            "",
            f"{NBSP * (len(header.name) + 2)}{later}",
            tuple(dict.fromkeys((header.later_absent, header.later_other))),
        )
    yield Line("", f"{definition.fidelity.key}: of one fragment", (definition.check.fidelity_repeated,))
    for guard in _guards(definition, fold, kind.delta):
        yield Line("", f"not {guard.when.replace('_', ' ')}", (guard.rule,), guard.says)


def _done(definition: Definition, fold: Fold) -> Iterator[Line]:
    kind, check = fold.kinds[0], definition.check
    rules = (*(guard.rule for guard in _guards(definition, fold, kind.done)), check.content_mismatch)
    content = CLOSED[kind.closes] if kind.closes is not None else JOINED[kind.joins]
    yield Line(" | ".join(one.done for one in fold.kinds))
    yield Line("", f"{_grows(fold)}: {content}", rules)
    for header in kind.header:
        yield Line("", f"{header.name}: the first fragment's", (check.header_mismatch,))
    yield Line("", f"{definition.fidelity.key}: the one that a fragment carried", (check.fidelity_mismatch,))


def _grows(fold: Fold) -> str:
    return " | ".join(dict.fromkeys(kind.grows for kind in fold.kinds))


def _of_first(header: Header) -> tuple[str, ...]:
    return tuple(rule for rule in (header.absent, header.empty) if rule is not None)


def _guards(definition: Definition, fold: Fold, symbol: str) -> tuple[Guard, ...]:
    kind = fold.kinds[0].name
    state = next(state.name for state in definition.states.values() if state.kind == kind)
    return definition.cells[state, symbol].guards


def _sentence(actions: tuple[Action, ...]) -> str:
    """What the builder says of its own actions: the first lines of the methods that the machine calls."""
    docs = (inspect.getdoc(getattr(StreamBuilder, action)) or "" for action in actions)
    return " ".join(doc.partition("\n")[0].partition(" Protocol, ")[0] for doc in docs)


def _ended(definition: Definition, state: str) -> Node:
    return Node(state, "ended", (Line(state),), definition.states[state].title)


def _legend(nodes: list[Node]) -> tuple[tuple[NodeRole | EdgeRole, str], ...]:
    shown = {"legal", *(node.role for node in nodes)}
    return tuple((role, words) for role, words in LEGEND.items() if role in shown)
