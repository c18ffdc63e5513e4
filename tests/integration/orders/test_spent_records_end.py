"""What is remembered of spent claims and admissions has an end, long after anything could come back to it."""

import pytest

OLD = "now() - interval '91 days'"


@pytest.fixture(autouse=True)
def ninety_days(parts, monkeypatch):
    monkeypatch.setitem(parts.environment, "SLUICE_SPENT_DAYS", "90")


@pytest.fixture
def make_old(parts):
    """A function that lets ninety-one days pass for claims and admissions of a queue."""
    def make(queue):
        parts.postgres.query(f"""
            UPDATE claim_outcome SET at = {OLD} WHERE order_id IN (SELECT ref FROM admission_use WHERE queue = %s)""", queue)
        parts.postgres.query(f"UPDATE admission_use SET at = {OLD} WHERE queue = %s", queue)
    return make


@pytest.fixture
def books(parts):
    """A function: how many claims that ended with an order or a coupon, and admissions, are remembered of a queue."""
    def count(queue):
        return parts.postgres.query("""
            SELECT (SELECT count(*) FROM admission_use WHERE queue = %s),
                   (SELECT count(*) FROM claim_outcome c
                     WHERE c.order_id IN (SELECT id FROM customer_order WHERE queue = %s
                                           UNION ALL SELECT 'c_' || k.id FROM coupon k JOIN coupon_event e ON e.id = k.event
                                                      WHERE e.queue = %s))""", queue, queue, queue)[0]
    return count


@pytest.fixture
def sold(parts, api):
    """A queue in which somebody has ordered and somebody has got a coupon; nothing is left to be told or settled."""
    queue = api.queue()
    sku, event = api.product(queue), api.coupon_event(queue, coupons=3)
    buyer, winner = api.ready_members(queue, 2)
    assert buyer.order(queue, [{"sku": sku, "quantity": 1}], key="first").status == 201
    assert winner.coupon(event).status == 201
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    return queue, sku, event, buyer, winner


def test_what_is_old_goes_and_the_order_still_knows_its_key(parts, api, sold, make_old, books):
    queue, sku, event, buyer, winner = sold
    items = [{"sku": sku, "quantity": 1}]
    parts.postgres.query(f"INSERT INTO claim_outcome (claim_id, outcome, at) VALUES ('c-old-{queue}', 'released', {OLD})")
    parts.postgres.query(f"INSERT INTO claim_outcome (claim_id, outcome) VALUES ('c-new-{queue}', 'released')")
    parts.reconcile()
    assert books(queue) == (2, 2), "nothing of it is old"
    make_old(queue)
    young = api.ready_member(queue)
    assert young.order(queue, items).status == 201
    parts.reconcile_until(lambda: books(queue) == (1, 1), what="only the young one's are remembered")
    assert parts.postgres.query("SELECT claim_id FROM claim_outcome WHERE claim_id LIKE %s", f"c-%-{queue}") == [
        (f"c-new-{queue}",)]
    # A repeat needs none of it.
    again = buyer.order(queue, items, key="first")
    assert (again.status, again.headers["idempotent-replayed"]) == (200, "true")
    coupon = winner.coupon(event)
    assert (coupon.status, coupon["alreadyIssued"]) == (200, True)


def test_nothing_goes_by_one_clock_alone_or_unasked(parts, sold, make_old, books, monkeypatch):
    queue = sold[0]
    make_old(queue)
    a_hundred_days_ago = "SELECT forget_spent(90, 1000, (extract(epoch FROM now() - interval '100 days') * 1000)::bigint)"
    assert parts.postgres.value(a_hundred_days_ago) == 0
    monkeypatch.setitem(parts.environment, "SLUICE_SPENT_DAYS", "0")
    parts.reconcile()
    assert books(queue) == (2, 2)


def test_nothing_is_deleted_while_the_outbox_has_rows(parts, sold, make_old, books):
    """As long as Redis has not heard of an order, its token looks unspent there."""
    queue = sold[0]
    make_old(queue)
    parts.postgres.query("""
        INSERT INTO outbox (queue, kind, created_at, retry_at) VALUES (%s, 'sold_out', now() - interval '92 days',
                                                                     now() + interval '1 hour')""", queue)
    parts.reconcile()
    assert books(queue) == (2, 2)
    parts.postgres.query("DELETE FROM outbox WHERE queue = %s", queue)
    parts.reconcile_until(lambda: books(queue) == (0, 0))


def test_a_pass_takes_a_bounded_piece(parts):
    parts.reconcile(expect=None)
    parts.postgres.query(f"""
        INSERT INTO claim_outcome (claim_id, outcome, at) SELECT 'c-many-' || n, 'released', {OLD} FROM generate_series(1, 6000) n""")
    left = "SELECT count(*) FROM claim_outcome WHERE starts_with(claim_id, 'c-many-')"
    assert "claims forgotten 5000" in parts.reconcile()
    assert parts.postgres.value(left) == 1000
    parts.reconcile()
    assert parts.postgres.value(left) == 0
