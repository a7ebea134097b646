"""The command line: what to check from the arguments, and the exit status. Rendering is `mmsp_fsm.output`'s."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

import click

from mmsp_fsm import __version__
from mmsp_fsm.errors import UnknownRuleError
from mmsp_fsm.limits import Limits

if TYPE_CHECKING:
    from mmsp_fsm.checker import Step
    from mmsp_fsm.diagnostics import StreamReport
    from mmsp_fsm.output.json import JsonDocument
    from mmsp_fsm.output.text import Renderer, TextRun
    from mmsp_fsm.recordings import Record, Source
    from mmsp_fsm.runs import Unreadable

CONFORMING, VIOLATING, UNREADABLE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141
"""The exit statuses. The last two are a shell's for SIGINT and SIGPIPE."""


def _examples(*lines: str) -> str:
    """An epilog of examples, each on a line of its own (click's mark for that is a backspace)."""
    return "\b\nExamples:\n" + "".join(f"  {line}\n" for line in lines) + "\n"


EXIT_STATUSES = """\b
Exit status:
  0  every stream conforms
  1  a stream violates the protocol (with --fail-on warning: or draws a warning)
  2  the command was misused, or something could not be read (2 beats 1)
  130 and 141: interrupted; the reader of the output left early"""

FORMATS = click.Choice(["jsonl", "json", "sse"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit. A reader that leaves early, Ctrl-C and an output that fails leave no traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # what an encoding cannot say is escaped instead of raising
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _invoke(list(sys.argv[1:] if arguments is None else arguments))
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        with suppress(OSError):
            error.show()
        status = error.exit_code
    except click.exceptions.Exit as error:
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted")
        status = INTERRUPTED
    except BrokenPipeError:
        _silence()
        status = BROKEN_PIPE
    except OSError as error:
        _silence()
        _complain(f"error: the output cannot be written: {error.strerror or error}")
        status = UNREADABLE
    sys.exit(status if isinstance(status, int) else 0)


def _invoke(arguments: list[str]) -> object:
    if "_MMSP_FSM_COMPLETE" in os.environ:  # a shell asks for completions, which click answers by itself
        command.main(args=arguments, prog_name="mmsp-fsm")
    # Not `command.main`: it would take a reader that leaves early for a failure of status 1, which is a violation's.
    with command.make_context("mmsp-fsm", arguments) as context:
        return command.invoke(context)


def _silence() -> None:
    """Let Python's own flush at exit go nowhere: it would fail again."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(sentence: str) -> None:
    # That it cannot be said must not change the exit status.
    with suppress(OSError):
        if sys.stderr is not None:
            sys.stderr.write(f"{sentence}\n")


def _words(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[str]:
    """Comma-separated words of an option that may be repeated."""
    return [word.strip() for value in values for word in value.split(",")]


def _at_least_one(name: str, help: str, default: int) -> Callable[[Any], Any]:
    return click.option(name, type=click.IntRange(min=1), default=default, show_default=True, help=help)


def reading_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that every command shares which reads recordings."""
    usual = Limits()
    for option in (
        _at_least_one("--max-diagnostics", "Errors shown, and warnings shown, of one stream.", usual.diagnostics),
        _at_least_one("--max-nesting", "Levels of objects and arrays in one record.", usual.nesting),
        _at_least_one("--max-group-bytes", "Bytes of one group's joined content.", usual.group_bytes),
        _at_least_one("--max-record-bytes", "Bytes of one record.", usual.record_bytes),
        click.option("--input-format", type=FORMATS, help="The recordings' format, instead of telling it."),
    ):
        function = option(function)
    return function


def rule_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that choose rules, for the commands whose answer is what was found."""
    for option in (
        click.option("--ignore", multiple=True, callback=_words, help="Rules or families not to look at."),
        click.option("--extend-select", multiple=True, callback=_words, help="More rules or families, such as W504."),
        click.option("--select", multiple=True, callback=_words, help="These rules or families only: E302,E4,W."),
    ):
        function = option(function)
    return function


class Reading:
    """What the shared options say: which rules, which limits, which format."""

    def __init__(self, options: dict[str, Any]) -> None:
        from mmsp_fsm.loading import default
        from mmsp_fsm.selection import selected

        chosen = [options.get(name, []) for name in ("select", "extend_select", "ignore")]
        try:
            self.rules = selected(default(), chosen[0] or None, chosen[1], chosen[2])
        except UnknownRuleError as error:
            raise click.UsageError(str(error)) from None
        self.format = options["input_format"]
        self.limits = Limits(
            record_bytes=options["max_record_bytes"],
            group_bytes=options["max_group_bytes"],
            nesting=options["max_nesting"],
            diagnostics=options["max_diagnostics"],
        )


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: mmsp-fsm validate trace.jsonl",
)
@click.version_option(__version__, prog_name="mmsp-fsm")
def command() -> None:
    """Check MMSP streams: what broke, where, and what should have stood there."""


@command.command(
    epilog=_examples(
        "mmsp-fsm validate trace.jsonl",
        "mmsp-fsm validate recordings/ --format json --extend-select W504",
        "curl -N https://server/v1/stream -d @request.json | mmsp-fsm validate -",
    )
    + EXIT_STATUSES
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--fail-on", type=click.Choice(["error", "warning"]), default="error", show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="Print diagnostics alone: no line for each stream, no totals.")
@rule_options
@reading_options
def validate(paths: tuple[str, ...], output: str, fail_on: str, quiet: bool, **options: Any) -> int:
    """Say of each recording whether it conforms.

    PATH is a file, a folder (searched for recordings), a glob, or - for standard input. A recording is JSON lines, one
    JSON array of events, or server-sent events; which one is told from its content.
    """
    from mmsp_fsm.runs import Summary, Unreadable

    reading = Reading(options)
    run = _run(output, quiet)
    summary, failed = Summary(), False
    run.begin()
    for one in _checked(_sources(paths), reading):
        run.add(one)
        summary = summary.plus(one)
        if not isinstance(one, Unreadable):
            failed = failed or bool(one.errors or (fail_on == "warning" and one.warnings))
    run.end(summary)
    return UNREADABLE if summary.unreadable else VIOLATING if failed else CONFORMING


@command.command(
    epilog=_examples("mmsp-fsm parse trace.sse | jq '.content_items[].type'")
    + "Exit status: 0 a message; 1 none, for the stream violates or failed; 2 it could not be read."
)
@click.argument("path")
@reading_options
def parse(path: str, **options: Any) -> int:
    """Print the message of a conforming recording as JSON.

    Where the stream violates the protocol there is no message: its diagnostics are printed on standard error. Where it
    conforms and ended with an error, that error and the done items before it are printed as JSON.
    """
    from mmsp_fsm.runs import Unreadable
    from mmsp_fsm.wire import to_json

    reading = Reading(options)
    status = CONFORMING
    for one in _checked(_only(path), reading, keep_message=True):
        if isinstance(one, Unreadable):
            _complain(_renderer(sys.stderr).unreadable(one))
            return UNREADABLE
        if one.message is not None:
            _print_json(to_json(one.message))
        elif one.error is not None:
            _print_json({"error": one.error, "done_items": [to_json(item) for item in one.done_items]})
            status = VIOLATING
        else:
            renderer = _renderer(sys.stderr)
            for line in (*renderer.stream(one), renderer.verdict(one)):
                _complain(line)
            status = VIOLATING
    return status


@command.command(epilog=_examples("mmsp-fsm trace trace.jsonl") + EXIT_STATUSES)
@click.argument("path")
@click.option("--fail-on", type=click.Choice(["error", "warning"]), default="error", show_default=True)
@rule_options
@reading_options
def trace(path: str, fail_on: str, **options: Any) -> int:
    """Print each event with the state before, the symbol, the action and the state after.

    What is wrong with an event stands below it.
    """
    from mmsp_fsm.diagnostics import StreamReport
    from mmsp_fsm.runs import Unreadable

    reading = Reading(options)
    out = _stream(sys.stdout)
    renderer = _renderer(out)
    status = CONFORMING
    for source in _only(path):
        if isinstance(source, Unreadable):
            _complain(renderer.unreadable(source))
            return UNREADABLE
        for step in _walked(source, reading):
            if isinstance(step, Unreadable):
                _complain(renderer.unreadable(step))
                return UNREADABLE
            if isinstance(step, StreamReport):
                status = VIOLATING if step.errors or (fail_on == "warning" and step.warnings) else status
            for line in renderer.ending(step) if isinstance(step, StreamReport) else renderer.step(*step):
                out.write(line + "\n")
    return status


@command.command(epilog=_examples("mmsp-fsm explain E302 done-content-mismatch"))
@click.argument("rules", nargs=-1, required=True, metavar="RULE...")
def explain(rules: tuple[str, ...]) -> int:
    """Say why a rule exists, show a bad and a good stream, and how a producer mends it.

    RULE is a code or a name.
    """
    from mmsp_fsm.loading import default
    from mmsp_fsm.output.rules import explained
    from mmsp_fsm.selection import find_rule

    try:
        chosen = [find_rule(default(), name) for name in rules]
    except UnknownRuleError as error:
        raise click.UsageError(str(error)) from None
    _stream(sys.stdout).write("\n\n".join("\n".join(explained(rule)) for rule in chosen) + "\n")
    return CONFORMING


@command.command(name="rules", epilog=_examples("mmsp-fsm rules | grep warning"))
def list_rules() -> int:
    """List all rules: code, name, severity, and what each reports."""
    from mmsp_fsm.loading import default
    from mmsp_fsm.output.rules import listed, table

    out = _stream(sys.stdout)
    if _is_terminal(out):
        from rich.console import Console

        Console().print(table(default().rules.values()))
    else:
        out.writelines(f"{line}\n" for line in listed(default().rules.values()))
    return CONFORMING


# ── What the commands share ──────────────────────────────────────────────────────────────────────────────────────


def _sources(paths: Iterable[str]) -> Iterator[Source | Unreadable]:
    from mmsp_fsm.recordings import find_sources

    return find_sources(paths)


def _only(path: str) -> list[Source | Unreadable]:
    """The one source that `path` stands for; a folder or a glob of several is a misuse."""
    found = list(islice(_sources([path]), 2))
    if len(found) > 1:
        raise click.UsageError(f"{path!r} stands for several recordings, and one is due.")
    return found


def _renderer(stream: TextIO | None) -> Renderer:
    from mmsp_fsm.output.text import Renderer

    return Renderer(color=_colorful(stream), ascii_only=stream is not None and not _says_unicode(stream))


def _checked(
    sources: Iterable[Source | Unreadable], reading: Reading, keep_message: bool = False
) -> Iterator[StreamReport | Unreadable]:
    """The report of each source; what cannot be read is said, and the others go on."""
    from mmsp_fsm.recordings import check_source
    from mmsp_fsm.runs import Unreadable

    for source in sources:
        if isinstance(source, Unreadable):
            yield source
            continue
        try:
            yield check_source(
                source,
                format=reading.format,
                rules=reading.rules,
                limits=reading.limits,
                keep_message=keep_message,
            )
        except OSError as error:
            yield Unreadable(source.name, (error.strerror or str(error)).lower())


def _walked(source: Source, reading: Reading) -> Iterator[tuple[Record, Step] | StreamReport | Unreadable]:
    """The steps of a source and its report; last why it could not be read to its end."""
    from mmsp_fsm.recordings import walk_source
    from mmsp_fsm.runs import Unreadable

    walk = walk_source(source, format=reading.format, rules=reading.rules, limits=reading.limits)
    while True:
        try:
            yield next(walk)
        except StopIteration:
            return
        except OSError as error:
            yield Unreadable(source.name, (error.strerror or str(error)).lower())
            return


def _run(output: str, quiet: bool) -> JsonDocument | TextRun:
    from mmsp_fsm.output.json import JsonDocument
    from mmsp_fsm.output.text import TextRun

    out = _stream(sys.stdout)
    if output == "json":
        return JsonDocument(out, ascii_only=not _says_unicode(out))
    return TextRun(out, _complain, color=_colorful(out), ascii_only=not _says_unicode(out), quiet=quiet)


def _stream(stream: TextIO | None) -> TextIO:
    if stream is None:
        raise OSError("standard output is closed")
    return stream


def _print_json(value: Any) -> None:
    from mmsp_fsm.output.json import json_text

    out = _stream(sys.stdout)
    out.write(json_text(value, ascii_only=not _says_unicode(out), indent=2) + "\n")


def _says_unicode(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "") in ("utf8", "utf8sig")


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # it is closed
        return False


def _colorful(stream: TextIO | None) -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR is set (https://no-color.org) or it is a dumb one."""
    return _is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
