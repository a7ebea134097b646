"""Running every output format over streams, in process."""

import io

import mmsp_fsm
from mmsp_fsm.engines.results import Summary
from mmsp_fsm.output.counting import Statistics
from mmsp_fsm.output.formats.registry import OutputOptions, output_for
from mmsp_fsm.recordings.sources import Unreadable
from tests.streams import t, t_done


def written(name, *reports, statistics=False, **options):
    """What a format writes of reports and unreadable sources, and what it says on standard error."""
    out, said = io.StringIO(), []
    output = output_for(name, out, OutputOptions(said.append, **options))
    summary, counted = Summary(), Statistics() if statistics else None
    output.begin()
    for one in reports:
        output.add(one)
        summary = summary.plus(one)
        if counted is not None:
            counted.add(one)
    output.end(summary, counted)
    return out.getvalue(), said


def report(*events, source="a.jsonl", stream=None, **how):
    """The report of a stream given as events or bytes, with lines as a file has them."""
    from attrs import evolve

    checker = mmsp_fsm.StreamChecker(**how)
    for line, event in enumerate(events, 1):
        if isinstance(event, bytes):
            checker.feed_record(event, line=line)
        else:
            checker.feed(event, line=line)
    return evolve(checker.close(line=len(events) + 1), source=source, stream=stream)


HOSTILE = "\x1b]52;c;cm0=\x07\x1b[2J\x00\x9b31m\u202e[red](https://evil)\ud83d\ufffe\uffff]]>&<\r\n::error::x%0A{0}\x0b"


def hostile(source="a ,:%\x1b[31m\n]]>é\udcff.jsonl", **more):
    """A stream and a source whose every word is an attack."""
    return report(t(HOSTILE), t_done(HOSTILE[1:]), {**t("x"), HOSTILE: 1}, source=source, **more)


UNREADABLE = Unreadable("x\x1b\ud800]]>.jsonl", "no such\x07 file")
