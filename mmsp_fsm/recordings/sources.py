"""Finding recordings: files, folders, globs and standard input, each named as the user named it."""

from __future__ import annotations

import glob
import io
import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from attrs import frozen

from mmsp_fsm.diagnostics import Unreadable
from mmsp_fsm.recordings.formats import BOM

SUFFIXES = (".jsonl", ".ndjson", ".sse", ".json")
"""What a recording inside a folder is told by. A file that is named itself may have any suffix."""

STDIN = "<stdin>"
"""How standard input is named in reports."""

PEEK = 1 << 16
"""Bytes of a `.json` file in a folder that are looked at to tell whether it is a recording."""

EVENT_KEYS = ("event_type", "content_items", "error")


@frozen
class Source:
    """Something to read a recording from. `name` is shown to people; `suffix` settles a tie between formats."""

    name: str
    path: Path | None = None

    @property
    def suffix(self) -> str:
        """The file's suffix in lower case, with its dot; "" for standard input."""
        return self.path.suffix.lower() if self.path is not None else ""

    def open(self) -> BinaryIO:
        """Open it for reading bytes. Raises OSError."""
        if self.path is not None:
            return self.path.open("rb")
        # A copy of the descriptor, so that closing the source leaves the process its standard input.
        return io.BufferedReader(io.FileIO(os.dup(_stdin().fileno()), "rb")) if _has_fileno() else _stdin()


def _stdin() -> BinaryIO:
    if sys.stdin is None or sys.stdin.closed:
        raise OSError("standard input is closed")
    return sys.stdin.buffer


def _has_fileno() -> bool:
    try:
        _stdin().fileno()
    except io.UnsupportedOperation:
        return False
    return True


def find_sources(arguments: Iterable[str | PathLike[str]]) -> Iterator[Source | Unreadable]:
    """The sources that `arguments` stand for, in their order; what cannot be read is said, and the rest goes on.

    An argument is `-` (standard input), a file, a folder (searched for recordings in all folders below, hidden ones
    apart) or, where no such file exists, a glob.
    """
    for argument in arguments:
        name = os.fspath(argument)
        if name == "-":
            yield _standard_input()
        elif "\0" in name:
            yield Unreadable(name, "a path holds no NUL character")
        else:
            yield from _find(name)


def _standard_input() -> Source | Unreadable:
    if sys.stdin is None or sys.stdin.closed:
        return Unreadable(STDIN, "standard input is closed")
    return Source(STDIN)


def _find(name: str) -> Iterator[Source | Unreadable]:
    try:
        mode = os.stat(name).st_mode
    except OSError as error:
        if glob.has_magic(name) and isinstance(error, FileNotFoundError):
            yield from _match(name)
        elif isinstance(error, FileNotFoundError) and os.path.islink(name):
            yield Unreadable(name, f"this link leads nowhere ({os.readlink(name)})")
        else:
            yield Unreadable(name, why(error))
        return
    if stat.S_ISDIR(mode):
        yield from _walk(name)
    elif stat.S_ISSOCK(mode):
        yield Unreadable(name, "a socket is no recording")
    else:
        yield Source(name, Path(name))


def _match(pattern: str) -> Iterator[Source | Unreadable]:
    found = False
    for name in sorted(glob.iglob(pattern, recursive=True)):
        if not os.path.isdir(name):
            found = True
            yield from _find(name)
    if not found:
        yield Unreadable(pattern, "nothing matches this pattern")


def _walk(folder: str) -> Iterator[Source | Unreadable]:
    """The recordings in a folder and below, in the order of their names."""
    problems: list[Unreadable] = []
    found = False
    for source in _entries(folder, problems):
        found = True
        yield source
    yield from problems
    if not found and not problems:
        yield Unreadable(folder, f"this folder holds no recordings ({', '.join(SUFFIXES)})")


def _entries(folder: str, problems: list[Unreadable]) -> Iterator[Source]:
    try:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        problems.append(Unreadable(folder, why(error)))
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(entry.path, problems)
        elif Path(entry.name).suffix.lower() in SUFFIXES and entry.is_file() and _is_recording(entry.path):
            yield Source(entry.path, Path(entry.path))


def _is_recording(path: str) -> bool:
    """Whether a file in a folder is a recording. JSON is written for much else, so a `.json` is looked into."""
    if not path.lower().endswith(".json"):
        return True
    try:
        with open(path, "rb") as file:
            head = file.read(PEEK).removeprefix(BOM).decode("utf-8", "replace").lstrip()
    except OSError:
        return True  # reading it will say why it cannot be read
    return _begins_with_event(head.removeprefix("[").lstrip())


def _begins_with_event(head: str) -> bool:
    try:
        first: Any = json.JSONDecoder().raw_decode(head)[0]
    except (ValueError, RecursionError):
        # A first event that is longer than what was looked at, or torn, still names its keys.
        return head.startswith("{") and any(f'"{key}"' in head for key in EVENT_KEYS)
    return isinstance(first, dict) and any(key in first for key in EVENT_KEYS)


def why(error: OSError) -> str:
    """A short sentence for an OSError, without the path that the report names anyway."""
    return (error.strerror or str(error)).lower()
