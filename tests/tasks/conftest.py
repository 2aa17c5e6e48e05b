import pytest

from tests.tasks.stage import Stage


@pytest.fixture
def stage(server_url: str, namespace: str) -> Stage:
    """An app of this test's own; broker and lease are one Valkey."""
    return Stage(server_url, namespace)
