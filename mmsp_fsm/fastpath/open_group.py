"""The open group as the first pass keeps it: lightly, and where all that came of it was without a fault.

No item builder is made for it, unless the machine has to go on with it. Protocol, "Items" and "Tool calls".
"""

from __future__ import annotations

from typing import Any, cast

from mmsp_fsm.fastpath.contents import Contents
from mmsp_fsm.fastpath.long_records import Repeat
from mmsp_fsm.fastpath.shapes import Form, Told, Turn
from mmsp_fsm.fastpath.typed_records import Growth
from mmsp_fsm.machine.item_builder import SIZE, ItemBuilder, Place, may_be_object
from mmsp_fsm.machine.stream_builder import StreamBuilder
from mmsp_fsm.model.json_values import difference
from mmsp_fsm.model.objects import ITEM_CLASSES, DoneItem

LONG = 1024
"""Elements from which a fragment's content is weighed at once, and bytes from which a record is kept to compare."""

WEIGHED = 256
"""Fragments after which an open group is weighed, so that what it holds stays bounded."""

NOTHING_TOLD = Told(None, None, False)

Fidelity = dict[str, Any] | None


class OpenGroup:
    """What has come of the group that is open; `form` is None where none is, or the machine has it.

    `values` are its header's, `told` what they tell of later fragments; `repeat` is what its done item's record is,
    where it has one fragment, and a long one, `growth` how events that are dicts grow it. Each method that takes an
    item raises ValueError (or one of its kind) where the answer is no, and leaves the group as it was.
    """

    __slots__ = (
        "_builder", "_contents", "_fidelity", "_opened", "_size", "_weighed",
        "form", "growth", "pieces", "repeat", "told", "values",
    )  # fmt: skip

    def __init__(self, builder: StreamBuilder, contents: Contents) -> None:
        self._builder = builder
        self._contents = contents
        self.form: Form | None = None
        self.values: tuple[str, ...] = ()
        self.told = NOTHING_TOLD
        self.pieces: list[Any] = []
        self.repeat: Repeat | None = None
        self.growth: Growth | None = None
        self._opened: tuple[int, int | None, Any] = (0, None, None)  # as in `Place`
        self._fidelity: Fidelity = None
        self._weighed = self._size = 0  # so many pieces take so many bytes

    def open(
        self, turn: Turn, content: Any, header: Any, fidelity: Fidelity, place: tuple[int, int | None, Any]
    ) -> None:
        """A first fragment opens a group: it alone carries a call's name and id."""
        builder, form = self._builder, turn.form
        values = form.values(header) if form.names else ()
        told = form.fixed if form.fixed is not None and not values else form.told(values)
        if form.told_at is not None and (name := values[form.told_at]):
            names = builder.told.setdefault(form.kind.name, set())
            if name in names:
                raise ValueError
            names.add(name)
        self.values, self.told = values, told
        self.form, self._opened, self.pieces, self._fidelity = form, place, [content], fidelity or None
        self._weighed = self._size = 0
        builder.seen[form.kind.name] = None
        builder.state = turn.to

    def grow(self, content: Any, header: Any, fidelity: Fidelity) -> None:
        """A later fragment grows it."""
        form, told = self.form, self.told
        assert form is not None
        if form.names and header != told.later:
            raise ValueError
        if told.alone and (form.kind.one_piece or (content and any(self.pieces))):
            raise ValueError
        if fidelity and self._fidelity:
            raise ValueError
        self.pieces.append(content)
        if (len(content) > LONG or not len(self.pieces) % WEIGHED) and not self.bounded():
            self.pieces.pop()
            raise ValueError
        self._fidelity = fidelity or self._fidelity

    def close(self, turn: Turn, content: Any, header: Any, fidelity: Fidelity) -> None:
        """The done item closes it: the first fragment with all that was carried."""
        form = turn.form
        if form.names and form.values(header) != self.values:
            raise ValueError
        content = self._contents.done(form.kind, self.pieces, content)
        if fidelity or self._fidelity:
            carried = self._fidelity
            if fidelity is not carried and (not fidelity or not carried or difference(fidelity, carried) is not None):
                raise ValueError
        self.closed(turn.to, content, fidelity)

    def closed(self, to: str, content: Any, fidelity: Fidelity) -> None:
        """It is closed by a done item with this content and fidelity; the state is `to`."""
        builder, form = self._builder, self.form
        assert form is not None
        if builder.keep:
            fields: dict[str, Any] = dict(zip(form.names, self.values, strict=True)) if form.names else {}
            fields[form.kind.grows] = content
            builder.done_items.append(cast(DoneItem, ITEM_CLASSES[form.kind.done](**fields, fidelity=fidelity)))
        self.form = self.repeat = self.growth = None
        builder.groups += 1
        builder.state = to

    # ── What it holds ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def unweighed(self) -> int:
        """Fragments that came since it was weighed."""
        return len(self.pieces) - self._weighed

    def bounded(self) -> bool:
        """Whether it is within the limit: beyond it, it cannot be compared, and is not kept."""
        assert self.form is not None
        self._size += sum(map(SIZE[self.form.kind.joins], self.pieces[self._weighed :]))
        self._weighed = len(self.pieces)
        return self._size <= self._builder.limits.group_bytes

    def as_builder(self, *, sketched: bool = False) -> ItemBuilder | None:
        """It as the machine has it; None where no group is open here. `sketched` leaves out what does not bear on
        what may come next, so that it takes no longer for a group of many fragments.
        """
        form, builder = self.form, self._builder
        if form is None:
            return None
        group = ItemBuilder(builder.definition, form.kind, Place(*self._opened), builder.limits)
        group.header = dict(zip(form.names, self.values, strict=True))
        group.fidelities += [self._fidelity] if self._fidelity else []
        if not sketched:
            group.carry(list(self.pieces))
        elif form.kind.closes is None:
            group.fragments = len(self.pieces)
        else:
            group.carry(list(self.pieces) if may_be_object(self.pieces[-1]) else self.pieces[-1:])
        return group

    def hand_over(self) -> None:
        """The machine goes on with it as it is."""
        if self.form is not None:
            self._builder.group = self.as_builder()
            self.form = self.repeat = self.growth = None
