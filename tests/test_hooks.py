"""The pre-commit hook and the action: their own lines, run as those programs would run them."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from mmsp_fsm.recordings.codecs import SUFFIXES as COMPRESSED
from mmsp_fsm.recordings.sources import SUFFIXES

ROOT = Path(__file__).parent.parent
GOOD = ROOT / "tests" / "data" / "recordings" / "ant-think-text-tool.jsonl"
BAD = ROOT / "tests" / "data" / "broken" / "interleaved.jsonl"
HOOK = dict(re.findall(r"^(?:- |  )(\w+): (.*)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), flags=re.MULTILINE))
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
INSTALL, CHECK = (
    textwrap.dedent(block) for block in re.findall(r"      run: \|\n((?:        .*\n?)+)", ACTION)
)  # fmt: skip


@pytest.fixture
def environment(tmp_path):
    """A folder on PATH that holds `mmsp-fsm`."""
    command = tmp_path / "bin" / "mmsp-fsm"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m mmsp_fsm "$@"\n')
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize(("files", "status"), [([GOOD], 0), ([GOOD, BAD], 1)])
def test_the_hook_s_entry(environment, files, status):
    done = subprocess.run([*HOOK["entry"].split(), *files], env=environment, capture_output=True, check=False)
    assert done.returncode == status
    assert bool(done.stdout) is bool(status)


def test_the_hook_takes_recordings_alone():
    taken = re.compile(HOOK["files"])
    assert all(taken.search(name) for name in ("a.jsonl", "b/c.sse", "d.ndjson", "e.jsonl.gz"))
    suffixes = [suffix for suffix in SUFFIXES if suffix != ".json"]
    assert all(taken.search(f"a{suffix}") for suffix in suffixes)
    assert all(taken.search(f"a{suffix}{packed}") for suffix in suffixes for packed in COMPRESSED)
    assert not any(taken.search(name) for name in ("package.json", "a.jsonl.txt", "sse", "a.gz"))
    assert HOOK["language"] == "python"


BASH = (shutil.which("bash") or "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
"""As GitHub starts the shell of a step."""

bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")


@bash
@pytest.mark.parametrize(("paths", "options", "status"), [
    (f"{GOOD}", "", 0),
    (f"{GOOD}\r\n\n  \n"[:-4] + f"\n{BAD}\n", "", 1),
    (f"{BAD}", "--ignore\nE302,E406\n", 0),
    ("a b.jsonl", "", 0),
    ("missing.jsonl", "", 2),
    ("$(touch run)`touch run`; touch run", "", 2),
    (f"{GOOD}", '"; touch run; "', 2),
    ("--help", "", 2),
    ("", "", 2),
])  # fmt: skip
def test_the_action_checks(environment, tmp_path, paths, options, status):
    shutil.copy(GOOD, tmp_path / "a b.jsonl")
    surroundings = {**environment, "PATHS": paths, "OPTIONS": options}
    done = subprocess.run([*BASH, CHECK], cwd=tmp_path, env=surroundings, capture_output=True, check=False)
    assert done.returncode == status, done.stderr
    assert not (tmp_path / "run").exists()
    if status == 1:
        assert b"::error file=" in done.stdout


@bash
@pytest.mark.parametrize("name", ["python", "python3"])
def test_the_action_installs_into_an_environment_of_its_own(tmp_path, name):
    """With a Python that only notes what it is asked, under whichever name there is one."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("mkdir", "cp"):
        (tools / tool).symlink_to(shutil.which(tool))
    stub = tools / name
    stub.write_text(
        f'#!/bin/sh\necho "$@" >> "{tmp_path}/asked"\n'
        'if [ "$2" = venv ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; fi\n'
    )
    stub.chmod(0o755)
    temporary = tmp_path / "run ner"
    temporary.mkdir()
    surroundings = {"PATH": str(tools), "RUNNER_TEMP": str(temporary), "GITHUB_ACTION_PATH": "/the action",
                    "GITHUB_PATH": str(tmp_path / "path")}  # fmt: skip
    done = subprocess.run([*BASH, INSTALL], env=surroundings, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[0] == f"-m venv {temporary}/mmsp-fsm"
    assert asked[1].startswith("-m pip install ")
    assert asked[1].endswith(" /the action")
    assert (tmp_path / "path").read_text() == f"{temporary}/mmsp-fsm/bin\n"


def test_the_action_writes_no_input_into_a_script():
    assert "${{" not in INSTALL + CHECK
    assert "$GITHUB_ACTION_PATH" in INSTALL
