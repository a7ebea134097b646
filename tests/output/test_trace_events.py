"""`trace --format json` and `-o`: the document, and where it goes."""

import gzip
import json
import os
from itertools import pairwise
from pathlib import Path

import pytest

from tests.streams import BROKEN, TIME, delta, error, stop, t, t_done
from tests.test_cli import BAD, FAILED, GOOD, ROOT, run, write


def test_an_object_for_each_event_and_the_report():
    done = run("trace", "--format", "json", BAD)
    assert done.returncode == 1
    assert done.stderr == b""
    document = json.loads(done.stdout)
    assert list(document) == ["version", "events", "report", "unreadable"]
    assert document["version"] == 1
    assert document["events"][1] == {
        "event": 1,
        "line": 2,
        "created_at": TIME + 40,
        "since_last_ms": 40,
        "moves": [{"before": "thinking_open", "symbol": "text.delta", "action": "leave+open", "after": "text_open"}],
        "diagnostics": [document["report"]["diagnostics"][0]],
    }
    validated = json.loads(run("validate", "--format", "json", BAD).stdout)
    assert document["report"] == validated["streams"][0]
    assert document["unreadable"] == []


def test_each_event_follows_the_one_before():
    events = json.loads(run("trace", "--format", "json", FAILED).stdout)["events"]
    assert [one["event"] for one in events] == list(range(6))
    moves = [move for one in events for move in one["moves"]]
    assert moves[0]["before"] == "between_groups"
    assert all(one["after"] == next_one["before"] for one, next_one in pairwise(moves))
    assert (moves[-1]["symbol"], moves[-1]["action"], moves[-1]["after"]) == ("error", "fail", "failed")
    assert events[-1]["created_at"] is events[-1]["since_last_ms"] is None


def test_what_is_no_time_is_null(tmp_path):
    times = [TIME, "x", None, TIME - 60, 10**30]
    path = write(tmp_path / "times.jsonl", *({**t("a"), "created_at": time} for time in times))
    events = json.loads(run("trace", "--format", "json", path).stdout)["events"]
    assert [one["created_at"] for one in events] == [TIME, None, None, TIME - 60, None]
    assert [one["since_last_ms"] for one in events] == [None, None, None, -60, None]


def test_several_items_are_several_moves(tmp_path):
    items = [{"type": "text.delta", "text": "a"}, {"type": "text.done", "text": "a"}]
    path = write(tmp_path / "two.jsonl", delta(*items), stop())
    first = json.loads(run("trace", "--format", "json", path).stdout)["events"][0]
    assert [move["action"] for move in first["moves"]] == ["open", "close"]
    assert [one["code"] for one in first["diagnostics"]] == ["E121"]


def test_a_source_that_cannot_be_read_is_said_and_makes_no_document():
    done = run("trace", "--format", "json", "missing")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"no such file or directory" in done.stderr


def test_text_tells_the_time_since_the_last_event(tmp_path):
    records = [t("a"), {**t("b"), "created_at": TIME + 1250}, error()]
    lines = run("trace", write(tmp_path / "t.jsonl", *records)).stdout.decode().splitlines()
    assert [line[:26].split() for line in lines[:3]] == [
        ["0", "line", "1"], ["1", "line", "2", "+1.25", "s"], ["2", "line", "3"],
    ]  # fmt: skip
    assert lines[1].split()[5:] == ["text_open", "text.delta", "grow", "text_open"]


@pytest.mark.parametrize(("name", "start"), [
    ("t.json", '{"version": 1'), ("t.dot", 'digraph "trace" {'), ("t.svg", "<svg "), ("t.html", "<!DOCTYPE html>"),
    ("t.txt", "    0 line 1"),
])  # fmt: skip
def test_the_suffix_of_the_output_tells_the_format(tmp_path, name, start):
    done = run("trace", GOOD, "-o", tmp_path / name)
    assert (done.returncode, done.stdout) == (0, b"")
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_the_format_beats_the_suffix(tmp_path):
    run("trace", GOOD, "--format", "dot", "-o", tmp_path / "t.json")
    assert (tmp_path / "t.json").read_text(encoding="utf-8").startswith("digraph")


def test_the_recording_itself_is_not_written_over(tmp_path):
    path = write(tmp_path / "t.jsonl", t("a"), t_done("a"), stop())
    before = path.read_bytes()
    done = run("trace", path, "-o", path)
    assert done.returncode == 2
    assert b"is the recording itself" in done.stderr
    assert path.read_bytes() == before


def test_an_output_that_cannot_be_written_is_said(tmp_path):
    done = run("trace", GOOD, "-o", tmp_path / "nowhere" / "t.html")
    assert done.returncode == 2
    assert b"cannot be written: No such file" in done.stderr


def test_a_torn_line_is_in_every_format(tmp_path):
    path = Path(write(tmp_path / "t.jsonl", t("a")))
    path.write_bytes(path.read_bytes() + BROKEN)
    for format in ("text", "json", "dot", "svg", "html"):
        done = run("trace", path, "--format", format)
        assert done.returncode == 1, format
        assert b"E101" in done.stdout, format


def test_it_does_not_split_and_says_how_to_cut_a_stream_out(tmp_path):
    done = run("trace", GOOD, "--split", "stop")
    assert done.returncode == 2
    assert b"mmsp-fsm trace -" in done.stderr
    (tmp_path / "mmsp-fsm.toml").write_text('split = "stop"\n', encoding="utf-8")  # is for other commands
    assert run("trace", GOOD, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}).returncode == 0


def test_what_cannot_be_read_leaves_no_file(tmp_path):
    assert run("trace", tmp_path / "missing.jsonl", "-o", tmp_path / "t.html").returncode == 2
    assert not (tmp_path / "t.html").exists()
    torn = tmp_path / "torn.jsonl.gz"
    torn.write_bytes(gzip.compress(GOOD.read_bytes())[:-30])
    assert run("trace", torn, "-o", tmp_path / "t.html").returncode == 2
    assert b"E101" in (tmp_path / "t.html").read_bytes()  # what came before the tear can be looked at
