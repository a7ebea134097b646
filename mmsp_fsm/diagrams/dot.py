"""A picture in Graphviz's DOT language, which needs nothing but this module to be written.

All text is set in a face of fixed width. Its letters are equally wide in every such face, so what Graphviz measures
here fits wherever the picture is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mmsp_fsm.diagrams.colors import FONT, Palette
from mmsp_fsm.diagrams.picture import Address, Edge, EdgeRole, Line, Node, NodeRole, Picture

NBSP = "\u00a0"

SHAPES = {
    "state": {"shape": "box", "style": "rounded,filled"},
    "ended": {"shape": "box", "style": "rounded,filled", "peripheries": "2"},
    "card": {"shape": "box", "style": "filled"},
    "start": {"shape": "point", "style": "filled", "width": "0.13"},
}
"""How each role of a node is drawn; an end has a double frame, so colour is never all that tells."""

STROKES = {"legal": "solid", "refused": "dashed", "unseen": "dotted"}
"""How each role of an edge is drawn."""


def dot(picture: Picture, palette: Palette, address: Address) -> str:
    """The picture as DOT text, its rules linked to their pages where `address` knows them."""
    graph = {
        "rankdir": "LR", "nodesep": "0.3", "ranksep": "0.7", "pad": "0.3", "bgcolor": palette.paper, "fontname": FONT,
        "fontsize": "15", "labelloc": "t", "labeljust": "l", "label": _heading(picture, palette),
    }  # fmt: skip
    node = {"fontname": FONT, "fontsize": "13", "fontcolor": palette.ink, "margin": "0.18,0.08", "penwidth": "1.3"}
    edge = {"fontname": FONT, "fontsize": "11", "arrowsize": "0.8", "penwidth": "1.2"}
    lines = [f"digraph {_quoted(picture.name)} {{"]
    lines += [f"  {name} {_attributes(values)};" for name, values in (("graph", graph), ("node", node), ("edge", edge))]
    drawn = (one for one in picture.nodes if one.role != "note")  # which stands in the heading
    lines += [f"  {line}" for one in drawn for line in _node(one, palette, address)]
    lines += [f"  {line}" for one in picture.edges for line in _edge(one, palette, address)]
    return "\n".join([*lines, "}", ""])


def _node(node: Node, palette: Palette, address: Address) -> Iterator[str]:
    fill = {"state": palette.state, "ended": palette.state, "card": palette.card, "start": palette.ink}[node.role]
    stroke = palette.faint if node.unseen else palette.ink if node.role in ("card", "start") else palette.frame
    shape = {**SHAPES[node.role], "fillcolor": palette.paper if node.unseen else fill, "color": stroke}
    if node.unseen:
        shape["style"] += ",dotted"
    label = _table(node.lines, palette.ink, palette, address, head=True) if node.lines else '""'
    yield f"{_quoted(node.name)} {_attributes({**shape, 'tooltip': node.tip, 'label': label})};"


def _edge(edge: Edge, palette: Palette, address: Address) -> Iterator[str]:
    ink = _ink(edge.role, palette)
    tip = "; ".join(line.tip or line.words for line in edge.lines)
    values = {"style": STROKES[edge.role], "color": ink, "fontcolor": ink, "tooltip": tip}
    if edge.lines:
        values["label"] = _table(edge.lines, ink, palette, address)
    if edge.source != edge.to or edge.role == "legal" or not edge.lines:
        yield f"{_quoted(edge.source)} -> {_quoted(edge.to)} {_attributes(values)};"
        return
    # What stays in its state leads by a note: as loops, many long labels would lie on one another.
    note = f"{edge.source} {edge.role}"
    label = {
        "shape": "box",
        "style": "rounded,dashed",
        "color": ink,
        "margin": "0.08,0.04",
        "fontsize": "11",
        "label": values.pop("label"),
    }
    yield f"{_quoted(note)} {_attributes({**label, 'tooltip': tip})};"
    yield f"{_quoted(edge.source)} -> {_quoted(note)} {_attributes({**values, 'dir': 'both'})};"


def _ink(role: EdgeRole, palette: Palette) -> str:
    return {"legal": palette.ink, "refused": palette.refused, "unseen": palette.faint}[role]


def _heading(picture: Picture, palette: Palette) -> str:
    """The title, what the letters mean, the legend (a sample of each role and what it means), and the notes."""
    lines = [f'<FONT POINT-SIZE="16"><B>{_text(picture.title)}</B></FONT>', *map(_text, picture.subtitle)]
    rows = [f'<TR><TD ALIGN="LEFT" COLSPAN="2">{line}</TD></TR>' for line in lines]
    # The column of words takes the room that a long title needs; the samples would grow with theirs.
    widest = max(len(picture.title) * 16 // 11, *map(len, picture.subtitle), 0)
    for role, words in picture.legend:
        meaning = f'<TD ALIGN="LEFT">{_text(words.ljust(widest, NBSP))}</TD>'
        rows.append(f'<TR><TD ALIGN="LEFT">{_sample(role, palette)}</TD>{meaning}</TR>')
    for note in (line for node in picture.nodes if node.role == "note" for line in node.lines):
        span = "" if note.note else ' COLSPAN="2"'
        rows.append(f'<TR><TD ALIGN="LEFT"{span}><B>{_text(note.text)}</B></TD>')
        rows[-1] += f'<TD ALIGN="LEFT">{_text(note.note)}</TD></TR>' if note.note else "</TR>"
    return (
        f'<<FONT COLOR="{palette.ink}" POINT-SIZE="11"><TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" '
        f'CELLPADDING="3">{"".join(rows)}</TABLE></FONT>>'
    )


def _sample(role: NodeRole | EdgeRole, palette: Palette) -> str:
    if role == "legal" or role == "refused" or role == "unseen":
        line = {"legal": "---->", "refused": "- - >", "unseen": ". . >"}[role]
        return f'<FONT COLOR="{_ink(role, palette)}"><B>{_text(line)}</B></FONT>'
    if role == "start":
        return "<B>o---&gt;</B>"
    fill, stroke = (palette.card, palette.ink) if role == "card" else (palette.state, palette.frame)
    style, empty = "SOLID" if role == "card" else "ROUNDED", '<TD WIDTH="30" HEIGHT="11" FIXEDSIZE="TRUE"></TD>'
    box = (
        f'<TABLE BORDER="1" CELLBORDER="0" CELLPADDING="0" CELLSPACING="0" COLOR="{stroke}" BGCOLOR="{fill}" '
        f'STYLE="{style}"><TR>{empty}</TR></TABLE>'
    )
    if role != "ended":
        return box
    return (
        f'<TABLE BORDER="1" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" COLOR="{stroke}" STYLE="ROUNDED">'
        f"<TR><TD>{box}</TD></TR></TABLE>"
    )


def _table(
    lines: Sequence[Line], ink: str, palette: Palette | None = None, address: Address | None = None, head: bool = False
) -> str:
    """An HTML-like label with a row for each line: its words, then each rule with its link. With `head` the first is
    larger than the rest.
    """
    columns = 1 + max((len(line.rules) for line in lines), default=0)
    rows = []
    for number, line in enumerate(lines):
        size = ' POINT-SIZE="11"' if head and number else ""
        words = " ".join(filter(None, (f"<B>{_text(line.text)}</B>" if line.text else "", _text(line.note))))
        span = f' COLSPAN="{columns}"' if columns > 1 and not line.rules else ""
        cells = f'<TD ALIGN="LEFT"{span}{_tip(line.tip)}><FONT COLOR="{ink}"{size}>{words or " "}</FONT></TD>'
        if palette is not None:
            cells += "".join(_rule(code, size, palette, address) for code in line.rules)
        if line.rules and len(line.rules) + 1 < columns:
            cells += f'<TD COLSPAN="{columns - 1 - len(line.rules)}"></TD>'
        rows.append(f"<TR>{cells}</TR>")
    return f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2">{"".join(rows)}</TABLE>>'


def _rule(code: str, size: str, palette: Palette, address: Address | None) -> str:
    page = address(code) if address is not None else None
    link = f' HREF="{_text(page)}" TARGET="_top"' if page else ""
    words = f"<U>{code}</U>" if page else code
    colour = palette.advice if code.startswith("W") else palette.refused
    return f'<TD ALIGN="LEFT"{link}{_tip(code)}><FONT COLOR="{colour}"{size}>{words}</FONT></TD>'


def _tip(words: str) -> str:
    return f' TITLE="{_text(words)}"' if words else ""


def _attributes(values: Mapping[str, str]) -> str:
    shown = (f"{name}={value if name == 'label' else _quoted(value)}" for name, value in values.items() if value)
    return f"[{', '.join(shown)}]"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(text: str) -> str:
    """Text inside an HTML-like label."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
