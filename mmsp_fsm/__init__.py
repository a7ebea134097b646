"""Conformance checking of MMSP streams: what broke, where, and what should have stood there.

    report = mmsp_fsm.validate("trace.jsonl")   # a path, bytes, an open file, or an iterable of events
    message = mmsp_fsm.parse("trace.jsonl")     # UniMessage; raises StreamProtocolError
    for event in mmsp_fsm.enforce(stream): ...  # passes events on, raises at the first violation

    checker = mmsp_fsm.StreamChecker()          # sans I/O, for everything else
    step = checker.feed(event)
    report = checker.close()

Names are imported when they are first used, so that a program pays for what it takes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mmsp_fsm.version import VERSION

if TYPE_CHECKING:
    from mmsp_fsm.api import parse, validate
    from mmsp_fsm.checker.checker import StreamChecker
    from mmsp_fsm.checker.diagnostics import Diagnostic, Related, StreamReport
    from mmsp_fsm.checker.errors import (
        IncompleteStreamError,
        RefusedEventError,
        StreamFailedError,
        StreamProtocolError,
        ToolCallArgumentParseError,
    )
    from mmsp_fsm.checker.step import Step
    from mmsp_fsm.engines.results import Summary
    from mmsp_fsm.grammar.errors import DefinitionError, MMSPError, UnknownRuleError
    from mmsp_fsm.live.enforce import enforce
    from mmsp_fsm.live.unparse import unparse
    from mmsp_fsm.live.writer import StreamWriter
    from mmsp_fsm.machine.limits import Limits
    from mmsp_fsm.model.objects import UniEvent, UniMessage, UsageMetadata
    from mmsp_fsm.recordings.sources import Unreadable
    from mmsp_fsm.testing.assertions import assert_conforms

__version__ = VERSION

__all__ = [
    "DefinitionError",
    "Diagnostic",
    "IncompleteStreamError",
    "Limits",
    "MMSPError",
    "RefusedEventError",
    "Related",
    "Step",
    "StreamChecker",
    "StreamFailedError",
    "StreamProtocolError",
    "StreamReport",
    "StreamWriter",
    "Summary",
    "ToolCallArgumentParseError",
    "UniEvent",
    "UniMessage",
    "UnknownRuleError",
    "Unreadable",
    "UsageMetadata",
    "__version__",
    "assert_conforms",
    "enforce",
    "parse",
    "unparse",
    "validate",
]

_HOMES = {
    "api": ("parse", "validate"),
    "checker.checker": ("StreamChecker",),
    "checker.step": ("Step",),
    "checker.diagnostics": ("Diagnostic", "Related", "StreamReport"),
    "testing.assertions": ("assert_conforms",),
    "live.enforce": ("enforce",),
    "live.unparse": ("unparse",),
    "live.writer": ("StreamWriter",),
    "checker.errors": (
        "IncompleteStreamError",
        "RefusedEventError",
        "StreamFailedError",
        "StreamProtocolError",
        "ToolCallArgumentParseError",
    ),
    "grammar.errors": ("DefinitionError", "MMSPError", "UnknownRuleError"),
    "machine.limits": ("Limits",),
    "engines.results": ("Summary",),
    "recordings.sources": ("Unreadable",),
    "model.objects": ("UniEvent", "UniMessage", "UsageMetadata"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
