"""Diagrams: every outcome of the table is drawn, and each language draws the same picture."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mmsp_fsm.cli.commands.diagram import VIEWS as OFFERED
from mmsp_fsm.diagrams import rendering
from mmsp_fsm.diagrams.cards import builders_view, events_view
from mmsp_fsm.diagrams.catalog import GROUP, VIEWS, diagrams
from mmsp_fsm.diagrams.colors import DARK, LIGHT
from mmsp_fsm.diagrams.dot import dot
from mmsp_fsm.diagrams.folding import ANY, by_legal_cells, by_properties, folds
from mmsp_fsm.diagrams.mermaid import mermaid
from mmsp_fsm.diagrams.picture import Edge, Line, Node, Picture
from mmsp_fsm.diagrams.rendering import draw, no_address
from mmsp_fsm.diagrams.views import group_view, stream_view, violations_view
from mmsp_fsm.grammar.loading import default, grammar_folder
from mmsp_fsm.grammar.source import build

ROOT = Path(__file__).parents[2]
D = default()
PICTURES = [*diagrams(D), stream_view(D, True), violations_view(D, True), builders_view(D, True)]
EVERY = pytest.mark.parametrize("picture", PICTURES, ids=lambda one: f"{one.name}-{len(one.nodes)}")
SVG = "{http://www.w3.org/2000/svg}"


def page(code):
    return f"https://example.test/rules/{code}.html"


def run(*arguments, **more):
    return subprocess.run(
        [sys.executable, "-m", "mmsp_fsm", "diagram", *arguments], cwd=ROOT, capture_output=True, check=False, **more
    )


def labels(picture):
    return {(edge.source, line.words, edge.to, edge.role) for edge in picture.edges for line in edge.lines}


# ── What is drawn ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_offers_every_view():
    assert set(OFFERED) == {*VIEWS, GROUP}


def test_the_stream_is_folded_and_has_no_violations():
    kinds = "".join(f"{kind} " for kind in D.kinds)
    assert labels(stream_view(D)) == {
        ("between_groups", "K.delta open", "K_open", "legal"),
        ("K_open", "K.delta grow", "K_open", "legal"),
        ("K_open", "K.done close", "between_groups", "legal"),
        ("K_open", "error fail", "failed", "legal"),
        ("between_groups", "stop finish", "stopped", "legal"),
        ("between_groups", "error fail", "failed", "legal"),
    }
    node = next(one for one in stream_view(D).nodes if one.name == "K_open")
    assert re.sub(r"[^\w ]", "", " ".join(line.words for line in node.lines[1:])).split() == ["K", *kinds.split()]


def test_expanded_it_has_every_legal_cell():
    drawn = labels(stream_view(D, True))
    legal = [
        cell
        for cell in D.cells.values()
        if cell.legal and cell.symbol != "end" and D.states[cell.state].role != "unsure"
    ]
    assert drawn == {(cell.state, f"{cell.symbol} {'+'.join(cell.do)}", cell.to, "legal") for cell in legal}


def test_violations_expanded_show_every_outcome_and_rule():
    picture = violations_view(D, True)
    drawn = {(edge.source, line.text, code) for edge in picture.edges for line in edge.lines for code in line.rules}
    for cell in D.cells.values():
        own = D.states[cell.state].kind
        read = D.symbols[cell.symbol].kind
        phase = cell.symbol.removeprefix(read or "")
        symbol = cell.symbol if read is None or read == own else ("K" if own is None else "O") + phase
        for code in cell.rules:
            assert (cell.state, symbol, code) in drawn
        for guard in cell.guards:
            assert (cell.state, cell.symbol, guard.rule) in drawn
    assert {edge.role for edge in picture.edges} == {"legal", "refused"}


def test_a_folded_guard_names_the_kinds_that_it_narrows():
    lines = {line.words for edge in violations_view(D).edges for line in edge.lines}
    assert "tool_call.delta another group E302" in lines
    assert "inline_data.delta | inline_thinking.delta second content E411" in lines
    assert "O.delta E302" in lines


def test_a_group_shows_what_its_guards_refuse():
    assert ("tool_call_open", "tool_call.done not json E404", "between_groups", "refused") in labels(
        group_view(D, D.kinds["tool_call"])
    )


def test_the_events_say_what_their_fields_hold():
    cards = {node.name: {line.words for line in node.lines} for node in events_view(D).nodes}
    assert "content_items: exactly one item E121" in cards["delta event"]
    assert "content_items: no items E124" in cards["stop event"]
    assert 'finish_reason: "stop" | "length" | "tool_call" | "unknown" E126 E108' in cards["stop event"]


def test_the_builders_say_what_each_action_does():
    cards = {node.name: {line.words.replace("\u00a0", " ") for line in node.lines} for node in builders_view(D).nodes}
    assert "open   A first fragment opens a group." in cards["actions"]
    assert "arguments: the text, parsed: a JSON object E404 E405 E406" in cards["done tool_call"]
    assert len([name for name in cards if name.startswith("growing ")]) == 4


def test_kinds_are_alike_by_their_properties_and_not_their_names():
    written = tomllib.loads((grammar_folder() / "mmsp.toml").read_text(encoding="utf-8"))
    rules = tomllib.loads((grammar_folder() / "rules.toml").read_text(encoding="utf-8"))
    written["kind"]["aside"] = {**written["kind"]["text"], "grows": "aside"}
    written["kind"]["plan"] = {**written["kind"]["text"], "one_piece": True}
    changed = build(written, rules)
    together = [tuple(kind.name for kind in fold.kinds) for fold in folds(changed, by_properties)]
    assert ("text", "thinking", "aside") in together
    assert ("plan",) in together
    assert [fold.name for fold in folds(changed, by_legal_cells(changed))] == [ANY]
    assert len(folds(changed, by_properties, expand=True)) == len(changed.kinds)


# ── How ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@EVERY
def test_both_languages_write_every_node_edge_and_line(picture):
    texts = dot(picture, LIGHT, no_address), mermaid(picture, no_address)
    for node in picture.nodes:
        if node.role == "note":
            assert all(f">{word}<" in texts[0] for line in node.lines for word in (line.text, line.note) if word)
        else:
            assert f'"{node.name}" [' in texts[0]
        name = re.sub(r"\W", "_", node.name)
        assert re.search(rf"^  s_{name}\W", texts[1], flags=re.MULTILINE)
    assert texts[1].count("linkStyle") == sum(edge.role != "legal" for edge in picture.edges)
    assert not re.search(r"[\[(|]\s*[\])|]", texts[1])  # Mermaid takes no empty label
    for line in (line for one in (*picture.edges, *picture.nodes) for line in one.lines):
        assert all(code in text for code in line.rules for text in texts)


@EVERY
def test_the_svg_stands_alone(picture):
    text = draw(picture, "svg", page).decode()
    root = ElementTree.fromstring(text)
    assert root.get("role") == ("group" if list(root.iter(f"{SVG}a")) else "img")
    assert root.find(f"{SVG}title").text == picture.title
    assert "prefers-color-scheme:dark" in root.find(f"{SVG}style").text
    assert not [one for one in root.iter() if one.get("id") or one.tag in (f"{SVG}script", f"{SVG}image")]
    assert "xlink" not in text
    linked = {one.get("href") for one in root.iter(f"{SVG}a")}
    shown = {code for one in (*picture.edges, *picture.nodes) for line in one.lines for code in line.rules}
    assert linked == {page(code) for code in shown}
    tips = {one.text for one in root.iter(f"{SVG}title")}
    assert {node.tip for node in picture.nodes if node.role not in ("start", "note")} <= tips
    assert "href" not in draw(picture, "svg").decode()


@EVERY
def test_no_text_of_the_svg_is_cut_off_or_lies_on_another(picture):
    """Every letter of the faces that are asked for is at most 0.605 em wide."""
    root = ElementTree.fromstring(draw(picture, "svg"))
    left, top, width, height = map(float, root.get("viewBox").split())
    moved = re.search(r"translate\(([\d.-]+)[ ,]([\d.-]+)\)", root.find(f"{SVG}g").get("transform"))
    shift = [float(one) for one in moved.groups()]
    boxes = []
    for one in root.iter(f"{SVG}text"):
        if not (one.text or "").strip(" \u00a0"):
            continue
        size = float(one.get("font-size"))
        long = 0.605 * size * len(one.text.rstrip(" \u00a0"))
        x, y = float(one.get("x")) + shift[0], float(one.get("y")) + shift[1]
        x -= {"middle": long / 2, "end": long}.get(one.get("text-anchor"), 0)
        assert left <= x, one.text
        assert x + long <= left + width, one.text
        assert top <= y - size, one.text
        assert y <= top + height, one.text
        boxes.append((x, y - 0.72 * size, x + long, y, one.text))
    for number, a in enumerate(boxes):
        for b in boxes[:number]:
            over = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
            assert not (over[0] > 1.5 and over[1] > 1), (a[4], b[4])


def test_text_that_is_markup_elsewhere_is_shown():
    hostile = '<script>alert("1")</script> & ]]> `x` #quot; \\N {y}'
    picture = Picture(hostile, hostile, (hostile,), (Node(hostile, "state", (Line(hostile, hostile),), hostile),),
                      (Edge(hostile, hostile, "refused", (Line(hostile),)),), (("legal", hostile),))  # fmt: skip
    root = ElementTree.fromstring(draw(picture, "svg"))
    assert root.find(f"{SVG}title").text == hostile
    assert hostile in {"".join(one.itertext()) for one in root.iter(f"{SVG}text")}
    assert not list(root.iter(f"{SVG}script"))
    assert "<script" not in mermaid(picture, no_address).split("---")[2]  # the title is YAML


def contrast(a, b):
    def light(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    one, two = sorted((light(a), light(b)))
    return (two + 0.05) / (one + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_colours_have_contrast(palette):
    for ground in (palette.paper, palette.state, palette.card):
        for ink in (palette.ink, palette.refused, palette.advice):
            assert contrast(ground, ink) >= 4.5
    assert contrast(palette.paper, palette.faint) >= 4.5
    assert contrast(palette.paper, palette.frame) >= 3


# ── The command ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("format", "begins"),
    [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("dot", b'digraph "events"'), ("mermaid", b"---\n")],
)
def test_each_format(format, begins, tmp_path):
    done = run("events", "--format", format)
    assert done.returncode == 0
    assert done.stdout.startswith(begins)
    assert run("events", "-o", str(tmp_path / f"x.{format}")).returncode == 0
    assert (tmp_path / f"x.{format}").read_bytes().startswith(begins)


def test_a_base_address_links_the_rules():
    done = run("violations", "--format", "svg", "--docs-url", "https://example.test/")
    assert b'href="https://example.test/rules/E302.html"' in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["group"], "--kind is missing; there are text, thinking"),
        (["group", "--kind", "x"], "--kind names none: 'x'"),
        (["stream", "--kind", "text"], "--kind belongs to the view group"),
        (["nothing"], "'nothing' is not one of"),
        (["-o", "/missing/x.svg"], "'/missing/x.svg' cannot be written: No such file or directory"),
    ],
)
def test_misuse_is_said(arguments, said):
    done = run(*arguments)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.decode().split())


def test_without_graphviz_text_is_written_and_the_rest_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    assert dot(stream_view(D), LIGHT, no_address).startswith("digraph")
    with pytest.raises(rendering.MissingExtraError, match=re.escape("pip install 'mmsp-fsm[diagrams]'")):
        draw(stream_view(D), "svg")
    (tmp_path / "pygraphviz.py").write_text("raise ImportError", encoding="utf-8")
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": ""}
    assert run("--format", "mermaid", env=environment).returncode == 0
    assert run("--format", "dot", env=environment).returncode == 0
    done = run("--format", "svg", env=environment)
    assert done.returncode == 2
    assert b"mmsp-fsm[diagrams]" in done.stderr
