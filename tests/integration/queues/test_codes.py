"""Invite and priority codes over HTTP, and what of them survives the loss of Redis's memory."""

import re

import pytest

from lib import logs
from lib.client import assert_problem
from lib.wait import until


def enter(member, queue, code=None, **more):
    """With a code in the body."""
    method, path, headers, _ = member.enter_call(queue)
    answer = member.api.call(method, path, headers, {"code": code, **more})
    if answer.status in (200, 201):
        member.ticket = answer["queueTicket"]
    return answer


def add(api, queue, **body):
    answer = api.admin("POST", f"/queues/{queue}/codes", body)
    assert answer.status == 201, answer.body
    return answer.json


def test_fresh_codes_let_in_and_are_shown_once(api):
    queue = api.queue(maxActive=3)
    made = add(api, queue, kind="invite", generate=3)
    assert (made["added"], made["known"], made["uses"], len(set(made["codes"]))) == (3, 0, 1, 3)
    assert all(re.fullmatch(r"[2-9A-HJ-NP-Z]{4}(-[2-9A-HJ-NP-Z]{4}){3}", code) for code in made["codes"])
    guest = api.member()
    # However it is typed.
    answer = enter(guest, queue, made["codes"][0].lower().replace("-", " "))
    assert (answer.status, answer["status"]) == (201, "READY") and answer["entryToken"]
    assert_problem(enter(api.member(), queue, made["codes"][0]), 403, "CODE_INVALID")
    assert enter(guest, queue, made["codes"][0]).status == 200


def test_a_wrong_code_costs_no_place(api):
    queue = api.still_queue()
    member, other = api.member(), api.member()
    member.enter(queue)
    other.enter(queue)
    assert_problem(enter(member, queue, "WRONG-CODE"), 403, "CODE_INVALID")
    assert member.position(queue)["rank"] == 0
    assert_problem(enter(api.member(), queue, "WRONG-CODE"), 403, "CODE_INVALID")
    assert api.state(queue)["lastSeq"] == 2


def test_a_wrong_code_costs_no_turn(api):
    queue = api.queue()
    member = api.ready_member(queue)
    before = member.position(queue).json
    assert_problem(enter(member, queue, "WRONG-CODE"), 403, "CODE_INVALID")
    after = member.position(queue).json
    kept = ("status", "seq", "entryToken", "entryTokenExpiresAt")
    assert before["status"] == "READY" and {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert member.order(queue, [{"sku": api.product(queue), "quantity": 1}], token=before["entryToken"]).status == 201


@pytest.mark.parametrize("body", [{"code": 5}, {"code": "x" * 65}, {"code": ["a"]}])
def test_a_body_of_another_form_is_refused(api, body):
    queue = api.still_queue()
    method, path, headers, _ = api.member().enter_call(queue)
    assert_problem(api.call(method, path, headers, body), 400, "INVALID_REQUEST")
    assert api.call(method, path, headers, {}).status == 201
    assert api.call(method, path, headers, {"code": None}).status == 200


def test_the_priority_lane(api):
    queue = api.still_queue(priorityShare=0.5)
    add(api, queue, kind="priority", codes=["FAN CLUB"], uses=100)
    plain = [api.member() for _ in range(4)]
    fans = [api.member() for _ in range(4)]
    for member in plain:
        member.enter(queue)
    for member in fans:
        assert enter(member, queue, "fanclub")["rank"] == fans.index(member)
    moved = enter(plain[1], queue, "FANCLUB")
    assert (moved.status, moved["rank"], moved["currentTotalWaitingCount"]) == (200, 0, 8)
    assert plain[3].position(queue)["rank"] == 2
    api.admin("PATCH", f"/queues/{queue}", {"maxActive": 4, "activation": "on"})
    until(lambda: api.stats(queue)["ready"] == 4, 10, "four let in")
    ready = [member for member in plain + fans if member.position(queue)["status"] == "READY"]
    assert ready == [plain[0], plain[1], plain[2], fans[0]]


@pytest.mark.parametrize("body, pointer", [
    ({"kind": "vip", "generate": 1}, "/kind"), ({"kind": "invite"}, ""), ({"kind": "invite", "generate": 0}, "/generate"),
    ({"kind": "invite", "generate": 10001}, "/generate"), ({"kind": "invite", "codes": []}, "/codes"),
    ({"kind": "invite", "codes": ["ok-code", "ab"]}, "/codes/1"), ({"kind": "invite", "codes": ["a_b_c_d_e"]}, "/codes/0"),
    ({"kind": "invite", "codes": ["abcd"], "generate": 1}, ""), ({"kind": "invite", "codes": ["abcd"], "uses": 0}, "/uses"),
    ({"kind": "invite", "codes": ["abcd"], "expiresAt": "soon"}, "/expiresAt"), ({"kind": "invite", "code": "x"}, "/code"),
    ({"kind": "invite", "codes": ["abcd"], "expiresAt": "1970-01-01T00:00:00Z"}, "/expiresAt"),
])
def test_what_operators_may_not_send(api, body, pointer):
    queue = api.still_queue()
    answer = api.admin("POST", f"/queues/{queue}/codes", body)
    assert_problem(answer, 400, "INVALID_REQUEST")
    assert answer["pointer"] == pointer
    assert_problem(api.admin("POST", "/queues/no-such-queue/codes", {"kind": "invite", "generate": 1}), 404, "NOT_FOUND")


def test_many_codes_counts_and_uses(parts, api):
    queue = api.still_queue()
    made = add(api, queue, kind="priority", generate=1200, uses=2)
    assert len(made["codes"]) == made["added"] == 1200
    again = add(api, queue, kind="priority", codes=made["codes"][:10] + ["OWN-CODE"])
    assert (again["added"], again["known"]) == (1, 10)
    parts.reconcile()
    assert parts.redis.hlen(f"sluice:{{{queue}}}:codes") == 1201
    members = [api.member() for _ in range(3)]
    for member in members[:2]:
        assert enter(member, queue, made["codes"][7]).status == 201
        assert enter(member, queue, made["codes"][7]).status == 200
    assert_problem(enter(members[2], queue, made["codes"][7]), 403, "CODE_INVALID")
    parts.reconcile()
    kinds = api.admin("GET", f"/queues/{queue}/codes").json["kinds"]
    assert kinds == [{"kind": "priority", "codes": 1201, "uses": 2401, "used": 2}]
    uses = api.admin("GET", f"/queues/{queue}/codes/uses").json
    assert uses["next"] is None
    assert {use["member"] for use in uses["uses"]} == {member.name for member in members[:2]}
    assert len({use["codeHash"] for use in uses["uses"]}) == 1


@pytest.mark.parametrize("place", ["first", "last"])
def test_an_unreadable_use_is_logged_and_blocks_no_other(parts, api, place):
    """Whatever has written it: no member, no hash, a moment that is none, more than a line should have, bytes."""
    queue = api.still_queue()
    add(api, queue, kind="priority", codes=["MANY-USES"], uses=10)
    members = [api.member() for _ in range(3)]
    for member in members:
        assert enter(member, queue, "MANY-USES").status == 201
    uses = f"sluice:{{{queue}}}:codeUses"
    good, now, _ = parts.redis.lindex(uses, 0).split(" ")
    bad = ["", "x" * 5000, f"{good} soon m-1", f"{good} {now}", f"{good} {now} m 1", f"{good} {2**62} m-1", f"a {now} m-1",
           b"\xff\x00\xfe"]
    (parts.redis.lpush if place == "first" else parts.redis.rpush)(uses, *bad)
    parts.allowed_errors.add("codes.use_unreadable")
    parts.reconcile()
    assert parts.redis.llen(uses) == 0
    assert api.admin("GET", f"/queues/{queue}/codes").json["kinds"][0]["used"] == 3
    listed = api.admin("GET", f"/queues/{queue}/codes/uses").json["uses"]
    assert {use["member"] for use in listed} == {member.name for member in members}
    events = [event for event in logs.events(parts.logs, "codes.use_unreadable") if event["queue"] == queue]
    assert len(events) == len(bad) and {event["bytes"] for event in events} == {len(text) for text in bad}
    assert all(len(event["entry"]) <= 200 for event in events) and f"{good} soon m-1" in {e["entry"] for e in events}


def test_codes_survive_a_loss(parts, api):
    queue = api.still_queue(recoverySeconds=0)
    add(api, queue, kind="priority", codes=["ONE-USE"])
    add(api, queue, kind="invite", codes=["TWO-USES"], uses=2)
    first, second, third = (api.member() for _ in range(3))
    assert enter(first, queue, "ONE-USE").status == 201
    assert enter(second, queue, "TWO-USES").status == 201
    parts.reconcile()
    parts.redis.flushall()
    # A queue that was made a moment ago may be on its way to Redis: it is missed a little later.
    parts.reconcile_until(lambda: parts.redis.exists(f"sluice:{{{queue}}}:settings"), seconds=20)
    assert_problem(enter(third, queue, "ONE-USE"), 403, "CODE_INVALID")
    again = enter(first, queue, "ONE-USE")
    assert (again.status, again["rank"]) == (200, 0) and not api.state(queue)["headSeq"] == 1
    assert enter(third, queue, "TWO-USES").status == 201
    assert_problem(enter(api.member(), queue, "TWO-USES"), 403, "CODE_INVALID")
    assert second.position(queue)["rank"] == 0, "the invited stand first"


def test_a_deleted_queue_takes_its_codes_along(parts, api):
    queue = api.still_queue()
    add(api, queue, kind="priority", codes=["GONE-SOON"])
    assert api.admin("DELETE", f"/queues/{queue}?force=true").status == 204
    api.still_queue(queue)
    parts.reconcile()
    assert_problem(enter(api.member(), queue, "GONE-SOON"), 403, "CODE_INVALID")
    assert api.admin("GET", f"/queues/{queue}/codes").json["kinds"] == []
