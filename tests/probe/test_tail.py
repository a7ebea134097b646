"""`tail`: each event before the next byte, the bytes kept as they came, and a clear answer to every broken server."""

import io
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mmsp_fsm import Limits
from mmsp_fsm.cli.main import main
from tests.probe.server import DATA, HELLO, KEY, MODEL, Answers, Server, serving, sse
from tests.streams import HI, c, d, d_done, delta, e, e_done, error, stop, t, t_done, th

pytest.importorskip("httpx", reason="the extra `http` is not installed")

ROOT = Path(__file__).parent.parent.parent
BAD = DATA / "broken" / "interleaved.jsonl"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in ("MMSP_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def tail(capsys):
    """Runs `tail` in this process; gives its status, its output and its complaints."""

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["tail", *map(str, arguments)])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return run


def write(path, *events):
    path.write_bytes("".join(json.dumps(event) + "\n" for event in events).encode())
    return path


def answering(*parts, **headers):
    """A server that sends these parts of a chunked body and ends it."""

    def answer(wire):
        wire.head(**{**Server.stream_headers, "Transfer_Encoding": "chunked", **headers})
        for part in parts:
            wire.body(part)
        wire.end()

    return Answers(answer)


# ── What it prints ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_conforming_recording(tail):
    path = DATA / "recordings" / "ant-think-text-tool.sse"
    status, out, err = tail(path)
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "thinking",
        "  > The user wants the tide for Brest, so I ask the almanac. [fidelity]",
        "thinking.done",
        "text",
        "  > Let me look that up for you.",
        "text.done",
        "tool_call tide_table toolu_tide_1",
        '  > {"port": "Brest", "days": 2, "metric": true}',
        "tool_call.done",
        "stop tool_call: cached_tokens 900, prompt_tokens 52, thoughts_tokens null, response_tokens 88",
        f"{path}: conforming, stopped after 17 events in 3 closed groups",
    ]


def test_faults_stand_where_they_are(tail):
    status, out, _ = tail(BAD)
    lines = out.splitlines()
    assert status == 1
    first = lines.index("error[E302]: text.delta stands here while a thinking group is open")
    assert lines[:first] == [
        "thinking", "  > The user asks for the tide", "text", "  > High water at Brest", ""
    ]  # fmt: skip
    rest = [line for line in lines[first:] if not line.startswith((" ", "1", "2", "6"))]
    assert rest[1:] == [
        "", "thinking (late)", "text (goes on)", "thinking.done (late)", "text.done", "", rest[7], "",
        "stop stop: cached_tokens 0, prompt_tokens 31, thoughts_tokens 9, response_tokens 14",
        f"{BAD}: violating, stopped after 7 events in 2 closed groups, 2 errors, 0 warnings",
    ]  # fmt: skip
    assert rest[7].startswith("error[E406]: ")


def test_bytes_numbers_errors_and_what_no_one_knows(tail, tmp_path):
    audio = [d("AAAA"), d("AAA="), d_done("AAAAAAA=")]
    status, out, _ = tail(write(tmp_path / "a.jsonl", *audio, e([1.0, 2.0]), e_done([1.0, 2.0]), error()))
    assert (status, out.splitlines()[:-1]) == (0, [
        "inline_data audio/pcm", "  > [3 bytes] [2 bytes]", "inline_data.done",
        "embedding", "  > [2 numbers]", "embedding.done", "error UpstreamError: gone",
    ])  # fmt: skip
    status, out, _ = tail(write(tmp_path / "b.jsonl", {"ping": 1}, t_done("x")))
    assert status == 1
    heads = [line for line in out.splitlines() if line.startswith(("error[", "unread", "text"))]
    assert [head[:12] for head in heads] == ["unreadable r", "error[E103]:", "text.done", "error[E307]:"]


def test_lines_of_a_model_stand_behind_the_gutter(tail, tmp_path):
    path = write(tmp_path / "a.jsonl", t("one\ntw"), t("o\r\n\n"), t("error[E302]: no"), t_done("one\ntwo\r\n\nerror[E302]: no"), stop())  # fmt: skip  # noqa: E501
    _, out, _ = tail(path)
    assert out.splitlines()[:6] == ["text", "  > one", "  > two", "  > ", "  > error[E302]: no", "text.done"]


def test_halves_of_a_character_meet(tail, tmp_path):
    _, out, _ = tail(write(tmp_path / "a.jsonl", t("a\ud83c"), t("\udf0a\ud83c"), t("b"), t("\ud83c"), t_done("a🌊\ud83cb\ud83c"), stop()))  # fmt: skip  # noqa: E501
    assert out.splitlines()[1] == "  > a🌊\\ud83cb\\ud83c"


HOSTILE = "\x1b]52;c;cm0=\x07\x1b[2J\x9b31m\u202e[red]\r\x00::error::x"


def test_nothing_hostile_reaches_the_terminal(tail, tmp_path):
    call = c("{}", HOSTILE, HOSTILE)
    refusing = Answers(lambda wire: wire.head(500, "\x1b[31m", Location=HOSTILE.replace("\r", "").replace("\x00", "")
                                              .replace("\u202e", ""), Content_Length=0))  # fmt: skip
    printed = "".join(map(str, tail(write(tmp_path / "a\x1b[31m.jsonl", t(HOSTILE), call, {"error": {"type": HOSTILE, "message": HOSTILE}}))))  # fmt: skip  # noqa: E501
    with serving(refusing) as url:
        printed += "".join(map(str, tail(url + "/\x1b[2J")))
    with serving(answering(b'{"error": {"type": "' + HOSTILE.encode() + b'"}}')) as url:
        printed += "".join(map(str, tail(url)))
    assert not any(one in printed for one in "\x1b\x07\x9b\u202e\r\x00")


@pytest.mark.parametrize("columns", [40, 50])
def test_a_terminal_s_lines_are_broken_behind_the_gutter(columns):
    from mmsp_fsm import StreamChecker
    from mmsp_fsm.output.escaping import width
    from mmsp_fsm.output.live import LiveText
    from mmsp_fsm.output.text import Renderer

    out = io.StringIO()
    live = LiveText(out, Renderer(), source="x", columns=columns)
    checker = StreamChecker()
    text = "東京a" * 40
    for at in range(0, len(text), 7):
        live.step(checker.feed(t(text[at : at + 7])))
    first, *lines = out.getvalue().splitlines()
    assert first == "text"
    assert all(line.startswith("  > ") and columns - 1 <= width(line) <= columns for line in lines[:-1])
    assert "".join(line.removeprefix("  > ") for line in lines) == text


# ── No event is held back ────────────────────────────────────────────────────────────────────────────────────────


def lines_of(process, until):
    """The lines up to the one that begins so; it waits for them, so that a test that is held back hangs and fails."""
    found = []
    for line in process.stdout:
        found.append(line.decode().rstrip("\r\n"))
        if found[-1].startswith(until):
            return found
    raise AssertionError(found)


@pytest.mark.parametrize("how", ["url", "pipe", "follow"])
def test_an_event_is_printed_before_the_next_byte_is_read(how, tmp_path):
    """The sender sends nothing more until the event has been printed."""
    blocks = [b"data: " + json.dumps(one).encode() + b"\n\n" for one in [*HI, th("x"), stop()]]
    go = threading.Semaphore(0)

    def answer(wire):
        wire.head(**Server.stream_headers, Transfer_Encoding="chunked")
        for block in [*blocks, Server.done]:
            wire.body(block)
            go.acquire(timeout=60)
        wire.end()

    path = tmp_path / "live.sse"
    path.write_bytes(b"")
    with serving(Answers(answer)) as url:
        where = {"url": [url], "pipe": ["-"], "follow": ["--follow", str(path)]}[how]
        process = subprocess.Popen([sys.executable, "-m", "mmsp_fsm", "tail", *where], cwd=ROOT,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        for block, printed in zip(blocks, ["  >", "text.done", "  >", "stop"], strict=True):
            if how == "pipe":
                process.stdin.write(block)
                process.stdin.flush()
            elif how == "follow":
                with path.open("ab") as file:
                    file.write(block)
            if printed == "  >":  # a line that is not ended yet
                seen = b""
                while not seen.rstrip().endswith((b"Hi", b"x")):
                    seen += process.stdout.read1(4096) or pytest.fail(f"the output ended after {seen!r}")
            else:
                lines_of(process, printed)
            go.release()
        go.release()
        process.stdin.close()
        assert process.wait(timeout=60) == 1
        process.stdout.close()


# ── What it keeps, and what it sends ─────────────────────────────────────────────────────────────────────────────


def test_the_recording_is_kept_byte_for_byte(tail, tmp_path):
    body = "\ufeff: hi\r\n".encode() + sse(*HELLO).replace(b"\n", b"\r\n") + b": bye\xff\xfe"
    kept = tmp_path / "kept.sse"
    with serving(answering(*(body[at : at + 1] for at in range(len(body))))) as url:
        status, out, _ = tail(url, "--save", kept)
    assert kept.read_bytes() == body
    assert status == 0
    assert "conforming, stopped after 4 events" in out
    assert tail(kept, "--save", tmp_path / "again.sse")[0] == 0
    assert (tmp_path / "again.sse").read_bytes() == body
    status, _, err = tail(kept, "--save", kept)
    assert (status, "would overwrite" in err) == (2, True)
    assert tail(kept, "--save", tmp_path / "none" / "x.sse")[0] == 2
    if Path("/dev/full").exists():
        done = subprocess.run([sys.executable, "-m", "mmsp_fsm", "tail", str(kept), "--save", "/dev/full"], cwd=ROOT,
                              capture_output=True, check=False)  # fmt: skip
        assert (done.returncode, done.stderr) == (2, b"error: the output cannot be written: No space left on device\n")


def test_what_is_sent(tail, tmp_path, monkeypatch):
    server = Server()
    monkeypatch.setenv("MMSP_API_KEY", KEY)
    with serving(server) as url:
        for base in (url, url + "/", url + "/v1", url + "/v1/stream"):
            status, out, err = tail(base, "--model", MODEL, "--prompt", "Grüße 東京")
            assert (status, err) == (0, "")
            assert "  > Grüße 東京\n" in out
        request = server.seen[-1]
        assert (request.method, request.path) == ("POST", "/v1/stream")
        assert json.loads(request.body) == {
            "model": MODEL,
            "messages": [{"role": "user", "content_items": [{"type": "text.done", "text": "Grüße 東京"}]}],
            "config": {},
        }
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert (request.headers["accept"], request.headers["content-type"]) == ("text/event-stream", "application/json")
        (tmp_path / "body.json").write_bytes(request.body)
        posted = tail(url + "/v1/stream", "--data", f"@{tmp_path / 'body.json'}", "--header", f"Authorization: Bearer {KEY}")  # fmt: skip  # noqa: E501
        assert posted[0] == 0
        assert server.seen[-1].body == request.body
        # Another URL is not told the key of the environment.
        assert tail(url + "/v1/stream", "--data", "{}")[0] == 2
        assert "authorization" not in server.seen[-1].headers
        assert tail(url + "/v1/stream?key=secret")[0] == 2
        assert (server.seen[-1].method, server.seen[-1].path) == ("GET", "/v1/stream?key=secret")


@pytest.mark.parametrize(("arguments", "says"), [
    (["http://127.0.0.1:1", "--prompt", "x"], "go together"),
    (["http://127.0.0.1:1", "--prompt", "x", "--model", "m", "--data", "{}"], "give either"),
    ([BAD, "--prompt", "x", "--model", "m"], "is for a URL"),
    (["http://127.0.0.1:1", "--header", "nothing"], "'Name: value'"),
    (["http://127.0.0.1:1", "--timeout", "0"], "x>0"),
    (["http://127.0.0.1:1", "--data", "@missing"], "missing: no such file or directory"),
    (["http://127.0.0.1:99999"], "port out of range"),
    (["http://[::1"], "invalid IPv6 URL"),
    (["http://"], "names no host"),
    (["http://127.0.0.1:1", "--header", "a b: c"], "that HTTP cannot send"),
    (["http://127.0.0.1:1", "--header", "a: \u2028"], "that HTTP cannot send"),
    (["http://127.0.0.1:1"], "no connection: connection refused"),
    (["missing.jsonl"], "missing.jsonl: no such file or directory"),
])  # fmt: skip
def test_misuse_is_2_and_says_so(tail, arguments, says):
    status, _, err = tail(*arguments)
    assert (status, says in err) == (2, True), err


def test_no_secret_is_shown(tail):
    for arguments in (
        ["http://me:sesame@127.0.0.1:1/?key=sesame"],
        ["http://127.0.0.1:1/", "--key", "sesame"],
        ["http://127.0.0.1:1/", "--header", "sesame"],
        ["http://127.0.0.1:1/", "--header", "x: sesame\u2028"],
    ):
        status, out, err = tail(*arguments)
        assert (status, "sesame" in out + err) == (2, False)


# ── Servers that do not answer as they should ────────────────────────────────────────────────────────────────────


def drip(data, seconds=0.2):
    def answer(wire):
        for at in range(len(data)):
            wire.raw(data[at : at + 1])
            if wire.left(seconds):
                return

    return Answers(answer)


def chunked(wire):
    wire.head(**Server.stream_headers, Transfer_Encoding="chunked")
    return wire


def cut(wire):
    chunked(wire).body(sse(*HELLO)[:300])


def silent(wire):
    chunked(wire).body(sse(*HELLO)[:300])
    wire.left(60)


def crash(wire):
    chunked(wire).body(sse(*HELLO)[:300])
    wire.reset()


def keeps_open(wire):
    chunked(wire).body(sse(*HELLO))
    wire.left(60)


def refuses(wire):
    Server().refuse(wire, 404, "NotFoundError", "there is no such model")


def page(wire):
    wire.head(502, "Bad", Content_Type="text/html", Content_Length=6)
    wire.raw(b"<html>")


@pytest.mark.parametrize(("server", "status", "says"), [
    (Answers(cut), 2, "the connection was cut within the body: peer closed connection"),
    (Answers(crash), 2, "the connection was cut within the body"),
    (Answers(silent), 2, "nothing came for 1 s"),
    (Answers(lambda wire: wire.left(60)), 2, "nothing came for 1 s"),
    (drip(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), 2, "nothing came for 1 s"),
    (Answers(lambda wire: None), 2, "no answer came: server disconnected without sending a response"),
    (Answers(lambda wire: wire.raw(b"SSH-2.0-x\r\n\r\n")), 2, "no answer came: illegal status line"),
    (Answers(lambda wire: wire.raw(b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 50000 + b"\r\n")), 2, "no answer came"),
    (Answers(lambda wire: chunked(wire).raw(b"zz\r\n")), 2, "cut within the body: illegal chunk header"),
    (Answers(refuses), 2, "the server answered 404 Not Found: NotFoundError: there is no such model"),
    (Answers(page), 2, "the server answered 502 Bad Gateway\n"),
    (Answers(lambda wire: wire.head(307, "x", Location="http://other/v1/stream", Content_Length=0)), 2,
     "it leads to http://other/v1/stream, and a redirect is not followed"),
    (Answers(lambda wire: wire.head(204, "x")), 2, "the server answered 204 No Content"),
    (answering(b"\x1f\x8b\x08", Content_Encoding="gzip"), 2, "sends the stream as 'gzip'"),
    (answering(b"<html>", Content_Type="Text/HTML; charset=utf-8"), 2, "the server sends a web page, and no stream"),
    (answering(sse(*HELLO)[:-14]), 0, ""),
    (Answers(keeps_open), 0, ""),
    (answering(b""), 1, ""),
    (answering(b"data: \xf0\x9f\n\n"), 1, ""),
])  # fmt: skip
def test_a_clear_answer_and_no_hang(tail, server, status, says):
    began = time.monotonic()
    with serving(server) as url:
        got, _, err = tail(url, "--timeout", "1")
    assert (got, says in err) == (status, True), err
    assert bool(err) is bool(says)
    assert time.monotonic() - began < 30


def test_what_came_before_a_cut_is_judged(tail):
    with serving(Answers(cut)) as url:
        status, out, _ = tail(url, "--timeout", "1")
    assert status == 2
    assert "  > Hel" in out
    assert "error[E307]" in out or "error[E101]" in out
    assert f"{url}: violating, truncated after" in out


def test_borders_within_characters_change_nothing(tail):
    body = sse(t("🌊" * 3), t_done("🌊" * 3), stop()).decode("unicode-escape").encode("utf-16", "surrogatepass").decode("utf-16").encode()  # noqa: E501  # fmt: skip
    assert "🌊".encode() in body
    with serving(answering(*(body[at : at + 1] for at in range(len(body))))) as url:
        status, out, _ = tail(url)
    assert (status, out.splitlines()[1]) == (0, "  > 🌊🌊🌊")


def test_an_event_of_64_mib(tail):
    """The longest that is read by default, to the byte; one byte more is said, and what follows is read."""
    longest, bare = Limits().record_bytes, len(json.dumps(d("", "video/")))
    size = (longest - bare - 4) // 4 * 4
    content = "A" * size, "video/" + "x" * (longest - bare - size)
    assert len(json.dumps(d(*content))) == longest
    with serving(answering(sse(d(*content), d_done(*content), stop()))) as url:
        status, out, _ = tail(url)
        assert (status, out.splitlines()[1]) == (0, f"  > [{size * 3 // 4} bytes]")
        status, out, _ = tail(url, "--max-record-bytes", longest - 1)
    assert status == 1
    assert f"the record is longer than {longest - 1} bytes" in out
    assert out.splitlines()[-1].endswith("violating, stopped after 3 events in 1 closed group, 1 error, 0 warnings")
    assert len(out) < 10_000


def test_a_byte_now_and_then_keeps_nobody(tail):
    """A server that drips never trips a time-out that begins anew with each byte."""

    def drips(wire):
        chunked(wire).body(sse(*HELLO)[:300])
        while not wire.left(0.1):
            wire.body(b"x")

    began = time.monotonic()
    with serving(Answers(drips)) as url:
        status, out, err = tail(url, "--timeout", "1")
    assert (status, "no line came to its end for 1 s" in err) == (2, True), err
    assert "  > Hel" in out
    assert time.monotonic() - began < 10


def test_comments_in_a_silence_are_waited_for(tail):
    """As those of a slow model are, however long it takes."""

    def thinks(wire):
        first, rest = sse(*HELLO).split(b"\n\n", 1)
        chunked(wire).body(first + b"\n\n")
        for _ in range(6):
            wire.left(0.25)
            wire.body(b": keep-alive\n\n")
        wire.body(rest)
        wire.end()

    with serving(Answers(thinks)) as url:
        assert tail(url, "--timeout", "1")[0] == 0


def test_a_missing_library_is_named(tail, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    status, _, err = tail("http://127.0.0.1:1")
    assert (status, "pip install 'mmsp-fsm[http]'" in err) == (2, True)
    assert tail(BAD)[0] == 1


def test_https_against_plain_http(tail):
    with serving(answering(sse(*HELLO))) as url:
        status, _, err = tail(url.replace("http", "https"), "--timeout", "2")
    assert (status, "no TLS connection" in err) == (2, True), err


def test_a_pipe_and_an_empty_file(tail, tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"")
    status, out, _ = tail(empty)
    assert (status, "error[E307]" in out) == (1, True)
    assert tail(empty, "--follow", "--timeout", "0.3")[0] == 1
    done = subprocess.run(
        [sys.executable, "-m", "mmsp_fsm", "tail", "-"], cwd=ROOT, input=sse(*HELLO), capture_output=True, check=False
    )
    verdict = b"<stdin>: conforming, stopped after 4 events in 1 closed group"
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, verdict)


def test_delta_events_of_several_items(tail, tmp_path):
    two = delta({"type": "text.delta", "text": "a"}, {"type": "text.done", "text": "a"})
    status, out, _ = tail(write(tmp_path / "a.jsonl", two, stop()))
    assert status == 1
    assert out.splitlines()[:3] == ["text", "  > a", "text.done"]


def test_the_names_of_the_usage_are_the_servers_and_escaped(tail, tmp_path):
    hostile = {"\x1b]0;pwned\x07\nfake.jsonl: conforming": 1, "\u202e\x9b": 2, "x" * 10_000: 3}
    end = stop() | {"usage_metadata": hostile | dict.fromkeys(map(str, range(1000)), 4)}
    _, out, _ = tail(write(tmp_path / "a.jsonl", t("a"), t_done("a"), end))
    assert "\\x1b]0;pwned\\x07\\nfake.jsonl" in out
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(out)
    assert not any(line.startswith("fake.jsonl") for line in out.splitlines())
    assert max(map(len, out.splitlines())) < 1500


@pytest.mark.parametrize("seconds", ["nan", "inf", "0", "-1", "x"])
def test_a_time_out_is_a_number_of_seconds(tail, tmp_path, seconds):
    status, _, said = tail(write(tmp_path / "a.jsonl", t("a")), "--timeout", seconds)
    assert status == 2
    assert "--timeout" in said
