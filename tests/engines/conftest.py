"""The order of the engines' tests: clusters leave threads behind, and beside a thread no process is forked."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of the cluster behind all others, so that those of forked processes run, and do not skip."""
    items.sort(key=lambda item: item.path.name == "test_cluster.py")
