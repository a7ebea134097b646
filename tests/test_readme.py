"""What the README shows is what happens."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
    names = {"stream": []}
    for block in PYTHON:
        exec(block, names)
    assert "tide_table {'port': 'Brest', 'days': 2, 'metric': True}" in capsys.readouterr().out
    assert names["report"].verdict == "violating"


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
