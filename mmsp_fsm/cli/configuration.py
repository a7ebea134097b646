"""Configuration files: `mmsp-fsm.toml`, or the table `[tool.mmsp-fsm]` of a `pyproject.toml`.

Keys are named as the long options of `validate`, without the dashes, so that an option is a key as soon as it exists.
The nearest file counts, from the current folder upwards, and the command line comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from attrs import frozen

OWN, SHARED_FILE = "mmsp-fsm.toml", "pyproject.toml"
"""Where configuration is looked for in a folder, in this order."""

TABLE = ("tool", "mmsp-fsm")
"""The table of `pyproject.toml`."""

_RULES = "mmsp_fsm.configured_rules"
_WORDS = {"select": "select", "extend-select": "extend_select", "ignore": "ignore"}
"""The keys that hold rules, and what `selected` calls them."""

_ONLY_FOR_VALIDATE = {"format", "statistics", "quiet"}
"""Options that another command has under the same name and with another meaning."""


def configuration_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--config` and `--isolated`, for a `ConfiguredCommand`."""
    for option in (
        click.option("--isolated", is_flag=True, expose_value=False, help="Read no configuration file."),
        click.option("--config", metavar="FILE", expose_value=False, help="Read this file, and look for no other."),
    ):
        function = option(function)
    return function


class ConfiguredCommand(click.Command):
    """A command whose options have the defaults that a configuration file gives them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the file that is due, and then the arguments. Raises a usage error for a file with a fault."""
        if not ctx.resilient_parsing:
            given = self.make_parser(ctx).parse_args(list(args))[0]
            asks = self.get_help_option(ctx)
            if asks is None or not given.get(asks.name or ""):
                self._configure(ctx, given.get("config"), bool(given.get("isolated")))
        return super().parse_args(ctx, args)

    def _configure(self, ctx: click.Context, config: str | None, isolated: bool) -> None:
        if config is not None and isolated:
            raise click.UsageError("--config and --isolated contradict each other.", ctx)
        file = None if isolated else _nearest() if config is None else _named(Path(config))
        if file is None:
            return
        validate = _validate(ctx, self)
        values = _checked(file, ctx, validate)
        rules = {_WORDS[key]: values.pop(key) for key in _WORDS if key in values}
        ctx.meta[_RULES] = _selected(file, rules) if rules else None
        mine = {key: option for key, option in _keys(self).items() if self is validate or key not in _ONLY_FOR_VALIDATE}
        ctx.default_map = {option.name: values[key] for key, option in mine.items() if key in values and option.name}


def configured_rules() -> frozenset[str] | None:
    """The codes that the configuration of the running command chose; None where it chose none."""
    ctx = click.get_current_context(silent=True)
    rules: frozenset[str] | None = ctx.meta.get(_RULES) if ctx is not None else None
    return rules


# ── Finding the file ─────────────────────────────────────────────────────────────────────────────────────────────


@frozen
class _File:
    """A configuration file: its path, the table that the keys stand in (as its name is printed), and what it holds."""

    path: str
    table: str
    values: dict[str, Any]

    def error(self, key: str, what: str) -> click.UsageError:
        """A fault of a key."""
        return click.UsageError(f"{self.path}: {self.table}{key}: {what}")


def _nearest() -> _File | None:
    """The file in the current folder or the nearest one above it that has one."""
    try:
        here = Path.cwd()
    except OSError:  # the folder was removed meanwhile
        return None
    for folder in (here, *here.parents):
        for name in (OWN, SHARED_FILE):
            file = _read(folder / name, _shown(folder / name, here), passed_over=True)
            if file is not None:
                return file
    return None


def _shown(path: Path, here: Path) -> str:
    return path.name if path.parent == here else str(path)


def _named(path: Path) -> _File:
    """The file that `--config` names: there must be one, and if it is a `pyproject.toml`, it must have the table."""
    file = _read(path, str(path), passed_over=False)
    if file is None:
        raise click.UsageError(f"{path}: there is no table [{'.'.join(TABLE)}] in it.")
    return file


def _read(path: Path, shown: str, *, passed_over: bool) -> _File | None:
    """What a file holds, or None where it is no configuration file. `passed_over` says that it need not be one."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        if passed_over:
            return None
        raise click.UsageError(f"{shown}: {(error.strerror or str(error)).lower()}") from None
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{shown}: {getattr(error, 'strerror', None) or error}") from None
    shared = path.name == SHARED_FILE
    if shared and TABLE[-1].encode() not in data:  # most are somebody else's, and reading TOML takes time
        return None
    values = _parse(data, shown)
    if not shared:
        return _File(shown, "", values)
    table: Any = values
    for name in TABLE:
        table = table.get(name) if isinstance(table, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise click.UsageError(f"{shown}: {'.'.join(TABLE)}: a table is due, not {_typed(table)}")
    return _File(shown, f"{'.'.join(TABLE)}.", table)


def _parse(data: bytes, shown: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{shown}: this is not TOML: {error}") from None


# ── Its values ───────────────────────────────────────────────────────────────────────────────────────────────────


def _keys(command: click.Command) -> dict[str, click.Option]:
    """The options of a command by their keys."""
    return {
        name.removeprefix("--"): option
        for option in command.params
        if isinstance(option, click.Option)
        for name in option.opts
        if name.startswith("--") and name not in ("--config", "--isolated", "--help")
    }


def _validate(ctx: click.Context, running: click.Command) -> click.Command:
    """The command whose options are the keys of a file, whichever command is `running`."""
    root = ctx.find_root().command
    found = root.get_command(ctx, "validate") if isinstance(root, click.Group) else None
    return found or running


def _checked(file: _File, ctx: click.Context, validate: click.Command) -> dict[str, Any]:
    """The values of a file, each as its option takes it. Raises a usage error that names the file and the key."""
    keys = _keys(validate)
    values = {}
    for key, value in file.values.items():
        if key not in keys:
            from difflib import get_close_matches

            near = get_close_matches(key.replace("_", "-"), keys, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; the keys are {', '.join(sorted(keys))}"
            if key == TABLE[0] and not file.table:
                hint = f"; in this file the keys stand at the top, without [{'.'.join(TABLE)}]"
            raise file.error(_printable(key), f"there is no such key{hint}")
        values[key] = _converted(file, key, value, keys[key], ctx)
    return values


def _converted(file: _File, key: str, value: Any, option: click.Option, ctx: click.Context) -> Any:
    words = [value] if option.multiple and isinstance(value, str) else value
    due = _due(option)
    if option.multiple and not (isinstance(words, list) and all(isinstance(word, str) for word in words)):
        raise file.error(key, f"an array of strings is due, not {_typed(value)}")
    if not option.multiple and type(value) is not due:
        raise file.error(key, f"{_NAMES[due]} is due, not {_typed(value)}")
    if key == "select" and not words:
        raise file.error(key, "no rule is named; leave the key out for the usual rules")
    try:
        for word in words if option.multiple else [words]:
            option.type.convert(word, option, ctx)
        if option.callback is not None:
            option.callback(ctx, option, tuple(words) if option.multiple else words)
    except click.BadParameter as error:
        raise file.error(key, error.message) from None
    return words


_NAMES: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}


def _due(option: click.Option) -> type:
    if option.is_flag:
        return bool
    if isinstance(option.type, (click.IntRange, type(click.INT))):
        return int
    return float if isinstance(option.type, (click.FloatRange, type(click.FLOAT))) else str


def _typed(value: Any) -> str:
    names = {dict: "a table", list: "an array", **_NAMES}
    if isinstance(value, (str, bool, int, float)):
        shown = str(value).lower() if isinstance(value, bool) else repr(value)
        return shown if len(shown) <= 80 else names[type(value)]
    return names.get(type(value), "a date or a time")


def _printable(key: str) -> str:
    from mmsp_fsm.output.escaping import clip

    return clip(key, 80)


def _selected(file: _File, rules: dict[str, list[str]]) -> frozenset[str]:
    """The rules that a file chooses: a layer below the command line, which takes them as the usual ones."""
    from mmsp_fsm.grammar.errors import UnknownRuleError
    from mmsp_fsm.grammar.loading import default
    from mmsp_fsm.grammar.selection import selected

    split = {name: [word.strip() for one in words for word in one.split(",")] for name, words in rules.items()}
    for key, name in _WORDS.items():
        try:
            selected(default(), split.get(name, ()))
        except UnknownRuleError as error:
            raise file.error(key, str(error)) from None
    return selected(default(), **split)
