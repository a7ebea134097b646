"""`trace`: each event of a recording, and what the machine did with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from mmsp_fsm.commands.console import complain, renderer_for, standard_output
from mmsp_fsm.commands.options import (
    CONFORMING,
    EXIT_STATUSES,
    UNREADABLE,
    VIOLATING,
    Reading,
    examples,
    only_source,
    reading_options,
    rule_options,
)

if TYPE_CHECKING:
    from mmsp_fsm.checker import Step
    from mmsp_fsm.diagnostics import StreamReport
    from mmsp_fsm.recordings import Record, Source
    from mmsp_fsm.runs import Unreadable


@click.command(epilog=examples("mmsp-fsm trace trace.jsonl") + EXIT_STATUSES)
@click.argument("path")
@click.option("--fail-on", type=click.Choice(["error", "warning"]), default="error", show_default=True)
@rule_options
@reading_options
def trace(path: str, fail_on: str, **options: Any) -> int:
    """Print each event with the state before, the symbol, the action and the state after.

    What is wrong with an event stands below it.
    """
    from mmsp_fsm.diagnostics import StreamReport
    from mmsp_fsm.runs import Unreadable

    reading = Reading(options)
    out = standard_output()
    renderer = renderer_for(out)
    status = CONFORMING
    for source in only_source(path):
        if isinstance(source, Unreadable):
            complain(renderer.unreadable(source))
            return UNREADABLE
        for step in _walked(source, reading):
            if isinstance(step, Unreadable):
                complain(renderer.unreadable(step))
                return UNREADABLE
            if isinstance(step, StreamReport):
                status = VIOLATING if step.errors or (fail_on == "warning" and step.warnings) else status
            for line in renderer.ending(step) if isinstance(step, StreamReport) else renderer.step(*step):
                out.write(line + "\n")
    return status


def _walked(source: Source, reading: Reading) -> Iterator[tuple[Record, Step] | StreamReport | Unreadable]:
    """The steps of a source and its report; last why it could not be read to its end."""
    from mmsp_fsm.recordings import walk_source
    from mmsp_fsm.runs import Unreadable

    walk = walk_source(source, format=reading.format, rules=reading.rules, limits=reading.limits)
    while True:
        try:
            yield next(walk)
        except StopIteration:
            return
        except OSError as error:
            yield Unreadable(source.name, (error.strerror or str(error)).lower())
            return
