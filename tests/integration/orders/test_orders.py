"""Orders: one entry token, one order."""

import re

import psycopg2
import pytest

from lib.client import assert_problem, new_key
from lib.wait import until


@pytest.fixture
def shop(api):
    class Shop:
        queue = api.queue()
        sku = api.product(queue, stock=1000, amount=1500)
        items = [{"sku": sku, "quantity": 1}]
    return Shop


def count_orders(parts, queue):
    return parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", queue)


def available(api, sku):
    return api.admin("GET", f"/products/{sku}")["available"]


def test_an_order_takes_stock_and_only_its_member_sees_it(parts, api, shop):
    member = api.ready_member(shop.queue)
    answer = member.order(shop.queue, [{"sku": shop.sku, "quantity": 2}])
    assert answer.status == 201, answer.body
    order = answer.json
    assert re.fullmatch(r"o_[A-Za-z0-9_-]{22}", order["id"])
    assert (order["queue"], order["status"]) == (shop.queue, "PENDING_PAYMENT")
    assert order["total"] == {"amount": 3000, "currency": "KRW"}
    assert [(item["sku"], item["quantity"]) for item in order["items"]] == [(shop.sku, 2)]
    assert order["expiresAt"] > order["createdAt"]
    assert available(api, shop.sku) == 998
    assert api.call("GET", f"/v1/orders/{order['id']}", member.headers()).json == order
    assert member.orders()["orders"] == [order] and member.orders()["next"] is None
    stranger = api.member()
    assert_problem(api.call("GET", f"/v1/orders/{order['id']}", stranger.headers()), 404, "NOT_FOUND")
    assert stranger.orders()["orders"] == []


def test_workers_delete_the_rows_that_they_have_delivered(parts, api, shop):
    """Without reconcile: along with later orders, and at rest by themselves."""
    members = api.ready_members(shop.queue, 40)
    for answer in api.together([member.order_call(shop.queue, shop.items) for member in members], 8):
        assert answer.status == 201
    kept = "SELECT count(*) FROM outbox WHERE queue = %s AND kind = 'consume'"
    until(lambda: parts.postgres.value(kept, shop.queue) == 0, 10)
    assert api.stats(shop.queue)["consumed"] == count_orders(parts, shop.queue) == 40


@pytest.mark.parametrize("change", [
    "UPDATE customer_order SET status = 'LOST' WHERE id = %s",
    "UPDATE customer_order SET total_amount = -1 WHERE id = %s",
    "UPDATE customer_order SET expires_at = NULL WHERE id = %s",
    "UPDATE customer_order SET status = 'EXPIRED' WHERE id = %s",
    "UPDATE customer_order SET stock_returned_at = now() WHERE id = %s",
    "UPDATE customer_order SET place_held = true, status = 'PAID' WHERE id = %s",
    "UPDATE order_item SET quantity = 0 WHERE order_id = %s",
    "UPDATE order_item SET unit_price = -1 WHERE order_id = %s",
    "UPDATE product SET available = stock + 1 WHERE sku IN (SELECT sku FROM order_item WHERE order_id = %s)",
    "UPDATE product SET available = -1 WHERE sku IN (SELECT sku FROM order_item WHERE order_id = %s)",
    "UPDATE product SET currency = 'won' WHERE sku IN (SELECT sku FROM order_item WHERE order_id = %s)",
])
def test_tables_refuse_what_makes_no_sense(parts, api, shop, change):
    order = api.ready_member(shop.queue).order(shop.queue, shop.items)["id"]
    with pytest.raises(psycopg2.errors.CheckViolation):
        parts.postgres.query(change, order)


def test_free_order_is_paid_at_once(api):
    queue = api.queue()
    sku = api.product(queue, amount=0)
    assert api.ready_member(queue).order(queue, [{"sku": sku, "quantity": 1}])["status"] == "PAID"


def test_token_is_gone_after_the_commit(api, shop):
    member = api.ready_member(shop.queue)
    assert member.order(shop.queue, shop.items).status == 201
    assert member.position(shop.queue)["status"] == "NOT_ENTERED"
    assert_problem(member.order(shop.queue, shop.items), 401, "ENTRY_TOKEN_INVALID")


def test_no_order_without_a_token(parts, api, shop):
    member = api.ready_member(shop.queue)
    other = api.ready_member(shop.queue)
    call = list(member.order_call(shop.queue, shop.items))
    del call[2]["X-Entry-Token"]
    assert_problem(api.call(*call), 401, "ENTRY_TOKEN_REQUIRED")
    for token in ("A" * 43, "x", other.token, member.token[:-1], member.token + "A", "%00", "é"):
        assert_problem(member.order(shop.queue, shop.items, token=token.encode().decode("latin-1")), 401,
                       "ENTRY_TOKEN_INVALID")
    assert count_orders(parts, shop.queue) == 0
    assert member.order(shop.queue, shop.items).status == 201


def test_key_is_required(api, shop):
    member = api.ready_member(shop.queue)
    call = list(member.order_call(shop.queue, shop.items))
    for key in (None, "", '""', "x" * 256, "tab\there"):
        call[2].pop("Idempotency-Key", None)
        if key is not None:
            call[2]["Idempotency-Key"] = key
        assert_problem(api.call(*call), 400, "IDEMPOTENCY_KEY_REQUIRED")
    assert member.order(shop.queue, shop.items, key="x" * 255).status == 201


@pytest.mark.limit(90)
def test_200_parallel_orders_on_one_token_make_one(parts, api, shop):
    member = api.ready_member(shop.queue)
    answers = api.together([member.order_call(shop.queue, shop.items) for _ in range(200)], timeout=60)
    statuses = sorted(answer.status for answer in answers)
    assert statuses.count(201) == 1
    assert {answer.code for answer in answers if answer.status != 201} <= {"ORDER_IN_PROGRESS",
                                                                           "ENTRY_TOKEN_INVALID"}
    assert count_orders(parts, shop.queue) == 1
    assert available(api, shop.sku) == 999


def test_one_key_in_parallel_makes_one_order(parts, api, shop):
    member = api.ready_member(shop.queue)
    call = member.order_call(shop.queue, shop.items, key=new_key())
    answers = api.together([call] * 50)
    made = [answer for answer in answers if answer.status == 201]
    assert len(made) == 1
    for answer in answers:
        if answer.status == 409:
            assert_problem(answer, 409, "ORDER_IN_PROGRESS")
        elif answer.status == 200:
            assert answer.json == made[0].json and answer.headers["idempotent-replayed"] == "true"
        else:
            assert answer is made[0], answer.body
    for answer in api.together([call] * 10):
        assert answer.status == 200 and answer.json == made[0].json
        assert answer.headers["idempotent-replayed"] == "true"
    assert count_orders(parts, shop.queue) == 1


def test_replay_by_key_with_a_newer_token(parts, api, shop):
    """The key finds its order also when the member has come again; the new token stays good."""
    member = api.ready_member(shop.queue)
    key = new_key()
    first = member.order(shop.queue, shop.items, key=key)
    member.ticket, member.token = None, None
    member.enter(shop.queue)
    member.wait_ready(shop.queue)
    again = member.order(shop.queue, shop.items, key=key)
    assert again.status == 200 and again.json == first.json
    assert again.headers["idempotent-replayed"] == "true"
    second = member.order(shop.queue, shop.items)
    assert second.status == 201 and second["id"] != first["id"]
    assert count_orders(parts, shop.queue) == 2


def test_key_with_another_body(parts, api, shop):
    member = api.ready_member(shop.queue)
    key = new_key()
    member.order(shop.queue, shop.items, key=key)
    other = [{"sku": shop.sku, "quantity": 2}]
    assert_problem(member.order(shop.queue, other, key=key), 422, "IDEMPOTENCY_KEY_REUSED")
    member.ticket = None
    member.enter(shop.queue)
    member.wait_ready(shop.queue)
    assert_problem(member.order(shop.queue, other, key=key), 422, "IDEMPOTENCY_KEY_REUSED")
    assert member.order(shop.queue, other).status == 201, "the token is still good"


def test_keys_are_each_member_s_own(api, shop):
    one, two = api.ready_members(shop.queue, 2)
    orders = [member.order(shop.queue, shop.items, key="the-same") for member in (one, two)]
    assert [order.status for order in orders] == [201, 201]
    assert orders[0]["id"] != orders[1]["id"]


def test_rollback_keeps_the_token(parts, api):
    queue = api.queue()
    scarce, plenty = api.product(queue, stock=1), api.product(queue, stock=50)
    member = api.ready_member(queue)
    key = new_key()
    refused = member.order(queue, [{"sku": plenty, "quantity": 1}, {"sku": scarce, "quantity": 2}], key=key)
    assert_problem(refused, 409, "OUT_OF_STOCK")
    assert scarce in refused["detail"]
    position = member.position(queue)
    assert position["status"] == "READY" and "ordering" not in position.json
    assert (available(api, scarce), available(api, plenty)) == (1, 50), "all or nothing"
    unknown = member.order(queue, [{"sku": "never-made", "quantity": 1}])
    assert_problem(unknown, 400, "INVALID_REQUEST")
    made = member.order(queue, [{"sku": plenty, "quantity": 1}], key=key)
    assert made.status == 201, "a refusal binds no key"
    assert available(api, plenty) == 49
    assert parts.postgres.value("SELECT count(*) FROM admission_use WHERE queue = %s", queue) == 1


def test_stock_never_below_zero(parts, api):
    queue = api.queue()
    sku = api.product(queue, stock=7)
    rest = api.product(queue, stock=1)
    members = api.ready_members(queue, 40)
    answers = api.together([member.order_call(queue, [{"sku": sku, "quantity": 1}]) for member in members], 16)
    assert sum(answer.status == 201 for answer in answers) == 7
    for answer in answers:
        if answer.status != 201:
            assert answer.code in ("OUT_OF_STOCK", "ORDERS_UNAVAILABLE"), answer.body
    assert (available(api, sku), available(api, rest)) == (0, 1)


def test_sold_out_when_everything_is_gone(api):
    queue = api.queue()
    sku = api.product(queue, stock=2)
    one, two, three = api.ready_members(queue, 3)
    waiting = api.member()
    api.still_queue(queue)
    assert one.order(queue, [{"sku": sku, "quantity": 1}]).status == 201
    assert three.position(queue)["queueState"] == "OPEN"
    waiting.enter(queue)
    assert two.order(queue, [{"sku": sku, "quantity": 1}]).status == 201
    until(lambda: waiting.position(queue)["queueState"] == "SOLD_OUT", 5)
    assert waiting.position(queue)["rank"] == 0, "those who wait keep their numbers"
    assert_problem(api.member().enter(queue), 410, "SOLD_OUT")
    assert_problem(three.order(queue, [{"sku": sku, "quantity": 1}]), 409, "OUT_OF_STOCK")
    api.product(queue, stock=5, sku=sku)
    until(lambda: waiting.position(queue)["queueState"] == "OPEN", 5, "something came back")


def test_a_finding_is_not_older_than_one_that_postgresql_has_lost(parts, api):
    """As after a fail-over: Redis knows a number that PostgreSQL has not given, or gives once more."""
    queue = api.queue()
    sku = api.product(queue, stock=1)
    one, two = api.ready_members(queue, 2)

    def comes_to(state):
        until(lambda: api.state(queue)["state"] == state, 5, f"the queue is {state}")

    def fall_back(change):
        known = int(parts.redis.hget(f"sluice:{{{queue}}}:state", "soldOutChange"))
        parts.postgres.query("UPDATE queue SET sold_out_change = %s WHERE id = %s RETURNING id", change(known), queue)

    parts.postgres.query("UPDATE queue SET sold_out_change = 12 WHERE id = %s RETURNING id", queue)
    api.product(queue, stock=2, sku=sku)
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    fall_back(lambda known: 1)
    answer = one.order(queue, [{"sku": sku, "quantity": 2}])
    assert answer.status == 201, answer.body
    parts.reconcile()
    comes_to("SOLD_OUT")
    fall_back(lambda known: 1)
    api.product(queue, stock=5, sku=sku)
    comes_to("OPEN")
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    fall_back(lambda known: known - 1)
    assert two.order(queue, [{"sku": sku, "quantity": 3}]).status == 201
    parts.reconcile()
    comes_to("SOLD_OUT")


def test_max_in_flight(parts, api):
    """One order waits inside its transaction: the next is told to come again, and its token stays READY."""
    queue = api.queue(maxInFlight=1)
    sku = api.product(queue)
    one, two = api.ready_members(queue, 2)
    items = [{"sku": sku, "quantity": 1}]
    parts.arm_pause("order.claimed")
    import threading
    answers = {}
    thread = threading.Thread(target=lambda: answers.update(one=one.order(queue, items)))
    thread.start()
    pid = parts.wait_hit("order.claimed")
    try:
        refused = two.order(queue, items)
        assert_problem(refused, 429, "ORDER_CAPACITY")
        assert one.position(queue).json["ordering"] is True
        assert_problem(one.leave(queue), 409, "ORDER_IN_PROGRESS")
        assert two.position(queue)["status"] == "READY"
    finally:
        from lib.processes import cont
        cont(pid)
        thread.join(20)
    assert answers["one"].status == 201
    assert two.order(queue, items).status == 201


def test_expiry_makes_not_entered(api):
    queue = api.queue(entryTtlSeconds=2, maxActive=1)
    member = api.ready_member(queue)
    token = member.token
    until(lambda: member.position(queue)["status"] == "NOT_ENTERED", 5)
    assert_problem(member.order(queue, [{"sku": "any", "quantity": 1}], token=token), 401, "ENTRY_TOKEN_INVALID")
    other = api.ready_member(queue)
    assert other.token, "the place came back"
    assert member.enter(queue).status == 201


def test_unpaid_order_keeps_the_place_where_payment_frees_it(api):
    queue = api.queue(releaseOn="payment", maxActive=1)
    sku = api.product(queue)
    member = api.ready_member(queue)
    order = member.order(queue, [{"sku": sku, "quantity": 1}])
    assert order.status == 201
    member.ticket = None
    assert_problem(member.enter(queue), 409, "ALREADY_ACTIVE")
    next_one = api.member()
    next_one.enter(queue)
    stats = api.stats(queue)
    assert (stats["waiting"], stats["ready"]) == (1, 0)
    assert api.call("POST", f"/v1/orders/{order['id']}/cancel", member.headers()).status == 200
    next_one.wait_ready(queue)
    assert available(api, sku) == 100
