"""The diagrams by name: every view, and the files that `make generate` writes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mmsp_fsm.diagrams.cards import builders_view, events_view
from mmsp_fsm.diagrams.picture import Picture
from mmsp_fsm.diagrams.views import group_view, stream_view, violations_view
from mmsp_fsm.grammar.definition import Definition

VIEWS: dict[str, Callable[[Definition, bool], Picture]] = {
    "stream": stream_view,
    "violations": violations_view,
    "events": lambda definition, _: events_view(definition),
    "builders": builders_view,
}
"""The views that are not of one kind, by name."""

GROUP = "group"
"""The view that is of one kind."""


def diagrams(definition: Definition) -> Iterator[Picture]:
    """Every diagram, kinds folded: a picture's name is that of its file."""
    for view in VIEWS.values():
        yield view(definition, False)
    for kind in definition.kinds.values():
        yield group_view(definition, kind)
