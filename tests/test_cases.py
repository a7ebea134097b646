"""Streams modelled on public bug reports give what is to be said of them."""

import json
from pathlib import Path

import pytest

import mmsp_fsm

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "cases.jsonl").read_text(encoding="utf-8").split("\n")
    if line
]

WAITING = {"b122-run-after-failed-run": "with_options: --split stop"}
"""Cases of which a part waits for a feature; the list must shrink to nothing."""


@pytest.mark.parametrize("told", [True, False], ids=["format given", "format told from content"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case, told):
    data = case["input"].encode("utf-8", "surrogatepass")
    report = mmsp_fsm.validate(data, format=case["format"] if told else None)
    expect = case["expect"]
    codes = {severity: sorted({d.code for d in report.diagnostics if d.severity == severity})
             for severity in ("error", "warning")}  # fmt: skip
    assert (report.verdict, report.outcome) == (expect["verdict"], expect["outcome"])
    assert codes == {"error": sorted(expect["rules"]), "warning": sorted(expect["warnings"])}


def test_only_the_named_cases_wait():
    assert {case["id"] for case in CASES if "with_options" in case} == set(WAITING)
