"""Against the protocol's own server, with a fake upstream on loopback: only what is wrong with it is said."""

import json
import threading
import time

import pytest

from mmsp_fsm.cli.main import main
from tests.probe.server import Server, serving

pytest.importorskip("httpx", reason="the extra `http` is not installed")
real = pytest.importorskip("mmsp.integration.server", reason="the group `interop` is not installed")

KEY, MODEL = "sesame-opens-7f3a", "parrot"


class Upstream(Server):
    """A model behind the interface that the server's client speaks: it repeats what it is told, and calls its tools."""

    keys = ()

    def answer(self, request, wire):
        self.seen.append(request)
        body = json.loads(request.body)
        wire.head(Content_Type="text/event-stream", Transfer_Encoding="chunked")
        for chunk in self.chunks(body):
            data = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", **chunk}
            wire.body(b"data: " + json.dumps(data).encode() + b"\n\n")
            if wire.left(self.pause):
                return
        self.finish(wire)

    def chunks(self, body):
        last = body["messages"][-1]
        if body.get("tools") and last["role"] == "user":
            function = {"name": body["tools"][0]["function"]["name"], "arguments": ""}
            deltas = [{"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}]
            for part in ('{"loca', 'tion": "Brest"}'):
                deltas.append({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
            reason = "tool_calls"
        else:
            said = last["content"] if isinstance(last["content"], str) else last["content"][0]["text"]
            deltas = [{"content": said[at : at + 7]} for at in range(0, len(said), 7)]
            reason = "stop"
        for delta in deltas:
            yield {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
        yield {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}}


@pytest.fixture
def server(monkeypatch):
    """The real server before a slow upstream; gives its base URL."""
    from werkzeug.serving import make_server

    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "MMSP_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    upstream = Upstream()
    upstream.pause = 0.02
    with serving(upstream) as url:
        row = {"model_id": "m", "api_key": "none", "server_model_id": MODEL, "base_url": f"{url}/v1/",
               "client_type": "openai-chat"}  # fmt: skip
        app = real.create_server_app([row], [KEY])
        made = make_server("127.0.0.1", 0, app, threaded=True)
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{made.server_port}"
        finally:
            made.shutdown()
            app.config["MMSP_SERVER_METRICS"].close()


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, arguments)))
    return ended.value.code, capsys.readouterr().out


def test_only_what_is_wrong_with_it_is_said(capsys, server):
    status, out = run(capsys, "probe", server, "--model", MODEL, "--key", KEY, "--format", "json", "--timeout", "30")
    found = {one["code"]: (one["outcome"], one["message"]) for one in json.loads(out)["results"]}
    rest = {code: one for code, one in found.items() if one[0] != "passed"}
    assert status == 0, rest
    # A 401 without a challenge is no 401 of RFC 9110. The upstream is quick, so that nothing is told of silences; and
    # the development server ends a stream by closing the connection.
    assert {code for code, one in rest.items() if one[0] == "failed"} == {"P507"}, rest
    assert {code for code, one in rest.items() if one[0] == "not shown"} <= {"P108", "P109", "P110"}, rest


def test_tail(capsys, server, tmp_path):
    kept = tmp_path / "kept.sse"
    status, out = run(capsys, "tail", server, "--model", MODEL, "--prompt", "High water", "--key", KEY, "--save", kept)
    assert status == 0
    assert out.startswith("text\n  > High water\ntext.done\nstop stop: ")
    assert kept.read_bytes().endswith(b"data: [DONE]\n\n")


def test_a_slow_model_s_silences_are_kept_alive(capsys, server, monkeypatch):
    """The server's 15 seconds are shortened on both sides."""
    from mmsp_fsm.probe.catalog import find_cases
    from mmsp_fsm.probe.probe import Target
    from mmsp_fsm.probe.run import run as run_cases

    monkeypatch.setattr(real, "KEEPALIVE_SECONDS", 0.5)
    slow = Upstream.chunks

    def chunks(self, body):
        for number, chunk in enumerate(slow(self, body)):
            if number == 3:
                time.sleep(3)
            yield chunk

    monkeypatch.setattr(Upstream, "chunks", chunks)
    target = Target(server, MODEL, KEY, keep_alive=2.5)
    (result,) = run_cases(target, find_cases(["keep-alive"]))
    assert result.outcome == "passed", result
    (result,) = run_cases(target, find_cases(["held-back"]))
    assert result.outcome == "passed", result
