"""The machine of mmsp.toml accepts exactly the language of mmsp.ebnf: by automaton equivalence, not by examples."""

import tomllib
from copy import deepcopy
from pathlib import Path

import pytest
from attrs import evolve

from mmsp_fsm import DefinitionError
from mmsp_fsm.grammar.ebnf import Choice, Repeat, Sequence, Symbol, Use, ebnf_source, parse_ebnf
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.grammar.source import build
from tests.grammar.languages import EBNF, alphabet, compared, disagreement, ebnf_dfa, machine_dfa, reachable, shortest

FOLDER = Path(__file__).parents[2] / "grammar"
GRAMMAR = tomllib.loads((FOLDER / "mmsp.toml").read_text(encoding="utf-8"))
CATALOGUE = tomllib.loads((FOLDER / "rules.toml").read_text(encoding="utf-8"))

MACHINE_ONLY = "the machine accepts it, the EBNF does not"
EBNF_ONLY = "the EBNF accepts it, the machine does not"


def differ(stream, side):
    return f"the shortest stream on which they differ: {stream}; {side}"


# ── The proof ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_machine_and_the_ebnf_accept_the_same_streams():
    assert disagreement(default(), EBNF) is None


def test_the_library_s_own_comparison_agrees():
    assert machine_dfa(default()) == ebnf_dfa(EBNF, default())


def test_the_alphabet_is_every_item_stop_and_error():
    kinds = ("text", "thinking", "tool_call", "inline_data", "inline_thinking", "embedding")
    items = [f"{kind}.{phase}" for phase in ("delta", "done") for kind in kinds]
    assert alphabet(default()) == [*items, "stop", "error"]


def test_legal_streams_end_in_stopped_or_failed_and_are_never_unsure():
    machine = machine_dfa(default())
    reached = reachable(machine)
    assert reached == set(default().states) - {"unsure"}
    assert machine.final_states & reached == {"stopped", "failed"}


@pytest.mark.parametrize(
    ("stream", "accepted"),
    [
        ("", False),
        ("stop", True),
        ("error", True),
        ("text.delta", False),
        ("text.delta stop", False),
        ("text.delta error", True),
        ("text.delta text.done stop", True),
        ("text.delta text.done error", True),
        ("text.delta text.delta text.done thinking.delta thinking.done stop", True),
        ("text.delta thinking.done stop", False),
        ("text.delta thinking.delta error", False),
        ("text.delta text.done thinking.delta error", True),
        ("text.done stop", False),
        ("stop stop", False),
        ("stop error", False),
        ("error stop", False),
    ],
)
def test_both_say_of_single_streams_what_the_protocol_says(stream, accepted):
    for automaton in (machine_dfa(default()), ebnf_dfa(EBNF, default())):
        assert automaton.accepts_input(stream.split()) is accepted


# ── A broken copy of either is caught ────────────────────────────────────────────────────────────────────────────


def forbid(row, *rules):
    """Make the transition with these words a violation."""

    def edit(machine):
        (found,) = [one for one in machine["transitions"] if (one["from"], one["on"]) == row]
        machine["transitions"].remove(found)
        machine["violations"].append({**found, "rules": list(rules), "says": "no"})
        machine["guards"] = [one for one in machine["guards"] if one["on"] != row[1]]

    return edit


def allow(row, **more):
    """Make the violation with these words a transition."""

    def edit(machine):
        (found,) = [one for one in machine["violations"] if (one["from"], one["on"]) == row]
        machine["violations"].remove(found)
        machine["transitions"].append({key: found[key] for key in ("from", "on", "to")} | more)

    return edit


def lead(row, to):
    """Make the transition with these words lead somewhere else."""

    def edit(machine):
        (found,) = [one for one in machine["transitions"] if (one["from"], one["on"]) == row]
        found["to"] = to

    return edit


BROKEN_TABLES = {
    "a group of one fragment only": (
        forbid(("{kind}_open", "{kind}.delta"), "E301", "E302", "E410", "E411"),
        differ("text.delta text.delta error", EBNF_ONLY),
    ),
    "a group without a done item": (
        forbid(("{kind}_open", "{kind}.done"), "E301", "E404", "E405"),
        differ("text.delta text.done stop", EBNF_ONLY),
    ),
    "no stop": (forbid(("between_groups", "stop"), "E304"), differ("stop", EBNF_ONLY)),
    "no error at the beginning": (forbid(("between_groups", "error"), "E412"), differ("error", EBNF_ONLY)),
    "no error inside a group": (forbid(("{kind}_open", "error"), "E412"), differ("text.delta error", EBNF_ONLY)),
    "a done item between groups": (
        allow(("between_groups", "{kind}.done")),
        differ("text.done stop", MACHINE_ONLY),
    ),
    "a stop inside a group": (allow(("{kind}_open", "stop")), differ("text.delta stop", MACHINE_ONLY)),
    "a done item of another kind": (
        allow(("{kind}_open", "{other}.done")),
        differ("text.delta thinking.done stop", MACHINE_ONLY),
    ),
    "another kind's fragment": (
        allow(("{kind}_open", "{other}.delta")),
        differ("text.delta thinking.delta error", MACHINE_ONLY),
    ),
    "a second stop": (allow(("stopped", "stop")), differ("stop stop", MACHINE_ONLY)),
    "a stop after an error": (allow(("failed", "stop")), differ("error stop", MACHINE_ONLY)),
    "an end without an end": (allow(("between_groups", "end")), differ("(an empty one)", MACHINE_ONLY)),
    "a truncated group": (allow(("{kind}_open", "end")), differ("text.delta", MACHINE_ONLY)),
    "a done item that leaves its group open": (
        lead(("{kind}_open", "{kind}.done"), "{kind}_open"),
        differ("text.delta text.done stop", EBNF_ONLY),
    ),
    "an unsure stream in the legal part": (
        lead(("between_groups", "error"), "unsure"),
        differ("error stop", MACHINE_ONLY),
    ),
}


def broken(edit):
    """The definition with an edited table; rules that it leaves unused are taken out, so that it loads."""
    grammar = deepcopy(GRAMMAR)
    edit(grammar["machine"])
    catalogue = dict(CATALOGUE)
    while True:
        try:
            return build(grammar, catalogue)
        except DefinitionError as error:
            unused = [code for code in catalogue if f"can report {code} " in str(error)]
            if not unused:
                raise
            for code in unused:
                del catalogue[code]


@pytest.mark.parametrize("name", BROKEN_TABLES)
def test_a_broken_table_is_caught(name):
    edit, message = BROKEN_TABLES[name]
    assert disagreement(broken(edit), EBNF) == message


def test_every_single_cell_counts():
    """Make any violation legal or any transition illegal: the languages differ, and the shortest stream shows where."""
    definition, letters = default(), alphabet(default())
    ebnf = ebnf_dfa(EBNF, definition)
    cells = [one for one in definition.cells.values() if one.symbol in letters and one.state != "unsure"]
    assert len(cells) == (1 + 6 + 2) * 14
    missed = []
    for cell in cells:
        flipped = evolve(cell, rules=("E301",) if cell.legal else ())
        copy = evolve(definition, cells={**definition.cells, (cell.state, cell.symbol): flipped})
        found = compared(machine_dfa(copy), ebnf, copy)
        side = EBNF_ONLY if cell.legal else MACHINE_ONLY
        if found is None or cell.symbol not in found.split(": ")[1].split("; ")[0].split() or side not in found:
            missed.append((cell.state, cell.symbol, found))
    assert missed == []


BROKEN_EBNFS = {
    "no fragments": ("group  := K.delta+ K.done", "group  := K.delta* K.done", differ("text.done stop", EBNF_ONLY)),
    "one fragment only": (
        "group  := K.delta+ K.done",
        "group  := K.delta K.done",
        differ("text.delta text.delta text.done stop", MACHINE_ONLY),
    ),
    "a done item of any kind": (
        "group  := K.delta+ K.done",
        "group  := fragment+ whole\nfragment := K.delta\nwhole := K.done",
        differ("text.delta thinking.done stop", EBNF_ONLY),
    ),
    "no ending by error": (" | group* [K.delta+] error", "", differ("error", MACHINE_ONLY)),
    "an error inside a group only": ("[K.delta+] error", "K.delta+ error", differ("error", MACHINE_ONLY)),
    "an error between groups only": (
        "[K.delta+] error",
        "error",
        differ("text.delta error", MACHINE_ONLY),
    ),
    "at least one group": ("group* stop", "group+ stop", differ("stop", MACHINE_ONLY)),
    "one group at most": (
        "group* stop",
        "[group] stop",
        differ("text.delta text.done text.delta text.done stop", MACHINE_ONLY),
    ),
    "no end at all": ("group* stop", "group* [stop]", differ("(an empty one)", EBNF_ONLY)),
    "stop and error": ("group* stop |", "group* stop [error] |", differ("stop error", EBNF_ONLY)),
    "a kind fewer": (" | embedding", "", differ("embedding.delta error", MACHINE_ONLY)),
}


@pytest.mark.parametrize("name", BROKEN_EBNFS)
def test_a_broken_ebnf_is_caught(name):
    old, new, message = BROKEN_EBNFS[name]
    assert EBNF.count(old) == 1
    assert disagreement(default(), EBNF.replace(old, new)) == message


def test_equal_languages_written_otherwise_are_equal():
    other = """
        stream  := groups (stop | error | broken error)
        groups  := group*               (* named *)
        broken  := K.delta (K.delta)*
        group   := broken2
        broken2 := (K.delta K.delta* | K.delta) K.done
        K = embedding | inline_thinking | inline_data | tool_call | thinking | text
    """
    assert disagreement(default(), other) is None


def test_the_shortest_word_of_an_empty_language_is_none():
    machine = machine_dfa(default())
    assert shortest(machine.difference(machine), alphabet(default())) is None


# ── The EBNF's own notation ──────────────────────────────────────────────────────────────────────────────────────

SYMBOLS = ("a.delta", "a.done", "b.delta", "b.done", "stop", "error")
DELTA, DONE = Symbol("K.delta"), Symbol("K.done")
STOP, ERROR = Symbol("stop"), Symbol("error")


@pytest.mark.parametrize(
    ("body", "tree"),
    [
        ("stop", STOP),
        ("a.delta", Symbol("a.delta")),
        ("stop error", Sequence((STOP, ERROR))),
        ("stop | error", Choice((STOP, ERROR))),
        ("stop*", Repeat(STOP, 0)),
        ("stop+", Repeat(STOP, 1)),
        ("[stop]", Repeat(STOP, 0, 1)),
        ("(stop)", STOP),
        ("(stop | error)+", Repeat(Choice((STOP, ERROR)), 1)),
        ("stop error* | [stop error] stop", Choice((
            Sequence((STOP, Repeat(ERROR, 0))),
            Sequence((Repeat(Sequence((STOP, ERROR)), 0, 1), STOP)),
        ))),
        ("[K.delta+] error", Sequence((Repeat(Repeat(DELTA, 1), 0, 1), ERROR))),
        ("stop(* a comment *)error", Sequence((STOP, ERROR))),
        ("stop (* over\n two lines, with * and ) *) error", Sequence((STOP, ERROR))),
    ],
)  # fmt: skip
def test_the_tree_of_a_production(body, tree):
    assert parse_ebnf(f"s := {body}\nK = a | b", SYMBOLS).productions == {"s": tree}


def test_a_production_that_says_k_means_one_kind_at_each_use():
    grammar = parse_ebnf("stream := group* stop\ngroup := K.delta K.done\nK = a | b", SYMBOLS)
    assert grammar.kinds == ("a", "b")
    assert grammar.start == "stream"
    assert grammar.productions == {
        "stream": Sequence((Repeat(Use("group"), 0), STOP)),
        "group": Sequence((DELTA, DONE)),
    }
    group = Choice(tuple(Sequence((Symbol(f"{kind}.delta"), Symbol(f"{kind}.done"))) for kind in "ab"))
    assert grammar.expanded() == Sequence((Repeat(group, 0), STOP))


def test_the_shipped_grammar_parses():
    grammar = parse_ebnf(EBNF, default().symbols)
    assert grammar.kinds == tuple(default().kinds)
    assert list(grammar.productions) == ["stream", "group"]


REFUSED = [
    ("", 1, "there is no production"),
    ("(* only a comment\n *)\n", 3, "there is no production"),
    ("s := stop (* no end\n", 1, "a comment begins here and does not end"),
    ("s := stop\n(* one *)\n  (* no end\n\n", 3, "a comment begins here and does not end"),
    ("s := stop\n\n  ; error", 3, "';' means nothing here"),
    ("s := K. delta", 1, "'.' means nothing here"),
    ("s :=", 1, "a symbol, a production, ( or [ is due here, and there is the end"),
    ("s :=\n\nt := stop", 3, "a symbol, a production, ( or [ is due here, and there is 't'"),
    ("s := stop |\n", 2, "a symbol, a production, ( or [ is due here, and there is the end"),
    ("s := | stop", 1, "a symbol, a production, ( or [ is due here, and there is '|'"),
    ("s := ()", 1, "a symbol, a production, ( or [ is due here, and there is ')'"),
    ("s := stop**", 1, "the name of a production is due here, and there is '*'"),
    ("s := *", 1, "a symbol, a production, ( or [ is due here, and there is '*'"),
    ("s := (stop\n | error", 2, ") for the ( of line 1 is due here, and there is the end"),
    ("s :=\n [stop)", 2, "] for the [ of line 2 is due here, and there is ')'"),
    ("s := stop)\n", 1, "the name of a production is due here, and there is ')'"),
    ("s stop", 1, ":= and what s is is due here, and there is 'stop'"),
    ("s = stop", 1, ":= and what s is is due here, and there is '='"),
    ("s := stop\ns := error", 2, "s is given a second time; the first is in line 1"),
    ("s := K.delta\nK = a\n\nK = b", 4, "K is given a second time; the first is in line 2"),
    ("s := K.delta\nK := a", 2, "= and the kinds is due here, and there is ':='"),
    ("s := K.delta\nK = ", 2, "a kind is due here, and there is the end"),
    ("s := K.delta\nK = a | | b", 2, "a kind is due here, and there is '|'"),
    ("s := K.delta\nK = a |\n b | a", 3, "the kind a is named twice"),
    ("s := stop |\n K.delta", 2, "K.delta stands here, but no line K = ... says what K is"),
    ("s := K.delta\nK = a | c", 1, "c.delta is neither a production nor a symbol of the machine"),
    ("s := K.data\nK = a", 1, "a.data is neither a production nor a symbol of the machine"),
    ("s := grop*\n stop\ngroup := stop", 1, "grop is neither a production nor a symbol of the machine"),
    ("s := K\nK = a", 1, "K is neither a production nor a symbol of the machine"),
    ("s := stop\n\nstop := error", 3, "stop is a symbol, so no production bears its name"),
    ("s := stop\na.b := error", 2, "a.b is a symbol, so no production bears its name"),
    ("s := stop\nt := error", 2, "nothing uses t"),
    ("s := stop | s", 1, "s leads back to itself, so the language would not be a regular one"),
    ("s := t\nt := stop | u\nu := (\n t)", 4, "t leads back to itself, so the language would not be a regular one"),
]


@pytest.mark.parametrize(("text", "line", "sentence"), REFUSED)
def test_bad_ebnf_is_refused_with_its_line(text, line, sentence):
    with pytest.raises(DefinitionError) as refused:
        parse_ebnf(text, SYMBOLS)
    assert str(refused.value) == f"mmsp.ebnf, line {line}: {sentence}"


def test_the_line_of_the_kinds_is_written_from_the_definition():
    assert ebnf_source(EBNF, default()) == EBNF
    stale = EBNF.replace("K = text | thinking | tool_call", "K = text")
    assert stale != EBNF
    assert ebnf_source(stale, default()) == EBNF


def test_the_rest_of_the_file_stands_as_it_is():
    grammar = deepcopy(GRAMMAR)
    grammar["kind"]["video"] = {"grows": "data", "joins": "bytes"}
    definition = build(grammar, CATALOGUE)
    assert ebnf_source(EBNF, definition) == EBNF.replace("| embedding\n", "| embedding | video\n")
    text = "(* K = no *)\ns := K.delta\n K = a |\n  b  (* after *)\n(* the end *)"
    assert ebnf_source(text, default()) == (
        "(* K = no *)\ns := K.delta\n K = text | thinking | tool_call | inline_data | inline_thinking | embedding"
        "  (* after *)\n(* the end *)"
    )


def test_a_text_without_a_line_of_kinds_is_refused():
    with pytest.raises(DefinitionError) as refused:
        ebnf_source("s := stop\n", default())
    assert str(refused.value) == "mmsp.ebnf, line 2: there is no line K = ... to write the kinds into"
