"""Requests as an MMSP server takes them, and the API key that no file may show. Protocol, "On the wire"."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from mmsp_fsm.grammar.definition import Definition, Kind
from mmsp_fsm.probe.client import Request, RequestError

STREAM = "/stream"
VERSION = "/v1"
KEY_VARIABLE = "MMSP_API_KEY"
"""The environment variable that holds a key, as the protocol's own client names it."""


def is_url(text: str) -> bool:
    """Whether an argument is a URL, and no path."""
    return text.lower().startswith(("http://", "https://"))


def stream_url(url: str) -> str:
    """Where streams are asked for: `url` itself, or what a server's base URL, with or without `/v1`, leads to."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise RequestError(f"this is no URL: {error}") from None
    path = parts.path.rstrip("/")
    if not path.endswith(STREAM):
        path += STREAM if path.endswith(VERSION) else VERSION + STREAM
    return parts._replace(path=path).geturl()


def key_header(key: str) -> tuple[str, str]:
    """The header that carries a key."""
    return ("authorization", f"Bearer {key}")


def plain_kind(definition: Definition) -> Kind:
    """The kind that a prompt is written in: the text that people see."""
    return next(
        kind for kind in definition.kinds.values() if kind.joins == "text" and not kind.hidden and not kind.header
    )


def user_message(definition: Definition, text: str) -> dict[str, Any]:
    """A user's message that holds `text`."""
    kind = plain_kind(definition)
    return {"role": "user", "content_items": [{"type": kind.done, kind.grows: text}]}


def stream_body(model: str, messages: list[Any], config: dict[str, Any] | None = None) -> bytes:
    """The body of a request for a stream. Raises RequestError where it cannot be written as UTF-8."""
    body = {"model": model, "messages": messages, "config": config or {}}
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise RequestError("the model's name or the prompt holds half a character") from None


def post(url: str, body: bytes, headers: tuple[tuple[str, str], ...] = ()) -> Request:
    """A POST of a JSON body."""
    return Request(url, "POST", (("content-type", "application/json"), *headers), body)


SHORTEST_KEY = 6
"""Characters below which a key is no secret, but a word such as EMPTY, and stands in honest text."""


class Keeper:
    """Takes the pieces of one body, and writes them to `path` (None: nowhere) byte for byte, the key's bytes as `*`.

    `found` tells whether the key was there. Raises OSError where it cannot write.
    """

    def __init__(self, path: Path | None, key: str | None) -> None:
        self._file: BinaryIO | None = path.open("wb") if path is not None else None
        self._key = secret(key)
        self._held = b""  # the end of what came, where the key may have begun
        self.found = False

    def take(self, piece: bytes) -> None:
        """The next piece."""
        data = self._held + piece
        if self._key is not None:
            if self._key in data:
                self.found = True
                data = data.replace(self._key, b"*" * len(self._key))
            hold = len(self._key) - 1
            data, self._held = data[:-hold], data[-hold:]
        if self._file is not None:
            self._file.write(data)

    def close(self) -> None:
        """Nothing more comes."""
        if self._file is not None:
            self._file.write(self._held)
            self._file.close()


def secret(key: str | None) -> bytes | None:
    """The bytes of a key that must not be shown; None where there is none."""
    return key.encode("utf-8", "surrogateescape") if key is not None and len(key) >= SHORTEST_KEY else None


def hiding(key: str | None) -> Callable[[str], str]:
    """A function that takes the key out of a text, as it stands and as JSON writes it."""
    if secret(key) is None or key is None:
        return lambda text: text
    forms = {key, json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1]}
    pattern = re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)))
    return lambda text: pattern.sub("[key]", text)
