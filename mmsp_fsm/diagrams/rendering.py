"""Drawing: DOT text through Graphviz to SVG, PNG or PDF. It needs the extra `diagrams` (pygraphviz).

The SVG stands alone: it brings its colours for light and for dark paper, a title and a description, `<title>` tooltips,
and links to the rules' pages. Its text is in faces of one width, so none is cut off whatever face is at hand.
"""

from __future__ import annotations

import re
from typing import Literal, cast
from xml.etree import ElementTree

from mmsp_fsm.diagrams.colors import DARK, FACES, LIGHT, darkening
from mmsp_fsm.diagrams.dot import dot
from mmsp_fsm.diagrams.picture import Address, Picture

Theme = Literal["auto", "light", "dark"]
"""`auto`: as whoever looks at it prefers, where the format can tell; else light."""

EXTRA = "drawing needs Graphviz: pip install 'mmsp-fsm[diagrams]' (text formats are written without it)"

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
ElementTree.register_namespace("", SVG)


class MissingExtraError(ImportError):
    """A library that an extra brings is not installed; the text names the extra."""


def no_address(_: str) -> None:
    """Rules have no pages."""


def draw(
    picture: Picture, format: Literal["svg", "png", "pdf"], address: Address = no_address, theme: Theme = "auto"
) -> bytes:
    """The picture in one of Graphviz's formats. Raises `MissingExtraError` where pygraphviz is not installed."""
    drawn = _graphviz(dot(picture, DARK if theme == "dark" else LIGHT, address), format)
    return standing_alone(drawn, picture, theme).encode() if format == "svg" else drawn


def _graphviz(text: str, format: str) -> bytes:
    try:
        from pygraphviz import AGraph
    except ImportError:
        raise MissingExtraError(EXTRA) from None
    graph = AGraph(text)
    if format == "png":
        graph.graph_attr["dpi"] = "144"
    return cast(bytes, graph.draw(format=format, prog="dot"))


def standing_alone(drawn: bytes, picture: Picture, theme: Theme = "auto") -> str:
    """Graphviz's SVG as one that stands alone, and of which no part needs another's identifiers."""
    root = ElementTree.fromstring(drawn)
    for element in root.iter():
        _mend(element)
    # What holds links is no image to a screen reader, which would not come to them.
    root.set("role", "group" if root.find(f".//{{{SVG}}}a") is not None else "img")
    root.set("class", "mmsp-picture")
    root.set("aria-label", picture.description)
    for number, (tag, text) in enumerate((("title", picture.title), ("desc", picture.description))):
        one = ElementTree.Element(f"{{{SVG}}}{tag}")
        one.text = text
        root.insert(number, one)
    style = ElementTree.Element(f"{{{SVG}}}style")
    style.text = f"text{{font-family:{FACES};white-space:pre}}a:hover text,a:focus text{{text-decoration:underline}}"
    if theme == "auto":
        style.text += f"@media (prefers-color-scheme:dark){{{darkening('.mmsp-picture ')}}}"
    root.insert(2, style)
    text = ElementTree.tostring(root, encoding="unicode")
    return re.sub(r"\n\s*\n+", "\n", text) + "\n"


def _mend(element: ElementTree.Element) -> None:
    """Tooltips as `<title>`, links as `href`, and names where Graphviz has identifiers."""
    element.attrib.pop("id", None)
    element.attrib.pop("font-family", None)
    element.attrib.pop("{http://www.w3.org/XML/1998/namespace}space", None)
    title = element.find(f"{{{SVG}}}title")
    if title is not None and title.text:
        name = "data-edge" if "edge" in element.get("class", "") else "data-name"
        element.set(name, title.text)
        element.remove(title)
    if element.tag != f"{{{SVG}}}a":
        return
    tip, link = element.attrib.pop(f"{{{XLINK}}}title", ""), element.attrib.pop(f"{{{XLINK}}}href", "")
    if link:
        element.set("href", link)
    else:
        element.tag = f"{{{SVG}}}g"
        element.attrib.pop("target", None)
    if tip:
        one = ElementTree.Element(f"{{{SVG}}}title")
        one.text = tip
        element.insert(0, one)
