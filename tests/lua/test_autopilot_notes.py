"""The rate in force: bounds that no note can leave, and notes that count once, by the leader, on what was looked at."""

import pytest

BOUNDS = {"rateFloor": 5, "rateCeiling": 80, "burstAuto": 1, "autopilot": "{}"}
NUMBERS = {"p50": 10, "p95": 20, "p99": "", "originP95": ""}


def look(line):
    reply = line.call("autopilot_look")
    assert reply[0] == "OK"
    return {"version": reply[1], "turn": reply[15], "rate": reply[4], "load": dict(zip(reply[18::2], reply[19::2]))}


def note(line, seen, rate, owner="a", move="{}"):
    return line.call("autopilot_note", owner=owner, version=seen["version"], turn=seen["turn"], memory="m", rate=rate,
                     figures="{}", move=move, **NUMBERS)[0]


def in_force(line):
    return line.call("autopilot_read")[2] / 1000


def test_a_note_counts_once(make_line):
    line = make_line(**BOUNDS)
    seen = look(line)
    assert note(line, seen, 60) == "NOTED" and in_force(line) == 60
    assert note(line, seen, 70) == "OLDER" and in_force(line) == 60
    assert note(line, look(line), 70) == "NOTED" and in_force(line) == 70
    assert line.redis.llen(line.key("moves")) == 2


def test_only_the_leader_notes(make_line):
    """One that slept through its lock looks, and its note comes to nothing; the next leader's counts."""
    line = make_line(**BOUNDS)
    seen = look(line)
    line.redis.set(line.key("leader"), "b")
    assert note(line, seen, 60) == "NOT_LEADER"
    assert in_force(line) == 50 and not line.redis.exists(line.key("autopilot"), line.key("moves"))
    assert note(line, look(line), 70, owner="b") == "NOTED" and in_force(line) == 70


def test_a_note_on_older_settings_does_not_count(make_line):
    line = make_line(**BOUNDS)
    seen = look(line)
    line.publish(message="new")
    assert note(line, seen, 60) == "OLDER" and in_force(line) == 50


@pytest.mark.parametrize("change, rate", [({"ratePerSecond": 20}, 20), ({"rateCeiling": 40}, 40), ({"rateFloor": 6}, 50),
                                          ({"rateFloor": "", "rateCeiling": ""}, 50), ({"ratePerSecond": 0}, 0)])
def test_what_an_operator_says_of_the_rate_is_the_new_beginning(make_line, change, rate):
    line = make_line(**BOUNDS)
    note(line, look(line), 70)
    line.publish(message="of the rate it says nothing")
    assert in_force(line) == 70
    line.publish(**change)
    assert in_force(line) == rate and look(line)["rate"] == ""
    line.epoch += 1
    line.publish()
    assert in_force(line) == rate


@pytest.mark.on("cluster")
@pytest.mark.parametrize("written, rate", [("1e9", 80), ("-5", 5), ("0", 5), ("nonsense", 50), ("inf", 80)])
def test_whatever_stands_there_the_rate_keeps_its_bounds(make_line, written, rate):
    line = make_line(**BOUNDS)
    line.redis.hset(line.key("state"), "rateInForce", written)
    assert in_force(line) == rate


@pytest.mark.on("cluster")
def test_no_more_are_let_in_than_the_ceiling_and_its_burst_allow(timed, clock):
    """With notes at random moments up and down; an automatic burst follows the rate."""
    line = timed(**BOUNDS, maxActive=10**6)
    line.redis.zadd(line.key("waiting"), {f"m{i}": i * 4096 for i in range(1, 9001)})
    line.redis.hset(line.key("state"), "seq", 9000)
    line.redis.hset(line.key("state"), "bucket", 0)
    history = []
    for step in range(200):
        clock.pass_ms(250)
        if step % 7 == 0:
            assert note(line, look(line), (step * 37) % 120) == "NOTED"
        history.append((clock.now, line.promote(150).admitted))
    for i in range(0, len(history), 9):
        admitted = 0
        for at, count in history[i:]:
            admitted += count
            assert admitted <= 80 + 80 * (at - history[i][0]) / 1000 + 1
    assert sum(count for _, count in history) > 1000


def test_moves_are_bounded(make_line):
    line = make_line(**BOUNDS)
    for number in range(210):
        assert note(line, look(line), 50, move=f'{{"n": {number}}}') == "NOTED"
    moves = line.call("autopilot_read")[7:]
    assert len(moves) == 200 and moves[-1] == '{"n": 209}'


def test_orders_report_their_load(make_line):
    line = make_line(maxInFlight=1)
    for name in ("a", "b", "c"):
        line.enter(name)
    line.promote(3)
    tokens = {name: line.position(name).token for name in ("a", "b", "c")}
    line.claim("a", tokens["a"])
    assert line.claim("b", tokens["b"])[0] == "ORDER_CAPACITY"
    line.consume("a", tokens["a"], load="b15")
    line.claim("b", tokens["b"])
    line.release("b", tokens["b"], load="errors")
    assert line.call("load_add", "timeouts", 2, "o3", 4) == ["OK"]
    assert look(line)["load"] == {"busy": "1", "b15": "1", "errors": "1", "timeouts": "2", "o3": "4"}
    stats = line.call("stats", samples=1)
    assert stats[32:36] == [1, 1, 2, 1]
