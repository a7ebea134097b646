"""A small MMSP server on loopback that keeps every rule, and of which each part can be broken by itself.

It writes bytes to sockets, with no HTTP library between, so that it can break HTTP too. A test overrides one method of
`Server`; all the others stay right, and whatever is found is that one fault.
"""

import json
import socket
import socketserver
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from tests.streams import c, c_done, stop, t, t_done

DATA = Path(__file__).parent.parent / "data"
KEY = "sesame-opens-7f3a"
MODEL = "parrot"


class Request:
    """What a client sent."""

    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body


class Wire:
    """The connection to one client. `gone` tells that the client has left."""

    def __init__(self, connection):
        self._connection = connection
        self.gone = False
        self.chunked = False
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def raw(self, data):
        """Send bytes as they are."""
        try:
            self._connection.sendall(data)
        except OSError:
            self.gone = True

    def head(self, status=200, reason="OK", **headers):
        """Send a status and headers."""
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{n.replace('_', '-')}: {v}" for n, v in headers.items())]
        self.raw("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1"))

    def body(self, data):
        """Send a part of a chunked body; nothing ends it."""
        if data or self.chunked:
            self.raw(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self):
        """End a chunked body."""
        self.raw(b"0\r\n\r\n")

    def reset(self):
        """End the connection as a crash does."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self._connection.close()

    def left(self, seconds):
        """Wait; whether the client leaves meanwhile."""
        self._connection.settimeout(seconds)
        try:
            self.gone = self.gone or not self._connection.recv(1)
        except TimeoutError:
            pass
        except OSError:
            self.gone = True
        finally:
            self._connection.settimeout(None)
        return self.gone


class Server:
    """An MMSP server of one model that repeats what it is told, and calls each tool that it is given."""

    keys = (KEY,)
    model = MODEL
    pause = 0.0
    """Seconds between two events."""
    stream_headers = {"Content_Type": "text/event-stream; charset=utf-8", "Cache_Control": "no-cache"}
    done = b"data: [DONE]\n\n"

    def __init__(self):
        self.seen = []
        self.released = threading.Event()

    # ── Requests ─────────────────────────────────────────────────────────────────────────────────────────────

    def answer(self, request, wire):
        self.seen.append(request)
        refusal = self.refusal(request)
        if refusal is not None:
            self.refuse(wire, *refusal)
        else:
            self.stream(wire, self.events(json.loads(request.body)))

    def refusal(self, request):
        """The status, type and message of the error that a request is refused with; None where it is served."""
        if request.path != "/v1/stream" or request.method != "POST":
            return 404, "NotFoundError", "there is no such route"
        if self.keys and request.headers.get("authorization", "") not in [f"Bearer {key}" for key in self.keys]:
            return 401, "AuthenticationError", "the key is missing or wrong"
        return self.refusal_of_body(request.body)

    def refusal_of_body(self, body):
        try:
            value = json.loads(body)
        except ValueError:
            return 400, "InvalidRequestError", "the body is not JSON"
        if not isinstance(value, dict):
            return 400, "InvalidRequestError", "the body is no object"
        for name, due in (("model", str), ("messages", list), ("config", dict)):
            if not isinstance(value.get(name), due):
                return 400, "InvalidRequestError", f"{name} is missing or of a wrong type"
        return (404, "NotFoundError", "there is no such model") if value["model"] != self.model else None

    def refuse(self, wire, status, name, message):
        body = json.dumps({"error": {"type": name, "message": message}}).encode()
        wire.head(status, "No", Content_Type="application/json", Content_Length=len(body))
        wire.raw(body)

    # ── Streams ──────────────────────────────────────────────────────────────────────────────────────────────

    def events(self, body):
        last = body["messages"][-1]["content_items"][-1]
        tools = body["config"].get("tools")
        if tools and "tool_call_id" not in last:
            return self.call(tools[0])
        return self.text(last.get("text", ""))

    def text(self, text):
        words = [text[at : at + 9] for at in range(0, len(text), 9)]
        return [*map(t, words), t_done(text), stop()]

    def call(self, tool):
        arguments = dict.fromkeys(tool["parameters"]["properties"], "here")
        text = json.dumps(arguments)
        name, cut = tool["name"], len(text) // 2
        return [
            c("", name, "call_1"),
            c(text[:cut]),
            c(text[cut:]),
            c_done(arguments, name, "call_1"),
            stop("tool_call"),
        ]

    def stream(self, wire, events):
        self.begin(wire)
        for number, event in enumerate(events):
            if number and self.pause and wire.left(self.pause):
                return
            wire.body(self.block(event))
            if wire.gone:
                return
        self.finish(wire)

    def begin(self, wire):
        wire.head(**self.stream_headers, Transfer_Encoding="chunked")

    def block(self, event):
        return b"data: " + self.json(event).encode() + b"\n\n"

    def json(self, event):
        timed = {**event, "created_at": time.time_ns() // 1_000_000} if "created_at" in event else event
        return json.dumps(timed, ensure_ascii=False)

    def finish(self, wire):
        wire.body(self.done)
        wire.end()


class Answers(Server):
    """Answers every request by a function of the wire."""

    def __init__(self, function):
        super().__init__()
        self.answer = lambda request, wire: (self.seen.append(request), function(wire))


def sse(*events):
    """The bytes of a stream."""
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + Server.done


@contextmanager
def serving(server):
    """Serve on a free port of loopback; gives the base URL."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            request = read_request(self.request)
            if request is not None:
                server.answer(request, Wire(self.request))

    class Threads(socketserver.ThreadingTCPServer):
        daemon_threads, block_on_close, request_queue_size = True, False, 64

        def handle_error(self, *_):
            pass

    with Threads(("127.0.0.1", 0), Handler) as threads:
        threading.Thread(target=threads.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{threads.server_address[1]}"
        finally:
            server.released.set()
            threads.shutdown()


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return None
        data += part
        if data.startswith(b"\x16\x03"):  # TLS
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return None
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    method, path, _ = first.split(" ", 2)
    return Request(method, path, headers, body)


HELLO = [t("Hel"), t("lo"), t_done("Hello"), stop()]
"""A conforming stream."""
