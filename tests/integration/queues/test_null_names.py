"""Ids and codes whose text is null: valid, and the word for "no value" in the lists that PostgreSQL reads."""

import pytest

from lib.coupons import public
from lib.seats import key
from test_codes import add, enter

NAMES = ("null", "NULL", "Null")


@pytest.fixture
def queue(api):
    return api.queue("null")


def test_products_named_null_are_ordered_and_restocked(parts, api, queue):
    sku, other = api.product(queue, stock=10, sku="null"), api.product(queue, stock=10)
    items = [{"sku": sku, "quantity": 2}, {"sku": other, "quantity": 1}]
    for name in NAMES:
        member = api.ready_member(queue, name)
        made = member.order(queue, items)
        assert made.status == 201, made.body
        assert {item["sku"]: item["quantity"] for item in made["items"]} == {sku: 2, other: 1}
        assert api.call("GET", f"/v1/orders/{made['id']}", member.headers()).json == made.json
        assert member.orders()["orders"][0] == made.json
    assert [api.admin("GET", f"/products/{name}")["available"] for name in (sku, other)] == [4, 7]
    canceled = api.call("POST", f"/v1/orders/{made['id']}/cancel", member.headers())
    assert canceled["status"] == "CANCELED" and api.admin("GET", f"/products/{sku}")["available"] == 6
    parts.reconcile_until(lambda: parts.outbox_empty(queue))


def test_seats_named_null_are_held_and_ordered(parts, api, queue):
    show = api.show(queue, [*NAMES, "A-1"], name="null", concert=api.concert("null"))
    member, other = api.ready_member(queue, "null"), api.ready_member(queue, "NULL")
    assert sorted(member.hold(show, "NULL", "A-1")["seats"]) == ["A-1", "NULL"]
    assert sorted(member.hold(show, "NULL", "null", replace=True)["seats"]) == ["NULL", "null"]
    assert member.give_back(show, "null").status == 204 and member.my_holds(show)["seats"] == ["NULL"]
    assert other.hold(show, "null", "Null").status == 201
    for buyer, seats in ((member, ["NULL"]), (other, ["null", "Null"])):
        made = buyer.order_seats(queue, show, seats)
        assert made.status == 201, made.body
        assert sorted(seat["id"] for seat in made["seats"]) == sorted(seats)
        assert api.call("GET", f"/v1/orders/{made['id']}", buyer.headers()).json == made.json
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    assert api.seat_states(show, member) == {"null": "HELD", "NULL": "HELD*", "Null": "HELD", "A-1": "AVAILABLE"}
    assert api.call("POST", f"/v1/orders/{made['id']}/cancel", other.headers())["status"] == "CANCELED"
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    parts.redis.delete(key(queue, show, "taken"))
    parts.reconcile_until(lambda: parts.redis.hexists(key(queue, show, "taken"), "NULL"))
    assert api.seat_states(show, member) == {"null": "AVAILABLE", "NULL": "HELD*", "Null": "AVAILABLE", "A-1": "AVAILABLE"}


def test_coupons_named_null_are_issued(parts, api, queue):
    event = api.coupon_event(queue, event="null")
    assert api.add_coupons(event, codes=list(NAMES))["added"] == 3
    again = api.add_coupons(event, codes=["NULL", "other"])
    assert (again["added"], again["known"]) == (1, 1)
    codes = {}
    for name in NAMES:
        member = api.ready_member(queue, name)
        made = member.coupon(event)
        assert made.status == 201, made.body
        codes[name] = made["code"]
        assert member.my_coupon(event)["code"] == made["code"]
    assert set(codes.values()) == set(NAMES)
    parts.reconcile_until(lambda: parts.outbox_empty(queue))
    assert public(api, event, issued=3, left=1)


def test_codes_named_null_are_used_and_listed(parts, api):
    queue = api.still_queue("null")
    assert add(api, queue, kind="priority", codes=["NULL"], uses=10)["added"] == 1
    for name in NAMES:
        assert enter(api.member(name), queue, "null").status == 201
    parts.reconcile()
    assert api.admin("GET", f"/queues/{queue}/codes").json["kinds"][0]["used"] == len(NAMES)
    uses = api.admin("GET", f"/queues/{queue}/codes/uses").json["uses"]
    assert {use["member"] for use in uses} == set(NAMES)
    assert parts.redis.llen(f"sluice:{{{queue}}}:codeUses") == 0
