"""The checker, sans I/O: one record in, one step out, a report at the end.

Two passes drive one stream's builders. The recogniser only says yes; where it cannot, the explainer goes on with the
machine, and hands back at the next clean boundary. No record is read twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from attrs import define

from mmsp_fsm.checker.diagnostics import Diagnostic, Outcome, StreamReport
from mmsp_fsm.checker.explainer import Explainer
from mmsp_fsm.checker.log import Ledger
from mmsp_fsm.checker.record_reader import RecordReader
from mmsp_fsm.checker.step import Step, model_item
from mmsp_fsm.fastpath.recognizer import Recogniser, bare
from mmsp_fsm.fastpath.shapes import make_forms
from mmsp_fsm.fastpath.typed_records import Decoders
from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.grammar.errors import DefinitionError, UnknownRuleError
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.machine.item_builder import ItemBuilder, Place
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.machine.stream_builder import Move, StreamBuilder
from mmsp_fsm.machine.symbols import ItemView, Sign
from mmsp_fsm.model.json_values import WHITE, NotJsonError, decode_record, plain, type_name
from mmsp_fsm.model.objects import ITEM_CLASSES, DoneItem, FinishReason, UniMessage, UsageMetadata
from mmsp_fsm.model.wire import is_model, to_dict

if TYPE_CHECKING:
    from mmsp_fsm.machine.machine import Machine


class StreamChecker:
    """Checks one stream, record by record. No event and no bytes that are fed to it make it raise.

    `rules` holds the codes to report (by default all but those that are off; raises UnknownRuleError for another word);
    `keep_message` tells whether the done items are kept for the report's message, which takes their memory. Raises
    DefinitionError where it is to keep them and `mmsp_fsm.model` was not generated from `definition`. `recognise=False`
    leaves out the first pass, which changes nothing but the time it takes.
    """

    def __init__(
        self,
        definition: Definition | None = None,
        *,
        rules: Iterable[str] | None = None,
        limits: Limits | None = None,
        keep_message: bool = True,
        recognise: bool = True,
    ) -> None:
        self.definition = definition if definition is not None else default()
        self.limits = limits if limits is not None else Limits()
        self._passes = _passes(self.definition)
        self.rules = _codes(self.definition, rules) if rules is not None else self._passes.rules
        if keep_message and (
            strange := [name for name, kind in self.definition.kinds.items() if kind.done not in ITEM_CLASSES]
        ):
            raise DefinitionError(f"mmsp_fsm.model has no class for {', '.join(strange)}: run `make generate`")
        self._builder = StreamBuilder(self.definition, self.limits, keep_message)
        self._recogniser = Recogniser(self._passes.decoders, self._builder, recognise)
        self._made: Explainer | None = None
        self._explained = 0
        self._report: StreamReport | None = None

    @property
    def state(self) -> str:
        """The machine's state."""
        return self._builder.state

    @property
    def expected(self) -> tuple[str, ...]:
        """The symbols that may come next, without those that a guard would refuse."""
        group = self._recogniser.group.as_builder(sketched=True) or self._builder.group
        here = Move(Sign("end", ""), Place(self.events), self.state, self.state, group=group)
        here.pieces = len(group.pieces) if group is not None else 0
        return self._builder.expected(here)

    @property
    def events(self) -> int:
        """Records taken so far."""
        return self._builder.events

    @property
    def explained(self) -> int:
        """Records that the first pass did not say yes to, so that the machine took them."""
        return self._explained

    @property
    def ended(self) -> bool:
        """Whether a stop or an error has come, so that whatever follows is a violation."""
        return self._builder.end is not None

    @property
    def outcome(self) -> Outcome:
        """How the stream ended, as far as it is known: `truncated` until a stop or an error has come."""
        end = self._builder.end
        return "truncated" if end is None else "stopped" if end.symbol == "stop" else "failed"

    def feed(self, event: object, *, line: int | None = None) -> Step:
        """Take one event: a dict as JSON or the protocol's clients give it, a model object, or an exception that the
        stream raised. `line` is its 1-based line where it has one.
        """
        builder, number = self._builder, self._builder.events
        if self._recogniser.ready and type(event) is dict:
            state = builder.state
            if self._recogniser.take_growth(event) or self._recogniser.take(event, number, line):
                return Step(number, builder.state, (), (), (self, event, line, state))
        try:
            if isinstance(event, BaseException):
                event = self._error_record(event)
            value = plain(to_dict(event) if is_model(event) else event, self.limits.nesting)
        except (NotJsonError, RecursionError) as error:
            return self.feed_unreadable(f"the event cannot be read: {error}", line=line)
        except Exception as error:  # a Python object may do anything when it is looked at
            message = f"the event is a Python {type_name(event)} that raises {type_name(error)} when it is read"
            return self.feed_unreadable(message, line=line)
        if self._recogniser.ready and type(value) is dict and type(event) is not dict:
            state = builder.state
            if self._recogniser.take(value, number, line):
                return Step(number, builder.state, (), (), (self, value, line, state))
        return self._explain(value, False, Place(number, line, value))

    def takes(self, event: object) -> bool:
        """Take one event if nothing is to be said of it; if not, nothing has happened, and it is for `feed`.

        For who wants no step: most events need none, and making it costs a part of what looking at them costs.
        """
        first = self._recogniser
        if not first.ready or type(event) is not dict:
            return False
        return first.take_growth(event) or first.take(event, self._builder.events, None)

    def feed_record(self, data: bytes, *, line: int | None = None) -> Step:
        """Take one record as the bytes of its JSON text. Raises TypeError where it is no bytes."""
        if type(data) is not bytes:
            if not isinstance(data, (bytes, bytearray, memoryview)):
                raise TypeError(f"a record is bytes, not {type_name(data)}: an event that is decoded is for `feed`")
            data = bytes(data)
        if len(data) > self.limits.record_bytes:
            message = f"the record is longer than {self.limits.record_bytes} bytes"
            return self.feed_unreadable(message, data=data[:256], line=line)
        builder, number = self._builder, self._builder.events
        if self._recogniser.ready:
            state = builder.state
            if self._recogniser.take_records([data], [line], 0) and builder.events > number:
                return Step(number, builder.state, (), (), (self, data, line, state))
        return self._explain_record(data, line)

    def feed_records(self, records: list[bytes], lines: Sequence[int | None], at: int = 0) -> int:
        """Take records as `feed_record` does, many at once and without a step each, from the index `at` on.

        `lines` are their 1-based lines. A record may have its line end behind it, and is none where there is nothing
        but white space; none is longer than the limit. Gives the index behind the record that ended the stream, or
        behind the last; called again, it takes what follows.
        """
        builder, recogniser = self._builder, self._recogniser
        ended = builder.end is not None
        while at < len(records) and (ended or builder.end is None):
            if recogniser.ready:
                at = recogniser.take_records(records, lines, at)
            if at < len(records) and (ended or builder.end is None):
                record = bare(records[at])
                if record.strip(WHITE):
                    self._explain_record(record, lines[at])
                at += 1
        return at

    def feed_unreadable(self, message: str, *, data: bytes = b"", line: int | None = None) -> Step:
        """Take a record that could not be read at all; `message` says why, `data` is what there is of it."""
        place = Place(self._builder.events, line, data)
        return self._step(place, lambda explainer: explainer.take_unreadable(message, place))

    def note(self, code: str, message: str, *, line: int | None = None) -> Diagnostic | None:
        """Report a rule of the recording itself, which no record shows (W510), at the end of what was read.

        Raises UnknownRuleError for a code that the catalogue does not have.
        """
        _codes(self.definition, [code])
        return self._explainer.note(code, message, Place(self._builder.events, line))

    def close(self, *, line: int | None = None) -> StreamReport:
        """Nothing more comes: the report. `line` is the 1-based line at which the next record would have stood."""
        if self._report is None:
            if self._made is not None or self._builder.end is None:
                self._explainer.close(Place(self._builder.events, line))
            self._report = self._make_report()
        return self._report

    @property
    def unparsed(self) -> ItemBuilder | None:
        """The first group whose done item stood where its joined text could not become one."""
        return self._builder.unparsed

    def move_of(self, step: Step, event: Any, line: int | None, before: str) -> Move:
        """The move of an event that was taken without a fault, read once more."""
        value = decode_record(bare(event), self.limits.nesting).value if isinstance(event, bytes) else event
        sign = RecordReader(self.definition).read(plain(value, self.limits.nesting), True).signs[0]
        outcome = self.definition.cells[before, sign.symbol]
        return Move(sign, Place(step.event, line, event), before, step.state, outcome)

    # ── The explaining pass ──────────────────────────────────────────────────────────────────────────────────

    @property
    def _explainer(self) -> Explainer:
        """The explainer, made for the first record that needs it; the recogniser hands over."""
        self._recogniser.hand_over()
        if self._made is None:
            self._made = Explainer(self._passes.machine, self._builder, self.rules)
        return self._made

    def _explain_record(self, data: bytes, line: int | None) -> Step:
        decoded, self._recogniser.decoded = self._recogniser.decoded, None
        if decoded is None:
            try:
                decoded = decode_record(data, self.limits.nesting)
            except NotJsonError as error:
                return self.feed_unreadable(f"the record is not JSON: {error}", data=data, line=line)
        return self._explain(decoded.value, decoded.clean, Place(self._builder.events, line, data))

    def _explain(self, value: Any, clean: bool, place: Place) -> Step:
        return self._step(place, lambda explainer: explainer.take(value, clean, place))

    def _step(self, place: Place, take: Callable[[Explainer], tuple[Move, ...]]) -> Step:
        explainer = self._explainer
        start = len(explainer.ledger.kept)
        self._builder.events += 1
        self._explained += 1
        moves = take(explainer)
        self._recogniser.resume()
        return Step(place.event, self._builder.state, tuple(explainer.ledger.kept[start:]), moves)

    def _error_record(self, error: BaseException) -> dict[str, Any]:
        """The error record that an exception of the stream stands for."""
        try:
            message = str(error)
        except Exception:  # its text is the stream's, and so is what happens when it is asked for
            message = ""
        return {self.definition.error.key: {"type": type_name(error), "message": message}}

    # ── The report ───────────────────────────────────────────────────────────────────────────────────────────

    def _make_report(self) -> StreamReport:
        builder, end = self._builder, self._builder.end
        ledger = self._made.ledger if self._made is not None else Ledger(self.definition, self.rules, self.limits)
        done_items = tuple(_done_item(item) for item in builder.done_items) if ledger.sound else ()
        message = None
        if ledger.sound and end is not None and end.symbol == "stop" and builder.keep:
            message = UniMessage(
                content_items=list(done_items),
                usage_metadata=UsageMetadata(**(end.usage or {})),
                finish_reason=cast(FinishReason, end.reason),
                created_at=end.created_at or 0,
            )
        failed = ledger.sound and end is not None and end.symbol == "error"
        return StreamReport(
            outcome=self.outcome,
            events=builder.events,
            groups=builder.groups,
            errors=ledger.errors,
            warnings=ledger.warnings,
            diagnostics=tuple(ledger.kept),
            message=message,
            error=end.error if failed and end is not None else None,
            done_items=done_items,
            counts=ledger.counts,
        )


def _done_item(item: ItemView | DoneItem) -> DoneItem:
    """The model object of a done item that was read without a fault."""
    return item if not isinstance(item, ItemView) else cast(DoneItem, model_item(item))


def _codes(definition: Definition, rules: Iterable[str]) -> frozenset[str]:
    """The codes in `rules`, each a rule's."""
    codes = frozenset([rules] if isinstance(rules, str) else rules)
    if strange := [code for code in codes if code not in definition.rules]:
        raise UnknownRuleError(f"there is no rule with the code {strange[0]!r}; families and names are for `select`")
    return codes


@define(eq=False)
class _Passes:
    """What the two passes are made of; it holds no stream's state, so that all streams of a definition share it."""

    definition: Definition
    decoders: Decoders
    rules: frozenset[str]
    _machine: Machine | None = None

    @property
    def machine(self) -> Machine:
        """The machine, made when something is to be explained: many a run needs none, nor what it is made of."""
        if self._machine is None:
            from mmsp_fsm.machine.machine import Machine

            self._machine = Machine(self.definition)
        return self._machine


_PASSES: dict[int, _Passes] = {}


def _passes(definition: Definition) -> _Passes:
    passes = _PASSES.get(id(definition))
    if passes is None or passes.definition is not definition:
        passes = _PASSES[id(definition)] = _Passes(
            definition, Decoders(make_forms(definition)), definition.default_rules
        )
    return passes
