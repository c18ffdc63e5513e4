"""What a request costs: one round trip to Redis, one transaction in PostgreSQL."""

import time

import pytest

from lib.statement_log import log_size, log_text
from lib.wait import until


def calls(parts):
    """Redis's own count of each command."""
    return {name: stats["calls"] for name, stats in parts.redis.info("commandstats").items()}


def spent(parts, before):
    after = calls(parts)
    quiet = {"cmdstat_info", "cmdstat_hello", "cmdstat_client|setinfo"}
    return {name: count - before.get(name, 0) for name, count in after.items()
            if count != before.get(name, 0) and name not in quiet}


@pytest.fixture
def quiet(parts, api):
    """Nobody else speaks to Redis: no scheduler, no beat of the order pool."""
    queue = api.still_queue()
    # Before the first tick, and for a second after somebody has asked before it, everything goes the general way.
    until(lambda: parts.redis.hget(f"sluice:{{{queue}}}:state", "rateEma"), 10, "first tick")
    api.member().enter(queue)
    for process in parts.schedulers:
        process.stop()
    parts.pools["order"].stop(seconds=20)
    try:
        yield queue
    finally:
        parts.start_pool("order", parts.order_workers)


def test_one_round_trip_each(parts, api, quiet):
    """Inside a script Redis counts its commands too; what matters is that a request sends exactly one."""
    def requests_of(member):
        member.enter(quiet)
        return {
            "enter": member.enter_call(quiet),
            "repeat": member.enter_call(quiet),
            "position": member.position_call(quiet),
            "leave": ("DELETE", f"/v1/queues/{quiet}/entries", member.headers(), None),
        }
    for call in requests_of(api.member()).values():
        api.call(*call)  # from now on Redis knows the scripts
    requests = requests_of(api.member())
    for name, call in requests.items():
        before, processed = calls(parts), parts.redis.info("stats")["total_commands_processed"]
        assert api.call(*call).status in (200, 201, 204), name
        used = spent(parts, before)
        if name == "position":
            # One transaction of plain reads, written at once.
            assert (used.get("cmdstat_multi"), used.get("cmdstat_exec")) == (1, 1), used
            assert "cmdstat_evalsha" not in used and sum(used.values()) <= 9, used
            continue
        assert used.get("cmdstat_evalsha") == 1, (name, used)
        assert not {"cmdstat_eval", "cmdstat_ping", "cmdstat_multi"} & set(used), (name, used)
        sent = parts.redis.info("stats")["total_commands_processed"] - processed
        # The two INFO calls of ours are counted, and what the script itself did.
        inside = sum(count for command, count in used.items() if command != "cmdstat_evalsha")
        assert sent - inside - 3 <= 1, (name, sent, used)


def test_public_state_is_one_round_trip_and_cached(parts, api, quiet):
    path = f"/v1/queues/{quiet}"
    before, begin = calls(parts), time.monotonic()
    answers = api.together([("GET", path, {}, None)] * 50, 8)
    assert {answer.status for answer in answers} == {200}
    # Each worker asks once a second.
    most = parts.queue_workers * (time.monotonic() - begin + 2)
    assert 1 <= spent(parts, before).get("cmdstat_evalsha", 0) <= most, "the cache answers the others"


def test_refusals_that_need_no_redis_ask_no_redis(parts, api, quiet):
    before = calls(parts)
    api.call("POST", f"/v1/queues/{quiet}/entries", {"Authorization": "Bearer x.y.z"})
    api.call("GET", f"/v1/queues/{quiet}/position", {})
    api.call("GET", f"/v1/queues/{quiet}/position", api.member().headers(X_Queue_Ticket="a.b.c"))
    api.call("GET", "/v1/queues/Not_A_Slug/position", api.member().headers())
    # Once a second the pool looks whether that Redis is the one whose memory is whole.
    assert set(spent(parts, before)) <= {"cmdstat_hmget"}


def test_queue_routes_never_touch_postgres(parts, api, quiet, logged):
    """Neither a statement nor an attempt to connect, by PostgreSQL's log."""
    path = f"/v1/queues/{quiet}"
    assert api.admin("GET", f"/queues/{quiet}").status == 200
    until(lambda: "queue_get" in logged(), 5, "the log shows what another pool asks")
    begin = log_size(parts)
    member = api.member()
    for _ in range(5):
        assert member.enter(quiet).status in (200, 201)
        assert member.position(quiet).status == 200
        assert member.leave(quiet).status == 204
        for public in (path, f"{path}/result", f"{path}/lottery", f"{path}/challenge"):
            api.call("GET", public)
    assert logged() == {}
    assert "sluice-queue" not in log_text(parts, begin), "PostgreSQL has no such role and would log the refusal"


def test_one_transaction_an_order(parts, api):
    """Counted by PostgreSQL, over many orders, against the same time without orders."""
    queue = api.queue()
    sku = api.product(queue, stock=1000)
    members = api.ready_members(queue, 40)
    items = [{"sku": sku, "quantity": 1}]

    def xids():
        """Transactions that wrote: each takes a number."""
        return int(parts.postgres.superuser("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")[0][0])
    for member in members[:8]:
        assert member.order(queue, items).status == 201
    before = xids()
    answers = api.together([m.order_call(queue, items) for m in members[8:]], 4)
    assert [answer.status for answer in answers] == [201] * 32
    assert xids() - before == 32
    replays = [m.order_call(queue, items, key="same") for m in members[:8]]
    before = xids()
    for answer in api.together(replays, 4):
        assert answer.code == "ENTRY_TOKEN_INVALID"
    assert xids() == before, "a spent token never reaches PostgreSQL"


def test_an_order_is_two_calls_to_redis(parts, api):
    """Claim and consume. Counted by script: the pool's beat and the scheduler go on meanwhile."""
    queue = api.queue()
    sku = api.product(queue, stock=1000)
    member = api.ready_member(queue)
    with parts.redis_server.client().monitor() as monitor:
        assert member.order(queue, [{"sku": sku, "quantity": 1}]).status == 201
        parts.redis.echo("the end")
        mine = 0
        for command in monitor.listen():
            words = command["command"]
            if words.startswith("ECHO"):
                break
            if words.upper().startswith("EVALSHA") and member.name in words and "lua" not in command["client_type"]:
                mine += 1
        assert mine == 2
