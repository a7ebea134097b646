"""What holds for every output format."""

import gc
import json
import tracemalloc
from io import StringIO
from itertools import pairwise

import pytest

import mmsp_fsm
from mmsp_fsm.engines.results import Summary
from mmsp_fsm.output.formats import junit
from mmsp_fsm.output.formats.json import stream_object
from mmsp_fsm.output.formats.registry import FORMATS, OutputOptions, output_for
from tests.output.runs import HOSTILE, UNREADABLE, hostile, report, written
from tests.streams import HI, stop, t, t_done
from tests.test_cases import CASES

GOOD = report(*HI, stop())
BAD = report(t("a"), t_done("b"), source="bad.jsonl")


@pytest.mark.parametrize("name", FORMATS)
def test_each_has_its_class(name):
    assert output_for(name, StringIO(), OutputOptions(print)).__doc__


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("name", FORMATS)
def test_nothing_hostile_is_written(name, ascii_only):
    text, said = written(name, hostile(stream=HOSTILE), UNREADABLE, ascii_only=ascii_only, statistics=True)
    everything = text + "\n".join(said)
    assert not any(one in everything for one in "\x1b\x07\x00\x9b\u202e\r\x0b\ud83d\udcff")
    assert everything.isascii() or not ascii_only
    everything.encode()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_what_never_stands_in_the_output(case, name):
    found = mmsp_fsm.validate(case["input"].encode("utf-8", "surrogatepass"), format=case["format"])
    text, said = written(name, found)
    for forbidden in case["expect"].get("never_in_output", {}).values():
        assert [one for one in forbidden if one in text + "\n".join(said)] == []


def test_json_lines():
    text, said = written("jsonl", GOOD, BAD, UNREADABLE, GOOD)
    assert [json.loads(line) for line in text.splitlines()] == [
        stream_object(GOOD),
        stream_object(BAD),
        {"unreadable": {"source": UNREADABLE.source, "message": UNREADABLE.message}},
        stream_object(GOOD),
    ]
    assert said == []
    assert written("jsonl")[0] == ""


def test_json_lines_with_statistics_end_with_the_totals():
    last = json.loads(written("jsonl", BAD, statistics=True)[0].splitlines()[-1])
    assert list(last) == ["summary", "statistics"]
    assert (last["summary"]["streams"], last["statistics"]["rules"][0]["code"]) == (1, "E307")


def test_json_lines_are_handed_on_at_once():
    class Counting(StringIO):
        flushed = 0

        def flush(self):
            self.flushed += 1

    out = Counting()
    output = output_for("jsonl", out, OutputOptions(print))
    output.begin()
    for number in (1, 2):
        output.add(GOOD)
        assert out.flushed == number


class Nowhere(StringIO):
    def write(self, text):
        return len(text)


@pytest.mark.parametrize("one", [GOOD, BAD], ids=["conforming", "violating"])
@pytest.mark.parametrize("name", FORMATS)
def test_memory_does_not_grow_with_the_streams(name, one, monkeypatch):
    monkeypatch.setattr(junit, "IN_MEMORY", 1000)
    output = output_for(name, Nowhere(), OutputOptions(print))
    output.begin()
    tracemalloc.start()
    try:
        sizes = []
        for _ in range(4):
            for _ in range(500):
                output.add(one)
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    # The least growth counts: the interpreter's own tables grow in leaps, once.
    assert min(after - before for before, after in pairwise(sizes)) < 10_000
    output.end(Summary())
