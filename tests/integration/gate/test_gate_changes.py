"""What an operator decides counts within a second, on every worker."""

import time

import pytest

from lib.client import Http
from lib.gate import NAVIGATION, Visitor
from lib.wait import until

EVERY_WORKER = 60


@pytest.fixture
def shop_site(visitor_queue, make_site):
    class ShopSite:
        queue = visitor_queue(entryTtlSeconds=60)
        site = make_site(queue)
        http = Http(site.port)

        def visitor(self):
            browser = Visitor(self.site.port)
            browser.come_in()
            return browser

        def statuses(self, browser, path="/", headers=None):
            """Of many requests at once, so that every worker is asked; no answer is kept."""
            cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
            sent = {**NAVIGATION, "Cookie": cookies, **(headers or {})}
            answers = self.http.together([("GET", path, sent, None)] * EVERY_WORKER)
            return {answer.status for answer in answers}
    return ShopSite()


def counts_within_a_second(check, change):
    """Every worker knows a second after the answer to the change, with requests between."""
    answer = change()
    begin = time.monotonic()
    assert answer.status in (200, 204), answer.body
    while time.monotonic() - begin < 0.6:
        check()
        time.sleep(0.1)
    time.sleep(max(0.0, 1.0 - (time.monotonic() - begin)))
    return check()


@pytest.mark.parametrize("setting", ["hold", "off"])
def test_activation(shop_site, api, setting):
    browser, stranger = shop_site.visitor(), Visitor(shop_site.site.port)
    assert shop_site.statuses(browser) == {200} and shop_site.statuses(stranger) == {503}

    def set_to(activation):
        return api.admin("PATCH", f"/queues/{shop_site.queue}", {"activation": activation})

    def both():
        return shop_site.statuses(browser), shop_site.statuses(stranger)
    expected = ({503}, {503}) if setting == "hold" else ({200}, {200})
    assert counts_within_a_second(both, lambda: set_to(setting)) == expected
    if setting == "hold":
        assert browser.ask().face == "HOLD"
    assert counts_within_a_second(both, lambda: set_to("on")) == ({200}, {503}), "and the visit goes on"


def test_whoever_was_only_watched_is_not_in(shop_site, api):
    """A pass that was given while the gate only watched admits to nothing."""
    api.admin("PATCH", f"/queues/{shop_site.queue}", {"activation": "watch", "ratePerSecond": 0})
    time.sleep(1.0)
    browser = Visitor(shop_site.site.port)
    assert browser.ask().set_cookies == [f"sluice_pass-{shop_site.queue}"]
    assert browser.gate_pass(shop_site.queue).kind == "w"
    for _ in range(5):
        assert browser.ask().set_cookies == [], "counted already"
    watched = int(api.stats(shop_site.queue)["entered"])
    assert watched == 0
    change = api.admin("PATCH", f"/queues/{shop_site.queue}", {"activation": "on"})
    assert change.status == 200
    time.sleep(1.0)
    assert shop_site.statuses(browser) == {503}


def test_hold_does_not_promote(shop_site, parts, api):
    api.admin("PATCH", f"/queues/{shop_site.queue}", {"activation": "hold"})
    browser = Visitor(shop_site.site.port)
    assert until(lambda: (r := browser.ask()).face == "HOLD" and r.state["seq"], 5, "a number") == 1
    parts.wait_tick(shop_site.queue)
    assert api.stats(shop_site.queue)["admitted"] == 0
    api.admin("PATCH", f"/queues/{shop_site.queue}", {"activation": "on"})
    assert browser.come_in().status == 200


def test_evict(shop_site, api):
    browser, other = shop_site.visitor(), shop_site.visitor()
    member = browser.gate_pass(shop_site.queue).subject
    api.admin("PATCH", f"/queues/{shop_site.queue}", {"ratePerSecond": 0})
    evicted = counts_within_a_second(
        lambda: shop_site.statuses(browser),
        lambda: api.admin("POST", f"/queues/{shop_site.queue}/members/{member}/evict"))
    assert evicted == {503}
    assert shop_site.statuses(other) == {200}


def test_reset(shop_site, api):
    browser = shop_site.visitor()
    api.admin("PATCH", f"/queues/{shop_site.queue}", {"ratePerSecond": 0})
    assert counts_within_a_second(lambda: shop_site.statuses(browser),
                                  lambda: api.act(shop_site.queue, "reset")) == {503}
    assert browser.ask().status == 503
    api.admin("PATCH", f"/queues/{shop_site.queue}", {"ratePerSecond": 1000})
    assert browser.come_in().status == 200
    assert browser.gate_pass(shop_site.queue).epoch == "2"


def test_pause_touches_nobody_inside(shop_site, api):
    browser = shop_site.visitor()
    assert counts_within_a_second(lambda: shop_site.statuses(browser),
                                  lambda: api.act(shop_site.queue, "pause")) == {200}
    late = Visitor(shop_site.site.port)
    late.ask()
    assert until(lambda: late.ask().face == "PAUSED", 5, "the face of a pause")
    api.act(shop_site.queue, "resume")
    assert late.come_in().status == 200


def test_bypass(shop_site, api):
    stranger = Visitor(shop_site.site.port, keeps=False)

    def set_to(bypass):
        return lambda: api.admin("PATCH", f"/queues/{shop_site.queue}", {"bypass": bypass})
    assert shop_site.statuses(stranger, "/api/stock") == {503}
    assert counts_within_a_second(lambda: shop_site.statuses(stranger, "/api/stock"),
                                  set_to({"paths": ["/api/"]})) == {200}
    assert shop_site.statuses(stranger, "/") == {503}
    assert counts_within_a_second(lambda: shop_site.statuses(stranger, "/api/stock"), set_to(None)) == {503}


def test_deleted_queue_lets_nobody_through(shop_site, api):
    browser = shop_site.visitor()

    def delete():
        return api.admin("DELETE", f"/queues/{shop_site.queue}?force=true")
    assert counts_within_a_second(lambda: shop_site.statuses(browser), delete) == {503}
    assert browser.ask().face == "NOT_CONFIGURED"


def test_changes_count_without_any_traffic_before(shop_site, api, parts):
    """What a worker knows from long ago is not trusted, also while the answer is slow to come."""
    browser = shop_site.visitor()
    assert shop_site.statuses(browser) == {200}
    api.admin("PATCH", f"/queues/{shop_site.queue}", {"activation": "hold"})
    time.sleep(1.0)
    parts.redis.client_pause(400)
    assert shop_site.statuses(browser) == {503}
