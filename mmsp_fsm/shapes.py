"""Reading one record: its shape against the definition, and the symbols that the machine is to read.

A record becomes one `Sign` for each symbol (one for an event with several items each). Shape faults are *findings*:
they never stop the machine while the symbol can still be told. A value that could not be used stands as
`Hole.UNKNOWN`, so that nothing more is said of it. Protocol, "Events" and "Items".
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import define, field, frozen

from mmsp_fsm.definition import Definition, EventField, Header, Kind, Phase, Presence
from mmsp_fsm.jsonvalues import Foreign, flaw, name_of, point, show
from mmsp_fsm.wire import from_base64


class Hole(Enum):
    """Stands where an item has no usable value: the field is ABSENT, or what it holds is UNKNOWN."""

    ABSENT = "absent"
    UNKNOWN = "unknown"


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
        value = self.header.get(self.kind.told_by) if self.kind.told_by is not None else None
        return value if isinstance(value, str) else ""

    @property
    def has_content(self) -> bool:
        """Whether it carries anything in the growing field (an unusable value counts as something)."""
        return self.content is Hole.UNKNOWN or (self.content is not Hole.ABSENT and len(self.content) > 0)


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
    """A record as read: the findings that speak of the whole, its time, and its signs in order."""

    signs: list[Sign] = field(factory=list)
    findings: list[Finding] = field(factory=list)
    created_at: int | None = None


@define
class RecordReader:
    """Reads one record after another against a definition. It keeps nothing between two records."""

    definition: Definition
    _items: dict[str, tuple[Kind, Phase]] = field(init=False)
    _fields: frozenset[str] = field(init=False)
    _clean: bool = field(init=False, default=True)
    _said_not_json: bool = field(init=False, default=False)

    def __attrs_post_init__(self) -> None:
        self._items = {}
        self._fields = frozenset(entry.name for entry in self.definition.event.field)
        for kind in self.definition.kinds.values():
            self._items[kind.delta] = kind, "delta"
            self._items[kind.done] = kind, "done"

    def read(self, value: Any, clean: bool) -> Reading:
        """Read a decoded record. `clean` promises that it holds no number that JSON cannot write."""
        self._clean, self._said_not_json = clean, False
        reading = Reading()
        if not isinstance(value, dict):
            reading.signs.append(self._unreadable(*self._not_an_object("", value, "a record")))
        elif self.definition.error.key in value and "event_type" not in value:
            reading.signs.append(self._error(value))
        elif "event_type" not in value and "content_items" not in value:
            reading.signs.append(self._unreadable(self._another_protocol(value)))
        else:
            self._event(value, reading)
        return reading

    def glance(self, value: Any) -> Sign:
        """The symbol of a record after the stream's end, whose contents are not looked at."""
        if not isinstance(value, dict):
            self._clean, self._said_not_json = False, False
            return self._unreadable(*self._not_an_object("", value, "a record"))
        event_type = value.get("event_type")
        if "event_type" not in value and self.definition.error.key in value:
            return Sign("error", "")
        items = value.get("content_items")
        if event_type == "stop":
            return Sign("stop", "/event_type")
        if event_type == "delta" or ("event_type" not in value and items):
            first = items[0] if isinstance(items, list) and items else None
            kind = first.get("type") if isinstance(first, dict) else None
            return Sign(kind if isinstance(kind, str) and kind in self._items else "unknown", "")
        return Sign("unknown", "/event_type", findings=[self._unknown_event(event_type)])

    # ── Records that are no event ────────────────────────────────────────────────────────────────────────────

    def _unreadable(self, *findings: Finding) -> Sign:
        return Sign("unreadable", findings[0].pointer if findings else "", findings=list(findings))

    def _not_an_object(self, pointer: str, value: Any, what: str) -> list[Finding]:
        findings: list[Finding] = []
        if not self._poisoned(pointer, value, findings):
            message = f"{what} is an object, and here is {here(value)}"
            findings.append(Finding(self.definition.check.not_an_object, pointer, message))
        return findings

    def _another_protocol(self, value: dict[str, Any]) -> Finding:
        keys = ", ".join(show(key) for key in list(value)[:4]) or "nothing"
        return Finding(
            self.definition.check.missing_field,
            "/event_type",
            f"this record has neither event_type nor content_items (it holds {keys}): it is no event of"
            f" {self.definition.protocol.name}, perhaps another protocol's chunk or a ping",
        )

    def _error(self, value: dict[str, Any]) -> Sign:
        key = self.definition.error.key
        sign = Sign("error", point(key))
        for other in value:
            if other != key:
                self._unknown_field(point(other), other, "an error record", value[other], sign.findings)
        error = value[key]
        if not isinstance(error, dict):
            sign.findings.extend(self._not_an_object(point(key), error, "an error"))
            return sign
        sign.error = error
        for name in self.definition.error.fields:
            pointer = point(key, name)
            if name not in error:
                sign.findings.append(self._missing(pointer, name, "an error"))
            else:
                self._string(name, error[name], pointer, sign.findings)
        self._poisoned(point(key), error, sign.findings)
        return sign

    # ── Events ───────────────────────────────────────────────────────────────────────────────────────────────

    def _event(self, value: dict[str, Any], reading: Reading) -> None:
        event_type = value.get("event_type", Hole.ABSENT)
        if isinstance(event_type, str) and event_type not in self.definition.event.types:
            sign = Sign("unknown", "/event_type", doubtful=True, findings=[self._unknown_event(event_type)])
            reading.signs.append(sign)
            return
        items = value.get("content_items")
        told: str | None = event_type if isinstance(event_type, str) else None
        if told is None and isinstance(items, list) and items:
            told = "delta"  # no stop event has items, so they tell what the event is
        for name, one in value.items():
            if name not in self._fields:
                self._unknown_field(point(name), name, "an event", one, reading.findings)
        for entry in self.definition.event.field:
            if entry.name not in value:
                reading.findings.append(self._missing(point(entry.name), entry.name, "an event"))
            else:
                self._event_field(entry, value[entry.name], told, reading)
        if told == "stop":
            usage, reason = value.get("usage_metadata"), value.get("finish_reason")
            sign = Sign("stop", "/event_type", created_at=reading.created_at)
            sign.usage = usage if isinstance(usage, dict) else None
            sign.reason = reason if isinstance(reason, str) else None
            reading.signs.append(sign)
        elif told == "delta" and isinstance(items, list):
            self._delta(items, reading)
        else:
            reading.signs.append(Sign("unreadable", ""))

    def _delta(self, items: list[Any], reading: Reading) -> None:
        for number, item in enumerate(items):
            reading.signs.append(self._item(item, f"/content_items/{number}"))
        if not items:
            reading.signs.append(Sign("unknown", "/content_items", doubtful=True))

    def _event_field(self, entry: EventField, value: Any, told: str | None, reading: Reading) -> None:
        """Check one field that is there of an event of type `told`; None where its type cannot be told."""
        pointer = "/" + entry.name
        findings = reading.findings
        if told is None and entry.delta is not None:
            return  # what it must hold depends on the type
        presence = entry.stop if told == "stop" else entry.delta
        must = presence.must if presence is not None else None
        if must == "null" and value is None:
            return
        if entry.holds != "items" and self._poisoned(pointer, value, findings):
            return
        if presence is not None and must == "null":
            message = f"a delta event's {entry.name} is null, and here is {here(value)}"
            findings.append(Finding(presence.rule, pointer, message))
        elif presence is not None and must == "value" and value is None:
            message = f"a stop event carries the {entry.name}, and here is null"
            findings.append(Finding(presence.rule, pointer, message))
        elif entry.holds == "items":
            self._event_items(entry, value, presence, findings)
        elif entry.holds == "usage":
            self._usage(value, findings)
        elif entry.holds != "time":
            self._event_word(entry, value, findings)
        elif type(value) is int and value >= 0:
            reading.created_at = value
        else:
            findings.append(self._wrong_type(pointer, entry.name, "an integer >= 0 (Unix time in ms)", value))

    def _event_word(self, entry: EventField, value: Any, findings: list[Finding]) -> None:
        pointer = "/" + entry.name
        if not isinstance(value, str):
            findings.append(self._wrong_type(pointer, entry.name, "a string", value))
            return
        due = {"constant": (entry.value,), "finish_reason": self.definition.event.finish_reasons}.get(entry.holds)
        if due is not None and value not in due and entry.mismatch is not None:
            words = " or ".join(show(word) for word in due)
            findings.append(Finding(entry.mismatch, pointer, f"{entry.name} is {show(value)}; it is {words}"))

    def _event_items(self, entry: EventField, value: Any, presence: Presence | None, findings: list[Finding]) -> None:
        pointer = "/" + entry.name
        if not isinstance(value, list):
            if not self._poisoned(pointer, value, findings):
                findings.append(self._wrong_type(pointer, entry.name, "an array", value))
        elif presence is not None and presence.must == "one" and len(value) != 1:
            count = f"{len(value)} items" if value else "no item"
            findings.append(Finding(presence.rule, pointer, f"a delta event carries one item, here is {count}"))
        elif presence is not None and presence.must == "none" and value:
            what = "an item" if len(value) == 1 else f"{len(value)} items"
            findings.append(Finding(presence.rule, pointer, f"a stop event carries no items, here is {what}"))

    def _usage(self, value: Any, findings: list[Finding]) -> None:
        where = "/usage_metadata"
        if not isinstance(value, dict):
            findings.extend(self._not_an_object(where, value, "usage_metadata"))
            return
        counts = self.definition.usage.counts
        for name, count in value.items():
            pointer = where + point(name)
            if name not in counts:
                self._unknown_field(pointer, name, "usage_metadata", count, findings)
            elif count is not None and (type(count) is not int or count < 0):
                findings.append(self._wrong_type(pointer, name, "an integer >= 0, or null", count))
        findings.extend(self._missing(where + point(n), n, "usage_metadata") for n in counts if n not in value)

    def _unknown_event(self, event_type: Any) -> Finding:
        older = self.definition.older
        entry = next(entry for entry in self.definition.event.field if entry.holds == "event_type")
        hint = f"; it is of the protocol before {older.before}" if event_type in older.events else ""
        types = " or ".join(show(word) for word in self.definition.event.types)
        code = entry.mismatch or self.definition.check.wrong_type
        return Finding(code, "/event_type", f"event_type is {show(event_type)}{hint}; it is {types}")

    # ── Items ────────────────────────────────────────────────────────────────────────────────────────────────

    def _item(self, value: Any, pointer: str) -> Sign:
        if not isinstance(value, dict):
            return self._unreadable(*self._not_an_object(pointer, value, "an item"))
        where = pointer + "/type"
        if "type" not in value:
            return self._unreadable(self._missing(where, "type", "an item"))
        written = value["type"]
        if not isinstance(written, str):
            findings: list[Finding] = []
            self._string("type", written, where, findings)
            return self._unreadable(*findings)
        if written.partition(".")[0] in self.definition.user_only.items:
            message = f"{show(written)} is written by the user only; no stream carries it"
            return Sign("unknown", where, findings=[Finding(self.definition.check.user_only_item, where, message)])
        if written not in self._items:
            return Sign("unknown", where, doubtful=True, findings=[self._unknown_item(written, where)])
        kind, phase = self._items[written]
        item = ItemView(kind, phase, pointer)
        sign = Sign(written, where, item)
        self._item_fields(value, item, sign.findings)
        return sign

    def _unknown_item(self, written: str, where: str) -> Finding:
        older = self.definition.older
        if written in older.items:
            hint = f"the protocol before {older.before} wrote items so; since then a type ends in .delta or .done"
        else:
            hint = "a type is one of the kinds " + ", ".join(self.definition.kinds) + " with .delta or .done behind"
        return Finding(self.definition.check.unknown_item, where, f"{show(written)} is no item type; {hint}")

    def _item_fields(self, value: dict[str, Any], item: ItemView, findings: list[Finding]) -> None:
        kind = item.kind
        headers = {header.name: header for header in kind.header}
        what = f"a {kind.delta if item.phase == 'delta' else kind.done} item"
        item.header = dict.fromkeys(headers, Hole.ABSENT)
        for name, one in value.items():
            pointer = f"{item.pointer}/{name}"  # as it stands: only unknown names can need escapes
            if name == "type":
                continue
            if name == kind.grows:
                item.content = self._content(item, one, pointer, findings)
            elif name in headers:
                item.header[name] = self._string(name, one, pointer, findings)
            elif name == self.definition.fidelity.key:
                item.fidelity = self._fidelity(one, pointer, findings)
            else:
                self._unknown_field(item.pointer + point(name), name, what, one, findings)
        if item.content is Hole.ABSENT:
            findings.append(self._missing(item.pointer + point(kind.grows), kind.grows, what))
            item.content = Hole.UNKNOWN
        if item.phase == "done":
            for header in kind.header:
                if item.header[header.name] is Hole.ABSENT and self.required(header):
                    findings.append(self._missing(item.pointer + point(header.name), header.name, what))

    def required(self, header: Header) -> bool:
        """Whether a first fragment and a done item break the protocol without this field."""
        return header.absent == self.definition.check.missing_field

    def _content(self, item: ItemView, value: Any, pointer: str, findings: list[Finding]) -> Any:
        """The usable content of an item, or `Hole.UNKNOWN` and a finding that says why."""
        kind = item.kind
        if self._poisoned(pointer, value, findings):
            return Hole.UNKNOWN
        if item.phase == "done" and kind.closes is not None:
            if isinstance(value, dict):
                return value
            due = "an object (the arguments parsed)"
        elif kind.joins == "text":
            if isinstance(value, str):
                return value
            due = "a string"
        elif kind.joins == "whole":
            if isinstance(value, list) and all(type(one) is float or type(one) is int for one in value):
                return value
            due = "an array of numbers"
        else:
            if isinstance(value, bytes):
                return value
            if isinstance(value, str):
                return self._decoded(value, kind.grows, pointer, findings)
            due = "base64 text"
        findings.append(self._wrong_type(pointer, kind.grows, due, value))
        return Hole.UNKNOWN

    def _decoded(self, value: str, name: str, pointer: str, findings: list[Finding]) -> bytes | Hole:
        try:
            return from_base64(value)
        except ValueError as error:
            message = f"{name} is no standard padded base64: {error}"
            findings.append(Finding(self.definition.check.bad_base64, pointer, message))
            return Hole.UNKNOWN

    def _string(self, name: str, value: Any, pointer: str, findings: list[Finding]) -> str | Hole:
        if isinstance(value, str):
            return value
        if not self._poisoned(pointer, value, findings):
            findings.append(self._wrong_type(pointer, name, "a string", value))
        return Hole.UNKNOWN

    def _fidelity(self, value: Any, pointer: str, findings: list[Finding]) -> dict[str, Any] | Hole:
        if not isinstance(value, dict):
            findings.extend(self._not_an_object(pointer, value, self.definition.fidelity.key))
            return Hole.UNKNOWN
        return Hole.UNKNOWN if self._poisoned(pointer, value, findings) else value

    # ── Findings ─────────────────────────────────────────────────────────────────────────────────────────────

    def _poisoned(self, pointer: str, value: Any, findings: list[Finding]) -> bool:
        """Whether `value` holds something that JSON cannot write. It is said once a record, and nothing more of it."""
        if self._clean or isinstance(value, Foreign):
            return False
        found = flaw(value)
        if found is None:
            return False
        if not self._said_not_json:
            self._said_not_json = True
            message = f"the record is not JSON: it holds {found[1]}"
            findings.append(Finding(self.definition.check.not_json, pointer + found[0], message))
        return True

    def _missing(self, pointer: str, name: str, what: str) -> Finding:
        return Finding(
            self.definition.check.missing_field, pointer, f"{what} has a field {name}, and here it is absent"
        )

    def _unknown_field(self, pointer: str, name: str, what: str, value: Any, findings: list[Finding]) -> None:
        if not self._poisoned(pointer, value, findings):
            message = f"{what} has no field {show(name)}"
            findings.append(Finding(self.definition.check.unknown_field, pointer, message))

    def _wrong_type(self, pointer: str, name: str, due: str, value: Any) -> Finding:
        return Finding(self.definition.check.wrong_type, pointer, f"{name} is {due}, and here is {here(value)}")


def here(value: Any) -> str:
    """`value` as a message speaks of it: as JSON where it is short, else its type."""
    return name_of(value) if isinstance(value, (Foreign, bytes, dict, list)) else show(value)
