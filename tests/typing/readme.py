"""The README's Python, for mypy: a test holds it against the README."""

import sys
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given

from mmsp_fsm.testing.strategies import faults, streams

stream: Iterable[Any] = []

# ── README ──
import mmsp_fsm
from mmsp_fsm.model import TextDeltaItem, TextDoneItem, ToolCallDoneItem

report = mmsp_fsm.validate("trace.jsonl")  # a path, bytes, an open file, or an iterable of events
for diagnostic in report.diagnostics:
    print(diagnostic.code, diagnostic.event, diagnostic.message, diagnostic.expected)

message = mmsp_fsm.parse("trace.jsonl")  # UniMessage; raises StreamProtocolError or StreamFailedError
for item in message.content_items:
    match item:
        case TextDoneItem(text=text):
            print(text)
        case ToolCallDoneItem(name=name, arguments=arguments):
            print(name, arguments)

checker = mmsp_fsm.StreamChecker()
for event in stream:  # dicts, UniEvent objects, or an exception that the stream raised
    step = checker.feed(event)  # never raises; step.state, step.moves, step.diagnostics
report = checker.close()  # report.verdict, report.outcome, report.message

checker = mmsp_fsm.StreamChecker()
for event in stream:
    step = checker.feed(event)
    match step.what, step.item:  # opened, grew, closed, stopped, failed or nothing
        case "opened" | "grew", TextDeltaItem(text=text):
            print(text, end="", flush=True)
        case "closed", ToolCallDoneItem(name=name, arguments=arguments):
            print(f"{name}({arguments})")
        case "failed", _:
            print("the stream failed")
# checker.state is where the stream stands, checker.expected what may come next

for event in mmsp_fsm.enforce(stream):  # or: async for event in mmsp_fsm.enforce(stream)
    print(event)

with mmsp_fsm.enforce(stream, on_violation="record") as checked:  # or: async with; or on_violation=log.warning
    for event in checked:
        print(event)
print(checked.report.verdict, checked.report.message)

writer = mmsp_fsm.StreamWriter(sys.stdout.buffer, format="sse")
writer.open("text", "High water ")
writer.grow("at 14:20.")
writer.close()
writer.stop(prompt_tokens=10, response_tokens=5)

events = mmsp_fsm.unparse(message, size=8)  # a stream for a whole message, in fragments of 8 characters or bytes
assert mmsp_fsm.parse(events) == message

report = mmsp_fsm.assert_conforms(stream)  # an AssertionError that reads like the session above
assert report.outcome == "stopped"

def test_my_client(mmsp_streams):
    for event in mmsp_streams(stream):
        print(event)


@pytest.mark.mmsp(watch="gateway.Client.stream", ignore=["W5"])
def test_my_gateway(): ...

@given(streams())  # also messages()
def test_my_client_reads_every_stream(events):
    assert mmsp_fsm.validate(events).conforming


@given(faults(rules=["E3"]))  # or faults(), or faults(named="done_lost")
def test_my_client_finds_every_broken_group(faulty):
    assert faulty.errors  # each with code and event; faulty.lines, faulty.events, faulty.says
