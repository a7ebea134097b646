"""The machine with the path that a stream walked: how often each edge, where it stopped, what was refused on the way.

Everything is read from the definition's cells and from the moves, in memory that does not grow with the stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from attrs import define, field, frozen

from mmsp_fsm.checker import Step
from mmsp_fsm.definition import Cell, Definition, State
from mmsp_fsm.diagnostics import Diagnostic, StreamReport
from mmsp_fsm.output.visible import clip
from mmsp_fsm.recordings import Record
from mmsp_fsm.runs import Unreadable
from mmsp_fsm.streambuilder import Move

LONGEST_NAME = 80
"""Characters of a source's name in a picture's title."""


@frozen
class Edge:
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
    counts: dict[Edge, int] = field(factory=dict)
    state: str = ""
    visited: dict[str, None] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self._enter(self.definition.initial.name)

    def add(self, step: Step) -> None:
        """Walk the moves of one record."""
        for move in step.moves:
            edge = Edge(move.before, move.symbol, move.action, move.after, broken_rule(move, step.diagnostics))
            self.counts[edge] = self.counts.get(edge, 0) + 1
            self._enter(move.after)

    def _enter(self, state: str) -> None:
        self.state = state
        self.visited[state] = None

    def way_out(self, report: StreamReport) -> Edge:
        """The edge that the stream's end is: legal, or with the rule that it broke."""
        cell = self.definition.cells[self.state, "end"]
        return Edge(self.state, cell.symbol, "", "", "" if cell.legal else _reported(cell.rules, report.diagnostics))

    def untrodden(self) -> Iterator[tuple[str, str]]:
        """The pairs of states between which a legal edge was not walked, but those for which no stream plans."""
        trodden = {(edge.before, edge.after) for edge in self.counts}
        for cell in self.definition.cells.values():
            planned = self.definition.states[cell.state].role != "unsure" and cell.symbol != "end"
            if cell.legal and planned and (cell.state, cell.to) not in trodden:
                trodden.add((cell.state, cell.to))
                yield cell.state, cell.to

    def bundles(self) -> Iterator[list[Edge]]:
        """The edges walked, those between two states together, lawful and refused ones apart."""
        bundles: dict[tuple[str, str, bool], list[Edge]] = {}
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


# ── DOT ──────────────────────────────────────────────────────────────────────────────────────────────────────────

FONT = 'fontname="Helvetica,Arial,sans-serif"'
WALKED, UNTRODDEN, REFUSED = "#1f4e79", "#9aa4ad", "#a8471a"
"""Colours that stand on white; refused edges are dashed, too, and bear their rule, for colour alone tells nothing."""


def dot_text(walk: Walk, report: StreamReport) -> Iterator[str]:
    """The lines of a DOT digraph of the machine with the path walked."""
    end = walk.way_out(report)
    title = f"{clip(report.source or 'the stream', LONGEST_NAME)}: {report.verdict}, {report.outcome}"
    yield "digraph trace {"
    yield f"  graph [{FONT}, rankdir=LR, nodesep=0.4, ranksep=0.9, pad=0.3, labelloc=t, label={_quoted(title)}];"
    yield f'  node [{FONT}, shape=box, style="rounded,filled", margin="0.18,0.08"];'
    yield f"  edge [{FONT}, fontsize=11, arrowsize=0.8];"
    yield '  start [shape=point, width=0.12, label=""];'
    yield f"  start -> {_quoted(walk.definition.initial.name)} [color={_quoted(WALKED)}];"
    yield from _nodes(walk)
    for edges in walk.bundles():
        yield _edge(edges, walk)
    shown = {state.name for state in _shown(walk)}
    for before, after in walk.untrodden():
        if {before, after} <= shown:
            yield f"  {_quoted(before)} -> {_quoted(after)} [color={_quoted(UNTRODDEN)}, style=dotted, arrowsize=0.6];"
    yield f"  end [shape=plaintext, style=solid, label={_quoted(f'the end of {report.events} records')}];"
    refused = f", label={_quoted(end.rule)}" if end.rule else ""
    yield f"  {_quoted(end.before)} -> end [{_style(bool(end.rule))}{refused}];"
    yield "}"


def _shown(walk: Walk) -> list[State]:
    """The states that were visited, and those in which a stream begins and ends: the others would only fill it."""
    states = walk.definition.states.values()
    return [state for state in states if state.name in walk.visited or state.role in ("initial", "ended")]


def _nodes(walk: Walk) -> Iterator[str]:
    for state in _shown(walk):
        visited = state.name in walk.visited
        fill, line = ("#e3edf6", WALKED) if visited else ("#ffffff", UNTRODDEN)
        look = f"fillcolor={_quoted(fill)}, color={_quoted(line)}, fontcolor={_quoted(line)}"
        frames = 2 if state.role == "ended" else 1
        width = ", penwidth=2.5" if state.name == walk.state else ""
        yield f"  {_quoted(state.name)} [{look}, peripheries={frames}{width}, tooltip={_quoted(state.title)}];"


def _edge(edges: list[Edge], walk: Walk) -> str:
    lines = [f"{label(edge)} × {walk.counts[edge]}" for edge in edges]
    first = edges[0]
    look = f"label={_quoted(*lines)}, {_style(bool(first.rule))}"
    return f"  {_quoted(first.before)} -> {_quoted(first.after)} [{look}];"


def label(edge: Edge) -> str:
    """An edge's words: the rule that it broke, its symbol, and what the builders did."""
    doing = f" ({edge.action})" if edge.action else ""
    return (f"{edge.rule} " if edge.rule else "") + edge.symbol + doing


def _style(refused: bool) -> str:
    color = _quoted(REFUSED if refused else WALKED)
    return f"color={color}, fontcolor={color}" + (", style=dashed" if refused else ", penwidth=1.6")


def _quoted(*lines: str) -> str:
    """A DOT string of these lines. A backslash is an escape there, and has to be escaped to be one."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'


class DotTrace:
    """Writes the picture as DOT, once the stream is known; nothing where it could not be read."""

    def __init__(self, out: TextIO, definition: Definition) -> None:
        self._out = out
        self._walk = Walk(definition)
        self._report: StreamReport | None = None

    def begin(self) -> None:
        """Nothing stands before the picture."""

    def step(self, record: Record, step: Step, created_at: int | None, since: int | None) -> None:  # noqa: ARG002
        """Walk one record."""
        self._walk.add(step)

    def add(self, one: StreamReport | Unreadable) -> None:
        """Keep the report."""
        self._report = one if isinstance(one, StreamReport) else None

    def end(self) -> None:
        """Write the picture."""
        if self._report is not None:
            self._out.write(self.picture(self._report))

    def picture(self, report: StreamReport) -> str:
        """The picture of what was walked."""
        return "\n".join(dot_text(self._walk, report)) + "\n"


class SvgTrace(DotTrace):
    """Writes the picture as SVG, which Graphviz draws (extra `diagrams`). Raises ImportError where that is missing."""

    def __init__(self, out: TextIO, definition: Definition) -> None:
        from mmsp_fsm.reference.drawing import svg_of

        super().__init__(out, definition)
        self._draw = svg_of

    def picture(self, report: StreamReport) -> str:
        """The picture of what was walked."""
        return self._draw(super().picture(report))
