"""Syntax diagrams (railroad) of `grammar/mmsp.ebnf`, one for each production, by the library `railroad-diagrams`.

Needs the extra `diagrams`. The SVG stands alone, with colours for light and for dark paper.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from mmsp_fsm.diagrams.colors import DARK, FACES, LIGHT, Palette
from mmsp_fsm.diagrams.rendering import SVG, XLINK, MissingExtraError
from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.grammar.ebnf import KIND, Choice, Ebnf, Node, Repeat, Sequence, Symbol, Use, parse_ebnf
from mmsp_fsm.grammar.loading import grammar_folder

if TYPE_CHECKING:
    from railroad import DiagramItem

Links = Callable[[str], str | None]
"""Where a production's diagram is, by its name; None where it is not to be linked."""

RAILROAD = "syntax diagrams need railroad-diagrams: pip install 'mmsp-fsm[diagrams]'"


def grammar_text() -> str:
    """The EBNF as it is packaged."""
    return (grammar_folder() / "mmsp.ebnf").read_text(encoding="utf-8")


def productions(definition: Definition, text: str) -> dict[str, Node]:
    """Each production of the EBNF, and last what K stands for."""
    written: Ebnf = parse_ebnf(text, definition.symbols)
    kinds = Choice(tuple(Symbol(kind) for kind in written.kinds))
    return {**written.productions, KIND: kinds}


def syntax_diagram(definition: Definition, name: str, node: Node, links: Links, standalone: bool = True) -> str:
    """The SVG of one production. Raises `MissingExtraError` where railroad-diagrams is not installed.

    Unless `standalone` it has no style of its own, for a page that holds `syntax_css`.
    """
    try:
        import railroad
    except ImportError:
        raise MissingExtraError(RAILROAD) from None

    out = io.StringIO()
    railroad.Diagram(_item(definition, node, links), type="complex").writeSvg(out.write)
    written = out.getvalue().replace("<svg ", f'<svg xmlns="{SVG}" xmlns:xlink="{XLINK}" ', 1)
    root = ElementTree.fromstring(written)
    for link in root.iter(f"{{{SVG}}}a"):
        link.set("href", link.attrib.pop(f"{{{XLINK}}}href"))
        for again in list(link)[1:]:  # the library writes a linked text twice
            link.remove(again)
    words = f"The syntax of {name}"
    root.attrib |= {
        "role": "group" if any(root.iter(f"{{{SVG}}}a")) else "img",
        "class": "mmsp-syntax",
        "aria-label": words,
    }
    for tag, text in (("style", syntax_css() if standalone else ""), ("title", words)):
        if text:
            one = ElementTree.Element(f"{{{SVG}}}{tag}")
            one.text = text
            root.insert(0, one)
    text = ElementTree.tostring(root, encoding="unicode")
    return "".join(line for line in text.splitlines() if line.strip()) + "\n"


def syntax_css(light: str = ".mmsp-syntax", dark: str | None = None) -> str:
    """The style of a diagram; `dark` is the selector under which it is dark, by default whoever looks prefers so."""
    rules = (
        f"{light} text{{font:14px {FACES};text-anchor:middle;white-space:pre}}"
        f"{light} path{{stroke-width:2;fill:none}}{light} rect{{stroke-width:2}}"
        f"{light} a text{{text-decoration:underline}}{_colours(light, LIGHT)}"
    )
    if dark is not None:
        return rules + _colours(dark, DARK)
    return f"{rules}@media (prefers-color-scheme:dark){{{_colours(light, DARK)}}}"


def dark_colours(scope: str) -> str:
    """The dark colours alone, for where `scope` says that it is dark."""
    return _colours(scope, DARK)


def _colours(scope: str, palette: Palette) -> str:
    return (
        f"{scope}{{background:{palette.paper}}}{scope} text{{fill:{palette.ink}}}"
        f"{scope} path{{stroke:{palette.ink}}}"
        f"{scope} rect{{stroke:{palette.frame};fill:{palette.state}}}"
        f"{scope} .non-terminal rect{{stroke:{palette.ink};fill:{palette.card}}}"
    )


def _item(definition: Definition, node: Node, links: Links) -> DiagramItem:
    import railroad

    if isinstance(node, Symbol):
        known = definition.symbols.get(node.name)
        return railroad.Terminal(node.name, title=known.title if known is not None else None)
    if isinstance(node, Use):
        return railroad.NonTerminal(node.name, href=links(node.name))
    if isinstance(node, Sequence):
        return railroad.Sequence(*(_item(definition, part, links) for part in node.parts))
    if isinstance(node, Choice):
        return railroad.Choice(0, *(_item(definition, option, links) for option in node.options))
    assert isinstance(node, Repeat)
    body = _item(definition, node.body, links)
    if node.most == 1:
        return railroad.Optional(body)
    return railroad.OneOrMore(body) if node.least else railroad.ZeroOrMore(body)
