"""How much the checker and the readers take on before they say that something is too large."""

from __future__ import annotations

from attrs import frozen


@frozen
class Limits:
    """Bounds that keep memory constant whatever a stream holds. Past one of them there is a diagnostic, not a crash.

    - `record_bytes`: one record (E101 beyond). 64 MiB holds any image in base64 that a model API sends.
    - `group_bytes`: the joined content of one group (W513 beyond: its done item is not compared).
    - `nesting`: levels of objects and arrays in one record or in a call's arguments. 500 lies far above real
      use and far below where recursive readers in any language give up.
    - `diagnostics`: errors kept, and warnings kept, for each stream; the rest is counted.
    """

    record_bytes: int = 64 * 1024 * 1024
    group_bytes: int = 256 * 1024 * 1024
    nesting: int = 500
    diagnostics: int = 100
