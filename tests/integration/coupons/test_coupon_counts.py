"""What Redis has heard of coupons is what PostgreSQL's rows say, or reconcile finds out and mends it."""

import re

import pytest

from lib import logs, processes
from lib.background_call import BackgroundCall
from lib.client import assert_problem
from lib.coupons import in_sql, issued, key, known, public, stored, take_back
from lib.wait import until


def corrected(report):
    return int(re.search(r"^coupons corrected (\d+)$", report, re.M).group(1))


def assert_agree(parts, queue, event):
    assert known(parts, queue, event) == stored(parts, event)


@pytest.fixture
def sale(parts, api):
    """A queue with an event of six coupons, of which two are issued, and two who hold an entry token."""
    class Sale:
        queue = api.queue()
        event = api.coupon_event(queue, 6)
        owners = api.ready_members(queue, 2)
        rest = api.ready_members(queue, 2)
    for member in Sale.owners:
        assert member.coupon(Sale.event).status == 201
    assert_agree(parts, Sale.queue, Sale.event)
    parts.reconcile_until(lambda: parts.outbox_empty(Sale.queue))
    return Sale


def test_nothing_is_mended_where_nothing_is_wrong(parts, api, sale):
    assert corrected(parts.reconcile()) == 0
    api.add_coupons(sale.event, generate=3)
    api.coupon_event(sale.queue, event=sale.event, opensAt="2020-01-01T00:00:00Z", endsAt="2100-01-01T00:00:00Z")
    assert_agree(parts, sale.queue, sale.event)
    # One whose way to Redis goes by the outbox is on its way, not missing.
    assert in_sql(parts, sale.event, sale.queue, "somebody", 9001)[0] == "issued"
    parts.postgres.query("UPDATE outbox SET retry_at = now() + interval '1 hour' WHERE queue = %s", sale.queue)
    assert corrected(parts.reconcile()) == 0
    assert len(known(parts, sale.queue, sale.event)[1]) == 2
    parts.postgres.query("UPDATE outbox SET retry_at = NULL WHERE queue = %s", sale.queue)
    parts.reconcile_until(lambda: parts.outbox_empty(sale.queue))
    assert_agree(parts, sale.queue, sale.event)


def test_what_the_outbox_has_lost_is_found(parts, sale):
    for number in range(3):
        assert in_sql(parts, sale.event, sale.queue, f"lost-{number}", 9001 + number)[0] == "issued"
    parts.postgres.query("DELETE FROM outbox WHERE queue = %s", sale.queue)
    assert corrected(parts.reconcile()) == 3
    assert_agree(parts, sale.queue, sale.event)
    found = [event for event in logs.events(parts.logs, "coupons.owners_drift") if event["queue"] == sale.queue]
    assert [(event["redis"], event["postgres"], event["added"]) for event in found] == [(2, 5, 3)]


WRONG = {
    "an owner too many": lambda redis, queue, event, owner: redis.zadd(key(queue, "couponOwners"), {f"{event}/x": 0}),
    "an owner too few": lambda redis, queue, event, owner: redis.zrem(key(queue, "couponOwners"), f"{event}/{owner}"),
    "no owner at all": lambda redis, queue, event, owner: redis.delete(key(queue, "couponOwners")),
    "owners of nothing": lambda redis, queue, event, owner: redis.zadd(key(queue, "couponOwners"), {"no-event/x": 0}),
    "too many coupons": lambda redis, queue, event, owner: redis.hset(key(queue, "coupons"), event, "9/0/0/0"),
    "all gone": lambda redis, queue, event, owner: redis.hset(key(queue, "coupons"), event, "2/1/0/0"),
    "another end": lambda redis, queue, event, owner: redis.hset(key(queue, "coupons"), event, "6/0/0/1"),
    "nonsense": lambda redis, queue, event, owner: redis.hset(key(queue, "coupons"), event, "nonsense"),
    "no record": lambda redis, queue, event, owner: redis.hdel(key(queue, "coupons"), event),
    "another event": lambda redis, queue, event, owner: redis.hset(key(queue, "coupons"), "no-event", "1/0/0/0"),
    "nothing": lambda redis, queue, event, owner: redis.delete(key(queue, "coupons"), key(queue, "couponOwners")),
}


def test_wrong_counts_are_found_and_mended(parts, sale):
    before = parts.redis.hlen(key(sale.queue, "coupons")), parts.redis.zcard(key(sale.queue, "couponOwners"))
    for name, spoil in WRONG.items():
        assert spoil(parts.redis, sale.queue, sale.event, sale.owners[0].name) is not None
        report = parts.reconcile()
        # What is said of an event that is not there misleads nobody, and so is no finding.
        assert corrected(report) > 0 or name in ("owners of nothing", "another event"), name
        assert known(parts, sale.queue, sale.event) == stored(parts, sale.event), name
        after = parts.redis.hlen(key(sale.queue, "coupons")), parts.redis.zcard(key(sale.queue, "couponOwners"))
        assert after == before, name
    assert corrected(parts.reconcile()) == 0


def test_answers_are_right_while_redis_is_wrong(parts, api, sale):
    """What Redis has heard saves the way to PostgreSQL; it never decides against it."""
    one, two = sale.rest
    parts.redis.zadd(key(sale.queue, "couponOwners"), {f"{sale.event}/{one.name}": 0})
    answer = one.coupon(sale.event)
    assert answer.status == 201 and answer["alreadyIssued"] is False, "it was no owner"
    parts.redis.hset(key(sale.queue, "coupons"), sale.event, "6/1/0/0")
    assert two.coupon(sale.event).status == 201, "gone, but not all owners are known"
    parts.redis.delete(key(sale.queue, "couponOwners"))
    member = sale.owners[0]
    code = member.my_coupon(sale.event)["code"]
    member.ticket, member.token = None, None
    member.enter(sale.queue)
    member.wait_ready(sale.queue)
    again = member.coupon(sale.event)
    assert again.status == 200 and again["code"] == code
    parts.redis.delete(key(sale.queue, "coupons"))
    public(api, sale.event, coupons=6, issued=4, left=2)
    assert issued(parts, sale.event) == 4


def test_a_late_consume_counts_once(parts, sale):
    """The worker stands still between commit and consume; the outbox has told Redis meanwhile."""
    member = sale.rest[0]
    parts.arm_pause("order.committed")
    late = BackgroundCall(lambda: member.coupon(sale.event))
    pid = parts.wait_hit("order.committed")
    assert issued(parts, sale.event) == 3 and len(known(parts, sale.queue, sale.event)[1]) == 2
    parts.reconcile_until(lambda: parts.outbox_empty(sale.queue))
    assert_agree(parts, sale.queue, sale.event)
    processes.cont(pid)
    assert late.wait().status == 201
    assert_agree(parts, sale.queue, sale.event)
    assert corrected(parts.reconcile()) == 0


def test_redis_forgets_and_hears_all_of_it_before_the_queue_is_back(parts, api, sale):
    gone = api.coupon_event(sale.queue, 1)
    assert sale.rest[0].coupon(gone).status == 201
    parts.reconcile_until(lambda: parts.outbox_empty(sale.queue))
    parts.redis.flushall()
    steps = []
    with parts.redis_server.client().monitor() as monitor:
        parts.reconcile_until(lambda: parts.redis.exists(key(sale.queue, "settings")))
        parts.redis.echo("the end")
        for command in monitor.listen():
            words = command["command"]
            if words.startswith("ECHO"):
                break
            mine = sale.queue in words and words.upper().startswith("EVAL")
            steps += [word for word in (f"{sale.event} add", f"{gone} add", f"{gone} 1/1/0/0", " recover ")
                      if mine and word in words]
    assert set(steps[:steps.index(" recover ")]) == {f"{sale.event} add", f"{gone} add", f"{gone} 1/1/0/0"}
    assert_agree(parts, sale.queue, sale.event)
    assert_agree(parts, sale.queue, gone)
    assert corrected(parts.reconcile()) == 0


def test_a_day_after_its_end_redis_need_not_know(parts, sale):
    parts.postgres.query("UPDATE coupon_event SET ends_at = now() - interval '25 hours' WHERE id = %s", sale.event)
    assert corrected(parts.reconcile()) == 0
    assert known(parts, sale.queue, sale.event) == (None, set())
    assert parts.redis.hlen(key(sale.queue, "coupons")) == 1, "the number of the finding"


def test_taken_back_by_hand(parts, api, sale):
    """Nothing in the product does so; whoever does it in SQL need not tell Redis."""
    take_back(parts, sale.event)
    assert corrected(parts.reconcile()) == 2
    assert_agree(parts, sale.queue, sale.event)
    parts.postgres.query("DELETE FROM coupon WHERE event = %s", sale.event)
    parts.reconcile()
    public(api, sale.event, coupons=0, issued=0, left=0, state="SOLD_OUT")


def test_one_event_of_several_is_gone(parts, api, sale):
    """The queue stays open, and whoever asks for the one that is gone learns it from Redis."""
    small = api.coupon_event(sale.queue, 1)
    one, two = sale.rest
    assert one.coupon(small).status == 201
    until(lambda: known(parts, sale.queue, small)[0] == "1/1/0/0", 2)
    refused = two.coupon(small)
    assert_problem(refused, 410, "SOLD_OUT")
    position = two.position(sale.queue)
    assert position["queueState"] == "OPEN" and position["status"] == "READY"
    api.add_coupons(small, codes=["ONE-MORE"])
    assert two.coupon(small)["code"] == "ONE-MORE"


def refused_as_ended(answer):
    assert_problem(answer, 410, "SOLD_OUT")
    assert answer["detail"].startswith("The event has ended")


def test_the_end_closes_the_queue_by_itself(parts, api):
    """No reconcile runs: everyone waiting is told at the next poll after the end."""
    queue = api.queue()
    event = api.coupon_event(queue, 5)
    ends = parts.postgres.value("SELECT date_trunc('milliseconds', clock_timestamp()) + interval '2 s'")
    waiting = api.member()
    api.still_queue(queue)
    waiting.enter(queue)
    api.coupon_event(queue, event=event, endsAt=ends.isoformat())
    seen = waiting.position(queue)["queueState"]
    assert seen == "OPEN" or parts.postgres.value("SELECT clock_timestamp() >= %s", ends)
    until(lambda: waiting.position(queue)["queueState"] == "SOLD_OUT", 4)
    assert parts.postgres.value("SELECT clock_timestamp() >= %s", ends)
    refused_as_ended(api.member().enter(queue))
    assert parts.postgres.value("SELECT sold_out FROM queue WHERE id = %s", queue) is False
    parts.reconcile()
    assert parts.postgres.value("SELECT sold_out FROM queue WHERE id = %s", queue) is True
    refused_as_ended(api.member().enter(queue))
    drift = [event for name in ("queue.sold_out_drift", "queue.goods_drift")
             for event in logs.events(parts.logs, name) if event["queue"] == queue]
    assert {event["level"] for event in drift} <= {"info"}, "what is due is no defect"
    # More time, or more to give out, opens it again.
    api.coupon_event(queue, event=event, endsAt="2100-01-01T00:00:00Z")
    until(lambda: waiting.position(queue)["queueState"] == "OPEN", 2)


def test_what_else_is_sold_keeps_the_queue_open_after_the_end(parts, api):
    queue = api.queue()
    sku = api.product(queue, stock=1)
    ends = parts.postgres.value("SELECT clock_timestamp() + interval '300 ms'")
    api.coupon_event(queue, 5, endsAt=ends.isoformat())
    member, other = api.ready_members(queue, 2)
    until(lambda: parts.postgres.value("SELECT clock_timestamp() > %s", ends), 2)
    assert other.position(queue)["queueState"] == "OPEN"
    assert member.order(queue, [{"sku": sku, "quantity": 1}]).status == 201
    until(lambda: other.position(queue)["queueState"] == "SOLD_OUT", 2)
