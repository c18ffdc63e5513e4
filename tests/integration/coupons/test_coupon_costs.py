"""What a coupon costs: one round trip to Redis beforehand, one statement in PostgreSQL, nothing without a token."""

import time

import pytest

from lib.client import assert_problem
from lib.coupons import in_sql, next_second

SLOW_S = 0.1  # SLOW_MS of fcgi-app/order/coupons/post_coupon.c


def test_one_statement_and_two_scripts_an_issue(parts, api, logged):
    queue = api.queue()
    event = api.coupon_event(queue, 100)
    members = api.ready_members(queue, 20)
    assert members[0].coupon(event).status == 201
    logged()
    began = time.monotonic()
    for answer in api.together([member.coupon_call(event) for member in members[1:]], 4):
        assert answer.status == 201
    seconds, counts = time.monotonic() - began, logged()
    assert counts.pop("coupon_issue") == 19
    # After a statement that took long its worker looks whether it was the last.
    assert counts.pop("coupons_left", 0) <= 4 * seconds / SLOW_S
    # The event's row, once a second and worker.
    most = parts.order_workers * (seconds + 2)
    assert counts.pop("coupon_event_find", 0) <= most
    # Of what was told and no later coupon has deleted; once a second and worker.
    assert counts.pop("outbox_done", 0) <= most
    assert counts == {}


def round_trips(parts, api, calls):
    """The answers, and how many scripts Redis was asked to run for each, the order pool's beat not counted; None where it took
    so long that the beat would hide them."""
    def called(name):
        return parts.redis.info("commandstats").get(f"cmdstat_{name}", {"calls": 0})["calls"]
    before = {name: called(name) for name in ("evalsha", "eval", "multi")}
    began = time.monotonic()
    answers = api.together(calls, 8)
    beats = parts.order_workers * (int((time.monotonic() - began) / 0.5) + 2)
    sent = called("evalsha") - before["evalsha"]
    assert called("multi") == before["multi"] and called("eval") - before["eval"] <= len(calls)
    return answers, ((sent - beats) / len(calls), sent / len(calls)) if beats < len(calls) else None


@pytest.mark.limit(90)
def test_one_round_trip_reads_all_there_is_to_know_beforehand(parts, api, logged):
    """No token, all gone, has one already: one call to Redis each, and PostgreSQL only to show one's own coupon."""
    queue = api.queue(maxActive=200, entryTtlSeconds=300)
    event, other = api.coupon_event(queue, 40), api.coupon_event(queue, 100)
    # As many as one worker alone may ask PostgreSQL about in a second.
    events = [f"{event}-{n}" for n in range(20)]
    made = api.together([("PUT", f"/v1/admin/coupon-events/{name}", api.operator_headers(), {"name": "E", "queue": queue})
                         for name in events], 4)
    assert {answer.status for answer in made} == {201}
    owners, late = api.ready_members(queue, 40), api.ready_members(queue, 60)
    for answer in api.together([member.coupon_call(event) for member in owners], 8):
        assert answer.status == 201
    for process in parts.schedulers:
        process.stop()
    logged()

    def costs(calls, outcomes, **statements):
        answers, each = round_trips(parts, api, calls)
        assert {answer.code or answer.status for answer in answers} == outcomes
        assert each is None or each[0] <= 1 <= each[1] < 2, each
        counts = logged()
        known = counts.pop("coupon_event_find", 0)
        counts.pop("outbox_done", None)  # of coupons before
        assert counts == {name: len(calls) for name in statements}, counts
        return known
    assert costs([member.coupon_call(event) for member in late], {"SOLD_OUT"}) < len(late)
    costs([member.coupon_call(event, token="A" * 43) for member in late], {"ENTRY_TOKEN_INVALID"})
    # Each costs the event's row once a worker, and no count of its coupons.
    costs([("GET", f"/v1/coupon-events/{name}", {}, None) for name in events], {200})
    for member in late:
        assert parts.redis.zadd(f"sluice:{{{queue}}}:couponOwners", {f"{other}/{member.name}": 0}) == 1
    parts.postgres.query(
        "UPDATE coupon SET member = given.name, admission_id = 'a', epoch = 1, seq = 1, issued_at = now() FROM "
        "(SELECT name, n FROM unnest(%s::text[]) WITH ORDINALITY AS u (name, n)) AS given, "
        "(SELECT id, row_number() OVER (ORDER BY id) AS n FROM coupon WHERE event = %s) AS numbered "
        "WHERE coupon.id = numbered.id AND numbered.n = given.n", [member.name for member in late], other)
    logged()
    costs([member.coupon_call(other) for member in late], {200}, coupon_find=True)
    assert parts.redis.zcard(f"sluice:{{{queue}}}:claimed") == 0, "no token was touched"
    assert parts.redis.zcard(f"sluice:{{{queue}}}:ready") == 60


def test_a_flood_without_a_token_never_reaches_postgres(parts, api, logged):
    queue = api.queue()
    event = api.coupon_event(queue, 5)
    members = [api.member() for _ in range(100)]
    logged()
    for answer in api.together([member.coupon_call(event, token="A" * 43) for member in members], 16):
        assert_problem(answer, 401, "ENTRY_TOKEN_INVALID")
    assert set(logged()) <= {"coupon_event_find", "outbox_done"}
    answers = api.together([member.coupon_call(f"made-up-{n}", token="A" * 43)
                            for n, member in enumerate(members * 4)], 16)
    assert {answer.code for answer in answers} <= {"NOT_FOUND", "ORDERS_UNAVAILABLE"}
    assert logged().get("coupon_event_find", 0) <= 20 * parts.order_workers * 5


def test_made_up_events_of_passers_by_leave_room_for_members(api):
    """Callers who are not logged in have a budget of their own for events that no worker knows."""
    queue = api.queue()
    members = api.ready_members(queue, 12)
    events = [api.coupon_event(queue, 1) for _ in members]
    next_second()
    strangers = [("GET", f"/v1/coupon-events/{queue}-made-up-{n}", {}, None) for n in range(300)]
    calls = [*strangers[:200], *(m.coupon_call(e) for m, e in zip(members, events)), *strangers[200:]]
    answers = api.together(calls, 16)
    assert [answer.status for answer in answers[200:212]] == [201] * 12
    assert {answer.code for answer in answers[:200] + answers[212:]} <= {"NOT_FOUND", "ORDERS_UNAVAILABLE", "RATE_LIMITED"}


def test_public_state_is_cached(parts, api, logged):
    queue = api.queue()
    event = api.coupon_event(queue, 5)
    next_second()
    logged()
    began = time.monotonic()
    answers = api.together([("GET", f"/v1/coupon-events/{event}", {}, None)] * 50, 8)
    assert {answer.status for answer in answers} == {200}
    assert answers[0].headers["cache-control"] == "public, max-age=1"
    most = parts.order_workers * (time.monotonic() - began + 1) + 1
    assert 1 <= logged().get("coupon_event_find", 0) <= most, "the cache answers the others"
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
    parts.postgres.query("INSERT INTO coupon (event, code) SELECT %s, 'MORE-' || n FROM generate_series(1, 20000) AS n", event)
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
