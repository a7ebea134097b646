"""The pytest plugin, run by pytest within pytest: alone, under pytest-xdist, and under pytest-asyncio."""

import json
import subprocess
import sys

import pytest

import mmsp_fsm
from mmsp_fsm.model import UniEvent
from mmsp_fsm.model.wire import structure
from mmsp_fsm.testing.pytest_coverage import Coverage
from tests.streams import HI, error, stop, t, t_done, th

pytest_plugins = ["pytester"]

GOOD = [*HI, stop()]
BAD = [t("a\x1b[31m"), th("b"), t_done("a\x1b[31m"), stop()]


@pytest.fixture
def run(pytester):
    """Run a test file in which GOOD, BAD and CUT are streams; the result, its output without colours."""
    pytester.makeconftest("")
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")

    def run(source, *arguments):
        streams = "\n".join(f"{name} = {events!r}" for name, events in {"GOOD": GOOD, "BAD": BAD, "CUT": HI}.items())
        head = "import asyncio, pytest, mmsp_fsm\nfrom mmsp_fsm import assert_conforms\n"
        pytester.makepyfile(test_it=f"{head}{streams}\n{source}")
        start = pytester.runpytest_subprocess if "-n2" in arguments else pytester.runpytest_inprocess
        return start("-p", "no:cacheprovider", *arguments)

    return run


def kept(pytester, folder="kept"):
    return sorted((pytester.path / folder).glob("*.jsonl"))


# ── assert_conforms ──────────────────────────────────────────────────────────────────────────────────────────────


def test_assert_conforms_gives_the_report(tmp_path):
    path = tmp_path / "good.jsonl"
    path.write_bytes(b"".join(json.dumps(event).encode() + b"\n" for event in GOOD))
    for stream in (GOOD, iter(GOOD), path, path.read_bytes()):
        assert mmsp_fsm.assert_conforms(stream).message.content_items[0].text == "Hi"
    assert mmsp_fsm.assert_conforms([t("a"), error()]).error["type"] == "UpstreamError"


def test_assert_conforms_reads_like_a_compiler():
    with pytest.raises(AssertionError) as caught:
        mmsp_fsm.assert_conforms(BAD)
    text = str(caught.value)
    assert text.splitlines()[0].startswith("the stream: violating, stopped after 4 events")
    assert "error[E302]: thinking.delta stands here while a text group is open" in text
    assert "= state: text_open; here may stand text.delta, text.done or error" in text
    assert "\x1b" not in text
    assert [one.code for one in caught.value.report.diagnostics] == ["E302", "E304"]
    assert [json.loads(line) for line in caught.value.recording.splitlines()] == BAD


def test_assert_conforms_shows_the_first_faults_and_counts_the_rest():
    with pytest.raises(AssertionError) as caught:
        mmsp_fsm.assert_conforms([*[t("a", extra=1)] * 30, t_done("a" * 30), stop()])
    assert str(caught.value).count("error[E104]") == 10
    assert "... and 20 errors more of this stream" in str(caught.value)


def test_assert_conforms_chooses_rules():
    late = [*HI, stop(created_at=5)]
    assert mmsp_fsm.assert_conforms(late).warnings == 1
    with pytest.raises(AssertionError, match="W501"):
        mmsp_fsm.assert_conforms(late, warnings=False)
    mmsp_fsm.assert_conforms(late, warnings=False, ignore=["W501"])
    mmsp_fsm.assert_conforms(BAD, select=["E1"])
    for how in ({"format": "xml"}, {"select": ["E999"]}):
        with pytest.raises(ValueError, match=r"format|no rule"):
            mmsp_fsm.assert_conforms(GOOD, **how)
    with pytest.raises(TypeError):
        mmsp_fsm.assert_conforms(5)


def test_a_failure_that_cannot_be_recorded_is_a_failure_all_the_same():
    loop = []
    loop.append(loop)

    class Strange:
        def __repr__(self):
            raise RuntimeError

    with pytest.raises(AssertionError) as caught:
        mmsp_fsm.assert_conforms([{"a": loop}, {"a": Strange()}, {"a": b"x"}, Strange(), {1: float("nan")}])
    assert len(caught.value.recording.splitlines()) == 5


def test_the_failure_shows_no_frames_of_ours(run):
    result = run("def test_it():\n    assert_conforms(BAD)\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*def test_it*", "*assert_conforms(BAD)*", "E *error[[]E302]: thinking.delta*"])
    result.stdout.no_fnmatch_line("*asserting.py*")


# ── The fixture and the marker ───────────────────────────────────────────────────────────────────────────────────


def test_the_fixture_checks_what_a_test_receives(run):
    result = run("""
def test_good(mmsp_streams):
    assert [event is one for event, one in zip(mmsp_streams(iter(GOOD)), GOOD)] == [True] * 3
def test_bad(mmsp_streams):
    assert list(mmsp_streams(iter(BAD))) == BAD
def test_cut(mmsp_streams):
    list(mmsp_streams(CUT))
def test_left(mmsp_streams):
    for event in mmsp_streams(GOOD):
        break
def test_left_after_a_fault(mmsp_streams):
    stream = mmsp_streams(BAD)
    next(stream), next(stream)
def test_never_read(mmsp_streams):
    mmsp_streams(BAD)
def test_two(mmsp_streams):
    list(mmsp_streams(mmsp_streams(GOOD))), list(mmsp_streams(BAD)), list(mmsp_streams(CUT))
""")
    result.assert_outcomes(passed=3, failed=4)
    result.stdout.fnmatch_lines(
        [
            "*FAILED test_it.py::test_bad*",
            "*FAILED test_it.py::test_cut*",
            "*FAILED test_it.py::test_left_after_a_fault*",
            "*FAILED test_it.py::test_two*",
        ]
    )
    assert result.stdout.str().count("error[E302]") == 3
    assert result.stdout.str().count("error[E307]") == 2
    assert "\x1b" not in result.stdout.str()


def test_a_test_that_fails_itself_shows_what_was_wrong_with_its_streams(run):
    result = run("""
def test_it(mmsp_streams):
    assert len(list(mmsp_streams(BAD))) == 5
def test_skipped(mmsp_streams):
    list(mmsp_streams(BAD)), pytest.skip("not today")
@pytest.mark.xfail(strict=True)
def test_known(mmsp_streams):
    list(mmsp_streams(BAD))
""")
    result.assert_outcomes(failed=1, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines(["E *assert 4 == 5*", "*MMSP streams*", "*error[[]E302]*"])


def test_the_streams_own_exception_is_the_tests(run):
    result = run("""
def stream(end):
    yield from GOOD[:end]
    raise TimeoutError("slow")
def test_legal(mmsp_streams):
    with pytest.raises(TimeoutError):
        list(mmsp_streams(stream(1)))
def test_illegal(mmsp_streams):
    with pytest.raises(TimeoutError):
        list(mmsp_streams(stream(3)))
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["error[[]E308]*"])


def test_the_marker_chooses_rules(run):
    result = run(
        """
LATE = [*GOOD[:2], {**GOOD[2], "created_at": 5}]
pytestmark = pytest.mark.mmsp(ignore=["E304"])
@pytest.mark.mmsp(select=["E3"])
def test_one(mmsp_streams):
    list(mmsp_streams(BAD))
@pytest.mark.mmsp(ignore=["E3"])
def test_none(mmsp_streams):
    list(mmsp_streams(BAD))
@pytest.mark.mmsp(warnings=False)
def test_warned(mmsp_streams):
    list(mmsp_streams(LATE))
def test_not_warned(mmsp_streams):
    list(mmsp_streams(LATE))
@pytest.mark.mmsp(rules=["E3"])
def test_wrong(mmsp_streams):
    pass
@pytest.mark.mmsp(select=["E999"])
def test_unknown(mmsp_streams):
    mmsp_streams(BAD)
""",
        "--strict-markers",
    )
    result.assert_outcomes(passed=2, failed=3, errors=1)
    assert result.stdout.str().count("error[E302]") == 1
    assert "error[E304]" not in result.stdout.str()
    result.stdout.fnmatch_lines(["*the marker mmsp: *rules*", "*warning[[]W501]*", "*no rule 'E999'*"])


CLIENT = """
class Client:
    def stream(self):
        yield from BAD
    @classmethod
    def made(cls):
        return iter(BAD)
    @staticmethod
    def fixed():
        return iter(BAD)
    async def later(self):
        return self.astream()
    async def astream(self):
        for event in BAD:
            yield event
    def answer(self):
        return {"no": "stream"}
class Child(Client):
    pass
"""

USES = """
async def collect(stream):
    return [event async for event in stream]
async def awaited():
    return await collect(await client.Client().later())
WAYS = {
    "stream": lambda: list(client.Client().stream()),
    "made": lambda: list(client.Client.made()),
    "fixed": lambda: list(client.Client().fixed()),
    "later": lambda: asyncio.run(awaited()),
    "astream": lambda: asyncio.run(collect(client.Client().astream())),
}
"""


@pytest.mark.parametrize("way", ["stream", "made", "fixed", "later", "astream"])
def test_the_marker_watches_functions(run, pytester, way):
    pytester.makepyfile(client=f"BAD = {BAD!r}\n{CLIENT}")
    result = run(f"""
import client
{USES}
@pytest.mark.mmsp(watch="client.Client.{way}")
def test_watched():
    assert WAYS["{way}"]() == BAD
@pytest.mark.mmsp(watch=["client:Client.{way}", "client.Client.answer"])
def test_watched_too():
    assert client.Client().answer() == {{"no": "stream"}}
    assert WAYS["{way}"]() == BAD
def test_not_watched():
    assert WAYS["{way}"]() == BAD
""")
    result.assert_outcomes(passed=1, failed=2)
    assert result.stdout.str().count("error[E302]") == 2


def test_watching_an_object_ends_with_the_test(run, pytester):
    pytester.makepyfile(client=f"BAD = {BAD!r}\n{CLIENT}")
    result = run("""
import client
ONE = client.Child()
def test_watched(mmsp_streams):
    mmsp_streams.watch(ONE, "stream")
    mmsp_streams.watch(client.Child, "made")
    list(ONE.stream()), list(ONE.made())
def test_not_watched():
    assert vars(ONE) == {} and "made" not in vars(client.Child)
    list(ONE.stream()), list(ONE.made())
@pytest.mark.mmsp(watch="client.Client.nothing")
def test_wrong():
    pass
""")
    result.assert_outcomes(passed=1, failed=2)
    assert result.stdout.str().count("error[E302]") == 2
    result.stdout.fnmatch_lines(["*AttributeError*nothing*"])


# ── Recordings ───────────────────────────────────────────────────────────────────────────────────────────────────

MIXED = """
def test_good(mmsp_streams):
    list(mmsp_streams(GOOD))
@pytest.mark.parametrize("name", ["a/b", "a-b", "\u00e9" * 300])
def test_bad(mmsp_streams, name):
    list(mmsp_streams(BAD))
def test_failing(mmsp_streams):
    list(mmsp_streams(GOOD)), list(mmsp_streams([{**GOOD[0], "n": b"x"}]))
    assert False
def test_asserted():
    assert_conforms(iter(BAD))
def test_two_good():
    assert_conforms(GOOD)
"""


@pytest.mark.parametrize("arguments", [(), ("-n2",)], ids=["alone", "xdist"])
def test_recordings_of_failing_tests_are_kept(run, pytester, arguments):
    result = run(MIXED, "--mmsp-record", "kept", *arguments)
    result.assert_outcomes(passed=2, failed=5)
    paths = kept(pytester)
    assert len(paths) == 6
    assert all(path.name.isascii() and len(path.name) < 200 for path in paths)
    for path in paths:
        report = mmsp_fsm.validate(path)
        if "failing" not in path.name:
            assert [one.code for one in report.diagnostics] == ["E302", "E304"], path
            assert [json.loads(line) for line in path.read_bytes().splitlines()] == BAD
    failing = [path for path in paths if "failing" in path.name]
    assert [json.loads(path.read_bytes().splitlines()[0]).get("n") for path in failing] == [None, "eA=="]
    result.stdout.fnmatch_lines(["*MMSP recordings*", f"{failing[0]}"])


def test_nothing_is_kept_unless_it_is_asked_for(run, pytester):
    run(MIXED).assert_outcomes(passed=2, failed=5)
    assert list(pytester.path.rglob("*.jsonl")) == []


def test_a_folder_that_cannot_be_written_is_told(run, pytester):
    (pytester.path / "kept").write_text("a file")
    result = run(MIXED, "--mmsp-record", "kept")
    result.assert_outcomes(passed=2, failed=5)
    result.stdout.fnmatch_lines(["could not be kept: *"])


def test_an_event_is_recorded_as_it_was_when_it_came(run, pytester):
    result = run(
        """
def test_it(mmsp_streams):
    for event in mmsp_streams(BAD):
        event.clear()
""",
        "--mmsp-record=kept",
    )
    result.assert_outcomes(failed=1)
    [path] = kept(pytester)
    assert [json.loads(line) for line in path.read_bytes().splitlines()] == BAD


# ── Coverage ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("arguments", [(), ("-n2",)], ids=["alone", "xdist"])
def test_the_coverage_of_the_machine_is_told(run, arguments):
    result = run(
        """
def test_good(mmsp_streams):
    list(mmsp_streams(GOOD))
def test_asserted():
    assert_conforms(GOOD)
def test_bad():
    with pytest.raises(AssertionError):
        assert_conforms(BAD)
""",
        "--mmsp-coverage",
        *arguments,
    )
    result.assert_outcomes(passed=3)
    definition = mmsp_fsm.StreamChecker().definition
    states = [state.name for state in definition.states.values() if state.role != "unsure"]
    legal = sum(cell.legal for (state, symbol), cell in definition.cells.items() if state in states and symbol != "end")
    result.stdout.fnmatch_lines(
        [
            "*MMSP coverage*",
            f"3 streams; 3 of {legal} transitions walked",
            "  not in between_groups: thinking.delta, *",
            "  not in text_open: text.delta, error",
            "  not in thinking_open: thinking.delta, thinking.done, error",
            "rules reported: E302 (1), E304 (1)",
        ]
    )
    result.stdout.no_fnmatch_line("*not in unsure*")


def test_coverage_counts_a_stream_alike_however_it_is_given(tmp_path):
    """A recording's records are taken many at once, an object leads to its dict: each is one walk."""
    events = [t("a"), th("b"), t("c"), t_done("ac"), *HI, *HI, stop(), t("late")]
    lines = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    (tmp_path / "a.jsonl").write_bytes(lines)
    ways = {
        "events": events,
        "objects": [structure(event, UniEvent) for event in events],
        "a path": tmp_path / "a.jsonl",
        "bytes": lines.replace(b"\n", b"\n\n"),
        "an array": json.dumps(events).encode(),
        "server-sent events": b"".join(b"data: " + line + b"\n\n" for line in lines.splitlines()) + b"data: [DONE]\n\n",
    }
    dumps = {}
    for name, stream in ways.items():
        coverage = Coverage()
        coverage.begin()
        try:
            with pytest.raises(AssertionError):
                mmsp_fsm.assert_conforms(stream)
            with pytest.raises(AssertionError):
                mmsp_fsm.assert_conforms(iter(HI))
        finally:
            coverage.end()
        dumps[name] = coverage.dump()
    first = dumps["events"]
    assert all(dump == first for dump in dumps.values()), dumps
    assert (first["streams"], first["rules"]) == (2, {"E302": 2, "E305": 1, "E307": 1})
    assert ["between_groups", "text.delta", 3] in first["cells"]


def test_coverage_says_nothing_of_an_end_that_nobody_waited_for(run):
    result = run(
        """
def test_left(mmsp_streams):
    for event in mmsp_streams(GOOD):
        break
def test_never_read(mmsp_streams):
    mmsp_streams(GOOD)
""",
        "--mmsp-coverage",
    )
    result.stdout.fnmatch_lines(["1 stream; 1 of *"])
    result.stdout.no_fnmatch_line("*E307*")


def test_no_coverage_unless_it_is_asked_for(run):
    result = run("def test_it(mmsp_streams):\n    list(mmsp_streams(GOOD))\n")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*MMSP*")


# ── Others ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_it_works_under_pytest_asyncio(run, pytester):
    result = run(
        """
import pytest_asyncio
@pytest_asyncio.fixture
async def stream():
    async def events():
        for event in BAD:
            await asyncio.sleep(0)
            yield event
    yield events()
@pytest.mark.asyncio
async def test_bad(mmsp_streams, stream):
    assert [event async for event in mmsp_streams(stream)] == BAD
@pytest.mark.asyncio
async def test_left(mmsp_streams, stream):
    async for event in mmsp_streams(stream):
        break
@pytest.mark.asyncio
async def test_many(mmsp_streams):
    async def events():
        for event in GOOD:
            await asyncio.sleep(0)
            yield event
    async def read(stream):
        return [event async for event in stream]
    assert await asyncio.gather(*(read(mmsp_streams(events())) for _ in range(20))) == [GOOD] * 20
""",
        "--mmsp-record=kept",
        "--mmsp-coverage",
        "-n2",
        "-Werror",
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["error[[]E302]*", "22 streams; *"])
    [path] = kept(pytester)
    assert len(path.read_bytes().splitlines()) == len(BAD)


def test_unittest_cases_may_use_assert_conforms(run):
    result = run("""
import unittest
class TestIt(unittest.TestCase):
    def test_good(self):
        assert_conforms(GOOD)
    def test_bad(self):
        assert_conforms(BAD)
    @pytest.fixture(autouse=True)
    def streams(self, mmsp_streams):
        self.streams = mmsp_streams
    def test_received(self):
        list(self.streams(BAD))
""")
    result.assert_outcomes(passed=1, failed=2)


def test_the_plugin_can_be_left_out(run):
    run("def test_it():\n    pass\n", "-p", "no:mmsp").assert_outcomes(passed=1)


def test_an_unused_plugin_imports_nothing():
    """pytest loads it at every start where it is installed."""
    source = """
import sys, pytest
before = set(sys.modules)
import mmsp_fsm.testing.pytest_plugin
print(*sorted(name for name in set(sys.modules) - before if not name.startswith("mmsp_fsm")))
print(*sorted(name for name in sys.modules if name.startswith("mmsp_fsm")))
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    foreign, ours = done.stdout.split("\n")[:2]
    assert foreign == ""
    assert ours.split() == ["mmsp_fsm", "mmsp_fsm.testing", "mmsp_fsm.testing.pytest_plugin", "mmsp_fsm.version"]
