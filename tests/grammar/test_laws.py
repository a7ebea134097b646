"""A definition that is incomplete or contradicts itself does not load, and the sentence says which key is at fault.

Each case is a small edit of the shipped files, as TOML gives them; the sentences are asserted whole.
"""

# ruff: noqa: E501  (tables of whole sentences)

import tomllib
from copy import deepcopy
from pathlib import Path
from typing import get_args

import pytest

from mmsp_fsm.grammar.definition import Action, Predicate, Property
from mmsp_fsm.grammar.errors import DefinitionError
from mmsp_fsm.grammar.loading import default, grammar_folder, load
from mmsp_fsm.grammar.source import build

FOLDER = Path(__file__).parents[2] / "grammar"
GRAMMAR = tomllib.loads((FOLDER / "mmsp.toml").read_text(encoding="utf-8"))
CATALOGUE = tomllib.loads((FOLDER / "rules.toml").read_text(encoding="utf-8"))

ACTIONS, PREDICATES, PROPERTIES = (str(list(get_args(words))) for words in (Action, Predicate, Property))


def refusal(edit):
    """What is said of the shipped definition after an edit; "" where it loads."""
    grammar, catalogue = deepcopy(GRAMMAR), deepcopy(CATALOGUE)
    edit(grammar, catalogue)
    try:
        build(grammar, catalogue)
    except DefinitionError as error:
        return str(error)
    return ""


def put(path, value):
    """Set the key that a path of the grammar leads to."""

    def edit(grammar, _):
        *parents, last = path
        for part in parents:
            grammar = grammar[part]
        grammar[last] = value

    return edit


def drop(*path):
    """Take away the key that a path of the grammar leads to."""

    def edit(grammar, _):
        *parents, last = path
        for part in parents:
            grammar = grammar[part]
        del grammar[last]

    return edit


def add(*path, value):
    """Append to the list that a path of the grammar leads to."""

    def edit(grammar, _):
        for part in path:
            grammar = grammar[part]
        grammar.append(value)

    return edit


def number(part, source, on):
    """The number of the row from `source` on `on` in a part of the machine."""
    rows = GRAMMAR["machine"][part]
    (found,) = [i for i, row in enumerate(rows) if (row["from"], row["on"]) == (source, on)]
    return found


STOP = number("transitions", "between_groups", "stop")
INSIDE = number("violations", "{kind}_open", "stop")
GUARDS = [row["when"] for row in GRAMMAR["machine"]["guards"]]
TOLD, PIECE = GUARDS.index("another_group"), GUARDS.index("second_piece")


def rule(code, key, value):
    """Set a key of a rule."""

    def edit(_, catalogue):
        catalogue[code][key] = value

    return edit


def limbo(grammar, _):
    grammar["machine"]["states"].append({"name": "limbo", "role": "ended", "title": "nowhere"})
    every = ["{kind}.delta", "{kind}.done"], ["stop", "error", "unknown", "unreadable", "end"]
    grammar["machine"]["transitions"] += [{"from": "limbo", "on": on, "to": "limbo"} for on in every]


def both(*edits):
    def edit(grammar, catalogue):
        for one in edits:
            one(grammar, catalogue)

    return edit


def another_rule(_, catalogue):
    catalogue["E999"] = {**catalogue["E101"], "name": "never-said"}


def case(name, edit, *sentences):
    return pytest.param(edit, list(sentences), id=name)


def kind(**properties):
    return put(["kind", "video"], {"grows": "data", "joins": "bytes", **properties})


TABLE = [
    case("undeclared cell", drop("machine", "transitions", STOP),
         "mmsp.toml: the cell between_groups x stop has no outcome: add it to machine.transitions or machine.violations"),
    case("undeclared cells of a new state", add("machine", "states", value={"name": "limbo", "role": "ended", "title": "?"}),
         *(f"mmsp.toml: the cell limbo x {symbol} has no outcome: add it to machine.transitions or machine.violations"
           for symbol in default().symbols)),
    case("two transitions for a cell", add("machine", "transitions", value={"from": "stopped", "on": "end", "to": "stopped"}),
         "mmsp.toml: machine.transitions[13] gives the cell stopped x end a second outcome, after machine.transitions[6]"),
    case("a transition and a violation for a cell",
         add("machine", "violations", value={"from": "between_groups", "on": "stop", "to": "stopped", "rules": ["E304"]}),
         "mmsp.toml: machine.violations[22] gives the cell between_groups x stop a second outcome, after machine.transitions[1]"),
    case("one row twice for a cell", put(["machine", "transitions", STOP, "on"], ["stop", "stop"]),
         "mmsp.toml: machine.transitions[1] gives the cell between_groups x stop a second outcome, after machine.transitions[1]"),
    case("a kind's own row beside that of every kind",
         add("machine", "transitions", value={"from": "text_open", "on": "text.done", "to": "between_groups", "do": ["close"]}),
         "mmsp.toml: machine.transitions[13] gives the cell text_open x text.done a second outcome, after machine.transitions[4]"),
    case("a state twice", add("machine", "states", value={"name": "stopped", "role": "ended", "title": "?"}),
         "mmsp.toml: machine.states names stopped twice"),
    case("a kind's state twice", add("machine", "states", value={"name": "text_open", "role": "open", "title": "?"}),
         "mmsp.toml: machine.states names text_open twice"),
    case("a symbol twice", add("machine", "symbols", value={"name": "stop", "title": "?"}),
         "mmsp.toml: machine.symbols names stop twice"),
    case("a row to no state", put(["machine", "transitions", STOP, "to"], "stoped"),
         "mmsp.toml: the row between_groups x stop goes to stoped, which is no state"),
    case("a row from no state", add("machine", "transitions", value={"from": "between", "on": "stop", "to": "stopped"}),
         "mmsp.toml: the row between x stop starts from between, which is no state"),
    case("a row on no symbol", add("machine", "transitions", value={"from": "stopped", "on": "stpo", "to": "stopped"}),
         "mmsp.toml: the row stopped x stpo is on stpo, which is no symbol"),
    case("a placeholder that is none", add("machine", "transitions", value={"from": "stopped", "on": "{knid}.done", "to": "stopped"}),
         "mmsp.toml: the row stopped x {knid}.done is on {knid}.done, which is no symbol"),
    case("a guard to no state", put(["machine", "guards", PIECE, "to"], "nowhere"),
         "mmsp.toml: the row embedding_open x embedding.delta goes to nowhere, which is no state"),
    case("an unknown action", put(["machine", "transitions", STOP, "do"], ["finsh"]),
         f"mmsp.toml: machine.transitions[1].do[0]: finsh is none of {ACTIONS}"),
    case("an unknown guard", put(["machine", "guards", TOLD, "when"], "another"),
         f"mmsp.toml: machine.guards[{TOLD}].when: another is none of {PREDICATES}"),
    case("an unknown property", put(["machine", "guards", TOLD, "where"], "toldby"),
         f"mmsp.toml: machine.guards[{TOLD}].where: toldby is none of {PROPERTIES}"),
    case("an unreachable state", limbo, "mmsp.toml: no row leads to the state limbo"),
    case("a violation without rules", drop("machine", "violations", INSIDE, "rules"),
         f"mmsp.toml: machine.violations[{INSIDE}].rules: this key is absent"),
    case("a violation with no rules", put(["machine", "violations", INSIDE, "rules"], []),
         f"mmsp.toml: machine.violations[{INSIDE}] names no rules"),
    case("a violation that says nothing", drop("machine", "violations", number("violations", "stopped", "stop"), "says"),
         "mmsp.toml: the row stopped x stop is a violation, and says nothing"),
    case("a transition with rules", put(["machine", "transitions", STOP, "rules"], ["E304"]),
         "mmsp.toml: machine.transitions[1]: there is no key rules"),
    case("a transition with a guard's key", put(["machine", "transitions", STOP, "when"], "second_piece"),
         "mmsp.toml: machine.transitions[1]: there is no key when"),
    case("a violation with a guard's key", put(["machine", "violations", INSIDE, "rule"], "E304"),
         f"mmsp.toml: machine.violations[{INSIDE}]: there is no key rule"),
    case("a guard with a violation's key", put(["machine", "guards", TOLD, "rules"], ["E302"]),
         f"mmsp.toml: machine.guards[{TOLD}]: there is no key rules"),
    *(case(f"a guard without {key}", drop("machine", "guards", TOLD, key),
           f"mmsp.toml: machine.guards[{TOLD}].{key}: this key is absent") for key in ("when", "rule", "says", "to", "on")),
    case("a guard on a violation", put(["machine", "guards", TOLD, "on"], "{other}.delta"),
         f"mmsp.toml: machine.guards[{TOLD}] guards tool_call_open x text.delta, which is no transition"),
    case("a guard on no cell", put(["machine", "guards", PIECE, "from"], "embeding_open"),
         f"mmsp.toml: machine.guards[{PIECE}] guards embeding_open x embedding.delta, which is no transition"),
    case("two initial states", put(["machine", "states", 2, "role"], "initial"),
         "mmsp.toml: machine.states has 2 states of role initial; there is exactly one"),
    case("no initial state", put(["machine", "states", 0, "role"], "ended"),
         "mmsp.toml: machine.states has 0 states of role initial; there is exactly one"),
    case("no unsure state", put(["machine", "states", 4, "role"], "ended"),
         "mmsp.toml: machine.states has 0 states of role unsure; there is exactly one"),
    case("a role that is none", put(["machine", "states", 0, "role"], "begin"),
         "mmsp.toml: machine.states[0].role: begin is none of ['initial', 'open', 'ended', 'unsure']"),
    case("no open states", put(["machine", "states", 1, "role"], "ended"),
         *(f"mmsp.toml: machine.states has no open state for the kind {name}" for name in default().kinds)),
]  # fmt: skip

KINDS = [
    case("told by no field", put(["kind", "tool_call", "told_by"], "id"),
         "mmsp.toml: kind.tool_call.told_by is id, a field that its header does not declare"),
    case("in one piece by no field", put(["kind", "inline_data", "one_piece_when"], {"mime": "image/*"}),
         "mmsp.toml: kind.inline_data.one_piece_when looks at mime, a field that its header does not declare"),
    case("no kind at all", lambda grammar, _: (grammar.update(kind={}), grammar.update(finish_reason={})), "mmsp.toml: there is no [kind]"),
    case("a name in upper case", put(["kind", "Video"], {"grows": "data", "joins": "bytes"}),
         "mmsp.toml: kind.Video: a kind's name is lower case letters, digits and _"),
    case("a name with a dot", put(["kind", "vi.deo"], {"grows": "data", "joins": "bytes"}),
         "mmsp.toml: kind.vi.deo: a kind's name is lower case letters, digits and _"),
    case("a user-only item", put(["kind", "image_url"], {"grows": "url", "joins": "text"}),
         "mmsp.toml: kind.image_url is in user_only.items too"),
    case("it grows the type", kind(grows="type"), "mmsp.toml: kind.video: type is a field of every item, so no kind declares it"),
    case("it grows the fidelity", kind(grows="fidelity"),
         "mmsp.toml: kind.video: fidelity is a field of every item, so no kind declares it"),
    case("its header holds the type", put(["kind", "tool_call", "header", 0, "name"], "type"),
         "mmsp.toml: kind.tool_call: type is a field of every item, so no kind declares it"),
    case("its header holds what grows", put(["kind", "tool_call", "header", 0, "name"], "arguments"),
         "mmsp.toml: kind.tool_call declares a field twice"),
    case("a header field twice", put(["kind", "tool_call", "header", 0, "name"], "tool_call_id"),
         "mmsp.toml: kind.tool_call declares a field twice"),
    case("it grows no field", kind(grows="my data"), "mmsp.toml: kind.video: 'my data' is no field name"),
    case("it grows a word of Python's", kind(grows="class"), "mmsp.toml: kind.video: 'class' is no field name"),
    case("a header field with a dash", put(["kind", "tool_call", "header", 0, "name"], "the-name"),
         "mmsp.toml: kind.tool_call: 'the-name' is no field name"),
    case("closing what is no text", kind(closes="json_object"),
         "mmsp.toml: kind.video.closes = 'json_object' reads joined text, but it joins bytes"),
    case("whole values in pieces", kind(joins="whole"), "mmsp.toml: kind.video joins whole values, so it needs one_piece = true"),
    case("joined in no known way", kind(joins="txt"), "mmsp.toml: kind.video.joins: txt is none of ['text', 'bytes', 'whole']"),
    case("closed in no known way", kind(closes="json"), "mmsp.toml: kind.video.closes: json is none of ['json_object']"),
    case("later in no known way", put(["kind", "inline_data", "header", 0, "later"], "other"),
         "mmsp.toml: kind.inline_data.header[0].later: other is none of ['empty', 'same']"),
]  # fmt: skip

LOOKED_UP = {
    "event_type": "event_type",
    "content_items": "items",
    "usage_metadata": "usage",
    "finish_reason": "finish_reason",
    "created_at": "time",
}
EVENT_FIELDS = [entry["name"] for entry in GRAMMAR["event"]["field"]]

EVENTS = [
    case("a third event type", put(["event", "types"], ["delta", "stop", "start"]),
         "mmsp.toml: event.types is ['delta', 'stop', 'start']; an event is a delta or a stop"),
    case("no stop", put(["event", "types"], ["delta"]), "mmsp.toml: event.types is ['delta']; an event is a delta or a stop"),
    case("a field twice", add("event", "field", value=GRAMMAR["event"]["field"][0]), "mmsp.toml: event.field names one twice"),
    case("a count twice", add("usage", "counts", value="prompt_tokens"), "mmsp.toml: usage.counts names one twice"),
    case("a reason twice", add("event", "finish_reasons", value="stop"), "mmsp.toml: event.finish_reasons names one twice"),
    *(case(f"no {name}", put(["event", "field", EVENT_FIELDS.index(name), "name"], "other"),
           f"mmsp.toml: event.field lacks {name}, which holds {holds!r}") for name, holds in LOOKED_UP.items()),
    case("a constant without a value", drop("event", "field", 0, "value"),
         "mmsp.toml: event.field.role holds a constant, and has no value"),
    case("a field that holds no known thing", put(["event", "field", 0, "holds"], "text"),
         "mmsp.toml: event.field[0].holds: text is none of "
         "['constant', 'event_type', 'items', 'usage', 'finish_reason', 'time']"),
    case("a finish reason that needs no kind", put(["finish_reason", "tool_call", "needs"], "call"),
         "mmsp.toml: finish_reason.tool_call speaks of call, which is no kind"),
    case("a finish reason that denies no kind", put(["finish_reason", "stop", "denies"], "call"),
         "mmsp.toml: finish_reason.stop speaks of call, which is no kind"),
    case("a finish reason that is none", put(["finish_reason", "end"], {"needs": "text"}),
         "mmsp.toml: finish_reason.end is not in event.finish_reasons"),
]  # fmt: skip

RULES = [
    case("a row reports no rule", put(["machine", "violations", number("violations", "stopped", "stop"), "rules"], ["E999"]),
         "rules.toml: there is no rule E999, which mmsp.toml names at the cell stopped x stop",
         "rules.toml: nothing in mmsp.toml can report E306 (repeated-stop)"),
    case("a guard reports no rule", put(["machine", "guards", PIECE, "rule"], "E999"),
         "rules.toml: there is no rule E999, which mmsp.toml names at the cell embedding_open x embedding.delta",
         "rules.toml: nothing in mmsp.toml can report E410 (vector-in-pieces)"),
    case("a check reports no rule", put(["check", "bad_base64"], "E999"),
         "rules.toml: there is no rule E999, which mmsp.toml names at check.bad_base64",
         "rules.toml: nothing in mmsp.toml can report E203 (bad-base64)"),
    case("a header reports no rule", put(["kind", "tool_call", "header", 0, "empty"], "E999"),
         "rules.toml: there is no rule E999, which mmsp.toml names at kind.tool_call.header.name",
         "rules.toml: nothing in mmsp.toml can report E401 (call-without-name)"),
    case("a field reports no rule", put(["event", "field", 0, "mismatch"], "E999"),
         "rules.toml: there is no rule E999, which mmsp.toml names at event.field.role",
         "rules.toml: nothing in mmsp.toml can report E106 (wrong-role)"),
    case("a field's presence reports no rule", put(["event", "field", 3, "stop", "rule"], "E999"),
         "rules.toml: there is no rule E999, which mmsp.toml names at event.field.usage_metadata",
         "rules.toml: nothing in mmsp.toml can report E125 (stop-without-usage)"),
    case("nothing can report a rule", another_rule, "rules.toml: nothing in mmsp.toml can report E999 (never-said)"),
    case("a rule is named instead of its code", put(["check", "not_compared"], "group-not-compared"),
         "rules.toml: there is no rule group-not-compared, which mmsp.toml names at check.not_compared",
         "rules.toml: nothing in mmsp.toml can report W513 (group-not-compared)"),
    case("an E code that warns", rule("E101", "severity", "warning"),
         "rules.toml: E101.severity is warning; E codes are errors, W codes warnings"),
    case("a W code that is an error", rule("W501", "severity", "error"),
         "rules.toml: W501.severity is error; E codes are errors, W codes warnings"),
    case("a severity that is none", rule("E101", "severity", "fatal"),
         "rules.toml: E101.severity: fatal is none of ['error', 'warning']"),
    case("two rules of one name", rule("E102", "name", "not-json"), "rules.toml: E102.name is not-json, which is E101's"),
    case("a layer that is none", rule("E101", "layer", "user"),
         "rules.toml: E101.layer: user is none of ['model', 'producer', 'transport', 'recorder']"),
    case("a format that is none", rule("E101", "good", {"format": "xml", "text": "<a/>"}),
         "rules.toml: E101.good.format: xml is none of ['jsonl', 'sse', 'json']"),
]  # fmt: skip


def rule_without(key):
    def edit(_, catalogue):
        del catalogue["E302"][key]

    return edit


TYPES = [
    case("a boolean in words", put(["kind", "thinking", "hidden"], "no"), "mmsp.toml: kind.thinking.hidden: bool is due, not 'no'"),
    case("a boolean as a number", put(["kind", "thinking", "hidden"], 1), "mmsp.toml: kind.thinking.hidden: bool is due, not 1"),
    case("an integer with a fraction", put(["time", "milliseconds_from"], 1.5),
         "mmsp.toml: time.milliseconds_from: int is due, not 1.5"),
    case("an integer as a boolean", put(["time", "milliseconds_from"], True),
         "mmsp.toml: time.milliseconds_from: int is due, not True"),
    case("a string where a list is due", put(["usage", "counts"], "prompt_tokens"),
         "mmsp.toml: usage.counts: list is due, not 'prompt_tokens'"),
    case("a rule where a list of rules is due", put(["machine", "violations", INSIDE, "rules"], "E304"),
         f"mmsp.toml: machine.violations[{INSIDE}].rules: list is due, not 'E304'"),
    case("a number in a list of strings", put(["usage", "counts"], ["prompt_tokens", 1]),
         "mmsp.toml: usage.counts[1]: str is due, not 1"),
    case("a number where a state is due", put(["machine", "transitions", 0, "from"], 5),
         "mmsp.toml: machine.transitions[0].from: str is due, not 5"),
    case("a number among states", put(["machine", "transitions", 0, "from"], ["stopped", 5]),
         "mmsp.toml: machine.transitions[0].from: str is due, not ['stopped', 5]"),
    case("the kinds are no table", put(["kind"], 5), "mmsp.toml: kind: an object is due"),
    case("a kind is no table", put(["kind", "text"], "text"), "mmsp.toml: kind.text: an object is due"),
    case("a check is no table", put(["check"], []), "mmsp.toml: check: an object is due"),
    case("the machine is no table", put(["machine"], []), "mmsp.toml: machine: an object is due"),
    case("a rule's switch in words", rule("E302", "default", "yes"), "rules.toml: E302.default: bool is due, not 'yes'"),
    case("a rule's example is no table", rule("E302", "bad", "{}"), "rules.toml: E302.bad: an object is due"),
    case("a limit in words", rule("W513", "bad", {"format": "jsonl", "text": "", "limits": {"group_bytes": "few"}}),
         "rules.toml: W513.bad.limits.group_bytes: int is due, not 'few'"),
]  # fmt: skip

KEYS = [
    case("of the file", put(["chek"], {}), "mmsp.toml: there is no key chek"),
    case("of a kind", put(["kind", "text", "hiden"], True), "mmsp.toml: kind.text: there is no key hiden"),
    case("of a header", put(["kind", "tool_call", "header", 1, "nmae"], ""), "mmsp.toml: kind.tool_call.header[1]: there is no key nmae"),
    case("of an event field", put(["event", "field", 2, "delta", "most"], 1), "mmsp.toml: event.field[2].delta: there is no key most"),
    case("of the machine", put(["machine", "transition"], []), "mmsp.toml: machine: there is no key transition"),
    case("of a row", put(["machine", "transitions", 3, "too"], "x"), "mmsp.toml: machine.transitions[3]: there is no key too"),
    case("of a state", put(["machine", "states", 0, "colour"], "red"), "mmsp.toml: machine.states[0]: there is no key colour"),
    case("of a rule", rule("E302", "wy", "because"), "rules.toml: E302: there is no key wy"),
    case("of an example", rule("E302", "bad", {"format": "jsonl", "text": "", "txt": ""}), "rules.toml: E302.bad: there is no key txt"),
    case("two of them", both(put(["kind", "text", "hiden"], True), put(["chek"], {})),
         "mmsp.toml: there is no key chek", "mmsp.toml: kind.text: there is no key hiden"),
]  # fmt: skip

ABSENT = [
    *(case(f"mmsp.toml {key}", drop(key), f"mmsp.toml: {key}: this key is absent")
      for key in GRAMMAR if key not in ("kind", "finish_reason")),
    *(case(f"check {key}", drop("check", key), f"mmsp.toml: check.{key}: this key is absent") for key in GRAMMAR["check"]),
    *(case(f"machine {key}", drop("machine", key), f"mmsp.toml: machine.{key}: this key is absent") for key in GRAMMAR["machine"]),
    *(case(f"event {key}", drop("event", key), f"mmsp.toml: event.{key}: this key is absent") for key in GRAMMAR["event"]),
    *(case(f"kind {key}", drop("kind", "text", key), f"mmsp.toml: kind.text.{key}: this key is absent") for key in ("grows", "joins")),
    *(case(f"row {key}", drop("machine", "violations", INSIDE, key), f"mmsp.toml: machine.violations[{INSIDE}].{key}: this key is absent")
      for key in ("from", "on", "to")),
    *(case(f"rule {key}", rule_without(key), f"rules.toml: E302.{key}: this key is absent") for key in CATALOGUE["E302"]),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "sentences"), TABLE + KINDS + EVENTS + RULES)
def test_a_law_is_broken(edit, sentences):
    assert refusal(edit) == "; ".join(sentences)


@pytest.mark.parametrize(("edit", "sentences"), TYPES)
def test_a_value_of_another_type_is_not_bent(edit, sentences):
    assert refusal(edit) == "; ".join(sentences)


@pytest.mark.parametrize(("edit", "sentences"), KEYS)
def test_an_unknown_key(edit, sentences):
    assert sorted(refusal(edit).split("; ")) == sorted(sentences)


@pytest.mark.parametrize(("edit", "sentences"), ABSENT)
def test_a_key_is_absent(edit, sentences):
    assert refusal(edit) == "; ".join(sentences)


@pytest.mark.parametrize(("at", "lacks"), [
    (0, [f"{name}.delta" for name in default().kinds]),
    (1, [f"{name}.done" for name in default().kinds]),
    *enumerate((["stop"], ["error"], ["unknown"], ["unreadable"], ["end"]), 2),
])  # fmt: skip
def test_a_symbol_is_missing(at, lacks):
    said = refusal(drop("machine", "symbols", at)).split("; ")
    assert said[: len(lacks)] == [f"mmsp.toml: machine.symbols lacks {name}" for name in lacks]
    assert set(said[len(lacks) :]) == {
        f"mmsp.toml: the row {state} x {name} is on {name}, which is no symbol"
        for state in default().states
        for name in lacks
    }


def test_what_ships_breaks_no_law():
    assert refusal(lambda grammar, catalogue: None) == ""
    assert build(GRAMMAR, CATALOGUE) == default() == load(grammar_folder())


def test_all_faults_are_said_at_once():
    said = refusal(both(put(["kind", "tool_call", "told_by"], "id"), drop("machine", "transitions", STOP)))
    assert said == (
        "mmsp.toml: kind.tool_call.told_by is id, a field that its header does not declare; mmsp.toml: the cell "
        "between_groups x stop has no outcome: add it to machine.transitions or machine.violations"
    )


# ── The files ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def folder(tmp_path):
    for name in ("mmsp.toml", "rules.toml"):
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    return tmp_path


def line_of(path, text):
    return path.read_text(encoding="utf-8").split("\n").index(text) + 1


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("mmsp.toml", "hidden = true", "hidden = yes", "Invalid value (at line {}, column 10)"),
        (
            "mmsp.toml",
            "[kind.thinking]",
            "[kind.text]",
            "Cannot declare ('kind', 'text') twice (at line {}, column 11)",
        ),
        ("rules.toml", "[E102]", "[E101]", "Cannot declare ('E101',) twice (at line {}, column 6)"),
        ("rules.toml", "[E102]", "[E102", "Expected ']' at the end of a table declaration (at line {}, column 6)"),
    ],
)
def test_what_is_no_toml_is_refused_with_its_line(folder, file, old, new, said):
    path = folder / file
    line = line_of(path, old)
    path.write_text(path.read_text(encoding="utf-8").replace(f"\n{old}\n", f"\n{new}\n", 1), encoding="utf-8")
    with pytest.raises(DefinitionError) as refused:
        load(folder)
    assert str(refused.value) == f"{file} is not TOML: {said.format(line)}"


def test_what_is_no_text_is_refused_with_its_offset(folder):
    path = folder / "mmsp.toml"
    path.write_bytes(b"# \xff\n" + path.read_bytes())
    with pytest.raises(DefinitionError) as refused:
        load(folder)
    assert str(refused.value) == "mmsp.toml is not UTF-8: invalid start byte at offset 2"


@pytest.mark.parametrize("file", ["mmsp.toml", "rules.toml"])
def test_a_file_that_is_missing_is_an_os_error(folder, file):
    (folder / file).unlink()
    with pytest.raises(FileNotFoundError, match=file):
        load(folder)


@pytest.mark.parametrize("file", ["mmsp.toml", "rules.toml"])
def test_an_empty_file_is_refused(folder, file):
    (folder / file).write_text("", encoding="utf-8")
    with pytest.raises(DefinitionError, match=r"\.toml: "):
        load(folder)
