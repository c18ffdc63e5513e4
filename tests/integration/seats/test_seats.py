"""Holding seats, giving them back, ordering them: the routes, and what a map says meanwhile."""

import pytest

from lib.client import assert_problem, new_key
from lib.gate import Visitor
from lib.wait import until

SEATS = [f"A-{number}" for number in range(1, 11)]


@pytest.fixture
def queue(api):
    return api.queue()


@pytest.fixture
def show(api, queue):
    return api.show(queue, SEATS)


def ids(answer):
    return sorted(answer["seats"])


def test_way_from_the_map_to_the_order(api, queue, show):
    member, other = api.ready_member(queue), api.ready_member(queue)
    assert set(api.seat_states(show).values()) == {"AVAILABLE"}
    held = member.hold(show, "A-2", "A-1")
    assert held.status == 201, held.body
    assert ids(held) == ["A-1", "A-2"]
    assert held["expiresAt"] == held["held"][0]["expiresAt"] > held["serverTime"]
    mine = api.seat_states(show, member)
    assert (mine["A-1"], mine["A-3"]) == ("HELD*", "AVAILABLE")
    assert api.seat_states(show, other)["A-1"] == api.seat_states(show)["A-1"] == "HELD"
    refused = other.hold(show, "A-3", "A-2", "A-1")
    assert_problem(refused, 409, "SEATS_TAKEN")
    assert sorted(refused["taken"]) == ["A-1", "A-2"]
    assert other.my_holds(show).json["seats"] == []
    made = member.order_seats(queue, show, ["A-1", "A-2"])
    assert made.status == 201, made.body
    assert (made["status"], made["total"]) == ("PENDING_PAYMENT", {"amount": 2000, "currency": "KRW"})
    assert [(seat["show"], seat["id"], seat["price"]["amount"]) for seat in made["seats"]] == [
        (show, "A-1", 1000), (show, "A-2", 1000)]
    assert made["items"] == []
    assert api.seat_states(show, member)["A-1"] == "HELD*" and api.seat_states(show, other)["A-1"] == "HELD"
    assert member.my_holds(show)["seats"] == [], "ordered, no longer held"
    assert_problem(member.hold(show, "A-3"), 401, "ENTRY_TOKEN_INVALID")
    assert_problem(other.hold(show, "A-1"), 409, "SEATS_TAKEN")
    canceled = api.call("POST", f"/v1/orders/{made['id']}/cancel", member.headers())
    assert canceled["status"] == "CANCELED"
    assert api.seat_states(show)["A-1"] == "AVAILABLE"
    assert other.hold(show, "A-1").status == 201


def test_free_seats_are_sold_at_once(api, queue):
    show = api.show(queue, SEATS, amount=0)
    member = api.ready_member(queue)
    member.hold(show, "A-1")
    assert member.order_seats(queue, show, ["A-1"])["status"] == "PAID"
    assert api.seat_states(show, member)["A-1"] == "SOLD*" and api.seat_states(show)["A-1"] == "SOLD"


def test_replacing_and_giving_back(api, queue, show):
    member, other = api.ready_member(queue), api.ready_member(queue)
    member.hold(show, "A-1", "A-2")
    other.hold(show, "A-9")
    assert_problem(member.hold(show, "A-3", "A-9", replace=True), 409, "SEATS_TAKEN")
    assert ids(member.my_holds(show)) == ["A-1", "A-2"]
    assert ids(member.hold(show, "A-2", "A-3", replace=True)) == ["A-2", "A-3"]
    assert ids(member.hold(show, "A-4")) == ["A-2", "A-3", "A-4"]
    assert member.give_back(show, "A-3", "A-9").status == 204
    assert ids(member.my_holds(show)) == ["A-2", "A-4"] and ids(other.my_holds(show)) == ["A-9"]
    assert member.give_back(show).status == 204 and member.give_back(show).status == 204
    assert member.my_holds(show).json["expiresAt"] is None
    assert {seat for seat, state in api.seat_states(show).items() if state == "HELD"} == {"A-9"}


def test_two_tabs_of_a_member_have_the_same_holds(api, queue, show):
    member = api.ready_member(queue)
    calls = [member.hold_call(show, seat) for seat in SEATS[:4]]
    assert {answer.status for answer in api.together(calls)} == {201}
    assert ids(member.my_holds(show)) == SEATS[:4]
    calls = [member.hold_call(show, *SEATS[i:i + 2], replace=True) for i in range(4, 9)]
    assert {answer.status for answer in api.together(calls)} == {201}
    assert len(ids(member.my_holds(show))) == 2, "one selection whole, never a mixture"


def test_so_many_and_no_more(api, queue):
    show = api.show(queue, SEATS, maxSeatsPerMember=2)
    member = api.ready_member(queue)
    refused = member.hold(show, *SEATS[:3])
    assert_problem(refused, 422, "TOO_MANY_SEATS")
    assert refused["most"] == 2
    member.hold(show, "A-1")
    assert member.order_seats(queue, show, ["A-1"]).status == 201
    again = api.ready_member(queue, name=member.name)
    assert_problem(again.hold(show, "A-2", "A-3"), 422, "TOO_MANY_SEATS")
    assert again.hold(show, "A-2").status == 201
    assert again.order_seats(queue, show, ["A-2"]).status == 201


def test_the_shortest_hold(api, queue):
    """A second, by a clock that nobody can stretch: then the seat is anybody's, and cannot be ordered by who had it."""
    show = api.show(queue, SEATS, holdTtlSeconds=1)
    first, second = api.ready_member(queue), api.ready_member(queue)
    assert first.hold(show, "A-1").status == 201
    until(lambda: second.hold(show, "A-1").status == 201, 5, "the hold has ended")
    assert ids(first.my_holds(show)) == []
    assert_problem(first.order_seats(queue, show, ["A-1"]), 409, "SEAT_NOT_HELD")


def test_unknown_things(api, queue, show):
    member = api.ready_member(queue)
    refused = member.hold(show, "A-1", "Z-1")
    assert_problem(refused, 422, "UNKNOWN_SEAT")
    assert refused["unknown"] == ["Z-1"]
    assert_problem(member.hold("no-such-show", "A-1"), 404, "NOT_FOUND")
    assert_problem(member.my_holds("no-such-show"), 404, "NOT_FOUND")
    assert_problem(member.give_back("no-such-show"), 404, "NOT_FOUND")
    assert_problem(api.seats("no-such-show"), 404, "NOT_FOUND")
    assert_problem(member.order_seats(queue, "no-such-show", ["A-1"]), 404, "NOT_FOUND")
    elsewhere = api.show(api.queue(), SEATS)
    assert_problem(member.hold(elsewhere, "A-1"), 401, "ENTRY_TOKEN_INVALID")
    wrong = member.order_seats(queue, elsewhere, ["A-1"])
    assert_problem(wrong, 400, "INVALID_REQUEST")
    assert wrong["pointer"] == "/show"
    assert member.position(queue)["status"] == "READY", "none of them cost the token"


@pytest.mark.parametrize("body, pointer", [
    ({}, "/seats"), ({"seats": []}, "/seats"), ({"seats": "A-1"}, "/seats"), ({"seats": [1]}, "/seats/0"),
    ({"seats": ["A-1", "A-1"]}, "/seats/1"), ({"seats": ["A 1"]}, "/seats/0"), ({"seats": ["A" * 33]}, "/seats/0"),
    ({"seats": ["A-1"], "replace": 1}, "/replace"), ({"seats": ["A-1"], "x": 1}, "/x"), ([], ""), (b"{", ""),
    ({"seats": [["A-1"]]}, "/seats/0")])
def test_hostile_bodies(api, queue, show, body, pointer):
    member = api.member()
    headers = member.headers(X_Entry_Token="x")
    answer = api.call("POST", f"/v1/shows/{show}/holds", headers, body)
    assert_problem(answer, 400, "INVALID_REQUEST")
    assert answer["pointer"] == pointer
    if pointer.startswith("/seats/"):
        assert_problem(api.call("DELETE", f"/v1/shows/{show}/holds", headers, body), 400, "INVALID_REQUEST")


def test_thousands_of_seats_in_a_body_are_not_looked_at(api, queue, show):
    member = api.member()
    headers = member.headers(X_Entry_Token="x")
    for many in (101, 6000):
        answer = api.call("POST", f"/v1/shows/{show}/holds", headers, {"seats": [f"A-{i}" for i in range(many)]})
        assert_problem(answer, 422, "TOO_MANY_SEATS")
    answer = api.call("POST", f"/v1/shows/{show}/holds", headers, {"seats": [f"A-{i}" for i in range(10_000)]})
    assert_problem(answer, 413, "BODY_TOO_LARGE")


def test_nobody_and_no_token(api, show):
    path = f"/v1/shows/{show}/holds"
    for method, where, body in (("POST", path, {"seats": ["A-1"]}), ("DELETE", path, None), ("GET", f"{path}/mine", None)):
        assert_problem(api.call(method, where, {}, body), 401, "UNAUTHENTICATED")
    assert_problem(api.call("POST", path, api.member().headers(), {"seats": ["A-1"]}), 401, "ENTRY_TOKEN_REQUIRED")
    assert_problem(api.member().hold(show, "A-1", token="wrong"), 401, "ENTRY_TOKEN_INVALID")
    assert_problem(api.call("PUT", path, {}, {}), 405, "METHOD_NOT_ALLOWED")


def test_orders_of_seats_need_their_holds(api, queue, show):
    member, other = api.ready_member(queue), api.ready_member(queue)
    other.hold(show, "A-2")
    member.hold(show, "A-1")
    refused = member.order_seats(queue, show, ["A-1", "A-2", "A-3"])
    assert_problem(refused, 409, "SEAT_NOT_HELD")
    assert refused["notHeld"] == ["A-2", "A-3"]
    assert member.position(queue)["status"] == "READY"
    assert member.order_seats(queue, show, ["A-1"]).status == 201
    assert_problem(member.order_seats(queue, show, ["A-1"]), 401, "ENTRY_TOKEN_INVALID")


def test_same_key_again_is_the_same_order(api, queue, show):
    """With the spent token, and with a new one too, though the seats are held no longer."""
    member = api.ready_member(queue)
    key = new_key()
    member.hold(show, "A-1", "A-2")
    made = member.order_seats(queue, show, ["A-1", "A-2"], key=key)
    assert made.status == 201
    again = member.order_seats(queue, show, ["A-2", "A-1"], key=key)
    assert (again.status, again["id"], again["seats"]) == (200, made["id"], made["seats"])
    assert again.headers["idempotent-replayed"] == "true"
    anew = api.ready_member(queue, name=member.name)
    again = anew.order_seats(queue, show, ["A-1", "A-2"], key=key)
    assert (again.status, again["id"]) == (200, made["id"])
    assert_problem(anew.order_seats(queue, show, ["A-1"], key=key), 422, "IDEMPOTENCY_KEY_REUSED")
    assert anew.position(queue)["status"] == "READY"


def test_visitor_holds_and_orders_by_cookie(api):
    queue = api.queue(identity="visitor")
    show = api.show(queue, SEATS)
    visitor = Visitor(api.port, headers={})
    assert visitor.ask(f"/v1/queues/{queue}/entries", "POST").status == 201
    cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())}
    token = until(lambda: api.call("GET", f"/v1/queues/{queue}/position", cookie)["entryToken"], 10, "a token")
    headers = {**cookie, "X-Entry-Token": token}
    assert api.call("POST", f"/v1/shows/{show}/holds", headers, {"seats": ["A-1"]}).status == 201
    seats = api.call("GET", f"/v1/shows/{show}/seats", cookie)["seats"]
    assert [seat["id"] for seat in seats if seat["mine"]] == ["A-1"]
    made = api.call("POST", "/v1/orders", {**headers, "Idempotency-Key": new_key()},
                    {"queue": queue, "show": show, "seats": ["A-1"]})
    assert made.status == 201, made.body


def test_evicted_member_keeps_the_holds_and_gets_no_new_ones(api, queue, show):
    member, other = api.ready_member(queue), api.ready_member(queue)
    member.hold(show, "A-1")
    assert api.admin("POST", f"/queues/{queue}/members/{member.name}/evict").status in (200, 204)
    assert_problem(member.hold(show, "A-2"), 401, "ENTRY_TOKEN_INVALID")
    assert_problem(member.order_seats(queue, show, ["A-1"]), 401, "ENTRY_TOKEN_INVALID")
    assert member.my_holds(show)["seats"] == ["A-1"]
    assert_problem(other.hold(show, "A-1"), 409, "SEATS_TAKEN")
    back = api.ready_member(queue, name=member.name)
    assert back.order_seats(queue, show, ["A-1"]).status == 201


def test_sold_out_by_seats_and_back(parts, api, queue):
    show = api.show(queue, SEATS[:3], maxSeatsPerMember=3)
    member, waiting = api.ready_member(queue), api.ready_member(queue)
    member.hold(show, *SEATS[:3])
    assert api.state(queue)["state"] == "OPEN", "what is held may come back"
    made = member.order_seats(queue, show, SEATS[:3])
    until(lambda: waiting.position(queue)["queueState"] == "SOLD_OUT", 5, "everyone sees it")
    api.call("POST", f"/v1/orders/{made['id']}/cancel", member.headers())
    until(lambda: waiting.position(queue)["queueState"] == "OPEN", 5, "it opens again")
    assert waiting.hold(show, "A-1").status == 201


def test_queue_that_was_deleted(api):
    queue = api.queue()
    show = api.show(queue, SEATS[:3])
    member, other = api.ready_member(queue), api.ready_member(queue)
    assert member.hold(show, "A-1").status == 201
    assert api.admin("DELETE", f"/queues/{queue}?force=true").status == 204
    assert_problem(other.hold(show, "A-2"), 404, "NOT_FOUND")
    assert_problem(member.give_back(show), 404, "NOT_FOUND")
    assert api.seats(show).status == 200, "whoever has ordered there still looks"
