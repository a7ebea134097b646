"""The exit status is what the README promises, whatever can or cannot be written, and however Python buffers."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mmsp_fsm.output.formats.registry import FORMATS

DATA = Path(__file__).parent / "data"
GOOD = DATA / "recordings" / "ant-think-text-tool.jsonl"
BAD = DATA / "broken" / "interleaved.jsonl"

COMMANDS = {
    **{f"validate-{name}": (["validate", "--format", name, str(BAD)], 1) for name in FORMATS},
    "validate-conforming": (["validate", str(GOOD)], 0),
    "validate-missing": (["validate", "missing"], 2),
    "validate-jobs": (["validate", "--jobs", "2", str(GOOD), str(BAD)], 1),
    "validate-statistics": (["validate", "--statistics", str(BAD), "missing"], 2),
    **{f"trace-{name}": (["trace", "--format", name, str(BAD)], 1) for name in ("text", "json", "dot", "html")},
    "trace-missing": (["trace", "missing"], 2),
    "parse": (["parse", str(GOOD)], 0),
    "parse-violating": (["parse", str(BAD)], 1),
    "parse-missing": (["parse", "missing"], 2),
    **{f"coverage-{name}": (["coverage", "--format", name, str(GOOD)], 0) for name in ("table", "json", "dot")},
    "tail": (["tail", str(BAD)], 1),
    "probe-list": (["probe", "--list"], 0),
    "explain": (["explain", "E302"], 0),
    "explain-unknown": (["explain", "X1"], 2),
    "rules": (["rules"], 0),
    **{f"diagram-{name}": (["diagram", "stream", "--format", name], 0) for name in ("dot", "mermaid")},
    "schema": (["schema", "event"], 0),
    "docs-missing": (["docs"], 2),
    "help": (["--help"], 0),
    "help-validate": (["validate", "--help"], 0),
    "version": (["--version"], 0),
    "no-such-command": (["nothing"], 2),
    "no-such-option": (["validate", "--nothing"], 2),
}

SAYS_NOTHING = {
    *(f"{name}-missing" for name in ("validate", "trace", "parse", "docs")),
    *("parse-violating", "explain-unknown", "no-such-command", "no-such-option"),
}
"""Commands that may print nothing on standard output, so that nothing fails where it cannot be written."""

FULL, BROKEN_PIPE = 2, 141

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")


def status(arguments, folder, *, stdout="good", stderr="good", unbuffered=False):
    """The exit status of a command in an emptied environment; `stdout` and `stderr` are good, full, closed or left."""
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8", **({"PYTHONUNBUFFERED": "1"} if unbuffered else {})}
    files, closed = {}, []
    for number, (name, state) in enumerate({"stdout": stdout, "stderr": stderr}.items(), start=1):
        if state == "left":
            reader, files[name] = os.pipe()
            os.close(reader)
        elif state == "closed":
            closed.append(f"{number}>&-")
        else:
            files[name] = os.open("/dev/full" if state == "full" else os.devnull, os.O_WRONLY)
    line = ["sh", "-c", f'exec "$@" {" ".join(closed)}', "sh", sys.executable, "-m", "mmsp_fsm", *arguments]
    try:
        return subprocess.run(
            line, cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=False, timeout=120, **files
        ).returncode
    finally:
        for file in files.values():
            os.close(file)


def statuses(folder, names, **streams):
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(names, pool.map(lambda name: status(COMMANDS[name][0], folder, **streams), names), strict=True))


def test_the_commands_end_as_listed(tmp_path):
    assert statuses(tmp_path, list(COMMANDS)) == {name: due for name, (_, due) in COMMANDS.items()}


@needs_full
@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize("state", ["full", "closed", "left"])
def test_standard_error_never_changes_the_status(tmp_path, state, unbuffered):
    names = list(COMMANDS) if not unbuffered else ["validate-missing", "parse-violating", "no-such-option", "help"]
    found = statuses(tmp_path, names, stderr=state, unbuffered=unbuffered)
    assert found == {name: COMMANDS[name][1] for name in names}


@needs_full
@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize(("state", "due"), [("full", FULL), ("closed", FULL), ("left", BROKEN_PIPE)])
def test_results_that_cannot_be_written(tmp_path, state, due, unbuffered):
    names = [name for name in COMMANDS if name not in SAYS_NOTHING]
    if unbuffered:
        names = ["validate-text", "validate-json", "trace-html", "explain", "help"]
    found = statuses(tmp_path, names, stdout=state, unbuffered=unbuffered)
    assert found == dict.fromkeys(names, due)


@needs_full
@pytest.mark.parametrize("state", ["full", "closed", "left"])
def test_neither_can_be_written(tmp_path, state):
    """The reader of both left, or both are on a full device."""
    due = BROKEN_PIPE if state == "left" else FULL
    names = ["validate-text", "validate-json", "trace-text", "explain", "parse"]
    assert statuses(tmp_path, names, stdout=state, stderr=state) == dict.fromkeys(names, due)
    assert statuses(tmp_path, ["no-such-option"], stdout=state, stderr=state) == {"no-such-option": 2}


@needs_full
@pytest.mark.parametrize(
    "arguments",
    [["diagram", "stream", "--format", "dot"], ["schema", "event"], ["coverage", "--format", "json", str(GOOD)],
     ["trace", "--format", "html", str(GOOD)], ["trace", "--format", "json", str(GOOD)]],
)  # fmt: skip
def test_a_file_that_cannot_be_written(tmp_path, arguments):
    assert status([*arguments, "-o", "/dev/full"], tmp_path) == 2
    assert status([*arguments, "-o", "/dev/full"], tmp_path, stderr="full") == 2
