"""Deprecated path of `mmsp_fsm.testing.strategies`."""

import warnings

from mmsp_fsm.testing.strategies import FaultyStream, faults, messages, streams, streams_with_messages

__all__ = ["FaultyStream", "faults", "messages", "streams", "streams_with_messages"]

warnings.warn(
    "mmsp_fsm.embed.strategies is deprecated; import from mmsp_fsm.testing.strategies",
    DeprecationWarning,
    stacklevel=2,
)
