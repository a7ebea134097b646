"""Drawing DOT with Graphviz, which pygraphviz brings (extra `diagrams`)."""

from __future__ import annotations

from pygraphviz import AGraph


def svg_of(dot: str) -> str:
    """The SVG of a DOT graph."""
    drawn: bytes = AGraph(string=dot).draw(format="svg", prog="dot")
    return drawn.decode("utf-8")
