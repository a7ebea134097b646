"""How much the property tests do: `plain` by default, `--hypothesis-profile=deep` for 20,000 examples a law."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]

settings.register_profile(
    "plain", max_examples=250, deadline=None, derandomize=True, suppress_health_check=SLOW_IS_FINE
)
settings.register_profile("deep", max_examples=20_000, deadline=None, suppress_health_check=SLOW_IS_FINE)
settings.load_profile("plain")


def pytest_configure(config: pytest.Config) -> None:
    """Once more when the whole suite runs: then this file is loaded after the option was read."""
    settings.load_profile(config.getoption("--hypothesis-profile", None) or "plain")
