"""A picture as a Mermaid flowchart, for pages that draw such themselves. Needs nothing but this module."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mmsp_fsm.diagrams.colors import LIGHT
from mmsp_fsm.diagrams.picture import Address, Edge, Line, Node, Picture

ARROWS = {"legal": "-->", "refused": "-.->", "unseen": "-.->"}
"""How each role of an edge is written."""

FRAMES = {"state": ("(", ")"), "ended": ("([", "])"), "card": ("[", "]"), "start": ("((", "))"), "note": ("[", "]")}
"""What stands around the label of each role of a node."""


def mermaid(picture: Picture, address: Address) -> str:
    """The picture as Mermaid text. A state of which a single rule speaks is no link; Mermaid links nodes alone."""
    lines = ["---", f"title: {_title(picture)}", "---", "flowchart LR"]
    lines += [f"  {line}" for node in picture.nodes for line in _node(node, address)]
    lines += [f"  {line}" for number, edge in enumerate(picture.edges) for line in _edge(number, edge)]
    lines += ["  subgraph legend", "    direction LR"]
    for number, (role, words) in enumerate(picture.legend):
        ends = f'    l{number}[" "]:::point', f'm{number}["{_text(words)}"]:::words'
        if role in ARROWS:
            lines.append(f"{ends[0]} {ARROWS[role]} {ends[1]}")
        else:
            opening, closing = FRAMES[role]
            lines.append(f'    l{number}{opening}" "{closing}:::{role} ~~~ {ends[1]}')
    lines += ["  end", *_classes()]
    return "\n".join(lines) + "\n"


def _node(node: Node, address: Address) -> Iterator[str]:
    opening, closing = FRAMES[node.role]
    yield f'{_id(node.name)}{opening}"{_lines(node.lines) or " "}"{closing}:::{"unseen" if node.unseen else node.role}'
    codes = {code for line in node.lines for code in line.rules}
    page = address(next(iter(codes))) if len(codes) == 1 else None
    if page:
        yield f'click {_id(node.name)} href "{_text(page)}" "{_text(node.tip)}"'


def _edge(number: int, edge: Edge) -> Iterator[str]:
    label = f'|"{_lines(edge.lines)}"|' if edge.lines else ""
    yield f"{_id(edge.source)} {ARROWS[edge.role]}{label} {_id(edge.to)}"
    if edge.role != "legal":
        colour = LIGHT.refused if edge.role == "refused" else LIGHT.faint
        yield f"linkStyle {number} stroke:{colour}"


def _classes() -> Iterator[str]:
    """Each role's colours. Fill and ink are given together, so that they stand on light and on dark pages."""
    fills = {"state": LIGHT.state, "ended": LIGHT.state, "card": LIGHT.card, "start": LIGHT.ink, "note": LIGHT.paper}
    fills["unseen"] = LIGHT.paper
    for role, fill in fills.items():
        stroke = LIGHT.frame if role in ("state", "ended") else LIGHT.faint
        wide = ",stroke-width:3px" if role == "ended" else ",stroke-dasharray:2 3" if role == "unseen" else ""
        yield f"  classDef {role} fill:{fill},stroke:{stroke},color:{LIGHT.ink}{wide}"
    yield f"  classDef words fill:{LIGHT.paper},stroke:none,color:{LIGHT.ink}"
    yield "  classDef point fill:none,stroke:none"


def _title(picture: Picture) -> str:
    return '"' + picture.title.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _lines(lines: tuple[Line, ...]) -> str:
    return "<br/>".join(_text(line.words) for line in lines)


def _text(text: str) -> str:
    """Text inside quotes: what Mermaid or HTML would take for its own is an entity of Mermaid's."""
    return re.sub(r'[#&<>"`\\{}\[\]]', lambda match: f"#{ord(match.group())};", text)


def _id(name: str) -> str:
    """An identifier that is no word of Mermaid's (`end` is one)."""
    return "s_" + re.sub(r"\W", "_", name)
