"""The console that a command writes to: whether it is a terminal, shows colour, says Unicode, is there at all."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from mmsp_fsm.output.text import Renderer


def standard_output() -> TextIO:
    """Where results go. Raises OSError where it is closed."""
    if sys.stdout is None:
        raise OSError("standard output is closed")
    return sys.stdout


def complain(sentence: str) -> None:
    """Say something on standard error. That it cannot be said must not change the exit status."""
    with suppress(OSError):
        if sys.stderr is not None:
            sys.stderr.write(f"{sentence}\n")


def print_json(value: Any) -> None:
    """Write a JSON document for people to read."""
    from mmsp_fsm.output.formats.json import json_text

    out = standard_output()
    out.write(json_text(value, ascii_only=not says_unicode(out), indent=2) + "\n")


def renderer_for(stream: TextIO | None, docs_url: str | None = None) -> Renderer:
    """What turns reports into the text that fits `stream`; `docs_url` is where the rules have pages."""
    from mmsp_fsm.output.text import Renderer

    ascii_only = stream is not None and not says_unicode(stream)
    return Renderer(color=is_colorful(stream), ascii_only=ascii_only, docs_url=docs_url)


def says_unicode(stream: TextIO) -> bool:
    """Whether every character can be written as it is."""
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "") in ("utf8", "utf8sig")


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody looks at it."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # it is closed
        return False


def is_colorful(stream: TextIO | None) -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR is set (https://no-color.org) or it is a dumb one."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
