"""The short way of position and enter through the main line answers as the general way does."""

from dataclasses import replace

import pytest

from lib.line import Ticket

# The general way is taken where no tick has come yet, so that no rate was observed.
WAYS = ("short", "general")


def both_ways(make_line, **settings):
    """Two queues in the same state: forty entered, some left, two let in, one of them with an order running."""
    lines = []
    for _ in WAYS:
        line = make_line(ratePerSecond=50, **settings)
        tickets = {f"m{i}": line.enter(f"m{i}").ticket for i in range(40)}
        for i in range(5, 12):
            line.leave(f"m{i}")
        line.promote(2)
        assert line.claim("m1", line.place("m1").token)[0] == "CLAIMED"
        lines.append((line, tickets))
    (short, tickets), (general, _) = lines
    short.redis.hset(short.key("state"), "rateEma", 50)
    general.redis.hdel(general.key("state"), "rateEma")
    return short, general, tickets


def same(short, general, act):
    """The answers to `act`, which must be equal but for the moment and the token; the first of them."""
    answers = [act(short), act(general)]
    plain = [replace(it, now=0, token="", ends=0) if hasattr(it, "now") else it for it in answers]
    assert plain[0] == plain[1]
    for name in ("waiting", "away", "places", "seated", "departures"):
        key = [line.key(name) for line in (short, general)]
        if short.redis.type(key[0]) == "zset":
            assert (short.redis.zrange(key[0], 0, -1, withscores=True)
                    == general.redis.zrange(key[1], 0, -1, withscores=True))
    assert [short.counter(name) for name in ("seq", "entered", "left")] == \
        [general.counter(name) for name in ("seq", "entered", "left")]
    return answers[0]


def test_position(make_line):
    short, general, tickets = both_ways(make_line, pollTiers='[{"seconds": 3}]')
    for member in ("m0", "m1", "m2", "m6", "m20", "m39", "nobody"):
        same(short, general, lambda line, who=member: line.position(who))
        if member in tickets:
            same(short, general, lambda line, who=member: line.position(who, tickets[who]))
    assert same(short, general, lambda line: line.position("m20")).rank == 11
    for fault in ({"generation": 1}, {"seq": 7}, {"epoch": 2}):
        answer = same(short, general, lambda line, it=fault: line.position("m20", replace(tickets["m20"], **it)))
        assert answer.code == ("QUEUE_RESET" if "epoch" in fault else "SESSION_REVOKED")
    assert short.members("pickup") == general.members("pickup") == []
    ready = replace(tickets["m0"], generation=2)
    assert same(short, general, lambda line: line.position("m0", ready)).code == "SESSION_REVOKED"
    assert same(short, general, lambda line: line.position("m20", visitor=True)).code == "UNAUTHENTICATED"


def test_enter(make_line):
    short, general, tickets = both_ways(make_line)
    assert same(short, general, lambda line: line.enter("new")).rank == 31
    assert same(short, general, lambda line: line.enter("new")).generation == 1
    assert same(short, general, lambda line: line.enter("m20", tickets["m20"])).generation == 0
    assert same(short, general, lambda line: line.enter("m20", replace(tickets["m20"], epoch=3))).generation == 1
    assert same(short, general, lambda line: line.enter("m6")).code == "ENTERED"
    assert same(short, general, lambda line: line.enter("m0")).status == "READY"
    assert same(short, general, lambda line: line.position("m39")).rank == 30
    for line in (short, general):
        line.check()


def test_ticket_from_before_a_loss_goes_the_general_way(make_line):
    short, general, _ = both_ways(make_line)
    before = Ticket(100, 0, 1, 0)
    assert same(short, general, lambda line: line.position("lost", before)).seq == 100
    assert same(short, general, lambda line: line.enter("lost", before)).seq == 100
    assert same(short, general, lambda line: line.position("m20", replace(before, seq=21, generation=3))).generation == 3


@pytest.mark.parametrize("settings, code", [
    ({"operatorState": "DRAINING"}, "QUEUE_CLOSED"), ({"operatorState": "SOLD_OUT"}, "SOLD_OUT"),
    ({"operatorState": "PAUSED"}, "ENTERED"), ({"closesAt": 1}, "QUEUE_CLOSED"), ({"opensAt": 1}, "ENTERED"),
    ({"opensAt": 99999999999999}, "ENTERED"), ({"maxWaiting": 31}, "QUEUE_FULL"), ({"maxWaiting": 32}, "ENTERED"),
    ({"activation": "hold"}, "ENTERED"), ({"admitWhenIdle": 1}, "ENTERED"),
    ({"mode": "lottery", "opensAt": 99999999999999}, "ENTERED"), ({"deleted": 1}, "NOT_FOUND"),
])
def test_states(make_line, settings, code):
    short, general, tickets = both_ways(make_line)
    for line in (short, general):
        line.publish(**settings)
    assert same(short, general, lambda line: line.enter("new")).code == code
    for member in ("m3", "new"):
        same(short, general, lambda line, who=member: line.enter(who))
        same(short, general, lambda line, who=member: line.position(who))


def test_settings_count_the_same_packed_and_by_name(make_line):
    """As a release published them that packed nothing."""
    by_name, packed, tickets = both_ways(make_line, pollTiers='[{"seconds": 9}]', opensAt=5, closesAt=99999999999999)
    for line in (by_name, packed):
        line.redis.hset(line.key("state"), "rateEma", 50)
    assert by_name.redis.hdel(by_name.key("settings"), "packed") == 1
    for member in ("m0", "m3", "new"):
        same(by_name, packed, lambda line, who=member: line.enter(who))
        same(by_name, packed, lambda line, who=member: line.position(who))
    assert by_name.call("queue_state")[1:5] == packed.call("queue_state")[1:5]


@pytest.mark.parametrize("count", [1, 15, 17])
def test_settings_packed_by_a_release_that_packs_fewer(make_line, count):
    line = make_line(maxInFlight=1, pollTiers='[{"seconds": 9}]')
    for member in ("m0", "m1", "m2"):
        line.enter(member)
    line.promote(2)
    pack = """local all = { cmsgpack.unpack(redis.call('HGET', KEYS[1], 'packed')) }
    return redis.call('HSET', KEYS[1], 'packed', cmsgpack.pack(unpack(all, 1, tonumber(ARGV[1]))))"""
    assert line.redis.eval(pack, 1, line.key("settings"), count) == 0
    assert line.position("m2").rate == '[{"seconds": 9}]'
    claimed = line.claim("m0", line.place("m0").token)
    assert (claimed[0], claimed[5]) == ("CLAIMED", "order")
    assert line.claim("m1", line.place("m1").token, claim="claim-2") == ["ORDER_CAPACITY"]
    assert line.release("m0", line.place("m0").token) == "RELEASED"
