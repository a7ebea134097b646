"""JUnit XML: valid against the schema that Jenkins publishes, and what a CI server is told."""

from pathlib import Path

import pytest
from attrs import evolve
from lxml import etree

import mmsp_fsm
from mmsp_fsm.grammar.loading import default
from tests.output.runs import HOSTILE, UNREADABLE, hostile, report, written
from tests.streams import HI, c, c_done, stop, t, t_done

SCHEMA = etree.XMLSchema(file=str(Path(__file__).parent.parent / "data/schemas/junit-10.xsd"))


def suite_of(*reports, **options):
    root = etree.fromstring(written("junit", *reports, **options)[0].encode())
    SCHEMA.assertValid(root)
    assert root.tag == "testsuites"
    (suite,) = root
    totals = {name: suite.get(name) for name in ("tests", "failures", "errors")}
    assert totals == {name: root.get(name) for name in totals}
    assert totals == {
        "tests": str(len(suite)),
        "failures": str(len(suite.findall("*/failure"))),
        "errors": str(len(suite.findall("*/error"))),
    }
    return suite


GOOD = report(*HI, stop())
BAD = report(t("a"), t_done("b"), source="bad.jsonl")
WARNED = report(*HI, c("{}", "f", "c1"), c_done({}), stop("stop"), source="warned.jsonl", rules=["W504"])


def test_no_stream_is_an_empty_suite():
    assert len(suite_of()) == 0


def test_a_test_case_for_each_stream():
    suite = suite_of(GOOD, BAD, WARNED, evolve(BAD, stream="r1"), UNREADABLE)
    assert [(one.get("classname"), one.get("name"), [part.tag for part in one]) for one in suite] == [
        ("mmsp-fsm", "a.jsonl", []),
        ("mmsp-fsm", "bad.jsonl", ["failure"]),
        ("mmsp-fsm", "warned.jsonl", ["system-out"]),
        ("mmsp-fsm", "bad.jsonl [r1]", ["failure"]),
        ("mmsp-fsm", "x\\x1b\\ud800]]>.jsonl", ["error"]),
    ]
    failure = suite[1][0]
    assert failure.get("type") == "E406 done-content-mismatch"
    assert failure.get("message").startswith("E406 event 1: the done item's text is not what the fragments carried")
    assert failure.get("message").endswith(" (and 1 more)")
    assert [line for line in failure.text.splitlines() if line.startswith("error[")][1].startswith("error[E307]")
    assert suite[2][0].text.startswith("warning[W504]: ")
    assert suite[4][0].get("message") == suite[4][0].text == "no such\\x07 file"


def test_warnings_fail_where_they_are_to():
    (case,) = suite_of(WARNED, warnings_fail=True)
    assert [part.tag for part in case] == ["failure"]
    assert case[0].text.startswith("warning[W504]: ")


@pytest.mark.parametrize("rule", default().rules.values(), ids=lambda rule: rule.code)
def test_the_bad_example_of_every_rule(rule):
    found = mmsp_fsm.validate(
        rule.bad.text.encode(), format=rule.bad.format, select=["ALL"], limits=mmsp_fsm.Limits(**rule.bad.limits)
    )
    (case,) = suite_of(evolve(found, source="a.jsonl"))
    assert case[0].tag == ("failure" if rule.severity == "error" else "system-out")
    assert f"[{rule.code}]" in "".join(part.text for part in case)


@pytest.mark.parametrize("ascii_only", [True, False])
def test_hostile_streams(ascii_only):
    reports = hostile(stream=HOSTILE), UNREADABLE
    text, _ = written("junit", *reports, ascii_only=ascii_only)
    assert not any(one in text for one in "\x1b\x07\x00\x9b\u202e\r\x0b\ufffe\uffff")
    assert text.isascii() or not ascii_only
    assert "]]>" not in text
    suite = suite_of(*reports, ascii_only=ascii_only)
    assert suite[0].get("name").startswith("a ,:%\\x1b[31m\\n]]>é\\udcff.jsonl [\\x1b]52")
    assert "\\u202e" in suite[0][0].text


def test_what_is_not_listed_is_counted():
    (case,) = suite_of(report(*[b"{" for _ in range(1000)], stop()))
    assert case[0].get("message").endswith(" (and 999 more)")
    assert case[0].text.endswith("... and 900 errors more of this stream")


def test_many_cases_go_through_a_file():
    assert len(suite_of(*[GOOD] * 30_000)) == 30_000


def test_statistics_go_to_standard_error():
    text, said = written("junit", BAD, statistics=True)
    assert etree.fromstring(text.encode()).tag == "testsuites"
    assert said[-1] == "2 errors, 0 warnings in bad.jsonl"
