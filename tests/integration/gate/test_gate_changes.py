"""What an operator changes takes effect within a second, on every worker."""

import pytest

from lib.client import Http
from lib.gate import NAVIGATION, Visitor
from lib.wait import holds_for, until, within

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
            """The statuses of many requests at once, so that every worker is asked; no cookie is kept."""
            cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
            sent = {**NAVIGATION, "Cookie": cookies, **(headers or {})}
            answers = self.http.together([("GET", path, sent, None)] * EVERY_WORKER)
            return {answer.status for answer in answers}
    return ShopSite()


def counts_within_a_second(check, expected, change):
    """Every worker applies the change within a second after its response, under load, and keeps to it."""
    answer = change()
    assert answer.status in (200, 204), answer.body
    within(1.0, lambda: check() == expected, f"the change: {expected}")
    holds_for(0.3, lambda: check() == expected, f"the change: {expected}")


@pytest.mark.parametrize("setting", ["hold", "off"])
def test_activation(shop_site, api, setting):
    browser, stranger = shop_site.visitor(), Visitor(shop_site.site.port)
    assert shop_site.statuses(browser) == {200} and shop_site.statuses(stranger) == {503}

    def set_to(activation):
        return api.admin("PATCH", f"/queues/{shop_site.queue}", {"activation": activation})

    def both():
        return shop_site.statuses(browser), shop_site.statuses(stranger)
    expected = ({503}, {503}) if setting == "hold" else ({200}, {200})
    counts_within_a_second(both, expected, lambda: set_to(setting))
    if setting == "hold":
        assert browser.ask().face == "HOLD"
    # The visit continues.
    counts_within_a_second(both, ({200}, {503}), lambda: set_to("on"))


def test_a_visitor_who_was_only_watched_is_not_admitted(shop_site, api):
    """A pass that was given while the gate only watched admits to nothing."""
    api.admin("PATCH", f"/queues/{shop_site.queue}", {"activation": "watch", "ratePerSecond": 0})
    browser = Visitor(shop_site.site.port)
    until(lambda: shop_site.statuses(browser) == {200}, 5, "every worker only watches")
    assert browser.ask().set_cookies == [f"sluice_pass-{shop_site.queue}"]
    assert browser.gate_pass(shop_site.queue).kind == "w"
    for _ in range(5):
        assert browser.ask().set_cookies == [], "counted already"
    watched = int(api.stats(shop_site.queue)["entered"])
    assert watched == 0
    change = api.admin("PATCH", f"/queues/{shop_site.queue}", {"activation": "on"})
    assert change.status == 200
    within(1.0, lambda: shop_site.statuses(browser) == {503}, "the gate on every worker")


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
    counts_within_a_second(lambda: shop_site.statuses(browser), {503},
                           lambda: api.admin("POST", f"/queues/{shop_site.queue}/members/{member}/evict"))
    assert shop_site.statuses(other) == {200}


def test_reset(shop_site, api):
    browser = shop_site.visitor()
    api.admin("PATCH", f"/queues/{shop_site.queue}", {"ratePerSecond": 0})
    counts_within_a_second(lambda: shop_site.statuses(browser), {503}, lambda: api.act(shop_site.queue, "reset"))
    assert browser.ask().status == 503
    api.admin("PATCH", f"/queues/{shop_site.queue}", {"ratePerSecond": 1000})
    assert browser.come_in().status == 200
    assert browser.gate_pass(shop_site.queue).epoch == "2"


def test_pause_ends_no_visit(shop_site, api):
    browser = shop_site.visitor()
    assert api.act(shop_site.queue, "pause").status == 200
    holds_for(1.3, lambda: shop_site.statuses(browser) == {200}, "the visit")
    late = Visitor(shop_site.site.port)
    late.ask()
    assert until(lambda: late.ask().face == "PAUSED", 5, "the face of a pause")
    api.act(shop_site.queue, "resume")
    assert late.come_in().status == 200


def test_bypass_rules_count_within_a_second(shop_site, api):
    stranger = Visitor(shop_site.site.port, keeps=False)

    def set_to(bypass):
        return lambda: api.admin("PATCH", f"/queues/{shop_site.queue}", {"bypass": bypass})
    assert shop_site.statuses(stranger, "/api/stock") == {503}
    counts_within_a_second(lambda: shop_site.statuses(stranger, "/api/stock"), {200}, set_to({"paths": ["/api/"]}))
    assert shop_site.statuses(stranger, "/") == {503}
    counts_within_a_second(lambda: shop_site.statuses(stranger, "/api/stock"), {503}, set_to(None))


def test_deleted_queue_lets_nobody_through(shop_site, api):
    browser = shop_site.visitor()

    def delete():
        return api.admin("DELETE", f"/queues/{shop_site.queue}?force=true")
    counts_within_a_second(lambda: shop_site.statuses(browser), {503}, delete)
    assert browser.ask().face == "NOT_CONFIGURED"


def test_changes_count_without_any_traffic_before(shop_site, api, parts):
    """A worker does not use settings that it read long ago, not even while Redis is slow to answer."""
    browser = shop_site.visitor()
    assert shop_site.statuses(browser) == {200}
    api.admin("PATCH", f"/queues/{shop_site.queue}", {"activation": "hold"})
    # The operator pool answers this; no queue worker is asked, so that what each knows grows old.
    holds_for(1.0, lambda: api.admin("GET", f"/queues/{shop_site.queue}")["activation"] == "hold", "the change")
    parts.redis.client_pause(400)
    assert shop_site.statuses(browser) == {503}
