"""A queue is deleted, or its mode changed, only while it is empty, and nobody enters in between."""

import datetime
from contextlib import closing

import pytest

from lib import processes
from lib.api import ticket_payload
from lib.background_call import BackgroundCall
from lib.client import assert_problem
from lib.wait import until

STEP = "queue.locked"


def in_an_hour():
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)).isoformat().replace("+00:00", "Z")


@pytest.fixture
def stopped(parts, api):
    """A function that sends an operator's request, and returns it under way, stopped after the queue was locked or at another
    step, with its pid."""
    def stop(*request, step=STEP):
        parts.arm_pause(step)
        call = BackgroundCall(lambda: api.admin(*request))
        return call, parts.wait_hit(step)
    return stop


def test_nobody_enters_between_look_and_deletion(api, stopped):
    queue = api.still_queue()
    call, pid = stopped("DELETE", f"/queues/{queue}")
    early = api.member()
    assert_problem(early.enter(queue), 503, "QUEUE_FULL")
    processes.cont(pid)
    assert call.wait().status == 204
    assert_problem(early.enter(queue), 404, "NOT_FOUND")


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_nobody_enters_between_look_and_change_of_mode(api, stopped, method):
    queue = api.still_queue()
    settings = api.admin("GET", f"/queues/{queue}").json if method == "PUT" else {}
    call, pid = stopped(method, f"/queues/{queue}", {**settings, "mode": "lottery", "opensAt": in_an_hour()})
    member = api.member()
    assert_problem(member.enter(queue), 503, "QUEUE_FULL")
    processes.cont(pid)
    assert call.wait()["mode"] == "lottery"
    assert member.enter(queue).status == 201
    assert ticket_payload(member.ticket)["lane"] == "lottery"


def test_a_deletion_whose_worker_dies_is_repeated_by_another(parts, api, stopped):
    queue = api.still_queue()
    call, pid = stopped("DELETE", f"/queues/{queue}")
    processes.kill9(pid)
    assert call.wait().status == 204
    parts.all_workers("operator")


def test_a_queue_whose_change_never_came_opens_again(parts, api, stopped):
    """By reconcile's next pass. nginx repeats no PATCH."""
    queue = api.still_queue()
    before = api.admin("GET", f"/queues/{queue}").json
    call, pid = stopped("PATCH", f"/queues/{queue}", {"mode": "lottery", "opensAt": in_an_hour()})
    processes.kill9(pid)
    assert call.wait().status == 503
    parts.all_workers("operator")
    member = api.member()
    assert_problem(member.enter(queue), 503, "QUEUE_FULL")
    parts.reconcile()
    assert member.enter(queue).status == 201
    assert api.admin("GET", f"/queues/{queue}").json == {**before, "version": before["version"] + 1}


@pytest.mark.parametrize("method", ["DELETE", "PATCH", "PUT"])
def test_a_change_that_is_late_meets_nobody(parts, api, stopped, method):
    """Reconcile has opened the queue again while the change stood still, and somebody has entered."""
    queue = api.still_queue()
    settings = api.admin("GET", f"/queues/{queue}").json if method == "PUT" else {}
    body = None if method == "DELETE" else {**settings, "mode": "lottery", "opensAt": in_an_hour()}
    call, pid = stopped(method, f"/queues/{queue}", body)
    parts.reconcile()
    member = api.member()
    assert member.enter(queue).status == 201
    processes.cont(pid)
    answer = call.wait()
    assert_problem(answer, 409, "QUEUE_BUSY")
    assert "1 wait," in answer["detail"]
    assert member.position(queue)["rank"] == 0
    assert api.admin("GET", f"/queues/{queue}")["mode"] == "fifo"
    assert api.admin("DELETE", f"/queues/{queue}?force=true").status == 204


@pytest.mark.parametrize("method", ["DELETE", "PATCH"])
def test_a_queue_that_another_operator_deletes_is_not_found(parts, api, stopped, method):
    """It was still there when it was read."""
    queue = api.still_queue()
    body = None if method == "DELETE" else {"mode": "lottery", "opensAt": in_an_hour()}
    call, pid = stopped(method, f"/queues/{queue}", body, step="queue.locking")
    parts.postgres.query("SELECT queue_delete(%s, NULL, 'other', 'r')", queue)
    parts.reconcile()
    processes.cont(pid)
    assert_problem(call.wait(), 404, "NOT_FOUND")


def test_the_mode_stays_while_a_token_is_not_picked_up(api):
    """Its owner may be in line again, with the number kept."""
    queue = api.queue()
    member = api.member()
    assert member.enter(queue).status == 201
    until(lambda: api.stats(queue)["ready"] == 1, 10)
    change = {"mode": "lottery", "opensAt": in_an_hour()}
    answer = api.admin("PATCH", f"/queues/{queue}", change)
    assert_problem(answer, 409, "QUEUE_BUSY")
    assert "1 have not picked up" in answer["detail"]
    member.wait_ready(queue)
    assert api.admin("PATCH", f"/queues/{queue}", change)["mode"] == "lottery"


def test_a_lock_whose_version_postgresql_has_lost_is_lifted(parts, api, stopped):
    queue = api.still_queue()
    version = api.admin("GET", f"/queues/{queue}")["version"]
    assert api.admin("PATCH", f"/queues/{queue}", {"message": "lost"}).status == 200
    call, pid = stopped("PATCH", f"/queues/{queue}", {"mode": "lottery", "opensAt": in_an_hour()})
    processes.kill9(pid)
    assert call.wait().status == 503
    parts.all_workers("operator")
    parts.postgres.query("UPDATE queue SET version = %s WHERE id = %s", version, queue)
    member = api.member()
    assert_problem(member.enter(queue), 503, "QUEUE_FULL")
    parts.reconcile()
    assert member.enter(queue).status == 201
    assert member.leave(queue).status == 204
    assert api.admin("DELETE", f"/queues/{queue}").status == 204


def test_a_queue_whose_row_another_transaction_has_keeps_no_other_from_opening(parts, api):
    first, second = sorted(api.still_queue() for _ in range(2))
    for queue in (first, second):
        parts.redis.hset(f"sluice:{{{queue}}}:settings", "version", 99)
    with closing(parts.postgres.connection()) as other:
        other.cursor().execute("SELECT FROM queue WHERE id = %s FOR UPDATE", [first])
        assert "PostgreSQL does not answer" in parts.reconcile(expect=1)
        assert api.admin("GET", f"/queues/{second}")["version"] == 100
    parts.reconcile()
    assert api.admin("GET", f"/queues/{first}")["version"] == 100


def sell_out_and_delete(api):
    """A queue that stays sold out once it was, deleted after its last product was sold; returns it and the product."""
    queue = api.queue(reopen=False)
    sku = api.product(queue, stock=1)
    member = api.ready_member(queue)
    assert member.order(queue, [{"sku": sku, "quantity": 1}]).status == 201
    until(lambda: api.state(queue)["state"] == "SOLD_OUT", 5, "it is sold out")
    assert api.admin("DELETE", f"/queues/{queue}?force=true").status == 204
    return queue, sku


def test_a_queue_created_again_is_not_sold_out_by_its_former_life(parts, api):
    queue, sku = sell_out_and_delete(api)
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    assert api.queue(queue, reopen=False) == queue
    api.product(queue, stock=100, sku=sku)
    until(lambda: api.state(queue)["state"] == "OPEN", 5, "it sells")
    assert api.member().enter(queue).status == 201
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    assert api.member().enter(queue).status == 201


def test_a_queue_created_again_finds_that_its_goods_are_gone(parts, api):
    queue, _ = sell_out_and_delete(api)
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    assert api.queue(queue, reopen=False) == queue
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    until(lambda: api.state(queue)["state"] == "SOLD_OUT", 5, "its goods are gone")
    assert_problem(api.member().enter(queue), 410, "SOLD_OUT")
