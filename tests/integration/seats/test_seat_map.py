"""The map of a show: what it weighs, when it need not be sent, and what it says while a part is silent."""

import gzip

import pytest

from lib import processes
from lib.seats import key
from lib.wait import until

SEATS = [f"A-{number}" for number in range(1, 11)]


@pytest.fixture
def queue(api):
    return api.queue()


def plain(tag):
    """nginx marks a tag as weak where it may compress."""
    return tag.removeprefix("W/")


def test_large_map_is_compact_and_tagged(api, queue):
    show = api.show(queue, plan={"sections": [
        {"name": f"S{i}", "rows": 20, "seatsPerRow": 50, "price": {"amount": 1000 * (i + 1), "currency": "KRW"}}
        for i in range(10)]})
    member = api.ready_member(queue)
    assert member.hold(show, "S3-7-11").status == 201
    answer = api.seats(show, member, **{"Accept-Encoding": "identity"})
    assert answer.status == 200 and answer.headers["cache-control"] == "no-store"
    assert list(answer.json) == ["show", "queue", "version", "holdsKnown", "seats"]
    assert (answer["show"], answer["queue"], answer["holdsKnown"]) == (show, queue, True)
    assert len(answer["seats"]) == 10_000
    assert [seat for seat in answer["seats"] if seat["status"] != "AVAILABLE"] == [
        {"id": "S3-7-11", "section": "S3", "row": "7", "number": "11", "price": {"amount": 4000, "currency": "KRW"},
         "status": "HELD", "mine": True}]
    assert b" " not in answer.body and len(answer.body) < 1_400_000
    packed = api.raw((f"GET /v1/shows/{show}/seats HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n"
                      "Connection: close\r\n\r\n").encode())
    assert packed.headers["content-encoding"] == "gzip" and len(packed.body) < 150_000
    assert packed.headers["vary"] == "Accept-Encoding", "a cache on the way gives it to nobody who cannot unpack it"
    assert len(gzip.decompress(packed.body)) > 1_000_000


def test_what_one_has_is_not_sent_again(api, queue):
    show = api.show(queue, SEATS)
    member, other = api.ready_member(queue), api.ready_member(queue)
    first = api.seats(show)
    tag = plain(first.headers["etag"])
    assert first.headers["cache-control"] == "public, no-cache"
    again = api.seats(show, **{"If-None-Match": tag})
    assert (again.status, again.body, plain(again.headers["etag"])) == (304, b"", tag)
    assert api.seats(show, member, **{"If-None-Match": f'"x", W/{tag}'}).status == 304, "nothing is theirs: the same"
    member.hold(show, "A-1")
    changed = api.seats(show, **{"If-None-Match": tag})
    assert changed.status == 200 and plain(changed.headers["etag"]) != tag
    own = api.seats(show, member, **{"If-None-Match": changed.headers["etag"]})
    assert own.status == 200 and plain(own.headers["etag"]) != plain(changed.headers["etag"]), "mine is another map"
    assert api.seats(show, other, **{"If-None-Match": changed.headers["etag"]}).status == 304
    member.give_back(show)
    assert api.seats(show, **{"If-None-Match": tag}).status == 304, "the very same again"


def test_changed_plan_keeps_states(api, queue):
    show = api.show(queue, SEATS, name="plan-changes", concert=api.concert("plan-changes"))
    member = api.ready_member(queue)
    member.hold(show, "A-2", "A-9")
    api.show(queue, ["B-1", *reversed(SEATS), "B-2"], name=show, concert="plan-changes")

    def shown():
        answer = api.seats(show, member)
        return answer["holdsKnown"] and [seat["id"] for seat in answer["seats"]] == ["B-1", *reversed(SEATS), "B-2"]
    until(shown, 5, "the new plan")
    states = api.seat_states(show, member)
    assert {seat for seat, state in states.items() if state != "AVAILABLE"} == {"A-2", "A-9"}
    assert states["A-2"] == states["A-9"] == "HELD*"
    assert member.order_seats(queue, show, ["A-2"]).status == 201


def test_board_of_another_plan_is_not_read(parts, api, queue):
    """Positions are those of one version: until both sides have the same, PostgreSQL says what is ordered."""
    show = api.show(queue, SEATS)
    member, buyer = api.ready_member(queue), api.ready_member(queue)
    member.hold(show, "A-2")
    buyer.hold(show, "A-3")
    buyer.order_seats(queue, show, ["A-3"])
    info = key(queue, show, "info")
    version = parts.redis.hget(info, "version")
    parts.redis.hset(info, "version", int(version) + 1)
    answer = api.seats(show, buyer)
    assert answer["holdsKnown"] is False
    assert {seat["id"]: (seat["status"], seat["mine"]) for seat in answer["seats"] if seat["status"] != "AVAILABLE"} == {
        "A-3": ("HELD", True)}
    parts.redis.hset(info, "version", version)
    assert api.seats(show)["holdsKnown"] is True


@pytest.mark.parametrize("how", ["stopped", "silent"])
def test_browsing_goes_on_without_redis(parts, api, queue, how):
    show = api.show(queue, SEATS, amount=0)
    paid_for = api.show(queue, SEATS)
    owner, holder = api.ready_member(queue), api.ready_member(queue)
    holder.hold(paid_for, "A-5")
    for what in (show, paid_for):
        buyer = api.ready_member(queue, name=f"{owner.name}-{what}")
        buyer.hold(what, "A-1", "A-2")
        assert buyer.order_seats(queue, what, ["A-1", "A-2"]).status == 201
    api.seats(show), api.seats(paid_for)
    if how == "stopped":
        parts.redis_server.stop()
    else:
        processes.stop(parts.redis_server.process.pid)
    try:
        answer = api.seats(show, buyer)
        assert answer.status == 200, answer.body
        assert answer["holdsKnown"] is False
        states = {seat["id"]: (seat["status"], seat["mine"]) for seat in answer["seats"]}
        assert states == {seat: ("SOLD", False) if seat in ("A-1", "A-2") else ("AVAILABLE", False) for seat in SEATS}
        states = api.seat_states(paid_for, buyer)
        assert states["A-1"] == "HELD*" and states["A-5"] == "AVAILABLE", "what is only held is not known"
    finally:
        if how == "stopped":
            parts.start_redis()
        else:
            processes.cont(parts.redis_server.process.pid)
    until(lambda: api.seat_states(paid_for)["A-5"] == "HELD", 10, "holds are known again")


def test_map_is_one_round_trip(parts, api, queue):
    """Counted: one script a map, however many seats are held, and nothing else about the show."""
    show = api.show(queue, SEATS)
    member = api.ready_member(queue)
    member.hold(show, "A-1", "A-2")
    for _ in range(6):
        api.seats(show)
    redis = parts.redis
    before = redis.config_get("slowlog*")
    redis.config_set("slowlog-max-len", 10_000)
    redis.config_set("slowlog-log-slower-than", 0)
    try:
        redis.slowlog_reset()
        for _ in range(20):
            assert api.seats(show, member).status == 200
        commands = [row["command"] for row in redis.slowlog_get(10_000)]
    finally:
        for name, value in before.items():
            redis.config_set(name, value)
    of_show = [command for command in commands if f":show:{show}:".encode() in command]
    assert sum(command.startswith(b"EVALSHA") for command in of_show) == 20, "of what a script does each is listed too"
    assert len(of_show) == 20 * 5
