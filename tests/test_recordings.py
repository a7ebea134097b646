"""The real recordings give their manifest's verdict and outcome, however they are read."""

import json
from pathlib import Path

import pytest

import mmsp_fsm

DATA = Path(__file__).parent / "data"
MANIFEST = json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))
WARNED = {"chat-numbers-in-arguments": ["W507"], "genai-two-documents": ["W508"]}


def recording(entry, suffix):
    return DATA / "recordings" / f"{entry['name']}.{suffix}"


def test_the_manifest_speaks_of_every_recording():
    named = {f"{entry['name']}.{suffix}" for entry in MANIFEST for suffix in ("jsonl", "sse")}
    assert named == {path.name for path in (DATA / "recordings").iterdir()}
    assert len(MANIFEST) == 102


@pytest.mark.parametrize("suffix", ["jsonl", "sse"])
@pytest.mark.parametrize("entry", MANIFEST, ids=lambda entry: entry["name"])
def test_verdict_and_outcome_are_the_manifest_s(entry, suffix):
    path = recording(entry, suffix)
    report = mmsp_fsm.validate(path)
    assert (report.verdict, report.outcome, report.events) == (entry["verdict"], entry["outcome"], entry["events"])
    if entry["verdict"] == "conforming":
        assert [one.code for one in report.diagnostics] == WARNED.get(entry["name"], [])
    if entry["outcome"] == "failed":
        assert report.error is not None
        assert report.error["type"] == entry["error_type"]
    assert mmsp_fsm.validate(path.read_bytes()).diagnostics == report.diagnostics


@pytest.mark.parametrize("entry", MANIFEST, ids=lambda entry: entry["name"])
def test_the_kinds_of_the_done_items_are_the_manifest_s(entry):
    report = mmsp_fsm.validate(recording(entry, "jsonl"))
    if report.message is not None:
        kinds = [item.type.removesuffix(".done") for item in report.message.content_items]
        assert list(dict.fromkeys(kinds)) == entry["kinds"]


@pytest.mark.parametrize("entry", MANIFEST, ids=lambda entry: entry["name"])
def test_events_as_dicts_give_the_same_report_as_their_bytes(entry):
    path = recording(entry, "jsonl")
    events = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    by_bytes, by_dicts = mmsp_fsm.validate(path), mmsp_fsm.validate(events)
    assert [(d.code, d.event, d.pointer) for d in by_dicts.diagnostics] == [
        (d.code, d.event, d.pointer) for d in by_bytes.diagnostics
    ]
    assert by_dicts.message == by_bytes.message
    assert by_dicts.done_items == by_bytes.done_items
    assert by_dicts.groups == by_bytes.groups
