"""A power cut: Redis comes back without its last moments, and nothing in its data tells."""

import time
from contextlib import closing
from pathlib import Path

import pytest

from lib.api import ticket_payload
from lib.client import assert_problem
from lib.wait import until


def aof_of(parts):
    """The file that grows, as appendfsync everysec leaves it at a power cut: without its end."""
    return max(Path(parts.redis_server.directory, "appendonlydir").glob("*.incr.aof"))


def cut_power(parts, size):
    parts.redis_server.kill()
    with open(aof_of(parts), "r+b") as file:
        file.truncate(size)
    parts.redis_server.start()


@pytest.fixture
def known(parts):
    """Reconcile has looked at this Redis once."""
    parts.reconcile(expect=None)
    assert {"since", "complete"} <= set(parts.redis.hkeys("sluice:tenures"))
    return parts


@pytest.mark.limit(90)
def test_the_last_moments_are_lost(known, api):
    parts = known
    queue = api.queue(maxActive=4, recoverySeconds=2)
    sku = api.product(queue)
    items = [{"sku": sku, "quantity": 1}]
    early = [api.member() for _ in range(6)]
    for member in early:
        assert member.enter(queue).status == 201
    for member in early[:4]:
        member.wait_ready(queue)
    parts.redis.config_set("appendfsync", "always")
    size = aof_of(parts).stat().st_size
    parts.redis.config_set("appendfsync", "everysec")
    # The last second: one orders and is let in anew, one leaves, three enter.
    assert early[0].order(queue, items).status == 201
    early[4].wait_ready(queue)
    assert early[5].leave(queue).status == 204
    late = [api.member() for _ in range(3)]
    for member in late:
        assert member.enter(queue).status == 201
    numbers = {member: ticket_payload(member.ticket)["seq"] for member in [*early, *late]}
    lost_token = early[4].token
    cut_power(parts, size)
    # Nobody speaks to it before reconcile has looked: else the numbers of the last three would be given out twice.
    for _ in range(5):
        assert_problem(api.member().enter(queue), 503, "ADMISSION_UNAVAILABLE")
        assert_problem(early[1].position(queue), 503, "ADMISSION_UNAVAILABLE")
        assert_problem(early[1].order(queue, items), 503, "ADMISSION_UNAVAILABLE")
    assert "queues published" in parts.reconcile(expect=None)
    newcomer = api.member()
    until(lambda: newcomer.enter(queue).status == 201, 10, "the queue is back")
    assert api.state(queue)["incarnation"] == 2
    assert ticket_payload(newcomer.ticket)["seq"] > max(numbers.values())
    # Tokens that Redis knows are good; the one that it has lost is void, and its owner stands where they stood.
    assert early[1].position(queue)["status"] == "READY"
    assert_problem(early[4].order(queue, items, token=lost_token), 401, "ENTRY_TOKEN_INVALID")
    line = [early[4], *late]
    for member in reversed(line):
        assert member.position(queue)["status"] in ("WAITING", "READY"), member.name
    assert {m: ticket_payload(m.ticket)["seq"] for m in line} == {m: numbers[m] for m in line}
    # Whoever had ordered has no second turn, and left no place behind.
    assert early[0].position(queue)["status"] == "NOT_ENTERED"
    assert parts.redis.zcard(f"sluice:{{{queue}}}:ready") == 3
    early[4].wait_ready(queue)
    assert early[1].order(queue, items).status == 201
    assert early[4].order(queue, items).status == 201
    assert parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", queue) == 3
    assert parts.postgres.value("SELECT stock - available FROM product WHERE sku = %s", sku) == 3


def test_a_use_of_a_code_that_only_postgres_knows_is_counted(known, api):
    """Told to PostgreSQL within the last moments before Redis forgot it: another member does not get it."""
    parts = known
    queue = api.still_queue(recoverySeconds=0)
    assert api.admin("POST", f"/queues/{queue}/codes", {"kind": "priority", "codes": ["ONCE-ONLY"]}).status == 201

    def enter(member):
        method, path, headers, _ = member.enter_call(queue)
        return api.call(method, path, headers, {"code": "ONCE-ONLY"})
    parts.redis.config_set("appendfsync", "always")
    size = aof_of(parts).stat().st_size
    parts.redis.config_set("appendfsync", "everysec")
    first, second = api.member(), api.member()
    assert enter(first).status == 201
    parts.reconcile(expect=None)
    assert parts.postgres.value("SELECT used FROM queue_code WHERE queue = %s", queue) == 1
    cut_power(parts, size)
    parts.reconcile_until(lambda: first.position(queue).status == 200)
    assert api.state(queue)["incarnation"] == 2 and api.state(queue)["waiting"] == 0
    assert_problem(enter(second), 403, "CODE_INVALID")
    assert enter(first).status == 201, "the use is the member's own"


def test_a_restart_that_lost_nothing_keeps_everything(known, api):
    """It cannot be told from one that did: a pause, and that is all."""
    parts = known
    queue = api.queue(maxActive=2, recoverySeconds=1)
    members = [api.member() for _ in range(5)]
    for member in members:
        assert member.enter(queue).status == 201
    for member in members[:2]:
        member.wait_ready(queue)
    tokens = [member.token for member in members[:2]]
    parts.redis_server.stop()
    parts.redis_server.start()
    assert_problem(members[2].position(queue), 503, "ADMISSION_UNAVAILABLE")
    parts.reconcile(expect=None)
    until(lambda: members[2].position(queue).status == 200, 10)
    for member, token in zip(members, tokens):
        assert member.position(queue)["status"] == "READY" and member.token == token
    assert [member.position(queue)["rank"] for member in members[2:]] == [0, 1, 2]


def test_the_daemon_notices_at_once(known, api):
    parts = known
    queue = api.queue(recoverySeconds=0)
    member = api.member()
    assert member.enter(queue).status == 201
    parts.start_reconcile(every=600)
    until(lambda: "reconcile.started" in (parts.logs / "reconcile.log").read_text(), 10)
    parts.redis_server.kill()
    parts.redis_server.start()
    until(lambda: member.position(queue).status == 200, 15, "long before the next pass")


def test_scripts_and_memory_that_go_change_no_tenure(known, api):
    """SCRIPT FLUSH is no loss, and neither is a new connection."""
    parts = known
    queue = api.queue()
    parts.redis.script_flush()
    parts.redis.client_kill_filter(_type="normal", skipme=True)
    until(lambda: api.member().enter(queue).status == 201, 10)
    parts.reconcile(expect=None)
    assert api.state(queue)["incarnation"] == 1


@pytest.mark.limit(60)
def test_a_reconcile_leaves_the_one_that_has_the_lock_in_peace(known, api):
    """It looks for a restarted Redis four times a second, but not while another one recovers its queues."""
    parts = known
    queue = api.still_queue(recoverySeconds=0)
    parts.redis_server.kill()
    parts.redis_server.start()

    def ended_its_pass():
        return parts.postgres.superuser("SELECT 1 FROM pg_stat_activity WHERE usename = 'sluice-reconcile' AND state = 'idle' "
                                        "AND state_change < clock_timestamp() - interval '0.5 s'")
    with closing(parts.postgres.connection()) as other:
        other.cursor().execute("SELECT pg_advisory_lock(hashtextextended('recovery', 5417))")
        parts.start_reconcile(every=8)
        until(ended_its_pass, 10, "it has found the lock taken")
        assert parts.postgres.value("SELECT incarnation FROM queue WHERE id = %s", queue) == 1
    released = time.monotonic()
    until(lambda: parts.postgres.value("SELECT incarnation FROM queue WHERE id = %s", queue) == 2, 10)
    assert time.monotonic() - released > 2, "a whole interval, in which the other one can finish"
    until(lambda: api.member().enter(queue).status == 201, 10, "the queue is back: that one had died")


def test_what_a_dead_reconcile_has_prepared_costs_no_interval(known, api):
    """It had begun a later recovery, and left the lock."""
    parts = known
    queue = api.still_queue(recoverySeconds=0)
    parts.redis_server.kill()
    parts.redis_server.start()
    parts.redis.hset(f"sluice:{{{queue}}}:state", mapping={"preparedFor": 2, "preparedEpoch": 9, "preparedTo": 0})
    parts.start_reconcile(every=600)
    until(lambda: api.member().enter(queue).status == 201, 15, "long before the next pass")
    assert api.state(queue)["incarnation"] == 3
