"""Running cases against one server."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from attrs import evolve

from mmsp_fsm.probe import conduct_cases, stream_cases
from mmsp_fsm.probe.catalog import Case, Judgement, Result
from mmsp_fsm.probe.judging import JUDGES
from mmsp_fsm.probe.probe import Probe, Target, UnreachableError

JUDGED_BY = (stream_cases, conduct_cases)
"""The modules that register judges; importing them is what does it."""


def run(target: Target, cases: Iterable[Case]) -> Iterator[Result]:
    """The results of `cases`, each as soon as it is known.

    Raises UnreachableError where the server cannot be connected to at all, RequestError where no request can be sent,
    OSError where what arrives cannot be kept.
    """
    probe = Probe(target)
    for case in sorted(cases, key=lambda one: one.sends == "every request"):  # its answer needs all the others
        began = time.monotonic()
        try:
            judgement = JUDGES[case.code](probe)
        except UnreachableError as error:
            if not probe.reached:
                raise
            judgement = Judgement("error", str(error))
        hidden = evolve(judgement, says=probe.hide(judgement.says))
        yield Result(case, hidden, time.monotonic() - began)
