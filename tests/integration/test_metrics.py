"""/metrics: one answer for all programs of a host, with what queues, requests, Redis, PostgreSQL and reconcile came to."""

import http.client
import json
import os
import signal
import subprocess
import threading
import time

import pytest

from lib import fastcgi, logs, metrics
from lib.board import Board
from lib.client import assert_problem, new_key
from lib.gate import APP, Visitor
from lib.wait import until

POOLS = ("queue", "order", "payment", "operator", "catalog")


@pytest.fixture
def board(parts):
    board = Board(parts)
    board.start()
    yield board
    board.stop()


def read(parts, pool="queue"):
    return metrics.read(fastcgi.get(parts.socket(pool), "/metrics").body)


def of_queue(numbers, name, queue, **labels):
    more = "".join(f',{label}="{value}"' for label, value in labels.items())
    return numbers[f'{name}{{queue="{queue}"{more}}}']


def answers(numbers, pool, method, route, status):
    return numbers.get(f'sluice_requests_total{{pool="{pool}",method="{method}",route="{route}",status="{status}"}}', 0)


def took(numbers, pool, method, route):
    return numbers.get(f'sluice_request_duration_seconds_count{{pool="{pool}",method="{method}",route="{route}"}}', 0)


def test_every_pool_and_the_scheduler_give_signs_of_life(parts):
    def fresh():
        numbers = read(parts)
        seen = [numbers[f'sluice_program_seen_timestamp_seconds{{program="{name}"}}']
                for name in (*(f"{pool}-pool" for pool in POOLS), "scheduler")]
        return min(seen) > time.time() - 5
    until(fresh, 10, "signs of life", every=0.2)
    parts.pools["catalog"].stop(seconds=20)
    name = 'sluice_program_seen_timestamp_seconds{program="catalog-pool"}'
    stopped = read(parts)[name]
    try:
        until(lambda: read(parts)['sluice_program_seen_timestamp_seconds{program="queue-pool"}'] > stopped + 2, 10)
        assert read(parts)[name] == stopped, "one that is gone is not seen any more"
    finally:
        parts.start_pool("catalog", parts.catalog_workers)
        parts._wait_pool("catalog")


def test_requests_are_counted_by_route_and_class_whichever_worker_answers(parts, api):
    queue = api.queue()
    member = api.member()
    parts.reconcile(expect=None)
    before = read(parts)
    assert member.enter(queue).status == 201
    assert member.enter(queue).status == 200
    assert_problem(api.member().enter("no-such-queue"), 404)
    for _ in range(20):
        assert member.position(queue).status == 200
    assert api.call("GET", "/v1/orders").status == 401
    assert api.call("PATCH", "/v1/orders").status == 405
    after = read(parts, "order")

    def more(pool, method, route, status):
        return answers(after, pool, method, route, status) - answers(before, pool, method, route, status)

    entries = "/v1/queues/{queue}/entries"
    assert more("queue", "POST", entries, "2xx") == 2
    assert more("queue", "POST", entries, "4xx") == 1
    assert more("queue", "GET", "/v1/queues/{queue}/position", "2xx") == 20
    assert more("order", "GET", "/v1/orders", "4xx") == 1
    assert more("order", "any", "none", "4xx") == 1
    position = ("queue", "GET", "/v1/queues/{queue}/position")
    assert took(after, *position) - took(before, *position) == 20
    for outcome in ("entered", "again", "refused"):
        name = f'sluice_entries_total{{outcome="{outcome}"}}'
        assert after[name] - before[name] == 1, outcome


def test_who_waits_is_no_error_in_metrics_and_logs(parts, api, visitor_queue, make_site):
    """A waiting page, its JSON and a full line are answers of a class of their own, whatever their status, and not logged; a
    page for an error is both."""
    queue = visitor_queue(ratePerSecond=0)
    site = make_site(queue, {"/nowhere/": "never-made"})
    full = api.still_queue(maxWaiting=1)
    assert api.member().enter(full).status == 201
    room, entries = ("GET", "/_sluice/room"), ("POST", "/v1/queues/{queue}/entries")
    before, lines = read(parts), len(logs.events(parts.logs, "request"))
    browser = Visitor(site.port)
    pages = [browser.ask("/") for _ in range(3)]
    assert [page.status for page in pages] == [503] * 3 and pages[2].face == "WAITING"
    assert Visitor(site.port, APP).ask("/").json["code"] == "WAITING"
    assert_problem(api.member().enter(full), 503, "QUEUE_FULL")

    def more(call, status):
        return answers(read(parts), "queue", *call, status) - answers(before, "queue", *call, status)
    assert more(room, "waiting") == 4 and more(entries, "waiting") == 1
    assert more(room, "5xx") == more(entries, "5xx") == 0
    assert logs.events(parts.logs, "request")[lines:] == []

    failed = Visitor(site.port).ask("/nowhere/")
    assert failed.status == 503 and failed.is_page
    assert more(room, "waiting") == 4 and more(room, "5xx") == 1
    written = until(lambda: logs.events(parts.logs, "request")[lines:], 5, "the line of the error")
    assert [(line["status"], line["code"]) for line in written] == [(503, "ADMISSION_UNAVAILABLE")]


def test_every_worker_gives_the_same_answer_without_asking_anybody(parts):
    before = read(parts)
    texts = [fastcgi.get(parts.socket(pool), "/metrics").body for pool in POOLS for _ in range(2)]
    for text in texts:
        numbers = metrics.read(text)
        # These two grow by what is going on anyway, never by the ten scrapes themselves.
        assert answers(numbers, "queue", "GET", "/livez", "2xx") == answers(before, "queue", "GET", "/livez", "2xx")
        assert numbers["sluice_counting_since_timestamp_seconds"] == before["sluice_counting_since_timestamp_seconds"]
    version = [name for name in before if name.startswith("sluice_build_info{version=")]
    assert len(version) == 1 and before[version[0]] == 1
    parts.redis_server.process.send(signal.SIGSTOP)
    try:
        def took(pool):
            begin = time.monotonic()
            assert fastcgi.get(parts.socket(pool), "/metrics").status == 200
            return time.monotonic() - begin
        # The blocking pools may be in a call of their own, which gives up after a second.
        for pool in POOLS:
            assert any(took(pool) < 0.7 for _ in range(6)), pool
    finally:
        parts.redis_server.process.send(signal.SIGCONT)


def test_promtool_finds_nothing_wrong_with_them(parts, api, board):
    queue = api.queue()
    assert api.member().enter(queue).status == 201
    until(lambda: f'queue="{queue}"' in fastcgi.get(parts.socket("queue"), "/metrics").body.decode(), 10)
    text = fastcgi.get(parts.socket("queue"), "/metrics").body
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, timeout=30)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_queue_is_shown_as_the_operator_sees_it(parts, api, board):
    queue = api.queue(ratePerSecond=2, burst=2, maxActive=3)
    product = api.product(queue)
    members = [api.member() for _ in range(6)]
    for member in members:
        assert member.enter(queue).status == 201
    members[0].wait_ready(queue)
    assert members[0].order(queue, [{"sku": product, "quantity": 1}]).status == 201
    assert members[5].leave(queue).status == 204
    api.act(queue, "pause")

    def same():
        stats, numbers = api.stats(queue), read(parts)
        for status in ("waiting", "ready", "claimed", "unpaid", "away"):
            assert of_queue(numbers, "sluice_queue_members", queue, status=status) == stats[status], status
        for event in ("entered", "admitted", "consumed", "expired", "left", "withdrawn", "returned", "evicted"):
            assert of_queue(numbers, "sluice_queue_events_total", queue, event=event) == stats[event], event
        assert of_queue(numbers, "sluice_queue_rate_per_second", queue, kind="in_force") == 2
        assert of_queue(numbers, "sluice_queue_state", queue, state="PAUSED") == 1
        assert of_queue(numbers, "sluice_queue_state", queue, state="OPEN") == 0
        assert of_queue(numbers, "sluice_queue_leader", queue) == 1
        assert of_queue(numbers, "sluice_queue_wait_seconds", queue, kind="promised") == stats["promisedWaitSeconds"]
        assert of_queue(numbers, "sluice_queue_wait_seconds", queue, kind="actual") == stats["actualWaitSeconds"]
        kept = sum(of_queue(numbers, "sluice_queue_wait_error_seconds_count", queue, direction=way)
                   for way in ("late", "early"))
        assert kept == stats["admitted"] > 0
        assert stats["entered"] == 6 and stats["left"] == 1 and stats["consumed"] == 1
        return numbers
    numbers = until(same, 10, "figures of the queue")
    assert numbers["sluice_queue_figures_timestamp_seconds"] > time.time() - 5
    assert numbers['sluice_program_seen_timestamp_seconds{program="board"}'] > time.time() - 5
    assert abs(numbers["sluice_redis_clock_ahead_seconds"]) < 5
    assert numbers["sluice_boards_unconfirmed"] == 0

    for scheduler in parts.schedulers:
        scheduler.stop()
    until(lambda: of_queue(read(parts), "sluice_queue_leader", queue) == 0, 10, "nobody leads")
    board.writers[0].stop(seconds=5)
    assert not [name for name in read(parts) if f'queue="{queue}"' in name], "old figures are not shown"


def test_queues_beyond_the_fiftieth_are_one_row(parts, api, board):
    queues = [api.still_queue(ratePerSecond=1) for _ in range(53)]
    for queue in queues:
        assert api.member().enter(queue).status == 201

    def all_there():
        waiting = {name: number for name, number in read(parts).items()
                   if name.startswith("sluice_queue_members{") and 'status="waiting"' in name}
        other = waiting.get('sluice_queue_members{queue="other",status="waiting"}')
        return other == 3 and len(waiting) == 51 and sum(waiting.values()) == 53
    until(all_there, 20, "fifty rows and one", every=0.2)


def test_round_trips_and_their_ends_are_counted(parts, api):
    queue = api.queue()
    product = api.product(queue, stock=1)
    first, second = api.ready_members(queue, 2)
    before = read(parts)
    assert first.order(queue, [{"sku": product, "quantity": 1}]).status == 201
    assert_problem(second.order(queue, [{"sku": product, "quantity": 1}]), 409)
    after = read(parts)

    def more(name):
        return after[name] - before[name]
    # Out of stock is an exception in PostgreSQL, and rolls back.
    assert more('sluice_postgres_calls_total{result="answered"}') >= 1
    assert more('sluice_postgres_calls_total{result="refused"}') >= 1
    assert more("sluice_postgres_call_duration_seconds_count") >= 2
    assert more('sluice_consumes_total{result="done"}') == 1
    assert more('sluice_redis_calls_total{result="answered"}') >= 4
    assert more('sluice_redis_call_duration_seconds_count{client="blocking"}') >= 4
    assert more('sluice_redis_calls_total{result="unanswered"}') == 0

    parts.redis_server.stop()
    try:
        assert_problem(first.position(queue), 503)
        lost = read(parts)
    finally:
        parts.start_redis()
    name = 'sluice_redis_calls_total{result="unanswered"}'
    assert lost[name] > after[name]
    until(lambda: first.position(queue).status == 200, 20)
    name = 'sluice_redis_connections_total{result="made"}'
    assert read(parts)[name] > after[name]


def test_reconcile_reports_what_it_found_and_what_the_books_say(parts, api):
    queue = api.still_queue()
    parts.reconcile(expect=None)
    before = read(parts)
    assert before["sluice_reconcile_last_pass_timestamp_seconds"] > time.time() - 10
    hour_ago = "now() - interval '1 hour'"
    parts.postgres.query("INSERT INTO outbox (queue, kind, attempts, retry_at, created_at)"
                         f" VALUES (%s, 'sold_out', 5, now() + interval '1 hour', {hour_ago}) RETURNING id", queue)
    place = f"sluice:{{{queue}}}:ready"
    parts.redis.zadd(place, {"nobody": 2**50})
    try:
        parts.reconcile(expect=1)
        after = read(parts)
    finally:
        parts.postgres.query("DELETE FROM outbox WHERE queue = %s RETURNING id", queue)
    assert after['sluice_outbox_rows{kind="other"}'] == 1 and after["sluice_outbox_failed_rows"] == 1
    assert 3590 < time.time() - after["sluice_outbox_oldest_timestamp_seconds"] < 3660
    assert after["sluice_books_timestamp_seconds"] > time.time() - 10
    assert after["sluice_reconcile_needs_person"] == 1
    mended = 'sluice_reconcile_findings_total{kind="place_mended"}'
    assert after[mended] - before[mended] == 1
    passes = "sluice_reconcile_pass_duration_seconds_count"
    assert after[passes] - before[passes] == 1
    parts.reconcile(expect=0)
    clean = read(parts)
    assert clean["sluice_reconcile_needs_person"] == 0 and clean["sluice_outbox_oldest_timestamp_seconds"] == 0
    assert sum(number for name, number in clean.items() if name.startswith("sluice_payments{")) == \
        parts.postgres.value("SELECT count(*) FROM payment")


def ask_from(parts, address):
    connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=5, source_address=(address, 0))
    try:
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via"])
def test_what_comes_by_way_of_a_load_balancer_is_not_let_in_by_its_address(parts, api, header):
    for path in ("/metrics", "/_sluice/nginx-status"):
        assert api.call("GET", path).status == 200
        assert_problem(api.call("GET", path, {header: "203.0.113.9"}), 403, "FORBIDDEN")


def test_only_addresses_that_are_named_read_them(parts):
    allowed = parts.directory / "nginx" / "snippets" / "metrics_allowed.conf"
    as_it_was = allowed.read_text()
    assert ask_from(parts, "127.0.0.2")[0] == 200
    allowed.write_text(as_it_was.replace("127.0.0.0/8", "127.0.0.1"))
    try:
        parts.nginx.send(signal.SIGHUP)
        # The old workers of nginx may answer for a moment.
        def refused():
            status, body = ask_from(parts, "127.0.0.2")
            return status == 403 and json.loads(body)["code"] == "FORBIDDEN"
        until(refused, 10, "refused")
        assert ask_from(parts, "127.0.0.1")[0] == 200
    finally:
        allowed.write_text(as_it_was)
        parts.nginx.send(signal.SIGHUP)
    until(lambda: ask_from(parts, "127.0.0.2")[0] == 200, 10, "let in again")


def test_a_request_is_followed_by_its_id_to_where_its_effects_go_on(parts, api):
    """From nginx to the worker that dies after the commit, and by order and claim to reconcile, which ends it."""
    queue = api.queue(claimLeaseSeconds=2)
    product = api.product(queue)
    member = api.ready_member(queue)
    parts.arm_pause("order.committed")
    caught = {}

    def order():
        caught["answer"] = member.order(queue, [{"sku": product, "quantity": 1}], key=new_key())
    asking = threading.Thread(target=order)
    asking.start()
    pid = parts.wait_hit("order.committed")
    os.kill(pid, signal.SIGKILL)
    asking.join(20)
    request = caught["answer"].headers["x-request-id"]

    def lines(name):
        return [json.loads(line) for file, line in logs.lines_of(parts.logs) if file == name and line.startswith("{")]
    until(lambda: [line for line in lines("access.log") if line["rid"] == request], 10, "nginx's line")
    created = [event for event in logs.events(parts.logs, "order.created") if event.get("requestId") == request]
    assert len(created) == 1 and created[0]["queue"] == queue

    def ended():
        return [event for event in logs.events(parts.logs)
                if event["event"] in ("claim.consumed", "outbox.consumed") and event.get("order") == created[0]["order"]]
    parts.reconcile_until(ended, what="reconcile has spent the token")
    for event in ended():
        assert event["program"] == "sluice-reconcile" and event["queue"] == queue
        assert event.get("claim", created[0]["claim"]) == created[0]["claim"]
    promoted = [event for event in logs.events(parts.logs, "scheduler.promoted") if event["queue"] == queue]
    assert promoted and promoted[-1]["highestNumber"] == 1
