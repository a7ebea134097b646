"""What follows from a mutation by the protocol and its close readings, derived without a checker."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable
from typing import Any

from mmsp_fsm.grammar.definition import Kind
from mmsp_fsm.testing.faults.basics import Due, Group, NotApplicable, Stream, is_call, of_bytes, of_vectors


def stays(s: Stream, i: int) -> list[Due]:
    """What follows from event `i` when the machine stays where it was: an unknown event type, item type or no item.

    Contract, "Recovery": "an unknown or user-only item, an unknown event type: reported, and the machine stays";
    "Groups": the open group "is not compared, but stays open"; a lost first fragment "shows as E401 and E402".
    """
    if i == s.last:
        return [Due("E307", len(s.events))] if s.stopped else []
    group = s.group_at(i)
    if i == group.done:
        return never_closed(s, group, compared=False)
    if i != group.first:
        return []
    error = s.events[-1].get("error") or {}
    if error.get("type") == s.cut_short and s.groups[-1] is group:
        raise NotApplicable
    if len(group.fragments) > 1:
        return [Due("E401", i + 1), Due("E402", i + 1)] if is_call(group.kind) else []
    return [] if group.done is None else [Due("E301", group.done)]


def never_closed(s: Stream, group: Group, compared: bool, shift: int = 0) -> list[Due]:
    """What follows when the done item of `group` is not there. `shift` moves the indices of what comes after it."""
    assert group.done is not None
    at = group.done + 1 + shift
    follower = s.after(group)
    if follower is None:
        return [Due("E304", at)] if s.stopped and group.done == s.last - 1 else []
    if follower.kind != group.kind or is_call(group.kind):
        return [Due("E302", at)]
    # Two groups of a kind whose groups nothing tells apart become one.
    if s.carriers(group) or s.carriers(follower) or s.item(group.first).get("fidelity"):
        raise NotApplicable
    if of_vectors(group.kind):
        return [Due("E410", at)]
    if of_bytes(group.kind):
        raise NotApplicable  # E411, W508, E407 as the case may be
    if not compared or follower.done is None or not any(s.content(i) for i in group.fragments):
        return []
    return [Due("E406", follower.done + shift)]


def verdict(kind: Kind, pieces: Iterable[Any], done: Any) -> str | None:
    """The error of a done item after fragments that carried `pieces`: E404, E405, E406 or none."""
    pieces = list(pieces)
    if of_bytes(kind):
        joined: Any = b"".join(base64.b64decode(piece) for piece in pieces)
        return None if joined == base64.b64decode(done) else "E406"
    if of_vectors(kind):
        raise NotApplicable
    text = whole("".join(pieces))
    if not is_call(kind):
        return None if text == whole(done) else "E406"
    try:
        value = strictly(text) if text else {}
    except ValueError:
        return "E404"
    if not isinstance(value, dict):
        return "E405"
    return None if equal(value, done) else "E406"


def whole(text: str) -> str:
    """`text` as whole characters: halves of a pair that meet are one."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def strictly(text: str) -> Any:
    """What RFC 8259 reads in `text`; raises ValueError. A key named twice would be a warning: not applicable."""

    def refuse(word: str) -> float:
        raise ValueError(word)

    def pairs(of: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(of)) < len(of):
            raise NotApplicable
        return dict(of)

    def finite(digits: str) -> float:
        value = float(digits)
        return value if math.isfinite(value) else refuse(digits)

    return json.loads(text, parse_constant=refuse, parse_float=finite, object_pairs_hook=pairs)


def equal(a: Any, b: Any) -> bool:
    """Whether two JSON values are the same: numbers by value, keys in any order, booleans no numbers."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return isinstance(a, (int, float)) == isinstance(b, (int, float)) and a == b
