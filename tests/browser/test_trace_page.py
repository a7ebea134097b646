"""The trace page in a browser: it shows what it has to, its controls work by keyboard, and nothing of a stream runs."""

import pytest

from tests.browser.conftest import LOOKS
from tests.browser.streams_to_see import HOSTILE, all_streams

NAMES = ("conforming", "violating", "hostile", "torn", "empty", "absurd", "huge")


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """The page of each stream."""
    import subprocess
    import sys

    folder = tmp_path_factory.mktemp("pages")
    for name, path in all_streams(folder).items():
        line = [sys.executable, "-m", "mmsp_fsm", "trace", str(path), "-o", str(folder / f"{name}.html")]
        assert subprocess.run(line, check=False).returncode == (name != "conforming")
    return folder


@pytest.fixture
def opened(pages, open_page):
    return lambda name, *look: open_page(pages / f"{name}.html", *look)


def selected(page):
    return page.text_content("#event-title")


def keys(page, *pressed):
    page.focus("#list")
    for key in pressed:
        page.keyboard.press(key)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", NAMES)
def test_it_loads_in_silence_fits_and_is_accessible(opened, serious, name, look):
    page = opened(name, look)
    assert page.locator("#list [aria-selected=true]").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert serious(page) == []


def test_it_says_what_the_stream_is(opened):
    page = opened("violating")
    assert page.text_content("#verdict").startswith("violating stopped after ")
    facts = page.locator("#facts > div").all_text_contents()
    assert "errors4" in facts
    assert any(one.startswith("first answerafter ") for one in facts)
    assert page.locator("#line .lane").all_text_contents() == ["text", "thinking", "tool_call", "inline_data"]
    assert page.locator("#line .rate").count() >= 1


def test_the_arrows_move_and_the_message_grows(opened):
    page = opened("conforming")
    assert selected(page) == "Event 0, line 1"
    assert page.text_content("#built") == "thinkingopenthe "
    keys(page, "ArrowDown", "ArrowDown")
    assert selected(page) == "Event 2, line 3"
    assert page.text_content("#built .content") == "the tide at "
    assert page.text_content("#built ins") == "at "
    assert page.get_attribute("#list", "aria-activedescendant") == "row-2"
    assert page.text_content("#state") == "thinking_open"
    assert page.get_attribute("#machine .lit[data-state]", "data-state") == "thinking_open"
    keys(page, "ArrowUp")
    assert page.text_content("#built .content") == "the tide "
    keys(page, "End")
    assert selected(page) == "The end"
    assert page.text_content("#state") == "stopped"
    assert page.locator("#built .item").count() == 4
    keys(page, "Home")
    assert selected(page) == "Event 0, line 1"
    keys(page, "PageDown")
    assert int(selected(page).split()[1].strip(",")) > 8


def test_faults_are_found_by_keyboard_and_say_what_was_expected(opened):
    page = opened("violating")
    assert selected(page) == "Event 100, line 101"
    assert "error[E302]" in page.text_content("#row-100")
    assert "expected: text.delta, text.done, error" in page.text_content("#row-100")
    box = page.text_content("#detail .diagnostic")
    assert "expectedtext.delta, text.done, error" in box
    assert page.text_content("#detail mark") == '"thinking.delta"'
    keys(page, "n")
    assert selected(page) == "Event 150, line 151"
    keys(page, "n", "p", "p")
    assert selected(page) == "Event 100, line 101"
    assert page.locator("#machine .refused.lit").get_attribute("data-edge") == "text_open thinking_open"
    page.get_by_role("button", name="event 61").click()
    assert selected(page) == "Event 61, line 62"


def test_the_filters(opened):
    page = opened("violating")
    keys(page, "f")
    assert page.is_checked("#faulty")
    assert page.text_content("#count") == "4 of 218"
    assert page.locator("#list [role=option]").count() == 4
    keys(page, "ArrowDown")
    assert selected(page) == "Event 150, line 151"
    keys(page, "f")
    page.select_option("#group", index=1)
    assert page.text_content("#count") == "61 of 218"
    assert all("thinking." in one for one in page.locator("#list .symbol").all_text_contents())


def test_tab_reaches_every_control_and_a_letter_elsewhere_does_nothing(opened):
    page = opened("violating")
    reached = set()
    for _ in range(14):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.name"))
    assert {"scale", "faulty", "group", "before", "after", "list", "event", "message"} <= reached
    page.focus("#after")
    page.keyboard.press("p")
    assert selected(page) == "Event 100, line 101"
    page.keyboard.press("Enter")
    assert selected(page) == "Event 150, line 151"


def test_a_click_selects_in_the_list_and_on_the_time_line(opened):
    page = opened("conforming")
    page.click("#row-5")
    assert selected(page) == "Event 5, line 6"
    box = page.locator("#line svg").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 17, box["y"] + 30)
    assert page.text_content("#state") == "stopped"
    page.check("[name=scale][value=events]")
    assert "0" in page.locator("#line .tick").all_text_contents()


@pytest.mark.parametrize("name", ["hostile"])
def test_what_a_stream_holds_only_shows(opened, name):
    page = opened(name)
    keys(page, "Home", *["ArrowDown"] * 18, "Home")
    assert page.evaluate("window.hacked") is None
    assert page.locator("body script:not([type])").count() == 1
    assert page.locator("img, iframe, object, embed, a, form, b").count() == 0
    shown = page.locator("#list .brings").all_text_contents()
    for text in HOSTILE[:7]:
        assert text in shown
    assert "\\u{202e}evil\\u{2066}" in shown
    assert "\\u{d83d}" in shown
    assert "\\u{1b}[31m\\u{0}" in shown


def test_the_policy_stops_what_would_run_all_the_same(pages, browser):
    """Without the fixture that forbids a word on the console: here the browser has to protest. The page tries by a
    timer of its own, for what a debugger evaluates is let through.
    """
    page = browser.new_context().new_page()
    page.goto((pages / "hostile.html").as_uri())
    stopped = page.evaluate("""() => new Promise((resolve) => setTimeout(() => {
        const [tried, script] = [[], document.createElement('script')];
        const attempt = (act) => { try { act(); } catch (error) { tried.push(error.name); } };
        attempt(() => { document.body.innerHTML = '<img src=x onerror="window.hacked=1">'; });
        attempt(() => { script.text = 'window.hacked = 1'; document.body.append(script); });
        attempt(() => { window.eval('window.hacked = 1'); });
        resolve(tried);
    }))""")
    page.wait_for_timeout(50)
    assert page.evaluate("window.hacked") is None
    assert stopped == ["TypeError", "TypeError", "EvalError"]
    page.context.close()


def test_twenty_thousand_events_open_and_scroll(opened):
    page = opened("huge")
    assert page.locator("#list [role=option]").count() < 100
    assert page.get_attribute("#list [role=option]", "aria-setsize") == "20002"
    keys(page, "End")
    assert selected(page) == "The end"
    keys(page, "ArrowUp")
    assert selected(page) == "Event 20000, line 20001"
    page.evaluate("document.querySelector('#list').scrollTop = 260000")
    page.wait_for_function("[...document.querySelectorAll('#list [data-row]')].some((one) => +one.dataset.row > 9000)")
    assert page.locator("#list [role=option]").count() < 100
    assert page.locator("#list .move").first.is_visible()
