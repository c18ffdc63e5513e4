"""Waiting for something to become true, never for time to pass."""

import asyncio
import time


class TooLate(AssertionError):
    """What was waited for did not come in time."""


def until(check, seconds=10.0, what=None, every=0.02):
    """Asks `check` again and again until it gives something true, which is returned.

    An exception of `check` counts as "not yet" and is shown when the time is over.
    """
    deadline = time.monotonic() + seconds
    while True:
        last = None
        try:
            found = check()
            if found:
                return found
            last = found
        except Exception as error:  # pylint: disable=broad-except
            last = error
        if time.monotonic() >= deadline:
            raise TooLate(f"not within {seconds} s: {what or getattr(check, '__name__', check)}; "
                          f"at last: {last!r}")
        time.sleep(every)


def within(seconds, check, what):
    """Asks as until() does. What is asked so many seconds from now must be true, however long a busy machine takes
    to answer."""
    begin = time.monotonic()
    while True:
        asked = time.monotonic()
        try:
            last = check()
            if last:
                return last
        except Exception as error:  # pylint: disable=broad-except
            last = error
        if asked - begin >= seconds:
            raise TooLate(f"not within {seconds} s: {what}; at last: {last!r}")
        time.sleep(0.02)


async def until_async(check, seconds=10.0, what=None, every=0.02):
    """The same for a coroutine function."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            last = await check()
            if last:
                return last
        except Exception as error:  # pylint: disable=broad-except
            last = error
        if time.monotonic() >= deadline:
            raise TooLate(f"not within {seconds} s: {what or check}; at last: {last!r}")
        await asyncio.sleep(every)
