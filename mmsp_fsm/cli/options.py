"""What the commands have in common: their options, their exit statuses, and the reading of recordings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

import click
from attrs import evolve

from mmsp_fsm.cli.configuration import configured_rules
from mmsp_fsm.grammar.errors import UnknownRuleError
from mmsp_fsm.machine.limits import Limits

if TYPE_CHECKING:
    from mmsp_fsm.engines.checking import CheckOptions
    from mmsp_fsm.engines.results import Found
    from mmsp_fsm.recordings.sources import Source, Unreadable

CONFORMING, VIOLATING, UNREADABLE = 0, 1, 2
"""The exit statuses that say what was found; 2 is a misuse, too, and beats 1."""


class FiniteRange(click.FloatRange):
    """Numbers of a range; NaN, which is in none and beyond none, is no number here."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number. Fails as click's types do."""
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value!r} is no finite number.", param, ctx)
        return number


def examples(*lines: str) -> str:
    """An epilog of examples, each on a line of its own (click's mark for that is a backspace)."""
    return "\b\nExamples:\n" + "".join(f"  {line}\n" for line in lines) + "\n"


EXIT_STATUSES = """\b
Exit status:
  0  every stream conforms
  1  a stream violates the protocol (with --fail-on warning: or draws a warning)
  2  the command was misused, or something could not be read (2 beats 1)
  130 and 141: interrupted; the reader of the output left early"""

FORMATS = click.Choice(["jsonl", "json", "sse"])


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


def _address(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"https?://[!-~]+", value):
        raise click.BadParameter("an address that begins with https:// is due, without blanks.")
    return value


docs_url_option = click.option(
    "--docs-url",
    callback=_address,
    metavar="URL",
    help="Where the pages of `mmsp-fsm docs` are: rules then lead there (terminal, SARIF, pictures).",
)


def split_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that tell several streams in one recording apart."""
    usual = 10_000
    for option in (
        _at_least_one("--max-open", "Streams of a log kept open; beyond, the one idle longest is closed.", usual),
        click.option("--event", callback=_pointer, default="/event", show_default=True, metavar="POINTER",
                     help="Where a line of a log holds its event."),
        click.option("--stream-key", callback=_pointer, metavar="POINTER",
                     help="Where a line of a log names its stream, such as /request."),
        click.option("--split", type=click.Choice(["stop", "key"]),
                     help="A recording holds several streams: each ends after its stop or error, or bears a key."),
    ):  # fmt: skip
        function = option(function)
    return function


def _pointer(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value and not re.fullmatch(r"(?:/(?:[^~/]|~[01])*)+", value):
        raise click.BadParameter(f"{value!r} is no JSON pointer (RFC 6901), such as /request or /data/event.")
    return value


RULE_OPTIONS = ("select", "extend_select", "ignore")


def rule_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that choose rules, for the commands whose answer is what was found."""
    for option in (
        click.option("--ignore", multiple=True, callback=_words, help="Rules or families not to look at."),
        click.option("--extend-select", multiple=True, callback=_words, help="More rules or families, such as W504."),
        click.option("--select", multiple=True, callback=_words, help="These rules or families only: E302,E4,W."),
    ):
        function = option(function)
    return function


def check_options(options: dict[str, Any], *, keep_message: bool = False) -> CheckOptions:
    """What the shared options say: rules, limits, format. Raises a usage error for a rule that does not exist."""
    from mmsp_fsm.engines.checking import CheckOptions
    from mmsp_fsm.grammar.loading import default
    from mmsp_fsm.grammar.selection import selected

    chosen = [options.get(name, []) for name in RULE_OPTIONS]
    try:
        rules = selected(default(), chosen[0] or configured_rules(), chosen[1], chosen[2])
    except UnknownRuleError as error:
        raise click.UsageError(str(error)) from None
    limits = Limits(
        record_bytes=options["max_record_bytes"],
        group_bytes=options["max_group_bytes"],
        nesting=options["max_nesting"],
        diagnostics=options["max_diagnostics"],
    )
    split, key = options.get("split"), options.get("stream_key")
    if (split == "key") != (key is not None):
        raise click.UsageError("--split key and --stream-key belong together: the one needs the other.")
    read = CheckOptions(rules, limits, options["input_format"], keep_message)
    if split is None:
        return read
    return evolve(read, split=split, stream_key=key or "", event=options["event"], max_open=options["max_open"])


def sources_of(paths: Iterable[str]) -> Iterator[Source | Unreadable]:
    """The recordings that the arguments stand for."""
    from mmsp_fsm.recordings.sources import find_sources

    return find_sources(paths)


def only_source(path: str) -> list[Source | Unreadable]:
    """The one source that `path` stands for; a folder or a glob of several is a misuse."""
    found = list(islice(sources_of([path]), 2))
    if len(found) > 1:
        raise click.UsageError(f"{path!r} stands for several recordings, and one is due.")
    return found


def checked(sources: Iterable[Source | Unreadable], options: CheckOptions) -> Iterator[Found]:
    """The reports of each source; what cannot be read is said, and the others go on."""
    from mmsp_fsm.engines.checking import check_source
    from mmsp_fsm.engines.parts import joined
    from mmsp_fsm.recordings.sources import Unreadable

    for source in sources:
        if isinstance(source, Unreadable):
            yield source
        else:
            yield from joined(check_source(source, options))
