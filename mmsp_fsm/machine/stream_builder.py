"""The stream's builder: what the machine's actions do to the open group, the books and the message.

The machine decides which action runs; each action takes the `Move` it runs for and adds what it finds to it. Groups
that were left open stand in the books: outside the machine, and silent.
"""

from __future__ import annotations

from attrs import define, field

from mmsp_fsm.grammar.definition import Cell, Definition, Guard, Kind
from mmsp_fsm.machine.item_builder import ItemBuilder, Place, may_be_object
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.machine.symbols import Finding, ItemView, Sign
from mmsp_fsm.model.json_values import Decoded, NotJsonError, name_of, point, show
from mmsp_fsm.model.objects import DoneItem


@define
class Move:
    """One symbol taken by the machine: from which state, by which outcome, to which state, and what was found.

    `detail` is what a guard found out; `group` the group that was open before, with `pieces` fragments' contents, where
    the machine made the move (the recogniser, of whose moves nothing is to be said, makes none).
    """

    sign: Sign
    place: Place
    before: str
    after: str
    outcome: Cell | Guard | None = None
    findings: list[Finding] = field(factory=list)
    detail: str = ""
    group: ItemBuilder | None = None
    pieces: int = 0
    late: bool = False

    @property
    def symbol(self) -> str:
        """The symbol that was read."""
        return self.sign.symbol

    @property
    def action(self) -> str:
        """What the builders did, such as `open` or `leave+open`; `late` for an item of a group left open."""
        return "late" if self.late else "+".join(self.outcome.do) if self.outcome is not None else ""

    @property
    def item(self) -> ItemView:
        """The item of a `K.delta` or `K.done` symbol."""
        assert self.sign.item is not None
        return self.sign.item


@define(eq=False)
class Books:
    """The groups that were left open: their late items are their own, silently, until the late done item."""

    _told: dict[str, dict[str, None]] = field(factory=dict)

    def __bool__(self) -> bool:
        return bool(self._told)

    def __contains__(self, kind: Kind) -> bool:
        return kind.name in self._told

    def enter(self, group: ItemBuilder) -> None:
        """Put a group in. Only what tells it from others is kept."""
        self._told.setdefault(group.kind.name, {})[group.told_by] = None

    def owner(self, item: ItemView, open_group: ItemBuilder | None) -> str | None:
        """What tells the group whose late item this is; None where it belongs to the open group, or begins one."""
        told = self._told.get(item.kind.name)
        if told is None:
            return None
        mine = item.told_by
        if open_group is not None and open_group.kind is item.kind:
            # Only a kind whose groups can be told apart gets here; what carries nothing goes to the open group.
            return mine if mine and mine != open_group.told_by and mine in told else None
        if mine in told:
            return mine
        if item.kind.told_by is None or not mine or item.phase == "done":
            return next(reversed(told))
        return None

    def cross_off(self, kind: Kind, told_by: str) -> None:
        """Take a group out: its late done item has come."""
        told = self._told[kind.name]
        del told[told_by]
        if not told:
            del self._told[kind.name]


@define(eq=False)
class StreamBuilder:
    """The state of one stream, and the hands of its machine: one method for each action and each guard.

    `events` counts the records taken, `end` is the sign that ended the stream; `latest` is the latest time that came,
    in milliseconds, or the earliest that can be in them, and `latest_in_seconds` the latest that looks like seconds.
    `whole` is false once a fault leaves the message unknown; `seen` holds the kinds of which an item came; `unparsed`
    is the first group whose done item stood where its joined text could not become one.
    """

    definition: Definition
    limits: Limits
    keep: bool
    state: str = field(init=False)
    latest: int = field(init=False)
    group: ItemBuilder | None = None
    events: int = 0
    end: Sign | None = None
    latest_in_seconds: int | None = None
    books: Books = field(factory=Books)
    groups: int = 0
    done_items: list[ItemView | DoneItem] = field(factory=list)
    seen: dict[str, None] = field(factory=dict)
    told: dict[str, set[str]] = field(factory=dict)
    whole: bool = True
    doubted: bool = False
    unparsed: ItemBuilder | None = None

    def __attrs_post_init__(self) -> None:
        self.state = self.definition.initial.name
        self.latest = self.definition.time.milliseconds_from

    @property
    def clean(self) -> bool:
        """Whether no earlier fault bears on what comes next: no group is open, left open, or in doubt."""
        return self.state == self.definition.initial.name and not self.books and not self.doubted

    # ── Actions ──────────────────────────────────────────────────────────────────────────────────────────────

    def open(self, move: Move) -> None:
        """A first fragment opens a group."""
        item = move.item
        group = ItemBuilder(self.definition, item.kind, move.place, self.limits, found=move.findings)
        if self.doubted:
            group.distrust()  # its first fragment may have been the record in doubt
        if item.kind in self.books:
            group.distrust(shared=True)
        self.doubted = False
        group.open(item)
        self._enter(group, move)

    def grow(self, move: Move) -> None:
        """A later fragment grows the open group."""
        group, outcome = self._open(move), move.outcome
        if isinstance(outcome, Guard) and outcome.when == "another_name":
            group.distrust(shared=True)  # whose it is cannot be told, and that has been said
        group.grow(move.item, outcome.rule if isinstance(outcome, Guard) else None)

    def close(self, move: Move) -> None:
        """The done item closes the open group."""
        self._open(move).close(move.item, compare_content=not isinstance(move.outcome, Guard))
        self._complete(move.item)

    def leave(self, move: Move) -> None:
        """The open group is left open: from now on it stands in the books."""
        self.whole = False
        self.books.enter(self._open(move))
        self.group = None

    def stray(self, move: Move) -> None:
        """A done item came with no group open."""
        self.doubted = False
        self._see(move.item)

    def doubt(self, move: Move) -> None:
        """A record that the protocol does not know: if it may have been a fragment, its group is not compared."""
        self.whole = False
        if not move.sign.doubtful:
            return
        if self.group is not None:
            self.group.distrust()
        else:
            self.doubted = True

    def lose(self, _: Move) -> None:
        """A record that could have been anything."""
        self.whole = False
        if self.group is not None:
            self.group.distrust()

    def resume(self, move: Move) -> None:
        """A fragment after such a record: of the group that was open, or of one whose beginning was lost."""
        item = move.item
        known = self.group if self.group is not None and self.group.kind is item.kind else None
        group = ItemBuilder(self.definition, item.kind, move.place, self.limits, found=move.findings)
        group.resume(item, known)
        if item.kind in self.books:
            group.distrust(shared=True)
        self.doubted = False
        self._enter(group, move, first=known is None or item.told_by not in ("", known.told_by))

    def settle(self, move: Move) -> None:
        """A done item after such a record closes whatever was open."""
        self._complete(move.item)

    def finish(self, move: Move) -> None:
        """The stop event ends the stream. Protocol, "Grammar"."""
        self.group = None
        check = self.definition.check
        reason = self.definition.finish_reasons.get(move.sign.reason or "")
        where = "/finish_reason"
        if reason is not None and reason.needs is not None and self.whole and reason.needs not in self.seen:
            message = f"finish_reason is {show(move.sign.reason)}, and the message holds no {reason.needs}"
            move.findings.append(Finding(check.reason_without_item, where, message))
        if reason is not None and reason.denies is not None and reason.denies in self.seen:
            message = f"finish_reason is {show(move.sign.reason)}, and the message holds a {reason.denies}"
            move.findings.append(Finding(check.item_without_reason, where, message))
        if self.whole and all(self.definition.kinds[name].hidden for name in self.seen):
            holds = "nothing but " + " and ".join(self.seen) if self.seen else "no item"
            message = f"the stream stops, and its message holds {holds}"
            move.findings.append(Finding(check.nothing_but_hidden, "", message))

    def fail(self, move: Move) -> None:
        """An error ends the stream. Protocol, "On the wire"."""
        group, name = self.group, self._error_type(move)
        if group is None or name is None or group.kind.cut_short_by != name or not group.judged():
            return
        parsed = group.parsed()
        if not isinstance(parsed, NotJsonError) and isinstance(parsed.value, dict):
            message = f"{name} stands in place of a done item, yet the joined {group.kind.grows} are a JSON object"
            where = point(self.definition.error.key, "type")
            move.findings.append(Finding(self.definition.check.cut_short_unwarranted, where, message))

    # ── Guards: each says why it refuses, or nothing ─────────────────────────────────────────────────────────

    def another_group(self, move: Move) -> bool:
        """A fragment that begins another group than the open one, by what it bears."""
        return self.another_name(move) and move.item.complete

    def another_name(self, move: Move) -> bool:
        """A fragment that bears another name than the open group's."""
        mine, other = self._open(move).told_by, move.item.told_by
        if not mine or not other or mine == other:
            return False
        move.detail = f"{show(other)} while {show(mine)} is open"
        return True

    def second_piece(self, move: Move) -> bool:
        """A second fragment in a group that has exactly one; said once a group."""
        return self._open(move).fragments > 0 and not self._said(move, "second_piece")

    def second_content(self, move: Move) -> bool:
        """A second fragment with content in a group whose header says that it comes in one; said once a group."""
        group = self._open(move)
        again = group.with_content > 0 and move.item.has_content and group.in_one_piece()
        return again and not self._said(move, "second_content")

    def not_json(self, move: Move) -> bool:
        """A done item where the joined text is not JSON."""
        parsed = self._open(move).judged() and self._open(move).parsed()
        return isinstance(parsed, NotJsonError) and self._unparsable(move, str(parsed))

    def not_an_object(self, move: Move) -> bool:
        """A done item where the joined text is JSON of another type than an object."""
        parsed = self._open(move).judged() and self._open(move).parsed()
        if not isinstance(parsed, Decoded) or isinstance(parsed.value, dict):
            return False
        return self._unparsable(move, f"it is {name_of(parsed.value)}")

    def cut_short_elsewhere(self, move: Move) -> bool:
        """An error that stands in place of a done item, where no group is open that it could cut short."""
        name = self._error_type(move)
        kinds = [kind for kind in self.definition.kinds.values() if name is not None and kind.cut_short_by == name]
        if not kinds or self.doubted or any(kind in self.books for kind in kinds):
            return False
        if self.group is not None and self.group.kind in kinds:
            return False
        move.detail = show(name)
        return True

    # ── What would really work ───────────────────────────────────────────────────────────────────────────────

    def expected(self, move: Move) -> tuple[str, ...]:
        """The symbols that would have been legal where `move` was made, without those that a guard would refuse."""
        return tuple(
            cell.symbol
            for cell in self.definition.row(move.before)
            if cell.legal and not any(_refuses(guard, move) for guard in cell.guards)
        )

    # ── Late items ───────────────────────────────────────────────────────────────────────────────────────────

    def take_late(self, item: ItemView) -> bool:
        """Whether `item` belongs to a group in the books; then it is taken as its own, silently."""
        owner = self.books.owner(item, self.group)
        if owner is None:
            return False
        if item.phase == "done":
            self.books.cross_off(item.kind, owner)
            self.groups += 1
        return True

    # ── Details ──────────────────────────────────────────────────────────────────────────────────────────────

    def _open(self, move: Move) -> ItemBuilder:
        """The open group; what it finds from now on, `move` found."""
        assert self.group is not None, f"no group is open in {self.state}"
        self.group.found = move.findings
        return self.group

    def _enter(self, group: ItemBuilder, move: Move, first: bool = True) -> None:
        self.group = group
        self.seen[group.kind.name] = None
        name = group.told_by
        if not name or not first:
            return
        told = self.told.setdefault(group.kind.name, set())
        if name in told:
            field = point(group.kind.told_by or "")
            message = f"{group.kind.told_by} {show(name)} was an earlier {group.kind.name}'s in this message"
            move.findings.append(Finding(self.definition.check.group_id_reused, move.item.pointer + field, message))
        told.add(name)

    def _complete(self, item: ItemView) -> None:
        self.group = None
        self.groups += 1
        self._see(item)

    def _see(self, item: ItemView) -> None:
        self.seen[item.kind.name] = None
        if self.keep:
            self.done_items.append(item)

    def _unparsable(self, move: Move, detail: str) -> bool:
        move.detail = detail
        self.unparsed = self.unparsed or self.group
        return True

    def _said(self, move: Move, when: str) -> bool:
        cell, said = self.definition.cells[move.before, move.symbol], self._open(move).said
        return any(guard.when == when and guard.rule in said for guard in cell.guards)

    def _error_type(self, move: Move) -> str | None:
        name = move.sign.error.get("type") if move.sign.error is not None else None
        return name if isinstance(name, str) else None


def _refuses(guard: Guard, move: Move) -> bool:
    """Whether a guard would refuse its symbol where `move` was made, whatever the item."""
    group = move.group
    if group is None:
        return False
    if guard.when == "second_piece":
        return group.fragments > 0
    if guard.when not in ("not_json", "not_an_object") or not group.judged():
        return False
    if move.pieces and not may_be_object(group.pieces[move.pieces - 1]):
        return True
    parsed = group.parsed(move.pieces)
    if isinstance(parsed, NotJsonError):
        return guard.when == "not_json"
    return guard.when == "not_an_object" and not isinstance(parsed.value, dict)
