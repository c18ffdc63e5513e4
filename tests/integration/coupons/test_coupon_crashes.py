"""Killing or stopping a worker at any step of a coupon, losing Redis or PostgreSQL: never two, never a coupon lost."""

import re

import pytest

from lib import processes
from lib.background_call import ORDER_STEPS, BackgroundCall, overdue
from lib.client import assert_problem
from lib.coupons import issued, known, stored
from lib.parts import SHORTEST_LEASE_S
from lib.wait import until


@pytest.mark.parametrize("step, committed", ORDER_STEPS)
def test_kill_9_at_each_step(parts, api, step, committed):
    queue = api.queue(claimLeaseSeconds=SHORTEST_LEASE_S)
    event = api.coupon_event(queue, 5)
    member = api.ready_member(queue)
    parts.arm_pause(step)
    call = BackgroundCall(lambda: member.coupon(event))
    processes.kill9(parts.wait_hit(step))
    assert_problem(call.wait(), 503, "ORDERS_UNAVAILABLE")
    parts.all_workers("order")
    assert issued(parts, event) == (1 if committed else 0)
    assert known(parts, queue, event)[1] == ({member.name} if step == "order.consumed" else set())
    if step in ("order.claimed", "order.before_transaction", "order.committed"):
        assert_problem(member.coupon(event), 409, "ORDER_IN_PROGRESS")
        if committed:
            parts.reconcile_until(lambda: member.position(queue)["status"] == "NOT_ENTERED")
        else:
            overdue(parts, queue)
            parts.reconcile()
            assert member.position(queue)["status"] == "READY"
    answer = member.coupon(event)
    assert answer.status == (200 if committed else 201), answer.body
    assert answer["alreadyIssued"] is committed
    assert member.coupon(event).json == {**answer.json, "alreadyIssued": True}
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    assert issued(parts, event) == 1
    assert known(parts, queue, event) == stored(parts, event)
    assert api.stats(queue)["consumed"] == 1


def test_crash_after_the_commit_is_settled_by_the_lease_too(parts, api):
    """The outbox row is lost to the test: what remains is the claim, which PostgreSQL knows as committed."""
    queue = api.queue(claimLeaseSeconds=SHORTEST_LEASE_S)
    event = api.coupon_event(queue, 50)
    member = api.ready_member(queue)
    parts.arm_pause("order.committed")
    call = BackgroundCall(lambda: member.coupon(event))
    processes.kill9(parts.wait_hit("order.committed"))
    call.wait()
    parts.postgres.query("DELETE FROM outbox WHERE queue = %s", queue)
    overdue(parts, queue)
    parts.reconcile()
    assert member.position(queue)["status"] == "NOT_ENTERED"
    tombstone, = parts.redis.hvals(f"sluice:{{{queue}}}:tombstones")
    assert re.fullmatch(rf"{member.name}/[\w-]{{43}}/c_\d+", tombstone)
    assert known(parts, queue, event) == stored(parts, event)
    assert member.coupon(event).status == 200
    assert api.stats(queue)["consumed"] == 1


@pytest.mark.parametrize("step", ["order.claimed", "order.before_transaction"])
def test_worker_continued_late_issues_nothing(parts, api, step):
    """Reconcile has released its claim meanwhile, and the member has a coupon by it: the late one gets the same."""
    queue = api.queue(claimLeaseSeconds=SHORTEST_LEASE_S)
    event = api.coupon_event(queue, 5)
    member = api.ready_member(queue)
    parts.arm_pause(step)
    late = BackgroundCall(lambda: member.coupon(event))
    pid = parts.wait_hit(step)
    overdue(parts, queue)
    parts.reconcile()
    made = member.coupon(event)
    assert made.status == 201
    processes.cont(pid)
    answer = late.wait()
    assert answer.status == 200 and answer["code"] == made["code"], answer.body
    assert issued(parts, event) == 1


def test_worker_continued_after_the_release_fails_on_its_claim(parts, api):
    queue = api.queue(claimLeaseSeconds=SHORTEST_LEASE_S)
    event = api.coupon_event(queue, 5)
    member = api.ready_member(queue)
    parts.arm_pause("order.before_transaction")
    late = BackgroundCall(lambda: member.coupon(event))
    pid = parts.wait_hit("order.before_transaction")
    overdue(parts, queue)
    parts.reconcile()
    processes.cont(pid)
    assert_problem(late.wait(), 409, "ORDER_IN_PROGRESS")
    assert issued(parts, event) == 0
    assert member.coupon(event).status == 201


def test_redis_lost(parts, api):
    """Nobody gets a second coupon, nobody is lost."""
    queue = api.queue(recoverySeconds=0)
    event = api.coupon_event(queue, 3)
    owners, rest = api.ready_members(queue, 2), api.ready_members(queue, 2)
    codes = {member: member.coupon(event)["code"] for member in owners}
    parts.arm_pause("order.before_transaction")
    late = BackgroundCall(lambda: rest[0].coupon(event))
    pid = parts.wait_hit("order.before_transaction")
    parts.redis.flushall()
    assert_problem(owners[0].coupon(event), 503, "ADMISSION_UNAVAILABLE")
    assert owners[0].my_coupon(event)["code"] == codes[owners[0]], "one's own coupon is PostgreSQL's to show"
    parts.reconcile_until(lambda: rest[1].position(queue).status == 200, what="the queue is back")
    processes.cont(pid)
    assert_problem(late.wait(), 503)
    assert issued(parts, event) == 2
    for member in owners:
        assert member.position(queue)["status"] == "NOT_ENTERED", "spent numbers are not seated again"
        member.ticket, member.token = None, None
        member.enter(queue)
        member.wait_ready(queue)
        again = member.coupon(event)
        assert again.status == 200 and again["code"] == codes[member]
        assert member.position(queue)["status"] == "READY", "it never costs a second admission"
    assert_problem(rest[1].coupon(event), 401, "ENTRY_TOKEN_INVALID")
    rest[0].wait_ready(queue)
    assert rest[0].coupon(event).status == 201
    assert issued(parts, event) == 3
    assert parts.postgres.value("SELECT count(DISTINCT member) FROM coupon WHERE event = %s", event) == 3
    assert known(parts, queue, event) == stored(parts, event)


def test_the_end_of_redis_or_postgres(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 3)
    member = api.ready_member(queue)
    parts.postgres.stop()
    try:
        assert_problem(member.coupon(event), 503, "ORDERS_UNAVAILABLE")
    finally:
        parts.postgres.start()
    until(lambda: member.coupon(event).status in (200, 201), 15, "the same request, sent again")
    assert issued(parts, event) == 1
