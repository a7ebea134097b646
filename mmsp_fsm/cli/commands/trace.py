"""`trace`: each event of a recording, and what the machine did with it, as text, JSON, a picture or a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

import click

from mmsp_fsm.cli.configuration import ConfiguredCommand, configuration_options
from mmsp_fsm.cli.console import complain, renderer_for, says_unicode, standard_output
from mmsp_fsm.cli.options import (
    CONFORMING,
    EXIT_STATUSES,
    UNREADABLE,
    VIOLATING,
    check_options,
    docs_url_option,
    examples,
    only_source,
    reading_options,
    rule_options,
)
from mmsp_fsm.cli.writing import drawable

if TYPE_CHECKING:
    from mmsp_fsm.checker.diagnostics import StreamReport
    from mmsp_fsm.checker.step import Step
    from mmsp_fsm.diagrams.picture import Picture
    from mmsp_fsm.engines.checking import CheckOptions, Walked
    from mmsp_fsm.recordings.framing import Record
    from mmsp_fsm.recordings.sources import Source, Unreadable

OUTPUTS = ("text", "json", "dot", "svg", "html")


class Trace(Protocol):
    """What each format's writer does: a record as it comes, its time, and its distance in ms from the last one."""

    def begin(self) -> None:
        """Write what stands first."""

    def step(self, record: Record, step: Step, created_at: int | None, since: int | None) -> None:
        """Take one record and what it did."""

    def add(self, one: StreamReport | Unreadable) -> None:
        """Take the report, or why there is none."""

    def end(self) -> None:
        """Write what stands last."""


def _one_stream(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Refuse `--split` on the command line; in a configuration file it is for other commands."""
    if value and context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError(
            "trace shows one stream, so it does not split. Cut one out and give it to standard input: of a log "
            "jq -c 'select(.request == \"r1\").event' LOG | mmsp-fsm trace -, of streams that follow one another "
            "sed -n 'FROM,TOp' FILE | mmsp-fsm trace - (validate --split tells the lines)."
        )


@click.command(
    cls=ConfiguredCommand,
    epilog=examples("mmsp-fsm trace trace.jsonl", "mmsp-fsm trace trace.sse -o trace.html && xdg-open trace.html")
    + EXIT_STATUSES,
)
@click.argument("path")
@click.option(
    "--format",
    "output",
    type=click.Choice(OUTPUTS),
    help="How to show it. Without this, the suffix of --output tells; else it is text.",
)
@click.option("-o", "--output", "file", type=click.Path(path_type=Path, allow_dash=True), help="Where to write it.")
@click.option("--fail-on", type=click.Choice(["error", "warning"]), default="error", show_default=True)
@click.option("--split", hidden=True, expose_value=False, callback=_one_stream)
@docs_url_option
@rule_options
@reading_options
@configuration_options
def trace(path: str, output: str | None, file: Path | None, fail_on: str, docs_url: str | None, **options: Any) -> int:
    """Show each event with the state before, the symbol, the action, the state after, and the time since the last.

    As text, what is wrong with an event stands below it. `html` is one page for a browser: the groups on a time line,
    the events, the message as built at each of them, and the machine. `dot` and `svg` are the machine with the path
    that the stream walked.
    """
    from mmsp_fsm.engines.checking import walk_source
    from mmsp_fsm.recordings.sources import Unreadable

    reading = check_options(options)
    output = output or _told(file)
    if output == "svg":
        drawable()
    status = CONFORMING
    for source in only_source(path):
        if isinstance(source, Unreadable):
            complain(renderer_for(None).unreadable(source))
            return UNREADABLE
        steps = walk_source(source, reading)
        first = next(steps)
        if isinstance(first, Unreadable):  # before anything is written
            complain(renderer_for(None).unreadable(first))
            return UNREADABLE
        with _output(file, source) as out:
            writer = _writer(output, out, reading, docs_url)
            status = max(status, _follow(chain([first], steps), writer, reading, fail_on))
    return status


def _follow(steps: Iterable[Walked], writer: Trace, reading: CheckOptions, fail_on: str) -> int:
    """Give each record of a source to `writer`; the exit status."""
    from mmsp_fsm.checker.diagnostics import StreamReport
    from mmsp_fsm.grammar.loading import default
    from mmsp_fsm.output.trace.times import Stopwatch, created_at
    from mmsp_fsm.recordings.sources import Unreadable

    status = CONFORMING
    definition, watch = default(), Stopwatch()
    writer.begin()
    for one in steps:
        if isinstance(one, Unreadable):
            complain(renderer_for(None).unreadable(one))
            status = UNREADABLE
            writer.add(one)
        elif isinstance(one, StreamReport):
            if one.errors or (fail_on == "warning" and one.warnings):
                status = max(status, VIOLATING)
            writer.add(one)
        else:
            record, step = one
            time = created_at(record, definition, reading.limits)
            writer.step(record, step, time, watch.lap(time))
    writer.end()
    return status


def _told(file: Path | None) -> str:
    """The format that a file's suffix tells."""
    suffix = file.suffix.lower().removeprefix(".") if file is not None else ""
    return suffix if suffix in OUTPUTS else OUTPUTS[0]


@contextmanager
def _output(file: Path | None, source: Source) -> Iterator[TextIO]:
    """Where to write: standard output, or a file, which must not be the recording itself."""
    if file is None or str(file) == "-":
        yield standard_output()
        return
    if source.path is not None and file.exists() and file.samefile(source.path):
        raise click.UsageError(f"{str(file)!r} is the recording itself, and would be lost.")
    try:
        out = file.open("w", encoding="utf-8", newline="\n", errors="backslashreplace")
    except OSError as error:
        raise click.UsageError(f"{str(file)!r} cannot be written: {error.strerror or error}") from None
    with out:
        yield out


def _writer(output: str, out: TextIO, reading: CheckOptions, docs_url: str | None = None) -> Trace:
    """The writer of a format."""
    from mmsp_fsm.grammar.loading import default

    if output == "json":
        from mmsp_fsm.output.trace.events import JsonTrace

        return JsonTrace(out, ascii_only=not says_unicode(out))
    if output == "dot" or output == "svg":
        from mmsp_fsm.output.trace.walked import DrawnTrace

        return DrawnTrace(out, default(), _drawn_as(output, docs_url))
    if output == "html":
        from mmsp_fsm.output.trace.page import PageTrace

        return PageTrace(out, default(), reading.limits)
    from mmsp_fsm.output.trace.text import TextTrace

    return TextTrace(out, renderer_for(out, docs_url))


def _drawn_as(output: str, docs_url: str | None) -> Callable[[Picture], str]:
    """What makes DOT text or SVG of a picture."""
    from mmsp_fsm.diagrams.colors import LIGHT
    from mmsp_fsm.diagrams.dot import dot
    from mmsp_fsm.diagrams.rendering import draw
    from mmsp_fsm.output.pages import pages_at

    if output == "dot":
        return lambda picture: dot(picture, LIGHT, pages_at(docs_url))
    return lambda picture: draw(picture, "svg", pages_at(docs_url)).decode()
