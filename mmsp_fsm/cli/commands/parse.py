"""`parse`: the message of a recording."""

from __future__ import annotations

import sys
from typing import Any

import click

from mmsp_fsm.cli.configuration import ConfiguredCommand, configuration_options
from mmsp_fsm.cli.console import complain, print_json, renderer_for
from mmsp_fsm.cli.options import (
    CONFORMING,
    UNREADABLE,
    VIOLATING,
    check_options,
    checked,
    examples,
    only_source,
    reading_options,
)


@click.command(
    cls=ConfiguredCommand,
    epilog=examples("mmsp-fsm parse trace.sse | jq '.content_items[].type'")
    + "Exit status: 0 a message; 1 none, for the stream violates or failed; 2 it could not be read.",
)
@click.argument("path")
@reading_options
@configuration_options
def parse(path: str, **options: Any) -> int:
    """Print the message of a conforming recording as JSON.

    Where the stream violates the protocol there is no message: its diagnostics are printed on standard error. Where it
    conforms and ended with an error, that error and the done items before it are printed as JSON.
    """
    from mmsp_fsm.engines.results import NoStreams
    from mmsp_fsm.model.wire import to_json
    from mmsp_fsm.recordings.sources import Unreadable

    status = CONFORMING
    for one in checked(only_source(path), check_options(options, keep_message=True)):
        assert not isinstance(one, NoStreams)  # for nothing is split here
        if isinstance(one, Unreadable):
            complain(renderer_for(sys.stderr).unreadable(one))
            return UNREADABLE
        if one.message is not None:
            print_json(to_json(one.message))
        elif one.error is not None:
            print_json({"error": one.error, "done_items": [to_json(item) for item in one.done_items]})
            status = VIOLATING
        else:
            renderer = renderer_for(sys.stderr)
            for line in (*renderer.stream(one), renderer.verdict(one)):
                complain(line)
            status = VIOLATING
    return status
