"""What visitors see who are not admitted: each face of the waiting page, what leads to it, and what follows."""

import json
import time
from datetime import datetime, timedelta, timezone

from lib import processes
from lib.project import ROOT
from lib.sites import DEEP
from lib.wait import until, within

RESULT = json.loads((ROOT / "web" / "waiting-room" / "texts" / "en.json").read_text())
UNANSWERED = "window.fetch = () => new Promise(() => {})"


def in_seconds(seconds):
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")


def in_line(drop, browser, **options):
    return drop.line_up(browser.page(**{"screen": "phone", **options}))


def look_until(page, face):
    """Shows the tab again, so that the page need not wait for its next slow look; the board may be half a second old."""
    def looked():
        page.show()
        return page.face() == face
    until(looked, 20, f"the face {face}", every=1)


def inside(drop, browser):
    return drop.bring_in(browser.page(screen="phone"))


def test_page_that_gets_no_answer_yet_shows_join_and_takes_no_place(drop, browser, inspect):
    page = browser.page(script=UNANSWERED, screen="phone")
    page.goto(drop.url + DEEP)
    page.wait_face("JOIN")
    inspect(page, "join")
    assert drop.stats("entered") == 0


def test_paused(drop, browser, inspect):
    page = in_line(drop, browser)
    drop.act("pause")
    page.wait_face("PAUSED")
    assert page.text("#place") == "1"
    inspect(page, "paused")
    newcomer = browser.page()
    newcomer.goto(drop.url + "/")
    newcomer.wait_face("PAUSED")
    until(lambda: newcomer.text("#place") == "2", 10, "the newcomer's place")
    drop.let_in()
    drop.act("resume")
    assert page.wait("#query") == "x=1"
    newcomer.wait("[data-page=home]")


def test_hold_is_for_everybody(drop, browser, inspect):
    admitted, waiting, newcomer = inside(drop, browser), in_line(drop, browser), browser.page(screen="phone")
    drop.set(activation="hold")
    waiting.wait_face("HOLD")
    assert waiting.text("#place") == "1"
    within(1, lambda: admitted.reload().status == 503, "hold for admitted visitors")
    admitted.wait_face("HOLD")
    newcomer.goto(drop.url + "/")
    newcomer.wait_face("HOLD")
    inspect(newcomer, "hold")
    drop.set(activation="on")
    assert admitted.wait("#query") == "x=1"
    waiting.wait_face("WAITING")
    newcomer.wait_face("WAITING")
    until(lambda: (waiting.text("#place"), newcomer.text("#place")) == ("1", "2"), 10, "places as they entered")


def test_not_open_yet(gate_before, browser, inspect):
    drop = gate_before(ratePerSecond=1000, opensAt=in_seconds(600), message="Tickets from <ten> o'clock")
    page = browser.page(screen="phone")
    page.goto(drop.url + DEEP)
    page.wait_face("PRE_OPEN")
    first = page.wait("#countdown")
    assert first[:3] in ("10:", "09:")
    inspect(page, "pre-open")
    page.until("document.querySelector('#countdown').innerText !== argument", first, 3)
    until(lambda: drop.stats("entered") == 1, 3, "a place before the opening")
    assert page.text("#message").endswith("Tickets from <ten> o'clock")
    drop.set(opensAt=in_seconds(6))

    def hears_of_it():
        page.show()
        return page.text("#countdown") is None or page.text("#countdown").startswith("00:0")
    until(hears_of_it, 20, "the new time", every=1)
    assert page.wait("#query") == "x=1"
    assert [request.status for request in page.requests("/deep/page.html")] == [503, 200]


def test_closed_is_shown_to_those_in_line_and_to_newcomers(drop, browser, inspect):
    page = in_line(drop, browser)
    drop.set(closesAt=in_seconds(0))
    page.wait_face("CLOSED")
    assert RESULT["admitted"] + "\n0\n" in page.wait("#result")
    inspect(page, "closed")
    newcomer = browser.page()
    newcomer.goto(drop.url + "/")
    newcomer.wait_face("CLOSED")
    assert drop.stats("entered") == 1


def test_sold_out_while_waiting(drop, browser, inspect):
    inside(drop, browser)
    page = in_line(drop, browser)
    drop.act("sold-out")
    page.wait_face("SOLD_OUT")
    assert RESULT["admitted"] + "\n1\n" in page.wait("#result")
    assert RESULT["soldOutAt"] in page.text("#result")
    inspect(page, "sold-out")
    newcomer = browser.page()
    newcomer.goto(drop.url + "/")
    newcomer.wait_face("SOLD_OUT")
    assert drop.stats("entered") == 2
    drop.act("resume")
    look_until(page, "WAITING")
    drop.let_in()
    assert page.wait("#query") == "x=1"
    assert drop.stats("entered") == 2


def test_a_full_line(gate_before, browser, inspect):
    drop = gate_before(maxWaiting=1)
    others = drop.others(1)
    page = browser.page(screen="phone")
    page.goto(drop.url + DEEP)
    page.wait_face("FULL")
    inspect(page, "full")
    assert drop.stats("entered") == 1
    drop.leave(others)
    page.reload()
    page.wait_face("WAITING")
    assert (page.text("#place"), drop.stats("entered")) == ("1", 2)


def test_a_queue_that_does_not_exist(drop, api, browser, inspect):
    waiting = in_line(drop, browser)
    api.delete_queues()
    page = browser.page(screen="phone")
    page.goto(drop.url + DEEP)
    until(lambda: page.reload() and page.face() == "NOT_CONFIGURED", 3, "a queue that is gone")
    inspect(page, "not-configured")
    waiting.wait_face("NOT_CONFIGURED")


def test_taken_over_and_back(drop, browser, inspect):
    drop.others(1)
    first, second = in_line(drop, browser), browser.visitor(screen="phone")
    second.add_cookies({"sluice_visitor": first.context.cookies()["sluice_visitor"]})
    there = second.page()
    there.goto(drop.url + "/")
    there.wait_face("WAITING")
    assert there.text("#place") == "2"
    first.wait_face("TAKEN_OVER")
    inspect(first, "taken-over")
    first.click(".TAKEN_OVER button")
    first.wait_face("WAITING")
    assert first.text("#place") == "2"
    there.wait_face("TAKEN_OVER")
    there.reload()
    assert there.face() == "TAKEN_OVER"
    drop.let_in()
    assert first.wait("#query") == "x=1"
    assert drop.stats("entered") == 2


def test_taken_over_and_back_without_scripts(drop, browser):
    first = in_line(drop, browser, javaScriptEnabled=False)
    second = browser.visitor(javaScriptEnabled=False)
    second.add_cookies({"sluice_visitor": first.context.cookies()["sluice_visitor"]})
    there = second.page()
    there.goto(drop.url + "/")
    there.wait_face("WAITING")
    first.wait_face("TAKEN_OVER")
    first.click(".TAKEN_OVER button")
    first.wait_face("WAITING")
    assert first.url == drop.url + DEEP
    assert drop.stats("entered") == 1


def test_leaving_and_coming_back(drop, browser, inspect):
    page = in_line(drop, browser)
    drop.others(2)
    page.click("#leaving summary")
    page.screenshot("leaving")
    page.click("#leaving button")
    page.wait_face("LEFT")
    inspect(page, "left")
    assert (drop.stats("left"), drop.stats("waiting")) == (1, 2)
    page.click(".LEFT button")
    page.wait_face("WAITING")
    assert page.text("#place") == "3"


def test_without_scripts_no_button_does_nothing(drop, browser):
    page = in_line(drop, browser, javaScriptEnabled=False)
    assert (page.text("#leaving"), page.text("#notify"), page.text("#unsafe-back")) == (None, None, None)


def test_a_form_without_a_pass_is_not_sent(drop, shop, browser, inspect):
    page = inside(drop, browser)
    drop.evict(page.context)
    page.fill("input[name=name]", "Kim")
    # Within a second the pass counts for nothing.
    until(lambda: page.evaluate("fetch('/style.css', {cache: 'no-store'}).then((answer) => answer.status)") == 503, 2)
    page.click("form button")
    page.wait_face("UNSAFE")
    assert page.main().status == 503
    page.wait("#standing")
    inspect(page, "unsafe")
    drop.let_in()
    page.wait("#unsafe-back")
    page.screenshot("unsafe-ready")
    assert page.face() == "UNSAFE"
    assert [request.method for request in page.requests("/order")] == ["POST"]
    assert [seen for seen in shop.seen() if seen["method"] == "POST"] == []
    page.click("#unsafe-back")
    page.wait("#query")
    page.fill("input[name=name]", "Kim")
    page.click("form button")
    assert page.wait("#order dd") == "Kim"
    assert [seen["path"] for seen in shop.seen() if seen["method"] == "POST"] == ["/order"]


def test_out_of_reach(drop, running, browser, inspect):
    admitted, waiting, newcomer = inside(drop, browser), in_line(drop, browser), browser.page(screen="phone")
    # All workers have heard of the queue.
    admitted.evaluate("Promise.all(Array.from({ length: 40 }, () => fetch('/api/stock')))")
    [redis] = running.part_pids("redis-server")
    processes.stop(redis)
    try:
        waiting.until("document.querySelector('#connection').className === 'lost'")
        assert (waiting.face(), waiting.text("#place")) == ("WAITING", "1")
        inspect(waiting, "waiting-unreachable")
        assert newcomer.goto(drop.url + DEEP).status == 503
        newcomer.wait_face("UNAVAILABLE")
        inspect(newcomer, "unavailable")
        assert waiting.reload().status == 503
        assert waiting.face() == "UNAVAILABLE"
        assert admitted.reload().status == 200
    finally:
        processes.cont(redis)
    for page in (waiting, newcomer):
        # By itself it comes back within half a minute, and at once for somebody who looks.
        look_until(page, "WAITING")
    assert (waiting.text("#place"), newcomer.text("#place")) == ("1", "2")
    drop.let_in()
    assert (waiting.wait("#query"), newcomer.wait("#query")) == ("x=1", "x=1")
    assert drop.stats("entered") == 3


def test_no_worker_answers(drop, running, browser, inspect):
    page = browser.page(screen="phone")
    workers = running.part_pids("--pool queue")
    assert len(workers) >= 2
    for worker in workers:
        processes.stop(worker)
    try:
        began = time.monotonic()
        assert page.goto(drop.url + DEEP).status == 503
        assert time.monotonic() - began < 40
        assert int(page.main().headers["retry-after"]) >= 1
        # Without a worker there is no script that could bring anybody back. It may come again by itself in the middle of it.
        until(lambda: inspect(page, "no-worker", except_for=["meta-refresh"]) is None, 20, "a page that is right")
    finally:
        for worker in workers:
            processes.cont(worker)
    page.reload()
    page.wait_face("WAITING")
