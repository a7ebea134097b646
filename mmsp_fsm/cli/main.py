"""The command line's door: the commands by name, and the exit status whatever happens."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

import click

from mmsp_fsm.cli.console import complain
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
    """Run the command and exit. A reader that leaves early, Ctrl-C and an output that fails leave no traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # what an encoding cannot say is escaped instead of raising
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _invoke(list(sys.argv[1:] if arguments is None else arguments))
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        with suppress(OSError):
            error.show()
        status = error.exit_code
    except click.exceptions.Exit as error:
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        status = INTERRUPTED
    except BrokenPipeError:
        _silence()
        status = BROKEN_PIPE
    except OSError as error:
        _silence()
        complain(f"error: the output cannot be written: {error.strerror or error}")
        status = UNREADABLE
    sys.exit(status if isinstance(status, int) else 0)


def _invoke(arguments: list[str]) -> object:
    if "_MMSP_FSM_COMPLETE" in os.environ:  # a shell asks for completions, which click answers by itself
        command.main(args=arguments, prog_name="mmsp-fsm")
    # Not `command.main`: it would take a reader that leaves early for a failure of status 1, which is a violation's.
    with command.make_context("mmsp-fsm", arguments) as context:
        return command.invoke(context)


def _silence() -> None:
    """Let Python's own flush at exit go nowhere: it would fail again."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
