"""The end of a recording that cannot be read on: the tear is one fault, and the record that it cut is part of it."""

from __future__ import annotations

from collections.abc import Iterator

from mmsp_fsm.model.json_values import NotJsonError, decode_record
from mmsp_fsm.recordings.framing import Framing, Record, one_by_one


def torn_end(framing: Framing, fault: str, nesting: int) -> Iterator[Record]:
    """What the last bytes make, and last the record that says `fault`."""
    last: Record | None = None
    for record in one_by_one(framing.close()):
        if last is not None:
            yield last
        last = record
    if last is not None and _is_whole(last, nesting):
        yield last
        last = None
    yield Record(last.data, last.line, fault) if last is not None else Record(b"", framing.line, fault)


def _is_whole(record: Record, nesting: int) -> bool:
    try:
        decode_record(record.data, nesting)
    except NotJsonError:
        return False
    return record.fault is None
