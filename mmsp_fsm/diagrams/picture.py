"""What a diagram shows: nodes, edges and a legend, before any drawing language.

`views` makes pictures of the definition; `dot` and `mermaid` each write the same picture in their language, so no two
of them can show different machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from attrs import field, frozen

NodeRole = Literal["state", "ended", "card", "start", "note"]
"""A state; one in which a stream may end; what is no state (an event, an item); where it begins; words beside it all,
to which no edge leads.
"""

EdgeRole = Literal["legal", "refused", "unseen"]
"""A transition; a violation, dashed; a transition that a set of recordings never took."""

Address = Callable[[str], str | None]
"""Where the page of a rule is, by its code; None where there is none."""


@frozen
class Line:
    """One line of a label: what is read, what is done with it, and the rules that refuse it. `tip` is a tooltip."""

    text: str
    note: str = ""
    rules: tuple[str, ...] = ()
    tip: str = field(default="", eq=False)

    @property
    def words(self) -> str:
        """The line as plain text."""
        return " ".join(filter(None, (self.text, self.note, " ".join(self.rules))))


@frozen
class Node:
    """A state, or a card with lines. `tip` is its tooltip; `unseen` marks what a set of recordings never reached."""

    name: str
    role: NodeRole
    lines: tuple[Line, ...]
    tip: str = ""
    unseen: bool = False


@frozen
class Edge:
    """What leads from one node to another. Lines with the same ends and role share an edge."""

    source: str
    to: str
    role: EdgeRole
    lines: tuple[Line, ...] = ()


@frozen
class Picture:
    """One diagram. `legend` says what the roles of nodes and edges that it shows mean."""

    name: str
    title: str
    subtitle: tuple[str, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    legend: tuple[tuple[NodeRole | EdgeRole, str], ...]

    @property
    def description(self) -> str:
        """The picture in one sentence, for those who do not see it."""
        states = ", ".join(node.name for node in self.nodes if node.role in ("state", "ended"))
        edges = sum(len(edge.lines) or 1 for edge in self.edges)
        return f"{self.title}: {edges} labelled arrows" + (f" between the states {states}." if states else ".")


def merged(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """The edges, those with the same ends and role made one, and no line twice; in the order of the first."""
    lines: dict[tuple[str, str, EdgeRole], dict[Line, None]] = {}
    for edge in edges:
        lines.setdefault((edge.source, edge.to, edge.role), {}).update(dict.fromkeys(edge.lines))
    return tuple(Edge(*ends, tuple(held)) for ends, held in lines.items())
