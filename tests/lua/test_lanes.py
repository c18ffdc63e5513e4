"""The priority lane: its share, who stands where, and codes as the way into it."""

import random

import pytest

from lib.line import Ticket, raw_hash, sha256_text

FAST = {"ratePerSecond": 100000, "burst": 100000, "maxActive": 100000}


@pytest.fixture
def lanes(make_line):
    def make(**settings):
        line = make_line(**{**FAST, **settings})
        line.add_codes("priority", "VIP-1", uses=1000)
        line.add_codes("invite", "INV-1", uses=1000)
        return line
    return make


def fill(line, main, priority):
    for i in range(max(main, priority)):
        if i < main:
            assert line.enter(f"m{i}").lane == "main"
        if i < priority:
            assert line.enter(f"p{i}", code="VIP-1").lane == "priority"


def admitted(line, count):
    """Members let in by one tick."""
    before = set(line.redis.hkeys(line.key("places")))
    assert line.promote(count).code == "OK"
    return set(line.redis.hkeys(line.key("places"))) - before


def test_the_share_goes_first_to_the_lane(lanes):
    line = lanes(priorityShare=0.25)
    fill(line, 100, 100)
    assert admitted(line, 40) == {f"p{i}" for i in range(10)} | {f"m{i}" for i in range(30)}
    line.check()


@pytest.mark.on("cluster")
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("batch", [1, 2, 3, 7])
def test_small_ticks_obey_the_share_over_time(lanes, share, batch):
    line = lanes(priorityShare=share)
    ticks = 40
    fill(line, batch * ticks, batch * ticks)
    first = 0
    for tick in range(1, ticks + 1):
        new = admitted(line, batch)
        assert len(new) == batch
        first += sum(name.startswith("p") for name in new)
        assert abs(first - share * batch * tick) < 1 + 1e-6


@pytest.mark.parametrize("main, priority, share, expected", [
    (100, 3, 0.5, (3, 17)),     # what the lane cannot use goes to the others
    (4, 100, 0.5, (16, 4)),     # and the other way round
    (0, 100, 0.1, (20, 0)),
    (100, 0, 0.9, (0, 20)),
    (100, 100, 1, (20, 0)),
    (100, 100, 0, (0, 20)),
    (5, 100, 0, (15, 5)),
    (2, 3, 0.5, (3, 2)),
])
def test_an_unused_share_is_not_lost(lanes, main, priority, share, expected):
    line = lanes(priorityShare=share)
    fill(line, main, priority)
    new = admitted(line, 20)
    assert (sum(name.startswith("p") for name in new), sum(name.startswith("m") for name in new)) == expected


def test_an_empty_lane_saves_nothing_up(lanes):
    line = lanes(priorityShare=0.5)
    fill(line, 100, 0)
    for _ in range(9):
        admitted(line, 1)
    fill_late = [line.enter(f"p{i}", code="VIP-1") for i in range(20)]
    assert [answer.rank for answer in fill_late] == list(range(20))
    new = admitted(line, 10)
    assert sum(name.startswith("p") for name in new) == 5


def test_within_a_lane_the_number_decides(lanes):
    line = lanes()
    fill(line, 60, 60)
    while line.position("m59").status == "WAITING":
        before = {name: line.members(name) for name in ("waiting", "priority")}
        new = admitted(line, random.randrange(1, 9))
        for name, members in before.items():
            gone = [member for member in members if member in new]
            assert gone == members[:len(gone)], name
    line.check()


def test_rank_is_the_place_in_the_own_lane(lanes):
    line = lanes()
    fill(line, 5, 3)
    assert [line.position(f"m{i}").rank for i in range(5)] == [0, 1, 2, 3, 4]
    assert [line.position(f"p{i}").rank for i in range(3)] == [0, 1, 2]
    assert line.position("m0").waiting == line.position("p0").waiting == 8
    assert (line.position("m0").exact_only, line.position("p0").exact_only) == (0, 1)


def test_what_each_lane_may_expect_of_the_rate(make_line):
    line = make_line(ratePerSecond=40, priorityShare=0.25)
    line.add_codes("priority", "VIP-1", uses=10)
    assert line.enter("m").rate_milli == 40_000
    line.enter("p", code="VIP-1")
    assert (line.position("m").rate_milli, line.position("p").rate_milli) == (30_000, 10_000)
    line.leave("m")
    assert line.position("p").rate_milli == 40_000


def test_who_waits_moves_over_and_keeps_the_number(lanes):
    line = lanes()
    fill(line, 5, 2)
    before = line.position("m3")
    after = line.enter("m3", before.ticket, code="VIP-1")
    assert (after.code, after.seq, after.lane, after.rank) == ("ALREADY", before.seq, "priority", 2)
    assert after.generation == before.generation + 1, "the ticket of the other lane is no longer the latest"
    assert line.position("m3", before.ticket).code == "SESSION_REVOKED"
    assert line.position("m4").rank == 3, "those behind come forward"
    assert sum(map(int, line.redis.hvals(line.key("departures")))) == 3, "numbers that left the main lane"
    line.check()


def contents(redis):
    """All that is there. A hash that grows is dumped in another order after each look."""
    return {key: raw_hash(redis, key) if redis.type(key) == "hash" else redis.dump(key) for key in redis.keys()}


@pytest.mark.parametrize("code, state", [("nonsense", "WAITING"), ("", "WAITING"), ("USED", "READY")])
def test_a_wrong_code_changes_nothing(lanes, code, state):
    line = lanes()
    line.add_codes("priority", "USED", uses=0)
    ticket = line.enter("m").ticket
    if state == "READY":
        line.promote(1)
        line.position("m")
    before = contents(line.redis)
    assert line.enter("m", ticket, code=code or "?").code == "CODE_INVALID"
    assert line.enter("new", code=code or "?").code == "CODE_INVALID"
    assert contents(line.redis) == before


def test_a_code_counts_once_a_member(lanes):
    line = lanes()
    line.add_codes("priority", "TWO", uses=2)
    assert line.enter("a", code="TWO").code == "ENTERED"
    for _ in range(3):
        again = line.enter("a", code="TWO")
        assert (again.code, again.lane, again.rank) == ("ALREADY", "priority", 0)
    assert line.code("TWO") == ("priority", 1)
    assert line.leave("a") == "LEFT"
    assert line.enter("a", code="TWO").lane == "priority", "the use is the member's own"
    assert line.code("TWO") == ("priority", 1)
    assert line.enter("b", code="TWO").lane == "priority"
    assert line.enter("c", code="TWO").code == "CODE_INVALID"
    assert line.enter("a", code="TWO").code == "ALREADY"
    uses = line.redis.lrange(line.key("codeUses"), 0, -1)
    assert [use.split()[::2] for use in uses] == [[sha256_text("TWO"), "a"], [sha256_text("TWO"), "b"]]


def test_a_code_ends(lanes):
    line = lanes()
    line.add_codes("priority", "SOON", uses=5, ends=line.scripts.now() + 600_000)
    line.add_codes("priority", "PAST", uses=5, ends=line.scripts.now() - 1)
    assert line.enter("a", code="SOON").code == "ENTERED"
    assert line.enter("b", code="PAST").code == "CODE_INVALID"


def test_whoever_is_in_already_keeps_the_code(lanes):
    line = lanes()
    line.add_codes("priority", "ONE", uses=1)
    line.enter("m")
    line.promote(1)
    assert line.enter("m", code="ONE").status == "READY"
    assert line.code("ONE") == ("priority", 1)


def test_a_full_or_closed_queue_takes_no_code(lanes):
    line = lanes(maxWaiting=1)
    line.add_codes("priority", "ONE", uses=1)
    line.enter("m")
    assert line.enter("p", code="ONE").code == "QUEUE_FULL"
    line.publish(maxWaiting=0, operatorState="DRAINING")
    assert line.enter("p", code="ONE").code == "QUEUE_CLOSED"
    assert line.code("ONE") == ("priority", 1)


def test_an_invite_lets_in_at_once(lanes):
    line = lanes()
    fill(line, 3, 3)
    line.promote(0)
    answer = line.enter("guest", code="INV-1")
    assert (answer.code, answer.status, answer.lane) == ("ENTERED", "READY", "invite")
    assert line.place("guest").token == answer.token
    waiting = line.enter("m1", code="INV-1")
    assert (waiting.code, waiting.status, waiting.seq) == ("ALREADY", "READY", 3)
    assert line.position("m2").rank == 1
    assert line.counter("admitted") == 2
    line.check()


def test_an_invite_takes_from_rate_and_room(make_line):
    line = make_line(ratePerSecond=1, burst=2, maxActive=100)
    line.add_codes("invite", "INV", uses=100)
    statuses = [line.enter(f"g{i}", code="INV").status for i in range(4)]
    assert statuses == ["READY", "READY", "WAITING", "WAITING"]
    line = make_line(**{**FAST, "maxActive": 2})
    line.add_codes("invite", "INV", uses=100)
    assert [line.enter(f"g{i}", code="INV").status for i in range(3)] == ["READY", "READY", "WAITING"]


def test_an_invite_without_room_heads_the_lane(make_line):
    line = make_line(**{**FAST, "maxActive": 0, "priorityShare": 0.5})
    line.add_codes("invite", "INV", uses=100)
    line.add_codes("priority", "VIP", uses=100)
    for i in range(3):
        line.enter(f"m{i}")
        line.enter(f"p{i}", code="VIP")
    guest = line.enter("guest", code="INV")
    assert (guest.status, guest.lane, guest.rank, guest.seq) == ("WAITING", "invite", 0, 7)
    other = line.enter("p2", code="INV")
    assert (other.lane, other.rank, other.seq) == ("invite", 0, 6), "among the invited the number decides"
    assert line.position("guest").rank == 1
    assert line.position("p0").rank == 2
    assert line.enter("guest", code="VIP").lane == "invite", "nobody moves backwards"
    assert line.code("VIP") == ("priority", 97)
    line.publish(maxActive=1000)
    assert admitted(line, 2) == {"p2", "m0"}
    assert admitted(line, 2) == {"guest", "m1"}
    assert line.place("guest").seq == 7
    line.check()


def test_an_invite_waits_for_the_opening(make_line):
    line = make_line(**FAST)
    line.publish(opensAt=line.scripts.now() + 60_000)
    line.add_codes("invite", "INV", uses=9)
    assert line.enter("guest", code="INV").status == "WAITING"
    line.publish(opensAt="", operatorState="PAUSED")
    assert line.enter("other", code="INV").status == "WAITING"
    assert line.promote(10).admitted == 0


def test_leaving_and_evicting_from_the_lane(lanes):
    line = lanes()
    fill(line, 2, 2)
    assert line.leave("p0") == "LEFT"
    assert line.end("p1") == "ENDED"
    assert line.position("p0").status == line.position("p1").status == "NOT_ENTERED"
    assert line.admit("m1") == "ADMITTED"
    assert line.position("m0").waiting == 1
    line.check()


def test_who_was_set_aside_comes_back_to_the_lane(lanes):
    line = lanes(pickupSeconds=5)
    fill(line, 3, 3)
    assert admitted(line, 2) == {"p0", "m0"}
    line.advance(6000)
    line.promote(0)
    assert set(line.members("away")) == {"p0", "m0"}
    back = line.position("p0")
    assert (back.lane, back.rank) == ("priority", 0)
    assert (line.position("m0").lane, line.position("m0").rank) == ("main", 0)
    line.check()


def test_the_lane_survives_a_loss_by_the_ticket(lanes):
    line = lanes(maxActive=0)
    fill(line, 3, 3)
    line.enter("guest", code="INV-1")
    old = line.position("m1").ticket
    line.enter("m1", old, code="VIP-1")
    tickets = {name: line.position(name).ticket for name in ("m0", "m1", "m2", "p0", "p1", "p2", "guest")}
    line.redis.flushall()
    line.incarnation += 1
    assert line.prepare() == "LOADED"
    assert line.publish(seq_floor=1000, intent="recover") == "PUBLISHED"
    assert line.position("m1", old).lane == "main"
    names = list(tickets)
    random.Random(1).shuffle(names)
    for name in names:
        assert line.position(name, tickets[name]).seq == tickets[name].seq
    assert line.members("priority") == ["guest", "p0", "m1", "p1", "p2"]
    assert line.members("waiting") == ["m0", "m2"]
    assert line.position("m1", Ticket(old.seq, old.generation, 1, 1)).code == "SESSION_REVOKED"
    line.check()


def test_reset_empties_the_lanes_and_keeps_the_codes(lanes):
    line = lanes()
    fill(line, 2, 2)
    line.epoch += 1
    assert line.publish() == "PUBLISHED"
    assert line.position("p0").status == "NOT_ENTERED"
    assert line.enter("p0").lane == "main"
    assert line.enter("p1", code="VIP-1").lane == "priority"
    assert line.code("VIP-1") == ("priority", 998)
    line.check()
