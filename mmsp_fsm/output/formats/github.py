"""Workflow commands, which GitHub Actions shows as annotations of a run and of the files it speaks of."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from mmsp_fsm.checker.diagnostics import Diagnostic, StreamReport
from mmsp_fsm.engines.results import Summary
from mmsp_fsm.output.escaping import visible
from mmsp_fsm.output.formats.registry import OutputOptions
from mmsp_fsm.output.links import workspace_path
from mmsp_fsm.output.statistics import statistics_lines
from mmsp_fsm.output.text import Renderer
from mmsp_fsm.recordings.sources import Unreadable

if TYPE_CHECKING:
    from mmsp_fsm.output.counting import Statistics

SHOWN = 10
"""Annotations of one level that GitHub shows of one step. The others stand in its log alone."""


class WorkflowCommands:
    """Prints a command for each diagnostic as soon as it is known, and the totals as a line of the log.

    All commands are printed, for the log shows them; a notice tells when there are more than GitHub annotates.
    """

    def __init__(self, out: TextIO, options: OutputOptions) -> None:
        self._out, self._options = out, options
        self._renderer = Renderer(ascii_only=options.ascii_only)
        self._printed = {"error": 0, "warning": 0}

    def begin(self) -> None:
        """Nothing stands before the first command."""

    def add(self, one: StreamReport | Unreadable) -> None:
        """Print the commands of one stream, or why a source could not be read."""
        if isinstance(one, Unreadable):
            self._command("error", self._visible(one.message), file=one.source, title="unreadable")
            return
        for diagnostic in one.diagnostics:
            self._diagnostic(diagnostic, one)
        left = one.errors + one.warnings - len(one.diagnostics)
        if left:
            level = "error" if one.errors else "warning"
            self._command(level, f"{left} more of this stream are not listed", file=one.source, title="mmsp-fsm")

    def end(self, summary: Summary, statistics: Statistics | None = None) -> None:
        """Print what GitHub leaves out, the totals, and the statistics if there are any."""
        unshown = [f"{count - SHOWN} of {count} {level}s" for level, count in self._printed.items() if count > SHOWN]
        if unshown:
            message = f"{' and '.join(unshown)} have no annotation, for GitHub shows {SHOWN} of a step; "
            message += "the log has all that are listed"
            self._command("notice", message, title="mmsp-fsm")
        if not self._options.quiet:
            self._out.write(self._renderer.summary(summary) + "\n")
        if statistics is not None:
            self._out.writelines(
                f"{line}\n" for line in statistics_lines(statistics, ascii_only=self._options.ascii_only)
            )

    def _diagnostic(self, one: Diagnostic, report: StreamReport) -> None:
        stream = f"stream {report.stream}, " if report.stream is not None else ""
        where = f"{stream}event {one.event}" + (f", {one.pointer}" if one.pointer else "")
        lines = [one.message, f"at {where}"]
        if one.expected:
            lines.append(f"state {one.state}; here may stand: {', '.join(one.expected)}")
        lines += [f"event {related.event}: {related.message}" for related in one.related]
        lines.append(f"help: {one.rule.mend}")
        message = "\n".join(self._visible(line) for line in lines)
        place = {} if one.line is None else {"line": str(one.line)}
        self._command(one.severity, message, file=report.source, **place, title=f"{one.code} {one.rule.name}")

    def _command(self, level: str, message: str, *, file: str | None = None, **properties: str) -> None:
        """Print one command. `message` may have several lines; what is hidden in it has been made visible."""
        if level in self._printed:
            self._printed[level] += 1
        given = ({} if file is None else {"file": workspace_path(file)}) | properties
        stated = ",".join(f"{name}={_property(self._visible(value))}" for name, value in given.items())
        self._out.write(f"::{level} {stated}::{_data(message)}\n")

    def _visible(self, text: str) -> str:
        return visible(text, ascii_only=self._options.ascii_only)


def _data(text: str) -> str:
    """A command's message as GitHub asks for it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """A command's property: what ends one is escaped, too."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
