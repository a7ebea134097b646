"""Against the protocol's own package: what its assembler builds of a recording's fragments is what `parse` builds."""

import json
from pathlib import Path

import pytest

import mmsp_fsm
from mmsp_fsm.model.wire import to_dict

stream_items = pytest.importorskip("mmsp.stream_items", reason="the group `interop` is not installed")
wire = pytest.importorskip("mmsp.wire")

DATA = Path(__file__).parent.parent / "data"
MANIFEST = json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))
STOPPED = [entry["name"] for entry in MANIFEST if (entry["verdict"], entry["outcome"]) == ("conforming", "stopped")]


def events_of(name):
    """The recording's events as the package's own client reads them: bytes decoded."""
    lines = (DATA / "recordings" / f"{name}.jsonl").read_bytes().split(b"\n")
    return [wire.decode_wire(json.loads(line)) for line in lines if line]


def as_a_client_yields(item, group, first):
    """A fragment as a client hands it to the assembler: under its group's id, a late signature on its own."""
    fidelity = {**item.get("fidelity", {}), "item_id": group}
    if first or any(value for key, value in item.items() if key not in ("type", "fidelity", "mime_type")):
        return {**item, "fidelity": fidelity}
    # Fidelity sent alone belongs to the group whose id it bears, whatever kind carries it.
    carrier = "thinking" if item["type"].startswith("text") else "text"
    return {"type": f"{carrier}.delta", carrier: "", "fidelity": fidelity}


def assembled(events):
    """The done items that the package's assembler builds of the fragments alone, group by group."""
    assembler = stream_items.StreamItems("interop")
    done = []
    first = True
    for event in events:
        for item in event["content_items"]:
            if item["type"].endswith(".done"):
                done += assembler.end()
            else:
                out = assembler.delta(as_a_client_yields(item, f"group-{len(done)}", first))
                assert all(one["type"].endswith(".delta") for one in out), "it sees the end of a group in its middle"
            first = item["type"].endswith(".done")
    return done


def test_there_is_something_to_compare():
    assert len(STOPPED) == 54


@pytest.mark.parametrize("name", STOPPED)
def test_the_assembler_builds_what_parse_builds(name):
    events = events_of(name)
    message = mmsp_fsm.parse(DATA / "recordings" / f"{name}.jsonl")
    assert [to_dict(item) for item in message.content_items] == assembled(events)
    assert mmsp_fsm.parse(events) == message
