"""The machine with the path walked: its counts, its DOT, its SVG, and the page's own picture."""

import os
import re
import xml.etree.ElementTree as ET

import pytest

from mmsp_fsm.grammar.loading import default
from mmsp_fsm.output.trace.picture import machine_svg
from mmsp_fsm.output.trace.walked import END, Walk, picture
from tests.streams import BROKEN, HI, c, error, report_of, stop, t, t_done
from tests.test_cli import BAD, ROOT, run

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def walk(*records):
    import mmsp_fsm

    checker, path = mmsp_fsm.StreamChecker(), Walk(default())
    for record in records:
        path.add(checker.feed_record(record) if isinstance(record, bytes) else checker.feed(record))
    return path


def counted(path):
    return {(e.before, e.symbol, e.action, e.after, e.rule): number for e, number in path.counts.items()}


def test_it_counts_each_edge():
    assert counted(walk(t("a"), t("b"), t("c"), t_done("abc"), *HI, stop())) == {
        ("between_groups", "text.delta", "open", "text_open", ""): 2,
        ("text_open", "text.delta", "grow", "text_open", ""): 2,
        ("text_open", "text.done", "close", "between_groups", ""): 2,
        ("between_groups", "stop", "finish", "stopped", ""): 1,
    }


def test_what_was_refused_bears_its_rule():
    path = walk(t("a"), c("{}", "f", "c1"), c("", "g", "c2"), BROKEN, stop(), stop(), stop())
    assert {key: one for key, one in counted(path).items() if key[4]} == {
        ("text_open", "tool_call.delta", "leave+open", "tool_call_open", "E302"): 1,
        ("tool_call_open", "tool_call.delta", "leave+open", "tool_call_open", "E302"): 1,
        ("tool_call_open", "unreadable", "lose", "unsure", "E101"): 1,
        ("stopped", "stop", "", "stopped", "E306"): 1,
    }
    assert path.counts[next(e for e in path.counts if e.before == "stopped" and not e.rule)] == 1


def test_the_end_is_an_edge_too():
    assert walk(*HI, stop()).way_out(report_of(*HI, stop())).rule == ""
    assert walk(t("a")).way_out(report_of(t("a"))).rule == "E307"


def test_untrodden_edges_are_legal_and_not_walked():
    pairs = list(walk(*HI, stop()).untrodden())
    assert len(set(pairs)) == len(pairs)
    assert ("between_groups", "text_open") not in pairs
    assert ("between_groups", "failed") in pairs
    assert not any("unsure" in pair for pair in pairs)


def test_the_picture_says_the_path():
    shown = picture(walk(t("a"), t("b")), report_of(t("a"), t("b")))
    lines = {(edge.source, edge.to, edge.role, line.words) for edge in shown.edges for line in edge.lines}
    assert lines == {
        ("between_groups", "text_open", "legal", "text.delta open ×1"),
        ("text_open", "text_open", "legal", "text.delta grow ×1"),
        ("text_open", END, "refused", "E307"),
    }
    assert ("text_open", "between_groups", "unseen") in {(one.source, one.to, one.role) for one in shown.edges}
    unseen = {node.name: node.unseen for node in shown.nodes}
    assert (unseen["text_open"], unseen["stopped"], "tool_call_open" in unseen) == (False, True, False)
    assert shown.subtitle == ("violating, truncated",)


def test_it_is_drawn_whatever_the_file_is_called(tmp_path):
    from pygraphviz import AGraph

    name = tmp_path / 'a "quoted" back\\slash\nline <b>&.jsonl'
    name.write_bytes(BAD.read_bytes())
    done = run("trace", name.name, "--format", "dot", cwd=tmp_path, env=ENVIRONMENT)
    graph = AGraph(string=done.stdout.decode())
    assert {"thinking_open", "text_open", "stopped", "failed", END} < set(graph.nodes())
    svg = ET.fromstring(run("trace", name.name, "--format", "svg", cwd=tmp_path, env=ENVIRONMENT).stdout)
    words = " ".join(text.text or "" for text in svg.iter("{http://www.w3.org/2000/svg}text")).replace("\u00a0", " ")
    assert 'a "quoted" back\\slash\\nline <b>&.jsonl' in words
    assert "violating, stopped" in words
    assert "text.delta leave+open ×1" in re.sub(r"  +", " ", words)


def test_dot_needs_no_graphviz_and_svg_says_which_extra_brings_it(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pygraphviz'] = None\n", encoding="utf-8")
    environment = {**ENVIRONMENT, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    for form in ("dot", "html"):
        assert run("trace", str(BAD), "--format", form, env=environment).returncode == 1
    refused = run("trace", str(BAD), "-o", str(tmp_path / "new.svg"), env=environment)
    assert refused.returncode == 2
    assert b"mmsp-fsm[diagrams]" in refused.stderr
    assert not (tmp_path / "new.svg").exists()


@pytest.mark.parametrize("records", [
    [], [*HI, stop()], [t("a"), c("{}", "f", "c1"), stop(), stop()], [BROKEN, BROKEN, *HI, error(), error()],
    [t_done("a"), {"x": 1}, {**t("a"), "event_type": "odd"}],
])  # fmt: skip
def test_the_page_s_picture_is_well_formed_and_shows_each_state_and_edge(records):
    path = walk(*records)
    drawn = ET.fromstring(machine_svg(path))
    states = {one.get("data-state") for one in drawn.iter() if one.get("data-state")}
    assert {name for name, state in default().states.items() if state.role != "unsure"} <= states
    assert set(path.visited) <= states
    edges = {one.get("data-edge") for one in drawn.iter() if one.get("data-edge")}
    assert edges == {f"{edge.before} {edge.after}" for edge in path.counts}
    seen = {one.get("data-state") for one in drawn.iter() if "seen" in (one.get("class") or "").split()}
    assert seen == set(path.visited)


def test_nothing_of_the_page_s_picture_is_cut_off():
    path = walk(t("a"), c("{}", "f", "c1"), BROKEN, BROKEN, *HI, stop(), stop())
    drawn = ET.fromstring(machine_svg(path))
    width, height = map(float, drawn.get("viewBox").split()[2:])
    for one in drawn.iter():
        if one.tag.endswith("rect"):
            x, y, w, h = (float(one.get(name)) for name in ("x", "y", "width", "height"))
            assert 0 <= x <= x + w <= width
            assert 0 <= y <= y + h <= height
        if one.tag.endswith("text"):
            assert 0 < float(one.get("x")) < width
            assert 8 < float(one.get("y")) < height
