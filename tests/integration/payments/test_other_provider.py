"""The other provider, its webhooks, and orders that outlive a payment that failed (payment_failure = keep)."""

import json

import pytest

from lib.client import assert_problem
from lib.paying import Purchase, result_of
from lib.payments import CID
from lib.wait import until


@pytest.fixture
def keeping(paying):
    """An order is kept when its payment fails."""
    paying.use_settings("keeping", "payment", payment_failure="keep")
    return paying


def test_another_way_to_pay_after_each_that_failed(keeping):
    purchase = Purchase(keeping)
    expires = purchase.seen()["expiresAt"]
    assert result_of(purchase.come_back(purchase.press("cancel"))) == "stopped"
    assert purchase.status() == "PENDING_PAYMENT" and purchase.left() == purchase.stock - purchase.quantity
    assert purchase.seen()["expiresAt"] == expires, "no longer than before that payment"
    purchase.url = None
    assert result_of(purchase.come_back(purchase.press("fail"))) == "stopped"
    purchase.url = None
    declined = purchase.press(method="declined")
    assert result_of(purchase.come_back(declined)) == "refused"
    assert purchase.status() == "PENDING_PAYMENT"
    purchase.url = None
    assert purchase.pay() == "paid"
    assert result_of(purchase.come_back(declined)) == "refused", "the old payment's address is that payment's"
    assert [state for _, state in purchase.payments()] == ["STOPPED", "STOPPED", "FAILED", "PAID"]
    assert purchase.assert_agrees() == "PAID"


def test_kept_until_its_own_time_is_over(keeping):
    purchase = Purchase(keeping)
    back = purchase.press("cancel")
    keeping.postgres.query("UPDATE customer_order SET pay_until = now() - interval '1 s' WHERE id = %s", purchase.order)
    assert result_of(purchase.come_back(back)) == "stopped"
    assert purchase.assert_agrees() == "EXPIRED"


def test_late_money_of_a_payment_that_ended_is_given_back_though_the_order_lives(keeping):
    """Declined here, taken there after all, and the order was paid in another way: no money is taken twice."""
    purchase = Purchase(keeping)
    back = purchase.press()
    keeping.simulator.fault("approve.late=1500")
    assert result_of(purchase.come_back(back)) == "confirming"
    keeping.simulator.behave()
    first = purchase.payment()
    keeping.postgres.query("SELECT payment_unpaid(%s, 'FAILED', true, false, 'test')", first)
    purchase.url = None
    assert purchase.pay() == "paid"
    until(lambda: purchase.kept() == 2 * purchase.total, 10, "the late approval")
    keeping.settle_payments(lambda: [state for _, state in purchase.payments()] == ["CANCELED", "PAID"])
    assert purchase.assert_agrees() == "PAID"


def test_toss_is_paid_and_given_back(toss):
    purchase = Purchase(toss)
    back = purchase.press()
    assert "paymentKey=" in back and "state=" in back
    spoiled = back.replace("amount=", "amount=1")
    assert result_of(purchase.come_back(spoiled)) == "unavailable"
    assert purchase.state() == "READY" and purchase.approvals() == 0
    toss.allowed_errors.add("payment.not_approved")
    answers = toss.api.together([purchase.back_call(back)] * 5)
    assert "paid" in {result_of(answer) for answer in answers} <= {"paid", "confirming"}
    assert purchase.assert_agrees() == "PAID"
    assert purchase.cancel()["status"] == "CANCELED"
    assert purchase.assert_agrees() == "CANCELED"


def notice(parts, purchase, body=None, headers=None, provider="toss", **data):
    """A webhook as Toss sends it."""
    reference = parts.postgres.value("SELECT provider_ref FROM payment WHERE id = %s", purchase.payment())
    body = body or json.dumps({"eventType": "PAYMENT_STATUS_CHANGED", "createdAt": "2026-11-29T12:00:00.000000",
                               "data": {"paymentKey": reference, "orderId": purchase.payment(), **data}}).encode()
    return parts.api.call("POST", f"/v1/payments/webhooks/{provider}",
                          {"Content-Type": "application/json", **(headers or {})}, body)


def due(parts, purchase):
    return parts.postgres.value("SELECT retry_at <= now() FROM payment WHERE id = %s", purchase.payment())


def test_a_webhook_is_a_hint(toss):
    """What it says is not believed; twice, late and about others it does no harm."""
    purchase = Purchase(toss)
    back = purchase.press()
    assert not due(toss, purchase)
    for status in ("DONE", "CANCELED", "ABORTED", "DONE"):
        answer = notice(toss, purchase, status=status)
        assert answer.status == 200 and answer.json == {"recorded": True}
    assert due(toss, purchase) and purchase.status() == "PENDING_PAYMENT"
    toss.reconcile()
    assert (purchase.state(), purchase.status(), purchase.kept()) == ("READY", "PENDING_PAYMENT", 0)
    toss.simulator.fault("approve.http_500_after")
    assert result_of(purchase.come_back(back)) in ("confirming", "paid")
    toss.simulator.behave()
    toss.postgres.query("UPDATE payment SET retry_at = now() + interval '1 hour', hinted_at = NULL WHERE id = %s"
                        " AND state = 'UNKNOWN'", purchase.payment())
    assert notice(toss, purchase, status="DONE").json == {"recorded": True}
    toss.reconcile()
    assert purchase.assert_agrees() == "PAID"


def test_a_webhook_reports_a_refund_made_at_the_provider(toss):
    """The shop's staff canceled it at the provider: the order's goods come back."""
    purchase = Purchase(toss)
    assert purchase.pay() == "paid"
    reference = toss.postgres.value("SELECT provider_ref FROM payment WHERE id = %s", purchase.payment())
    half = purchase.total // 2
    assert toss.simulator.toss("POST", f"/{reference}/cancel", {"cancelReason": "staff", "cancelAmount": half}).status == 200
    assert notice(toss, purchase).json == {"recorded": True}
    toss.reconcile()
    assert purchase.status() == "PAID"
    assert toss.postgres.value("SELECT canceled_amount FROM payment WHERE id = %s", purchase.payment()) == half
    assert toss.simulator.toss("POST", f"/{reference}/cancel", {"cancelReason": "staff"}).status == 200
    toss.postgres.query("UPDATE payment SET hinted_at = NULL WHERE id = %s", purchase.payment())
    assert notice(toss, purchase).json == {"recorded": True}
    toss.reconcile()
    assert purchase.assert_agrees() == "CANCELED"


def staff_cancel(parts, purchase, amount, tax_free):
    """The shop's staff cancels a part on the provider's own pages."""
    row = parts.simulator.payment(purchase.payment())
    if row["api"] == "toss":
        answer = parts.simulator.toss("POST", f"/{row['ref']}/cancel", {
            "cancelReason": "staff", "cancelAmount": amount, "taxFreeAmount": tax_free})
    else:
        answer = parts.simulator.kakaopay("cancel", cid=CID, tid=row["ref"], cancel_amount=amount,
                                          cancel_tax_free_amount=tax_free)
    assert answer.status == 200, answer.body


def assert_the_rest_is_given_back(parts, purchase, amount, tax_free):
    assert purchase.pay() == "paid"
    staff_cancel(parts, purchase, amount, tax_free)
    assert purchase.cancel()["status"] == "CANCELED"
    assert purchase.assert_agrees() == "CANCELED"
    row = parts.simulator.payment(purchase.payment())
    assert (row["canceled_tax_free"], row["canceled_vat"], row["gives"]) == (row["tax_free"], row["vat"], 2)


# What staff cancels, and the VAT of both parts: rounded up twice it would be more than was paid; the tax-free part alone;
# a part of it.
PARTS = [({"amount": 5000}, 5000, 0), ({"amount": 3500, "tax_free": 3000}, 3000, 3000),
         ({"amount": 3500, "tax_free": 3000}, 2000, 1500)]


@pytest.mark.parametrize("goods, amount, tax_free", PARTS)
def test_what_is_left_of_a_partly_canceled_payment_is_given_back(paying, goods, amount, tax_free):
    assert_the_rest_is_given_back(paying, Purchase(paying, **goods), amount, tax_free)


@pytest.mark.parametrize("goods, amount, tax_free", PARTS)
def test_what_toss_has_left_of_a_payment_is_given_back(toss, goods, amount, tax_free):
    assert_the_rest_is_given_back(toss, Purchase(toss, **goods), amount, tax_free)


def test_webhooks_that_are_none(paying, toss):
    purchase = Purchase(toss)
    assert purchase.start().status == 201
    before = purchase.rows()
    assert_problem(notice(toss, purchase, body=b"{"), 400, "INVALID_REQUEST")
    assert_problem(notice(toss, purchase, body=b"[]"), 400, "INVALID_REQUEST")
    for provider in ("kakaopay", "nobody", "x" * 64):
        assert_problem(notice(toss, purchase, provider=provider), 404, "NOT_FOUND")
    other = json.dumps({"eventType": "PAYMENT_STATUS_CHANGED", "createdAt": "2026-11-29T12:00:00.000000",
                        "data": {"paymentKey": "nobody-knows-it", "orderId": "p_AAAAAAAAAAAAAAAAAAAAAA"}}).encode()
    assert notice(toss, purchase, body=other).json == {"recorded": False}
    assert_problem(toss.api.call("GET", "/v1/payments/webhooks/toss"), 405, "METHOD_NOT_ALLOWED")
    assert purchase.rows() == before


def test_another_provider_from_now_on(paying):
    """A payment that was begun at the one before is not approved at this one; the member begins anew."""
    purchase = Purchase(paying)
    back = purchase.press()
    paying.reconfigure("payment", payment_provider="toss")
    try:
        assert result_of(purchase.come_back(back)) == "refused"
        assert purchase.approvals() == 0 and purchase.status() == "PENDING_PAYMENT"
        assert purchase.start().status == 201
        assert result_of(purchase.come_back(purchase.press())) == "paid"
        assert [state for _, state in purchase.payments()] == ["STOPPED", "PAID"]
        assert purchase.assert_agrees() == "PAID"
    finally:
        paying.reconfigure("payment", payment_provider="kakaopay")


def left_unpaid(parts, provider):
    """Nobody came back, and by now another provider is asked, or none."""
    purchase = Purchase(parts)
    purchase.press()
    parts.reconfigure(payment_provider=provider)
    parts.reconcile()
    assert (purchase.state(), purchase.status()) == ("READY", "PENDING_PAYMENT")
    parts.end_session(purchase.payment())
    parts.reconcile()
    assert purchase.state() == "EXPIRED"
    return purchase


@pytest.mark.parametrize("provider", ["toss", "none"])
def test_goods_of_a_payment_that_nobody_approved_come_back_though_its_provider_is_asked_no_more(paying, provider):
    try:
        purchase = left_unpaid(paying, provider)
        assert purchase.assert_agrees() == "EXPIRED"
        paying.make_due()
        paying.reconcile()
        assert purchase.looks_are_over(), "nobody can be asked once more, and nobody has to look"
    finally:
        paying.reconfigure(payment_provider="kakaopay")


@pytest.mark.parametrize("fault", ["order.http_500_before", "order.error=-731", "order.error=-721"])
def test_goods_of_a_payment_that_nobody_approved_come_back_though_its_provider_does_not_answer(paying, fault):
    """Not before its time is over; nor with an approval that certainly took nothing. It is looked at once more."""
    purchase, undone = Purchase(paying), Purchase(paying)
    purchase.press()
    back = undone.press()
    paying.simulator.fault("approve.error=-701")
    assert result_of(undone.come_back(back)) == "unavailable"
    paying.simulator.fault(fault)
    paying.allowed_errors.add("payment.not_settled")
    paying.postgres.query("UPDATE payment SET retry_at = now() WHERE id = ANY (%s)", [purchase.payment(), undone.payment()])
    paying.reconcile(expect=None)
    assert (purchase.state(), undone.state()) == ("READY", "READY")
    for one in (purchase, undone):
        paying.end_session(one.payment())
    paying.reconcile(expect=None)
    assert (purchase.state(), undone.state()) == ("EXPIRED", "EXPIRED")
    assert not purchase.looks_are_over() and not undone.looks_are_over()
    paying.simulator.behave()
    paying.settle_payments(lambda: purchase.looks_are_over() and undone.looks_are_over())
    assert (purchase.assert_agrees(), undone.assert_agrees()) == ("EXPIRED", "EXPIRED")


def test_without_a_provider_nothing_can_be_paid(paying):
    paying.reconfigure("payment", payment_provider="none")
    try:
        purchase = Purchase(paying)
        assert_problem(purchase.start(), 503, "PAYMENT_UNAVAILABLE")
        assert purchase.payments() == []
        assert purchase.cancel()["status"] == "CANCELED"
    finally:
        paying.reconfigure("payment", payment_provider="kakaopay")
