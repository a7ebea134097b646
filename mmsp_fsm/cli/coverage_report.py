"""Coverage for people: what was taken how often, what never, and the percentage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from mmsp_fsm.reference.coverage import Coverage, Row

NEVER = "never"


def lines(result: Coverage, expand: bool) -> Iterator[str]:
    """The table as lines of text, and last the percentage."""
    rows = list(result.rows(expand))
    widths = [max((len(text) for text in column), default=0) for column in zip(*map(_cells, rows), strict=True)]
    yield "states"
    for state, count in result.states(expand):
        yield f"  {_number(count):>9}  {state}"
    for what in dict.fromkeys(row.what for row in rows):
        yield ""
        yield f"{what}s"
        for row in rows:
            if row.what == what:
                state, symbol, outcome, note = (
                    text.ljust(width) for text, width in zip(_cells(row), widths, strict=True)
                )
                yield f"  {_number(row.count):>9}  {state}  {symbol}  {outcome}  {note}".rstrip()
    yield ""
    yield f"{result.words} ({result.percent:.1f} %)"


def table(result: Coverage, expand: bool) -> Table:
    """The same as a table for a terminal."""
    from rich.table import Table
    from rich.text import Text

    made = Table("", "state", "symbol", "outcome", "times", "", header_style="bold", box=None, pad_edge=False)
    for state, count in result.states(expand):
        made.add_row("state", state, "", "", _styled(count), "")
    for row in result.rows(expand):
        read, symbol, outcome, note = map(Text, _cells(row))
        made.add_row(row.what, read, symbol, outcome, _styled(row.count), note)
    return made


def _cells(row: Row) -> tuple[str, str, str, str]:
    note = f"{NEVER}: {', '.join(row.never)}" if row.never else ""
    return row.state, row.symbol, row.outcome, note


def _number(count: int) -> str:
    return f"{count:,}" if count else NEVER


def _styled(count: int) -> Text:
    from rich.text import Text

    return Text(_number(count), "" if count else "yellow")
