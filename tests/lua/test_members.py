"""One member in an operator's hands, and the visitor who is done: find, let in, take out, give back."""

import random

import pytest


def place_in(line, member):
    line.enter(member)
    line.promote()
    return line.place(member)


def keys_of(line):
    return {key: line.redis.dump(key) for key in line.redis.keys(line.key("*"))}


# Ending

def test_a_visit_that_is_given_back_frees_the_place(make_line):
    line = make_line(maxActive=1)
    line.enter("m"), line.enter("next")
    line.promote()
    admission = line.place("m").admission
    assert line.end("m", admission) == "ENDED"
    assert line.end("m", admission) == "NOT_THERE", "twice is once"
    assert (line.counter("returned"), line.counter("evicted")) == (1, 0)
    assert line.promote().admitted == 1
    assert set(line.check()) == {"next"}
    line.enter("m")
    assert line.position("m").rank == 0, "a new number, behind"


def test_a_late_call_names_its_admission(make_line):
    """It never ends a newer visit of the same member, nor their place in line."""
    line = make_line()
    old = place_in(line, "m").admission
    line.end("m", old)
    new = place_in(line, "m").admission
    before = keys_of(line)
    assert line.end("m", old) == "NOT_THERE"
    assert line.end("stranger", new) == "NOT_THERE", "and nobody ends another's"
    assert keys_of(line) == before
    line.end("m", new)
    line.enter("m")
    before = keys_of(line)
    assert line.end("m", new) == "NOT_THERE"
    assert keys_of(line) == before and line.position("m").status == "WAITING"
    assert line.view().ended == sorted([old, new], key=line.view().ended.index)


def test_an_operator_takes_out_whatever_there_is(make_line):
    line = make_line(maxActive=1, pickupSeconds=5)
    in_shop = place_in(line, "in").admission
    line.enter("waits"), line.enter("last")
    assert line.end("in") == "ENDED" and line.end("waits") == "ENDED"
    assert line.view().ended == [in_shop]
    line.promote()
    line.advance(6000)
    assert line.promote().withdrawn == 1
    assert line.members("away") == ["last"]
    assert line.end("last") == "ENDED"
    assert line.end("last") == "NOT_THERE" and line.end("never") == "NOT_THERE"
    assert line.counter("evicted") == 3
    assert line.check() == {} and line.members("away") == line.members("waiting") == []


def test_taken_out_is_not_forbidden(make_line):
    """Whoever was taken out may stand in line again, at the end, and the old ticket brings nothing back."""
    line = make_line(maxActive=0)
    ticket = line.enter("m").ticket
    line.enter("n")
    line.end("m")
    assert line.position("n").rank == 0
    assert line.position("m", ticket).status == "NOT_ENTERED"
    assert line.enter("m", ticket).rank == 1


def test_taken_out_stays_out_after_a_fail_over(make_line):
    """Neither the ticket nor the pass of before seats again whose visit was ended."""
    line = make_line()
    ticket = line.enter("m").ticket
    line.promote()
    old = line.gate("m")
    line.incarnation = 2
    line.publish(seq_floor=1000)
    line.advance(1000)
    assert line.end("m") == "ENDED"
    assert line.gate("m", old) == "WAIT"
    assert line.position("m", ticket).status == "NOT_ENTERED"
    line.check()


def test_departures_keep_places_computable(make_line):
    """Who was taken out of the line is counted where everybody's place is computed from."""
    line = make_line(maxActive=0)
    for member in "abcd":
        line.enter(member)
    line.end("b")
    assert line.redis.hgetall(line.key("departures")) == {"0": "1"}
    assert [line.position(member).rank for member in "acd"] == [0, 1, 2]


def test_a_running_order_is_left_alone(make_line):
    line = make_line()
    place = place_in(line, "m")
    line.claim("m", place.token)
    before = keys_of(line)
    assert line.end("m") == line.end("m", place.admission) == "ORDER_IN_PROGRESS"
    assert keys_of(line) == before
    line.consume("m", place.token, keep_place=1)
    assert line.end("m", place.admission) == "NOT_THERE", "the order has it now"
    assert line.redis.hget(line.key("unpaid"), "m") == "o_1"


# Letting in

def test_past_the_line(make_line):
    line = make_line(maxActive=10, ratePerSecond=0)
    for member in "abc":
        line.enter(member)
    seq = line.position("b").seq
    assert line.admit("b") == "ADMITTED"
    place = line.place("b")
    assert place.seq == seq and line.position("b").token == place.token
    assert line.members("pickup") == []
    assert (line.position("a").rank, line.position("c").rank) == (0, 1)
    assert line.redis.hgetall(line.key("departures")) == {"0": "1"}
    assert line.admit("stranger") == "ADMITTED"
    assert line.place("stranger").seq == 4
    assert (line.counter("entered"), line.counter("admitted")) == (4, 2)
    assert line.redis.hgetall(line.key("departures")) == {"0": "2"}, "its number stands in line no more"
    assert line.enter("d").seq == 5
    line.check()


def test_twice_is_once(make_line):
    line = make_line()
    assert line.admit("m") == "ADMITTED"
    before = keys_of(line)
    assert line.admit("m") == "ADMITTED"
    assert keys_of(line) == before, "the token that the member has seen stays good"
    line.claim("m", line.place("m").token)
    before = keys_of(line)
    assert line.admit("m") == "ADMITTED"
    assert keys_of(line) == before


def test_whoever_was_away(make_line):
    line = make_line(pickupSeconds=5)
    seq = place_in(line, "m").seq
    line.advance(6000)
    line.promote()
    assert line.members("away") == ["m"]
    assert line.admit("m") == "ADMITTED"
    assert line.place("m").seq == seq and line.members("away") == line.members("awayUntil") == []
    line.check()


def test_active_places_stand(make_line):
    line = make_line(maxActive=2)
    place_in(line, "a")
    token = place_in(line, "b").token
    line.enter("c")
    for _ in range(2):
        before = keys_of(line)
        assert line.admit("c") == line.admit("stranger") == "NO_ROOM"
        assert keys_of(line) == before
        line.claim("b", token)
    line.consume("b", token, keep_place=1)
    assert line.admit("c") == "NO_ROOM", "an unpaid order holds its place"
    assert line.admit("b") == "ALREADY_ACTIVE"
    line.end("a")
    assert line.admit("c") == "ADMITTED"
    line.check()


def test_the_rate_is_owed(timed, clock):
    line = timed(ratePerSecond=10, burst=10)
    line.promote()
    for i in range(15):
        assert line.admit(f"vip{i}") == "ADMITTED"
    for i in range(50):
        line.enter(f"m{i}")
    assert line.promote().admitted == 0
    clock.pass_ms(500)
    assert line.promote().admitted == 0, "ten saved up and five brought: paid back"
    clock.pass_ms(1000)
    assert line.promote().admitted == 10
    line.check()


# Finding

def test_everything_an_operator_is_asked(timed, clock):
    line = timed(maxActive=2, pickupSeconds=5, entryTtlSeconds=100)
    for member in "abcd":
        line.enter(member)
    line.promote()
    now, nothing = clock.now, ["", "OPEN", clock.now, ""]
    line.position("a")
    assert line.find("a") == ["READY", 1, 0, -1, now + 100_000, 1, "", "OPEN", now, "main"]
    assert line.find("b") == ["READY", 2, 0, -1, now + 100_000, 0, "", "OPEN", now, "main"]
    assert line.find("d") == ["WAITING", 4, 0, 1, 0, 0, "", "OPEN", now, "main"]
    assert line.find("never") == ["NONE", 0, 0, -1, 0, 0, *nothing]
    line.enter("d")
    assert line.find("d")[:3] == ["WAITING", 4, 1]
    line.claim("a", line.place("a").token)
    assert line.find("a") == ["CLAIMED", 1, 0, -1, now + 30_000, 1, "", "OPEN", now, "main"]
    line.consume("a", line.place("a").token, order="o_7", keep_place=1)
    assert line.find("a") == ["NONE", 0, 0, -1, 0, 0, "o_7", "OPEN", now, ""]
    clock.pass_ms(6000)
    line.promote(away_ms=1000)
    assert line.find("b") == ["AWAY", 2, 0, -1, clock.now + 1000, 0, "", "OPEN", clock.now, "main"]


def test_ends_as_everybody_sees_them(timed, clock):
    """By the clock on the wall, also after an outage."""
    line = timed(entryTtlSeconds=100)
    line.enter("m")
    line.promote()
    begin = clock.now
    for _ in range(10):
        clock.pass_ms(1000)
        line.promote(pool_age=clock.now - begin, pool_silence=3000)
    line.promote()
    assert line.find("m")[4] == line.position("m").ends == clock.now + 100_000


def test_looking_changes_nothing(make_line):
    """An operator's look is no poll: it picks no token up and brings nobody back."""
    line = make_line(pickupSeconds=5)
    place_in(line, "m")
    before = keys_of(line)
    assert line.find("m")[5] == 0
    assert keys_of(line) == before
    line.advance(6000)
    line.promote()
    before = keys_of(line)
    assert line.find("m")[0] == "AWAY"
    assert keys_of(line) == before


@pytest.mark.on("cluster")
def test_counters_account_for_everybody(timed, clock):
    """Whatever happens to anybody, everyone who entered is somewhere, or counted as gone."""
    seed = random.randrange(2**32)
    print("seed", seed)
    dice = random.Random(seed)
    line = timed(ratePerSecond=100, burst=100, maxActive=6, entryTtlSeconds=4, pickupSeconds=2, admitWhenIdle=1,
                 tickMs=1000)
    members = [f"m{i}" for i in range(15)]
    gone = dict.fromkeys(("left", "expired", "returned", "evicted", "consumed"), 0)
    for _ in range(250):
        member = dice.choice(members)
        place = line.place(member)
        match dice.choice(["enter", "at_once", "gate", "leave", "end", "return", "admit", "claim", "consume", "tick"]):
            case "enter":
                line.enter(member)
            case "at_once":
                line.enter(member, mode="at_once")
            case "gate":
                line.gate(member)
            case "leave":
                gone["left"] += line.leave(member) == "LEFT"
            case "end":
                gone["evicted"] += line.end(member) == "ENDED"
            case "return" if place:
                gone["returned"] += line.end(member, place.admission) == "ENDED"
            case "admit":
                line.admit(member)
            case "claim" if place:
                line.claim(member, place.token)
            case "consume" if place and place.claim:
                gone["consumed"] += line.consume(member, place.token) == "CONSUMED"
            case "tick":
                clock.pass_ms(dice.choice([10, 300, 1000, 2500]))
                line.promote(away_ms=10**9)
        places = line.check()
        assert len(places) <= 6
        gone["expired"] = line.counter("expired")
        assert {name: line.counter(name) for name in gone} == gone
        standing = len(places) + len(line.members("waiting")) + len(line.members("away"))
        assert line.counter("entered") == line.counter("seq") == standing + sum(gone.values())
        stats = line.call("stats", 0)
        assert stats[2:6] == [len(line.members("waiting")), len(line.members("away")), len(line.members("ready")),
                              len(line.members("claimed"))]
        assert stats[7:11] == [line.counter("entered"), line.counter("admitted"), gone["consumed"], gone["expired"]]


@pytest.mark.parametrize("script, words", [("member_end", ["m", ""]), ("member_admit", ["m", "t", "a"]),
                                           ("member_find", ["m"]), ("gate_view", []), ("gate_watch", ["m"]),
                                           ("result", [])])
def test_queue_that_is_not_there(make_line, script, words):
    line = make_line()
    line.publish(deleted=1)
    assert line.call(script, *words)[0] == "NOT_FOUND"
    line.redis.delete(line.key("settings"))
    assert line.call(script, *words) == ["NOT_FOUND", "unknown"]
    assert line.redis.keys(line.key("*")) == [line.key("leader")], "nothing is made of nothing"
