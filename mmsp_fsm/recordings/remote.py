"""Finding recordings where only `fsspec` reaches: files, folders and globs of other file systems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from mmsp_fsm.recordings.archives import inner_suffix
from mmsp_fsm.recordings.peeking import is_recording
from mmsp_fsm.recordings.urls import Place, locate, open_address, path_of, said

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
