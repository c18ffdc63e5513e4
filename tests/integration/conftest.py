"""One set of parts for all integration tests; each test finds it in order and has queues of its own."""

import pytest

from lib.parts import Parts


@pytest.fixture(scope="session")
def all_parts(make_directory):
    parts = Parts(make_directory("int"))
    try:
        parts.start()
        yield parts
    finally:
        parts.stop()


@pytest.fixture
def parts(all_parts):
    all_parts.settle()
    yield all_parts
    all_parts.settle()


@pytest.fixture
def api(parts):
    return parts.api
