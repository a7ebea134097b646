"""The progress bar: how far a long run is, for somebody who looks at a terminal."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from mmsp_fsm.cli.console import is_terminal
from mmsp_fsm.engines.tasks import Seen, unseen

if TYPE_CHECKING:
    from mmsp_fsm.engines.results import Summary

PATIENCE, PERIOD = 1.0, 0.1
"""Seconds after which work is long, and seconds between two looks of the bar."""


class Progress:
    """A line on standard error with bytes, rate, streams and violations so far, once the run takes long.

    It is drawn only when something is counted, and never by a thread: whoever prints hides it before.
    """

    def __init__(self, *, shown: bool) -> None:
        self._wanted = shown and is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"
        self.seen: Seen = self._saw if self._wanted else unseen
        self._due = time.monotonic() + PATIENCE
        self._bytes = self._streams = self._violating = 0
        self._bar: Any = None
        self._task: Any = None
        self._visible = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.hide()

    def count(self, summary: Summary) -> None:
        """Say what was found so far."""
        self._streams, self._violating = summary.streams, summary.violating
        if self._wanted:
            self._draw()

    def hide(self) -> None:
        """Take the bar away, so that something else can be printed."""
        if self._visible:
            self._bar.stop()
            self._visible = False

    def _saw(self, count: int) -> None:
        self._bytes += count
        self._draw()

    def _draw(self) -> None:
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + PERIOD
        if self._bar is None:
            self._make()
        self._bar.update(self._task, completed=self._bytes, streams=self._streams, violating=self._violating)
        if self._visible:
            self._bar.refresh()
        else:
            self._bar.start()
            self._bar.refresh()
            self._visible = True

    def _make(self) -> None:
        from rich.console import Console
        from rich.progress import DownloadColumn, SpinnerColumn, TextColumn, TimeElapsedColumn, TransferSpeedColumn
        from rich.progress import Progress as Bar

        counts = TextColumn("{task.fields[streams]:,} streams, {task.fields[violating]:,} violating")
        columns = (SpinnerColumn(), DownloadColumn(), TransferSpeedColumn(), counts, TimeElapsedColumn())
        console = Console(stderr=True)
        self._bar = Bar(
            *columns, console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self._task = self._bar.add_task("", total=None, streams=0, violating=0)
