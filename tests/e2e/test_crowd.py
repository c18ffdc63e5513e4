"""A hundred thousand members from many connections: no duplicate number, no inversion, all READY in order."""

import random

import pytest

from lib import crowd
from lib.crowd import Seen
from lib.project import plain_build
from lib.stack import Stack

MEMBERS = 100_000


@pytest.fixture(scope="module")
def stack(make_directory):
    """Programs as users run them: sanitizers would make of this a test of patience."""
    stack = Stack(make_directory("crowd"), environment={"SLUICE_BUILD": str(plain_build())})
    try:
        yield stack.start()
        stack.stop()
    finally:
        stack.abandon()


@pytest.mark.limit(600)
def test_100_000_members(stack):
    api = stack.api
    queue = api.queue("crowd", ratePerSecond=20000, burst=20000, tickMs=25, batchCap=500, maxActive=MEMBERS,
                      pickupSeconds=3600, entryTtlSeconds=7200)
    api.act(queue, "pause")
    key = stack.data / "secrets" / "member-jwt.key"
    rows = crowd.run(api.port, key, queue, MEMBERS, connections=300, until="entered", seconds=250)
    assert {row.status for row in rows} <= {200, 201}
    assert crowd.duplicates(rows) == []
    assert sorted(row.seq for row in rows) == list(range(1, MEMBERS + 1)), "none lost, none twice"
    assert crowd.inversions(rows) == 0
    assert api.state(queue)["waiting"] == MEMBERS

    api.act(queue, "resume")
    ready = crowd.run(api.port, key, queue, MEMBERS, connections=300, until="ready", seconds=300)
    assert all(row.ready > 0 for row in ready)
    numbers = {row.member: row.seq for row in rows}
    assert all(row.seq == numbers[row.member] for row in ready), "a repeat keeps the number"
    # Tokens of a batch end together; of two batches the earlier numbers' end earlier.
    ends = [row.token_ends for row in sorted(ready, key=lambda row: row.seq)]
    assert ends == sorted(ends), "let in in the order of their numbers"
    stats = api.stats(queue)
    assert (stats["waiting"], stats["admitted"], stats["entered"]) == (0, MEMBERS, MEMBERS)


@pytest.mark.limit(150)
def test_a_crowd_that_orders(stack):
    """Fifteen hundred come, poll as told, and order one thing each: as many orders, none of them twice."""
    members = 1500
    api = stack.api
    queue = api.queue("buyers", ratePerSecond=200, burst=200, tickMs=100, maxActive=150, maxInFlight=50,
                      pollTiers=[{"upToRank": None, "seconds": 2}])
    sku = api.product(queue, stock=members)
    api.product(queue, stock=1)
    rows = crowd.run(api.port, stack.data / "secrets" / "member-jwt.key", queue, members, connections=60,
                     until="ordered", sku=sku, seconds=100, prefix="w")
    assert crowd.duplicates(rows) == [] and crowd.inversions(rows) == 0
    assert {row.order_status for row in rows} <= {200, 201}
    assert api.admin("GET", f"/products/{sku}")["available"] == 0
    stats = api.stats(queue)
    assert (stats["consumed"], stats["ready"], stats["claimed"], stats["waiting"]) == (members, 0, 0, 0)


def test_the_check_itself():
    """Inversions and duplicates are found where there are some."""
    def rows(*triples):
        return [Seen(f"m{i}", 201, seq, sent, received, 0, 0, 0, 0, 0)
                for i, (seq, sent, received) in enumerate(triples)]
    assert crowd.inversions(rows((1, 0, 5), (2, 6, 9), (3, 7, 8))) == 0
    assert crowd.inversions(rows((2, 0, 5), (1, 1, 9))) == 0, "they were under way at the same time"
    assert crowd.inversions(rows((2, 0, 5), (1, 6, 9))) == 1
    assert crowd.duplicates(rows((2, 0, 5), (2, 6, 9))) == [2]
    dice = random.Random(1)
    mixed = rows(*[(seq, at, at + dice.randrange(1, 30)) for seq, at in enumerate(range(0, 3000, 3), 1)])
    assert crowd.inversions(mixed) == 0
    mixed[500].seq, mixed[600].seq = mixed[600].seq, mixed[500].seq
    assert crowd.inversions(mixed) > 0
