"""The pytest plugin: checks what a test receives, keeps the recordings of failing tests, tells the machine's coverage.

pytest loads this module at every start where it is installed, so it imports nothing that is not used then.

- the fixture `mmsp_streams` checks every stream that is passed through it: `for event in mmsp_streams(stream): ...`;
- the marker `mmsp(select=..., ignore=..., warnings=False, watch="package.Client.stream")` chooses the rules for one
  test, and `watch` names functions whose streams are all checked;
- `--mmsp-record DIR` keeps what failing tests received, as JSON lines;
- `--mmsp-coverage` says at the end which cells of the machine were walked.

`mmsp_fsm.assert_conforms` works with it and without it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mmsp_fsm.testing.pytest_coverage import Coverage
    from mmsp_fsm.testing.pytest_streams import Streams

STREAMS: pytest.StashKey[Streams] = pytest.StashKey()
"""On an item: the streams that its test receives."""

COVERAGE: pytest.StashKey[Coverage] = pytest.StashKey()
"""On the configuration: what was walked, where that is asked for."""

WORKER_KEY = "mmsp_coverage"
"""Under which a worker of pytest-xdist hands its coverage over."""

MARKER = (
    "mmsp(select=None, extend_select=(), ignore=(), limits=None, warnings=True, watch=()): how the streams of this "
    "test are checked; watch names functions, as 'package.Client.stream', whose streams are all checked"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The two options."""
    group = parser.getgroup("mmsp", "MMSP streams")
    group.addoption(
        "--mmsp-record", metavar="DIR", help="keep the streams that failing tests received in DIR, as JSON lines"
    )
    group.addoption(
        "--mmsp-coverage", action="store_true", help="say at the end which cells of the MMSP machine were walked"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; prepare what was asked for."""
    config.addinivalue_line("markers", MARKER)
    if config.option.mmsp_record is not None:  # absolute, so that workers in other folders mean the same
        config.option.mmsp_record = str(Path(config.invocation_params.dir, config.option.mmsp_record).absolute())
    if config.option.mmsp_coverage:
        from mmsp_fsm.testing.pytest_coverage import Coverage

        config.stash[COVERAGE] = Coverage()
        config.stash[COVERAGE].begin()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind: a process may run pytest more than once."""
    coverage = config.stash.get(COVERAGE, None)
    if coverage is not None:
        coverage.end()


@pytest.fixture
def mmsp_streams(request: pytest.FixtureRequest) -> Streams:
    """Checks the streams that a test receives: pass each through it, sync or async.

    The test fails once its function is done, if a stream violates the protocol; nothing is raised before. Also
    `mmsp_streams.watch(client, "stream")` checks every stream that the method returns.
    """
    return _streams(request.node)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Judge a test's streams when its function is done, as part of the test."""
    __tracebackhide__ = True
    try:
        if any(mark.kwargs.get("watch") for mark in item.iter_markers("mmsp")):
            _streams(item).watch_all()
        result = yield
    except BaseException:
        streams = item.stash.get(STREAMS, None)
        if streams is not None and (text := streams.text()):
            item.add_report_section("call", "MMSP streams", text)
        raise
    finally:
        if (streams := item.stash.get(STREAMS, None)) is not None:
            streams.unwatch()
            if (coverage := item.config.stash.get(COVERAGE, None)) is not None:
                for report in streams.reports():
                    coverage.hear(report)
    if streams is not None and (text := streams.text()):
        pytest.fail(text, pytrace=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep the recordings of a test that failed."""
    report = yield
    folder = item.config.option.mmsp_record
    if folder is not None and report.failed:
        from mmsp_fsm.testing.pytest_streams import keep

        error = call.excinfo.value if call.excinfo is not None else None
        kept = keep(Path(folder), item.nodeid, item.stash.get(STREAMS, None), error)
        if kept:
            report.sections.append(("MMSP recordings", "\n".join(kept)))
    return report


# ── Coverage ─────────────────────────────────────────────────────────────────────────────────────────────────────


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker hands over what it saw."""
    coverage = session.config.stash.get(COVERAGE, None)
    output = getattr(session.config, "workeroutput", None)
    if coverage is not None and output is not None:
        output[WORKER_KEY] = coverage.dump()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:  # noqa: ARG001  (the hook's names)
    """Take what a worker saw."""
    coverage = node.config.stash.get(COVERAGE, None)
    if coverage is not None:
        coverage.load(getattr(node, "workeroutput", {}).get(WORKER_KEY))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the coverage, on request."""
    coverage = config.stash.get(COVERAGE, None)
    if coverage is not None:
        terminalreporter.section("MMSP coverage")
        for line in coverage.lines():
            terminalreporter.write_line(line)


def _streams(item: pytest.Item) -> Streams:
    streams = item.stash.get(STREAMS, None)
    if streams is None:
        from mmsp_fsm.testing.pytest_streams import Streams, options_of

        keeping = item.config.option.mmsp_record is not None
        marks: Iterator[pytest.Mark] = item.iter_markers("mmsp")
        streams = item.stash[STREAMS] = Streams(options_of([dict(mark.kwargs) for mark in marks]), keeping)
    return streams
