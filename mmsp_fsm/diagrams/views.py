"""The views: what each diagram shows, read from the definition's cells.

`stream` is what is legal, `violations` all that the machine does, `group` the life of one group; `events` and
`builders` (in `cards`) are about what events and items hold. Kinds that behave alike in what a view shows are one state
there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from attrs import frozen

from mmsp_fsm.diagrams.folding import ANY, OTHER, Fold, by_cells, by_legal_cells, folds, open_state
from mmsp_fsm.diagrams.picture import Edge, EdgeRole, Line, Node, NodeRole, Picture, merged
from mmsp_fsm.grammar.definition import Cell, Definition, Guard, Kind

START = "start"
"""The node from which an arrow leads to the first state."""

LEGEND: dict[NodeRole | EdgeRole, str] = {
    "start": "where a stream begins",
    "state": "a state",
    "ended": "a state in which a stream may end",
    "card": "what an event or an item holds",
    "legal": "a transition: the symbol, and what is done",
    "refused": "a violation: the symbol, and its rules",
    "unseen": "never taken",
}

Outcome = tuple[Cell, Cell | Guard]
"""A cell, and one of its outcomes: itself, or a guard of its."""

Count = Callable[[Cell, "Cell | Guard"], int]
"""How often a set of recordings took an outcome."""


def stream_view(definition: Definition, expand: bool = False) -> Picture:
    """The whole machine as far as a stream that conforms goes: its states, and the transitions between them."""
    folded = folds(definition, by_legal_cells(definition), expand)
    reached = legally_reached(definition)
    legal = ((cell, cell) for cell in definition.cells.values() if cell.legal and cell.state in reached)
    outcomes = [one for one in legal if not _stays_at_end(one[0])]
    title = f"A stream of {definition.protocol.name} {definition.protocol.version}"
    return Painter(definition, folded).picture("stream", title, outcomes)


def violations_view(definition: Definition, expand: bool = False, count: Count | None = None) -> Picture:
    """All that the machine does: what is legal, what a rule refuses, and where it goes on then.

    With `count` each line says how often its outcome was taken.
    """
    title = f"What {definition.protocol.name} {definition.protocol.version} allows and refuses"
    every = [one for cell in definition.cells.values() if not _stays_at_end(cell) for one in _outcomes(cell)]
    return Painter(definition, folds(definition, by_cells(definition), expand), count).picture(
        "violations", title, every
    )


def group_view(definition: Definition, kind: Kind) -> Picture:
    """The life of one group: what opens, grows and closes it, and what its guards refuse on the way."""
    inside = open_state(definition, kind)
    cells = [definition.cells[definition.initial.name, kind.delta]]
    cells += [
        cell for cell in definition.row(inside) if cell.legal or definition.symbols[cell.symbol].kind == kind.name
    ]
    outcomes = [one for cell in cells for one in _outcomes(cell)]
    painter = Painter(definition, (Fold((kind,), inside),))
    return painter.picture(f"group-{kind.name}", f"A group of the kind {kind.name}", outcomes)


def legally_reached(definition: Definition) -> set[str]:
    """The states to which a stream that conforms leads."""
    reached, waiting = {definition.initial.name}, [definition.initial.name]
    while waiting:
        for cell in definition.row(waiting.pop()):
            if cell.legal and cell.to not in reached:
                reached.add(cell.to)
                waiting.append(cell.to)
    return reached


def _outcomes(cell: Cell) -> list[Outcome]:
    return [(cell, cell), *((cell, guard) for guard in cell.guards)]


def _stays_at_end(cell: Cell) -> bool:
    """Whether it only says that a stream may end here, which a double frame says."""
    return cell.legal and cell.state == cell.to and not cell.do


@frozen
class Painter:
    """Makes one picture of outcomes, with kinds folded."""

    definition: Definition
    folded: tuple[Fold, ...]
    count: Count | None = None

    def picture(self, name: str, title: str, outcomes: Iterable[Outcome]) -> Picture:
        """The picture of `outcomes`; the states are those that they join."""
        edges = self._edges(list(outcomes))
        names = dict.fromkeys(
            [self.definition.initial.name, *(end for edge in edges for end in (edge.source, edge.to))]
        )
        nodes = [Node(START, "start", (), LEGEND["start"]), *(self._node(state) for state in names)]
        edges = (Edge(START, self.definition.initial.name, "legal"), *edges)
        roles = {*(node.role for node in nodes), *(edge.role for edge in edges)}
        legend = tuple((role, words) for role, words in LEGEND.items() if role in roles)
        return Picture(name, title, tuple(self._letters(edges)), tuple(nodes), edges, legend)

    # ── Edges ────────────────────────────────────────────────────────────────────────────────────────────────

    def _edges(self, outcomes: list[Outcome]) -> tuple[Edge, ...]:
        """The edges, and how often each of their lines was taken, where that is asked."""
        taken: dict[tuple[str, str, Line], int] = {}
        edges = []
        for cell, outcome in outcomes:
            fold = self._speaks_of(cell)
            source, to = self._state(cell.state, fold), self._state(outcome.to, fold)
            line = self._line(cell, outcome, fold)
            taken[source, to, line] = taken.get((source, to, line), 0) + (
                self.count(cell, outcome) if self.count else 0
            )
            edges.append(Edge(source, to, "legal" if outcome is cell and cell.legal else "refused", (line,)))
        joined = merged(edges)
        return joined if self.count is None else merged(self._counted(joined, taken))

    def _counted(self, edges: Iterable[Edge], taken: dict[tuple[str, str, Line], int]) -> Iterator[Edge]:
        for edge in edges:
            for line in edge.lines:
                count = taken[edge.source, edge.to, line]
                shown = Line(line.text, f"{line.note} ×{count:,}".strip() if count else line.note, line.rules, line.tip)
                yield Edge(edge.source, edge.to, edge.role if count else "unseen", (shown,))

    def _line(self, cell: Cell, outcome: Cell | Guard, fold: Fold | None) -> Line:
        symbol = self._symbol(cell, outcome, fold)
        if isinstance(outcome, Guard):
            return Line(symbol, outcome.when.replace("_", " "), (outcome.rule,), outcome.says)
        tip = outcome.says or f"{self.definition.symbols[cell.symbol].title}: {', '.join(outcome.do) or 'nothing'}"
        for kind in fold.kinds[:1] if fold is not None and fold.name == ANY else ():
            tip = tip.replace(f"an {kind.name}", f"a {ANY}").replace(kind.name, ANY)
        return Line(symbol, "+".join(outcome.do) if cell.legal else "", outcome.rules, tip)

    def _speaks_of(self, cell: Cell) -> Fold | None:
        """The fold whose open state the cell is in, or else whose symbol it reads."""
        kind = self.definition.states[cell.state].kind or self.definition.symbols[cell.symbol].kind
        return next((fold for fold in self.folded if kind in fold), None)

    def _symbol(self, cell: Cell, outcome: Cell | Guard, fold: Fold | None) -> str:
        """The symbol, with the letter that stands for its kind where it is one of several alike."""
        read = self.definition.symbols[cell.symbol]
        if read.kind is None or fold is None:
            return cell.symbol
        phase = cell.symbol.removeprefix(read.kind)
        of_state = self.definition.states[cell.state].kind
        if isinstance(outcome, Guard):
            return " | ".join(self._guarded(cell, outcome, fold))
        if of_state is not None:
            return (fold.name if read.kind == of_state else OTHER) + phase
        if self.definition.states[outcome.to].kind is not None:
            return fold.name + phase
        return (ANY if len(self.definition.kinds) > 1 else fold.name) + phase

    def _guarded(self, cell: Cell, guard: Guard, fold: Fold) -> Iterator[str]:
        """The symbols of the kinds alike that this guard narrows: not all of them need have the property."""
        phase = cell.symbol.removeprefix(self.definition.symbols[cell.symbol].kind or "")
        for kind in fold.kinds:
            same = self.definition.cells[open_state(self.definition, kind), kind.name + phase]
            if any((one.when, one.rule) == (guard.when, guard.rule) for one in same.guards):
                yield same.symbol

    # ── States ───────────────────────────────────────────────────────────────────────────────────────────────

    def _state(self, state: str, fold: Fold | None) -> str:
        """The node of a state: that of its fold, or what stands for the open states of other kinds."""
        kind = self.definition.states[state].kind
        if kind is None:
            return state
        if fold is not None and kind in fold:
            return self._key(fold)
        return state.replace(kind, OTHER, 1)

    def _key(self, fold: Fold) -> str:
        """What tells its node from those of other folds."""
        several = sum(one.name == ANY for one in self.folded) > 1 and fold.name == ANY
        return f"{fold.state}: {fold.names}" if several else fold.state

    def _node(self, name: str) -> Node:
        known = self.definition.states.get(name)
        fold = next((one for one in self.folded if self._key(one) == name), None)
        unseen = self.count is not None and not self._reached(name, fold)
        if fold is not None and fold.name == ANY:
            lines = (Line(fold.state), *(Line("", f"{ANY} = {kind.name}" if not n else f"\u00a0\u00a0| {kind.name}")
                                         for n, kind in enumerate(fold.kinds)))  # fmt: skip
            return Node(name, "state", lines, f"a group of the kind {ANY} is open", unseen)
        if known is None:
            return Node(name, "state", (Line(name),), f"a group of another kind, {OTHER}, is open", unseen)
        return Node(name, "ended" if known.role == "ended" else "state", (Line(name),), known.title, unseen)

    def _reached(self, name: str, fold: Fold | None) -> bool:
        """Whether a recording led to it: the first state always is."""
        if name not in self.definition.states and fold is None:
            return True  # stands for states that are there already
        states = {open_state(self.definition, kind) for kind in fold.kinds} if fold is not None else {name}
        if self.definition.initial.name in states or self.count is None:
            return True
        every = (one for cell in self.definition.cells.values() for one in _outcomes(cell))
        return any(self.count(*one) for one in every if one[1].to in states)

    def _letters(self, edges: Iterable[Edge]) -> Iterator[str]:
        """What the letters that stand for kinds mean, where they are used."""
        words = " ".join(line.text for edge in edges for line in edge.lines)
        if f"{ANY}." in words:
            yield f"{ANY} stands for each kind of the state in turn"
        if f"{OTHER}." in words:
            yield f"{OTHER} stands for any kind but that of the open group"
