"""Statistics of a run: rules by count and the worst sources, as lines, as a table for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO

from attrs import asdict

from mmsp_fsm.grammar.loading import default
from mmsp_fsm.output.escaping import visible
from mmsp_fsm.output.formats.registry import OutputOptions

if TYPE_CHECKING:
    from mmsp_fsm.output.counting import RuleCount, SourceCount, Statistics

if TYPE_CHECKING:
    from rich.table import Table


def statistics_object(statistics: Statistics) -> dict[str, Any]:
    """The statistics as JSON documents hold them."""
    return {
        "rules": [_rule_object(one) for one in statistics.rules()],
        "sources": [asdict(one) for one in statistics.sources()],
    }


def statistics_lines(statistics: Statistics, *, ascii_only: bool = False) -> Iterator[str]:
    """A line for each rule and each source, with a number in front: for `sort`, `awk` and people."""
    rules, sources = statistics.rules(), statistics.sources()
    digits = max((len(str(one.count)) for one in rules), default=0)
    longest = max((len(_name(one)) for one in rules), default=0)
    for one in rules:
        yield f"{one.count:>{digits}}  {one.code}  {_name(one):<{longest}}  in {_count(one.streams, 'stream')}"
    for source in sources:
        yield f"{_faults(source)} in {visible(source.source, ascii_only=ascii_only)}"


def print_statistics(statistics: Statistics, out: TextIO, options: OutputOptions) -> None:
    """Tables on a terminal, plain lines elsewhere."""
    if options.terminal:
        _print_tables(statistics, out, options)
    else:
        out.writelines(f"{line}\n" for line in statistics_lines(statistics, ascii_only=options.ascii_only))


def _print_tables(statistics: Statistics, out: TextIO, options: OutputOptions) -> None:
    """One table of rules and one of sources; none for what is empty."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=out, no_color=not options.color, highlight=False)

    def table(*columns: tuple[str, str]) -> Table:
        made = Table(header_style="bold", box=None, pad_edge=False)
        for title, justify in columns:
            made.add_column(title, justify="right" if justify == ">" else "left", overflow="fold")
        return made

    rules = table(("count", ">"), ("code", "<"), ("name", "<"), ("streams", ">"))
    for one in statistics.rules():
        rules.add_row(str(one.count), one.code, _name(one), str(one.streams))
    sources = table(("errors", ">"), ("warnings", ">"), ("streams", ">"), ("worst sources", "<"))
    for source in statistics.sources():
        name = _plain(visible(source.source, ascii_only=options.ascii_only))
        sources.add_row(str(source.errors), str(source.warnings), str(source.streams), name)
    for made in (rules, sources):
        if made.row_count:
            console.print(made)


def _plain(text: str) -> Any:
    """Text that is not taken for markup."""
    from rich.text import Text

    return Text(text)


def _rule_object(one: RuleCount) -> dict[str, Any]:
    rule = default().rules[one.code]
    return {
        "code": one.code,
        "rule": rule.name,
        "severity": rule.severity,
        "count": one.count,
        "streams": one.streams,
    }


def _name(one: RuleCount) -> str:
    return default().rules[one.code].name


def _faults(one: SourceCount) -> str:
    return f"{_count(one.errors, 'error')}, {_count(one.warnings, 'warning')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
