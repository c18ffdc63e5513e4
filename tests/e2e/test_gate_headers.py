"""Who gets what from the gate, row by row: before a site of somebody's own, with the files that scripts/run writes."""

import re

import pytest

from lib.gate import APP, CHROME, FETCH, HTML, NAVIGATION, PREFETCH, Visitor
from lib.sites import Site
from lib.upstream import Upstream
from lib.wait import until

JSON, PAGE = "application/problem+json", "text/html; charset=utf-8"
FORM_BODY = {"Content-Type": "application/x-www-form-urlencoded"}
OLD_BROWSER = {"User-Agent": "Mozilla/5.0 (Linux; Android 5.1)", "Accept": HTML}

# What is sent: method, headers. What comes: content type, cookies of a first and of a second request, face of the page.
VISITOR, TICKET = ["sluice_visitor"], ["sluice_ticket", "sluice_ticket-{queue}"]
ROWS = {
    "browser navigation": ("GET", NAVIGATION, PAGE, VISITOR, TICKET, "JOIN"),
    "frame navigation": ("GET", {**NAVIGATION, "Sec-Fetch-Dest": "iframe"}, PAGE, VISITOR, TICKET, "JOIN"),
    "old browser": ("GET", OLD_BROWSER, PAGE, VISITOR, TICKET, "JOIN"),
    "web view of an app": ("GET", {**OLD_BROWSER, "X-Requested-With": "com.example.shop"}, PAGE, VISITOR, TICKET,
                           "JOIN"),
    "reload": ("GET", {**NAVIGATION, "Cache-Control": "no-cache", "Pragma": "no-cache"}, PAGE, VISITOR, TICKET, "JOIN"),
    "conditional": ("GET", {**NAVIGATION, "If-None-Match": '"x"', "Range": "bytes=0-9"}, PAGE, VISITOR, TICKET, "JOIN"),
    "crawler": ("GET", {"User-Agent": "Googlebot/2.1", "Accept": "text/html,*/*;q=0.8"}, PAGE, VISITOR, TICKET, "JOIN"),
    "HEAD of a browser": ("HEAD", NAVIGATION, PAGE, VISITOR, [], None),
    "form": ("POST", {**NAVIGATION, **FORM_BODY}, PAGE, [], [], "UNSAFE"),
    "form of an old browser": ("POST", {**OLD_BROWSER, **FORM_BODY}, PAGE, [], [], "UNSAFE"),
    "fetch": ("GET", FETCH, JSON, [], [], None),
    "fetch of HTML": ("GET", {**FETCH, "Accept": "text/html"}, JSON, [], [], None),
    "XHR": ("GET", {"User-Agent": CHROME, "Accept": "application/json, text/javascript, */*; q=0.01",
                    "X-Requested-With": "XMLHttpRequest"}, JSON, [], [], None),
    "XHR of HTML": ("GET", {**OLD_BROWSER, "X-Requested-With": "XMLHttpRequest"}, JSON, [], [], None),
    "image": ("GET", {**FETCH, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, JSON, [], [], None),
    "image of an old browser": ("GET", {**OLD_BROWSER, "Accept": "image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5"}, JSON, [], [],
                                None),
    "style of an old browser": ("GET", {**OLD_BROWSER, "Accept": "text/css,*/*;q=0.1"}, JSON, [], [], None),
    "fetch that posts": ("POST", {**FETCH, "Content-Type": "application/json"}, JSON, [], [], None),
    "DELETE of a program": ("DELETE", APP, JSON, VISITOR, [], None),
    "curl": ("GET", {"User-Agent": "curl/8.4.0", "Accept": "*/*"}, JSON, VISITOR, TICKET, None),
    "curl that posts": ("POST", {"User-Agent": "curl/8.4.0", "Accept": "*/*", **FORM_BODY}, JSON, VISITOR, [], None),
    "app": ("GET", APP, JSON, VISITOR, TICKET, None),
    "app with plain text": ("GET", {**APP, "Accept": "application/json, text/plain, */*"}, JSON, VISITOR, TICKET, None),
    "nothing said": ("GET", {"Accept": None, "User-Agent": None}, JSON, VISITOR, TICKET, None),
    "web socket": ("GET", {"User-Agent": CHROME, "Sec-Fetch-Mode": "websocket", "Connection": "Upgrade",
                           "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                           "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}, JSON, [], [], None),
    "prefetch": ("GET", PREFETCH, JSON, [], [], None),
    "prefetch of old": ("GET", {**OLD_BROWSER, "Purpose": "prefetch"}, JSON, [], [], None),
    "OPTIONS that asks nothing": ("OPTIONS", FETCH, JSON, [], [], None),
}
NEVER = ("location", "www-authenticate", "access-control-allow-origin", "access-control-allow-credentials",
         "x-sluice-verdict", "etag", "last-modified", "set-cookie2", "refresh")


@pytest.fixture(scope="module")
def shop(make_directory):
    shop = Upstream(make_directory("shop"))
    try:
        yield shop.start()
    finally:
        shop.stop()


@pytest.fixture(scope="module")
def gated(stack, shop, make_directory):
    """A site behind a queue that lets nobody in for now."""
    class Gated:
        queue = stack.api.queue("header-table", identity="visitor", ratePerSecond=0, entryTtlSeconds=300)
        site = Site(make_directory("site"), shop.port, stack.data / "gate", {"/": queue})
    try:
        # Another user's nginx reads the gate's files there.
        stack.directory.chmod(0o711)
        Gated.site.start()
        yield Gated
        assert Gated.site.errors() == ""
    finally:
        Gated.site.stop()
        stack.api.delete_queues()


def hold_against(reply, queue, content_type, cookies, method):
    """What every refusal has in common."""
    assert reply.status == 503, reply.body[:200]
    assert reply.get("content-type") == content_type
    assert 1 <= int(reply.get("retry-after")) <= 60
    assert reply.get("cache-control") == "no-store"
    assert sorted(reply.set_cookies) == sorted(name.format(queue=queue) for name in cookies)
    for line in reply.all("set-cookie"):
        assert "; HttpOnly" in line and "; SameSite=Lax" in line and "; Path=/" in line and "Domain" not in line
    for name in NEVER:
        assert reply.get(name) is None, name
    assert {"accept", "cookie"} <= {word.strip().lower() for word in reply.get("vary").split(",")}
    assert len(reply.get("x-request-id")) == 32 and reply.get("x-content-type-options") == "nosniff"
    if content_type == JSON:
        problem = reply.json
        assert (problem["code"], problem["status"], problem["type"]) == ("WAITING", 503, "/problems/waiting")
        assert problem["instance"] == reply.get("x-request-id")
        room = problem["cfWaitingRoom"]
        assert room["refreshIntervalSeconds"] == int(reply.get("retry-after"))
        assert "entryToken" not in problem.get("position", {}) or problem["position"]["entryToken"] is None
    else:
        policy = reply.get("content-security-policy")
        assert "default-src 'none'" in policy and "frame-ancestors 'self'" in policy and "unsafe" not in policy
        assert method == "HEAD" or reply.is_page


@pytest.mark.parametrize("row", ROWS)
def test_who_gets_what(gated, shop, row):
    """A first request, and a second with the cookies of the first."""
    method, headers, content_type, first_cookies, second_cookies, face = ROWS[row]
    client = Visitor(gated.site.port, headers)
    body = "name=Kim" if method == "POST" else None
    shop.forget()
    first = client.ask("/deep/page.html?x=1", method, body=body)
    hold_against(first, gated.queue, content_type, first_cookies, method)
    assert face is None or first.face == face
    second = client.ask("/deep/page.html?x=1", method, body=body)
    hold_against(second, gated.queue, content_type, second_cookies, method)
    if content_type == JSON:
        assert first.json["position"]["status"] == "NOT_ENTERED" and first.json["position"]["queue"] == gated.queue
    if content_type == JSON and second_cookies:
        assert second.json["position"]["status"] == "WAITING"
    third = client.ask("/deep/page.html?x=1", method, body=body)
    assert third.status == 503
    if method == "HEAD":
        assert first.body == second.body == b""
    assert shop.seen() == [], "the shop has heard of nothing"


@pytest.mark.parametrize("row", [row for row in ROWS if ROWS[row][4] == []])
def test_who_takes_no_place(gated, stack, row):
    """Also with the cookies of somebody who could."""
    method, headers, *_ = ROWS[row]
    page, client = Visitor(gated.site.port), Visitor(gated.site.port, headers)
    page.ask()
    client.cookies = page.cookies
    before = stack.api.stats(gated.queue)["entered"]
    assert client.ask("/", method, body="x=1" if method == "POST" else None).status == 503
    assert stack.api.stats(gated.queue)["entered"] == before


JSON_ROWS = [row for row in ROWS if ROWS[row][2] == JSON and "prefetch" not in row]


@pytest.mark.parametrize("row", JSON_ROWS)
def test_a_program_is_told_the_place_of_its_visitor(gated, row):
    """Whether or not it may take one itself."""
    method, headers, _, _, second_cookies, _ = ROWS[row]
    page, program = Visitor(gated.site.port), Visitor(gated.site.port, headers)
    page.ask()
    program.cookies = dict(page.cookies)
    body = "x=1" if method == "POST" else None
    if second_cookies == []:
        reply = program.ask("/", method, body=body)
        assert (reply.json["position"]["status"], reply.json["position"]["rank"]) == ("NOT_ENTERED", None)
        assert "place in line" in reply.json["detail"] or not method == "GET"
    seq = page.ask().state["seq"]
    program.cookies = dict(page.cookies)
    reply = program.ask("/", method, body=body)
    hold_against(reply, gated.queue, JSON, second_cookies, method)
    place = reply.json["position"]
    assert (place["status"], place["seq"], place["entryToken"]) == ("WAITING", seq, None) and place["rank"] >= 0
    assert page.ask("/_sluice/queues/" + gated.queue + "/position").json["seq"] == seq


def test_preflight_passes(gated, shop):
    """A browser's question whether it may ask carries no cookies, and is the shop's to answer."""
    shop.forget()
    reply = Visitor(gated.site.port, FETCH).ask("/api/stock", "OPTIONS", headers={
        "Origin": "https://app.example", "Access-Control-Request-Method": "GET"})
    assert reply.status == 405, "the shop's own answer"
    assert [entry["method"] for entry in shop.seen()] == ["OPTIONS"]
    assert reply.set_cookies == []


def test_whoever_is_in_gets_the_shop_whatever_they_are(gated, stack, shop):
    """With a pass the gate is not to be noticed by anybody."""
    browser = Visitor(gated.site.port)
    stack.api.admin("PATCH", f"/queues/{gated.queue}", {"ratePerSecond": 1000})
    try:
        browser.come_in(seconds=20)
    finally:
        stack.api.admin("PATCH", f"/queues/{gated.queue}", {"ratePerSecond": 0})
    for row, (method, headers, *_) in ROWS.items():
        if "web socket" in row:
            continue
        shop.forget()
        body = "name=Kim" if method == "POST" else None
        reply = browser.ask("/deep/page.html?x=1", method, headers=headers, body=body)
        assert reply.status == (200 if method in ("GET", "HEAD") else 405), row
        assert reply.set_cookies in ([], [f"sluice_pass-{gated.queue}"]), row
        assert [entry["method"] for entry in shop.seen()] == [method], row


@pytest.mark.parametrize("language, lang", [("ko-KR,ko;q=0.9,en;q=0.5", "ko"), ("en-GB", "en"), ("fr", "en"),
                                            ("", "en")])
def test_language_of_the_page(gated, language, lang):
    reply = Visitor(gated.site.port).ask(headers={"Accept-Language": language})
    assert f'<html lang="{lang}"'.encode() in reply.body
    assert "accept-language" in reply.get("vary").lower()


def test_page_is_small_and_asks_nobody_else(gated):
    """Under 50 KiB on the wire, and one document."""
    plain = Visitor(gated.site.port).ask(headers={"Accept-Encoding": "identity"})
    packed = Visitor(gated.site.port).ask(headers={"Accept-Encoding": "gzip"})
    assert len(packed.body) < 50 * 1024
    markup = re.sub(rb"<script.*?</script>", b"", plain.body, flags=re.S)
    assert not re.search(rb"""(src|srcset|href|action)=["']?(https?:)?//|@import|url\((?!["']?data:)""", markup)


def test_public_routes_of_the_room(gated, stack):
    """What the page asks is at the site's own address, outside of the gate."""
    client = Visitor(gated.site.port)
    for path in (f"/_sluice/board/{gated.queue}.json", f"/_sluice/queues/{gated.queue}/result"):
        reply = client.ask(path, headers=FETCH)
        assert (reply.status, reply.json["queue"]) == (200, gated.queue)
        assert "max-age=1" in reply.get("cache-control") and reply.set_cookies == []
        assert len(reply.get("x-request-id") or "") == 32
    entries = f"/_sluice/queues/{gated.queue}/entries"
    refused = Visitor(gated.site.port).ask(entries, "POST", headers=FETCH)
    assert (refused.status, refused.json["code"], refused.set_cookies) == (403, "COOKIES_REQUIRED", [])
    client.ask()
    entered = client.ask(entries, "POST", headers=FETCH)
    assert entered.status == 201 and until(lambda: client.ask().face == "WAITING", 5, "a place")
    assert client.ask(f"/_sluice/queues/{gated.queue}/position", headers=FETCH).json["status"] == "WAITING"
    assert client.ask(entries, "DELETE", headers=FETCH).status == 204
    assert client.ask(f"/_sluice/queues/{gated.queue}/position", headers=FETCH).json["status"] == "NOT_ENTERED"
