"""The source of `mmsp_fsm/model/objects.py`: the protocol's objects as attrs classes, two for each kind."""

from __future__ import annotations

from mmsp_fsm.grammar.definition import Definition, Header, Kind, Phase

CONTENT_TYPES = {"text": "str", "bytes": "bytes", "whole": "list[float]"}
"""How the joined content of a kind is typed, by how its fragments join."""

CLOSED_TYPES = {"json_object": "dict[str, Any]"}
"""How a done item's content is typed where it is not the joined content itself."""


def model_source(definition: Definition) -> str:
    """The module's whole text, as committed."""
    deltas = [class_name(kind, "delta") for kind in definition.kinds.values()]
    dones = [class_name(kind, "done") for kind in definition.kinds.values()]
    parts = [
        _words(definition),
        *(_item(definition, kind, phase) for kind in definition.kinds.values() for phase in ("delta", "done")),
        f"{_union('DeltaItem', deltas)}\n{_union('DoneItem', dones)}\nItem = DeltaItem | DoneItem",
        "ITEM_CLASSES: dict[str, type[Item]] = {\n"
        + "".join(f"    {name}.type: {name},\n" for pair in zip(deltas, dones, strict=True) for name in pair)
        + "}",
        _usage(definition),
        _EVENT,
    ]
    return _HEAD.format(protocol=definition.protocol) + "\n\n" + "\n\n\n".join(parts) + "\n"


def class_name(kind: Kind, phase: Phase) -> str:
    """The name of the item class: `ToolCallDoneItem` for the done item of `tool_call`."""
    return "".join(word.capitalize() for word in kind.name.split("_")) + phase.capitalize() + "Item"


def _item(definition: Definition, kind: Kind, phase: Phase) -> str:
    what = "A fragment" if phase == "delta" else "The done item"
    content = CONTENT_TYPES[kind.joins]
    if phase == "done" and kind.closes is not None:
        content = CLOSED_TYPES[kind.closes]
    lines = [
        "@define(kw_only=True)",
        f"class {class_name(kind, phase)}:",
        f'    """{what} of a `{kind.name}` group. Protocol, "Items"."""',
        "",
        f'    type: ClassVar[Literal["{kind.name}.{phase}"]] = "{kind.name}.{phase}"',
        *(f"    {header.name}: {_header(header, phase)}" for header in kind.header if _required(header, definition)),
        f"    {kind.grows}: {content}",
        *(f"    {header.name}: str | None = None" for header in kind.header if not _required(header, definition)),
        f"    {definition.fidelity.key}: dict[str, Any] | None = None",
    ]
    return "\n".join(lines)


def _required(header: Header, definition: Definition) -> bool:
    return header.absent == definition.check.missing_field


def _header(header: Header, phase: Phase) -> str:
    return 'str = ""' if phase == "delta" and header.later == "empty" else "str"


def _usage(definition: Definition) -> str:
    return "\n".join(
        [
            "@define(kw_only=True)",
            "class UsageMetadata:",
            '    """The token counts of the request; None where the model did not say. Protocol, "Events"."""',
            "",
            *(f"    {count}: int | None" for count in definition.usage.counts),
        ]
    )


def _words(definition: Definition) -> str:
    constants = [entry.value for entry in definition.event.field if entry.value is not None]
    return (
        f"FinishReason = Literal[{_quoted(definition.event.finish_reasons)}]\n"
        f"EventType = Literal[{_quoted(definition.event.types)}]\n"
        f"Role = Literal[{_quoted(constants)}]"
    )


def _union(name: str, members: list[str]) -> str:
    return f"{name} = (\n    " + "\n    | ".join(members) + "\n)"


def _quoted(words: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f'"{word}"' for word in words)


_HEAD = '''# Made by `make generate` from grammar/mmsp.toml; an edit here is lost.
"""The objects of {protocol.name} {protocol.version} as attrs classes: items, events, usage and the message.

An item's class tells its kind and whether it is a fragment or the done item, so `match` and mypy can tell
them apart: `case TextDeltaItem(text=text): ...`. How they travel as JSON is in `mmsp_fsm.model.wire` alone.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from attrs import define'''

_EVENT = '''@define(kw_only=True)
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
    created_at: int'''
