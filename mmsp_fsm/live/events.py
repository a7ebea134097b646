"""What streams are made of: events and items built from the definition, contents cut and joined, records as bytes.

The writer, `unparse` and the Hypothesis strategies share it. It checks nothing. Protocol, "Events" and "On the wire".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from mmsp_fsm.grammar.definition import Definition, Kind
from mmsp_fsm.model.wire import is_model, to_base64, to_json

Event = dict[str, Any]
"""A record as `json.loads` gives it."""

_HALF = re.compile("[\ud800-\udfff]")


def event_of(definition: Definition, event_type: str, values: dict[str, Any]) -> Event:
    """An event with every field of the definition, in its order; what `values` does not hold is null.

    The keys of `values` are what the definition says that a field holds: `items`, `usage`, `finish_reason`, `time`.
    """
    event: Event = {}
    for entry in definition.event.field:
        if entry.holds == "constant":
            event[entry.name] = entry.value
        elif entry.holds == "event_type":
            event[entry.name] = event_type
        else:
            event[entry.name] = values.get(entry.holds)
    return event


def later_header(kind: Kind, header: dict[str, Any]) -> dict[str, Any]:
    """What a later fragment carries of the first one's `header`."""
    carried = {entry.name: "" if entry.later == "empty" else header.get(entry.name) for entry in kind.header}
    return {name: value for name, value in carried.items() if value is not None}


def comes_whole(kind: Kind, header: dict[str, Any]) -> bool:
    """Whether a group's content comes in one fragment, because of its kind or of what its header says."""
    values = ((header.get(name), pattern) for name, pattern in kind.one_piece_when.items())
    return kind.one_piece or any(
        isinstance(value, str) and fnmatchcase(value.lower(), pattern) for value, pattern in values
    )


def nothing(kind: Kind) -> Any:
    """The content of a fragment that carries none: an empty text, no bytes, no number."""
    empty: dict[str, Any] = {"text": "", "bytes": b"", "whole": []}
    return empty[kind.joins]


def cut(content: Any, size: int | None, cut_pairs: bool = False) -> list[Any]:
    """`content`, a text or bytes, in pieces of `size` characters or bytes, at least one; whole where `size` is None.

    A character beyond U+FFFF stays whole, unless `cut_pairs` asks for pieces of `size` UTF-16 code units.
    """
    if size is None or len(content) == 0:
        return [content]
    if isinstance(content, str) and cut_pairs:
        units = content.encode("utf-16-le", "surrogatepass")
        return [one.decode("utf-16-le", "surrogatepass") for one in cut(units, 2 * size)]
    return [content[at : at + size] for at in range(0, len(content), size)]


def arguments_text(value: Any) -> str:
    """The JSON text of a call's arguments: characters as they are, halves of pairs as escapes.

    Raises ValueError where they are nested too deep to be written, or JSON's types do not hold them.
    """
    try:
        return escaped(json.dumps(value, ensure_ascii=False))
    except (RecursionError, TypeError) as error:
        raise ValueError(f"arguments are no JSON object that can be written: {error}") from None


def record_bytes(record: Event) -> bytes:
    """A record as the bytes of its JSON, in UTF-8 as servers write it; halves of pairs, which UTF-8 cannot hold, as
    escapes. No line end stands in it.
    """
    return escaped(json.dumps(record, ensure_ascii=False)).encode()


def recorded(event: object) -> bytes:
    """One line of a recording, for an event as a program has it: whatever it is, it never raises.

    What JSON cannot say stands as a string that names it, so that the recording shows the same fault.
    """
    try:
        if isinstance(event, BaseException):
            event = {"error": {"type": type(event).__name__, "message": str(event)}}
        value = to_json(event) if is_model(event) else event
        return escaped(json.dumps(value, ensure_ascii=False, default=_stand_in)).encode() + b"\n"
    except Exception as error:  # a Python object may do anything when it is looked at
        return json.dumps(f"<{type(event).__name__}: {type(error).__name__} when it was recorded>").encode() + b"\n"


def _stand_in(value: object) -> object:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return to_base64(bytes(value))
    return dict(value) if isinstance(value, Mapping) else f"<{type(value).__name__}>"


def escaped(text: str) -> str:
    """A JSON text in which halves of pairs stand as escapes."""
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
