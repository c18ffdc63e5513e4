"""What the gate's cookies look like under TLS and in frames, and with which status people wait."""

import json

import pytest

from lib.gate import Visitor
from lib.tokens import decode
from lib.wait import until


@pytest.fixture
def with_settings(parts):
    """A function that gives the queue pool other settings until the test's end."""
    def change(**settings):
        parts.reconfigure("queue", **settings)
        changed.update(settings)
    changed = {}
    yield change
    for name in changed:
        parts.settings.pop(name, None)
    parts.reconfigure("queue")


@pytest.mark.parametrize("same_site, attributes", [
    ("lax", {"Secure", "SameSite=Lax"}), ("none", {"Secure", "SameSite=None", "Partitioned"})])
def test_cookies_under_tls(visitor_queue, make_site, with_settings, same_site, attributes):
    """The prefix binds them to this host: Secure, Path=/ and no Domain, or a browser throws them away."""
    queue = visitor_queue()
    site = make_site(queue)
    with_settings(cookie_secure="true", cookie_same_site=same_site)
    browser = Visitor(site.port)
    lines = []

    def through():
        reply = browser.ask()
        lines.extend(reply.all("set-cookie"))
        return reply.status == 200
    until(through, 10, "a way in", every=0.1)
    assert browser.is_through()
    assert {line.split("=")[0] for line in lines} == {
        "__Host-sluice_visitor", f"__Host-sluice_ticket-{queue}", f"__Host-sluice_pass-{queue}"}
    for line in lines:
        parts_of = {part.strip() for part in line.split(";")[1:]}
        assert {part for part in parts_of if not part.startswith("Max-Age=")} == {"Path=/", "HttpOnly", *attributes}, line
    plain = Visitor(site.port)
    plain.cookies = {name.removeprefix("__Host-"): value for name, value in browser.cookies.items()}
    assert not plain.is_through(), "without the prefix anybody beside this host could have set it"


@pytest.mark.parametrize("status", [200, 429])
def test_status_of_the_waiting_page(visitor_queue, make_site, with_settings, status):
    site = make_site(visitor_queue(ratePerSecond=0))
    with_settings(waiting_status=str(status))
    page = Visitor(site.port).ask()
    assert (page.status, page.face) == (status, "JOIN")
    assert page.get("cache-control") == "no-store" and int(page.get("retry-after")) >= 1


def lives_s(reply, name):
    """The Max-Age of each of its cookies of that name."""
    return [int(line.split("Max-Age=")[1].split(";")[0]) for line in reply.all("set-cookie") if line.startswith(name + "=")]


@pytest.mark.parametrize("secure", ["false", "true"])
def test_the_ticket_s_cookie_lives_as_long_as_the_ticket(visitor_queue, make_site, with_settings, secure):
    """After a loss of Redis's data the ticket alone proves the place, however long its owner has waited."""
    queue = visitor_queue(ratePerSecond=0)
    site = make_site(queue)
    with_settings(cookie_secure=secure, queue_ticket_ttl_seconds="86400")
    browser = Visitor(site.port)
    browser.ask()
    page = browser.ask()
    prefix = "__Host-" if secure == "true" else ""
    name = f"{prefix}sluice_ticket-{queue}"
    claims = json.loads(decode(browser.cookies[name].split(".")[1]))
    assert (page.face, lives_s(page, name)) == ("WAITING", [claims["exp"] - claims["iat"]]) == ("WAITING", [86400])
    entered = browser.ask(f"/_sluice/queues/{queue}/entries", "POST", headers={"Content-Type": "application/json"}, body="{}")
    assert (entered.status, lives_s(entered, name)) == (200, [86400])
    waiting = browser.ask(f"/_sluice/queues/{queue}/position")
    assert (waiting.json["status"], waiting.set_cookies) == ("WAITING", [])


def test_the_ticket_of_a_turn_lives_for_two_hours(api, visitor_queue, make_site, with_settings):
    """The end of a visit without an order is known to Redis alone: after a loss, its ticket would be seated at the front."""
    queue = visitor_queue(ratePerSecond=0)
    site = make_site(queue)
    with_settings(queue_ticket_ttl_seconds="86400")
    browser = Visitor(site.port)
    browser.ask()
    browser.ask()
    ticket = browser.cookies[f"sluice_ticket-{queue}"]
    assert api.admin("PATCH", f"/queues/{queue}", {"ratePerSecond": 1000}).status == 200
    poll = until(lambda: (reply := browser.ask(f"/_sluice/queues/{queue}/position")).json["status"] == "READY" and reply, 5, "a turn")
    assert lives_s(poll, f"sluice_ticket-{queue}") == [7200] and poll.get("cache-control") == "no-store"
    assert browser.cookies[f"sluice_ticket-{queue}"] == ticket
    by_header = Visitor(api.port).ask(f"/v1/queues/{queue}/position", headers={"X-Queue-Ticket": ticket})
    assert (by_header.status, by_header.json["status"], by_header.set_cookies) == (200, "READY", [])


@pytest.mark.parametrize("secure", ["false", "true"])
def test_a_browser_keeps_the_tickets_of_eight_queues(visitor_queue, make_site, with_settings, secure):
    """More would fill the header line that nginx accepts. The ones set first go: browsers send them in front."""
    queue = visitor_queue(ratePerSecond=0)
    site = make_site(queue)
    with_settings(cookie_secure=secure)
    prefix = "__Host-" if secure == "true" else ""
    browser = Visitor(site.port)
    browser.ask()
    names = [f"{prefix}sluice_ticket-other-{i}" for i in range(9)]
    browser.cookies.update({name: "x" * 400 for name in names} | {f"{prefix}sluice_ticket-No Queue": "x"})
    assert browser.ask().face == "WAITING"
    assert [name for name in names if name not in browser.cookies] == names[:2]
    before = set(browser.cookies)
    assert browser.ask().face == "WAITING" and set(browser.cookies) == before
