"""A worker: a process that checks the tasks it is given, and sends results as they come."""

from __future__ import annotations

import os
import signal
import struct
import threading
import time
import traceback
from multiprocessing import parent_process
from multiprocessing.connection import Connection

from attrs import define, field

from mmsp_fsm.engines.checking import CheckOptions
from mmsp_fsm.engines.serialization import pack, unpack
from mmsp_fsm.engines.tasks import Result, Task, unseen

HEADER = struct.Struct("<IIQ?")
"""What stands before the results of a message: how many tasks of the batch are finished with it, how many of its
results belong to the task after those, how many bytes were read, and whether it is a traceback instead.
"""

HEAVY, SOON = 128, 0.1
"""Results and diagnostics that one message holds, and seconds that they may wait for more."""


def work(connection: Connection, options: CheckOptions, watched: bool) -> None:
    """Check batches until the connection ends. What ends this process is the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it was not born deaf to Ctrl-C
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        connection.send_bytes(b"")  # that it began
        while True:
            tasks: list[Task] = unpack(connection.recv_bytes())
            _Sending(connection).batch(tasks, options, watched)
    except (EOFError, OSError):
        pass


def _end_with_parent() -> None:
    """However the parent ends: it may have no time to say so."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@define
class _Sending:
    """What was found and is not sent yet."""

    connection: Connection
    results: list[Result] = field(factory=list)
    finished: int = 0
    open: int = 0
    bytes: int = 0
    weight: int = 0
    sent: float = field(factory=time.monotonic)

    def batch(self, tasks: list[Task], options: CheckOptions, watched: bool) -> None:
        try:
            for task in tasks:
                for result in task.results(options, self.seen if watched else unseen):
                    self.add(result)
                self.finished += 1
                self.open = 0
            self.send()
        except (EOFError, BrokenPipeError):
            raise
        except BaseException:  # a fault of ours, which the parent tells: nobody else reads this process's words
            text = pack(traceback.format_exc())
            self.connection.send_bytes(HEADER.pack(0, 0, 0, True) + text)

    def add(self, result: Result) -> None:
        self.results.append(result)
        self.open += 1
        self.weight += 1 + len(getattr(result, "diagnostics", ()))
        if self.weight >= HEAVY or time.monotonic() - self.sent > SOON:
            self.send()

    def seen(self, count: int) -> None:
        self.bytes += count
        if time.monotonic() - self.sent > SOON:
            self.send()

    def send(self) -> None:
        header = HEADER.pack(self.finished, self.open, self.bytes, False)
        self.connection.send_bytes(header + (pack(self.results) if self.results else b""))
        self.results = []
        self.finished = self.open = self.bytes = self.weight = 0
        self.sent = time.monotonic()
