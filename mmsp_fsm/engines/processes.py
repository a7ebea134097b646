"""The engine of `--jobs`: processes of this machine, each checking a batch of sources at a time.

Workers are forked from this process where it is one thread: they know at once all that it imported. Where it has more
(`fsspec` starts one), forking would copy them in the middle of what they do, so workers come from a server that was
started clean (`forkserver`), as they do where forking is not safe; importing everything once more takes its time.
Each has a pipe of its own, so that it is known whose work was lost when one dies, and that one whose results have to
wait does so by itself once its pipe is full.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any, cast

from attrs import define, field

from mmsp_fsm.engines.checking import CheckOptions
from mmsp_fsm.engines.interrupts import born_deaf
from mmsp_fsm.engines.serialization import pack, unpack
from mmsp_fsm.engines.tasks import EngineError, Result, Seen, Task, batches, in_turn, unseen
from mmsp_fsm.engines.worker import HEADER, work
from mmsp_fsm.recordings.sources import Source, Unreadable

AHEAD, AT_ONCE = 32, 2
"""Batches handed out or done for each worker while an earlier one is not; and those that one worker has, so that it
need not wait for the next.
"""

STILLBORN = 3
"""Processes, one after another, that may end before they begin."""

HELD = 64 << 20
"""Bytes of results that are held because it is not their turn."""


class WorkerError(RuntimeError):
    """A worker met a fault of this program; its traceback is the text."""


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def start_method() -> str:
    """How a worker is best started here and now, by the name that `multiprocessing` has for it."""
    if os.name == "nt":
        return "spawn"
    return "fork" if sys.platform == "linux" and threading.active_count() == 1 else "forkserver"


def in_processes(
    sources: Iterable[Source | Unreadable], options: CheckOptions, jobs: int, seen: Seen = unseen
) -> Generator[Result, None, None]:
    """The engine that checks in `jobs` processes. Standard input is read in this one.

    A worker that dies costs nothing: what it had is checked again, each source alone; one that ends its worker once
    more is unreadable. Raises WorkerError, and EngineError where no process can be started.
    """
    iterator = iter(sources)
    first = list(islice(iterator, 2))
    if jobs == 1 or len(first) < 2:
        yield from in_turn(chain(first, iterator), options, seen)
        return
    pool = _Pool(options, jobs, seen)
    try:
        yield from pool.run(batches(chain(first, iterator), lambda source: source.is_stdin))
    finally:
        pool.kill()


@define(eq=False)
class _Batch:
    """A batch that was handed out or is to be: what came of it, packed until its turn comes."""

    tasks: list[Task]
    tried: bool = False
    parcels: deque[bytes] = field(factory=deque)
    done: bool = False
    lost: list[_Batch] = field(factory=list)
    _finished: int = 0
    _open: int = 0

    def take(self, message: bytes) -> int:
        """Take a message of its worker; gives the bytes that were read."""
        finished, is_open, read, failed = HEADER.unpack_from(message)
        if failed:
            raise WorkerError(unpack(memoryview(message)[HEADER.size :]))
        self._open = is_open if finished else self._open + is_open
        self._finished += finished
        self.done = self._finished == len(self.tasks)
        if len(message) > HEADER.size:
            self.parcels.append(message)
        return int(read)

    def lose(self, how: str) -> int:
        """Its worker died. What is not known of it is to be checked again, each source alone; or, if it was so already,
        told to be unreadable. Gives the bytes that this adds to what is held.
        """
        rest = self.tasks[self._finished :]
        self.done = True
        if self.tried:
            source = rest[0].source.name
            message = f"the process that checked it ended twice ({how}); it may take more memory than there is"
            self.parcels.append(bytes(HEADER.size) + pack([Unreadable(source, message)]))  # as a message of its own
            return len(self.parcels[-1])
        again = [Task(rest[0].source, rest[0].skip + self._open), *rest[1:]]
        self.lost = [_Batch([task], tried=True) for task in again]
        return 0


@define(eq=False)
class _Worker:
    process: Any
    connection: Connection
    ready: bool = False
    batches: deque[_Batch] = field(factory=deque)


@define(eq=False)
class _Pool:
    """The workers, and what is handed out, in the order of the sources."""

    options: CheckOptions
    jobs: int
    seen: Seen
    _workers: list[_Worker] = field(factory=list)
    _waiting: deque[_Batch] = field(factory=deque)  # what was lost, and comes before all else
    _turns: deque[_Batch | Source | Unreadable] = field(factory=deque)
    _held: int = 0
    _stillborn: int = 0

    def run(self, entries: Iterator[list[Task] | Source | Unreadable]) -> Iterator[Result]:
        self._fill(entries)
        while self._turns:
            turn = self._turns[0]
            if isinstance(turn, _Batch):
                yield from self._results(turn)
                while not turn.done:
                    self._pump(turn)
                    self._fill(entries)
                    yield from self._results(turn)
                self._turns.popleft()
                self._turns.extendleft(reversed(turn.lost))
            else:
                self._turns.popleft()
                yield from in_turn([turn], self.options, self.seen)
            self._fill(entries)

    def kill(self) -> None:
        """End all workers, whatever they do: nothing that they have is wanted any more."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()
        self._workers.clear()

    def _results(self, batch: _Batch) -> Iterator[Result]:
        """What came of a batch so far and was not given yet."""
        while batch.parcels:
            message = batch.parcels.popleft()
            self._held -= len(message)
            yield from unpack(memoryview(message)[HEADER.size :])

    # ── Handing out ──────────────────────────────────────────────────────────────────────────────────────────

    def _fill(self, entries: Iterator[list[Task] | Source | Unreadable]) -> None:
        """Hand out as much as may be ahead."""
        while self._waiting and (worker := self._idle()):
            self._hand(worker, self._waiting.popleft())
        while not self._waiting and len(self._turns) < AHEAD * self.jobs and (worker := self._idle()):
            entry = next(entries, None)
            if entry is None:
                return
            if isinstance(entry, list):
                batch = _Batch(entry)
                self._turns.append(batch)
                self._hand(worker, batch)
            else:
                self._turns.append(entry)

    def _idle(self) -> _Worker | None:
        """The worker that has least to do, if any has room; a new one before any has two batches."""
        least = min(self._workers, key=lambda one: len(one.batches), default=None)
        if (least is None or least.batches) and len(self._workers) < self.jobs:
            least = self._start()
        return least if least is not None and len(least.batches) < AT_ONCE else None

    def _start(self) -> _Worker:
        method = start_method()
        context: Any = multiprocessing.get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload(["mmsp_fsm.engines.worker"])
        here, there = context.Pipe()
        process = context.Process(target=work, args=(there, self.options, self.seen is not unseen), daemon=True)
        try:
            with born_deaf(tracked=method != "fork"), _without_main():
                process.start()
        except OSError as error:
            raise EngineError(f"no process can be started: {error.strerror or error}") from error
        there.close()
        worker = _Worker(process, here)
        self._workers.append(worker)
        return worker

    def _hand(self, worker: _Worker, batch: _Batch) -> None:
        worker.batches.append(batch)
        with suppress(OSError):  # it died; reading from it will tell
            worker.connection.send_bytes(pack(batch.tasks))

    # ── Taking in ────────────────────────────────────────────────────────────────────────────────────────────

    def _pump(self, turn: _Batch) -> None:
        """Wait for messages, and take them; from whom it is not the turn, only while little is held."""
        everyone = self._held < HELD or not any(turn in worker.batches for worker in self._workers)
        ready = {
            worker.connection: worker
            for worker in self._workers
            if worker.batches and (everyone or turn in worker.batches)
        }
        for connection in cast(list[Connection], wait(list(ready))):
            worker = ready[connection]
            try:
                message = worker.connection.recv_bytes()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            if not message:  # its greeting
                worker.ready, self._stillborn = True, 0
                continue
            batch = worker.batches[0]
            self.seen(batch.take(message))
            self._held += len(message) if len(message) > HEADER.size else 0
            if batch.done:
                worker.batches.popleft()

    def _bury(self, worker: _Worker) -> None:
        """A worker died: what it was doing is to be checked again, what it had not begun is not its fault."""
        self._workers.remove(worker)
        worker.connection.close()
        worker.process.kill()
        worker.process.join()
        if not worker.ready:  # nor is that the fault of any source
            self._stillborn += 1
            if self._stillborn > STILLBORN:
                raise EngineError(f"a process ended before it could begin ({_how(worker.process.exitcode)})")
            self._waiting.extendleft(reversed(worker.batches))
            return
        batch, *rest = worker.batches
        self._held += batch.lose(_how(worker.process.exitcode))
        self._waiting.extendleft(reversed([*batch.lost, *rest]))


@contextmanager
def _without_main() -> Iterator[None]:
    """A process that is started in here does not run the script of this one once more to know what is in it."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _how(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        try:
            return signal.Signals(-exitcode).name
        except ValueError:
            return f"signal {-exitcode}"
    return f"exit status {exitcode}"
