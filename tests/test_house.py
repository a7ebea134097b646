"""The house: what may import what, how large things are, and that no module knows a kind by its name.

Everything is read from the sources with `ast`, imports inside functions included.
"""

import ast
import io
import json
import re
import tokenize
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

import mmsp_fsm
from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.grammar.definition import Joins
from mmsp_fsm.grammar.loading import default, grammar_folder
from mmsp_fsm.grammar.source import build

PACKAGE = Path(mmsp_fsm.__file__).parent
MODULES = {
    ".".join(("mmsp_fsm", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
PACKAGES = tuple(sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py")))
PURE = ("grammar", "model", "machine", "fastpath", "checker")
"""The packages that a `StreamChecker` is made of. They do no I/O."""

GENERATED = "mmsp_fsm.model.objects"
LIGHT = {"mmsp_fsm.version"}
"""A module that every package may import."""

FIRST_PASS = {module for module in MODULES if module.startswith("mmsp_fsm.fastpath")}
"""What only makes the core fast: without it the same would be reported."""

BESIDE = {"mmsp_fsm.model.json_values", "mmsp_fsm.checker.step"}
"""JSON, strictly, which knows nothing of the protocol; and what a program reads of each event."""

PACKAGE_MODULES = 10
CORE_LINES, FIRST_PASS_LINES, MODULE_LINES, FUNCTION_LINES = 2000, 850, 400, 60


@cache
def tree(module):
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def imported(module):
    """Every module that `module` imports, anywhere in it; a name imported from a package may be a module of it."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively in line {node.lineno}"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def package_of(module):
    """The package below `mmsp_fsm` that a module belongs to; None for one of the top level."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in PACKAGES else None


def module_of(name):
    """The module that an imported name is, or is a part of."""
    return name if name in MODULES else name.rpartition(".")[0]


def dependencies(module):
    """The modules of this package that `module` imports, also inside functions and for type checkers alone.

    Of `from mmsp_fsm.model import wire` it is `mmsp_fsm.model.wire` alone, not also the package.
    """
    found = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {module_of(f"{node.module}.{alias.name}") for alias in node.names}
    return {one for one in found if one in MODULES and one != module}


def circles(graph):
    """Each node that can be reached from itself."""
    found = set()
    for start in graph:
        seen, waiting = set(), list(graph[start])
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += graph[node]
        if start in seen:
            found.add(start)
    return found


def core():
    """What a checker is made of: every module that it leads to."""
    found, waiting = set(), ["mmsp_fsm.checker.checker"]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += dependencies(module)
    return found


def in_core():
    return {module for module in MODULES if package_of(module) in PURE}


# ── Imports ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_no_import_is_circular():
    """The package itself is left out: its `__init__` imports a public name's module when the name is asked for."""
    assert circles({module: dependencies(module) - {"mmsp_fsm"} for module in MODULES if module != "mmsp_fsm"}) == set()


def test_the_search_for_circles_finds_one():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b", "c"}


def test_no_package_imports_the_front_door():
    for module in MODULES:
        if package_of(module) is not None:
            assert "mmsp_fsm" not in dependencies(module), module


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_what_its_docstring_lists(package):
    modules = [module for module in MODULES if package_of(module) == package]
    imported = {one for module in modules for one in dependencies(module)} - LIGHT
    found = sorted({package_of(one) or one.removeprefix("mmsp_fsm.") for one in imported} - {package})
    listed = re.search(r"^Imports: ([^.]+)\.", ast.get_docstring(tree(f"mmsp_fsm.{package}")), re.M)[1]
    assert (", ".join(found) or "no other package") == listed


def test_no_package_is_large():
    sizes = {}
    for module, path in MODULES.items():
        if path.stem != "__init__":
            sizes.setdefault(module.rpartition(".")[0], []).append(path.stem)
    assert {name: stems for name, stems in sizes.items() if len(stems) > PACKAGE_MODULES} == {}


@pytest.mark.parametrize("module", sorted(in_core()))
def test_the_core_does_no_i_o(module):
    """Only the loading of the packaged definition reads files."""
    forbidden = {"io", "os", "sys", "pathlib", "socket", "subprocess", "logging", "asyncio", "click", "rich"}
    if module == "mmsp_fsm.grammar.loading":
        forbidden.remove("pathlib")
    assert {one.split(".")[0] for one in imported(module)} & forbidden == set()
    called = {node.func.id for node in ast.walk(tree(module))
              if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}  # fmt: skip
    assert called & {"open", "print", "input", "exec", "eval", "__import__"} == set()


def importers(library):
    return {module for module in MODULES if library in {one.split(".")[0] for one in imported(module)}}


def test_each_library_is_behind_its_door():
    assert importers("transitions") == {"mmsp_fsm.machine.machine"}
    assert importers("cattrs") <= {f"mmsp_fsm.{name}" for name in ("grammar.converter", "grammar.source", "model.wire")}
    for library, rooms in {
        "pygraphviz": ("diagrams",),
        "hypothesis": ("testing",),
        "pytest": ("testing",),
        "click": ("cli",),
        "rich": ("cli", "output"),
        "fsspec": ("recordings",),
        "distributed": ("engines",),
        "httpx": ("probe",),
    }.items():
        for module in importers(library):
            assert module.split(".")[1] in rooms, f"{module} imports {library}"


# ── Kinds are data ───────────────────────────────────────────────────────────────────────────────────────────────

KINDS = set(default().kinds)
OTHER_WORDS = {
    "joins": set(get_args(Joins)),
    "format": {"text", "json", "jsonl", "sarif", "junit", "github", "dot", "svg", "html"},
}
"""Words of other vocabularies, by what holds them. Where a kind's name is one of these too, it may be meant as such."""


def literals(module):
    """Each string literal of a module that is no docstring, with its parent node."""
    for parent in ast.walk(tree(module)):
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, ast.Constant) and isinstance(child.value, str) and not isinstance(parent, ast.Expr):
                yield child, parent


def names_a_kind(text):
    return text.partition(".")[0] in KINDS and text.partition(".")[2] in ("", "delta", "done")


def meant_otherwise(literal, parent):
    """Whether a kind's name is here a word of another vocabulary: compared with what holds it, or among its words."""
    for holder, words in OTHER_WORDS.items():
        if literal.value not in words:
            continue
        if isinstance(parent, ast.Compare):
            sides = [getattr(side, "attr", getattr(side, "id", None)) for side in (parent.left, *parent.comparators)]
            if holder in sides:
                return True
        elif isinstance(parent, ast.keyword):
            if parent.arg == "default":
                return True
        else:
            nodes = parent.keys if isinstance(parent, ast.Dict) else ast.iter_child_nodes(parent)
            beside = [one.value for one in nodes if isinstance(one, ast.Constant)]
            if len(beside) > 1 and set(beside) <= words:
                return True
    return False


@pytest.mark.parametrize("module", sorted(set(MODULES) - {GENERATED}))
def test_no_module_names_a_kind(module):
    found = [
        (literal.lineno, literal.value)
        for literal, parent in literals(module)
        if names_a_kind(literal.value) and not meant_otherwise(literal, parent)
    ]
    assert found == []


def test_the_search_finds_what_it_looks_for():
    generated = {literal.value for literal, _ in literals(GENERATED)}
    assert {f"{kind}.{phase}" for kind in KINDS for phase in ("delta", "done")} <= generated
    for code, fine in {
        'kind.name == "text"': False,
        'kind == "text"': False,
        '"text" in names': False,
        'kind.name in ("text", "thinking")': False,
        'kinds["text"]': False,
        'kind.joins == "thinking"': False,
        'kind.joins == "text"': True,
        '{"text": 1, "bytes": 2}': True,
        'chosen.format == "text"': True,
        'Choice(["text", "json"])': True,
    }.items():
        node = ast.parse(code)
        found = [
            (child, parent)
            for parent in ast.walk(node)
            for child in ast.iter_child_nodes(parent)
            if isinstance(child, ast.Constant) and isinstance(child.value, str) and names_a_kind(child.value)
        ]
        assert found
        assert all(meant_otherwise(*one) for one in found) is fine, code


def test_a_kind_s_name_means_nothing():
    """With every kind renamed, each rule's bad example (renamed too) says the same of the same event."""
    new = {kind: f"kind{number}" for number, kind in enumerate(KINDS)}
    grammar, catalogue = _files()
    grammar["kind"] = {new[name]: kind for name, kind in grammar["kind"].items()}
    for reason in grammar["finish_reason"].values():
        for word in reason:
            reason[word] = new[reason[word]]
    renamed = build(grammar, catalogue)
    for rule in default().rules.values():
        if rule.bad.format != "jsonl":
            continue
        limits = mmsp_fsm.Limits(**rule.bad.limits)
        said = []
        for definition, names in ((default(), {}), (renamed, new)):
            checker = StreamChecker(definition, rules=definition.rules, limits=limits, keep_message=False)
            for line in rule.bad.text.splitlines():
                for old, name in names.items():
                    for phase in ("delta", "done"):
                        line = line.replace(json.dumps(f"{old}.{phase}"), json.dumps(f"{name}.{phase}"))
                checker.feed_record(line.encode())
            said.append([(one.code, one.event, one.pointer) for one in checker.close().diagnostics])
        assert said[0] == said[1], rule.code
        assert said[0], rule.code


def _files():
    import tomllib

    read = [
        tomllib.loads((grammar_folder() / name).read_text(encoding="utf-8")) for name in ("mmsp.toml", "rules.toml")
    ]
    return deepcopy(read)


# ── Sizes ────────────────────────────────────────────────────────────────────────────────────────────────────────


def code_lines(module):
    """Lines of code: without blank ones, comments, docstrings and the strings that describe an attribute."""
    text = MODULES[module].read_text(encoding="utf-8")
    described = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            described |= set(range(node.lineno, node.end_lineno + 1))
    lines = set()
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in silent:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - described)


def test_the_core_is_small():
    for modules, bar in (
        (core() - FIRST_PASS - BESIDE - {GENERATED}, CORE_LINES),
        (FIRST_PASS, FIRST_PASS_LINES),
    ):
        sizes = {module: code_lines(module) for module in modules}
        total = sum(sizes.values())
        largest = sorted(sizes.items(), key=lambda one: -one[1])[:5]
        assert total < bar, f"here are {total} lines of code, bar {bar}; the largest: {largest}"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_no_module_is_long(module):
    count = len(MODULES[module].read_text(encoding="utf-8").splitlines())
    assert count <= MODULE_LINES, f"{module} has {count} lines"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_no_function_is_long(module):
    functions = [node for node in ast.walk(tree(module)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    long = {one.name: one.end_lineno - one.lineno + 1 for one in functions}
    assert {name: lines for name, lines in long.items() if lines > FUNCTION_LINES} == {}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_every_module_says_what_it_is(module):
    assert ast.get_docstring(tree(module))
    text = MODULES[module].read_text(encoding="utf-8")
    if module == GENERATED:
        assert text.startswith("# Made by `make generate` from grammar/mmsp.toml; an edit here is lost.\n")


# ── The front door ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_front_door_shows_everything_offered():
    assert dir(mmsp_fsm) == sorted(mmsp_fsm.__all__)
    for name in mmsp_fsm.__all__:
        assert getattr(mmsp_fsm, name) is not None
    with pytest.raises(AttributeError, match="nothing_such"):
        mmsp_fsm.nothing_such  # noqa: B018
