"""The coupon page of the sample shop when something is refused, lost or slow: what may be tried again is, and said."""

from lib.coupon_drop import EN, FACE, LOST, MEDDLING, PROOF_S, SPOILED, TEXTS, asked, look_again, refusing


def test_a_captcha_that_fails_costs_no_place(coupon_drop, browser, inspect):
    event = coupon_drop()
    page = event.line_up(browser, script=MEDDLING % SPOILED % 3)
    page.until(FACE, "FAILED", PROOF_S)
    assert page.text("#failure") == EN["couponCaptchaFailed"]
    assert asked(page, event.path) == [403] * 3 and asked(page, "/v1/captcha/challenge") == [200] * 3
    inspect(page, "captcha-failed")
    page.click("#again")
    page.until(FACE, "COUPON", PROOF_S)
    assert asked(page, event.path) == [403] * 3 + [201], "the turn was still good"
    assert asked(page, f"/v1/queues/{event.queue}/entries") == [201]


def test_an_answer_that_is_lost(coupon_drop, browser):
    """The coupon is there, the page does not know: it sends the same again."""
    event = coupon_drop()
    page = event.line_up(browser, script=MEDDLING % LOST)
    page.until(FACE, "COUPON", PROOF_S)
    assert asked(page, event.path) == [201, 200] and event.issued() == 1
    assert len(asked(page, "/v1/captcha/challenge")) == 1, "the solution is good for a repeat"


def test_a_slow_network_on_which_the_widget_does_not_come(coupon_drop, browser):
    event = coupon_drop()
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


def test_nobody_is_served_without_cookies(coupon_drop, browser, inspect):
    page = coupon_drop(still=True).line_up(browser, cookies=False)
    page.until(FACE, "STRANGER")
    inspect(page, "no-cookies")


def test_a_member_who_cannot_be_served_sees_why(coupon_drop, api, browser):
    """A line that takes nobody; no secure address; a captcha of somebody else's."""
    event = coupon_drop(still=True)
    api.act(event.queue, "drain")
    page = event.line_up(browser)
    page.until(FACE, "CLOSED")
    page = coupon_drop().line_up(browser, script="Object.defineProperty(window, 'isSecureContext', {value: false});")
    page.until(FACE, "FAILED")
    assert page.text("#failure") == EN["couponImpossible"] and page.text("#again") is None
    page = coupon_drop(captcha="siteverify").line_up(browser)
    page.until(FACE, "FAILED")
    assert page.text("#failure") == EN["couponOtherCaptcha"]


def test_offline_for_a_while(coupon_drop, browser):
    event = coupon_drop(still=True)
    page = event.line_up(browser)
    page.until(FACE, "WAITING")
    page.context.offline()
    page.wait("#trouble")
    assert page.text("#trouble") == EN["couponOffline"]
    page.context.offline(False)
    page.until("document.getElementById('trouble').hidden")
    assert page.text("#place") == "1"


def test_every_refusal_has_its_sentence(coupon_drop, browser, inspect):
    """The page's own requests, answered as the API answers when it is busy, and tried again by themselves."""
    codes = {"COUPON_BUSY": 409, "ORDER_IN_PROGRESS": 409, "ORDER_CAPACITY": 429, "RATE_LIMITED": 429,
             "ORDERS_UNAVAILABLE": 503, "CAPTCHA_UNAVAILABLE": 503, "ADMISSION_UNAVAILABLE": 503, "EVENT_NOT_OPEN": 403}
    names = {"COUPON_BUSY": "couponBusy", "ORDER_IN_PROGRESS": "couponInProgress", "ORDER_CAPACITY": "couponCapacity",
             "RATE_LIMITED": "couponRateLimited", "ORDERS_UNAVAILABLE": "couponOrdersUnavailable",
             "CAPTCHA_UNAVAILABLE": "couponCaptchaUnavailable", "ADMISSION_UNAVAILABLE": "couponAdmissionUnavailable",
             "EVENT_NOT_OPEN": "couponNotOpen"}
    page = coupon_drop().visit(browser, script=MEDDLING % refusing(codes) + """
        addEventListener('DOMContentLoaded', () => {
            window.troubles = [];
            new MutationObserver(() => window.troubles.push(document.getElementById('trouble').textContent))
                .observe(document.getElementById('trouble'), {childList: true});
        });""")
    page.until(FACE, "INVITE")
    page.click("[data-face=INVITE] button")
    page.wait("#trouble")
    assert page.text("[data-face=TURN] h2") == EN["couponTurnTitle"]
    inspect(page, "busy")
    page.until(FACE, "COUPON", PROOF_S)
    assert [words for words in page.evaluate("window.troubles") if words] == [EN[names[code]] for code in codes]


def test_definite_answers(coupon_drop, browser):
    """A turn that is over, all gone, the end: nothing is tried again by itself, but for what may come back."""
    codes = {"ENTRY_TOKEN_INVALID": 401, "SOLD_OUT": 410, "INTERNAL_ERROR": 500, "EVENT_ENDED": 410}
    event = coupon_drop(captcha="none")
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


def test_a_line_that_is_started_anew(coupon_drop, api, browser):
    event = coupon_drop(still=True)
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


def test_no_such_event(running, browser):
    page = browser.page()
    page.goto(f"http://127.0.0.1:{running.port}/shop/coupon.html?event=nothing")
    page.until(FACE, "UNKNOWN")
    assert page.text("[data-face=UNKNOWN] h2") == EN["couponUnknownTitle"]
