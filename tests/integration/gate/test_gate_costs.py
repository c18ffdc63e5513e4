"""What a request through the gate costs Redis: nothing, most of the time."""

import time

import pytest

from lib.client import Http
from lib.gate import FETCH, NAVIGATION, PREFETCH, Visitor

CONNECTIONS = 16
REFRESH_S, TRUSTED_S = 0.4, 0.9  # as in gate_cache.h
ROUNDS = 20


def scripts_run(parts):
    return parts.redis.info("commandstats").get("cmdstat_evalsha", {}).get("calls", 0)


def looks_in(parts, seconds):
    """How many times the workers refresh their knowledge within that time, if it never becomes too old."""
    return parts.queue_workers * (seconds / REFRESH_S + 2)


def looks_with_pauses(parts, seconds):
    """The same on a machine that may stand still meanwhile, or before: knowledge older than TRUSTED_S is asked for once by each
    connection, until the first answer is there."""
    return looks_in(parts, seconds) + parts.queue_workers * CONNECTIONS * (int(seconds / TRUSTED_S) + 1)


@pytest.fixture
def quiet(parts, visitor_queue, make_site):
    """Somebody is in, and nobody but the gate speaks to Redis."""
    queue = visitor_queue(entryTtlSeconds=300)
    site = make_site(queue)
    browser = Visitor(site.port)
    browser.come_in()
    for process in parts.schedulers:
        process.stop()
    parts.pools["order"].stop(seconds=20)
    try:
        yield site, browser
    finally:
        parts.start_pool("order", parts.order_workers)


def test_fresh_pass_asks_nothing(parts, quiet):
    """300 requests with a fresh pass, and as many refusals: only each worker's look, at most every 400 ms. On a slow machine
    knowledge may become too old in a round, but not in all of them."""
    site, browser = quiet
    http = Http(site.port)
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    headers = {**NAVIGATION, "Cookie": cookies}
    last_end = time.monotonic()
    http.together([("GET", "/style.css", headers, None)] * 40, CONNECTIONS)
    for sent, status in ((headers, 200), (FETCH, 503), (PREFETCH, 503), (NAVIGATION, 503)):
        rounds = []
        while len(rounds) < ROUNDS and not any(ran <= looks for ran, looks in rounds):
            before, begin = scripts_run(parts), time.monotonic()
            answers = http.together([("GET", "/style.css", sent, None)] * 300, CONNECTIONS)
            end = time.monotonic()
            assert {answer.status for answer in answers} == {status}
            rounds.append((scripts_run(parts) - before, looks_in(parts, end - begin)))
            assert rounds[-1][0] <= looks_with_pauses(parts, end - last_end)
            last_end = end
        assert any(ran <= looks for ran, looks in rounds), rounds


def test_pass_that_is_missing_is_one_question(parts, quiet):
    """Whoever is in and has lost the pass gets it again by one script."""
    site, browser = quiet
    del browser.cookies[next(name for name in browser.cookies if "pass" in name)]
    Http(site.port).together([("GET", "/style.css", FETCH, None)] * 40, 16)
    before, begin = scripts_run(parts), time.monotonic()
    assert browser.ask("/style.css").status == 200, "the visitor's cookie is enough to get the pass again"
    looks = parts.queue_workers * ((time.monotonic() - begin) / 0.4 + 1)
    assert 1 <= scripts_run(parts) - before <= 1 + looks
