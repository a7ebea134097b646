"""What the README shows is what happens."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given

from mmsp_fsm.embed.pytest_streams import Streams, options_of
from mmsp_fsm.embed.strategies import faults, streams

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SESSION = re.search(r"```console\n(.*?)```", README, flags=re.DOTALL).group(1)
COMMANDS = [part.split("\n", 1) for part in re.split(r"^\$ ", SESSION, flags=re.MULTILINE) if part.strip()]
PYTHON = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_the_session_prints_what_it_says(command, output):
    name, *arguments = command.split()
    assert name == "mmsp-fsm"
    done = subprocess.run([sys.executable, "-m", "mmsp_fsm", *arguments], cwd=ROOT / "tests" / "data", check=False,
                          env={"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}, capture_output=True)  # fmt: skip
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
