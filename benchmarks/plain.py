"""A plain Python pass with the protocol's checks, as somebody would write it by hand: the checker is held against it.

It says yes or no, and nothing more.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

GROWS = {"text": "text", "thinking": "thinking", "tool_call": "arguments", "inline_data": "data",
         "inline_thinking": "data", "embedding": "embedding"}  # fmt: skip
FIELDS = {"role", "event_type", "content_items", "usage_metadata", "finish_reason", "created_at"}
COUNTS = {"cached_tokens", "prompt_tokens", "thoughts_tokens", "response_tokens"}


def conforms(lines: Iterable[bytes]) -> bool:
    """Whether the lines are one conforming stream."""
    kind, first, pieces, fidelity, latest, ids = "", {}, [], None, 0, set()
    for line in lines:
        event = json.loads(line)
        if event.keys() != FIELDS or event["role"] != "assistant" or type(event["created_at"]) is not int:
            return False
        if event["created_at"] < latest:
            return False
        latest = event["created_at"]
        if event["event_type"] == "stop":
            return not kind and ends_well(event)
        if (
            event["usage_metadata"] is not None
            or event["finish_reason"] is not None
            or len(event["content_items"]) != 1
        ):
            return False
        (item,) = event["content_items"]
        name, _, phase = item["type"].partition(".")
        content = item[GROWS[name]]
        if GROWS[name] == "data":
            content = base64.b64decode(content, validate=True)
        if phase == "done":
            if name != kind or not closes_well(item, name, first, pieces, fidelity, content):
                return False
            kind = ""
            continue
        if not kind:
            kind, first, pieces, fidelity = name, item, [], None
            if name == "tool_call":
                if not item["name"] or not item["tool_call_id"] or item["tool_call_id"] in ids:
                    return False
                ids.add(item["tool_call_id"])
        elif name != kind or (name == "tool_call" and (item["name"] or item["tool_call_id"])):
            return False
        if item.get("fidelity"):
            if fidelity:
                return False
            fidelity = item["fidelity"]
        pieces.append(content)
    return False


def closes_well(item: Any, name: str, first: Any, pieces: list[Any], fidelity: Any, content: Any) -> bool:
    """Whether a done item holds what its fragments carried."""
    if (item.get("fidelity") or None) != fidelity:
        return False
    if name == "tool_call":
        same = item["name"] == first["name"] and item["tool_call_id"] == first["tool_call_id"]
        joined = "".join(pieces)
        return same and isinstance(content, dict) and content == (json.loads(joined) if joined else {})
    if name == "embedding":
        return pieces == [content] and all(type(number) in (int, float) for number in content)
    if GROWS[name] == "data":
        return item["mime_type"] == first["mime_type"] and b"".join(pieces) == content
    return "".join(pieces) == content


def ends_well(event: Any) -> bool:
    """Whether a stop event is one."""
    usage, reason = event["usage_metadata"], event["finish_reason"]
    counts = (count for count in usage.values() if count is not None)
    return (
        event["content_items"] == []
        and usage.keys() == COUNTS
        and all(type(count) is int and count >= 0 for count in counts)
        and reason in ("stop", "length", "tool_call", "unknown")
    )
