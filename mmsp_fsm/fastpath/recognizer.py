"""The recogniser: the first pass, which only says yes. It reports nothing.

It drives the same stream's builder as the machine and leaves it as the machine would have: at the first record that it
cannot say yes to, the machine goes on where it stands. What it says yes to, the machine reports nothing about, no error
and no warning of any rule; that the two agree is tested. Protocol, "Events", "Grammar" and "Items".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from mmsp_fsm.fastpath.contents import GIVEN, Contents
from mmsp_fsm.fastpath.long_records import expect_repeat
from mmsp_fsm.fastpath.open_group import LONG, WEIGHED, Fidelity, OpenGroup
from mmsp_fsm.fastpath.shapes import Turn
from mmsp_fsm.fastpath.typed_records import ABSENT, Decoders, Structs, Typed
from mmsp_fsm.machine.stream_builder import StreamBuilder
from mmsp_fsm.machine.symbols import Sign
from mmsp_fsm.model.json_values import BEYOND, WHITE, Decoded, decode_record, flaw, plain

NO = (LookupError, TypeError, ValueError, OverflowError, RecursionError, msgspec.DecodeError)
"""What is raised where the answer is no; `NotJsonError` and msgspec's `ValidationError` are among them."""

_STRINGS = {str}


class Recogniser:
    """Says yes, record by record, as long as one stream is without a fault.

    `ready` tells whether it may be asked: not from a fault on until the next clean boundary, where `resume` is called.
    `decoded` is what the record that was not taken last was decoded to, where that was done already.
    """

    __slots__ = ("_contents", "_usable", "builder", "decoded", "decoders", "forms", "group", "ready")

    def __init__(self, decoders: Decoders, builder: StreamBuilder, usable: bool = True) -> None:
        self.decoders = decoders
        self.forms = forms = decoders.forms
        self.builder = builder
        self.decoded: Decoded | None = None
        self._contents = Contents(builder.limits, forms.definition.fidelity.internal)
        self._usable = usable and self._contents.usable
        self.ready = self._usable
        self.group = OpenGroup(builder, self._contents)

    def resume(self) -> None:
        """Be ready again, if the stream stands at a clean boundary."""
        self.ready = self._usable and self.builder.clean

    def hand_over(self) -> None:
        """The machine goes on with the open group as it is."""
        self.ready = False
        self.group.hand_over()

    # ── Records as bytes ─────────────────────────────────────────────────────────────────────────────────────

    def take_records(self, records: list[bytes], lines: Sequence[int | None], at: int) -> int:
        """Take records from the index `at` on; gives the index of the first that was not taken.

        The end of the stream is taken, and nothing behind it. A record may have its line end behind it; one of white
        space alone is none.
        """
        builder, count, structs = self.builder, len(records), self.decoders.structs_for(len(records) - at)
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
        group = self.group
        few = count == 1 and len(records[0]) <= LONG and group.unweighed < WEIGHED
        if group.form is not None and not few and not group.bounded():
            self.hand_over()
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
                if repeat is not None and len(pieces) == 1:
                    created_at = repeat.time_of(record)
                    if created_at is not None and created_at >= latest:
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
                    turn, typed = structs.rows[builder.state].turns[item.__class__]
                    if turn.action == "open":
                        at = count - rest.__length_hint__() - 1
                        self._open_by(turn, typed, event, (at + skew, lines[at], record))
                    else:
                        self._grow_or_close(turn, typed, item, record)
                    decode_event, growing, convert, same_of, same, pieces, repeat = self._at_hand(structs)
                latest = created_at
        except NO:
            return False
        finally:
            builder.latest = latest
        return True

    def _at_hand(self, structs: Structs) -> tuple[Any, Any, Callable[[str], bytes] | None, Any, Any, list[Any], Any]:
        """What the loop needs: how to decode, which struct grows the open group, how, and where to."""
        decode_event, group = structs.rows[self.builder.state].decode, self.group
        if group.form is None:
            return decode_event, None, None, None, None, group.pieces, None
        told, typed = group.told, structs.by_kind[group.form.kind.name]
        growing = None if told.alone else typed.later
        return decode_event, growing, typed.convert, typed.same_of, told.same, group.pieces, group.repeat

    def _open_by(self, turn: Turn, typed: Typed, event: Any, place: tuple[int, int | None, bytes]) -> None:
        """Open a group by a struct."""
        item = event.content_items[0]
        content = item.content if typed.convert is None else typed.convert(item.content)
        header = typed.header_of(item) if typed.header_of is not None else None
        record = place[2]
        fidelity = None if item.fidelity is ABSENT else self._raw_fidelity(item, record)
        self.group.open(turn, content, header, fidelity, place)
        # No content takes more than four times its record's bytes.
        repeatable = item.fidelity is ABSENT and not turn.form.kind.closes
        if repeatable and LONG <= len(record) <= self.builder.limits.group_bytes // 4:
            self.group.repeat = expect_repeat(typed.styles, record, item.content, self.group.values, event.created_at)

    def _raw_fidelity(self, item: Any, record: bytes) -> Fidelity:
        self.forms.fidelity_key.named_once(record)
        return self._contents.fidelity(item.fidelity)

    def _grow_or_close(self, turn: Turn, typed: Typed, item: Any, record: bytes) -> None:
        """Close the open group by a struct, or grow it in a way that is not the loop's."""
        content = item.content if typed.convert is None else typed.convert(item.content)
        fidelity = None if item.fidelity is ABSENT else self._raw_fidelity(item, record)
        if turn.action == "close":
            if turn.form.kind.closes is not None:
                turn.form.grows_key.named_once(record)
            self.group.close(turn, content, typed.header_of(item) if typed.header_of is not None else None, fidelity)
            return
        if typed.same_of is not None and typed.same_of(item) != self.group.told.same:
            raise ValueError
        self.group.grow(content, self.group.told.later, fidelity)

    def _close_repeated(self) -> None:
        """The done item repeats the one fragment of its group."""
        group = self.group
        assert group.form is not None
        group.closed(self.forms.to[self.builder.state, group.form.kind.done], group.pieces[0], None)

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

    def take_growth(self, event: dict[Any, Any]) -> bool:
        """Take a plain fragment of an open group of text, the bulk of any stream; `take` may take what this does not.

        Its types and names are told by C code, in less time than it takes to look at them here.
        """
        group, builder = self.group, self.builder
        if group.growth is None:
            return False
        items_name, into, later = group.growth
        try:
            items = event[items_name]
            if type(items) is not list or type(items[0]) is not dict:  # for which another mapping would pass
                return False
            read = msgspec.convert(event, into)
        except Exception:  # a Python object may do anything when it is looked at
            return False
        item, created_at, pieces = read.content_items[0], read.created_at, group.pieces
        if item.__class__ is not later or item.fidelity is not ABSENT:
            return False
        if type(created_at) is not int or not builder.latest <= created_at < BEYOND:
            return False
        content = item.content
        if type(content) is not str or len(content) > LONG or not (len(pieces) + 1) % WEIGHED:
            return False
        pieces.append(content)
        builder.latest = created_at
        builder.events += 1
        return True

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
        if type(event) is not dict or not _STRINGS.issuperset(map(type, event)):
            return False
        if len(event) != forms.fields:
            return self._fail(event)
        event_type, items, usage, reason, created_at = forms.event(event)
        if type(created_at) is not int or not builder.latest <= created_at < BEYOND or type(items) is not list:
            return False
        for name, value in forms.constants:
            if type(event[name]) is not str or event[name] != value:
                return False
        if type(event_type) is not str:
            return False
        if event_type != "delta":
            return event_type == "stop" and not items and self._stop(_usage(usage), reason, created_at)
        if usage is not None or reason is not None or len(items) != 1:
            return False
        item = items[0]
        if type(item) is not dict or not _STRINGS.issuperset(map(type, item)) or type(item["type"]) is not str:
            return False
        turn = forms.rows[builder.state].turns[item["type"]]
        form, action = turn.form, turn.action
        content = item[form.kind.grows]
        header = form.header_of(item) if form.header_of is not None else None
        if not _STRINGS.issuperset(map(type, form.values(header))):
            return False
        fidelity = None
        if len(item) != form.size:
            if len(item) != form.size + 1:
                return False
            fidelity = self._contents.fidelity(item[forms.definition.fidelity.key])
        if action != "close" or form.kind.closes is None:
            content = GIVEN[form.kind.joins](content)
        if action == "grow":
            self.group.grow(content, header, fidelity)
        elif action == "close":
            self.group.close(turn, content, header, fidelity)
        else:
            if record is None:  # the event is its owner's, who may change it
                held: dict[str, Any] = {form.kind.grows: content} if type(content) is list else {}
                held |= {forms.definition.fidelity.key: fidelity} if fidelity is not None else {}
                record = event | {forms.items_name: [item | held]}
            self.group.open(turn, content, header, fidelity, (number, line, record))
            self.group.growth = self.decoders.growth_for(form)
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
        form, pieces = self.group.form, self.group.pieces
        if cut_short and (form is None or form.kind not in cut_short or self._contents.is_object("".join(pieces))):
            return False
        self._end(Sign("error", "", error=error))
        return True

    # ── What the records do ──────────────────────────────────────────────────────────────────────────────────

    def _stop(self, usage: dict[str, Any], reason: Any, created_at: int) -> bool:
        """The stop event ends the stream, where what it says of the message is true. Protocol, "Grammar"."""
        definition, builder = self.forms.definition, self.builder
        if type(reason) is not str or reason not in definition.event.finish_reasons:
            return False
        if not self.forms.rows[builder.state].stops:
            return False
        if len(usage) != len(definition.usage.counts) or created_at < builder.latest:
            return False
        for name in definition.usage.counts:
            count = usage[name]
            if count is not None and (type(count) is not int or not 0 <= count < BEYOND):
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


def _usage(value: Any) -> dict[str, Any]:
    """A copy of the usage that a stop event carries as a dict."""
    if type(value) is not dict or not _STRINGS.issuperset(map(type, value)):
        raise TypeError
    return value.copy()


def bare(record: bytes) -> bytes:
    """A record without the line end behind it."""
    return record.removesuffix(b"\n").removesuffix(b"\r")
