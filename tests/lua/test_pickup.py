"""Whoever does not come for the token is set aside with the old number, and is first when back in line."""

import pytest


@pytest.fixture
def line(make_line):
    return make_line(ratePerSecond=100000, burst=100000, maxActive=2, pickupSeconds=10)


def test_not_picked_up_is_set_aside_and_place_is_free(line):
    for member in "abcd":
        line.enter(member)
    line.promote()
    line.position("a")
    line.advance(10_001)
    tick = line.promote()
    assert (tick.withdrawn, tick.expired, tick.admitted) == (1, 0, 1)
    assert line.members("away") == ["b"]
    assert set(line.check()) == {"a", "c"}
    assert line.counter("withdrawn") == 1


def test_back_in_line_first(line):
    tickets = {member: line.enter(member).ticket for member in "abcdef"}
    line.promote()
    line.advance(10_001)
    line.promote()
    assert line.members("away") == ["a", "b"] and set(line.check()) == {"c", "d"}
    back = line.position("b", tickets["b"])
    assert (back.status, back.rank, back.seq, back.waiting) == ("WAITING", 0, 2, 3)
    assert line.position("a").rank == 0, "by login alone as well"
    assert line.position("b").rank == 1
    assert line.position("e").rank == 2
    line.leave("c")
    assert line.promote().admitted == 1
    assert line.position("a").status == "READY"
    line.check()


def test_withdrawn_token_is_void(line):
    line.enter("a")
    line.promote()
    old = line.place("a").token
    line.advance(10_001)
    line.promote()
    assert line.claim("a", old) == ["ENTRY_TOKEN_INVALID"]
    line.position("a")
    line.promote()
    new = line.place("a").token
    assert new != old
    assert line.claim("a", old) == ["ENTRY_TOKEN_INVALID"]
    assert line.consume("a", old) == "ALREADY"
    assert line.release("a", old) == "NOT_CLAIMED"
    assert line.claim("a", new)[0] == "CLAIMED"


@pytest.mark.parametrize("sign", ["position", "enter", "claim"])
def test_any_sign_of_life_is_a_pickup(line, sign):
    line.enter("a")
    line.promote()
    if sign == "claim":
        line.claim("a", line.place("a").token)
    else:
        getattr(line, sign)("a")
    line.advance(10_001)
    assert line.promote().withdrawn == 0
    assert "a" in line.check()


def test_released_claim_is_picked_up(line):
    line.enter("a")
    line.promote()
    token = line.place("a").token
    line.claim("a", token)
    line.release("a", token)
    line.advance(10_001)
    assert line.promote().withdrawn == 0
    assert line.position("a").token == token


def test_away_ends_with_the_ticket(line):
    ticket = line.enter("a").ticket
    line.promote()
    line.advance(10_001)
    assert line.promote(away_ms=5_000).withdrawn == 1
    line.advance(4_000)
    line.promote()
    assert line.members("away") == ["a"]
    line.advance(1_001)
    line.promote()
    assert line.members("away") == []
    assert line.position("a", ticket).status == "NOT_ENTERED"
    assert line.enter("a").seq == 2


def test_a_whole_crowd_that_stays_away_lets_the_next_in(make_line):
    """100 promoted, 60 never come back: the next 60 are let in one tick after the pickup time."""
    line = make_line(ratePerSecond=1000, burst=1000, maxActive=100, pickupSeconds=10)
    for i in range(200):
        line.enter(f"m{i}")
    assert line.promote().admitted == 100
    for i in range(40):
        line.position(f"m{i}")
    assert line.promote().admitted == 0
    line.advance(10_001)
    tick = line.promote()
    assert (tick.withdrawn, tick.admitted) == (60, 60)
    assert {place.seq for place in line.check().values()} == {*range(1, 41), *range(101, 161)}


def test_unseen_token_whose_life_is_over_keeps_the_number_too(make_line):
    """Where the token lives shorter than the time to come for it, a tick sets its owner aside as well."""
    line = make_line(entryTtlSeconds=5, pickupSeconds=10)
    for member in "ab":
        line.enter(member)
    line.promote()
    line.position("b")
    line.advance(5_001)
    tick = line.promote(0)
    assert (tick.withdrawn, tick.expired) == (1, 1)
    assert line.members("away") == ["a"]
    assert line.position("a").rank == 0
    assert line.position("b").status == "NOT_ENTERED"
    line.check()
