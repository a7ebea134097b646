"""The protocol's objects, JSON values, and the conversion between the two.

Imports: grammar. The classes are importable from here: `from mmsp_fsm.model import TextDeltaItem`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mmsp_fsm.model.objects import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Load the classes at first use: most of the package does not need them."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("mmsp_fsm.model.objects"), name)
