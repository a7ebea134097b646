"""`explain` and `rules`: what the rules say."""

from __future__ import annotations

import click

from mmsp_fsm.cli.console import is_terminal, standard_output
from mmsp_fsm.cli.options import CONFORMING, examples
from mmsp_fsm.grammar.errors import UnknownRuleError


@click.command(epilog=examples("mmsp-fsm explain E302 done-content-mismatch"))
@click.argument("rules", nargs=-1, required=True, metavar="RULE...")
def explain(rules: tuple[str, ...]) -> int:
    """Say why a rule exists, show a bad and a good stream, and how a producer mends it.

    RULE is a code or a name.
    """
    from mmsp_fsm.grammar.loading import default
    from mmsp_fsm.grammar.selection import find_rule
    from mmsp_fsm.output.rules import explained

    try:
        chosen = [find_rule(default(), name) for name in rules]
    except UnknownRuleError as error:
        raise click.UsageError(str(error)) from None
    standard_output().write("\n\n".join("\n".join(explained(rule)) for rule in chosen) + "\n")
    return CONFORMING


@click.command(name="rules", epilog=examples("mmsp-fsm rules | grep warning"))
def list_rules() -> int:
    """List all rules: code, name, severity, and what each reports."""
    from mmsp_fsm.grammar.loading import default
    from mmsp_fsm.output.rules import listed, table

    out = standard_output()
    if is_terminal(out):
        from rich.console import Console

        Console().print(table(default().rules.values()))
    else:
        out.writelines(f"{line}\n" for line in listed(default().rules.values()))
    return CONFORMING
