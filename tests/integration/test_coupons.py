"""First-come coupons: one a member, none twice, a clear yes or no."""

import asyncio
import csv
import http.client
import io
import os
import re
import subprocess
import threading
import time

import aiohttp
import pytest

from lib import processes
from lib.api import ticket_payload
from lib.client import assert_problem
from lib.parts import SHORTEST_LEASE_S
from lib.wait import until

CODE = re.compile(r"[2-9A-HJ-NP-Z]{4}(-[2-9A-HJ-NP-Z]{4}){3}")
RETRY = {"COUPON_BUSY", "ORDER_IN_PROGRESS", "ORDER_CAPACITY", "RATE_LIMITED", "ORDERS_UNAVAILABLE",
         "ADMISSION_UNAVAILABLE"}
TAKE_IN_SQL = "SELECT outcome, code, few_left FROM issue_coupon(%s, %s, %s, 1, %s, %s, %s, %s, 'key')"


class Running:
    """A call under way in a thread of its own."""

    def __init__(self, call):
        self.answer = None
        self._thread = threading.Thread(target=self._run, args=(call,))
        self._thread.start()

    def _run(self, call):
        self.answer = call()

    def wait(self, seconds=20):
        self._thread.join(seconds)
        assert not self._thread.is_alive()
        return self.answer


def issued(parts, event):
    return parts.postgres.value("SELECT count(*) FROM coupon WHERE event = %s AND member IS NOT NULL", event)


def public(api, event):
    """The public state, past the cache: nginx counts whole seconds."""
    time.sleep(2.1)
    answer = api.call("GET", f"/v1/coupon-events/{event}")
    assert answer.status == 200, answer.body
    return answer.json


def in_sql(parts, event, queue, member, number, connection=None):
    """What a worker does in PostgreSQL, by itself or in a transaction of the caller's."""
    incarnation = parts.postgres.value("SELECT incarnation FROM queue WHERE id = %s", queue)
    words = (event, queue, incarnation, number, member, f"claim-{event}-{member}", f"admission-{event}-{member}")
    if connection is None:
        return parts.postgres.query(TAKE_IN_SQL, *words)[0]
    with connection.cursor() as cursor:
        cursor.execute(TAKE_IN_SQL, words)
        return cursor.fetchone()


def statements(parts, since):
    """How often each prepared statement was carried out, by PostgreSQL's log from that byte on."""
    text = (parts.logs / "postgres.log").read_bytes()[since:].decode(errors="replace")
    counts = {}
    for name in re.findall(r"execute (\w+):", text):
        counts[name] = counts.get(name, 0) + 1
    counts.pop("session_ping", None)
    return counts


@pytest.fixture
def logged(parts):
    """PostgreSQL logs every statement; a function tells which were carried out since it was called last."""
    size = lambda: (parts.logs / "postgres.log").stat().st_size
    parts.postgres.superuser("ALTER SYSTEM SET log_min_duration_statement = 0")
    parts.postgres.superuser("SELECT pg_reload_conf()")
    time.sleep(0.5)
    at = [size()]

    def since():
        counts = statements(parts, at[0])
        at[0] = size()
        return counts
    yield since
    parts.postgres.superuser("ALTER SYSTEM RESET log_min_duration_statement")
    parts.postgres.superuser("SELECT pg_reload_conf()")


# One member

def test_a_coupon(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 3)
    member, other = api.ready_member(queue), api.ready_member(queue)
    answer = member.coupon(event)
    assert answer.status == 201, answer.body
    coupon = answer.json
    assert CODE.fullmatch(coupon["code"]) and coupon["alreadyIssued"] is False and coupon["event"] == event
    assert answer.headers["cache-control"] == "no-store"
    mine = member.my_coupon(event)
    assert mine.status == 200 and mine.json == {**coupon, "alreadyIssued": True}
    assert_problem(other.my_coupon(event), 404, "NOT_FOUND")
    assert_problem(api.call("GET", f"/v1/coupon-events/{event}/coupons/mine"), 401, "UNAUTHENTICATED")
    assert member.position(queue)["status"] == "NOT_ENTERED", "the token is spent"
    state = public(api, event)
    assert (state["coupons"], state["issued"], state["left"], state["state"]) == (3, 1, 2, "OPEN")
    assert coupon["code"] not in str(state) and member.name not in str(state)
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    assert parts.postgres.query("SELECT kind, seq FROM admission_use WHERE queue = %s", queue) == [("coupon", 1)]


def test_the_same_member_again(parts, api):
    """With the spent token, and with a new one, which stays unspent."""
    queue = api.queue()
    event = api.coupon_event(queue, 3)
    member = api.ready_member(queue)
    first = member.coupon(event).json
    for _ in range(3):
        again = member.coupon(event)
        assert again.status == 200 and again.json == {**first, "alreadyIssued": True}
    stranger = api.member()
    assert_problem(stranger.coupon(event, token=member.token), 401, "ENTRY_TOKEN_INVALID")
    member.ticket, member.token = None, None
    member.enter(queue)
    member.wait_ready(queue)
    again = member.coupon(event)
    assert again.status == 200 and again.json == {**first, "alreadyIssued": True}
    position = member.position(queue)
    assert position["status"] == "READY" and "ordering" not in position.json
    sku = api.product(queue)
    assert member.order(queue, [{"sku": sku, "quantity": 1}]).status == 201, "the new token is good for something else"
    assert issued(parts, event) == 1
    # That token bought an order: it knows of no coupon.
    assert_problem(member.coupon(event), 401, "ENTRY_TOKEN_INVALID")


def test_a_token_buys_one_thing(parts, api):
    queue = api.queue()
    one, two = api.coupon_event(queue, 2), api.coupon_event(queue, 2)
    sku = api.product(queue)
    member = api.ready_member(queue)
    assert member.coupon(one).status == 201
    assert_problem(member.coupon(two), 401, "ENTRY_TOKEN_INVALID")
    assert_problem(member.order(queue, [{"sku": sku, "quantity": 1}]), 401, "ENTRY_TOKEN_INVALID")
    assert member.coupon(one).status == 200
    assert issued(parts, two) == 0


def test_bad_input_never_costs_the_place(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 1)
    member = api.ready_member(queue)
    method, path, headers, _ = member.coupon_call(event)
    for body in (b"{", b"[]", b'{"captcha": 5}', b'{"code": "x"}', b'{"captcha": "' + b"x" * 20000 + b'"}'):
        assert_problem(api.call(method, path, headers, body), 400, "INVALID_REQUEST")
    without = {name: value for name, value in headers.items() if name != "X-Entry-Token"}
    assert_problem(api.call(method, path, without), 401, "ENTRY_TOKEN_REQUIRED")
    assert_problem(api.call(method, path, {"X-Entry-Token": member.token}), 401, "UNAUTHENTICATED")
    for token in ("A" * 43, "x", "%00"):
        assert_problem(member.coupon(event, token=token), 401, "ENTRY_TOKEN_INVALID")
    assert_problem(member.coupon("no-such-event"), 404, "NOT_FOUND")
    assert_problem(member.coupon("Not_A_Slug"), 404, "NOT_FOUND")
    assert issued(parts, event) == 0
    assert member.coupon(event, captcha="not asked for").status == 201


def test_another_queue_s_token_is_no_token(parts, api):
    queue, other = api.queue(), api.queue()
    event = api.coupon_event(queue, 1)
    member = api.ready_member(other)
    assert_problem(member.coupon(event), 401, "ENTRY_TOKEN_INVALID")
    assert member.position(other)["status"] == "READY"
    assert issued(parts, event) == 0


def test_visitors_get_coupons_too(parts, api):
    queue = api.queue(identity="visitor")
    event = api.coupon_event(queue, 1)
    link = http.client.HTTPConnection("127.0.0.1", api.port, timeout=10)
    link.request("POST", f"/v1/queues/{queue}/entries")
    entered = link.getresponse()
    cookies = "; ".join(line.split(";")[0] for line in entered.headers.get_all("set-cookie"))
    link.close()
    at = f"/v1/queues/{queue}/position"
    ready = until(lambda: (answer := api.call("GET", at, {"Cookie": cookies}))["status"] == "READY" and answer, 10)
    headers = {"Cookie": cookies, "X-Entry-Token": ready["entryToken"]}
    answer = api.call("POST", f"/v1/coupon-events/{event}/coupons", headers)
    assert answer.status == 201, answer.body
    assert api.call("POST", f"/v1/coupon-events/{event}/coupons", headers).status == 200
    rows = api.admin("GET", f"/coupon-events/{event}/coupons")["coupons"]
    assert len(rows) == 1 and rows[0]["member"].startswith("v~")


@pytest.mark.limit(90)
def test_200_parallel_requests_on_one_token_issue_one(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 10)
    member = api.ready_member(queue)
    answers = api.together([member.coupon_call(event) for _ in range(200)], timeout=60)
    assert [answer.status for answer in answers].count(201) == 1
    codes = {answer["code"] for answer in answers if answer.status in (200, 201)}
    assert len(codes) == 1
    assert {answer.code for answer in answers if answer.status not in (200, 201)} <= {"ORDER_IN_PROGRESS"}
    assert issued(parts, event) == 1


# When

def test_not_open_yet_and_ended(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 2, opensAt="2100-01-01T00:00:00Z")
    member = api.ready_member(queue)
    assert public(api, event)["state"] == "PRE_OPEN"
    assert_problem(member.coupon(event), 403, "EVENT_NOT_OPEN")
    assert member.position(queue)["status"] == "READY"
    api.coupon_event(queue, event=event, opensAt="2020-01-01T00:00:00Z", endsAt="2020-01-02T00:00:00Z")
    assert_problem(member.coupon(event), 410, "EVENT_ENDED")
    assert public(api, event)["state"] == "ENDED"
    until(lambda: member.position(queue)["queueState"] == "SOLD_OUT", 5, "nobody waits for an event that is over")
    api.coupon_event(queue, event=event)
    until(lambda: member.position(queue)["queueState"] == "OPEN", 5)
    assert member.coupon(event).status == 201
    # One's own coupon is there after the end too.
    api.coupon_event(queue, event=event, endsAt="2020-01-02T00:00:00Z")
    assert member.coupon(event).status == 200


def test_the_end_is_exact_by_the_database_s_clock(parts, api):
    """Calls on both sides of the end: what was issued began before it, what was refused ended after it."""
    queue = api.queue()
    event = api.coupon_event(queue, 6000)
    ends = parts.postgres.value("SELECT date_trunc('milliseconds', clock_timestamp()) + interval '1500 ms'")
    api.coupon_event(queue, event=event, endsAt=ends.isoformat())
    stored = parts.postgres.value("SELECT ends_at FROM coupon_event WHERE id = %s", event)
    assert stored == ends
    seen = []
    connection = parts.postgres.connection()
    connection.autocommit = True
    with connection.cursor() as cursor:
        for number in range(1, 6000):
            cursor.execute(
                "SELECT before, (i).outcome, clock_timestamp() FROM (SELECT clock_timestamp() AS before, "
                "issue_coupon(%s, %s, 1, 1, %s, %s, %s, %s, 'k') AS i OFFSET 0) AS done",
                (event, queue, number, f"m{number}", f"c-{event}-{number}", f"a-{event}-{number}"))
            seen.append(cursor.fetchone())
            if seen[-1][1] == "ended" and seen[-1][0] > ends and sum(one[1] == "ended" for one in seen) > 20:
                break
    connection.close()
    outcomes = [outcome for _, outcome, _ in seen]
    assert set(outcomes) == {"issued", "ended"} and outcomes == sorted(outcomes, reverse=True)
    for before, outcome, after in seen:
        assert before < ends if outcome == "issued" else after >= ends
    last = parts.postgres.value("SELECT max(issued_at) FROM coupon WHERE event = %s", event)
    assert last < ends
    assert issued(parts, event) == outcomes.count("issued")


# Sold out, or only busy

def test_sold_out_closes_the_queue_and_new_codes_reopen_it(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 2)
    one, two, three = api.ready_members(queue, 3)
    waiting = api.member()
    api.still_queue(queue)
    waiting.enter(queue)
    assert one.coupon(event).status == 201
    assert waiting.position(queue)["queueState"] == "OPEN"
    assert two.coupon(event).status == 201
    until(lambda: waiting.position(queue)["queueState"] == "SOLD_OUT", 1, "told within a second")
    assert waiting.position(queue)["rank"] == 0
    assert_problem(api.member().enter(queue), 410, "SOLD_OUT")
    assert_problem(three.coupon(event), 410, "SOLD_OUT")
    assert three.position(queue)["status"] == "READY", "a refusal costs nothing"
    assert one.coupon(event).status == 200, "whoever has one still gets it"
    assert public(api, event)["state"] == "SOLD_OUT"
    api.add_coupons(event, codes=["SECOND-CHANCE"])
    until(lambda: waiting.position(queue)["queueState"] == "OPEN", 1)
    assert three.coupon(event)["code"] == "SECOND-CHANCE"


def test_a_queue_is_sold_out_only_when_all_that_it_sells_is(parts, api):
    queue = api.queue()
    one, two = api.coupon_event(queue, 1), api.coupon_event(queue, 1)
    sku = api.product(queue, stock=1)
    first, second, third, fourth = api.ready_members(queue, 4)
    assert first.coupon(one).status == 201
    assert_problem(second.coupon(one), 410, "SOLD_OUT")
    assert fourth.position(queue)["queueState"] == "OPEN"
    assert second.coupon(two).status == 201
    assert fourth.position(queue)["queueState"] == "OPEN"
    assert third.order(queue, [{"sku": sku, "quantity": 1}]).status == 201
    until(lambda: fourth.position(queue)["queueState"] == "SOLD_OUT", 2)


def test_an_event_without_coupons_sells_nothing_out(api):
    queue = api.queue()
    event = api.coupon_event(queue)
    member = api.ready_member(queue)
    assert_problem(member.coupon(event), 410, "SOLD_OUT")
    assert member.position(queue)["queueState"] == "OPEN"


def test_busy_is_not_sold_out(parts, api):
    """The last row is taken by a transaction that then rolls back: all coupons go out, never one less."""
    queue = api.queue()
    event = api.coupon_event(queue, 1)
    member, other = api.ready_members(queue, 2)
    holder = parts.postgres.connection()
    assert in_sql(parts, event, queue, "somebody", 9001, holder)[0] == "issued"
    began = time.monotonic()
    for _ in range(3):
        busy = member.coupon(event)
        assert_problem(busy, 409, "COUPON_BUSY")
        assert busy.headers["retry-after"] == "1"
    assert time.monotonic() - began < 2, "nobody waits behind another's row"
    position = member.position(queue)
    assert position["status"] == "READY" and "ordering" not in position.json
    assert position["queueState"] == "OPEN"
    assert public(api, event)["left"] == 1
    holder.rollback()
    holder.close()
    assert member.coupon(event).status == 201
    assert_problem(other.coupon(event), 410, "SOLD_OUT")


def test_busy_until_the_other_commits(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 1)
    member = api.ready_member(queue)
    holder = parts.postgres.connection()
    assert in_sql(parts, event, queue, "somebody", 9001, holder)[0] == "issued"
    assert_problem(member.coupon(event), 409, "COUPON_BUSY")
    holder.commit()
    holder.close()
    # The other worker has died before its look; who asks next finds out and says so to everybody.
    assert_problem(member.coupon(event), 410, "SOLD_OUT")
    until(lambda: member.position(queue)["queueState"] == "SOLD_OUT", 1)


def test_two_last_ones_cannot_see_each_other(parts, api):
    """Both are told to look after their commits; where neither did, reconcile finds it."""
    queue = api.queue()
    event = api.coupon_event(queue, 2)
    member, waiting = api.ready_member(queue), api.member()
    holder = parts.postgres.connection()
    outcome, _, few_left = in_sql(parts, event, queue, "somebody", 9001, holder)
    assert (outcome, few_left) == ("issued", True)
    assert member.coupon(event).status == 201
    waiting.enter(queue)
    assert waiting.position(queue)["queueState"] == "OPEN", "one may yet come back"
    holder.commit()
    holder.close()
    assert waiting.position(queue)["queueState"] == "OPEN", "its worker has died before its look"
    parts.reconcile_until(lambda: waiting.position(queue)["queueState"] == "SOLD_OUT", 5)


def test_reconcile_mends_the_flag(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 1)
    member, waiting = api.ready_member(queue), api.member()
    waiting.enter(queue)
    assert member.coupon(event).status == 201
    until(lambda: waiting.position(queue)["queueState"] == "SOLD_OUT", 1)
    parts.redis.hset(f"sluice:{{{queue}}}:state", "soldOut", "0")
    assert waiting.position(queue)["queueState"] == "OPEN"
    parts.reconcile_until(lambda: waiting.position(queue)["queueState"] == "SOLD_OUT", 5)
    # And a finding that is older than the rows.
    parts.postgres.query("UPDATE coupon SET member = NULL, admission_id = NULL, epoch = NULL, seq = NULL, "
                         "issued_at = NULL WHERE event = %s", event)
    parts.reconcile_until(lambda: waiting.position(queue)["queueState"] == "OPEN", 5)


# Cost

def test_one_statement_and_two_scripts_an_issue(parts, api, logged):
    queue = api.queue()
    event = api.coupon_event(queue, 100)
    members = api.ready_members(queue, 20)
    assert members[0].coupon(event).status == 201
    logged()
    for answer in api.together([member.coupon_call(event) for member in members[1:]], 4):
        assert answer.status == 201
    until(lambda: parts.postgres.value("SELECT true"), 1)
    counts = logged()
    assert counts.pop("coupon_issue") == 19
    # The event's row, once a second and worker.
    assert counts.pop("coupon_event_find", 0) <= 2 * parts.order_workers
    assert counts == {}
    member = api.ready_member(queue)
    with parts.redis_server.client().monitor() as monitor:
        assert member.coupon(event).status == 201
        assert member.coupon(event).status == 200
        assert_problem(member.coupon(event, token="wrong"), 401, "ENTRY_TOKEN_INVALID")
        parts.redis.echo("the end")
        mine = 0
        for command in monitor.listen():
            words = command["command"]
            if words.startswith("ECHO"):
                break
            if words.upper().startswith("EVALSHA") and member.name in words and "lua" not in command["client_type"]:
                mine += 1
    assert mine == 2 + 1 + 1, "claim and consume; claim; claim"


def test_a_flood_without_a_token_never_reaches_postgres(parts, api, logged):
    queue = api.queue()
    event = api.coupon_event(queue, 5)
    members = [api.member() for _ in range(100)]
    logged()
    for answer in api.together([member.coupon_call(event, token="A" * 43) for member in members], 16):
        assert_problem(answer, 401, "ENTRY_TOKEN_INVALID")
    assert set(logged()) <= {"coupon_event_find"}
    answers = api.together([member.coupon_call(f"made-up-{n}", token="A" * 43)
                            for n, member in enumerate(members * 4)], 16)
    assert {answer.code for answer in answers} <= {"NOT_FOUND", "ORDERS_UNAVAILABLE"}
    assert logged().get("coupon_event_find", 0) <= 20 * parts.order_workers * 5


def test_public_state_is_cached(parts, api, logged):
    queue = api.queue()
    event = api.coupon_event(queue, 5)
    logged()
    answers = api.together([("GET", f"/v1/coupon-events/{event}", {}, None)] * 50, 8)
    assert {answer.status for answer in answers} == {200}
    assert answers[0].headers["cache-control"] == "public, max-age=1"
    assert 1 <= logged().get("coupon_event_find", 0) <= 5, "the cache answers the others"
    assert_problem(api.call("GET", "/v1/coupon-events/no-such-event"), 404, "NOT_FOUND")
    assert_problem(api.call("POST", f"/v1/coupon-events/{event}"), 405, "METHOD_NOT_ALLOWED")


def test_picking_never_reads_what_is_gone(parts, api):
    """With statistics of when the event began, and with a plan made when the table was small."""
    queue = api.queue()
    event = api.coupon_event(queue)
    connection = parts.postgres.connection()
    connection.autocommit = True
    api.add_coupons(event, generate=10)
    for number in range(1, 8):
        assert in_sql(parts, event, queue, f"m{number}", number, connection)[0] == "issued"
    api.add_coupons(event, generate=20000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE coupon")
        cursor.execute("UPDATE coupon SET member = 'x' || id, admission_id = 'a', epoch = 1, seq = 1, issued_at = now() "
                       "WHERE event = %s AND member IS NULL AND id NOT IN "
                       "(SELECT id FROM coupon WHERE event = %s ORDER BY id DESC LIMIT 50)", (event, event))
        cursor.execute("VACUUM coupon")
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT seq_scan, seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'coupon'")
        scans, rows = cursor.fetchone()
        for number in range(100, 120):
            assert in_sql(parts, event, queue, f"m{number}", number, connection)[0] == "issued"
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT seq_scan, seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'coupon'")
        scans_after, rows_after = cursor.fetchone()
    connection.close()
    assert scans_after == scans
    assert rows_after - rows < 20 * 200


# Crashes and losses

STEPS = [("order.before_claim", False), ("order.claimed", False), ("order.before_transaction", False),
         ("order.committed", True), ("order.consumed", True)]


def overdue(parts, queue):
    """The lease of the queue's claim has run out."""
    key = f"sluice:{{{queue}}}:claimed"

    def is_over():
        seconds, micros = parts.redis.time()
        ends = [end for _, end in parts.redis.zrange(key, 0, -1, withscores=True)]
        return ends and max(ends) < seconds * 1000 + micros // 1000
    until(is_over, 10, "end of the lease")


@pytest.mark.parametrize("step, committed", STEPS)
def test_kill_9_at_each_step(parts, api, step, committed):
    queue = api.queue(claimLeaseSeconds=SHORTEST_LEASE_S)
    event = api.coupon_event(queue, 5)
    member = api.ready_member(queue)
    parts.arm_pause(step)
    call = Running(lambda: member.coupon(event))
    processes.kill9(parts.wait_hit(step))
    assert_problem(call.wait(), 503, "ORDERS_UNAVAILABLE")
    parts.all_workers("order")
    assert issued(parts, event) == (1 if committed else 0)
    if step in ("order.claimed", "order.before_transaction", "order.committed"):
        assert_problem(member.coupon(event), 409, "ORDER_IN_PROGRESS")
        if committed:
            parts.reconcile_until(lambda: member.position(queue)["status"] == "NOT_ENTERED")
        else:
            overdue(parts, queue)
            parts.reconcile()
            assert member.position(queue)["status"] == "READY"
    answer = member.coupon(event)
    assert answer.status == (200 if committed else 201), answer.body
    assert answer["alreadyIssued"] is committed
    assert member.coupon(event).json == {**answer.json, "alreadyIssued": True}
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    assert issued(parts, event) == 1
    assert api.stats(queue)["consumed"] == 1


def test_crash_after_the_commit_is_settled_by_the_lease_too(parts, api):
    """The outbox row is lost to the test: what remains is the claim, which PostgreSQL knows as committed."""
    queue = api.queue(claimLeaseSeconds=SHORTEST_LEASE_S)
    event = api.coupon_event(queue, 50)
    member = api.ready_member(queue)
    parts.arm_pause("order.committed")
    call = Running(lambda: member.coupon(event))
    processes.kill9(parts.wait_hit("order.committed"))
    call.wait()
    parts.postgres.query("DELETE FROM outbox WHERE queue = %s", queue)
    overdue(parts, queue)
    parts.reconcile()
    assert member.position(queue)["status"] == "NOT_ENTERED"
    tombstone, = parts.redis.hvals(f"sluice:{{{queue}}}:tombstones")
    assert re.fullmatch(rf"{member.name}/[\w-]{{43}}/c_\d+", tombstone)
    assert member.coupon(event).status == 200
    assert api.stats(queue)["consumed"] == 1


@pytest.mark.parametrize("step", ["order.claimed", "order.before_transaction"])
def test_worker_continued_late_issues_nothing(parts, api, step):
    """Reconcile has released its claim meanwhile, and the member has a coupon by it: the late one gets the same."""
    queue = api.queue(claimLeaseSeconds=SHORTEST_LEASE_S)
    event = api.coupon_event(queue, 5)
    member = api.ready_member(queue)
    parts.arm_pause(step)
    late = Running(lambda: member.coupon(event))
    pid = parts.wait_hit(step)
    overdue(parts, queue)
    parts.reconcile()
    made = member.coupon(event)
    assert made.status == 201
    processes.cont(pid)
    answer = late.wait()
    assert answer.status == 200 and answer["code"] == made["code"], answer.body
    assert issued(parts, event) == 1


def test_worker_continued_after_the_release_fails_on_its_claim(parts, api):
    queue = api.queue(claimLeaseSeconds=SHORTEST_LEASE_S)
    event = api.coupon_event(queue, 5)
    member = api.ready_member(queue)
    parts.arm_pause("order.before_transaction")
    late = Running(lambda: member.coupon(event))
    pid = parts.wait_hit("order.before_transaction")
    overdue(parts, queue)
    parts.reconcile()
    processes.cont(pid)
    assert_problem(late.wait(), 409, "ORDER_IN_PROGRESS")
    assert issued(parts, event) == 0
    assert member.coupon(event).status == 201


def test_redis_lost(parts, api):
    """Nobody gets a second coupon, nobody is lost."""
    queue = api.queue(recoverySeconds=0)
    event = api.coupon_event(queue, 3)
    owners, rest = api.ready_members(queue, 2), api.ready_members(queue, 2)
    codes = {member: member.coupon(event)["code"] for member in owners}
    parts.arm_pause("order.before_transaction")
    late = Running(lambda: rest[0].coupon(event))
    pid = parts.wait_hit("order.before_transaction")
    parts.redis.flushall()
    assert_problem(owners[0].coupon(event), 503, "ADMISSION_UNAVAILABLE")
    assert owners[0].my_coupon(event)["code"] == codes[owners[0]], "one's own coupon is PostgreSQL's to show"
    parts.reconcile_until(lambda: rest[1].position(queue).status == 200, what="the queue is back")
    processes.cont(pid)
    assert_problem(late.wait(), 503)
    assert issued(parts, event) == 2
    for member in owners:
        assert member.position(queue)["status"] == "NOT_ENTERED", "spent numbers are not seated again"
        member.ticket, member.token = None, None
        member.enter(queue)
        member.wait_ready(queue)
        again = member.coupon(event)
        assert again.status == 200 and again["code"] == codes[member]
        assert member.position(queue)["status"] == "READY", "it never costs a second admission"
    assert_problem(rest[1].coupon(event), 401, "ENTRY_TOKEN_INVALID")
    rest[0].wait_ready(queue)
    assert rest[0].coupon(event).status == 201
    assert issued(parts, event) == 3
    assert parts.postgres.value("SELECT count(DISTINCT member) FROM coupon WHERE event = %s", event) == 3


def test_the_end_of_redis_or_postgres(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 3)
    member = api.ready_member(queue)
    parts.postgres.stop()
    try:
        assert_problem(member.coupon(event), 503, "ORDERS_UNAVAILABLE")
    finally:
        parts.postgres.start()
    until(lambda: member.coupon(event).status in (200, 201), 15, "the same request, sent again")
    assert issued(parts, event) == 1


# The crowd

class Crowd:
    """Members with several tabs each, which all do what the page does: enter, poll, ask, and ask again."""

    def __init__(self, api, queue, event, connections):
        self.api, self.queue, self.event, self.connections = api, queue, event, connections
        self.seqs, self.outcomes, self.unexpected = {}, {}, []

    def run(self, members, tabs, seconds):
        asyncio.run(asyncio.wait_for(self._run(members, tabs), seconds))

    async def _run(self, members, tabs):
        connector = aiohttp.TCPConnector(limit=self.connections)
        async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(),
                                         timeout=aiohttp.ClientTimeout(total=60)) as session:
            self.session = session
            await asyncio.gather(*(self._tab(member) for member in members for _ in range(tabs)))

    async def _send(self, call):
        try:
            return await self.api.send(self.session, *call)
        except aiohttp.ClientError:
            return None

    async def _patiently(self, call):
        """Until the answer invites no retry."""
        while True:
            answer = await self._send(call)
            if answer is not None and answer.code not in RETRY:
                return answer
            await asyncio.sleep(0.3)

    async def _tab(self, member):
        enter = ("POST", f"/v1/queues/{self.queue}/entries", member.headers(), None)
        answer = await self._patiently(enter)
        if answer.code == "SOLD_OUT":
            await self._look_for_mine(member)
            return
        if answer.status not in (200, 201):
            self.unexpected.append(answer.body)
            return
        self.seqs[member.name] = ticket_payload(answer["queueTicket"])["seq"]
        while True:
            answer = await self._patiently(("GET", f"/v1/queues/{self.queue}/position", member.headers(), None))
            if answer.status == 200 and answer["status"] == "READY":
                await self._click(member, answer["entryToken"])
                return
            if answer.status == 200 and (answer["status"] == "NOT_ENTERED" or answer["queueState"] == "SOLD_OUT"):
                await self._look_for_mine(member)
                return
            await asyncio.sleep(0.5)

    async def _look_for_mine(self, member):
        """The queue is over, or another tab has spent the token."""
        mine = await self._patiently(
            ("GET", f"/v1/coupon-events/{self.event}/coupons/mine", member.headers(), None))
        self._end(member, mine["code"] if mine.status == 200 else "SOLD_OUT")

    async def _click(self, member, token):
        """A double click: each of the two asks until it has its answer."""
        call = member.coupon_call(self.event, token=token)
        for answer in await asyncio.gather(self._patiently(call), self._patiently(call)):
            if answer.status in (200, 201):
                self._end(member, answer["code"])
            elif answer.code == "SOLD_OUT":
                self._end(member, "SOLD_OUT")
            else:
                self.unexpected.append((member.name, answer.status, answer.body))

    def _end(self, member, outcome):
        self.outcomes.setdefault(member.name, set()).add(outcome)


@pytest.mark.limit(240)
def test_70_coupons_1000_members_three_tabs_each(parts, api):
    """While order workers die: exactly 70 to 70 different members, the first that asked, and an answer for everybody."""
    active = 40
    queue = api.queue(claimLeaseSeconds=SHORTEST_LEASE_S, maxActive=active, ratePerSecond=100, burst=100,
                      opensAt=None)
    event = api.coupon_event(queue, 70)
    parts.start_reconcile(1)
    over = threading.Event()
    killed = []

    def kill_now_and_then():
        while not over.wait(0.3):
            for pid in parts.workers("order")[:1]:
                try:
                    processes.kill9(pid)
                    killed.append(pid)
                except ProcessLookupError:
                    pass
    killer = threading.Thread(target=kill_now_and_then)
    killer.start()
    crowd = Crowd(api, queue, event, 256)
    try:
        crowd.run([api.member() for _ in range(1000)], 3, 200)
    finally:
        over.set()
        killer.join(10)
    assert not crowd.unexpected, crowd.unexpected[:5]
    assert len(killed) >= 5
    rows = parts.postgres.query("SELECT member, code, seq FROM coupon WHERE event = %s AND member IS NOT NULL", event)
    assert len(rows) == 70 == len({row[0] for row in rows}) == len({row[1] for row in rows})
    owners = {member: code for member, code, _ in rows}
    assert len(crowd.outcomes) == 1000
    for name, outcomes in crowd.outcomes.items():
        assert outcomes == {owners.get(name, "SOLD_OUT")}, (name, outcomes)
    for member, _, seq in rows:
        assert seq == crowd.seqs[member]
        # Nobody was let in before all but 69 of those before had got one, or were asking at the same time.
        assert seq <= 69 + active, sorted(row[2] for row in rows)
    assert until(lambda: parts.outbox_empty(queue), 20)
    uses = parts.postgres.value("SELECT count(*) FROM admission_use WHERE queue = %s", queue)
    assert uses == 70


@pytest.mark.limit(90)
def test_one_after_the_other_the_first_numbers_get_them(parts, api):
    queue = api.queue(maxActive=1)
    event = api.coupon_event(queue, 5)
    crowd = Crowd(api, queue, event, 16)
    crowd.run([api.member() for _ in range(12)], 2, 60)
    assert not crowd.unexpected
    seqs = parts.postgres.query("SELECT seq FROM coupon WHERE event = %s ORDER BY seq", event)
    assert [seq for seq, in seqs] == [1, 2, 3, 4, 5]
    result = api.call("GET", f"/v1/coupon-events/{event}/result").json
    assert result["numbersServed"] == [{"epoch": 1, "numbers": "1-5"}]


@pytest.mark.limit(90)
def test_all_go_out_where_some_roll_back(parts, api):
    """Transactions that take a row and give it back, all the while: N coupons for N members, never N - 1."""
    queue = api.queue()
    event = api.coupon_event(queue, 30)
    members = api.ready_members(queue, 30)
    over = threading.Event()

    def take_and_give_back():
        holder = parts.postgres.connection()
        number = 5000
        while not over.is_set():
            number += 1
            in_sql(parts, event, queue, f"nobody-{number}", number, holder)
            time.sleep(0.02)
            holder.rollback()
        holder.close()
    thread = threading.Thread(target=take_and_give_back)
    thread.start()
    pending = list(members)

    def all_have_one():
        for member, answer in zip(list(pending), api.together([m.coupon_call(event) for m in pending], 12)):
            if answer.status in (200, 201):
                pending.remove(member)
            else:
                assert answer.code in RETRY, answer.body
        return not pending
    try:
        until(all_have_one, 40, "a coupon for everybody", every=0.1)
    finally:
        over.set()
        thread.join(10)
    assert issued(parts, event) == 30


# Operators

def test_putting_and_getting_an_event(parts, api):
    queue = api.queue()
    path = "/coupon-events/" + api.coupon_event(queue, opensAt="2026-01-01T09:00:00.250+09:00", captcha="none")
    event = api.admin("GET", path)
    assert (event["opensAt"], event["endsAt"], event["captcha"]) == ("2026-01-01T00:00:00.250Z", None, "none")
    again = api.admin("PUT", path, event.json)
    assert again.status == 200
    assert {**again.json, "updatedAt": None} == {**event.json, "updatedAt": None}
    changed = api.admin("PUT", path, {"name": "Frühling 봄", "queue": queue})
    assert (changed["name"], changed["opensAt"]) == ("Frühling 봄", None)
    audit = api.admin("GET", f"/audit?target=coupon-event/{event['event']}").json
    assert [row["action"] for row in audit["entries"]] == ["change", "create"]
    assert_problem(api.admin("GET", "/coupon-events/no-such-event"), 404, "NOT_FOUND")
    viewer = {"Authorization": f"Bearer {api.viewer_key}"}
    assert api.call("GET", f"/v1/admin{path}", viewer).status == 200
    assert_problem(api.call("PUT", f"/v1/admin{path}", viewer, event.json), 403, "FORBIDDEN")
    assert_problem(api.call("GET", f"/v1/admin{path}/coupons", viewer), 403, "FORBIDDEN")
    assert_problem(api.call("POST", f"/v1/admin{path}/codes", {}, {"generate": 1}), 401, "UNAUTHENTICATED")


@pytest.mark.parametrize("field, value, pointer", [
    ("name", "", "/name"), ("name", 5, "/name"), ("name", "a\nb", "/name"), ("name", "x" * 201, "/name"),
    ("queue", "No", "/queue"), ("queue", "no-such-queue", "/queue"), ("opensAt", "soon", "/opensAt"),
    ("endsAt", 5, "/endsAt"), ("endsAt", "2019-01-01T00:00:00Z", "/endsAt"), ("captcha", "math", "/captcha"),
    ("captcha", None, "/captcha"), ("coupon", 1, "/coupon")])
def test_what_an_event_cannot_be(api, field, value, pointer):
    queue = api.queue()
    body = {"name": "E", "queue": queue, "opensAt": "2020-01-01T00:00:00Z", field: value}
    answer = api.admin("PUT", "/coupon-events/never-made", body)
    assert_problem(answer, 400, "INVALID_REQUEST")
    assert answer["pointer"] == pointer
    assert_problem(api.admin("GET", "/coupon-events/never-made"), 404, "NOT_FOUND")


def test_moving_to_another_queue(parts, api):
    one, two = api.queue(), api.queue()
    event = api.coupon_event(one, 2)
    api.coupon_event(two, event=event)
    member = api.ready_member(two)
    move = {"name": "E", "queue": one}
    assert_problem(api.admin("PUT", f"/coupon-events/{event}", move), 409, "QUEUE_BUSY")
    assert member.coupon(event).status == 201
    refused = api.admin("PUT", f"/coupon-events/{event}", move)
    assert_problem(refused, 400, "INVALID_REQUEST")
    assert refused["pointer"] == "/queue"
    assert api.admin("GET", f"/coupon-events/{event}")["queue"] == two


@pytest.mark.parametrize("body, pointer", [
    ({}, ""), ({"codes": ["A"], "generate": 1}, ""), ({"codes": []}, "/codes"), ({"codes": "A"}, "/codes"),
    ({"codes": ["A", 5]}, "/codes/1"), ({"codes": ["A", ""]}, "/codes/1"), ({"codes": ["A B"]}, "/codes/0"),
    ({"codes": ["é"]}, "/codes/0"), ({"codes": ["x" * 65]}, "/codes/0"), ({"codes": ["A", "B", "A"]}, "/codes/2"),
    ({"generate": 0}, "/generate"), ({"generate": 100001}, "/generate"), ({"generate": "1"}, "/generate"),
    ({"generate": 1, "uses": 2}, "/uses")])
def test_what_codes_cannot_be(api, body, pointer):
    event = api.coupon_event(api.queue())
    answer = api.admin("POST", f"/coupon-events/{event}/codes", body)
    assert_problem(answer, 400, "INVALID_REQUEST")
    assert answer["pointer"] == pointer
    assert api.admin("GET", f"/coupon-events/{event}")["coupons"] == 0, "all or nothing"
    assert_problem(api.admin("POST", "/coupon-events/no-such-event/codes", {"generate": 1}), 404, "NOT_FOUND")


def test_codes_of_one_s_own_go_out_in_their_order(api):
    queue = api.queue()
    event = api.coupon_event(queue)
    codes = ['PLAIN', 'quo"te', "back\\slash", "{curly}", "a,b", "NULL", "~!@#$%^&*()"]
    added = api.add_coupons(event, codes=codes)
    assert (added["added"], added["known"], added["codes"]) == (7, 0, [])
    again = api.add_coupons(event, codes=["NEW", *codes[:2]])
    assert (again["added"], again["known"], again["knownCodes"]) == (1, 2, codes[:2])
    members = api.ready_members(queue, 8)
    assert [member.coupon(event)["code"] for member in members] == [*codes, "NEW"]


def test_generated_codes(api):
    event = api.coupon_event(api.queue())
    made = api.add_coupons(event, generate=5000)
    assert made["added"] == 5000 == len(set(made["codes"]))
    assert all(CODE.fullmatch(code) for code in made["codes"])
    letters = set("".join(made["codes"])) - {"-"}
    assert not letters & set("01IO") and len(letters) == 32


@pytest.mark.limit(150)
def test_a_body_of_16_megabytes(api):
    event = api.coupon_event(api.queue())
    codes = [f"{n:07d}-{'x' * 48}" for n in range(270000)]
    body = ('{"codes":["' + '","'.join(codes) + '"]}').encode()
    assert 15.5e6 < len(body) < 16 * 2**20
    answer = api.call("POST", f"/v1/admin/coupon-events/{event}/codes", api.operator_headers(), body, timeout=120)
    assert answer.status == 201 and answer["added"] == 270000, answer.body[:300]
    assert_problem(api.call("POST", f"/v1/admin/coupon-events/{event}/codes", api.operator_headers(),
                            body + b" " * 2**20), 413, "BODY_TOO_LARGE")


def test_export_by_pages_and_the_public_result(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue)
    api.add_coupons(event, generate=1203)
    parts.postgres.query(
        "UPDATE coupon SET member = 'm' || lpad(id::text, 9, '0'), admission_id = 'a', epoch = 1 + (rank > 1200)::int, "
        "seq = CASE WHEN rank <= 1200 THEN rank + (rank > 500)::int ELSE rank - 1195 END, "
        "issued_at = timestamptz '2026-01-01T00:00:00Z' + rank * interval '1 s' FROM "
        "(SELECT id AS at, row_number() OVER (ORDER BY id) AS rank FROM coupon WHERE event = %s) AS ranked "
        "WHERE id = at AND rank <= 1202", event)
    first = api.admin("GET", f"/coupon-events/{event}/coupons").json
    assert len(first["coupons"]) == 1000 and first["next"] == first["coupons"][-1]["member"]
    rest = api.admin("GET", f"/coupon-events/{event}/coupons?after={first['next']}").json
    assert len(rest["coupons"]) == 202 and rest["next"] is None
    everyone = [row["member"] for row in first["coupons"] + rest["coupons"]]
    assert everyone == sorted(set(everyone)) and len(everyone) == 1202
    assert_problem(api.admin("GET", f"/coupon-events/{event}/coupons?after="), 400, "INVALID_REQUEST")
    result = api.call("GET", f"/v1/coupon-events/{event}/result")
    assert result.headers["cache-control"] == "public, max-age=10"
    assert (result["issued"], result["left"]) == (1202, 1)
    assert (result["firstIssuedAt"], result["lastIssuedAt"]) == ("2026-01-01T00:00:01.000Z", "2026-01-01T00:20:02.000Z")
    assert result["numbersServed"] == [{"epoch": 1, "numbers": "1-500,502-1201"}, {"epoch": 2, "numbers": "6-7"}]
    assert "m0" not in result.body.decode()
    assert_problem(api.call("GET", "/v1/coupon-events/no-such-event/result"), 404, "NOT_FOUND")


def test_sluicectl(parts, api):
    queue = api.queue()
    event = f"shell-{queue}"

    def sluicectl(*words, stdin="", code=0):
        done = subprocess.run([parts.build / "sluicectl" / "sluicectl", "--url", f"http://127.0.0.1:{parts.port}", *words],
                              env={**os.environ, "SLUICE_ADMIN_KEY_FILE": str(parts.secrets / "admin.key")},
                              input=stdin, capture_output=True, text=True, timeout=60)
        assert done.returncode == code, (done.stdout, done.stderr)
        return done.stdout
    sluicectl("coupons", "put", event, "name=Spring, and more", f"queue={queue}", "ends=2100-01-01T00:00:00Z")
    sluicectl("coupons", "put", event, "ends=", "opens=2020-01-01T00:00:00Z")
    stored = api.admin("GET", f"/coupon-events/{event}").json
    assert (stored["name"], stored["opensAt"], stored["endsAt"]) == (
        "Spring, and more", "2020-01-01T00:00:00.000Z", None)
    assert sluicectl("coupons", "upload", event, stdin='ONE\r\nTWO,"2"\n\n') == "2 added, 0 there before\n"
    assert sluicectl("coupons", "upload", event, stdin="ONE\nTHREE\n") == "1 added, 1 there before\n"
    fresh = sluicectl("coupons", "generate", event, "3").split()
    assert len(fresh) == 3 and all(CODE.fullmatch(code) for code in fresh)
    members = api.ready_members(queue, 2)
    for member in members:
        assert member.coupon(event).status == 201
    table = list(csv.reader(io.StringIO(sluicectl("coupons", "export", event), newline="")))
    assert table[0] == ["member", "code", "issuedAt", "epoch", "number"]
    assert {(row[0], row[1]) for row in table[1:]} == {(members[0].name, "ONE"), (members[1].name, 'TWO,"2"')}
    assert "4" in sluicectl("coupons", "get", event)
    sluicectl("coupons", "put", event, "colour=red", code=64)
    sluicectl("coupons", "generate", event, "none", code=64)
    sluicectl("coupons", "put", "unmade", "name=x", code=1)
