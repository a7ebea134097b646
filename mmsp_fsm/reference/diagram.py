"""Diagrams of the machine, drawn from the definition's cells with Graphviz.

Two views: `stream`, the whole machine with every kind's open state drawn as one, and `group`, the life of a group of
one kind with what its guards refuse. Legal transitions are solid; what a rule refuses is dashed and bears its code.
Drawing needs the extra `diagrams` (pygraphviz, whose wheels bring Graphviz). `transitions` could draw its machine by
itself, but all 170 transitions of it, and one edge between two states; a reader wants the table, folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pygraphviz import AGraph

from mmsp_fsm.definition import Cell, Definition, Kind

Edge = tuple[str, str, str]
"""A state, the label, and the next state."""

FONT = {"fontname": "Helvetica,Arial,sans-serif"}
GRAPH = {**FONT, "rankdir": "LR", "nodesep": "0.45", "ranksep": "0.9", "pad": "0.3", "labelloc": "t", "fontsize": "15"}
NODE = {**FONT, "shape": "box", "style": "rounded,filled", "fillcolor": "#eef3f8", "color": "#33658a", "margin": "0.2"}
EDGE = {**FONT, "color": "#333333", "fontsize": "11", "arrowsize": "0.8"}
REFUSED = {"style": "dashed", "color": "#a8471a", "fontcolor": "#a8471a"}
"""How a violation is drawn: dashed as well as orange, so that colour is never all that tells."""


def stream_diagram(definition: Definition) -> AGraph:
    """The whole machine: how groups follow one another and how a stream ends."""
    names = {state.name: "K_open" if state.role == "open" else state.name for state in definition.states.values()}
    edges = [
        (names[cell.state], _folded(cell.symbol, definition), names[cell.to])
        for cell in definition.cells.values()
        if cell.legal and cell.symbol != "end" and definition.states[cell.state].role != "unsure"
    ]
    lines = (f"a stream of {definition.protocol.name} {definition.protocol.version}", _kinds(definition))
    return _draw(definition, lines, _merged(edges), ())


def group_diagram(definition: Definition, kind: Kind) -> AGraph:
    """The life of one group: what opens, grows and closes it, and what its guards refuse on the way."""
    inside = next(state for state in definition.states.values() if state.kind == kind.name)
    outside = definition.initial
    cells = [definition.cells[outside.name, kind.delta]]
    cells += [definition.cells[inside.name, symbol] for symbol in (kind.delta, kind.done, "error")]
    edges = [(cell.state, f"{cell.symbol}\\n{' + '.join(cell.do)}", cell.to) for cell in cells]
    lines = (f"a group of the kind {kind.name}", f"its fragments grow {kind.grows}")
    return _draw(definition, lines, edges, _refusals(cells))


def _folded(symbol: str, definition: Definition) -> str:
    return "K." + symbol.partition(".")[2] if definition.symbols[symbol].kind else symbol


def _kinds(definition: Definition) -> str:
    names = list(definition.kinds)
    rows = [" | ".join(names[at : at + 4]) for at in range(0, len(names), 4)]
    return "K = " + "\\n| ".join(rows)


def _merged(edges: Iterable[Edge]) -> list[Edge]:
    """The edges without doubles, in their order; folding the kinds makes many alike."""
    return list(dict.fromkeys(edges))


def _refusals(cells: Iterable[Cell]) -> Iterator[Edge]:
    for cell in cells:
        for guard in cell.guards:
            yield cell.state, f"{cell.symbol}, {guard.when.replace('_', ' ')}\\n{guard.rule}", guard.to


def _draw(definition: Definition, title: Iterable[str], legal: Iterable[Edge], refused: Iterable[Edge]) -> AGraph:
    """Draw edges and the states they join. An arrow from nowhere marks the first state, a double frame an end."""
    graph = AGraph(directed=True, strict=False)
    graph.graph_attr.update(GRAPH, label="\\n".join(title))
    graph.node_attr.update(NODE)
    graph.edge_attr.update(EDGE)
    graph.add_node("start", shape="point", width="0.12", style="filled", fillcolor="#333333", label="")
    graph.add_edge("start", definition.initial.name)
    for style, edges in (({}, legal), (REFUSED, refused)):
        for source, label, to in edges:
            for name in (source, to):
                graph.add_node(name, **_node(definition, name))
            graph.add_edge(source, to, label=label, **style)
    return graph


def _node(definition: Definition, name: str) -> dict[str, Any]:
    state = definition.states.get(name)
    title = state.title if state is not None else "a group of the kind K is open"
    ended = state is not None and state.role == "ended"
    return {"label": name, "tooltip": title, "peripheries": "2" if ended else "1"}
