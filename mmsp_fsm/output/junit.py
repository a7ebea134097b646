"""JUnit XML, as CI servers read it: a test case for each stream."""

from __future__ import annotations

import shutil
import tempfile
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from attrs import evolve

from mmsp_fsm.diagnostics import Diagnostic, StreamReport
from mmsp_fsm.output.formats import OutputOptions
from mmsp_fsm.output.statistics import statistics_lines
from mmsp_fsm.output.text import Renderer
from mmsp_fsm.output.visible import visible
from mmsp_fsm.runs import Statistics, Summary, Unreadable

SUITE = "mmsp-fsm"
"""The name of the one suite, and of the class that CI servers list the test cases under."""

IN_MEMORY = 1 << 20
"""Characters of test cases that are held in memory; more go to a temporary file until the totals are known."""


class JUnitReport:
    """Writes one suite with a test case for each stream, and for each source that could not be read.

    Characters that XML 1.0 forbids, and all that show nothing, are escaped visibly, as in text output. The totals stand
    in front of the test cases, for the schema demands them: so the test cases wait in a temporary file, and memory
    stays constant. A time is known for none of them, and none is made up.
    """

    def __init__(self, out: TextIO, options: OutputOptions) -> None:
        self._out, self._options = out, options
        self._renderer = Renderer()
        self._cases = tempfile.SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8", newline="\n")  # noqa: SIM115
        self._failures = 0

    def begin(self) -> None:
        """Nothing can be written before the totals are known."""

    def add(self, one: StreamReport | Unreadable) -> None:
        """Take one test case."""
        if isinstance(one, Unreadable):
            inside = [self._element("error", one.message, type="unreadable", message=one.message)]
            name = one.source
        else:
            inside = self._found(one)
            name = one.source or "the stream"
            name += f" [{one.stream}]" if one.stream is not None else ""
        start = f"  <testcase classname={self._quoted(SUITE)} name={self._quoted(name)}"
        body = "".join(f"   {part}\n" for part in inside)
        self._cases.write(f"{start}>\n{body}  </testcase>\n" if body else f"{start}/>\n")

    def end(self, summary: Summary, statistics: Statistics | None = None) -> None:
        """Write the document. Statistics go to standard error, for it has no place for them."""
        tests = summary.streams + summary.unreadable
        totals = f'tests="{tests}" failures="{self._failures}" errors="{summary.unreadable}"'
        self._out.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<testsuites name={self._quoted(SUITE)} {totals}>\n <testsuite name={self._quoted(SUITE)} {totals}>\n"
        )
        self._cases.seek(0)
        with self._cases as cases:
            shutil.copyfileobj(cases, self._out)
        self._out.write(" </testsuite>\n</testsuites>\n")
        for line in statistics_lines(statistics, ascii_only=True) if statistics is not None else ():
            self._options.complain(line)

    def _found(self, report: StreamReport) -> list[str]:
        """The elements of one stream: a failure that lists what fails it, and the warnings that do not."""
        failing = [one for one in report.diagnostics if self._fails(one)]
        parts = []
        if report.errors or (report.warnings and self._options.warnings_fail):
            self._failures += 1
            fault = failing[0]
            more = report.errors + (report.warnings if self._options.warnings_fail else 0) - 1
            message = f"{fault.code} event {fault.event}: {fault.message}" + (f" (and {more} more)" if more else "")
            shown = evolve(report, diagnostics=tuple(failing), warnings=self._options.warnings_fail * report.warnings)
            kind = f"{fault.code} {fault.rule.name}"
            parts.append(self._element("failure", self._lines(shown), type=kind, message=message))
        if report.warnings and not self._options.warnings_fail:
            warnings = tuple(one for one in report.diagnostics if not self._fails(one))
            shown = evolve(report, diagnostics=warnings, errors=0)
            parts.append(self._element("system-out", self._lines(shown)))
        return parts

    def _fails(self, one: Diagnostic) -> bool:
        return one.severity == "error" or self._options.warnings_fail

    def _lines(self, report: StreamReport) -> str:
        return "\n".join(self._renderer.stream(report)).rstrip("\n")

    def _element(self, name: str, text: str, **attributes: str) -> str:
        given = "".join(f" {key}={self._quoted(value)}" for key, value in attributes.items())
        safe = "\n".join(visible(line) for line in text.split("\n"))
        return f"<{name}{given}>{self._encoded(escape(safe))}</{name}>"

    def _quoted(self, text: str) -> str:
        return self._encoded(quoteattr(visible(text)))

    def _encoded(self, text: str) -> str:
        """Text for an output that may know no characters but ASCII: the others are named by number."""
        return text.encode("ascii", "xmlcharrefreplace").decode("ascii") if self._options.ascii_only else text
