"""Adding a kind is one edit of grammar/mmsp.toml and `make generate`, nothing else."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.streams import delta, stop

ROOT = Path(__file__).parent.parent

VIDEO = """
[kind.video]
grows  = "data"
joins  = "bytes"
header = [{ name = "mime_type", absent = "W508", later = "same", later_absent = "W508", later_other = "W508" }]

# ── Events"""

USE = """
import json, mmsp_fsm
from mmsp_fsm.model import VideoDeltaItem, VideoDoneItem, UniEvent, UsageMetadata
from mmsp_fsm.model.wire import to_json

usage = UsageMetadata(cached_tokens=None, prompt_tokens=3, thoughts_tokens=None, response_tokens=9)
def event(*items, **more):
    more = {"event_type": "delta", "created_at": 1760000000000, **more}
    return UniEvent(content_items=list(items), **more)
stop = event(event_type="stop", usage_metadata=usage, finish_reason="stop")
stream = [
    event(VideoDeltaItem(data=b"ab", mime_type="video/mp4")),
    event(VideoDeltaItem(data=b"c", mime_type="video/mp4")),
    event(VideoDoneItem(data=b"abc", mime_type="video/mp4")),
    stop,
]
wire = "\\n".join(json.dumps(to_json(one)) for one in stream).encode()
assert mmsp_fsm.parse(stream).content_items == [VideoDoneItem(data=b"abc", mime_type="video/mp4")]
assert mmsp_fsm.parse(wire) == mmsp_fsm.parse(stream)
lines = [json.dumps(to_json(one)).encode() for one in stream]
checker = mmsp_fsm.StreamChecker()  # the first pass knows it too, as dicts, and as structs once there are many
for records in (lines[:-1], lines[:-1] * 100, lines[-1:]):
    checker.feed_records(records, range(len(records)))
assert (checker.explained, checker.close().conforming) == (0, True)
stream[2].content_items[0].data = b"abd"
report = mmsp_fsm.validate(stream)
assert [(d.code, d.event, d.state) for d in report.diagnostics] == [("E406", 2, "video_open")], report
assert report.diagnostics[0].expected == ("video.delta", "video.done", "error")
report = mmsp_fsm.validate([stream[0], stop])
assert [(d.code, d.event) for d in report.diagnostics] == [("E304", 1)], report
"""


def run(folder, *command):
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of this tree with a `video` kind in its grammar, and everything generated from it."""
    copy = tmp_path_factory.mktemp("video")
    for name in ("mmsp_fsm", "grammar", "diagrams"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    grammar = copy / "grammar" / "mmsp.toml"
    text = grammar.read_text(encoding="utf-8")
    assert text.count("\n# ── Events") == 1
    grammar.write_text(text.replace("\n# ── Events", VIDEO), encoding="utf-8")
    stale = run(copy, "-m", "mmsp_fsm.reference.generate", "--check")
    assert stale.returncode == 1
    assert "run `make generate`" in stale.stderr
    generated = run(copy, "-m", "mmsp_fsm.reference.generate")
    assert generated.returncode == 0, generated.stderr
    return copy


def test_it_validates_and_parses_and_has_its_classes(checkout):
    used = run(checkout, "-c", USE)
    assert used.returncode == 0, used.stderr


def test_it_is_drawn(checkout):
    assert "video_open" in (checkout / "diagrams" / "group-video.dot").read_text(encoding="utf-8")
    assert "video" in (checkout / "diagrams" / "stream.dot").read_text(encoding="utf-8")
    assert (checkout / "diagrams" / "group-video.svg").exists()
    assert ">video<" in (checkout / "diagrams" / "syntax-K.svg").read_text(encoding="utf-8")


def test_it_has_its_schema(checkout):
    shown = run(checkout, "-m", "mmsp_fsm", "schema", "event")
    items = json.loads(shown.stdout)["$defs"]
    assert items["video.delta"]["required"] == ["type", "data"]
    assert items["video.done"]["properties"]["data"] == items["inline_data.done"]["properties"]["data"]


def test_it_is_documented(checkout, tmp_path):
    made = run(checkout, "-m", "mmsp_fsm", "docs", str(tmp_path / "site"))
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "site" / "kinds" / "video.html").read_text(encoding="utf-8")
    assert "video.done" in page
    for name in ("grammar.html", "machine.html", "kinds/index.html", "diagrams/stream.svg", "schema/event.json"):
        assert "video" in (tmp_path / "site" / name).read_text(encoding="utf-8"), name


VIDEO_STREAM = [
    {"type": "video.delta", "data": "YWI=", "mime_type": "video/mp4"},
    {"type": "video.delta", "data": "Yw==", "mime_type": "video/mp4"},
    {"type": "video.done", "data": "YWJj", "mime_type": "video/mp4"},
]


def test_its_streams_are_traced(checkout, tmp_path):
    path = tmp_path / "video.jsonl"
    path.write_text("".join(f"{json.dumps(delta(item))}\n" for item in VIDEO_STREAM) + json.dumps(stop()))
    for form, words in {
        "text": ["video.delta", "video_open"],
        "json": ['"after": "video_open"'],
        "dot": ['"video_open"'],
        "svg": [">video_open<"],
        "html": ['data-state="video_open"', '"kind":"video"', "[3 bytes] 61 62 63"],
    }.items():
        traced = run(checkout, "-m", "mmsp_fsm", "trace", str(path), "--format", form)
        assert traced.returncode == 0, traced.stderr
        assert [word for word in words if word not in traced.stdout] == [], form


def test_it_is_in_every_view_and_in_mermaid(checkout):
    for view in (["stream"], ["violations"], ["builders"], ["group", "--kind", "video"], ["stream", "--expand"]):
        shown = run(checkout, "-m", "mmsp_fsm", "diagram", *view, "--format", "mermaid")
        assert "video" in shown.stdout, view


def test_its_coverage_is_counted(checkout):
    shown = run(checkout, "-m", "mmsp_fsm", "coverage", str(ROOT / "tests" / "data" / "broken"), "--kinds", "video")
    assert "0 of 8" not in shown.stdout
    assert " of 8 legal transitions taken" in shown.stdout.splitlines()[-1]


def test_nothing_else_differs_and_nothing_is_stale(checkout):
    fresh = run(checkout, "-m", "mmsp_fsm.reference.generate", "--check")
    assert fresh.returncode == 0, fresh.stderr
    changed = {
        str(path.relative_to(checkout))
        for path in checkout.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.suffix != ".svg"
        and (not (original := ROOT / path.relative_to(checkout)).exists() or original.read_bytes() != path.read_bytes())
    }
    assert changed == {
        "grammar/definition.json",
        "grammar/mmsp.toml",
        "grammar/mmsp.ebnf",
        "mmsp_fsm/model/objects.py",
        "diagrams/stream.dot",
        "diagrams/violations.dot",
        "diagrams/builders.dot",
        "diagrams/group-video.dot",
        "grammar/schema/event.json",
        "grammar/schema/message.json",
        "grammar/schema/report.json",
    }
