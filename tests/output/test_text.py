"""The text of a diagnostic, whole."""

import json
from pathlib import Path

import pytest

import mmsp_fsm
from mmsp_fsm.output.escaping import width
from mmsp_fsm.output.excerpts import excerpt
from mmsp_fsm.output.text import Renderer
from tests.streams import HI, c, c_done, stop, t, t_done

BROKEN = Path(__file__).parent.parent / "data" / "broken" / "interleaved.jsonl"

DIAGNOSTIC = """\
error[E302]: text.delta stands here while a thinking group is open
 --> interleaved.jsonl:2 (event 1, /content_items/0/type)
  |
1 | …ent_type": "delta", "content_items": [{"type": "thinking.delta", "thinking": "The use…
  |                                        -------------------------------------------- the thinking group was opened
  |
2 | …pe": "delta", "content_items": [{"type": "text.delta", "text": "High water at Brest"}], "usag…
  |                                           ^^^^^^^^^^^^
  |
  = state: thinking_open; here may stand thinking.delta, thinking.done or error
  = help: Send the done item of the open group before the first fragment of the next, and hold
          fragments of other groups back until then.
  = rule: group-left-open (mmsp-fsm explain E302)
"""


def lines(report, **how):
    return "\n".join([*Renderer(**how).stream(report), Renderer(**how).verdict(report)])


def test_a_diagnostic_reads_like_a_compiler_s():
    report = mmsp_fsm.validate(BROKEN)
    renderer = Renderer()
    text = "\n".join(renderer.diagnostic(report.diagnostics[0], "interleaved.jsonl")) + "\n"
    for ours, due in zip(text.splitlines(), DIAGNOSTIC.splitlines(), strict=True):
        if not any(mark in due for mark in ("…", "---", "^^^")):
            assert ours == due
    marks = [line for line in text.splitlines() if "^^^" in line or "---" in line]
    assert marks[0].endswith("- the thinking group was opened here")
    assert marks[1].endswith("^" * len('"text.delta"'))
    shown = text.splitlines()
    below = next(number for number, line in enumerate(shown) if "^^^" in line)
    at = shown[below].index("^")
    assert shown[below - 1][at : at + 12] == '"text.delta"'


def test_events_without_lines_are_named_by_their_number():
    report = mmsp_fsm.validate([t("a"), t_done("b"), stop()])
    text = lines(report)
    assert " --> event 1 (event 1" not in text
    assert "--> event 1, /content_items/0/text" in text
    assert "event 1 | " in text
    assert "the stream: violating, stopped after 3 events in 1 closed group, 1 error, 0 warnings" in text


def test_colour_is_only_there_when_asked():
    report = mmsp_fsm.validate(BROKEN)
    assert "\x1b[" not in lines(report)
    assert "\x1b[1;31merror[E302]\x1b[0m" in lines(report, color=True)


def test_a_code_is_a_link_to_its_page_on_a_terminal_that_is_coloured():
    report = mmsp_fsm.validate(BROKEN)
    shown = lines(report, color=True, docs_url="https://docs.example/mmsp/")
    link = "\x1b]8;;https://docs.example/mmsp/rules/E302.html\x1b\\\x1b[1;31merror[E302]\x1b[0m\x1b]8;;\x1b\\"
    assert link in shown
    assert lines(report, docs_url="https://docs.example/mmsp/") == lines(report)


@pytest.mark.parametrize("hostile", ["\x1b]52;c;cm0=\x07", "\u202eevil", "\x9b2J", "[red]x[/red]", "a\r::stop"])
def test_model_output_is_shown_escaped(hostile):
    text = lines(mmsp_fsm.validate([t(hostile), t_done("plain"), stop()]))
    assert not any(control in text for control in "\x1b\x07\u202e\x9b\r")
    if hostile.startswith("[red]"):
        assert hostile in text


def test_what_is_not_kept_is_counted():
    bad = t("a", x=1)
    text = lines(mmsp_fsm.validate([*[bad] * 103, t_done("a" * 103), stop()]))
    assert "... and 3 errors more of this stream" in text
    assert "103 errors, 0 warnings" in text


@pytest.mark.parametrize(
    ("pointer", "marked"),
    [
        ("", '{"a": [1, {"b~/": "x"}], "a": 2, "c": {}}'),
        ("/a", "2"),
        ("/c", "{}"),
        ("/c/missing", "{}"),
        ("/nowhere", '{"a": [1, {"b~/": "x"}], "a": 2, "c": {}}'),
    ],
)
def test_the_mark_stands_on_what_the_pointer_leads_to(pointer, marked):
    assert excerpt(b' {"a": [1, {"b~/": "x"}], "a": 2, "c": {}} ', pointer).marked == marked


@pytest.mark.parametrize(
    "record",
    [b"\xed", b'{"text": "D\xedas"}', '{"text": "\uad6d'.encode()[:-1], bytes(range(256)) * 20, b"\xed\xa0\xbd"],
    ids=["a lone byte", "Latin-1", "torn inside a character", "every byte", "an encoded surrogate"],
)
def test_bytes_that_are_no_utf8_are_shown_escaped(record):
    report = mmsp_fsm.validate(record + b"\n")
    assert report.diagnostics[0].code == "E101"
    assert lines(report).isprintable() or "\n" in lines(report)


def test_a_record_that_is_cut_is_marked_as_far_as_it_goes():
    long = t("\ud55c" * 40_000)
    report = mmsp_fsm.validate([{**long, "role": "user"}, t_done("x"), stop()])
    first, second = report.diagnostics
    assert excerpt(first.record, first.pointer).marked == '"user"'
    assert excerpt(second.related[0].record, "/content_items/0/type").marked == '"text.delta"'
    assert excerpt(second.related[0].record, "/content_items/0/text").marked.startswith('"\ud55c\ud55c')
    assert "\ud55c" in lines(report)


def test_pointers_are_unescaped():
    assert excerpt(b'{"a": [1, {"b~/": "x"}]}', "/a/1/b~0~1").marked == '"x"'


@pytest.mark.parametrize("record", [b"", b"{", b"\xff\xfe", b"\x00" * 300, b'{"a": ', b"[" * 5000, b'"\xed\xa0\xbd"'])
def test_a_record_that_is_no_json_is_marked_whole(record):
    shown = excerpt(record, "/a/b")
    assert len(shown.before + shown.marked + shown.after) <= 200


def test_a_call_s_diagnostic_says_what_is_wrong_with_its_arguments():
    report = mmsp_fsm.validate([c('{"a": 1', "f", "c1"), c_done({"a": 1}), stop("tool_call")])
    (only,) = report.diagnostics
    assert only.message == (
        "tool_call.done stands here, but what the fragments join to is not JSON: "
        'expecting \',\' delimiter at character 7, near "{\\"a\\": 1"'
    )
    assert json.loads(json.dumps(only.message)) == only.message
    assert len(HI) == 2


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("text", ["潮" * 9, "กิ" * 20, "é\x1b\u202e" * 9, "[red]"])
def test_marks_stand_under_what_they_mark(text, ascii_only):
    record = json.dumps(t(text), ensure_ascii=False).encode()
    checker = mmsp_fsm.StreamChecker()
    checker.feed_record(record)
    checker.feed(t_done("z"))
    checker.feed(stop())
    shown = lines(checker.close(), ascii_only=ascii_only).splitlines()
    for number, line in enumerate(shown):
        sign = next((one for one in "-^" if one * 3 in line), None)
        if sign is not None:
            above = shown[number - 1]
            marked = above.index('{"type"' if sign == "-" else '"z"')
            assert width(above[:marked]) == line.index(sign)
    assert "\n".join(shown).isascii() or not ascii_only


def test_a_pointer_of_any_length_is_clipped():
    text = lines(mmsp_fsm.validate([t("a", **{"k" * 100_000: 1}), t_done("a"), stop()]))
    assert max(map(len, text.splitlines())) < 300
