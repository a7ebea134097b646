"""`enforce` around the protocol's own client, which reads from a server on loopback that waits to be told to go on."""

import asyncio
import json
import threading
from pathlib import Path

import pytest

import mmsp_fsm
from tests.streams import stop, t, t_done

client_module = pytest.importorskip("mmsp.mmsp.client", reason="the group `interop` is not installed")
errors = pytest.importorskip("mmsp.errors")

DATA = Path(__file__).parent.parent / "data"
MESSAGES = [{"role": "user", "content_items": [{"type": "text", "text": "hi"}]}]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def records_of(name, folder="recordings"):
    lines = (DATA / folder / f"{name}.jsonl").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


class Server:
    """Sends one record at a time, each only once `handed_on` is set: the consumer has had the one before."""

    def __init__(self, records):
        self.records, self.sent, self.left = records, 0, asyncio.Event()
        self.handed_on = asyncio.Event()

    async def answer(self, reader, writer):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(length)
            writer.write(HEAD)
            for record in self.records:
                writer.write(b"data: " + json.dumps(record).encode() + b"\n\n")
                self.handed_on.clear()
                self.sent += 1
                await writer.drain()
                waiting = [asyncio.ensure_future(self.handed_on.wait()), asyncio.ensure_future(reader.read(1))]
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                gone = waiting[1].done()
                for one in waiting:
                    one.cancel()
                if gone:
                    return
            writer.write(b"data: [DONE]\n\n")
        finally:
            self.left.set()
            writer.close()


class Pieces(Server):
    """Sends bytes in pieces, as fast as they go; then ends, `crash`es, or sends a space now and then (`drip`)."""

    def __init__(self, data, size, then="end"):
        super().__init__([])
        self.pieces = [data[at : at + size] for at in range(0, len(data), size)]
        self.then = then

    async def answer(self, reader, writer):
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(HEAD)
            for piece in self.pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
            if self.then == "crash":
                await asyncio.sleep(0.1)
                writer.transport.abort()
            while self.then == "drip" and not writer.is_closing():
                writer.write(b" ")
                await asyncio.sleep(0.02)
        finally:
            self.left.set()
            writer.close()


def over(records, patience=20, **how):
    """What comes out of `enforce` around the client, what it raised, the report, and how many records were sent."""

    async def run():
        server = records if isinstance(records, Server) else Server(records)
        listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        client = client_module.MmspClient("m", base_url=f"http://127.0.0.1:{port}/v1")
        out, raised = [], None
        async with listening:
            try:
                async with (
                    asyncio.timeout(patience),
                    mmsp_fsm.enforce(client.streaming_response(MESSAGES, {}), **how) as checked,
                ):
                    async for event in checked:
                        out.append(event)
                        assert len(out) == server.sent or isinstance(server, Pieces), "an event was held back"
                        server.handed_on.set()
            except AssertionError:
                raise
            except Exception as one:
                raised = one
            await client._client.aclose()
            async with asyncio.timeout(20):
                await server.left.wait()
        async with asyncio.timeout(20):  # the client drops generators of its own, which the loop closes
            while asyncio.all_tasks() != {asyncio.current_task()}:
                await asyncio.sleep(0.01)
        return out, raised, checked.report, server.sent

    threads = threading.active_count()
    result = asyncio.run(run(), debug=False)
    assert threading.active_count() == threads
    return result


@pytest.mark.parametrize("name", ["ant-think-text-tool"])
def test_a_conforming_stream_passes_event_by_event(name):
    records = records_of(name)
    out, raised, report, _ = over(records)
    assert raised is None
    assert len(out) == len(records)
    assert (report.verdict, report.outcome, report.events) == ("conforming", "stopped", len(records))
    assert report.message == mmsp_fsm.parse(records)


def test_bytes_arrive_as_bytes():
    name = next(
        path.stem for path in sorted((DATA / "recordings").glob("*.jsonl")) if b"inline_data" in path.read_bytes()
    )
    records = records_of(name)
    out, raised, report, _ = over(records)
    assert raised is None
    assert any(isinstance(item.get("data"), bytes) for event in out for item in event["content_items"])
    assert report.message == mmsp_fsm.parse(records)


def test_a_broken_stream_raises_at_the_event_that_breaks_it():
    records = records_of("interleaved", "broken")
    out, raised, report, sent = over(records)
    assert len(out) == 1
    assert isinstance(raised, mmsp_fsm.StreamProtocolError)
    assert [(one.code, one.event) for one in raised.diagnostics] == [("E302", 1)]
    assert sent == 2
    assert report.verdict == "violating"


def test_the_clients_own_exception_is_the_streams():
    records = [*records_of("ant-think-text-tool")[:2], {"error": {"type": "RateLimitError", "message": "slow down"}}]
    out, raised, report, _ = over(records)
    assert len(out) == 2
    assert isinstance(raised, errors.UpstreamError)
    assert (report.verdict, report.outcome) == ("conforming", "failed")
    assert report.error["type"] == "UpstreamError"


def test_a_stream_cut_by_the_server_is_the_clients_to_tell():
    out, raised, report, _ = over(records_of("ant-think-text-tool")[:4])
    assert len(out) == 4
    assert isinstance(raised, errors.IncompleteStreamError)
    assert (report.verdict, report.outcome) == ("conforming", "failed")


# ── Whatever the network does ────────────────────────────────────────────────────────────────────────────────────

WAVES = [t("🌊 東京"), t(" né"), t_done("🌊 東京 né"), stop()]


def body(*events):
    return b"".join(b"data: " + json.dumps(one, ensure_ascii=False).encode() + b"\n\n" for one in events)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64])
def test_borders_change_nothing(size):
    """Within characters, line ends and blocks."""
    out, raised, report, _ = over(Pieces(body(*WAVES) + b"data: [DONE]\n\n", size))
    assert raised is None
    assert [event["content_items"] for event in out] == [event["content_items"] for event in WAVES]
    assert report.message.content_items[0].text == "🌊 東京 né"


@pytest.mark.parametrize("then", ["end", "crash"])
@pytest.mark.parametrize("kept", ["whole events", "half an event", "half a character"])
def test_a_cut_is_the_clients_to_tell(then, kept):
    data = body(*WAVES[:1])
    data += {"whole events": b"", "half an event": body(WAVES[1])[:30], "half a character": b"data: \xf0\x9f"}[kept]
    out, raised, report, _ = over(Pieces(data, len(data), then))
    assert len(out) == 1
    assert isinstance(raised, Exception)
    assert not isinstance(raised, TimeoutError)
    assert (report.verdict, report.outcome, report.events) == ("conforming", "failed", 2)


def test_an_event_of_64_mib():
    whole = "x" * (63 << 20)
    data = body(t(whole), t_done(whole), stop()) + b"data: [DONE]\n\n"
    out, raised, report, _ = over(Pieces(data, 1 << 20), patience=120)
    assert raised is None
    assert [len(event["content_items"]) for event in out] == [1, 1, 0]
    assert len(report.message.content_items[0].text) == len(whole)


def test_a_server_that_drips_holds_nobody_past_the_time_out():
    data = body(*WAVES[:1]) + b"data: "
    out, raised, report, _ = over(Pieces(data, len(data), "drip"), patience=0.5)
    assert len(out) == 1
    assert isinstance(raised, TimeoutError)
    assert (report.events, report.errors, report.outcome) == (1, 0, "truncated")
