"""What was promised at the entry is compared with how long it took."""

import pytest

LATE = [f"late:{bucket}" for bucket in range(12)]
EARLY = [f"early:{bucket}" for bucket in range(12)]


@pytest.fixture
def line(timed, clock):
    """A queue of which a tick each second lets in ten."""
    made = timed(ratePerSecond=10, burst=10)
    made.redis.hset(made.key("state"), "bucket", 0)
    clock.pass_ms(1000 - clock.now % 1000)
    made.promote(10)
    return made


def kept(line):
    return {name: int(value) for name, value in line.redis.hgetall(line.key("promises")).items() if ":" in name}


def waits(line):
    return line.redis.hmget(line.key("state"), "promisedWait", "actualWait")


def test_everyone_let_in_is_counted_by_how_far_the_promise_was_off(line, clock):
    for i in range(30):
        line.enter(f"m{i}")
    for second in (1, 2, 3):
        clock.pass_ms(1000)
        assert line.promote(10).admitted == 10
        assert waits(line) == [str(second), str(second)], "the last of each ten was promised just that"
    assert kept(line) == {"late:0": 30}
    assert line.redis.hget(line.key("promises"), "lateMs") == "0"


def test_a_pause_breaks_promises_and_shows_by_how_much(line, clock):
    for i in range(20):
        line.enter(f"m{i}")
    clock.pass_ms(1000)
    line.promote(10)
    line.publish(operatorState="PAUSED")
    clock.pass_ms(45_000)
    line.promote(10)
    line.publish(operatorState="OPEN")
    clock.pass_ms(1000)
    line.promote(10)
    assert waits(line) == ["2", "47"]
    # 45 s late: between 30 and 60.
    assert kept(line) == {"late:0": 10, "late:6": 10}
    assert line.redis.hget(line.key("promises"), "lateMs") == str(10 * 45_000)


def test_who_comes_early_because_others_left_is_early(line, clock):
    tickets = [line.enter(f"m{i}").ticket for i in range(200)]
    assert tickets[199].seq == 200
    for i in range(190):
        line.leave(f"m{i}")
    clock.pass_ms(1000)
    assert line.promote(10).admitted == 10
    # Promised 20 s, and it took one.
    assert waits(line) == ["20", "1"]
    assert kept(line) == {"early:4": 10}


def test_within_one_second_each_has_a_promise_of_their_own(line, clock):
    """A thousand come in one second: the first of them was promised a second, and not what the last was."""
    for i in range(1000):
        line.enter(f"m{i}")
    clock.pass_ms(1000)
    line.promote(10)
    assert waits(line) == ["1", "1"]
    assert kept(line) == {"late:0": 10}


def test_where_nothing_was_promised_nothing_is_compared(timed, clock):
    line = timed(ratePerSecond=10, burst=10, opensAt=clock.now + 60_000)
    for i in range(10):
        line.enter(f"m{i}")
    clock.pass_ms(61_000)
    assert line.promote(10).admitted == 10
    assert waits(line) == [None, None] and kept(line) == {}


def test_promises_go_as_those_who_got_them_go(line, clock):
    for second in range(5):
        for i in range(10):
            line.enter(f"m{second}-{i}")
        clock.pass_ms(1000)
        line.promote(10)
    line.enter("one more")
    line.enter("and another")
    line.promote(1)
    seconds = [name for name in line.redis.hkeys(line.key("promises")) if name.isdigit()]
    assert len(seconds) <= 1
    assert len(line.members("arrivals")) == len(seconds)


def test_a_reset_forgets_them(line):
    line.enter("a")
    assert line.redis.exists(line.key("promises"))
    line.epoch = 2
    line.publish()
    assert not line.redis.exists(line.key("promises"))


def test_the_highest_number_let_in_is_reported(line, clock):
    for i in range(15):
        line.enter(f"m{i}")
    clock.pass_ms(1000)
    assert line.promote(10).highest_served == 10
    clock.pass_ms(1000)
    assert line.promote(10).highest_served == 15
    assert line.promote(10).highest_served == 15
