"""`schema`: JSON Schemas of events, messages and reports."""

from __future__ import annotations

import click

from mmsp_fsm.cli.options import CONFORMING, examples
from mmsp_fsm.cli.writing import output_option, write_out

NAMES = ("event", "message", "report")


@click.command(epilog=examples("mmsp-fsm schema event", "mmsp-fsm schema report -o report.json"))
@click.argument("name", type=click.Choice(NAMES))
@output_option
def schema(name: str, to: str | None) -> int:
    """Print a JSON Schema (2020-12), made from the definition.

    NAME is `event` (one record of a stream: an event of any kind, or the error record), `message` (what `parse` prints)
    or `report` (what `validate --format json` prints).
    """
    from mmsp_fsm.grammar.loading import default
    from mmsp_fsm.reference.schema import schema_text, schemas

    write_out(schema_text(schemas(default())[name]), to)
    return CONFORMING
