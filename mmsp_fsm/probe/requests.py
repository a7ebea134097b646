"""Requests as an MMSP server takes them: its URL, its headers, and a prompt's body. Protocol, "On the wire"."""

from __future__ import annotations

import json
from typing import Any
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
