"""Addresses such as `s3://bucket/a.jsonl`, by which `fsspec` reaches files that are elsewhere.

What a file system is asked may fail in as many ways as there are services; each becomes an OSError with a sentence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from attrs import frozen

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
