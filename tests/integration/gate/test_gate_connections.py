"""FastcgiProxy nginx and the queue pool: a check at the gate keeps its connection, and puts nothing into a file."""

import http.client
import shutil

import pytest

from lib.client import Http
from lib.fastcgi_proxy import FastcgiProxy, answer
from lib.gate import FETCH, NAVIGATION, PREFETCH, Visitor
from lib.sites import Site

# The first one starts all the parts.
pytestmark = pytest.mark.limit(180)

PROBLEM = "Content-Type: application/problem+json\r\nContent-Length: 2\r\n\r\n{}"


@pytest.fixture
def gated(parts, gate_files, shop, visitor_queue, make_directory):
    """A site behind a queue, somebody who is in, and what stands between the site's nginx and the pool."""
    sockets = parts.directory / "fcgi"
    between = FastcgiProxy(sockets / "between.sock", sockets / "queue.sock")
    place = parts.directory / "data" / "gate-between"
    queue = visitor_queue(entryTtlSeconds=300)
    site = Site(make_directory("site"), shop.port, between.gate_files(gate_files, place), {"/": queue})
    try:
        site.start()
        browser = Visitor(site.port)
        browser.come_in()
        yield between, site, browser
    finally:
        site.stop()
        between.stop()
        shutil.rmtree(place)


def held(browser):
    """Headers of somebody who shows the same cookies for ever."""
    return {**NAVIGATION, "Cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items())}


def answers_folder(site):
    """Where nginx puts answers into files. Its time changes with each file that comes and goes."""
    return site.directory / "tmp" / "fastcgi"


def test_one_connection_serves_many_checks(gated, shop):
    """Whatever is asked and whatever the verdict. Without fastcgi_store each check would take a connection of its own."""
    between, site, browser = gated
    shop.forget()
    before = answers_folder(site).stat().st_mtime_ns
    calls = [("GET", "/style.css", held(browser), None)] * 60 + [("HEAD", "/", held(browser), None)] * 10
    calls += [("POST", "/upload", held(browser), b"x" * 3_000_000)] * 2
    refused = [("GET", "/style.css", kind, None) for kind in (PREFETCH, FETCH, NAVIGATION)] * 5
    opened, asked = between.opened, between.asked
    answers = Http(site.port).together(calls + refused, 1, timeout=120)
    statuses = [reply.status for reply in answers]
    assert statuses == [200] * len(calls) + [503] * len(refused)
    assert [entry["method"] for entry in shop.seen("/upload")] == ["POST"] * 2
    assert between.asked - asked >= len(calls) + len(refused)
    assert between.opened - opened <= 3, f"{between.opened - opened} connections for {between.asked - asked} questions"
    assert answers_folder(site).stat().st_mtime_ns == before


def test_crowd_shares_connections(gated):
    """As many connections as questions at one time, however many follow."""
    between, site, browser = gated
    answers = Http(site.port).together([("GET", "/style.css", held(browser), None)] * 200, 8, timeout=120)
    assert {reply.status for reply in answers} == {200}
    assert between.opened <= 8 + 3


def test_other_answers_are_failures_and_no_files(gated, shop):
    """A worker says that only to what it cannot read; nothing of it gets into a file on its way."""
    between, site, browser = gated
    shop.forget()
    before = answers_folder(site).stat().st_mtime_ns
    for status in (400, 404, 413, 431, 500, 503):
        between.instead = [(answer(f"Status: {status} X\r\n{PROBLEM}"), False)]
        assert (browser.ask("/style.css").status, between.instead) == (503, []), status
    assert shop.seen() == []
    assert answers_folder(site).stat().st_mtime_ns == before
    assert browser.ask("/style.css").status == 200


def test_nothing_is_ever_stored(gated):
    """Not even where a worker would answer a check with a page."""
    between, site, browser = gated
    for text in ("a page", ""):
        between.instead = [(answer(f"Status: 200 OK\r\nContent-Type: text/html\r\n\r\n{text}"), False)]
        browser.ask("/style.css")
    assert between.instead == []
    assert list(answers_folder(site).rglob("*")) == []
    assert site.errors().count("/dev/null/never") == 2
    assert browser.ask("/style.css").status == 200


def test_worker_dies(gated, shop):
    """Before its answer: another one is asked. In the middle of it: nobody gets through by half an answer."""
    between, site, browser = gated
    between.close_all()
    assert browser.ask("/style.css").status == 200
    between.instead = [(None, True)]
    assert browser.ask("/style.css").status == 200
    assert between.instead == []
    shop.forget()
    half = answer("Status: 204 No Content\r\nX-Sluice-Verdict: pass\r\n\r\n", whole=False)
    between.instead = [(half, True)]
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        browser.ask("/style.css")
    assert shop.seen() == []
    assert browser.ask("/style.css").status == 200
