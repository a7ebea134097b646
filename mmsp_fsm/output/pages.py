"""Where the reference pages are, below the address at which somebody has put what `mmsp-fsm docs` makes."""

from __future__ import annotations

from collections.abc import Callable


def rule_page(code: str, base: str = "") -> str:
    """The page of a rule: `rules/E302.html`, below `base` where one is given. These addresses are stable."""
    page = f"rules/{code}.html"
    return f"{base.rstrip('/')}/{page}" if base else page


def pages_at(docs_url: str | None) -> Callable[[str], str | None]:
    """What tells the page of a rule by its code; None where no address is known."""
    return lambda code: rule_page(code, docs_url) if docs_url else None
