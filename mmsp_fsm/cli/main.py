"""The command line's door: the commands by name, and the exit status whatever happens."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TextIO

import click

from mmsp_fsm.cli.console import complain, standard_output
from mmsp_fsm.cli.options import UNREADABLE
from mmsp_fsm.version import VERSION

INTERRUPTED, BROKEN_PIPE = 130, 141
"""A shell's exit statuses for SIGINT and SIGPIPE."""

COMMANDS = {
    "validate": "validate:validate",
    "parse": "parse:parse",
    "trace": "trace:trace",
    "tail": "tail:tail",
    "probe": "probe:probe",
    "explain": "rules:explain",
    "rules": "rules:list_rules",
    "diagram": "diagram:diagram",
    "schema": "schema:schema",
    "coverage": "coverage:coverage",
    "docs": "docs:docs",
}
"""Each command's module and object in `mmsp_fsm.cli`, in the order in which the help lists them."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its status, whatever can or cannot be written.

    A reader that leaves early, Ctrl-C and an output that fails leave no traceback. `arguments` are those of the
    process unless given.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # what the encoding lacks is escaped
            stream.reconfigure(errors="backslashreplace")
    status = _status(list(sys.argv[1:] if arguments is None else arguments))
    for stream in (sys.stdout, sys.stderr):
        _release(stream)
    sys.exit(status)


def _status(arguments: list[str]) -> int:
    """Run the command and write out all that it printed."""
    try:
        status = _invoke(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except click.ClickException as error:
        with suppress(OSError):
            error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        return BROKEN_PIPE
    except OSError as error:
        complain(f"error: the output cannot be written: {error.strerror or error}")
        return UNREADABLE


def _invoke(arguments: list[str]) -> int:
    """The status that the command returns, or 0 where it only printed its help, its version or completions."""
    try:
        if "_MMSP_FSM_COMPLETE" in os.environ:  # a shell asks for completions, which click answers by itself
            command.main(args=arguments, prog_name="mmsp-fsm")
        # Not `command.main`: it ends with 1, the status of a violation, where a reader leaves early.
        with command.make_context("mmsp-fsm", arguments) as context:
            status = command.invoke(context)
    except click.exceptions.Exit as error:
        standard_output()  # click prints nothing, and raises nothing, where it is closed
        return error.exit_code
    except SystemExit as error:
        status = error.code
    return status if isinstance(status, int) else 0


def _release(stream: TextIO | None) -> None:
    """Leave nothing for the flush that Python makes at exit: where it fails, the exit status becomes 120."""
    if stream is None:
        return
    try:
        stream.flush()
    except (OSError, ValueError):  # ValueError: it is closed
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Commands(click.Group):
    """The commands, each of which is imported once it is asked for: starting up costs only what is used."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name].split(":")
        command: click.Command = getattr(import_module(f"mmsp_fsm.cli.commands.{module}"), attribute)
        return command


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: mmsp-fsm validate trace.jsonl",
)
@click.version_option(VERSION, prog_name="mmsp-fsm")
def command() -> None:
    """Check MMSP streams: what broke, where, and what should have stood there."""
