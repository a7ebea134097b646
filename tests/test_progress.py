"""The progress bar: for long work on a terminal, and never among other output."""

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from mmsp_fsm.cli import progress
from mmsp_fsm.cli.console import is_terminal
from mmsp_fsm.cli.progress import Progress
from mmsp_fsm.engines.results import Summary
from mmsp_fsm.engines.tasks import unseen
from tests.streams import HI, stop

ROOT = Path(__file__).parent.parent
STREAM = b"".join(json.dumps(one).encode() + b"\n" for one in [*HI, stop()])
PATIENT = "import mmsp_fsm.cli.progress as one; one.PATIENCE = {patience}; one.PERIOD = 0\n"


class Terminal(io.StringIO):
    def isatty(self):
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr(progress, "PERIOD", 0)
    return Terminal()


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def test_it_shows_bytes_rate_streams_and_violations(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress(shown=True) as bar:
        bar.seen(1_500_000)
        bar.count(Summary(streams=1234, violating=5))
        bar.seen(500_000)
        assert re.search(r"2\.0/\S+ MB\s.*1,234 streams, 5 violating 0:00:0", plain(terminal.getvalue()))
        assert "MB/s" in terminal.getvalue() or "?" in terminal.getvalue()


def test_it_hides_before_something_is_printed_and_comes_back(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress(shown=True) as bar:
        bar.seen(10)
        bar.hide()
        shown = terminal.getvalue()
        assert shown.endswith("\x1b[2K") or "\x1b[2K" in shown
        bar.hide()
        assert terminal.getvalue() == shown
        bar.seen(10)
        assert len(terminal.getvalue()) > len(shown)
        before = len(terminal.getvalue())
    assert "\x1b[2K" in terminal.getvalue()[before:]


def test_short_work_shows_nothing(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 1000)
    with Progress(shown=True) as bar:
        bar.seen(10)
        bar.count(Summary())
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("what", ["not wanted", "no terminal", "closed", "none", "dumb"])
def test_where_it_is_never_shown(terminal, monkeypatch, what):
    monkeypatch.setattr(sys, "stderr", terminal)
    if what == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    elif what == "closed":
        closed = Terminal()
        closed.close()
        monkeypatch.setattr(progress, "is_terminal", lambda stream: is_terminal(closed))
    elif what != "not wanted":
        monkeypatch.setattr(sys, "stderr", io.StringIO() if what == "no terminal" else None)
    with Progress(shown=what != "not wanted") as bar:
        assert bar.seen is unseen
        bar.count(Summary())
    if what == "not wanted":
        assert terminal.getvalue() == ""


# ── In a terminal ────────────────────────────────────────────────────────────────────────────────────────────────


def in_terminal(arguments, *, patience=0, stdout=None, prelude=""):
    """What a command prints whose standard error (and output, unless `stdout` is given) is a terminal."""
    ours, theirs = pty.openpty()
    code = (
        f"import sys; {PATIENT.format(patience=patience)}{prelude}\n"
        f"from mmsp_fsm.cli.main import main\ntry: main({['validate', *arguments]!r})\n"
        "finally:\n"
        "    with open('imported', 'w') as file: print('rich.progress' in sys.modules, file=file)\n"
    )
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=stdout or theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    said = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    child.wait(timeout=60)
    return said.decode(), Path("imported").read_text().strip() == "True"


def on_screen(said):
    """The lines that stay on a terminal's screen."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[\??[0-9;]*[a-zA-Z]|\r|\n|[^\x1b\r\n]+", said):
        if part == "\r":
            column = 0
        elif part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part.endswith("A"):
            row -= int(part[2:-1] or 1)
        elif part == "\x1b[2K":
            lines[row] = ""
        elif not part.startswith("\x1b"):
            lines[row] = lines[row][:column].ljust(column) + part + lines[row][column + len(part) :]
            column += len(part)
    return [line.rstrip() for line in lines if line.strip()]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(20):
        (tmp_path / f"{number:02}.jsonl").write_bytes(STREAM if number % 3 else STREAM[:-5])
    return [f"{number:02}.jsonl" for number in range(20)]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_screen_holds_the_output_and_nothing_else(files, jobs):
    said, imported = in_terminal([*files, "missing", "--jobs", jobs])
    assert imported
    assert "violating 0:00:0" in said
    plainly = subprocess.run([sys.executable, "-m", "mmsp_fsm", "validate", *files, "missing"], capture_output=True,
                             env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)  # fmt: skip
    due = [line.rstrip() for line in plainly.stdout.decode().splitlines() if line.strip()]
    screen = on_screen(said)
    assert [line for line in screen if line != "error: missing: no such file or directory"] == due
    assert len(screen) == len(due) + 1


def test_output_to_a_file_is_untouched(files):
    with open("out", "wb") as out:
        said, imported = in_terminal([*files, "--format", "json"], stdout=out)
    assert imported
    assert on_screen(said) == []
    assert len(json.loads(Path("out").read_text())["streams"]) == 20


@pytest.mark.parametrize(("arguments", "patience"), [(["-q"], 0), ([], 1000)])
def test_quiet_or_short_work_does_not_even_import_it(files, arguments, patience):
    said, imported = in_terminal([*files, *arguments], patience=patience)
    assert not imported
    assert "0:00:0" not in said


def test_one_large_file_shows_how_far_it_is(files):
    Path("large.jsonl").write_bytes(STREAM * 3000)
    said, _ = in_terminal(["large.jsonl"])
    assert len(re.findall(r"0 streams, 0 violating", plain(said))) > 10


def test_a_bar_is_taken_away_when_the_run_is_interrupted(files):
    prelude = (
        "import mmsp_fsm.engines.results as runs\n"
        "def fail(self, one):\n"
        "    if one.source == '05.jsonl': raise KeyboardInterrupt\n"
        "    return self\n"
        "runs.Summary.plus = fail"
    )
    said, _ = in_terminal(files, prelude=prelude)
    assert "violating 0:00:0" in said
    assert on_screen(said)[-1] == "interrupted"


def test_a_small_file_in_no_terminal_imports_neither_bar_nor_engines(files):
    code = (
        "import sys, mmsp_fsm.cli.main\n"
        "try: mmsp_fsm.cli.main.main(['validate', '01.jsonl'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'rich', 'rich.progress', 'multiprocessing', 'dask', 'distributed', 'fsspec', 'concurrent.futures'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
                          capture_output=True)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
