"""The output formats by name: a module each, loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TextIO

from attrs import frozen

if TYPE_CHECKING:
    from mmsp_fsm.checker.diagnostics import StreamReport
    from mmsp_fsm.engines.results import Summary
    from mmsp_fsm.output.counting import Statistics
    from mmsp_fsm.recordings.sources import Unreadable

FORMATS = {
    "text": "output.text:TextRun",
    "json": "output.formats.json:JsonDocument",
    "jsonl": "output.formats.jsonl:JsonLines",
    "sarif": "output.formats.sarif:SarifLog",
    "junit": "output.formats.junit:JUnitReport",
    "github": "output.formats.github:WorkflowCommands",
}
"""Each format's module and class in `mmsp_fsm.output`, in the order in which the help lists them."""


@frozen
class OutputOptions:
    """What an output needs to know of where it goes, and of what was asked for.

    `complain` says a line on standard error; `color` and `terminal` tell what looks at the output, `ascii_only` that
    it knows no other characters; `quiet` leaves out all but diagnostics; `warnings_fail` says that a warning fails a
    stream; `docs_url` is where the pages of `mmsp-fsm docs` are, to which rules then lead.
    """

    complain: Callable[[str], None]
    color: bool = False
    terminal: bool = False
    ascii_only: bool = False
    quiet: bool = False
    warnings_fail: bool = False
    docs_url: str | None = None


class Output(Protocol):
    """What every format does with a run. Each stream is written as soon as it is known, wherever the format lets it."""

    def __init__(self, out: TextIO, options: OutputOptions) -> None: ...

    def begin(self) -> None:
        """Write what stands before the first stream."""

    def add(self, one: StreamReport | Unreadable) -> None:
        """Write one stream, or why a source could not be read."""

    def end(self, summary: Summary, statistics: Statistics | None = None) -> None:
        """Write the rest: the totals, and the statistics if they were asked for."""


def output_for(name: str, out: TextIO, options: OutputOptions) -> Output:
    """The output of one of `FORMATS`, to `out`."""
    module, attribute = FORMATS[name].split(":")
    made: Output = getattr(import_module(f"mmsp_fsm.{module}"), attribute)(out, options)
    return made
