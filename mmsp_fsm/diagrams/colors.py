"""The colours of the diagrams, on light and on dark paper.

Blue and vermilion keep apart for every kind of colour blindness (Okabe and Ito), and what is refused is dashed as well.
Text has a contrast of at least 4.5 on what it stands on (WCAG 2, AA).
"""

from __future__ import annotations

from attrs import asdict, frozen

FONT = "Courier"
"""The face by whose widths Graphviz lays out; shown is the first of FACES that there is, equally wide."""

FACES = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", "Courier New", monospace'


@frozen
class Palette:
    """A colour for each purpose, as CSS writes them."""

    paper: str
    ink: str
    faint: str
    state: str
    frame: str
    card: str
    refused: str
    advice: str


LIGHT = Palette("#fdfdfe", "#1f2933", "#6b7280", "#e3eef9", "#1c5d99", "#f4f4f0", "#a83c00", "#7a5200")
DARK = Palette("#12171d", "#e4e9ef", "#9aa4b2", "#17324d", "#74b2ec", "#20262e", "#ffa06b", "#e8bd5a")


def darkening(scope: str = "") -> str:
    """CSS rules that turn the light palette into the dark one, by the very colours that the picture is drawn in."""
    rules = []
    for purpose, light in asdict(LIGHT).items():
        dark = asdict(DARK)[purpose]
        rules += [f'{scope}[{what}="{light}"]{{{what}:{dark}}}' for what in ("fill", "stroke")]
    return "".join(rules)
