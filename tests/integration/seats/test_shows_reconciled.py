"""What reconcile does for shows: brings those that Redis lacks, and compares every seat, page by page."""

import re

import pytest

from lib import logs
from lib.seats import key, taken_in_redis
from lib.wait import until


@pytest.fixture
def sold(api):
    """A show of 1,100 seats, three pages, of which a member has ordered some of each."""
    class Sold:
        queue = api.queue()
        show = api.show(queue, plan={"sections": [
            {"name": "A", "rows": 11, "seatsPerRow": 100, "price": {"amount": 100, "currency": "KRW"}}]}, maxSeatsPerMember=9)
        seats = ["A-1-1", "A-11-9", "A-5-50", "A-9-99"]
    member = api.ready_member(Sold.queue)
    assert member.hold(Sold.show, *Sold.seats).status == 201
    answer = member.order_seats(Sold.queue, Sold.show, Sold.seats)
    assert answer.status == 201, answer.body
    Sold.member, Sold.order = member, answer["id"]
    return Sold


def mended(text):
    """What a pass says of shows: loaded, told, corrected."""
    return tuple(map(int, re.search(r"shows loaded (\d+), seats published (\d+), corrected (\d+)", text).groups()))


def test_nothing_to_do(parts, sold):
    parts.reconcile_until(lambda: parts.outbox_empty(sold.queue))
    assert mended(parts.reconcile()) == (0, 0, 0)


def test_what_was_not_published_to_redis(parts, sold):
    parts.reconcile_until(lambda: parts.outbox_empty(sold.queue))
    parts.redis.hdel(key(sold.queue, sold.show, "taken"), "A-11-9", "A-9-99")
    assert mended(parts.reconcile()) == (0, 2, 0)
    assert taken_in_redis(parts, sold.queue, sold.show) == dict.fromkeys(sold.seats, sold.member.name)
    assert mended(parts.reconcile()) == (0, 0, 0)


def test_what_redis_believes_of_its_own(parts, api, sold):
    """A later change than PostgreSQL has: PostgreSQL has lost a commit, or somebody wrote into Redis. A person is told."""
    parts.reconcile_until(lambda: parts.outbox_empty(sold.queue))
    taken = key(sold.queue, sold.show, "taken")
    parts.redis.hset(taken, "A-9-98", "3/S/nobody/o_never")
    parts.redis.hset(taken, "A-1-1", "1/F//")
    text = parts.reconcile(expect=1)
    assert mended(text) == (0, 0, 2) and "that PostgreSQL does not know" in text
    assert taken_in_redis(parts, sold.queue, sold.show) == dict.fromkeys(sold.seats, sold.member.name)
    events = [event for event in logs.events(parts.logs, "show.seats_drift") if event["show"] == sold.show]
    assert {(event["first"], event["corrected"], event["level"]) for event in events} == {
        ("A-1-1", 1, "warning"), ("A-9-98", 1, "warning")}
    rival = api.ready_member(sold.queue)
    assert rival.hold(sold.show, "A-9-98").status == 201
    assert rival.hold(sold.show, "A-1-1").status == 409
    assert mended(parts.reconcile()) == (0, 0, 0)


def test_expired_and_paid_seats_are_published(parts, api, sold):
    parts.postgres.query("UPDATE customer_order SET expires_at = now() WHERE id = %s RETURNING id", sold.order)
    parts.reconcile_until(lambda: taken_in_redis(parts, sold.queue, sold.show) == {})
    rival = api.ready_member(sold.queue)
    assert rival.hold(sold.show, "A-1-1").status == 201
    order = rival.order_seats(sold.queue, sold.show, ["A-1-1"])
    parts.postgres.query("UPDATE customer_order SET status = 'PAID', place_held = false WHERE id = %s RETURNING id",
                         order["id"])
    parts.reconcile_until(
        lambda: parts.redis.hget(key(sold.queue, sold.show, "taken"), "A-1-1") == f"4/S/{rival.name}/{order['id']}")


def test_a_daemon_goes_on_where_it_stopped(parts, api, sold):
    """Eight pages a pass, so that a pass stays short; what lies behind them is found by a later one."""
    others = [api.show(sold.queue, plan={"sections": [
        {"name": "B", "rows": 1, "seatsPerRow": 5000, "price": {"amount": 100, "currency": "KRW"}}]}, name=f"a-{n}-of-it")
        for n in range(2)]
    parts.reconcile_until(lambda: parts.outbox_empty(sold.queue))
    parts.redis.hdel(key(sold.queue, sold.show, "taken"), "A-9-99")
    parts.redis.hset(key(sold.queue, others[1], "taken"), "B-4999", "1/S/nobody/o_never")
    parts.start_reconcile()
    until(lambda: sold.member.name in taken_in_redis(parts, sold.queue, sold.show).values()
          and len(taken_in_redis(parts, sold.queue, sold.show)) == len(sold.seats)
          and not taken_in_redis(parts, sold.queue, others[1]), 20, "every page is looked at")


def test_shows_come_back_with_their_queue(parts, api, sold):
    parts.redis.flushall()
    parts.reconcile_until(lambda: parts.redis.exists(key(sold.queue, sold.show, "info")))
    assert parts.redis.hget(key(sold.queue, sold.show, "info"), "version") == "1"
    assert taken_in_redis(parts, sold.queue, sold.show) == dict.fromkeys(sold.seats, sold.member.name)


@pytest.fixture
def fallen_back(parts, api):
    """A show whose second plan PostgreSQL has lost, as in a fail-over, while Redis has it."""
    class FallenBack:
        queue, concert = api.queue(), api.concert()
        show = api.show(queue, ["A-1", "A-2", "A-3"], concert=concert)

        @classmethod
        def put(cls, *seats):
            api.show(cls.queue, seats, name=cls.show, concert=cls.concert)

        @classmethod
        def map_has(cls, *seats):
            """The map of the catalogue, within the second that its hosts may be behind."""
            def with_plan():
                answer = api.seats(cls.show)
                return [seat["id"] for seat in answer["seats"]] == list(seats) and answer
            return until(with_plan, 3, "the map has the plan")

        @classmethod
        def is_sold(cls, *seats):
            """The map of the catalogue, and then a hold."""
            cls.map_has(*seats)
            member = api.ready_member(cls.queue)
            assert member.hold(cls.show, seats[0]).status == 201
            answer = api.seats(cls.show, member)
            assert answer["holdsKnown"] is True
            assert [seat["id"] for seat in answer["seats"] if seat["mine"]] == [seats[0]]
            return True
    FallenBack.put("B-1", "B-2", "B-3")
    FallenBack.lost_map = FallenBack.map_has("B-1", "B-2", "B-3")
    parts.reconcile_until(lambda: parts.outbox_empty(FallenBack.queue))
    parts.postgres.query("UPDATE seat SET id = replace(id, 'B', 'A') WHERE show = %s RETURNING id", FallenBack.show)
    parts.postgres.query("UPDATE show SET version = 1, updated_at = created_at WHERE id = %s RETURNING id", FallenBack.show)
    return FallenBack


def test_a_version_that_postgresql_has_lost(parts, fallen_back):
    assert mended(parts.reconcile()) == (1, 0, 0)
    assert fallen_back.is_sold("A-1", "A-2", "A-3")
    assert mended(parts.reconcile()) == (0, 0, 0)
    fallen_back.put("C-1", "C-2", "C-3")
    assert fallen_back.is_sold("C-1", "C-2", "C-3")


def test_a_version_that_was_given_twice(parts, api, fallen_back):
    fallen_back.put("C-1", "C-2", "C-3")
    info = key(fallen_back.queue, fallen_back.show, "info")
    assert api.admin("GET", f"/shows/{fallen_back.show}?seats=false")["version"] == 2
    assert parts.redis.hget(info, "version") == "2"
    free = [fallen_back.lost_map, fallen_back.map_has("C-1", "C-2", "C-3")]
    assert [(answer["version"], answer["holdsKnown"]) for answer in free] == [(2, True)] * 2
    assert api.seats(fallen_back.show, **{"If-None-Match": free[0].headers["etag"]}).status == 200, "a page has the lost plan"
    assert api.seats(fallen_back.show, **{"If-None-Match": free[1].headers["etag"]}).status == 304
    assert fallen_back.is_sold("C-1", "C-2", "C-3")
    parts.reconcile_until(lambda: parts.outbox_empty(fallen_back.queue))
    assert mended(parts.reconcile()) == (0, 0, 0)
    parts.redis.hset(info, "updated", 1)
    assert mended(parts.reconcile()) == (1, 0, 0), "as where the worker died before it published"
    assert mended(parts.reconcile()) == (0, 0, 0)


def test_a_load_of_a_lost_version_that_never_ended(parts, fallen_back):
    info = key(fallen_back.queue, fallen_back.show, "info")
    assert mended(parts.reconcile()) == (1, 0, 0)
    parts.redis.hset(info, mapping={"loading": 9, "loadingBy": "dead", "loaded": 0})
    assert mended(parts.reconcile()) == (1, 0, 0)
    assert parts.redis.hmget(info, "version", "loading") == ["10", None]
    assert mended(parts.reconcile()) == (0, 0, 0)


def test_the_first_load_of_a_lost_version_that_never_ended(parts, fallen_back):
    """Redis has no version of the show, and a load of one above PostgreSQL's."""
    info = key(fallen_back.queue, fallen_back.show, "info")
    parts.redis.delete(info)
    parts.redis.hset(info, mapping={"loading": 9, "loadingBy": "dead", "loaded": 0})
    assert mended(parts.reconcile()) == (1, 0, 0)
    assert parts.redis.hmget(info, "version", "loading") == ["10", None]
    assert fallen_back.is_sold("A-1", "A-2", "A-3")
    assert mended(parts.reconcile()) == (0, 0, 0)
