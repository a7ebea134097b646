"""The two languages as automata: the machine's table read as a DFA, and the EBNF compiled to one (Thompson)."""

from collections import deque
from itertools import count
from pathlib import Path

from automata.fa.dfa import DFA
from automata.fa.nfa import NFA

from mmsp_fsm.grammar.ebnf import Choice, Repeat, Sequence, Symbol, parse_ebnf

EBNF = (Path(__file__).parents[2] / "grammar" / "mmsp.ebnf").read_text(encoding="utf-8")


def alphabet(definition):
    """What a stream is written in, in the definition's order: every K.delta and K.done, stop and error."""
    return [symbol.name for symbol in definition.symbols.values() if symbol.kind or symbol.name in ("stop", "error")]


def machine_dfa(definition):
    """The machine's legal cells, guards left out. It accepts where it is legal that nothing more comes."""
    letters = alphabet(definition)
    return DFA(
        states=set(definition.states),
        input_symbols=set(letters),
        transitions={
            state: {letter: cell.to for letter in letters if (cell := definition.cells[state, letter]).legal}
            for state in definition.states
        },
        initial_state=definition.initial.name,
        final_states={state for state in definition.states if definition.cells[state, "end"].legal},
        allow_partial=True,
    )


def ebnf_dfa(text, definition):
    """The EBNF, compiled."""
    table = {}
    numbers = count()
    start, end = _wire(parse_ebnf(text, definition.symbols).expanded(), table, numbers)
    nfa = NFA(
        states=set(range(next(numbers))),
        input_symbols=set(alphabet(definition)),
        transitions=table,
        initial_state=start,
        final_states={end},
    )
    return DFA.from_nfa(nfa, minify=True)


def _wire(node, table, numbers):
    """Thompson's construction: a fragment of an NFA for `node`, as its first and its last state."""
    start, end = next(numbers), next(numbers)

    def join(a, letter, b):
        table.setdefault(a, {}).setdefault(letter, set()).add(b)

    match node:
        case Symbol(name=name):
            join(start, name, end)
        case Choice(options=options):
            for option in options:
                first, last = _wire(option, table, numbers)
                join(start, "", first)
                join(last, "", end)
        case Sequence(parts=parts):
            at = start
            for part in parts:
                first, last = _wire(part, table, numbers)
                join(at, "", first)
                at = last
            join(at, "", end)
        case Repeat(body=body, least=least, most=most):
            first, last = _wire(body, table, numbers)
            join(start, "", first)
            join(last, "", end)
            if least == 0:
                join(start, "", end)
            if most is None:
                join(last, "", first)
    return start, end


def reachable(dfa, start=None):
    """The states that some word leads to."""
    reached, waiting = set(), [start if start is not None else dfa.initial_state]
    while waiting:
        state = waiting.pop()
        if state not in reached:
            reached.add(state)
            waiting += dfa.transitions[state].values()
    return reached


def shortest(dfa, letters):
    """The shortest word that `dfa` accepts, of several the first in the order of `letters`; None if there is none."""
    waiting = deque([(dfa.initial_state, ())])
    seen = {dfa.initial_state}
    while waiting:
        state, word = waiting.popleft()
        if state in dfa.final_states:
            return word
        for letter in letters:
            to = dfa.transitions[state].get(letter)
            if to is not None and to not in seen:
                seen.add(to)
                waiting.append((to, (*word, letter)))
    return None


def disagreement(definition, text):
    """A sentence with the shortest stream that one of the two accepts and the other does not; None if they agree."""
    return compared(machine_dfa(definition), ebnf_dfa(text, definition), definition)


def compared(machine, ebnf, definition):
    """The same of two automata."""
    word = shortest(machine.symmetric_difference(ebnf), alphabet(definition))
    if word is None:
        return None
    sides = ("machine", "EBNF") if machine.accepts_input(word) else ("EBNF", "machine")
    side = "the {} accepts it, the {} does not".format(*sides)
    return f"the shortest stream on which they differ: {' '.join(word) or '(an empty one)'}; {side}"
