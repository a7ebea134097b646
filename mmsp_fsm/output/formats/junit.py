"""JUnit XML, as CI servers read it: how a suite of test cases is written, and a run with one for each stream."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO
from xml.sax.saxutils import escape, quoteattr

from attrs import evolve, field, frozen

from mmsp_fsm.checker.diagnostics import Diagnostic, StreamReport
from mmsp_fsm.engines.results import Summary
from mmsp_fsm.output.escaping import visible
from mmsp_fsm.output.formats.registry import OutputOptions
from mmsp_fsm.output.statistics import statistics_lines
from mmsp_fsm.output.text import Renderer
from mmsp_fsm.recordings.sources import Unreadable

if TYPE_CHECKING:
    from mmsp_fsm.output.counting import Statistics

SUITE = "mmsp-fsm"
"""The name of a run's suite, and of the class that CI servers list its test cases under."""

IN_MEMORY = 1 << 20
"""Characters of test cases that are held in memory; more go to a temporary file until the totals are known."""


@frozen
class Element:
    """What a test case holds: a `failure`, an `error`, `skipped` or `system-out`, its text and its attributes."""

    name: str
    text: str = ""
    attributes: dict[str, str] = field(factory=dict)


class JUnitSuite:
    """Writes one suite of test cases to `out`, once all are known: the schema demands the totals in front of them.

    Until then they wait in a temporary file, so that memory stays constant. Characters that XML 1.0 forbids, and all
    that show nothing, are escaped visibly, as in text output. Where `out` may know no characters but ASCII, the others
    are named by number. A time is told where one is known, and none is made up.
    """

    def __init__(self, out: TextIO, name: str, *, ascii_only: bool = False) -> None:
        self._out, self._name, self._ascii_only = out, name, ascii_only
        self._cases = tempfile.SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8", newline="\n")  # noqa: SIM115 - `write` closes it
        self._found: Counter[str] = Counter()
        self._seconds: float | None = None

    def case(self, name: str, class_name: str, elements: Iterable[Element], seconds: float | None = None) -> None:
        """Take one test case: what was found, and how long it took."""
        self._found["tests"] += 1
        time = ""
        if seconds is not None:
            self._seconds = (self._seconds or 0.0) + seconds
            time = self._attribute("time", f"{seconds:.3f}")
        start = f"  <testcase{self._attribute('classname', class_name)}{self._attribute('name', name)}{time}"
        body = ""
        for one in elements:
            self._found[one.name] += 1
            body += f"   {self._element(one)}\n"
        self._cases.write(f"{start}>\n{body}  </testcase>\n" if body else f"{start}/>\n")

    def write(self) -> None:
        """Write the document; nothing can be taken any more."""
        found = self._found
        totals = f'tests="{found["tests"]}" failures="{found["failure"]}" errors="{found["error"]}"'
        if self._seconds is not None:
            totals += self._attribute("time", f"{self._seconds:.3f}")
        # The schema knows it of a suite alone.
        skipped = self._attribute("skipped", str(found["skipped"])) if found["skipped"] else ""
        encoding = "us-ascii" if self._ascii_only else "UTF-8"
        name = self._attribute("name", self._name)
        with self._cases as cases:
            self._out.write(
                f'<?xml version="1.0" encoding="{encoding}"?>\n'
                f"<testsuites{name} {totals}>\n <testsuite{name} {totals}{skipped}>\n"
            )
            cases.seek(0)
            shutil.copyfileobj(cases, self._out)
        self._out.write(" </testsuite>\n</testsuites>\n")

    def _element(self, one: Element) -> str:
        given = "".join(self._attribute(name, value) for name, value in one.attributes.items())
        safe = "\n".join(visible(line) for line in one.text.split("\n"))
        return f"<{one.name}{given}>{self._encoded(escape(safe))}</{one.name}>"

    def _attribute(self, name: str, value: str) -> str:
        return f" {name}={self._encoded(quoteattr(visible(value)))}"

    def _encoded(self, text: str) -> str:
        return text.encode("ascii", "xmlcharrefreplace").decode("ascii") if self._ascii_only else text


class JUnitReport:
    """A run as one suite: a test case for each stream, and for each source that could not be read."""

    def __init__(self, out: TextIO, options: OutputOptions) -> None:
        self._options = options
        self._renderer = Renderer()
        self._suite = JUnitSuite(out, SUITE, ascii_only=options.ascii_only)

    def begin(self) -> None:
        """Nothing can be written before the totals are known."""

    def add(self, one: StreamReport | Unreadable) -> None:
        """Take one test case."""
        if isinstance(one, Unreadable):
            elements = [Element("error", one.message, {"type": "unreadable", "message": one.message})]
            name = one.source
        else:
            elements = self._found(one)
            name = one.source or "the stream"
            name += f" [{one.stream}]" if one.stream is not None else ""
        self._suite.case(name, SUITE, elements)

    def end(self, summary: Summary, statistics: Statistics | None = None) -> None:  # noqa: ARG002 - it counts itself
        """Write the document. Statistics go to standard error, for it has no place for them."""
        self._suite.write()
        for line in statistics_lines(statistics, ascii_only=True) if statistics is not None else ():
            self._options.complain(line)

    def _found(self, report: StreamReport) -> list[Element]:
        """The elements of one stream: a failure that lists what fails it, and the warnings that do not."""
        failing = [one for one in report.diagnostics if self._fails(one)]
        parts = []
        if report.errors or (report.warnings and self._options.warnings_fail):
            fault = failing[0]
            more = report.errors + (report.warnings if self._options.warnings_fail else 0) - 1
            message = f"{fault.code} event {fault.event}: {fault.message}" + (f" (and {more} more)" if more else "")
            shown = evolve(report, diagnostics=tuple(failing), warnings=self._options.warnings_fail * report.warnings)
            kind = f"{fault.code} {fault.rule.name}"
            parts.append(Element("failure", self._lines(shown), {"type": kind, "message": message}))
        if report.warnings and not self._options.warnings_fail:
            warnings = tuple(one for one in report.diagnostics if not self._fails(one))
            shown = evolve(report, diagnostics=warnings, errors=0)
            parts.append(Element("system-out", self._lines(shown)))
        return parts

    def _fails(self, one: Diagnostic) -> bool:
        return one.severity == "error" or self._options.warnings_fail

    def _lines(self, report: StreamReport) -> str:
        return "\n".join(self._renderer.stream(report)).rstrip("\n")
