"""The results of a probe, as text, JSON and JUnit. What a server sent is in them: it is escaped as each format asks."""

from __future__ import annotations

import re
import textwrap
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from mmsp_fsm.output.json import json_text, stream_object
from mmsp_fsm.output.text import COLUMNS, Renderer
from mmsp_fsm.output.visible import visible
from mmsp_fsm.probing.results import OUTCOMES, Result

VERSION = 1
"""Of the JSON document's shape."""

SHOWN = 3
"""Diagnostics of a stream that are printed below its case."""

_TEXT_LIMIT = 2000
_STYLES = {"passed": "good", "failed": "error", "not shown": "gutter", "error": "error"}
_BLANK = re.compile(r"\s+")


def totals(results: Sequence[Result]) -> dict[str, int]:
    """How many cases came out in which way; advice that is not followed is counted apart."""
    counted = Counter(
        "advice" if one.outcome == "failed" and one.case.severity == "warning" else one.outcome for one in results
    )
    return {"cases": len(results), **{name.replace(" ", "_"): counted[name] for name in (*OUTCOMES, "advice")}}


class TextResults:
    """Prints each result as soon as it is known, and the totals."""

    def __init__(
        self,
        out: TextIO,
        renderer: Renderer,
        hide: Callable[[str], str],
        *,
        verbose: bool = False,
        ascii_only: bool = False,
    ) -> None:
        self._out, self._renderer, self._hide = out, renderer, hide
        self._verbose, self._ascii_only = verbose, ascii_only

    def add(self, one: Result) -> None:
        """Print one result; one that failed with what is demanded and why, and the stream's diagnostics."""
        advice = one.outcome == "failed" and one.case.severity == "warning"
        style, word = ("warning", "advice") if advice else (_STYLES[one.outcome], one.outcome)
        case = one.case
        self._line(f"{self._renderer.styled(style, f'{word:<9}')} {case.code} {case.name}: {self._text(one)}")
        if one.outcome == "failed" or self._verbose:
            self._note("demands", case.demands)
            if one.outcome == "not shown":
                self._note("shown by", case.shown_by)
            self._note("why", case.why)
        report = one.judgement.report
        if report is not None and one.outcome == "failed":
            for diagnostic in report.diagnostics[:SHOWN]:
                self._line("")
                for line in self._renderer.diagnostic(diagnostic, report.source):
                    self._line(f"    {line}".rstrip())
            self._line("")
        self._out.flush()

    def end(self, results: Sequence[Result]) -> None:
        """Print the totals."""
        counted = totals(results)
        parts = [f"{counted['passed']} passed", f"{counted['failed']} failed", f"{counted['not_shown']} not shown"]
        if counted["error"]:
            parts.append(f"{counted['error']} could not be asked")
        advice = f"; {counted['advice']} of advice" if counted["advice"] else ""
        self._line(f"{counted['cases']} cases: {', '.join(parts)}{advice}")

    def _text(self, one: Result) -> str:
        return visible(one.judgement.says, ascii_only=self._ascii_only)

    def _note(self, name: str, text: str) -> None:
        first, *rest = textwrap.wrap(text, COLUMNS - 20)
        for number, line in enumerate((first, *rest)):
            self._line(f"{'' if number else name + ':':>19} {line}")

    def _line(self, line: str) -> None:
        self._out.write(self._hide(line) + "\n")


def result_object(one: Result) -> dict[str, Any]:
    """One result as the JSON document holds it."""
    report = one.judgement.report
    return {
        "code": one.case.code,
        "name": one.case.name,
        "severity": one.case.severity,
        "outcome": one.outcome,
        "message": one.judgement.says,
        "demands": one.case.demands,
        "shown_by": one.case.shown_by,
        "why": one.case.why,
        "seconds": round(one.seconds, 3),
        "stream": stream_object(report) if report is not None else None,
    }


def json_document(url: str, model: str, results: Sequence[Result], *, ascii_only: bool = False) -> str:
    """All results as one JSON document."""
    document = {
        "version": VERSION,
        "url": url,
        "model": model,
        "results": [result_object(one) for one in results],
        "summary": totals(results),
    }
    return json_text(document, ascii_only=ascii_only, indent=1)


def junit_document(url: str, results: Sequence[Result]) -> str:
    """All results as JUnit XML: what failed against a demand is a failure, what is not shown is skipped."""
    counted = totals(results)
    numbers = {
        "tests": str(counted["cases"]),
        "failures": str(counted["failed"]),
        "errors": str(counted["error"]),
        "skipped": str(counted["not_shown"]),
        "time": f"{sum(one.seconds for one in results):.3f}",
    }
    suite = ET.Element("testsuite", {"name": f"mmsp-fsm probe {_xml(url)}", **numbers})
    for one in results:
        name = f"{one.case.code} {one.case.name}"
        case = ET.SubElement(suite, "testcase", classname="mmsp-fsm.probe", name=name, time=f"{one.seconds:.3f}")
        says = _xml(one.judgement.says)
        if one.outcome == "failed" and one.case.severity == "error":
            found = ET.SubElement(case, "failure", type=one.case.code, message=says)
            found.text = f"{one.case.demands}\n{one.case.why}"
        elif one.outcome == "error":
            ET.SubElement(case, "error", type=one.case.code, message=says)
        elif one.outcome == "not shown":
            ET.SubElement(case, "skipped", message=f"not shown: {says}")
        else:
            ET.SubElement(case, "system-out").text = ("advice: " if one.outcome == "failed" else "") + says
    root = ET.Element("testsuites", numbers)
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False)


def _xml(text: str) -> str:
    """`text` without what XML 1.0 cannot hold in any way (2.2): what is not plainly visible becomes an escape."""
    return visible(_BLANK.sub(" ", text)[:_TEXT_LIMIT])
