"""Writing what is made from the definition into a checkout, or telling what is stale there.

Run as `python -m mmsp_fsm.reference.generate [--check] [FOLDER]` (`make generate`, and part of `make check`). Diagrams
are compared by their DOT: their SVG depends on fonts.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from mmsp_fsm.diagrams.catalog import diagrams
from mmsp_fsm.diagrams.colors import LIGHT
from mmsp_fsm.diagrams.dot import dot
from mmsp_fsm.diagrams.railroad import productions, syntax_diagram
from mmsp_fsm.diagrams.rendering import draw, no_address
from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.grammar.ebnf import ebnf_source
from mmsp_fsm.grammar.loading import PACKED, load
from mmsp_fsm.reference.model_source import model_source
from mmsp_fsm.reference.packing import packed
from mmsp_fsm.reference.schema import schema_text, schemas

MEND = "make generate"
"""The command that mends drift."""

LONGEST_DIFF = 20
"""Lines of a difference that are shown."""


def generated(definition: Definition, root: Path) -> Iterator[tuple[Path, str]]:
    """Each generated text file: its path, and what it must hold."""
    grammar = root / "grammar" / "mmsp.ebnf"
    yield grammar.with_name(PACKED), packed(definition, grammar.parent)
    text = ebnf_source(grammar.read_text(encoding="utf-8"), definition)
    yield grammar, text
    for name, node in productions(definition, text).items():
        yield root / "diagrams" / f"syntax-{name}.svg", syntax_diagram(definition, name, node, lambda _: None)
    for name, schema in schemas(definition).items():
        yield root / "grammar" / "schema" / f"{name}.json", schema_text(schema)
    yield root / "mmsp_fsm" / "model" / "objects.py", model_source(definition)
    for picture in diagrams(definition):
        yield root / "diagrams" / f"{picture.name}.dot", dot(picture, LIGHT, no_address)


def stale(definition: Definition, root: Path) -> Iterator[str]:
    """A sentence and a difference for each generated file that is not what the definition gives now."""
    known = set()
    for path, due in generated(definition, root):
        known.add(path)
        here = path.read_text(encoding="utf-8") if path.exists() else ""
        if here != due:
            lines = list(difflib.unified_diff(here.splitlines(), due.splitlines(), "in the tree", "due", lineterm=""))
            yield "\n".join([f"{path.relative_to(root)} is stale: run `{MEND}`", *lines[:LONGEST_DIFF]])
    for path in sorted((root / "diagrams").glob("*.dot")):
        if path not in known:
            yield f"{path.relative_to(root)} is made by nothing any more: run `{MEND}`"


def write(definition: Definition, root: Path) -> None:
    """Write every generated file, and take away the diagrams of kinds that are gone."""
    (root / "diagrams").mkdir(exist_ok=True)
    for path in (root / "diagrams").iterdir():
        if path.suffix in (".dot", ".svg"):
            path.unlink()
    for path, due in generated(definition, root):
        path.parent.mkdir(exist_ok=True)
        path.write_text(due, encoding="utf-8")
    for picture in diagrams(definition):
        (root / "diagrams" / f"{picture.name}.svg").write_bytes(draw(picture, "svg"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write, or with `--check` tell what is stale. Returns the exit status: 1 where something is."""
    parser = argparse.ArgumentParser(prog="python -m mmsp_fsm.reference.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file is stale")
    parser.add_argument("folder", nargs="?", default=".", type=Path, help="the checkout (default: here)")
    chosen = parser.parse_args(arguments)
    definition = load(chosen.folder / "grammar")
    if not chosen.check:
        write(definition, chosen.folder)
        return 0
    faults = list(stale(definition, chosen.folder))
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
