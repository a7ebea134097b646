"""The corpus of the benchmarks: conforming streams as servers write them, made here, the same on every machine.

By events 65 % are text and thinking, 20 % calls, 7 % audio in chunks of 300 bytes, the rest images of 20 kB and
embeddings of 256 numbers, half and half.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from typing import Any

BEGIN = 1_760_000_000_000
USAGE = {"cached_tokens": 0, "prompt_tokens": 812, "thoughts_tokens": None, "response_tokens": 344}

TEXT = """
    the model answers that every stream of events ends with one stop and nothing follows it therefore we count them
    über Straße naïve façade señor привет мир поток событий 世界 こんにちは 数据 流 مرحبا عالم שלום नमस्ते 😀 🚀
    def return None True for item in range(10): print(f'{item}') {"a": [1, 2]} https://example.org/a?b=c&d=e
"""
WORDS = TEXT.split()

KINDS = {"text": 0.45, "thinking": 0.20, "call": 0.20, "audio": 0.07, "image": 0.04, "embedding": 0.04}
"""What part of the events each makes up."""

Item = dict[str, Any]


class Corpus:
    """Streams from one seed."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self._calls = 0

    def stream(self, events: int, kinds: dict[str, float] = KINDS) -> list[bytes]:
        """The lines of one stream of about so many events, with a mix of kinds."""
        counts = dict.fromkeys(kinds, 0)
        items: list[Item] = []
        while len(items) < events - 1:
            kind = max(kinds, key=lambda name: kinds[name] * (len(items) + 1) - counts[name])
            group = list(getattr(self, f"_{kind}")())
            counts[kind] += len(group)
            items += group
        time, lines = BEGIN, []
        for item in items:
            time += self._random.randint(0, 40)
            lines.append(line("delta", [item], time))
        return [*lines, line("stop", [], time, USAGE, "tool_call" if counts.get("call") else "length")]

    def _words(self, low: int, high: int) -> str:
        return " ".join(self._random.choices(WORDS, k=self._random.randint(low, high))) + " "

    def _text(self, kind: str = "text") -> Iterator[Item]:
        pieces = [self._words(1, 3) for _ in range(self._random.randint(10, 60))]
        for piece in pieces:
            yield {"type": f"{kind}.delta", kind: piece}
        yield {"type": f"{kind}.done", kind: "".join(pieces)}

    def _thinking(self) -> Iterator[Item]:
        *deltas, done = self._text("thinking")
        signature = {"signature": base64.b64encode(self._random.randbytes(90)).decode()}
        yield from deltas
        yield {"type": "thinking.delta", "thinking": "", "fidelity": signature}
        yield done | {"fidelity": signature}

    def _call(self) -> Iterator[Item]:
        self._calls += 1
        header = {"name": "edit_file", "tool_call_id": f"call_{self._calls:024x}"}
        options = {"dry_run": False, "tags": self._words(2, 5).split()}
        arguments = {"path": "src/main.py", "line": self._calls, "ratio": 0.25, "options": options, "force": True}
        arguments["text"] = self._words(5, 60)
        text = json.dumps(arguments, ensure_ascii=False)
        size = self._random.randint(4, 16)
        yield {"type": "tool_call.delta", **header, "arguments": ""}
        for start in range(0, len(text), size):
            yield {"type": "tool_call.delta", "name": "", "tool_call_id": "", "arguments": text[start : start + size]}
        yield {"type": "tool_call.done", **header, "arguments": arguments}

    def _audio(self) -> Iterator[Item]:
        chunks = [self._random.randbytes(300) for _ in range(self._random.randint(20, 60))]
        for chunk in chunks:
            yield self._data("delta", chunk, "audio/pcm")
        yield self._data("done", b"".join(chunks), "audio/pcm")

    def _image(self) -> Iterator[Item]:
        data = self._random.randbytes(20_000)
        yield self._data("delta", data, "image/png")
        yield self._data("done", data, "image/png")

    def _embedding(self) -> Iterator[Item]:
        vector = [self._random.uniform(-1, 1) for _ in range(256)]
        yield {"type": "embedding.delta", "embedding": vector}
        yield {"type": "embedding.done", "embedding": vector}

    @staticmethod
    def _data(phase: str, data: bytes, mime_type: str) -> Item:
        return {"type": f"inline_data.{phase}", "data": base64.b64encode(data).decode(), "mime_type": mime_type}


def line(event_type: str, items: list[Item], time: int, usage: Item | None = None, reason: str | None = None) -> bytes:
    """One event as the protocol's own server writes it."""
    event = {"role": "assistant", "event_type": event_type, "content_items": items, "usage_metadata": usage,
             "finish_reason": reason, "created_at": time}  # fmt: skip
    return json.dumps(event, ensure_ascii=False).encode() + b"\n"
