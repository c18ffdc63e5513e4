"""Killing or stopping a worker at any step of an order: never two orders, never a token lost."""

import contextlib
import threading

import pytest

from lib import processes
from lib.background_call import ORDER_STEPS, BackgroundCall, overdue
from lib.client import assert_problem, new_key
from lib.parts import SETTINGS, SHORTEST_LEASE_S
from lib.wait import until


@pytest.fixture
def shop(api):
    class Shop:
        queue = api.queue(claimLeaseSeconds=SHORTEST_LEASE_S)
        sku = api.product(queue, stock=10)
        items = [{"sku": sku, "quantity": 1}]
    return Shop


@contextlib.contextmanager
def killing(parts, pool, every):
    """While the block runs, a worker of the pool is killed every so many seconds."""
    over = threading.Event()

    def kill():
        while not over.wait(every):
            for pid in parts.workers(pool)[:1]:
                try:
                    processes.kill9(pid)
                except ProcessLookupError:
                    pass
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        over.set()
        killer.join(10)


def orders(parts, queue):
    return parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", queue)


def assert_sets_agree(parts, queue):
    def key(name):
        return f"sluice:{{{queue}}}:{name}"
    places = set(parts.redis.hkeys(key("places")))
    ready, claimed = (set(parts.redis.zrange(key(name), 0, -1)) for name in ("ready", "claimed"))
    assert places == ready | claimed and not ready & claimed


@pytest.mark.parametrize("step, committed", ORDER_STEPS)
def test_kill_9_at_each_step(parts, api, shop, step, committed):
    """Whatever the step: reconcile settles it, the same key gives the one order, nothing is done twice."""
    member = api.ready_member(shop.queue)
    key = new_key()
    parts.arm_pause(step)
    call = BackgroundCall(lambda: member.order(shop.queue, shop.items, key=key))
    processes.kill9(parts.wait_hit(step))
    assert_problem(call.wait(), 503, "ORDERS_UNAVAILABLE")
    parts.all_workers("order")
    assert orders(parts, shop.queue) == (1 if committed else 0)
    if step in ("order.claimed", "order.before_transaction", "order.committed"):
        assert_problem(member.order(shop.queue, shop.items, key=key), 409, "ORDER_IN_PROGRESS")
        if committed:
            parts.reconcile_until(lambda: member.position(shop.queue)["status"] == "NOT_ENTERED")
        else:
            parts.reconcile()
            overdue(parts, shop.queue)
            parts.reconcile()
            position = member.position(shop.queue)
            assert position["status"] == "READY" and "ordering" not in position.json
    answer = member.order(shop.queue, shop.items, key=key)
    assert answer.status == (200 if committed else 201), answer.body
    assert member.position(shop.queue)["status"] == "NOT_ENTERED"
    assert_problem(member.order(shop.queue, shop.items), 401, "ENTRY_TOKEN_INVALID")
    parts.reconcile_until(lambda: parts.outbox_empty(shop.queue))
    assert orders(parts, shop.queue) == 1
    assert api.admin("GET", f"/products/{shop.sku}")["available"] == 9
    assert_sets_agree(parts, shop.queue)


def test_crash_after_the_commit_is_settled_by_the_lease_too(parts, api, shop):
    """The outbox row is lost to the test: what remains is the claim, which PostgreSQL knows as committed."""
    member = api.ready_member(shop.queue)
    parts.arm_pause("order.committed")
    call = BackgroundCall(lambda: member.order(shop.queue, shop.items))
    processes.kill9(parts.wait_hit("order.committed"))
    call.wait()
    parts.postgres.query("DELETE FROM outbox WHERE queue = %s", shop.queue)
    overdue(parts, shop.queue)
    parts.reconcile()
    assert member.position(shop.queue)["status"] == "NOT_ENTERED"
    assert api.stats(shop.queue)["consumed"] == 1
    assert orders(parts, shop.queue) == 1


@pytest.mark.parametrize("step", ["order.claimed", "order.before_transaction"])
def test_worker_stopped_before_its_transaction_and_continued_late(parts, api, shop, step):
    """Reconcile has released its claim meanwhile, the member has ordered with the token: the late
    transaction must fail."""
    member = api.ready_member(shop.queue)
    parts.arm_pause(step)
    late = BackgroundCall(lambda: member.order(shop.queue, shop.items, key="late"))
    pid = parts.wait_hit(step)
    overdue(parts, shop.queue)
    parts.reconcile()
    again = member.position(shop.queue)
    assert again["status"] == "READY" and "ordering" not in again.json
    made = member.order(shop.queue, shop.items, key="second")
    assert made.status == 201
    processes.cont(pid)
    answer = late.wait()
    assert answer.status in (401, 409, 503), answer.body
    parts.reconcile()
    assert orders(parts, shop.queue) == 1
    assert member.orders()["orders"][0]["id"] == made["id"]
    assert api.admin("GET", f"/products/{shop.sku}")["available"] == 9
    assert_sets_agree(parts, shop.queue)


def test_worker_continued_after_the_release_leaves_the_token_usable(parts, api, shop):
    """The late one fails, and does not take the token with it: the member can order once."""
    member = api.ready_member(shop.queue)
    parts.arm_pause("order.before_transaction")
    late = BackgroundCall(lambda: member.order(shop.queue, shop.items, key="k"))
    pid = parts.wait_hit("order.before_transaction")
    overdue(parts, shop.queue)
    parts.reconcile()
    processes.cont(pid)
    late.wait()
    assert orders(parts, shop.queue) == 0
    until(lambda: "ordering" not in member.position(shop.queue).json, 5)
    assert member.order(shop.queue, shop.items, key="k").status == 201
    assert_problem(member.order(shop.queue, shop.items), 401, "ENTRY_TOKEN_INVALID")
    assert orders(parts, shop.queue) == 1


def test_reconcile_waits_for_a_transaction_that_runs(parts, api, shop):
    """"Not there" is not "never": the order's transaction waits for a row lock when its lease runs out."""
    member = api.ready_member(shop.queue)
    parts.reconfigure("order", statement_timeout_ms=8000, lock_timeout_ms=7000)
    try:
        blocker = parts.postgres.connection()
        with blocker.cursor() as cursor:
            cursor.execute("SELECT 1 FROM product WHERE sku = %s FOR UPDATE", (shop.sku,))
            call = BackgroundCall(lambda: member.order(shop.queue, shop.items))
            # The lease outlasts what a statement may take, unless clocks or settings play tricks.
            claimed = f"sluice:{{{shop.queue}}}:claimed"
            until(lambda: parts.redis.zadd(claimed, {member.name: 1}, xx=True, ch=True) == 1, 5, "a claim")
            settling = BackgroundCall(lambda: parts.reconcile(expect=None))
            until(lambda: parts.postgres.superuser(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == [(2,)], 5,
                "the order waits for the row, reconcile for the order")
            assert member.position(shop.queue).json.get("ordering") is True, "still undecided"
            assert orders(parts, shop.queue) == 0
            blocker.rollback()
        blocker.close()
        assert call.wait().status == 201
        settling.wait()
        assert orders(parts, shop.queue) == 1
        assert member.position(shop.queue)["status"] == "NOT_ENTERED"
    finally:
        parts.reconfigure("order", **{name: SETTINGS[name] for name in ("statement_timeout_ms", "lock_timeout_ms")})


def test_two_reconciles_at_once(parts, api, shop):
    members = api.ready_members(shop.queue, 4)
    for member in members[:2]:
        parts.arm_pause("order.claimed")
        call = BackgroundCall(lambda m=member: m.order(shop.queue, shop.items))
        processes.kill9(parts.wait_hit("order.claimed"))
        call.wait()
        parts.all_workers("order")
    for member in members[2:]:
        parts.arm_pause("order.committed")
        call = BackgroundCall(lambda m=member: m.order(shop.queue, shop.items))
        processes.kill9(parts.wait_hit("order.committed"))
        call.wait()
        parts.all_workers("order")
    overdue(parts, shop.queue)
    passes = [BackgroundCall(parts.reconcile) for _ in range(3)]
    for one in passes:
        one.wait(60)
    assert [m.position(shop.queue)["status"] for m in members] == ["READY", "READY", "NOT_ENTERED", "NOT_ENTERED"]
    assert orders(parts, shop.queue) == 2
    assert api.stats(shop.queue)["consumed"] == 2


def test_a_refused_deletion_is_no_silence_of_postgresql(parts, shop):
    """Somebody else holds the rows of what reconcile has carried out: it carries it out again later."""
    parts.postgres.query("""
        CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN RAISE EXCEPTION 'canceling statement due to lock timeout' USING ERRCODE = 'lock_not_available'; END$$;
        CREATE TRIGGER held BEFORE DELETE ON outbox FOR EACH ROW EXECUTE FUNCTION held()""")
    try:
        parts.postgres.query("INSERT INTO outbox (queue, kind) VALUES (%s, 'sold_out')", shop.queue)
        assert "PostgreSQL does not answer" not in parts.reconcile()
        assert not parts.outbox_empty(shop.queue)
    finally:
        parts.postgres.query("DROP TRIGGER held ON outbox; DROP FUNCTION held()")
    parts.postgres.query("UPDATE outbox SET retry_at = now() WHERE queue = %s", shop.queue)
    parts.reconcile()
    assert parts.outbox_empty(shop.queue)


def test_killing_workers_under_load_loses_nobody(parts, api):
    """Every member tries with one key until there is an order; order workers die all the while."""
    queue = api.queue(claimLeaseSeconds=SHORTEST_LEASE_S)
    sku = api.product(queue, stock=1000)
    parts.start_reconcile(1)
    members = api.ready_members(queue, 60)
    items = [{"sku": sku, "quantity": 1}]
    keys = {member: new_key() for member in members}
    made, pending = {}, list(members)

    def all_done():
        answers = api.together([m.order_call(queue, items, keys[m]) for m in pending], 12)
        for member, answer in zip(list(pending), answers):
            assert answer.status in (200, 201) or answer.code in (
                "ORDER_IN_PROGRESS", "ORDERS_UNAVAILABLE", "ADMISSION_UNAVAILABLE"), answer.body
            if answer.status in (200, 201):
                made[member] = answer["id"]
                pending.remove(member)
        return not pending
    with killing(parts, "order", every=0.4):
        until(all_done, 40, "an order for everyone", every=0.2)
    assert len(set(made.values())) == 60 == orders(parts, queue)
    assert api.admin("GET", f"/products/{sku}")["available"] == 940


def test_killing_queue_workers_under_load_keeps_every_place(parts, api):
    queue = api.still_queue()
    members = [api.member() for _ in range(100)]
    with killing(parts, "queue", every=0.3):
        pending = list(members)

        def all_in():
            answers = api.together([m.enter_call(queue) for m in pending], 8)
            for member, answer in zip(list(pending), answers):
                assert answer.status in (200, 201, 503), answer.body
                if answer.status != 503:
                    pending.remove(member)
            return not pending
        until(all_in, 20, "everybody in line")
        seen = 0
        while seen < 400:  # the test's own limit ends it where hardly anybody is answered
            answers = api.together([m.position_call(queue) for m in members], 8)
            good = [answer["rank"] for answer in answers if answer.status == 200]
            assert len(set(good)) == len(good)
            seen += len(good)
    parts.all_workers("queue")
    ranks = [answer["rank"] for answer in api.together([m.position_call(queue) for m in members], 8)]
    assert sorted(ranks) == list(range(100))
