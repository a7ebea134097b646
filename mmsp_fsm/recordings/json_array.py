"""Cutting a JSON array into its elements by brackets, strings and commas alone, so that broken ones can be cut too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import evolve, frozen

from mmsp_fsm.model.json_values import WHITE

# All that stands before the next bracket, or comma, that is in no string. Possessive, for there is nothing to go back
# for: a string of a million escapes would otherwise cost a backtracking point each.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+'
_TO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|' + _STRING + rb")*+([\[\]{}]?)", re.DOTALL)
_TO_COMMA = re.compile(rb'(?:[^"\[\]{},]++|' + _STRING + rb")*+([\[\]{},]?)", re.DOTALL)
_OPENER = {b"]": ord("["), b"}": ord("{")}

_SPACE = re.compile(rb"[ \t\r\n]*+")


@frozen
class Element:
    """Where an element stands in the text; `fault` says why what stands there is none."""

    start: int
    end: int
    fault: str | None = None


def elements(text: bytes) -> Iterator[Element]:
    """The elements of the array that `text` should be. What keeps the whole from being an array is given in its place,
    once for each fault: a comma too many, a tear, or what follows the end.
    """
    all_of_it = _trim(text, 0, len(text))
    if all_of_it is None:
        return
    if text[all_of_it.start : all_of_it.start + 1] == b"[":
        yield from _inside(text, all_of_it.start + 1)
    else:
        yield Element(all_of_it.start, all_of_it.end, "this is no JSON array: it does not begin with a bracket")


def _inside(text: bytes, at: int) -> Iterator[Element]:
    opened = bytearray(b"[")
    start = whole = at  # where this element begins, and where a bracket closed what may be all of it
    broken = False  # whether its brackets do not fit
    comma: int | None = None  # the one before it
    told = False  # whether that one was told of: a row of commas is one fault
    while True:
        match = (_TO_COMMA if len(opened) == 1 else _TO_BRACKET).match(text, at)
        token, at = (match[1], match.end()) if match else (b"", len(text))
        if not token:
            yield from _torn(text, start, start if broken else whole)
            return
        if token in b"[{":
            opened += token
        elif len(opened) > 1:
            broken = opened.pop() != _OPENER[token] or broken
            whole = at if len(opened) == 1 else whole
        elif token == b"}":
            broken = True  # a stray one is part of its element
        else:
            lone = at - 1 if token == b"," else comma
            if element := _trim(text, start, at - 1):
                yield element
                told = False
            elif lone is not None and not told:
                yield Element(lone, lone + 1, "a comma stands here without an element")
                told = True
            comma, start, whole, broken = at - 1, at, at, False
            if token == b"]":
                break
    if rest := _trim(text, at, len(text)):
        yield evolve(rest, fault="something follows the end of the array")


def _torn(text: bytes, start: int, whole: int) -> Iterator[Element]:
    """What stands after the last comma of an array that does not end: one fault, after an element that is whole."""
    rest = _trim(text, whole, len(text))
    if whole > start and rest is None:
        yield Element(_begin(text, start), whole)
    else:
        rest = _trim(text, start, len(text))
    rest = rest or Element(len(text), len(text))
    yield evolve(rest, fault="the array is torn: the recording ends inside it")


def _trim(text: bytes, start: int, end: int) -> Element | None:
    """What stands between two offsets, without the white space around it; None where nothing does."""
    start = _begin(text, start)
    return Element(start, start + len(text[start:end].rstrip(WHITE))) if start < end else None


def _begin(text: bytes, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start
