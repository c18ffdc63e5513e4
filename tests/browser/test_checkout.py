"""The checkout of the sample shop: what the page says is what is true, and nobody pays twice."""

import pytest

from lib.checkout import EN, PRICE, PROVIDER, STATE, TEXTS, Checkout, Ledger, refusing
from lib.coupon_drop import look_again
from lib.stack import Stack

pytestmark = pytest.mark.limit(120)  # two systems are started


@pytest.fixture
def checkout(running, api, browser):
    """A function that makes a visitor with an unpaid order."""
    return lambda faults="", **options: Checkout(running, browser, faults, **options)


@pytest.fixture(scope="module")
def keeping(make_directory):
    """Sluice that keeps an order whose payment has failed."""
    stack = Stack(make_directory("keep"), environment={"SLUICE_PAYMENT_FAILURE": "keep"})
    try:
        yield stack.start()
        stack.stop()
    finally:
        stack.abandon()


@pytest.mark.parametrize("locale, language, screen", [("en-US", "en", "phone"), ("ko-KR", "ko", "desktop")])
def test_the_mug_is_bought_and_given_back(running, api, browser, inspect, locale, language, screen):
    texts, shop = TEXTS[language], f"http://127.0.0.1:{running.port}/shop"
    ledger = Ledger(running)
    kept = ledger.kept("mug")

    def look(in_language, state):
        # In one language each: what axe looks for is the same.
        if language == in_language:
            inspect(page, state)
        else:
            page.screenshot(state)
    page = browser.page(locale=locale, screen=screen)
    page.goto(f"{shop}/product.html?sku=sample-mug")
    page.wait("#sample-mug")
    assert page.wait("#simulated") == texts["simulated"]
    page.click("#sample-mug button.buy")
    page.until(STATE, "TO_PAY")
    assert page.text("#order-title") == texts["statusTO_PAY"]
    assert page.text("#countdown")[:2] in ("15", "14") and texts["timeLeft"] in page.text("#pay-part")
    assert "15,000" in page.text("#pay") and page.wait("#simulated") == texts["simulated"]
    look("en", "to-pay")
    page.click("nav a[href$='result.html']")
    page.wait("#orders-rows .to-pay")
    look("ko", "orders")
    page.click("#orders-rows a")
    page.until(STATE, "TO_PAY")
    page.click("#pay")
    page.until(f"location.pathname.startsWith('{PROVIDER}') && document.readyState === 'complete'")
    page.screenshot("provider")
    page.click("button[value=pay]")
    page.until(STATE, "PAID")
    assert page.text("#order-title") == texts["statusPAID"] and page.text("#pay") is None
    assert ledger.kept("mug") == kept + PRICE
    look("en", "paid")
    page.reload()
    page.until(STATE, "PAID")
    page.click("#order-cancel summary")
    assert page.text("#cancel-text") == texts["cancelRefund"]
    page.click("#cancel")
    page.until(STATE, "CANCELED")
    assert page.text("#order-next") == f"{texts['nextCANCELED']} {texts['moneyRETURNED']}"
    assert ledger.kept("mug") == kept
    look("ko", "given-back")


def test_pressing_twice_in_two_tabs_is_one_payment(checkout):
    member = checkout()
    page = member.page
    other = page.context.page()
    other.goto(member.url)
    member.wait("TO_PAY", page=other)
    page.hinder("**/payment", delay=0.5)
    page.evaluate("(document.getElementById('pay').click(), document.getElementById('pay').click())")
    assert page.text("#pay") == EN["paying"]
    member.go_to_provider(other)
    page.until(f"location.pathname.startsWith('{PROVIDER}')")
    assert page.url == other.url and member.payments() == 1
    assert len([request for request in page.requests() if request.method == "POST" and
                request.path.endswith("/payment")]) == 1
    member.press()
    member.wait("PAID")
    # The other tab is still at the provider, and goes back by the browser's button.
    other.back()
    member.wait("PAID", page=other)
    assert (member.kept(), member.payments(), member.left()) == (PRICE, 1, member.stock - 1)


def test_back_from_the_provider_and_reload_at_each_step(checkout):
    member = checkout()
    page = member.page
    page.reload()
    member.wait("TO_PAY")
    member.go_to_provider()
    page.reload()
    page.back()
    member.wait("OPEN")
    page.until("!document.getElementById('pay').disabled")
    assert page.text("#pay").startswith(EN["payOn"].split("{")[0]) and member.seen()["payUntil"] < member.seen()["expiresAt"]
    member.pay()
    member.wait("PAID")
    page.reload()
    member.wait("PAID")
    page.back()  # to the provider, where it is over
    page.until(f"location.pathname.startsWith('{PROVIDER}')")
    page.goto(member.url)
    member.wait("PAID")
    assert (member.kept(), member.payments()) == (PRICE, 1)


def test_the_word_in_the_address_is_not_believed(checkout):
    member = checkout()
    for word in ("paid", "confirming", "refused", "stopped", "refunded"):
        member.page.goto(f"{member.url}&payment={word}")
        member.wait("TO_PAY")
        assert member.page.text("#order-title") == EN["statusTO_PAY"]


@pytest.mark.parametrize("action, method, state, status", [
    ("cancel", "money", "CANCELED", "CANCELED"), ("fail", "money", "PAYMENT_FAILED", "PAYMENT_FAILED"),
    ("pay", "declined", "PAYMENT_FAILED", "PAYMENT_FAILED")])
def test_not_paid_and_the_goods_are_back(checkout, inspect, action, method, state, status):
    member = checkout(screen="small")
    assert member.left() == member.stock - 1
    member.pay(action, method)
    member.wait(state)
    assert member.page.text("#order-next") == f"{EN['next' + state]} {EN['moneyNONE']}"
    assert member.page.text("#pay") is None and member.page.text("#order-cancel") is None
    assert (member.seen()["status"], member.kept(), member.left()) == (status, 0, member.stock)
    if action == "fail":
        inspect(member.page, "not-paid")


def test_where_the_order_is_kept_one_pays_again(keeping, browser):
    member = Checkout(keeping, browser)
    for action, method, state in (("cancel", "money", "STOPPED"), ("pay", "declined", "FAILED")):
        member.pay(action, method)
        member.wait(state)
        assert member.page.text("#order-title") == EN[f"status{state}"] and member.left() == member.stock - 1
        member.page.screenshot(state.lower())
    member.pay()
    member.wait("PAID")
    assert (member.kept(), member.payments()) == (PRICE, 3)


def test_an_answer_that_is_lost_is_being_confirmed_and_never_failed(checkout, inspect):
    """Money is taken, nobody knows; then the page finds out by itself."""
    member = checkout("approve.drop_after_commit*1,order.http_500_before*2")
    member.pay()
    member.wait("CONFIRMING")
    page = member.page
    assert "payment=confirming" in page.url and "not failed" in page.text("#order-next")
    assert page.text("#pay") is None and page.text("#order-cancel") is None and member.kept() == PRICE
    inspect(page, "confirming")
    member.wait("PAID", 60)
    assert (member.kept(), member.payments(), member.left()) == (PRICE, 1, member.stock - 1)


def test_a_refund_that_takes_its_time(checkout):
    """Seen in another tab, which follows it by itself."""
    member = checkout("cancel.delay=6000")
    member.pay()
    member.wait("PAID")
    other = member.page.context.page()
    other.goto(member.url)
    member.wait("PAID", page=other)
    member.cancel()
    look_again(other, STATE, "CANCEL_REQUESTED")
    assert other.text("#order-title") == EN["statusCANCEL_REQUESTED"]
    assert other.text("#order-next") == f"{EN['nextCANCEL_REQUESTED']} {EN['moneyRETURNING']}"
    assert other.text("#order-cancel") is None
    other.screenshot("on-its-way")
    for page in (member.page, other):
        member.wait("CANCELED", page=page)
        assert EN["moneyRETURNED"] in page.text("#order-next")
    assert member.page.evaluate("document.activeElement.id") == "order-title"
    assert (member.kept(), member.left()) == (0, member.stock)


def test_seats_are_named(checkout, inspect):
    member = checkout(seats=["A-1", "B-2"], screen="phone")
    page = member.page
    page.until("document.getElementById('order-items').innerText.includes(argument)", f"{member.sku}, Jan 1, 2030")
    assert page.evaluate("[...document.querySelectorAll('#order-items th')].map((cell) => cell.textContent.slice(-3))") \
        == ["A-1", "B-2"] and "30,000" in page.text("#order-total")
    member.pay()
    member.wait("PAID")
    inspect(page, "seats")
    page.click("nav a[href$='result.html']")
    page.until("document.getElementById('orders-rows').innerText.includes(argument)", member.sku)


def test_the_unpaid_order_is_canceled(checkout):
    member = checkout()
    member.page.click("#order-cancel summary")
    assert member.page.text("#cancel-text") == EN["cancelText"]
    member.page.click("#cancel")
    member.wait("CANCELED")
    assert EN["moneyNONE"] in member.page.text("#order-next") and member.left() == member.stock


def test_refusals_are_tried_again_by_themselves(checkout):
    member = checkout(script=refusing(("PAYMENT_UNAVAILABLE", 503), ("PAYMENT_IN_PROGRESS", 409), ("RATE_LIMITED", 429)))
    page = member.page
    page.click("#pay")
    page.until("document.getElementById('notice-text').textContent === argument", EN["payBusy"].format(seconds=1))
    # "In progress", and yet the order has no payment: it is looked at, and the person decides.
    page.until("JSON.parse(sessionStorage.refusals).length === 1 && !document.getElementById('pay').disabled")
    member.wait("TO_PAY")
    member.pay()
    member.wait("PAID")
    assert member.payments() == 1


def test_the_provider_does_not_answer_for_long(checkout, inspect):
    member = checkout("ready.error=-781")
    page = member.page
    page.evaluate("(Date.now = ((now) => () => now() + (window.later || 0))(Date.now.bind(Date)))")
    page.click("#pay")
    page.until("document.getElementById('notice-text').textContent.startsWith(argument)", EN["payBusy"].split("{")[0])
    page.evaluate("window.later = 61000")
    # It waits as long as the answer says first: 5 to 15 s, and up to a quarter more.
    page.until("document.getElementById('notice-text').textContent === argument", EN["payUnavailable"], seconds=25)
    inspect(page, "unavailable")
    assert member.seen()["status"] == "PENDING_PAYMENT" and not page.evaluate("document.getElementById('pay').disabled")


def test_the_network_is_lost(checkout):
    member = checkout()
    page = member.page
    page.context.offline()
    page.click("#pay")
    page.until("document.getElementById('notice-text').textContent === argument", EN["payLost"])
    assert page.text("#order-title") == EN["statusTO_PAY"], "what was known stays"
    page.screenshot("offline")
    page.context.offline(False)
    # An answer is lost on its way: the payment is there, and found again.
    page.evaluate("""(window.fetch = ((send, lost) => async (path, options) => {
        const answer = await send(path, options);
        if (String(path).endsWith('/payment') && !lost) {
            lost = true;
            throw new TypeError('the answer is lost');
        }
        return answer;
    })(window.fetch.bind(window), false), true)""")
    page.click("#pay")
    member.wait("OPEN")
    member.pay()
    member.wait("PAID")
    assert (member.kept(), member.payments()) == (PRICE, 1)


def test_time_runs_out_by_the_servers_clock(checkout):
    """On a phone whose clock is an hour ahead."""
    late = """Date.now = ((now) => () => now() + 3600000)(Date.now.bind(Date));
        const send = window.fetch.bind(window);
        window.fetch = async (path, options) => {
            const answer = await send(path, options);
            if (!window.ends || !/orders\\/[^/]+$/.test(String(path)))
                return answer;
            const order = {...await answer.json(), ...window.ends};
            return new Response(JSON.stringify(order), {headers: {Date: answer.headers.get('Date')}});
        };"""
    member = checkout(script=late)
    page = member.page
    assert page.text("#countdown")[:2] in ("15", "14")
    page.evaluate("(window.ends = {payUntil: new Date(Date.now() - 3600000 + 7000).toISOString()}, true)")
    look_again(page, "document.getElementById('countdown').textContent.startsWith('00:0')")
    member.wait("LATE")
    assert page.text("#pay") is None
    page.evaluate("(window.ends = {status: 'EXPIRED', payUntil: null}, true)")
    member.wait("EXPIRED")
    assert page.text("#order-next") == f"{EN['nextEXPIRED']} {EN['moneyNONE']}"
    page.screenshot("expired")
