"""Answers that are no stream: what a server said instead."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from mmsp_fsm.probe.client import Answer, TransportError

BODY_BYTES = 1 << 16
"""Of the body of a refusal; an error object is far shorter, and a page of HTML is not read."""

_SHOWN = 300


def read_body(answer: Answer, longest: int = BODY_BYTES) -> bytes:
    """The beginning of an answer's body, without waiting long for its end. Raises TransportError."""
    body = bytearray()
    while len(body) < longest and (chunk := answer.read1()):
        body += chunk
    return bytes(body[:longest])


def refusal(answer: Answer) -> str:
    """What a server answered instead of a stream, in some words of which it chose a part."""
    body = b""
    with suppress(TransportError):
        body = read_body(answer)
    return describe(answer.status, answer.reason, answer.header("location"), body)


def describe(status: int, reason: str, location: str | None, body: bytes) -> str:
    """The status, where it leads, and the error that the body holds."""
    line = f"{status} {reason}".rstrip()
    if 300 <= status < 400 and location is not None:
        return f"{line}: it leads to {location[:_SHOWN]}, and a redirect is not followed: give that URL"
    said = error_of(body)
    if said is not None:
        parts = [str(said[name]) for name in ("type", "message") if isinstance(said.get(name), str)]
        return f"{line}: {': '.join(parts)[:_SHOWN]}"
    text = " ".join(body.decode("utf-8", "replace").split())
    return f"{line}: {text[:_SHOWN]}" if text and not text.startswith("<") else line


def error_of(body: bytes) -> dict[str, Any] | None:
    """The error object that a body holds; None where it holds none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, dict) else None
