"""Many at once before a gated site: who keeps no cookies costs nobody a place, and never more are in than may be."""

import asyncio
import time

import aiohttp
import pytest

from lib.client import Http
from lib.gate import NAVIGATION, Pass, Visitor
from lib.wait import until

FLOOD, VISITORS, MOST, RATE = 500, 300, 20, 50


class Browser:
    """A browser that waits for its turn, looks at one page, and gives the place back."""

    def __init__(self, port, queue):
        self.url, self.name = f"http://127.0.0.1:{port}", f"sluice_pass-{queue}"
        self.cookies, self.number, self.visit = {}, None, None

    async def load(self, session, path):
        headers = {**NAVIGATION, "Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        async with session.get(self.url + path, headers=headers, allow_redirects=False) as reply:
            await reply.read()
            for line in reply.headers.getall("Set-Cookie", []):
                name, _, value = line.split(";")[0].partition("=")
                if "; Path=/;" in line:
                    self.cookies[name] = value
            return reply

    async def live(self, session, stay):
        while True:
            reply = await self.load(session, "/deep/page.html")
            if reply.status == 200:
                break
            assert reply.status == 503, reply.status
            assert int(reply.headers["Retry-After"]) >= 1
            await asyncio.sleep(0.25)
        given = Pass.read(self.cookies[self.name])
        self.number, self.visit = int(given.seq), given.admission
        await asyncio.sleep(stay)
        assert (await self.load(session, "/style.css")).status == 200, "the place lasts as long as the visit"
        assert (await self.load(session, "/done")).status == 200


def passes_seen(shop, queue):
    """The visits, by what the shop itself saw: (admission, path) in order."""
    name = f"sluice_pass-{queue}="
    found = []
    for entry in shop.seen():
        cookies = [c for c in entry["headers"].get("cookie", "").split("; ") if c.startswith(name)]
        if cookies:
            found.append((Pass.read(cookies[0][len(name):]).admission, entry["path"]))
    return found


def most_at_once(visits):
    """Visits that had begun and not ended, at the worst moment. A visit's first request carries no pass yet, so it
    counts from the second one on, and ends with the one that gave the place back."""
    inside, most = set(), 0
    for admission, path in visits:
        inside.add(admission)
        most = max(most, len(inside))
        if path == "/done":
            inside.discard(admission)
    return most


@pytest.mark.limit(120)
def test_never_more_than_may_be(visitor_queue, make_site, gate_files, shop, api, parts):
    queue = visitor_queue(ratePerSecond=RATE, burst=RATE, maxActive=MOST, entryTtlSeconds=60, tickMs=100)
    site = make_site(queue, lines=[f"include {gate_files}/return.conf;"])
    browsers = [Browser(site.port, queue) for _ in range(VISITORS)]
    key, worst = f"sluice:{{{queue}}}:", 0

    async def watch(done):
        nonlocal worst
        while not done.is_set():
            worst = max(worst, parts.redis.zcard(key + "ready"))
            await asyncio.sleep(0.05)

    async def crowd():
        connector = aiohttp.TCPConnector(limit=64)
        async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
            done = asyncio.Event()
            watching = asyncio.create_task(watch(done))
            await asyncio.gather(*(browser.live(session, 0.05) for browser in browsers))
            done.set()
            await watching
    begin = time.monotonic()
    asyncio.run(crowd())
    elapsed = time.monotonic() - begin
    assert worst <= MOST
    assert VISITORS <= RATE * (elapsed + 1) + RATE, "nobody came in past the rate"
    assert sorted(browser.number for browser in browsers) == list(range(1, VISITORS + 1))
    assert len({browser.visit for browser in browsers}) == VISITORS, "one visit each"
    visits = passes_seen(shop, queue)
    assert len({admission for admission, _ in visits}) == VISITORS
    assert most_at_once(visits) <= MOST
    first_pages = [entry for entry in shop.seen("/deep/page.html")]
    assert len(first_pages) == VISITORS
    stats = api.stats(queue)
    assert (stats["entered"], stats["admitted"], stats["expired"]) == (VISITORS, VISITORS, 0)
    assert until(lambda: api.stats(queue)["ready"] == 0, 5, "everybody has gone")


def test_admission_follows_the_numbers(parts, visitor_queue, make_site):
    """Whoever has the lower number is admitted first."""
    queue = visitor_queue(ratePerSecond=0, burst=5, maxActive=1000, entryTtlSeconds=300, tickMs=50)
    site = make_site(queue)
    browsers = [Visitor(site.port) for _ in range(30)]
    for browser in browsers:
        browser.ask(), browser.ask()
    key = f"sluice:{{{queue}}}:"
    order = [browser.visitor_id() for browser in browsers]
    assert parts.redis.zrange(key + "waiting", 0, -1) == order
    parts.redis.hset(key + "settings", "ratePerSecond", 20)
    parts.redis.hdel(key + "settings", "packed")
    seen = []

    def all_in():
        new = set(parts.redis.hkeys(key + "places")).difference(*seen)
        seen.extend([new] if new else [])
        return sum(map(len, seen)) == 30
    until(all_in, 10, "all are in", every=0.01)
    position = {member: i for i, member in enumerate(order)}
    assert [at for new in seen for at in sorted(position[member] for member in new)] == list(range(30))
    assert len(seen) > 2, "batch after batch"


@pytest.mark.limit(120)
def test_a_flood_without_cookies_takes_nothing(visitor_queue, make_site, api):
    """90 % of what comes keeps no cookies: no number, no place, nothing of the rate; people come in at the rate."""
    queue = visitor_queue(ratePerSecond=20, burst=20, maxActive=1000, entryTtlSeconds=60, tickMs=100)
    site = make_site(queue)
    http = Http(site.port)
    answers = http.together([("GET", f"/?{i}", NAVIGATION, None) for i in range(FLOOD)], 64)
    assert {answer.status for answer in answers} == {503}
    assert len({answer.headers["set-cookie"] for answer in answers}) == FLOOD
    stats = api.stats(queue)
    assert (stats["entered"], stats["admitted"], stats["waiting"]) == (0, 0, 0)
    people = [Browser(site.port, queue) for _ in range(60)]

    async def both():
        connector = aiohttp.TCPConnector(limit=64)
        async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
            async def bot():
                while not done.is_set():
                    async with session.get(f"{site.url}/", headers=NAVIGATION) as reply:
                        assert reply.status == 503
                        await reply.read()
                    await asyncio.sleep(0.05)
            done = asyncio.Event()
            bots = [asyncio.create_task(bot()) for _ in range(8)]
            begin = time.monotonic()
            await asyncio.gather(*(one.live(session, 0) for one in people))
            done.set()
            await asyncio.gather(*bots)
            return time.monotonic() - begin
    elapsed = asyncio.run(both())
    assert elapsed < (60 - 20) / 20 + 30, "people came in at the rate"
    assert api.stats(queue)["entered"] == 60


def wait_for_a_tick(parts, queue):
    until(lambda: parts.redis.hget(f"sluice:{{{queue}}}:state", "sampledAt"), 5, "a tick")


def test_idle_entry_of_somebody_known_is_a_whole_visit(visitor_queue, make_site, parts):
    """Whoever has brought a cookie of Sluice's back is no flood: the visit lasts as it is promised."""
    queue = visitor_queue(admitWhenIdle=True, entryTtlSeconds=300, tickMs=100)
    site = make_site(queue)
    browser = Visitor(site.port)
    browser.ask()
    browser.cookies = {name: value for name, value in browser.cookies.items() if name == "sluice_visitor"}
    parts.redis.delete(*[f"sluice:{{{queue}}}:{name}" for name in ("places", "ready", "waiting", "pickup")])
    wait_for_a_tick(parts, queue)
    until(lambda: browser.ask().status == 200, 5, "in at once")
    (_, end), = parts.redis.zrange(f"sluice:{{{queue}}}:ready", 0, -1, withscores=True)
    assert end - parts.redis.time()[0] * 1000 > 290_000


def test_idle_entry_is_within_the_places_too(visitor_queue, make_site, api, parts):
    """admitWhenIdle: no page is seen while there is room, and a flood without cookies fills the room for half a
    minute at most, never beyond maxActive."""
    queue = visitor_queue(ratePerSecond=1000, burst=1000, maxActive=10, admitWhenIdle=True, entryTtlSeconds=300,
                          tickMs=100)
    site = make_site(queue)
    wait_for_a_tick(parts, queue)
    browser = Visitor(site.port)
    first = until(lambda: (r := browser.ask("/deep/page.html?x=1")).status == 200 and r, 3, "in at once")
    assert b"deep inside" in first.body and first.set_cookies == ["sluice_visitor"]
    assert first.all("cache-control") == ["private"]
    again = browser.ask()
    assert again.status == 200 and again.set_cookies == [f"sluice_pass-{queue}"]
    assert api.stats(queue)["entered"] == 1, "the second request has found the place of the first"
    answers = Http(site.port).together([("GET", "/", NAVIGATION, None)] * 100, 64)
    assert [answer.status for answer in answers].count(200) == 9
    assert parts.redis.zcard(f"sluice:{{{queue}}}:ready") == 10
    unproven = parts.redis.zrange(f"sluice:{{{queue}}}:pickup", 0, -1, withscores=True)
    now = parts.redis.time()[0] * 1000
    assert len(unproven) == 9 and all(end - now <= 31_000 for _, end in unproven), "they hold a place for a short time"
    assert browser.gate_pass(queue).subject not in dict(unproven)
