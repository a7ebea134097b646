"""HTTP, as one answer read byte for byte: nothing is decoded, nothing held back, and every wait has an end.

`httpx` does the work; this is the only module that imports it, so that the rest knows no HTTP library. It is driven
from synchronous code by a loop of our own, for that is what can end a wait wherever it stands: a server that sends a
byte of its headers each second never trips a library's time-out, which begins anew with every byte.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from functools import cache
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

from attrs import field, frozen

from mmsp_fsm.version import VERSION

if TYPE_CHECKING:
    import httpx

EXTRA = "http"
"""The extra that brings the HTTP library."""

# RFC 9110, 5.1 and 5.5; beyond ASCII, what a field holds depends on who reads it.
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD_VALUE = re.compile(r"[\t -~]*")

STEADY = 1 << 16
"""Bytes that count as progress where no line ends: a long event comes slowly, but not byte by byte."""

Stage = Literal["connect", "answer", "body", "time"]
Result = TypeVar("Result")


class RequestError(ValueError):
    """A request that cannot be sent: the URL, a header or the installation is at fault. The text says which."""


class TransportError(OSError):
    """The server could not be asked, or its answer could not be read to its end; the text says why.

    `stage` tells how far it came: `connect` (no connection), `answer` (no status and headers), `body` (cut within
    the body), `time` (a wait was given up).
    """

    def __init__(self, sentence: str, stage: Stage) -> None:
        super().__init__(sentence)
        self.stage = stage


@frozen
class Request:
    """One request. `headers` are sent beside those that every request has; a header given here replaces its like."""

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # they may hold a key
    body: bytes | None = None


@frozen
class Patience:
    """How long a server is waited for, in seconds: `silence` for the headers, and in the body until a line ends or
    `STEADY` bytes have come, so that a byte now and then keeps nobody; `total` for the whole answer (None: no end).
    """

    silence: float = 60.0
    total: float | None = None
    verify: bool = True


class Answer:
    """An answer of which status and headers have come. Its body is read with `read1`, as a binary file is.

    Raises RequestError and TransportError; so does `read1`. Close it, or use it as a context manager: that ends the
    connection, whatever of the body has not been read.
    """

    def __init__(self, request: Request, patience: Patience) -> None:
        self._patience = patience
        self.silence = patience.silence
        """Seconds that are waited for the next line's end; it may be changed."""
        self._waited, self._dripped = 0.0, 0  # seconds and bytes since a line ended
        self._began = time.monotonic()
        self._runner = asyncio.Runner()
        try:
            self._client, self._response = self._runner.run(self._within(_send(request, patience.verify)))
        except BaseException:
            self._runner.close()
            raise
        self._chunks: AsyncIterator[bytes] = self._response.aiter_raw()
        self.status: int = self._response.status_code
        self.headers = [
            (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in self._response.headers.raw
        ]
        self.reason = _reason(self.status)

    def header(self, name: str) -> str | None:
        """The value of the header `name` (in lower case); several are joined by commas (RFC 9110, 5.2)."""
        values = [value for one, value in self.headers if one == name]
        return ", ".join(values) if values else None

    def read1(self, _: int = -1) -> bytes:
        """The bytes that come next, as soon as any have come; none at the end of the body."""
        began = time.monotonic()  # what the reader does in between is no silence of the server
        chunk = self._runner.run(self._within(_next(self._chunks)))
        self._waited += time.monotonic() - began
        self._dripped += len(chunk)
        if self._dripped >= STEADY or b"\n" in chunk or b"\r" in chunk:
            self._waited, self._dripped = 0.0, 0
        return chunk

    read = read1

    def close(self) -> None:
        """End the connection."""
        with suppress(Exception):
            self._runner.run(asyncio.wait_for(_close(self._response, self._client), 2))
        self._runner.close()

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()

    async def _within(self, work: Coroutine[Any, Any, Result]) -> Result:
        """`work`, given up when patience ends."""
        total = self._patience.total
        wait = self.silence - self._waited
        over = f"no line came to its end for {self.silence:g} s" if self._dripped else f"nothing came for {wait:g} s"
        if total is not None and (left := self._began + total - time.monotonic()) <= wait:
            wait, over = left, f"the answer had not ended after {total:g} s"
        if wait <= 0:  # or what has arrived already would be read for as long as more of it arrives
            work.close()
            raise TransportError(over, "time")
        try:
            async with asyncio.timeout(wait):
                return await work
        except TimeoutError:
            raise TransportError(over, "time") from None


async def _send(request: Request, verify: bool) -> tuple[httpx.AsyncClient, httpx.Response]:
    httpx = library()
    _check_url(request.url)
    headers = {
        "user-agent": f"mmsp-fsm/{VERSION}",
        "accept": "text/event-stream",
        "accept-encoding": "identity",  # a compressor in between holds events back
        **{name.lower(): value for name, value in request.headers},
    }
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not _FIELD_VALUE.fullmatch(value):
            raise RequestError("a header holds a character that HTTP cannot send")
    try:
        client = httpx.AsyncClient(timeout=None, follow_redirects=False, verify=_trusted() if verify else False)
        built = httpx.Request(request.method, request.url, headers=headers, content=request.body)
    except (httpx.InvalidURL, ValueError, OSError, ImportError) as error:
        raise RequestError(f"the request cannot be made: {error}") from None
    try:
        return client, await client.send(built, stream=True)
    except BaseException as error:
        await client.aclose()
        if isinstance(error, (httpx.UnsupportedProtocol, httpx.LocalProtocolError)):
            raise RequestError(f"the request cannot be sent: {error}") from None
        if isinstance(error, (httpx.HTTPError, OSError)):
            raise _transport_error(error, "answer") from None
        raise


async def _next(chunks: AsyncIterator[bytes]) -> bytes:
    httpx = library()
    try:
        while not (chunk := await anext(chunks, None)):
            if chunk is None:
                return b""
        return bytes(chunk)
    except (httpx.HTTPError, OSError) as error:
        raise _transport_error(error, "body") from None


async def _close(response: httpx.Response, client: httpx.AsyncClient) -> None:
    await response.aclose()
    await client.aclose()


def library() -> Any:
    """The HTTP library. Raises RequestError, which names the extra, where it is not installed."""
    try:
        import httpx
    except ImportError:
        raise RequestError(f"HTTP needs a package that is not installed: pip install 'mmsp-fsm[{EXTRA}]'") from None
    return httpx


@cache
def _trusted() -> Any:
    """The certificates that are trusted; reading them takes longer than a request to a server nearby."""
    return library().create_ssl_context()


def shown_url(url: str) -> str:
    """`url` as it may be shown: without a password and without its query, which may hold a key."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return url.partition("?")[0]
    return parts._replace(netloc=host, query="", fragment="").geturl()


def _check_url(url: str) -> None:
    """Refuse what names no server, with a sentence. Raises RequestError."""
    try:
        parts = urlsplit(url)
        if parts.scheme.lower() not in ("http", "https"):
            raise RequestError("a URL begins with http:// or https://")
        if not parts.hostname or parts.port == 0:
            raise RequestError("the URL names no host and port")
    except RequestError:
        raise
    except ValueError as error:
        raise RequestError(f"this is no URL: {_plain(str(error))}") from None


def _reason(status: int) -> str:
    """The status' usual words. What the server wrote there is its own, and says nothing."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _transport_error(error: Exception, stage: Stage) -> TransportError:
    """The sentence for what the library or the system said."""
    httpx = library()
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return TransportError(f"the server's certificate is not trusted: {cause.verify_message}", "connect")
        if isinstance(cause, ssl.SSLError):
            return TransportError(f"no TLS connection: {_plain(cause.reason) or cause}", "connect")
        if isinstance(cause, socket.gaierror):
            return TransportError(f"the host's name leads nowhere: {_plain(cause.strerror)}", "connect")
    if isinstance(error, httpx.ProxyError):
        return TransportError(f"the proxy refuses: {error}", "connect")
    # The number's own words: asyncio puts an address in their place.
    said = next((os.strerror(cause.errno) for cause in causes if isinstance(cause, OSError) and cause.errno), None)
    if isinstance(error, httpx.ConnectError):
        return TransportError(f"no connection: {_plain(said) or _plain(str(error))}", "connect")
    words = said or str(error) or type(error).__name__
    if stage == "answer":
        return TransportError(f"no answer came: {_plain(words)}", stage)
    return TransportError(f"the connection was cut within the body: {_plain(words)}", stage)


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and one not in found:
            found.append(one)
            waiting += [one.__cause__, one.__context__]
    return found


def _plain(words: str | None) -> str:
    """Another library's sentence within ours."""
    words = (words or "").strip().rstrip(".")
    return words.replace("_", " ").lower() if words.isupper() else words[:1].lower() + words[1:]
