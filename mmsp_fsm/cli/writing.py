"""Writing what a command makes: to a file, or to standard output."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from mmsp_fsm.cli.console import is_terminal, standard_output

output_option = click.option("-o", "--output", "to", metavar="FILE", help="The file to write, instead of printing.")


def write_out(made: str | bytes, to: str | None) -> None:
    """Write to `to`, or to standard output. Raises a usage error where that cannot be."""
    if to is not None and to != "-":
        try:
            Path(to).write_bytes(made if isinstance(made, bytes) else made.encode())
        except OSError as error:
            raise click.UsageError(f"{to!r} cannot be written: {error.strerror or error}") from None
    elif isinstance(made, str):
        standard_output().write(made)
    elif is_terminal(out := standard_output()):
        raise click.UsageError("this format is no text for a terminal; name a file with -o.")
    else:
        out.flush()
        sys.stdout.buffer.write(made)


def drawable() -> None:
    """Raise a usage error where Graphviz is missing, before anything is read."""
    from importlib.util import find_spec

    from mmsp_fsm.diagrams.rendering import EXTRA

    if find_spec("pygraphviz") is None:
        raise click.UsageError(EXTRA)
