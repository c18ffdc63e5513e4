"""For all tests: a bound on their time, short private folders, and nothing left running."""

import shutil
import tempfile
from pathlib import Path

import pytest

from lib.processes import RUN_ID, RUN_MARK, assert_none_left

pytest_plugins = ["lib.shared_work", "lib.timelimit"]


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("early") is None)


@pytest.fixture(scope="session", autouse=True)
def nothing_left_running():
    """After the last test no process that any of them started is there."""
    yield
    assert_none_left(RUN_MARK, RUN_ID)


@pytest.fixture(scope="session")
def make_directory(nothing_left_running):
    """A function that makes private folders with paths short enough for Unix sockets. Whoever works in one ends before the
    look at what is left: pytest puts off the end of an automatic fixture no further than of the last one that a test asked for."""
    made = []

    def make(name="t"):
        path = Path(tempfile.mkdtemp(prefix=f"sluice-{name}-", dir="/tmp"))
        made.append(path)
        return path

    yield make
    for path in made:
        shutil.rmtree(path, ignore_errors=True)
