"""`docs`: the protocol's reference as a folder of pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from mmsp_fsm.cli.console import complain, standard_output
from mmsp_fsm.cli.options import CONFORMING, UNREADABLE, examples

if TYPE_CHECKING:
    from mmsp_fsm.reference.site.markdown import Medium


@click.command(
    epilog=examples("mmsp-fsm docs site && xdg-open site/index.html", "mmsp-fsm docs pages --format markdown")
    + "Exit status: 0 written; 2 it could not be."
)
@click.argument("out", metavar="OUT")
@click.option("--format", "medium", type=click.Choice(["html", "markdown"]), default="html", show_default=True)
def docs(out: str, medium: str) -> int:
    """Write the protocol's reference into the folder OUT.

    There are pages of the grammar, events, kinds and the machine, and one for each rule.
    The HTML is static: it needs no network and no server, search included. OUT is made where it does not exist; it must
    be empty, or have been made by this command.
    """
    from mmsp_fsm.diagrams.rendering import MissingExtraError
    from mmsp_fsm.grammar.loading import default
    from mmsp_fsm.reference.site.build import NotBuiltError, NotOursError, build_site

    try:
        count = build_site(default(), Path(out), cast("Medium", medium))
    except (MissingExtraError, NotOursError) as error:
        raise click.UsageError(str(error)) from None
    except NotBuiltError as error:
        complain(f"error: {error}")
        return UNREADABLE
    except OSError as error:
        raise click.UsageError(f"{out!r} cannot be written: {error.strerror or error}") from None
    standard_output().write(f"{count} files in {out}\n")
    return CONFORMING
