"""A worker takes on the next order while the database works for one: both are whole, and each hears its own."""

import os
import signal
import subprocess
from contextlib import contextmanager

import pytest

from lib import processes
from lib.background_call import BackgroundCall, overdue
from lib.client import assert_problem, new_key
from lib.parts import SETTINGS, SHORTEST_LEASE_S
from lib.wait import until


@pytest.fixture(scope="module")
def one_worker(all_parts):
    """The order pool is one process: whoever waits can be taken on by nobody else."""
    workers, all_parts.order_workers = all_parts.order_workers, 1
    all_parts.reconfigure("order", statement_timeout_ms=2000, lock_timeout_ms=1900)
    yield
    all_parts.order_workers = workers
    all_parts.reconfigure("order", **{name: SETTINGS[name] for name in ("statement_timeout_ms", "lock_timeout_ms")})


@pytest.fixture
def queue(one_worker, api):
    return api.queue(claimLeaseSeconds=SHORTEST_LEASE_S)


class Buyer:
    """Somebody READY with a product that nobody else wants."""

    def __init__(self, api, queue, stock=10):
        self.member, self.queue, self.key = api.ready_member(queue), queue, new_key()
        self.sku = api.product(queue, stock=stock)

    def order(self):
        return self.member.order(self.queue, [{"sku": self.sku, "quantity": 1}], key=self.key)


def worker(parts):
    return parts.all_workers("order")[0]


def waiting(parts):
    """How many connections nobody has accepted yet."""
    lines = subprocess.run(["ss", "-xlnH"], capture_output=True, text=True, check=True).stdout.splitlines()
    return next(int(line.split()[2]) for line in lines if str(parts.socket("order")) in line.split()[4])


def claims(parts, queue):
    return parts.redis.zcard(f"sluice:{{{queue}}}:claimed")


def orders(parts, queue):
    return parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", queue)


def stuck_for(parts, ms):
    """Pids of those in the database that have waited for a row for so long. STALLED_US of fcgi-app/pool/blocking_loop.c is 50 ms."""
    return [pid for pid, in parts.postgres.superuser(
        "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
        f"AND now() - query_start > interval '{ms} ms'")]


def at_once(parts, *calls):
    """The calls under way, in this order before a worker that finds them all waiting."""
    pid = worker(parts)
    processes.stop(pid)
    running = []
    for call in calls:
        running.append(BackgroundCall(call))
        until(lambda: waiting(parts) == len(running), 5, "a connection that waits")
    processes.cont(pid)
    return running


@contextmanager
def locked(parts, sku):
    """Whoever orders this product waits in the database; yields what lets them go on."""
    blocker = parts.postgres.connection()
    try:
        blocker.cursor().execute("SELECT 1 FROM product WHERE sku = %s FOR UPDATE", (sku,))
        yield blocker.rollback
    finally:
        blocker.close()


def pair_under_way(parts, first, second):
    """Both of them, the first in the database, the second claimed behind it."""
    both = at_once(parts, first.order, second.order)
    until(lambda: claims(parts, first.queue) == 2, 5, "the second is taken on while the first is in the database")
    assert orders(parts, first.queue) == 0
    return both


def test_the_next_is_taken_on_meanwhile(parts, api, queue):
    first, second = Buyer(api, queue), Buyer(api, queue)
    with locked(parts, first.sku) as let_go:
        both = pair_under_way(parts, first, second)
        let_go()
    for buyer, running in zip((first, second), both):
        answer = running.wait()
        assert answer.status == 201 and answer["items"][0]["sku"] == buyer.sku
        assert buyer.member.position(queue)["status"] == "NOT_ENTERED"
    assert orders(parts, queue) == 2


def test_what_needs_no_transaction_is_answered_meanwhile(parts, api, queue):
    first, second = Buyer(api, queue), Buyer(api, queue)
    with locked(parts, first.sku) as let_go:
        slow, wrong = at_once(parts, first.order, lambda: second.member.order(queue, []))
        assert_problem(wrong.wait(), 400, "INVALID_REQUEST")
        assert slow.answer is None and orders(parts, queue) == 0
        let_go()
    assert slow.wait().status == 201


def test_nobody_is_taken_on_behind_one_that_is_stuck(parts, api, queue):
    """Another worker, had it been there, would have served the second."""
    first, second = Buyer(api, queue), Buyer(api, queue)
    with locked(parts, first.sku) as let_go:
        stuck = BackgroundCall(first.order)
        until(lambda: stuck_for(parts, 100), 5, "the first is stuck")
        late = BackgroundCall(second.order)
        until(lambda: waiting(parts) == 1, 5, "the second waits outside")
        assert claims(parts, queue) == 1
        let_go()
    assert stuck.wait().status == 201 and late.wait().status == 201


def test_the_time_to_take_on_is_over_at_some_time(parts, api, queue):
    """Whoever keeps coming with nothing to do for the database does not keep the first from its deadline."""
    first, late = Buyer(api, queue), Buyer(api, queue)
    with locked(parts, first.sku) as let_go:
        parts.arm_pause("order.before_transaction")
        strangers = lambda: late.member.order(queue, [{"sku": late.sku, "quantity": 1}], token="x" * 40)
        stuck, refused, last = at_once(parts, first.order, strangers, late.order)
        pid = parts.wait_hit("order.before_transaction")
        parts.arm_pause("order.before_claim")
        processes.cont(pid)
        # Here the first is in the database, and stays there for longer than anybody is taken on.
        pid = parts.wait_hit("order.before_claim")
        until(lambda: stuck_for(parts, 100), 5, "the first is stuck")
        processes.cont(pid)
        assert_problem(refused.wait(), 401, "ENTRY_TOKEN_INVALID")
        assert claims(parts, queue) == 1 and waiting(parts) == 1
        let_go()
    assert stuck.wait().status == 201 and last.wait().status == 201


def test_a_slow_one_before_takes_nobody_s_time(parts, api, queue):
    """Neither the repeat, whose statement the connection does not know yet, nor the worker's beat takes a connection for
    broken that has been busy for more than a second."""
    first, used = Buyer(api, queue), Buyer(api, queue)
    assert used.order().status == 201
    with locked(parts, first.sku) as let_go:
        slow, again = at_once(parts, first.order, used.order)
        until(lambda: stuck_for(parts, 1400), 5, "the first is slow")
        backend = stuck_for(parts, 0)
        let_go()
    assert slow.wait().status == 201
    assert again.wait().status == 200
    assert parts.postgres.superuser(f"SELECT count(*) FROM pg_stat_activity WHERE pid = {backend[0]}") == [(1,)]


def test_each_hears_its_own(parts, api, queue):
    """Orders, refusals of every kind and coupons in one line before one worker: none gets another one's answer."""
    event = api.coupon_event(queue, 6)
    gone = api.coupon_event(queue)
    used = Buyer(api, queue)
    assert used.order().status == 201
    again = api.ready_member(queue, used.member.name)
    expected, calls = [], []

    def expect(call, check):
        calls.append(call)
        expected.append(check)

    def made(sku):
        return lambda answer: answer.status == 201 and answer["items"][0]["sku"] == sku

    def sold_out(sku):
        return lambda answer: answer.code == "OUT_OF_STOCK" and answer["sku"] == sku

    for number in range(6):
        good, late, lost, lucky, unlucky = api.ready_members(queue, 5)
        there, none = api.product(queue), api.product(queue, stock=0)
        unknown = f"nowhere-{number}"
        expect(good.order_call(queue, [{"sku": there, "quantity": 1}]), made(there))
        expect(late.order_call(queue, [{"sku": none, "quantity": 1}]), sold_out(none))
        expect(lost.order_call(queue, [{"sku": unknown, "quantity": 1}]),
               lambda answer, sku=unknown: answer.status == 400 and sku in answer["detail"])
        expect(lucky.coupon_call(event), lambda answer: answer.status == 201 and answer["event"] == event)
        expect(unlucky.coupon_call(gone), lambda answer: answer.code == "SOLD_OUT")
    expect(again.order_call(queue, [{"sku": used.sku, "quantity": 2}], key=used.key),
           lambda answer: answer.code == "IDEMPOTENCY_KEY_REUSED")
    answers = api.together(calls)
    wrong = [(number, answer.status, answer.body) for number, (answer, check) in enumerate(zip(answers, expected))
             if not check(answer)]
    assert not wrong
    assert len({answer["id"] for answer in answers if answer.status == 201 and "id" in answer.json}) == 6
    assert len({answer["code"] for answer in answers if answer.status == 201 and "code" in answer.json}) == 6
    assert orders(parts, queue) == 7
    assert claims(parts, queue) == 0, "whoever was refused has the token back"


def test_the_connection_of_the_first_is_cut(parts, api, queue):
    """What has become of the first nobody knows yet; the second is placed over a new connection."""
    first, second = Buyer(api, queue), Buyer(api, queue)
    with locked(parts, first.sku) as let_go:
        cut, whole = pair_under_way(parts, first, second)
        parts.postgres.superuser("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        assert whole.wait().status == 201
        assert cut.wait().status in (201, 503)
        let_go()
    overdue(parts, queue)
    parts.reconcile()
    assert first.order().status in (200, 201)
    assert orders(parts, queue) == 2


def test_killed_with_two(parts, api, queue):
    first, second = Buyer(api, queue), Buyer(api, queue)
    with locked(parts, first.sku) as let_go:
        both = pair_under_way(parts, first, second)
        processes.kill9(worker(parts))
        for running in both:
            assert_problem(running.wait(), 503, "ORDERS_UNAVAILABLE")
        let_go()
    overdue(parts, queue)
    parts.reconcile_until(lambda: claims(parts, queue) == 0)
    for buyer in (first, second):
        assert buyer.order().status in (200, 201)
        assert buyer.member.orders()["orders"][0]["items"][0]["sku"] == buyer.sku
    assert orders(parts, queue) == 2


def test_asked_to_end_with_two(parts, api, queue):
    first, second = Buyer(api, queue), Buyer(api, queue)
    with locked(parts, first.sku) as let_go:
        both = pair_under_way(parts, first, second)
        pid = worker(parts)
        os.kill(pid, signal.SIGTERM)
        let_go()
    for running in both:
        assert running.wait().status == 201
    until(lambda: pid not in parts.workers("order"), 10, "the worker has ended")
    assert orders(parts, queue) == 2
