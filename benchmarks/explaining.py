"""What the explaining pass costs, as ratios against plain `json.loads` of the same lines, measured in turn in one run.

Run by `make bench`; prints the table of benchmarks/README.md. The fast accepting pass has rows of its own once it is
there. Times never fail a test.
"""

from __future__ import annotations

import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version

import mmsp_fsm

RUNS = 5
TIME = 1_760_000_000_000
USAGE = {"cached_tokens": 0, "prompt_tokens": 12, "thoughts_tokens": None, "response_tokens": 7}


def event(*items: dict[str, object], **more: object) -> bytes:
    """One event as a line of JSON."""
    usual = {"role": "assistant", "event_type": "delta", "content_items": list(items), "usage_metadata": None}
    return json.dumps({**usual, "finish_reason": None, "created_at": TIME, **more}).encode()


STOP = event(event_type="stop", usage_metadata=USAGE, finish_reason="stop")


def text(fragments: int) -> list[bytes]:
    """One group of text, conforming."""
    pieces = [f"word{number} " for number in range(fragments)]
    deltas = [event({"type": "text.delta", "text": piece}) for piece in pieces]
    return [*deltas, event({"type": "text.done", "text": "".join(pieces)}), STOP]


def faults(events: int) -> list[bytes]:
    """A fault in every event."""
    return [*[event({"type": "text.delta", "text": "a", "index": 0})] * events, STOP]


def images(groups: int) -> list[bytes]:
    """Images of 20 kB, each in one fragment."""
    data = "iVBORw0K" * 3_000
    item = {"data": data, "mime_type": "image/png"}
    pair = [event({"type": f"inline_data.{phase}", **item}) for phase in ("delta", "done")]
    return [*pair * groups, STOP]


def vectors(groups: int) -> list[bytes]:
    """Embeddings of 256 numbers."""
    item = {"embedding": [number / 257 for number in range(256)]}
    return [*[event({"type": f"embedding.{phase}", **item}) for phase in ("delta", "done")] * groups, STOP]


def check(lines: list[bytes]) -> None:
    """The explaining pass over one stream."""
    checker = mmsp_fsm.StreamChecker(keep_message=False)
    for line in lines:
        checker.feed_record(line)
    checker.close()


def decode(lines: list[bytes]) -> None:
    """What merely parsing the JSON costs with the standard library."""
    for line in lines:
        json.loads(line)


def seconds(function: Callable[[list[bytes]], None], lines: list[bytes]) -> float:
    """One timing."""
    start = time.perf_counter()
    function(lines)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("transitions", "attrs", "cattrs"))
    print(f"Python {platform.python_version()} on {platform.machine()}, {libraries}; median of {RUNS} runs in turn\n")
    print("| stream | events | json.loads | explaining pass | ratio | per event |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    rows = {
        "text, small fragments": text(10_000),
        "text, ten times as many": text(100_000),
        "a fault in every event": faults(10_000),
        "images of 20 kB": images(500),
        "vectors of 256": vectors(1_000),
    }
    check(rows["images of 20 kB"])
    for name, lines in rows.items():
        pairs = [(seconds(decode, lines), seconds(check, lines)) for _ in range(RUNS)]
        plain, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(b / a for a, b in pairs)
        each = ours / len(lines) * 1e6
        print(f"| {name} | {len(lines):,} | {plain:.2f} s | {ours:.2f} s | {ratio:.1f} | {each:.0f} µs |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
