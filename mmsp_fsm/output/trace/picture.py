"""The machine as an SVG of our own for the page, which has to be drawn where there is no Graphviz, in its colours.

The layout knows the roles of the states alone: where a stream begins on the left, the open groups in a column, the ends
on the right. The page's script lights what bears `data-state` and `data-edge`.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from attrs import frozen

from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.output.trace.walked import Walk, label

PITCH, HIGH, TOP, WIDTH = 36, 25, 36, 510
"""Distance of two states, height of one, room above and below the column, and the picture's width."""

LEFT, MIDDLE, RIGHT = (6, 106), (184, 142), (434, 70)
"""Where each column begins, and how wide its states are."""


@frozen
class Box:
    """Where a state stands: its left edge, its middle height, its width."""

    x: float
    y: float
    width: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.width


@frozen
class Curve:
    """A cubic Bézier curve by its four points."""

    points: tuple[tuple[float, float], ...]

    @property
    def path(self) -> str:
        """The path data of SVG."""
        first, *rest = (f"{x:g} {y:g}" for x, y in self.points)
        return f"M{first} C{', '.join(rest)}"

    def at(self, t: float) -> tuple[float, float]:
        """The point at `t`, 0 to 1."""
        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        x, y = (sum(w * point[axis] for w, point in zip(weights, self.points, strict=True)) for axis in (0, 1))
        return x, y


def machine_svg(walk: Walk) -> str:
    """The machine with what `walk` walked of it."""
    boxes = _boxes(walk.definition, walk.visited)
    high = max(box.y for box in boxes.values()) + TOP
    lines = [
        f'<svg id="machine" viewBox="0 0 {WIDTH} {high:g}" role="img" aria-label="The states of the machine, and how '
        'often each edge was walked">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0 .5 7.5 4 0 7.5z" fill="context-stroke"/></marker></defs>',
        *_edges(walk, boxes, high),
        *_nodes(walk, boxes),
        "</svg>",
    ]
    return "\n".join(lines)


def _boxes(definition: Definition, visited: dict[str, None]) -> dict[str, Box]:
    columns = {role: [one for one in definition.states.values() if one.role == role] for role in ("open", "ended")}
    count = max(len(columns["open"]), 1)
    bottom = TOP + (count - 1) * PITCH
    middle = (TOP + bottom) / 2
    boxes = {definition.initial.name: Box(LEFT[0], middle, LEFT[1])}
    for number, state in enumerate(columns["open"]):
        boxes[state.name] = Box(MIDDLE[0], TOP + number * PITCH, MIDDLE[1])
    for number, state in enumerate(columns["ended"]):
        spread = (number + 1) / (len(columns["ended"]) + 1)
        boxes[state.name] = Box(RIGHT[0], TOP + spread * (bottom - TOP), RIGHT[1])
    for state in definition.states.values():
        if state.name not in boxes and state.name in visited:
            boxes[state.name] = Box(LEFT[0], bottom, LEFT[1])
    return boxes


def _nodes(walk: Walk, boxes: dict[str, Box]) -> Iterator[str]:
    for name, box in boxes.items():
        state = walk.definition.states[name]
        kind = list(walk.definition.kinds).index(state.kind) % 8 if state.kind is not None else None
        classes = ["state", *(["seen"] if name in walk.visited else []), *([f"k{kind}"] if kind is not None else [])]
        frame = f'x="{box.x:g}" y="{box.y - HIGH / 2:g}" width="{box.width:g}" height="{HIGH}" rx="6"'
        inner = (
            f'<rect class="inner" x="{box.x + 3:g}" y="{box.y - HIGH / 2 + 3:g}" width="{box.width - 6:g}" '
            f'height="{HIGH - 6}" rx="4"/>'
            if state.role == "ended"
            else ""
        )
        yield (
            f'<g class="{" ".join(classes)}" data-state="{escape(name)}"><title>{escape(state.title)}</title>'
            f'<rect {frame}/>{inner}<text x="{box.x + box.width / 2:g}" y="{box.y + 4:g}">{escape(name)}</text></g>'
        )


def _edges(walk: Walk, boxes: dict[str, Box], high: float) -> Iterator[str]:
    for before, after in walk.untrodden():
        yield f'<path class="edge" d="{_curve(boxes, before, after, False, high).path}"/>'
    for edges in walk.bundles():
        refused, (before, after) = bool(edges[0].rule), (edges[0].before, edges[0].after)
        curve = _curve(boxes, before, after, refused, high)
        number = sum(walk.counts[edge] for edge in edges)
        codes = " ".join(dict.fromkeys(edge.rule for edge in edges if edge.rule))
        x, y = _label_place(boxes, before, after, curve)
        words = "; ".join(f"{label(edge)}: {walk.counts[edge]}" for edge in edges)
        yield (
            f'<g class="walked{" refused" if refused else ""}" data-edge="{escape(before)} {escape(after)}">'
            f'<title>{escape(words)}</title><path class="edge" d="{curve.path}"/>'
            f'<text x="{x:g}" y="{y + 3.5:g}">{escape(codes + " " if codes else "")}{number:,}</text></g>'
        )


def _label_place(boxes: dict[str, Box], before: str, after: str, curve: Curve) -> tuple[float, float]:
    """Where an edge's number stands: near the open group, above what opens it and below what closes it; else midway."""
    a, b = boxes[before], boxes[after]
    if a.x == LEFT[0] and b.x == MIDDLE[0]:
        return b.x - 16, b.y - 13
    if a.x == MIDDLE[0] and b.x == LEFT[0]:
        return a.x - 16, a.y + 11
    return curve.at(0.5)


def _curve(boxes: dict[str, Box], before: str, after: str, refused: bool, high: float) -> Curve:
    """The way from a state to a state. A refused one takes another, so that both can be seen."""
    a, b = boxes[before], boxes[after]
    aside = 8 if refused else 0
    if a is b and a.x != MIDDLE[0]:
        x, y = a.x + 24 + 4 * aside, a.y + HIGH / 2
        return Curve(((x - 10, y), (x - 20, y + 24), (x + 20, y + 24), (x + 10, y)))
    if a is b:
        reach = 44.0 + 5 * aside
        return Curve(((a.right, a.y - 7), (a.right + reach, a.y - 16), (a.right + reach, a.y + 16), (a.right, a.y + 7)))
    if a.x == b.x == LEFT[0]:  # between the state in which a stream begins and the one after an unreadable record
        x, down = a.x + 80, HIGH / 2 if b.y > a.y else -HIGH / 2
        return Curve(((x, a.y + down), (x + 9, a.y + 2 * down), (x + 9, b.y - 2 * down), (x, b.y - down)))
    if a.x == b.x:  # from one open group to another, without its done item
        reach = 40 + abs(a.y - b.y) / 5
        return Curve(((a.x, a.y - 3), (a.x - reach, a.y - 3), (b.x - reach, b.y + 3), (b.x, b.y + 3)))
    if a.x == LEFT[0] and b.x == RIGHT[0]:  # around the column: above it or below it
        above = b.y <= a.y <= high / 2
        edge, apex = (-HIGH / 2, 9.0) if above else (HIGH / 2, high - 9)
        # A cubic curve reaches a quarter of the way to its ends less than its inner points do.
        way = (apex - (a.y + b.y + 2 * edge) / 8) / 0.75
        x = b.x + b.width / 2
        return Curve(((a.x + 40, a.y + edge), (a.x + 40 + aside, way), (x, way), (x, b.y + edge)))
    if a.x < b.x:
        return Curve(
            ((a.right, a.y + (b.y - a.y) / 12 - 3), (a.right + 40, a.y), (b.x - 44, b.y - 5), (b.x, b.y - 5 + aside))
        )
    return Curve(
        (
            (a.x, a.y + 5),
            (a.x - 44, a.y + 5 + aside),
            (b.right + 40, b.y + aside),
            (b.right, b.y + (a.y - b.y) / 12 + 5),
        )
    )
