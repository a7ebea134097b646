"""`tail`: a stream as it arrives."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from mmsp_fsm.cli.console import complain, is_terminal, renderer_for, says_unicode, standard_output
from mmsp_fsm.cli.http import SECONDS, http_options
from mmsp_fsm.cli.options import (
    CONFORMING,
    EXIT_STATUSES,
    UNREADABLE,
    VIOLATING,
    check_options,
    docs_url_option,
    examples,
    only_source,
    reading_options,
    rule_options,
)
from mmsp_fsm.probe.requests import KEY_VARIABLE, is_url

if TYPE_CHECKING:
    from mmsp_fsm.engines.checking import CheckOptions
    from mmsp_fsm.output.live import LiveText
    from mmsp_fsm.probe.client import Answer, Request


STRAGGLER = 2.0
"""Seconds for which more is waited for once a stream has ended: a second stop would be a violation, too."""


class _UnreadableError(Exception):
    """Nothing can be read; the text is the sentence that says so."""


@click.command(
    epilog=examples(
        "mmsp-fsm tail http://127.0.0.1:25752 --model claude --prompt 'Hello'",
        "mmsp-fsm tail https://gateway/v1/stream --data @request.json --header 'X-Team: a' --save trace.sse",
        "curl -N https://server/v1/stream -d @request.json | mmsp-fsm tail -",
    )
    + EXIT_STATUSES
)
@click.argument("where", metavar="URL|PATH|-")
@click.option("--prompt", help="Ask an MMSP server this; URL may be its base URL. Needs --model.")
@click.option("--model", help="The model to ask.")
@click.option("--data", help="Post this body, or that of a file with @FILE, @- for standard input.")
@click.option("--save", type=click.Path(dir_okay=False), help="Keep what arrives, byte for byte, in this file.")
@click.option("--timeout", type=SECONDS, default=60, show_default=True, help="Seconds of silence to wait for a server.")
@click.option("-f", "--follow", is_flag=True, help="Wait at a file's end for more, until the stream has ended.")
@click.option("--fail-on", type=click.Choice(["error", "warning"]), default="error", show_default=True)
@docs_url_option
@http_options
@rule_options
@reading_options
def tail(where: str, save: str | None, fail_on: str, **options: Any) -> int:
    """Watch a live stream: its text as it arrives, what is wrong where it is wrong, and the verdict.

    Each event is printed before the next byte is read. A URL is asked with GET, or posted to with --data or --prompt;
    anything else is a recording, a pipe, or - for standard input.
    """
    from mmsp_fsm.output.live import LiveText

    checking = check_options(options)
    out = standard_output()
    with ExitStack() as stack:
        try:
            name, file, suffix = stack.enter_context(_opened(where, options))
            saved = stack.enter_context(_saving(save, where))
        except _UnreadableError as refused:
            complain(renderer_for(sys.stderr).complaint(str(refused)))
            return UNREADABLE
        columns = shutil.get_terminal_size().columns if is_terminal(out) else None
        live = LiveText(
            out, renderer_for(out, options["docs_url"]), source=name, columns=columns, ascii_only=not says_unicode(out)
        )
        watched = _Watched(file, saved, follow=options["timeout"] if options["follow"] else None)
        return _watch(watched, live, checking, name, suffix, fail_on)


class _Watched:
    """What is watched, as a file: whatever is read is kept in `saved` before anybody else sees it.

    `follow` is for how many seconds more is waited for where a file ends; `ended` is to say that the stream has, so
    that nobody waits for more than a straggler. `failed` tells whether it was the reading that raised an OSError.
    """

    def __init__(self, file: BinaryIO | Answer, saved: BinaryIO | None, follow: float | None) -> None:
        self._file, self._saved, self._follow = file, saved, follow
        self.ended = self.failed = False

    def read1(self, size: int = -1) -> bytes:
        """The next bytes, as soon as there are any."""
        chunk = self._read(size)
        if chunk and self._saved is not None:
            left = memoryview(chunk)
            while left:  # unbuffered, so that it is there whatever happens next; but that may write a part
                left = left[self._saved.write(left) :]
        return chunk

    read = read1

    def _read(self, size: int) -> bytes:
        if self.ended and hasattr(self._file, "silence"):
            self._file.silence = min(self._file.silence, STRAGGLER)
        try:
            chunk: bytes = getattr(self._file, "read1", self._file.read)(size)
            until = time.monotonic() + (self._follow or 0)
            while not chunk and self._follow is not None and not self.ended and time.monotonic() < until:
                time.sleep(0.05)
                chunk = self._file.read(size)
        except OSError as error:
            if self.ended and getattr(error, "stage", "") == "time":
                return b""  # it has said all that there is, and only keeps the connection
            self.failed = True
            raise
        return chunk


@contextmanager
def _opened(where: str, options: dict[str, Any]) -> Iterator[tuple[str, BinaryIO | Answer, str]]:
    """What to read: its name, the file, and the suffix that settles a tie between formats. Raises _UnreadableError."""
    if is_url(where):
        from mmsp_fsm.probe.client import shown_url

        name = shown_url(where)
        with _answer(where, name, options) as answer:
            yield name, answer, ".sse"
        return
    for given in ("prompt", "model", "data", "headers", "key", "insecure"):
        if options[given]:
            option = "header" if given == "headers" else given
            raise click.UsageError(f"--{option} is for a URL, and {where!r} is none (http:// or https://).")
    from mmsp_fsm.recordings.sources import Unreadable

    found = only_source(where)
    if not found:
        raise _UnreadableError(f"{where}: nothing is there")
    source = found[0]
    if isinstance(source, Unreadable):
        raise _UnreadableError(f"{source.source}: {source.message}")
    try:
        file = source.open()
    except OSError as error:
        raise _UnreadableError(f"{source.name}: {(error.strerror or str(error)).lower()}") from None
    with file:
        yield source.name, file, source.suffix


@contextmanager
def _answer(where: str, name: str, options: dict[str, Any]) -> Iterator[Answer]:
    """The server's answer, where it is a stream. Raises _UnreadableError."""
    from mmsp_fsm.probe.client import Answer, Patience, RequestError, TransportError
    from mmsp_fsm.probe.exchanges import refusal

    try:
        answer = Answer(_request(where, options), Patience(options["timeout"], verify=not options["insecure"]))
    except (RequestError, TransportError) as error:
        raise _UnreadableError(f"{name}: {error}") from None
    with answer:
        encoding = answer.header("content-encoding") or "identity"
        if answer.status != 200:
            raise _UnreadableError(f"{name}: the server answered {refusal(answer)}")
        if encoding.strip().lower() != "identity":
            raise _UnreadableError(
                f"{name}: the server sends the stream as {encoding!r}, and it was asked for plain bytes"
            )
        if (answer.header("content-type") or "").partition(";")[0].strip().lower() == "text/html":
            raise _UnreadableError(f"{name}: the server sends a web page, and no stream: is this the right URL?")
        yield answer


def _request(where: str, options: dict[str, Any]) -> Request:
    """The request that the options make. Raises a usage error, and RequestError."""
    from mmsp_fsm.grammar.loading import default
    from mmsp_fsm.probe.client import Request
    from mmsp_fsm.probe.requests import key_header, post, stream_body, stream_url, user_message

    prompt, model, data, key = (options[name] for name in ("prompt", "model", "data", "key"))
    if (prompt is None) != (model is None):
        raise click.UsageError("--prompt and --model go together.")
    if prompt is not None and data is not None:
        raise click.UsageError("--data is the whole body, and --prompt makes one: give either.")
    # The variable's key is for MMSP servers; any other URL would learn it.
    key = key or (os.environ.get(KEY_VARIABLE) if prompt is not None else None)
    headers = ((key_header(key),) if key else ()) + options["headers"]
    if prompt is not None:
        return post(stream_url(where), stream_body(model, [user_message(default(), prompt)]), headers)
    if data is not None:
        return post(where, _body(data), headers)
    return Request(where, headers=headers)


def _body(data: str) -> bytes:
    if not data.startswith("@"):
        return data.encode("utf-8", "surrogateescape")
    try:
        return sys.stdin.buffer.read() if data == "@-" else Path(data[1:]).read_bytes()
    except (OSError, ValueError, AttributeError) as error:
        raise _UnreadableError(f"{data[1:]}: {(getattr(error, 'strerror', None) or str(error)).lower()}") from None


@contextmanager
def _saving(save: str | None, where: str) -> Iterator[BinaryIO | None]:
    """Where the recording is kept. Raises _UnreadableError."""
    if save is None:
        yield None
        return
    try:
        if os.path.exists(where) and os.path.exists(save) and os.path.samefile(where, save):
            raise click.UsageError("--save would overwrite the recording that is read.")
        file = Path(save).open("wb", buffering=0)  # noqa: SIM115 - only opening it is looked after here
    except (OSError, ValueError) as error:
        raise _UnreadableError(f"{save}: {(getattr(error, 'strerror', None) or str(error)).lower()}") from None
    with file:
        yield file


def _watch(file: _Watched, live: LiveText, checking: CheckOptions, name: str, suffix: str, fail_on: str) -> int:
    """Print a stream to its end. What cuts it short is said after the verdict on what came."""
    from attrs import evolve

    from mmsp_fsm.recordings.reading import Recording, feed, finish
    from mmsp_fsm.recordings.sources import why

    checker = checking.checker()
    cut: OSError | None = None
    recording, seen = None, 0
    try:
        recording = Recording(
            cast(BinaryIO, file), checker.definition, checker.limits, suffix=suffix, format=checking.format
        )
        for record in recording:
            step = feed(checker, record)
            seen += len(step.diagnostics)
            live.step(step)
            file.ended = checker.outcome != "truncated"
    except BrokenPipeError:
        raise
    except OSError as error:
        if not file.failed:  # the output's, then
            raise
        cut = error
    if recording is not None:
        report = evolve(finish(checker, recording), source=name)
        live.end(report, seen)
        if cut is None:
            return VIOLATING if report.errors or (fail_on == "warning" and report.warnings) else CONFORMING
    complain(renderer_for(sys.stderr).complaint(f"{name}: {why(cut) if cut else 'nothing came'}"))
    return UNREADABLE
