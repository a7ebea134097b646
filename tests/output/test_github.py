"""Workflow commands: one line each, escaped as GitHub asks."""

import re

from tests.output.runs import HOSTILE, UNREADABLE, hostile, report, written
from tests.streams import HI, c, c_done, stop, t, t_done, th

BAD = report(th("a"), t("b"), t_done("b"), stop(), source="folder/bad.jsonl")
COMMAND = re.compile(r"::(error|warning|notice) ((?:\w+=[^:,\n\r]*,?)*)::([^\n\r]*)")


def unescaped(text, *, a_property=False):
    """What the runner makes of a command's text."""
    for escape, character in {"%0D": "\r", "%0A": "\n", **({"%3A": ":", "%2C": ","} if a_property else {})}.items():
        text = text.replace(escape, character)
    return text.replace("%25", "%")


def commands(text):
    """The commands as the runner reads them, and the lines that are none."""
    found, others = [], []
    for line in text.splitlines():
        if match := COMMAND.fullmatch(line):
            level, properties, message = match.groups()
            stated = dict(one.split("=", 1) for one in properties.split(","))
            found.append((level, {k: unescaped(v, a_property=True) for k, v in stated.items()}, unescaped(message)))
        else:
            others.append(line)
    return found, others


def test_a_command():
    text, said = written("github", BAD)
    assert said == []
    assert commands(text) == (
        [
            (
                "error",
                {"file": "folder/bad.jsonl", "line": "2", "title": "E302 group-left-open"},
                "text.delta stands here while a thinking group is open\n"
                "at event 1, /content_items/0/type\n"
                "state thinking_open; here may stand: thinking.delta, thinking.done, error\n"
                "event 0: the thinking group was opened here\n"
                "help: Send the done item of the open group before the first fragment of the next, and hold fragments "
                "of other groups back until then.",
            )
        ],
        ["1 stream: 0 conforming, 1 violating; 4 events, 1 error, 0 warnings"],
    )


def test_levels():
    warned = report(*HI, c("{}", "f", "c1"), c_done({}), stop("stop"), rules=["W504"])
    found, _ = commands(written("github", warned, UNREADABLE)[0])
    assert [(level, properties["title"]) for level, properties, _ in found] == [
        ("warning", "W504 call-without-finish-reason"),
        ("error", "unreadable"),
    ]
    assert found[1][1]["file"] == "x\\x1b\\ud800]]>.jsonl"
    assert found[1][2] == "no such\\x07 file"


def test_nothing_to_say():
    assert written("github")[0] == "0 streams: 0 conforming, 0 violating; 0 events, 0 errors, 0 warnings\n"
    assert written("github", report(*HI, stop()), quiet=True)[0] == ""


def test_the_stream_is_named():
    found, _ = commands(written("github", report(t("a"), source="log", stream="r,1:%"))[0])
    assert "\nat stream r,1:%, event 1\n" in found[0][2]


def test_hostile_streams():
    text, _ = written("github", hostile(stream=HOSTILE), UNREADABLE, quiet=True)
    found, others = commands(text)
    assert others == []
    assert len(found) == len(text.splitlines()) >= 4
    assert not any(one in text for one in "\x1b\x07\x00\x9b\u202e\r\x0b")
    assert found[0][1]["file"] == "a ,:%\\x1b[31m\\n]]>é\\udcff.jsonl"
    assert "file=a %2C%3A%25\\x1b[31m\\n]]>é\\udcff.jsonl,line=2," in text


def test_a_notice_says_what_github_does_not_show():
    many = report(*[b"{" for _ in range(1000)], stop())
    found, others = commands(written("github", many)[0])
    assert [level for level, _, _ in found] == ["error"] * 101 + ["notice"]
    assert found[100][2] == "900 more of this stream are not listed"
    assert found[101][2] == (
        "91 of 101 errors have no annotation, for GitHub shows 10 of a step; the log has all that are listed"
    )
    assert others == ["1 stream: 0 conforming, 1 violating; 1001 events, 1000 errors, 0 warnings"]
    ten = report(*[b"{" for _ in range(10)], stop())
    assert "notice" not in written("github", ten)[0]


def test_the_workspace_s_paths(monkeypatch, tmp_path):
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    found, _ = commands(
        written("github", BAD, report(t("a"), source="/elsewhere/a.jsonl"), report(source="<stdin>"))[0]
    )
    files = [properties["file"] for _, properties, _ in found]
    assert files == ["sub/folder/bad.jsonl", "/elsewhere/a.jsonl", "<stdin>"]


def test_paths_without_a_workspace(monkeypatch):
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    reports = [report(t("a"), source=name) for name in ("./a.jsonl", "../a.jsonl", "<stdin>", "s3://bucket/a.jsonl")]
    found, _ = commands(written("github", *reports)[0])
    assert [properties["file"] for _, properties, _ in found] == [
        "a.jsonl", "../a.jsonl", "<stdin>", "s3://bucket/a.jsonl",
    ]  # fmt: skip
