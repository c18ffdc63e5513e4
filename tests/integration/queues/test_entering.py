"""Entering, polling and leaving over HTTP."""

import json
import re
import secrets as randomness
import time
from datetime import datetime

import pytest

from lib import tokens
from lib.api import some_name, ticket_payload
from lib.client import assert_problem
from lib.tokens import encode
from lib.wait import until


def test_first_entry_has_rank_0_and_the_total(api):
    queue = api.still_queue()
    answer = api.member("first").enter(queue)
    assert answer.status == 201
    assert answer.headers["cache-control"] == "no-store" and answer.headers["x-request-id"]
    body = dict(answer.json)
    ticket = ticket_payload(body.pop("queueTicket"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body.pop("serverTime"))
    assert body == {"queue": queue, "queueState": "OPEN", "status": "WAITING", "rank": 0,
                    "currentTotalWaitingCount": 1, "estimatedWaitSeconds": None, "pollingIntervalSeconds": 1,
                    "retryAfterMs": 1000, "entryToken": None, "entryTokenExpiresAt": None,
                    "seq": 1, "epoch": 1, "incarnation": 1}
    assert ticket["sub"] == "first" and ticket["queue"] == queue
    assert (ticket["epoch"], ticket["seq"], ticket["queueSessionId"]) == (1, 1, 0)
    assert ticket["lane"] and ticket["exp"] > 0


def test_repeats_keep_the_rank(api):
    queue = api.still_queue()
    members = [api.member() for _ in range(5)]
    for member in members:
        member.enter(queue)
    for _ in range(20):
        again = members[2].enter(queue)
        assert (again.status, again["rank"], again["currentTotalWaitingCount"]) == (200, 2, 5)
    assert ticket_payload(members[2].ticket)["queueSessionId"] == 0, "with the current ticket it is no takeover"


def test_members_at_once_get_distinct_ranks(api):
    queue = api.still_queue()
    answers = api.together([api.member().enter_call(queue) for _ in range(300)], 64)
    assert [answer.status for answer in answers] == [201] * 300
    assert sorted(answer["rank"] for answer in answers) == list(range(300))
    assert sorted(ticket_payload(a["queueTicket"])["seq"] for a in answers) == list(range(1, 301))


def test_64_first_entries_of_one_member_give_one_place(api):
    queue = api.still_queue()
    member = api.member()
    answers = api.together([member.enter_call(queue)] * 64)
    assert sorted(answer.status for answer in answers) == [200] * 63 + [201]
    assert {(answer["rank"], ticket_payload(answer["queueTicket"])["seq"]) for answer in answers} == {(0, 1)}
    sessions = [ticket_payload(answer["queueTicket"])["queueSessionId"] for answer in answers]
    assert sorted(sessions) == list(range(64)), "each is a screen of its own, the latest counts"
    assert api.state(queue)["waiting"] == 1


def test_three_states(api):
    queue = api.still_queue()
    member = api.member()
    before = member.position(queue)
    assert (before.status, before["status"], before["rank"], before["queueTicket"]) == (200, "NOT_ENTERED", None, None)
    member.enter(queue)
    waiting = member.position(queue)
    assert (waiting["status"], waiting["rank"], waiting["entryToken"]) == ("WAITING", 0, None)
    api.queue(queue)
    ready = member.wait_ready(queue)
    assert ready["rank"] is None and re.fullmatch(r"[A-Za-z0-9_-]{43}", ready["entryToken"])
    assert ready["entryTokenExpiresAt"] > ready["serverTime"]
    assert "ordering" not in ready.json
    assert member.leave(queue).status == 204
    assert member.position(queue)["status"] == "NOT_ENTERED"
    assert member.leave(queue).status == 204, "also when not there"


def test_takeover_revokes_the_older_screen(api):
    queue = api.still_queue()
    one, two = api.member("taken"), api.member("taken")
    one.enter(queue)
    api.member().enter(queue)
    assert two.enter(queue)["rank"] == 0
    assert_problem(one.position(queue), 409, "SESSION_REVOKED")
    assert_problem(one.leave(queue), 409, "SESSION_REVOKED")
    assert two.position(queue)["rank"] == 0


def test_ticket_by_cookie(api):
    queue = api.still_queue()
    member = api.member()
    entered = member.enter(queue)
    cookie = entered.headers["set-cookie"]
    assert cookie.startswith("sluice_ticket=") and "HttpOnly" in cookie and "SameSite=" in cookie
    headers = member.headers(Cookie=cookie.split(";")[0])
    assert api.call("GET", f"/v1/queues/{queue}/position", headers)["rank"] == 0
    two = api.member(member.name)
    two.enter(queue)
    assert_problem(api.call("GET", f"/v1/queues/{queue}/position", headers), 409, "SESSION_REVOKED")


@pytest.mark.parametrize("change", ["payload", "signature", "garbage", "kid", "none", "another's", "another queue's"])
def test_forged_tickets(api, change):
    queue = api.still_queue()
    member, other = api.member(), api.member()
    member.enter(queue)
    other.enter(queue)
    head, body, signature = member.ticket.split(".")
    claims = tokens.payload_of(member.ticket)
    forged = {
        "payload": f"{head}.{encode(json.dumps({**claims, 'seq': 0}))}.{signature}",
        "signature": f"{head}.{body}.{'A' * 43}",
        "garbage": "x.y.z",
        "kid": f"{encode(json.dumps({**tokens.header_of(member.ticket), 'kid': '../etc'}))}.{body}.{signature}",
        "none": f"{encode(json.dumps({'alg': 'none'}))}.{body}.",
        "another's": other.ticket,
    }
    if change == "another queue's":
        elsewhere = api.still_queue()
        member.enter(elsewhere)
        member.ticket = None
        member.enter(elsewhere)
        forged[change] = member.ticket
    headers = member.headers(X_Queue_Ticket=forged[change])
    for method, path in (("GET", "position"), ("DELETE", "entries"), ("POST", "entries")):
        answer = api.call(method, f"/v1/queues/{queue}/{path}", headers)
        if method == "POST" and answer.status == 200:
            continue
        assert_problem(answer, 401, "TICKET_INVALID")
    member.ticket = None
    assert member.position(queue)["rank"] == 0, "the place is found by the login"


def test_hostile_member_tokens(api):
    queue = api.still_queue()
    bad = tokens.hostile(api.member_key)
    calls = [(name, method, path) for name in bad for method, path in (
        ("POST", f"/v1/queues/{queue}/entries"), ("GET", f"/v1/queues/{queue}/position"), ("GET", "/v1/orders"))]
    answers = api.together([(method, path, {"Authorization": f"Bearer {bad[name]}"}, None)
                            for name, method, path in calls], 8)
    for call, answer in zip(calls, answers):
        assert_problem(answer)
        assert answer.code == "UNAUTHENTICATED" or call[0] == "huge", (call, answer.body)
    assert api.state(queue)["waiting"] == 0


def test_no_login_and_wrong_schemes(api):
    queue = api.still_queue()
    jwt = api.member().jwt
    for headers in ({}, {"Authorization": "Basic YTpi"}, {"Authorization": jwt}, {"Authorization": "Bearer"},
                    {"Authorization": f"Bearer {jwt} {jwt}"}, {"Authorization": f"Bearer {api.admin_key}"}):
        assert_problem(api.call("POST", f"/v1/queues/{queue}/entries", headers), 401, "UNAUTHENTICATED")
    assert api.call("POST", f"/v1/queues/{queue}/entries", {"Authorization": f"bearer {jwt}"}).status == 201


@pytest.mark.limit(90)
def test_public_key_algorithms(parts, api, request):
    """RS256, ES256 and EdDSA by a JWKS file; each pins its algorithm, and a public key is no HMAC secret."""
    queue = api.still_queue()
    rsa, ec, ed = tokens.Rs256(), tokens.Es256(), tokens.EdDsa()
    jwks = parts.directory / "jwks.json"
    jwks.write_text(json.dumps({"keys": [rsa.jwk(), ec.jwk(), ed.jwk()]}))
    jwks.chmod(0o644)

    def back():
        parts.settings.pop("member_jwks_file", None)
        parts.settings.pop("member_jwt_audience", None)
        parts.reconfigure("queue", member_jwt_algorithm="HS256")
    request.addfinalizer(back)

    def enter(token):
        return api.call("POST", f"/v1/queues/{queue}/entries", {"Authorization": f"Bearer {token}"})

    for key in (rsa, ec, ed):
        parts.reconfigure("queue", member_jwt_algorithm=key.algorithm, member_jwks_file=jwks,
                          member_jwt_audience="shop")
        name = some_name("jwk")
        assert enter(tokens.make(key, name, aud="shop")).status == 201
        assert enter(tokens.make(key, name, aud=["other", "shop"])).status == 200
        assert enter(tokens.make(key, name, header={"kid": None}, aud="shop")).status in (200, 401)
        confused = tokens.Hs256(rsa.public_pem())
        refused = [tokens.make(key, name), tokens.make(key, name, aud="other"),
                   tokens.make(key, name, header={"kid": "unknown"}, aud="shop"),
                   tokens.make(confused, name, aud="shop"),
                   tokens.make(confused, name, header={"alg": key.algorithm, "kid": key.kid}, aud="shop"),
                   tokens.make(api.member_key, name, aud="shop"),
                   tokens.make(type(key)(key.kid), name, aud="shop")]
        refused += [tokens.make(other, name, aud="shop") for other in (rsa, ec, ed) if other is not key]
        for number, token in enumerate(refused):
            answer = enter(token)
            assert answer.code == "UNAUTHENTICATED", (key.algorithm, number, answer.body)


def test_ticket_keys_are_rotated_without_losing_anyone(parts, api):
    queue = api.still_queue()
    old = api.member()
    old.enter(queue)
    path = parts.secrets / "queue-ticket.keys"
    before = path.read_text()
    fresh = f"k2:{encode(randomness.token_bytes(32))}\n"
    parts.secrets.joinpath("queue-ticket.keys").write_text(fresh + before)

    def signs_with_new():
        member = api.member()
        member.enter(queue)
        return tokens.header_of(member.ticket)["kid"] == "k2" and member
    from lib.wait import until
    new = until(signs_with_new, 10, "new key signs", every=0.2)
    for member in (old, new):
        assert member.position(queue).status == 200
    path.write_text(fresh)
    until(lambda: old.position(queue).code == "TICKET_INVALID", 10, "old key is gone", every=0.2)
    assert new.position(queue).status == 200
    path.write_text(before)
    until(lambda: old.position(queue).status == 200, 10, "old key is back", every=0.2)


def test_visitor_queue(api):
    queue = api.still_queue(identity="visitor")
    first = api.call("POST", f"/v1/queues/{queue}/entries")
    assert first.status == 201
    assert api.member().enter(queue)["rank"] == 1
    members_only = api.still_queue()
    assert_problem(api.call("POST", f"/v1/queues/{members_only}/entries"), 401, "UNAUTHENTICATED")


def test_public_state(parts, api):
    queue = api.still_queue(message="Hello “you”")
    for _ in range(3):
        api.member().enter(queue)
    state = api.state(queue)
    assert {"state", "waiting", "headSeq", "departures", "admittedPerSecond", "epoch", "incarnation", "serverTime",
            "message", "opensAt", "closesAt"} <= set(state)
    assert (state["state"], state["waiting"], state["headSeq"], state["epoch"], state["message"]) == (
        "OPEN", 3, 1, 1, "Hello “you”")
    parts.reconcile(expect=None)  # until it has looked, a queue that is not in Redis may be lost
    assert_problem(api.call("GET", "/v1/queues/no-such-queue"), 404, "NOT_FOUND")


@pytest.mark.parametrize("path", ["/v1/queues/{queue}", "/v1/queues/{queue}/result", "/v1/coupon-events/{event}"])
def test_public_answers_are_a_second_old_at_most(api, path):
    """As they say themselves, whatever moment of nginx's whole seconds they are asked at."""
    queue = api.still_queue()
    path = path.format(queue=queue, event=api.coupon_event(queue, 1))
    ages, end = [], time.monotonic() + 4

    def ask():
        asked = time.time()
        answer = api.call("GET", path)
        assert answer.headers["cache-control"] == "public, max-age=1"
        ages.append(asked - datetime.fromisoformat(answer["serverTime"].replace("Z", "+00:00")).timestamp())
        return time.monotonic() > end
    until(ask, 8, "four seconds of answers", every=0.05)
    # A machine that is busy with something else may be late once.
    assert sorted(ages)[-2] < 1.3, max(ages)


def test_poll_tiers(api):
    """The server's word on when to ask again grows with the rank and is jittered by up to a quarter."""
    queue = api.still_queue(pollTiers=[{"upToRank": 2, "seconds": 1}, {"upToRank": None, "seconds": 8}])
    answers = [api.member().enter(queue) for _ in range(12)]
    assert [a["pollingIntervalSeconds"] for a in answers[:2]] == [1, 1]
    far = answers[4:]
    assert {a["pollingIntervalSeconds"] for a in far} == {8}
    waits = {a["retryAfterMs"] for a in far}
    assert all(8000 <= wait <= 10_000 for wait in waits)
    assert len(waits) > 1, "not all at the same moment"


def test_full_closed_and_unknown_queues(parts, api):
    full = api.still_queue(maxWaiting=1)
    api.member().enter(full)
    assert_problem(api.member().enter(full), 503, "QUEUE_FULL")
    closed = api.still_queue(closesAt="2020-01-01T00:00:00.000Z")
    assert_problem(api.member().enter(closed), 410, "QUEUE_CLOSED")
    parts.reconcile(expect=None)
    assert_problem(api.member().enter("no-such-queue"), 404, "NOT_FOUND")
    early = api.queue(opensAt="2099-01-01T00:00:00.000Z")
    answer = api.member().enter(early)
    assert (answer.status, answer["queueState"], answer["estimatedWaitSeconds"]) == (201, "PRE_OPEN", None)
