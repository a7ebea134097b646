"""The EBNF of `grammar/mmsp.ebnf`: parsing it to a small syntax tree, and writing its line `K = ...`.

The notation: `name := alternatives` is a production, and the first one is what a stream is; `X | Y` is either, `X Y`
one after the other, `X*` any number, `X+` one or more, `[X]` at most one, `( )` groups, `(* *)` is a comment. A name
that is no production is a symbol of the machine. `K = a | b` lists the kinds, and `K.delta` is the symbol of one of
them: each use of a production that says K stands for every kind in turn, and means the same kind wherever it says K. A
production cannot lead back to itself: the language is regular, as that of any machine without a stack.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from attrs import define, field, frozen

from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.grammar.errors import DefinitionError

KIND = "K"
"""The name that stands for every kind in turn."""

_TOKEN = re.compile(
    r"(?P<skip>\s+|\(\*.*?\*\))|(?P<comment>\(\*)|(?P<name>\w+(?:\.\w+)*)|(?P<sign>:=|[=|*+()\[\]])|(?P<other>.)",
    re.DOTALL,
)


# ── The tree ─────────────────────────────────────────────────────────────────────────────────────────────────────


@frozen
class Symbol:
    """A symbol of the machine; `K.delta` stands for that of one kind."""

    name: str
    line: int = field(eq=False, default=0)

    @property
    def of_a_kind(self) -> bool:
        """Whether it says K."""
        return self.name.startswith(f"{KIND}.")

    def of(self, kind: str) -> Symbol:
        """The symbol that it stands for where K is `kind`."""
        return Symbol(self.name.replace(KIND, kind, 1), self.line) if self.of_a_kind else self


@frozen
class Use:
    """A production, by its name."""

    name: str
    line: int = field(eq=False, default=0)


@frozen
class Sequence:
    """One part after the other."""

    parts: tuple[Node, ...]


@frozen
class Choice:
    """Any one of the options."""

    options: tuple[Node, ...]


@frozen
class Repeat:
    """`least` or more of the body, without end unless `most` says so: `X*` (0), `X+` (1), `[X]` (0, at most 1)."""

    body: Node
    least: int
    most: int | None = None


Node = Symbol | Use | Sequence | Choice | Repeat


@frozen
class Ebnf:
    """A grammar as written. The first production is what a whole stream is."""

    kinds: tuple[str, ...]
    productions: dict[str, Node]

    @property
    def start(self) -> str:
        """The name of the first production."""
        return next(iter(self.productions))

    def expanded(self) -> Node:
        """One tree for the whole language: every use replaced by what it stands for, every K by a kind."""
        return self._expand(Use(self.start), "")

    def _expand(self, node: Node, kind: str) -> Node:
        if isinstance(node, Symbol):
            return node.of(kind)
        if isinstance(node, Use):
            body = self.productions[node.name]
            if any(symbol.of_a_kind for symbol in _leaves(body) if isinstance(symbol, Symbol)):
                return Choice(tuple(self._expand(body, chosen) for chosen in self.kinds))
            return self._expand(body, "")
        if isinstance(node, Repeat):
            return Repeat(self._expand(node.body, kind), node.least, node.most)
        if isinstance(node, Choice):
            return Choice(tuple(self._expand(option, kind) for option in node.options))
        return Sequence(tuple(self._expand(part, kind) for part in node.parts))


# ── Reading and writing ──────────────────────────────────────────────────────────────────────────────────────────


def parse_ebnf(text: str, symbols: Collection[str]) -> Ebnf:
    """Parse `text`; `symbols` are those of the machine. Raises `DefinitionError`, which names the line."""
    written = _Parser(list(_tokens(text)))
    written.grammar()
    _check_names(written, symbols)
    productions = {name: _resolved(body, written, symbols) for name, body in written.productions.items()}
    grammar = Ebnf(tuple(kind.text for kind in written.kinds), productions)
    reached = _reach(grammar, grammar.start, ())
    for name, line in written.lines.items():
        if name not in reached:
            raise _fault(line, f"nothing uses {name}")
    return grammar


def ebnf_source(text: str, definition: Definition) -> str:
    """`text` with the kinds of `definition` in its line `K = ...`, the rest as it stands. Raises `DefinitionError`."""
    tokens = list(_tokens(text))
    parser = _Parser(tokens)
    parser.grammar()
    if not parser.kinds:
        raise _fault(tokens[-1].line, f"there is no line {KIND} = ... to write the kinds into")
    return text[: parser.kinds[0].start] + " | ".join(definition.kinds) + text[parser.kinds[-1].end :]


@frozen
class _Token:
    """`what` is `name`, `end`, or the sign itself."""

    what: str
    text: str
    line: int
    start: int
    end: int


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        what, word = match.lastgroup or "", match.group()
        if what == "comment":
            raise _fault(line, "a comment begins here and does not end")
        if what == "other":
            raise _fault(line, f"{word!r} means nothing here")
        if what != "skip":
            yield _Token(word if what == "sign" else what, word, line, match.start(), match.end())
        line += word.count("\n")
    yield _Token("end", "", line, len(text), len(text))


@define
class _Parser:
    """Reads tokens from left to right, one ahead (two, to see where the next production begins)."""

    tokens: list[_Token]
    at: int = 0
    kinds: list[_Token] = field(factory=list)
    productions: dict[str, Node] = field(factory=dict)
    lines: dict[str, int] = field(factory=dict)

    @property
    def here(self) -> _Token:
        return self.tokens[self.at]

    def grammar(self) -> None:
        """Read `grammar := (name ":=" choice | "K" "=" name ("|" name)*)*`."""
        while self.here.what != "end":
            name = self.take("name", "the name of a production")
            if name.text == KIND:
                self.take("=", "= and the kinds")
                if self.kinds:
                    raise _fault(name.line, f"{KIND} is given a second time; the first is in line {self.kinds[0].line}")
                self.kinds = self.names()
                continue
            self.take(":=", f":= and what {name.text} is")
            if name.text in self.productions:
                first = self.lines[name.text]
                raise _fault(name.line, f"{name.text} is given a second time; the first is in line {first}")
            self.lines[name.text] = name.line
            self.productions[name.text] = self.choice()

    def names(self) -> list[_Token]:
        names = [self.take("name", "a kind")]
        while self.here.what == "|":
            self.at += 1
            names.append(self.take("name", "a kind"))
        return names

    def choice(self) -> Node:
        """Read `choice := sequence ("|" sequence)*`."""
        options = [self.sequence()]
        while self.here.what == "|":
            self.at += 1
            options.append(self.sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def sequence(self) -> Node:
        """Read `sequence := repeated+`."""
        parts = [self.repeated()]
        while self.here.what in ("(", "[") or (self.here.what == "name" and not self.begins_production()):
            parts.append(self.repeated())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def repeated(self) -> Node:
        """Read `repeated := (name | "(" choice ")" | "[" choice "]") ["*" | "+"]`."""
        node = self.one()
        if self.here.what in ("*", "+"):
            least = int(self.here.what == "+")
            self.at += 1
            return Repeat(node, least)
        return node

    def one(self) -> Node:
        opening = self.here
        if opening.what == "name" and not self.begins_production():
            self.at += 1
            return Use(opening.text, opening.line)
        if opening.what not in ("(", "["):
            raise self.unexpected("a symbol, a production, ( or [")
        self.at += 1
        body = self.choice()
        closing = ")" if opening.what == "(" else "]"
        self.take(closing, f"{closing} for the {opening.what} of line {opening.line}")
        return body if opening.what == "(" else Repeat(body, 0, 1)

    def begins_production(self) -> bool:
        return self.tokens[self.at + 1].what in (":=", "=")

    def take(self, what: str, due: str) -> _Token:
        token = self.here
        if token.what != what:
            raise self.unexpected(due)
        self.at += 1
        return token

    def unexpected(self, due: str) -> DefinitionError:
        found = repr(self.here.text) if self.here.what != "end" else "the end"
        return _fault(self.here.line, f"{due} is due here, and there is {found}")


# ── What a grammar must be ───────────────────────────────────────────────────────────────────────────────────────


def _check_names(written: _Parser, symbols: Collection[str]) -> None:
    if not written.productions:
        raise _fault(written.here.line, "there is no production")
    for name, line in written.lines.items():
        if name in symbols or "." in name:
            raise _fault(line, f"{name} is a symbol, so no production bears its name")
    names: set[str] = set()
    for kind in written.kinds:
        if kind.text in names:
            raise _fault(kind.line, f"the kind {kind.text} is named twice")
        names.add(kind.text)


def _resolved(node: Node, written: _Parser, symbols: Collection[str]) -> Node:
    """The tree in which the names that are symbols stand as such. Raises where a name is neither."""
    if isinstance(node, Use):
        if node.name in written.productions:
            return node
        symbol = Symbol(node.name, node.line)
        if symbol.of_a_kind and not written.kinds:
            raise _fault(node.line, f"{node.name} stands here, but no line {KIND} = ... says what {KIND} is")
        for known in [symbol.of(kind.text) for kind in written.kinds] if symbol.of_a_kind else [symbol]:
            if known.name not in symbols:
                raise _fault(node.line, f"{known.name} is neither a production nor a symbol of the machine")
        return symbol
    if isinstance(node, Repeat):
        return Repeat(_resolved(node.body, written, symbols), node.least, node.most)
    if isinstance(node, Choice):
        return Choice(tuple(_resolved(option, written, symbols) for option in node.options))
    if isinstance(node, Sequence):
        return Sequence(tuple(_resolved(part, written, symbols) for part in node.parts))
    return node


def _reach(grammar: Ebnf, name: str, above: tuple[str, ...]) -> set[str]:
    """The productions that `name` leads to. Raises where one leads back to itself."""
    reached = {name}
    for use in _leaves(grammar.productions[name]):
        if isinstance(use, Use):
            if use.name in (*above, name):
                raise _fault(use.line, f"{use.name} leads back to itself, so the language would not be a regular one")
            reached |= _reach(grammar, use.name, (*above, name))
    return reached


def _leaves(node: Node) -> Iterator[Symbol | Use]:
    if isinstance(node, (Symbol, Use)):
        yield node
    elif isinstance(node, Repeat):
        yield from _leaves(node.body)
    else:
        for inner in node.options if isinstance(node, Choice) else node.parts:
            yield from _leaves(inner)


def _fault(line: int, sentence: str) -> DefinitionError:
    return DefinitionError(f"mmsp.ebnf, line {line}: {sentence}")
