"""Cutting a JSON array into its elements by brackets, strings and commas alone, so that broken ones can be cut too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

# All that stands before the next bracket, or comma, that is in no string. Possessive, for there is nothing to go back
# for: a string of a million escapes would otherwise cost a backtracking point each.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+'
_TO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|' + _STRING + rb")*+([\[\]{}]?)", re.DOTALL)
_TO_COMMA = re.compile(rb'(?:[^"\[\]{},]++|' + _STRING + rb")*+([\[\]{},]?)", re.DOTALL)
_OPENER = {b"]": ord("["), b"}": ord("{")}

_SPACE = re.compile(rb"[ \t\r\n]*+")
_WHITE = b" \t\r\n"


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
    separator: Element | None = None  # the comma before it
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
            element = _trim(text, start, at - 1)
            comma = Element(at - 1, at, "a comma stands here without an element")
            if element is not None:
                yield element
            elif separator is None and token == b",":
                yield comma
            elif separator is not None and not separator.fault:
                ...
