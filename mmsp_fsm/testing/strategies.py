"""The Hypothesis strategies in one place: conforming streams, messages, and streams with one fault each.

from hypothesis import given
from mmsp_fsm.testing.strategies import faults, streams

@given(streams())
def test_my_client_reads_every_stream(events): ...

@given(faults(rules=["E3"]))
def test_my_client_rejects_broken_group_order(faulty): ...  # .events, .lines, .errors
"""

from mmsp_fsm.testing.faults.drawing import FaultyStream, faults
from mmsp_fsm.testing.stream_strategies import messages, streams, streams_with_messages

__all__ = ["FaultyStream", "faults", "messages", "streams", "streams_with_messages"]
