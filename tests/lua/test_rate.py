"""The global rate: a bucket in Redis, refilled by Redis TIME, shared by any number of schedulers."""

import os
import random
import threading
import time

import pytest

from lib.line import Line, base64url, for_promote, sha256_text
from lib.scripts import Scripts

CROWD = 20_000


def own_tokens(count):
    tokens = [base64url(os.urandom(32)) for _ in range(count)]
    return for_promote([word for token in tokens for word in (token, sha256_text(token))])


def fill(line, count=CROWD):
    line.redis.zadd(line.key("waiting"), {f"m{i}": i * 4096 for i in range(1, count + 1)})
    line.redis.hset(line.key("state"), "seq", count)


@pytest.mark.on("cluster")
@pytest.mark.parametrize("rate, burst, cap", [(50, 50, 500), (7.5, 10, 500), (300, 140, 140), (0.2, 1, 1)])
def test_admitted_never_exceeds_burst_and_rate(clocked_scripts, clock, rate, burst, cap):
    """Ticks at random moments by random owners who take the lead from each other; every window counts."""
    seed = random.randrange(2**32)
    print("seed", seed)
    dice = random.Random(seed)
    line = Line(clocked_scripts, ratePerSecond=rate, burst=burst, batchCap=cap, maxActive=10**9)
    line.publish()
    fill(line)
    history = []
    for _ in range(400):
        clock.pass_ms(dice.choice([0, 1, 3, 20, 100, 400, 1000, 1000, dice.randrange(5000)]))
        owner = dice.choice("abcd")
        if dice.random() < 0.3:
            line.redis.set(line.key("leader"), owner)
        tick = line.promote(min(cap, 150), owner=owner)
        if tick.code == "OK":
            assert tick.admitted <= cap
            history.append((clock.now, tick.admitted))
    assert line.check() is not None
    total = sum(count for _, count in history)
    assert total > 0
    # Over any stretch of time between two promotions.
    for i in range(0, len(history), 7):
        admitted = 0
        for at, count in history[i:]:
            admitted += count
            assert admitted <= burst + rate * (at - history[i][0]) / 1000 + 1e-3


@pytest.mark.on("cluster")
def test_nothing_of_the_rate_is_lost(clocked_scripts, clock):
    """Ticks of any length below burst / rate let in exactly rate × time."""
    line = Line(clocked_scripts, ratePerSecond=33.3, burst=40, maxActive=10**9)
    line.publish()
    line.lead()
    fill(line)
    line.promote()
    start, admitted, dice = clock.now, 0, random.Random(7)
    for _ in range(500):
        clock.pass_ms(dice.randrange(1, 1000))
        admitted += line.promote(60).admitted
    expected = 33.3 * (clock.now - start) / 1000
    assert expected - 1.01 <= admitted <= expected + 0.01


def test_burst_is_the_most_that_is_saved_up(clocked_scripts, clock):
    line = Line(clocked_scripts, ratePerSecond=10, burst=15, maxActive=10**9)
    line.publish()
    line.lead()
    fill(line)
    clock.pass_ms(3_600_000)
    assert line.promote().admitted == 15
    assert line.promote().admitted == 0
    clock.pass_ms(500)
    assert line.promote().admitted == 5
    line.publish(operatorState="PAUSED")
    clock.pass_ms(3_600_000)
    assert line.promote().admitted == 0
    line.publish(operatorState="OPEN")
    assert line.promote().admitted == 15


def test_clock_that_steps_back_refills_nothing(clocked_scripts, clock):
    line = Line(clocked_scripts, ratePerSecond=10, burst=10, maxActive=10**9)
    line.publish()
    line.lead()
    fill(line)
    clock.pass_ms(120_000)
    assert line.promote().admitted == 10
    clock.pass_ms(-60_000)
    assert line.promote().admitted == 0
    clock.pass_ms(1000)
    assert line.promote().admitted == 10
    clock.pass_ms(60_000)
    assert line.promote().admitted == 10


def test_changed_rate_counts_from_now_on(clocked_scripts, clock):
    line = Line(clocked_scripts, ratePerSecond=10, burst=100, maxActive=10**9)
    line.publish()
    line.lead()
    fill(line)
    assert line.promote().admitted == 100
    clock.pass_ms(1000)
    assert line.promote().admitted == 10
    line.publish(ratePerSecond=50)
    clock.pass_ms(1000)
    assert line.promote().admitted == 50
    line.publish(ratePerSecond=0)
    clock.pass_ms(10_000)
    assert line.promote().admitted == 0


@pytest.mark.on("plain")
def test_four_schedulers_by_redis_time(make_line, redis_server):
    """The scripts as they are, on Redis's own clock: four owners at once for two seconds."""
    line = make_line(ratePerSecond=100, burst=20, maxActive=10**9)
    fill(line, 2000)
    answers = []
    end = time.monotonic() + 2

    def schedule(owner):
        client = redis_server.client()
        mine = Line(Scripts(client), queue=line.queue)
        dice = random.Random(owner)
        while time.monotonic() < end:
            mine.lead(owner, lease_ms=dice.randrange(1, 30))
            before = client.time()
            reply = mine.call("promote", owner, -1, 0, 0, 1000, 0, *own_tokens(50))
            after = client.time()
            if reply[0] == "OK":
                answers.append((before, after, reply[1], owner))
            dice.random() < 0.2 and mine.call("leader_release", owner=owner)
        client.close()

    line.call("leader_release", owner="a")
    threads = [threading.Thread(target=schedule, args=(owner,)) for owner in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len({owner for *_, owner in answers}) > 1, "several led in turn"
    admitted = sum(count for _, _, count, _ in answers)
    times = sorted(after[0] + after[1] / 1e6 for _, after, _, _ in answers)
    elapsed = times[-1] - min(before[0] + before[1] / 1e6 for before, _, _, _ in answers)
    assert admitted <= 20 + 100 * elapsed + 1e-3
    # A bucket of 20 saves up 0.2 s: what a busy machine kept all four from promoting beyond that is lost rightly.
    unsaved = sum(max(0, later - earlier - 0.2) for earlier, later in zip(times, times[1:]))
    assert admitted >= 100 * (elapsed - 0.2 - unsaved)
    assert sorted(place.seq for place in line.check().values()) == list(range(1, admitted + 1))


def test_estimate_follows_what_really_happens(clocked_scripts, clock):
    line = Line(clocked_scripts, ratePerSecond=50, burst=50, maxActive=10**9)
    line.publish()
    line.lead()
    fill(line)
    assert line.position("m100").rate_milli == 50_000, "at first the configured rate"
    line.publish(batchCap=10)
    for _ in range(60):
        clock.pass_ms(1000)
        line.promote(10)
    assert 9_900 < line.position("m10000").rate_milli < 10_500
    line.publish(operatorState="PAUSED")
    for _ in range(60):
        clock.pass_ms(1000)
        line.promote(10)
    assert line.position("m10000").rate_milli > 9_000, "a pause says nothing of the rate"
