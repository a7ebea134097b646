"""Streams modelled on public bug reports give what is to be said of them."""

import json
from pathlib import Path

import pytest

import mmsp_fsm
from mmsp_fsm.engines.checking import CheckOptions, check_source
from mmsp_fsm.recordings.sources import Source

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "cases.jsonl").read_text(encoding="utf-8").split("\n")
    if line
]


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


@pytest.mark.parametrize("case", [case for case in CASES if "with_options" in case], ids=lambda case: case["id"])
def test_case_with_options(case, tmp_path):
    path = tmp_path / f"a.{case['format']}"
    path.write_text(case["input"], encoding="utf-8")
    options = dict(case["with_options"])
    streams = options.pop("streams")
    found = check_source(Source("a", path), CheckOptions(**options))
    assert [{"stream": one.stream, "verdict": one.verdict, "outcome": one.outcome} for one in found] == streams
