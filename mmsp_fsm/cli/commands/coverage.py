"""`coverage`: what of the machine a set of recordings walked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mmsp_fsm.cli.configuration import ConfiguredCommand, configuration_options
from mmsp_fsm.cli.console import complain, is_terminal, print_json, renderer_for, standard_output
from mmsp_fsm.cli.options import (
    CONFORMING,
    UNREADABLE,
    VIOLATING,
    FiniteRange,
    check_options,
    docs_url_option,
    examples,
    reading_options,
    sources_of,
)
from mmsp_fsm.cli.writing import drawable, output_option, write_out

if TYPE_CHECKING:
    from mmsp_fsm.reference.coverage import Coverage

FORMATS = ("table", "json", "svg", "dot")


@click.command(
    cls=ConfiguredCommand,
    epilog=examples(
        "mmsp-fsm coverage recordings/",
        "mmsp-fsm coverage recordings/ --kinds KIND,KIND --fail-under 100",
        "mmsp-fsm coverage recordings/ --format svg -o coverage.svg",
    )
    + "Exit status: 0 walked; 1 less of it than --fail-under; 2 something could not be read (2 beats 1).",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--kinds", help="The kinds that the producer sends: only their transitions count. By default all.")
@click.option("--expand", is_flag=True, help="A row for each kind, also where kinds behave alike.")
@click.option("--fail-under", type=FiniteRange(0, 100), metavar="PERCENT", help="Fail where fewer were taken.")
@docs_url_option
@reading_options
@output_option
@configuration_options
def coverage(
    paths: tuple[str, ...],
    form: str,
    kinds: str | None,
    expand: bool,
    fail_under: float | None,
    docs_url: str | None,
    to: str | None,
    **options: Any,
) -> int:
    """Say which states, transitions, guards and violations of the machine recordings walked.

    The percentage is of the transitions that a stream without a fault can take, each kind's by itself. Violations and
    guards are shown and do not count.
    """
    if form == "svg":
        drawable()
    result, unreadable = _walked(paths, _kinds(kinds), options)
    if form == "json":
        if to is None:
            print_json(result.document())
        else:
            from mmsp_fsm.output.formats.json import json_text

            write_out(json_text(result.document(), indent=2) + "\n", to)
    elif form == "table":
        _print(result, expand, to)
    else:
        write_out(_picture(result, expand, form, docs_url), to)
    below = fail_under is not None and result.percent < fail_under
    if below:
        complain(f"{result.percent:.1f} % of the legal transitions were taken, and {fail_under:g} % are due")
    return UNREADABLE if unreadable else VIOLATING if below else CONFORMING


def _kinds(words: str | None) -> list[str]:
    from mmsp_fsm.grammar.loading import default

    known = list(default().kinds)
    chosen = known if words is None else [word.strip() for word in words.split(",")]
    for word in chosen:
        if word not in known:
            raise click.UsageError(f"there is no kind {word!r}; there are {', '.join(known)}.")
    return chosen


def _walked(paths: tuple[str, ...], kinds: list[str], options: dict[str, Any]) -> tuple[Coverage, bool]:
    """The counts, and whether something could not be read."""
    from mmsp_fsm.checker.diagnostics import StreamReport
    from mmsp_fsm.engines.checking import walk_source
    from mmsp_fsm.grammar.loading import default
    from mmsp_fsm.recordings.sources import Unreadable
    from mmsp_fsm.reference.coverage import Coverage

    result, unreadable = Coverage(default(), kinds), False
    reading = check_options(options)
    for source in sources_of(paths):
        for one in [source] if isinstance(source, Unreadable) else walk_source(source, reading):
            if isinstance(one, Unreadable):
                complain(renderer_for(None).unreadable(one))
                unreadable = True
            elif isinstance(one, StreamReport):
                result.end(one)
            else:
                result.step(one[1])
    return result, unreadable


def _print(result: Coverage, expand: bool, to: str | None) -> None:
    from mmsp_fsm.cli.coverage_report import lines, table

    if to is None and is_terminal(standard_output()):
        from rich.console import Console

        Console().print(table(result, expand))
        standard_output().write(list(lines(result, expand))[-1] + "\n")
    else:
        write_out("".join(f"{line}\n" for line in lines(result, expand)), to)


def _picture(result: Coverage, expand: bool, form: str, docs_url: str | None) -> str:
    from attrs import evolve

    from mmsp_fsm.diagrams.colors import LIGHT
    from mmsp_fsm.diagrams.dot import dot
    from mmsp_fsm.diagrams.rendering import draw
    from mmsp_fsm.diagrams.views import violations_view
    from mmsp_fsm.output.pages import pages_at

    picture = violations_view(result.definition, expand, result.count)
    picture = evolve(
        picture, name="coverage", title="What the recordings walked", subtitle=(result.words, *picture.subtitle)
    )
    where = pages_at(docs_url)
    return dot(picture, LIGHT, where) if form == "dot" else draw(picture, "svg", where).decode()
