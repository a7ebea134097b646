"""Tasks: what an engine hands out, what comes of one, and how small files are put together."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO, cast

from attrs import frozen

from mmsp_fsm.engines.checking import CheckOptions, check_source
from mmsp_fsm.engines.results import Found, PartEnd
from mmsp_fsm.recordings.sources import Source, Unreadable

Result = Found | PartEnd
Seen = Callable[[int], None]
"""Is told how many bytes were read since it was told last."""

BATCH_FILES, BATCH_BYTES = 64, 1 << 20
"""What makes a batch: enough that handing it out costs nothing beside the checking, and little enough to be spread."""

NAME_BYTES = 32
"""What each character of a name counts for: a batch has to fit into a pipe whose reader is busy."""


class EngineError(Exception):
    """An engine cannot work; the sentence says why."""


def unseen(_: int) -> None:
    """What is told of bytes that nobody counts."""


@frozen
class Task:
    """A source to check. `skip` results of it are known already, from a process that was lost."""

    source: Source
    skip: int = 0

    def results(self, options: CheckOptions, seen: Seen = unseen) -> Iterator[Result]:
        """What checking gives."""
        source = self.source if seen is unseen else _watched(self.source, seen)
        return islice(check_source(source, options), self.skip, None)


def in_turn(
    sources: Iterable[Source | Unreadable], options: CheckOptions, seen: Seen = unseen
) -> Generator[Result, None, None]:
    """The engine that checks one source after another, here."""
    for source in sources:
        if isinstance(source, Unreadable):
            yield source
        else:
            yield from Task(source).results(options, seen)


def batches(
    sources: Iterable[Source | Unreadable], is_here: Callable[[Source], bool], scale: int = 1
) -> Iterator[list[Task] | Source | Unreadable]:
    """The sources, put together where they are small and in their order; those apart that are to be checked here.

    The first batches are small, so that there is something for everybody even where there is little; and all are larger
    by `scale` where handing one out costs more.
    """
    batch: list[Task] = []
    size, most = 0, 1.0
    for source in sources:
        apart = isinstance(source, Unreadable) or is_here(source)
        grown = 0 if apart else _size(cast(Source, source))
        if batch and (apart or len(batch) >= int(most) or size + grown > BATCH_BYTES * scale):
            yield batch
            batch, size, most = [], 0, min(most * 1.2, BATCH_FILES * scale)
        if apart:
            yield source
        else:
            batch.append(Task(cast(Source, source)))
            size += grown
    if batch:
        yield batch


def _size(source: Source) -> int:
    """How large a source is; of what does not tell, as large as a batch."""
    if source.path is None:
        return BATCH_BYTES
    if source.part is not None:
        return source.part.end - source.part.start
    try:
        return os.stat(source.path).st_size + len(source.name) * NAME_BYTES
    except OSError:
        return len(source.name) * NAME_BYTES


# ── Counting bytes ───────────────────────────────────────────────────────────────────────────────────────────────


@frozen
class _Watched(Source):
    """A source that tells how much of it was read."""

    seen: Seen = unseen
    inner: Source | None = None

    def open(self) -> BinaryIO:
        return cast(BinaryIO, _Counted(self.inner.open() if self.inner else super().open(), self.seen))


def _watched(source: Source, seen: Seen) -> Source:
    return _Watched(source.name, source.path, source.address, source.part, seen, source)


class _Counted:
    """A file that tells how much of it was read."""

    def __init__(self, file: Any, seen: Seen) -> None:
        self._file, self._seen = file, seen
        self._read = getattr(file, "read1", file.read)

    def read1(self, size: int = -1) -> Any:
        data = self._read(size)
        if data:
            self._seen(len(data))
        return data

    read = read1

    def fileno(self) -> int:
        fileno = getattr(self._file, "fileno", None)
        if fileno is None:
            raise io.UnsupportedOperation("fileno")
        return int(fileno())

    def __enter__(self) -> _Counted:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
