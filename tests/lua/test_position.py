"""position and leave: the three states, and giving up."""

import pytest

from lib.line import drain


def test_three_states(line):
    assert line.position("m").status == "NOT_ENTERED"
    line.enter("m")
    waiting = line.position("m")
    assert (waiting.status, waiting.rank, waiting.token, waiting.ends) == ("WAITING", 0, "", 0)
    line.promote(1)
    ready = line.position("m")
    assert (ready.status, ready.rank, len(ready.token), ready.ordering) == ("READY", -1, 43, 0)
    assert 299_000 < ready.ends - ready.now <= 300_000
    assert ready.seq == 1
    line.claim("m", ready.token)
    ordering = line.position("m")
    assert (ordering.status, ordering.token, ordering.ordering) == ("READY", ready.token, 1)
    assert 298_000 < ordering.ends - ordering.now <= 300_000
    line.consume("m", ready.token)
    assert line.position("m").status == "NOT_ENTERED"


def test_expiry_makes_not_entered_before_any_tick(line):
    line.enter("m")
    token = drain(line, ["m"])["m"]
    line.position("m")
    line.advance(300_001)
    line.redis.hset(line.key("state"), "bucketAt", line.scripts.now())  # the tick before this moment
    gone = line.position("m")
    assert (gone.status, gone.token) == ("NOT_ENTERED", "")
    assert line.claim("m", token) == ["ENTRY_TOKEN_INVALID"]
    assert line.leave("m") == "NOT_THERE"
    again = line.enter("m")
    assert (again.code, again.seq, again.rank) == ("ENTERED", 2, 0)
    assert line.counter("expired") == 1
    line.check()


def test_position_is_answered_to_the_login_alone(line):
    line.enter("m")
    line.enter("m")
    assert line.position("m").rank == 0


def test_ticket_of_another_number_is_revoked(line):
    old = line.enter("m").ticket
    line.leave("m", old)
    line.enter("m")
    assert line.position("m", old).code == "SESSION_REVOKED"


@pytest.mark.parametrize("where", ["waiting", "ready", "away"])
def test_leave_gives_up_the_place(line, where):
    ticket = line.enter("m").ticket
    line.enter("n")
    if where != "waiting":
        line.promote(1)
    if where == "away":
        line.advance(91_000)
        line.promote(0)
    assert line.leave("m", ticket) == "LEFT"
    assert line.leave("m", ticket) == "NOT_THERE"
    assert line.position("m", ticket).status == "NOT_ENTERED"
    assert line.counter("left") == 1
    assert line.position("n").rank == 0
    line.check()
    assert line.enter("m").seq == 3


def test_leave_while_an_order_runs_is_refused(line):
    line.enter("m")
    token = drain(line, ["m"])["m"]
    line.claim("m", token)
    assert line.leave("m") == "ORDER_IN_PROGRESS"
    assert line.consume("m", token) == "CONSUMED"
    assert line.leave("m") == "NOT_THERE"


def test_place_left_is_free_at_once(make_line):
    line = make_line(maxActive=1)
    line.enter("a")
    line.enter("b")
    line.promote()
    assert line.promote().admitted == 0
    line.leave("a")
    assert line.promote().admitted == 1
    assert line.position("b").status == "READY"


def test_departures_let_a_rank_be_computed_from_the_number(line):
    """rank = number - head - departures between them, by ranges of 1024 numbers."""
    line.redis.hset(line.key("state"), "seq", 2000)
    for i in range(200):
        line.enter(f"m{i}")
    for i in range(10, 60):
        line.leave(f"m{i}")
    assert line.redis.hgetall(line.key("departures")) == {"1": "37", "2": "13"}
    state = line.call("queue_state")
    assert state[0:5] == ["OK", "OPEN", 150, 2001, 2200]
    last = line.position("m199")
    assert last.rank == last.seq - state[3] - 50


def test_departures_wholly_behind_the_head_are_forgotten(make_line):
    line = make_line(ratePerSecond=100000, burst=100000, maxActive=100000)
    line.enter("early")
    line.leave("early")
    line.redis.hset(line.key("state"), "seq", 5000)
    for i in range(5):
        line.enter(f"m{i}")
    line.leave("m4")
    line.promote(1)
    assert line.redis.hgetall(line.key("departures")) == {"4": "1"}


def test_queue_state_head(line):
    assert line.call("queue_state")[1:7] == ["OPEN", 0, 1, 0, 0, 1]
    line.enter("a")
    line.enter("b")
    line.promote(1)
    assert line.call("queue_state")[2:5] == [1, 2, 2]
    line.promote(1)
    assert line.call("queue_state")[2:5] == [0, 3, 2]
