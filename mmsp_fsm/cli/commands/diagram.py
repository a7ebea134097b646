"""`diagram`: the machine as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import click

from mmsp_fsm.cli.configuration import ConfiguredCommand, configuration_options
from mmsp_fsm.cli.options import CONFORMING, docs_url_option, examples
from mmsp_fsm.cli.writing import output_option, write_out

if TYPE_CHECKING:
    from mmsp_fsm.diagrams.picture import Address, Picture
    from mmsp_fsm.diagrams.rendering import Theme

FORMATS = ("svg", "png", "pdf", "dot", "mermaid")
VIEWS = ("stream", "group", "events", "violations", "builders")


@click.command(
    cls=ConfiguredCommand,
    epilog=examples(
        "mmsp-fsm diagram -o stream.svg",
        "mmsp-fsm diagram group --kind KIND --format mermaid",
        "mmsp-fsm diagram violations --format png -o violations.png",
    )
    + "Exit status: 0 drawn; 2 it could not be (dot and mermaid need no Graphviz).",
)
@click.argument("view", type=click.Choice(VIEWS), default="stream")
@click.option("--kind", help="The kind of the group that `group` draws.")
@click.option("--expand", is_flag=True, help="A state for each kind, also where kinds behave alike.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="By default what FILE's suffix says, else svg.")
@click.option("--theme", type=click.Choice(["auto", "light", "dark"]), default="auto", show_default=True)
@docs_url_option
@output_option
@configuration_options
def diagram(
    view: str, kind: str | None, expand: bool, form: str | None, theme: str, docs_url: str | None, to: str | None
) -> int:
    """Draw the machine, from the definition that the checker runs on.

    VIEW is `stream` (what is legal), `group` (one kind's), `events` (what they hold), `violations` (what is refused,
    too, and where the machine goes on) or `builders` (what the actions do to items).
    """
    from mmsp_fsm.diagrams.rendering import MissingExtraError
    from mmsp_fsm.output.pages import pages_at

    suffix = (to or "").rpartition(".")[2].lower()
    form = form or {name: name for name in FORMATS}.get({"mmd": "mermaid", "gv": "dot"}.get(suffix, suffix), "svg")
    picture = _picture(view, kind, expand)

    try:
        write_out(_made(picture, form, pages_at(docs_url), cast("Theme", theme)), to)
    except MissingExtraError as error:
        raise click.UsageError(str(error)) from None
    return CONFORMING


def _picture(view: str, kind: str | None, expand: bool) -> Picture:
    from mmsp_fsm.diagrams.catalog import GROUP, VIEWS
    from mmsp_fsm.diagrams.views import group_view
    from mmsp_fsm.grammar.loading import default

    kinds = default().kinds
    if view != GROUP:
        if kind is not None:
            raise click.UsageError(f"--kind belongs to the view {GROUP}, not to {view}.")
        return VIEWS[view](default(), expand)
    if kind not in kinds:
        found = "is missing" if kind is None else f"names none: {kind!r}"
        raise click.UsageError(f"{GROUP} draws one kind, and --kind {found}; there are {', '.join(kinds)}.")
    return group_view(default(), kinds[kind])


def _made(picture: Picture, form: str, where: Address, theme: Theme) -> str | bytes:
    from mmsp_fsm.diagrams.colors import DARK, LIGHT
    from mmsp_fsm.diagrams.dot import dot
    from mmsp_fsm.diagrams.mermaid import mermaid
    from mmsp_fsm.diagrams.rendering import draw

    if form == "dot":
        return dot(picture, DARK if theme == "dark" else LIGHT, where)
    if form == "mermaid":
        return mermaid(picture, where)
    drawn = draw(picture, cast(Literal["svg", "png", "pdf"], form), where, theme)
    return drawn.decode() if form == "svg" else drawn
