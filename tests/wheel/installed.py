"""Run by `make test-wheel` with the interpreter of an empty environment that holds only the built wheel, from another
folder: the verdicts of the manifest, 1,000 files in one call, the Python ways in, and what an absent extra says.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import mmsp_fsm

DATA = Path(sys.argv[1]).resolve()
COMMAND = Path(sys.executable).with_name("mmsp-fsm")
MANIFEST = {entry["name"]: entry for entry in json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))}


def command(*arguments, status, errors=False, **more):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, check=False, timeout=300, **more)
    assert done.returncode == status, (arguments[:3], done.returncode, done.stderr[-2000:])
    return done.stderr if errors else done.stdout


def main():
    assert "site-packages" in mmsp_fsm.__file__, f"not the installed package: {mmsp_fsm.__file__}"
    folder = DATA / "recordings"
    document = json.loads(command("validate", "--format", "json", folder, status=1))
    assert len(document["streams"]) == 2 * len(MANIFEST) == document["summary"]["streams"]
    for stream in document["streams"]:
        entry = MANIFEST[Path(stream["source"]).stem]
        assert (stream["verdict"], stream["outcome"]) == (entry["verdict"], entry["outcome"]), stream
    with tempfile.TemporaryDirectory() as many:
        conforming = next(name for name, entry in MANIFEST.items() if entry["outcome"] == "stopped")
        for number in range(1000):
            shutil.copy(folder / f"{conforming}.jsonl", Path(many) / f"{number:04}.jsonl")
        document = json.loads(command("validate", "--format", "json", *sorted(Path(many).iterdir()), status=0))
        assert document["summary"]["streams"] == document["summary"]["conforming"] == 1000
    message = json.loads(command("parse", folder / f"{conforming}.sse", status=0))
    assert message["role"] == "assistant"
    assert b"group-left-open" in command("explain", "E302", status=0)
    page = command("trace", folder / f"{conforming}.sse", "--format", "html", status=0)
    assert page.startswith(b"<!DOCTYPE html>")
    assert b'id="machine"' in page  # drawn without Graphviz, which this environment does not have
    said = command("trace", folder / f"{conforming}.sse", "--format", "svg", status=2, errors=True)
    assert b"mmsp-fsm[diagrams]" in said
    assert command("diagram", "violations", "--format", "dot", status=0).startswith(b"digraph")
    assert b"flowchart" in command("diagram", "group", "--kind", "text", "--format", "mermaid", status=0)
    assert b"mmsp-fsm[diagrams]" in command("diagram", status=2, errors=True)
    assert b"mmsp-fsm[docs]" in command("docs", "site", status=2, errors=True)
    assert json.loads(command("schema", "report", status=0))["$defs"]["diagnostic"]
    assert b"legal transitions taken" in command("coverage", folder / f"{conforming}.sse", status=0)
    assert mmsp_fsm.__version__.encode() in command("--version", status=0)
    command("validate", "missing.jsonl", status=2)
    events = mmsp_fsm.unparse(mmsp_fsm.parse(folder / f"{conforming}.sse"), size=8)
    assert list(mmsp_fsm.enforce(events)) == events
    assert mmsp_fsm.assert_conforms(events).outcome == "stopped"
    kept = command("tail", folder / f"{conforming}.sse", status=0)
    assert kept.splitlines()[-1].endswith(b" closed groups") or kept.splitlines()[-1].endswith(b" closed group")
    assert len(command("probe", "--list", status=0).splitlines()) >= 32
    for asking in (["tail", "http://127.0.0.1:1"], ["probe", "http://127.0.0.1:1", "--model", "m"]):
        asked = subprocess.run([COMMAND, *asking], capture_output=True, check=False, timeout=60)
        assert (asked.returncode, b"pip install 'mmsp-fsm[http]'" in asked.stderr) == (2, True), asked.stderr
    sys.stdout.write(f"the installed wheel gives {2 * len(MANIFEST)} verdicts of the manifest\n")


main()
