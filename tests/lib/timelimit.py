"""A bound on every test's time: a pytest plugin."""

import signal

import pytest

from lib.wait import PATIENCE

DEFAULT_SECONDS = 60


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Raises in the test's main thread when its time, its fixtures' included, is over."""
    marker = item.get_closest_marker("limit")
    seconds = PATIENCE * (marker.args[0] if marker else DEFAULT_SECONDS)

    def over(_number, _frame):
        # Once more, should the clean-up hang as well.
        signal.alarm(30)
        raise TimeoutError(f"the test took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(int(seconds))
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
