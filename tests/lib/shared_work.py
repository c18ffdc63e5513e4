"""Several runners of one folder of tests share its files: a pytest plugin, at work where SLUICE_TEST_CLAIMS names a
folder. Whoever is free takes the next file that nobody has taken, and runs all of it."""

import os
from pathlib import Path

import pytest


def take(claims, module):
    """Whether we are the first who want this file."""
    try:
        (claims / module.replace("/", "-")).touch(exist_ok=False)
        return True
    except FileExistsError:
        return False


def ours(items, claims):
    taken = {}
    for item in items:
        module = item.nodeid.split("::")[0]
        if module not in taken:
            taken[module] = take(claims, module)
        if taken[module]:
            yield item


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    claims = os.environ.get("SLUICE_TEST_CLAIMS")
    if not claims or session.testsfailed or session.config.option.collectonly:
        return None
    # Always one test ahead: pytest has to know which fixtures the next one needs.
    chosen = ours(session.items, Path(claims))
    item = next(chosen, None)
    while item:
        following = next(chosen, None)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        item = following
    return True
