"""Configuration files: which one counts, what it may say, and that the command line comes first."""

import json

import pytest

from tests.streams import HI, c, c_done, stop, t, t_done
from tests.test_cli import ROOT, run, write


@pytest.fixture
def folder(tmp_path):
    """A folder inside a folder, with a stream that draws E406 and W504."""
    inner = tmp_path / "inner"
    inner.mkdir()
    write(inner / "bad.jsonl", t("a"), t_done("b"), c("{}", "f", "c1"), c_done({}), stop("stop"))
    write(inner / "good.jsonl", *HI, stop())
    return inner


def codes(folder, *arguments):
    done = run("validate", "--format", "json", "bad.jsonl", *arguments, cwd=folder)
    assert done.stderr == b""
    return [one["code"] for one in json.loads(done.stdout)["streams"][0]["diagnostics"]]


def refused(folder, *arguments, command="validate"):
    done = run(command, *(arguments or ["bad.jsonl"]), cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    return done.stderr.decode().splitlines()[-1].removeprefix("Error: ")


# ── Which file ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_none(folder):
    assert codes(folder) == ["E406"]


@pytest.mark.parametrize(("name", "table"), [("mmsp-fsm.toml", ""), ("pyproject.toml", "[tool.mmsp-fsm]\n")])
def test_in_the_current_folder_and_above(folder, name, table):
    (folder.parent / name).write_text(table + 'extend-select = ["W504"]\n')
    assert codes(folder) == ["E406", "W504"]
    (folder / name).write_text(table + 'select = ["W504"]\n')
    assert codes(folder) == ["W504"]


def test_its_own_file_beats_the_shared_one(folder):
    (folder / "pyproject.toml").write_text('[tool.mmsp-fsm]\nselect = ["W504"]\n')
    (folder / "mmsp-fsm.toml").write_text('ignore = ["E"]\n')
    assert codes(folder) == []


def test_a_shared_file_without_the_table_is_passed_over(folder):
    (folder.parent / "mmsp-fsm.toml").write_text('ignore = ["E406"]\n')
    for text in ("[project]\nname = 'x'\n", '[project]\ndependencies = ["mmsp-fsm"]\n', "this is no TOML\n"):
        (folder / "pyproject.toml").write_text(text)
        assert codes(folder) == []
    (folder / "pyproject.toml").unlink()
    (folder / "pyproject.toml").mkdir()
    assert codes(folder) == []


def test_config_and_isolated(folder):
    (folder / "mmsp-fsm.toml").write_text('ignore = ["E406"]\n')
    (folder / "other.toml").write_text('select = ["W504"]\n')
    assert codes(folder, "--isolated") == ["E406"]
    assert codes(folder, "--config", "other.toml") == ["W504"]
    assert refused(folder, "bad.jsonl", "--config", "other.toml", "--isolated") == (
        "--config and --isolated contradict each other."
    )
    assert refused(folder, "bad.jsonl", "--config", "missing.toml") == "missing.toml: no such file or directory"
    assert refused(folder, "bad.jsonl", "--config", ".") == ".: is a directory"
    (folder / "pyproject.toml").write_text("[project]\n")
    assert refused(folder, "bad.jsonl", "--config", "pyproject.toml") == (
        "pyproject.toml: there is no table [tool.mmsp-fsm] in it."
    )


def test_help_needs_no_sound_file(folder):
    (folder / "mmsp-fsm.toml").write_text("nonsense = 1\n")
    assert run("validate", "--help", cwd=folder).returncode == 0


# ── What it says ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_line_comes_first(folder):
    (folder / "mmsp-fsm.toml").write_text(
        'format = "jsonl"\nfail-on = "warning"\nselect = ["W504"]\nstatistics = true\n'
    )
    done = run("validate", "bad.jsonl", cwd=folder)
    stream, totals = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, stream["warnings"], list(totals)) == (1, 1, ["summary", "statistics"])
    assert run("validate", "--fail-on", "error", "bad.jsonl", cwd=folder).returncode == 0
    assert run("validate", "--format", "text", "good.jsonl", cwd=folder).stdout.startswith(b"good.jsonl: conforming")


def test_rules_come_in_layers(folder):
    (folder / "mmsp-fsm.toml").write_text('select = ["E4"]\nignore = ["E406"]\n')
    assert codes(folder) == []
    assert codes(folder, "--extend-select", "W504") == ["W504"]
    assert codes(folder, "--extend-select", "E406") == ["E406"]
    assert codes(folder, "--select", "E406,W504") == ["E406", "W504"]
    (folder / "mmsp-fsm.toml").write_text('extend-select = "W504"\n')
    assert codes(folder, "--ignore", "E406") == ["W504"]


def test_the_other_commands_take_what_they_have(folder):
    (folder / "mmsp-fsm.toml").write_text('ignore = ["E406"]\nformat = "sarif"\nmax-record-bytes = 10\n')
    assert b"E406" not in run("trace", "bad.jsonl", cwd=folder).stdout
    assert b"longer than 10 bytes" in run("parse", "good.jsonl", cwd=folder).stderr
    assert run("parse", "--isolated", "good.jsonl", cwd=folder).returncode == 0
    (folder / "mmsp-fsm.toml").write_text("formt = 1\n")
    assert refused(folder, "good.jsonl", command="parse").startswith("mmsp-fsm.toml: formt: there is no such key")


def test_numbers_and_addresses(folder):
    (folder / "mmsp-fsm.toml").write_text('max-diagnostics = 1\ndocs-url = "https://docs.example/"\nformat = "sarif"\n')
    log = json.loads(run("validate", "bad.jsonl", cwd=folder).stdout)
    assert log["runs"][0]["tool"]["driver"]["rules"][0]["helpUri"] == "https://docs.example/rules/E101.html"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("slect = []", "slect: there is no such key; did you mean select?"),
        ("fail_on = 'error'", "fail_on: there is no such key; did you mean fail-on?"),
        ("max-nesting = '2'", "max-nesting: a whole number is due, not '2'"),
        ("max-nesting = true", "max-nesting: a whole number is due, not true"),
        ("max-nesting = 2.0", "max-nesting: a whole number is due, not 2.0"),
        ("max-nesting = 0", "max-nesting: 0 is not in the range x>=1."),
        ("select = 3", "select: an array of strings is due, not 3"),
        ("select = ['E4', 3]", "select: an array of strings is due, not an array"),
        ("select = []", "select: no rule is named; leave the key out for the usual rules"),
        ("ignore = ['E3O2']", "ignore: there is no rule 'E3O2'; did you mean E302?"),
        ("ignore = ['']", "ignore: a rule's code, name or family is due, and here is nothing"),
        ("quiet = 'yes'", "quiet: true or false is due, not 'yes'"),
        ("fail-on = {}", "fail-on: a string is due, not a table"),
        ("fail-on = 2020-01-01", "fail-on: a string is due, not a date or a time"),
        ("fail-on = 'warn'", "fail-on: 'warn' is not one of 'error', 'warning'."),
        ("docs-url = 'javascript:x'", "docs-url: an address that begins with https:// is due, without blanks."),
        ('"\\u001b[2J" = 1', "\\x1b[2J: there is no such key; the keys are "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(folder, text, sentence):
    (folder / "mmsp-fsm.toml").write_text(text)
    assert refused(folder).startswith(f"mmsp-fsm.toml: {sentence}")
    (folder / "mmsp-fsm.toml").unlink()
    (folder.parent / "pyproject.toml").write_text(f"[tool.mmsp-fsm]\n{text}\n")
    assert refused(folder).startswith(f"{folder.parent / 'pyproject.toml'}: tool.mmsp-fsm.{sentence}")


@pytest.mark.parametrize("data", [b"select = [", b"a = 1\na = 2", b"\xff\xfe", b"a = " + b"[" * 5000])
def test_broken_toml(folder, data):
    (folder / "mmsp-fsm.toml").write_bytes(data)
    assert refused(folder).startswith("mmsp-fsm.toml: this is not TOML: ")


def test_the_table_in_the_wrong_file(folder):
    (folder / "mmsp-fsm.toml").write_text("[tool.mmsp-fsm]\nignore = []\n")
    assert refused(folder).endswith(
        "tool: there is no such key; in this file the keys stand at the top, without [tool.mmsp-fsm]"
    )
    (folder / "mmsp-fsm.toml").unlink()
    (folder / "pyproject.toml").write_text("[tool]\nmmsp-fsm = 3\n")
    assert refused(folder) == "pyproject.toml: tool.mmsp-fsm: a table is due, not 3"


def test_no_file_no_toml(folder):
    import subprocess
    import sys

    code = (
        "import sys; sys.argv = ['mmsp-fsm', 'validate', '-q', 'good.jsonl']\n"
        "from mmsp_fsm.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: print('tomllib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_readme_s_example_is_taken(folder):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text(readme.partition("```toml\n")[2].partition("```")[0])
    done = run("validate", "bad.jsonl", cwd=folder)
    assert (done.returncode, b"W504" in done.stdout) == (1, True)
