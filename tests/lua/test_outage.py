"""While nothing can be bought nobody is let in, and nobody's time runs."""

import pytest

from lib.line import Line

SILENCE = 3_000


@pytest.fixture
def line(clocked_scripts):
    line = Line(clocked_scripts, ratePerSecond=1000, burst=1000, maxActive=10**6, entryTtlSeconds=60,
                pickupSeconds=20)
    line.publish()
    line.lead()
    return line


def beating(line, count=500):
    """A tick while the order pool lives."""
    return line.promote(count, pool_age=100, pool_silence=SILENCE)


def test_pool_that_never_lived_lets_nobody_in(line):
    line.enter("a")
    tick = line.promote(pool_age=-1, pool_silence=SILENCE)
    assert (tick.admitted, tick.frozen) == (0, 1)
    assert beating(line).admitted == 1


def test_silence_0_needs_no_pool(line):
    line.enter("a")
    assert line.promote(pool_age=-1, pool_silence=0).admitted == 1


def test_deadlines_move_by_the_outage(line, clock):
    for member in "abc":
        line.enter(member)
    beating(line, 1)
    ready = line.position("a")
    clock.pass_ms(10_000)
    assert beating(line, 0).frozen == 0
    # The last sign of life is 5 s old: the outage began then, not when it was noticed.
    clock.pass_ms(5_000)
    tick = line.promote(pool_age=5_000, pool_silence=SILENCE)
    assert (tick.frozen, tick.admitted) == (1, 0)
    for _ in range(10):
        clock.pass_ms(60_000)
        tick = line.promote(pool_age=5_000 + 60_000, pool_silence=SILENCE)
        assert (tick.frozen, tick.admitted, tick.expired, tick.withdrawn) == (1, 0, 0, 0)
    frozen = line.position("a")
    assert frozen.status == "READY"
    assert frozen.ends - frozen.now == ready.ends - ready.now - 10_000, "its time stands still"
    tick = beating(line, 0)
    assert (tick.frozen, tick.expired) == (0, 0)
    after = line.position("a")
    assert after.ends == ready.ends + 605_000, "moved by the outage exactly"
    clock.pass_ms(49_900)
    beating(line, 0)
    assert line.position("a").status == "READY"
    clock.pass_ms(200)
    assert line.position("a").status == "NOT_ENTERED"


def test_pickup_time_stands_still_too(line, clock):
    line.enter("a")
    beating(line)
    clock.pass_ms(15_000)
    line.promote(pool_age=15_000, pool_silence=SILENCE)
    clock.pass_ms(100_000)
    assert line.promote(pool_age=115_000, pool_silence=SILENCE).withdrawn == 0
    assert beating(line).withdrawn == 0
    clock.pass_ms(19_000)
    assert beating(line).withdrawn == 0
    clock.pass_ms(2_000)
    assert beating(line).withdrawn == 1


def test_nothing_is_collected_in_an_outage_that_is_not_noticed_yet(line, clock):
    """What ran out after the last sign of life may have run out while nothing could be bought."""
    line.enter("a")
    beating(line)
    line.position("a")
    clock.pass_ms(58_500)
    beating(line)
    clock.pass_ms(2_000)
    # Ran out half a second ago; the pool was last seen two seconds ago.
    assert line.promote(pool_age=2_000, pool_silence=SILENCE).expired == 0
    clock.pass_ms(1_500)
    assert line.promote(pool_age=3_500, pool_silence=SILENCE).frozen == 1
    assert line.position("a").status == "READY", "time stood still before it ran out"
    beating(line)
    assert line.position("a").status == "READY"
    clock.pass_ms(2_000)
    assert beating(line).expired == 1


def test_one_outage_after_another(line, clock):
    line.enter("a")
    beating(line)
    ready = line.position("a")
    moved = 0
    for _ in range(5):
        clock.pass_ms(4_000)
        line.promote(pool_age=4_000, pool_silence=SILENCE)
        clock.pass_ms(6_000)
        line.promote(pool_age=10_000, pool_silence=SILENCE)
        beating(line)
        moved += 10_000
        assert line.position("a").ends == ready.ends + moved


def test_two_outages_never_count_a_moment_twice(line, clock):
    """A sign of life older than the end of the outage before starts no earlier than that end."""
    line.enter("a")
    beating(line)
    ready = line.position("a")
    clock.pass_ms(4_000)
    line.promote(pool_age=4_000, pool_silence=SILENCE)
    beating(line)
    clock.pass_ms(1_000)
    line.promote(pool_age=5_000, pool_silence=SILENCE)
    beating(line)
    assert line.position("a").ends == ready.ends + 5_000


def test_claim_and_release_across_an_outage(line, clock):
    """What was left of the token's life when it was claimed is left when it comes back."""
    line.enter("a")
    beating(line)
    token = line.position("a").token
    clock.pass_ms(10_000)
    beating(line)
    assert line.claim("a", token)[0] == "CLAIMED"
    clock.pass_ms(4_000)
    line.promote(pool_age=4_000, pool_silence=SILENCE)
    clock.pass_ms(100_000)
    assert line.release("a", token) == "RELEASED"
    during = line.position("a")
    assert during.ends - during.now == 50_000
    clock.pass_ms(100_000)
    beating(line)
    after = line.position("a")
    assert after.ends - after.now == 50_000


def test_claim_is_possible_while_frozen(line, clock):
    """A pool that comes back may claim before the next tick notices."""
    line.enter("a")
    beating(line)
    token = line.position("a").token
    clock.pass_ms(50_000)
    beating(line)
    clock.pass_ms(5_000)
    line.promote(pool_age=5_000, pool_silence=SILENCE)
    clock.pass_ms(500_000)
    assert line.claim("a", token)[0] == "CLAIMED"
    assert line.consume("a", token) == "CONSUMED"


def test_the_bucket_saves_no_more_than_the_burst_in_an_outage(line, clock):
    for i in range(1600):
        line.enter(f"m{i}")
    beating(line)
    clock.pass_ms(4_000)
    line.promote(pool_age=4_000, pool_silence=SILENCE)
    clock.pass_ms(600_000)
    assert [beating(line).admitted for _ in range(4)] == [500, 500, 0, 0]


def test_the_pool_s_signs_of_life(all_scripts, redis_client):
    def beat(ago, silence=SILENCE):
        redis_client.hset("sluice:order-pool", "seen", all_scripts.now() - ago)
        assert all_scripts.call("pool_beat", None, silence) == ["OK"]
        code, seen, silent = all_scripts.call("pool_life", None)
        assert code == "OK" and 0 <= all_scripts.now() - seen < 1000
        return silent
    assert all_scripts.call("pool_life", None) == ["OK", -1, 0]
    assert all_scripts.call("pool_beat", None, SILENCE) == ["OK"]
    assert beat(SILENCE - 1000) == 0, "no outage yet"
    first = beat(50_000)
    assert 50_000 <= first < 51_000
    assert 60_000 <= beat(60_000) - first < 61_000
    assert beat(50_000, 0) < first + 61_000, "nothing is an outage where no pool is needed"


def test_an_outage_that_no_tick_saw_moves_the_deadlines_too(line, clock):
    """Everything was stopped for an hour; the order pool is back before the scheduler."""
    line.enter("a")
    line.enter("b")
    beating(line, 1)
    before = line.position("a").ends
    beating(line)
    clock.pass_ms(3_600_000)
    assert line.position("a").status == "READY", "nobody knows yet whether the time counts"
    tick = line.promote(pool_age=100, pool_silence=SILENCE, pool_silent_ms=3_600_000)
    assert (tick.expired, tick.withdrawn) == (0, 0)
    assert line.position("a").ends == before + 3_600_000
    assert line.position("b").status == "READY"
    tick = line.promote(pool_age=100, pool_silence=SILENCE, pool_silent_ms=3_600_000)
    assert line.position("a").ends == before + 3_600_000, "counted once"


def test_whoever_has_not_seen_the_token_keeps_the_number_also_past_its_end(line, clock):
    for name in ("a", "b", "c"):
        line.enter(name)
    beating(line, 2)
    line.position("b")
    clock.pass_ms(61_000)
    tick = beating(line, 0)
    assert (tick.expired, tick.withdrawn) == (1, 1)
    position = line.position("a")
    assert (position.status, position.rank, position.seq) == ("WAITING", 0, 1)
    assert line.position("b").status == "NOT_ENTERED"
