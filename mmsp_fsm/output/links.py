"""The addresses of sources as other programs read them: URIs (RFC 3986), and paths inside a CI job's workspace."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

from mmsp_fsm.recordings.sources import STDIN

_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_RESERVED = ":/?#[]@!$&'()*+,;=%"


def uri_of(source: str) -> str:
    """The URI reference of a source: relative to the current folder for what lies in it, so that it means the same on
    another machine; else absolute. What is no file (`<stdin>`) is a relative one, too.
    """
    if _REMOTE.match(source):
        return quote(_bytes(source), safe=_RESERVED)
    try:
        absolute = os.path.abspath(source)
        relative = _inside(absolute, os.getcwd())
    except OSError:  # the current folder was removed meanwhile
        return quote(_bytes(source), safe="/")
    if relative is not None:
        return quote(_bytes(relative), safe="/")
    path = Path(absolute).as_posix()
    return "file://" + ("" if path.startswith("/") else "/") + quote(_bytes(path), safe="/")


def workspace_path(source: str) -> str:
    """The path of a source from the root of the repository that a CI job checked out, where that is known."""
    if source == STDIN or _REMOTE.match(source):
        return source
    path = Path(os.path.normpath(source)).as_posix()
    root = os.environ.get("GITHUB_WORKSPACE")
    try:
        return (root and _inside(os.path.abspath(source), os.path.abspath(root))) or path
    except OSError:  # the current folder was removed meanwhile
        return path


def _inside(absolute: str, folder: str) -> str | None:
    """The path from `folder` to a file in it, with forward slashes; None for what lies elsewhere."""
    try:
        relative = Path(absolute).relative_to(folder)
    except ValueError:
        return None
    return relative.as_posix()


def _bytes(text: str) -> bytes:
    """A name as the file system holds it."""
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:  # no file has this name
        return text.encode("utf-8", "backslashreplace")
