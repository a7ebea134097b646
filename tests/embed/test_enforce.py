"""`enforce`: events pass untouched, the first violation raises, and the source is closed whoever leaves."""

import asyncio
import gc
import itertools
import threading
import warnings

import pytest

import mmsp_fsm
from mmsp_fsm.model import UniEvent
from mmsp_fsm.model.wire import structure, to_dict
from tests.embed.sources import AsyncSource, Source
from tests.streams import HI, TIME, c, c_done, d, d_done, delta, error, stop, t, t_done, th

GOOD = [*HI, c("{}", "f", "c1"), c_done({}), stop("tool_call")]
INTERLEAVED = [t("a"), th("b"), t_done("a"), stop()]


class ToolCallArgumentParseError(ValueError):
    """As the protocol's own package names it."""


def drain(way, source, **how):
    """What comes out of `enforce`, what it raised, and the enforced stream; the same for sync and async."""
    out, raised = [], None
    if way == "sync":
        checked = mmsp_fsm.enforce(source, **how)
        try:
            for event in checked:
                out.append(event)
        except Exception as one:
            raised = one
        return out, raised, checked

    async def run():
        raised = None
        checked = mmsp_fsm.enforce(source, **how)
        try:
            async for event in checked:
                out.append(event)
        except Exception as one:
            raised = one
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return out, raised, checked

    return asyncio.run(run())


def same(out, events):
    return len(out) == len(events) and all(a is b for a, b in zip(out, events, strict=True))


@pytest.fixture(params=["sync", "async"])
def way(request):
    return request.param


@pytest.fixture
def make(way):
    return Source if way == "sync" else AsyncSource


# ── What passes ──────────────────────────────────────────────────────────────────────────────────────────────────


def in_dicts_with_bytes(event):
    return to_dict(structure(event, UniEvent))


FORMS = {"dicts": lambda event: event, "bytes": in_dicts_with_bytes, "objects": lambda e: structure(e, UniEvent)}


@pytest.mark.parametrize("form", FORMS)
def test_a_conforming_stream_passes_untouched(way, make, form):
    events = [FORMS[form](event) for event in [*GOOD[:-1], d("AAE="), d_done("AAE="), GOOD[-1]]]
    source = make(*events)
    out, raised, checked = drain(way, source)
    assert raised is None
    assert same(out, events)
    assert (checked.report.verdict, checked.report.outcome, checked.report.events) == ("conforming", "stopped", 7)
    assert len(checked.report.message.content_items) == 3
    assert source.closed == 1


def test_each_event_is_handed_on_before_the_next_is_read():
    source = Source(*GOOD)
    for number, _ in enumerate(mmsp_fsm.enforce(source), 1):
        assert source.read == number


def test_each_event_of_an_async_stream_is_handed_on_before_the_next_is_read():
    async def run():
        source = AsyncSource(*GOOD)
        number = 0
        async for _ in mmsp_fsm.enforce(source):
            number += 1
            assert source.read == number
        assert number == len(GOOD)

    asyncio.run(run())


def test_an_iterable_is_asked_for_its_iterator_only_when_it_is_read():
    asked = []

    class Lazy:
        def __iter__(self):
            asked.append(1)
            return iter(GOOD)

    checked = mmsp_fsm.enforce(Lazy())
    assert asked == []
    assert list(checked) == GOOD
    assert asked == [1]


# ── What does not ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_first_violation_raises_in_place_of_its_event(way, make):
    source = make(*INTERLEAVED)
    out, raised, checked = drain(way, source)
    assert same(out, INTERLEAVED[:1])
    assert type(raised) is mmsp_fsm.StreamProtocolError
    assert [(one.code, one.event, one.state) for one in raised.diagnostics] == [("E302", 1, "text_open")]
    assert raised.diagnostics[0].expected == ("text.delta", "text.done", "error")
    assert (source.read, source.closed) == (2, 1)
    assert (checked.report.verdict, checked.report.errors, checked.report.events) == ("violating", 1, 2)
    assert [one.code for one in checked.report.diagnostics] == ["E302"]


def test_what_is_recorded_is_handed_on(way, make):
    out, raised, checked = drain(way, make(*INTERLEAVED), on_violation="record")
    assert raised is None
    assert same(out, INTERLEAVED)
    assert [(one.code, one.event) for one in checked.report.diagnostics] == [("E302", 1), ("E304", 3)]


def test_a_function_is_called_before_its_event_is_handed_on(way, make):
    seen = []
    source = make(delta({"type": "text.delta", "text": "a", "x": 1, "y": 2}), t_done("a"), t("b"))
    out, raised, checked = drain(way, source, on_violation=lambda one: seen.append((one.code, one.event)))
    assert raised is None
    assert same(out, source.events)
    assert seen == [("E104", 0), ("E104", 0), ("E307", 3)]
    assert checked.report.errors == 3


def test_a_function_that_raises_ends_the_stream(way, make):
    def refuse(one):
        raise LookupError(one.code)

    source = make(*INTERLEAVED)
    out, raised, checked = drain(way, source, on_violation=refuse)
    assert (type(raised), raised.args) == (LookupError, ("E302",))
    assert same(out, INTERLEAVED[:1])
    assert source.closed == 1
    assert checked.report.errors == 1


def test_a_missing_end_raises(way, make):
    for events in ([], HI, HI[:1]):
        source = make(*events)
        out, raised, checked = drain(way, source)
        assert same(out, events)
        assert type(raised) is mmsp_fsm.IncompleteStreamError
        assert [(one.code, one.event) for one in raised.diagnostics] == [("E307", len(events))]
        assert (checked.report.outcome, checked.report.errors) == ("truncated", 1)
        assert source.closed == 1


def test_arguments_that_are_no_object_raise_their_own_class(way, make):
    _, raised, _ = drain(way, make(c('{"a": ', "f", "c1"), c_done({}), stop()))
    assert type(raised) is mmsp_fsm.ToolCallArgumentParseError
    assert (raised.tool_name, raised.tool_call_id, raised.raw_arguments_preview) == ("f", "c1", '{"a": ')


def test_warnings_raise_nothing(way, make):
    out, raised, checked = drain(way, make(*HI, stop(created_at=TIME - 5)))
    assert raised is None
    assert len(out) == 3
    assert [one.code for one in checked.report.diagnostics] == ["W502"]


@pytest.mark.parametrize("how", [{"ignore": ["E302", "stop-inside-group"]}, {"select": ["E1"]}])
def test_a_rule_that_is_not_selected_decides_nothing(way, make, how):
    out, raised, checked = drain(way, make(*INTERLEAVED), **how)
    assert raised is None
    assert len(out) == 4
    assert checked.report.verdict == "conforming"
    assert drain(way, make(), select=["E1"])[1] is None


@pytest.mark.parametrize("on_violation", ["raise", "callable"])
def test_the_first_violation_counts_however_few_are_kept(way, make, on_violation):
    seen = []
    chosen = on_violation if on_violation == "raise" else seen.append
    raised = drain(way, make(*INTERLEAVED), limits=mmsp_fsm.Limits(diagnostics=0), on_violation=chosen)[1]
    told = raised.diagnostics if on_violation == "raise" else seen
    assert [one.code for one in told] == ["E302"]


# ── The stream's own exception ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("on_violation", ["raise", "record"])
def test_the_streams_own_exception_passes_through(way, make, on_violation):
    own = ConnectionResetError("gone")
    source = make(t("a"), own)
    out, raised, checked = drain(way, source, on_violation=on_violation)
    assert same(out, source.events[:1])
    assert raised is own
    assert not hasattr(own, "__notes__")
    assert own.__context__ is None
    report = checked.report
    assert (report.verdict, report.outcome) == ("conforming", "failed")
    assert report.error == {"type": "ConnectionResetError", "message": "gone"}
    assert source.closed == 1


@pytest.mark.parametrize("on_violation", ["raise", "record"])
@pytest.mark.parametrize(
    ("events", "own", "code"),
    [
        ([*HI], ToolCallArgumentParseError("no"), "E412"),
        ([*HI, stop()], ConnectionResetError("late"), "E308"),
        ([error()], ConnectionResetError("again"), "E309"),
    ],
)
def test_an_exception_that_the_protocol_forbids_passes_with_a_note(way, make, events, own, code, on_violation):
    own = type(own)(*own.args)
    out, raised, checked = drain(way, make(*events, own), on_violation=on_violation)
    assert same(out, events)
    assert raised is own
    assert [note.split(":")[1].split()[0] for note in own.__notes__] == [code]
    assert [one.code for one in checked.report.diagnostics] == [code]


def test_the_cut_short_calls_exception_is_legal_inside_a_call(way, make):
    own = ToolCallArgumentParseError("no")
    _, raised, checked = drain(way, make(c('{"a', "f", "c1"), own))
    assert raised is own
    assert not hasattr(own, "__notes__")
    assert checked.report.verdict == "conforming"


def test_a_function_hears_of_a_forbidden_exception(way, make):
    seen = []
    own = ConnectionResetError("late")
    _, raised, _ = drain(way, make(*HI, stop(), own), on_violation=lambda one: seen.append(one.code))
    assert raised is own
    assert seen == ["E308"]


def test_an_exception_that_takes_no_note_passes_all_the_same(way, make):
    class StubbornError(Exception):
        def add_note(self, note):
            raise RuntimeError("no notes")

    own = StubbornError()
    assert drain(way, make(*HI, stop(), own))[1] is own


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_is_no_end_of_the_stream(interruption):
    source = Source(t("a"), interruption())
    checked = mmsp_fsm.enforce(source)
    with pytest.raises(interruption):
        list(checked)
    assert source.closed == 1
    assert (checked.report.outcome, checked.report.errors) == ("truncated", 0)


def test_what_closing_raises_does_not_hide_the_violation(way, make):
    _, raised, _ = drain(way, make(*INTERLEAVED, closing=OSError("shut")))
    assert type(raised) is mmsp_fsm.StreamProtocolError
    assert raised.__notes__ == ["mmsp-fsm: closing the stream failed, too: OSError('shut')"]


def test_what_closing_raises_is_raised_where_nothing_else_is(way, make):
    assert isinstance(drain(way, make(*GOOD, closing=OSError("shut")))[1], OSError)


# ── Leaving ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_break_closes_the_source_at_once():
    source = Source(*GOOD)
    for _ in mmsp_fsm.enforce(source):
        break
    assert (source.read, source.closed) == (1, 1)


def test_break_closes_the_source_of_a_stream_with_a_name():
    source = Source(*GOOD)
    checked = mmsp_fsm.enforce(source)
    for _ in checked:
        break
    assert (source.read, source.closed) == (1, 1)
    assert (checked.report.outcome, checked.report.errors, checked.report.events) == ("truncated", 0, 1)
    assert checked.report.counts == {}
    assert list(checked) == []


def test_a_with_block_may_go_on_in_another_loop():
    source = Source(*GOOD)
    with mmsp_fsm.enforce(source) as checked:
        for _ in checked:
            break
        assert source.closed == 0
        with pytest.raises(RuntimeError, match="still being read"):
            checked.report  # noqa: B018
        assert next(checked) is GOOD[1]
        assert checked.checker.state == "between_groups"
        assert len(list(checked)) == len(GOOD) - 2
    assert source.closed == 1
    assert checked.report.outcome == "stopped"


def test_a_with_block_closes_a_stream_that_was_never_read(way, make):
    source = make(*GOOD)

    async def run():
        async with mmsp_fsm.enforce(source):
            pass

    if way == "sync":
        with mmsp_fsm.enforce(source) as checked:
            pass
        assert checked.report.events == 0
        assert checked.report.errors == 0
    else:
        asyncio.run(run())
    assert (source.read, source.closed) == (0, 1)


def test_an_error_in_the_consumer_is_its_own():
    source = Source(*GOOD)
    own = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError) as caught, mmsp_fsm.enforce(source) as checked:
        for _ in checked:
            raise own
    assert caught.value is own
    assert source.closed == 1
    assert checked.report.errors == 0


def test_throw_leaves(way, make):
    source = make(*GOOD)
    own = LookupError()

    async def run(begun):
        checked = mmsp_fsm.enforce(source)
        if begun:
            await anext(checked)
        await checked.athrow(own)

    for begun in (True, False):
        source = make(*GOOD)
        with pytest.raises(LookupError) as caught:
            if way == "sync":
                checked = mmsp_fsm.enforce(source)
                if begun:
                    next(checked)
                checked.throw(own)
            else:
                asyncio.run(run(begun))
        assert caught.value is own
        assert source.closed == 1


def test_garbage_is_closed():
    source = Source(*GOOD)
    checked = mmsp_fsm.enforce(source)
    next(checked)
    gc.disable()  # no cycle: it does not take a collection
    try:
        del checked
        assert source.closed == 1
    finally:
        gc.enable()


def test_a_generator_ends_with_the_consumer():
    ended = []

    def stream():
        try:
            yield from GOOD
        finally:
            ended.append(True)

    for _ in mmsp_fsm.enforce(stream()):
        break
    assert ended == [True]


def test_a_stream_that_gives_its_iterator_is_closed_too():
    class Response:
        closed = False

        def __iter__(self):
            yield from GOOD

        def close(self):
            self.closed = True

    response = Response()
    for _ in mmsp_fsm.enforce(response):
        break
    assert response.closed


# ── Async: leaving, cancelling, many at once ─────────────────────────────────────────────────────────────────────


def run_clean(coroutine):
    """Run it; nothing may be left: no task but the loop's own, no thread, no warning of something never awaited."""
    threads = threading.active_count()
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        async def run():
            result = await coroutine
            for _ in range(3):
                await asyncio.sleep(0)
            assert asyncio.all_tasks() == {asyncio.current_task()}
            return result

        result = asyncio.run(run())
        gc.collect()
    assert threading.active_count() == threads
    return result


def test_break_in_an_async_loop_closes_the_source():
    source = AsyncSource(*GOOD)

    async def run():
        async for _ in mmsp_fsm.enforce(source):
            break

    run_clean(run())
    assert (source.read, source.closed) == (1, 1)


def test_an_async_with_block_closes_before_it_ends():
    source = AsyncSource(*GOOD)

    async def run():
        async with mmsp_fsm.enforce(source) as checked:
            async for _ in checked:
                break
        assert source.closed == 1
        return checked.report

    report = run_clean(run())
    assert (report.events, report.errors) == (1, 0)


def test_an_error_in_an_async_consumer_closes_the_source():
    source = AsyncSource(*GOOD)

    async def run():
        with pytest.raises(ZeroDivisionError):
            async for _ in mmsp_fsm.enforce(source):
                raise ZeroDivisionError
        gc.collect()

    run_clean(run())
    assert source.closed == 1


def test_a_close_that_is_a_coroutine_is_awaited():
    class Stream(AsyncSource):
        aclose = None

        async def close(self):
            await asyncio.sleep(0)
            self.closed += 1

    source = Stream(*GOOD)

    async def run():
        async with mmsp_fsm.enforce(source) as checked:
            await anext(checked)

    run_clean(run())
    assert source.closed == 1


def test_cancellation_is_clean():
    async def never():
        await asyncio.Event().wait()

    async def run():
        source = AsyncSource(*GOOD, gate=never)
        checked = mmsp_fsm.enforce(source)

        async def consume():
            async for _ in checked:
                pass

        task = asyncio.create_task(consume())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        del task
        assert source.closed == 1
        return checked.report

    report = run_clean(run())
    assert (report.events, report.errors, report.outcome) == (0, 0, "truncated")


def test_a_time_out_is_clean():
    async def slow():
        await asyncio.sleep(60)

    async def run():
        source = AsyncSource(*GOOD, gate=slow)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), mmsp_fsm.enforce(source) as checked:
                async for _ in checked:
                    pass
        assert source.closed == 1

    run_clean(run())


def test_a_thousand_streams_at_once():
    """None lost, order kept, and each holds no more of its stream than the event at hand."""
    count, fragments = 1000, 30
    alive = itertools.count()
    live = [0, 0]

    class Event(dict):
        def __init__(self, value):
            super().__init__(value)
            next(alive)
            live[0] += 1
            live[1] = max(live[1], live[0])

        def __del__(self):
            live[0] -= 1

    async def stream(name):
        for number in range(fragments):
            yield Event(t(f"{name}.{number} "))
            await asyncio.sleep(0)
        yield Event(t_done("".join(f"{name}.{number} " for number in range(fragments))))
        yield Event(stop())

    async def consume(name):
        texts = []
        async with mmsp_fsm.enforce(stream(name)) as checked:
            async for event in checked:
                texts += [item["text"] for item in event["content_items"]]
        assert texts[:-1] == [f"{name}.{number} " for number in range(fragments)]
        return checked.report

    async def run():
        return await asyncio.gather(*(consume(name) for name in range(count)))

    reports = run_clean(run())
    assert [report.message.content_items[0].text.split(".")[0] for report in reports] == [*map(str, range(count))]
    assert {report.events for report in reports} == {fragments + 2}
    assert next(alive) == count * (fragments + 2)
    assert live[1] <= 5 * count


# ── What it takes ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wrong", ["trace.jsonl", b"{}", {"role": "assistant"}, 5, None])
def test_what_is_no_stream_of_events_is_refused(wrong):
    with pytest.raises(TypeError):
        mmsp_fsm.enforce(wrong)


def test_words_are_checked_before_anything_is_read():
    async def later(one):
        pass

    for how, kind in [
        ({"on_violation": "ignore"}, ValueError),
        ({"on_violation": None}, TypeError),
        ({"on_violation": later}, TypeError),
        ({"select": ["E999"]}, mmsp_fsm.UnknownRuleError),
        ({"limits": {"nesting": 3}}, TypeError),
    ]:
        with pytest.raises(kind):
            mmsp_fsm.enforce([], **how)


def test_a_coroutine_is_to_be_awaited_first():
    async def response():
        return AsyncSource(*GOOD)

    coroutine = response()
    with pytest.raises(TypeError, match="awaited first"):
        mmsp_fsm.enforce(coroutine)
    coroutine.close()


def test_a_stream_that_gives_no_iterator_was_left():
    class Broken:
        def __iter__(self):
            raise ConnectionError

    checked = mmsp_fsm.enforce(Broken())
    with pytest.raises(ConnectionError):
        list(checked)
    assert (checked.report.events, checked.report.errors) == (0, 0)
