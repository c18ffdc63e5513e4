"""enter_together does what enter does to each, one after the other, and leaves alone what it does not decide."""

import random
from dataclasses import replace

import pytest

from lib.line import Ticket


def word(ticket):
    return "" if ticket is None else f"{ticket.seq} {ticket.generation} {ticket.epoch} {ticket.incarnation}"


class Together:
    """The reply to some who enter at one moment: each as (rank, seq, generation), None where enter has to be asked."""

    def __init__(self, line, *who, visitor=0):
        words = [part for member, ticket in who for part in (member, word(ticket))]
        reply = line.call("enter_together", visitor, *words)
        assert reply[0] == "OK"
        self.ordinary = reply[1] == 1
        self.all = [None] * len(who)
        if self.ordinary:
            (self.state, self.waiting, self.rate_milli, self.epoch, self.incarnation, self.now, self.activation,
             self.tiers), numbers = reply[2:10], reply[10:]
            assert len(numbers) == 3 * len(who)
            self.all = [tuple(numbers[3 * i:3 * i + 3]) if numbers[3 * i] >= 0 else None for i in range(len(who))]


def two_lines(make_line, **settings):
    """The same queue twice: forty entered, some left, two let in, one set aside, one with an unpaid order."""
    lines = []
    for _ in range(2):
        line = make_line(ratePerSecond=50, **settings)
        tickets = {f"m{i}": line.enter(f"m{i}").ticket for i in range(40)}
        for i in range(5, 12):
            line.leave(f"m{i}")
        line.promote(2)
        line.redis.hset(line.key("state"), "rateEma", 50)
        line.redis.zadd(line.key("away"), {"aside": 3 * 4096})
        line.redis.hset(line.key("unpaid"), "owes", "1")
        lines.append(line)
    return *lines, tickets


KEYS = ("waiting", "away", "arrivals", "places", "unpaid", "seated", "departures", "pickup", "ready")


def contents(line):
    def read(name):
        key = line.key(name)
        kind = line.redis.type(key)
        return (line.redis.zrange(key, 0, -1, withscores=True) if kind == "zset" else
                sorted(line.redis.hkeys(key)) if kind == "hash" else line.redis.bitcount(key) if kind == "string" else None)
    found = {name: read(name) for name in KEYS}
    # At which moments it was is not decided by us.
    found.update({name: [member for member, _ in found[name] or []] for name in ("pickup", "ready")})
    found["arrivals"] = [score for _, score in found["arrivals"] or []][-1:]
    promised = {int(name): value for name, value in line.redis.hgetall(line.key("promises")).items() if name.isdigit()}
    return found, [line.counter(name) for name in ("seq", "entered")], promised[max(promised)]


def compare(one, other, who):
    """All at once in `one`, each alone in `other`; those whom the first did not decide are asked alone there too."""
    together = Together(one, *who)
    for (member, ticket), got in zip(who, together.all):
        if got is None:
            one.enter(member, ticket)
    alone = [(got, other.enter(member, ticket)) for (member, ticket), got in zip(who, together.all) if got]
    for member, ticket in (pair for pair, got in zip(who, together.all) if got is None):
        other.enter(member, ticket)
    for (rank, seq, generation), position in alone:
        assert position.status == "WAITING" and position.lane == "main" and position.exact_only == 0
        assert (rank, seq, generation) == (position.rank, position.seq, position.generation)
        assert (position.code == "ALREADY") == (rank < together.waiting)
        assert (together.state, together.rate_milli, together.epoch, together.incarnation, together.activation,
                together.tiers) == (position.queue_state, position.rate_milli, position.epoch, position.incarnation,
                                    position.activation, position.rate)
        assert abs(position.now - together.now) < 60000
    assert contents(one) == contents(other)
    return together


def test_newcomers_repeats_and_takeovers(make_line):
    one, other, tickets = two_lines(make_line, pollTiers='[{"seconds": 9}]')
    together = compare(one, other, [("n1", None), ("m20", tickets["m20"]), ("n2", None), ("m21", None), ("m6", tickets["m6"]),
                                    ("m22", replace(tickets["m22"], generation=7)), ("m23", replace(tickets["m23"], epoch=9))])
    assert [got and got[0] for got in together.all] == [31, 11, 32, None, 33, None, None]
    assert together.waiting == 31
    for line in (one, other):
        line.redis.zrem(line.key("away"), "aside")
        line.redis.hdel(line.key("unpaid"), "owes")
        line.check()


@pytest.mark.parametrize("who", [
    ("m0", None), ("aside", None), ("owes", None), ("m20", Ticket(21, 1, 1, 0)), ("lost", Ticket(100, 0, 1, 0)), ("m20", None),
    ("m20", Ticket(21, 1, 1, 1)), ("m20", Ticket(22, 0, 1, 1)), ("m20", Ticket(21, 0, 2, 1)),
])
def test_whoever_is_no_ordinary_case_is_left_to_enter(make_line, who):
    line, _, _ = two_lines(make_line)
    before = contents(line)
    assert Together(line, who).all == [None]
    assert contents(line) == before


def test_a_ticket_of_before_a_loss_whose_place_is_there_is_as_good_as_any(make_line):
    one, other, tickets = two_lines(make_line)
    together = compare(one, other, [("m20", replace(tickets["m20"], incarnation=0))])
    assert together.all == [(11, 21, 0)]


def test_a_member_twice_is_decided_once(make_line):
    one, other, _ = two_lines(make_line)
    together = compare(one, other, [("n1", None), ("n1", None), ("n2", None)])
    assert [got and got[0] for got in together.all] == [31, None, 32]
    assert one.counter("seq") == other.counter("seq") == 42


def test_the_last_free_places(make_line):
    one, other, tickets = two_lines(make_line)
    for line in (one, other):
        line.publish(maxWaiting=33)
    together = compare(one, other, [("n1", None), ("m20", tickets["m20"]), ("n2", None), ("n3", None)])
    assert [got and got[0] for got in together.all] == [31, 11, 32, None]
    assert one.enter("n3").code == "QUEUE_FULL"


@pytest.mark.parametrize("settings, ordinary", [
    ({"operatorState": "DRAINING"}, True), ({"operatorState": "SOLD_OUT"}, True), ({"closesAt": 1}, True),
    ({"operatorState": "PAUSED"}, True), ({"opensAt": 99999999999999}, True), ({"admitWhenIdle": 1}, False),
    ({"mode": "lottery", "opensAt": 99999999999999}, False),
])
def test_states(make_line, settings, ordinary):
    one, other, tickets = two_lines(make_line)
    for line in (one, other):
        line.publish(**settings)
    together = compare(one, other, [("n1", None), ("m20", tickets["m20"]), ("m21", None)])
    assert together.ordinary == ordinary
    refuses = settings.get("operatorState") in ("DRAINING", "SOLD_OUT") or settings.get("closesAt") == 1
    if ordinary:
        assert (together.all[0] is None) == refuses and together.all[1:] == [(11, 21, 0), None]


def test_visitors_only_where_the_queue_is_for_them(make_line):
    members, visitors = make_line(ratePerSecond=50), make_line(ratePerSecond=50, identity="visitor")
    for line in (members, visitors):
        line.redis.hset(line.key("state"), "rateEma", 50)
    assert not Together(members, ("v", None), visitor=1).ordinary
    assert Together(visitors, ("v", None), visitor=1).all == [(0, 1, 0)]


def test_other_lanes_and_the_first_tick_go_the_general_way(make_line):
    line, _, _ = two_lines(make_line)
    line.redis.hdel(line.key("state"), "rateEma")
    assert not Together(line, ("n1", None)).ordinary
    line.redis.hset(line.key("state"), "rateEma", 50)
    for name in ("priority", "draw", "drawn"):
        line.redis.zadd(line.key(name), {"other": 1})
        assert not Together(line, ("n1", None)).ordinary
        line.redis.delete(line.key(name))
    assert Together(line, ("n1", None)).all == [(31, 41, 0)]


@pytest.mark.on("cluster")
def test_a_walk_of_crowds(make_line):
    """Many small crowds, of those who stand, left, were let in or are new, with tickets of all kinds."""
    one, other, tickets = two_lines(make_line)
    chance = random.Random(20261130)
    for _ in range(12):
        names = chance.sample([f"m{i}" for i in range(40)] + [f"w{i}" for i in range(30)], 9)
        who = [(name, chance.choice([None, tickets.get(name), tickets.get(name) and replace(tickets[name], generation=3)]))
               for name in names]
        compare(one, other, who)
        left = chance.choice(names)
        assert one.leave(left) == other.leave(left)
