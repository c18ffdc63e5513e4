"""The whole system, started once by scripts/run as a user would start it."""

import pytest

from lib.stack import Stack


@pytest.fixture(scope="session")
def stack(make_directory):
    directory = make_directory("e2e")
    # As root, programs run as another user, who gets through to the data as in most places.
    directory.chmod(0o711)
    stack = Stack(directory)
    try:
        yield stack.start()
        stack.stop()
    finally:
        stack.abandon()


@pytest.fixture
def api(stack):
    return stack.api
