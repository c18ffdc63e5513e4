"""Paying, all being well; and what strangers and impatient members make of it."""

import pytest

from lib.api import some_name
from lib.client import assert_problem, new_key
from lib.paying import Purchase, result_of
from lib.payments import query_of
from lib.wait import until


@pytest.fixture
def purchase(paying):
    return Purchase(paying)


def test_an_order_is_paid(paying, purchase):
    answer = purchase.start()
    assert answer.status == 201 and set(answer.json) == {"redirectUrl", "expiresAt"}
    assert answer["redirectUrl"].startswith(paying.simulator.base_url)
    assert answer.headers["cache-control"] == "no-store"
    assert purchase.seen()["expiresAt"] > answer["expiresAt"], "the order outlives the session"
    back = purchase.press()
    assert back.startswith(f"/v1/orders/{purchase.order}/payment/approve?state=")
    answer = purchase.come_back(back)
    assert result_of(answer) == "paid"
    assert answer.headers["location"] == f"/shop/result.html?order={purchase.order}&payment=paid"
    assert purchase.seen()["status"] == "PAID" and purchase.seen()["expiresAt"] is None
    row = paying.simulator.payment(purchase.payment())
    assert (row["taken"], row["given_back"]) == (purchase.total, 0)
    assert purchase.assert_agrees() == "PAID"
    for _ in range(2):
        assert result_of(purchase.come_back(back)) == "paid", "refresh and back button"
    assert purchase.approvals() == 1
    assert_problem(purchase.start(), 409, "ORDER_NOT_PAYABLE")


def test_the_provider_gets_amounts_as_it_wants_them(paying):
    purchase = Purchase(paying, amount=3333, quantity=3)
    product = paying.api.admin("GET", f"/products/{purchase.sku}").json
    assert product["taxFree"] is False
    answer = paying.api.admin("PUT", f"/products/{purchase.sku}", {**product, "taxFree": True})
    assert answer.status == 200 and answer["taxFree"] is True
    (entry,) = paying.api.admin("GET", f"/audit?target=product/{purchase.sku}&limit=1")["entries"]
    assert (entry["before"]["taxFree"], entry["after"]["taxFree"]) == (False, True)
    assert_problem(paying.api.admin("PUT", f"/products/{purchase.sku}", {**product, "taxFree": "yes"}), 400, "INVALID_REQUEST")
    assert purchase.start().status == 201
    taxed = Purchase(paying, amount=3333, quantity=3)
    assert taxed.start().status == 201
    amounts = "SELECT amount, tax_free, vat FROM payment WHERE id = %s"
    assert paying.postgres.query(amounts, purchase.payment()) == [(9999, 9999, 0)]
    assert paying.postgres.query(amounts, taxed.payment()) == [(9999, 0, 909)]
    assert purchase.pay() == taxed.pay() == "paid"


def test_a_second_start_is_the_same_payment(paying, purchase):
    first = purchase.start()
    again = purchase.start()
    assert (first.status, again.status) == (201, 200) and again.json == first.json
    assert len(purchase.payments()) == 1


def test_ten_starts_at_once_make_one_payment(paying, purchase):
    paying.simulator.fault("ready.delay=300")
    answers = paying.api.together([purchase.start_call()] * 10)
    assert sorted({answer.status for answer in answers} - {200}) == [201, 409]
    assert sum(answer.status == 201 for answer in answers) == 1
    for answer in answers:
        if answer.status == 409:
            assert_problem(answer, 409, "PAYMENT_IN_PROGRESS")
            assert int(answer.headers["retry-after"]) >= 1
    assert len(purchase.payments()) == 1 and len(paying.simulator.calls(purchase.payment(), "ready")) == 1
    assert purchase.start().status == 200


def test_ten_returns_at_once_are_one_approval(paying, purchase):
    back = purchase.press()
    paying.simulator.fault("approve.delay=300")
    answers = paying.api.together([purchase.back_call(back)] * 10)
    words = [result_of(answer) for answer in answers]
    assert words.count("paid") >= 1 and set(words) <= {"paid", "confirming"}
    assert purchase.approvals() == 1
    assert purchase.assert_agrees() == "PAID"


def test_another_member_cannot_start_or_cancel(paying, purchase):
    stranger = paying.api.member()
    for path in ("payment", "cancel"):
        assert_problem(paying.api.call("POST", f"/v1/orders/{purchase.order}/{path}", stranger.headers()), 404, "NOT_FOUND")
        assert_problem(paying.api.call("POST", f"/v1/orders/{purchase.order}/{path}"), 401, "UNAUTHENTICATED")
    assert purchase.payments() == [] and purchase.status() == "PENDING_PAYMENT"


@pytest.mark.parametrize("way", ["approve", "cancel", "fail"])
def test_without_its_state_nothing_changes(paying, purchase, way):
    back = purchase.press()
    other = Purchase(paying)
    foreign = query_of(other.press())["state"]
    token = query_of(back)["pg_token"]
    before = purchase.rows()
    bodies = set()
    for order in (purchase.order, "o_AAAAAAAAAAAAAAAAAAAAAA", "nonsense"):
        for state in ("", "x", "A" * 43, foreign, "A" * 3000, "%00", query_of(back)["state"][:-1]):
            answer = paying.api.call("GET", f"/v1/orders/{order}/payment/{way}?state={state}&pg_token={token}")
            problem = assert_problem(answer, 403, "FORBIDDEN")
            bodies.add((problem["title"], problem["detail"]))
        assert_problem(paying.api.call("GET", f"/v1/orders/{order}/payment/{way}?pg_token={token}"), 403, "FORBIDDEN")
    assert len(bodies) == 1, "an order that is there looks like one that is not"
    assert purchase.rows() == before and purchase.approvals() == 0
    assert result_of(purchase.come_back(back)) == "paid"


@pytest.mark.parametrize("way", ["approve", "cancel", "fail"])
def test_looking_ahead_changes_nothing(paying, purchase, way):
    back = purchase.press().replace("/approve?", f"/{way}?")
    before = purchase.rows()
    for headers in ({"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}, {"X-Moz": "prefetch"}):
        assert paying.api.call("GET", back, headers).status == 204
    assert paying.api.call("HEAD", back).status == 204
    assert purchase.rows() == before and purchase.approvals() == 0


def test_a_forged_token_spoils_no_payment(paying, purchase):
    """Even with the right state: the payment is READY again, a person is told, and the true return pays."""
    back = purchase.press()
    forged = back.replace(query_of(back)["pg_token"], "f" * 20)
    assert result_of(purchase.come_back(forged)) == "unavailable"
    assert paying.postgres.query("SELECT state, needs_person FROM payment WHERE id = %s", purchase.payment()) == [
        ("READY", True)]
    assert purchase.status() == "PENDING_PAYMENT" and purchase.kept() == 0
    assert result_of(purchase.come_back(back)) == "paid"
    assert purchase.assert_agrees() == "PAID"
    paying.allowed_errors.add("payment.not_approved")


def test_declined_ends_the_order(paying, purchase):
    assert result_of(purchase.come_back(purchase.press(method="declined"))) == "refused"
    assert (purchase.state(), purchase.assert_agrees()) == ("FAILED", "PAYMENT_FAILED")
    paying.end_session(purchase.payment())
    paying.settle_payments(lambda: paying.postgres.value(
        "SELECT retry_at IS NULL FROM payment WHERE id = %s", purchase.payment()), what="asked once more")
    assert len(paying.simulator.calls(purchase.payment(), "order")) >= 1, "what was APPROVING is asked again"


@pytest.mark.parametrize("way, status", [("cancel", "CANCELED"), ("fail", "PAYMENT_FAILED")])
def test_coming_back_unpaid_gives_the_goods_back_once(paying, purchase, way, status):
    back = purchase.press(way)
    answers = paying.api.together([purchase.back_call(back)] * 5)
    assert {result_of(answer) for answer in answers} == {"stopped"}
    assert (purchase.state(), purchase.assert_agrees()) == ("STOPPED", status)
    approve = back.replace(f"/{way}?", "/approve?") + "&pg_token=late"
    assert result_of(purchase.come_back(approve)) == "refused", "and nothing can be approved any more"
    assert purchase.approvals() == 0


def test_a_place_is_free_once_the_order_is_paid(paying):
    queue = paying.api.queue(releaseOn="payment", maxActive=1)
    purchase = Purchase(paying, queue=queue)
    waiting = paying.api.member()
    assert waiting.enter(queue).status == 201
    assert_problem(purchase.member.enter(queue), 409, "ALREADY_ACTIVE")
    assert purchase.pay() == "paid"
    waiting.wait_ready(queue)
    assert purchase.member.enter(queue).status == 201


def test_a_place_is_free_though_redis_was_away_when_the_order_was_paid(paying):
    queue = paying.api.queue(releaseOn="payment", maxActive=1)
    purchase = Purchase(paying, queue=queue)
    back = purchase.press()
    paying.redis_server.process.kill()
    assert result_of(purchase.come_back(back)) == "paid", "returns go on without Redis"
    assert purchase.seen()["status"] == "PAID"
    paying.start_redis()
    paying.reconcile_until(lambda: paying.outbox_empty(queue))
    waiting = paying.api.member()
    assert until(lambda: waiting.enter(queue).status in (200, 201), 15, "the queue is back")
    waiting.wait_ready(queue)


def test_a_refund_gives_money_and_goods_back_once(paying, purchase):
    assert purchase.pay() == "paid"
    answers = paying.api.together([purchase.cancel_call()] * 5)
    assert {answer.status for answer in answers} == {200}
    assert {answer["status"] for answer in answers} <= {"CANCELED", "CANCEL_REQUESTED"}
    assert "CANCELED" in {answer["status"] for answer in answers}
    assert (purchase.state(), purchase.assert_agrees()) == ("CANCELED", "CANCELED")
    row = paying.simulator.payment(purchase.payment())
    assert (row["taken"], row["given_back"]) == (purchase.total, purchase.total)
    assert purchase.cancel()["status"] == "CANCELED", "again: the same"
    assert len(paying.simulator.calls(purchase.payment(), "cancel")) == 1
    assert paying.postgres.value("SELECT canceled_amount FROM payment WHERE id = %s", purchase.payment()) == purchase.total


def test_an_unpaid_order_is_canceled_with_its_payment(paying, purchase):
    back = purchase.press()
    assert purchase.cancel()["status"] == "CANCELED"
    assert purchase.state() == "STOPPED"
    assert result_of(purchase.come_back(back)) == "refused"
    assert purchase.approvals() == 0 and purchase.assert_agrees() == "CANCELED"
    assert_problem(purchase.start(), 409, "ORDER_NOT_PAYABLE")


def test_a_free_order_is_canceled_at_once(paying):
    purchase = Purchase(paying, amount=0)
    assert purchase.answer["status"] == "PAID"
    assert_problem(purchase.start(), 409, "ORDER_NOT_PAYABLE")
    assert purchase.cancel()["status"] == "CANCELED"
    assert purchase.left() == purchase.stock and purchase.payments() == []
    assert purchase.cancel()["status"] == "CANCELED" and purchase.left() == purchase.stock


def test_an_order_with_an_open_payment_does_not_expire(paying, purchase):
    back = purchase.press()
    paying.postgres.query("UPDATE customer_order SET expires_at = now() - interval '1 s' WHERE id = %s", purchase.order)
    paying.reconcile()
    assert purchase.status() == "PENDING_PAYMENT"
    assert result_of(purchase.come_back(back)) == "paid"


def test_a_session_that_nobody_used_ends_with_its_order(paying, purchase):
    assert purchase.start().status == 201
    payment = purchase.payment()
    paying.make_due()
    paying.reconcile()
    assert purchase.state() == "READY", "not paid is final only after the session and the grace"
    paying.end_session(payment)
    paying.settle_payments(lambda: purchase.state() == "EXPIRED")
    assert purchase.assert_agrees() == "EXPIRED"
    assert len(paying.simulator.calls(payment, "order")) >= 2, "and it was asked"


def test_too_late_to_begin(paying, purchase):
    """The time to pay is the order's first: a payment that came to nothing must not prolong it for ever."""
    paying.postgres.query("UPDATE customer_order SET pay_until = now() - interval '1 s' WHERE id = %s", purchase.order)
    assert_problem(purchase.start(), 409, "ORDER_NOT_PAYABLE")


def test_no_order_has_payments_without_end(paying, purchase):
    paying.simulator.kill()
    assert_problem(purchase.start(), 503, "PAYMENT_UNAVAILABLE")
    paying.postgres.query(
        "INSERT INTO payment (id, order_id, provider, return_hash, amount, tax_free, vat, currency, retry_at)"
        " SELECT 'p_' || lpad('', 22, 'x'), order_id, provider, return_hash, amount, tax_free, vat, currency, now()"
        " FROM payment WHERE order_id = %s", purchase.order)
    paying.postgres.query(
        "DO $$ BEGIN FOR n IN 1 .. 99 LOOP"
        "  PERFORM payment_start_failed(p.id, 'test') FROM payment p WHERE p.state = 'STARTING';"
        "  INSERT INTO payment (id, order_id, provider, return_hash, amount, tax_free, vat, currency, retry_at)"
        "  SELECT 'p_' || lpad(n::text, 22, 'y'), order_id, provider, return_hash, amount, tax_free, vat, currency, now()"
        "    FROM payment WHERE id = 'p_' || lpad('', 22, 'x'); END LOOP; END $$")
    paying.settle_payments(lambda: all(state == "FAILED" for _, state in purchase.payments()))
    paying.simulator.start()
    assert len(purchase.payments()) > 100
    assert_problem(purchase.start(), 409, "ORDER_NOT_PAYABLE")


def test_what_cannot_be_lengthened_is_not_approved(paying, purchase):
    """The order has ended behind the payment's back: nothing is taken, and the member is told."""
    back = purchase.press()
    paying.postgres.query("SELECT order_end(%s, 'EXPIRED')", purchase.order)
    assert result_of(purchase.come_back(back)) == "refused"
    assert (purchase.state(), purchase.approvals(), purchase.assert_agrees()) == ("STOPPED", 0, "EXPIRED")


def test_after_the_grace_nothing_is_approved(paying, purchase):
    back = purchase.press()
    paying.end_session(purchase.payment())
    assert result_of(purchase.come_back(back)) == "refused"
    assert purchase.approvals() == 0
    paying.settle_payments(lambda: purchase.state() == "EXPIRED")
    assert purchase.assert_agrees() == "EXPIRED"


def test_every_step_is_on_record_and_stays(paying, purchase):
    assert purchase.pay() == "paid"
    assert purchase.cancel()["status"] == "CANCELED"
    steps = paying.postgres.query("SELECT from_state, to_state FROM payment_event WHERE payment_id = %s ORDER BY id",
                                  purchase.payment())
    names = [None, "STARTING", "READY", "APPROVING", "PAID", "CANCEL_REQUESTED", "CANCELED"]
    assert steps == list(zip(names, names[1:]))
    for sql in ("UPDATE payment_event SET why = ''", "DELETE FROM payment_event"):
        with pytest.raises(Exception, match="append only"):
            paying.postgres.query(sql)
    with pytest.raises(Exception, match="does not go from CANCELED to PAID"):
        paying.postgres.query("UPDATE payment SET state = 'PAID' WHERE id = %s", purchase.payment())


def test_no_secret_gets_into_a_log(paying, purchase):
    back = purchase.press()
    assert result_of(purchase.come_back(back)) == "paid"
    secrets = [query_of(back)["state"], query_of(back)["pg_token"], paying.simulator.secret]
    until(lambda: f"/v1/orders/{purchase.order}/payment/approve" in (paying.logs / "access.log").read_text(), 5, "its line")
    for path in paying.logs.iterdir():
        text = path.read_text(errors="replace")
        assert [secret for secret in secrets if secret in text] == [], path
    for table in ("payment", "payment_event", "customer_order"):
        rows = str(paying.postgres.query(f"SELECT * FROM {table}"))
        assert [secret for secret in secrets if secret in rows] == [], table


def test_many_buy_the_last_ones(paying):
    """More want it than there is; whoever pays gets it, and what is canceled is sold again."""
    queue = paying.api.queue()
    members = paying.api.ready_members(queue, 8)
    sku = some_name("sku")
    assert paying.api.admin("PUT", f"/products/{sku}", {
        "name": "The last", "price": {"amount": 700, "currency": "KRW"}, "stock": 3, "queue": queue}).status == 201
    answers = paying.api.together([m.order_call(queue, [{"sku": sku, "quantity": 1}], new_key()) for m in members])
    won = [(m, a["id"]) for m, a in zip(members, answers) if a.status == 201]
    assert len(won) == 3
    for number, (member, order) in enumerate(won):
        url = paying.api.call("POST", f"/v1/orders/{order}/payment", member.headers())["redirectUrl"]
        action = "pay" if number else "cancel"
        assert result_of(paying.api.call("GET", paying.simulator.press(url, action))) == ("paid" if number else "stopped")
    assert paying.postgres.value("SELECT available FROM product WHERE sku = %s", sku) == 1
    assert sum(paying.paid_for(order) for _, order in won) == 1400
