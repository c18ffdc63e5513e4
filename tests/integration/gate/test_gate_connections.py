"""Between nginx and the queue pool: a check at the gate keeps its connection, and puts nothing into a file."""

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
    """The proxy between the site's nginx and the pool, a site behind a queue, and a visitor who has been admitted."""
    sockets = parts.directory / "fcgi"
    proxy = FastcgiProxy(sockets / "proxy.sock", sockets / "queue.sock")
    place = parts.directory / "data" / "gate-proxy"
    queue = visitor_queue(entryTtlSeconds=300)
    site = Site(make_directory("site"), shop.port, proxy.gate_files(gate_files, place), {"/": queue})
    try:
        site.start()
        browser = Visitor(site.port)
        browser.come_in()
        yield proxy, site, browser
    finally:
        site.stop()
        proxy.stop()
        shutil.rmtree(place)


def held(browser):
    """Headers of a visitor who sends the same cookies each time."""
    return {**NAVIGATION, "Cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items())}


def answers_folder(site):
    """Where nginx puts answers into files. Its time changes with each file that comes and goes."""
    return site.directory / "tmp" / "fastcgi"


def test_one_connection_serves_many_checks(gated, shop):
    """For any request and any verdict. Without fastcgi_store each check would take a connection of its own."""
    proxy, site, browser = gated
    shop.forget()
    before = answers_folder(site).stat().st_mtime_ns
    calls = [("GET", "/style.css", held(browser), None)] * 60 + [("HEAD", "/", held(browser), None)] * 10
    calls += [("POST", "/upload", held(browser), b"x" * 3_000_000)] * 2
    refused = [("GET", "/style.css", kind, None) for kind in (PREFETCH, FETCH, NAVIGATION)] * 5
    opened, asked = proxy.opened, proxy.asked
    answers = Http(site.port).together(calls + refused, 1, timeout=120)
    statuses = [reply.status for reply in answers]
    assert statuses == [200] * len(calls) + [503] * len(refused)
    assert [entry["method"] for entry in shop.seen("/upload")] == ["POST"] * 2
    assert proxy.asked - asked >= len(calls) + len(refused)
    assert proxy.opened - opened <= 3, f"{proxy.opened - opened} connections for {proxy.asked - asked} questions"
    assert answers_folder(site).stat().st_mtime_ns == before


def test_crowd_shares_connections(gated):
    """As many connections as checks in parallel, however many follow."""
    proxy, site, browser = gated
    answers = Http(site.port).together([("GET", "/style.css", held(browser), None)] * 200, 8, timeout=120)
    assert {reply.status for reply in answers} == {200}
    assert proxy.opened <= 8 + 3


def test_other_answers_are_failures_and_no_files(gated, shop):
    """A worker sends these only for a request that it cannot read; nginx writes none of them to a file."""
    proxy, site, browser = gated
    shop.forget()
    before = answers_folder(site).stat().st_mtime_ns
    for status in (400, 404, 413, 431, 500, 503):
        proxy.instead = [(answer(f"Status: {status} X\r\n{PROBLEM}"), False)]
        assert (browser.ask("/style.css").status, proxy.instead) == (503, []), status
    assert shop.seen() == []
    assert answers_folder(site).stat().st_mtime_ns == before
    assert browser.ask("/style.css").status == 200


def test_nothing_is_ever_stored(gated):
    """Not even where a worker would answer a check with a page."""
    proxy, site, browser = gated
    for text in ("a page", ""):
        proxy.instead = [(answer(f"Status: 200 OK\r\nContent-Type: text/html\r\n\r\n{text}"), False)]
        browser.ask("/style.css")
    assert proxy.instead == []
    assert list(answers_folder(site).rglob("*")) == []
    assert site.errors().count("/dev/null/never") == 2
    assert browser.ask("/style.css").status == 200


def test_worker_dies(gated, shop):
    """Before its answer: nginx asks another worker. In the middle of it: half an answer admits nobody."""
    proxy, site, browser = gated
    proxy.close_all()
    assert browser.ask("/style.css").status == 200
    proxy.instead = [(None, True)]
    assert browser.ask("/style.css").status == 200
    assert proxy.instead == []
    shop.forget()
    half = answer("Status: 204 No Content\r\nX-Sluice-Verdict: pass\r\n\r\n", whole=False)
    proxy.instead = [(half, True)]
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        browser.ask("/style.css")
    assert shop.seen() == []
    assert browser.ask("/style.css").status == 200
