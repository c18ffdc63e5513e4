"""First-come coupons: one a member, none twice, when it is time."""

import http.client

import psycopg2
import pytest

from lib.api import some_name
from lib.client import assert_problem
from lib.coupons import CODE, issued, public
from lib.wait import until


# One member


def test_a_coupon_spends_the_token_and_is_its_member_s_alone(parts, api):
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
    state = public(api, event, coupons=3, issued=1, left=2, state="OPEN")
    assert coupon["code"] not in str(state) and member.name not in str(state)
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    assert parts.postgres.query("SELECT kind, seq FROM admission_use WHERE queue = %s", queue) == [("coupon", 1)]


@pytest.mark.parametrize("deleted", [False, True])
def test_a_token_of_the_queue_that_an_event_moved_to(api, deleted):
    """Workers keep an event for a second: a refusal for the queue that it was in is no answer."""
    left, queue = api.queue(), api.queue()
    event = api.coupon_event(left, 20)
    members = api.ready_members(queue, 12)
    stranger = api.member()
    warm = api.together([("GET", f"/v1/coupon-events/{event}")] * 60, 30)
    assert {answer.status for answer in warm} == {200}
    api.coupon_event(queue, event=event)
    if deleted:
        assert api.admin("DELETE", f"/queues/{left}?force=true").status == 204
    answers = api.together([member.coupon_call(event) for member in members], 12)
    assert [answer.status for answer in answers] == [201] * len(members), [answer.body for answer in answers]
    assert_problem(stranger.coupon(event, token="x" * 43), 401, "ENTRY_TOKEN_INVALID")


def test_an_event_is_there_as_soon_as_it_is_made(api):
    """Whatever each worker remembers of those who asked for it too early."""
    queue = api.queue()
    members = api.ready_members(queue, 4)
    event = some_name("e")
    early = api.together([member.coupon_call(event) for member in members * 4], 4)
    assert {answer.status for answer in early} == {404}
    api.coupon_event(queue, 10, event=event)
    answers = api.together([member.coupon_call(event) for member in members], 4)
    assert [answer.status for answer in answers] == [201] * 4, [answer.body for answer in answers]
    again = api.together([member.coupon_call(event) for member in members * 2], 4)
    assert [answer.status for answer in again] == [200] * 8, [answer.body for answer in again]


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
    for body, pointer in ((b"{", ""), (b"[]", ""), (b'{"captcha": 5}', "/captcha"), (b'{"code": "x"}', "/code"),
                          (b'{"captcha": "' + b"x" * 20000 + b'"}', "/captcha")):
        refused = api.call(method, path, headers, body)
        assert_problem(refused, 400, "INVALID_REQUEST")
        assert refused["pointer"] == pointer
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
    public(api, event, state="PRE_OPEN")
    assert_problem(member.coupon(event), 403, "EVENT_NOT_OPEN")
    assert member.position(queue)["status"] == "READY"
    api.coupon_event(queue, event=event, opensAt="2020-01-01T00:00:00Z", endsAt="2020-01-02T00:00:00Z")
    assert_problem(member.coupon(event), 410, "EVENT_ENDED")
    public(api, event, state="ENDED")
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
            try:
                cursor.execute(
                    "SELECT before, (i).outcome, clock_timestamp() FROM (SELECT clock_timestamp() AS before, "
                    "issue_coupon(%s, %s, 1, 1, %s, %s, %s, %s, 'k') AS i OFFSET 0) AS done",
                    (event, queue, number, f"m{number}", f"c-{event}-{number}", f"a-{event}-{number}"))
            except psycopg2.DatabaseError as refusal:  # the end came while it was in the middle, and undid it
                assert str(refusal).startswith("EVENT_ENDED"), refusal
                cursor.execute("SELECT clock_timestamp(), 'ended', clock_timestamp()")
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
