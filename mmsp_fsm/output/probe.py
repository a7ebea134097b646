"""The results of a probe, as text, JSON and JUnit. What a server sent is in them: it is escaped as each format asks."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from mmsp_fsm.output.escaping import visible
from mmsp_fsm.output.formats.json import json_text, stream_object
from mmsp_fsm.output.formats.junit import SUITE, Element, JUnitSuite
from mmsp_fsm.output.text import COLUMNS, Renderer
from mmsp_fsm.probe.catalog import OUTCOMES, Result

VERSION = 1
"""Of the JSON document's shape."""

SHOWN = 3
"""Diagnostics of a stream that are printed below its case."""

_STYLES = {"passed": "good", "failed": "error", "not shown": "gutter", "error": "error"}


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
        self._results: list[Result] = []

    def add(self, one: Result) -> None:
        """Print one result; one that failed with what is demanded and why, and the stream's diagnostics."""
        self._results.append(one)
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

    def end(self) -> None:
        """Print the totals."""
        counted = totals(self._results)
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


class JsonResults:
    """All results as one JSON document."""

    def __init__(
        self, out: TextIO, url: str, model: str, hide: Callable[[str], str], *, ascii_only: bool = False
    ) -> None:
        self._out, self._hide, self._ascii_only = out, hide, ascii_only
        self._head = {"version": VERSION, "url": url, "model": model}
        self._results: list[Result] = []

    def add(self, one: Result) -> None:
        """Take one result."""
        self._results.append(one)

    def end(self) -> None:
        """Write the document."""
        results = [result_object(one) for one in self._results]
        document = {**self._head, "results": results, "summary": totals(self._results)}
        self._out.write(self._hide(json_text(document, ascii_only=self._ascii_only, indent=1)) + "\n")


class JUnitResults:
    """The results as one suite: a failure where `fails` says so, and what is else not shown is skipped."""

    def __init__(
        self,
        out: TextIO,
        url: str,
        hide: Callable[[str], str],
        fails: Callable[[Result], bool],
        *,
        ascii_only: bool = False,
    ) -> None:
        self._hide, self._fails = hide, fails
        self._suite = JUnitSuite(out, f"{SUITE} probe {hide(url)}", ascii_only=ascii_only)

    def add(self, one: Result) -> None:
        """Take one result."""
        self._suite.case(f"{one.case.code} {one.case.name}", f"{SUITE}.probe", [self._element(one)], one.seconds)

    def end(self) -> None:
        """Write the document."""
        self._suite.write()

    def _element(self, one: Result) -> Element:
        says = self._hide(one.judgement.says)
        case = one.case
        if one.outcome == "not shown":
            says = f"not shown: {says}"
        if self._fails(one):
            text = f"{says}\ndemands: {case.demands}\nshown by: {case.shown_by}\nwhy: {case.why}"
            return Element("failure", text, {"type": f"{case.code} {case.name}", "message": says})
        if one.outcome == "error":
            return Element("error", says, {"type": "unreadable", "message": says})
        if one.outcome == "not shown":
            return Element("skipped", f"shown by: {case.shown_by}", {"message": says})
        return Element("system-out", f"advice: {says}" if one.outcome == "failed" else says)
