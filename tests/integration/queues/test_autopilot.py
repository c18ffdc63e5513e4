"""The autopilot: the rate follows what orders, and the site behind the gate, bear, and never leaves its bounds."""

import csv
import itertools
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from lib import logs
from lib.board import Board
from lib.client import assert_problem
from lib.gate import Visitor
from lib.shoppers import Shoppers
from lib.wait import until, within

LEVEL_MS = 300
# A lock that all orders need, and that each holds for so long: about a dozen of them a second.
SLOW = """
    CREATE FUNCTION slow_down() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(4711);
        PERFORM pg_sleep(0.08);
        RETURN NEW;
    END $$;
    CREATE TRIGGER slow_down BEFORE INSERT ON customer_order FOR EACH ROW EXECUTE FUNCTION slow_down()"""
QUICK = "DROP TRIGGER IF EXISTS slow_down ON customer_order; DROP FUNCTION IF EXISTS slow_down"


def rate_of(api, queue):
    return api.admin("GET", f"/queues/{queue}/autopilot").json["ratePerSecondInForce"]


def p95_of(api, queue):
    return (api.stats(queue)["orderLatencyMs"] or {}).get("p95")


def keep(api, queue, name):
    """The run as a table, for docs/autopilot.md, where somebody wants it."""
    folder = os.environ.get("SLUICE_RECORD")
    if folder:
        def series():
            return api.admin("GET", f"/queues/{queue}/stats?samples=900").json["series"]
        until(lambda: series()[-1]["ratePerSecond"] == rate_of(api, queue), 5, "a sample of the end")
        with open(Path(folder) / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, series()[0])
            writer.writeheader()
            writer.writerows(series())


@pytest.fixture
def autopilot_queue(api):
    return lambda **settings: api.queue(**{
        "maxActive": 1000, "tickMs": 200, "ratePerSecond": 20, "burst": None,
        "autopilot": {"orderP95Ms": LEVEL_MS, "maxErrorPercent": 1, "floor": 4, "noShows": False}, **settings})


@pytest.fixture
def slow_postgres(parts):
    yield lambda: parts.postgres.superuser(SLOW)
    parts.postgres.superuser(QUICK)


def test_a_slow_postgresql_brings_the_rate_down_and_back(parts, api, autopilot_queue, slow_postgres):
    """Within ten seconds down, so far that the level is kept; within a minute up again, once the cause is gone."""
    queue = autopilot_queue()
    with Shoppers(parts, queue, api.product(queue, stock=100000)) as shoppers:
        until(lambda: len(shoppers.statuses) > 40 and p95_of(api, queue) is not None, 20, "orders")
        before = until(lambda: p95_of(api, queue) < LEVEL_MS and rate_of(api, queue), 10, "a quick beginning")
        slow_postgres()
        until(lambda: rate_of(api, queue) <= 0.6 * before, 10, "a lower rate", every=0.2)
        until(lambda: p95_of(api, queue) < LEVEL_MS, 20, "the level kept", every=0.2)
        lowest = rate_of(api, queue)
        parts.postgres.superuser(QUICK)
        until(lambda: rate_of(api, queue) >= 0.8 * before, 60, "the rate back", every=0.5)
        keep(api, queue, "slow-postgresql")
        assert 4 <= lowest < before

    def both():
        """What is shown, and the log of the same moves: a further one may come in between."""
        report = api.admin("GET", f"/queues/{queue}/autopilot").json
        logged = [event for event in logs.events(parts.logs, "autopilot.moved") if event["queue"] == queue]
        return (report, logged) if len(logged) == len(report["moves"]) else None
    report, logged = until(both, 10, "each move is logged")
    reasons = {move["reason"] for move in report["moves"]}
    assert reasons & {"latency", "errors", "timeouts"} and "grows" in reasons, reasons
    assert all(4 <= move["to"] <= 20 for move in report["moves"])
    assert [move["at"] for move in report["moves"]] == sorted(move["at"] for move in report["moves"])
    assert report["enabled"] and (report["floor"], report["ceiling"]) == (4, 20)
    assert {event["reason"] for event in logged} == reasons


def test_an_origin_that_always_times_out_brings_it_to_the_floor(parts, api, make_site, autopilot_queue):
    """As nginx sees it: sluice-board hears of each answer to somebody let in."""
    board = Board(parts)
    board.start(origin_socket=parts.directory / "fcgi" / "origin.sock")
    try:
        queue = autopilot_queue(identity="visitor", admitWhenIdle=True)
        measure = f"include {parts.directory}/data/gate/measure.conf;"
        site = make_site(queue, lines=[measure, "proxy_read_timeout 100ms;"])
        visitors = itertools.cycle([Visitor(site.port) for _ in range(4)])
        until(lambda: next(visitors).come_in() and api.stats(queue)["originP95Ms"] is not None, 10, "an origin that answers")
        assert rate_of(api, queue) == 20
        until(lambda: next(visitors).ask("/slow").status == 504 and rate_of(api, queue) == 4, 20, "the floor")
        keep(api, queue, "origin-times-out")
        moves = api.admin("GET", f"/queues/{queue}/autopilot").json["moves"]
        assert {move["reason"] for move in moves} == {"timeouts"}
    finally:
        board.stop()


def test_one_client_that_asks_for_what_always_fails_slows_nobody_down(parts, api, make_site, autopilot_queue):
    board = Board(parts)
    board.start(origin_socket=parts.directory / "fcgi" / "origin.sock")
    try:
        queue = autopilot_queue(identity="visitor", admitWhenIdle=True)
        measure = f"include {parts.directory}/data/gate/measure.conf;"
        site = make_site(queue, lines=[measure, "proxy_read_timeout 100ms;"])
        crowd = [Visitor(site.port, source=f"127.0.0.{10 + number}") for number in range(10)]
        load = f"sluice:{{{queue}}}:orderLoad"

        def timeouts():
            return int(parts.redis.hget(load, "oTimeouts") or 0)
        for visitor in crowd:
            visitor.come_in()
        until(lambda: api.stats(queue)["originP95Ms"] is not None, 10, "answers")
        for _ in range(20):
            assert crowd[0].ask("/slow").status == 504
            assert all(visitor.is_through() for visitor in crowd[1:])
        assert (timeouts(), rate_of(api, queue)) == (0, 20)

        def all_fail():
            for visitor in crowd:
                assert visitor.ask("/slow").status == 504
            return timeouts() >= 4 and rate_of(api, queue) < 20
        until(all_fail, 20, "what fails for several is believed")
    finally:
        board.stop()


def test_what_an_operator_sets_counts_at_once(api, autopilot_queue):
    """A new rate, another ceiling, the switch: each within a second, wherever the autopilot had the rate."""
    queue = autopilot_queue(ratePerSecond=50)
    until(lambda: api.admin("GET", f"/queues/{queue}/autopilot").json["last"], 5, "a look")
    assert rate_of(api, queue) == 50
    for change, rate in (({"ratePerSecond": 8}, 8), ({"autopilot": {"ceiling": 6}}, 6), ({"ratePerSecond": 0}, 0),
                         ({"ratePerSecond": 30, "autopilot": None}, 30)):
        assert api.admin("PATCH", f"/queues/{queue}", change).status == 200
        within(1.2, lambda rate=rate: rate_of(api, queue) == rate, change)
        assert api.stats(queue)["ratePerSecondInForce"] == rate
    assert api.admin("GET", f"/queues/{queue}/autopilot").json["enabled"] is False
    answer = api.admin("PATCH", f"/queues/{queue}", {"autopilot": {"ceiling": 500}, "burst": 40})
    assert_problem(answer, 400, "INVALID_REQUEST")


def test_orders_are_measured_with_their_wait(parts, api):
    """Of the autopilot nothing is switched on; the figures are there all the same, and a failover keeps them."""
    queue = api.queue(maxActive=100)
    sku = api.product(queue, stock=1000)
    members = api.ready_members(queue, 12)
    api.together([m.order_call(queue, [{"sku": sku, "quantity": 1}], token=m.token) for m in members[:10]], 10)
    members[10].order(queue, [{"sku": "no-such-thing", "quantity": 1}])
    stats = until(lambda: (it := api.stats(queue))["ordersAnswered"] == 11 and it["orderLatencyMs"] and it, 5, "figures")
    assert (stats["orderErrors"], stats["orderTimeouts"]) == (0, 0)
    assert 0 < stats["orderLatencyMs"]["p50"] <= stats["orderLatencyMs"]["p95"] <= stats["orderLatencyMs"]["p99"]
    assert stats["ratePerSecondInForce"] == api.admin("GET", f"/queues/{queue}").json["ratePerSecond"]
    until(lambda: api.stats(queue)["series"][-1]["orderP95Ms"] is not None or api.stats(queue)["orderLatencyMs"] is None,
          5, "a sample with them")
    parts.restart_schedulers(2)
    until(lambda: api.stats(queue)["orderLatencyMs"] is None, 20, "old orders fade")
    assert api.stats(queue)["ordersAnswered"] == 11


def test_a_plan_is_kept_by_a_real_run(parts, api):
    """What sluicectl plan says of the waits and the line, held against an opening."""
    users, rate = 160, 20
    plan = json.loads(subprocess.run(
        [parts.build / "sluicectl" / "sluicectl", "plan", "--json", "--users", str(users), "--rate", str(rate)], check=True,
        capture_output=True, text=True, timeout=20).stdout)
    queue = api.queue(ratePerSecond=rate, burst=None, maxActive=1000)
    api.act(queue, "pause")
    members = [api.member() for _ in range(users)]
    before = parts.redis.info("memory")["used_memory"]
    assert {answer.status for answer in api.together([m.enter_call(queue) for m in members], 16)} == {201}
    grown = parts.redis.info("memory")["used_memory"] - before
    assert api.stats(queue)["waiting"] == users == plan["longestLine"]
    # The bucket is full by now; a plan's opening begins with an empty one.
    parts.redis.hset(f"sluice:{{{queue}}}:state", "bucket", 0)
    api.act(queue, "resume")
    began = time.monotonic()
    until(lambda: api.stats(queue)["admitted"] >= users / 2, 30, "half of them")
    half = time.monotonic() - began - plan["waitP50Seconds"]
    until(lambda: api.stats(queue)["admitted"] == users, 30, "all of them")
    whole = time.monotonic() - began - plan["lastAdmittedAfterSeconds"]
    # Never sooner; a busy machine looks late, and lets in late.
    assert -2 <= half <= 6 and -2 <= whole <= 6, (half, whole)
    assert plan["ordersPerSecondAtMost"] == rate and plan["complete"] and not plan["limitedByPlaces"]
    assert grown < plan["redisMiB"] * 2**20
