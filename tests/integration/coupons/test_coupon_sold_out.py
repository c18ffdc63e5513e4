"""Sold out, or only busy: all coupons go out, and nobody waits for nothing."""

import time

from lib.client import assert_problem
from lib.coupons import in_sql, public, take_back
from lib.wait import until, within


def test_sold_out_closes_the_queue_and_new_codes_reopen_it(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 2)
    one, two, three = api.ready_members(queue, 3)
    waiting = api.member()
    api.still_queue(queue)
    waiting.enter(queue)
    assert one.coupon(event).status == 201
    assert waiting.position(queue)["queueState"] == "OPEN"
    assert two.coupon(event).status == 201
    within(1, lambda: waiting.position(queue)["queueState"] == "SOLD_OUT", "published")
    assert waiting.position(queue)["rank"] == 0
    refused = api.member().enter(queue)
    assert_problem(refused, 410, "SOLD_OUT")
    assert refused["detail"].startswith("Everything is sold out")
    assert_problem(three.coupon(event), 410, "SOLD_OUT")
    assert three.position(queue)["status"] == "READY", "a refusal costs nothing"
    assert one.coupon(event).status == 200, "whoever has one still gets it"
    public(api, event, state="SOLD_OUT", issued=2, left=0)
    api.add_coupons(event, codes=["SECOND-CHANCE"])
    within(1, lambda: waiting.position(queue)["queueState"] == "OPEN", "published that there are some again")
    assert three.coupon(event)["code"] == "SECOND-CHANCE"


def test_a_queue_is_sold_out_only_when_all_that_it_sells_is(parts, api):
    queue = api.queue()
    one, two = api.coupon_event(queue, 1), api.coupon_event(queue, 1)
    sku = api.product(queue, stock=1)
    first, second, third, fourth = api.ready_members(queue, 4)
    assert first.coupon(one).status == 201
    assert_problem(second.coupon(one), 410, "SOLD_OUT")
    assert fourth.position(queue)["queueState"] == "OPEN"
    assert second.coupon(two).status == 201
    assert fourth.position(queue)["queueState"] == "OPEN"
    assert third.order(queue, [{"sku": sku, "quantity": 1}]).status == 201
    until(lambda: fourth.position(queue)["queueState"] == "SOLD_OUT", 2)


def test_an_event_without_coupons_sells_nothing_out(api):
    queue = api.queue()
    event = api.coupon_event(queue)
    member = api.ready_member(queue)
    assert_problem(member.coupon(event), 410, "SOLD_OUT")
    assert member.position(queue)["queueState"] == "OPEN"


def test_busy_is_not_sold_out(parts, api):
    """The last row is taken by a transaction that then rolls back: all coupons go out, never one less."""
    queue = api.queue()
    event = api.coupon_event(queue, 1)
    member, other = api.ready_members(queue, 2)
    holder = parts.postgres.connection()
    assert in_sql(parts, event, queue, "somebody", 9001, holder)[0] == "issued"
    took = []
    for _ in range(3):
        began = time.monotonic()
        busy = member.coupon(event)
        took.append(time.monotonic() - began)
        assert_problem(busy, 409, "COUPON_BUSY")
        assert busy.headers["retry-after"] == "1"
    assert min(took) < 0.7, "nobody waits behind another's row"
    position = member.position(queue)
    assert position["status"] == "READY" and "ordering" not in position.json
    assert position["queueState"] == "OPEN"
    public(api, event, left=1)
    holder.rollback()
    holder.close()
    assert member.coupon(event).status == 201
    assert_problem(other.coupon(event), 410, "SOLD_OUT")


def test_busy_until_the_other_commits(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 1)
    member = api.ready_member(queue)
    holder = parts.postgres.connection()
    assert in_sql(parts, event, queue, "somebody", 9001, holder)[0] == "issued"
    assert_problem(member.coupon(event), 409, "COUPON_BUSY")
    holder.commit()
    holder.close()
    # The other worker has died before its look; who asks next finds out and says so to everybody.
    assert_problem(member.coupon(event), 410, "SOLD_OUT")
    within(1, lambda: member.position(queue)["queueState"] == "SOLD_OUT", "published")


def test_two_last_ones_cannot_see_each_other(parts, api):
    """Both are told to look after their commits; where neither did, reconcile finds it."""
    queue = api.queue()
    event = api.coupon_event(queue, 2)
    member, waiting = api.ready_member(queue), api.member()
    holder = parts.postgres.connection()
    outcome, _, few_left = in_sql(parts, event, queue, "somebody", 9001, holder)
    assert (outcome, few_left) == ("issued", True)
    assert member.coupon(event).status == 201
    waiting.enter(queue)
    assert waiting.position(queue)["queueState"] == "OPEN", "one may yet come back"
    holder.commit()
    holder.close()
    assert waiting.position(queue)["queueState"] == "OPEN", "its worker has died before its look"
    parts.reconcile_until(lambda: waiting.position(queue)["queueState"] == "SOLD_OUT", 5)


def test_reconcile_mends_the_flag(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 1)
    member, waiting = api.ready_member(queue), api.member()
    waiting.enter(queue)
    assert member.coupon(event).status == 201
    within(1, lambda: waiting.position(queue)["queueState"] == "SOLD_OUT", "published")
    parts.redis.hset(f"sluice:{{{queue}}}:state", "soldOut", "0")
    assert waiting.position(queue)["queueState"] == "OPEN"
    parts.reconcile_until(lambda: waiting.position(queue)["queueState"] == "SOLD_OUT", 5)
    # And a finding that is older than the rows.
    take_back(parts, event)
    parts.reconcile_until(lambda: waiting.position(queue)["queueState"] == "OPEN", 5)
