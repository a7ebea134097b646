"""Building the site: Markdown as it is written, or HTML that Sphinx makes of it with the theme Furo.

Sphinx and not another: its search index is a script, so that search works from a file without a server, and its pages
ask nothing of the network. The same definition gives the same bytes. Needs the extra `docs` for HTML.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mmsp_fsm.diagrams.rendering import MissingExtraError
from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.reference.schema import schema_text, schemas
from mmsp_fsm.reference.site.markdown import Medium
from mmsp_fsm.reference.site.pages import pages, pictures
from mmsp_fsm.reference.site.style import site_css

MANIFEST = ".mmsp-fsm-docs"
"""The file that marks a folder as made by this, and lists what it made there."""

NEEDED = ("sphinx", "furo", "myst_parser", "pygraphviz", "railroad")
"""What HTML pages are made with; Markdown needs only what draws the pictures."""

EXTRA = "HTML pages need Sphinx and Graphviz: pip install 'mmsp-fsm[docs]'"


class NotOursError(ValueError):
    """The folder to write to holds something that this did not make."""


class NotBuiltError(RuntimeError):
    """Sphinx failed. It has said why on standard error."""


def build_site(definition: Definition, out: Path, medium: Medium) -> int:
    """Write the reference into the folder `out`, and tell how many files there are.

    Raises `NotOursError` where the folder holds anything and was not made by this, `MissingExtraError`,
    `NotBuiltError`, or OSError.
    """
    _check_ours(out)
    if medium == "html" and None in map(find_spec, NEEDED):
        raise MissingExtraError(EXTRA)
    with tempfile.TemporaryDirectory(prefix="mmsp-fsm-docs-") as folder:
        written, built = Path(folder) / "pages", Path(folder) / "built"
        files = _files(definition, medium)
        for name, content in files.items():
            _write(written / name, content)
        if medium == "html":
            _sphinx(definition, written, built)
            for name, content in files.items():
                if not name.endswith(".md"):
                    _write(built / name, content)
        return _publish(built if medium == "html" else written, out)


def _files(definition: Definition, medium: Medium) -> dict[str, bytes]:
    made = {f"{page.path}.md": page.text.encode() for page in pages(definition, medium)}
    made |= pictures(definition)
    return made | {f"schema/{name}.json": schema_text(one).encode() for name, one in schemas(definition).items()}


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


# ── The folder ───────────────────────────────────────────────────────────────────────────────────────────────────


def _check_ours(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise NotOursError(f"{str(out)!r} is a file, and a folder is due")
    if out.is_dir() and any(out.iterdir()) and not (out / MANIFEST).is_file():
        raise NotOursError(f"the folder {str(out)!r} is not empty, and nothing in it was made by this: choose another")


def _publish(made: Path, out: Path) -> int:
    """Put what was made in place, and take away what an earlier run made and this one did not."""
    names = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    manifest = out / MANIFEST
    earlier = manifest.read_text(encoding="utf-8").splitlines() if manifest.is_file() else []
    for name in set(earlier) - set(names):
        path = out / name
        if path.resolve().is_relative_to(out.resolve()):
            path.unlink(missing_ok=True)
    for name in names:
        _write(out / name, (made / name).read_bytes())
    manifest.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    return len(names)


# ── Sphinx ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _sphinx(definition: Definition, source: Path, built: Path) -> None:
    """Build HTML. Sphinx's warnings (of which the versions that are tested have none) go to standard error."""
    _write(source / "_assets" / "mmsp.css", site_css().encode())
    configuration = "".join(f"{name} = {value!r}\n" for name, value in _configuration(definition).items())
    _write(source / "conf.py", configuration.encode())
    # In a process of its own: Sphinx keeps what it is told for the whole process, and warns the second time.
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-d", str(source.parent / "trees")]
    if subprocess.run([*command, str(source), str(built)], stdout=subprocess.DEVNULL, check=False).returncode:
        raise NotBuiltError("Sphinx could not make the pages; what it says stands above")
    for page in built.rglob("*.html"):
        page.write_text(_accessible(page.read_text(encoding="utf-8")), encoding="utf-8")
    for leftover in (built / ".buildinfo", built / "objects.inv"):
        leftover.unlink(missing_ok=True)
    shutil.rmtree(built / "_sources", ignore_errors=True)


def _configuration(definition: Definition) -> dict[str, Any]:
    name = f"{definition.protocol.name} {definition.protocol.version}"
    return {
        "project": name,
        "extensions": ["myst_parser"],
        "html_theme": "furo",
        "html_title": f"{name} reference",
        "html_static_path": ["_assets"],
        "html_css_files": ["mmsp.css"],
        "html_copy_source": False,
        "html_show_sphinx": False,
        "html_show_copyright": False,
        "html_use_index": False,
        "html_show_search_summary": False,  # it would fetch pages, which a browser refuses a file
        "html_permalinks": False,
        "language": "en",
        "highlight_language": "none",
        "smartquotes": False,
        "myst_all_links_external": True,
        "pygments_style": "a11y-high-contrast-light",
        "pygments_dark_style": "a11y-high-contrast-dark",
    }


def _accessible(text: str) -> str:
    """A page of which each landmark has its own name, and whose wide parts are reached and scrolled by keyboard."""
    for name, words in (("sidebar-drawer", "All pages"), ("toc-drawer", "Contents of this page")):
        text = text.replace(f'<aside class="{name}', f'<aside aria-label="{words}" class="{name}')
    text = text.replace("<pre>", '<pre tabindex="0">')
    first, *tables = text.split('<div class="table-wrapper')
    regions = (
        f'<div tabindex="0" role="region" aria-label="Table {number}" class="table-wrapper{rest}'
        for number, rest in enumerate(tables, 1)
    )
    return "".join([first, *regions])
