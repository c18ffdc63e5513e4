"""Through the gate of a real site: from the first page to the shop, and what of the shop's is left as it was."""

import asyncio
import hashlib
import os

import aiohttp
import pytest

from lib.gate import APP, FETCH, NAVIGATION, Visitor
from lib.wait import until

LARGE = 50 * 1024 * 1024


@pytest.fixture
def gated(visitor_queue, make_site):
    """A queue that admits quickly, and its site."""
    def make(**settings):
        queue = visitor_queue(**settings)
        return queue, make_site(queue)
    return make


def shut(api, queue):
    """From now on nobody else is admitted."""
    answer = api.admin("PATCH", f"/queues/{queue}", {"ratePerSecond": 0})
    assert answer.status == 200, answer.body


def test_from_the_first_page_to_the_shop(gated, shop):
    """The page at the very address, first a cookie, then a place, then the shop's page at that address."""
    queue, site = gated()
    deep = "/deep/page.html?a=1&b=%2F%3F+x&&c=%ED%95%9C&redirect=https://elsewhere.example/"
    browser = Visitor(site.port)
    first = browser.ask(deep)
    assert (first.status, first.face, first.set_cookies) == (503, "JOIN", ["sluice_visitor"])
    second = browser.ask(deep)
    assert second.status == 503 and second.face in ("WAITING", "READY")
    assert set(second.set_cookies) == {"sluice_ticket", f"sluice_ticket-{queue}"}
    assert shop.seen() == [], "the shop has heard of nothing"
    through = browser.come_in(deep)
    assert through.status == 200 and b"deep inside" in through.body
    assert through.set_cookies == [f"sluice_pass-{queue}"]
    assert through.all("cache-control") == ["private"]
    assert [entry["path"] for entry in shop.seen()] == [deep], "not a character is changed"
    assert site.errors() == ""


def test_the_page_has_the_times_of_its_queue(gated):
    _, site = gated(pickupSeconds=61, entryTtlSeconds=302)
    state = Visitor(site.port).ask().state
    assert (state["pickupSeconds"], state["entryTtlSeconds"], state["keepSeconds"]) == (61, 302, 86400)


def test_pass_cookie(gated):
    queue, site = gated(entryTtlSeconds=100)
    browser = Visitor(site.port)
    line = browser.come_in().get("set-cookie")
    parts = line.split("; ")
    assert parts[0].startswith(f"sluice_pass-{queue}=v1.k1.a.{queue}.1.1.1.0.")
    assert parts[1:] == ["Path=/", "Max-Age=106", "HttpOnly", "SameSite=Lax"]
    given = browser.gate_pass(queue)
    assert int(given.ends) - int(given.renewed) == 105_000
    assert given.subject == browser.visitor_id()


def test_fresh_pass_is_left_alone(gated):
    """Most requests set nothing: the shop's pages stay as cacheable as they were."""
    queue, site = gated(entryTtlSeconds=300)
    browser = Visitor(site.port)
    browser.come_in()
    for _ in range(20):
        reply = browser.ask("/style.css")
        assert (reply.status, reply.set_cookies) == (200, [])
        assert reply.all("cache-control") == ["max-age=60"]
        assert reply.get("x-sluice-verdict") is None


def test_pass_is_renewed_while_its_owner_is_active(gated):
    queue, site = gated(entryTtlSeconds=4, tickMs=100)  # renewed every 200 ms
    browser, idle = Visitor(site.port), Visitor(site.port)
    browser.come_in(), idle.come_in()
    first = browser.gate_pass(queue)

    def second_visit():
        assert browser.ask().status == 200
        return int(browser.gate_pass(queue).ends) > int(first.ends) + 5000
    until(second_visit, 15, "a visit longer than its first pass", every=0.15)
    assert browser.gate_pass(queue).admission == first.admission
    assert not idle.is_through(), "an idle visit ends"


def test_app_keeps_a_place_by_its_cookies(gated, api):
    """The same way for a program: the second request takes the place, a later one comes through."""
    queue, site = gated()
    app = Visitor(site.port, APP)
    first, second = app.ask("/api/stock"), app.ask("/api/stock")
    assert first.json["code"] == second.json["code"] == "WAITING"
    assert first.json["position"]["status"] == "NOT_ENTERED" and first.json["position"]["rank"] is None
    position = second.json["position"]
    assert position["status"] in ("WAITING", "READY") and position.get("entryToken") is None
    assert first.json["cfWaitingRoom"]["inWaitingRoom"] is second.json["cfWaitingRoom"]["inWaitingRoom"] is True
    assert app.come_in("/api/stock").json["stock"] == 7
    assert api.stats(queue)["entered"] == 1


@pytest.mark.limit(120)
def test_large_upload(gated, api, shop):
    """50 MB go through with a pass, and not a byte of them reaches the shop without one."""
    queue, site = gated()
    data = os.urandom(1 << 20) * (LARGE >> 20)
    headers = {**FETCH, "Content-Type": "application/octet-stream"}
    refused = Visitor(site.port, headers).ask("/upload", "POST", body=data, timeout=60)
    assert (refused.status, refused.get("content-type")) == (503, "application/problem+json")
    assert shop.seen("/upload") == []
    browser = Visitor(site.port)
    browser.come_in()
    for method in ("POST", "PUT"):
        reply = browser.ask("/upload", method, headers=headers, body=data, timeout=60)
        assert reply.json == {"length": LARGE, "sha256": hashlib.sha256(data).hexdigest()}


def test_form_without_a_pass_is_refused_and_never_redirected(gated, shop):
    """It is refused with a page that says so, never redirected or repeated; sent again with a pass it arrives."""
    queue, site = gated()
    headers = {**NAVIGATION, "Content-Type": "application/x-www-form-urlencoded"}
    browser = Visitor(site.port)
    refused = browser.ask("/order", "POST", headers=headers, body="name=Kim")
    assert (refused.status, refused.face, refused.set_cookies) == (503, "UNSAFE", [])
    assert refused.get("location") is None and shop.seen() == []
    browser.come_in()
    assert b"Kim" in browser.ask("/order", "POST", headers=headers, body="name=Kim").body
    assert [entry["method"] for entry in shop.seen("/order")] == ["POST"]


def test_web_socket(gated, shop):
    queue, site = gated()
    browser = Visitor(site.port)
    browser.come_in()

    async def talk(cookies):
        async with aiohttp.ClientSession(cookies=cookies) as session:
            async with session.ws_connect(f"{site.url}/ws", headers={"Sec-Fetch-Mode": "websocket"}) as link:
                await link.send_str("hello")
                answer = await link.receive_str()
                await link.send_str("bye")
                return answer
    assert asyncio.run(talk(browser.cookies)) == "echo hello"
    shop.forget()
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        asyncio.run(talk({}))
    assert refused.value.status == 503
    assert shop.seen() == []


@pytest.mark.parametrize("number", [401, 500])
def test_troubles_that_the_site_s_nginx_takes_over(visitor_queue, make_site, number):
    """Where nginx makes pages of its own for the shop's errors, the gate's are not among them."""
    site = make_site(visitor_queue(), lines=["proxy_intercept_errors on;"])
    browser = Visitor(site.port)
    browser.come_in()
    reply = browser.ask(f"/status/{number}")
    assert reply.status == number and not reply.is_page
    assert b"sluice" not in reply.body.lower() and reply.get("retry-after") is None


@pytest.mark.parametrize("number", [401, 403, 404, 500, 502, 503])
def test_the_shop_s_own_troubles_are_its_own(gated, number):
    """An admitted visitor sees the shop's own error, and no page of the gate."""
    queue, site = gated()
    browser = Visitor(site.port)
    browser.come_in()
    reply = browser.ask(f"/status/{number}")
    assert reply.status == number
    assert f"The shop says {number}".encode() in reply.body
    assert reply.get("www-authenticate") == ('Basic realm="The Plain Shop"' if number == 401 else None)
    assert not reply.is_page


def test_prefetch_takes_nothing(gated, parts, api):
    """A page that a browser loads ahead neither enters nor picks up a place that nobody may use; nor does it
    get admitted while the queue is idle. An admitted visitor may load ahead."""
    queue, site = gated(admitWhenIdle=True, pickupSeconds=60)
    until(lambda: parts.redis.hget(f"sluice:{{{queue}}}:state", "sampledAt"), 5, "a tick")
    shut(api, queue)
    browser = Visitor(site.port)
    browser.ask(), browser.ask()
    api.admin("PATCH", f"/queues/{queue}", {"ratePerSecond": 1000})
    until(lambda: parts.redis.zcard(f"sluice:{{{queue}}}:pickup") == 1, 5, "a turn")
    for client in (Visitor(site.port), browser):
        assert client.ask(headers={"Sec-Purpose": "prefetch"}).status == 503
    assert parts.redis.zcard(f"sluice:{{{queue}}}:pickup") == 1
    assert api.stats(queue)["entered"] == 1
    assert browser.ask().status == 200 and browser.is_through(headers={"Sec-Purpose": "prefetch"})


def test_what_the_client_claims_is_not_believed(gated, shop, api):
    """No header of the client reaches the gate as one that nginx has set."""
    queue, site = gated()
    shut(api, queue)
    claims = {"Sluice-Queue": "other", "Sluice-Member": "m-1", "SLUICE_MEMBER": "m-1", "X-Sluice-Member": "m-1",
              "X-Sluice-Verdict": "pass", "Sluice-Path": "/x", "X-Original-URI": "/", "X-Forwarded-For": "127.0.0.1"}
    browser = Visitor(site.port)
    for name, value in claims.items():
        reply = browser.ask(headers={name: value})
        assert reply.status == 503 and reply.state["queue"] == queue, name
    for path in ("/_sluice/check", "/_sluice/room", "/_sluice/return", "/_sluice/variables",
                 "/_sluice/unavailable.html", "/_sluice/", "/_sluice/other"):
        reply = browser.ask(path)
        assert reply.status == 404, (path, reply.status)
        assert reply.set_cookies == []
    assert shop.seen() == []


def test_a_trace_that_is_none_is_passed_over_however_long(visitor_queue, make_site):
    """The site's nginx may let longer headers through than we read; the gate is not out of order for that."""
    site = make_site(visitor_queue(), http_lines=["    large_client_header_buffers 4 32k;"])
    browser = Visitor(site.port)
    browser.come_in()
    for trace in ("a" * 9000, "a" * 15000):
        assert browser.is_through(headers={"traceparent": trace}), "how long a header the shop itself takes is its own business"


def test_site_s_own_sluice_names_stay_hidden(gated):
    """Nothing of how the gate decides is told to the world."""
    queue, site = gated()
    browser = Visitor(site.port)
    refused, through = browser.ask(), browser.come_in()
    for reply in (refused, through):
        assert not [name for name, _ in reply.headers if name.startswith("x-sluice")]
        assert reply.get("www-authenticate") is None
