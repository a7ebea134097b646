"""Writing Markdown: text escaped, tables, fences, and links that fit the pages' medium."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Literal

from attrs import frozen

from mmsp_fsm.output.escaping import visible

Medium = Literal["html", "markdown"]


@frozen
class Page:
    """One page: its path without suffix, such as `rules/E302`, its title, and its Markdown below the title."""

    path: str
    title: str
    body: str

    @property
    def text(self) -> str:
        """The whole page."""
        return f"# {plain(self.title)}\n\n{self.body.strip()}\n"


@frozen
class Writer:
    """What the writing of one page depends on: where it lies, and in which medium it will be read."""

    path: str
    medium: Medium

    def link(self, words: str, path: str, anchor: str = "") -> str:
        """A link to another page, or to an anchor of this one; `words` are Markdown."""
        return f"[{words}]({self.address(path, anchor)})"

    def address(self, path: str, anchor: str = "") -> str:
        """The relative address of a page or, where it has a suffix, of a file."""
        to = posixpath.relpath(path, posixpath.dirname(self.path) or ".")
        if not posixpath.splitext(path)[1]:
            to += ".html" if self.medium == "html" else ".md"
        return (f"#{anchor}" if path == self.path else f"{to}#{anchor}") if anchor else to

    def rule(self, code: str) -> str:
        """A link to a rule's page."""
        return self.link(code, f"rules/{code}")

    def rules(self, codes: Iterable[str]) -> str:
        """Links to several."""
        return " ".join(self.rule(code) for code in dict.fromkeys(codes))

    def figure(self, file: str, svg: str, words: str) -> str:
        """A picture: in HTML the SVG itself, so that its links and tooltips work; else an image."""
        if self.medium == "markdown":
            return f"![{plain(words)}]({self.address(file)})\n"
        inline = re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL).strip()
        # A wide picture shrinks only as far as it can be read; then it scrolls.
        width = re.search(r'<svg\b[^>]*? width="([\d.]+)', inline)
        least = f'<svg style="min-width:{float(width.group(1)) * 0.85:.0f}px" ' if width else "<svg "
        inline = inline.replace("<svg ", least, 1)
        name = words.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
        alone = f'<a href="{self.address(file)}">This picture by itself</a>'
        return (
            f'<figure class="mmsp-figure"><div class="mmsp-scroll" tabindex="0" role="region" aria-label="{name}">'
            f"{inline}</div><figcaption>{alone}</figcaption></figure>\n"
        )


def plain(text: str) -> str:
    """Text that Markdown takes for nothing else, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#&$~{}!])", r"\\\1", visible(" ".join(text.split())))


def code(text: str) -> str:
    """A word as it stands in a stream."""
    shown = visible(text).replace("|", "\\|")
    return f"`{shown}`" if "`" not in shown else f"`` {shown} ``"


def codes(words: Iterable[str]) -> str:
    """Several of them."""
    return ", ".join(map(code, words))


def fence(text: str, language: str = "") -> str:
    """Lines as they stand; what a reader would not see is escaped."""
    lines = [visible(line) for line in text.strip("\n").split("\n")]
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    mark = "`" * max(3, longest + 1)
    return "\n".join([f"{mark}{language}", *lines, mark, ""])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(cell or ' ' for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def anchor(name: str) -> str:
    """A place that a link can lead to, whatever is written around it."""
    return f'<a id="{name}"></a>'


def slug(*words: str) -> str:
    """An identifier of words that are names of the definition."""
    return "-".join(re.sub(r"[^\w.]+", "-", word) for word in words)


def toctree(paths: Iterable[str]) -> str:
    """The pages below one, as Sphinx's navigation is told of them."""
    return "\n".join(["```{toctree}", ":hidden:", "", *(f"/{path}" for path in paths), "```"])
