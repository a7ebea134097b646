"""`enforce` around the protocol's own client, which reads from a server on loopback that waits to be told to go on."""

import asyncio
import json
import threading
from pathlib import Path

import pytest

import mmsp_fsm

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


def over(records, **how):
    """What comes out of `enforce` around the client, what it raised, the report, and how many records were sent."""

    async def run():
        server = Server(records)
        listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        client = client_module.MmspClient("m", base_url=f"http://127.0.0.1:{port}/v1")
        out, raised = [], None
        async with listening:
            try:
                async with (
                    asyncio.timeout(20),
                    mmsp_fsm.enforce(client.streaming_response(MESSAGES, {}), **how) as checked,
                ):
                    async for event in checked:
                        out.append(event)
                        assert len(out) == server.sent, "an event was held back"
                        server.handed_on.set()
            except (mmsp_fsm.MMSPError, errors.UpstreamError, errors.IncompleteStreamError) as one:
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
