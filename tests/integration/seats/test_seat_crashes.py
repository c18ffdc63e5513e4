"""Workers that die or sleep at each step of an order of seats, deadlines that pass meanwhile, stores that go away: never
two owners, never an order without its seats, and a hold is what it was."""

import time

import pytest

from lib import processes
from lib.background_call import ORDER_STEPS, BackgroundCall, overdue
from lib.client import assert_problem, new_key
from lib.parts import SHORTEST_LEASE_S
from lib.seats import assert_orders_whole, holds, key, move_deadlines, owners, taken_in_redis
from lib.wait import until

SEATS = [f"A-{number}" for number in range(1, 41)]


@pytest.fixture
def queue(api):
    return api.queue(claimLeaseSeconds=SHORTEST_LEASE_S)


@pytest.fixture
def show(api, queue):
    return api.show(queue, SEATS)


def redis_ms(parts):
    seconds, micros = parts.redis.time()
    return seconds * 1000 + micros // 1000


@pytest.mark.parametrize("step, committed", ORDER_STEPS)
def test_kill_9_at_each_step_of_an_order_of_seats(parts, api, queue, show, step, committed):
    member, rival = api.ready_member(queue), api.ready_member(queue)
    member.hold(show, "A-1", "A-2")
    before = holds(parts, queue, show, member.name)
    order_key = new_key()
    parts.arm_pause(step)
    call = BackgroundCall(lambda: member.order_seats(queue, show, ["A-1", "A-2"], key=order_key))
    processes.kill9(parts.wait_hit(step))
    assert_problem(call.wait(), 503, "ORDERS_UNAVAILABLE")
    parts.all_workers("order")
    assert_problem(rival.hold(show, "A-2"), 409, "SEATS_TAKEN")
    if committed:
        assert_problem(member.give_back(show), 409, "ORDER_IN_PROGRESS")
        parts.reconcile_until(lambda: parts.outbox_empty(queue))
        assert taken_in_redis(parts, queue, show) == {"A-1": member.name, "A-2": member.name}
        assert api.seat_states(show, member)["A-1"] == "HELD*"
        assert member.my_holds(show)["seats"] == []
    elif step != "order.before_claim":
        overdue(parts, queue)
        parts.reconcile()
        assert member.position(queue)["status"] == "READY"
        assert holds(parts, queue, show, member.name) == before, "as they were: no guard is left"
    assert_problem(rival.hold(show, "A-1"), 409, "SEATS_TAKEN")
    answer = member.order_seats(queue, show, ["A-1", "A-2"], key=order_key)
    assert answer.status == (200 if committed else 201), answer.body
    assert owners(parts, show) == {"A-1": member.name, "A-2": member.name}
    assert taken_in_redis(parts, queue, show) == owners(parts, show)
    assert_orders_whole(parts, show)


def test_order_that_fails_leaves_the_holds_as_they_were(parts, api, queue, show):
    """PostgreSQL refuses: another has the seat by its word, though Redis never heard of it."""
    first, second = api.ready_member(queue), api.ready_member(queue)
    first.hold(show, "A-1")
    assert first.order_seats(queue, show, ["A-1"]).status == 201
    for name in ("taken", "owned"):
        parts.redis.delete(key(queue, show, name))
    assert second.hold(show, "A-1", "A-2").status == 201, "Redis does not know better"
    before = {hold.seat: hold for hold in holds(parts, queue, show, second.name)}
    refused = second.order_seats(queue, show, ["A-1", "A-2"])
    assert_problem(refused, 409, "SEATS_TAKEN")
    assert refused["taken"] == ["A-1"]
    assert {hold.seat: hold for hold in holds(parts, queue, show, second.name)} == {"A-2": before["A-2"]}, (
        "the one stays, deadline and all; of the other Redis knows better now")
    assert second.position(queue)["status"] == "READY"
    assert second.order_seats(queue, show, ["A-2"]).status == 201
    assert owners(parts, show) == {"A-1": first.name, "A-2": second.name}


def test_deadline_passes_while_the_order_runs(parts, api, queue, show):
    """The guard covers it: nobody else gets the seats, and the order stands."""
    member, rival = api.ready_member(queue), api.ready_member(queue)
    member.hold(show, "A-1")
    parts.arm_pause("order.before_transaction")
    call = BackgroundCall(lambda: member.order_seats(queue, show, ["A-1"]))
    pid = parts.wait_hit("order.before_transaction")
    move_deadlines(parts, queue, show, member.name, ends_in_ms=-1)
    assert_problem(rival.hold(show, "A-1"), 409, "SEATS_TAKEN")
    assert_problem(member.give_back(show), 409, "ORDER_IN_PROGRESS")
    assert_problem(member.hold(show, "A-2", replace=True), 409, "ORDER_IN_PROGRESS")
    assert api.seat_states(show, member)["A-1"] == "HELD*"
    processes.cont(pid)
    assert call.wait().status == 201
    assert owners(parts, show) == {"A-1": member.name}


def test_worker_that_slept_through_everything(parts, api, queue, show):
    """Lease and guard are over, nobody has settled the claim, another has ordered the seat: the late transaction
    fails, whole."""
    member, rival = api.ready_member(queue), api.ready_member(queue)
    member.hold(show, "A-1", "A-2")
    parts.arm_pause("order.before_transaction")
    late = BackgroundCall(lambda: member.order_seats(queue, show, ["A-1", "A-2"]))
    pid = parts.wait_hit("order.before_transaction")
    move_deadlines(parts, queue, show, member.name, ends_in_ms=-1, guard_in_ms=-1)
    assert rival.hold(show, "A-2").status == 201
    assert rival.order_seats(queue, show, ["A-2"]).status == 201
    processes.cont(pid)
    refused = late.wait()
    assert_problem(refused, 409, "SEATS_TAKEN")
    assert refused["taken"] == ["A-2"]
    assert owners(parts, show) == {"A-2": rival.name}
    assert taken_in_redis(parts, queue, show) == {"A-2": rival.name}
    assert member.my_holds(show)["seats"] == [] and member.position(queue)["status"] == "READY"
    assert_orders_whole(parts, show)


def test_late_worker_after_reconcile_gave_the_claim_back(parts, api, queue, show):
    """The member has ordered with the same holds meanwhile; the late one does not disturb that."""
    member = api.ready_member(queue)
    member.hold(show, "A-1", "A-2")
    parts.arm_pause("order.claimed")
    late = BackgroundCall(lambda: member.order_seats(queue, show, ["A-1", "A-2"], key="late"))
    pid = parts.wait_hit("order.claimed")
    overdue(parts, queue)
    parts.reconcile()
    made = member.order_seats(queue, show, ["A-1", "A-2"], key="second")
    assert made.status == 201, made.body
    processes.cont(pid)
    assert late.wait().status in (401, 409, 503)
    assert owners(parts, show) == {"A-1": member.name, "A-2": member.name}
    assert member.orders()["orders"][0]["id"] == made["id"] and len(member.orders()["orders"]) == 1
    assert api.seat_states(show, member)["A-1"] == "HELD*"


@pytest.mark.limit(60)
def test_order_and_rival_around_the_deadline(parts, api, queue):
    """At -1 s the order wins, at +1 s the other member; at the very moment either, and never both."""
    show = api.show(queue, SEATS, holdTtlSeconds=10)
    pairs = [(seat, api.ready_member(queue), api.ready_member(queue)) for seat in SEATS[:14]]
    api.together([owner.hold_call(show, seat) for seat, owner, _ in pairs])
    now = redis_ms(parts)
    for seat, owner, _ in pairs:
        assert holds(parts, queue, show, owner.name)[0].deadline - now > 8_000
        move_deadlines(parts, queue, show, owner.name, ends_in_ms=3_000)
    ends = {seat: holds(parts, queue, show, owner.name)[0].deadline for seat, owner, _ in pairs}

    def race(some, offset_ms):
        """Order and new hold of each seat at once, so many ms from its deadline."""
        moment = min(ends[seat] for seat, _, _ in some) + offset_ms
        time.sleep(max(0, moment - redis_ms(parts)) / 1000)
        calls = [call for seat, owner, rival in some for call in (
            owner.seat_order_call(queue, show, [seat]), rival.hold_call(show, seat))]
        answers = api.together(calls)
        return [(one, *pair) for one, pair in zip(some, zip(answers[::2], answers[1::2]))]

    before = race(pairs[:2], -1_000)
    in_time = redis_ms(parts) < min(ends.values())  # else they were under way at the very moment, too
    for _, order, hold in before if in_time else ():
        assert order.status == 201, order.body
        assert_problem(hold, 409, "SEATS_TAKEN")
    at_the_moment = race(pairs[2:12], -5) + ([] if in_time else before)
    for (seat, owner, rival), order, hold in at_the_moment:
        assert (order.status, hold.status) in ((201, 409), (409, 201), (409, 409)), (order.body, hold.body)
        assert order.status == 201 or order.code == "SEAT_NOT_HELD"
    for (seat, owner, rival), order, hold in race(pairs[12:], 1_000):
        assert_problem(order, 409, "SEAT_NOT_HELD")
        assert hold.status == 201
        assert rival.order_seats(queue, show, [seat]).status == 201
    for (seat, owner, rival), order, hold in at_the_moment:
        if hold.status == 201:
            assert rival.order_seats(queue, show, [seat]).status == 201
    has = owners(parts, show)
    for (seat, owner, rival), order, hold in at_the_moment:
        assert has.get(seat) == (owner.name if order.status == 201 else rival.name if hold.status == 201 else None)
    assert_orders_whole(parts, show)


def test_redis_restart_keeps_holds_and_orders(parts, api, queue, show):
    holder, buyer = api.ready_member(queue), api.ready_member(queue)
    parts.redis.config_set("appendfsync", "always")
    holder.hold(show, "A-1", "A-2")
    buyer.hold(show, "A-3")
    assert buyer.order_seats(queue, show, ["A-3"]).status == 201
    before = holder.my_holds(show)
    parts.redis_server.stop()
    assert_problem(holder.hold(show, "A-4"), 503, "ADMISSION_UNAVAILABLE")
    assert_problem(holder.my_holds(show), 503, "ADMISSION_UNAVAILABLE")
    assert_problem(holder.give_back(show), 503, "ADMISSION_UNAVAILABLE")
    parts.start_redis()
    until(lambda: holder.my_holds(show).status == 200, 10, "Redis is back")
    assert holder.my_holds(show)["held"] == before["held"]
    states = api.seat_states(show, holder)
    assert (states["A-1"], states["A-3"]) == ("HELD*", "HELD")
    assert holder.order_seats(queue, show, ["A-1", "A-2"]).status == 201


def test_redis_lost_brings_back_what_is_ordered(parts, api):
    """Holds are gone with Redis's memory; what is ordered is known before the queue opens again."""
    quick = api.queue(recoverySeconds=3)
    show = api.show(quick, SEATS)
    holder, buyer = api.ready_member(quick), api.ready_member(quick)
    holder.hold(show, "A-1")
    buyer.hold(show, "A-2")
    assert buyer.order_seats(quick, show, ["A-2"]).status == 201
    parts.redis.flushall()
    assert_problem(holder.hold(show, "A-3"), 503, "ADMISSION_UNAVAILABLE")
    assert api.seats(show)["holdsKnown"] is False and api.seat_states(show)["A-2"] == "HELD"
    parts.reconcile_until(lambda: holder.position(quick).status == 200, what="the queue is back")
    assert taken_in_redis(parts, quick, show) == {"A-2": buyer.name}
    holder.wait_ready(quick)
    states = api.seat_states(show, buyer)
    assert (states["A-1"], states["A-2"]) == ("AVAILABLE", "HELD*")
    assert_problem(holder.hold(show, "A-1", "A-2"), 409, "SEATS_TAKEN")
    assert holder.hold(show, "A-1").status == 201


def test_reconcile_mends_what_redis_believes_wrongly(parts, api, queue, show):
    buyer = api.ready_member(queue)
    buyer.hold(show, "A-1", "A-2")
    assert buyer.order_seats(queue, show, ["A-1", "A-2"]).status == 201
    taken = key(queue, show, "taken")
    parts.redis.hdel(taken, "A-1")
    parts.redis.hset(taken, "A-2", "9/S/somebody/o_9")
    parts.redis.hset(taken, "A-3", "7/S/somebody/o_9")
    parts.reconcile_until(lambda: taken_in_redis(parts, queue, show) == owners(parts, show), what="they agree")
    states = api.seat_states(show, buyer)
    assert (states["A-1"], states["A-2"], states["A-3"]) == ("HELD*", "HELD*", "AVAILABLE")


def test_postgresql_gone_holds_go_on(parts, api, queue, show):
    """Holding needs Redis and the catalogue only; an order fails and leaves the hold and the token."""
    member, rival = api.ready_member(queue), api.ready_member(queue)
    member.hold(show, "A-1")
    assert api.seats(show).status == 200, "the plan is in the catalogue"
    before = holds(parts, queue, show, member.name)
    parts.postgres.stop()
    try:
        assert rival.hold(show, "A-2").status == 201
        assert_problem(rival.hold(show, "A-1"), 409, "SEATS_TAKEN")
        assert rival.my_holds(show)["seats"] == ["A-2"]
        assert api.seat_states(show, member)["A-1"] == "HELD*"
        assert_problem(member.order_seats(queue, show, ["A-1"], key="k"), 503, "ORDERS_UNAVAILABLE")
        assert holds(parts, queue, show, member.name) == before, "deadline and all"
        assert rival.give_back(show).status == 204
    finally:
        parts.postgres.start()
    until(lambda: member.order_seats(queue, show, ["A-1"], key="k").status in (200, 201), 10, "orders are back")
    assert owners(parts, show) == {"A-1": member.name}


def test_order_that_is_never_paid_gives_its_seats_back(parts, api, queue, show):
    member, rival = api.ready_member(queue), api.ready_member(queue)
    member.hold(show, "A-1", "A-2")
    made = member.order_seats(queue, show, ["A-1", "A-2"])
    assert_problem(rival.hold(show, "A-1"), 409, "SEATS_TAKEN")
    parts.postgres.query("UPDATE customer_order SET expires_at = now() - interval '1 second' WHERE id = %s", made["id"])
    parts.reconcile_until(lambda: taken_in_redis(parts, queue, show) == {}, what="the seats are back")
    assert set(api.seat_states(show, member).values()) == {"AVAILABLE"}
    assert rival.hold(show, "A-1").status == 201
    assert rival.order_seats(queue, show, ["A-1"]).status == 201
    assert owners(parts, show) == {"A-1": rival.name}
    assert_orders_whole(parts, show)


def test_paid_order_is_sold(parts, api, queue, show):
    """However the money comes: the change of status is numbered and told."""
    member = api.ready_member(queue)
    member.hold(show, "A-1")
    made = member.order_seats(queue, show, ["A-1"])
    assert api.seat_states(show)["A-1"] == "HELD"
    parts.postgres.query("UPDATE customer_order SET status = 'PAID', expires_at = NULL WHERE id = %s", made["id"])
    parts.reconcile_until(lambda: api.seat_states(show)["A-1"] == "SOLD", what="sold")
    assert api.seat_states(show, member)["A-1"] == "SOLD*"


def test_token_that_redis_did_not_know_to_be_spent_leaves_no_guard(parts, api, queue, show):
    member = api.ready_member(queue)
    assert member.hold(show, "A-1").status == 201
    admission = parts.redis.hget(f"sluice:{{{queue}}}:places", member.name).split("/")[2]
    parts.postgres.query("INSERT INTO admission_use (admission_id, queue, epoch, seq, kind, ref) "
                         "VALUES (%s, %s, 1, 1, 'order', 'o_1')", admission, queue)
    assert_problem(member.order_seats(queue, show, ["A-1"]), 401, "ENTRY_TOKEN_INVALID")
    assert member.give_back(show).status == 204, "no order runs on them"
    assert api.seat_states(show)["A-1"] == "AVAILABLE"
