"""The Python way in: what `validate` and `parse` take, give and raise."""

import io
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import mmsp_fsm
from mmsp_fsm.checker.checker import StreamChecker
from mmsp_fsm.grammar.errors import UnknownRuleError
from mmsp_fsm.machine.limits import Limits
from mmsp_fsm.model import TextDoneItem, ToolCallDoneItem, UniEvent, UniMessage, UsageMetadata
from mmsp_fsm.model.wire import structure, to_json
from tests.streams import HI, TIME, USAGE, c, c_done, error, stop, t

HELLO = UniMessage(
    content_items=[TextDoneItem(text="Hi")],
    usage_metadata=UsageMetadata(**USAGE),
    finish_reason="stop",
    created_at=TIME,
)
STREAM = [*HI, stop()]
BYTES = "\n".join(json.dumps(event) for event in STREAM).encode()


def raising():
    yield from HI
    raise ConnectionResetError("peer went away")


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "hello.jsonl"
    file.write_bytes(BYTES)
    return file


def ways(path):
    yield "path", path
    yield "path as str", str(path)
    yield "bytes", BYTES
    yield "bytearray", bytearray(BYTES)
    yield "memoryview", memoryview(BYTES)
    yield "binary file", io.BytesIO(BYTES)
    yield "text file", io.StringIO(BYTES.decode())
    yield "list", STREAM
    yield "generator", iter(STREAM)
    yield "model objects", [structure(event, UniEvent) for event in STREAM]


def test_every_way_in_gives_the_same_message(path):
    for name, stream in ways(path):
        assert mmsp_fsm.parse(stream) == HELLO, name
    for name, stream in ways(path):
        report = mmsp_fsm.validate(stream)
        assert (report.verdict, report.outcome, report.events, report.groups) == ("conforming", "stopped", 3, 1), name
        assert report.message == HELLO, name


def test_open_files_are_left_open(path):
    with path.open("rb") as binary, path.open(encoding="utf-8") as text:
        assert mmsp_fsm.parse(binary) == mmsp_fsm.parse(text) == HELLO
        assert not binary.closed
        assert not text.closed


def test_the_report_names_a_path_and_nothing_else(path):
    assert mmsp_fsm.validate(str(path)).source == str(path)
    assert mmsp_fsm.validate(BYTES).source is None


@pytest.mark.parametrize("wrong", [5, None, STREAM[0], object()], ids=lambda wrong: type(wrong).__name__)
def test_what_is_no_stream_is_a_type_error(wrong):
    with pytest.raises(TypeError, match=r"due|no stream"):
        mmsp_fsm.validate(wrong)


def test_an_async_stream_is_a_type_error():
    async def events():
        yield STREAM[0]

    with pytest.raises(TypeError, match="async"):
        mmsp_fsm.validate(events())


def test_another_format_is_a_value_error(path):
    with pytest.raises(ValueError, match="format is jsonl, json, sse or None, not 'ndjson'"):
        mmsp_fsm.validate(path, format="ndjson")
    with pytest.raises(TypeError, match="limits is"):
        mmsp_fsm.parse(path, limits=5)


def test_a_text_file_goes_on_where_it_was(path):
    with path.open(encoding="utf-8") as text:
        text.readline()
        report = mmsp_fsm.validate(text)
    assert [(d.code, d.event) for d in report.diagnostics] == [("E301", 0)]
    with path.open(encoding="utf-8") as text:
        next(text)
        assert mmsp_fsm.validate(text).events == 2


def test_one_word_selects_too():
    assert mmsp_fsm.validate([HI[0], *HI, stop()], select="E3").verdict == "conforming"


def test_an_exception_of_the_checker_is_not_the_stream_s(monkeypatch):
    def fails(*_):
        raise RecursionError

    monkeypatch.setattr(mmsp_fsm.StreamChecker, "feed", fails)
    with pytest.raises(RecursionError):
        mmsp_fsm.validate(STREAM)


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        mmsp_fsm.validate(tmp_path / "missing.jsonl")


def test_rules_are_chosen_by_code_name_and_family():
    broken = [HI[0], *HI, stop()]
    assert [d.code for d in mmsp_fsm.validate(broken).diagnostics] == ["E406"]
    assert mmsp_fsm.validate(broken, ignore=["done-content-mismatch"]).verdict == "conforming"
    assert mmsp_fsm.validate(broken, select=["E3"]).verdict == "conforming"
    assert mmsp_fsm.validate(broken, select=["E3", "e406"]).verdict == "violating"
    with pytest.raises(mmsp_fsm.UnknownRuleError, match="did you mean group-left-open"):
        mmsp_fsm.validate(broken, ignore=["group-left-opn"])
    with pytest.raises(mmsp_fsm.UnknownRuleError, match="there is no rule 'E999'"):
        mmsp_fsm.validate(broken, select=["E999"])


def test_a_violation_is_raised_with_its_diagnostics():
    with pytest.raises(mmsp_fsm.StreamProtocolError) as caught:
        mmsp_fsm.parse([HI[0], *HI, stop()])
    assert type(caught.value) is mmsp_fsm.StreamProtocolError
    assert [d.code for d in caught.value.diagnostics] == ["E406"]
    assert str(caught.value).startswith("E406 at event 2: the done item's text is not what the fragments carried")
    assert isinstance(caught.value, mmsp_fsm.MMSPError)
    assert isinstance(caught.value, ValueError)


def test_a_missing_end_is_an_incomplete_stream():
    with pytest.raises(mmsp_fsm.IncompleteStreamError) as caught:
        mmsp_fsm.parse(HI)
    assert [d.code for d in caught.value.diagnostics] == ["E307"]


@pytest.mark.parametrize(("arguments", "code"), [('{"a": "' + "x" * 300, "E404"), ("[1]", "E405")])
def test_arguments_that_are_no_object_are_carried(arguments, code):
    with pytest.raises(mmsp_fsm.ToolCallArgumentParseError) as caught:
        mmsp_fsm.parse([c(arguments, "f", "c1"), c_done({}), stop("tool_call")])
    raised = caught.value
    assert [d.code for d in raised.diagnostics] == [code]
    assert (raised.tool_name, raised.tool_call_id, raised.raw_arguments_length) == ("f", "c1", len(arguments))
    assert len(raised.raw_arguments_preview) <= 160
    assert raised.raw_arguments_preview.startswith(arguments[:3])


def test_a_failed_stream_carries_its_error_and_done_items():
    with pytest.raises(mmsp_fsm.StreamFailedError) as caught:
        mmsp_fsm.parse([*HI, t("cut"), error(status=503)])
    assert caught.value.error == {"type": "UpstreamError", "message": "gone", "status": 503}
    assert caught.value.done_items == (TextDoneItem(text="Hi"),)
    assert str(caught.value) == "the stream ended with UpstreamError: gone"


def test_an_exception_of_the_iterable_is_the_stream_s():
    report = mmsp_fsm.validate(raising())
    assert (report.verdict, report.outcome) == ("conforming", "failed")
    with pytest.raises(mmsp_fsm.StreamFailedError, match="ConnectionResetError: peer went away"):
        mmsp_fsm.parse(raising())


def test_exceptions_survive_pickling():
    for stream in (HI, [*HI, error()], [c("[", "f", "c1"), c_done({}), stop("tool_call")]):
        with pytest.raises(mmsp_fsm.MMSPError) as caught:
            mmsp_fsm.parse(stream)
        copy = pickle.loads(pickle.dumps(caught.value))
        assert (type(copy), str(copy)) == (type(caught.value), str(caught.value))


def test_messages_print_every_digit():
    message = mmsp_fsm.parse([c('{"id": 12345678901234567890}', "f", "c1"), c_done({"id": 12345678901234567890}),
                              stop("tool_call")])  # fmt: skip
    assert message.content_items == [
        ToolCallDoneItem(name="f", tool_call_id="c1", arguments={"id": 12345678901234567890})
    ]
    assert "12345678901234567890" in json.dumps(to_json(message))


def test_a_step_tells_what_happened():
    checker = mmsp_fsm.StreamChecker()
    steps = [checker.feed(event) for event in STREAM]
    assert [(step.event, step.state) for step in steps] == [(0, "text_open"), (1, "between_groups"), (2, "stopped")]
    assert [move.action for step in steps for move in step.moves] == ["open", "close", "finish"]
    step = checker.feed(HI[0])
    assert [(d.code, d.event, d.state, d.expected) for d in step.diagnostics] == [("E305", 3, "stopped", ("end",))]
    assert checker.close() is checker.close()


def test_the_front_door_offers_what_it_lists():
    assert dir(mmsp_fsm) == sorted(mmsp_fsm.__all__)
    for name in mmsp_fsm.__all__:
        assert getattr(mmsp_fsm, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mmsp_fsm.nothing  # noqa: B018


def test_importing_the_package_imports_little():
    code = "import sys, mmsp_fsm; print(sorted(m for m in sys.modules if m.startswith('mmsp_fsm')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          cwd=Path(__file__).parent.parent)  # fmt: skip
    assert done.stdout.strip() == "['mmsp_fsm', 'mmsp_fsm.version']"


def test_a_type_that_cannot_even_be_named_is_survived():
    class Nameless(type):
        @property
        def __name__(cls):
            raise RuntimeError("no name")

        def __instancecheck__(cls, instance):
            raise RuntimeError("no instances")

    class Thing(metaclass=Nameless):
        @property
        def __class__(self):
            raise RuntimeError("no class")

    report = mmsp_fsm.validate([Thing(), {"role": Thing()}, *STREAM])
    assert [d.code for d in report.diagnostics] == ["E101", "E101"]


def test_a_kind_without_a_class_is_refused():
    from attrs import evolve

    from mmsp_fsm.grammar.loading import default

    kinds = {**default().kinds, "video": evolve(default().kinds["text"], name="video")}
    with pytest.raises(mmsp_fsm.DefinitionError, match=r"no class for video: run `make generate`"):
        mmsp_fsm.StreamChecker(evolve(default(), kinds=kinds))


# ── Arguments that are none ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rules", [["E3"], "E3", ["group-left-open"], ["NOPE"]])
def test_a_checker_refuses_what_is_no_code(rules):
    with pytest.raises(UnknownRuleError, match="there is no rule with the code"):
        StreamChecker(rules=rules)


def test_a_checker_takes_one_code():
    assert StreamChecker(rules="E302").rules == {"E302"}


def test_a_note_is_of_a_rule():
    with pytest.raises(UnknownRuleError, match="NOPE"):
        StreamChecker().note("NOPE", "x")


@pytest.mark.parametrize("limit", ["record_bytes", "group_bytes", "nesting", "diagnostics"])
@pytest.mark.parametrize(
    ("value", "error"), [(None, TypeError), ("9", TypeError), (1.5, TypeError), (True, TypeError), (-1, ValueError)]
)
def test_limits_are_numbers(limit, value, error):
    with pytest.raises(error, match=f"the limit {limit} is"):
        Limits(**{limit: value})


@pytest.mark.parametrize("record", ["{}", None, 5, {}])
def test_a_record_is_bytes(record):
    with pytest.raises(TypeError, match="a record is bytes, not "):
        StreamChecker().feed_record(record)


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_a_record_may_be_other_bytes(kind):
    reports = []
    for made in (bytes, kind):
        checker = StreamChecker()
        checker.feed_record(made(b"{}"))
        reports.append(checker.close())
    assert reports[0] == reports[1]


@pytest.mark.parametrize("words", [5, 1.5, object()])
def test_rules_are_chosen_by_words(words):
    with pytest.raises(TypeError, match="rules are chosen by a word or several"):
        mmsp_fsm.validate([], select=words)


def test_a_path_that_no_file_system_writes():
    with pytest.raises(FileNotFoundError, match="no path is written so"):
        mmsp_fsm.validate("\ud800")
