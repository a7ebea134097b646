"""`trace`: each event of a recording, and what the machine did with it."""

from __future__ import annotations

from typing import Any

import click

from mmsp_fsm.commands.configuration import ConfiguredCommand, configuration_options
from mmsp_fsm.commands.console import complain, renderer_for, standard_output
from mmsp_fsm.commands.options import (
    CONFORMING,
    EXIT_STATUSES,
    UNREADABLE,
    VIOLATING,
    check_options,
    examples,
    only_source,
    reading_options,
    rule_options,
)


@click.command(cls=ConfiguredCommand, epilog=examples("mmsp-fsm trace trace.jsonl") + EXIT_STATUSES)
@click.argument("path")
@click.option("--fail-on", type=click.Choice(["error", "warning"]), default="error", show_default=True)
@rule_options
@reading_options
@configuration_options
def trace(path: str, fail_on: str, **options: Any) -> int:
    """Print each event with the state before, the symbol, the action and the state after.

    What is wrong with an event stands below it.
    """
    from mmsp_fsm.diagnostics import StreamReport
    from mmsp_fsm.recordings import walk_source
    from mmsp_fsm.runs import Unreadable

    reading = check_options(options)
    out = standard_output()
    renderer = renderer_for(out)
    status = CONFORMING
    for source in only_source(path):
        if isinstance(source, Unreadable):
            complain(renderer.unreadable(source))
            return UNREADABLE
        for step in walk_source(source, reading):
            if isinstance(step, Unreadable):
                complain(renderer.unreadable(step))
                return UNREADABLE
            if isinstance(step, StreamReport):
                status = VIOLATING if step.errors or (fail_on == "warning" and step.warnings) else status
            for line in renderer.ending(step) if isinstance(step, StreamReport) else renderer.step(*step):
                out.write(line + "\n")
    return status
