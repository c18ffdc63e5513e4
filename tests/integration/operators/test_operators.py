"""What operators do takes effect within a second, on everyone."""

import time

import pytest

from lib import processes
from lib.api import some_name
from lib.client import assert_problem
from lib.wait import holds_for, until, within


def within_a_second(check, what):
    within(1.2, check, what)


@pytest.fixture
def waiting(api):
    queue = api.still_queue()
    members = [api.member() for _ in range(5)]
    for member in members:
        member.enter(queue)
    return queue, members


def statuses(queue, members):
    return [member.position(queue)["status"] for member in members]


def test_pause_and_resume(api):
    queue = api.queue(maxActive=1000)
    api.act(queue, "pause")
    begin = time.monotonic()
    members = [api.member() for _ in range(5)]
    for member in members:
        answer = member.enter(queue)
        assert (answer.status, answer["queueState"], answer["estimatedWaitSeconds"]) == (201, "PAUSED", None)
    until(lambda: time.monotonic() - begin > 1, 5)
    assert statuses(queue, members) == ["WAITING"] * 5
    api.act(queue, "resume")
    within_a_second(lambda: statuses(queue, members) == ["READY"] * 5, "resume")


def test_drain(api, waiting):
    queue, members = waiting
    api.act(queue, "drain")
    assert_problem(api.member().enter(queue), 410, "QUEUE_CLOSED")
    assert members[0].enter(queue).status == 200
    api.admin("PATCH", f"/queues/{queue}", {"activation": "on"})
    within_a_second(lambda: statuses(queue, members) == ["READY"] * 5, "those who wait are served")


def test_sold_out(api, waiting):
    queue, members = waiting
    api.act(queue, "sold-out")
    within_a_second(lambda: members[0].position(queue)["queueState"] == "SOLD_OUT", "sold out")
    assert_problem(api.member().enter(queue), 410, "SOLD_OUT")
    within_a_second(lambda: api.state(queue)["state"] == "SOLD_OUT", "the public state too")
    api.product(queue, stock=100)
    assert members[0].position(queue)["queueState"] == "SOLD_OUT", "undone by resume only"
    api.act(queue, "resume")
    assert api.member().enter(queue).status == 201
    assert [member.position(queue)["rank"] for member in members] == list(range(5))


def test_reset(api, waiting):
    """A ticket of before is told so; numbers start anew."""
    queue, members = waiting
    api.act(queue, "reset")
    for member in members:
        assert_problem(member.position(queue), 409, "QUEUE_RESET")
    fresh = api.member()
    assert fresh.enter(queue)["rank"] == 0
    members[3].ticket = None
    assert members[3].position(queue)["status"] == "NOT_ENTERED"
    assert members[3].enter(queue)["rank"] == 1
    assert api.state(queue)["epoch"] == 2


def test_reset_voids_tokens(api):
    queue = api.queue()
    sku = api.product(queue)
    member = api.ready_member(queue)
    api.act(queue, "reset")
    assert_problem(member.order(queue, [{"sku": sku, "quantity": 1}]), 401, "ENTRY_TOKEN_INVALID")


def test_hold_and_rate_0_admit_nobody(api, waiting):
    queue, members = waiting

    def all_wait():
        return statuses(queue, members) == ["WAITING"] * 5
    holds_for(0.5, all_wait, "members on hold")
    api.admin("PATCH", f"/queues/{queue}", {"activation": "on", "ratePerSecond": 0, "burst": None})
    within_a_second(lambda: api.state(queue)["activation"] == "on", "activation on")
    holds_for(0.5, all_wait, "members at rate 0")
    api.admin("PATCH", f"/queues/{queue}", {"ratePerSecond": 1000})
    within_a_second(lambda: statuses(queue, members) == ["READY"] * 5, "rate 1000")


def test_put_get_put_changes_nothing(api):
    queue = api.queue(ratePerSecond=7.5, burst=20, message="it's \"quoted\" and ünïcode", opensAt="2030-01-01T00:00:00Z",
                      pollTiers=[{"upToRank": 10, "seconds": 1}, {"upToRank": None, "seconds": 5}])
    first = api.admin("GET", f"/queues/{queue}")
    assert first["ratePerSecond"] == 7.5 and first["burst"] == 20
    assert first["opensAt"] == "2030-01-01T00:00:00.000Z"
    again = api.admin("PUT", f"/queues/{queue}", first.json)
    assert again.status == 200, again.body
    assert api.admin("GET", f"/queues/{queue}").json == first.json
    patched = api.admin("PATCH", f"/queues/{queue}", {"ratePerSecond": 9})
    changed = {name for name, value in patched.json.items() if value != first.json[name]}
    assert changed <= {"ratePerSecond", "updatedAt", "version"}


def test_numbers_with_an_arithmetic_error(api):
    """As a client's own arithmetic gives them, and as ours does: the answers are JSON, for whoever lists the queues too."""
    queue = api.queue(ratePerSecond=2.05, tickMs=60000, burst=None)
    shown = [api.admin("GET", f"/queues/{queue}").json]
    shown += [one for one in api.admin("GET", "/queues")["queues"] if one["queue"] == queue]
    shown += [one["settings"] for one in api.admin("GET", "/overview")["queues"] if one["queue"] == queue]
    assert [(one["ratePerSecond"], one["burst"]) for one in shown] == [(2.05, 123)] * 3
    for given, stored in (({"ratePerSecond": 100 * 1.1, "tickMs": 1000}, 110), ({"burst": 200 * 1.1}, 220),
                          ({"priorityShare": 0.1 + 0.2}, 0.3), ({"autopilot": {"floor": 1.1 * 1.1}}, 1.21)):
        patched = api.admin("PATCH", f"/queues/{queue}", given)
        assert patched.status == 200, patched.body
        (name, value), *_ = given.items()
        assert (patched[name]["floor"] if name == "autopilot" else patched[name]) == stored, (given, value)
    for name in ("ratePerSecond", "priorityShare"):
        assert_problem(api.admin("PATCH", f"/queues/{queue}", {name: 1e-9}), 400, "INVALID_REQUEST")


def test_new_queue_has_the_documented_defaults(api):
    name = some_name("q")
    made = api.admin("PUT", f"/queues/{name}", {})
    assert made.status == 201
    expected = {"mode": "fifo", "identity": "member", "ratePerSecond": 50, "burst": 50, "maxActive": 1000,
                "maxInFlight": 100, "entryTtlSeconds": 300, "claimLeaseSeconds": 30, "maxWaiting": 0,
                "releaseOn": "order", "pickupSeconds": 90, "activation": "on", "admitWhenIdle": False, "tickMs": 1000,
                "batchCap": 500}
    assert {name: made.json.get(name) for name in expected} == expected


@pytest.mark.parametrize("settings", [
    {"burst": 5, "ratePerSecond": 50}, {"ratePerSecond": -1}, {"ratePerSecond": "50"}, {"tickMs": 0}, {"mode": "lifo"},
    {"unknown": 1}, {"maxActive": 1.5}, {"opensAt": "tomorrow"}, {"message": 7}, {"batchCap": 501}, {"maxActive": None},
    {"claimLeaseSeconds": 0}, [], "text", None, {"message": "x" * 501}, {"entryTtlSeconds": 0}])
def test_bad_settings(api, settings):
    import json
    name = some_name("q")
    answer = api.admin("PUT", f"/queues/{name}", json.dumps(settings).encode())
    problem = assert_problem(answer, 400, "INVALID_REQUEST")
    assert "pointer" in problem
    assert api.admin("GET", f"/queues/{name}").status == 404


def test_roles(api):
    queue = api.still_queue()
    viewer = {"Authorization": f"Bearer {api.viewer_key}"}
    assert api.call("GET", f"/v1/admin/queues/{queue}", viewer).status == 200
    assert_problem(api.call("POST", f"/v1/admin/queues/{queue}/actions/pause", viewer), 403, "FORBIDDEN")
    assert_problem(api.call("PUT", f"/v1/admin/queues/{queue}", viewer, {}), 403, "FORBIDDEN")
    for headers in ({}, api.member().headers(), {"Authorization": "Bearer " + api.admin_key[:-1]},
                    {"Authorization": f"Bearer {api.admin_key}x"}, {"Authorization": "Bearer "}):
        assert_problem(api.call("GET", "/v1/admin/queues", headers), 401, "UNAUTHENTICATED")


def test_changes_are_audited_with_their_operator(api):
    queue = api.queue()
    api.act(queue, "pause")
    entries = api.admin("GET", f"/audit?target=queue/{queue}")["entries"]
    assert len(entries) == 2 and [entry["actor"] for entry in entries] == ["operator"] * 2
    assert entries[0]["at"] >= entries[1]["at"]


def test_stats_agree_with_what_happened(api):
    queue = api.queue(maxActive=3)
    sku = api.product(queue)
    members = [api.member() for _ in range(6)]
    for member in members:
        member.enter(queue)
    for member in members[:3]:
        member.wait_ready(queue)
    members[5].leave(queue)
    members[0].order(queue, [{"sku": sku, "quantity": 1}])
    members[3].wait_ready(queue)
    stats = api.stats(queue)
    expected = {"waiting": 1, "ready": 3, "claimed": 0, "entered": 6, "admitted": 4, "consumed": 1, "expired": 0,
                "left": 1}
    assert {name: stats[name] for name in expected} == expected
    assert stats["leader"]


def test_twenty_changes_at_once(api):
    """PATCHes that name different settings all win."""
    queue = api.queue()
    names = ["maxActive", "maxInFlight", "maxWaiting", "pickupSeconds", "entryTtlSeconds"]
    calls = [("PATCH", f"/v1/admin/queues/{queue}", api.operator_headers(), {name: 77}) for name in names]
    assert {answer.status for answer in api.together(calls)} == {200}
    settings = api.admin("GET", f"/queues/{queue}").json
    assert [settings[name] for name in names] == [77] * 5


def test_a_change_without_an_answer_may_be_stored(parts, api):
    """nginx gives up after ten seconds, and the worker goes on."""
    queue = api.still_queue()
    workers = parts.all_workers("operator")
    for pid in workers:
        processes.stop(pid)
    try:
        answer = api.admin("POST", f"/queues/{queue}/actions/pause")
    finally:
        for pid in workers:
            processes.cont(pid)
    assert_problem(answer, 503, "ORDERS_UNAVAILABLE")
    detail = answer.json["detail"]
    assert "may or may not be stored" in detail and "key" not in detail and "token" not in detail, detail
    until(lambda: api.admin("GET", f"/queues/{queue}")["operatorState"] == "PAUSED", 5, "it was stored")


@pytest.mark.parametrize("path", ["codes", "codes/uses", "lottery/entrants", "history"])
def test_a_list_of_a_queue_that_does_not_exist_is_not_an_empty_one(api, path):
    queue = api.queue()
    assert api.admin("GET", f"/queues/{queue}/{path}").status == 200
    unknown = api.admin("GET", f"/queues/no-{queue}/{path}")
    assert (unknown.status, unknown.json["code"]) == (404, "NOT_FOUND")
