"""The schemas: recordings and what the tool prints hold to them, and every fault of shape does not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

import mmsp_fsm
from mmsp_fsm.cli.commands.schema import NAMES
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.model.wire import to_json
from mmsp_fsm.output.formats.json import stream_object
from mmsp_fsm.reference.schema import schema_text, schemas
from mmsp_fsm.testing.strategies import messages, streams
from tests.streams import c, d, error, stop, t, t_done, without

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
D = default()
SCHEMAS = schemas(D)
VALID = {name: Draft202012Validator(schema) for name, schema in SCHEMAS.items()}
RECORDINGS = sorted((DATA / "recordings").glob("*.jsonl"))

# Shape, but nothing that a schema can see: E101 is no JSON.
SHAPE = [rule for rule in D.rules.values() if rule.code[:2] in ("E1", "E2") and rule.code != "E101"]


def records(text):
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def of_example(example):
    if example.format == "sse":
        lines = [line.removeprefix("data:").strip() for line in example.text.splitlines() if line.startswith("data:")]
        return [json.loads(line) for line in lines if line != D.recording.done_marker]
    return json.loads(example.text) if example.format == "json" else records(example.text)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_a_schema_with_an_identifier_and_a_title(name):
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"].startswith(f"urn:mmsp-fsm:schema:{name}:")
    assert SCHEMAS[name]["title"]
    assert set(NAMES) == set(SCHEMAS)


def test_every_kind_has_its_items():
    assert {item["$ref"].removeprefix("#/$defs/") for item in SCHEMAS["event"]["$defs"]["item"]["oneOf"]} == {
        symbol for symbol, one in D.symbols.items() if one.kind
    }


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_every_record_of_the_recordings_holds_to_it(path):
    report = mmsp_fsm.validate(path)
    if report.errors:
        pytest.skip("a recording of a stream that violates")
    for record in records(path.read_text(encoding="utf-8")):
        VALID["event"].validate(record)
    if report.message is not None:
        VALID["message"].validate(to_json(report.message))


@pytest.mark.parametrize("rule", SHAPE, ids=lambda rule: rule.code)
def test_a_fault_of_shape_does_not(rule):
    assert not all(VALID["event"].is_valid(record) for record in of_example(rule.bad))
    assert all(VALID["event"].is_valid(record) for record in of_example(rule.good))


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        {},
        stop(created_at=True),
        stop(created_at=-1),
        stop(finish_reason="x"),
        {**stop(), "error": {"type": "a", "message": "b"}},
        {**error(), "x": 1},
        {"error": {"type": "a"}},
        without(stop(), "role"),
        d("AAA"),
        d("AAAA\n"),
        t("a", fidelity=None),
        t_done(1),
    ],
)
def test_other_broken_records(record):
    assert not VALID["event"].is_valid(record)


@pytest.mark.parametrize("record", [d(""), d("AAE="), c(""), error(status=3), t("", fidelity={}), stop()])
def test_odd_records_that_are_right(record):
    VALID["event"].validate(record)


@given(streams())
def test_every_stream_that_conforms_holds_to_it(events):
    for event in events:
        VALID["event"].validate(event)


@given(messages())
def test_every_message_holds_to_it(message):
    VALID["message"].validate(to_json(message))


@pytest.mark.parametrize(
    "paths",
    [
        ["recordings"],
        ["broken"],
        ["missing", "broken/interleaved.jsonl"],
        ["--statistics", "broken"],
        ["--split", "stop", "broken", "recordings"],
        ["--split", "key", "--stream-key", "/role", "--event", "/x", "recordings"],
    ],
    ids=" ".join,
)
def test_what_validate_prints_holds_to_its_schema(paths):
    done = subprocess.run([sys.executable, "-m", "mmsp_fsm", "validate", "--format", "json", *paths], cwd=DATA,
                          env={"PYTHONPATH": str(ROOT)}, capture_output=True, check=False)  # fmt: skip
    document = json.loads(done.stdout)
    assert document["streams"] or document["unreadable"]
    VALID["report"].validate(document)
    assert ("statistics" in document) == ("--statistics" in paths)
    assert not VALID["report"].is_valid({**document, "more": 1})


@pytest.mark.parametrize("rule", D.rules.values(), ids=lambda rule: rule.code)
def test_the_report_of_every_rule_holds_to_it(rule):
    report = mmsp_fsm.validate(rule.bad.text.encode(), format=rule.bad.format, extend_select=[rule.code],
                               limits=mmsp_fsm.Limits(**rule.bad.limits))  # fmt: skip
    stream = Draft202012Validator({"$ref": "#/$defs/stream", "$defs": SCHEMAS["report"]["$defs"]})
    stream.validate(stream_object(report))


@pytest.mark.parametrize("name", NAMES)
def test_the_command_prints_what_is_committed(name):
    done = subprocess.run([sys.executable, "-m", "mmsp_fsm", "schema", name], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout.decode() == schema_text(SCHEMAS[name])
    assert (ROOT / "grammar" / "schema" / f"{name}.json").read_bytes() == done.stdout
