"""The catalogue: codes and names are the contract's, and each rule's examples show that rule and nothing else."""

import re
from difflib import SequenceMatcher

import pytest

import mmsp_fsm
from mmsp_fsm import Limits, UnknownRuleError
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.grammar.selection import find_rule, selected

CONTRACT = {
    "E101": "not-json",
    "E102": "not-an-object",
    "E103": "missing-field",
    "E104": "unknown-field",
    "E105": "wrong-type",
    "E106": "wrong-role",
    "E107": "unknown-event-type",
    "E108": "unknown-finish-reason",
    "E121": "delta-item-count",
    "E122": "delta-carries-usage",
    "E123": "delta-carries-finish-reason",
    "E124": "stop-carries-items",
    "E125": "stop-without-usage",
    "E126": "stop-without-finish-reason",
    "E201": "unknown-item-type",
    "E202": "user-only-item",
    "E203": "bad-base64",
    "E301": "done-without-delta",
    "E302": "group-left-open",
    "E303": "done-of-another-kind",
    "E304": "stop-inside-group",
    "E305": "event-after-stop",
    "E306": "repeated-stop",
    "E307": "missing-end",
    "E308": "stop-and-error",
    "E309": "event-after-error",
    "E401": "call-without-name",
    "E402": "call-without-id",
    "E403": "call-header-repeated",
    "E404": "arguments-not-json",
    "E405": "arguments-not-an-object",
    "E406": "done-content-mismatch",
    "E407": "done-header-changed",
    "E408": "fidelity-repeated",
    "E409": "fidelity-mismatch",
    "E410": "vector-in-pieces",
    "E411": "image-in-pieces",
    "E412": "argument-error-outside-call",
    "W501": "created-at-in-seconds",
    "W502": "created-at-goes-back",
    "W503": "finish-reason-without-call",
    "W504": "call-without-finish-reason",
    "W505": "call-id-reused",
    "W506": "nothing-but-thinking",
    "W507": "duplicate-argument-key",
    "W508": "mime-type-unclear",
    "W509": "call-header-absent",
    "W510": "done-marker-missing",
    "W511": "argument-error-unwarranted",
    "W512": "internal-item-id",
    "W513": "group-not-compared",
}

HEADINGS = {"Events", "Grammar", "Items", "Tool calls", "Embeddings", "On the wire"}
"""The sections of the protocol."""

RULES = default().rules
EVERY_RULE = pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)


def checked(example, rule):
    """The report of an example; its rule is selected, whether it is on by default or not."""
    return mmsp_fsm.validate(
        example.text.encode(),
        format=example.format,
        extend_select=[rule.code],
        limits=Limits(**example.limits),
    )


def codes(report, severity):
    return [one.code for one in report.diagnostics if one.severity == severity]


def test_codes_and_names_are_the_contract_s():
    assert {code: rule.name for code, rule in RULES.items()} == CONTRACT
    assert list(RULES) == sorted(RULES)


def test_all_rules_but_one_are_on():
    assert [rule.code for rule in RULES.values() if not rule.default] == ["W504"]
    assert default().default_rules == set(CONTRACT) - {"W504"}


@EVERY_RULE
def test_the_code_tells_the_severity(rule):
    assert rule.severity == {"E": "error", "W": "warning"}[rule.code[0]]
    assert re.fullmatch(r"[EW][1-5][0-9]{2}", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)


@EVERY_RULE
def test_the_bad_example_shows_this_rule_and_no_other_error(rule):
    report = checked(rule.bad, rule)
    if rule.severity == "error":
        assert codes(report, "error") == [rule.code]
        assert report.verdict == "violating"
    else:
        assert [one.code for one in report.diagnostics] == [rule.code]
        assert report.verdict == "conforming"
    assert report.diagnostics[0].rule is rule


@EVERY_RULE
def test_the_good_example_shows_nothing(rule):
    report = checked(rule.good, rule)
    assert report.diagnostics == ()
    assert (report.verdict, report.errors, report.warnings) == ("conforming", 0, 0)
    assert report.outcome in ("stopped", "failed")


@EVERY_RULE
@pytest.mark.parametrize("which", ["bad", "good"])
def test_the_format_is_told_from_the_example_too(rule, which):
    example = getattr(rule, which)
    told = mmsp_fsm.validate(example.text.encode(), extend_select=[rule.code], limits=Limits(**example.limits))
    assert told == checked(example, rule)


@EVERY_RULE
def test_what_is_not_selected_is_not_reported(rule):
    example = rule.bad
    text, limits = example.text.encode(), Limits(**example.limits)
    report = mmsp_fsm.validate(text, format=example.format, limits=limits, ignore=[rule.code])
    assert rule.code not in [one.code for one in report.diagnostics]
    assert report.verdict == "conforming"
    alone = mmsp_fsm.validate(text, format=example.format, limits=limits, select=[rule.name])
    assert {one.code for one in alone.diagnostics} == {rule.code}
    by_default = mmsp_fsm.validate(text, format=example.format, limits=limits)
    assert (rule.code in [one.code for one in by_default.diagnostics]) is rule.default


@EVERY_RULE
def test_the_bad_example_says_where_and_what_was_expected(rule):
    report = checked(rule.bad, rule)
    (said,) = [one for one in report.diagnostics if one.code == rule.code]
    definition = default()
    assert 0 <= said.event <= report.events
    assert said.line is not None
    assert said.line >= 1
    assert said.state in definition.states
    assert set(said.expected) <= set(definition.symbols)
    assert list(said.expected) == [name for name in definition.symbols if name in said.expected]
    assert said.message == said.message.strip()
    assert said.message.isprintable()
    assert not said.message.endswith(".")


@EVERY_RULE
def test_the_good_example_is_the_bad_one_mended_by_a_small_change(rule):
    bad, good = (re.split(r'[",]', example.text) for example in (rule.bad, rule.good))
    assert bad != good
    assert SequenceMatcher(None, bad, good, autojunk=False).ratio() > 0.5
    assert rule.bad.format == rule.good.format


@EVERY_RULE
def test_the_words_are_there(rule):
    assert rule.protocol in HEADINGS
    for words in (rule.summary, rule.why, rule.cause, rule.mend):
        assert words.strip().endswith(".")
        assert words.strip()[0].isupper()
        assert "  " not in words
    assert "\n" not in rule.summary
    assert len(rule.why.split()) >= 25
    assert all(len(line) <= 120 for line in rule.why.splitlines())


@EVERY_RULE
def test_the_examples_end_with_their_last_record(rule):
    for example in (rule.bad, rule.good):
        assert example.text.startswith("{" if example.format == "jsonl" else ("[", "data: "))
        assert example.text.endswith("\n")


def test_every_format_and_every_layer_has_an_example():
    assert {rule.bad.format for rule in RULES.values()} >= {"jsonl", "sse"}
    assert {rule.layer for rule in RULES.values()} == {"model", "producer", "transport", "recorder"}


# ── Asking for a rule, and choosing some ─────────────────────────────────────────────────────────────────────────


@EVERY_RULE
def test_a_rule_is_found_by_code_and_name_in_any_case(rule):
    for word in (rule.code, rule.code.lower(), rule.name, rule.name.upper(), f" {rule.name} "):
        assert find_rule(default(), word) is rule


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("E3021", "there is no rule 'E3021'; did you mean E302?"),
        ("group-let-open", "there is no rule 'group-let-open'; did you mean group-left-open?"),
        ("GROUP-LET-OPEN", "there is no rule 'GROUP-LET-OPEN'; did you mean group-left-open?"),
        ("zzzzzz", "there is no rule 'zzzzzz'"),
        ("", "there is no rule ''"),
        ("E30\x1b[31m", "there is no rule 'E30\\x1b[31m'"),
    ],
)
def test_a_rule_that_is_none_names_the_nearest(word, said):
    with pytest.raises(UnknownRuleError) as refused:
        find_rule(default(), word)
    assert str(refused.value).startswith(said)


CHOICES = [
    ({}, set(CONTRACT) - {"W504"}),
    ({"select": ["E302"]}, {"E302"}),
    ({"select": ["e302", "group-left-open"]}, {"E302"}),
    ({"select": ["E10"]}, {f"E10{digit}" for digit in range(1, 9)}),
    ({"select": ["E12"]}, {f"E12{digit}" for digit in range(1, 7)}),
    ({"select": ["W"]}, {code for code in CONTRACT if code[0] == "W"}),
    ({"select": ["w"]}, {code for code in CONTRACT if code[0] == "W"}),
    ({"select": ["ALL"]}, set(CONTRACT)),
    ({"select": ["all"]}, set(CONTRACT)),
    ({"select": []}, set()),
    ({"extend_select": ["W504"]}, set(CONTRACT)),
    ({"extend_select": ["call-without-finish-reason"]}, set(CONTRACT)),
    ({"ignore": ["E", "W501"]}, {code for code in CONTRACT if code[0] == "W"} - {"W501", "W504"}),
    ({"extend_select": ["W504"], "ignore": ["W504"]}, set(CONTRACT) - {"W504"}),
    ({"select": ["E1"], "extend_select": ["E2"], "ignore": ["E10", "E12"]}, {"E201", "E202", "E203"}),
]


@pytest.mark.parametrize(("how", "chosen"), CHOICES)
def test_rules_are_chosen_as_linters_do(how, chosen):
    assert selected(default(), **how) == chosen


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("E9", "there is no rule 'E9'"),
        ("E3O2", "there is no rule 'E3O2'; did you mean E302?"),
        ("", "a rule's code, name or family is due, and here is nothing"),
        ("  ", "a rule's code, name or family is due, and here is nothing"),
    ],
)
@pytest.mark.parametrize("option", ["select", "extend_select", "ignore"])
def test_a_word_that_chooses_nothing_is_refused(option, word, said):
    with pytest.raises(UnknownRuleError) as refused:
        selected(default(), **{option: ["E302", word]})
    assert str(refused.value).startswith(said)
