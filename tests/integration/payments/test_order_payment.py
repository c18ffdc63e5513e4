"""What an order tells of its payment: every way of reading it says the same, at every step."""

import pytest

from lib.client import new_key, seconds_between
from lib.paying import SETTINGS, Purchase


@pytest.fixture
def purchase(paying):
    return Purchase(paying)


def payment_of(purchase):
    """`payment` and `payUntil`, which the list says too."""
    order = purchase.seen()
    (listed,) = [row for row in purchase.api.call("GET", "/v1/orders", purchase.member.headers())["orders"]
                 if row["id"] == purchase.order]
    assert listed == order
    return order["payment"], order["payUntil"]


def test_from_the_order_to_the_money_back(paying, purchase):
    ends = purchase.answer["expiresAt"]
    assert (purchase.answer["payment"], purchase.answer["payUntil"]) == (None, ends) == payment_of(purchase)
    session = purchase.start()["expiresAt"]
    assert payment_of(purchase) == ("OPEN", session)
    assert session < purchase.seen()["expiresAt"]
    assert purchase.pay() == "paid"
    assert payment_of(purchase) == ("PAID", None)
    canceled = purchase.cancel()
    assert (canceled["status"], canceled["payment"], canceled["payUntil"]) == ("CANCELED", "CANCELED", None)
    assert payment_of(purchase) == ("CANCELED", None)


def test_an_order_that_would_end_first_is_kept_for_the_session_and_the_grace(paying, purchase):
    paying.postgres.query("UPDATE customer_order SET expires_at = now() + interval '1 minute' WHERE id = %s", purchase.order)
    session = purchase.start()["expiresAt"]
    assert seconds_between(session, purchase.seen()["expiresAt"]) == SETTINGS["payment_grace_seconds"]


def test_a_repeat_of_the_order_returns_it_too(paying):
    queue = paying.api.queue()
    member = paying.api.ready_member(queue)
    key, token = new_key(), member.token
    purchase = Purchase(paying, queue=queue)  # a product of the queue
    first = member.order(queue, [{"sku": purchase.sku, "quantity": 1}], key=key, token=token)
    assert first.status == 201 and first["payment"] is None and first["payUntil"] == first["expiresAt"]
    session = paying.api.call("POST", f"/v1/orders/{first['id']}/payment", member.headers())["expiresAt"]
    again = member.order(queue, [{"sku": purchase.sku, "quantity": 1}], key=key, token=token)
    assert again.status == 200 and (again["payment"], again["payUntil"]) == ("OPEN", session)


def test_nobody_knows_whether_it_was_paid(paying, purchase):
    paying.simulator.fault("approve.drop_after_commit", "order.http_500_before")
    assert purchase.pay() == "confirming"
    assert payment_of(purchase) == ("CONFIRMING", None)
    paying.simulator.fault()
    paying.settle_payments(lambda: purchase.status() == "PAID")
    assert payment_of(purchase) == ("PAID", None)


def test_a_session_that_ran_out_is_confirmed_before_it_is_over(paying, purchase):
    purchase.start()
    paying.end_session(purchase.payment())
    assert payment_of(purchase) == ("CONFIRMING", None)
    paying.settle_payments(lambda: purchase.state() == "EXPIRED")
    assert payment_of(purchase)[0] == "EXPIRED"


@pytest.mark.parametrize("action, method, status, payment", [
    ("cancel", "money", "CANCELED", "STOPPED"), ("pay", "declined", "PAYMENT_FAILED", "FAILED")])
def test_not_paid(purchase, action, method, status, payment):
    purchase.come_back(purchase.press(action, method))
    assert payment_of(purchase) == (payment, None) and purchase.status() == status


def test_paid_too_late_the_money_is_on_its_way(paying, purchase):
    """Stopped here, and taken there all the same, as the provider would say."""
    purchase.press()
    assert purchase.cancel()["payment"] == "STOPPED"
    payment = purchase.payment()
    paying.postgres.query("SELECT * FROM payment_paid(%s, (SELECT provider_ref FROM payment WHERE id = %s),"
                          " %s, 'KRW', 0, 'test')", payment, payment, purchase.total)
    assert payment_of(purchase) == ("CANCEL_REQUESTED", None) and purchase.status() == "CANCELED"
    paying.postgres.query("SELECT * FROM payment_canceled(%s, %s, false, 'test')", payment, purchase.total)
    assert payment_of(purchase) == ("CANCELED", None)
