"""What the commands that speak HTTP have in common: their options, and the request that these make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from mmsp_fsm.cli.options import FiniteRange
from mmsp_fsm.probe.requests import KEY_VARIABLE

SECONDS = FiniteRange(min=0, min_open=True)


def _header(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """`Name: value` of an option that may be repeated. What was given is not repeated: it may hold a key."""
    headers = []
    for text in values:
        name, colon, value = text.partition(":")
        if not colon or not name.strip() or "\n" in text or "\r" in text:
            raise click.BadParameter("a header is written 'Name: value', in one line.")
        headers.append((name.strip(), value.strip(" \t")))
    return tuple(headers)


def http_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every request."""
    for option in (
        click.option("--insecure", is_flag=True, help="Trust any certificate."),
        click.option("--key", metavar="KEY", help=f"The server's key; better set {KEY_VARIABLE}, which nobody sees."),
        click.option("--header", "headers", multiple=True, callback=_header, help="'Name: value', may be repeated."),
    ):
        function = option(function)
    return function
