"""Which coupon goes out next, what its outbox row costs, and what the tables refuse by themselves."""

import psycopg2
import pytest

from lib import processes
from lib.background_call import BackgroundCall
from lib.coupons import in_sql, issued, known, stored
from lib.wait import holds_for, until

ISSUE = "SELECT outcome, code, coupon_number, outbox_row FROM issue_coupon(%s, %s, 1, 1, %s, %s, %s, %s, 'key', %s, 32, %s)"


def issue(parts, event, queue, number, behind=0, outbox_acks=None, claim=None):
    return parts.postgres.query(ISSUE, event, queue, number, f"m{number}", claim or f"claim-{event}-{number}",
                                f"admission-{event}-{number}", behind, outbox_acks)[0]


def test_what_was_rolled_back_goes_to_the_next(parts, api):
    """From the beginning at once; by who looks further behind as soon as there is nothing else."""
    queue = api.queue()
    event = api.coupon_event(queue)
    codes = [f"CODE-{n}" for n in range(4)]
    api.add_coupons(event, codes=codes)
    parts.postgres.query("INSERT INTO claim_outcome (claim_id, outcome) VALUES (%s, 'released')", f"gone-{event}")
    with pytest.raises(psycopg2.Error) as refusal:
        issue(parts, event, queue, 1, claim=f"gone-{event}")
    assert refusal.value.pgcode == "SL003"
    assert issue(parts, event, queue, 2)[1] == codes[0]
    holder = parts.postgres.connection()
    assert in_sql(parts, event, queue, "somebody", 9001, holder)[:2] == ("issued", codes[1])
    taken = issue(parts, event, queue, 3, behind=1)
    assert taken[:2] == ("issued", codes[2])
    assert issue(parts, event, queue, 4, behind=taken[2])[1] == codes[3]
    assert issue(parts, event, queue, 5, behind=taken[2])[0] == "none", "one is held by another"
    holder.rollback()
    holder.close()
    assert issue(parts, event, queue, 6, behind=taken[2] + 1000)[:2] == ("issued", codes[1])
    assert issue(parts, event, queue, 7, behind=taken[2])[0] == "none"
    assert issued(parts, event) == 4


def test_a_gap_wider_than_the_window_is_crossed(parts, api):
    """Another event's coupons may lie between two of one's own."""
    queue = api.queue()
    event, other = api.coupon_event(queue), api.coupon_event(queue)
    api.add_coupons(event, codes=["FIRST"])
    api.add_coupons(other, generate=200)
    api.add_coupons(event, codes=["SECOND"])
    first = issue(parts, event, queue, 1)
    assert first[1] == "FIRST"
    assert issue(parts, event, queue, 2, behind=first[2])[1] == "SECOND"


def test_rows_are_deleted_with_the_issue_or_not_at_all(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 2)
    rows = lambda: [row for row, in parts.postgres.query(
        "SELECT id FROM outbox WHERE queue = %s AND kind = 'consume' ORDER BY id", queue)]
    first = issue(parts, event, queue, 1)
    assert rows() == [first[3]]
    with pytest.raises(psycopg2.Error):
        issue(parts, event, queue, 2, outbox_acks=[first[3]], claim=f"claim-{event}-1")
    assert rows() == [first[3]], "what was rolled back has deleted nothing"
    second = issue(parts, event, queue, 3, outbox_acks=[first[3]])
    assert rows() == [second[3]]


def consumes(parts, queue):
    return parts.postgres.value("SELECT count(*) FROM outbox WHERE queue = %s AND kind = 'consume'", queue)


def test_workers_delete_the_rows_that_they_have_delivered(parts, api):
    """Without reconcile: along with later coupons, and at rest by themselves."""
    queue = api.queue()
    event = api.coupon_event(queue, 100)
    members = api.ready_members(queue, 60)
    for answer in api.together([member.coupon_call(event) for member in members], 8):
        assert answer.status == 201
    until(lambda: consumes(parts, queue) == 0, 10)
    assert known(parts, queue, event) == stored(parts, event)
    assert api.stats(queue)["consumed"] == 60


def test_kill_9_before_the_row_is_deleted(parts, api):
    """Redis has heard; that its worker cannot delete the row any more costs one telling more."""
    queue = api.queue()
    event = api.coupon_event(queue, 5)
    member = api.ready_member(queue)
    parts.arm_pause("order.consumed")
    call = BackgroundCall(lambda: member.coupon(event))
    processes.kill9(parts.wait_hit("order.consumed"))
    call.wait()
    parts.all_workers("order")
    assert consumes(parts, queue) == 1
    parts.reconcile()
    assert consumes(parts, queue) == 0
    assert known(parts, queue, event) == stored(parts, event)
    assert api.stats(queue)["consumed"] == 1
    assert member.coupon(event).status == 200


def test_reconcile_at_work_leaves_young_rows_to_their_worker(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 5)
    assert issue(parts, event, queue, 1)[0] == "issued"
    parts.postgres.query("INSERT INTO outbox (queue, kind) VALUES (%s, 'sold_out')", queue)
    kinds = lambda: {kind for kind, in parts.postgres.query("SELECT kind FROM outbox WHERE queue = %s", queue)}
    parts.start_reconcile(every=1)
    try:
        until(lambda: kinds() == {"consume"}, 10)
        parts.postgres.query("UPDATE outbox SET created_at = created_at - interval '1 minute' WHERE queue = %s", queue)
        until(lambda: kinds() == set(), 10)
    finally:
        parts.stop_reconcile()
    assert known(parts, queue, event)[1] == {"m1"}


@pytest.mark.parametrize("statement", [
    "INSERT INTO claim_outcome (claim_id, outcome) VALUES ('x', 'committed')",
    "INSERT INTO claim_outcome (claim_id, outcome, order_id) VALUES ('x', 'released', 'o')",
    "INSERT INTO claim_outcome (claim_id, outcome) VALUES ('x', 'perhaps')",
    "INSERT INTO admission_use (admission_id, queue, epoch, seq, kind, ref) VALUES ('x', 'q', 1, 1, 'gift', 'r')",
    "INSERT INTO admission_use (admission_id, queue, epoch, seq, kind, ref) VALUES ('x', 'q', 0, 1, 'order', 'r')",
    "INSERT INTO outbox (queue, kind, member, order_id) VALUES ('q', 'consume', 'm', 'o')",
    "INSERT INTO outbox (queue, kind) VALUES ('q', 'free_place')",
    "INSERT INTO outbox (kind) VALUES ('sold_out')",
    "INSERT INTO outbox (queue, kind) VALUES ('q', 'other')",
    "INSERT INTO coupon (event, code, member) VALUES ('e', 'C', 'm')",
])
def test_tables_refuse_what_makes_no_sense(parts, statement):
    with pytest.raises(psycopg2.errors.CheckViolation):
        parts.postgres.query(statement)


def test_a_code_is_looked_at_when_it_is_added(parts, api):
    event = api.coupon_event(api.queue())
    for code in ("two words", "", "x" * 65, "caf\u00e9"):
        with pytest.raises(psycopg2.errors.CheckViolation):
            parts.postgres.query("INSERT INTO coupon (event, code) VALUES (%s, 'GOOD'), (%s, %s)", event, event, code)
    assert parts.postgres.value("SELECT count(*) FROM coupon WHERE event = %s", event) == 0


def written(parts, queue):
    """What Redis knows of the queue, as on its disk."""
    raw = parts.redis_server.client(decode_responses=False)
    return {name: raw.dump(name) for name in raw.keys(f"sluice:{{{queue}}}:*")}


def die_and_come_back(parts, queue, values):
    """Redis dies; what it has not written since is forgotten."""
    parts.redis_server.kill()
    parts.start_redis()
    raw = parts.redis_server.client(decode_responses=False)
    raw.delete(*raw.keys(f"sluice:{{{queue}}}:*"))
    for name, value in values.items():
        raw.restore(name, 0, value, replace=True)


def test_what_redis_acknowledged_to_a_worker_and_lost_is_published_again(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 100)
    members = api.ready_members(queue, 6)
    before = written(parts, queue)
    for answer in api.together([member.coupon_call(event) for member in members], 4):
        assert answer.status == 201
    die_and_come_back(parts, queue, before)
    assert known(parts, queue, event)[1] == set()
    # For as long as workers take to delete what they have delivered.
    holds_for(5, lambda: consumes(parts, queue) == len(members), "no row is deleted")
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    assert known(parts, queue, event) == stored(parts, event)
    assert api.stats(queue)["consumed"] == len(members)
    assert {member.position(queue)["status"] for member in members} == {"NOT_ENTERED"}


def test_what_redis_acknowledged_to_reconcile_and_lost_is_published_again(parts, api):
    queue = api.queue()
    event = api.coupon_event(queue, 5)
    member = api.ready_member(queue)
    before = written(parts, queue)
    parts.arm_pause("order.committed")
    call = BackgroundCall(lambda: member.coupon(event))
    processes.kill9(parts.wait_hit("order.committed"))
    call.wait()
    parts.all_workers("order")
    is_known = lambda: known(parts, queue, event)[1] == {member.name}
    parts.postgres.query("UPDATE outbox SET created_at = created_at - interval '1 minute' WHERE queue = %s", queue)
    parts.start_reconcile(every=1)
    try:
        until(is_known, 10)
        # Not before we have looked, however long Redis takes to start.
        parts.postgres.query("UPDATE outbox SET retry_at = now() + interval '1 hour' WHERE queue = %s", queue)
        die_and_come_back(parts, queue, before)
        assert not is_known() and consumes(parts, queue) == 1
        parts.postgres.query("UPDATE outbox SET retry_at = NULL WHERE queue = %s", queue)
        until(is_known, 10)
        until(lambda: consumes(parts, queue) == 0, 10)
        until(lambda: member.position(queue).status == 200, 15, "reconcile has looked at the Redis that began anew")
    finally:
        parts.stop_reconcile()
    assert member.position(queue)["status"] == "NOT_ENTERED"
