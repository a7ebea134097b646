"""Syntax diagrams: one for each production, with all its symbols."""

from xml.etree import ElementTree

import pytest

from mmsp_fsm.diagrams.railroad import grammar_text, productions, syntax_diagram
from mmsp_fsm.grammar.loading import default

D = default()
SVG = "{http://www.w3.org/2000/svg}"
WORDS = {"stream": ["group", "stop", "group", "K.delta", "error"], "group": ["K.delta", "K.done"], "K": list(D.kinds)}


def test_every_production_has_one():
    assert list(productions(D, grammar_text())) == list(WORDS)


@pytest.mark.parametrize("name", WORDS)
def test_it_shows_every_symbol_and_stands_alone(name):
    text = syntax_diagram(D, name, productions(D, grammar_text())[name], lambda one: f"#{one}")
    root = ElementTree.fromstring(text)
    assert root.find(f"{SVG}title").text == f"The syntax of {name}"
    assert [one.text for one in root.iter(f"{SVG}text")] == WORDS[name]
    assert "prefers-color-scheme:dark" in root.find(f"{SVG}style").text
    assert [one.get("href") for one in root.iter(f"{SVG}a")] == [f"#{one}" for one in WORDS[name] if one == "group"]


@pytest.mark.parametrize("name", WORDS)
def test_no_text_is_cut_off(name):
    """Every letter of the faces that are asked for is at most 0.605 em wide."""
    root = ElementTree.fromstring(syntax_diagram(D, name, productions(D, grammar_text())[name], lambda _: None))
    boxes = [one for one in root.iter(f"{SVG}g") if one.get("class", "").strip() in ("terminal", "non-terminal")]
    assert len(boxes) == len(WORDS[name])
    for box in boxes:
        assert 0.605 * 14 * len(box.find(f"{SVG}text").text) < float(box.find(f"{SVG}rect").get("width"))
