"""How much the checker and the readers take on before they say that something is too large."""

from __future__ import annotations

from typing import Any

from attrs import field, frozen


def _a_number(_: object, attribute: Any, value: object) -> None:
    if type(value) is not int:
        raise TypeError(f"the limit {attribute.name} is a whole number, not {value!r}")
    if value < 0:
        raise ValueError(f"the limit {attribute.name} is at least 0, not {value}")


@frozen
class Limits:
    """Bounds that keep memory constant whatever a stream holds. Past one of them there is a diagnostic, not a crash.

    - `record_bytes`: one record (E101 beyond). 64 MiB holds any image in base64 that a model API sends.
    - `group_bytes`: the joined content of one group (W513 beyond: its done item is not compared).
    - `nesting`: levels of objects and arrays in one record or in a call's arguments. 500 lies far above real
      use and far below where recursive readers in any language give up.
    - `diagnostics`: errors kept, and warnings kept, for each stream; the rest is counted.

    Raises TypeError or ValueError where one is no whole number from 0 on.
    """

    record_bytes: int = field(default=64 * 1024 * 1024, validator=_a_number)
    group_bytes: int = field(default=256 * 1024 * 1024, validator=_a_number)
    nesting: int = field(default=500, validator=_a_number)
    diagnostics: int = field(default=100, validator=_a_number)
