"""The README's Python, for mypy: a test holds it against the README."""

from collections.abc import Iterable

stream: Iterable[object] = []

# ── README ──
import mmsp_fsm
from mmsp_fsm.model import TextDoneItem, ToolCallDoneItem

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
