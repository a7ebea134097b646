"""How much the property tests do: `plain` by default, `--hypothesis-profile=deep` for 20,000 examples a law."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]

NO_EXPLANATION = [phase for phase in Phase if phase is not Phase.explain]
"""Explaining a failure runs it dozens of times more, and these tests say what is wrong themselves."""


def _profile(name: str, **more: Any) -> None:
    settings.register_profile(
        name, deadline=None, suppress_health_check=SLOW_IS_FINE, phases=NO_EXPLANATION, print_blob=False, **more
    )


_profile("plain", max_examples=150, derandomize=True)
_profile("deep", max_examples=20_000)
settings.load_profile("plain")


def pytest_configure(config: pytest.Config) -> None:
    """Once more when the whole suite runs: then this file is loaded after the option was read."""
    settings.load_profile(config.getoption("--hypothesis-profile", None) or "plain")
