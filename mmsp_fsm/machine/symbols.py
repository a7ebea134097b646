"""What a record is once it has been read: the signs that the machine reads, and the findings made on the way.

A record becomes one `Sign` for each symbol: one for an event, or one for each item of an event with several. A value
that could not be used stands as `Hole.UNKNOWN`, so that nothing more is said of it.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import define, field, frozen

from mmsp_fsm.grammar.definition import Kind, Phase


class Hole(Enum):
    """Stands where an item has no usable value: the field is ABSENT, or what it holds is UNKNOWN."""

    ABSENT = "absent"
    UNKNOWN = "unknown"


def told(kind: Kind, header: dict[str, str | Hole]) -> str:
    """The value in `header` that tells a group from others of its kind; "" where there is none."""
    value = header.get(kind.told_by or "")
    return value if isinstance(value, str) else ""


@frozen
class Finding:
    """A fault found in a record: the rule's code, a JSON pointer into the record, a sentence."""

    code: str
    pointer: str
    message: str


@define
class ItemView:
    """An item as read: its content decoded (base64 into bytes), with holes where it could not be."""

    kind: Kind
    phase: Phase
    pointer: str
    content: Any = Hole.ABSENT
    header: dict[str, str | Hole] = field(factory=dict)
    fidelity: dict[str, Any] | Hole | None = None

    @property
    def told_by(self) -> str:
        """The value that tells its group from others of its kind; "" where it has none."""
        return told(self.kind, self.header)

    @property
    def complete(self) -> bool:
        """Whether it can only be a group's first fragment, by what its header holds."""
        identified = [header.name for header in self.kind.header if header.empty is not None]
        return bool(identified) and all(self.header[name] not in ("", Hole.ABSENT) for name in identified)

    @property
    def has_content(self) -> bool:
        """Whether it carries anything usable in the growing field."""
        return not isinstance(self.content, Hole) and len(self.content) > 0


@define
class Sign:
    """One symbol, and what the machine's builders need to know of where it was read."""

    symbol: str
    pointer: str
    item: ItemView | None = None
    reason: str | None = None
    usage: dict[str, Any] | None = None
    created_at: int | None = None
    error: dict[str, Any] | None = None
    doubtful: bool = False
    findings: list[Finding] = field(factory=list)


@define
class Reading:
    """A record as read: its signs in order, the findings that speak of the whole, and its time (Unix, ms)."""

    signs: list[Sign]
    findings: list[Finding] = field(factory=list)
    created_at: int | None = None
