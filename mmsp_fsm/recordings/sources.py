"""Finding recordings: files, folders, globs and standard input, each named as the user named it."""

from __future__ import annotations

import errno
import glob
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import BinaryIO, cast

from attrs import frozen

from mmsp_fsm.recordings.archives import inner_suffix
from mmsp_fsm.recordings.formats import holds_events
from mmsp_fsm.recordings.remote import is_address, open_address, path_of

SUFFIXES = (".jsonl", ".ndjson", ".sse", ".json")
"""What a recording inside a folder is told by, that of a compressed one before `.gz` and the like. A file that is named
itself may have any suffix.
"""

STDIN = "<stdin>"
"""How standard input is named in reports."""


_ANY_FOLDERS = "**"


@frozen
class Unreadable:
    """A source that could not be read at all, and a sentence that says why."""

    source: str
    message: str


@frozen
class Part:
    """The bytes of a file from one offset up to another; `last` if that is the file's end."""

    start: int
    end: int
    last: bool


@frozen
class Source:
    """Something to read a recording from. `name` is shown to people; `suffix` settles a tie between formats.

    It is the file at `path` (or a part of it), else what is at `address` (`s3://...`), else standard input.
    """

    name: str
    path: Path | None = None
    address: str | None = None
    part: Part | None = None

    @property
    def is_stdin(self) -> bool:
        """Whether it is standard input, which only this process has."""
        return self.path is None and self.address is None

    @property
    def suffix(self) -> str:
        """The suffix of what the file holds, in lower case with its dot (`.jsonl` of `a.jsonl.gz`); "" for standard
        input.
        """
        if self.address is not None:
            return inner_suffix(path_of(self.address))
        return inner_suffix(self.path) if self.path is not None else ""

    def open(self) -> BinaryIO:
        """Open it for reading bytes; closing that leaves the process its standard input. Raises OSError."""
        if self.address is not None:
            return open_address(self.address)
        if self.path is None:
            return _open_stdin()
        file = self.path.open("rb")
        return file if self.part is None else cast(BinaryIO, PartReader(file, self.part))


class PartReader(io.RawIOBase):
    """The bytes of a part of a file, closed with it."""

    def __init__(self, file: BinaryIO, part: Part) -> None:
        self._file = file
        self._left = part.end - part.start
        file.seek(part.start)

    def read1(self, size: int = -1) -> bytes:
        """The next bytes, `size` at most; none at the part's end."""
        chunk = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(chunk)
        return chunk

    read = read1

    def fileno(self) -> int:
        """The file's."""
        return self._file.fileno()

    def close(self) -> None:
        """Close the file, too."""
        self._file.close()
        super().close()


def _open_stdin() -> BinaryIO:
    if _stdin_is_closed():
        raise OSError("standard input is closed")
    try:
        descriptor = os.dup(sys.stdin.fileno())
    except (AttributeError, io.UnsupportedOperation):  # a test's or a notebook's stand-in, which has no descriptor
        buffer = getattr(sys.stdin, "buffer", None)
        return io.BytesIO(buffer.read() if buffer is not None else sys.stdin.read().encode("utf-8", "surrogatepass"))
    try:
        return open(descriptor, "rb")
    except OSError:
        os.close(descriptor)
        raise


def _stdin_is_closed() -> bool:
    return sys.stdin is None or sys.stdin.closed


def find_sources(arguments: Iterable[str | PathLike[str]]) -> Iterator[Source | Unreadable]:
    """The sources that `arguments` stand for, in their order; what cannot be read is said, and the rest goes on.

    An argument is `-` (standard input), a file, a folder or, where nothing has that name, a glob; or the address of one
    of these elsewhere, such as `s3://bucket/folder`. A folder is searched
    for recordings, in all folders below. Names that begin with a dot are passed over there, and a link to a folder is
    not followed, for it may lead in circles.
    """
    stdin_taken = False
    for argument in arguments:
        name = os.fsdecode(argument)
        if name == "-" and stdin_taken:
            yield Unreadable(STDIN, "standard input can be read only once")
        elif name == "-":
            stdin_taken = True
            yield Unreadable(STDIN, "standard input is closed") if _stdin_is_closed() else Source(STDIN)
        else:
            yield from _find(name)


def _find(name: str) -> Iterator[Source | Unreadable]:
    try:
        mode = os.stat(name).st_mode
    except OSError as error:
        if is_address(name):
            yield from _find_elsewhere(name)
        elif glob.has_magic(name) and not os.path.lexists(name):
            yield from _match(name, error)
        else:
            yield _unreadable(name, error)
    except ValueError:  # a NUL, or half a surrogate pair that stands for no byte
        yield Unreadable(name, "no path can hold such a character")
    else:
        yield from _take(name, mode)


def _find_elsewhere(address: str) -> Iterator[Source | Unreadable]:
    from mmsp_fsm.recordings.remote import Problem, find_addresses

    for one in find_addresses(address, SUFFIXES):
        yield Unreadable(one.address, one.message) if isinstance(one, Problem) else Source(one, address=one)


def _take(name: str, mode: int) -> Iterator[Source | Unreadable]:
    """What a name stands for that exists."""
    if stat.S_ISDIR(mode):
        yield from _walk(name)
    elif stat.S_ISSOCK(mode):
        yield Unreadable(name, "a socket is no recording")
    else:
        yield Source(name, Path(name))


# ── Folders ──────────────────────────────────────────────────────────────────────────────────────────────────


def _walk(folder: str) -> Iterator[Source | Unreadable]:
    """The recordings in a folder and below, in the order of their names."""
    found = False
    for one in _below(folder):
        found = True
        yield one
    if not found:
        yield Unreadable(folder, f"this folder holds no recordings ({', '.join(SUFFIXES)})")


def _below(folder: str) -> Iterator[Source | Unreadable]:
    pending = [(folder, True)]  # a stack, and no recursion: folders can be nested deeper than that
    while pending:
        path, is_folder = pending.pop()
        if not is_folder:
            yield from _take_inside(path)
            continue
        try:
            pending += reversed(_listing(path))
        except OSError as error:
            yield _unreadable(path, error)


def _listing(folder: str) -> list[tuple[str, bool]]:
    """The entries of a folder, by name, and whether each is a folder itself; hidden ones apart. Raises OSError."""
    with os.scandir(folder or os.curdir) as scan:
        entries = sorted((entry for entry in scan if not entry.name.startswith(".")), key=lambda entry: entry.name)
    return [(os.path.join(folder, entry.name), _is_folder(entry)) for entry in entries]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False  # taking it will say why


def _take_inside(path: str) -> Iterator[Source | Unreadable]:
    """A file in a folder, if it is a recording. Pipes and devices are none there: they would be waited for."""
    if inner_suffix(path) not in SUFFIXES:
        return
    try:
        if stat.S_ISREG(os.stat(path).st_mode) and holds_events(path):
            yield Source(path, Path(path))
    except OSError as error:
        yield _unreadable(path, error)


# ── Globs ────────────────────────────────────────────────────────────────────────────────────────────────────


def _match(pattern: str, error: OSError) -> Iterator[Source | Unreadable]:
    """What matches a pattern, by name. As in a shell, a folder that matches stands for what it holds; but not where
    the pattern goes through all folders anyway.
    """
    problems: list[Unreadable] = []
    names = set(_expand(pattern, problems))
    if _ANY_FOLDERS in _parts(pattern):
        names = {name for name in names if not os.path.isdir(name)}
    for name in sorted(names):
        try:
            mode = os.stat(name).st_mode
        except OSError as problem:
            yield _unreadable(name, problem)
        else:
            if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
                yield from _take(name, mode)
            else:
                yield Unreadable(name, "what is no file is read only where it is named itself")
    yield from problems
    if not names and not problems:
        missing = error.errno in (errno.ENOENT, errno.EINVAL)  # Windows calls a pattern an invalid name
        yield Unreadable(pattern, "nothing matches this pattern" if missing else why(error))


def _parts(pattern: str) -> list[str]:
    return pattern.replace(os.altsep or os.sep, os.sep).split(os.sep)


def _expand(pattern: str, problems: list[Unreadable]) -> Iterator[str]:
    """The names that match. `**` is expanded here, for that of `glob` follows links to folders, round and round."""
    parts = _parts(pattern)
    if _ANY_FOLDERS not in parts:
        yield from glob.iglob(pattern)
        return
    at = parts.index(_ANY_FOLDERS)
    before, after = os.sep.join(parts[:at]), os.sep.join(parts[at + 1 :]) or "*"
    tops = glob.iglob(before) if before else [os.sep if at else ""]
    for folder in _folders((top for top in tops if os.path.isdir(top or os.curdir)), problems):
        yield from _expand(os.path.join(glob.escape(folder), after), problems)


def _folders(tops: Iterable[str], problems: list[Unreadable]) -> Iterator[str]:
    """Folders and all below them."""
    pending = list(tops)
    while pending:
        folder = pending.pop()
        try:
            inside = _listing(folder)
        except OSError as error:
            problems.append(_unreadable(folder, error))
            continue
        yield folder
        pending += [path for path, is_folder in inside if is_folder]


# ── What cannot be read ──────────────────────────────────────────────────────────────────────────────────────


def _unreadable(name: str, error: OSError) -> Unreadable:
    if isinstance(error, FileNotFoundError) and os.path.islink(name):
        return Unreadable(name, "this link leads nowhere")
    return Unreadable(name, why(error))


def why(error: OSError) -> str:
    """A short sentence for an OSError, without the path that the report names anyway."""
    return error.strerror.lower() if error.strerror else str(error)
