"""What a user names is found, and what cannot be read is said while the rest goes on."""

import errno
import io
import json
import os
import socket
import sys
from pathlib import Path

import pytest

from mmsp_fsm.engines.checking import CheckOptions, check_source
from mmsp_fsm.recordings.sources import Source, Unreadable, find_sources
from tests.streams import HI, error, stop

EVENT = json.dumps(HI[0]).encode()
STREAM = b"".join(json.dumps(one).encode() + b"\n" for one in [*HI, stop()])


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Each test in a folder of its own, so that names are short and are the user's."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(*names, data=STREAM):
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def found(*arguments):
    """The names of sources as they are, and of what cannot be read as (name, why)."""
    return [one.name if isinstance(one, Source) else (one.source, one.message) for one in find_sources(arguments)]


def nothing_in(folder):
    return (folder, "this folder holds no recordings (.jsonl, .ndjson, .sse, .json)")


# ── Files ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_is_named_as_the_user_named_it(here):
    put("a.jsonl", "b.txt", "c", ".hidden")
    assert found("a.jsonl", "./a.jsonl", here / "a.jsonl", "b.txt", "c", ".hidden") == [
        *("a.jsonl", "./a.jsonl", f"{here}/a.jsonl", "b.txt", "c", ".hidden"),
    ]
    assert list(find_sources(["a.jsonl"])) == [Source("a.jsonl", Path("a.jsonl"))]


def test_one_argument_that_cannot_be_read_leaves_the_others():
    put("a.jsonl", "b.jsonl")
    assert found("a.jsonl", "missing", "b.jsonl") == ["a.jsonl", ("missing", "no such file or directory"), "b.jsonl"]


def test_names_with_odd_characters():
    names = ["with space.jsonl", "-x.jsonl", "é\n\x1b[0m.jsonl", "\udcff\udcfe.jsonl"]
    put(*names)
    assert found(*names) == names
    (report,) = check_source(next(find_sources(["\udcff\udcfe.jsonl"])), CheckOptions())
    assert report.conforming
    assert found(b"\xff\xfe.jsonl") == ["\udcff\udcfe.jsonl"]
    assert sorted(found(".")) == sorted(f"./{name}" for name in names)


@pytest.mark.parametrize("name", ["\0", "a\0b.jsonl", "*\0", "\ud800", "x\udbff*.jsonl"])
def test_names_that_no_path_can_have(name):
    assert found(name) == [(name, "no path can hold such a character")]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "no such file or directory"),
        ("missing/x.jsonl", "no such file or directory"),
        ("a.jsonl/", "not a directory"),
        ("a.jsonl/x", "not a directory"),
        ("a.jsonl/*", "not a directory"),
        ("x" * 300, "file name too long"),
        ("x/" * 3000, "file name too long"),
        ("dangling", "this link leads nowhere"),
        ("dangling*", "this link leads nowhere"),
        ("[d].jsonl", "this link leads nowhere"),
        ("itself", os.strerror(errno.ELOOP).lower()),
        ("*itself", os.strerror(errno.ELOOP).lower()),
    ],
)
def test_names_that_lead_to_nothing(name, says):
    put("a.jsonl")
    for link in ("dangling", "dangling*", "[d].jsonl"):
        os.symlink("nowhere", link)
    for link in ("itself", "*itself"):
        os.symlink(link, link)
    assert found(name) == [(name, says)]


def test_a_link_to_a_file_or_a_folder_is_followed_where_it_is_named():
    put("real/a.jsonl")
    os.symlink("real/a.jsonl", "file")
    os.symlink("real", "folder")
    assert found("file", "folder") == ["file", "folder/a.jsonl"]


def test_pipes_and_devices_are_sources_where_they_are_named_and_sockets_are_none():
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        assert found("pipe", os.devnull, "socket") == ["pipe", os.devnull, ("socket", "a socket is no recording")]
    (report,) = check_source(Source(os.devnull, Path(os.devnull)), CheckOptions())
    assert [(d.code, d.event) for d in report.diagnostics] == [("E307", 0)]


def test_a_file_that_goes_between_finding_and_opening_is_said():
    put("a.jsonl")
    (source,) = find_sources(["a.jsonl"])
    os.remove("a.jsonl")
    assert list(check_source(source, CheckOptions())) == [Unreadable("a.jsonl", "no such file or directory")]


# ── Folders ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_is_searched_in_all_below_it_in_the_order_of_names():
    put("r/b.jsonl", "r/a/z.sse", "r/a/y/x.ndjson", "r/C.JSONL", "r/c.Sse", "r/d.json", "r/a.jsonl")
    put("r/notes.txt", "r/README", "r/a/x.jsonl.bak", "r/jsonl", "r/.jsonl")
    due = ["C.JSONL", "a/y/x.ndjson", "a/z.sse", "a.jsonl", "b.jsonl", "c.Sse", "d.json"]
    assert found("r") == [f"r/{name}" for name in due]
    assert found("r/") == found("r")
    assert [one.suffix for one in find_sources(["r"])] == [
        ".jsonl",
        ".ndjson",
        ".sse",
        ".jsonl",
        ".jsonl",
        ".sse",
        ".json",
    ]


def test_hidden_names_in_a_folder_are_passed_over_and_a_hidden_folder_can_be_named():
    put("r/.git/a.jsonl", "r/.b.jsonl", ".hidden/c.jsonl", "r/x.jsonl")
    assert found("r", ".hidden") == ["r/x.jsonl", ".hidden/c.jsonl"]


@pytest.mark.parametrize("names", [[], ["r/a.txt"], ["r/.a.jsonl"], ["r/a/b/c.md"]])
def test_a_folder_without_recordings_is_said(names):
    os.mkdir("r")
    put(*names)
    assert found("r") == [nothing_in("r")]


def test_links_in_a_folder():
    put("real/a.jsonl", "r/b.jsonl")
    os.symlink(".", "r/circle")
    os.symlink("..", "r/up.jsonl")
    os.symlink("../real", "r/folder")
    os.symlink("../real/a.jsonl", "r/file.jsonl")
    os.symlink("nowhere", "r/gone.jsonl")
    os.symlink("gone", "r/gone.txt")
    os.symlink("itself.sse", "r/itself.sse")
    loop = os.strerror(errno.ELOOP).lower()
    assert found("r") == [
        "r/b.jsonl",
        "r/file.jsonl",
        ("r/gone.jsonl", "this link leads nowhere"),
        ("r/itself.sse", loop),
    ]


def test_pipes_and_sockets_in_a_folder_are_no_recordings():
    os.mkdir("r")
    os.mkfifo("r/pipe.jsonl")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("r/socket.jsonl")
    assert found("r") == [nothing_in("r")]


def deny(monkeypatch, *folders):
    """Take the permission to list `folders` away (the tests may run as root, whom nothing is denied)."""
    scandir = os.scandir

    def denying(path="."):
        if os.path.normpath(path) in folders:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", denying)


def test_a_folder_that_may_not_be_read_is_said_and_the_rest_goes_on(monkeypatch):
    put("r/a.jsonl", "r/closed/b.jsonl", "r/d.jsonl", "s/e.jsonl")
    deny(monkeypatch, "r/closed")
    assert found("r", "s") == ["r/a.jsonl", ("r/closed", "permission denied"), "r/d.jsonl", "s/e.jsonl"]
    deny(monkeypatch, "r", "r/closed")
    assert found("r", "s") == [("r", "permission denied"), "s/e.jsonl"]


def test_a_file_that_goes_while_its_folder_is_searched_is_said(monkeypatch):
    put("r/a.jsonl", "r/b.json", "r/c.jsonl")
    sources = find_sources(["r"])
    assert next(sources).name == "r/a.jsonl"
    os.remove("r/b.json")
    os.remove("r/c.jsonl")
    assert [(one.source, one.message) for one in sources] == [
        ("r/b.json", "no such file or directory"),
        ("r/c.jsonl", "no such file or directory"),
    ]


def test_a_file_without_permission_is_found_and_opening_it_says_why(monkeypatch):
    put("r/a.jsonl", "r/b.json", "r/c.jsonl")
    real = open

    def denying(path, *more, **named):
        if os.fspath(path) == "r/b.json":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, *more, **named)

    monkeypatch.setattr("builtins.open", denying)
    assert found("r") == ["r/a.jsonl", ("r/b.json", "permission denied"), "r/c.jsonl"]


def test_folders_nested_deeper_than_python_recurses(here):
    depth = 1500
    try:
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        put("a.jsonl")
        os.chdir(here)
        assert found("d") == ["d/" * depth + "a.jsonl"]
        assert found("**/*.jsonl") == ["d/" * depth + "a.jsonl"]
    finally:  # from within, for deleting a tree recurses too
        os.chdir(here)
        while os.path.isdir("d/d"):
            os.rename("d/d", "e")
            for rest in Path("d").glob("*"):
                rest.unlink()
            os.rmdir("d")
            os.rename("e", "d")


# ── JSON in folders, which may be anything ───────────────────────────────────────────────────────────────────

PRETTY = json.dumps(HI, indent=1).encode()
RECORDINGS = {
    "an array": b"[" + EVENT + b"]",
    "an array after a BOM": b"\xef\xbb\xbf[" + EVENT + b"]",
    "a pretty array": PRETTY,
    "JSON lines": EVENT + b"\n" + EVENT + b"\n",
    "one error record": json.dumps([error()]).encode(),
    "an error that is no object": b'[{"error": "gone"}]',
    "an event of which a key is missing": b'[{"role": "assistant", "content_items": []}]',
    "a first record that is foreign": b'[{"ping": 1}, ' + EVENT + b"]",
    "a first record that is no object": b"[1, null, " + EVENT + b"]",
    "a first record that is broken": b"[{oops}, " + EVENT + b"]",
    "a log that holds events": b'{"request": "r1", "event": ' + EVENT + b"}\n",
    "server-sent events": b"data: " + EVENT + b"\n\n",
    "UTF-16": b"\xff\xfe" + PRETTY.decode().encode("utf-16-le"),
    "a first record longer than what is looked at": json.dumps([HI[0] | {"x": "y" * 100_000}]).encode(),
    "a trailing comma": b"[" + EVENT + b",]",
    "NaN": b"[" + EVENT.replace(b"1760000000000", b"NaN") + b"]",
    "nested deeper than Python recurses": b"[" + EVENT.replace(b"null", b"[" * 100_000, 1),
    "an integer that is too long": b'[{"x": ' + b"1" * 5000 + b"}, " + EVENT,
    "nothing": b"",
    "white space": b" \n",
    "a BOM": b"\xef\xbb\xbf",
    "a torn archive, which may have held one": b"\x1f\x8b\x08\x00\x00",
}


@pytest.mark.parametrize("data", RECORDINGS.values(), ids=RECORDINGS)
def test_json_in_a_folder_that_is_a_recording_or_was_meant_as_one(data):
    put("r/a.json", "r/B.JSON", data=data)
    assert found("r") == ["r/B.JSON", "r/a.json"]


OTHERS = {
    "a manifest": b'[{"name": "a", "events": 3, "error_type": "UpstreamError"}]',
    "settings": b'{"a": {"b": 1}}',
    "settings with comments": b'{\n  // comment\n  "a": 1\n}',
    "settings that are torn": b'{"na',
    "a schema of events": b'{"$schema": "x", "properties": {"event_type": {}, "content_items": {}, "error": {}}}',
    "a message": b'{"role": "assistant", "content_items_": []}',
    "a chat": b'[{"role": "user", "content": "event_type"}, {"role": "assistant", "content": "x"}]',
    "an answer without an error": b'{"status": 200, "error": null, "data": {}}',
    "an empty array": b"[]",
    "an empty object": b"{}",
    "scalars": b"1 null",
    "text": b"once upon a time",
    "binary data": b"\x89PNG\r\n\x1a\n",
    "many numbers": b"[" + b"0," * 40_000 + b"0]",
}


@pytest.mark.parametrize("data", OTHERS.values(), ids=OTHERS)
def test_json_in_a_folder_that_is_something_else(data):
    put("r/a.json", data=data)
    assert found("r") == [nothing_in("r")]
    assert found("r/a.json") == ["r/a.json"]
    assert found("r/*.json") == ["r/a.json"]


@pytest.mark.parametrize("data", [PRETTY, b"[" + EVENT + b"]", json.dumps([error()], indent=2).encode(), EVENT])
def test_a_recording_that_is_torn_anywhere_is_still_one(data):
    os.mkdir("r")
    missed = []
    for length in range(len(data)):
        Path("r/a.json").write_bytes(data[:length])
        if found("r") != ["r/a.json"]:
            missed.append(data[:length])
    assert missed == []


# ── Globs ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_glob_gives_what_matches_by_name():
    put("b.jsonl", "a.jsonl", "c.txt", "d/e.jsonl", ".f.jsonl")
    assert found("*.jsonl") == ["a.jsonl", "b.jsonl"]
    assert found("?.txt", "[ab].jsonl", "*/*.jsonl") == ["c.txt", "a.jsonl", "b.jsonl", "d/e.jsonl"]


def test_a_glob_that_nothing_matches_is_said():
    put("a.jsonl")
    for pattern in ("*.sse", "none/*", "none/**", "**/*.sse", "a.jsonl/**"):
        assert found(pattern, "a.jsonl")[1:] == ["a.jsonl"]
        assert found(pattern)[0] in [(pattern, "nothing matches this pattern"), (pattern, "not a directory")]


def test_a_file_that_has_a_glob_s_characters_in_its_name_is_itself():
    put("a[1].jsonl", "a1.jsonl", "*.jsonl", "what?")
    assert found("a[1].jsonl", "*.jsonl", "what?") == ["a[1].jsonl", "*.jsonl", "what?"]
    os.remove("a[1].jsonl")
    assert found("a[1].jsonl") == ["a1.jsonl"]


def test_a_folder_that_a_glob_matches_stands_for_what_it_holds():
    put("day-1/a.jsonl", "day-1/notes.txt", "day-2/b/c.sse", "day-3.jsonl")
    os.mkdir("day-4")
    assert found("day-*") == ["day-1/a.jsonl", "day-2/b/c.sse", "day-3.jsonl", nothing_in("day-4")]


def test_a_glob_through_all_folders_gives_each_file_once():
    put("a.jsonl", "r/b.jsonl", "r/s/c.jsonl", "r/s/t/d.txt", "r/.hidden/e.jsonl", "r/[x]/f.jsonl", "q/s/g.jsonl")
    assert found("**/*.jsonl") == ["a.jsonl", "q/s/g.jsonl", "r/[x]/f.jsonl", "r/b.jsonl", "r/s/c.jsonl"]
    assert found("r/**") == ["r/[x]/f.jsonl", "r/b.jsonl", "r/s/c.jsonl", "r/s/t/d.txt"]
    assert found("r/**/**/*.txt") == ["r/s/t/d.txt"]
    assert found("**/s/*.jsonl") == ["q/s/g.jsonl", "r/s/c.jsonl"]
    assert found("[qr]/**/*.jsonl") == ["q/s/g.jsonl", "r/[x]/f.jsonl", "r/b.jsonl", "r/s/c.jsonl"]
    assert found("**/s/**/*.*") == ["q/s/g.jsonl", "r/s/c.jsonl", "r/s/t/d.txt"]


def test_a_glob_through_all_folders_from_the_root_of_a_path(here):
    put("r/s/a.jsonl")
    assert found(f"{here}/**/*.jsonl") == [f"{here}/r/s/a.jsonl"]
    assert found("./**/*.jsonl") == ["./r/s/a.jsonl"]


def test_a_glob_through_all_folders_does_not_follow_links_in_circles():
    put("r/a.jsonl")
    os.symlink(".", "r/one")
    os.symlink(".", "r/two")  # glob's own `**` would take 2**40 steps here
    assert found("**/*.jsonl") == ["r/a.jsonl"]


def test_a_folder_on_a_glob_s_way_that_may_not_be_read_is_said(monkeypatch):
    put("r/a.jsonl", "r/closed/b.jsonl")
    deny(monkeypatch, "r/closed")
    assert found("r/**/*.jsonl") == ["r/a.jsonl", ("r/closed", "permission denied")]


def test_a_link_that_leads_nowhere_and_matches_is_said():
    put("a.jsonl")
    os.symlink("nowhere", "b*.jsonl")
    os.symlink("c.jsonl", "c.jsonl")
    loop = os.strerror(errno.ELOOP).lower()
    assert found("?*.jsonl") == ["a.jsonl", ("b*.jsonl", "this link leads nowhere"), ("c.jsonl", loop)]


# ── Standard input ───────────────────────────────────────────────────────────────────────────────────────────


def closed():
    one = io.TextIOWrapper(io.BytesIO())
    one.close()
    return one


@pytest.mark.parametrize("stdin", [None, closed()], ids=["none", "closed"])
def test_standard_input_that_is_not_there(monkeypatch, stdin):
    monkeypatch.setattr(sys, "stdin", stdin)
    assert found("-") == [("<stdin>", "standard input is closed")]
    with pytest.raises(OSError, match="standard input is closed"):
        Source("<stdin>").open()


def test_standard_input_that_is_a_pipe_stays_open(monkeypatch):
    read, write = os.pipe()
    with os.fdopen(read) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        (source,) = find_sources(["-"])
        assert (source.name, source.path, source.suffix) == ("<stdin>", None, "")
        os.write(write, STREAM)
        os.close(write)
        (report,) = check_source(source, CheckOptions())
        assert (report.source, report.verdict, report.events) == ("<stdin>", "conforming", 3)
        assert stdin.read() == ""


class NoDescriptor:
    """What some notebooks put in the place of standard input."""

    closed = False

    def read(self):
        return STREAM.decode()


@pytest.mark.parametrize(
    "stdin",
    [io.TextIOWrapper(io.BytesIO(STREAM)), io.StringIO(STREAM.decode()), NoDescriptor()],
    ids=["over bytes", "text", "without fileno"],
)
def test_standard_input_that_a_test_put_in_its_place_stays_open(monkeypatch, stdin):
    monkeypatch.setattr(sys, "stdin", stdin)
    (source,) = find_sources(["-"])
    (report,) = check_source(source, CheckOptions())
    assert report.conforming
    assert not stdin.closed
    assert found("-", "-") == ["<stdin>", ("<stdin>", "standard input can be read only once")]


def test_standard_input_that_is_a_folder_is_said(monkeypatch, here):
    class Folder:
        closed = False

        def __init__(self):
            self.descriptor = os.open(here, os.O_RDONLY)

        def fileno(self):
            return self.descriptor

    stdin = Folder()
    monkeypatch.setattr(sys, "stdin", stdin)
    copies = []
    real = os.dup
    monkeypatch.setattr(os, "dup", lambda one: copies.append(real(one)) or copies[-1])
    assert list(check_source(Source("<stdin>"), CheckOptions())) == [Unreadable("<stdin>", "is a directory")]
    with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
        os.fstat(copies[0])  # the copy of the descriptor is closed again
    os.close(stdin.descriptor)


def test_a_file_named_like_standard_input_can_be_read():
    put("-")
    assert found("./-") == ["./-"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_glob_does_not_wait_for_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    (found,) = find_sources([str(tmp_path / "*.jsonl")])
    assert found.message == "what is no file is read only where it is named itself"
