"""`make bench`: what checking costs, as ratios measured side by side in one run; a table for benchmarks/README.md.

python benchmarks            print the tables
python benchmarks --write    and put them into benchmarks/README.md
python benchmarks --quick    a tenth of everything, to see that it works
"""

from __future__ import annotations

import io
import json
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from compileall import compile_dir
from importlib.metadata import version
from pathlib import Path
from statistics import median

import msgspec
import orjson
from corpus import BEGIN, KINDS, Corpus, line
from measuring import alone, busy_gain, cores, in_turn, whole_process
from plain import conforms

import mmsp_fsm
from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.recordings.reading import feed_recording

HERE = Path(__file__).parent
COMMAND = str(Path(sys.executable).with_name("mmsp-fsm"))
MARK = "<!-- measured -->"

Row = tuple[str, str, str, str]
"""What is measured, against what, the bar, and the figure."""


def check(data: bytes, *, keep: bool = False) -> Callable[[], None]:
    """The verdict on a stream (or its message) from its bytes."""

    def run() -> None:
        checker = StreamChecker(keep_message=keep)
        report = feed_recording(checker, io.BytesIO(data))
        assert report.conforming
        assert checker.explained == 0

    return run


def each(loads: Callable[[bytes], object], lines: list[bytes]) -> Callable[[], None]:
    """Decode each line, and nothing more."""

    def run() -> None:
        for one in lines:
            loads(one)

    return run


def times(ratio: float) -> str:
    """A ratio, as the table says it."""
    return f"{ratio:.2f} x"


# ── The table of section 6 ───────────────────────────────────────────────────────────────────────────────────────


def speed(events: int) -> Iterator[Row]:
    """One process, one conforming stream of a mix of kinds."""
    lines = Corpus().stream(events)
    data = b"".join(lines)
    alike = [one.rstrip() for one in lines]
    verdict, message, loads, from_bytes, by_msgspec, plain, by_json = in_turn(
        check(data), check(data, keep=True), each(orjson.loads, alike), each_from(orjson.loads, data),
        each(msgspec.json.decode, alike), lambda: conforms(alike), each(json.loads, alike), runs=5,
    )  # fmt: skip
    yield "verdict from bytes", "`orjson.loads` of each line", "at most 1.0 x", times(verdict / loads)
    yield "", "`orjson.loads` of each line, cut from the same bytes", "", times(verdict / from_bytes)
    yield "", "`msgspec.json.decode` of each line", "", times(verdict / by_msgspec)
    yield "", "`json.loads` of each line", "", times(verdict / by_json)
    yield "", "`json.loads` and a plain Python pass", "at least 6 x faster", f"{plain / verdict:.1f} x faster"
    yield "message from bytes", "`orjson.loads` of each line", "at most 1.3 x", times(message / loads)
    corpus = Corpus()
    streams = [corpus.stream(1000) for _ in range(events // 1000)]
    checks = [check(b"".join(stream), keep=True) for stream in streams]
    alike = [one.rstrip() for stream in streams for one in stream]
    messages, loads = in_turn(lambda: [run() for run in checks], each(orjson.loads, alike), runs=5)
    yield "messages of streams of 1,000 events", "the same", "", times(messages / loads)


def each_from(loads: Callable[[bytes], object], data: bytes) -> Callable[[], None]:
    """Decode each line of some bytes."""

    def run() -> None:
        for one in io.BytesIO(data):
            loads(one)

    return run


def kinds(events: int) -> Iterator[Row]:
    """Each kind alone."""
    for kind in KINDS:
        few = events // 50 if kind in ("image", "embedding") else events // 5
        lines = Corpus().stream(few, {kind: 1.0} if kind == "text" else {kind: 0.98, "text": 0.02})
        data = b"".join(lines)
        alike = [one.rstrip() for one in lines]
        verdict, message, loads = in_turn(check(data), check(data, keep=True), each(orjson.loads, alike))
        yield f"{kind} alone: verdict", "`orjson.loads` of each line", "", times(verdict / loads)
        yield f"{kind} alone: message", "`orjson.loads` of each line", "", times(message / loads)


def live(events: int) -> Iterator[Row]:
    """Events that are dicts already."""
    lines = Corpus().stream(events // 2)
    values = [json.loads(one) for one in lines]

    def feed() -> None:
        checker = StreamChecker(keep_message=False)
        for value in values:
            checker.feed(value)
        assert checker.explained == 0

    def enforced() -> None:
        for _ in mmsp_fsm.enforce(iter(values)):
            pass

    fed, loads = in_turn(feed, each(json.loads, lines), runs=5)
    yield "live `feed` of ready dicts", "`json.loads` of the same events", "at most 0.5 x", times(fed / loads)
    passed, loads = in_turn(enforced, each(json.loads, lines), runs=5)
    yield "`enforce` around ready dicts", "`json.loads` of the same events", "at most 0.5 x", times(passed / loads)


def explaining(events: int) -> Iterator[Row]:
    """The second pass alone: a mix with a fault in every hundredth event, and small events with a fault each."""
    for count in (events // 10, events):
        lines = Corpus().stream(count)
        lines[::100] = [one.replace(b'"role": "assistant"', b'"role": "model"', 1) for one in lines[::100]]
        explained, loads = in_turn(explain(lines), each(orjson.loads, lines), runs=3)
        name = f"explaining pass, {count:,} events of the mix"
        yield name, "`orjson.loads` of each line", "at most 40 x", times(explained / loads)
    lines = [line("delta", [{"type": "text.delta", "text": "word ", "index": 0}], BEGIN)] * (events // 10)
    explained, loads = in_turn(explain(lines), each(orjson.loads, lines), runs=3)
    yield "explaining pass, the smallest events with a fault each", "the same", "", times(explained / loads)


def explain(lines: list[bytes]) -> Callable[[], None]:
    """Every record by the machine."""

    def run() -> None:
        checker = StreamChecker(keep_message=False, recognise=False)
        checker.feed_records(lines, range(1, len(lines) + 1))
        assert checker.explained == len(lines)

    return run


def linear(events: int) -> Iterator[Row]:
    """Time for each event as streams grow."""
    for name, make in (("one group of fragments", fragments), ("faults of one event each", faults)):
        found = []
        for count in (events, events * 10):
            lines = make(count)

            def run(lines: list[bytes] = lines) -> None:
                checker = StreamChecker(keep_message=False)
                at = 0
                while at < len(lines):
                    at = checker.feed_records(lines, range(1, len(lines) + 1), at)
                assert len(checker.close().diagnostics) <= 200

            (seconds,) = in_turn(run, runs=1 if count > events else 3)
            found.append(seconds / count * 1e6)
            yield f"{name}, {count:,}", "", "linear", f"{found[-1]:.2f} µs an event"


def fragments(count: int) -> list[bytes]:
    """One group of text."""
    deltas = [line("delta", [{"type": "text.delta", "text": "word "}], BEGIN)] * count
    usage = {"cached_tokens": 0, "prompt_tokens": 1, "thoughts_tokens": None, "response_tokens": 1}
    done = line("delta", [{"type": "text.done", "text": "word " * count}], BEGIN)
    return [*deltas, done, line("stop", [], BEGIN, usage, "stop")]


def faults(count: int) -> list[bytes]:
    """Done items without a group."""
    return [line("delta", [{"type": "text.done", "text": "word"}], BEGIN)] * count


def growth(folder: Path, events: int) -> Iterator[Row]:
    """Recordings of many streams, as a whole process: time and memory as they grow, and two processes."""
    corpus = Corpus(2)
    block = b"".join(b"".join(corpus.stream(1000)) for _ in range(8))
    sizes = (10, 100, 1000) if events >= 100_000 else (10, 20, 40)
    for size in sizes:
        path = folder / f"{size}.jsonl"
        with path.open("wb") as file:
            while file.tell() < size << 20:
                file.write(block)
        wall, memory = whole_process(COMMAND, "validate", "--format", "jsonl", "--split", "stop", str(path))
        figure = f"{wall / size * 1000:.1f} ms a MB, {memory:.0f} MB of memory"
        yield f"{size:,} MB of many streams", "", "under 150 MB, the same for all", figure
    corpus_of_four = [str(folder / f"{sizes[-1]}.jsonl")] * 4
    split = ("validate", "--format", "jsonl", "--split", "stop")
    gains = []
    for _ in range(3):  # in turn, for what two processes gain changes with what else the machine does
        one, _ = whole_process(COMMAND, *split, *corpus_of_four)
        two, _ = whole_process(COMMAND, *split, "--jobs", "2", *corpus_of_four)
        gains.append((one / two, busy_gain(2)))
    yield (
        f"`--jobs 2`, four times {sizes[-1]:,} MB",
        f"two busy processes: {median(busy for _, busy in gains):.2f} x",
        "at least 0.9 x of that",
        times(median(ours / busy for ours, busy in gains)),
    )


def startup(folder: Path) -> Iterator[Row]:
    """A small file, as a whole process, of a package that is compiled as an installed one is."""
    compile_dir(Path(mmsp_fsm.__file__).parent, quiet=1)
    path = folder / "small.jsonl"
    path.write_bytes(b"".join(Corpus().stream(40, {"text": 1})))
    seconds = alone(COMMAND, "validate", path.name, folder=folder)
    yield "a small file, whole process", "", "at most 150 ms", f"{seconds * 1000:.0f} ms"


# ── The page ─────────────────────────────────────────────────────────────────────────────────────────────────────


def table(rows: Iterator[Row]) -> Iterator[str]:
    """The lines of a table in Markdown; each is told at once."""
    yield "| measured | against | bar | here |"
    yield "| --- | --- | --- | ---: |"
    for row in rows:
        sys.stderr.write(" | ".join(row) + "\n")
        yield f"| {' | '.join(row)} |"


def machine() -> str:
    """What was measured on, and with."""
    names = ("orjson", "msgspec", "pybase64", "transitions", "attrs", "cattrs")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    return f"Python {platform.python_version()} on {platform.machine()}, {cores()} virtual cores; {versions}."


def measure(events: int) -> str:
    """Everything, with streams of so many events."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts: list[Iterator[Row]] = [speed(events), live(events), explaining(events), linear(events)]
        lines = list(table(row for part in [*parts, growth(folder, events), startup(folder)] for row in part))
        alone_lines = list(table(kinds(events)))
    return "\n".join([machine(), "", *lines, "", "Each kind alone:", "", *alone_lines])


def main(arguments: list[str]) -> None:
    """Measure, print, and write if asked to."""
    found = measure(10_000 if "--quick" in arguments else 100_000)
    sys.stdout.write(found + "\n")
    if "--write" in arguments:
        page = HERE / "README.md"
        before, _, after = page.read_text(encoding="utf-8").partition(MARK)
        rest = after.partition(MARK)[2]
        page.write_text(f"{before}{MARK}\n\n{found}\n\n{MARK}{rest}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
