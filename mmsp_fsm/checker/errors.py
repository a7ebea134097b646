"""The exceptions: one base class, and a subclass only where a caller would act differently.

`StreamFailedError` is a legal end (the producer said that it failed); `StreamProtocolError` is a stream that
breaks the protocol. Both carry what a program needs; their text is for people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mmsp_fsm.grammar.errors import MMSPError

if TYPE_CHECKING:
    from mmsp_fsm.checker.diagnostics import Diagnostic
    from mmsp_fsm.model.objects import DoneItem

PREVIEW_LENGTH = 160
"""Characters of a call's raw arguments that `ToolCallArgumentParseError` carries."""


class StreamFailedError(MMSPError):
    """A conforming stream that ended with an error: there is no message.

    `error` is the error record's object (`type`, `message` and whatever else), `done_items` the done items that
    came before it. Protocol, "On the wire".
    """

    def __init__(self, error: Mapping[str, object], done_items: Sequence[DoneItem] = ()) -> None:
        self.error = dict(error)
        self.done_items = tuple(done_items)
        super().__init__(f"the stream ended with {error.get('type')}: {error.get('message')}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.error, self.done_items)


class StreamProtocolError(MMSPError):
    """A stream that breaks the protocol. `diagnostics` says what, where, and what should have stood there."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(_sentence(self.diagnostics))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.diagnostics,)


class IncompleteStreamError(StreamProtocolError):
    """A stream that ended with neither stop nor error (E307): it was cut, and asking again may help."""


class ToolCallArgumentParseError(StreamProtocolError):
    """A call's done item stands where its joined arguments are no JSON object (E404, E405).

    `raw_arguments_length` counts characters; `raw_arguments_preview` holds the first and last of them. Protocol,
    "Tool calls".
    """

    def __init__(
        self, diagnostics: Sequence[Diagnostic], tool_name: str, tool_call_id: str, raw_arguments: str
    ) -> None:
        super().__init__(diagnostics)
        self.tool_name = tool_name
        self.tool_call_id = tool_call_id
        self.raw_arguments_length = len(raw_arguments)
        self.raw_arguments_preview = _preview(raw_arguments)
        self._raw_arguments = raw_arguments

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.diagnostics, self.tool_name, self.tool_call_id, self._raw_arguments)


class RefusedEventError(StreamProtocolError):
    """An event that a `StreamWriter` did not write, because the grammar forbids it there: the stream is still sound.

    `state` is the machine's state and `expected` the symbols that may stand there. Protocol, "Grammar".
    """

    def __init__(self, what: str, state: str, expected: Sequence[str], diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(diagnostics)
        self.what = what
        self.state = state
        self.expected = tuple(expected)
        reason = f": {_sentence(self.diagnostics)}" if self.diagnostics else ""
        may = " or ".join(self.expected) or "nothing"
        self.args = (f"{what} is refused in {state}, where {may} may stand{reason}",)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.what, self.state, self.expected, self.diagnostics)


def _preview(text: str) -> str:
    if len(text) <= PREVIEW_LENGTH:
        return text
    half = (PREVIEW_LENGTH - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def _sentence(diagnostics: Sequence[Diagnostic]) -> str:
    if not diagnostics:
        return "the stream breaks the protocol"
    first = next((d for d in diagnostics if d.severity == "error"), diagnostics[0])
    where = f"event {first.event}" + (f", line {first.line}" if first.line is not None else "")
    more = sum(d.severity == "error" for d in diagnostics) - 1
    tail = f" (and {more} more)" if more > 0 else ""
    return f"{first.code} at {where}: {first.message} [{first.rule.name}]{tail}"
