"""A browser for pages: the system's Chromium, driven by Playwright. `make test-browser` runs these tests.

`open_page` opens a file and fails the test where the page complains on the console, raises, or asks the network for
anything. It is for any page of this project; `mmsp-fsm docs` makes others.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent.parent
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip

LOOKS = {
    f"{scheme}-{name}": {"color_scheme": scheme, "viewport": {"width": width, "height": height}}
    for scheme in ("light", "dark")
    for name, (width, height) in {"wide": (1380, 860), "narrow": (390, 844)}.items()
}
"""What a page is looked at in."""


@pytest.fixture(scope="session")
def browser():
    assert CHROMIUM, "these tests need Chromium: apt-get install chromium, or set CHROMIUM to its path"
    with sync_playwright() as playwright:  # each launch has a new, empty profile
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Opens a file as a page; at the test's end nothing may have gone wrong in it. `look` is one of `LOOKS`."""
    wrong, contexts = [], []

    def opened(path, look="light-wide", **more):
        context = browser.new_context(**{**LOOKS[look], **more})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: _hear(message, wrong))
        page.on("pageerror", lambda error: wrong.append(f"raised: {error}"))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("popup", lambda popup: wrong.append(f"opened {popup.url}"))
        page.on("request", lambda request: _note(request.url, wrong))
        page.goto(Path(path).as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def _hear(message, wrong):
    """Errors and warnings are faults; a theme that tells that it was changed is none."""
    if message.type != "log":
        wrong.append(f"console {message.type}: {message.text}")


def _note(url, wrong):
    """A page of files may ask for files; nothing may go over a network."""
    if not url.startswith(("file:", "data:")):
        wrong.append(f"asked for {url}")


@pytest.fixture
def serious():
    """What axe-core finds in a page that is serious or worse: the rule, and where."""

    def found(page):
        # Else it would fetch the style sheets once more, which a browser refuses a page that is a file.
        violations = Axe().run(page, options={"preload": False}).response["violations"]
        return [
            (one["id"], node["target"], node.get("failureSummary"))
            for one in violations
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]

    return found


@pytest.fixture
def command():
    """Runs `mmsp-fsm`."""

    def run(*arguments):
        done = subprocess.run([sys.executable, "-m", "mmsp_fsm", *map(str, arguments)], cwd=ROOT, capture_output=True)
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    return run
