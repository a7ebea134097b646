"""What the README shows is what happens."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given

from mmsp_fsm.testing.pytest_streams import Streams, options_of
from mmsp_fsm.testing.strategies import faults, streams
from tests.probe.server import Server, serving

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SESSION = re.search(r"```console\n(.*?)```", README, flags=re.DOTALL).group(1)
COMMANDS = [part.split("\n", 1) for part in re.split(r"^\$ ", SESSION, flags=re.MULTILINE) if part.strip()]
SHELL = re.findall(r"^(?:    |- run: |  script: )(mmsp-fsm .*)$", README, flags=re.MULTILINE)
PYTHON = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


class Open(Server):
    """A server that asks for no key, and has the README's model."""

    keys, model, pause = (), "claude-sonnet-5", 0.002


def run(arguments, folder):
    """What the command does, run in `folder`."""
    surroundings = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "mmsp_fsm", *arguments]
    return subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, check=False)


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_the_session_prints_what_it_says(command, output):
    name, *arguments = command.split()
    assert name == "mmsp-fsm"
    done = run(arguments, ROOT / "tests" / "data")
    assert done.stdout.decode().rstrip() == output.rstrip()
    assert done.stderr == b""


def test_the_python_runs(tmp_path, monkeypatch, capsys):
    shutil.copy(ROOT / "tests" / "data" / "recordings" / "ant-think-text-tool.jsonl", tmp_path / "trace.jsonl")
    monkeypatch.chdir(tmp_path)
    stream = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_bytes().splitlines()]
    names = {"stream": stream, "given": given, "pytest": pytest, "sys": sys, "streams": streams, "faults": faults}
    for block in PYTHON:
        exec(block, names)
    names["test_my_client"](Streams(options_of([])))
    names["test_my_client_reads_every_stream"]()
    names["test_my_client_finds_every_broken_group"]()
    out = capsys.readouterr().out
    assert "tide_table {'port': 'Brest', 'days': 2, 'metric': True}" in out
    assert "tide_table({'port': 'Brest', 'days': 2, 'metric': True})" in out
    assert names["report"].verdict == "conforming"
    assert names["checked"].report.message == names["message"]


def test_the_python_is_type_checked():
    checked = (ROOT / "tests" / "typing" / "readme.py").read_text(encoding="utf-8")
    assert checked.partition("# ── README ──\n")[2] == "\n".join(PYTHON)


@pytest.mark.parametrize("command", SHELL)
def test_the_commands_run(command, tmp_path, monkeypatch):
    """Each command line that the README shows by itself, where there is what it names."""
    good = (ROOT / "tests" / "data" / "recordings" / "ant-think-text-tool.jsonl").read_bytes()
    (tmp_path / "recordings").mkdir()
    (tmp_path / "recordings" / "a.jsonl").write_bytes(good)
    (tmp_path / "corpus.jsonl").write_bytes(good * 2)
    (tmp_path / "gateway.log").write_bytes(
        b"".join(b'{"request": "r1", "data": %s}\n' % line for line in good.splitlines())
    )
    with serving(Open()) as url:
        line = command.replace("http://127.0.0.1:25752", url).partition(" > ")[0]
        name, *arguments = shlex.split(line, comments=True)
        assert name == "mmsp-fsm"
        done = run(arguments, tmp_path)
    too_low = "--fail-under" in arguments  # one recording does not walk the whole machine
    assert (done.returncode, b"90 % are due" in done.stderr) == ((1, True) if too_low else (0, False)), done.stderr
    said = [line for line in done.stderr.splitlines() if not line.startswith(b"Fontconfig ")]  # the system's own
    assert too_low or said == []
    made = (
        [arguments[arguments.index("-o") + 1]]
        if "-o" in arguments
        else ["site/index.html"]
        if "docs" in arguments
        else []
    )
    assert done.stdout or made
    assert all((tmp_path / name).stat().st_size for name in made)
    if "--save" in arguments:
        saved = tmp_path / arguments[arguments.index("--save") + 1]
        assert [path for path in (saved, *saved.glob("*")) if path.is_file() and path.stat().st_size]


def test_the_ways_in_are_short():
    """A recording, a program, a server, a test: five lines or fewer each."""
    ways = [block.strip().splitlines() for block in PYTHON]
    for way in ("mmsp_fsm.enforce(stream):", "StreamWriter", "assert_conforms"):
        assert any(len(lines) <= 5 and any(way in line for line in lines) for lines in ways), way


def test_what_it_shows_for_teams_is_there():
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    for name in re.findall(r"hooks: \[\{ id: ([\w-]+),", README):
        assert f"- id: {name}\n" in hooks
    shown = re.findall(r"^      with: \{ (.*) \}$", README, flags=re.MULTILINE)
    assert shown
    for name in re.findall(r"([\w-]+): ", shown[0]):
        assert f"\n  {name}:\n    description:" in action


def test_every_make_target_that_it_names_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`?make ([a-z-]+)`?", README):
        assert f"\n{target}:" in makefile


def test_it_says_why_each_dependency_is_there():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    groups += project["dependency-groups"].values()
    for requirement in (one for group in groups for one in group):
        name = re.match(r"[a-z0-9-]+", requirement).group()
        assert f"`{name}`" in README, name
