"""The reference in a browser, opened from files: it loads in silence, is found in and read by everybody."""

import subprocess
import sys

import pytest

from tests.browser.conftest import LOOKS, ROOT

EVERYWHERE = ["index", "machine", "kinds/tool_call", "rules/E302", "search"]
ONCE = ["grammar", "events", "glossary", "output", "kinds/index", "rules/index"]
"""What is looked at wide and narrow, light and dark; what is alike, and looked at in one of these."""


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("docs") / "site"
    subprocess.run([sys.executable, "-m", "mmsp_fsm", "docs", str(out)], cwd=ROOT, check=True, capture_output=True)
    return out


@pytest.fixture
def opened(site, open_page):
    return lambda name, *look: open_page(site / f"{name}.html", *look)


@pytest.mark.parametrize(
    ("name", "look"),
    [(name, look) for name in EVERYWHERE for look in LOOKS] + list(zip(ONCE, [*LOOKS, *LOOKS], strict=False)),
)
def test_a_page_loads_in_silence_fits_and_is_accessible(opened, serious, name, look):
    page = opened(name, look)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert serious(page) == []


@pytest.mark.parametrize(
    ("words", "title", "path"),
    [
        ("E302", "E302 group-left-open", "rules/E302.html"),
        ("group-left-open", "E302 group-left-open", "rules/E302.html"),
        ("interleave", "E302 group-left-open", "rules/E302.html"),
    ],
)
def test_search_finds_a_rule(opened, words, title, path):
    page = opened("index")
    page.get_by_role("textbox", name="Search").first.fill(words)
    page.keyboard.press("Enter")
    found = page.locator("#search-results").get_by_role("link", name=title)
    found.first.wait_for()
    found.first.click()
    page.wait_for_url(f"**/{path}*")
    assert page.locator("h1").text_content().startswith(title)


def test_the_theme_is_the_reader_s_to_choose_and_pictures_follow(opened):
    page = opened("index", "light-wide")
    paper = "getComputedStyle(document.querySelector('.mmsp-picture polygon')).fill"
    ground = "getComputedStyle(document.body).backgroundColor"
    seen = set()
    for _ in range(3):
        seen.add((page.evaluate(ground), page.evaluate(paper)))
        page.locator(".theme-toggle-container button:visible, button.theme-toggle:visible").first.click()
    assert len({one[0] for one in seen}) == len({one[1] for one in seen}) == 2


def test_a_cell_of_the_table_leads_to_its_row_and_to_its_rule(opened):
    page = opened("machine")
    page.locator("table").first.locator("a[href='#between_groups-stop']").click()
    assert page.url.endswith("#between_groups-stop")
    row = page.locator("tr", has=page.locator("[id='between_groups-stop']"))
    assert row.is_visible()
    page.locator("table").first.get_by_role("link", name="E304").first.click()
    assert page.locator("h1").text_content().startswith("E304 ")


def test_a_wide_table_is_scrolled_by_keyboard_and_keeps_its_first_column(opened):
    page = opened("machine", "light-narrow")
    wide = page.locator(".table-wrapper").first
    wide.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(500)
    assert wide.evaluate("one => one.scrollLeft") > 0
    first = wide.locator("tbody td").first
    assert first.bounding_box()["x"] >= wide.bounding_box()["x"] - 1
