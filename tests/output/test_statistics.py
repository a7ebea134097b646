"""Statistics: true totals, the worst sources, and memory that does not grow."""

import json

from mmsp_fsm.runs import RuleCount, SourceCount, Statistics
from tests.output.runs import UNREADABLE, report, written
from tests.streams import HI, stop, t, t_done

GOOD = report(*HI, stop())
TORN = report(*[b"{" for _ in range(1000)], stop(), source="torn.jsonl")
MIXED = report(t("a"), t_done("b"), b"{", source="mixed\x1b.jsonl")


def counted(*reports, **how):
    statistics = Statistics(**how)
    for one in reports:
        statistics.add(one)
    return statistics


def test_counts_are_true_totals():
    assert len(TORN.diagnostics) == 100
    assert TORN.counts == {"E101": 1000}
    assert counted(GOOD, TORN, MIXED, UNREADABLE, MIXED).rules() == [
        RuleCount("E101", 1002, 3),
        RuleCount("E406", 2, 2),
    ]


def test_what_is_not_selected_is_not_counted():
    assert report(t("a"), t_done("b"), stop(), rules=["W504"]).counts == {}


def test_the_worst_sources():
    assert counted(GOOD, MIXED, MIXED, TORN).sources() == [
        SourceCount("torn.jsonl", 1, 1000, 0),
        SourceCount("mixed\x1b.jsonl", 2, 4, 0),
    ]
    one = [report(*[b"{"] * number, stop(), source=str(number)) for number in (1, 3, 2, 0, 3)]
    assert [(source.source, source.errors) for source in counted(*one, worst=2).sources()] == [("3", 3), ("3", 3)]
    assert len(counted(*one, worst=2)._heap) == 2


def test_lines():
    text, _ = written("text", GOOD, TORN, MIXED, statistics=True, quiet=True)
    assert text.splitlines()[-4:] == [
        "1001  E101  not-json               in 2 streams",
        "   1  E406  done-content-mismatch  in 1 stream",
        "1000 errors, 0 warnings in torn.jsonl",
        "2 errors, 0 warnings in mixed\\x1b.jsonl",
    ]
    assert written("text", GOOD, statistics=True, quiet=True)[0] == ""


def test_a_table_on_a_terminal():
    text, _ = written("text", TORN, MIXED, statistics=True, quiet=True, terminal=True)
    rows = [line.split() for line in text.splitlines()[-6:]]
    assert rows == [
        ["count", "code", "name", "streams"],
        ["1001", "E101", "not-json", "2"],
        ["1", "E406", "done-content-mismatch", "1"],
        ["errors", "warnings", "streams", "worst", "sources"],
        ["1000", "0", "1", "torn.jsonl"],
        ["2", "0", "1", "mixed\\x1b.jsonl"],
    ]


def test_json():
    document = json.loads(written("json", MIXED, statistics=True)[0])
    assert list(document) == ["version", "streams", "unreadable", "summary", "statistics"]
    assert document["statistics"] == {
        "rules": [
            {"code": "E101", "rule": "not-json", "severity": "error", "count": 1, "streams": 1},
            {"code": "E406", "rule": "done-content-mismatch", "severity": "error", "count": 1, "streams": 1},
        ],
        "sources": [{"source": "mixed\x1b.jsonl", "streams": 1, "errors": 2, "warnings": 0}],
    }
    assert "statistics" not in json.loads(written("json", MIXED)[0])
