"""The provider's ledger equals our books to the last won, whatever breaks and whoever dies meanwhile.

    SLUICE_LEDGER_PAYMENTS=1000 SLUICE_LEDGER_SEED=42 scripts/test integration   (with PYTEST_ADDOPTS='-k ledger')

chooses how many members pay, and plays the run of a seed again. Every run prints its seed.
"""

import os
import secrets
import time
from collections import Counter
from hashlib import sha256

import pytest

from lib.paying import PayingParts
from lib.paying_chaos import OPEN, RULES, Chaos, Shop, wait_quiet
from lib.tokens import encode

COUNT = int(os.environ.get("SLUICE_LEDGER_PAYMENTS", "120"))
SEED = int(os.environ.get("SLUICE_LEDGER_SEED", str(secrets.randbelow(10**9))))
THREADS = 24
SESSION_S, GRACE_S, ORDER_S = 6, 5, 9
# What a log may say of all this: a provider that tells lies, payments whose answer was another amount.
ERRORS = {"payment.not_settled", "payment.not_approved", "payment.cancel_refused", "payment.amount_differs",
          "payment.not_started"}


@pytest.fixture(scope="module")
def bazaar(make_directory):
    """All parts for this alone; the provider and what follows a failure are the seed's choice too."""
    parts = PayingParts(make_directory("ledger"), ("kakaopay", "toss")[SEED % 2],
                        payment_failure=("give_back", "keep")[SEED // 2 % 2], order_ttl_seconds=ORDER_S,
                        payment_session_seconds=SESSION_S, payment_grace_seconds=GRACE_S, payment_person_after=4)
    try:
        parts.start()
        # Only Toss calls. Some calls are lost while nobody is there, some come when all is over.
        parts.webhook_url = f"http://127.0.0.1:{parts.port}/v1/payments/webhooks/toss"
        yield parts
    finally:
        parts.stop()


def books(parts):
    """Each payment of ours with its order."""
    rows = parts.postgres.query("""
        SELECT p.id, p.state, p.amount, p.canceled_amount, p.pays, o.id, o.status, o.total_amount
          FROM payment p JOIN customer_order o ON o.id = p.order_id""")
    names = ("id", "state", "amount", "canceled", "pays", "order", "status", "total")
    return [dict(zip(names, row)) for row in rows]


def assert_ledger_is_ours(parts, ours, theirs):
    """Payment by payment, and in sum."""
    known = {payment["id"]: payment for payment in ours}
    for row in theirs["payments"]:
        payment = known[row["order_id"]]
        taken = {"PAID": payment["amount"], "CANCELED": payment["amount"]}.get(payment["state"], 0)
        back = payment["amount"] if payment["state"] == "CANCELED" else 0
        assert (row["taken"], row["given_back"]) == (taken, back), (row, payment)
        assert payment["canceled"] == back, payment
    assert {payment["id"] for payment in ours if payment["state"] in ("PAID", "CANCELED")} <= {
        row["order_id"] for row in theirs["payments"]}
    paid = parts.postgres.value("SELECT COALESCE(sum(total_amount), 0) FROM customer_order WHERE status = 'PAID'")
    assert theirs["taken"] - theirs["given_back"] == paid


def assert_orders_agree(parts, shop, ours):
    """All orders have ended one way or the other, with their money and their goods."""
    pays = Counter(payment["order"] for payment in ours if payment["state"] == "PAID")
    orders = parts.postgres.query("SELECT id, status, place_held, stock_returned_at IS NOT NULL FROM customer_order")
    assert len(orders) == shop.count, "one order a member"
    for order, status, held, returned in orders:
        assert status in ("PAID", "CANCELED", "EXPIRED", "PAYMENT_FAILED"), (order, status)
        assert (pays[order], held, returned) == ((1, False, False) if status == "PAID" else (0, False, True)), order
    for sku, stock in shop.stocks.items():
        available, sold = parts.postgres.query("""
            SELECT available, (SELECT COALESCE(sum(i.quantity), 0) FROM order_item i JOIN customer_order o
                               ON o.id = i.order_id WHERE i.sku = p.sku AND o.status = 'PAID')
              FROM product p WHERE sku = %s""", sku)[0]
        assert available + sold == stock and available >= 0, (sku, available, sold, stock)


def assert_nothing_is_left(parts, shop):
    assert parts.postgres.value(f"SELECT count(*) FROM payment WHERE state IN {OPEN} OR retry_at IS NOT NULL") == 0
    assert parts.postgres.value("SELECT count(*) FROM outbox") == 0
    for name in ("unpaid", "claimed", "places"):
        key = f"sluice:{{{shop.queue}}}:{name}"
        kind = parts.redis.type(key)
        assert kind in ("none", "hash", "zset"), kind
        left = parts.redis.hgetall(key) if kind == "hash" else parts.redis.zrange(key, 0, -1) if kind == "zset" else []
        assert not left, (name, left)


def assert_no_wrong_result_was_reported(parts, shop):
    """Who was told "paid" has paid; who was told "refused" was never charged."""
    paid = {row[0] for row in parts.postgres.query(
        "SELECT p.return_hash FROM payment p JOIN payment_event e ON e.payment_id = p.id WHERE e.to_state = 'PAID'")}
    for shopper in shop.shoppers:
        for word, state in shopper.results:
            hash_ = encode(sha256(state.encode()).digest())
            if word == "paid":
                assert hash_ in paid, shopper.number
            elif word == "refused":
                assert hash_ not in paid, shopper.number


@pytest.mark.limit(150 + COUNT)
def test_the_ledger_equals_our_books(bazaar):
    parts, began = bazaar, time.monotonic()
    print(f"\nseed: SLUICE_LEDGER_SEED={SEED} SLUICE_LEDGER_PAYMENTS={COUNT}, {parts.settings['payment_provider']}, "
          f"{parts.settings['payment_failure']}")
    parts.allowed_errors |= ERRORS
    shop = Shop(parts, SEED, COUNT, arrival_seconds=1.0)
    parts.simulator.behave(rules=[{"fault": fault, "probability": part} for fault, part in RULES], seed=SEED,
                           skew_ms=SEED % 5000 - 2500, webhook={"url": parts.webhook_url, "copies": 2, "delay_ms": SEED % 700})
    chaos = Chaos(parts, SEED)
    chaos.during(lambda: shop.trade(THREADS))
    assert not shop.problems, (SEED, shop.problems[:5])
    parts.simulator.behave()
    wait_quiet(parts, 60)
    chaos.stop_reconcilers()
    parts.reconcile_until(lambda: not parts.redis.exists(f"sluice:{{{shop.queue}}}:unpaid"))
    ours, theirs = books(parts), parts.simulator.ledger()
    print(f"{len(ours)} payments: {dict(Counter(payment['state'] for payment in ours))}; taken {theirs['taken']}, "
          f"given back {theirs['given_back']}; chaos {dict(chaos.counts)}; "
          f"answers {dict(Counter(word for shopper in shop.shoppers for word, _ in shopper.results))}; "
          f"faults {sum(1 for call in parts.simulator.calls() if call['faults'])}; {time.monotonic() - began:.0f} s")
    assert_ledger_is_ours(parts, ours, theirs)
    assert_orders_agree(parts, shop, ours)
    assert_nothing_is_left(parts, shop)
    assert_no_wrong_result_was_reported(parts, shop)
