"""Reading one record: its shape against the definition, and the signs that the machine is to read.

Shape faults are findings: they never stop the machine while the symbol can still be told. Protocol, "Events", "Items"
and "On the wire".
"""

from __future__ import annotations

from typing import Any

from mmsp_fsm.grammar.definition import Definition, EventField, Kind, Phase, Presence
from mmsp_fsm.machine.symbols import Finding, Hole, ItemView, Reading, Sign
from mmsp_fsm.model.json_values import Foreign, flaw, name_of, point, show
from mmsp_fsm.model.wire import from_base64


class RecordReader:
    """Reads one record after another against a definition. It keeps nothing from one record to the next."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self._check = definition.check
        self._fields = frozenset(entry.name for entry in definition.event.field)
        self._items: dict[str, tuple[Kind, Phase]] = {}
        for kind in definition.kinds.values():
            self._items |= {kind.delta: (kind, "delta"), kind.done: (kind, "done")}
        self._clean = self._said_not_json = False
        self._findings: list[Finding] = []

    def read(self, value: Any, clean: bool) -> Reading:
        """Read a decoded record. `clean` promises that it holds no number that JSON cannot write."""
        self._begin(clean)
        if not isinstance(value, dict):
            return Reading([self._no_object(value)])
        if self.definition.error.key in value and "event_type" not in value:
            return Reading([self._error(value)])
        if "event_type" not in value and "content_items" not in value:
            return Reading([self._another_protocol(value)])
        return self._event(value)

    def glance(self, value: Any) -> Sign:
        """The sign of a record after the stream's end, whose contents are not looked at."""
        self._begin(clean=False)
        if not isinstance(value, dict):
            return self._no_object(value)
        event_type, items = value.get("event_type", Hole.ABSENT), value.get("content_items")
        if event_type is Hole.ABSENT and self.definition.error.key in value:
            return Sign("error", "")
        if event_type == "stop":
            return Sign("stop", "/event_type")
        if event_type == "delta" or (event_type is Hole.ABSENT and items):
            first = items[0] if isinstance(items, list) and items else None
            written = first.get("type") if isinstance(first, dict) else None
            return Sign(written if isinstance(written, str) and written in self._items else "unknown", "")
        self._unknown_event(event_type)
        return Sign("unknown", "/event_type", findings=self._findings)

    # ── Records that are no event ────────────────────────────────────────────────────────────────────────────

    def _no_object(self, value: Any) -> Sign:
        self._not_an_object("", value, "a record")
        return Sign("unreadable", "", findings=self._findings)

    def _another_protocol(self, value: dict[str, Any]) -> Sign:
        keys = ", ".join(show(key) for key in list(value)[:4]) or "nothing"
        self._say(
            self._check.missing_field,
            "/event_type",
            f"this record has neither event_type nor content_items (it holds {keys}): it is no event of "
            f"{self.definition.protocol.name}, perhaps another protocol's chunk or a ping",
        )
        return Sign("unreadable", "/event_type", findings=self._findings)

    def _error(self, value: dict[str, Any]) -> Sign:
        key = self.definition.error.key
        for name, one in value.items():
            if name != key:
                self._unknown_field("", name, "an error record", one)
        pointer, error = point(key), value[key]
        sign = Sign("error", pointer, findings=self._findings)
        if not isinstance(error, dict):
            self._not_an_object(pointer, error, "an error")
            return sign
        sign.error = error
        for name in self.definition.error.fields:
            if name in error:
                self._string(f"{pointer}/{name}", name, error[name])
            else:
                self._missing(pointer, name, "an error")
        self._poisoned(pointer, error)
        return sign

    # ── Events ───────────────────────────────────────────────────────────────────────────────────────────────

    def _event(self, value: dict[str, Any]) -> Reading:
        event_type, items = value.get("event_type"), value.get("content_items")
        if isinstance(event_type, str) and event_type not in self.definition.event.types:
            self._unknown_event(event_type)
            return Reading([Sign("unknown", "/event_type", doubtful=True, findings=self._findings)])
        told = event_type if isinstance(event_type, str) else None
        if told is None and isinstance(items, list) and items:
            told = "delta"  # no stop event has items, so they tell what the event is
        for name, one in value.items():
            if name not in self._fields:
                self._unknown_field("", name, "an event", one)
        created_at = None
        for entry in self.definition.event.field:
            if entry.name not in value:
                self._missing("", entry.name, "an event")
            elif self._event_field(entry, value[entry.name], told) and entry.holds == "time":
                created_at = value[entry.name]
        findings = self._findings
        if told == "stop":
            usage, reason = value.get("usage_metadata"), value.get("finish_reason")
            sign = Sign("stop", "/event_type", created_at=created_at)
            sign.usage = usage if isinstance(usage, dict) else None
            sign.reason = reason if isinstance(reason, str) else None
            return Reading([sign], findings, created_at)
        if told is None or not isinstance(items, list):
            return Reading([Sign("unreadable", "")], findings, created_at)
        signs = [self._item(item, f"/content_items/{number}") for number, item in enumerate(items)]
        return Reading(signs or [Sign("unknown", "/content_items", doubtful=True)], findings, created_at)

    def _event_field(self, entry: EventField, value: Any, told: str | None) -> bool:
        """Check a field of an event of the type `told` (None where that cannot be told); whether it can be used."""
        if told is None and entry.delta is not None:
            return False  # what it must hold depends on the type
        pointer = "/" + entry.name
        presence = entry.stop if told == "stop" else entry.delta
        must = presence.must if presence is not None else None
        if must == "null" and value is None:
            return True
        if entry.holds != "items" and self._poisoned(pointer, value):
            return False
        before = len(self._findings)
        if presence is not None and must == "null":
            self._say(presence.rule, pointer, f"a delta event's {entry.name} is null, and here is {here(value)}")
        elif presence is not None and must == "value" and value is None:
            self._say(presence.rule, pointer, f"a stop event carries the {entry.name}, and here is null")
        elif entry.holds == "items":
            self._event_items(pointer, presence, value)
        elif entry.holds == "usage":
            self._usage(pointer, value)
        elif entry.holds != "time":
            self._event_word(entry, pointer, value)
        elif type(value) is not int or value < 0:
            self._wrong_type(pointer, entry.name, "an integer >= 0 (Unix time in ms)", value)
        return len(self._findings) == before

    def _event_word(self, entry: EventField, pointer: str, value: Any) -> None:
        due = {"constant": (entry.value,), "finish_reason": self.definition.event.finish_reasons}.get(entry.holds)
        if not isinstance(value, str):
            self._wrong_type(pointer, entry.name, "a string", value)
        elif due is not None and value not in due and entry.mismatch is not None:
            words = " or ".join(show(word) for word in due)
            self._say(entry.mismatch, pointer, f"{entry.name} is {words}, and here is {show(value)}")

    def _event_items(self, pointer: str, presence: Presence | None, value: Any) -> None:
        if not isinstance(value, list):
            if not self._poisoned(pointer, value):
                self._wrong_type(pointer, pointer[1:], "an array", value)
        elif presence is not None and len(value) != (1 if presence.must == "one" else 0):
            count = f"{len(value)} items" if len(value) > 1 else "one" if value else "none"
            due = "a delta event carries one item" if presence.must == "one" else "a stop event carries no items"
            self._say(presence.rule, pointer, f"{due}, and here {'is' if len(value) < 2 else 'are'} {count}")

    def _usage(self, pointer: str, value: Any) -> None:
        if not isinstance(value, dict):
            self._not_an_object(pointer, value, "usage_metadata")
            return
        counts = self.definition.usage.counts
        for name, count in value.items():
            if name not in counts:
                self._unknown_field(pointer, name, "usage_metadata", count)
            elif count is not None and (type(count) is not int or count < 0):
                self._wrong_type(f"{pointer}/{name}", name, "an integer >= 0, or null", count)
        for name in counts:
            if name not in value:
                self._missing(pointer, name, "usage_metadata")

    def _unknown_event(self, event_type: Any) -> None:
        older = self.definition.older
        entry = next(entry for entry in self.definition.event.field if entry.holds == "event_type")
        hint = f", which is of the protocol before {older.before}" if event_type in older.events else ""
        types = " or ".join(show(word) for word in self.definition.event.types)
        found = "it is absent" if event_type is Hole.ABSENT else f"here is {here(event_type)}"
        self._say(entry.mismatch or self._check.wrong_type, "/event_type", f"event_type is {types}, and {found}{hint}")

    # ── Items ────────────────────────────────────────────────────────────────────────────────────────────────

    def _item(self, value: Any, pointer: str) -> Sign:
        """The sign of one item; what is found in it stands in the sign."""
        self._findings = []
        where = pointer + "/type"
        if not isinstance(value, dict):
            self._not_an_object(pointer, value, "an item")
            return Sign("unreadable", pointer, findings=self._findings)
        written = value.get("type", Hole.ABSENT)
        if written is Hole.ABSENT:
            self._missing(pointer, "type", "an item")
            return Sign("unreadable", where, findings=self._findings)
        if not isinstance(self._string(where, "type", written), str):
            return Sign("unreadable", where, findings=self._findings)
        if written.partition(".")[0] in self.definition.user_only.items:
            message = f"{show(written)} is written by the user only; no stream carries it"
            self._say(self._check.user_only_item, where, message)
            return Sign("unknown", where, findings=self._findings)
        if written not in self._items:
            self._unknown_item(where, written)
            return Sign("unknown", where, doubtful=True, findings=self._findings)
        item = ItemView(*self._items[written], pointer)
        self._item_fields(value, item, f"a {written} item")
        return Sign(written, where, item, findings=self._findings)

    def _unknown_item(self, where: str, written: str) -> None:
        older = self.definition.older
        if written in older.items:
            hint = f"the protocol before {older.before} wrote items so; since then a type ends in .delta or .done"
        else:
            hint = f"a type is {', '.join(self.definition.kinds)} with .delta or .done behind"
        self._say(self._check.unknown_item, where, f"{show(written)} is no item type: {hint}")

    def _item_fields(self, value: dict[str, Any], item: ItemView, what: str) -> None:
        kind = item.kind
        item.header = {header.name: Hole.ABSENT for header in kind.header}
        for name, one in value.items():
            pointer = f"{item.pointer}/{name}"  # as it stands: only an unknown name can need escapes
            if name == "type":
                continue
            if name == kind.grows:
                item.content = self._content(item, pointer, one)
            elif name in item.header:
                item.header[name] = self._string(pointer, name, one)
            elif name == self.definition.fidelity.key:
                item.fidelity = self._fidelity(pointer, one)
            else:
                self._unknown_field(item.pointer, name, what, one)
        if item.content is Hole.ABSENT:
            self._missing(item.pointer, kind.grows, what)
            item.content = Hole.UNKNOWN
        for header in kind.header if item.phase == "done" else ():
            if item.header[header.name] is Hole.ABSENT and header.absent == self._check.missing_field:
                self._missing(item.pointer, header.name, what)

    def _content(self, item: ItemView, pointer: str, value: Any) -> Any:
        """The usable content of an item, or `Hole.UNKNOWN` and a finding that says why."""
        kind = item.kind
        if self._poisoned(pointer, value):
            return Hole.UNKNOWN
        if item.phase == "done" and kind.closes is not None:
            usable, due = isinstance(value, dict), f"an object (the {kind.grows} parsed)"
        elif kind.joins == "text":
            usable, due = isinstance(value, str), "a string"
        elif kind.joins == "whole":
            usable = isinstance(value, list) and all(type(one) is float or type(one) is int for one in value)
            due = "an array of numbers"
        elif isinstance(value, str):
            return self._decoded(pointer, kind.grows, value)
        else:
            usable, due = isinstance(value, bytes), "base64 text"
        if usable:
            return value
        self._wrong_type(pointer, kind.grows, due, value)
        return Hole.UNKNOWN

    def _decoded(self, pointer: str, name: str, value: str) -> bytes | Hole:
        try:
            return from_base64(value)
        except ValueError as error:
            self._say(self._check.bad_base64, pointer, f"{name} is no standard padded base64: {error}")
            return Hole.UNKNOWN

    def _string(self, pointer: str, name: str, value: Any) -> str | Hole:
        if isinstance(value, str):
            return value
        if not self._poisoned(pointer, value):
            self._wrong_type(pointer, name, "a string", value)
        return Hole.UNKNOWN

    def _fidelity(self, pointer: str, value: Any) -> dict[str, Any] | Hole:
        if not isinstance(value, dict):
            self._not_an_object(pointer, value, self.definition.fidelity.key)
            return Hole.UNKNOWN
        return Hole.UNKNOWN if self._poisoned(pointer, value) else value

    # ── Findings ─────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, clean: bool) -> None:
        self._clean, self._said_not_json, self._findings = clean, False, []

    def _say(self, code: str, pointer: str, message: str) -> None:
        self._findings.append(Finding(code, pointer, message))

    def _poisoned(self, pointer: str, value: Any) -> bool:
        """Whether `value` holds what JSON cannot write. It is said once a record, and nothing more is said of it."""
        if self._clean or isinstance(value, Foreign):
            return False
        found = flaw(value)
        if found is None:
            return False
        if not self._said_not_json:
            self._said_not_json = True
            self._say(self._check.not_json, pointer + found[0], f"the record is not JSON: it holds {found[1]}")
        return True

    def _not_an_object(self, pointer: str, value: Any, what: str) -> None:
        if not self._poisoned(pointer, value):
            self._say(self._check.not_an_object, pointer, f"{what} is an object, and here is {here(value)}")

    def _missing(self, parent: str, name: str, what: str) -> None:
        self._say(self._check.missing_field, parent + point(name), f"{what} has a field {name}, and here it is absent")

    def _unknown_field(self, parent: str, name: str, what: str, value: Any) -> None:
        pointer = parent + point(name)
        if not self._poisoned(pointer, value):
            self._say(self._check.unknown_field, pointer, f"{what} has no field {show(name)}")

    def _wrong_type(self, pointer: str, name: str, due: str, value: Any) -> None:
        self._say(self._check.wrong_type, pointer, f"{name} is {due}, and here is {here(value)}")


def here(value: Any) -> str:
    """`value` as a message speaks of it: as JSON where it is short, else its type."""
    return name_of(value) if isinstance(value, (Foreign, bytes, dict, list)) else show(value)
