"""The page of a trace, as text: its policy, what it escapes, its bound, and the groups that it tells."""

import base64
import hashlib
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmsp_fsm.engines.checking import CheckOptions, walk_source
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.output.trace import page
from mmsp_fsm.output.trace.contents import Budget, embedded, shown
from mmsp_fsm.output.trace.page import PageTrace, _file
from mmsp_fsm.output.trace.times import Stopwatch, created_at
from mmsp_fsm.recordings.sources import Source, Unreadable
from tests.streams import BROKEN, HI, TIME, c, c_done, d, d_done, delta, e, e_done, error, stop, t, t_done


def written(tmp_path, *records, name="t.jsonl"):
    """The page of a stream; bytes are records that are no JSON."""
    path = tmp_path / name
    path.write_bytes(b"\n".join(r if isinstance(r, bytes) else json.dumps(r).encode() for r in records))
    out, watch = io.StringIO(), Stopwatch()
    writer = PageTrace(out, default(), Limits())
    writer.begin()
    for one in walk_source(Source(name, path), CheckOptions()):
        if isinstance(one, tuple):
            time = created_at(one[0], default(), Limits())
            writer.step(*one, time, watch.lap(time))
        else:
            writer.add(one)
    writer.end()
    return out.getvalue()


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL).group(1))


def data(tmp_path, *records):
    return data_of(written(tmp_path, *records))


def at(event, ms):
    return {**event, "created_at": TIME + ms}


def test_the_policy_has_the_hash_of_its_script_and_style_and_lets_nothing_else(tmp_path):
    text = written(tmp_path, *HI, stop())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    for tag in ("script", "style"):
        (inner,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        due = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{due}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert text.index("Content-Security-Policy") < text.index("<style>")
    assert re.findall(r'\b(?:src|href)="([^"]*)"', text) == ["data:,"]


def test_its_files_can_stand_where_they_stand():
    script, style = _file("page.js"), _file("page.css")
    assert "</script" not in script.lower()
    assert "<!--" not in script
    assert "</style" not in style.lower()
    markup = r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b"
    assert not re.search(markup + r"|https?:(?!//www\.w3\.org/2000/svg)", script)
    assert "url(http" not in style


@pytest.mark.parametrize("word", ["<script>alert(1)</script>", "</script>", "<!--", "]]>", "javascript:", "&lt;",
                                  "\u2028\u2029", "\ud83d", "\u202e", "$title ${data}", "\x00\x1b"])  # fmt: skip
def test_hostile_words_are_data_alone(tmp_path, word):
    records = [t(word), t_done(word), c("", word, word), error(word), {word: 1}, word.encode("utf-8", "surrogatepass")]
    text = written(tmp_path, *records, name="a<b>&.jsonl")
    assert text.isascii()
    assert text.count("<script") == 2
    assert text.lower().count("</script>") == 2
    assert "<!--" not in text
    assert "<title>a&lt;b&gt;&amp;.jsonl - trace</title>" in text
    rows = data_of(text)["rows"]
    assert rows[0]["moves"][0][6] == word


@given(st.recursive(st.none() | st.booleans() | st.text(st.characters()), lambda one: st.lists(one)))
def test_embedded_json_is_the_value_and_holds_no_markup(value):
    text = embedded(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert not set("<>&") & set(text)


def test_an_event_is_there_with_its_moves_its_time_and_its_record(tmp_path):
    found = data(tmp_path, at(t("a"), 0), at(t_done("a"), 30), error())
    assert [(row["event"], row["line"], row["at"]) for row in found["rows"]] == [
        (0, 1, 0), (1, 2, 30), (2, 3, None), (3, None, None),
    ]  # fmt: skip
    assert [row["moves"] for row in found["rows"]] == [
        [["between_groups", "text.delta", "open", "text_open", "", 0, "a"]],
        [["text_open", "text.done", "close", "between_groups", "", 0, "a", 1]],
        [["between_groups", "error", "fail", "failed", ""]],
        [["failed", "end", "", "failed", ""]],
    ]
    assert json.loads(found["rows"][0]["raw"]) == t("a")
    assert (found["verdict"], found["outcome"], found["error"]) == ("conforming", "failed", "UpstreamError")


def test_a_diagnostic_is_at_its_event_with_what_was_expected(tmp_path):
    found = data(tmp_path, *HI, t("a"), c("{}", "f", "c1"))
    (first, end) = found["diagnostics"]
    assert found["rows"][3]["faults"] == [0]
    assert (first["code"], first["expected"]) == ("E302", ["text.delta", "text.done", "error"])
    assert first["excerpt"][1] == '"tool_call.delta"'
    assert first["related"] == [{"event": 2, "line": 3, "message": "the text group was opened here"}]
    assert (end["code"], found["rows"][-1]["faults"], found["rows"][-1]["end"]) == ("E307", [1], 1)


FATES = [
    ("done", [t("a"), t_done("a")]),
    ("open", [t("a")]),
    ("cut short", [t("a"), error()]),
    ("left open", [t("a"), c("{}", "f", "c1"), c_done({}, "f", "c1")]),
    ("left open", [t("a"), stop()]),
    ("done late", [t("a"), c("{}", "f", "c1"), t("b"), t_done("ab")]),
    ("never opened", [t_done("a")]),
]


@pytest.mark.parametrize(("fate", "records"), FATES)
def test_what_became_of_the_first_group(tmp_path, fate, records):
    assert data(tmp_path, *records)["groups"][0]["fate"] == fate


def test_a_group_is_measured(tmp_path):
    found = data(
        tmp_path, at(t("ab"), 0), at(t("cd"), 500), at(t("ef"), 2000), at(t_done("abcdef"), 9000), at(stop(), 9000)
    )
    (group,) = found["groups"]
    assert {name: group[name] for name in ("kind", "first", "last", "end", "fragments", "size", "unit", "rate")} == {
        "kind": "text", "first": 0, "last": 2, "end": 3, "fragments": 3, "size": 6, "unit": "characters", "rate": 3.0,
    }  # fmt: skip


def test_groups_of_one_moment_have_no_rate(tmp_path):
    groups = data(tmp_path, *HI, d("YQ=="), d_done("YQ=="), e([1, 2]), e_done([1, 2]), stop())["groups"]
    assert [(one["rate"], one["unit"], one["size"]) for one in groups] == [
        (None, "characters", 2), (None, "bytes", 1), (None, "numbers", 2),
    ]  # fmt: skip


def test_late_fragments_belong_to_the_group_that_was_left(tmp_path):
    records = [c("{", "f", "c1"), c("{", "g", "c2"), c("}", tool_call_id="c1"), c("}", tool_call_id="c2")]
    found = data(tmp_path, *records)
    assert [row["moves"][0][5] for row in found["rows"][:4]] == [0, 1, 0, 1]
    assert [one["header"]["tool_call_id"] for one in found["groups"]] == ["c1", "c2"]


def test_the_first_answer_is_the_first_content_that_is_not_hidden(tmp_path):
    thought = delta({"type": "thinking.delta", "thinking": "hm"})
    done = delta({"type": "thinking.done", "thinking": "hm"})
    assert data(tmp_path, thought, done, t(""), t("a"), t_done("a"), stop())["answer"] == 3
    assert data(tmp_path, thought, done, stop())["answer"] is None


@pytest.mark.parametrize(
    "records", [[], [BROKEN], [BROKEN, BROKEN, *HI], [b"\x00\xff"], [b"[1]"], [stop(), t("a"), t("b")]]
)
def test_any_stream_has_a_page(tmp_path, records):
    found = data(tmp_path, *records)
    assert [row["event"] for row in found["rows"]] == list(range(found["events"] + 1))


def test_what_could_not_be_read_has_none():
    out = io.StringIO()
    writer = PageTrace(out, default(), Limits())
    writer.begin()
    writer.add(Unreadable("x", "gone"))
    writer.end()
    assert out.getvalue() == ""


# ── Bounds ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_contents_are_cut_with_a_note():
    budget = Budget(100)
    assert budget.fit("abcdef", 4) == "abcd [… 2 more characters are not in this page]"
    assert budget.fit("x" * 1000, 2000) == "x" * 1000
    assert budget.fit("y" * 1000, 2000) == "y" * 40 + " [… 960 more characters are not in this page]"
    assert budget.cut == 2


def test_bytes_and_vectors_are_told_by_their_size_and_beginning():
    assert shown(b"\x89PNG") == ("[4 bytes] 89 50 4e 47", 4)
    assert shown(bytes(20))[0] == "[20 bytes] " + "00 " * 15 + "00 …"
    assert shown([0.5, 2]) == ("[2 numbers] 0.5, 2", 2)
    assert shown({"a": "ü"}) == ('{\n  "a": "ü"\n}', 14)


def test_a_page_of_much_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "CONTENT_BYTES", 100_000)
    monkeypatch.setattr(page, "MOST_MOVES", 300)
    image = base64.b64encode(bytes(500_000)).decode()
    records = [t("<" * 5000) for _ in range(1000)]
    records[700] = {**t("a"), "odd": 1}
    records += [d(image, "image/png"), delta(*[{"type": "text.delta", "text": "<"}] * 5000)]
    text = written(tmp_path, *records, t("last"))
    assert len(text) < 900_000
    found = data_of(text)
    assert [row["event"] for row in found["rows"][:300]] == list(range(300))
    assert [row["event"] for row in found["rows"][300:]] == [700, 1000, 1001, 1002, 1003]
    assert found["rows"][-3]["more"] == 4999
    assert found["events"] == 1003
    assert found["cut"] > 300
