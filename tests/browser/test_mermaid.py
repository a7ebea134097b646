"""Mermaid text is what the real mermaid draws. The npm package is fetched once, into the virtual environment."""

import json
import shutil
import subprocess

import pytest

from mmsp_fsm.grammar.loading import default
from tests.browser.conftest import ROOT

CACHE = ROOT / ".venv" / "npm"
VIEWS = [["events"], *([view, *more] for view in ("stream", "violations", "builders") for more in ([], ["--expand"]))]
VIEWS += [["group", "--kind", kind] for kind in default().kinds]


@pytest.fixture(scope="session")
def mermaid():
    """The path of mermaid's script for browsers."""
    script = CACHE / "node_modules" / "mermaid" / "dist" / "mermaid.min.js"
    if not script.exists():
        assert shutil.which("npm"), "this test fetches mermaid by npm: apt-get install npm"
        line = ["npm", "install", "--prefix", str(CACHE), "--no-audit", "--no-fund", "--ignore-scripts", "mermaid@12"]
        subprocess.run(line, check=True, capture_output=True, timeout=300)
    return script


@pytest.fixture
def render(mermaid, open_page, tmp_path):
    """Draws mermaid text; the words of the SVG."""

    def rendered(text):
        blank = tmp_path / "blank.html"
        blank.write_text("<!DOCTYPE html><meta charset=utf-8><title>mermaid</title>", encoding="utf-8")
        page = open_page(blank)
        page.add_script_tag(content=mermaid.read_text(encoding="utf-8"))
        given = json.dumps(text)
        drawing = f"mermaid.parse({given}).then(() => mermaid.render('drawn', {given})).then((drawn) => drawn.svg)"
        svg = page.evaluate(drawing)
        page.set_content(svg)
        return page.locator("svg").first.text_content()

    return rendered


def test_the_harness_draws(render):
    assert "open" in render("stateDiagram-v2\n  [*] --> open: K.delta\n")


@pytest.mark.parametrize("view", VIEWS, ids=" ".join)
def test_each_view_is_drawn(render, command, view):
    words = render(command("diagram", *view, "--format", "mermaid").decode())
    assert "between_groups" in words or view[0] == "events"
