"""Coverage: the counts are those of the moves, and the percentage is of what streams without a fault can take."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.reference.coverage import Coverage
from tests.streams import HI, c, c_done, error, stop, t, t_done

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
D = default()
KINDS = list(D.kinds)


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "mmsp_fsm", "coverage", *map(str, arguments)], cwd=ROOT, capture_output=True, check=False
    )


def walked(*streams, kinds=KINDS):
    result = Coverage(D, kinds)
    for stream in streams:
        checker = StreamChecker()
        for record in stream:
            result.step(checker.feed(record))
        result.end(checker.close())
    return result


def counts(result, expand=False):
    return {(row.state, row.symbol, row.outcome): row.count for row in result.rows(expand) if row.count}


def write(path, *events):
    path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return path


def test_the_counts_of_small_streams():
    result = walked([*HI, stop()], [t("a"), error()])
    assert counts(result, expand=True) == {
        ("between_groups", "text.delta", "text_open"): 2,
        ("text_open", "text.done", "between_groups"): 1,
        ("between_groups", "stop", "stopped"): 1,
        ("text_open", "error", "failed"): 1,
        ("stopped", "end", "stopped"): 1,
        ("failed", "end", "failed"): 1,
    }
    assert (result.streams, result.events) == (2, 5)
    assert dict(result.states(expand=True)) == {
        **{f"{kind}_open": 2 * (kind == "text") for kind in KINDS},
        "between_groups": 3,
        "stopped": 1,
        "failed": 1,
        "unsure": 0,
    }


def test_an_empty_stream_ends_where_it_began():
    assert counts(walked([])) == {("between_groups", "end", "between_groups E307"): 1}


def test_what_moves_nothing_is_not_counted():
    """A late item of a group left open, and what follows the first record after an end."""
    late = walked(
        [t("a"), c("", name="f", tool_call_id="1"), t_done("a"), c_done({}, tool_call_id="1"), stop("tool_call")]
    )
    assert ("text_open", "text.done", "between_groups") not in counts(late, expand=True)
    after = walked([stop(), stop(), stop(), stop()])
    assert counts(after)["stopped", "stop", "stopped E306"] == 1


def test_guards_and_violations_are_rows_of_their_own():
    result = walked([c("{", name="f", tool_call_id="1"), c_done({}, tool_call_id="1"), t_done("x"), stop()])
    found = counts(result)
    assert found["K_open", "K.done", "not json E404"] == 1
    assert ("K_open", "K.done", "between_groups") not in found
    assert found["between_groups", "K.done", "between_groups E301"] == 1


def test_the_percentage_is_of_what_a_stream_without_a_fault_can_take():
    """For each kind: opened, grown, closed and cut by an error; beside these stop, error and two ends."""
    assert walked().legal == (0, 4 * len(KINDS) + 4)
    full = [[t("a"), t("b"), t_done("ab"), stop()], [t("a"), error()], [error()]]
    assert walked(*full, kinds=["text"]).percent == 100
    assert walked(*full).legal == (8, 4 * len(KINDS) + 4)
    assert walked(*full[1:], kinds=["text"]).legal == (4, 8)


def test_a_folded_row_names_the_kinds_never_seen():
    row = next(row for row in walked([*HI, stop()]).rows() if (row.state, row.symbol) == ("K_open", "K.done"))
    assert row.count == 1
    assert row.never == tuple(kind for kind in KINDS if kind != "text")


def test_every_cell_and_guard_is_in_the_document():
    document = json.loads(run(DATA / "recordings", "--format", "json").stdout)
    cells = D.cells.values()
    assert len(document["transitions"]) == sum(cell.legal for cell in cells)
    assert len(document["violations"]) == sum(not cell.legal for cell in cells)
    assert len(document["guards"]) == sum(len(cell.guards) for cell in cells)
    moves = [one for name in ("transitions", "guards", "violations") for one in document[name]]
    assert sum(one["count"] for one in moves if one["symbol"] != "end") <= document["events"]
    assert document["legal"]["of"] == sum(one["counted"] for one in document["transitions"])


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([], 0),
        (["--kinds", "text", "--fail-under", "50"], 0),
        (["--kinds", "text", "--fail-under", "87.5"], 0),
        (["--kinds", "text", "--fail-under", "87.6"], 1),
        (["--fail-under", "100"], 1),
        (["--fail-under", "nan"], 2),
        (["missing", "--fail-under", "100"], 2),
        (["missing"], 2),
        (["--fail-under", "101"], 2),
        (["--kinds", "nothing"], 2),
    ],
)
def test_exit_statuses(arguments, status, tmp_path):
    write(tmp_path / "a.jsonl", t("a"), t("b"), t_done("ab"), error())
    write(tmp_path / "b.jsonl", t("a"), t_done("a"), stop())
    done = run(tmp_path, *arguments)
    assert done.returncode == status, done.stderr


def test_what_is_below_is_said():
    done = run(DATA / "broken" / "interleaved.jsonl", "--fail-under", "90")
    assert b"of the legal transitions were taken, and 90 % are due" in done.stderr


def test_the_text_says_what_was_never_seen():
    text = run(DATA / "broken" / "interleaved.jsonl").stdout.decode()
    assert "      never  K_open          stop        stopped E304" in text.splitlines()
    assert "          1  K_open          O.delta     O_open E302" in text.splitlines()
    assert text.splitlines()[-1].startswith("1 stream, 7 events: ")


def test_the_picture_shows_counts_and_what_was_never_seen():
    done = run(DATA / "broken" / "interleaved.jsonl", "--format", "svg")
    words = {
        (one.text or "").rstrip("\u00a0")
        for one in ElementTree.fromstring(done.stdout).iter("{http://www.w3.org/2000/svg}text")
    }
    assert "never taken" in words
    assert any("×" in (word or "") for word in words)
    assert b"dotted" in run(DATA / "broken" / "interleaved.jsonl", "--format", "dot").stdout
