"""On a real Dask cluster of several processes the results are those of one process, whoever is lost on the way."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from mmsp_fsm.engines import cluster
from mmsp_fsm.engines.checking import CheckOptions
from mmsp_fsm.engines.cluster import on_cluster
from mmsp_fsm.engines.tasks import EngineError, in_turn
from mmsp_fsm.recordings.sources import Source, Unreadable, find_sources
from tests.engines.test_local import Deadly, Failing, all_gone, command, family
from tests.streams import HI, stop, t, t_done

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

ROOT = Path(__file__).parent.parent.parent
STREAM = b"".join(json.dumps(one).encode() + b"\n" for one in [*HI, stop()])
FAULTY = b"".join(json.dumps(one).encode() + b"\n" for one in [t("a"), t_done("b"), t("c"), stop()])
WORKERS = 3


def started(what, folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    arguments = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard", *arguments]
    log = open(folder / f"{what}.log", "ab")  # noqa: SIM115 - the process keeps it
    return subprocess.Popen(arguments, cwd=folder, env=environment, stdout=log, stderr=log)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """The address of a scheduler, and how to start a worker of it."""
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    processes = [started("scheduler", folder, "--host", "127.0.0.1", "--port", "0", "--scheduler-file", file)]
    until, address = time.monotonic() + 60, None
    while address is None and time.monotonic() < until:
        time.sleep(0.05)
        with suppress(FileNotFoundError, json.JSONDecodeError):  # it is there before it is written
            address = json.loads(file.read_text())["address"]

    def worker():
        named = ("--name", f"w{len(processes)}", "--nthreads", "1", "--no-nanny", "--local-directory", folder)
        processes.append(started("worker", folder, address, *map(str, named)))
        return processes[-1]

    yield address, worker
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def workers(scheduler):
    """The address of the scheduler, and its workers' processes: as many as there should be."""
    address, start = scheduler
    alive = [one for one in getattr(start, "alive", []) if one.poll() is None]
    start.alive = alive + [start() for _ in range(WORKERS - len(alive))]
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(WORKERS, timeout=60)
        until = time.monotonic() + 60
        while len(client.ncores()) != WORKERS and time.monotonic() < until:
            time.sleep(0.05)
    return address, start.alive


@pytest.fixture
def corpus(tmp_path):
    chance = random.Random(7)
    for number in range(300):
        data = chance.choice([STREAM, FAULTY, STREAM[:-20], b"", b"\x1f\x8b\x08"])
        (tmp_path / f"{number:03}.jsonl").write_bytes(data * chance.choice([1, 1, 1, 50]))
    return tmp_path


def test_the_results_are_those_of_one(corpus, workers):
    sources = [Unreadable("x", "gone"), *find_sources([str(corpus), "missing"]), Unreadable("y", "gone")]
    read = []
    results = list(on_cluster(iter(sources), CheckOptions(), workers[0], 1, read.append))
    assert results == list(in_turn(sources, CheckOptions()))
    assert sum(read) == sum(one.path.stat().st_size for one in sources if isinstance(one, Source))


def test_a_worker_that_is_killed_midway_costs_no_stream_and_doubles_none(tmp_path, workers):
    address, processes = workers
    (tmp_path / "a.jsonl").write_bytes((json.dumps(t("a" * 50)).encode() + b"\n") * 40_000 + FAULTY)  # some 50 ms each
    sources = [Source(str(number), tmp_path / "a.jsonl") for number in range(80)]
    due = next(in_turn(sources[:1], CheckOptions()))
    got = []
    with (
        distributed.Client(address, set_as_default=False) as client,
        closing(on_cluster(sources, CheckOptions(), address, 1)) as results,
    ):
        for one in results:
            got.append(one)
            if len(got) == 20:
                pid = processes[0].pid
                pids = client.run(os.getpid)
                victim = next(worker for worker, its in pids.items() if its == pid)
                assert client.processing()[victim], "it is to have work"
                processes[0].kill()
                processes[0].wait()
        assert victim not in client.ncores()
        assert len(client.ncores()) == WORKERS - 1
    assert [one.source for one in got] == [source.name for source in sources]
    assert {(one.verdict, one.events, one.diagnostics) for one in got} == {(due.verdict, due.events, due.diagnostics)}


@pytest.mark.parametrize("output", ["text", "json"])
def test_the_command_says_the_same(corpus, workers, output):
    one = command(".", "missing", "--format", output, cwd=corpus, env={**os.environ, "PYTHONPATH": str(ROOT)})
    many = command(".", "missing", "--format", output, "--engine", "dask", "--scheduler", workers[0], cwd=corpus,
                   env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
    assert many.communicate() == one.communicate()
    assert (one.returncode, many.returncode) == (2, 2)


def test_a_source_that_ends_worker_after_worker_is_unreadable(tmp_path):
    (tmp_path / "a").write_bytes(FAULTY)
    sources = [Source(str(number), tmp_path / "a") for number in range(60)]
    due = list(in_turn(sources, CheckOptions()))
    sources[30] = Deadly("30", tmp_path / "a", times=99)
    says = "the workers that checked it ended, one after another; it may take more memory than there is"
    # Whose workers have a nanny, which starts others: those of the fixture do not come again.
    local = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=60)
    with local, dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        results = list(on_cluster(sources, CheckOptions(), local.scheduler_address, 1))
    assert results == [*due[:30], Unreadable("30", says), *due[31:]]


def test_sources_are_not_asked_for_far_ahead(tmp_path, workers):
    (tmp_path / "a.jsonl").write_bytes(STREAM)
    asked = 0

    def sources():
        nonlocal asked
        for number in range(100_000):
            asked += 1
            yield Source(str(number), tmp_path / "a.jsonl")

    with closing(on_cluster(sources(), CheckOptions(), workers[0], 1)) as results:
        for _ in range(5):
            next(results)
    assert asked < 100


def test_standard_input_is_refused_and_the_rest_is_checked(tmp_path, workers):
    (tmp_path / "a.jsonl").write_bytes(STREAM)
    sources = list(find_sources(["-", str(tmp_path / "a.jsonl")]))
    refused, report = on_cluster(sources, CheckOptions(), workers[0], 1)
    assert refused == Unreadable("<stdin>", "standard input cannot be read by the workers of a cluster")
    assert report.conforming


def test_another_version_on_a_worker_is_said(tmp_path, workers, monkeypatch):
    (tmp_path / "a.jsonl").write_bytes(STREAM)
    monkeypatch.setattr(cluster, "VERSION", "9.9")
    with pytest.raises(
        EngineError, match=r"^a worker has mmsp-fsm \S+, and this is 9\.9: install the same everywhere$"
    ):
        list(on_cluster(find_sources([str(tmp_path)]), CheckOptions(), workers[0], 1))


def test_a_fault_of_ours_is_not_hidden(tmp_path, workers):
    (tmp_path / "a").write_bytes(STREAM)
    with pytest.raises(RuntimeError, match="a fault of ours"):
        list(on_cluster([Failing("a", tmp_path / "a")], CheckOptions(), workers[0], 1))


def test_a_cluster_of_this_machine(corpus):
    sources = list(find_sources([str(corpus)]))
    assert list(on_cluster(sources, CheckOptions(), None, 2)) == list(in_turn(sources, CheckOptions()))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
def test_ctrl_c_ends_a_cluster_of_this_machine(corpus):
    arguments = [*[corpus] * 50, "--engine", "dask", "--jobs", "2", "-q"]
    one = command(*arguments, stdout=subprocess.DEVNULL, start_new_session=True)
    until = time.monotonic() + 30
    while len(family(one.pid)) < 3 and time.monotonic() < until:  # two workers, and what tidies up
        time.sleep(0.05)
    time.sleep(1)
    below = family(one.pid)
    os.killpg(one.pid, signal.SIGINT)
    said = [line for line in one.communicate(timeout=40)[1].splitlines() if not line.startswith(b"error: ")]
    assert said == [b"interrupted"]
    assert one.returncode == 130
    assert all_gone(below)


# ── What cannot work ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "127.0.0.1:9", "bogus://x", "tcp://"])
def test_a_scheduler_that_is_not_there(address, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    with pytest.raises(EngineError, match=f"^the scheduler at {address} cannot be reached: "):
        list(on_cluster([], CheckOptions(), address, 1))


def test_a_scheduler_without_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "LONELY", 0.5)
    local = distributed.LocalCluster(n_workers=0, dashboard_address=":0", processes=False, silence_logs=60)
    with local, pytest.raises(EngineError, match=r"^no worker joined the cluster within 0 seconds$"):
        list(on_cluster([], CheckOptions(), local.scheduler_address, 1))


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(EngineError, match=r"needs the package distributed: pip install 'mmsp-fsm\[dask\]'"):
        list(on_cluster([], CheckOptions(), None, 1))


def test_the_command_says_why_it_cannot():
    one = command("x", "--scheduler", "tcp://127.0.0.1:9")
    assert b"--scheduler is that of --engine dask" in one.communicate()[1]
    assert one.returncode == 2
    one = command("x", "--engine", "dask", "--scheduler", "bogus://x")
    assert one.communicate()[1].startswith(
        b"Error: the scheduler at bogus://x cannot be reached: unknown address scheme"
    )
    assert one.returncode == 2


def test_a_scheduler_that_is_lost_midway(tmp_path):
    folder = tmp_path / "cluster"
    folder.mkdir()
    file = folder / "scheduler.json"
    processes = [started("scheduler", folder, "--host", "127.0.0.1", "--port", "0", "--scheduler-file", file)]
    try:
        until = time.monotonic() + 60
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        processes.append(started("worker", folder, address, "--nthreads", "1", "--no-nanny"))
        (tmp_path / "a.jsonl").write_bytes((json.dumps(t("a" * 50)).encode() + b"\n") * 2500)
        sources = (Source(str(number), tmp_path / "a.jsonl") for number in range(1000))
        with closing(on_cluster(sources, CheckOptions(), address, 1)) as results:
            for _ in range(4):
                next(results)
            processes[0].kill()
            with pytest.raises(EngineError, match=r"^the scheduler is lost"):
                list(results)
    finally:
        for process in processes:
            process.kill()
            process.wait()
