"""The strategies that others use: faults that are what they say, and that can be had, chosen and shrunk."""

import json
import tomllib
from copy import deepcopy

import pytest
from hypothesis import HealthCheck, find, given, settings

import mmsp_fsm
from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.grammar.loading import default, grammar_folder
from mmsp_fsm.grammar.source import build
from mmsp_fsm.testing.faults.drawing import names
from mmsp_fsm.testing.strategies import faults, streams

QUICK = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def reported(faulty, definition=None):
    checker = StreamChecker(definition, rules=faulty.rules, keep_message=False)
    for line in faulty.lines:
        checker.feed_record(line)
    return [(one.code, one.event) for one in checker.close().diagnostics]


def due(faulty):
    return sorted((one.code, one.event) for one in faulty.due)


@given(faults())
@QUICK
def test_a_checker_reports_what_is_due(faulty):
    assert faulty.due
    assert sorted(reported(faulty)) == due(faulty)
    assert faulty.fault in names()
    assert faulty.says
    assert all(one.code[0] == "E" for one in faulty.errors)
    if faulty.events is not None:
        report = mmsp_fsm.validate(faulty.events, select=faulty.rules)
        assert sorted((one.code, one.event) for one in report.diagnostics) == due(faulty)
        assert (report.verdict == "violating") == bool(faulty.errors)


@pytest.mark.parametrize("name", names())
def test_each_fault_can_be_had_by_name(name):
    """Without a health check that complains: few streams are in vain."""

    @given(faults(named=name))
    @settings(
        max_examples=10, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
    )
    def check(faulty):
        assert faulty.fault == name
        assert sorted(reported(faulty)) == due(faulty)

    check()


@given(faults(rules=["E3", "call-without-name"]))
@QUICK
def test_faults_are_chosen_by_rules(faulty):
    assert any(one.code.startswith("E3") or one.code == "E401" for one in faulty.due)


def test_every_rule_of_a_stream_has_a_fault():
    known = default()
    unknown = [code for code in known.rules if not has_fault(code)]
    assert unknown == [known.check.done_marker_missing, known.check.not_compared]  # the recording's, and the limits'


def has_fault(code):
    try:
        faults(rules=[code])
    except ValueError:
        return False
    return True


def test_words_are_checked():
    with pytest.raises(ValueError, match="no fault named 'nothing'"):
        faults(named=["done_lost", "nothing"])
    with pytest.raises(mmsp_fsm.UnknownRuleError):
        faults(rules=["E999"])
    with pytest.raises(ValueError, match="no fault breaks"):
        faults(named="done_lost", rules=["E1"])


@pytest.mark.parametrize(
    ("name", "records"), [("end_missing", 0), ("done_lost", 3), ("group_inserted", 5), ("arguments_malformed", 3)]
)
def test_faults_shrink_to_short_streams(name, records):
    smallest = find(
        faults(named=name),
        lambda faulty: True,
        settings=settings(database=None, suppress_health_check=list(HealthCheck)),
    )
    assert len(smallest.records) <= records


def renamed():
    """The protocol with other names for its kinds."""
    new = {kind: f"kind{number}" for number, kind in enumerate(default().kinds)}
    grammar, catalogue = (
        deepcopy(tomllib.loads((grammar_folder() / name).read_text(encoding="utf-8")))
        for name in ("mmsp.toml", "rules.toml")
    )
    grammar["kind"] = {new[name]: kind for name, kind in grammar["kind"].items()}
    for reason in grammar["finish_reason"].values():
        for word in reason:
            reason[word] = new[reason[word]]
    return build(grammar, catalogue)


RENAMED = renamed()


@given(faults(RENAMED))
@QUICK
def test_no_fault_knows_a_kind_by_its_name(faulty):
    assert sorted(reported(faulty, RENAMED)) == due(faulty)


@given(streams(RENAMED))
@QUICK
def test_no_stream_knows_a_kind_by_its_name(events):
    checker = StreamChecker(RENAMED, rules=RENAMED.rules, keep_message=False)
    for event in events:
        checker.feed_record(json.dumps(event).encode())
    assert checker.close().diagnostics == ()
