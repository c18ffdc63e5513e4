"""From the shop's address through the line to exactly that page."""

from lib.client import Http
from lib.gate import Visitor
from lib.sites import DEEP
from lib.wait import until

STRANGE = "/deep/page.html?x=1&y=%2F%20ä#thing"
ASKED = "/deep/page.html?x=1&y=%2F%20%C3%A4"
NAVIGATION = {"Accept": "text/html,application/xhtml+xml", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


def documents(page):
    return [request for request in page.requests() if request.kind == "document"]


def test_a_deep_link_leads_to_exactly_that_page(drop, shop, browser, inspect):
    page = browser.page(screen="phone")
    main = page.goto(drop.url + STRANGE)
    assert main.status == 503
    assert int(main.headers["retry-after"]) >= 1
    assert main.headers["cache-control"] == "no-store"
    page.wait_face("WAITING")
    assert page.until("document.querySelector('#place').innerText") == "1"
    assert page.evaluate("document.title").startswith("#1")
    inspect(page, "waiting")
    assert shop.seen() == []
    drop.let_in()
    page.wait("#query")
    assert page.url == drop.url + ASKED + "#thing"
    assert [(request.method, request.status) for request in documents(page)] == [("GET", 503), ("GET", 200)]
    assert [seen["path"] for seen in shop.seen("/deep")] == [ASKED]
    assert drop.stats("entered") == 1
    page.screenshot("inside")


def test_one_visitor_is_one_entry(drop, browser):
    page = drop.line_up(browser.page())
    for _ in range(3):
        page.reload()
    page.wait_face("WAITING")
    drop.let_in()
    page.wait("body[data-page]")
    for path in ("/", "/deep/page.html", "/api/stock", "/trial"):
        assert page.goto(drop.url + path).status == 200
    assert page.reload().status == 200
    assert [request.status for request in page.requests("/style.css")][-1] == 200
    assert (drop.stats("entered"), drop.stats("admitted")) == (1, 1)


def test_reloading_keeps_the_place(drop, browser):
    drop.others(3)
    page = drop.line_up(browser.page())
    drop.others(3)
    for _ in range(20):
        assert page.reload().status == 503
        assert (page.face(), page.text("#place")) == ("WAITING", "4")
    assert drop.stats("entered") == 7


def test_two_tabs_stand_at_one_place_and_both_get_in(drop, browser):
    drop.others(2)
    visitor = browser.visitor()
    first, second = visitor.page(), visitor.page()
    drop.line_up(first, "/deep/page.html?tab=1")
    drop.line_up(second, "/deep/page.html?tab=2")
    assert (first.text("#place"), second.text("#place")) == ("3", "3")
    drop.let_in()
    assert (first.wait("#query"), second.wait("#query")) == ("tab=1", "tab=2")
    assert drop.stats("entered") == 3


def test_the_back_button_finds_no_waiting_page(drop, open_site, browser):
    page = browser.page()
    page.goto(open_site.url + "/")
    drop.bring_in(page)
    page.click("header a")
    page.wait_url(drop.url + "/")
    page.back()
    page.wait_url(drop.url + DEEP)
    assert (page.text("#query"), page.face()) == ("x=1", None)
    page.back()
    page.wait_url(open_site.url + "/")
    assert [main.status for main in page.mains() if main.url.startswith(drop.url)].count(503) == 1


def test_without_scripts_the_page_comes_again_by_itself(drop, browser):
    drop.others(1)
    page = browser.page(javaScriptEnabled=False, screen="phone")
    page.goto(drop.url + DEEP)
    assert page.face() == "JOIN"
    page.screenshot("join")
    page.wait_face("WAITING")
    assert (page.text("#place"), page.text("#ahead")) == ("2", "1")
    page.screenshot("waiting")
    drop.let_in()
    assert page.wait("#query") == "x=1"
    assert page.url == drop.url + DEEP
    assert drop.stats("entered") == 2


def test_a_browser_that_refuses_cookies_gets_a_message(drop, browser, inspect):
    page = browser.page(cookies=False)
    page.goto(drop.url + DEEP)
    page.wait_face("COOKIES")
    inspect(page, "cookies")
    drop.let_in()
    made = len(page.requests())
    assert made <= 3
    # Looks for as long as a loop would need to show.
    until(lambda: page.evaluate("performance.now()") / 1000 > 7, 15, every=0.5)
    assert len(page.requests()) == made
    assert page.face() == "COOKIES"
    assert drop.stats("entered") == 0


def test_while_nobody_waits_there_is_no_waiting_page(gate_before, browser):
    drop = gate_before(ratePerSecond=1000, admitWhenIdle=True)
    page = browser.page()
    assert page.goto(drop.url + DEEP).status == 200
    assert page.text("#query") == "x=1"
    assert page.goto(drop.url + "/").status == 200
    assert [main.status for main in page.mains()] == [200, 200]
    assert [request.url for request in page.requests() if "/_sluice/" in request.url] == []
    assert drop.stats("entered") == 1


def test_a_gate_that_is_off_or_watches_stops_nobody(gate_before, browser):
    drop = gate_before(activation="off")
    page = browser.page()
    assert page.goto(drop.url + "/").status == 200
    drop.set(activation="watch")
    until(lambda: page.reload() and "sluice_pass-" + drop.queue in page.context.cookies(), 2, "a watched visit")
    assert [main.status for main in page.mains() if main.status != 200] == []
    assert drop.stats("entered") == 0


def test_whoever_waits_is_let_go_when_the_gate_is_switched_off(drop, browser):
    page = drop.line_up(browser.page())
    drop.set(activation="off")
    assert page.wait("#query") == "x=1"


def test_the_page_is_small(drop):
    for language in ("en", "ko"):
        answer = Http(drop.site.port).call("GET", "/", {**NAVIGATION, "Accept-Language": language})
        assert (answer.status, answer.headers["content-type"]) == (503, "text/html; charset=utf-8")
        assert len(answer.body) < 50 * 1024


def test_a_place_that_costs_a_proof_of_work_is_taken_by_the_page(gate_before, shop, browser, inspect):
    shop.forget()
    drop = gate_before(entryCaptcha="altcha")
    page = browser.page(screen="phone")
    page.goto(drop.url + DEEP)
    page.wait_face("WAITING")
    assert page.text("#place") == "1" and drop.stats("entered") == 1
    asked = [request.url.rpartition("/")[2] for request in page.requests() if request.kind != "document"]
    assert asked.count("challenge") == 1 and asked.count("entries") == 2
    page.reload()
    page.wait_face("WAITING")
    assert drop.stats("entered") == 1
    drop.let_in()
    page.wait("#query")
    # Without scripts there is a word about it.
    plain = Visitor(drop.site.port)
    plain.ask(DEEP)
    said = plain.ask(DEEP)
    assert said.face == "PROOF" and b'<noscript><p class="face PROOF">Waiting here requires JavaScript. Please allow it for this site.' in said.body
