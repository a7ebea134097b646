"""Steps: what one event did, for a program that acts on it."""

import mmsp_fsm
from mmsp_fsm.model import (
    EmbeddingDeltaItem,
    InlineDataDeltaItem,
    InlineDataDoneItem,
    TextDeltaItem,
    TextDoneItem,
    ToolCallDeltaItem,
    ToolCallDoneItem,
)
from tests.streams import BROKEN, c, c_done, d, d_done, delta, e, e_done, error, stop, t, t_done, th


def steps(*records):
    checker = mmsp_fsm.StreamChecker()
    return [checker.feed_record(one) if isinstance(one, bytes) else checker.feed(one) for one in records]


def said(*records):
    return [(step.what, step.kind, step.state) for step in steps(*records)]


def test_a_conforming_stream():
    assert said(t("a"), t("b"), t_done("ab"), c("", "f", "c1"), c_done({}), stop("tool_call")) == [
        ("opened", "text", "text_open"),
        ("grew", "text", "text_open"),
        ("closed", "text", "between_groups"),
        ("opened", "tool_call", "tool_call_open"),
        ("closed", "tool_call", "between_groups"),
        ("stopped", None, "stopped"),
    ]
    assert said(t("a"), error())[1:] == [("failed", None, "failed")]
    assert said(t("a"), TimeoutError())[1:] == [("failed", None, "failed")]


def test_items_are_the_models():
    assert [step.item for step in steps(t("a"), t_done("a"), d("AAE="), d_done("AAE="), e([1.5]), stop())] == [
        TextDeltaItem(text="a"),
        TextDoneItem(text="a"),
        InlineDataDeltaItem(data=b"\0\1", mime_type="audio/pcm"),
        InlineDataDoneItem(data=b"\0\1", mime_type="audio/pcm"),
        EmbeddingDeltaItem(embedding=[1.5]),
        None,
    ]
    assert [step.item for step in steps(c('{"a": 1}', "f", "c1"), c(""), c_done({"a": 1}))] == [
        ToolCallDeltaItem(name="f", tool_call_id="c1", arguments='{"a": 1}'),
        ToolCallDeltaItem(arguments=""),
        ToolCallDoneItem(name="f", tool_call_id="c1", arguments={"a": 1}),
    ]


def test_faults_are_steps_too():
    assert said(t("a"), th("b"), t("c"), t_done("ac")) == [
        ("opened", "text", "text_open"),
        ("opened", "thinking", "thinking_open"),
        ("nothing", "text", "thinking_open"),
        ("nothing", "text", "thinking_open"),
    ]
    assert said(t_done("a"))[0] == ("closed", "text", "between_groups")
    assert said(t("a"), c_done({}))[1] == ("nothing", "tool_call", "between_groups")
    assert said(t("a"), BROKEN, t("b"), t_done("x")) == [
        ("opened", "text", "text_open"),
        ("nothing", None, "unsure"),
        ("grew", "text", "text_open"),
        ("closed", "text", "between_groups"),
    ]
    assert said(BROKEN, t("b"))[1] == ("opened", "text", "text_open")
    assert said(BROKEN, t_done("b"))[1] == ("closed", "text", "between_groups")
    assert said(stop(), t("a"), t("b"))[1:] == [("nothing", None, "stopped"), ("nothing", None, "stopped")]
    assert said(delta({"type": "video.delta"}))[0] == ("nothing", None, "between_groups")


def test_an_item_without_usable_content_is_none():
    assert steps(t(5))[0].item is None
    assert steps(delta({"type": "text.delta"}))[0].item is None
    assert steps(c("{}", "f", "c1"), delta({"type": "tool_call.done", "arguments": {}}))[1].item is None
    assert steps(t("a", fidelity=5))[0].item == TextDeltaItem(text="a")


def expected_after(*records):
    checker = mmsp_fsm.StreamChecker()
    for one in records:
        checker.feed(one)
    return checker.expected


def test_expected_is_what_would_really_work():
    opening = tuple(f"{kind}.delta" for kind in ("text", "thinking", "tool_call", "inline_data", "inline_thinking"))
    assert expected_after() == (*opening, "embedding.delta", "stop", "error")
    assert expected_after(t("a")) == ("text.delta", "text.done", "error")
    assert expected_after(e([1])) == ("embedding.done", "error")
    assert expected_after(e([1]), e_done([1]))[-2:] == ("stop", "error")
    assert expected_after(c('{"a"', "f", "c1")) == ("tool_call.delta", "error")
    assert expected_after(c("{}", "f", "c1")) == ("tool_call.delta", "tool_call.done", "error")
    assert expected_after(stop()) == ("end",)
