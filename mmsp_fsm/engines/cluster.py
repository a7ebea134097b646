"""The engine of `--engine dask`: the workers of a Dask cluster, each checking a batch of sources at a time.

Workers open the sources themselves, so each path and address has to mean the same to them. What a lost worker had, Dask
gives to another; a batch has one result, whoever made it.
"""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from attrs import define, evolve, field, frozen

from mmsp_fsm.engines.checking import CheckOptions
from mmsp_fsm.engines.interrupts import born_deaf
from mmsp_fsm.engines.serialization import pack, unpack
from mmsp_fsm.engines.tasks import EngineError, Result, Seen, Task, batches, unseen
from mmsp_fsm.recordings.sources import Source, Unreadable
from mmsp_fsm.version import VERSION

CONNECT, LONELY = 10.0, 60.0
"""Seconds in which a scheduler has to answer, and a worker to be there."""

SCALE = 8
"""How much larger than elsewhere a batch is: scheduling one takes milliseconds."""

CENSUS = 5.0
"""Seconds after which it is asked anew how many threads the cluster has."""

AHEAD = 4
"""Batches that are handed out for each thread of the cluster: one is checked, the others need not be waited for."""


@frozen
class _Answer:
    """What a worker found: the bytes that it read, and its results."""

    read: int
    results: list[Result]


def check_batch(version: str, parcel: bytes) -> bytes:
    """On a worker: check a batch. Raises EngineError where another version is installed there."""
    if version != VERSION:
        raise EngineError(f"a worker has mmsp-fsm {VERSION}, and this is {version}: install the same everywhere")
    tasks, options = unpack(parcel)
    read = 0

    def count(size: int) -> None:
        nonlocal read
        read += size

    results = [result for task in tasks for result in task.results(options, count)]
    return pack(_Answer(read, results))


def on_cluster(
    sources: Iterable[Source | Unreadable],
    options: CheckOptions,
    scheduler: str | None,
    jobs: int,
    seen: Seen = unseen,
) -> Generator[Result, None, None]:
    """The engine that checks on the cluster of the scheduler at an address; without one, on a cluster of `jobs`
    processes of this machine. Standard input cannot be read there.

    Raises EngineError where Dask is not installed, the scheduler does not answer, no worker is there, or one has
    another version of this program.
    """
    try:
        import distributed
    except ImportError:
        raise EngineError("the engine dask needs the package distributed: pip install 'mmsp-fsm[dask]'") from None
    with _silent("distributed"), _client(distributed, scheduler, jobs) as client:
        yield from _Run(distributed, client, options, seen).results(
            batches(sources, lambda source: source.is_stdin, SCALE)
        )


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """What happens to workers is dealt with, and its log would stand among the output."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _client(distributed: Any, scheduler: str | None, jobs: int) -> Iterator[Any]:
    cluster = client = None
    fault: str | None = None
    try:
        try:
            if scheduler is not None:
                distributed.comm.resolve_address(scheduler)  # a client that cannot even try would wait at its end
            with born_deaf():
                if scheduler is None:
                    cluster = distributed.LocalCluster(
                        n_workers=jobs,
                        threads_per_worker=1,
                        dashboard_address="127.0.0.1:0",
                        silence_logs=logging.CRITICAL,
                    )
                client = distributed.Client(cluster or scheduler, timeout=CONNECT, set_as_default=False)
            client.wait_for_workers(1, timeout=LONELY)
        except TimeoutError as error:
            fault = f"no worker joined the cluster within {LONELY:.0f} seconds" if client else str(error)
        except (OSError, ValueError, RuntimeError) as error:
            fault = str(error)
        if fault is not None:
            where = f"the scheduler at {scheduler}" if scheduler is not None else "a cluster on this machine"
            raise EngineError(fault if client else f"{where} cannot be reached: {fault}")
        yield client
    finally:
        for one in (client, cluster):
            if one is not None:
                with suppress(Exception):  # it may be gone already, and nothing is wanted of it any more
                    one.close(timeout=CONNECT)


TRIES = 3
"""How often a source is handed out alone before it is to blame for the workers that end."""


@define(eq=False)
class _Batch:
    """A batch that was handed out, and the future of its answer."""

    tasks: list[Task]
    future: Any


@define(eq=False)
class _Run:
    distributed: Any
    client: Any
    options: CheckOptions
    seen: Seen
    _turns: deque[_Batch | Unreadable] = field(factory=deque)
    _threads: int = 1
    _asked: float = float("-inf")

    def results(self, entries: Iterator[list[Task] | Source | Unreadable]) -> Iterator[Result]:
        try:
            self._fill(entries)
            while self._turns:
                turn = self._turns.popleft()
                if isinstance(turn, Unreadable):
                    yield turn
                else:
                    yield from self._answer(turn)
                self._fill(entries)
        finally:
            with suppress(Exception):
                self.client.cancel([one.future for one in self._turns if isinstance(one, _Batch)], force=True)

    def _fill(self, entries: Iterator[list[Task] | Source | Unreadable]) -> None:
        if time.monotonic() - self._asked > CENSUS:
            self._threads, self._asked = sum(self.client.ncores().values()) or 1, time.monotonic()
        while len(self._turns) < AHEAD * self._threads:
            entry = next(entries, None)
            if entry is None:
                return
            if isinstance(entry, list):
                self._turns.append(self._hand([evolve(task, source=_absolute(task.source)) for task in entry]))
            elif isinstance(entry, Source):
                self._turns.append(Unreadable(entry.name, "standard input cannot be read by the workers of a cluster"))
            else:
                self._turns.append(entry)

    def _hand(self, tasks: list[Task]) -> _Batch:
        try:
            parcel = pack((tasks, self.options))
            return _Batch(tasks, self.client.submit(check_batch, VERSION, parcel, pure=False))
        except Exception as error:
            raise EngineError(f"the scheduler is lost: {error}") from error

    def _answer(self, batch: _Batch, tried: int = 1) -> Iterator[Result]:
        """The results of a batch. Where it ended one worker after another, each of its sources is checked alone.

        One after the other, and more than once: the scheduler blames whatever a worker had that ended.
        """
        try:
            answer: _Answer = unpack(self._wait(batch.future))
        except self.distributed.KilledWorker:
            alone = len(batch.tasks) == 1
            if alone and tried == TRIES:
                message = "the workers that checked it ended, one after another; it may take more memory than there is"
                yield Unreadable(batch.tasks[0].source.name, message)
                return
            for task in batch.tasks:
                yield from self._answer(self._hand([task]), tried + 1 if alone else 1)
            return
        self.seen(answer.read)
        yield from answer.results

    def _wait(self, future: Any) -> bytes:
        """The answer of a future, as long as there is somebody to give it."""
        lonely_since: float | None = None
        while True:
            try:
                answer: bytes = future.result(timeout=2)
                return answer
            except self.distributed.KilledWorker:
                raise
            except TimeoutError:
                lonely_since = None if self.client.ncores() else lonely_since or time.monotonic()
                if lonely_since is not None and time.monotonic() - lonely_since > LONELY:
                    raise EngineError(f"the cluster had no worker for {LONELY:.0f} seconds") from None
            except ModuleNotFoundError as error:
                raise EngineError(f"a worker of the cluster lacks a package: {error}") from None
            except (OSError, self.distributed.client.FutureCancelledError) as error:
                raise EngineError(f"the scheduler is lost: {error}") from error


def _absolute(source: Source) -> Source:
    """A source by its whole path: the workers run in folders of their own."""
    return source if source.path is None else evolve(source, path=type(source.path)(os.path.abspath(source.path)))
