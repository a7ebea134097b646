"""The two passes over one stream, in every way in which the recogniser can meet it. `test_agreement` holds the laws.

python tests/properties/agreement.py [EVENTS] [SEED]    as many generated and mutated events without Hypothesis
"""

from __future__ import annotations

import base64
import json
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.checker.diagnostics import StreamReport
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.testing.strategies import streams

ALL_RULES = frozenset(default().rules)

Feed = Callable[[StreamChecker, list[Any]], None]


def checked(records: list[Any], feed: Feed, *, recognise: bool = True, limits: Limits | None = None) -> StreamReport:
    """The report of `records`, with every rule selected."""
    checker = StreamChecker(rules=ALL_RULES, recognise=recognise, limits=limits)
    feed(checker, records)
    return checker.close()


def one_by_one(checker: StreamChecker, records: Iterable[Any]) -> None:
    """Feed records as they are: values, or bytes."""
    for record in records:
        if isinstance(record, bytes):
            checker.feed_record(record)
        else:
            checker.feed(record)


def without_steps(checker: StreamChecker, records: Iterable[Any]) -> None:
    """Feed only what is not taken without a step, as `enforce` does."""
    for record in records:
        if isinstance(record, bytes):
            checker.feed_record(record)
        elif not checker.takes(record):
            checker.feed(record)


def in_batches(size: int, end: bytes = b"\n") -> Feed:
    """Feed records as bytes, `size` at a time, with a line end behind each."""

    def feed(checker: StreamChecker, records: list[bytes]) -> None:
        for start in range(0, len(records), size):
            batch = [record + end for record in records[start : start + size]]
            at = 0
            while at < len(batch):
                at = checker.feed_records(batch, [None] * len(batch), at)

    return feed


LIVE_WAYS: dict[str, Feed] = {"live": one_by_one, "without steps": without_steps}
BYTES_WAYS: dict[str, Feed] = {
    "one by one": one_by_one,
    "in one batch": in_batches(1 << 30),
    "in batches of three": in_batches(3),
    "in batches of two, CRLF": in_batches(2, b"\r\n"),
}


def disagreements(records: list[Any], limits: Limits | None = None) -> Iterator[str]:
    """In which ways the recogniser makes a difference to what is said of `records`, bytes or values."""
    machine = checked(records, one_by_one, recognise=False, limits=limits)
    ways = BYTES_WAYS if all(isinstance(record, bytes) and record.strip() for record in records) else LIVE_WAYS
    for name, feed in ways.items():
        both = checked(records, feed, limits=limits)
        if both != machine or _order(both) != _order(machine):
            yield f"{name}: {_told(both)}, and the machine alone: {_told(machine)}"


def accepted(records: list[Any]) -> bool:
    """Whether the recogniser says yes to all of `records`."""
    checker = StreamChecker(rules=ALL_RULES)
    one_by_one(checker, records)
    return checker.explained == 0 and checker.close().conforming


def _order(report: StreamReport) -> str:
    """The message with its keys in order, which equality does not look at."""
    return repr(report.message)


def _told(report: StreamReport) -> Any:
    return [(one.code, one.event, one.pointer) for one in report.diagnostics] or (report.outcome, report.message)


# ── Streams without Hypothesis ───────────────────────────────────────────────────────────────────────────────────


def some_streams(count: int, seed: int) -> list[list[dict[str, Any]]]:
    """Generated streams, to be mutated again and again."""
    found: list[list[dict[str, Any]]] = []

    @settings(max_examples=count, database=None, deadline=None, suppress_health_check=list(HealthCheck),
              phases=[Phase.generate])  # fmt: skip
    @given(streams())
    def collect(events: list[dict[str, Any]]) -> None:
        found.append(events)

    random.seed(seed)
    collect()
    return found


def written(event: Any, choose: random.Random) -> bytes:
    """An event as one of many writers would write it."""
    if isinstance(event, bytes):
        return event
    if isinstance(event, dict) and choose.random() < 0.1:
        event = dict(choose.sample(list(event.items()), len(event)))
    separators = choose.choice([None, None, (",", ":"), (" , ", " : ")])
    text = json.dumps(event, ensure_ascii=choose.random() < 0.3, separators=separators, default=_as_text)
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text).encode()


def _as_text(value: bytes) -> str:
    return base64.b64encode(value).decode()


TOKENS = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b" ", b"\t", b"\r", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80",
          b"1", b"-", b".", b"e9", b"1e999", b"NaN", b"null", b"true", b"0", b"9" * 30, b"\\ud83d", b"\\u0061", b"=",
          b'"type": "text.done",', b'"fidelity": {},', b'"data": "",', b'"created_at": 5,',
          b',"content_items":[{"type":"text.delta","text":""}]', b'"arguments": {},']  # fmt: skip
"""What is put into a record, or in the place of some of it."""


def damaged(record: bytes, choose: random.Random) -> bytes:
    """A record with a few bytes lost, doubled, or others in their place."""
    at = choose.randint(0, len(record))
    lost = choose.choice([0, 0, 0, 1, 1, 2, 9])
    put = choose.choice([b"", choose.choice(TOKENS), record[at : at + choose.randint(1, 9)]])
    return record[:at] + put + record[at + lost :]


PREFIXES: dict[str, Any] = {"text": "é" + "x" * 1500, "bytes": b"q" * 5001, "whole": [0.5] * 700}
"""What makes contents long enough to be read in a way of their own."""


def lengthened(events: list[Any]) -> list[Any]:
    """The stream with the content of each group long: of its first fragment, and of its done item."""
    longer, opened = [], False
    for event in events:
        with suppress(LookupError, TypeError, AttributeError):
            item = event["content_items"][0]
            name, _, phase = item["type"].partition(".")
            kind = default().kinds[name]
            if not opened or phase == "done":
                prefix = " " * 1500 if kind.closes else PREFIXES[kind.joins]
                content = item[kind.grows]
                if type(content) is type(prefix):
                    event = {**event, "content_items": [{**item, kind.grows: prefix + content}]}
            opened = phase != "done"
        longer.append(event)
    return longer


def variations(events: list[Any], choose: random.Random) -> Iterator[list[bytes]]:
    """The stream as bytes, sound and damaged."""
    records = [written(event, choose) for event in events]
    yield records
    for _ in range(3):
        broken = list(records)
        at = choose.randrange(len(broken))
        broken[at] = damaged(broken[at], choose)
        if not {b"\n"[0], b"\r"[0]} & set(broken[at]) and broken[at].strip():
            yield broken


def main() -> None:
    """Run until so many events have been taken both ways."""
    from mmsp_fsm.testing.faults import MUTATORS
    from mmsp_fsm.testing.faults.basics import NotApplicable, RandomChoices, Stream

    due, seed = (int(word) for word in [*sys.argv[1:], "1000000", "1"][:2])
    choose, taken, number = random.Random(seed), 0, 0
    base = some_streams(400, seed)
    while taken < due:
        number += 1
        events: list[Any] = choose.choice(base)
        if choose.random() < 0.8:
            try:
                events = list(choose.choice(MUTATORS).make(Stream.of(events), RandomChoices(number))[0])
            except (NotApplicable, LookupError):  # the stream does not hold what the mutator needs
                continue
        if choose.random() < 0.2:
            events = lengthened(events)
        runs = [events, *variations(events, choose)] if events else []
        for records in runs:
            for found in disagreements(records):
                sys.exit(f"disagreement: {found}\n  {records!r}")
            taken += len(records)
    sys.stdout.write(f"{taken} events in {number} streams of seed {seed}: the passes agree\n")


if __name__ == "__main__":
    main()
