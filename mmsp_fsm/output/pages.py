"""Where the reference pages are, below the address at which somebody has put what `mmsp-fsm docs` makes."""

from __future__ import annotations


def rule_page(code: str, base: str = "") -> str:
    """The page of a rule: `rules/E302.html`, below `base` where one is given. These addresses are stable."""
    page = f"rules/{code}.html"
    return f"{base.rstrip('/')}/{page}" if base else page
