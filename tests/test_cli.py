"""The command: what it prints, and its exit status."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mmsp_fsm import __version__
from mmsp_fsm.output.formats.registry import FORMATS
from tests.streams import HI, c, c_done, delta, error, stop, t, t_done

DATA = Path(__file__).parent / "data"
GOOD = DATA / "recordings" / "ant-think-text-tool.jsonl"
FAILED = DATA / "recordings" / "ant-err-truncated-arguments.jsonl"
BAD = DATA / "broken" / "interleaved.jsonl"
ROOT = Path(__file__).parent.parent


def run(*arguments, stdin=b"", **more):
    more = {"cwd": ROOT, "input": stdin, "capture_output": True, "timeout": 60, "check": False, **more}
    return subprocess.run([sys.executable, "-m", "mmsp_fsm", *map(str, arguments)], **more)


def write(path, *events):
    path.write_bytes("\n".join(json.dumps(event) for event in events).encode("utf-8", "surrogatepass") + b"\n")
    return path


# ── validate ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("paths", "status"),
    [([GOOD], 0), ([GOOD, FAILED], 0), ([BAD], 1), ([GOOD, BAD], 1), (["missing"], 2), ([BAD, "missing", GOOD], 2)],
)
def test_exit_status(paths, status):
    assert run("validate", *paths).returncode == status


def test_the_lines_of_conforming_streams():
    done = run("validate", GOOD, FAILED)
    assert done.stdout.decode().splitlines() == [
        f"{GOOD}: conforming, stopped after 17 events in 3 closed groups",
        f"{FAILED}: conforming, failed after 6 events in 1 closed group with ToolCallArgumentParseError",
        "2 streams: 2 conforming, 0 violating; 23 events, 0 errors, 0 warnings",
    ]
    assert done.stderr == b""


def test_quiet_prints_diagnostics_alone():
    assert run("validate", "-q", GOOD).stdout == b""
    text = run("validate", "-q", BAD).stdout.decode()
    assert text.startswith("error[E302]: ")
    assert "violating" not in text


def test_what_cannot_be_read_is_said_and_the_rest_is_checked(tmp_path):
    done = run("validate", "missing.jsonl", tmp_path, GOOD)
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        "error: missing.jsonl: no such file or directory",
        f"error: {tmp_path}: this folder holds no recordings (.jsonl, .ndjson, .sse, .json)",
    ]
    assert b"conforming, stopped after 17 events" in done.stdout
    assert b"2 sources could not be read" in done.stdout


def test_json_is_one_document(tmp_path):
    bad = write(tmp_path / "bad.jsonl", t("a"), {**t_done("b"), "x": 1})
    done = run("validate", "--format", "json", GOOD, bad, "missing")
    assert done.returncode == 2
    document = json.loads(done.stdout)
    assert list(document) == ["version", "streams", "unreadable", "summary"]
    assert document["version"] == 1
    assert document["streams"][0] == {
        "source": str(GOOD), "stream": None, "verdict": "conforming", "outcome": "stopped", "events": 17, "groups": 3,
        "errors": 0, "warnings": 0, "diagnostics": [],
    }  # fmt: skip
    second = document["streams"][1]
    assert list(second) == list(document["streams"][0])
    assert (second["verdict"], second["outcome"], second["errors"]) == ("violating", "truncated", 3)
    assert [(d["code"], d["event"], d["line"], d["pointer"]) for d in second["diagnostics"]] == [
        ("E104", 1, 2, "/x"), ("E406", 1, 2, "/content_items/0/text"), ("E307", 2, 3, ""),
    ]  # fmt: skip
    assert second["diagnostics"][1] == {
        "code": "E406",
        "rule": "done-content-mismatch",
        "severity": "error",
        "message": 'the done item\'s text is not what the fragments carried: from character 0 on it holds "b", '
        'and the fragments join to "a"',
        "event": 1,
        "line": 2,
        "pointer": "/content_items/0/text",
        "state": "text_open",
        "expected": ["text.delta", "text.done", "error"],
        "related": [{"event": 0, "line": 1, "message": "the text group was opened here"}],
    }
    assert document["unreadable"] == [{"source": "missing", "message": "no such file or directory"}]
    assert document["summary"] == {
        "streams": 2, "conforming": 1, "violating": 1, "events": 19, "errors": 3, "warnings": 0, "unreadable": 1,
    }  # fmt: skip
    assert done.stderr == b""


def test_nothing_to_say_is_a_document_too():
    document = json.loads(run("validate", "--format", "json", "missing").stdout)
    assert (document["streams"], document["summary"]["streams"]) == ([], 0)


def test_standard_input():
    document = json.loads(run("validate", "--format", "json", "-", stdin=GOOD.read_bytes()).stdout)
    assert [(one["source"], one["verdict"]) for one in document["streams"]] == [("<stdin>", "conforming")]


def test_rules_are_chosen(tmp_path):
    call = write(tmp_path / "call.jsonl", c("{}", "f", "c1"), c_done({}), stop("stop"))
    assert run("validate", call).returncode == 0
    assert run("validate", "--fail-on", "warning", call).returncode == 0
    assert run("validate", "--fail-on", "warning", "--extend-select", "W504", call).returncode == 1
    assert run("validate", "--ignore", "E302,E4", BAD).returncode == 0
    assert run("validate", "--select", "E101", "--select", "E2,W", BAD).returncode == 0
    done = run("validate", "--ignore", "E3O2", BAD)
    assert done.returncode == 2
    assert b"there is no rule 'E3O2'; did you mean E302?" in done.stderr


def test_limits(tmp_path):
    path = write(tmp_path / "long.jsonl", t("x" * 500), t_done("x" * 500), stop())
    assert b"E101" in run("validate", "--max-record-bytes", "400", path).stdout
    assert b"W513" in run("validate", "--max-group-bytes", "400", path).stdout
    assert run("validate", "--max-nesting", "0", path).returncode == 2


@pytest.mark.parametrize("arguments", [["validate"], ["validate", "--format", "xml", "a"], ["nothing"], ["parse"],
                                       ["explain"], ["explain", "E999"], ["parse", "a", "b"]])  # fmt: skip
def test_misuse_is_2_and_says_so(arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert b"Error: " in done.stderr
    assert b"Traceback" not in done.stderr


# ── parse, trace, explain, rules ─────────────────────────────────────────────────────────────────────────────────


def test_parse_prints_the_message(tmp_path):
    path = write(tmp_path / "call.jsonl", *HI, c('{"id": 12345678901234567890}', "f", "c1"),
                 c_done({"id": 12345678901234567890}), stop("tool_call"))  # fmt: skip
    done = run("parse", path)
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "role": "assistant",
        "content_items": [
            {"type": "text.done", "text": "Hi"},
            {"type": "tool_call.done", "name": "f", "tool_call_id": "c1", "arguments": {"id": 12345678901234567890}},
        ],
        "usage_metadata": {"cached_tokens": 0, "prompt_tokens": 12, "thoughts_tokens": None, "response_tokens": 7},
        "finish_reason": "tool_call",
        "created_at": 1760000000000,
    }


def test_parse_of_a_failed_stream(tmp_path):
    done = run("parse", write(tmp_path / "failed.jsonl", *HI, error(status=503)))
    assert done.returncode == 1
    assert json.loads(done.stdout) == {
        "error": {"type": "UpstreamError", "message": "gone", "status": 503},
        "done_items": [{"type": "text.done", "text": "Hi"}],
    }


def test_parse_of_a_violating_stream():
    done = run("parse", BAD)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"error[E302]: ")


def test_parse_of_what_cannot_be_read():
    done = run("parse", "missing")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"error: missing: no such file or directory\n")


def test_trace():
    done = run("trace", BAD)
    assert done.returncode == 1
    rows = [line.split() for line in done.stdout.decode().splitlines()]
    assert rows[0] == ["0", "line", "1", "between_groups", "thinking.delta", "open", "thinking_open"]
    assert rows[1] == ["1", "line", "2", "+40", "ms", "thinking_open", "text.delta", "leave+open", "text_open"]
    assert rows[2][0] == "error[E302]"
    assert rows[3][5:] == ["text_open", "thinking.delta", "late", "text_open"]
    assert rows[-2][5:] == ["between_groups", "stop", "finish", "stopped"]


def test_explain_and_rules():
    text = run("explain", "E302", "done-content-mismatch").stdout.decode()
    assert text.startswith("E302 group-left-open (error)\n")
    assert "\nE406 done-content-mismatch (error)\n" in text
    for title in ("Why", "Where it comes from", "How to mend it", "A stream with this fault", "The same stream mended"):
        assert f"\n{title}" in text
    listed = run("rules").stdout.decode().splitlines()
    assert len(listed) == 51
    assert listed[0].startswith("E101  not-json ")
    assert any("call-without-finish-reason" in line and "warning (off)" in line for line in listed)


def test_version_and_help():
    assert run("--version").stdout.decode() == f"mmsp-fsm, version {__version__}\n"
    for command in ([], ["validate"], ["parse"], ["trace"], ["tail"], ["probe"], ["explain"], ["rules"]):
        done = run(*command, "--help")
        assert done.returncode == 0
        assert b"Example" in done.stdout
        assert b"\\b" not in done.stdout


# ── Where output goes ────────────────────────────────────────────────────────────────────────────────────────────


def hostile(tmp_path):
    text = "\x1b]52;c;cm0=\x07\x1b[2J\x9b31m\u202e[red]\ud83d\r\n::error::x"
    return write(tmp_path / "a[red]\x1b[31m\n.jsonl", t(text), t_done(text[1:]), stop())


@pytest.mark.parametrize(
    "command", [*(["validate", "--statistics", "--format", name] for name in FORMATS), ["trace"], ["parse"]]
)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_nothing_hostile_reaches_the_terminal(tmp_path, command, encoding):
    done = run(*command, hostile(tmp_path), env={**os.environ, "PYTHONIOENCODING": encoding})
    assert done.returncode == 1, done.stderr
    printed = (done.stdout + done.stderr).decode(encoding)
    assert not any(one in printed for one in "\x1b\x07\x9b\u202e\r")
    if command[-1] == "json":
        assert json.loads(done.stdout.decode(encoding))["streams"][0]["source"].endswith("a[red]\x1b[31m\n.jsonl")


def test_a_reader_that_leaves_early(tmp_path):
    many = [write(tmp_path / f"{number}.jsonl", t("a", x="y" * 500), t_done("b"), stop()) for number in range(200)]
    for how in ([], *(["--format", name] for name in FORMATS)):
        process = subprocess.Popen([sys.executable, "-m", "mmsp_fsm", "validate", *how, *map(str, many)], cwd=ROOT,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(timeout=60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("name", FORMATS)
def test_an_output_that_is_full(name):
    with open("/dev/full", "wb") as full:
        done = run("validate", "--format", name, BAD, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.decode() == "error: the output cannot be written: No space left on device\n"


def test_closed_streams():
    shell = f"{sys.executable} -m mmsp_fsm validate"
    done = subprocess.run(f"{shell} - <&-", shell=True, cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"error: <stdin>: standard input is closed\n")
    done = subprocess.run(f"{shell} {BAD} >&-", shell=True, cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"error: the output cannot be written: standard output is closed\n")
    for command in ("explain E302", "rules", f"parse {GOOD}", f"trace {GOOD}"):
        done = subprocess.run(f"{sys.executable} -m mmsp_fsm {command} >&-", shell=True, cwd=ROOT, capture_output=True,
                              check=False)  # fmt: skip
        assert (done.returncode, done.stderr) == (
            2,
            b"error: the output cannot be written: standard output is closed\n",
        )
    done = subprocess.run(f"{shell} {GOOD} missing 2>&-", shell=True, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"conforming" in done.stdout


def test_a_broken_file_does_not_keep_the_others_from_being_checked(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"\xed\n")
    (tmp_path / "b.jsonl").write_bytes(bytes(range(256)) * 50)
    (tmp_path / "c.jsonl").write_bytes(GOOD.read_bytes())
    done = run("validate", tmp_path)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"c.jsonl: conforming" in done.stdout
    assert b"3 streams: 1 conforming, 2 violating" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("command", [["validate", "missing"], ["parse", "missing"], ["trace", "missing"],
                                     ["validate", "--select", "X9", "missing"]])  # fmt: skip
def test_what_cannot_be_said_does_not_change_the_status(command):
    with open("/dev/full", "wb") as full:
        assert run(*command, capture_output=False, stdout=subprocess.PIPE, stderr=full).returncode == 2


def test_parse_takes_no_rules():
    done = run("parse", "--ignore", "E406", BAD)
    assert done.returncode == 2
    assert b"No such option" in done.stderr


def test_standard_input_twice():
    done = run("validate", "-", "-", stdin=GOOD.read_bytes())
    assert (done.returncode, done.stderr) == (2, b"error: <stdin>: standard input can be read only once\n")
    assert b"<stdin>: conforming" in done.stdout


def test_ctrl_c():
    process = subprocess.Popen([sys.executable, "-m", "mmsp_fsm", "validate", "-"], cwd=ROOT, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    process.stdin.write(json.dumps(delta()).encode() + b"\n")
    process.stdin.flush()
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, b"", b"interrupted")


def test_validate_imports_no_more_than_it_uses():
    code = (
        "import sys; sys.argv = ['mmsp-fsm', 'validate', '-q', sys.argv[1]]\n"
        "from mmsp_fsm.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} "
        "& {'rich', 'pygraphviz', 'pytest', 'hypothesis', 'networkx', 'asyncio', 'automata', "
        "'dask', 'distributed', 'fsspec', 'multiprocessing', 'backports'}))"
    )
    done = subprocess.run([sys.executable, "-c", code, GOOD], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("command", ["parse", "trace"])
def test_one_recording_is_due(tmp_path, command):
    one = write(tmp_path / "a.jsonl", *HI, stop())
    assert run(command, tmp_path).returncode == 0
    write(tmp_path / "b.jsonl", *HI, stop())
    done = run(command, tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"stands for several recordings, and one is due" in done.stderr
    assert run(command, one).returncode == 0


def test_trace_fails_on_warnings_if_asked(tmp_path):
    call = write(tmp_path / "call.jsonl", c("{}", "f", "c1"), c_done({}), stop("stop"))
    assert run("trace", "--extend-select", "W504", call).returncode == 0
    assert run("trace", "--extend-select", "W504", "--fail-on", "warning", call).returncode == 1


@pytest.mark.parametrize("words", ["", ",", "E302,"])
def test_an_empty_word_is_no_rule(words):
    assert run("validate", "--select", words, GOOD).returncode == 2


# ── Several streams in one recording ─────────────────────────────────────────────────────────────────────────────


def test_split_by_stop(tmp_path):
    path = write(tmp_path / "a.jsonl", *HI, stop(), *HI[1:], stop(), [])
    done = run("validate", "--split", "stop", path)
    assert done.returncode == 1
    assert f"{path}: stream 0: conforming, stopped".encode() in done.stdout
    assert f"--> {path}:4 (stream 1, event 0".encode() in done.stdout
    found = json.loads(run("validate", "--split", "stop", "--format", "json", path).stdout)
    assert [(one["stream"], one["verdict"], one["outcome"]) for one in found["streams"]] == [
        (0, "conforming", "stopped"),
        (1, "violating", "stopped"),
        (2, "violating", "truncated"),
    ]
    assert found["summary"]["streams"] == 3


def test_split_by_key(tmp_path):
    rows = [{"id": key, "data": one} for one in [*HI, stop()] for key in ("a", "b\x1b[31m")]
    path = write(tmp_path / "log", *rows)
    done = run("validate", "--split", "key", "--stream-key", "/id", "--event", "/data", path)
    assert done.returncode == 0
    assert f"{path}: stream a: conforming".encode() in done.stdout
    assert b"\x1b" not in done.stdout
    found = json.loads(
        run("validate", "--split=key", "--stream-key=/id", "--event=/data", "--format=json", path).stdout
    )
    assert [one["stream"] for one in found["streams"]] == ["a", "b\x1b[31m"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--split", "key"], b"--stream-key belong together"),
        (["--stream-key", "/id"], b"--stream-key belong together"),
        (["--split", "stop", "--stream-key", "/id"], b"--stream-key belong together"),
        (["--split", "key", "--stream-key", "id"], b"is no JSON pointer"),
        (["--split", "key", "--stream-key", "/id", "--event", "/a~2"], b"is no JSON pointer"),
        (["--max-open", "0"], b"--max-open"),
        (["--split", "both"], b"--split"),
    ],
)
def test_split_options_that_do_not_fit(tmp_path, options, says):
    done = run("validate", *options, write(tmp_path / "a.jsonl", *HI, stop()))
    assert (done.returncode, done.stdout) == (2, b"")
    assert says in done.stderr


def test_an_empty_recording_that_is_split_holds_no_stream(tmp_path):
    done = run("validate", "--split", "stop", write(tmp_path / "a.jsonl"))
    assert done.returncode == 0
    assert done.stderr.endswith(b"a.jsonl: this recording holds no stream\n")
