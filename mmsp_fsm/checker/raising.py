"""Which exception a stream without a message becomes."""

from __future__ import annotations

from collections.abc import Sequence

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import Diagnostic
from mmsp_fsm.checker.errors import (
    IncompleteStreamError,
    StreamFailedError,
    StreamProtocolError,
    ToolCallArgumentParseError,
)
from mmsp_fsm.grammar.errors import MMSPError
from mmsp_fsm.model.json_values import join_text


def exception_of(checker: StreamChecker) -> MMSPError | None:
    """What to raise for the stream that `checker` closed; None where it has a message.

    The first error decides. A violation of a rule that is not selected counts too: it leaves no message either.
    """
    report = checker.close()
    if report.message is not None:
        return None
    if report.error is not None:
        return StreamFailedError(report.error, report.done_items)
    return protocol_error(checker, report.diagnostics)


def protocol_error(checker: StreamChecker, diagnostics: Sequence[Diagnostic]) -> StreamProtocolError:
    """The exception that carries `diagnostics`, of which the first error decides the class."""
    definition = checker.definition
    guards = (guard for cell in definition.cells.values() for guard in cell.guards)
    unparsable = {guard.rule for guard in guards if guard.when in ("not_json", "not_an_object")}
    first = next((one.code for one in diagnostics if one.severity == "error"), None)
    group = checker.unparsed
    if group is not None and first in unparsable:
        name = next((value for key, value in group.header.items() if key != group.kind.told_by), "")
        raw = join_text(group.pieces)
        return ToolCallArgumentParseError(diagnostics, name if isinstance(name, str) else "", group.told_by, raw)
    if first in definition.cells[definition.initial.name, "end"].rules:
        return IncompleteStreamError(diagnostics)
    return StreamProtocolError(diagnostics)
