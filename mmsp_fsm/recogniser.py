"""The recogniser: the first pass, which only says yes. It reports nothing.

It drives the same builders as the machine and leaves them as the machine would have: at the first record that it cannot
say yes to, the machine goes on where it stands. What it says yes to, the machine reports nothing about, no error and no
warning of any rule; that the two agree is tested. Protocol, "Events", "Grammar" and "Items".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec

from mmsp_fsm.builders import ItemBuilder, Place
from mmsp_fsm.contents import Contents
from mmsp_fsm.forms import ABSENT, Form, Forms
from mmsp_fsm.jsonvalues import WHITE, Decoded, decode, decode_utf8, difference, flaw, plain
from mmsp_fsm.model import ITEM_CLASSES, DoneItem
from mmsp_fsm.repeats import Repeat, expect_repeat
from mmsp_fsm.signs import Sign
from mmsp_fsm.streambuilder import StreamBuilder
from mmsp_fsm.wire import from_base64

LONG = 1024
"""Bytes from which a group's first record is kept: comparing a done item's record with it beats decoding both."""

WEIGHED = 256
"""Fragments after which an open group is weighed, so that what it holds stays bounded."""

NO = (LookupError, TypeError, ValueError, OverflowError, RecursionError, msgspec.DecodeError)
"""What is raised where the answer is no; `NotJsonError` and msgspec's `ValidationError` are among them."""


class Recogniser:
    """Says yes, record by record, as long as one stream is without a fault.

    `ready` tells whether it may be asked: not from a fault on until the next clean boundary, where `resume` is called.
    `decoded` is what the record that was not taken last was decoded to, where that was done already.
    """

    __slots__ = ("_alone", "_contents", "_form", "_later", "_repeat", "_usable", "builder", "decoded", "forms", "ready")

    def __init__(self, forms: Forms, builder: StreamBuilder, usable: bool = True) -> None:
        self.forms = forms
        self.builder = builder
        self.decoded: Decoded | None = None
        self._contents = Contents(builder.limits, forms.definition.fidelity.internal)
        self._form: Form | None = None  # of the open group
        self._later: Any = None  # what the header of its later fragments is
        self._alone = False  # whether one fragment alone may have content
        self._repeat: Repeat | None = None  # what its done item's record is, where it has one fragment, and a long one
        self._usable = usable and self._contents.usable
        self.ready = self._usable

    def resume(self) -> None:
        """Be ready again, if the stream stands at a clean boundary."""
        self.ready = self._usable and self.builder.clean

    def hand_over(self) -> None:
        """The machine goes on: what the builders count, which here is left for later, is counted."""
        self.ready = False
        self._form = self._repeat = None
        if self.builder.group is not None:
            self.builder.group.weigh()

    # ── Records as bytes ─────────────────────────────────────────────────────────────────────────────────────

    def take_records(self, records: Sequence[bytes], lines: Sequence[int | None], at: int) -> int:
        """Take records from the index `at` on; gives the index of the first that was not taken.

        The end of the stream is taken, and nothing behind it. A record may have its line end behind it; one of white
        space alone is none.
        """
        builder, count = self.builder, len(records)
        rest: Any = iter(records[at:] if at else records)  # which tells by its length hint how far it is
        skew = builder.events - at
        while builder.end is None:
            done = self._take_deltas(rest, records, lines, skew)
            left: int = rest.__length_hint__()
            index = count - left - (not done)
            builder.events = index + skew
            if done:
                break
            record = records[index]
            if not record.strip(WHITE):
                skew -= 1
            elif not self._take_other(record, lines[index]):
                return index
        if builder.group is not None:
            builder.group.weigh()
            self.ready = self.ready and not builder.group.too_large
        return count - left

    def _take_deltas(self, rest: Any, records: Sequence[bytes], lines: Sequence[int | None], skew: int) -> bool:
        """Take plain delta events, the bulk of any stream, in a loop that does no more than it must.

        Whether all were taken; else the one before the iterator `rest` was not.
        """
        builder, decode_event, count = self.builder, self.forms.delta.decode, len(records)
        latest = builder.latest
        growing, convert, header_of, later, pieces, repeat = self._at_hand()
        try:
            for record in rest:
                if repeat is not None and (created_at := repeat.time_of(record)) is not None and created_at >= latest:
                    latest = created_at
                    self._repeated()
                    growing, convert, header_of, later, pieces, repeat = self._at_hand()
                    continue
                event = decode_event(record)
                if event.created_at < latest:
                    return False
                item = event.content_items[0]
                if item.__class__ is growing and item.fidelity is ABSENT:
                    if header_of is not None and header_of(item) != later:
                        return False
                    pieces.append(item.content if convert is None else convert(item.content))
                else:
                    at = count - rest.__length_hint__() - 1
                    self._turn(event, record, at + skew, lines[at])
                    growing, convert, header_of, later, pieces, repeat = self._at_hand()
                latest = event.created_at
        except NO:
            return False
        finally:
            builder.latest = latest
        return True

    def _at_hand(self) -> tuple[Any, Callable[[str], bytes] | None, Callable[[Any], Any] | None, Any, list[Any], Any]:
        """What the loop needs of the open group: which struct grows it, how, and where to."""
        form, group = self._form, self.builder.group
        if form is None or group is None:
            return None, None, None, None, [], None
        growing = form.delta if form.kind.joins != "whole" and not self._alone else None
        convert = from_base64 if form.kind.joins == "bytes" else None
        return growing, convert, form.struct_header, self._later, group.pieces, self._repeat

    def _turn(self, event: Any, record: bytes, number: int, line: int | None) -> None:
        """Take a delta event that opens or closes a group, or grows it in a way that is not the loop's."""
        item, contents = event.content_items[0], self._contents
        action, form = self.forms.rows[self.builder.state].by_struct[item.__class__]
        header = form.struct_header(item) if form.struct_header is not None else None
        fidelity = None if item.fidelity is ABSENT else contents.fidelity(item.fidelity)
        if action == "open":
            self._open(form, contents.fragment(form.kind, item.content), header, fidelity, Place(number, line, record))
            if len(record) >= LONG and item.fidelity is ABSENT:
                self._repeat = expect_repeat(form, record, header, event.created_at)
        elif action == "grow":
            self._grow(form, contents.fragment(form.kind, item.content), header, fidelity)
        else:
            self._close(form, item.content, header, fidelity)

    def _repeated(self) -> None:
        """The done item of the open group holds what its one fragment did: it closes the group."""
        group, form = self.builder.group, self._form
        assert group is not None
        assert form is not None
        self._closed(form, group.pieces[0], None)

    def _take_other(self, record: bytes, line: int | None) -> bool:
        """Take a record that is no plain delta event: the stop event, an error, or one that `msgspec` refuses."""
        try:
            event = self.forms.stop.decode(record)
            usage = msgspec.structs.asdict(event.usage_metadata)
            if self._stop(usage, event.finish_reason, event.created_at):
                self.builder.events += 1
                return True
        except NO:
            pass
        try:
            self.decoded = decode(decode_utf8(bare(record)), self.builder.limits.nesting)
        except NO:
            return False
        if not self.decoded.clean or not self.take(self.decoded.value, self.builder.events, line, record):
            return False
        self.decoded = None
        return True

    # ── Events as dicts ──────────────────────────────────────────────────────────────────────────────────────

    def take(self, event: Any, number: int, line: int | None, record: Any = None) -> bool:
        """Take one event as JSON values, bytes among them; whether it was taken. It is not changed.

        `number` is its 0-based index, `line` its 1-based line; `record` is what to show of it, if not the event.
        """
        try:
            if self._take_event(event, number, line, record):
                self.builder.events += 1
                return True
            return False
        except Exception:  # a Python object may do anything when it is looked at; the machine's reader says what
            return False

    def _take_event(self, event: Any, number: int, line: int | None, record: Any) -> bool:
        forms, builder = self.forms, self.builder
        if type(event) is not dict:
            return False
        if len(event) != forms.fields:
            return self._fail(event)
        event_type, items, usage, reason, created_at = forms.event(event)
        if type(created_at) is not int or created_at < builder.latest or type(items) is not list:
            return False
        for name, value in forms.constants:
            if type(event[name]) is not str or event[name] != value:
                return False
        if event_type != "delta":
            return event_type == "stop" and not items and self._stop(dict(usage), reason, created_at)
        if usage is not None or reason is not None or len(items) != 1:
            return False
        item = items[0]
        if type(item) is not dict:
            return False
        action, form = forms.rows[builder.state].by_type[item["type"]]
        content = item[form.kind.grows]
        header = form.dict_header(item) if form.dict_header is not None else None
        fidelity = None
        if len(item) != form.size:
            if len(item) != form.size + 1:
                return False
            fidelity = self._contents.fidelity(item[forms.definition.fidelity.key])
        if action == "grow":
            self._grow(form, self._contents.fragment(form.kind, content), header, fidelity)
        elif action == "close":
            self._close(form, content, header, fidelity)
        else:
            place = Place(number, line, event if record is None else record)
            self._open(form, self._contents.fragment(form.kind, content), header, fidelity, place)
        builder.latest = created_at
        return True

    def _fail(self, event: dict[str, Any]) -> bool:
        """An error record ends the stream. Protocol, "On the wire"."""
        definition, builder = self.forms.definition, self.builder
        if len(event) != 1:
            return False
        error = plain(event[definition.error.key], builder.limits.nesting - 1)
        if not isinstance(error, dict) or flaw(error) is not None:
            return False
        if not all(isinstance(error[name], str) for name in definition.error.fields):
            return False
        group = builder.group
        cut_short = [kind for kind in definition.kinds.values() if kind.cut_short_by == error["type"]]
        if cut_short and (group is None or group.kind not in cut_short or not self._contents.unparsed(group)):
            return False
        self._end(Sign("error", "", error=error))
        return True

    # ── What the records do ──────────────────────────────────────────────────────────────────────────────────

    def _open(self, form: Form, content: Any, header: Any, fidelity: dict[str, Any] | None, place: Place) -> None:
        """A first fragment opens a group. Protocol, "Items": it alone carries a call's name and id."""
        builder, kind = self.builder, form.kind
        values = form.values(header)
        for entry, value in zip(kind.header, values, strict=True):
            if type(value) is not str or (not value and entry.empty is not None):
                raise ValueError
        group = ItemBuilder(builder.definition, kind, place, builder.limits, dict(zip(form.names, values, strict=True)))
        told = builder.told.setdefault(kind.name, set())
        if group.told_by:
            if group.told_by in told:
                raise ValueError
            told.add(group.told_by)
        group.pieces.append(content)
        if fidelity:
            group.fidelities.append(fidelity)
        self._form, self._later = form, form.later(header)
        self._alone = kind.one_piece or group.in_one_piece()
        builder.group = group
        builder.seen[kind.name] = None
        builder.state = self.forms.to[builder.state, kind.delta]

    def _grow(self, form: Form, content: Any, header: Any, fidelity: dict[str, Any] | None) -> None:
        """A later fragment grows the open group."""
        group = self.builder.group
        assert group is not None
        if form.names and header != self._later:
            raise ValueError
        if self._alone and (form.kind.one_piece or (content and any(group.pieces))):
            raise ValueError
        if fidelity:
            if group.fidelities:
                raise ValueError
            group.fidelities.append(fidelity)
        self._repeat = None
        group.pieces.append(content)
        if not len(group.pieces) % WEIGHED:
            group.weigh()
            self.ready = not group.too_large

    def _close(self, form: Form, content: Any, header: Any, fidelity: dict[str, Any] | None) -> None:
        """The done item closes the open group: it is the first fragment with all that was carried."""
        group = self.builder.group
        assert group is not None
        if group.too_large or form.values(header) != tuple(group.header.values()):
            raise ValueError
        content = self._contents.done(group, content)
        carried = group.fidelities[0] if group.fidelities else None
        if (fidelity or None) != carried or (carried and difference(fidelity, carried) is not None):
            raise ValueError
        self._closed(form, content, fidelity)

    def _closed(self, form: Form, content: Any, fidelity: dict[str, Any] | None) -> None:
        builder = self.builder
        if builder.keep and builder.group is not None:
            fields = {**builder.group.header, form.kind.grows: content, "fidelity": fidelity}
            builder.done_items.append(cast(DoneItem, ITEM_CLASSES[form.kind.done](**fields)))
        builder.group = self._form = self._repeat = None
        builder.groups += 1
        builder.state = self.forms.to[builder.state, form.kind.done]

    def _stop(self, usage: dict[str, Any], reason: Any, created_at: int) -> bool:
        """The stop event ends the stream, where what it says of the message is true. Protocol, "Grammar"."""
        definition, builder = self.forms.definition, self.builder
        if not self.forms.rows[builder.state].stops or reason not in definition.event.finish_reasons:
            return False
        if len(usage) != len(definition.usage.counts) or created_at < builder.latest:
            return False
        for name in definition.usage.counts:
            count = usage[name]
            if count is not None and (type(count) is not int or count < 0):
                return False
        says = definition.finish_reasons.get(reason)
        if says is not None and (says.denies in builder.seen or (says.needs and says.needs not in builder.seen)):
            return False
        if all(definition.kinds[name].hidden for name in builder.seen):
            return False
        self._end(Sign("stop", "", usage=usage, reason=reason, created_at=created_at))
        return True

    def _end(self, sign: Sign) -> None:
        self.ready = False
        self.builder.end = sign
        self.builder.state = self.forms.to[self.builder.state, sign.symbol]


def bare(record: bytes) -> bytes:
    """A record without the line end behind it."""
    return record.removesuffix(b"\n").removesuffix(b"\r")
