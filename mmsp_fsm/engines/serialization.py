"""Parcels: results on their way from one process to another, as few bytes.

A diagnostic holds its rule, and a rule pages of text: it travels as its code.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from typing import Any

from mmsp_fsm.grammar.definition import Rule
from mmsp_fsm.grammar.loading import default


def pack(value: Any) -> bytes:
    """`value` as bytes."""
    out = io.BytesIO()
    pickler = pickle.Pickler(out, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {**copyreg.dispatch_table, Rule: _reduce}
    pickler.dump(value)
    return out.getvalue()


def unpack(data: bytes | memoryview) -> Any:
    """The value that was packed, by this very program."""
    return pickle.loads(data)


def _reduce(rule: Rule) -> Any:
    if default().rules.get(rule.code) is rule:
        return rule_of, (rule.code,)
    return rule.__reduce_ex__(pickle.HIGHEST_PROTOCOL)


def rule_of(code: str) -> Rule:
    """The rule with this code."""
    return default().rules[code]
