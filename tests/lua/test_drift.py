"""drift: sets that no longer agree with the places are corrected, and nobody loses a place by it."""

import pytest

from lib.line import drain


@pytest.fixture
def line(make_line):
    line = make_line(ratePerSecond=1000, burst=1000)
    for member in "abcd":
        line.enter(member)
    line.tokens = drain(line, "abcd")
    line.claim("a", line.tokens["a"])
    return line


def test_nothing_to_mend(line):
    assert line.drift() == ["OK", 0]


@pytest.mark.parametrize("damage", [
    lambda redis, key: redis.zrem(key("ready"), "b"),
    lambda redis, key: redis.zrem(key("claimed"), "a"),
    lambda redis, key: redis.hdel(key("places"), "b"),
    lambda redis, key: redis.hdel(key("places"), "a"),
    lambda redis, key: redis.zadd(key("ready"), {"ghost": 1}),
    lambda redis, key: redis.zadd(key("claimed"), {"ghost": 1}),
    lambda redis, key: redis.zadd(key("pickup"), {"g1": 1, "g2": 1, "g3": 1, "g4": 1}),
    lambda redis, key: (redis.zrem(key("ready"), "b"), redis.zadd(key("ready"), {"ghost": 1})),
    lambda redis, key: redis.hset(key("places"), "b", "not a record"),
])
def test_drift_is_found_and_corrected_once(line, damage):
    damage(line.redis, line.key)
    found = line.drift()
    assert found[0] == "OK" and found[1] >= 1 and len(found) >= 4
    line.check()
    assert line.drift() == ["OK", 0]
    assert line.promote().code == "OK", "the next tick goes through"


def test_claim_without_a_lease_is_settled_next(line):
    line.redis.zrem(line.key("claimed"), "a")
    line.drift()
    assert line.call("claims_overdue", most=5)[1] == "a"


def test_place_without_an_end_gets_one(line):
    line.redis.zrem(line.key("ready"), "b")
    line.drift()
    mended = line.position("b")
    assert mended.status == "READY" and mended.token == line.tokens["b"] and mended.ends > mended.now


@pytest.mark.parametrize("count, calls", [(1900, 20), (50_000, 1)])
def test_nobody_waits_for_a_look(line, count, calls):
    """However many places there are, one call is short: everybody else waits for it. Where there are many and their numbers
    agree, one is enough."""
    record = line.redis.hget(line.key("places"), "b")
    many = [f"m{i}" for i in range(count)]
    with line.redis.pipeline() as pipe:
        pipe.hset(line.key("places"), mapping=dict.fromkeys(many, record))
        pipe.zadd(line.key("ready"), dict.fromkeys(many, 4e12))
        pipe.execute()
    line.redis.config_set("slowlog-max-len", 10_000)
    line.redis.config_set("slowlog-log-slower-than", 0)
    line.redis.slowlog_reset()
    assert line.drift() == ["OK", 0]
    durations = [entry["duration"] for entry in line.redis.slowlog_get(10_000) if entry["command"].startswith(b"EVALSHA")]
    line.redis.config_set("slowlog-log-slower-than", 10_000)
    assert calls <= len(durations) <= calls + 3
    # The median: some may have had to wait for a processor.
    assert sorted(durations)[len(durations) // 2] < 5_000, "microseconds"


def test_all_of_many_are_mended(line):
    """Across calls, and where members leave the set that is gone through."""
    record = line.redis.hget(line.key("places"), "b")
    many = [f"m{i}" for i in range(500)]
    line.redis.hset(line.key("places"), mapping=dict.fromkeys(many, record))
    line.redis.zadd(line.key("ready"), dict.fromkeys(many + [f"ghost{i}" for i in range(300)], 4e12))
    line.redis.zrem(line.key("ready"), *many[:10])
    line.redis.zadd(line.key("claimed"), {f"late{i}": 1 for i in range(150)})
    assert line.drift()[:2] == ["OK", 300 + 150 + 10]
    ready, claimed = (set(line.redis.zrange(line.key(name), 0, -1)) for name in ("ready", "claimed"))
    assert set(line.redis.hkeys(line.key("places"))) == ready | claimed and not ready & claimed
    assert len(ready) == 500 + 3 and len(claimed) == 1
    assert line.drift() == ["OK", 0]


def test_unreadable_place_stops_neither_ticks_nor_its_owner(line):
    line.redis.hset(line.key("places"), "b", "not a record")
    line.advance(400_000)
    assert line.promote().code == "OK"
    assert line.position("b").code == "OK"
    assert line.enter("b").status == "WAITING"
    line.check()
