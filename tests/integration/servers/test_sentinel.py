"""Redis under three Sentinels, over TCP and with logins: the primary dies in the middle of a rush."""

import threading
import time

import pytest

from lib.client import assert_problem
from lib.parts import Parts
from lib.redis_group import PASSWORD, SentinelGroup
from lib.rush import Rush
from lib.wait import until

RATE, BURST = 30, 10
LAG_S, DOWN_AFTER_S = 3, 2  # min-replicas-max-lag, down-after-milliseconds
RECOVERY_S = 3


@pytest.fixture(scope="module")
def group_parts(make_directory):
    directory = make_directory("sen")
    parts = Parts(directory, queue_workers=2, order_workers=3, catalog_workers=1,
                  redis_server=SentinelGroup(directory, DOWN_AFTER_S * 1000, LAG_S))
    # What was on its way when the primary died is told of by whoever waited for it.
    try:
        parts.start(schedulers=2)
        parts.start_reconcile(every=5)
        yield parts
    finally:
        parts.stop_reconcile()
        parts.stop()


def assert_kept(parts, rush, queue):
    """The promises, from the members' own records and PostgreSQL."""
    owners = {}
    for shopper in rush.shoppers:
        assert shopper.ordered, (shopper.member.name, shopper.seqs, shopper.refused)
        assert len(shopper.seqs) == 1, f"{shopper.member.name} had the numbers {shopper.seqs}"
        assert owners.setdefault(min(shopper.seqs), shopper) is shopper, "a number was given out twice"
    orders = parts.postgres.query("SELECT id, member FROM customer_order WHERE queue = %s", queue)
    assert len(orders) == len(rush.shoppers) == len({member for _id, member in orders}), "one order each"
    assert {order for order, _member in orders} == {order for shopper in rush.shoppers for order in shopper.orders}


def inversions(admissions):
    """Pairs of neighbours of which the later number was let in earlier."""
    return [(a, b) for a, b in zip(admissions, admissions[1:]) if a[0] < b[0] and a[1] > b[1]]


@pytest.mark.limit(180)
def test_the_primary_dies_in_the_middle_of_a_rush(group_parts, record_property):
    parts, group, api = group_parts, group_parts.redis_server, group_parts.api
    queue = api.queue(ratePerSecond=RATE, burst=BURST, maxActive=500, recoverySeconds=RECOVERY_S)
    items = [{"sku": api.product(queue, stock=10000), "quantity": 1}]
    rush = Rush(api, queue, items, count=170, arrive_s=4)
    before = group.primary()
    thread = threading.Thread(target=rush.run)
    thread.start()
    until(lambda: sum(1 for _at, kind in rush.events if kind == "ordered") > 20, 30, "the rush is on")
    killed = time.monotonic()
    before.kill()
    after, promoted = group.wait_promoted(before)
    thread.join(200)
    assert_kept(parts, rush, queue)
    detection = promoted - killed
    back = rush.first("polled", promoted - 0.2) - killed
    tokens = rush.admissions()
    # Admissions stand still from the failover to the recovery's end. Whoever was let in before and polled after it is seen
    # at once, with an end that the outage has moved.
    early = [one for one in tokens if one[2] < killed]
    late = [one for one in tokens if one[2] > killed + back + 0.7 * RECOVERY_S]
    stood_still = late[0][0] - early[-1][0]
    # Who was shown a token twice had the first one lost: that, and no more, is the excess.
    excess = len(tokens) - len(rush.shoppers)
    # A busy machine may make the Sentinels think that the next one is dead, too.
    losses = api.state(queue)["incarnation"] - 1
    bound = losses * (BURST + RATE * (detection + LAG_S))
    print(f"failover: promoted after {detection:.1f} s, polls again after {back:.1f} s, nobody let in for "
          f"{stood_still / 1000:.1f} s; tokens lost {excess} (bound {bound:.0f}); let in before {len(early)}; "
          f"refused {rush.refusals()}")
    assert 0 <= excess <= bound
    span = (tokens[-1][0] - tokens[0][0]) / 1000
    assert len(tokens) <= BURST + RATE * (span + 1) + bound, "the rate, and what a failover may add"
    assert back < 45 and (RECOVERY_S - 1) * 1000 <= stood_still < 45_000
    assert losses >= 1, "a failover may have lost something: recovered"
    # Those let in before, and those let in after: in order of their numbers.
    assert not inversions(late)
    assert not inversions(early)
    before.start()
    group.wait_in_step()
    assert losses > 1 or group.primary() is after, "the old one comes back as a replica"
    member = api.ready_member(queue)
    assert member.order(queue, items).status == 201


@pytest.mark.limit(90)
def test_without_replicas_nothing_is_written(group_parts):
    """min-replicas-to-write: an admission that nobody else has is refused, not lost."""
    parts, group, api = group_parts, group_parts.redis_server, group_parts.api
    queue = api.queue()
    member = api.ready_member(queue)
    replicas = [node for node in group.nodes if node is not group.primary()]
    parts.allowed_errors.add("redis.begun_anew")
    for node in replicas:
        node.stop()
    try:
        until(lambda: api.member().enter(queue).code == "ADMISSION_UNAVAILABLE", 15, "NOREPLICAS is a 503")
        assert_problem(api.member().enter(queue), 503, "ADMISSION_UNAVAILABLE")
        assert_problem(member.order(queue, [{"sku": "none", "quantity": 1}]), 503, "ADMISSION_UNAVAILABLE")
    finally:
        for node in replicas:
            node.start()
    group.wait_in_step()
    until(lambda: api.member().enter(queue).status == 201, 15, "goes on")
    assert member.position(queue)["status"] == "READY"


@pytest.mark.limit(150)
def test_a_demoted_primary_is_not_written_to(group_parts):
    """An orderly failover: nobody died, connections are cut by the Sentinels, and all go to the new one."""
    parts, group, api = group_parts, group_parts.redis_server, group_parts.api
    queue = api.queue(recoverySeconds=0)
    members = [api.member() for _ in range(5)]
    api.act(queue, "pause")
    for member in members:
        assert member.enter(queue).status == 201
    before = group.primary()
    begin = time.monotonic()
    group.fail_over(before)
    group.wait_in_step()
    until(lambda: all(member.position(queue).status == 200 for member in members), 20, "polls go on")
    print(f"ordered failover: all replicas in step and polls answered after {time.monotonic() - begin:.1f} s")
    assert [member.position(queue)["rank"] for member in members] == list(range(5))
    newcomer = api.member()
    until(lambda: newcomer.enter(queue).status == 201, 10)
    assert newcomer.position(queue)["rank"] == 5
    # Each client of ours is at the new one: pools, schedulers, reconcile.
    def theirs():
        with before.client() as client:
            return [c for c in client.client_list(_type="normal") if c["user"] == "sluice" and c["cmd"] != "info"]
    until(lambda: not theirs(), 10, "nobody is at the old one")


def test_a_wrong_password_is_said(group_parts):
    parts, group, api = group_parts, group_parts.redis_server, group_parts.api
    group.wait_in_step()
    until(lambda: api.call("GET", "/readyz").status == 200, 15, "all is well before")
    group.password_file.write_text("not-the-password\n")
    try:
        group.primary().call("CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "yes")
        until(lambda: api.call("GET", "/readyz").status == 503, 15, "refused")
        until(lambda: "WRONGPASS" in (parts.logs / "scheduler.log").read_text(), 15, "it is logged")
        assert b"WRONGPASS" not in api.call("GET", "/readyz").body
    finally:
        group.password_file.write_text(PASSWORD + "\n")
    until(lambda: api.call("GET", "/readyz").status == 200, 15, "the file is read again")
    for path in parts.logs.glob("*.log"):
        assert PASSWORD not in path.read_text()
