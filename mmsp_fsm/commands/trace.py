"""`trace`: each event of a recording, and what the machine did with it, as text, JSON, a picture or a page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

import click

from mmsp_fsm.commands.console import complain, renderer_for, says_unicode, standard_output
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

if TYPE_CHECKING:
    from mmsp_fsm.checker import Step
    from mmsp_fsm.diagnostics import StreamReport
    from mmsp_fsm.recordings import CheckOptions, Record, Source
    from mmsp_fsm.runs import Unreadable

OUTPUTS = ("text", "json", "dot", "svg", "html")

MISSING = (
    "the SVG is drawn by Graphviz, which the extra `diagrams` brings: pip install 'mmsp-fsm[diagrams]'. "
    "Without it, --format dot and --format html work."
)


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


@click.command(
    epilog=examples("mmsp-fsm trace trace.jsonl", "mmsp-fsm trace trace.sse -o trace.html && xdg-open trace.html")
    + EXIT_STATUSES
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
@rule_options
@reading_options
def trace(path: str, output: str | None, file: Path | None, fail_on: str, **options: Any) -> int:
    """Show each event with the state before, the symbol, the action, the state after, and the time since the last.

    As text, what is wrong with an event stands below it. `html` is one page for a browser: the groups on a time line,
    the events, the message as built at each of them, and the machine. `dot` and `svg` are the machine with the path
    that the stream walked.
    """
    from mmsp_fsm.runs import Unreadable

    reading = check_options(options)
    status = CONFORMING
    for source in only_source(path):
        if isinstance(source, Unreadable):
            complain(renderer_for(None).unreadable(source))
            return UNREADABLE
        with _output(file, source) as out:
            status = max(status, _follow(source, _writer(output or _told(file), out, reading), reading, fail_on))
    return status


def _follow(source: Source, writer: Trace, reading: CheckOptions, fail_on: str) -> int:
    """Give each record of a source to `writer`; the exit status."""
    from mmsp_fsm.diagnostics import StreamReport
    from mmsp_fsm.loading import default
    from mmsp_fsm.output.trace.times import Stopwatch, created_at
    from mmsp_fsm.recordings import walk_source
    from mmsp_fsm.runs import Unreadable

    status = CONFORMING
    definition, watch = default(), Stopwatch()
    writer.begin()
    for one in walk_source(source, reading):
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
    with file.open("w", encoding="utf-8", newline="\n", errors="backslashreplace") as out:
        yield out


def _writer(output: str, out: TextIO, reading: CheckOptions) -> Trace:
    """The writer of a format. Raises a usage error where what it needs is not installed."""
    from mmsp_fsm.loading import default

    if output == "json":
        from mmsp_fsm.output.trace.events import JsonTrace

        return JsonTrace(out, ascii_only=not says_unicode(out))
    if output == "dot":
        from mmsp_fsm.output.trace.walked import DotTrace

        return DotTrace(out, default())
    if output == "svg":
        from mmsp_fsm.output.trace.walked import SvgTrace

        try:
            return SvgTrace(out, default())
        except ImportError:
            raise click.UsageError(MISSING) from None
    if output == "html":
        from mmsp_fsm.output.trace.page import PageTrace

        return PageTrace(out, default(), reading.limits)
    from mmsp_fsm.output.trace.text import TextTrace

    return TextTrace(out, renderer_for(out))
