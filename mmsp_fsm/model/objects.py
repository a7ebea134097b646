# Made by `make generate` from grammar/mmsp.toml; an edit here is lost.
"""The objects of MMSP 0.5 as attrs classes: items, events, usage and the message.

An item's class tells its kind and whether it is a fragment or the done item, so `match` and mypy can tell
them apart: `case TextDeltaItem(text=text): ...`. How they travel as JSON is in `mmsp_fsm.model.wire` alone.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from attrs import define

FinishReason = Literal["stop", "length", "tool_call", "unknown"]
EventType = Literal["delta", "stop"]
Role = Literal["assistant"]


@define(kw_only=True)
class TextDeltaItem:
    """A fragment of a `text` group. Protocol, "Items"."""

    type: ClassVar[Literal["text.delta"]] = "text.delta"
    text: str
    fidelity: dict[str, Any] | None = None


@define(kw_only=True)
class TextDoneItem:
    """The done item of a `text` group. Protocol, "Items"."""

    type: ClassVar[Literal["text.done"]] = "text.done"
    text: str
    fidelity: dict[str, Any] | None = None


@define(kw_only=True)
class ThinkingDeltaItem:
    """A fragment of a `thinking` group. Protocol, "Items"."""

    type: ClassVar[Literal["thinking.delta"]] = "thinking.delta"
    thinking: str
    fidelity: dict[str, Any] | None = None


@define(kw_only=True)
class ThinkingDoneItem:
    """The done item of a `thinking` group. Protocol, "Items"."""

    type: ClassVar[Literal["thinking.done"]] = "thinking.done"
    thinking: str
    fidelity: dict[str, Any] | None = None


@define(kw_only=True)
class ToolCallDeltaItem:
    """A fragment of a `tool_call` group. Protocol, "Items"."""

    type: ClassVar[Literal["tool_call.delta"]] = "tool_call.delta"
    name: str = ""
    tool_call_id: str = ""
    arguments: str
    fidelity: dict[str, Any] | None = None


@define(kw_only=True)
class ToolCallDoneItem:
    """The done item of a `tool_call` group. Protocol, "Items"."""

    type: ClassVar[Literal["tool_call.done"]] = "tool_call.done"
    name: str
    tool_call_id: str
    arguments: dict[str, Any]
    fidelity: dict[str, Any] | None = None


@define(kw_only=True)
class InlineDataDeltaItem:
    """A fragment of a `inline_data` group. Protocol, "Items"."""

    type: ClassVar[Literal["inline_data.delta"]] = "inline_data.delta"
    data: bytes
    mime_type: str | None = None
    fidelity: dict[str, Any] | None = None


@define(kw_only=True)
class InlineDataDoneItem:
    """The done item of a `inline_data` group. Protocol, "Items"."""

    type: ClassVar[Literal["inline_data.done"]] = "inline_data.done"
    data: bytes
    mime_type: str | None = None
    fidelity: dict[str, Any] | None = None


@define(kw_only=True)
class InlineThinkingDeltaItem:
    """A fragment of a `inline_thinking` group. Protocol, "Items"."""

    type: ClassVar[Literal["inline_thinking.delta"]] = "inline_thinking.delta"
    data: bytes
    mime_type: str | None = None
    fidelity: dict[str, Any] | None = None


@define(kw_only=True)
class InlineThinkingDoneItem:
    """The done item of a `inline_thinking` group. Protocol, "Items"."""

    type: ClassVar[Literal["inline_thinking.done"]] = "inline_thinking.done"
    data: bytes
    mime_type: str | None = None
    fidelity: dict[str, Any] | None = None


@define(kw_only=True)
class EmbeddingDeltaItem:
    """A fragment of a `embedding` group. Protocol, "Items"."""

    type: ClassVar[Literal["embedding.delta"]] = "embedding.delta"
    embedding: list[float]
    fidelity: dict[str, Any] | None = None


@define(kw_only=True)
class EmbeddingDoneItem:
    """The done item of a `embedding` group. Protocol, "Items"."""

    type: ClassVar[Literal["embedding.done"]] = "embedding.done"
    embedding: list[float]
    fidelity: dict[str, Any] | None = None


DeltaItem = (
    TextDeltaItem
    | ThinkingDeltaItem
    | ToolCallDeltaItem
    | InlineDataDeltaItem
    | InlineThinkingDeltaItem
    | EmbeddingDeltaItem
)
DoneItem = (
    TextDoneItem
    | ThinkingDoneItem
    | ToolCallDoneItem
    | InlineDataDoneItem
    | InlineThinkingDoneItem
    | EmbeddingDoneItem
)
Item = DeltaItem | DoneItem


ITEM_CLASSES: dict[str, type[Item]] = {
    TextDeltaItem.type: TextDeltaItem,
    TextDoneItem.type: TextDoneItem,
    ThinkingDeltaItem.type: ThinkingDeltaItem,
    ThinkingDoneItem.type: ThinkingDoneItem,
    ToolCallDeltaItem.type: ToolCallDeltaItem,
    ToolCallDoneItem.type: ToolCallDoneItem,
    InlineDataDeltaItem.type: InlineDataDeltaItem,
    InlineDataDoneItem.type: InlineDataDoneItem,
    InlineThinkingDeltaItem.type: InlineThinkingDeltaItem,
    InlineThinkingDoneItem.type: InlineThinkingDoneItem,
    EmbeddingDeltaItem.type: EmbeddingDeltaItem,
    EmbeddingDoneItem.type: EmbeddingDoneItem,
}


@define(kw_only=True)
class UsageMetadata:
    """The token counts of the request; None where the model did not say. Protocol, "Events"."""

    cached_tokens: int | None
    prompt_tokens: int | None
    thoughts_tokens: int | None
    response_tokens: int | None


@define(kw_only=True)
class UniEvent:
    """One event of a stream. `created_at` is Unix time in milliseconds. Protocol, "Events"."""

    role: Role = "assistant"
    event_type: EventType
    content_items: list[Item]
    usage_metadata: UsageMetadata | None = None
    finish_reason: FinishReason | None = None
    created_at: int


@define(kw_only=True)
class UniMessage:
    """The message of a stopped stream: its done items, the rest from the stop event. Protocol, "Grammar"."""

    role: Role = "assistant"
    content_items: list[DoneItem]
    usage_metadata: UsageMetadata
    finish_reason: FinishReason
    created_at: int
