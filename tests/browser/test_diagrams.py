"""The SVG pictures in a browser, each by itself: well-formed, and no text cut off or beyond what frames it."""

import pytest

from tests.browser.conftest import ROOT

COMMITTED = sorted((ROOT / "diagrams").glob("*.svg"))

CUT = """() => {
  const picture = document.documentElement, out = [];
  const whole = picture.getBoundingClientRect();
  for (const text of document.querySelectorAll("text")) {
    if (!text.textContent.trim()) continue;
    const box = text.getBoundingClientRect();
    if (box.left < whole.left - 1 || box.right > whole.right + 1) out.push(text.textContent);
    if (box.top < whole.top - 1 || box.bottom > whole.bottom + 1) out.push(text.textContent);
    const group = text.closest("g.node"), frame = group && group.querySelector(":scope > polygon, :scope > path");
    if (frame && !group.querySelector("polygon + polygon")) {
      const around = frame.getBoundingClientRect();
      if (box.left < around.left - 1 || box.right > around.right + 1) out.push("in its node: " + text.textContent);
    }
  }
  return out;
}"""


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_a_committed_picture_shows_all_its_text(open_page, path):
    page = open_page(path)
    assert page.evaluate("document.documentElement.localName") == "svg"  # an error of XML would be a page of HTML
    assert page.evaluate(CUT) == []


@pytest.mark.parametrize(
    "line",
    [
        ["diagram", "violations", "--expand", "--format", "svg", "--docs-url", "https://docs.example/"],
        ["diagram", "stream", "--expand", "--theme", "dark"],
        ["diagram", "builders", "--expand"],
        ["coverage", "tests/data/broken", "--format", "svg"],
        ["trace", "tests/data/broken/interleaved.jsonl", "--format", "svg"],
    ],
    ids=lambda line: " ".join(line[:2]),
)
def test_so_does_one_that_a_command_draws(open_page, command, tmp_path, line):
    path = tmp_path / "drawn.svg"
    path.write_bytes(command(*line))
    assert open_page(path).evaluate(CUT) == []
