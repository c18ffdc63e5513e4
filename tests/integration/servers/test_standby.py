"""PostgreSQL as a primary and a streaming standby: what was acknowledged outlives the primary, the programs find the
promoted one by themselves, and a former primary gets nothing."""

import json
import threading
import time

import pytest

from lib import processes
from lib.background_call import BackgroundCall
from lib.client import assert_problem, new_key
from lib.parts import SHORTEST_LEASE_S, Parts
from lib.postgres_pair import PostgresPair
from lib.sluicectl import Sluicectl
from lib.wait import until


class StandbyParts(Parts):
    """All parts before two PostgreSQL servers."""

    def __init__(self, directory, **settings):
        super().__init__(directory, queue_workers=1, order_workers=3, catalog_workers=1, **settings)
        self.postgres = PostgresPair(directory, self.logs)

    def settle(self, fixtures=()):
        self.postgres.mend()
        super().settle(fixtures)


@pytest.fixture(scope="module")
def all_standby(make_directory):
    parts = StandbyParts(make_directory("two"))
    try:
        yield parts.start()
    finally:
        parts.stop()


@pytest.fixture
def parts(all_standby):
    all_standby.settle()
    yield all_standby
    all_standby.settle()


@pytest.fixture
def api(parts):
    return parts.api


@pytest.fixture
def shop(api):
    class Shop:
        queue = api.queue(claimLeaseSeconds=SHORTEST_LEASE_S, maxActive=10000, entryTtlSeconds=300)
        sku = api.product(queue, stock=10000)
        items = [{"sku": sku, "quantity": 1}]
    return Shop


class Buyers:
    """People who order one after another, and again with the same key until they hear that they have."""

    def __init__(self, shop, members, threads=4):
        self.shop, self.todo = shop, list(members)
        self.done = {}  # member's name → time and order
        self.wrong = []
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._buy) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def _buy(self):
        while True:
            with self._lock:
                if not self.todo or self.wrong:
                    return
                member = self.todo.pop()
            key = new_key()
            answer = member.order(self.shop.queue, self.shop.items, key=key)
            while answer.status not in (200, 201):
                if answer.code not in ("ORDERS_UNAVAILABLE", "ORDER_IN_PROGRESS", "ORDER_CAPACITY"):
                    self.wrong.append((member.name, answer.status, answer.body))
                    return
                time.sleep(0.1)
                answer = member.order(self.shop.queue, self.shop.items, key=key)
            self.done[member.name] = time.monotonic(), answer["id"]
            time.sleep(0.03)

    def some(self, count, seconds=20):
        until(lambda: self.wrong or len(self.done) >= count, seconds, f"{count} orders")
        assert not self.wrong, self.wrong

    def wait(self, seconds=40):
        for thread in self._threads:
            thread.join(3 * seconds)
            assert not thread.is_alive()
        assert not self.wrong, self.wrong


def orders(server, queue):
    """Order by member, as one of the servers has them."""
    rows = server.query("SELECT member, id FROM customer_order WHERE queue = %s", queue)
    assert len(rows) == len({member for member, _ in rows}), "one order a member"
    return dict(rows)


def everybody(parts):
    return [parts.schedulers[0].pid, parts.reconciler.pid,
            *(pid for pool in ("queue", "order", "payment", "operator", "catalog") for pid in parts.workers(pool))]


@pytest.mark.limit(180)
def test_what_was_acknowledged_outlives_the_primary_and_all_goes_on_by_itself(parts, api, shop):
    members = api.ready_members(shop.queue, 150)
    parts.start_reconcile()
    until(lambda: len(everybody(parts)) >= 8, 10)
    before = everybody(parts)
    buyers = Buyers(shop, members)
    buyers.some(40)
    parts.postgres.kill()
    killed = time.monotonic()
    parts.postgres.promote_other()
    promoted = time.monotonic()
    acknowledged = {member: order for member, (_, order) in buyers.done.items()}
    assert acknowledged.items() <= orders(parts.postgres, shop.queue).items()
    buyers.wait()
    times = sorted(at for at, _ in buyers.done.values())
    first = next(at for at in times if at > promoted)
    print("from kill to promotion, s", round(promoted - killed, 2))
    print("from promotion to the next order, s", round(first - promoted, 2))
    print("longest without an order, s", round(max(b - a for a, b in zip(times, times[1:])), 2))
    assert first - promoted < 15, "workers pause for a second at most between two attempts"
    assert orders(parts.postgres, shop.queue) == {member: order for member, (_, order) in buyers.done.items()}
    assert len(buyers.done) == 150
    assert everybody(parts) == before, "nothing was started anew"
    # Scheduler, queue pool and reconcile too.
    late = api.ready_member(shop.queue)
    assert late.order(shop.queue, shop.items).status == 201
    until(lambda: parts.outbox_empty(shop.queue), 15, "reconcile goes on")
    until(lambda: api.stats(shop.queue)["consumed"] == 151, 15, "every token is spent")


@pytest.mark.limit(150)
def test_a_former_primary_that_comes_back_gets_nothing(parts, api, shop):
    """As it was, taking writes; then, as it should, as a standby."""
    pair, members = parts.postgres, api.ready_members(shop.queue, 30)
    for member in members[:5]:
        assert member.order(shop.queue, shop.items).status == 201
    pair.kill()
    pair.promote_other()
    old = pair.other
    old.options.append("synchronous_standby_names=")  # the worst: it could commit all by itself
    old.start()
    assert old.superuser("SELECT pg_is_in_recovery()") == [(False,)]
    assert len(orders(old, shop.queue)) == 5
    # Programs that were there before: all their connections are new.
    until(lambda: api.call("GET", "/readyz").status == 200, 10)
    pair.superuser("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'sluice%'")
    buy_all(shop, members[5:10])
    # And such as have just been started.
    parts.reconfigure("order")
    buy_all(shop, members[10:15])
    assert len(orders(pair, shop.queue)) == 15 and len(orders(old, shop.queue)) == 5
    # The former one alone: it would take orders, and gets none.
    pair.active.kill()
    for member in members[15:20]:
        assert_problem(member.order(shop.queue, shop.items), 503, "ORDERS_UNAVAILABLE")
    assert len(orders(old, shop.queue)) == 5
    pair.active.start()
    buy_all(shop, members[15:20])
    # Brought back as a standby.
    old.kill()
    pair.rejoin_other()
    pair.superuser("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'sluice%'")
    buy_all(shop, members[20:25])
    assert old.superuser("SELECT pg_is_in_recovery()") == [(True,)]
    # And back again.
    pair.kill()
    pair.promote_other()
    buy_all(shop, members[25:30])
    assert len(orders(pair, shop.queue)) == 30


def buy_all(shop, members):
    Buyers(shop, members, threads=2).wait()


@pytest.mark.limit(90)
def test_a_server_that_is_silent_keeps_nobody_from_the_other(parts, api, shop):
    """The first in the conninfo takes connections and says nothing: libpq alone would wait for it to the end."""
    pair, members = parts.postgres, api.ready_members(shop.queue, 12)
    frozen = pair.active
    processes.stop(frozen.process.pid)
    pids = frozen.pids()
    for pid in pids:
        processes.stop(pid)
    try:
        pair.promote_other()
        begin = time.monotonic()
        parts.reconfigure("order")
        print("start of a pool, s", round(time.monotonic() - begin, 2))
        parts.start_reconcile()
        buy_all(shop, members[:6])
    finally:
        for pid in pids:
            processes.cont(pid)
    # It wakes up as what it was.
    buy_all(shop, members[6:])
    assert len(orders(pair, shop.queue)) == 12
    assert not orders(frozen, shop.queue)


@pytest.mark.limit(90)
@pytest.mark.parametrize("how", ["waits", "its backend is ended"])
def test_an_order_that_only_the_primary_has_is_not_acknowledged(parts, api, shop, how):
    """The standby is gone. The commit waits for it; whoever gave it up does not know, and never takes it for undone."""
    pair, member, key = parts.postgres, api.ready_member(shop.queue), new_key()
    pair.other.kill()
    call = BackgroundCall(lambda: member.order(shop.queue, shop.items, key=key))
    waiting = until(lambda: pair.superuser("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"), 10)
    assert not orders(pair, shop.queue), "nobody sees it yet"
    if how == "waits":
        state = f"sluice:{{{shop.queue}}}:state"
        until(lambda: int(parts.redis.hget(state, "frozenSince") or 0) > 0, 10, "nobody is let in, nobody's time runs out")
    if how == "its backend is ended":
        pair.superuser(f"SELECT pg_terminate_backend({waiting[0][0]})")
    assert_problem(call.wait(), 503, "ORDERS_UNAVAILABLE")
    assert_problem(member.order(shop.queue, shop.items, key=key), 409, "ORDER_IN_PROGRESS")
    pair.other.start()
    parts.start_reconcile()
    until(lambda: member.order(shop.queue, shop.items, key=key).status == 200, 15, "the one order")
    assert len(orders(pair, shop.queue)) == 1


def test_doctor_misses_the_standby_that_a_commit_should_wait_for(parts):
    sluicectl = Sluicectl(parts.build, parts.port, parts.secrets)

    def finding():
        items = json.loads(sluicectl.call("doctor", "--json", "--config", parts.config).output)["items"]
        return next(item for item in items if item["name"] == "postgres.standbys")
    assert finding()["state"] == "ok"
    parts.postgres.superuser("ALTER SYSTEM RESET synchronous_standby_names")
    parts.postgres.superuser("SELECT pg_reload_conf()")
    until(lambda: finding()["state"] == "warn", 10)
    parts.postgres.wait_for_standby()
