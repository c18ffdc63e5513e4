"""The coupon page of the sample shop: from the line to a code in the clipboard, and whatever else may happen."""

import json
import time

import pytest

from lib.api import some_name
from lib.project import ROOT
from lib.wait import until

TEXTS = {language: json.loads((ROOT / "web" / "shop" / "assets" / "texts" / f"{language}.json").read_text())
         for language in ("en", "ko")}
EN = TEXTS["en"]
CODE = r"^[2-9A-HJ-NP-Z]{4}(-[2-9A-HJ-NP-Z]{4}){3}$"
FACE = "document.body.dataset.state === argument"
PROOF_S = 40  # two workers on a machine that has much else to do

# Runs before the page: what its requests for a coupon really get. MEDDLE(number, options, send) gives the answer.
MEDDLING = """
window.asked = 0;
const send = window.fetch.bind(window);
window.fetch = (path, options) => path.endsWith('/coupons') && options.method === 'POST' ?
    (%s)(++window.asked, options, () => send(path, options)) : send(path, options);
"""
SPOILED = """(number, options, send) => {
    if (number <= %d)
        options.body = JSON.stringify({captcha: btoa('{}')});
    return send();
}"""
LOST = """async (number, options, send) => {
    const answer = await send();
    if (number === 1)
        throw new TypeError('the answer is lost');
    return answer;
}"""


def refusing(codes):
    """Meddles so that the page is refused with these codes, one after the other, and then served."""
    return """async (number, options, send) => {
        const [code, status] = %s[number - 1] || [];
        const body = JSON.stringify({code, instance: `request-${number}`});
        return code ? new Response(body, {status, headers: {'Retry-After': '1'}}) : send();
    }""" % json.dumps(list(codes.items()))


class Drop:
    """A coupon event with a queue of its own; `still` ones let nobody in yet."""

    def __init__(self, running, api, coupons, still, settings, **fields):
        self.api, self.port = api, running.port
        self.queue = api.queue(some_name("drop"), identity="visitor", **{**({"ratePerSecond": 0} if still else {}), **settings})
        self.event = api.coupon_event(self.queue, coupons, some_name("coupons"), **{"captcha": "altcha", **fields})
        self.path = f"/v1/coupon-events/{self.event}/coupons"

    def change(self, **fields):
        event = self.api.admin("GET", f"/coupon-events/{self.event}").json
        assert self.api.admin("PUT", f"/coupon-events/{self.event}", {**event, **fields}).status == 200

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/shop/coupon.html?event={self.event}"

    def let_in(self):
        assert self.api.admin("PATCH", f"/queues/{self.queue}", {"ratePerSecond": 1000, "burst": 1000}).status == 200

    def issued(self):
        return self.api.admin("GET", f"/coupon-events/{self.event}")["issued"]

    def visit(self, browser, **options):
        page = browser.page(**options)
        page.goto(self.url)
        return page

    def line_up(self, browser, **options):
        page = self.visit(browser, **options)
        page.until(FACE, "INVITE")
        page.click("[data-face=INVITE] button")
        return page


@pytest.fixture
def drop(running, api):
    def drop(coupons=3, still=False, queue=(), **fields):
        return Drop(running, api, coupons, still, dict(queue), **fields)
    return drop


def after(seconds):
    moment = time.time() + seconds
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment % 1 * 1000):03}Z"


def look_again(page, expression, argument=None):
    """The person comes back to the tab, until the page has seen what is new."""
    def seen():
        page.hide()
        page.show()
        return page.evaluate(expression, argument)
    until(seen, 15, f"{expression} in {page.id}", every=0.5)


def asked(page, path):
    return [request.status for request in page.requests(path)]


@pytest.mark.parametrize("locale, language, screen", [("en-US", "en", "small"), ("ko-KR", "ko", "desktop")])
def test_from_the_line_to_the_clipboard(drop, browser, inspect, locale, language, screen):
    texts = TEXTS[language]
    event = drop(still=True)
    first = event.api.call("POST", f"/v1/queues/{event.queue}/entries")
    assert first.status == 201
    page = event.visit(browser, locale=locale, screen=screen, permissions=["clipboard-read", "clipboard-write"])
    page.until(FACE, "INVITE")
    page.until("document.documentElement.lang === argument", language)
    assert page.text("#left") == texts["couponLeft"].format(left=3, coupons=3)
    if language == "en":
        inspect(page, "invite")
    page.evaluate("document.querySelector('[data-face=INVITE] button').focus()")
    page.press("Enter")
    page.until(FACE, "WAITING")
    assert page.evaluate("document.activeElement.textContent") == texts["couponWaitingTitle"]
    assert (page.text("#place"), page.text("#ahead")) == ("2", "1")
    assert page.text("#wait") == texts["couponWaitUnknown"]
    page.until("document.getElementById('live').textContent === argument", texts["couponWaitingTitle"])
    inspect(page, "waiting")
    polls = [request.at for request in page.requests(f"/v1/queues/{event.queue}/position")][1:]
    assert all(later - sooner > 0.9 for sooner, later in zip(polls, polls[1:])), "no sooner than retryAfterMs says"
    event.let_in()
    page.until(FACE, "COUPON", PROOF_S)
    code = page.text("#code")
    assert page.evaluate(f"/{CODE}/.test(argument)", code) and event.issued() == 1
    assert asked(page, event.path) == [201] and asked(page, "/v1/captcha/challenge") == [200]
    assert page.evaluate("document.activeElement.textContent") == texts["couponGotTitle"]
    page.click("#copy")
    page.until("document.getElementById('copied').textContent === argument", texts["couponCopied"])
    assert page.evaluate("navigator.clipboard.readText()") == code
    inspect(page, "coupon")
    assert page.reload().status == 200
    page.until(FACE, "COUPON", PROOF_S)
    assert page.text("#code") == code and asked(page, event.path) == [201]
    other = page.context.page()
    other.goto(event.url)
    other.until(FACE, "COUPON", PROOF_S)
    assert other.text("#code") == code and event.issued() == 1


def test_one_who_stays_away_from_the_clipboard(drop, browser):
    """No clipboard by script: the code is marked and copied the old way, and read back by pasting."""
    page = drop(captcha="none").line_up(browser, script="delete Navigator.prototype.clipboard;")
    page.until(FACE, "COUPON", PROOF_S)
    page.click("#copy")
    page.until("document.getElementById('copied').textContent === argument", EN["couponCopied"])
    assert page.evaluate("getSelection().toString()") == page.text("#code")
    page.evaluate("document.getElementById('copied').after(Object.assign(document.createElement('input'), {id: 'in'}))")
    page.click("#in")
    page.press("Control+V")
    assert page.evaluate("document.getElementById('in').value") == page.text("#code")
    page.evaluate("document.execCommand = () => false")
    page.click("#copy")
    page.until("document.getElementById('copied').textContent === argument", EN["couponCopyByHand"])
    assert asked(page, "/v1/captcha/challenge") == []


def test_sold_out_while_waiting(drop, api, browser, inspect):
    event = drop(coupons=1, captcha="none")
    lucky = api.ready_member(event.queue)
    api.admin("PATCH", f"/queues/{event.queue}", {"ratePerSecond": 0})
    page = event.line_up(browser, screen="phone")
    page.until(FACE, "WAITING")
    assert lucky.coupon(event.event).status == 201
    page.until(FACE, "SOLD_OUT")
    page.wait("#result-text")
    assert page.text("#result-text").startswith(EN["couponResult"].split("{")[0] + "1,")
    assert page.evaluate("fetch(document.getElementById('result-link').href).then((answer) => answer.json())")["issued"] == 1
    inspect(page, "sold-out")
    # A coupon comes back: the same place in line, without a word from the person.
    api.add_coupons(event.event, generate=1)
    until(lambda: api.state(event.queue)["state"] == "OPEN", 10, "the queue is open again")
    look_again(page, FACE, "WAITING")
    assert page.text("#place") == "1"
    event.let_in()
    page.until(FACE, "COUPON", PROOF_S)
    assert asked(page, f"/v1/queues/{event.queue}/entries") == [201]


def test_it_opens_by_itself(drop, browser, inspect):
    event = drop(opensAt=after(3600), captcha="none")
    page = event.visit(browser, screen="phone")
    page.until(FACE, "INVITE")
    assert page.text("#invite-text") == EN["couponInviteEarly"]
    assert page.text("[data-face=INVITE] .countdown")[:5] in ("1:00:", "59:59", "59:58", "59:57", "59:56", "59:55")
    page.click("[data-face=INVITE] button")
    page.until(FACE, "EARLY")
    inspect(page, "early")
    opens = after(8)
    event.change(opensAt=opens)
    look_again(page, "document.querySelector('[data-face=EARLY] .countdown').textContent.startsWith('00:0')")
    assert asked(page, event.path) == []
    page.until(FACE, "COUPON", PROOF_S)
    assert page.evaluate("document.getElementById('issued-at').dateTime") >= opens
    assert asked(page, event.path)[-1] == 201 and len(asked(page, event.path)) <= 2


def test_a_captcha_that_fails_costs_no_place(drop, browser, inspect):
    event = drop()
    page = event.line_up(browser, script=MEDDLING % SPOILED % 3)
    page.until(FACE, "FAILED", PROOF_S)
    assert page.text("#failure") == EN["couponCaptchaFailed"]
    assert asked(page, event.path) == [403] * 3 and asked(page, "/v1/captcha/challenge") == [200] * 3
    inspect(page, "captcha-failed")
    page.click("#again")
    page.until(FACE, "COUPON", PROOF_S)
    assert asked(page, event.path) == [403] * 3 + [201], "the turn was still good"
    assert asked(page, f"/v1/queues/{event.queue}/entries") == [201]


def test_a_place_that_is_shown_never_grows(drop, browser):
    """Also when the answers say so, and over a reload."""
    ranks = """const send = window.fetch.bind(window);
        window.fetch = async (path, options) => {
            const answer = await send(path, options);
            if (!path.endsWith('/position') || answer.status !== 200)
                return answer;
            sessionStorage.polls = Number(sessionStorage.polls || 0) + 1;
            return new Response(JSON.stringify({...await answer.json(), rank: Number(sessionStorage.rank || 3)}));
        };"""
    event = drop(still=True)
    for _ in range(3):
        assert event.api.call("POST", f"/v1/queues/{event.queue}/entries").status == 201
    page = event.line_up(browser, script=ranks)

    def after_two_polls(rank):
        page.evaluate("Object.assign(sessionStorage, {rank: argument, polls: 0})", rank)
        page.until("Number(sessionStorage.polls) >= 3")
        return page.text("#place")
    page.until(FACE, "WAITING")
    shown = [page.text("#place"), *(after_two_polls(rank) for rank in (6, 1, 9))]
    page.reload()
    page.until(FACE, "WAITING")
    assert [*shown, after_two_polls(9)] == ["4", "4", "2", "2", "2"]


def test_an_answer_that_is_lost(drop, browser):
    """The coupon is there, the page does not know: it sends the same again."""
    event = drop()
    page = event.line_up(browser, script=MEDDLING % LOST)
    page.until(FACE, "COUPON", PROOF_S)
    assert asked(page, event.path) == [201, 200] and event.issued() == 1
    assert len(asked(page, "/v1/captcha/challenge")) == 1, "the solution is good for a repeat"


def test_a_slow_network_on_which_the_widget_does_not_come(drop, browser):
    event = drop()
    page = browser.page()
    page.hinder("**/*", delay=0.3)
    page.hinder("**/altcha.min.js", times=2, fail=True)
    page.goto(event.url)
    page.until(FACE, "INVITE")
    page.click("[data-face=INVITE] button")
    page.until(FACE, "TURN")
    page.until(FACE, "COUPON", PROOF_S)
    assert asked(page, event.path) == [201]
    assert len([request for request in page.requests() if "altcha.min.js" in request.url]) >= 2


def test_two_tabs_have_one_place_and_one_coupon(drop, browser):
    event = drop(still=True, captcha="none")
    page = event.line_up(browser)
    page.until(FACE, "WAITING")
    other = page.context.page()
    other.goto(event.url)
    other.until(FACE, "WAITING")
    other.click("[data-wish=leave]")
    page.until(FACE, "MISSED")
    page.click("[data-face=MISSED] button")
    page.until(FACE, "WAITING")
    look_again(other, "true")
    other.click("[data-face=LEFT] button")
    other.until(FACE, "WAITING")
    event.let_in()
    for tab in (page, other):
        tab.until(FACE, "COUPON", PROOF_S)
    assert page.text("#code") == other.text("#code") and event.issued() == 1


def test_nobody_is_served_without_cookies(drop, browser, inspect):
    page = drop(still=True).line_up(browser, cookies=False)
    page.until(FACE, "STRANGER")
    inspect(page, "no-cookies")


def test_whoever_cannot_be_served_is_told_why(drop, api, browser):
    """A line that takes nobody; no secure address; a captcha of somebody else's."""
    event = drop(still=True)
    api.act(event.queue, "drain")
    page = event.line_up(browser)
    page.until(FACE, "CLOSED")
    page = drop().line_up(browser, script="Object.defineProperty(window, 'isSecureContext', {value: false});")
    page.until(FACE, "FAILED")
    assert page.text("#failure") == EN["couponImpossible"] and page.text("#again") is None
    page = drop(captcha="siteverify").line_up(browser)
    page.until(FACE, "FAILED")
    assert page.text("#failure") == EN["couponOtherCaptcha"]


def test_offline_for_a_while(drop, browser):
    event = drop(still=True)
    page = event.line_up(browser)
    page.until(FACE, "WAITING")
    page.context.offline()
    page.wait("#trouble")
    assert page.text("#trouble") == EN["couponOffline"]
    page.context.offline(False)
    page.until("document.getElementById('trouble').hidden")
    assert page.text("#place") == "1"


def test_every_refusal_has_its_sentence(drop, browser, inspect):
    """The page's own requests, answered as the API answers when it is busy, and tried again by themselves."""
    codes = {"COUPON_BUSY": 409, "ORDER_IN_PROGRESS": 409, "ORDER_CAPACITY": 429, "RATE_LIMITED": 429,
             "ORDERS_UNAVAILABLE": 503, "CAPTCHA_UNAVAILABLE": 503, "ADMISSION_UNAVAILABLE": 503, "EVENT_NOT_OPEN": 403}
    names = {"COUPON_BUSY": "couponBusy", "ORDER_IN_PROGRESS": "couponInProgress", "ORDER_CAPACITY": "couponCapacity",
             "RATE_LIMITED": "couponRateLimited", "ORDERS_UNAVAILABLE": "couponOrdersUnavailable",
             "CAPTCHA_UNAVAILABLE": "couponCaptchaUnavailable", "ADMISSION_UNAVAILABLE": "couponAdmissionUnavailable",
             "EVENT_NOT_OPEN": "couponNotOpen"}
    page = drop().visit(browser, script=MEDDLING % refusing(codes) + """
        addEventListener('DOMContentLoaded', () => {
            window.told = [];
            new MutationObserver(() => window.told.push(document.getElementById('trouble').textContent))
                .observe(document.getElementById('trouble'), {childList: true});
        });""")
    page.until(FACE, "INVITE")
    page.click("[data-face=INVITE] button")
    page.wait("#trouble")
    assert page.text("[data-face=TURN] h2") == EN["couponTurnTitle"]
    inspect(page, "busy")
    page.until(FACE, "COUPON", PROOF_S)
    assert [words for words in page.evaluate("window.told") if words] == [EN[names[code]] for code in codes]


def test_definite_answers(drop, browser):
    """A turn that is over, all gone, the end: nothing is tried again by itself, but for what may come back."""
    codes = {"ENTRY_TOKEN_INVALID": 401, "SOLD_OUT": 410, "INTERNAL_ERROR": 500, "EVENT_ENDED": 410}
    event = drop(captcha="none")
    page = event.line_up(browser, script=MEDDLING % refusing(codes))
    page.until(FACE, "MISSED")
    page.click("[data-face=MISSED] button")
    page.until(FACE, "SOLD_OUT")
    look_again(page, FACE, "FAILED")
    assert page.text("#failure") == EN["couponFailed"]
    assert page.text("#reference") == EN["reference"].format(id="request-3")
    page.click("[data-language=ko]")
    page.until("document.getElementById('failure').textContent === argument", TEXTS["ko"]["couponFailed"])
    page.click("#again")
    page.until(FACE, "ENDED")
    assert page.text("[data-face=ENDED] h2") == TEXTS["ko"]["couponEndedTitle"]
    assert TEXTS["ko"]["couponTitleENDED"] in page.evaluate("document.title")
    assert page.evaluate("window.asked") == len(codes) and event.issued() == 0


def test_a_line_that_is_started_anew(drop, api, browser):
    event = drop(still=True)
    page = event.line_up(browser)
    page.until(FACE, "WAITING")
    api.act(event.queue, "reset")
    page.wait("#note")
    assert page.text("#note") == EN["couponReset"] and page.text("#place") == "1"
    page.click("[data-wish=leave]")
    page.until(FACE, "LEFT")
    assert api.stats(event.queue)["waiting"] == 0
    page.click("[data-face=LEFT] button")
    page.until(FACE, "WAITING")


def test_when_it_is_over(drop, browser, inspect):
    """Nobody gets one any more; who has one sees it, and everybody how it went."""
    event = drop(captcha="none")
    page = event.line_up(browser)
    page.until(FACE, "COUPON", PROOF_S)
    code = page.text("#code")
    late = event.visit(browser)
    late.until(FACE, "INVITE")
    event.change(endsAt=after(0))
    look_again(late, FACE, "ENDED")
    late.wait("#result-text")
    inspect(late, "ended")
    page.reload()
    page.until(FACE, "COUPON", PROOF_S)
    assert page.text("#code") == code
    page.wait("#result-text")


def test_the_sample_event(running, api, browser):
    """As a newcomer finds it: from the shop's home page, which is itself behind a line."""
    page = browser.page(screen="phone")
    page.goto(f"http://127.0.0.1:{running.port}/shop/")
    page.wait("[data-page=home]")
    page.click(".banner a")
    page.until(FACE, "INVITE")
    page.click("[data-face=INVITE] button")
    page.until(FACE, "COUPON", PROOF_S)
    assert page.text("#name") == EN["couponName"]
    assert api.admin("GET", "/coupon-events/sample-coupon")["issued"] >= 1


def test_no_such_event(running, browser):
    page = browser.page()
    page.goto(f"http://127.0.0.1:{running.port}/shop/coupon.html?event=nothing")
    page.until(FACE, "UNKNOWN")
    assert page.text("[data-face=UNKNOWN] h2") == EN["couponUnknownTitle"]
