"""The times of a trace: what is no time, and the line on which times are laid."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmsp_fsm.grammar.loading import default
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.output.trace.times import DAY, Stopwatch, created_at, duration, scale
from mmsp_fsm.recordings.framing import Record
from tests.streams import TIME, t


def read(value, **more):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return created_at(Record(text, 1, **more), default(), Limits())


@pytest.mark.parametrize(
    ("value", "time"),
    [(TIME, TIME), (0, 0), (-5, -5), (2**53, None), (10**4200, None), (1.0, None), (True, None), ("x", None),
     (None, None)],
)  # fmt: skip
def test_a_time_is_an_integer_that_every_reader_holds_exactly(value, time):
    text = b'{"created_at": %s}' % (b"1" + b"0" * 4200 if value == 10**4200 else json.dumps(value).encode())
    assert read(text) == time


@pytest.mark.parametrize("record", [b"", b"[1]", b"{", b"\xff", b"7", b"{}", b"[" * 600])
def test_a_record_without_one_has_none(record):
    assert read(record) is None


def test_a_record_that_framing_refused_has_none():
    assert read(t("a"), fault="it is too long") is None


def test_the_stopwatch_passes_over_records_without_a_time():
    watch = Stopwatch()
    assert [watch.lap(time) for time in (None, 100, None, 140, 90, 90)] == [None, None, None, 40, -50, 0]


@pytest.mark.parametrize(
    ("ms", "text"),
    [(None, ""), (0, "+0 ms"), (14, "+14 ms"), (999, "+999 ms"), (1000, "+1 s"), (1250, "+1.25 s"),
     (-180_000, "-3 min"), (5_400_000, "+1.5 h"), (DAY, "+1 d"), (2**53, "+104249991.37 d")],
)  # fmt: skip
def test_a_duration_reads_as_people_say_it(ms, text):
    assert duration(ms) == text


def test_zero_is_the_first_event_s_time():
    line = scale([TIME, None, TIME + 40, TIME - 10], default())
    assert (line.places, line.zero, line.strange) == ((0, None, 40, -10), TIME, 0)


@pytest.mark.parametrize("absurd", [0, -5, 1_514_764_800_000_000, 2**53 - 1, TIME // 1000])
def test_an_absurd_time_is_left_off_and_presses_nothing_together(absurd):
    for at in range(3):
        times = [TIME, TIME + 40]
        times.insert(at, absurd)
        line = scale(times, default())
        assert [place for place in line.places if place is not None] == [0, 40]
        assert line.places[at] is None
        assert (line.zero, line.strange) == (TIME, 1)


def test_seconds_become_milliseconds():
    assert scale([1760000000, 1760000003], default()).places == (0, 3000)


def test_nothing_has_no_scale():
    assert scale([], default()).zero is None
    assert scale([None, None], default()).places == (None, None)


@given(st.lists(st.none() | st.integers(-(2**53), 2**53) | st.integers(TIME, TIME + 1000)))
def test_every_scale_is_within_two_days_and_begins_at_zero(times):
    line = scale(times, default())
    known = [place for place in line.places if place is not None]
    assert len(line.places) == len(times)
    assert len(known) + line.strange == sum(time is not None for time in times)
    assert (known[0] == 0) if known else (line.zero is None)
    assert all(abs(place) <= 2 * DAY for place in known)
