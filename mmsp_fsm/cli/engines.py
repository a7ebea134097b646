"""Which engine checks the sources of a run, as the command line says."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from mmsp_fsm.cli.options import UNREADABLE

if TYPE_CHECKING:
    from mmsp_fsm.engines.checking import CheckOptions
    from mmsp_fsm.engines.results import Found
    from mmsp_fsm.engines.tasks import Result, Seen
    from mmsp_fsm.recordings.sources import Source, Unreadable


class _Refused(click.ClickException):
    exit_code = UNREADABLE


class _Jobs(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in some releases of click only
    """A number of processes; 0 or `auto` is the number of cores."""

    name = "N|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if value == "auto":
            return 0
        jobs: int = click.IntRange(min=0, max=1024).convert(value, param, ctx)
        return jobs


def engine_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say who checks."""
    for option in (
        click.option("--scheduler", metavar="ADDRESS", help="The Dask scheduler, such as tcp://host:8786."),
        click.option(
            "--engine",
            type=click.Choice(["local", "dask"]),
            default="local",
            show_default=True,
            help="Who checks: this machine, or the workers of a Dask cluster, which must see every path as it is here. "
            "Without --scheduler they are --jobs processes of this machine.",
        ),
        click.option(
            "--jobs", type=_Jobs(), default=1, show_default=True, help="Processes that check; auto: one for each core."
        ),
    ):
        function = option(function)
    return function


@contextmanager
def results(
    sources: Iterable[Source | Unreadable], reading: CheckOptions, options: dict[str, Any], seen: Seen
) -> Iterator[Iterator[Found]]:
    """The results of all sources, in their order, whoever checks them. Nobody goes on checking when this is left."""
    from mmsp_fsm.engines.parts import joined
    from mmsp_fsm.engines.tasks import EngineError

    try:
        with closing(_engine(sources, reading, options, seen)) as found:
            yield joined(found)
    except EngineError as error:
        raise _Refused(str(error)) from error


def _engine(
    sources: Iterable[Source | Unreadable], reading: CheckOptions, options: dict[str, Any], seen: Seen
) -> Generator[Result, None, None]:
    jobs: int = options["jobs"]
    scheduler: str | None = options["scheduler"]
    if options["engine"] == "dask":
        from mmsp_fsm.engines.cluster import on_cluster
        from mmsp_fsm.engines.processes import cores

        return on_cluster(sources, reading, scheduler, jobs or cores(), seen)
    if scheduler is not None:
        raise click.UsageError("--scheduler is that of --engine dask.")
    if jobs == 1:
        from mmsp_fsm.engines.tasks import in_turn

        return in_turn(sources, reading, seen)
    from mmsp_fsm.engines.parts import in_parts
    from mmsp_fsm.engines.processes import cores, in_processes

    jobs = jobs or cores()
    return in_processes(in_parts(sources, reading, jobs), reading, jobs, seen)
