"""Which rules are looked at: codes, names and families (`E3`), chosen as linters do."""

from __future__ import annotations

from collections.abc import Iterable

from mmsp_fsm.grammar.definition import Definition, Rule
from mmsp_fsm.grammar.errors import UnknownRuleError


def selected(
    definition: Definition,
    select: Iterable[str] | None = None,
    extend_select: Iterable[str] = (),
    ignore: Iterable[str] = (),
) -> frozenset[str]:
    """The codes of the rules to report.

    `select` replaces the rules that are on by default, `extend_select` adds to them, `ignore` takes away, last. Each
    word is a code, a rule's name, the beginning of a code (a family: `E`, `E4`, `W51`) or `ALL`. Raises
    `UnknownRuleError` for a word that is none of these, TypeError for what are no words.
    """
    chosen = set(definition.default_rules) if select is None else _codes(definition, select)
    return frozenset((chosen | _codes(definition, extend_select)) - _codes(definition, ignore))


def find_rule(definition: Definition, name: str) -> Rule:
    """The rule with this code or name, in any case. Raises `UnknownRuleError`, which names the nearest."""
    wanted = name.strip()
    for rule in definition.rules.values():
        if wanted.upper() == rule.code or wanted.lower() == rule.name:
            return rule
    known = [*definition.rules, *(rule.name for rule in definition.rules.values())]
    from difflib import get_close_matches

    near = get_close_matches(wanted.upper(), known, 1) or get_close_matches(wanted.lower(), known, 1)
    raise UnknownRuleError(f"there is no rule {wanted!r}" + (f"; did you mean {near[0]}?" if near else ""))


def _codes(definition: Definition, words: Iterable[str]) -> set[str]:
    each = [words] if isinstance(words, str) else words
    if not isinstance(each, Iterable):
        raise TypeError(f"rules are chosen by a word or several, not by {words!r}")
    return {code for word in each for code in _family(definition, str(word).strip())}


def _family(definition: Definition, word: str) -> list[str]:
    if word.upper() == "ALL":
        return list(definition.rules)
    family = [code for code in definition.rules if word and code.startswith(word.upper())]
    if family:
        return family
    if not word:
        raise UnknownRuleError("a rule's code, name or family is due, and here is nothing")
    return [find_rule(definition, word).code]
