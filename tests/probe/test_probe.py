"""`probe`: for every case a server that fails it, and a right server that fails none."""

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from lxml import etree

from mmsp_fsm.cli.main import main
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.probe.catalog import catalogue, find_cases
from mmsp_fsm.probe.requests import Keeper, plain_kind, stream_url
from mmsp_fsm.probe.run import JUDGES
from mmsp_fsm.probe.strict_sse import Scanner
from tests.probe.server import KEY, MODEL, Answers, Server, Wire, read_request, serving
from tests.streams import delta, error, stop, t, t_done, th, th_done, without

pytest.importorskip("httpx", reason="the extra `http` is not installed")

ROOT = Path(__file__).parent.parent.parent
SCHEMA = etree.XMLSchema(file=str(ROOT / "tests/data/schemas/junit-10.xsd"))


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in ("MMSP_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def probe(capsys):
    def run(url, *arguments, key=KEY, model=MODEL):
        given = ["--key", key] if key else []
        with pytest.raises(SystemExit) as ended:
            main(["probe", url, "--model", model, *given, *map(str, arguments)])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return run


@pytest.fixture
def outcomes(probe):
    """The outcome of each case, and the exit status."""

    def run(server, *arguments, **more):
        with serving(server) as url:
            status, out, err = probe(url, "--format", "json", "--timeout", "2", *arguments, **more)
        assert err == ""
        return status, {one["code"]: one["outcome"] for one in json.loads(out)["results"]}, out

    return run


class Right(Server):
    """Waits between two events, so that a client can leave and streams overlap; asks for a key as RFC 9110 has it."""

    pause = 0.005

    def refuse(self, wire, status, name, message):
        body = json.dumps({"error": {"type": name, "message": message}}).encode()
        more = {"WWW_Authenticate": "Bearer"} if status == 401 else {}
        wire.head(status, "No", Content_Type="application/json", Content_Length=len(body), **more)
        wire.raw(body)


def test_a_right_server_fails_nothing(outcomes):
    status, found, _ = outcomes(Right())
    assert status == 0
    assert {code for code, outcome in found.items() if outcome != "passed"} == {"P109", "P110"}
    assert {found["P109"], found["P110"]} == {"not shown"}
    assert outcomes(Right(), "--require-all")[0] == 1


def broken(*codes, advice=(), **methods):
    """A server with methods replaced, and the cases that fail because of it."""
    return pytest.param(type("Broken", (Right,), methods), {*codes, *advice}, 1 if codes else 0)


def headers(**changed):
    return {name: value for name, value in {**Server.stream_headers, **changed}.items() if value is not None}


def block_of(change):
    return lambda self, event: change(Server.block(self, event))


def text_of(change):
    return lambda self, text: change(Server.text(self, text))


def refusing(**answers):
    """Refusals replaced, by the message that a right server gives."""

    def refusal(self, request):
        right = Right.refusal(self, request)
        for part, answer in answers.items():
            if right is not None and part in right[2].replace(" ", "_"):
                return answer
        return right

    return refusal


def with_body(body, content_type="application/json"):
    def refuse(self, wire, status, name, message):
        wire.head(status, "No", Content_Type=content_type, Content_Length=len(body), WWW_Authenticate="Bearer")
        wire.raw(body)

    return refuse


def mixed_up(self, body):
    """Gives every stream what another one asked for."""
    text = body["messages"][-1]["content_items"][-1].get("text", "")
    if not hasattr(self, "barrier"):
        return Server.events(self, body)
    if "amber-01" in text or "birch-02" in text:
        text = text.replace("amber-01", "?").replace("birch-02", "amber-01").replace("?", "birch-02")
    return self.text(text)


def stalls_after_a_client_left(self, wire, events):
    if getattr(self, "stalled", False):
        wire.left(30)
        return
    Server.stream(self, wire, events)
    if wire.gone:
        self.stalled = True


def tool_wrong(self, tool):
    events = Server.call(self, tool)
    events[-2]["content_items"][0]["arguments"] = {"location": "elsewhere"}
    return events


def result_refused(self, request):
    if b"tool_result.done" in request.body:
        return 400, "InvalidRequestError", "what is a result?"
    return Right.refusal(self, request)


def latin(self, event):
    return b"data: " + self.json(event).encode("latin-1", "replace") + b"\n\n"


def mojibake(self, text):
    return Server.text(self, text.encode().decode("latin-1"))


def lost(self, text):
    return Server.text(self, text.encode("ascii", "replace").decode().replace("?", "\ufffd"))


def held_back(self, event):
    """The times of a stream of which nothing came before its end."""
    self.made = getattr(self, "made", 1760000000000) + 1000
    return json.dumps({**event, "created_at": self.made})


def cut_short(self, wire):
    wire.body(self.done)


def stays_open(self, wire):
    wire.body(self.done)
    first, self.first = getattr(self, "first", True), False
    if first:
        wire.left(30)
    wire.end()


def with_length(self, wire, events):
    body = b"".join(map(self.block, events)) + self.done
    wire.head(**self.stream_headers, Content_Length=len(body))
    for at in range(0, len(body), 100):
        wire.raw(body[at : at + 100])
        if wire.left(0.005):
            return


def silent(self, wire, events):
    self.begin(wire)
    wire.body(self.block(events[0]))
    wire.left(30)


def get_is_served(self, request):
    return None if request.method == "GET" else Right.refusal(self, request)


def get_events(self, request, wire):
    self.seen.append(request)
    if request.method == "GET":
        return self.stream(wire, self.text("hello"))
    return Right.answer(self, request, wire)


TEXTS = ("P202", "P401", "P402", "P403")
"""The cases beside P105 or P106 that a fault in every text shows in."""

SERVERS = {
    "answers 201": broken("P101", begin=lambda self, wire: wire.head(201, "x", **headers(), Transfer_Encoding="chunked"),
                          finish=lambda self, wire: wire.end()),
    "is text/plain": broken("P102", stream_headers=headers(Content_Type="text/plain")),
    "has no content-type": broken("P102", stream_headers=headers(Content_Type=None)),
    "is latin-1": broken("P102", stream_headers=headers(Content_Type="text/event-stream; charset=iso-8859-1")),
    "compresses": broken("P103", stream_headers=headers(Content_Encoding="gzip")),
    "no data field": broken("P104", "P105", "P106", "P201", "P401", "P402", "P403",
                            block=block_of(lambda data: data.removeprefix(b"data: "))),
    "a field unheard of": broken("P104", block=block_of(lambda data: b"payload: 1\n" + data)),
    "no blank line at the end": broken("P104", done=b"data: [DONE]\n"),
    "one item too many": broken("P105", *TEXTS, text=text_of(lambda events: [
        delta(*events[0]["content_items"], *events[1]["content_items"]), *events[2:]])),
    "a field left out": broken("P105", *TEXTS,
                               text=text_of(lambda events: [*events[:-1], without(events[-1], "role")])),
    "no done item": broken("P105", *TEXTS, text=text_of(lambda events: [*events[:-2], events[-1]])),
    "a done item that differs": broken("P105", *TEXTS,
                                       text=text_of(lambda events: [*events[:-2], t_done("else"), stop()])),
    "groups that interleave": broken("P105", *TEXTS, text=text_of(
        lambda events: [events[0], th("hm"), *events[1:], th_done("hm"), stop()])),
    "no usage": broken("P105", *TEXTS,
                       text=text_of(lambda events: [*events[:-1], stop(usage_metadata=None)])),
    "a second stop": broken("P105", *TEXTS, text=text_of(lambda events: [*events, stop()])),
    "stop and error": broken("P105", *TEXTS, text=text_of(lambda events: [*events, error()])),
    "no stop": broken("P106", *TEXTS, text=text_of(lambda events: events[:-1])),
    "no [DONE]": broken("P107", done=b""),
    "events after [DONE]": broken("P105", "P107", "P201", "P401", "P402", "P403",
                                  finish=lambda self, wire: (wire.body(self.done), wire.body(self.block(t("x"))),
                                                             wire.end())),
    "no last chunk": broken("P108", finish=cut_short),
    "all at once": broken("P109", json=held_back),
    "a call that differs": broken("P201", call=tool_wrong),
    "no results": broken("P202", refusal=result_refused),
    "any model": broken("P301", refusal=refusing(such_model=None)),
    "a crash for no JSON": broken("P302", refusal=refusing(not_JSON=(500, "Crash", "x"))),
    "a crash for no object": broken("P303", refusal=refusing(no_object=(500, "Crash", "x"))),
    "a crash for no model": broken("P304", refusal=refusing(model_is=(503, "Crash", "x"))),
    "a redirect for messages": broken("P305", refusal=refusing(messages_is=(302, "Elsewhere", "x"))),
    "any config": broken("P306", refusal=refusing(config_is=(500, "Crash", "x"))),
    "no key needed": broken("P307", refusal=lambda self, request: Right.refusal(self, request)
                            if "authorization" in request.headers else self.refusal_of_body(request.body)
                            if request.method == "POST" else (404, "N", "no")),
    "any key taken": broken("P308", refusal=lambda self, request: Right.refusal(self, request)
                            if "wrong-" not in request.headers.get("authorization", "")
                            else self.refusal_of_body(request.body)),
    "404 without a key": broken("P307", "P308", refusal=refusing(the_key_is=(404, "N", "x"))),
    "GET starts a model": broken("P309", answer=get_events),
    "the key echoed": broken("P310", refuse=lambda self, wire, status, name, message: Right.refuse(
        self, wire, status, name, f"{message}: {self.seen[-1].headers.get('authorization')}")),
    "the key in a header": broken("P310", stream_headers=headers(X_Key=KEY)),
    "down once a client left": broken("P401", "P402", stream=stalls_after_a_client_left),
    "streams mixed up": broken("P402", events=mixed_up, barrier=True),
    "Latin-1 inside": broken("P403", text=mojibake),
    "characters lost": broken("P403", text=lost),
    "not UTF-8": broken("P403", block=latin, text=lambda self, text: Server.text(self, text.replace("東京", ""))),
    "errors that are text": broken("P301", "P302", "P303", "P304", "P305", "P306", "P307", "P308", refuse=with_body(b"no")),
    "errors without a message": broken("P301", "P302", "P303", "P304", "P305", "P306", "P307", "P308",
                                       refuse=with_body(b'{"error": {"type": "x"}}')),
    "no cache-control": broken(advice=["P501"], stream_headers=headers(Cache_Control=None)),
    "a content-length": broken(advice=["P502"], stream=with_length),
    "open after [DONE]": broken(advice=["P503"], finish=stays_open),
    "event fields": broken(advice=["P504"], block=block_of(lambda data: b"event: message\n" + data)),
    "errors as text/html": broken(advice=["P505"], refuse=with_body(
        b'{"error": {"type": "x", "message": "y"}}', "text/html")),
    "times in seconds": broken(advice=["P506"], json=lambda self, event: json.dumps({**event, "created_at": 1760000000})),
    "a 401 without a challenge": broken(advice=["P507"], refuse=Server.refuse),
}  # fmt: skip


@pytest.mark.parametrize(("server", "failing", "status"), SERVERS.values(), ids=SERVERS)
def test_a_server_that_breaks_one_rule(outcomes, server, failing, status):
    got, found, _ = outcomes(server())
    assert {code for code, outcome in found.items() if outcome == "failed"} == failing
    assert got == status


def test_each_case_has_a_server_that_fails_it():
    failed = set().union(*(param.values[1] for param in SERVERS.values()))
    assert set(catalogue().cases) - failed == {"P110"}  # below
    assert len(SERVERS) >= 25


def test_a_silence_without_keep_alive():
    from mmsp_fsm.probe.exchanges import Bounds
    from mmsp_fsm.probe.probe import Target
    from mmsp_fsm.probe.run import run

    with serving(type("Silent", (Right,), {"stream": silent})()) as url:
        target = Target(url, MODEL, KEY, bounds=Bounds(1.0), keep_alive=0.2)
        (result,) = run(target, find_cases(["keep-alive"]))
    assert (result.outcome, result.case.code) == ("failed", "P110")


@pytest.mark.parametrize(("signs", "events", "comments", "outcome"), [
    (5, 5, 0, "not shown"), (15, 40, 2, "passed"), (18, 18, 0, "not shown"), (21, 21, 0, "failed"),
    (21, 40, 1, "failed"), (14, 20, 1, "passed"), (18, 18, 1, "not shown"), (17.98, 18, 3, "not shown"),
])  # fmt: skip
def test_keep_alive_is_told_from_silences(signs, events, comments, outcome):
    from mmsp_fsm.checker.diagnostics import StreamReport
    from mmsp_fsm.probe.exchanges import Exchange
    from mmsp_fsm.probe.probe import Probe, Target

    one = Exchange("plain", status=200, report=StreamReport("stopped", 1, 1, 0, 0, ()))
    one.signs.longest, one.events.longest, one.scan.comments = float(signs), float(events), comments
    probe = Probe(Target("http://x", MODEL), {"plain": one})
    assert JUDGES["P110"](probe).outcome == outcome


# ── Not shown, never passed ──────────────────────────────────────────────────────────────────────────────────────


def test_what_did_not_come_is_not_shown(outcomes):
    class NoCalls(Right):
        def call(self, tool):
            return self.text("I would rather not")

    _, found, _ = outcomes(NoCalls())
    assert (found["P201"], found["P202"]) == ("not shown", "not shown")

    class OnlyErrors(Right):
        def events(self, body):
            return [error()]

    status, found, _ = outcomes(OnlyErrors())
    shown = {code for code, outcome in found.items() if outcome == "passed"}
    assert {code for code, outcome in found.items() if outcome == "failed"} == set()
    assert not shown & {"P105", "P201", *TEXTS, "P506"}
    assert (status, found["P106"]) == (0, "passed")

    class Open(Right):
        keys = ()

    status, found, _ = outcomes(Open(), key=None)
    assert {code for code in ("P307", "P308", "P310", "P507") if found[code] == "not shown"} == {
        "P307", "P308", "P310", "P507",
    }  # fmt: skip
    status, found, _ = outcomes(Right(), key=None)
    assert (status, found["P101"]) == (1, "failed")
    assert {found[code] for code in ("P102", "P104", "P105", "P106", "P107", "P108", "P201", "P401", "P403")} == {"not shown"}  # fmt: skip


def failing_midway(self, text):
    return [*Server.text(self, text)[:-1], error()]


def without_its_words(self, text):
    return Server.text(self, text if "amber" not in text and "birch" not in text else "I would rather not")


@pytest.mark.parametrize(("methods", "cases"), [
    ({"text": failing_midway}, {"P105": "passed", "P106": "passed", "P202": "not shown", "P401": "not shown",
                                "P402": "not shown"}),
    ({"call": lambda self, tool: [*Server.call(self, tool)[:-1], error()]}, {"P201": "not shown", "P202": "not shown"}),
    ({"text": text_of(lambda events: events[:-1])}, {"P106": "failed", "P107": "not shown"}),
    ({"text": without_its_words}, {"P105": "passed", "P401": "passed", "P402": "not shown"}),
    # A model that is not there was served, and only then refused.
    ({"refusal": refusing(such_model=None), "text": failing_midway}, {"P301": "failed"}),
    ({"refusal": refusing(such_model=None), "text": lambda self, text: [error()]}, {"P301": "passed"}),
    ({"refusal": refusing(no_object=None, such_model=None), "events": lambda self, body: [error()]},
     {"P301": "passed", "P303": "failed"}),
])  # fmt: skip
def test_what_was_half_seen_is_not_passed(outcomes, methods, cases):
    _, found, out = outcomes(type("Half", (Right,), methods)())
    assert {code: found[code] for code in cases} == cases, out


def test_nothing_is_passed_by_a_server_that_says_nothing(outcomes):
    _, found, _ = outcomes(Answers(lambda wire: None))
    assert "passed" not in found.values()


# ── Bounds ───────────────────────────────────────────────────────────────────────────────────────────────────────


def endless(self, wire, events):
    self.begin(wire)
    while not wire.gone:
        wire.body(self.block(t("more ")) * 50)


def drips(self, wire, events):
    for byte in b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n":
        wire.raw(bytes([byte]))
        if wire.left(0.2):
            return


def byte_by_byte(self, wire, events):
    self.begin(wire)
    for byte in b"".join(map(self.block, events)) + self.done:
        wire.body(bytes([byte]))
    wire.end()


def drips_in_the_body(self, wire, events):
    self.begin(wire)
    wire.body(self.block(events[0]))
    while not wire.left(0.1):
        wire.body(b"x")


def cut_in_the_middle(self, wire, events):
    self.begin(wire)
    wire.body(self.block(events[0]) + self.block(events[1])[:50])


def crashes_in_the_middle(self, wire, events):
    cut_in_the_middle(self, wire, events)
    wire.left(0.2)
    wire.reset()


def cut_within_a_character(self, wire, events):
    self.begin(wire)
    wire.body(self.block(events[0]) + b"data: \xf0\x9f")
    wire.body(b"")


@pytest.mark.parametrize(("stream", "outcome", "says"), [
    (drips_in_the_body, "failed", "the answer had not ended after 1 s"),
    (cut_in_the_middle, "failed", "the connection was cut within the body"),
    (crashes_in_the_middle, "failed", "the connection was cut within the body"),
    (cut_within_a_character, "failed", "neither a stop event nor an error"),
    (endless, "failed", "the answer had not ended after 1 s"),
    (drips, "not shown", "the answer had not ended after 1 s"),
    (silent, "failed", "the answer had not ended after 1 s"),
    (lambda self, wire, events: wire.reset(), "not shown", "no answer came"),
    (byte_by_byte, "passed", "the stream stopped"),
])  # fmt: skip
def test_every_wait_ends(probe, stream, outcome, says):
    with serving(type("Odd", (Right,), {"stream": stream})()) as url:
        _, out, _ = probe(url, "--format", "json", "--timeout", "1", "--case", "stream-end")
        (result,) = json.loads(out)["results"]
    assert (result["outcome"], says in result["message"]) == (outcome, True), result["message"]
    assert result["seconds"] < 30  # an endless stream was once read to the limit of its size


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_borders_of_chunks_change_nothing(outcomes, size):
    """Within characters, line ends, blocks and the marker."""

    class Cut(Right):
        def stream(self, wire, events):
            self.begin(wire)
            body = b"".join(map(self.block, events)) + self.done
            for at in range(0, len(body), size):
                wire.body(body[at : at + size])
            wire.end()

    chosen = [
        word for case in ("P104", "P105", "P106", "P107", "P108", "P201", "P202", "P403") for word in ("--case", case)
    ]
    status, found, _ = outcomes(Cut(), *chosen, "--timeout", "20")
    assert (status, set(found.values())) == (0, {"passed"})


def test_an_event_of_64_mib(outcomes):
    class Long(Right):
        pause = 0.0

        def text(self, text):
            whole = "x" * (63 << 20)
            return [t(whole), t_done(whole), stop()]

    status, found, _ = outcomes(Long(), "--case", "P104", "--case", "P105", "--timeout", "60")
    assert (status, set(found.values())) == (0, {"passed"})


def test_no_event_is_held_back(probe):
    """The server sends nothing more until the client has left, which it does at the first event."""

    class Waits(Right):
        left = False

        def stream(self, wire, events):
            if self.left:
                return Server.stream(self, wire, events)
            self.begin(wire)
            wire.body(self.block(events[0]))
            self.left = wire.left(30)
            return None

    with serving(server := Waits()) as url:
        status, out, _ = probe(url, "--case", "client-leaves", "--timeout", "20", "--format", "json")
    assert (status, server.left) == (0, True)
    assert [one["outcome"] for one in json.loads(out)["results"]] == ["passed"]
    assert json.loads(out)["results"][0]["seconds"] < 5


@pytest.mark.parametrize(("answer", "says"), [
    (lambda wire: (wire.head(200, "OK", Content_Type="text/html", Content_Length=15), wire.raw(b"<html></html>\r\n")),
     {"P101": "passed", "P102": "failed", "P104": "failed", "P105": "not shown", "P106": "failed"}),
    (lambda wire: (wire.head(**{**Server.stream_headers, "Content_Encoding": "gzip"}, Transfer_Encoding="chunked"),
                   wire.body(b"\x1f\x8b\x08"), wire.end()),
     {"P101": "passed", "P102": "passed", "P103": "failed", "P105": "not shown", "P106": "not shown"}),
    (lambda wire: wire.head(307, "x", Location="http://other/", Content_Length=0),
     {"P101": "failed", "P105": "not shown", "P301": "failed"}),
    (lambda wire: wire.raw(b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 50000 + b"\r\n"),
     {"P101": "failed", "P105": "not shown"}),
    (lambda wire: wire.raw(b"SSH-2.0-x\r\n\r\n"), {"P101": "failed", "P105": "not shown"}),
])  # fmt: skip
def test_what_is_no_server_of_mmsp(outcomes, answer, says):
    _, found, out = outcomes(Answers(answer))
    assert {code: found[code] for code in says} == says, out
    assert "passed" not in {found[code] for code in ("P105", "P201", "P202", "P401", "P402", "P403")}


def test_a_server_that_is_not_there(probe):
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://me:secret@127.0.0.1:{free.getsockname()[1]}"
    status, out, err = probe(url)
    assert (status, out) == (2, "")
    assert err.endswith("no connection: connection refused\n")
    assert "secret" not in err


def test_a_server_that_goes_away_is_an_error(probe):
    free = socket.create_server(("127.0.0.1", 0))

    def accept():
        connection, _ = free.accept()
        free.close()
        with connection:
            Right().answer(read_request(connection), Wire(connection))

    threading.Thread(target=accept, daemon=True).start()
    url = f"http://127.0.0.1:{free.getsockname()[1]}"
    status, out, _ = probe(url, "--case", "P101", "--case", "P301", "--format", "json")
    assert [one["outcome"] for one in json.loads(out)["results"]] == ["passed", "error"]
    assert status == 2


# ── Secrets, files and formats ───────────────────────────────────────────────────────────────────────────────────


class Echoing(Right):
    """Says the key wherever it can, and cuts it between chunks."""

    def text(self, text):
        return Server.text(self, f"\x1b[31m]]>&\x00 {KEY} {text}")

    def block(self, event):
        return Server.block(self, {**event, "key": KEY})

    def refuse(self, wire, status, name, message):
        Right.refuse(self, wire, status, name, f"{message} {KEY}")

    def stream(self, wire, events):
        byte_by_byte(self, wire, events)


@pytest.mark.parametrize("how", [["--format", "json"], ["--format", "junit"], ["-v"]])
def test_the_key_is_neither_printed_nor_kept(probe, tmp_path, how):
    with serving(Echoing()) as url:
        status, out, err = probe(url, "--save", tmp_path / "kept", *how)
    assert status == 1
    assert KEY not in out + err
    kept = list((tmp_path / "kept").iterdir())
    assert len(kept) >= 15
    assert all(KEY.encode() not in path.read_bytes() for path in kept)
    assert not any(one in out + err for one in "\x1b\x00")
    if "junit" in how:
        junit_suite(out)


def test_what_is_kept_is_what_came(probe, tmp_path):
    with serving(Right()) as url:
        assert probe(url, "--save", tmp_path, "--case", "P101")[0] == 0
        kept = (tmp_path / "plain.sse").read_bytes()
        done = subprocess.run([sys.executable, "-m", "mmsp_fsm", "validate", str(tmp_path)], cwd=ROOT, check=False)
    assert done.returncode == 0
    assert kept.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_key_is_found_wherever_it_is_cut(tmp_path, cut):
    keeper = Keeper(tmp_path / "x", "sesame")
    data = b"12sesame3sesa sesame"
    for at in range(0, len(data), cut):
        keeper.take(data[at : at + cut])
    keeper.close()
    assert (tmp_path / "x").read_bytes() == b"12******3sesa ******"
    assert keeper.found


def junit_suite(out):
    """The suite of a document that is valid against the schema that Jenkins publishes."""
    root = etree.fromstring(out.encode())
    SCHEMA.assertValid(root)
    (suite,) = root
    assert len(suite) == int(suite.get("tests"))
    return suite


def test_junit(probe):
    with serving(type("Broken", (Right,), {"done": b""})()) as url:
        status, out, _ = probe(url, "--format", "junit", "--case", "P1", "--timeout", "2")
    suite = junit_suite(out)
    assert status == 1
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "10", "failures": "1", "errors": "0", "skipped": "2",
    }  # fmt: skip
    (failure,) = suite.iter("failure")
    assert (failure.get("type"), failure.get("message")) == ("P107 done-marker", "no [DONE] came")


@pytest.mark.parametrize(("server", "options", "failures", "status"), [
    (Right, [], [], 0),
    (Right, ["--require-all"], ["P109 held-back", "P110 keep-alive"], 1),
    (type("NoCache", (Right,), {"stream_headers": headers(Cache_Control=None)}), [], [], 0),
    (type("NoCache", (Right,), {"stream_headers": headers(Cache_Control=None)}), ["--fail-on", "warning"],
     ["P501 cache-control"], 1),
])  # fmt: skip
def test_junit_fails_what_the_exit_status_fails(probe, server, options, failures, status):
    with serving(server()) as url:
        got, out, _ = probe(url, "--format", "junit", "--case", "P1", "--case", "P501", "--timeout", "2", *options)
    suite = junit_suite(out)
    assert [one.get("type") for one in suite.iter("failure")] == failures
    assert got == status


def test_text_shows_the_diagnostics_of_a_stream(probe):
    with serving(SERVERS["a done item that differs"].values[0]()) as url:
        status, out, _ = probe(url, "--case", "P105")
    assert status == 1
    assert out.startswith("failed    P105 stream-grammar: plain, event 7: E406 ") or "E406" in out.splitlines()[0]
    assert "    error[E406]: " in out
    assert out.splitlines()[-1] == "1 cases: 0 passed, 1 failed, 0 not shown"


@pytest.mark.parametrize("arguments", [["http://x"], ["http://x", "--model", "m", "--case", "P9"],
                                       ["http://x", "--model", "m", "--parallel", "1"], ["ftp://x", "--model", "m"],
                                       ["http://x", "--model", "m", "--key", "sesame\udcff"],
                                       ["http://x", "--model", "m", "--key", "sesame\n: x"],
                                       ["http://[", "--model", "m"], ["http://x", "--model", "\ud83d"]])  # fmt: skip
def test_misuse_is_2(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        main(["probe", *arguments])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "rror: " in said
    assert "sesame" not in said


def test_the_catalogue():
    cases = catalogue().cases
    assert set(cases) == set(JUDGES)
    assert len({one.name for one in cases.values()}) == len(cases)
    for case in cases.values():
        assert (case.severity == "warning") == case.code.startswith("P5")
        assert case.demands.endswith(".")
        assert case.why.endswith(".")
    assert plain_kind(default()).done == "text.done"
    assert [one.code for one in find_cases(["p30", "stream-end"])][:2] == ["P106", "P301"]


def test_list(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["probe", "--list"])
    assert ended.value.code == 0
    assert len(capsys.readouterr().out.splitlines()) == len(catalogue().cases)


@pytest.mark.parametrize("given", ["http://h", "http://h/", "http://h/v1", "http://h/v1/", "http://h/v1/stream"])
def test_urls(given):
    assert stream_url(given) == "http://h/v1/stream"
    assert stream_url("http://h/a?b=c") == "http://h/a/v1/stream?b=c"


@pytest.mark.parametrize(("data", "faults"), [
    (b"data: x\n\n", 0), (b"\xef\xbb\xbfdata: x\r\n\r\n: c\r\r", 0), (b"id\n\n", 0), (b"data: x\n", 1), (b"data: x", 1),
    (b"{}\n\n", 1), (b"data: \xf0\x9f\x8c\x8a\n\n", 0), (b"data: \xf0\x9f\n\n", 1), (b"data: \xff\n\n", 1),
    (b"Data: x\n\n", 1), (b"", 0), (b"\n\n", 0), (b": only\n", 0), (b"data\n\n", 0),
])  # fmt: skip
@pytest.mark.parametrize("size", [1, 2, 100])
def test_the_scanner(data, faults, size):
    scanner = Scanner(b"[DONE]")
    for at in range(0, len(data), size):
        scanner.feed(data[at : at + size])
    scanner.close()
    assert len(scanner.faults) == faults, scanner.faults
