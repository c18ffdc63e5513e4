"""Inside: how long one may stay, and how a visit ends."""

import time

from lib.sites import DEEP
from lib.wait import until, within


def test_a_visit_lasts_while_one_is_active(gate_before, browser):
    drop = gate_before(entryTtlSeconds=4)
    page = drop.bring_in(browser.page())
    began = time.monotonic()
    while time.monotonic() - began < 6:
        assert page.reload().status == 200
    last = time.monotonic()
    until(lambda: drop.stats("expired") == 1, 5, "the end of the visit")
    assert 1.5 < time.monotonic() - last
    assert page.reload().status == 503
    page.wait_face("WAITING")
    assert (drop.stats("entered"), drop.stats("ready")) == (2, 0)


def test_whoever_is_evicted_waits_again(drop, browser):
    page = drop.bring_in(browser.page())
    assert page.reload().status == 200
    drop.evict(page.context)
    within(1, lambda: page.reload().status == 503, "a pass that is worth nothing")
    page.wait_face("WAITING")
    assert drop.stats("entered") == 2


def test_a_reset_gives_everybody_a_new_place(drop, browser, inspect):
    admitted = drop.bring_in(browser.page())
    drop.others(2)
    waiting = drop.line_up(browser.page(screen="phone"))
    assert waiting.text("#place") == "3"
    drop.act("reset")
    within(1, lambda: admitted.reload().status == 503, "a pass of before the reset")
    admitted.wait_face("WAITING")
    waiting.wait("#note")
    waiting.wait_face("WAITING")
    assert {waiting.text("#place"), admitted.text("#place")} == {"1", "2"}
    assert waiting.text("#note") is not None
    inspect(waiting, "reset")
    drop.let_in()
    assert (waiting.wait("#query"), admitted.wait("#query")) == ("x=1", "x=1")


def test_the_shop_may_end_a_visit(gate_before, browser):
    drop = gate_before(maxActive=1, ratePerSecond=1000)
    first, second = browser.page(), browser.page()
    first.goto(drop.url + DEEP)
    first.wait("#query")
    drop.line_up(second)
    assert first.goto(drop.url + "/done").status == 200
    assert second.wait("#query") == "x=1"
    within(1, lambda: first.goto(drop.url + "/").status == 503, "the end of the first visit")
    first.wait_face("WAITING")
