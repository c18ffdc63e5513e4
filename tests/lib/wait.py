"""Waiting for something to become true, never for time to pass."""

import asyncio
import time

# A deadline says what an idle machine needs at most; a busy one gets so many times as long. Where it is kept this costs nothing.
# What must come before something else would bring it (the end of a time to live, say) asks within().
PATIENCE = 3
LOOKS_A_SECOND = 20


class TooLate(AssertionError):
    """What was waited for did not happen in time."""


def until(check, seconds=10.0, what=None, every=0.02):
    """Asks `check` again and again until it gives something true, which is returned.

    An exception of `check` counts as "not yet" and is shown when the time is over.
    """
    seconds *= PATIENCE
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
    to answer. One that stalls meanwhile allows fewer looks: it is asked some times in any case."""
    begin, looks = time.monotonic(), 0
    while True:
        asked, looks = time.monotonic(), looks + 1
        try:
            last = check()
            if last:
                return last
        except Exception as error:  # pylint: disable=broad-except
            last = error
        if asked - begin >= seconds and looks >= seconds * LOOKS_A_SECOND:
            raise TooLate(f"not within {seconds} s: {what}; at last: {last!r}")
        time.sleep(0.02)


def is_within(seconds, check, what):
    """Whether it was; it is waited for in any case."""
    try:
        return bool(within(seconds, check, what))
    except TooLate:
        until(check, what=what)
        return False


def holds_for(seconds, check, what, every=0.1):
    """Asserts that `check` is true now and until so many seconds have passed: for what must not happen, where there is
    nothing to wait for. The last look is after that time."""
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        last = check()
        assert last, f"did not last {seconds} s: {what}; at last: {last!r}"
        if left <= 0:
            return last
        time.sleep(min(every, left))


async def until_async(check, seconds=10.0, what=None, every=0.02):
    """The same for a coroutine function."""
    seconds *= PATIENCE
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
