"""The style sheet of the site: pictures in the theme that the reader chose, and wide things that scroll."""

from __future__ import annotations

from mmsp_fsm.diagrams.colors import FACES, darkening
from mmsp_fsm.diagrams.railroad import dark_colours, syntax_css

DARK = 'body[data-theme="dark"]'
AUTO = 'body:not([data-theme="light"])'
"""Where Furo says that the page is dark: chosen, or left to what the system prefers."""


def site_css() -> str:
    """The whole style sheet."""
    chosen, preferred = f"{DARK} .mmsp-picture ", f"{AUTO} .mmsp-picture "
    dark_syntax, auto_syntax = f"{DARK} .mmsp-syntax", f"{AUTO} .mmsp-syntax"
    return "\n".join(
        [
            f".mmsp-picture text{{font-family:{FACES};white-space:pre}}",
            ".mmsp-picture a:hover text,.mmsp-picture a:focus text{text-decoration:underline}",
            ".mmsp-figure{margin:1.5rem 0}",
            ".mmsp-scroll{overflow-x:auto}",
            ".mmsp-figure svg{max-width:100%;height:auto}",
            "@media (min-width:100em){.content{width:64em}}",
            ".mmsp-figure figcaption{font-size:.8rem}",
            "article table.docutils{font-size:.85rem}",
            "article table.docutils th:first-child,article table.docutils td:first-child"
            "{position:sticky;left:0;background:var(--color-background-primary)}",
            "article table.docutils thead th:first-child{background:var(--color-table-header-background)}",
            "article table.docutils td a code{white-space:nowrap}",
            "article pre{white-space:pre;overflow-x:auto}",
            darkening(chosen),
            syntax_css(dark=dark_syntax),
            f"@media (prefers-color-scheme:dark){{{darkening(preferred)}{dark_colours(auto_syntax)}}}",
            "",
        ]
    )
