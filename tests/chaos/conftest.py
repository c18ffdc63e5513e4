"""One system for all tests here: each run leaves it whole."""

import pytest

from chaos.system import ChaosParts


@pytest.fixture(scope="session")
def system(make_directory):
    parts = ChaosParts(make_directory("chaos"))
    try:
        yield parts.start()
    finally:
        parts.abandon()
