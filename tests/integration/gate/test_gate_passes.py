"""What a pass is worth, to whom, and for how long."""

import secrets
import time

import pytest

from lib.api import some_name
from lib.gate import NAVIGATION, Visitor, secret_of
from lib.tokens import encode
from lib.wait import until


@pytest.fixture
def secret(parts):
    return secret_of(parts.secrets / "queue-ticket.keys")


@pytest.fixture
def closed(api, visitor_queue, make_site):
    """One visitor is in, and nobody more gets in."""
    class Closed:
        queue = visitor_queue(entryTtlSeconds=60)
        site = make_site(queue)
        browser = Visitor(site.port)
    Closed.browser.come_in()
    Closed.given = Closed.browser.gate_pass(Closed.queue)
    Closed.name = f"sluice_pass-{Closed.queue}"
    assert api.admin("PATCH", f"/queues/{Closed.queue}", {"ratePerSecond": 0}).status == 200
    return Closed


def opens(closed, value, headers=None, name=None):
    """Whether this pass alone opens the gate."""
    thief = Visitor(closed.site.port, keeps=False)
    return thief.is_through(headers={"Cookie": f"{name or closed.name}={value}", **(headers or {})})


def test_good_pass_is_enough(closed, secret):
    """The visitor's own cookie may be lost: the pass tells whose it is."""
    assert opens(closed, closed.browser.cookies[closed.name])
    assert opens(closed, closed.given.signed(secret)), "made by hand as Sluice makes it"


def test_a_redirect_of_the_shop_costs_no_pass(visitor_queue, make_site, shop, api):
    """The first answer that a visitor gets is a redirect: it brings the pass as a cookie, and the address stays as it is."""
    queue = visitor_queue()
    site = make_site(queue)
    browser = Visitor(site.port)
    reply = browser.come_in("/moved")
    assert (reply.status, reply.get("location")) == (301, "/deep/page.html?x=1")
    assert f"sluice_pass-{queue}" in reply.set_cookies
    assert browser.ask(reply.get("location")).status == 200
    assert [entry["path"] for entry in shop.seen()] == ["/moved", "/deep/page.html?x=1"]
    assert api.stats(queue)["entered"] == 1


def test_forged_passes(closed, secret):
    value = closed.browser.cookies[closed.name]
    body, _, mac = value.rpartition(".")
    other = secrets.token_bytes(32)
    later = closed.given.but(ends=str(int(closed.given.ends) + 10**9))
    forged = {
        "other key": closed.given.signed(other), "no MAC": body, "empty MAC": body + ".",
        "short MAC": value[:-1], "MAC of another": closed.given.signed(secret)[:-43] + later.signed(secret)[-43:],
        "later end": value.replace(closed.given.ends, later.ends),
        "unknown kid": closed.given.but(kid="k9").signed(secret), "version": "v2" + value[2:],
        "trailing": value + "x", "leading": " v1" + value[2:], "twice": value + value, "empty": "",
        "percent": value.replace(".", "%2e"),
        "long": value + "A" * 4000, "other kind": closed.given.but(kind="x").signed(secret),
        "negative": closed.given.but(seq="-1").signed(secret),
        "not a number": closed.given.but(epoch="1e0").signed(secret),
        "leading zero": closed.given.but(epoch="01").signed(secret),
    }
    for what, text in forged.items():
        assert not opens(closed, text), what
    assert mac and opens(closed, value), "and none of them has spoilt the good one"


def test_pass_is_for_one_queue(closed, secret, visitor_queue, make_site, api):
    other_queue = visitor_queue(ratePerSecond=0)
    other = make_site(other_queue)
    thief = Visitor(other.port, keeps=False)
    for value in (closed.browser.cookies[closed.name], closed.given.but(queue=other_queue).signed(secret[:-1] + b"\0")):
        assert not thief.is_through(headers={"Cookie": f"sluice_pass-{other_queue}={value}"})
    two = make_site(closed.queue, {"/api": other_queue})
    browser = closed.browser.copy()
    browser.port = two.port
    assert browser.is_through("/")
    assert not browser.is_through("/api/stock"), "two queues before one site"
    api.admin("PATCH", f"/queues/{other_queue}", {"ratePerSecond": 1000})
    assert browser.come_in("/api/stock").status == 200
    assert browser.is_through("/")
    assert {name for name in browser.cookies if "pass" in name} == {closed.name, f"sluice_pass-{other_queue}"}


def test_what_redis_does_not_know_is_worth_nothing_once_it_is_asked(closed, secret):
    """Even rightly signed: a pass whose time to ask has come opens nothing without its place."""
    stale = str(int(closed.given.renewed) - 60_000)
    assert opens(closed, closed.given.but(renewed=stale).signed(secret)), "this one has its place"
    ghost = closed.given.but(subject="v_" + encode(secrets.token_bytes(32)), renewed=stale)
    for fields in ({}, {"epoch": "2"}, {"epoch": "2", "incarnation": "2"}, {"kind": "w"},
                   {"kind": "u", "renewed": closed.given.renewed}, {"kind": "w", "renewed": closed.given.renewed}):
        assert not opens(closed, ghost.but(**fields).signed(secret)), fields


def test_ended_pass(api, visitor_queue, make_site):
    queue = visitor_queue(entryTtlSeconds=1)
    site = make_site(queue)
    browser = Visitor(site.port)
    browser.come_in()
    api.admin("PATCH", f"/queues/{queue}", {"ratePerSecond": 0})
    begin = time.monotonic()
    assert browser.is_through()
    until(lambda: not browser.copy().is_through() if time.monotonic() - begin > 1.25 else None, 5, "an end", every=0.05)
    assert not browser.is_through()


def test_keys_are_rotated_without_losing_anyone(parts, closed):
    path = parts.secrets / "queue-ticket.keys"
    before = path.read_text()
    new = f"k2:{encode(secrets.token_bytes(32))}\n"
    try:
        path.write_text(new + before)
        old = closed.browser.cookies[closed.name]

        def signed_anew():
            assert closed.browser.ask().status == 200
            return closed.browser.gate_pass(closed.queue).kid == "k2"
        until(signed_anew, 10, "a pass by the new key", every=0.2)
        assert opens(closed, old), "the old key still counts"
        path.write_text(new)
        until(lambda: not any(opens(closed, old) for _ in range(10)), 5, "the old key is out")
        assert closed.browser.is_through()
    finally:
        path.write_text(before)
        until(lambda: all(opens(closed, old) for _ in range(10)), 5, "the old key is back")


# Members

@pytest.fixture
def members_site(api, make_site):
    """A site whose nginx knows who is logged in, by a cookie of the site's own."""
    queue = api.queue(entryTtlSeconds=60)
    return queue, make_site(queue, lines=["set $sluice_member $cookie_login;"])


def login(site, member):
    browser = Visitor(site.port)
    browser.cookies["login"] = member
    return browser


def test_members_come_in_by_the_site_s_word(members_site, api):
    queue, site = members_site
    name = some_name("m")
    browser = login(site, name)
    first = browser.ask()
    assert first.face in ("WAITING", "READY"), "whoever is known needs no cookie to prove it"
    assert browser.come_in().set_cookies == [f"sluice_pass-{queue}"]
    assert browser.gate_pass(queue).subject == name
    assert api.admin("GET", f"/queues/{queue}/members/{name}").json["standing"] == "READY"


def test_nobody_is_logged_in(members_site, api, parts):
    queue, site = members_site
    parts.allowed_errors.add("gate.member_refused")
    browser = Visitor(site.port)
    for _ in range(3):
        reply = browser.ask()
        assert (reply.status, reply.face, reply.set_cookies) == (503, "LOGIN", [])
    for bad in ("not a member", "a/b", "x" * 65, "%00"):
        # The site's own fault: it must never become somebody else's place.
        reply = login(site, bad).ask()
        assert (reply.status, reply.set_cookies) == (503, [])
    assert api.stats(queue)["entered"] == 0


def test_pass_is_of_no_use_to_another_member(members_site, secret):
    queue, site = members_site
    owner, thief, guest = login(site, "owner"), login(site, "thief"), Visitor(site.port)
    owner.come_in()
    name = f"sluice_pass-{queue}"
    stolen = {name: owner.cookies[name]}
    thief.cookies.update(stolen)
    assert not thief.ask().status == 200, "another login"
    guest.cookies.update(stolen)
    assert not guest.is_through(), "no login"
    assert owner.is_through()


def test_member_is_nobody_s_to_choose(api, make_site):
    """A queue for members before a site that names none: no header of a client's makes one."""
    queue = api.queue(entryTtlSeconds=60)
    site = make_site(queue)
    member = api.ready_member(queue)
    for name in ("SLUICE_MEMBER", "Sluice-Member", "X-Sluice-Member", "Sluice_Member", "HTTP_SLUICE_MEMBER"):
        reply = Visitor(site.port).ask(headers={name: member.name})
        assert (reply.status, reply.face) == (503, "LOGIN"), name
    reply = Visitor(site.port).ask(headers={"Authorization": f"Bearer {member.jwt}"})
    assert reply.status == 503, "the shop's Authorization is its own business"
    visitors = Visitor(site.port)
    visitors.cookies[f"sluice_ticket-{queue}"] = member.ticket
    assert not visitors.is_through(), "a ticket is no login"


def test_visitor_of_another_browser_cannot_be_taken(closed):
    """The id is in nobody's hands but the signed cookie's."""
    victim = closed.browser.visitor_id()
    for cookie in (f"sluice_visitor={victim}", f"sluice_visitor={victim}.1.aaaa", f"sluice_member={victim}"):
        thief = Visitor(closed.site.port, NAVIGATION, keeps=False)
        assert not thief.is_through(headers={"Cookie": cookie})


def test_a_stale_cookie_in_front_does_no_harm(visitor_queue, make_site):
    """One of another path, or of a host beside this one, comes first in the header."""
    queue = visitor_queue()
    site = make_site(queue)
    visitor = Visitor(site.port)
    visitor.come_in()
    good = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    for stale in (f"sluice_pass-{queue}=", f"sluice_pass-{queue}=v1.x", "sluice_visitor=x",
                  f"sluice_pass-{queue}=x; sluice_visitor=y"):
        reply = Visitor(site.port).ask("/", headers={"Cookie": f"{stale}; {good}"})
        assert (reply.status, reply.set_cookies) == (200, []), stale
