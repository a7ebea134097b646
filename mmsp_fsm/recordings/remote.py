"""Finds and opens recordings by `fsspec`: files, folders and globs of other file systems."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from attrs import frozen

from mmsp_fsm.recordings.archives import inner_suffix
from mmsp_fsm.recordings.formats import is_recording

_MAGIC = re.compile(r"[*?\[]")
_WEB_MAGIC = re.compile(r"\*")  # a question mark begins a query


@frozen
class Problem:
    """An address, and a sentence that says why nothing can be read there."""

    address: str
    message: str


def find_addresses(address: str, suffixes: tuple[str, ...]) -> Iterator[str | Problem]:
    """The addresses of the recordings that `address` stands for: a file, a folder or, where nothing has that name, a
    glob. A file in a folder is a recording by one of `suffixes`.

    Of a web server only what ends with a slash is a folder, if it lists what it holds.
    """
    try:
        place = locate(address)
        base = _Base.of(address, place)
        yield from _find(base, suffixes)
    except OSError as error:
        yield Problem(address, str(error))


@frozen
class _Base:
    """What an address begins with, chained as it may be, and how the paths of its file system are named after it."""

    place: Place
    before: str
    main: str
    after: str
    protocol: str

    @classmethod
    def of(cls, address: str, place: Place) -> _Base:
        parts = address.split("::")
        at = next(number for number, part in enumerate(parts) if "://" in part)
        before = "".join(f"{part}::" for part in parts[:at])
        after = "".join(f"::{part}" for part in parts[at + 1 :])
        return cls(place, before, parts[at], after, address.partition("://")[0])

    def name(self, path: str) -> str:
        """The address of a path, beginning as the user's address does."""
        begin = self.main
        if magic := (_WEB_MAGIC if self.place.is_web else _MAGIC).search(begin):
            begin = begin[: begin.rindex("/", 0, magic.start()) + 1]
        stripped = str(self.place.system._strip_protocol(begin)).rstrip("/")
        rest = path[len(stripped) :] if path.startswith(stripped) else path
        slash = "" if begin.endswith("://") else "/"
        return self.before + (begin if not slash else begin.rstrip("/") + slash) + rest.lstrip("/") + self.after


def _find(base: _Base, suffixes: tuple[str, ...]) -> Iterator[str | Problem]:
    place, address = base.place, base.before + base.main + base.after
    is_glob = (_WEB_MAGIC if place.is_web else _MAGIC).search(base.main) is not None
    if place.is_web and not is_glob:
        yield from _walk(base, place.path, address, suffixes) if place.path.endswith("/") else [address]
        return
    info = None if is_glob and place.is_web else _info(base, missing_is_fine=is_glob)
    if info is None:
        yield from _match(base, address, suffixes)
    elif info["type"] == "directory":
        yield from _walk(base, place.path, address, suffixes)
    else:
        yield address


def _info(base: _Base, *, missing_is_fine: bool) -> dict[str, Any] | None:
    with said(base.protocol):
        try:
            info: dict[str, Any] = base.place.system.info(base.place.path)
        except FileNotFoundError:
            if not missing_is_fine:
                raise
            return None
        return info


def _match(base: _Base, address: str, suffixes: tuple[str, ...]) -> Iterator[str | Problem]:
    """What matches a glob, by name; a folder that matches stands for what it holds, but not where `**` goes through all
    folders anyway.
    """
    with said(base.protocol):
        found: dict[str, dict[str, Any]] = base.place.system.glob(base.place.path, detail=True)
    names = sorted(name for name, info in found.items() if info["type"] != "directory" or "**" not in base.main)
    for name in names:
        if found[name]["type"] == "directory":
            yield from _walk(base, name, base.name(name), suffixes)
        else:
            yield base.name(name)
    if not names:
        yield Problem(address, "nothing matches this pattern")


def _walk(base: _Base, folder: str, address: str, suffixes: tuple[str, ...]) -> Iterator[str | Problem]:
    """The recordings in a folder and below, in the order of their names; a folder is listed when its turn comes."""
    found = False
    pending = [(folder, True)]
    while pending:
        path, is_folder = pending.pop()
        try:
            if is_folder:
                pending += reversed(_listing(base, path))
                continue
            taken = _is_recording(base.name(path), suffixes)
        except OSError as error:
            found = True
            yield Problem(base.name(path), str(error))
        else:
            if taken:
                found = True
                yield base.name(path)
    if not found:
        yield Problem(address, f"this folder holds no recordings ({', '.join(suffixes)})")


def _listing(base: _Base, folder: str) -> list[tuple[str, bool]]:
    """The entries of a folder, by name, and whether each is a folder; without hidden ones, and links to folders."""
    with said(base.protocol):
        infos: list[dict[str, Any]] = base.place.system.ls(folder, detail=True)
    entries = []
    for info in infos:
        path, is_folder = str(info["name"]), info["type"] == "directory"
        name = path.rstrip("/").rpartition("/")[2]
        if path.rstrip("/") == folder.rstrip("/") or name.startswith(".") or (is_folder and info.get("islink")):
            continue
        entries.append((path, is_folder or (base.place.is_web and path.endswith("/"))))
    return sorted(entries)


def _is_recording(address: str, suffixes: tuple[str, ...]) -> bool:
    suffix = inner_suffix(path_of(address))
    if suffix not in suffixes:
        return False
    if suffix != ".json":
        return True
    with open_address(address) as file:
        return is_recording(file)


# Two letters at least, for `C://` is a drive. A chain such as `zip://a.jsonl::s3://bucket/a.zip` is one, too.
_ADDRESS = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+::)*[A-Za-z][A-Za-z0-9+.-]+://")
_WEB = ("http", "https")

CONNECT, SILENCE = 30, 600
"""Seconds that a web server may take to answer, and to stay silent in the middle: a live stream may be slow."""

LONGEST = 300
"""Characters that are shown of what a service says."""


def is_address(name: str) -> bool:
    """Whether `name` is an address, and no file here has it as its name."""
    return _ADDRESS.match(name) is not None and not os.path.lexists(name)


def path_of(address: str) -> str:
    """The part of an address that may end with a file's suffix: without a query, and without what it is chained to."""
    first = next(part for part in address.split("::") if "://" in part)
    return re.split(r"[?#]", first)[0] if first.startswith(_WEB) else first


@frozen
class Place:
    """A file system, and the path in it that an address names."""

    system: Any
    path: str

    @property
    def is_web(self) -> bool:
        """Whether it is a web server, which tells nothing of a file but what it holds."""
        return self.system.protocol in (_WEB, *_WEB)


def locate(address: str) -> Place:
    """The place of an address. Raises OSError where no package reads it."""
    protocol = address.partition("://")[0]
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        message = f"reading {protocol}:// needs the package fsspec: pip install 'mmsp-fsm[remote]'"
        raise OSError(message) from None
    with said(protocol):
        options = _web_options() if protocol in _WEB else {}
        return Place(*url_to_fs(address, **options))


def _web_options() -> dict[str, Any]:
    from aiohttp import ClientTimeout

    return {"client_kwargs": {"timeout": ClientTimeout(total=None, sock_connect=CONNECT, sock_read=SILENCE)}}


def open_address(address: str) -> BinaryIO:
    """The bytes of a file, read once and forward. Raises OSError, as reading it does."""
    place = locate(address)
    protocol = address.partition("://")[0]
    with said(protocol):
        # A web server need not know how long a file is, nor give a part of it.
        options = {"block_size": 0} if place.is_web else {}
        return cast(BinaryIO, _File(place, place.system.open(place.path, "rb", **options), protocol))


class _File:
    """A file whose faults are OSErrors with a sentence."""

    def __init__(self, place: Place, file: Any, protocol: str) -> None:
        self._place = place  # a file system that nobody knows any more closes what it is made of
        self._file, self._protocol = file, protocol

    def read(self, size: int = -1) -> bytes:
        with said(self._protocol):
            return bytes(self._file.read(size))

    def close(self) -> None:
        with said(self._protocol):
            self._file.close()

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def said(protocol: str) -> Iterator[None]:
    """Turn whatever a file system raises into an OSError with a sentence."""
    try:
        yield
    except Exception as error:
        raise OSError(_sentence(error, protocol)) from error


def _sentence(error: BaseException, protocol: str) -> str:
    """What an error means for who named the file. A missing file may hide what kept it from being looked for."""
    cause = error.__cause__
    if isinstance(error, FileNotFoundError) and cause is not None and not _is_status(cause, (404, 410)):
        return _sentence(cause, protocol)
    status = getattr(error, "status", None)
    for tells, sentence in _SENTENCES:
        if tells(error):
            return sentence
    if isinstance(error, ImportError):
        return f"reading {protocol}:// needs a package that is not installed: {_clipped(error)}"
    if isinstance(error, ValueError) and "rotocol not known" in str(error):
        return f"there is no package that reads {protocol}://"
    if isinstance(status, int):
        return f"the server answered with status {status}"
    return f"{protocol}:// cannot be read: {_clipped(error)}"


def _is_status(error: BaseException, statuses: tuple[int, ...]) -> bool:
    return getattr(error, "status", None) in statuses


_SENTENCES: tuple[tuple[Callable[[BaseException], bool], str], ...] = (
    (lambda error: isinstance(error, FileNotFoundError) or _is_status(error, (404, 410)), "no such file or directory"),
    (lambda error: isinstance(error, PermissionError) or _is_status(error, (401, 403)), "permission denied"),
    (lambda error: isinstance(error, IsADirectoryError), "is a directory"),
    (lambda error: isinstance(error, TimeoutError), "there was no answer in time"),
)


def _clipped(error: BaseException) -> str:
    words = " ".join(str(error).split()) or type(error).__name__
    return words if len(words) <= LONGEST else words[:LONGEST] + "…"
