"""The whole system, started once by scripts/run as a user would start it."""

import pytest

from lib.stack import Stack


@pytest.fixture(scope="session")
def stack(make_directory):
    stack = Stack(make_directory("e2e"))
    try:
        yield stack.start()
        stack.stop()
    finally:
        stack.abandon()


@pytest.fixture
def api(stack):
    return stack.api
