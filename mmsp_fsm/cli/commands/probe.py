"""`probe`: a conformance suite for a server."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mmsp_fsm.cli.console import complain, renderer_for, says_unicode, standard_output
from mmsp_fsm.cli.http import SECONDS, http_options
from mmsp_fsm.cli.options import CONFORMING, UNREADABLE, VIOLATING, examples
from mmsp_fsm.probe.requests import KEY_VARIABLE

if TYPE_CHECKING:
    from mmsp_fsm.probe.catalog import Case, Result
    from mmsp_fsm.probe.probe import Target

    Fails = Callable[[Result], bool]

STATUSES = """\b
Exit status:
  0  no case failed (with --require-all: and all were shown)
  1  a case failed (with --fail-on warning: or advice is not followed)
  2  the command was misused, or the server could not be asked (2 beats 1)
  130 and 141: interrupted; the reader of the output left early"""


def _list(context: click.Context, _: click.Parameter, given: bool) -> None:
    """Print all cases, instead of running any."""
    if not given or context.resilient_parsing:
        return
    from mmsp_fsm.probe.catalog import catalogue

    out = standard_output()
    for case in catalogue().cases.values():
        advice = " (advice)" if case.severity == "warning" else ""
        out.write(f"{case.code} {case.name}{advice}: {case.demands}\n")
    context.exit()


@click.command(
    epilog=examples(
        "mmsp-fsm probe http://127.0.0.1:25752 --model claude-sonnet-5",
        "mmsp-fsm probe https://gateway.example/v1 --model m --format junit --save recordings/ > probe.xml",
        "mmsp-fsm probe http://127.0.0.1:25752 --model m --case P3 --case client-leaves",
    )
    + STATUSES
)
@click.argument("url")
@click.option("--model", required=True, help="A model that the server has.")
@click.option("--case", "cases", multiple=True, metavar="CASE", help="These cases or families only: P101, P3, a name.")
@click.option("--format", "output", type=click.Choice(["text", "json", "junit"]), default="text", show_default=True)
@click.option("--save", type=click.Path(file_okay=False), help="Keep what the server sends in this folder.")
@click.option("--timeout", type=SECONDS, default=120, show_default=True, help="Seconds that one answer may take.")
@click.option("--parallel", type=click.IntRange(2, 64), default=4, show_default=True, help="Streams at the same time.")
@click.option("--require-all", is_flag=True, help="Fail for what was not shown, too.")
@click.option("--fail-on", type=click.Choice(["error", "warning"]), default="error", show_default=True)
@click.option("-v", "--verbose", is_flag=True, help="Print what each case demands, and why.")
@click.option("--list", is_flag=True, is_eager=True, expose_value=False, callback=_list, help="List the cases.")
@http_options
def probe(url: str, output: str, **options: Any) -> int:
    """Ask a server of MMSP real questions, and say of each case whether its answers conform.

    URL is the server's base URL or its /v1/stream. About a dozen short prompts are sent to the model. A case of which
    the answers showed nothing (no call came, so none was wrong) is `not shown`, never passed.
    """
    from mmsp_fsm.probe.catalog import find_cases
    from mmsp_fsm.probe.client import RequestError, library, shown_url
    from mmsp_fsm.probe.probe import UnreachableError

    try:
        chosen = find_cases(list(options["cases"]))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    target = _target(url, options)
    fails = partial(_fails, require_all=options["require_all"], warnings_fail=options["fail_on"] == "warning")
    try:
        library()
        if target.save is not None:
            target.save.mkdir(parents=True, exist_ok=True)
        results = _run(target, chosen, output, fails, verbose=options["verbose"])
    except (RequestError, UnreachableError) as error:
        complain(renderer_for(sys.stderr).complaint(f"{shown_url(url)}: {error}"))
        return UNREADABLE
    if any(one.outcome == "error" for one in results):
        return UNREADABLE
    return VIOLATING if any(map(fails, results)) else CONFORMING


def _target(url: str, options: dict[str, Any]) -> Target:
    from mmsp_fsm.probe.exchanges import Bounds
    from mmsp_fsm.probe.probe import Target

    return Target(
        url=url,
        model=options["model"],
        key=options["key"] or os.environ.get(KEY_VARIABLE) or None,
        headers=options["headers"],
        bounds=Bounds(options["timeout"], verify=not options["insecure"]),
        parallel=options["parallel"],
        save=Path(options["save"]) if options["save"] is not None else None,
    )


def _run(target: Target, cases: Iterable[Case], output: str, fails: Fails, *, verbose: bool) -> list[Result]:
    """Run the cases and print what came of them; `fails` tells which fail the run.

    Raises RequestError and UnreachableError.
    """
    from mmsp_fsm.output.probe import JsonResults, JUnitResults, TextResults
    from mmsp_fsm.probe.client import shown_url
    from mmsp_fsm.probe.requests import hiding
    from mmsp_fsm.probe.run import run

    out = standard_output()
    ascii_only = not says_unicode(out)
    hide: Callable[[str], str] = hiding(target.key)
    url = shown_url(target.url)
    printer: JsonResults | JUnitResults | TextResults
    if output == "json":
        printer = JsonResults(out, url, target.model, hide, ascii_only=ascii_only)
    elif output == "junit":
        printer = JUnitResults(out, url, hide, fails, ascii_only=ascii_only)
    else:
        printer = TextResults(out, renderer_for(out), hide, verbose=verbose, ascii_only=ascii_only)
    results = []
    for one in run(target, cases):
        results.append(one)
        printer.add(one)
    printer.end()
    return results


def _fails(one: Result, *, require_all: bool, warnings_fail: bool) -> bool:
    """Whether a result fails the run."""
    due = one.case.severity == "error" or warnings_fail
    return due and (one.outcome == "failed" or (require_all and one.outcome == "not shown"))
