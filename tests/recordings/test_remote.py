"""Recordings that are elsewhere are found and read like those that are here, and every fault is a sentence."""

import gzip
import json
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import pytest

import mmsp_fsm
from mmsp_fsm.cli.main import main
from mmsp_fsm.engines.checking import CheckOptions, check_source
from mmsp_fsm.recordings.remote import is_address, locate, path_of
from mmsp_fsm.recordings.sources import Source, Unreadable, find_sources
from tests.streams import HI, stop

STREAM = b"".join(json.dumps(one).encode() + b"\n" for one in [*HI, stop()])
NOTHING = "this folder holds no recordings (.jsonl, .ndjson, .sse, .json)"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield lambda files: [system.pipe(f"/{name}", data) for name, data in files.items()]
    system.store.clear()
    system.pseudo_dirs[:] = [""]


class Handler(SimpleHTTPRequestHandler):
    """Serves the folder of the test; some paths are troubled."""

    def do_GET(self):
        name = self.path.partition("?")[0].strip("/")
        if name in ("403.jsonl", "401.jsonl", "500.jsonl", "410.jsonl"):
            self.send_error(int(name[:3]))
        elif name == "cut.jsonl":
            self.send_response(200)
            self.send_header("Content-Length", str(len(STREAM)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(STREAM[:100])
        else:
            super().do_GET()

    def do_HEAD(self):
        if self.path.startswith("/40") or self.path.startswith("/500"):
            self.send_error(405)
        else:
            super().do_HEAD()

    def log_message(self, *_):
        pass


@pytest.fixture
def web(here):
    server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *more: Handler(*more, directory=str(here)))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def found(*arguments):
    return [one.name if isinstance(one, Source) else (one.source, one.message) for one in find_sources(arguments)]


def check(address):
    return [
        one if isinstance(one, Unreadable) else (one.source, one.verdict, one.events)
        for source in find_sources([address])
        for one in ([source] if isinstance(source, Unreadable) else check_source(source, CheckOptions()))
    ]


# ── What an address is ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name", ["s3://b/x", "gs://b", "HTTPS://h/x", "zip://a::s3://b/c.zip", "simplecache::s3://b/x"]
)
def test_addresses(name):
    assert is_address(name)


@pytest.mark.parametrize(
    "name", ["", "a.jsonl", "C://x", "c:\\x", "://x", "a b://x", "./s3://b", "x/s3://b", "-", "é://x"]
)
def test_what_is_none(name):
    assert not is_address(name)


def test_a_file_that_is_here_wins(here):
    Path("s3:").mkdir()
    Path("s3:/a.jsonl").write_bytes(STREAM)
    assert not is_address("s3://a.jsonl")
    assert check("s3://a.jsonl") == [("s3://a.jsonl", "conforming", 3)]
    assert list(find_sources(["s3://a.jsonl"])) == [Source("s3://a.jsonl", Path("s3:/a.jsonl"))]


def test_the_part_of_an_address_that_has_a_suffix():
    assert path_of("https://h/a.jsonl.gz?sig=x.sse#y") == "https://h/a.jsonl.gz"
    assert path_of("s3://b/what?.sse") == "s3://b/what?.sse"
    assert path_of("zip://a.sse::s3://b/c.zip") == "zip://a.sse"
    assert path_of("simplecache::s3://b/c.json") == "s3://b/c.json"


# ── Memory, which has all that a file system can have ────────────────────────────────────────────────────────


def test_a_file(memory):
    memory({"r/a.jsonl": STREAM, "r/b.gz": gzip.compress(STREAM)})
    assert check("memory://r/a.jsonl") == [("memory://r/a.jsonl", "conforming", 3)]
    assert check("memory:///r/b.gz") == [("memory:///r/b.gz", "conforming", 3)]
    assert mmsp_fsm.validate("memory://r/a.jsonl").source == "memory://r/a.jsonl"
    assert mmsp_fsm.parse("memory://r/b.gz").finish_reason == "stop"


def test_the_suffix_settles_a_tie(memory):
    line = json.dumps([*HI, stop()]).encode()
    memory({"a.jsonl": line, "a.json": line})
    assert [check(f"memory://a.{suffix}")[0][2] for suffix in ("jsonl", "json")] == [1, 3]
    assert [mmsp_fsm.validate(f"memory://a.{suffix}").events for suffix in ("jsonl", "json")] == [1, 3]


def test_a_folder(memory):
    memory({"r/b.jsonl": STREAM, "r/a/z.sse": STREAM, "r/a/y/x.ndjson.gz": gzip.compress(STREAM)})
    memory({"r/notes.txt": b"", "r/.x.jsonl": STREAM, "r/.git/a.jsonl": STREAM, "r/e.json": STREAM, "r/f.json": b"{}"})
    due = [f"memory://r/{name}" for name in ("a/y/x.ndjson.gz", "a/z.sse", "b.jsonl", "e.json")]
    assert found("memory://r") == due
    assert found("memory://r/") == due
    assert found("memory://") == due
    memory({"s/a.txt": b""})
    assert found("memory://s") == [("memory://s", NOTHING)]


def test_a_glob(memory):
    memory({"r/a.jsonl": STREAM, "r/b.jsonl": STREAM, "r/c.sse": STREAM, "r/d/e.jsonl": STREAM, "s/f.jsonl": STREAM})
    assert found("memory://r/*.jsonl") == ["memory://r/a.jsonl", "memory://r/b.jsonl"]
    assert found("memory://r/?.sse") == ["memory://r/c.sse"]
    assert found("memory://*/f.jsonl") == ["memory://s/f.jsonl"]
    assert found("memory://r/**/*.jsonl") == [f"memory://r/{name}.jsonl" for name in ("a", "b", "d/e")]
    assert found("memory://r/d*") == ["memory://r/d/e.jsonl"]
    assert found("memory://r/*.x") == [("memory://r/*.x", "nothing matches this pattern")]
    memory({"r/[x].jsonl": STREAM})
    assert found("memory://r/[x].jsonl") == ["memory://r/[x].jsonl"]


def test_what_is_not_there(memory):
    assert check("memory://nothing.jsonl") == [Unreadable("memory://nothing.jsonl", "no such file or directory")]
    with pytest.raises(OSError, match=r"^no such file or directory$"):
        mmsp_fsm.validate("memory://nothing.jsonl")


def test_a_file_that_goes_before_it_is_opened(memory):
    memory({"a.jsonl": STREAM})
    (source,) = find_sources(["memory://a.jsonl"])
    fsspec.filesystem("memory").rm("/a.jsonl")
    assert list(check_source(source, CheckOptions())) == [Unreadable(source.name, "no such file or directory")]


def test_a_chain(memory, here):
    import zipfile

    with zipfile.ZipFile("c.zip", "w") as one:
        one.writestr("r/a.jsonl", STREAM)
        one.writestr("r/b.jsonl", STREAM)
    chain = f"::file://{here}/c.zip"
    assert check(f"zip://r/a.jsonl{chain}") == [(f"zip://r/a.jsonl{chain}", "conforming", 3)]
    assert found(f"zip://r/*.jsonl{chain}") == [f"zip://r/{name}.jsonl{chain}" for name in "ab"]
    assert found(f"zip://r{chain}") == [f"zip://r/{name}.jsonl{chain}" for name in "ab"]


# ── Local files by their address ─────────────────────────────────────────────────────────────────────────────


def test_files_here_by_their_address(here):
    Path("r/s").mkdir(parents=True)
    for name in ("r/a.jsonl", "r/s/b.sse"):
        Path(name).write_bytes(STREAM)
    Path("r/circle").symlink_to(".")
    assert found(f"file://{here}/r") == [f"file://{here}/r/{name}" for name in ("a.jsonl", "s/b.sse")]
    assert found(f"file://{here}/r/*.jsonl") == [f"file://{here}/r/a.jsonl"]
    assert check(f"file://{here}/r/a.jsonl") == [(f"file://{here}/r/a.jsonl", "conforming", 3)]
    assert found(f"file://{here}/no") == [(f"file://{here}/no", "no such file or directory")]


# ── A web server ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_web_server_s_file(web):
    Path("a.jsonl").write_bytes(STREAM)
    Path("b.jsonl.gz").write_bytes(gzip.compress(STREAM))
    assert check(f"{web}/a.jsonl") == [(f"{web}/a.jsonl", "conforming", 3)]
    assert check(f"{web}/a.jsonl?token=x") == [(f"{web}/a.jsonl?token=x", "conforming", 3)]
    assert check(f"{web}/b.jsonl.gz") == [(f"{web}/b.jsonl.gz", "conforming", 3)]


def test_a_web_folder_that_lists_what_it_holds(web):
    Path("r/s").mkdir(parents=True)
    for name in ("r/a.jsonl", "r/s/b.sse", "r/notes.txt"):
        Path(name).write_bytes(STREAM)
    assert found(f"{web}/r/") == [f"{web}/r/a.jsonl", f"{web}/r/s/b.sse"]
    assert found(f"{web}/r/*.jsonl") == [f"{web}/r/a.jsonl"]
    assert found(f"{web}/r/*.x") == [(f"{web}/r/*.x", "nothing matches this pattern")]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing.jsonl", "no such file or directory"),
        ("410.jsonl", "no such file or directory"),
        ("403.jsonl", "permission denied"),
        ("401.jsonl", "permission denied"),
        ("500.jsonl", "the server answered with status 500"),
        ("missing/", "no such file or directory"),
    ],
)
def test_what_a_web_server_refuses(web, name, says):
    assert check(f"{web}/{name}") == [Unreadable(f"{web}/{name}", says)]


def test_a_web_server_that_stops_in_the_middle(web):
    (one,) = check(f"{web}/cut.jsonl")
    assert one.message.startswith("http:// cannot be read: ")


def test_no_network():
    (one,) = check("http://127.0.0.1:9/a.jsonl")
    assert one.message.startswith("http:// cannot be read: Cannot connect to host 127.0.0.1:9")


# ── Packages that are missing ────────────────────────────────────────────────────────────────────────────────


def test_a_protocol_that_no_package_knows():
    assert check("nosuch://x/y") == [Unreadable("nosuch://x/y", "there is no package that reads nosuch://")]


def test_a_package_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    (one,) = check("s3://bucket/a.jsonl")
    assert one.message == "reading s3:// needs a package that is not installed: Install s3fs to access S3"


def test_without_fsspec(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    says = "reading s3:// needs the package fsspec: pip install 'mmsp-fsm[remote]'"
    assert check("s3://bucket/a.jsonl") == [Unreadable("s3://bucket/a.jsonl", says)]
    with pytest.raises(OSError, match="needs the package fsspec"):
        mmsp_fsm.validate("s3://bucket/a.jsonl")


def test_whatever_a_file_system_raises_is_a_sentence(memory, monkeypatch):
    memory({"a.jsonl": STREAM})

    def fail(*_, **__):
        raise RuntimeError("no\ncredentials " + "x" * 1000)

    for method in ("info", "glob", "ls", "open"):
        with monkeypatch.context() as patch:
            patch.setattr(type(fsspec.filesystem("memory")), method, fail)
            address = {"glob": "memory://*.x", "ls": "memory://"}.get(method, "memory://a.jsonl")
            messages = [one.message for one in check(address) if isinstance(one, Unreadable)]
            assert len(messages) == 1
            assert messages[0].startswith("memory:// cannot be read: no credentials xx")
            assert len(messages[0]) < 350


# ── The commands ─────────────────────────────────────────────────────────────────────────────────────────────


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return end.value.code, *capsys.readouterr()


def test_the_commands_take_addresses(memory, capsys):
    memory({"r/a.jsonl": STREAM, "r/b.jsonl": STREAM[:-300]})
    status, out, _ = run(capsys, "validate", "memory://r", "memory://x.jsonl", "-q")
    assert status == 2
    assert "memory://r/b.jsonl" in out
    assert run(capsys, "parse", "memory://r/a.jsonl")[0] == 0
    assert run(capsys, "trace", "memory://r/a.jsonl")[0] == 0
    status, _, err = run(capsys, "parse", "memory://x.jsonl")
    assert (status, err) == (2, "error: memory://x.jsonl: no such file or directory\n")


def test_what_is_here_does_not_import_fsspec(here):
    import subprocess

    Path("a.jsonl").write_bytes(STREAM)
    code = (
        "import sys, mmsp_fsm.cli.main\n"
        "try: mmsp_fsm.cli.main.main(['validate', 'a.jsonl'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert not {'fsspec', 'aiohttp', 'asyncio'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_place_is_told_to_be_a_web_server():
    assert locate("http://h/x").is_web
    assert not locate("memory://x").is_web
