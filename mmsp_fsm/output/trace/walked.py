"""The machine with the path that a stream walked: how often each edge, where it stopped, what was refused on the way.

Everything is read from the definition's cells and from the moves, in memory that does not grow with the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from attrs import define, field, frozen

from mmsp_fsm.checker.diagnostics import Diagnostic, StreamReport
from mmsp_fsm.checker.step import Step
from mmsp_fsm.diagrams.picture import Edge, EdgeRole, Line, Node, NodeRole, Picture
from mmsp_fsm.grammar.definition import Cell, Definition, State
from mmsp_fsm.machine.stream_builder import Move
from mmsp_fsm.output.escaping import clip
from mmsp_fsm.recordings.framing import Record
from mmsp_fsm.recordings.sources import Unreadable

LONGEST_NAME = 80
"""Characters of a source's name in a picture's title."""


@frozen
class Way:
    """One way from a state to a state: by which symbol, what the builders did, and the rule that it broke, or ""."""

    before: str
    symbol: str
    action: str
    after: str
    rule: str = ""


@define
class Walk:
    """What has been walked of the machine: how often each edge, which states, and where the stream is."""

    definition: Definition
    counts: dict[Way, int] = field(factory=dict)
    state: str = ""
    visited: dict[str, None] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self._enter(self.definition.initial.name)

    def add(self, step: Step) -> None:
        """Walk the moves of one record."""
        for move in step.moves:
            edge = Way(move.before, move.symbol, move.action, move.after, broken_rule(move, step.diagnostics))
            self.counts[edge] = self.counts.get(edge, 0) + 1
            self._enter(move.after)

    def _enter(self, state: str) -> None:
        self.state = state
        self.visited[state] = None

    def way_out(self, report: StreamReport) -> Way:
        """The edge that the stream's end is: legal, or with the rule that it broke."""
        cell = self.definition.cells[self.state, "end"]
        return Way(self.state, cell.symbol, "", "", "" if cell.legal else _reported(cell.rules, report.diagnostics))

    def untrodden(self) -> Iterator[tuple[str, str]]:
        """The pairs of states between which a legal edge was not walked, but those for which no stream plans."""
        trodden = {(edge.before, edge.after) for edge in self.counts}
        for cell in self.definition.cells.values():
            planned = self.definition.states[cell.state].role != "unsure" and cell.symbol != "end"
            if cell.legal and planned and (cell.state, cell.to) not in trodden:
                trodden.add((cell.state, cell.to))
                yield cell.state, cell.to

    def bundles(self) -> Iterator[list[Way]]:
        """The edges walked, those between two states together, lawful and refused ones apart."""
        bundles: dict[tuple[str, str, bool], list[Way]] = {}
        for edge in self.counts:
            bundles.setdefault((edge.before, edge.after, bool(edge.rule)), []).append(edge)
        yield from bundles.values()


def broken_rule(move: Move, diagnostics: Sequence[Diagnostic]) -> str:
    """The code of the rule by which the machine refused a move; "" where the protocol allows it."""
    outcome = move.outcome
    if outcome is None:
        return ""
    if isinstance(outcome, Cell):
        return "" if outcome.legal else _reported(outcome.rules, diagnostics)
    return outcome.rule


def _reported(rules: Sequence[str], diagnostics: Sequence[Diagnostic]) -> str:
    """Which of the `rules` that a row may break was reported; the first where none was (it is not selected)."""
    return next((one.code for one in reversed(diagnostics) if one.code in rules), rules[0])


# ── As a picture ─────────────────────────────────────────────────────────────────────────────────────────────────

END = "the end"
"""The node to which a stream's last state leads."""

LEGEND: dict[NodeRole | EdgeRole, str] = {
    "start": "where the stream begins",
    "state": "a state that it came to",
    "ended": "a state in which a stream may end",
    "legal": "a way it took: the symbol, what was done, how often",
    "refused": "a way that broke a rule",
    "unseen": "a legal way not taken",
}


def picture(walk: Walk, report: StreamReport) -> Picture:
    """The machine with the path walked: the states that were visited, and those in which a stream begins and ends.

    The others would only fill it.
    """
    definition, end = walk.definition, walk.way_out(report)
    shown = [
        state
        for state in definition.states.values()
        if state.name in walk.visited or state.role in ("initial", "ended")
    ]
    names = {state.name for state in shown}
    last = Node(END, "card", (Line(END), Line("", f"of {report.events:,} records")), "nothing more came")
    nodes = [Node("start", "start", (), LEGEND["start"]), *(_node(state, walk) for state in shown), last]
    edges = [Edge("start", definition.initial.name, "legal"), *_edges(walk)]
    edges += [Edge(*ends, "unseen") for ends in walk.untrodden() if set(ends) <= names]
    broken = (Line("", rules=(end.rule,)),) if end.rule else ()
    edges.append(Edge(end.before, END, "refused" if broken else "legal", broken))
    roles = {*(node.role for node in nodes), *(edge.role for edge in edges)}
    return Picture(
        name="trace",
        title=clip(report.source or "the stream", LONGEST_NAME),
        subtitle=(f"{report.verdict}, {report.outcome}",),
        nodes=tuple(nodes),
        edges=tuple(edges),
        legend=tuple((role, words) for role, words in LEGEND.items() if role in roles),
    )


def _node(state: State, walk: Walk) -> Node:
    role: NodeRole = "ended" if state.role == "ended" else "state"
    return Node(state.name, role, (Line(state.name),), state.title, unseen=state.name not in walk.visited)


def _edges(walk: Walk) -> Iterator[Edge]:
    for edges in walk.bundles():
        first = edges[0]
        lines = tuple(
            Line(edge.symbol, f"{edge.action} ×{walk.counts[edge]:,}".strip(), (edge.rule,) if edge.rule else ())
            for edge in edges
        )
        yield Edge(first.before, first.after, "refused" if first.rule else "legal", lines)


def label(edge: Way) -> str:
    """An edge's words: the rule that it broke, its symbol, and what the builders did."""
    doing = f" ({edge.action})" if edge.action else ""
    return (f"{edge.rule} " if edge.rule else "") + edge.symbol + doing


class DrawnTrace:
    """Writes the picture as `draw` makes it of a `Picture`, once the stream is known; nothing where it could not be
    read.
    """

    def __init__(self, out: TextIO, definition: Definition, draw: Callable[[Picture], str]) -> None:
        self._out = out
        self._walk = Walk(definition)
        self._draw = draw
        self._report: StreamReport | None = None

    def begin(self) -> None:
        """Nothing stands before the picture."""

    def step(self, record: Record, step: Step, created_at: int | None, since: int | None) -> None:  # noqa: ARG002
        """Walk one record."""
        self._walk.add(step)

    def add(self, one: StreamReport | Unreadable) -> None:
        """Keep the report."""
        if isinstance(one, StreamReport):
            self._report = one

    def end(self) -> None:
        """Write the picture."""
        if self._report is not None:
            self._out.write(self._draw(picture(self._walk, self._report)))
