"""The place of an unpaid order (releaseOn payment): PostgreSQL knows it best, whatever Redis forgets."""

import pytest

from lib import processes
from lib.client import assert_problem, new_key
from lib.background_call import BackgroundCall
from lib.wait import until


@pytest.fixture
def buyer(parts, api):
    """Has ordered and not paid; the queue has room for one."""
    class Buyer:
        queue = api.queue(releaseOn="payment", maxActive=1, recoverySeconds=0)
        sku = api.product(queue, stock=10)
        member = api.ready_member(queue)
    order = Buyer.member.order(Buyer.queue, [{"sku": Buyer.sku, "quantity": 1}], key=new_key())
    assert order.status == 201 and order["status"] == "PENDING_PAYMENT"
    Buyer.order = order["id"]
    assert_problem(Buyer.member.enter(Buyer.queue), 409, "ALREADY_ACTIVE")
    return Buyer


def unpaid(parts, queue):
    return parts.redis.hgetall(f"sluice:{{{queue}}}:unpaid")


def test_recovery_gives_the_place_back(parts, api, buyer):
    parts.forget_everything()
    until(lambda: (parts.reconcile(expect=None), unpaid(parts, buyer.queue))[1], 15, "the queue is back", every=0.5)
    assert list(unpaid(parts, buyer.queue).values()) == [buyer.order]
    waiting = api.member()
    assert waiting.enter(buyer.queue).status == 201
    assert_problem(buyer.member.enter(buyer.queue), 409, "ALREADY_ACTIVE")
    key = f"sluice:{{{buyer.queue}}}:state"
    seen = int(parts.redis.hget(key, "bucketAt"))
    until(lambda: int(parts.redis.hget(key, "bucketAt")) > seen + 1000, 10, "ticks go on")
    assert waiting.position(buyer.queue)["status"] == "WAITING", "the room is taken"


def test_recovery_gives_two_places_of_one_member_back(parts, buyer):
    """Their orders are the last of one page and the first of the next: those of 499 others come before them."""
    parts.postgres.query("""
        INSERT INTO customer_order SELECT (jsonb_populate_record(o, jsonb_build_object(
            'id', 'o_' || lpad(n::text, 22, '0'), 'admission_id', md5(n::text) || md5(n::text), 'claim_id', md5(n::text),
            'idempotency_key', 'k' || n, 'member', CASE WHEN n < 500 THEN 'a-' || n ELSE 'b' END))).*
        FROM customer_order o, generate_series(1, 501) n WHERE o.id = %s""", buyer.order)
    parts.forget_everything()
    until(lambda: (parts.reconcile(expect=None), unpaid(parts, buyer.queue))[1], 15, "the queue is back", every=0.5)
    held = unpaid(parts, buyer.queue)
    assert len(held) == 502
    assert {order for orders in held.values() for order in orders.split()} == {buyer.order, *(f"o_{n:022}" for n in range(1, 502))}


def test_a_place_that_no_order_holds_is_freed(parts, api, buyer):
    """Redis lost the second in which the place was freed."""
    kept = unpaid(parts, buyer.queue)
    answer = api.call("POST", f"/v1/orders/{buyer.order}/cancel", buyer.member.headers())
    assert answer.status == 200 and answer["status"] == "CANCELED"
    open_rows = "SELECT count(*) FROM outbox WHERE queue = %s"
    until(lambda: (parts.reconcile(), parts.postgres.value(open_rows, buyer.queue) == 0)[1], 15, "all is worked off",
          every=0.2)
    assert unpaid(parts, buyer.queue) == {}
    parts.redis.hset(f"sluice:{{{buyer.queue}}}:unpaid", mapping=kept)
    assert "freed 1" in parts.reconcile()
    assert unpaid(parts, buyer.queue) == {}
    assert buyer.member.enter(buyer.queue).status == 201


def test_the_place_of_the_order_that_holds_it_stays(parts, buyer):
    """Two places of one member, of which one order is not there (any more)."""
    name, ended = buyer.member.name, "o_" + 22 * "0"
    parts.redis.hset(f"sluice:{{{buyer.queue}}}:unpaid",
                     mapping={name: f"{ended} {buyer.order}", f"{name}/{buyer.order}": buyer.order})
    assert "freed 1" in parts.reconcile()
    assert unpaid(parts, buyer.queue) == {name: buyer.order}
    assert_problem(buyer.member.enter(buyer.queue), 409, "ALREADY_ACTIVE")


def test_a_reset_keeps_the_place(parts, api, buyer):
    api.act(buyer.queue, "reset")
    assert_problem(buyer.member.enter(buyer.queue), 409, "ALREADY_ACTIVE")


@pytest.mark.parametrize("done_by", ["worker", "reconcile"])
def test_a_reset_between_commit_and_consume_keeps_the_place(parts, api, done_by):
    """The line of before is gone with its places when Redis hears of the order; the order is not."""
    queue = api.queue(releaseOn="payment", maxActive=1)
    sku = api.product(queue, stock=10)
    member = api.ready_member(queue)
    parts.arm_pause("order.committed")
    call = BackgroundCall(lambda: member.order(queue, [{"sku": sku, "quantity": 1}], key="k"))
    pid = parts.wait_hit("order.committed")
    api.act(queue, "reset")
    if done_by == "worker":
        processes.cont(pid)
        assert call.wait().status == 201
    else:
        processes.kill9(pid)
        call.wait()
        parts.all_workers("order")
    order = parts.postgres.value("SELECT id FROM customer_order WHERE queue = %s AND place_held", queue)
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    assert list(unpaid(parts, queue).values()) == [order]
    assert_problem(member.enter(queue), 409, "ALREADY_ACTIVE")
    assert api.call("POST", f"/v1/orders/{order}/cancel", member.headers()).status == 200
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    assert unpaid(parts, queue) == {}
