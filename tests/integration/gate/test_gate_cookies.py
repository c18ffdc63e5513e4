"""What the gate's cookies look like under TLS and in frames, and with which status people wait."""

import pytest

from lib.gate import Visitor
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
