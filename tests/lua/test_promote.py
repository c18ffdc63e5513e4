"""promote: how many, who, and what is collected."""

import math

import pytest

from lib.line import Line, drain, sha256_text


@pytest.fixture
def fast(make_line):
    """A queue whose rate never stands in the way."""
    def make(**settings):
        return make_line(**{"ratePerSecond": 100000, "burst": 100000, "maxActive": 100000, **settings})
    return make


def crowd(line, count, prefix="m"):
    with line.redis.pipeline(transaction=False) as pipe:
        script = line.scripts.scripts["enter"]
        keys = script.key_names(line.queue)
        for i in range(count):
            pipe.evalsha(line.scripts._shas["enter"], len(keys), *keys, f"{prefix}{i}", *[""] * 5, 0,
                         "take_over", "", "", "", 0)
        pipe.execute()


def test_takes_the_front_in_order_and_gives_each_a_token(fast):
    line = fast()
    crowd(line, 100)
    tick = line.promote(30)
    assert (tick.code, tick.admitted, tick.waiting, tick.ready, tick.more) == ("OK", 30, 70, 30, 1)
    places = line.check()
    assert sorted(place.seq for place in places.values()) == list(range(1, 31))
    assert set(places) == {f"m{i}" for i in range(30)}
    assert len({place.token for place in places.values()}) == 30
    assert all(place.admission == sha256_text(place.token) for place in places.values())
    assert line.position("m30").rank == 0


@pytest.mark.parametrize("cap", [1, 7, 500])
def test_batch_cap(fast, cap):
    line = fast(batchCap=cap)
    crowd(line, 1200)
    assert line.promote(600).admitted == cap
    assert line.promote(600).admitted == cap
    line.check()


def test_no_more_than_tokens_given(fast):
    line = fast()
    crowd(line, 10)
    ticks = [line.promote(count) for count in (0, 3, 100)]
    assert [tick.admitted for tick in ticks] == [0, 3, 7]
    assert [tick.more for tick in ticks] == [0, 1, 0], "whoever gives no tokens wants nobody let in"


@pytest.mark.parametrize("settings, ends", [({"maxActive": 25}, 25), ({"burst": 33, "ratePerSecond": 0.001}, 33), ({}, 40)])
def test_a_tick_goes_on_until_rate_places_or_line_end_it(fast, settings, ends):
    line = fast(**settings)
    crowd(line, 40)
    ticks = [line.promote(10)]
    while ticks[-1].more:
        assert len(ticks) < 6
        ticks.append(line.promote(10, goes_on=True))
    assert sum(tick.admitted for tick in ticks) == ends
    assert all(tick.admitted == 10 for tick in ticks[:-1]) and ticks[-1].admitted == (ends - 1) % 10 + 1
    assert sorted(place.seq for place in line.check().values()) == list(range(1, ends + 1))


def test_records_hold_number_generation_and_token(fast):
    """As they are written at once for many, so they are read one by one."""
    line = fast()
    crowd(line, 3)
    for _ in range(12):
        line.enter("m1")
    line.promote(2)
    assert [(line.place(name).seq, line.place(name).generation) for name in ("m0", "m1")] == [(1, 0), (2, 12)]
    line.redis.hset(line.key("state"), "seq", 2**40)
    line.enter("far")
    line.promote()
    place = line.place("far")
    assert place.seq == 2**40 + 1 and place.admission == sha256_text(place.token)
    assert (place.claim, place.key_hash, place.remaining) == ("", "", 0)
    assert line.claim("far", place.token)[0] == "CLAIMED"


def test_several_calls_of_a_tick_count_as_one(clocked_scripts, clock):
    """Averages and samples know ticks: three calls in some ms say what one says that lets in as many."""
    lines = [Line(clocked_scripts, ratePerSecond=60, burst=60, maxActive=10**6) for _ in range(2)]
    for line in lines:
        line.publish()
        line.lead()
        line.redis.zadd(line.key("waiting"), {f"m{i}": i * 4096 for i in range(1, 4001)})
        line.redis.hset(line.key("state"), "seq", 4000)
    for _ in range(30):
        clock.pass_ms(990)
        at_once = lines[0].promote(60)
        split = [lines[1].promote(20)]
        for ms in (0, 7):
            clock.pass_ms(ms)
            split.append(lines[1].promote(20, goes_on=True))
        clock.pass_ms(3)
        # What the calls themselves have brought comes with the next tick.
        assert sum(tick.admitted for tick in split) in range(at_once.admitted - 1, at_once.admitted + 2)
    for name, tolerance in (("rateEma", 0.3), ("admittedEma", 0.5)):
        whole, parts = (float(line.redis.hget(line.key("state"), name)) for line in lines)
        assert abs(whole - parts) < tolerance, name
        assert 59 < parts < 61
    whole, parts = (line.call("stats", samples=100)[-30:] for line in lines)
    assert [sample.split(",")[0] for sample in whole] == [sample.split(",")[0] for sample in parts]
    for one, other in zip(whole, parts):
        assert abs(int(one.split(",")[5]) - int(other.split(",")[5])) <= 1, "a sample has all of its tick"


def test_a_tick_within_the_same_millisecond_is_not_lost_to_the_averages(clocked_scripts, clock):
    line = Line(clocked_scripts, ratePerSecond=100, burst=1000, maxActive=10**6)
    line.publish()
    line.lead()
    line.redis.zadd(line.key("waiting"), {f"m{i}": i * 4096 for i in range(1, 101)})
    line.promote(0)
    clock.pass_ms(1000)
    line.promote(30)
    before = float(line.redis.hget(line.key("state"), "admittedEma"))
    line.promote(30)
    assert float(line.redis.hget(line.key("state"), "admittedEma")) == pytest.approx(2 * before, rel=1e-4)


@pytest.mark.parametrize("share", [0.5, 0.3, 0.07])
def test_the_priority_share_holds_across_the_calls_of_a_tick(fast, share):
    line = fast(priorityShare=share)
    line.redis.zadd(line.key("waiting"), {f"m{i}": i * 4096 for i in range(1, 500)})
    line.redis.zadd(line.key("priority"), {f"p{i}": i * 4096 for i in range(500, 1000)})
    line.redis.hset(line.key("state"), "seq", 1000)
    first = 0
    for call in range(1, 31):
        assert line.promote(7, goes_on=call > 1).admitted == 7
        first = 500 - line.redis.zcard(line.key("priority"))
        assert abs(first - share * 7 * call) < 1 + 1e-3, call
    assert first == math.floor(share * 210 + 1e-6)


def test_max_active_counts_ready_claimed_and_unpaid(fast):
    line = fast(maxActive=3, releaseOn="payment")
    crowd(line, 10)
    tokens = drain(line, ["m0", "m1", "m2"])
    assert line.promote().admitted == 0
    line.claim("m0", tokens["m0"])
    assert line.promote().admitted == 0, "CLAIMED takes a place"
    line.consume("m0", tokens["m0"], keep_place=1)
    tick = line.promote()
    assert (tick.admitted, tick.unpaid) == (0, 1), "an unpaid order takes a place"
    line.call("place_free", member="m0", order="o_1")
    assert line.promote().admitted == 1
    line.claim("m1", tokens["m1"])
    line.consume("m1", tokens["m1"], keep_place=0)
    assert line.promote().admitted == 1
    assert line.promote().admitted == 0


def test_lower_max_active_takes_nothing_away(fast):
    line = fast(maxActive=5)
    crowd(line, 10)
    line.promote()
    line.publish(maxActive=2)
    tick = line.promote()
    assert (tick.admitted, tick.ready) == (0, 5)


@pytest.mark.parametrize("settings", [
    {"operatorState": "PAUSED"}, {"operatorState": "SOLD_OUT"}, {"closesAt": 1},
    {"opensAt": 4_000_000_000_000}, {"activation": "hold"},
])
def test_nobody_is_let_in_while(fast, settings):
    line = fast()
    crowd(line, 5)
    line.publish(**settings)
    assert line.promote().admitted == 0
    assert line.position("m0").rank == 0, "those who wait keep their numbers"
    line.publish(operatorState="OPEN", closesAt="", opensAt="", activation="on")
    assert line.promote().admitted == 5


def test_draining_serves_those_who_wait(fast):
    line = fast()
    crowd(line, 5)
    line.publish(operatorState="DRAINING")
    assert line.promote().admitted == 5


def test_tokens_outlive_the_end_of_the_queue(fast):
    line = fast()
    crowd(line, 2)
    tokens = drain(line, ["m0", "m1"])
    line.publish(closesAt=1)
    assert line.position("m0").status == "READY"
    assert line.claim("m0", tokens["m0"])[0] == "CLAIMED"


def test_opening_time(fast):
    line = fast(opensAt=4_000_000_000_000)
    crowd(line, 3)
    assert line.promote().admitted == 0
    line.publish(opensAt=1)
    assert line.promote().admitted == 3


def test_expired_places_come_back_within_a_tick(fast):
    line = fast(maxActive=2, entryTtlSeconds=5)
    crowd(line, 4)
    line.promote()
    for member in ("m0", "m1"):
        line.position(member)
    line.advance(4_000)
    assert line.promote().expired == 0
    line.advance(1_100)
    tick = line.promote()
    assert (tick.expired, tick.admitted, tick.ready) == (2, 2, 2)
    assert line.position("m0").status == "NOT_ENTERED"
    assert line.position("m2").status == "READY"
    assert line.counter("expired") == 2
    line.check()


def test_claimed_never_expires(fast):
    line = fast(maxActive=1, entryTtlSeconds=5, claimLeaseSeconds=1)
    crowd(line, 2)
    token = drain(line, ["m0"])["m0"]
    line.claim("m0", token)
    line.advance(1_000_000)
    for _ in range(3):
        tick = line.promote()
        assert (tick.expired, tick.withdrawn, tick.admitted, tick.claimed) == (0, 0, 0, 1)
    assert line.call("claims_overdue", most=10)[1] == "m0"
    assert line.consume("m0", token) == "CONSUMED"
    assert line.promote().admitted == 1


def test_collecting_is_bounded_and_says_that_there_is_more(fast):
    """However much has run out, one call does a bounded piece, and the next one goes on at once."""
    line = fast(entryTtlSeconds=5)
    crowd(line, 1000)
    line.promote(500)
    line.promote(500)
    line.redis.delete(line.key("pickup"))
    line.advance(6_000)
    ticks = [line.promote(0)]
    while ticks[-1].more:
        assert len(ticks) < 20
        ticks.append(line.promote(0))
    assert sum(tick.expired for tick in ticks) == 1000
    assert max(tick.expired for tick in ticks) <= 100
    assert line.check() == {}


def test_withdrawing_is_bounded_too(fast):
    line = fast()
    crowd(line, 500)
    line.promote(500)
    line.publish(operatorState="PAUSED")
    line.advance(91_000)
    ticks = [line.promote(0)]
    while ticks[-1].more:
        assert len(ticks) < 20
        ticks.append(line.promote(0))
    assert [tick.withdrawn for tick in ticks] == [100] * 5 + [0]
    line.check()


def collect(line):
    """Calls promote for as long as it says that there is more."""
    calls = 1
    while line.promote(0).more:
        calls += 1
        assert calls < 30, "it ends"


def test_tombstones_keep_up_with_any_rate(fast):
    """What a tick leaves behind, the calls that it asks for collect: nothing heaps up."""
    line = fast()
    crowd(line, 500)
    line.promote(500)
    for member, place in line.check().items():
        line.claim(member, place.token)
        line.consume(member, place.token, tombstone_ms=1000)
    assert line.redis.hlen(line.key("tombstones")) == 500
    line.advance(1_001)
    collect(line)
    assert line.redis.hlen(line.key("tombstones")) == 0
    line.check()


def test_those_away_for_good_are_forgotten_at_any_rate(fast):
    line = fast()
    crowd(line, 500)
    line.promote(500)
    line.publish(operatorState="PAUSED")
    line.advance(91_000)
    collect(line)
    assert len(line.members("away")) == 500
    line.advance(86_400_000)
    collect(line)
    assert line.members("away") == []
    line.check()


FILL = """for i = 1, ARGV[1] do redis.call('ZADD', KEYS[1], string.format('%d', i * 4096), 'm' .. i) end
redis.call('HSET', KEYS[2], 'seq', ARGV[1])"""


def shortest_us(line, call):
    """The shortest of five calls: the others may have had to wait for a processor."""
    line.redis.config_set("slowlog-max-len", 10_000)  # what scripts call is logged too
    line.redis.config_set("slowlog-log-slower-than", 0)
    line.redis.slowlog_reset()
    for i in range(5):
        call(line, i)
    durations = [entry["duration"] for entry in line.redis.slowlog_get(10_000) if entry["command"].startswith(b"EVALSHA")]
    line.redis.config_set("slowlog-log-slower-than", 10000)
    assert len(durations) == 5
    return min(durations)


@pytest.mark.on("plain")
def test_no_call_takes_longer_with_a_big_crowd(fast):
    """Everybody waits for a call. What each takes must not grow with the line, but for the depth of its sorted set."""
    calls = {
        "promote": lambda line, i: line.promote(100),
        "enter": lambda line, i: line.enter(f"new{i}"),
        "enter again": lambda line, i: line.enter(f"m{800 + i}"),
        "position": lambda line, i: line.position(f"m{800 + i}"),
        "leave": lambda line, i: line.leave(f"m{800 + i}"),
        "snapshot": lambda line, i: line.snapshot(),
        "state": lambda line, i: line.call("gate_view"),
        "stats": lambda line, i: line.call("stats", samples=0),
    }

    def durations(count):
        line = fast()
        line.redis.eval(FILL, 2, line.key("waiting"), line.key("state"), count)
        measured = {name: shortest_us(line, call) for name, call in calls.items()}
        assert [line.place(f"m{i}").seq for i in (1, 250, 500)] == [1, 250, 500] and line.place("m501") is None
        return measured
    few, many = durations(1000), durations(300_000)
    # A call that goes through the line takes tens of milliseconds; the constant is for a busy machine.
    assert {name: us for name, us in many.items() if us > 3 * few[name] + 5000} == {}, few


def test_counters_and_series(fast):
    line = fast()
    crowd(line, 10)
    line.promote(4)
    stats = line.call("stats", samples=10)
    assert stats[:9] == ["OK", "OPEN", 6, 0, 4, 0, 0, 10, 4]
    assert stats[14] == "a", "the leader"
    second, *counts, promised, waited = (int(number or -1) for number in stats[-1].split(","))
    assert second == stats[15] // 1000 and counts == [6, 4, 0, 10, 4, 0, 0, 0, 0, 100_000_000, -1, -1, -1, 0]
    # What is told is a second at least; and who entered in the second before has waited one.
    assert promised == 1 and waited in (0, 1)


def test_no_number_is_the_last(make_line):
    """What is marked by number, in bitmaps, does not end the line where those end."""
    number = 2**32
    line = make_line(ratePerSecond=1000, burst=1000)
    line.add_codes("priority", "p", uses=9)
    line.redis.hset(line.key("state"), "seq", number)
    assert line.enter("first", code="p").seq == number + 1
    for member in ("gone", "late", "buyer"):
        line.enter(member)
    assert line.promote().admitted == 4
    assert line.end("gone") == "ENDED"
    line.position("first")
    line.advance(300_001)
    tick = line.promote()
    assert (tick.expired, tick.withdrawn) == (1, 2)
    assert line.position("buyer").lane == "main"
    line.promote()
    token = line.position("buyer").token
    line.claim("buyer", token)
    assert line.consume("buyer", token) == "CONSUMED"
    line.check()
