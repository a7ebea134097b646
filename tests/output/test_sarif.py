"""SARIF: valid against the published schema, and what a code scanning service is told."""

import json
from pathlib import Path

import jsonschema
import pytest
from attrs import evolve

import mmsp_fsm
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.output.links import uri_of
from tests.output.runs import HOSTILE, UNREADABLE, hostile, report, written
from tests.streams import HI, stop, t, t_done, th

SCHEMA = json.loads((Path(__file__).parent.parent / "data/schemas/sarif-schema-2.1.0.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def run_of(*reports, **options):
    log = json.loads(written("sarif", *reports, **options)[0])
    VALIDATOR.validate(log)
    (run,) = log["runs"]
    return run


def bad(name="a.jsonl", **more):
    return report(th("a"), t("b"), t_done("b"), stop(), source=name, **more)


def test_the_schema_refuses_what_is_wrong():
    log = json.loads(written("sarif", bad())[0])
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert not VALIDATOR.is_valid(log)


def test_no_stream_is_a_valid_log():
    run = run_of()
    assert run["results"] == []
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


@pytest.mark.parametrize("rule", default().rules.values(), ids=lambda rule: rule.code)
def test_the_bad_example_of_every_rule(rule):
    found = mmsp_fsm.validate(
        rule.bad.text.encode(), format=rule.bad.format, select=["ALL"], limits=mmsp_fsm.Limits(**rule.bad.limits)
    )
    run = run_of(evolve(found, source="a.jsonl"))
    assert rule.code in {one["ruleId"] for one in run["results"]}
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_result():
    (result,) = run_of(bad("folder/a b.jsonl", stream="r1"))["results"]
    fingerprints = result.pop("partialFingerprints")
    assert list(fingerprints) == ["mmspFault/v1"]
    snippets = [
        place["physicalLocation"]["region"].pop("snippet")["text"]
        for place in (*result["locations"], *result["relatedLocations"])
    ]
    assert ['"text.delta"' in snippets[0], '"thinking.delta"' in snippets[1]] == [True, True]
    address = {"uri": "folder/a%20b.jsonl"}
    assert result == {
        "ruleId": "E302",
        "ruleIndex": list(default().rules).index("E302"),
        "level": "error",
        "message": {"text": "text.delta stands here while a thinking group is open"},
        "locations": [
            {
                "logicalLocations": [
                    {"fullyQualifiedName": "event 1/content_items/0/type", "kind": "value"}
                ],
                "physicalLocation": {"artifactLocation": address, "region": {"startLine": 2}},
            }
        ],
        "properties": {
            "stream": "r1",
            "event": 1,
            "pointer": "/content_items/0/type",
            "state": "thinking_open",
            "expected": ["thinking.delta", "thinking.done", "error"],
        },
        "relatedLocations": [
            {
                "id": 0,
                "logicalLocations": [{"fullyQualifiedName": "event 0/content_items/0", "kind": "value"}],
                "physicalLocation": {"artifactLocation": address, "region": {"startLine": 1}},
                "message": {"text": "the thinking group was opened here"},
            }
        ],
    }  # fmt: skip


def test_the_rules_are_the_catalogue_s():
    rules = run_of(bad(), docs_url="https://docs.example/mmsp/")["tool"]["driver"]["rules"]
    assert [one["id"] for one in rules] == list(default().rules)
    by_code = {one["id"]: one for one in rules}
    assert by_code["E302"]["name"] == "group-left-open"
    assert by_code["E302"]["helpUri"] == "https://docs.example/mmsp/rules/E302.html"
    assert by_code["E302"]["defaultConfiguration"] == {"level": "error", "enabled": True}
    assert by_code["W504"]["defaultConfiguration"] == {"level": "warning", "enabled": False}
    assert by_code["E302"]["shortDescription"]["text"] == default().rules["E302"].summary
    assert set(by_code["E302"]["help"]) == {"text", "markdown"}
    assert "helpUri" not in run_of(bad())["tool"]["driver"]["rules"][0]


def fingerprints(*reports):
    return [one["partialFingerprints"]["mmspFault/v1"] for one in run_of(*reports)["results"]]


def test_fingerprints_do_not_move_with_lines_and_tell_faults_apart():
    assert fingerprints(bad()) == fingerprints(report(*HI, th("other"), t("c"), t_done("c"), stop()))
    once, twice = (report(*times * [t("a"), t_done("b")], stop()) for times in (1, 2))
    assert len(fingerprints(twice)) == len(set(fingerprints(twice))) > 1
    assert fingerprints(once)[0] == fingerprints(twice)[0]
    apart = fingerprints(bad("a.jsonl"), bad("b.jsonl"), bad("a.jsonl", stream=0), bad("a.jsonl", stream=1))
    assert len(set(apart)) == 4


def test_what_cannot_be_read_is_a_notification():
    (invocation,) = run_of(bad(), UNREADABLE)["invocations"]
    assert invocation["executionSuccessful"] is False
    (one,) = invocation["toolExecutionNotifications"]
    assert (one["descriptor"], one["level"]) == ({"id": "source-unreadable"}, "error")
    assert one["message"] == {"text": "x\\x1b\\ud800]]>.jsonl: no such\\x07 file"}


def test_what_is_not_listed_is_counted():
    many = report(*[b"{" for _ in range(1000)], stop())
    run = run_of(many, many)
    assert len(run["results"]) == 200
    (one,) = run["invocations"][0]["toolExecutionNotifications"]
    assert one["level"] == "note"
    assert one["message"]["text"].startswith("1800 more results are not listed")
    assert run["invocations"][0]["executionSuccessful"] is True


@pytest.mark.parametrize("ascii_only", [True, False])
def test_hostile_streams(ascii_only):
    text, _ = written("sarif", hostile(stream=HOSTILE), UNREADABLE, ascii_only=ascii_only)
    assert not any(one in text for one in "\x1b\x07\x00\x9b\u202e\r\x0b")
    assert text.isascii() or not ascii_only
    run = run_of(hostile(stream=HOSTILE), UNREADABLE)
    for result in run["results"]:
        said = result["message"]["text"]
        assert "](" not in said, "a link that a viewer would follow"
        assert "{0}" not in said.replace("{{0}}", ""), "a placeholder that a viewer would fill"
        for place in result["locations"]:
            address = place["physicalLocation"]["artifactLocation"]["uri"]
            assert address == "a%20%2C%3A%25%1B%5B31m%0A%5D%5D%3E%C3%A9%FF.jsonl"
    assert run["results"][0]["properties"]["stream"] == HOSTILE


def test_addresses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert uri_of("a/b.jsonl") == "a/b.jsonl"
    assert uri_of("./a/../b.jsonl") == "b.jsonl"
    assert uri_of(str(tmp_path / "ä.jsonl")) == "%C3%A4.jsonl"
    assert uri_of("../b c.jsonl") == (tmp_path.parent / "b c.jsonl").as_uri()
    assert uri_of("<stdin>") == "%3Cstdin%3E"
    assert uri_of("c:d.jsonl") == "c%3Ad.jsonl"
    assert uri_of("a%41.jsonl") == "a%2541.jsonl"
    assert uri_of("s3://bucket/a b.jsonl") == "s3://bucket/a%20b.jsonl"


def test_statistics_go_to_standard_error():
    text, said = written("sarif", bad(), statistics=True)
    VALIDATOR.validate(json.loads(text))
    assert said == ["1  E302  group-left-open  in 1 stream", "1 error, 0 warnings in a.jsonl"]
