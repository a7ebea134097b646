"""What an engine hands out, and how results travel."""

import json
import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsp_fsm
from mmsp_fsm.engines.checking import CheckOptions
from mmsp_fsm.engines.serialization import pack, unpack
from mmsp_fsm.engines.tasks import BATCH_BYTES, BATCH_FILES, Task, batches, in_turn
from mmsp_fsm.grammar.definition import Rule
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.recordings.sources import Source, Unreadable, find_sources
from tests.streams import HI, report_of, stop, t, t_done

STREAM = b"".join(json.dumps(one).encode() + b"\n" for one in [*HI, stop()])


def is_stdin(source):
    return source.is_stdin


ENTRIES = st.lists(
    st.one_of(
        st.integers(0, 10).map(lambda n: Source(f"n{n}", Path(f"/nowhere/{n}"))),
        st.just(Source("<stdin>")),
        st.just(Unreadable("x", "gone")),
        st.just(Source("s3://x", address="s3://x")),
    ),
    max_size=300,
)


@settings(deadline=None)
@given(ENTRIES)
def test_batches_hold_everything_once_and_in_order(sources):
    given_out = list(batches(iter(sources), is_stdin))
    flat = [one for entry in given_out for one in ([t.source for t in entry] if isinstance(entry, list) else [entry])]
    assert flat == sources
    for entry in given_out:
        if isinstance(entry, list):
            assert 0 < len(entry) <= BATCH_FILES
            assert not any(task.source.is_stdin for task in entry)
        else:
            assert isinstance(entry, Unreadable) or entry.is_stdin


def test_the_first_batches_are_small_and_large_files_are_alone(tmp_path):
    small = tmp_path / "a"
    small.write_bytes(b"x")
    sizes = [len(one) for one in batches((Source("a", small) for _ in range(2000)), is_stdin)]
    assert sizes[:3] == [1, 1, 1]
    assert max(sizes) == BATCH_FILES
    assert sizes[:-1] == sorted(sizes[:-1])
    large = tmp_path / "b"
    with large.open("wb") as file:
        file.truncate(BATCH_BYTES)
    assert {len(one) for one in batches((Source("b", large) for _ in range(200)), is_stdin)} == {1}


def test_a_batch_fits_into_a_pipe_however_long_the_names_are():
    name = "x" * 4000
    sources = (Source(f"{name}{n}", Path(f"{name}{n}")) for n in range(2000))
    assert max(len(pack(one)) for one in batches(sources, is_stdin)) < 100_000


def test_batches_are_made_as_they_are_asked_for():
    def sources():
        yield from (Source(str(n), Path(str(n))) for n in range(3))
        raise AssertionError("asked for too many")

    given_out = batches(sources(), is_stdin)
    assert len(next(given_out)) == 1


def test_a_task_leaves_out_what_is_known(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_bytes(STREAM)
    source = Source("a", path)
    assert len(list(Task(source).results(CheckOptions()))) == 1
    assert list(Task(source, skip=1).results(CheckOptions())) == []


@pytest.mark.parametrize("size", [0, 10, 100_000])
def test_the_bytes_that_were_read_are_counted(tmp_path, size):
    path = tmp_path / "a.jsonl"
    path.write_bytes(STREAM + b"\n" * size)
    counted = []
    sources = [*find_sources([path, path]), Unreadable("x", "gone")]
    results = list(in_turn(sources, CheckOptions(), counted.append))
    assert sum(counted) == 2 * (len(STREAM) + size)
    assert results == list(in_turn(sources, CheckOptions()))


# ── Parcels ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_packed_comes_back_equal_and_with_the_very_rules():
    for rule in default().rules.values():
        if rule.bad.format == "jsonl":
            limits = mmsp_fsm.Limits(**rule.bad.limits)
            events = [line.encode() for line in rule.bad.text.splitlines()]
            report = report_of(*events, limits=limits, rules=default().rules)
            back = unpack(pack([report, Unreadable("a", "b")]))
            assert back == [report, Unreadable("a", "b")]
            assert all(one.rule is default().rules[one.code] for one in back[0].diagnostics)


def test_a_parcel_is_small():
    sound = report_of(t("a"), t_done("a"), stop(), keep_message=False)
    assert len(pack(sound)) < 250
    faulty = report_of(*[t_done("a")] * 100, keep_message=False)
    assert len(faulty.diagnostics) == 100
    assert len(pack(faulty)) < len(pickle.dumps(faulty))
    assert not any(word.encode() in pack(faulty) for word in ("mend", faulty.diagnostics[0].rule.why[:20]))


def test_a_rule_of_another_definition_travels_whole():
    rule = next(iter(default().rules.values()))
    from attrs import evolve

    other = evolve(rule, why="else")
    assert unpack(pack(other)) == other
    assert isinstance(unpack(pack(other)), Rule)
    assert unpack(pack(rule)) is rule


def test_options_and_sources_can_be_sent():
    for value in (CheckOptions(rules=frozenset({"E101"})), Source("a", Path("a")), Source("s3://x", address="s3://x")):
        assert pickle.loads(pickle.dumps(value)) == value
    assert os.fspath(pickle.loads(pickle.dumps(Source("a", Path("a")))).path) == "a"
