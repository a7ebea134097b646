"""The catalogue of cases, and the prompts that they send: `cases.toml` as plain values."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from attrs import frozen


@frozen
class Case:
    """One demand on a server: stable `code` and `name`, what passes, and who suffers otherwise.

    `severity` is `error` where the protocol, server-sent events or HTTP demand it, `warning` where it is advice.
    """

    code: str
    name: str
    sends: str
    demands: str
    why: str
    shown_by: str = "an answer"
    severity: Literal["error", "warning"] = "error"


@frozen
class Catalogue:
    """All cases by code, the prompts by name, and the tool that is offered."""

    cases: dict[str, Case]
    prompts: dict[str, str]
    tool: dict[str, Any]


@cache
def catalogue() -> Catalogue:
    """The packaged catalogue, read once."""
    value = tomllib.loads(files("mmsp_fsm.probe").joinpath("cases.toml").read_text(encoding="utf-8"))
    return Catalogue({one["code"]: Case(**one) for one in value["case"]}, value["prompts"], value["tool"])


def find_cases(words: list[str]) -> list[Case]:
    """The cases that `words` choose, in the catalogue's order: codes, names or families (`P3`); all without words.

    Raises ValueError, which names the word, for one that chooses nothing.
    """
    cases = list(catalogue().cases.values())
    if not words:
        return cases
    chosen = set()
    for word in words:
        found = {one.code for one in cases if word and (one.code.startswith(word.upper()) or one.name == word.lower())}
        if not found:
            raise ValueError(f"there is no case {word!r}; `mmsp-fsm probe --list` shows all")
        chosen |= found
    return [one for one in cases if one.code in chosen]
