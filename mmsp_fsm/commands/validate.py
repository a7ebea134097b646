"""`validate`: whether recordings conform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mmsp_fsm.commands.console import complain, is_colorful, says_unicode, standard_output
from mmsp_fsm.commands.engines import engine_options, results
from mmsp_fsm.commands.options import (
    CONFORMING,
    EXIT_STATUSES,
    UNREADABLE,
    VIOLATING,
    check_options,
    examples,
    reading_options,
    rule_options,
    sources_of,
)
from mmsp_fsm.commands.progress import Progress

if TYPE_CHECKING:
    from mmsp_fsm.output.json import JsonDocument
    from mmsp_fsm.output.text import TextRun


@click.command(
    epilog=examples(
        "mmsp-fsm validate trace.jsonl",
        "mmsp-fsm validate recordings/ --format json --extend-select W504",
        "mmsp-fsm validate --jobs auto 'corpus/**/*.jsonl.gz' s3://bucket/corpus",
        "mmsp-fsm validate --engine dask --scheduler tcp://host:8786 s3://bucket/corpus",
        "curl -N https://server/v1/stream -d @request.json | mmsp-fsm validate -",
    )
    + EXIT_STATUSES
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--fail-on", type=click.Choice(["error", "warning"]), default="error", show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="Print diagnostics alone: no line for each stream, no totals.")
@engine_options
@rule_options
@reading_options
def validate(paths: tuple[str, ...], output: str, fail_on: str, quiet: bool, **options: Any) -> int:
    """Say of each recording whether it conforms.

    PATH is a file, a folder (searched for recordings), a glob, the address of one of these (s3://bucket/folder), or -
    for standard input. A recording is JSON lines, one JSON array of events, or server-sent events, and may be
    compressed; all that is told from its content.
    """
    from mmsp_fsm.runs import Summary, Unreadable

    run = _run(output, quiet)
    summary, failed = Summary(), False
    run.begin()
    with (
        Progress(shown=not quiet) as progress,
        results(sources_of(paths), check_options(options), options, progress.seen) as found,
    ):
        for one in found:
            progress.hide()
            run.add(one)
            summary = summary.plus(one)
            if not isinstance(one, Unreadable):
                failed = failed or bool(one.errors or (fail_on == "warning" and one.warnings))
            progress.count(summary)
    run.end(summary)
    return UNREADABLE if summary.unreadable else VIOLATING if failed else CONFORMING


def _run(output: str, quiet: bool) -> JsonDocument | TextRun:
    from mmsp_fsm.output.json import JsonDocument
    from mmsp_fsm.output.text import TextRun

    out = standard_output()
    if output == "json":
        return JsonDocument(out, ascii_only=not says_unicode(out))
    return TextRun(out, complain, color=is_colorful(out), ascii_only=not says_unicode(out), quiet=quiet)
