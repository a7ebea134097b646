"""Measuring in turn: what is compared runs one after the other, again and again, so that a slow minute slows both."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median


def in_turn(*functions: Callable[[], object], runs: int = 7) -> list[float]:
    """The seconds of each function: the fastest of so many runs, taken in turn."""
    best = [float("inf")] * len(functions)
    for _ in range(runs):
        for number, function in enumerate(functions):
            gc.collect()
            start = time.perf_counter()
            function()
            best[number] = min(best[number], time.perf_counter() - start)
    return best


def whole_process(*command: str, runs: int = 1) -> tuple[float, float]:
    """Wall seconds (the median of so many runs) and peak memory in MB of a process and those that it starts."""
    walls, peak = [], 0.0
    for _ in range(runs):
        start = time.perf_counter()
        code = (
            "import resource, subprocess, sys\n"
            "status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, status)"
        )
        done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
        walls.append(time.perf_counter() - start)
        memory, status = map(int, done.stdout.split())
        if status not in (0, 1):
            raise RuntimeError(f"{command} exited with {status}")
        peak = max(peak, memory / 1024)
    return median(walls), peak


def alone(*command: str, runs: int = 9) -> float:
    """Wall seconds of a process by itself: the fastest of so many runs."""
    walls = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        walls.append(time.perf_counter() - start)
    return min(walls)


def busy_gain(count: int, seconds: float = 2.0) -> float:
    """How many times the work of one busy process so many get done here, side by side."""

    def work(processes: int) -> float:
        code = (
            "import sys, time\nend, rounds = time.monotonic() + float(sys.argv[1]), 0\n"
            "while time.monotonic() < end:\n    sum(i * i for i in range(1000)); rounds += 1\nprint(rounds)"
        )
        command = [sys.executable, "-c", code, str(seconds)]
        started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(processes)]
        return sum(int(one.communicate()[0]) for one in started)

    return work(count) / work(1)


def peak_memory() -> float:
    """This process's peak memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
