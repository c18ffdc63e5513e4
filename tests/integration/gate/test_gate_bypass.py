"""Who passes without waiting, by rule, and who only tries to look so."""

import hashlib

import pytest

from lib.gate import NAVIGATION, Visitor
from lib.wait import until

SECRET = "a monitor's long secret"
RULES = {"paths": ["/api/", "/style.css", "/pay"], "secretSha256": hashlib.sha256(SECRET.encode()).hexdigest()}


@pytest.fixture
def ruled(visitor_queue, make_site, api):
    """A function that puts a site behind a queue that lets nobody in, with these rules."""
    def make(bypass, lines=()):
        queue = visitor_queue(ratePerSecond=0, bypass=bypass)
        return queue, make_site(queue, lines=lines)
    return make


def passes(site, path="/", **headers):
    return Visitor(site.port, {**NAVIGATION, **headers}, keeps=False).is_through(path)


def test_paths(ruled, shop, api):
    queue, site = ruled(RULES)
    for path in ("/api/stock", "/api/stock?x=1", "/style.css", "/style.css?v=2", "/pay", "/pay/callback", "/api/",
                 "/%61pi/stock"):
        assert passes(site, path), path
    assert api.stats(queue)["entered"] == 0
    reply = Visitor(site.port).ask("/api/stock")
    assert (reply.status, reply.set_cookies, reply.all("cache-control")) == (200, [], [])
    shop.forget()
    for path in ("/", "/api", "/apiary", "/payment", "/style.css.map", "/API/stock", "/deep/page.html", "/x/api/stock",
                 "/?/api/", "/deep/page.html?/api/stock",
                 # What servers read in different ways fits no rule.
                 "/deep/../api/stock", "/./api/stock", "//api/stock", "/api//stock"):
        assert not passes(site, path), path
    assert shop.seen() == []


@pytest.mark.parametrize("path", [
    "/api/../order", "/api/%2e%2e/order", "/api/%2E%2E/order", "/api/.%2e/order", "/api/%2e./order", "/api/..%2forder",
    "/api/%2e%2e%2forder", "/api//../order", "/api/x/../../order", "/api/./../order", "/api/stock/../../order",
    "/api/..\\order", "/api/..%5corder", "/api\\..\\order", "/api/..;/order", "/api/..;x=1/order", "/api/..%00/order",
    "/api/..%3b/order", "/api/%2e%2e;/order", "/%2fapi/../order", "/api/..#/order", "/order#/api/", "/order;/api/",
    "/order?/../api/stock", "/api/x%2f..%2f..%2forder"])
def test_path_tricks(ruled, shop, path):
    """A path that another server could read as the guarded one is no bypass."""
    _, site = ruled(RULES)
    reply = Visitor(site.port, keeps=False).ask(path)
    assert reply.status in (400, 404, 503), (path, reply.status)
    assert shop.seen() == [], path


def test_secret(ruled):
    _, site = ruled(RULES)
    assert passes(site, **{"X-Sluice-Bypass": SECRET})
    for wrong in (SECRET[:-1], SECRET + "x", SECRET.upper(), RULES["secretSha256"], "x" * 3000):
        assert not passes(site, **{"X-Sluice-Bypass": wrong}), wrong
    _, site = ruled({"paths": []})
    assert not passes(site, **{"X-Sluice-Bypass": SECRET})
    assert not passes(site, **{"X-Sluice-Bypass": hashlib.sha256(b"").hexdigest()})


def test_networks(ruled):
    """By the address that nginx sees, and by no header of the client's."""
    _, inside = ruled({"networks": ["127.0.0.0/8"]})
    assert passes(inside)
    _, outside = ruled({"networks": ["10.0.0.0/8", "127.0.0.2", "::1"]})
    for name in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "Remote-Addr", "REMOTE_ADDR", "X-Client-IP"):
        assert not passes(outside, **{name: "10.0.0.1"}), name


def test_networks_behind_a_proxy_of_one_s_own(ruled):
    """Where the site's nginx trusts a proxy, the address that this one tells counts."""
    _, site = ruled({"networks": ["10.0.0.0/8"]},
                    lines=["set_real_ip_from 127.0.0.1;", "real_ip_header X-Forwarded-For;"])
    assert passes(site, **{"X-Forwarded-For": "10.1.2.3"})
    assert not passes(site, **{"X-Forwarded-For": "11.1.2.3"})


def test_a_shop_that_calls_itself_by_its_public_name_passes(ruled, api, shop):
    """Its own address is in the rules, and its call comes with no proxy's header, no cookie, and no sign of a browser."""
    queue, site = ruled({"networks": ["127.0.0.0/8"]}, lines=["set_real_ip_from 127.0.0.1;", "real_ip_header X-Forwarded-For;"])
    assert not passes(site, **{"X-Forwarded-For": "203.0.113.9"})
    entered = api.stats(queue)["entered"]
    shop.forget()
    itself = Visitor(site.port, {"Host": "shop.example", "User-Agent": "the shop", "Content-Type": "application/x-www-form-urlencoded"})
    for path, method, body in (("/api/stock", "GET", None), ("/order", "POST", "paid=1")):
        reply = itself.ask(path, method, body=body)
        assert (reply.status, reply.set_cookies) == (200, []), path
    assert [entry["headers"]["host"] for entry in shop.seen()] == ["shop.example"] * 2
    assert api.stats(queue)["entered"] == entered


def test_crawlers(ruled, api):
    """A name alone proves nothing; the others get 503 with Retry-After and take no place."""
    _, verified = ruled({"crawlers": [{"userAgent": "Googlebot", "networks": ["127.0.0.0/8"]}]})
    agent = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
    assert passes(verified, **{"User-Agent": agent})
    assert not passes(verified)
    queue, liar = ruled({"crawlers": [{"userAgent": "Googlebot", "networks": ["66.249.64.0/19"]}]})
    for _ in range(5):
        reply = Visitor(liar.port, {"User-Agent": agent, "Accept": "text/html,*/*"}, keeps=False).ask()
        assert reply.status == 503 and int(reply.get("retry-after")) >= 1
    assert api.stats(queue)["entered"] == 0


def test_payment_comes_back_while_everyone_waits(ruled, api, shop):
    """Call-backs have no cookies; hold closes the gate for visitors, not for the payment provider."""
    queue, site = ruled({"paths": ["/order"]})
    api.admin("PATCH", f"/queues/{queue}", {"activation": "hold"})
    until(lambda: Visitor(site.port).ask().face == "HOLD", 5, "hold")
    reply = Visitor(site.port, {"User-Agent": "provider", "Content-Type": "application/x-www-form-urlencoded"}).ask(
        "/order", "POST", body="paid=1")
    assert reply.status == 200 and b"paid" in reply.body
    assert [entry["method"] for entry in shop.seen("/order")] == ["POST"]
