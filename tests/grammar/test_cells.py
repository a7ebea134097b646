"""Every state x symbol cell, walked: a shortest stream leads to the state, one more record is its symbol.

Records are written from the definition; what is legal is the EBNF's to say, where it can, and which rule is due is said
here once more, from the protocol, and not taken from the table under test.
"""

import base64
import json
from collections import deque
from functools import cache

import pytest

from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.grammar.loading import default
from tests.grammar.languages import EBNF, alphabet, ebnf_dfa, reachable
from tests.streams import TIME, USAGE

DEFINITION = default()
STATES, SYMBOLS, CELLS = DEFINITION.states, DEFINITION.symbols, DEFINITION.cells

FIRST = {"text": "ab", "bytes": b"ab", "whole": [0.5, 1]}
MORE = {"text": " ", "bytes": b"c", "whole": [2]}
"""What a first and a later fragment carry, by how a kind joins; where a kind closes as JSON, `{}` and a blank."""

# ── Writing records ──────────────────────────────────────────────────────────────────────────────────────────────


def event(event_type, items, **more):
    return {
        "role": "assistant",
        "event_type": event_type,
        "content_items": items,
        "usage_metadata": None,
        "finish_reason": None,
        "created_at": TIME,
        **more,
    }


class Writer:
    """Writes the record of one symbol after another, so that nothing but the symbol's place can be wrong with it.

    `content`, `header` and `error` override what is written, where a test is about that.
    """

    def __init__(self):
        self.kind = None
        self.pieces = []
        self.header = {}
        self.groups = 0

    def write(self, symbol, content=None, header=None, error="UpstreamError"):
        if symbol == "stop":
            return event("stop", [], usage_metadata=dict(USAGE), finish_reason="unknown")
        if symbol == "error":
            return {"error": {"type": error, "message": "gone"}}
        if symbol == "unreadable":
            return b'{"torn": '
        kind = DEFINITION.kinds[SYMBOLS[symbol].kind]
        item = self.fragment(kind, content, header) if symbol == kind.delta else self.done(kind)
        return event("delta", [{"type": symbol, **item}])

    def fragment(self, kind, content, header):
        first = self.kind is not kind or header is not None
        if first:
            self.begin(kind, header)
        if content is None:
            content = ("{}" if first else " ") if kind.closes else (FIRST if first else MORE)[kind.joins]
        self.pieces.append(content)
        carried = {one.name: "" for one in kind.header if one.later == "empty" and not first}
        return {**self.header, **carried, kind.grows: travelling(content)}

    def done(self, kind):
        if self.kind is not kind:
            self.begin(kind, None)
            self.pieces = ["{}" if kind.closes else FIRST[kind.joins]]
        content = self.pieces[0] if kind.joins == "whole" else type(self.pieces[0])().join(self.pieces)
        self.kind = None
        return {**self.header, kind.grows: an_object(content) if kind.closes else travelling(content)}

    def begin(self, kind, header):
        self.kind, self.pieces = kind, []
        self.groups += 1
        self.header = {one.name: f"{one.name}-{self.groups}" for one in kind.header} | (header or {})


def an_object(text):
    """What a text is parsed to; `{}` where it cannot be, so that the done item is an object in any case."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def travelling(content):
    return base64.b64encode(content).decode("ascii") if isinstance(content, bytes) else content


def step(symbol, **how):
    """A symbol of a walk, with what its record is to hold."""
    return symbol, how


def started(walk):
    """A checker and a writer after a walk."""
    checker, writer = StreamChecker(DEFINITION), Writer()
    for symbol, how in walk:
        feed(checker, writer.write(symbol, **how))
    return checker, writer


def feed(checker, record):
    return checker.feed_record(record) if isinstance(record, bytes) else checker.feed(record)


def close(checker):
    """What is said of the end of a stream, and the state in which it stands."""
    return [one for one in checker.close().diagnostics if one.event == checker.events], checker.state


# ── What leads where, and what the EBNF says ─────────────────────────────────────────────────────────────────────


@cache
def walk_to(state):
    """A shortest walk to a state, over transitions as long as they lead there."""
    waiting = deque([(DEFINITION.initial.name, ())])
    seen = {DEFINITION.initial.name}
    while waiting:
        at, walk = waiting.popleft()
        if at == state:
            return walk
        cells = [cell for cell in DEFINITION.row(at) if cell.symbol not in ("unknown", "end")]
        for cell in sorted(cells, key=lambda cell: not cell.legal):
            if cell.to not in seen:
                seen.add(cell.to)
                waiting.append((cell.to, (*walk, step(cell.symbol))))
    raise AssertionError(f"nothing leads to {state}")


@cache
def language():
    return ebnf_dfa(EBNF, DEFINITION)


def allowed(walk, symbol):
    """Whether the EBNF allows a symbol after a walk: whether some stream that begins so is one."""
    dfa = language()
    state = dfa.initial_state
    letters = [name for name, _ in walk] + ([] if symbol == "end" else [symbol])
    for letter in letters:
        state = dfa.transitions[state].get(letter) if letter in dfa.input_symbols else None
        if state is None:
            return False
    return state in dfa.final_states if symbol == "end" else bool(reachable(dfa, state) & dfa.final_states)


def legal(state, walk, symbol):
    """Whether a symbol is legal: after a record that could not be read everything is that could follow some record."""
    if STATES[state].role == "unsure":
        return symbol not in ("unknown", "unreadable")
    return allowed(walk, symbol)


def due(state, symbol):
    """The rule of an illegal symbol, by the protocol's own words; None where the record itself decides."""
    role, item = STATES[state].role, SYMBOLS[symbol].kind is not None
    if symbol == "unknown" and role == "ended":
        return {"stopped": "E305", "failed": "E309"}[state]
    if symbol in ("unknown", "unreadable"):
        return None
    if role == "ended":
        after_stop = {"stop": "E306", "error": "E308"}
        after_error = {"stop": "E308", "error": "E309"}
        return after_stop.get(symbol, "E305") if state == "stopped" else after_error.get(symbol, "E309")
    if symbol == "end":
        return "E307"
    if role == "initial":
        return "E301"
    return ("E302" if symbol.endswith(".delta") else "E303") if item else "E304"


# ── The records of the symbols that are no item ──────────────────────────────────────────────────────────────────

UNKNOWN = {
    "an unknown item type": (event("delta", [{"type": "video.delta"}]), "E201"),
    "a kind without its suffix": (event("delta", [{"type": "text", "text": "a"}]), "E201"),
    "a user-only item": (event("delta", [{"type": "tool_result"}]), "E202"),
    "an unknown event type": (event("start", []), "E107"),
    "an empty delta event": (event("delta", []), "E121"),
}
UNREADABLE = {
    "broken JSON": (b'{"torn": ', "E101"),
    "no text at all": (b"\xff\xfe\x00", "E101"),
    "a type that is not finite": (json.dumps(event("delta", [{"type": float("nan")}])).encode(), "E101"),
    "a number": (5, "E102"),
    "an item that is no object": (event("delta", ["text.delta"]), "E102"),
    "another protocol's chunk": ({"choices": []}, "E103"),
    "an item without a type": (event("delta", [{"text": "a"}]), "E103"),
    "a type that is no string": (event("delta", [{"type": ["text.delta"]}]), "E105"),
    "items that are no array": (event("delta", {"type": "text.delta"}), "E105"),
}
AFTER_AN_END = ("broken JSON", "no text at all", "a number")
"""What is unreadable even where a record's contents are not looked at."""


def variants(state, symbol):
    """The records to try for a symbol, by a name; one, written to fit, where it is an item or an end."""
    if symbol == "unknown":
        return list(UNKNOWN)
    if symbol == "unreadable":
        return list(AFTER_AN_END) if STATES[state].role == "ended" else list(UNREADABLE)
    return [""]


WALKS = [
    pytest.param(state, symbol, variant, id=f"{state} x {variant or symbol}")
    for state in STATES
    for symbol in SYMBOLS
    for variant in variants(state, symbol)
]


def test_every_cell_has_its_walk():
    assert {tuple(walk.values[:2]) for walk in WALKS} == set(CELLS)
    assert len(CELLS) == (1 + 6 + 3) * (12 + 5)


@pytest.mark.parametrize("state", STATES)
def test_a_walk_leads_to_every_state(state):
    checker, _ = started(walk_to(state))
    assert checker.state == state
    assert len(walk_to(state)) == (0 if state == DEFINITION.initial.name else 1)


def walk_for(state, symbol):
    """The walk after which a symbol finds the cell's own row: a kind in one piece has its second fragment behind it."""
    kind = DEFINITION.kinds.get(STATES[state].kind or "")
    walk = walk_to(state)
    return (*walk, step(kind.delta)) if kind is not None and kind.one_piece and symbol == kind.delta else walk


@pytest.mark.parametrize(("state", "symbol", "variant"), WALKS)
def test_a_cell(state, symbol, variant):
    cell, walk = CELLS[state, symbol], walk_for(state, symbol)
    assert cell.legal == legal(state, walk, symbol)
    checker, writer = started(walk)
    if symbol == "end":
        said, after = close(checker)
    else:
        record, code = {**UNKNOWN, **UNREADABLE}[variant] if variant else (writer.write(symbol), None)
        taken = feed(checker, record)
        said, after = taken.diagnostics, taken.state
        (move,) = taken.moves
        assert (move.before, move.symbol, move.after) == (state, symbol, after)
        assert (move.outcome, move.action) == (cell, "+".join(cell.do))
    assert after == checker.state == cell.to
    errors = [one.code for one in said if one.severity == "error"]
    if cell.legal:
        assert errors == []
        return
    code = code if symbol in ("unknown", "unreadable") and code in cell.rules else due(state, symbol)
    assert errors == [code]
    assert code in cell.rules
    assert said[0].state == state
    assert list(said[0].expected) == expected_in(state)
    works(walk_to(state), said[0].expected)


@pytest.mark.parametrize(
    "cell", [cell for cell in CELLS.values() if not cell.legal], ids=lambda cell: f"{cell.state} x {cell.symbol}"
)
def test_a_violation_s_rules_are_all_reported_by_something(cell):
    records = [{**UNKNOWN, **UNREADABLE}[name][1] for name in variants(cell.state, cell.symbol) if name]
    reported = {code if code in cell.rules else due(cell.state, cell.symbol) for code in records}
    assert set(cell.rules) == (reported or {due(cell.state, cell.symbol)})


def expected_in(state):
    """What is to be named as expected: what is legal, without what a guard would refuse whatever the item."""
    kind = DEFINITION.kinds.get(STATES[state].kind or "")
    refused = kind.delta if kind is not None and kind.one_piece else None
    return [one for one in SYMBOLS if one != refused and legal(state, walk_to(state), one)]


def works(walk, expected, how=None):
    """Each expected symbol, in place of what was wrong, is taken without an error; `how` says how to write some."""
    for symbol in expected:
        checker, writer = started(walk)
        if symbol == "end":
            said = close(checker)[0]
        else:
            said = feed(checker, writer.write(symbol, **(how or {}).get(symbol, {}))).diagnostics
        assert [one.code for one in said if one.severity == "error"] == [], symbol


# ── Guards ───────────────────────────────────────────────────────────────────────────────────────────────────────

GUARDED = {
    "another_group": "E302",
    "another_name": "E302",
    "second_piece": "E410",
    "second_content": "E411",
    "not_json": "E404",
    "not_an_object": "E405",
    "cut_short_elsewhere": "E412",
}
GUARDS = [
    pytest.param(cell, guard, id=f"{cell.state} x {cell.symbol}, {guard.when}")
    for cell in CELLS.values()
    for guard in cell.guards
]


def tripped(cell, guard):
    """A walk to the cell and how its record is written, so that the guard refuses it; what it leaves expected."""
    kind, usual = DEFINITION.kinds.get(STATES[cell.state].kind or ""), expected_in(cell.state)
    if guard.when == "another_group":
        return [step(kind.delta)], {"header": {one.name: "another" for one in kind.header}}, usual
    if guard.when == "another_name":
        header = {one.name: "another" if one.name == kind.told_by else "" for one in kind.header}
        return [step(kind.delta)], {"header": header}, usual
    if guard.when == "second_piece":
        return [step(kind.delta)], {}, usual
    if guard.when == "second_content":
        header = {name: pattern.replace("*", "x") for name, pattern in kind.one_piece_when.items()}
        return [step(kind.delta, header=header)], {}, usual
    if guard.when in ("not_json", "not_an_object"):
        text = "{" if guard.when == "not_json" else "[]"
        return [step(kind.delta, content=text)], {}, [one for one in usual if one != kind.done]
    (cut_short_by,) = {one.cut_short_by for one in DEFINITION.kinds.values() if one.cut_short_by}
    return walk_to(cell.state), {"error": cut_short_by}, usual


def test_every_guard_has_its_cells():
    kinds = DEFINITION.kinds
    cells = {guard: [walk.values[0].state for walk in GUARDS if walk.values[1].when == guard] for guard in GUARDED}
    opened = {name: f"{name}_open" for name in kinds}
    assert cells == {
        "another_group": [opened[name] for name in kinds if kinds[name].told_by],
        "another_name": [opened[name] for name in kinds if kinds[name].told_by],
        "second_piece": [opened[name] for name in kinds if kinds[name].one_piece],
        "second_content": [opened[name] for name in kinds if kinds[name].one_piece_when],
        "not_json": [opened[name] for name in kinds if kinds[name].closes],
        "not_an_object": [opened[name] for name in kinds if kinds[name].closes],
        "cut_short_elsewhere": ["between_groups", *opened.values()],
    }
    assert cells["another_group"] == cells["another_name"] == cells["not_json"] == ["tool_call_open"]
    assert cells["second_piece"] == ["embedding_open"]
    assert cells["second_content"] == ["inline_data_open", "inline_thinking_open"]


@pytest.mark.parametrize(("cell", "guard"), GUARDS)
def test_a_guard(cell, guard):
    walk, how, expected = tripped(cell, guard)
    checker, writer = started(walk)
    taken = feed(checker, writer.write(cell.symbol, **how))
    (move,) = taken.moves
    if move.group is not None and how.get("error", "") == move.group.kind.cut_short_by:
        assert (move.outcome, guard.when) == (cell, "cut_short_elsewhere")  # it stands where it belongs
        assert [one.code for one in taken.diagnostics] == ["W511"]  # though this call's arguments are an object
        return
    assert (move.before, move.symbol, move.after) == (cell.state, cell.symbol, guard.to)
    assert (move.outcome, move.action, checker.state) == (guard, "+".join(guard.do), guard.to)
    (said,) = taken.diagnostics
    assert (said.code, said.severity) == (guard.rule, "error") == (GUARDED[guard.when], "error")
    assert (said.state, list(said.expected)) == (cell.state, expected)
    # A second fragment of an image may carry fidelity alone.
    works(walk, said.expected, {cell.symbol: {"content": b""}} if guard.when == "second_content" else None)


def test_a_guard_that_is_said_once_a_group_lets_the_next_one_pass():
    for state in STATES.values():
        kind = DEFINITION.kinds.get(state.kind or "")
        if kind is not None and (kind.one_piece or kind.one_piece_when):
            header = {name: pattern.replace("*", "x") for name, pattern in kind.one_piece_when.items()}
            checker, writer = started([step(kind.delta, header=header), step(kind.delta)])
            assert feed(checker, writer.write(kind.delta)).diagnostics == ()


# ── Longer streams: the EBNF and the checker say the same of every word ──────────────────────────────────────────


def test_every_stream_of_two_kinds_and_four_records_is_judged_as_the_ebnf_judges_it():
    letters = [
        letter for letter in alphabet(DEFINITION) if letter.split(".")[0] in ("text", "thinking", "stop", "error")
    ]
    words = [()]
    for _ in range(4):
        for word in [one for one in words if len(one) == max(map(len, words))]:
            words += [(*word, letter) for letter in letters]
    assert len(words) == 1 + 6 + 36 + 216 + 1296
    for word in words:
        checker, _ = started([step(letter) for letter in word])
        assert checker.close().conforming is language().accepts_input(word), word
