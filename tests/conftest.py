"""What holds for every test: the suite says the same on a developer's machine and on a CI server."""

import pytest

# pytest (whose output the plugin's tests read) and others print more, or in colour, where these are set.
_SURROUNDINGS = (
    "BUILD_NUMBER",
    "CI",
    "COLUMNS",
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "NO_COLOR",
    "PYTEST_ADDOPTS",
    "PY_COLORS",
)


@pytest.fixture(autouse=True)
def _same_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take out of the environment what would make an output differ from one machine to the next."""
    for name in _SURROUNDINGS:
        monkeypatch.delenv(name, raising=False)
