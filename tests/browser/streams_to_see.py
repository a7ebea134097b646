"""Streams of the shapes that a page has to show well."""

import base64
import json

from tests.streams import BROKEN, TIME, c, c_done, d, d_done, delta, error, stop, t, t_done

WORDS = ["the", "tide", "at", "Brest", "is", "high", "when", "moon", "and", "sun", "pull", "together"]

HOSTILE = [
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    "javascript:window.hacked=1",
    "]]>",
    "<!--<script>",
    "<img src=x onerror=window.hacked=1>",
    "<svg onload=window.hacked=1>",
    "\u202eevil\u2066",
    "\u2028\u2029&lt;&amp;",
    "\ud83d",
    "\x1b[31m\x00",
    "${title} $data",
    "' onload='window.hacked=1",
]

ABSURD = [0, -5, TIME, TIME + 10, 10**15 * 2, TIME - 500, None, "x", TIME + 90]
"""Times of which most are none."""


def thinking(text, **more):
    return delta({"type": "thinking.delta", "thinking": text, **more})


def timed(events, first=420):
    """These events with times as a model would make them: steady, and a silence after each done item."""
    out, at = [], first
    for number, event in enumerate(events):
        out.append({**event, "created_at": TIME + at})
        done = event["content_items"] and event["content_items"][0]["type"].endswith(".done")
        at += 900 if done else 8 + number * 7 % 25
    return out


def conforming():
    thought, text = ([WORDS[n % len(WORDS)] + " " for n in range(count)] for count in (60, 120))
    arguments = '{"port": "Brest", "days": 2, "metric": true}'
    sound = [bytes([n]) * 300 for n in range(20)]
    return timed([
        *map(thinking, thought), delta({"type": "thinking.done", "thinking": "".join(thought)}),
        *map(t, text), t_done("".join(text)),
        c("", "tide_table", "toolu_1"), *(c(arguments[at : at + 4]) for at in range(0, len(arguments), 4)),
        c_done(json.loads(arguments), "tide_table", "toolu_1"),
        *(d(base64.b64encode(one).decode()) for one in sound), d_done(base64.b64encode(b"".join(sound)).decode()),
        stop("tool_call"),
    ])  # fmt: skip


def violating():
    events = conforming()
    events.insert(100, {**thinking("late"), "created_at": events[99]["created_at"] + 5})
    events[150] = {**events[150], "strange": 1}
    del events[-2]
    return events


def hostile():
    return [
        *map(t, HOSTILE),
        t_done("".join(HOSTILE)),
        c("", "</script><b>", '"><script>window.hacked=1</script>'),
        delta({"type": "<script>window.hacked=1</script>"}),
        {"<script>": 1},
        error("<script>window.hacked=1</script>"),
    ]


def huge(groups=100, fragments=199):
    """20,000 events and a stop, with a fault in two groups."""
    events = []
    for number in range(groups):
        words = [WORDS[(number + at) % len(WORDS)] + " " for at in range(fragments)]
        events += [*map(t, words), t_done("".join(words) + ("x" if number in (40, 77) else ""))]
    return timed([*events, stop()])


def write(path, events, tail=b""):
    path.write_bytes("\n".join(map(json.dumps, events)).encode() + b"\n" + tail)
    return path


def all_streams(folder):
    """Each stream as a file, by its name."""
    return {
        "conforming": write(folder / "conforming.jsonl", conforming()),
        "violating": write(folder / "violating.jsonl", violating()),
        "hostile": write(folder / "hostile.jsonl", hostile()),
        "torn": write(folder / "torn.jsonl", conforming()[:140], BROKEN),
        "empty": write(folder / "empty.jsonl", [], b""),
        "absurd": write(folder / "absurd.jsonl", [{**t("a"), "created_at": time} for time in ABSURD]),
        "huge": write(folder / "huge.jsonl", huge()),
    }  # fmt: skip
