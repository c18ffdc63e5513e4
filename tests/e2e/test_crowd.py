"""A hundred thousand members from many connections: no duplicate number, no inversion, all READY in order."""

import json
import random
import resource
import subprocess

import pytest

from lib import crowd
from lib.crowd import Seen
from lib.project import plain_build
from lib.stack import Stack
from lib.tokens import Hs256, make
from lib.wait import until

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


def storm(stack, queue, members, path):
    """Every member connects and enters in the same moment. Gives how many got which status."""
    key = Hs256((stack.data / "secrets" / "member-jwt.key").read_text().strip())
    path.write_bytes(b"".join(
        f"POST /v1/queues/{queue}/entries HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n"
        f"Authorization: Bearer {make(key, member)}\r\n\r\n\0".encode() for member in members))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    done = subprocess.run(
        [plain_build() / "sluice-closed", "--port", str(stack.port), "--requests", path, "--connections",
         str(len(members)), "--once"], capture_output=True, text=True, check=True, timeout=100,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
    return {int(status): count for status, count in json.loads(done.stdout)["statuses"].items()}


@pytest.mark.limit(150)
@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 10000, reason="needs 10,000 open files")
def test_a_storm_of_connections(stack, tmp_path):
    """Four thousand at once: no socket refuses anybody. Where the machine is too slow for all of them, the pool says so itself,
    and they get in when they come again: each of them once."""
    api, members = stack.api, [f"storm-{i}" for i in range(4000)]
    queue = api.queue("storm", activation="hold")

    def come():
        statuses = storm(stack, queue, members, tmp_path / "requests")
        assert set(statuses) <= {200, 201, 503} and sum(statuses.values()) == 4000, statuses
        return statuses
    before = (stack.data / "logs" / "nginx.log").read_text()
    first = come()
    assert first[201] > 0
    until(lambda: come().get(200) == 4000, 90, "everybody is in line", every=0.5)
    said = (stack.data / "logs" / "nginx.log").read_text()[len(before):]
    assert "temporarily unavailable" not in said and "limiting connections" not in said
    assert api.stats(queue)["entered"] == api.state(queue)["waiting"] == 4000


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
