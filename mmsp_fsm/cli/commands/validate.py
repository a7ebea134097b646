"""`validate`: whether recordings conform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mmsp_fsm.cli.configuration import ConfiguredCommand, configuration_options
from mmsp_fsm.cli.console import complain, is_colorful, is_terminal, says_unicode, standard_output
from mmsp_fsm.cli.engines import engine_options, results
from mmsp_fsm.cli.options import (
    CONFORMING,
    EXIT_STATUSES,
    UNREADABLE,
    VIOLATING,
    check_options,
    docs_url_option,
    examples,
    reading_options,
    rule_options,
    sources_of,
    split_options,
)
from mmsp_fsm.cli.progress import Progress
from mmsp_fsm.output.formats.registry import FORMATS, Output, OutputOptions, output_for

if TYPE_CHECKING:
    from mmsp_fsm.output.counting import Statistics


@click.command(
    cls=ConfiguredCommand,
    epilog=examples(
        "mmsp-fsm validate trace.jsonl",
        "mmsp-fsm validate recordings/ --format json --extend-select W504",
        "mmsp-fsm validate recordings/ --format sarif > mmsp.sarif",
        "mmsp-fsm validate --jobs auto 'corpus/**/*.jsonl.gz' s3://bucket/corpus",
        "mmsp-fsm validate --engine dask --scheduler tcp://host:8786 s3://bucket/corpus",
        "curl -N https://server/v1/stream -d @request.json | mmsp-fsm validate -",
    )
    + EXIT_STATUSES,
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--format", "output", type=click.Choice(list(FORMATS)), default="text", show_default=True)
@click.option("--fail-on", type=click.Choice(["error", "warning"]), default="error", show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="Print diagnostics alone: no line for each stream, no totals.")
@click.option("--statistics", is_flag=True, help="Count the rules that were broken, and name the worst sources.")
@docs_url_option
@split_options
@engine_options
@rule_options
@reading_options
@configuration_options
def validate(paths: tuple[str, ...], **options: Any) -> int:
    """Say of each recording whether it conforms.

    PATH is a file, a folder (searched for recordings), a glob, the address of one of these (s3://bucket/folder), or -
    for standard input. A recording is JSON lines, one JSON array of events, or server-sent events, and may be
    compressed; all that is told from its content.
    """
    from mmsp_fsm.engines.results import NoStreams, Summary
    from mmsp_fsm.output.escaping import visible
    from mmsp_fsm.recordings.sources import Unreadable

    warnings_fail = options["fail_on"] == "warning"
    run = _output(options, warnings_fail)
    statistics = _statistics() if options["statistics"] else None
    summary, failed = Summary(), False
    reading = check_options(options)
    run.begin()
    with (
        Progress(shown=not options["quiet"]) as progress,
        results(sources_of(paths), reading, options, progress.seen) as found,
    ):
        for one in found:
            progress.hide()
            if isinstance(one, NoStreams):
                complain(f"{visible(one.source)}: this recording holds no stream")
                continue
            run.add(one)
            summary = summary.plus(one)
            if statistics is not None:
                statistics.add(one)
            if not isinstance(one, Unreadable):
                failed = failed or bool(one.errors or (warnings_fail and one.warnings))
            progress.count(summary)
    run.end(summary, statistics)
    return UNREADABLE if summary.unreadable else VIOLATING if failed else CONFORMING


def _statistics() -> Statistics:
    from mmsp_fsm.output.counting import Statistics

    return Statistics()


def _output(options: dict[str, Any], warnings_fail: bool) -> Output:
    out = standard_output()
    how = OutputOptions(
        complain,
        color=is_colorful(out),
        terminal=is_terminal(out),
        ascii_only=not says_unicode(out),
        quiet=options["quiet"],
        warnings_fail=warnings_fail,
        docs_url=options["docs_url"],
    )
    return output_for(options["output"], out, how)
