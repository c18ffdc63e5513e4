"""Redis gone, PostgreSQL gone, scripts gone: fail closed, and nobody loses anything."""

import threading
import time

import pytest

from lib import processes
from lib.client import assert_problem, new_key, seconds_between
from lib.parts import SHORTEST_LEASE_S
from lib.wait import until


@pytest.fixture
def shop(api):
    class Shop:
        queue = api.queue(entryTtlSeconds=60, claimLeaseSeconds=SHORTEST_LEASE_S)
        sku = api.product(queue, stock=100)
        items = [{"sku": sku, "quantity": 1}]
    return Shop


@pytest.mark.parametrize("how", ["stopped", "silent"])
def test_redis_gone(parts, api, shop, how):
    buyer, member, leaver, newcomer = (*(api.ready_member(shop.queue) for _ in range(3)), api.member())
    order = buyer.order(shop.queue, shop.items)
    assert order.status == 201
    parts.redis.config_set("appendfsync", "always")
    if how == "stopped":
        parts.redis_server.stop()
    else:
        processes.stop(parts.redis_server.process.pid)
    begin = time.monotonic()
    try:
        calls = [newcomer.enter_call(shop.queue), member.position_call(shop.queue),
                 # Redis may carry it out later, although it is answered with 503.
                 ("DELETE", f"/v1/queues/{shop.queue}/entries", leaver.headers(), None),
                 ("GET", f"/v1/queues/{shop.queue}", {}, None),
                 member.order_call(shop.queue, shop.items)]
        for call in calls[:3] + calls[4:]:
            assert_problem(api.call(*call), 503, "ADMISSION_UNAVAILABLE")
        until(lambda: api.call(*calls[3]).code == "ADMISSION_UNAVAILABLE", 5, "the state's cache is over")
        assert time.monotonic() - begin < 40, "bounded waits"
        assert buyer.orders()["orders"][0]["id"] == order["id"], "own orders go on"
        assert api.call("GET", f"/v1/orders/{order['id']}", buyer.headers()).json == order.json
        assert api.call("GET", "/livez").status == 200
        ready = api.call("GET", "/readyz")
        assert ready.status == 503 and b"edis" in ready.body
    finally:
        if how == "stopped":
            parts.start_redis()
        else:
            processes.cont(parts.redis_server.process.pid)
    until(lambda: member.position(shop.queue).status == 200, 10, "queue pool is back")
    assert member.position(shop.queue)["status"] == "READY", "the token is still there"
    # Redis may carry out a claim that nobody waits for any more: the worker gives it back, long before its lease ends.
    until(lambda: member.order(shop.queue, shop.items, key="after").status in (200, 201), 10, "orders are back")
    assert newcomer.enter(shop.queue).status in (200, 201)
    assert parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", shop.queue) == 2


@pytest.mark.limit(90)
@pytest.mark.parametrize("how", ["killed", "silent"])
def test_postgres_gone(parts, api, shop, how):
    member, idle = api.ready_member(shop.queue), api.ready_member(shop.queue)
    api.admin("PATCH", f"/queues/{shop.queue}", {"ratePerSecond": 1000, "maxActive": 1})
    waiting = api.member()
    waiting.enter(shop.queue)
    before = idle.position(shop.queue)
    pids = []
    if how == "killed":
        parts.postgres.kill()
    else:
        # First the one that starts the others, or one of those would be missed.
        processes.stop(parts.postgres.process.pid)
        pids = parts.postgres.pids()
        for pid in pids:
            processes.stop(pid)
    begin = time.monotonic()
    try:
        key = new_key()
        assert_problem(member.order(shop.queue, shop.items, key=key), 503, "ORDERS_UNAVAILABLE")
        assert_problem(member.orders(), 503, "ORDERS_UNAVAILABLE")
        assert member.position(shop.queue).status == 200, "queue routes go on"
        assert api.member().enter(shop.queue).status == 201
        ready = api.call("GET", "/readyz")
        assert ready.status == 503 and b"ostgre" in ready.body
        # Longer than the silence that counts as an outage.
        key_state = f"sluice:{{{shop.queue}}}:state"
        until(lambda: int(parts.redis.hget(key_state, "frozenSince") or 0) > 0, 10, "the outage is noticed")
        parts.redis.hset(f"sluice:{{{shop.queue}}}:settings", "maxActive", 1000)
        ticks = parts.redis.hget(key_state, "bucketAt")
        until(lambda: int(parts.redis.hget(key_state, "bucketAt")) > int(ticks) + 1500, 10, "ticks go on")
        assert waiting.position(shop.queue)["status"] == "WAITING", "nobody is promoted meanwhile"
    finally:
        if how == "killed":
            parts.postgres.start()
        else:
            for pid in pids:
                processes.cont(pid)
    lasted = time.monotonic() - begin
    until(lambda: api.call("GET", "/readyz").status == 200, 20, "order pool is back", every=0.1)
    until(lambda: waiting.position(shop.queue)["status"] == "READY", 10, "promotion goes on")
    over = time.monotonic() - begin
    moved = seconds_between(before["entryTokenExpiresAt"], idle.position(shop.queue)["entryTokenExpiresAt"])
    assert lasted - 3 < moved < over + 2, "READY deadlines moved by the outage"
    if how == "silent":
        # What was sent to a server that did not answer may have happened: its claim is settled first.
        parts.reconcile_until(lambda: "ordering" not in member.position(shop.queue).json)
    # A worker may pause for up to a second between two attempts to connect, and says 503 meanwhile.
    until(lambda: member.order(shop.queue, shop.items, key=key).status in (200, 201), 10, "orders are taken again")
    assert parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", shop.queue) == 1


def test_order_pool_gone_promotes_nobody(parts, api):
    queue = api.queue()
    parts.pools["order"].stop(seconds=20)
    try:
        member = api.member()
        until(lambda: member.enter(queue).status in (200, 201), 5)
        state = f"sluice:{{{queue}}}:state"
        until(lambda: int(parts.redis.hget(state, "frozenSince") or 0) > 0, 10, "the silence is noticed")
        late = api.member()
        late.enter(queue)
        frozen = parts.redis.hmget(state, "lastAdmittedAt", "admitted")
        until(lambda: int(parts.redis.hget(state, "bucketAt")) > int(parts.redis.hget(state, "frozenSince")) + 3000,
              10, "ticks go on")
        assert late.position(queue)["status"] == "WAITING"
        assert parts.redis.hmget(state, "lastAdmittedAt", "admitted") == frozen
        assert_problem(member.orders(), 503, "ORDERS_UNAVAILABLE")
    finally:
        parts.start_pool("order", parts.order_workers)
    late.wait_ready(queue)


def test_script_flush_under_load(parts, api, shop):
    """Redis forgets the scripts again and again; nobody notices."""
    over = threading.Event()

    def flush_all_the_time():
        client = parts.redis_server.client()
        while not over.wait(0.02):
            client.script_flush()
        client.close()
    thread = threading.Thread(target=flush_all_the_time)
    thread.start()
    try:
        members = [api.member() for _ in range(60)]
        answers = api.together([m.enter_call(shop.queue) for m in members], 16)
        assert {answer.status for answer in answers} == {201}
        for member in members:
            member.wait_ready(shop.queue)
        answers = api.together([m.order_call(shop.queue, shop.items) for m in members], 4)
        assert {answer.status for answer in answers} == {201}
    finally:
        over.set()
        thread.join(10)
    assert parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", shop.queue) == 60


def test_failed_consume_is_worked_off_by_the_outbox(parts, api, shop):
    """Redis goes away between commit and consume: the order stands and is answered."""
    member = api.ready_member(shop.queue)
    parts.redis.config_set("appendfsync", "always")
    parts.arm_pause("order.committed")
    answers = []
    thread = threading.Thread(target=lambda: answers.append(member.order(shop.queue, shop.items, key="k")))
    thread.start()
    pid = parts.wait_hit("order.committed")
    parts.redis_server.stop()
    try:
        processes.cont(pid)
        thread.join(20)
        assert answers[0].status == 201, answers[0].body
    finally:
        parts.start_redis()
    until(lambda: member.position(shop.queue).json.get("ordering"), 10, "the token is still claimed")
    parts.reconcile_until(lambda: parts.outbox_empty(shop.queue))
    assert member.position(shop.queue)["status"] == "NOT_ENTERED"
    assert member.order(shop.queue, shop.items, key="k").status == 200
