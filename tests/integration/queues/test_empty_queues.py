"""A queue is deleted, or its mode changed, only while it is empty, and nobody enters in between."""

import datetime

import pytest

from lib import processes
from lib.api import ticket_payload
from lib.background_call import BackgroundCall
from lib.client import assert_problem

STEP = "queue.locked"


def in_an_hour():
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)).isoformat().replace("+00:00", "Z")


@pytest.fixture
def stopped(parts, api):
    """A function that sends an operator's request, and returns it under way, stopped after the queue was locked, with its pid."""
    def stop(*request):
        parts.arm_pause(STEP)
        call = BackgroundCall(lambda: api.admin(*request))
        return call, parts.wait_hit(STEP)
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
