"""The times of a trace: when a record was made, how long after another, and how people read that.

`created_at` is a stream's own word, and so may be anything: absent, negative, of another unit, of another age. What is
no time is None here, and nothing below divides by a difference of times that may be zero. Protocol, "Events".
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field, frozen

from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.model.json_values import NotJsonError, decode, decode_utf8
from mmsp_fsm.recordings.framing import Record

LARGEST = 1 << 53
"""Beyond this no time is taken for one: JavaScript's numbers are exact up to here (which is 285,000 years, in ms)."""

DAY = 86_400_000
"""Milliseconds. No message takes longer to stream, so a time that is farther off than this from most is a fault."""

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))


def created_at(record: Record, definition: Definition, limits: Limits) -> int | None:
    """The `created_at` that stands in a record, as it stands; None where there is no integer."""
    if record.fault is not None:
        return None
    name = next(entry.name for entry in definition.event.field if entry.holds == "time")
    try:
        value = decode(decode_utf8(record.data), limits.nesting).value
    except NotJsonError:
        return None
    time = value.get(name) if isinstance(value, dict) else None
    return time if type(time) is int and -LARGEST < time < LARGEST else None


@define
class Stopwatch:
    """Tells how long after the last record that has a time each record came."""

    _last: int | None = None

    def lap(self, time: int | None) -> int | None:
        """Milliseconds from the time before `time` to it, negative where it goes back; None where one is unknown."""
        if time is None:
            return None
        since = None if self._last is None else time - self._last
        self._last = time
        return since


def duration(milliseconds: int | None) -> str:
    """A difference of times as people read it: `+14 ms`, `+1.25 s`, `-3 min`; "" where it is unknown."""
    if milliseconds is None:
        return ""
    sign, size = "-" if milliseconds < 0 else "+", abs(milliseconds)
    for unit, name in _UNITS:
        if size >= unit:
            number = f"{size / unit:.2f}".rstrip("0").rstrip(".")
            return f"{sign}{number} {name}"
    return f"{sign}{size} ms"


@frozen
class Scale:
    """The times of one stream laid on a line: milliseconds from `zero`, the first time that is to be believed.

    `places` has a number for each record, None where its time is absent or cannot be believed; `strange` counts the
    latter. `zero` is as it stands in the stream, None where no record has a time.
    """

    places: tuple[int | None, ...] = field(factory=tuple)
    zero: int | None = None
    strange: int = 0


def scale(times: Sequence[int | None], definition: Definition) -> Scale:
    """Lay `times` on a line. A time is believed where it is within a day of the middle one, so that one record of the
    year 1970 or 50000 does not press all others into a point; times in seconds become milliseconds (W501).
    """
    known = [time for time in times if time is not None]
    if not known:
        return Scale(tuple(times))
    middle = sorted(known)[(len(known) - 1) // 2]  # not `statistics`, whose import takes longer than a small file
    unit = 1000 if 0 <= middle < definition.time.milliseconds_from else 1
    near = [time for time in known if abs(time - middle) * unit <= DAY]
    zero = near[0]
    places = tuple(
        (time - zero) * unit if time is not None and abs(time - middle) * unit <= DAY else None for time in times
    )
    return Scale(places, zero, len(known) - len(near))
