"""The coupon page of the sample shop: from the line to a code in the clipboard."""

import pytest

from lib.coupon_drop import EN, FACE, PROOF_S, TEXTS, after, asked, look_again
from lib.wait import until

CODE = r"^[2-9A-HJ-NP-Z]{4}(-[2-9A-HJ-NP-Z]{4}){3}$"


def three_polls(page, event):
    """When it asked for its place in line; None as long as that was less often."""
    polls = [request.at for request in page.requests(f"/v1/queues/{event.queue}/position") if request.status == 200]
    return polls if len(polls) >= 3 else None


@pytest.mark.parametrize("locale, language, screen", [("en-US", "en", "small"), ("ko-KR", "ko", "desktop")])
def test_from_the_line_to_the_clipboard(coupon_drop, browser, inspect, locale, language, screen):
    texts = TEXTS[language]
    event = coupon_drop(still=True)
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
    polls = until(lambda: three_polls(page, event), 15, "three polls")
    assert polls[-1] - polls[0] > 0.8 * (len(polls) - 1), "no sooner than retryAfterMs says"
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


def test_one_who_stays_away_from_the_clipboard(coupon_drop, browser):
    """No clipboard by script: the code is marked and copied the old way, and read back by pasting."""
    page = coupon_drop(captcha="none").line_up(browser, script="delete Navigator.prototype.clipboard;")
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


def test_sold_out_while_waiting(coupon_drop, api, browser, inspect):
    event = coupon_drop(coupons=1, captcha="none")
    lucky = api.ready_member(event.queue)
    api.admin("PATCH", f"/queues/{event.queue}", {"ratePerSecond": 0})
    page = event.line_up(browser, screen="phone")
    page.until(FACE, "WAITING")
    assert lucky.coupon(event.event).status == 201
    page.until(FACE, "SOLD_OUT")
    page.wait("#result-text")
    assert page.text("#result-text").startswith(EN["couponResult"].split("{")[0] + "1,")
    result = page.evaluate("fetch(document.getElementById('result-link').href).then((answer) => answer.json())")
    assert result["issued"] == 1
    inspect(page, "sold-out")
    # A coupon comes back: the same place in line, without a word from the person.
    api.add_coupons(event.event, generate=1)
    until(lambda: api.state(event.queue)["state"] == "OPEN", 10, "the queue is open again")
    look_again(page, FACE, "WAITING")
    assert page.text("#place") == "1"
    event.let_in()
    page.until(FACE, "COUPON", PROOF_S)
    assert asked(page, f"/v1/queues/{event.queue}/entries") == [201]


def test_it_opens_by_itself(coupon_drop, browser, inspect):
    event = coupon_drop(opensAt=after(3600), captcha="none")
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


def test_a_place_that_is_shown_never_grows(coupon_drop, browser):
    """Also when the answers say so, and over a reload."""
    ranks = """const send = window.fetch.bind(window);
        window.fetch = async (path, options) => {
            const answer = await send(path, options);
            if (!path.endsWith('/position') || answer.status !== 200)
                return answer;
            sessionStorage.polls = Number(sessionStorage.polls || 0) + 1;
            return new Response(JSON.stringify({...await answer.json(), rank: Number(sessionStorage.rank || 3)}));
        };"""
    event = coupon_drop(still=True)
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


def test_two_tabs_have_one_place_and_one_coupon(coupon_drop, browser):
    event = coupon_drop(still=True, captcha="none")
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


def test_when_it_is_over(coupon_drop, browser, inspect):
    """Nobody gets one any more; who has one sees it, and everybody how it went."""
    event = coupon_drop(captcha="none")
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
