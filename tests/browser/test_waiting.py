"""What a page does while it waits: the place that it shows, how often it asks, and in which language."""

import json

import pytest

from lib.project import ROOT
from lib.sites import DEEP
from lib.wait import holds_for, until

TEXTS = {language: json.loads((ROOT / "web" / "waiting-room" / "texts" / f"{language}.json").read_text())
         for language in ("en", "ko")}
# Writes down each place that is shown, before the page's own script runs; the shop's page, which comes next, still knows.
KEEP_PLACES = """
window.places = JSON.parse(sessionStorage.getItem('places') || '[]');
new MutationObserver(() => {
    const shown = Number(document.querySelector('#place')?.textContent);
    if (shown > 0 && shown !== window.places[window.places.length - 1]) {
        window.places.push(shown);
        sessionStorage.setItem('places', JSON.stringify(window.places));
    }
}).observe(document, { subtree: true, childList: true, characterData: true });
"""


def place(page):
    return int(page.text("#place"))


def test_a_place_only_ever_gets_better(drop, browser, inspect):
    others = drop.others(50)
    page = drop.line_up(browser.page(script=KEEP_PLACES, screen="phone"))
    assert (page.text("#place"), page.text("#ahead")) == ("51", "50")
    inspect(page, "place-51")
    drop.leave(others[:10] + others[30:35])
    drop.others(10)
    until(lambda: place(page) <= 41, 10, "ten fewer ahead")
    drop.let_in(4)
    until(lambda: place(page) < 35, 10, "a line that moves")
    page.screenshot("moving")
    page.wait("#query", 30)
    shown = page.evaluate("window.places")
    assert shown == sorted(shown, reverse=True) and shown[0] == 51 and shown[-1] < 35, shown
    assert drop.stats("entered") == 61


def test_far_from_the_front_the_board_is_enough(drop, browser):
    drop.others(60)
    page = drop.line_up(browser.page())
    page.forget_requests()
    until(lambda: len(page.requests(f"/_sluice/board/{drop.queue}.json")) >= 3, 30, "looks at the board")
    assert page.requests(f"/_sluice/queues/{drop.queue}/position") == []


def test_a_hidden_tab_is_quiet_and_catches_up(drop, browser):
    page = drop.line_up(browser.page())
    page.hide()
    page.forget_requests()
    # What was planned when it was hidden may still go out.
    holds_for(4, lambda: len(page.requests()) <= 2, "a quiet page", every=0.5)
    drop.let_in()
    until(lambda: drop.stats("ready") == 1, 3, "the turn of somebody who looks away")
    assert len(page.requests()) <= 2 and page.face() == "WAITING"
    page.show()
    assert page.wait("#query") == "x=1"


def test_a_while_without_network(drop, browser, inspect):
    drop.others(1)
    visitor = browser.visitor(screen="phone")
    page = drop.line_up(visitor.page())
    visitor.offline()
    assert page.until("document.querySelector('#connection.lost')?.innerText") == TEXTS["en"]["offline"]
    inspect(page, "offline")
    page.forget_requests()

    def is_kept():
        return (page.face(), page.text("#place"), page.text("#connection")) == ("WAITING", "2", TEXTS["en"]["offline"])
    holds_for(8, is_kept, "the place, and the notice", every=0.5)
    until(page.requests, 14, "a request without network", every=0.5)
    assert is_kept() and len(page.requests()) <= 20
    visitor.offline(False)
    page.until("document.querySelector('#connection').innerText === argument", TEXTS["en"]["live"])
    assert page.text("#place") == "2"
    drop.let_in()
    assert page.wait("#query") == "x=1"
    assert [main.status for main in page.mains()] == [503, 200]
    assert drop.stats("entered") == 2


def test_the_operators_message_is_shown(drop, browser, inspect):
    page = drop.line_up(browser.page(screen="phone"))
    assert page.text("#message") is None
    drop.set(message="Back at <b>10:00</b> & thank you")
    until(lambda: (page.text("#message") or "").endswith("Back at <b>10:00</b> & thank you"), 15, "the message")
    inspect(page, "message")
    plain = browser.page(javaScriptEnabled=False)
    plain.goto(drop.url + DEEP)
    assert plain.text("#message").endswith("Back at <b>10:00</b> & thank you")


@pytest.mark.parametrize("locale, language, other", [
    ("ko-KR", "ko", "en"), ("en-GB", "en", "ko"), ("fr-FR", "en", "ko")])
def test_the_language_of_the_browser_and_the_switch(drop, browser, inspect, locale, language, other):
    page = drop.line_up(browser.page(locale=locale, screen="phone"))
    assert (page.evaluate("document.documentElement.lang"), page.text(".WAITING h1")) == (
        language, TEXTS[language]["waitingTitle"])
    inspect(page, f"waiting-{language}")
    page.click(f"#languages [lang={other}]")
    page.until("document.documentElement.lang === argument", other)
    assert page.text(".WAITING h1") == TEXTS[other]["waitingTitle"]
    assert TEXTS[other]["title"] in page.evaluate("document.title")
    page.screenshot(f"switched-to-{other}")
    page.reload()
    assert (page.evaluate("document.documentElement.lang"), page.text(".WAITING h1")) == (
        other, TEXTS[other]["waitingTitle"])
    assert (len(page.mains()), drop.stats("entered")) == (2, 1)


def test_the_switch_without_scripts(drop, browser):
    page = drop.line_up(browser.page(javaScriptEnabled=False, locale="en-US"))
    page.click("#languages [lang=ko]")
    page.until("document.documentElement.lang === 'ko'")
    assert (page.url, page.text(".WAITING h1")) == (drop.url + DEEP, TEXTS["ko"]["waitingTitle"])
    assert drop.stats("entered") == 1


def test_an_alert_for_ones_turn(drop, browser, inspect):
    page = drop.line_up(browser.page(screen="phone", permissions=["notifications"]))
    page.click("#notify")
    page.until("document.querySelector('#notify').getAttribute('aria-pressed') === 'true'")
    assert page.text("#notify") in (TEXTS["en"]["notifyBoth"], TEXTS["en"]["notifySound"])
    inspect(page, "alert")
    drop.let_in()
    page.wait("#query")


def test_the_smallest_screen(drop, browser, inspect):
    drop.others(1)
    page = drop.line_up(browser.page(screen="small", locale="ko-KR"))
    inspect(page, "small")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_code_on_the_page(drop, browser, api, inspect):
    """A wrong code costs nothing; a priority code goes before the others."""
    drop.others(5)
    page = drop.line_up(browser.page(screen="phone"))
    page.click("#coding summary")
    page.fill("#code", "NOT-A-CODE")
    page.click("#coding button")
    page.until("document.getElementById('note').textContent.includes('cannot be used')")
    assert place(page) == 6
    inspect(page, "wrong-code")
    answer = api.admin("POST", f"/queues/{drop.queue}/codes", {"kind": "priority", "generate": 1})
    page.fill("#code", answer.json["codes"][0])
    page.click("#coding button")
    until(lambda: place(page) == 1, 10, "the first place")
    assert "accepted" in page.text("#note")
    assert drop.stats("entered") == 6
    drop.let_in()
    page.wait_url(drop.url + DEEP)
    page.until("!document.getElementById('state')")
