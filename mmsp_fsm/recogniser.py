"""The recogniser: the first pass, which only says yes. It reports nothing.

It drives the same stream's builder as the machine and leaves it as the machine would have: at the first record that it
cannot say yes to, the machine goes on where it stands. What it says yes to, the machine reports nothing about, no error
and no warning of any rule; that the two agree is tested. Protocol, "Events", "Grammar" and "Items".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

import msgspec

from mmsp_fsm.builders import SIZE, ItemBuilder, Place
from mmsp_fsm.contents import Contents
from mmsp_fsm.forms import Form, Forms, Told, Turn
from mmsp_fsm.jsonvalues import WHITE, Decoded, decode_record, difference, flaw, plain
from mmsp_fsm.longrecords import Repeat, expect_repeat
from mmsp_fsm.model import ITEM_CLASSES, DoneItem
from mmsp_fsm.signs import Sign
from mmsp_fsm.streambuilder import StreamBuilder
from mmsp_fsm.structs import ABSENT, Structs, Typed

LONG = 1024
"""Bytes from which a group's first record is kept: comparing a done item's record with it beats decoding both."""

WEIGHED = 256
"""Fragments after which an open group is weighed, so that what it holds stays bounded."""

NO = (LookupError, TypeError, ValueError, OverflowError, RecursionError, msgspec.DecodeError)
"""What is raised where the answer is no; `NotJsonError` and msgspec's `ValidationError` are among them."""

NOTHING_TOLD = Told(None, None, False)

Fidelity = dict[str, Any] | None


class Recogniser:
    """Says yes, record by record, as long as one stream is without a fault.

    `ready` tells whether it may be asked: not from a fault on until the next clean boundary, where `resume` is called.
    `decoded` is what the record that was not taken last was decoded to, where that was done already.
    """

    __slots__ = (
        "_contents", "_fidelity", "_form", "_opened", "_pieces", "_repeat", "_size", "_told",
        "_usable", "_values", "_weighed", "builder", "decoded", "forms", "ready",
    )  # fmt: skip

    def __init__(self, forms: Forms, builder: StreamBuilder, usable: bool = True) -> None:
        self.forms = forms
        self.builder = builder
        self.decoded: Decoded | None = None
        self._contents = Contents(builder.limits, forms.definition.fidelity.internal)
        self._usable = usable and self._contents.usable
        self.ready = self._usable
        # The open group, if there is one: no item builder is made for it, unless the machine has to go on with it.
        self._form: Form | None = None
        self._opened: tuple[int, int | None, Any] = (0, None, None)  # as in `Place`
        self._values: tuple[str, ...] = ()  # of the header
        self._told = NOTHING_TOLD
        self._pieces: list[Any] = []
        self._fidelity: Fidelity = None
        self._repeat: Repeat | None = None  # what its done item's record is, where it has one fragment, and a long one
        self._weighed = self._size = 0  # so many pieces take so many bytes

    def resume(self) -> None:
        """Be ready again, if the stream stands at a clean boundary."""
        self.ready = self._usable and self.builder.clean

    def hand_over(self) -> None:
        """The machine goes on with the open group as it is."""
        self.ready = False
        if self._form is not None:
            self.builder.group = self.open_group()
            self._form = self._repeat = None

    def open_group(self) -> ItemBuilder | None:
        """The open group as it is; None where none is open, or the machine has it."""
        builder, form = self.builder, self._form
        if form is None:
            return None
        group = ItemBuilder(builder.definition, form.kind, Place(*self._opened), builder.limits)
        group.header = dict(zip(form.names, self._values, strict=True))
        group.fidelities += [self._fidelity] if self._fidelity else []
        group.carry(list(self._pieces))
        return group

    # ── Records as bytes ─────────────────────────────────────────────────────────────────────────────────────

    def take_records(self, records: list[bytes], lines: Sequence[int | None], at: int) -> int:
        """Take records from the index `at` on; gives the index of the first that was not taken.

        The end of the stream is taken, and nothing behind it. A record may have its line end behind it; one of white
        space alone is none.
        """
        builder, count, structs = self.builder, len(records), self.forms.structs_for(len(records) - at)
        rest: Any = iter(records)  # which tells by its length hint how far it is
        rest.__setstate__(at)
        skew = builder.events - at
        while builder.end is None:
            if structs is not None:
                done = self._take_deltas(structs, rest, records, lines, skew)
            else:
                done = next(rest, None) is None
            left: int = rest.__length_hint__()
            index = count - left - (not done)
            builder.events = index + skew
            if done:
                break
            record = records[index]
            if not record.strip(WHITE):
                skew -= 1
            elif not self._take_other(structs, record, lines[index]):
                return index
        if self._form is not None and (len(self._pieces) - self._weighed >= WEIGHED or len(records[0]) > LONG):
            self._weigh()
        return count - left

    def _take_deltas(
        self, structs: Structs, rest: Any, records: list[bytes], lines: Sequence[int | None], skew: int
    ) -> bool:
        """Take plain delta events, the bulk of any stream, in a loop that does no more than it must.

        Whether all were taken; else the one before the iterator `rest` was not.
        """
        builder, count = self.builder, len(records)
        latest = builder.latest
        decode_event, growing, convert, same_of, same, pieces, repeat = self._at_hand(structs)
        try:
            for record in rest:
                if repeat is not None and (created_at := repeat.time_of(record)) is not None and created_at >= latest:
                    latest = created_at
                    self._close_repeated()
                    decode_event, growing, convert, same_of, same, pieces, repeat = self._at_hand(structs)
                    continue
                event = decode_event(record)
                created_at = event.created_at
                if created_at < latest:
                    return False
                item = event.content_items[0]
                if item.__class__ is growing and item.fidelity is ABSENT:
                    if same_of is not None and same_of(item) != same:
                        return False
                    pieces.append(item.content if convert is None else convert(item.content))
                else:
                    turn = structs.rows[builder.state].turns[item.__class__]
                    typed = structs.by_kind[turn.form.kind.name]
                    if turn.action == "open":
                        at = count - rest.__length_hint__() - 1
                        self._open_by(turn, typed, event, (at + skew, lines[at], record))
                    else:
                        self._grow_or_close(turn, typed, item)
                    decode_event, growing, convert, same_of, same, pieces, repeat = self._at_hand(structs)
                latest = created_at
        except NO:
            return False
        finally:
            builder.latest = latest
        return True

    def _at_hand(self, structs: Structs) -> tuple[Any, Any, Callable[[str], bytes] | None, Any, Any, list[Any], Any]:
        """What the loop needs: how to decode, which struct grows the open group, how, and where to."""
        decode_event, form = structs.rows[self.builder.state].decode, self._form
        if form is None:
            return decode_event, None, None, None, None, self._pieces, None
        told, typed = self._told, structs.by_kind[form.kind.name]
        growing = None if told.alone else typed.later
        return decode_event, growing, typed.convert, typed.same_of, told.same, self._pieces, self._repeat

    def _open_by(self, turn: Turn, typed: Typed, event: Any, place: tuple[int, int | None, bytes]) -> None:
        """Open a group by a struct."""
        item = event.content_items[0]
        content = item.content if typed.convert is None else typed.convert(item.content)
        header = typed.header_of(item) if typed.header_of is not None else None
        fidelity = None if item.fidelity is ABSENT else self._contents.fidelity(item.fidelity)
        self._open(turn, content, header, fidelity, place)
        record = place[2]
        if len(record) >= LONG and item.fidelity is ABSENT and not turn.form.kind.closes:
            self._repeat = expect_repeat(typed.styles, record, item.content, self._values, event.created_at)

    def _grow_or_close(self, turn: Turn, typed: Typed, item: Any) -> None:
        """Close the open group by a struct, or grow it in a way that is not the loop's."""
        content = item.content if typed.convert is None else typed.convert(item.content)
        fidelity = None if item.fidelity is ABSENT else self._contents.fidelity(item.fidelity)
        if turn.action == "close":
            self._close(turn, content, typed.header_of(item) if typed.header_of is not None else None, fidelity)
            return
        if typed.same_of is not None and typed.same_of(item) != self._told.same:
            raise ValueError
        self._grow(turn.form, content, self._told.later, fidelity)

    def _close_repeated(self) -> None:
        """The done item repeats the one fragment of its group."""
        assert self._form is not None
        self._closed(self.forms.to[self.builder.state, self._form.kind.done], self._pieces[0], None)

    def _take_other(self, structs: Structs | None, record: bytes, line: int | None) -> bool:
        """Take a record that is no plain delta event: the stop event, an error, or one that `msgspec` refuses."""
        if structs is not None:
            with suppress(*NO):
                event = structs.decode_stop(record)
                if self._stop(msgspec.structs.asdict(event.usage_metadata), event.finish_reason, event.created_at):
                    self.builder.events += 1
                    return True
        try:
            self.decoded = decode_record(bare(record), self.builder.limits.nesting)
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
            if self._take_event(event, (number, line, event if record is None else record)):
                self.builder.events += 1
                return True
            return False
        except Exception:  # a Python object may do anything when it is looked at; the machine's reader says what
            return False

    def _take_event(self, event: Any, place: tuple[int, int | None, Any]) -> bool:
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
        turn = forms.rows[builder.state].turns[item["type"]]
        form, action = turn.form, turn.action
        content = item[form.kind.grows]
        header = form.header_of(item) if form.header_of is not None else None
        fidelity = None
        if len(item) != form.size:
            if len(item) != form.size + 1:
                return False
            fidelity = self._contents.fidelity(item[forms.definition.fidelity.key])
        if action != "close" or form.kind.closes is None:
            content = self._contents.given(form.kind, content)
        if action == "grow":
            self._grow(form, content, header, fidelity)
        elif action == "close":
            self._close(turn, content, header, fidelity)
        else:
            self._open(turn, content, header, fidelity, place)
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
        cut_short = [kind for kind in definition.kinds.values() if kind.cut_short_by == error["type"]]
        if cut_short and (
            self._form is None or self._form.kind not in cut_short or self._contents.is_object("".join(self._pieces))
        ):
            return False
        self._end(Sign("error", "", error=error))
        return True

    # ── What the records do ──────────────────────────────────────────────────────────────────────────────────

    def _open(
        self, turn: Turn, content: Any, header: Any, fidelity: Fidelity, place: tuple[int, int | None, Any]
    ) -> None:
        """A first fragment opens a group. Protocol, "Items": it alone carries a call's name and id."""
        builder, form = self.builder, turn.form
        values = form.values(header)
        told = form.told(values)
        if form.told_at is not None and (name := values[form.told_at]):
            names = builder.told.setdefault(form.kind.name, set())
            if name in names:
                raise ValueError
            names.add(name)
        self._values, self._told = values, told
        self._form, self._opened, self._pieces, self._fidelity = form, place, [content], fidelity or None
        self._weighed = self._size = 0
        builder.seen[form.kind.name] = None
        builder.state = turn.to

    def _grow(self, form: Form, content: Any, header: Any, fidelity: Fidelity) -> None:
        """A later fragment grows the open group."""
        if form.names and header != self._told.later:
            raise ValueError
        if self._told.alone and (form.kind.one_piece or (content and any(self._pieces))):
            raise ValueError
        if fidelity:
            if self._fidelity:
                raise ValueError
            self._fidelity = fidelity
        self._repeat = None
        self._pieces.append(content)
        if not len(self._pieces) % WEIGHED:
            self._weigh()

    def _close(self, turn: Turn, content: Any, header: Any, fidelity: Fidelity) -> None:
        """The done item closes the open group: it is the first fragment with all that was carried."""
        form = turn.form
        if form.names and form.values(header) != self._values:
            raise ValueError
        content = self._contents.done(form.kind, self._pieces, content)
        if fidelity or self._fidelity:
            carried = self._fidelity
            if fidelity is not carried and (not fidelity or not carried or difference(fidelity, carried) is not None):
                raise ValueError
        self._closed(turn.to, content, fidelity)

    def _closed(self, to: str, content: Any, fidelity: Fidelity) -> None:
        builder, form = self.builder, self._form
        assert form is not None
        if builder.keep:
            fields: dict[str, Any] = dict(zip(form.names, self._values, strict=True)) if form.names else {}
            fields[form.kind.grows] = content
            builder.done_items.append(cast(DoneItem, ITEM_CLASSES[form.kind.done](**fields, fidelity=fidelity)))
        self._form = self._repeat = None
        builder.groups += 1
        builder.state = to

    def _weigh(self) -> None:
        """Give up where the open group is beyond the limit: it cannot be compared."""
        assert self._form is not None
        self._size += sum(map(SIZE[self._form.kind.joins], self._pieces[self._weighed :]))
        self._weighed = len(self._pieces)
        if self._size > self.builder.limits.group_bytes:
            self.hand_over()

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
        self.hand_over()
        self.builder.end = sign
        self.builder.state = self.forms.to[self.builder.state, sign.symbol]


def bare(record: bytes) -> bytes:
    """A record without the line end behind it."""
    return record.removesuffix(b"\n").removesuffix(b"\r")
