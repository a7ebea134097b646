"""The close readings of the design: where a fault leaves room for more than one answer, this one is given."""

import math

import pytest

from mmsp_fsm import Limits
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.grammar.selection import selected
from tests.streams import (
    BROKEN,
    HI,
    TIME,
    USAGE,
    c,
    c_done,
    d,
    d_done,
    delta,
    e,
    e_done,
    error,
    report_of,
    said,
    stop,
    t,
    t_done,
    th,
    th_done,
    without,
)

NAN = math.nan
GIF = "image/gif"


def reading(name, *records, gives=()):
    return pytest.param(records, list(gives), id=name)


WHICH_RULE = [
    reading("neither event_type nor content_items is one E103", {"ping": 1}, *HI, stop(), gives=[("E103", 0)]),
    reading("an empty object likewise", *HI[:1], {}, *HI[1:], stop(), gives=[("E103", 1)]),
    reading("a stray record as the last one is no missing end", *HI, {"type": "ping"}, gives=[("E103", 2)]),
    reading("any usage on a delta is E122 alone", *HI, delta({"type": "text.delta", "text": "a"}, usage_metadata=7),
            t_done("a"), stop(), gives=[("E122", 2)]),
    reading("any reason on a delta is E123 alone", delta({"type": "text.delta", "text": "a"}, finish_reason=[]),
            t_done("a"), stop(), gives=[("E123", 0)]),
    reading("null usage on a stop is E125 alone", *HI, stop(usage_metadata=None), gives=[("E125", 2)]),
    reading("null reason on a stop is E126 alone", *HI, stop(None), gives=[("E126", 2)]),
    reading("E124 does not look at the items", *HI, stop(content_items=[5, {"x": 1}]), gives=[("E124", 2)]),
    reading("NaN says nothing more of its vector", e([0.5, NAN]), e_done([0.5, 1]), stop(), gives=[("E101", 0)]),
    reading("NaN on both sides is one error each", e([NAN]), e_done([NAN]), stop(), gives=[("E101", 0), ("E101", 1)]),
    reading("NaN in created_at", *HI, stop(created_at=NAN), gives=[("E101", 2)]),
    reading("two NaN in a record are one error", *HI, stop(created_at=NAN, usage_metadata={**USAGE, "prompt_tokens": NAN}),
            gives=[("E101", 2)]),
    reading("NaN in the type: nobody can tell", *HI[:1], delta({"type": NAN}), *HI[1:], stop(), gives=[("E101", 1)]),
    reading("usage that is a list is E102", *HI, stop(usage_metadata=[]), gives=[("E102", 2)]),
    reading("fidelity null is E102", t("a", fidelity=None), t_done("a"), stop(), gives=[("E102", 0)]),
    reading("error null is E102 and ends the stream", *HI, {"error": None}, gives=[("E102", 2)]),
    reading("error of a wrong shape ends the stream", {"error": "gone"}, *HI, gives=[("E102", 0), ("E309", 1)]),
    reading("an error without type and message", {"error": {}}, gives=[("E103", 0), ("E103", 0)]),
    reading("an error's message that is no string", error(message=5), gives=[("E105", 0)]),
    reading("a type that is no string", *HI[:1], delta({"type": 5}), *HI[1:], stop(), gives=[("E105", 1)]),
    reading("an event_type that is no string", *HI, stop(event_type=5), gives=[("E105", 2)]),
    reading("a role that is no string", *HI, stop(role=None), gives=[("E105", 2)]),
    reading("a finish_reason that is no string", *HI, stop(5), gives=[("E105", 2)]),
    reading("null where there is no null", t(None), t_done("a"), stop(), gives=[("E105", 0)]),
    reading("a null name", c("{}", None, "c1"), c_done({}), stop("tool_call"), gives=[("E105", 0)]),
    reading("content_items absent", without(HI[0], "content_items"), *HI[1:], stop(), gives=[("E103", 0)]),
    reading("content_items of another type", delta(content_items={}), *HI[1:], stop(), gives=[("E105", 0)]),
    reading("event_type absent, told by the item", without(HI[0], "event_type"), *HI[1:], stop(), gives=[("E103", 0)]),
    reading("event_type absent on the stop", *HI, without(stop(), "event_type"), gives=[("E103", 2)]),
    reading("any suffix on a user-only type", *HI, delta({"type": "image_url.xyz"}), stop(), gives=[("E202", 2)]),
    reading("a user-only type without a suffix", *HI, delta({"type": "tool_result"}), stop(), gives=[("E202", 2)]),
    reading("a second key beside error", {**error(), "created_at": TIME}, gives=[("E104", 0)]),
    reading("error and event_type is an event with an unknown field", *HI, {**stop(), **error()}, gives=[("E104", 2)]),
    reading("a negative count", *HI, stop(usage_metadata={**USAGE, "prompt_tokens": -1}), gives=[("E105", 2)]),
    reading("a boolean count", *HI, stop(usage_metadata={**USAGE, "prompt_tokens": True}), gives=[("E105", 2)]),
    reading("a negative time", *HI, stop(created_at=-1), gives=[("E105", 2)]),
    reading("a boolean in a vector", e([1, True]), e_done([1, 1]), stop(), gives=[("E105", 0)]),
    reading("a vector is one E105 however many elements", e(["a", None]), e_done([]), stop(), gives=[("E105", 0)]),
    reading("unknown fields of the three levels", *HI[:1], t_done("Hi", index=0),
            stop(id=1, usage_metadata={**USAGE, "total": 1}), gives=[("E104", 1), ("E104", 2), ("E104", 2)]),
    reading("an unknown event type is one error, whatever else it lacks", {"event_type": "ping"}, *HI, stop(),
            gives=[("E107", 0)]),
]  # fmt: skip

GROUPS = [
    reading("E303 leaves the group open in the books", th("a"), t_done("a"), th("b"), th_done("ab"), stop(),
            gives=[("E303", 1)]),
    reading("two groups interleaved are one error", th("a"), t("b"), th("c"), t("d"), th_done("x"), t_done("bd"), stop(),
            gives=[("E302", 1)]),
    reading("a group left open is never compared", th("a"), t("b"), t_done("b"), th_done("z"), stop(), gives=[("E302", 1)]),
    reading("its late done takes it off the books", th("a"), t("b"), t_done("b"), th_done("a"), th_done("a"), stop(),
            gives=[("E302", 1), ("E301", 4)]),
    reading("a stop does not report it again", th("a"), t("b"), t_done("b"), stop(), gives=[("E302", 1)]),
    reading("another id begins another call", c("{", "f", "c1"), c("}", "g", "c2"), c_done({}, "g", "c2"), stop("tool_call"),
            gives=[("E302", 1)]),
    reading("another id on a fragment that begins nothing is one error", c("{", "f", "c1"), c("}", "", "c2"), c_done({}),
            stop("tool_call"), gives=[("E302", 1)]),
    reading("an id made anew for every fragment is one error each", c("{", "f", "c1"), c("", "", "c2"), c("}", "", "c3"),
            c_done({}, "f", "c4"), stop("tool_call"), gives=[("E302", 1), ("E302", 2)]),
    reading("once two calls overlap nothing is compared", c('{"a":', "f", "c1"), c("[1", "g", "c2"), c("}"), c("]"),
            c_done({"x": 1}, "q", "c1"), c_done({"y": 1}, "r", "c2"), stop("tool_call"), gives=[("E302", 1)]),
    reading("a lost first fragment is E401 and E402", c('{"a":'), c("1}"), c_done({"b": 2}, "x", "y"), stop("tool_call"),
            gives=[("E401", 0), ("E402", 0)]),
    reading("an id that comes late is part of that fault", c("{", "f", ""), c("}", "", "c1"), c_done({}), stop("tool_call"),
            gives=[("E402", 0)]),
    reading("an absent id is E103", delta({"type": "tool_call.delta", "name": "f", "arguments": "{}"}), c_done({}),
            stop("tool_call"), gives=[("E103", 0)]),
    reading("an unknown item inside a group: it stays open, not compared", t("a"), delta({"type": "text.x"}), t_done("ab"),
            stop(), gives=[("E201", 1)]),
    reading("so with an unknown event type", t("a"), delta(event_type="detla"), t_done("ab"), stop(), gives=[("E107", 1)]),
    reading("so with an empty delta event", t("a"), delta(), t_done("ab"), stop(), gives=[("E121", 1)]),
    reading("it does stay open", t("a"), delta({"type": "text.x"}), stop(), gives=[("E201", 1), ("E304", 2)]),
    reading("a user-only item is no fragment", t("a"), delta({"type": "image_url"}), t_done("ab"), stop(),
            gives=[("E202", 1), ("E406", 2)]),
    reading("a delta event without its items counts as unreadable", t("a"), without(t("b"), "content_items"), stop(),
            gives=[("E103", 1)]),
    reading("after E401 no E407", c("{}", "", "c1"), c_done({}, "f"), stop("tool_call"), gives=[("E401", 0)]),
    reading("after E410 no E406", e([1]), e([2]), e_done([1, 2]), stop(), gives=[("E410", 1)]),
    reading("E410 once a group, whatever it holds", e([1]), e([]), e([2]), e_done([1]), stop(), gives=[("E410", 1)]),
    reading("after E411 no E406, once a group", d("AAAA", GIF), d("AAAA", GIF), d("AAAA", GIF), d_done("BBBB", GIF), stop(),
            gives=[("E411", 1)]),
    reading("an image may be followed by fidelity alone", d("AAAA", GIF), d("", GIF, fidelity={"s": 1}),
            d_done("AAAA", GIF, fidelity={"s": 1}), stop()),
    reading("a stop with the missing done item", t("a"), stop(content_items=[{"type": "text.done", "text": "a"}]),
            gives=[("E304", 1), ("E124", 1)]),
    reading("an argument error while a call is in the books", c("{", "f", "c1"), t("a"), t_done("a"),
            error("ToolCallArgumentParseError"), gives=[("E302", 1)]),
    reading("an argument error outside a call", *HI, error("ToolCallArgumentParseError"), gives=[("E412", 2)]),
    reading("an argument error in another kind's group", t("a"), error("ToolCallArgumentParseError"), gives=[("E412", 1)]),
    reading("an argument error in a call", c("{", "f", "c1"), error("ToolCallArgumentParseError")),
    reading("a relayed one is another error", *HI, error("UpstreamError", error={"type": "ToolCallArgumentParseError"})),
    reading("several items move the machine once each",
            delta({"type": "text.delta", "text": "a"}, {"type": "text.done", "text": "a"}), stop(), gives=[("E121", 0)]),
]  # fmt: skip

UNREADABLE = [
    reading("inside a group", t("a"), BROKEN, t_done("abc"), stop(), gives=[("E101", 1)]),
    reading("instead of the done item", t("a"), BROKEN, stop(), gives=[("E101", 1)]),
    reading("instead of the first fragment", BROKEN, t("b"), t_done("ab"), stop(), gives=[("E101", 0)]),
    reading("instead of the only fragment", BROKEN, t_done("ab"), stop(), gives=[("E101", 0)]),
    reading("instead of the stop", *HI, BROKEN, gives=[("E101", 2)]),
    reading("instead of everything", BROKEN, gives=[("E101", 0)]),
    reading("instead of a call's first fragment", BROKEN, c("}"), c_done({}), stop("tool_call"), gives=[("E101", 0)]),
    reading("instead of the done before another group", t("a"), BROKEN, th("b"), th_done("b"), *HI, stop(),
            gives=[("E101", 1)]),
    reading("several in a row", t("a"), BROKEN, BROKEN, t_done("abc"), stop(), gives=[("E101", 1), ("E101", 2)]),
    reading("a number, a string, an array, null", *HI, b"5", b'"x"', b"[]", b"null", stop(),
            gives=[("E102", 2), ("E102", 3), ("E102", 4), ("E102", 5)]),
    reading("an item that is no object", t("a"), delta("b"), t_done("ab"), stop(), gives=[("E102", 1)]),
    reading("an argument error after it", *HI, BROKEN, error("ToolCallArgumentParseError"), gives=[("E101", 2)]),
    reading("NaN moves the machine", b'{"role": "assistant", "event_type": "delta", "content_items": [{"type": "text.delta",'
            b' "text": "a", "fidelity": {"x": NaN}}], "usage_metadata": null, "finish_reason": null, "created_at": 1760000000000}',
            t_done("a", fidelity={"x": 1}), stop(), gives=[("E101", 0)]),
]  # fmt: skip

HOW_OFTEN = [
    reading("E408 once a group", th("", fidelity={"a": 1}), th("", fidelity={"b": 1}), th("", fidelity={"c": 1}),
            th_done("", fidelity={"b": 1}), *HI, stop(), gives=[("E408", 1)]),
    reading("E403 once a fragment", c("{", "f", "c1"), c("", "f", "c1"), c("}", "g", ""), c_done({}), stop("tool_call"),
            gives=[("E403", 1), ("E403", 2)]),
    reading("E407 once a field", c("{}", "f", "c1"), c_done({}, "g", "c2"), stop("tool_call"),
            gives=[("E407", 1), ("E407", 1)]),
    reading("E103 once a field", *HI, stop(usage_metadata={}), gives=[("E103", 2)] * 4),
    reading("W501 once a stream, and no W502 for the jump", t("a", ), *[delta({"type": "text.delta", "text": ""},
            created_at=TIME // 1000)] * 2, t_done("a"), stop(), gives=[("W501", 1)]),
    reading("W502", t("a"), delta({"type": "text.done", "text": "a"}, created_at=TIME - 1), stop(), gives=[("W502", 1)]),
    reading("W508 once a group", d("AAAA", "a/a"), d("AAAA", "a/b"), d("AAAA", "a/c"),
            d_done("AAAAAAAAAAAA", "a/a"), stop(), gives=[("W508", 1)]),
    reading("mime_type on one side only is W508 alone", d("AAAA"), delta({"type": "inline_data.done", "data": "AAAA"}), stop(),
            gives=[("W508", 1)]),
    reading("another mime_type on the done is E407", d("AAAA"), d_done("AAAA", "audio/wav"), stop(), gives=[("E407", 1)]),
    reading("W509 once a group", c("{", "f", "c1"), *[delta({"type": "tool_call.delta", "arguments": ""})] * 2, c("}"),
            c_done({}), stop("tool_call"), gives=[("W509", 1)]),
    reading("W512 once a group", th("a", fidelity={"item_id": 1}), th_done("a", fidelity={"item_id": 1}), *HI, stop(),
            gives=[("W512", 0)]),
    reading("W512 looks at the fidelity's own keys", t("a", fidelity={"x": {"item_id": 1}}),
            t_done("a", fidelity={"x": {"item_id": 1}}), stop()),
]  # fmt: skip

ENDS = [
    reading("one error after a stop", *HI, stop(), *HI, stop(), error(), BROKEN, gives=[("E305", 3)]),
    reading("a second stop", *HI, stop(), stop(), gives=[("E306", 3)]),
    reading("an error after a stop", *HI, stop(), error(), gives=[("E308", 3)]),
    reading("a stop after an error", *HI, error(), stop(), gives=[("E308", 3)]),
    reading("a second error", *HI, error(), error(), gives=[("E309", 3)]),
    reading("a delta after an error", *HI, error(), *HI, gives=[("E309", 3)]),
    reading("its contents are not looked at", *HI, stop(), delta({"type": "x"}, role=5), gives=[("E305", 3)]),
    reading("an unreadable record after the end", *HI, stop(), BROKEN, *HI, gives=[("E101", 3)]),
    reading("no object after the end", *HI, stop(), 5, gives=[("E102", 3)]),
    reading("an unknown event after the end", *HI, stop(), delta(event_type="ping"), gives=[("E107", 3)]),
    reading("a stray record after the end", *HI, error(), {"x": 1}, gives=[("E107", 3)]),
    reading("an empty stream", gives=[("E307", 0)]),
    reading("a late done after the stop is E305", t("a"), stop(), t_done("a"), gives=[("E304", 1), ("E305", 2)]),
    reading("nothing but a stop", stop(), gives=[("W506", 0)]),
    reading("nothing but thinking", th("a"), th_done("a"), stop(), gives=[("W506", 2)]),
    reading("W503 is silent when the message is unknown", *HI, BROKEN, stop("tool_call"), gives=[("E101", 2)]),
    reading("W503", *HI, stop("tool_call"), gives=[("W503", 2)]),
    reading("W511 for an empty text", c("", "f", "c1"), error("ToolCallArgumentParseError"), gives=[("W511", 1)]),
]  # fmt: skip

COMPARING = [
    reading("key order is free, 1 = 1.0, -0 = 0", c('{"a": 1, "b": -0, "c": 1E0}', "f", "c1"),
            c_done({"c": 1, "b": 0, "a": 1.0}), stop("tool_call")),
    reading("true is not 1", c('{"a": true}', "f", "c1"), c_done({"a": 1}), stop("tool_call"), gives=[("E406", 1)]),
    reading("integers compare exactly", c('{"a": 9007199254740993}', "f", "c1"), c_done({"a": 9007199254740992}),
            stop("tool_call"), gives=[("E406", 1)]),
    reading("an integer against a double, as doubles", c('{"a": 9007199254740993}', "f", "c1"),
            c_done({"a": 9007199254740992.0}), stop("tool_call")),
    reading("of a key named twice the last counts", c('{"a": 1, "a": 2}', "f", "c1"), c_done({"a": 2}), stop("tool_call"),
            gives=[("W507", 1)]),
    reading("stray low bits in base64", d("AB=="), d_done("AA=="), stop()),
    reading("halves of a surrogate pair", t("\ud83d"), t("\ude00"), t_done("😀"), stop()),
    reading("halves in the arguments", c('{"a": "\ud83d', "f", "c1"), c('\ude00"}'), c_done({"a": "😀"}), stop("tool_call")),
    reading("an empty fidelity counts as none", t("a", fidelity={}), t_done("a"), stop()),
    reading("1e999 in the arguments is not JSON", c('{"a": 1e999}', "f", "c1"), c_done({"a": 1}), stop("tool_call"),
            gives=[("E404", 1)]),
    reading("a blank is not JSON", c(" ", "f", "c1"), c_done({}), stop("tool_call"), gives=[("E404", 1)]),
    reading("white space around is", c(" {} ", "f", "c1"), c_done({}), stop("tool_call")),
    reading("bytes in process", delta({"type": "inline_data.delta", "data": b"abc", "mime_type": "a/b"}),
            delta({"type": "inline_data.done", "data": b"abc", "mime_type": "a/b"}), stop()),
    reading("a call's id used twice", c("{}", "f", "c1"), c_done({}), c("{}", "f", "c1"), c_done({}), stop("tool_call"),
            gives=[("W505", 2)]),
]  # fmt: skip


@pytest.mark.parametrize(("records", "gives"), WHICH_RULE + GROUPS + UNREADABLE + HOW_OFTEN + ENDS + COMPARING)
def test_reading(records, gives):
    assert sorted(said(*records)) == sorted(gives)


def test_the_error_after_the_end_counts_the_further_records():
    assert report_of(*HI, stop(), *HI, stop()).diagnostics[0].message.endswith("; 2 more records follow")
    assert report_of(*HI, stop(), *HI).diagnostics[0].message.endswith("; one more record follows")
    assert report_of(*HI, stop(), stop()).diagnostics[0].message == "a second stop event follows the first"


def test_w504_is_off_unless_selected():
    stream = [c("{}", "f", "c1"), c_done({}), stop("stop")]
    assert said(*stream) == []
    assert said(*stream, rules=selected(default(), extend_select=["W504"])) == [("W504", 2)]


def test_what_is_not_selected_decides_nothing():
    report = report_of(t("a"), t_done("b"), stop(), rules=selected(default(), ignore=["E406"]))
    assert (report.verdict, report.errors, report.message) == ("conforming", 0, None)


def test_a_group_beyond_the_limit_is_not_compared():
    how = {"limits": Limits(group_bytes=4)}
    assert said(t("abc"), t("de"), t_done("other"), stop(), **how) == [("W513", 2)]
    assert said(t("abcd"), t_done("abcd"), stop(), **how) == []


def test_the_first_hundred_errors_and_warnings_are_kept_and_all_are_counted():
    bad = delta({"type": "text.delta", "text": "", "x": 1}, created_at=5)
    report = report_of(t("a"), *[bad] * 250, t_done("a"), stop())
    assert (report.errors, report.warnings, len(report.diagnostics)) == (250, 1, 101)


def test_expected_leaves_out_what_a_guard_would_refuse():
    by_code = {one.code: one.expected for one in report_of(c("{", "f", "c1"), c_done({}), stop()).diagnostics}
    assert by_code["E404"] == ("tool_call.delta", "error")
    (only,) = report_of(e([1]), e([1]), e_done([1]), stop()).diagnostics
    assert (only.state, only.expected) == ("embedding_open", ("embedding.done", "error"))


def test_an_exception_is_a_legal_end():
    report = report_of(*HI, RuntimeError("boom"))
    assert (report.verdict, report.outcome, report.error) == (
        "conforming", "failed", {"type": "RuntimeError", "message": "boom"}
    )  # fmt: skip
