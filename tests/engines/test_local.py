"""Whatever happens to the processes that check, the results are those of one, and nobody is left behind."""

import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from attrs import frozen

from mmsp_fsm.engines import parts, processes
from mmsp_fsm.engines.checking import CheckOptions
from mmsp_fsm.engines.processes import WorkerError, cores, in_processes
from mmsp_fsm.engines.tasks import EngineError, in_turn
from mmsp_fsm.recordings.sources import Source, Unreadable, find_sources
from tests.streams import HI, stop, t, t_done

ROOT = Path(__file__).parent.parent.parent
STREAM = b"".join(json.dumps(one).encode() + b"\n" for one in [*HI, stop()])
FAULTY = b"".join(json.dumps(one).encode() + b"\n" for one in [t("a"), t_done("b"), t("c"), stop()])


@pytest.fixture
def corpus(tmp_path):
    """Many small files and some large ones, sound, faulty and unreadable."""
    chance = random.Random(7)
    for number in range(240):
        data = chance.choice([STREAM, FAULTY, STREAM[:-20], b"", b"\x1f\x8b\x08"])
        (tmp_path / f"{number:03}.jsonl").write_bytes(data * chance.choice([1, 1, 1, 50]))
    (tmp_path / "100.jsonl").write_bytes(STREAM[: len(STREAM) // 2] * 600)
    (tmp_path / "000.jsonl").write_bytes((json.dumps(t("a")).encode() + b"\n") * 6_000)
    return tmp_path


def sources_of(*paths):
    return [*find_sources(paths)]


@pytest.fixture(params=["fork", "forkserver"])
def started(request, monkeypatch):
    """Workers are started so, whatever else runs here."""
    if request.param == "fork" and (sys.platform != "linux" or threading.active_count() > 1):
        pytest.skip("forking is not safe here")
    monkeypatch.setattr(processes, "start_method", lambda: request.param)


def test_a_process_with_threads_is_not_forked():
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert processes.start_method() in ("forkserver", "spawn")
    finally:
        done.set()
        thread.join()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is not safe")
def test_a_command_forks():
    code = "from mmsp_fsm.engines.processes import start_method; print(start_method())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout == b"fork\n"


@pytest.mark.usefixtures("started")
@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_results_are_those_of_one(corpus, jobs):
    sources = [Unreadable("x", "gone"), *sources_of(corpus, "missing", corpus / "005.jsonl"), Unreadable("y", "gone")]
    read = []
    results = list(in_processes(iter(sources), CheckOptions(), jobs, read.append))
    assert results == list(in_turn(sources, CheckOptions()))
    assert sum(read) == sum(one.path.stat().st_size for one in sources if isinstance(one, Source))


@pytest.mark.parametrize("held", [1, 100_000])
def test_little_may_be_held(corpus, monkeypatch, held):
    monkeypatch.setattr(processes, "HELD", held)
    sources = sources_of(corpus)
    assert list(in_processes(sources, CheckOptions(), 2)) == list(in_turn(sources, CheckOptions()))


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_is_started_for_little(tmp_path, count, monkeypatch):
    (tmp_path / "a.jsonl").write_bytes(STREAM)
    monkeypatch.setattr(processes._Pool, "_start", lambda self: pytest.fail("started"))
    assert len(list(in_processes(sources_of(tmp_path / "a.jsonl")[:count], CheckOptions(), 8))) == count


def test_sources_are_not_asked_for_far_ahead(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_bytes(STREAM)
    monkeypatch.setattr(processes, "AHEAD", 4)
    asked = 0

    def sources():
        nonlocal asked
        for number in range(100_000):
            asked += 1
            yield Source(str(number), tmp_path / "a.jsonl")

    with closing(in_processes(sources(), CheckOptions(), 2)) as results:
        for _ in range(20):
            next(results)
        assert asked < 100


def test_results_come_as_soon_as_it_is_their_turn(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(STREAM)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "z.jsonl").write_bytes(STREAM)
    sources = [Source(name, tmp_path / name) for name in ("a.jsonl", "pipe", "z.jsonl")]
    with closing(in_processes(sources, CheckOptions(), 2)) as results:
        assert next(results).source == "a.jsonl"
        (tmp_path / "pipe").write_bytes(STREAM)  # waits until somebody reads: it was not given before
        assert [one.source for one in results] == ["pipe", "z.jsonl"]


def test_standard_input_is_read_here(tmp_path, monkeypatch):
    import io

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FAULTY)))
    (tmp_path / "a.jsonl").write_bytes(STREAM)
    sources = sources_of(tmp_path, "-", tmp_path, "-")
    results = list(in_processes(sources, CheckOptions(), 2))
    assert [one.source for one in results] == [f"{tmp_path}/a.jsonl", "<stdin>", f"{tmp_path}/a.jsonl", "<stdin>"]
    assert results[1].errors == 2
    assert results[3] == Unreadable("<stdin>", "standard input can be read only once")


def test_the_number_of_cores():
    assert 1 <= cores() <= os.cpu_count()


# ── Workers that die ─────────────────────────────────────────────────────────────────────────────────────────────


@frozen
class Deadly(Source):
    """A source that ends the process that opens it: the first `times` times."""

    times: int = 1
    how: int = signal.SIGKILL

    def open(self):
        book = Path(f"{self.path}.{self.name}.book")
        book.write_bytes(book.read_bytes() + b"x" if book.exists() else b"x")
        if book.stat().st_size <= self.times:
            os.kill(os.getpid(), self.how)
        return super().open()


@pytest.mark.parametrize("at", [0, 1, 7, 60, 199])
def test_a_worker_that_dies_once_costs_nothing(tmp_path, at):
    (tmp_path / "a").write_bytes(FAULTY)
    due = [Source(str(number), tmp_path / "a") for number in range(200)]
    sources = list(due)
    sources[at] = Deadly(str(at), tmp_path / "a")
    assert list(in_processes(sources, CheckOptions(), 2)) == list(in_turn(due, CheckOptions()))


@pytest.mark.usefixtures("started")
def test_a_source_that_ends_every_process_is_unreadable_and_the_others_are_checked(tmp_path):
    (tmp_path / "a").write_bytes(FAULTY)
    sources = [Source(str(number), tmp_path / "a") for number in range(200)]
    due = list(in_turn(sources, CheckOptions()))
    for at, how in ((0, signal.SIGKILL), (50, signal.SIGSEGV), (51, signal.SIGKILL), (199, signal.SIGTERM)):
        sources[at] = Deadly(str(at), tmp_path / "a", times=9, how=how)
        says = f"the process that checked it ended twice ({how.name}); it may take more memory than there is"
        due[at] = Unreadable(str(at), says)
    assert list(in_processes(sources, CheckOptions(), 2)) == due
    assert list(in_processes(sources, CheckOptions(), 5)) == due


@pytest.mark.usefixtures("started")
def test_workers_that_are_killed_from_outside_at_any_time(corpus):
    sources = [one for one in sources_of(corpus) * 3 if not one.path.read_bytes().startswith(b"\x1f")]  # a result each
    due = list(in_turn(sources, CheckOptions()))
    got, killed, chance = [], 0, random.Random(3)
    with closing(in_processes(sources, CheckOptions(), 2)) as results:
        for one in results:
            got.append(one)
            children = [child for child in multiprocessing.active_children() if child.pid]
            if killed < 5 and children and chance.random() < 0.02:
                os.kill(chance.choice(children).pid, signal.SIGKILL)
                killed += 1
    assert killed == 5
    # Who killed knows nothing of turns: a source that was met twice is said to be unreadable, all others are equal.
    blamed = [one for one in got if isinstance(one, Unreadable) and "ended twice (SIGKILL)" in one.message]
    rest = iter(due)
    assert all(one in rest for one in got if one not in blamed), "in order, none twice"
    assert len(blamed) <= 2
    assert len(due) - len(blamed) <= len(got) - len(blamed) <= len(due)


@frozen
class Several(Source):
    """A source of many streams, one of which ends the process the first time."""

    deadly: int = 0


def _several(source, options):
    """Stands for `check_source` where a source gives several reports."""
    from attrs import evolve

    from mmsp_fsm.engines.checking import check_source

    (report,) = check_source(Source(source.name, source.path), options)
    for number in range(2000):
        if isinstance(source, Several) and number == source.deadly:
            book = Path(f"{source.path}.{source.name}.book")
            if not book.exists():
                book.write_bytes(b"x")
                time.sleep(0.15)
                os.kill(os.getpid(), signal.SIGKILL)
        yield evolve(report, stream=number)


def _work_several(*arguments):
    from mmsp_fsm.engines import tasks, worker

    tasks.check_source = _several
    worker.work(*arguments)


@pytest.mark.parametrize("deadly", [0, 1, 127, 128, 1000, 1999])
def test_streams_of_a_source_that_came_before_its_worker_died_do_not_come_twice(tmp_path, monkeypatch, deadly):
    monkeypatch.setattr(processes, "work", _work_several)
    (tmp_path / "a").write_bytes(STREAM)
    sources = [Source("0", tmp_path / "a"), Several("1", tmp_path / "a", deadly=deadly), Source("2", tmp_path / "a")]
    results = list(in_processes(sources, CheckOptions(), 2))
    assert [(one.source, one.stream) for one in results] == [(s, n) for s in "012" for n in range(2000)]


@frozen
class Failing(Source):
    def open(self):
        raise RuntimeError("a fault of ours")


def test_a_fault_of_ours_is_told_with_its_traceback(tmp_path):
    (tmp_path / "a").write_bytes(STREAM)
    sources = [Source("a", tmp_path / "a"), Failing("b", tmp_path / "a")]
    with pytest.raises(WorkerError, match=r"a fault of ours"):
        list(in_processes(sources, CheckOptions(), 2))


def test_no_process_can_be_started(tmp_path, monkeypatch):
    def fail(self):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", fail)
    with pytest.raises(EngineError, match=r"^no process can be started: Resource temporarily unavailable$"):
        list(in_processes([Source("a", tmp_path / "a")] * 3, CheckOptions(), 2))


def _stillborn(*_):
    os._exit(3)


@pytest.mark.usefixtures("started")
def test_processes_that_cannot_even_begin_are_nobody_s_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "work", _stillborn)
    (tmp_path / "a").write_bytes(STREAM)
    with pytest.raises(EngineError, match=r"^a process ended before it could begin \(exit status 3\)$"):
        list(in_processes([Source("a", tmp_path / "a")] * 3, CheckOptions(), 2))


def test_the_script_of_this_process_is_not_run_once_more(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(STREAM)
    script = tmp_path / "script.py"
    script.write_text(
        "print('run')\n"
        "from mmsp_fsm.engines.processes import in_processes\n"
        "from mmsp_fsm.engines.checking import CheckOptions\n"
        "from mmsp_fsm.recordings.sources import find_sources\n"
        "print(len(list(in_processes([*find_sources(['a.jsonl'] * 5)], CheckOptions(), 2))))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"run\n5\n", b"")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks at processes as Linux shows them")
@pytest.mark.usefixtures("started")
def test_workers_do_not_hear_ctrl_c_even_while_they_begin(corpus):
    with closing(in_processes(sources_of(corpus), CheckOptions(), 2)) as results:
        next(results)
        for child in multiprocessing.active_children():
            (blocked,) = re.findall(r"SigBlk:\t(\w+)", Path(f"/proc/{child.pid}/status").read_text())
            assert int(blocked, 16) & 1 << signal.SIGINT - 1


@pytest.mark.usefixtures("started")
def test_nobody_is_left_behind(corpus):
    for stop_after in (0, 1, 50):
        with closing(in_processes(sources_of(corpus), CheckOptions(), 2)) as results:
            for _ in range(stop_after):
                next(results)
        assert multiprocessing.active_children() == []


# ── The command ──────────────────────────────────────────────────────────────────────────────────────────────────


def command(*arguments, **more):
    more = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen([sys.executable, "-m", "mmsp_fsm", "validate", *map(str, arguments)], **more)


def family(pid):
    """The processes below one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(words[1]) == pid and words[0] != "Z":
                found += [int(entry.name), *family(int(entry.name))]
    return found


def is_there(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def all_gone(pids):
    until = time.monotonic() + 20
    while any(map(is_there, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(is_there, pids))


@pytest.mark.parametrize("jobs", ["2", "auto", "0"])
@pytest.mark.parametrize("output", ["text", "json"])
def test_the_command_says_the_same(corpus, jobs, output):
    one = command(corpus, "missing", "--format", output)
    many = command(corpus, "missing", "--format", output, "--jobs", jobs)
    assert many.communicate() == one.communicate()
    assert (one.returncode, many.returncode) == (2, 2)


@pytest.mark.parametrize("jobs", ["-1", "1.5", "many", "", "100000"])
def test_what_is_no_number_of_jobs(jobs):
    one = command("x", "--jobs", jobs)
    assert b"Invalid value for '--jobs'" in one.communicate()[1]
    assert one.returncode == 2


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")


@linux
@pytest.mark.parametrize("to_all", [True, False], ids=["the whole terminal", "the process alone"])
def test_ctrl_c_ends_all_at_once(corpus, to_all):
    os.mkfifo(corpus / "999.pipe")  # nobody writes: it would last for ever
    one = command(corpus, corpus / "999.pipe", "--jobs", "2", "-q", stdout=subprocess.DEVNULL, start_new_session=True)
    until = time.monotonic() + 30
    while len(family(one.pid)) < 2 and time.monotonic() < until:  # the workers
        time.sleep(0.02)
    below = family(one.pid)
    assert len(below) >= 2
    (os.killpg if to_all else os.kill)(one.pid, signal.SIGINT)
    *unreadable, said = one.communicate(timeout=20)[1].splitlines()  # what was known already
    assert all(line.startswith(b"error: ") for line in unreadable)
    assert (said, one.returncode) == (b"interrupted", 130)
    assert all_gone(below)


@linux
def test_a_command_that_is_killed_leaves_nobody(corpus):
    os.mkfifo(corpus / "999.pipe")
    one = command(corpus, corpus / "999.pipe", "--jobs", "2", stdout=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while len(family(one.pid)) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    below = family(one.pid)
    one.kill()
    one.communicate()
    assert all_gone(below)


@linux
def test_a_reader_that_leaves_ends_all(corpus):
    one = command(*[corpus] * 20, "--jobs", "2", "--format", "json")
    one.stdout.read(100)
    below = family(one.pid)
    one.stdout.close()
    assert one.stderr.read() == b""
    one.stderr.close()
    assert one.wait(timeout=30) == 141
    assert all_gone(below)


def test_one_large_file_is_checked_in_parts_and_says_what_it_says_in_one_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "LEAST", 1000)
    data = Path(__file__).parent.parent / "data"
    good = (data / "recordings" / "ant-think-text-tool.jsonl").read_bytes()
    bad = (data / "broken" / "interleaved.jsonl").read_bytes()
    path = tmp_path / "many.jsonl"
    path.write_bytes(b"".join(good * 3 + bad for _ in range(20)) + good[:-300])
    options = CheckOptions(split="stop")
    cut = list(parts.in_parts([Source("many", path)], options, 2))
    assert len(cut) > 5
    found = list(parts.joined(in_processes(cut, options, 2)))
    assert found == list(in_turn([Source("many", path)], options))
    assert [one.stream for one in found] == list(range(81))
