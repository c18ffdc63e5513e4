"""A million entrants: closing, drawing and walking off cost every call the same little, whoever has left."""

import random
import time

import pytest

pytestmark = pytest.mark.on("plain")
COUNT = 1_000_000
# Commands that one call may carry out: by these its time is bounded, on any machine.
MOST_COMMANDS = 600


@pytest.fixture
def crowded(make_line):
    def make(stays):
        """Entrants by the million of whom every `stays`th is still there."""
        line = make_line(ratePerSecond=100_000, burst=100_000, maxActive=10_000_000, tickMs=20, mode="lottery",
                         lotterySecret="of a large crowd")
        with line.redis.pipeline(transaction=False) as pipe:
            for start in range(0, COUNT, 20_000):
                numbers = range(start + 1, start + 20_001)
                pipe.zadd(line.key("draw"), {f"m{n}": n * 4096 for n in numbers if n % stays == 0})
                left = [n for n in numbers if n % stays]
                if left:
                    pipe.rpush(line.key("drawLeft"), *left)
                pipe.execute()
        line.redis.hset(line.key("state"), mapping={"seq": COUNT, "drawFirst": 1, "drawLast": COUNT, "drawList": "a" * 40})
        line.publish(opensAt=line.scripts.now() - 1000)
        return line
    return make


class Costs:
    """Commands and time of each promotion."""

    def __init__(self, line):
        self.line, self.commands, self.times = line, [], []

    def _count(self):
        return sum(row["calls"] for row in self.line.redis.info("commandstats").values())

    def promote(self, count):
        before, started = self._count(), time.perf_counter()
        tick = self.line.promote(count)
        self.times.append((time.perf_counter() - started) * 1000)
        self.commands.append(self._count() - before)
        assert self.commands[-1] <= MOST_COMMANDS, f"{self.commands[-1]} commands in one call"
        self.line.redis.hset(self.line.key("state"), "bucket", "100000")
        return tick

    def report(self, what):
        times = sorted(self.times)
        print(f"{what}: {len(times)} calls, at most {max(self.commands)} commands, "
              f"median {times[len(times) // 2]:.1f} ms, 99 % within {times[len(times) * 99 // 100]:.1f} ms")


@pytest.mark.limit(300)
@pytest.mark.parametrize("stays", [1, 20])
def test_no_call_does_more_than_it_may(crowded, stays):
    line = crowded(stays)
    costs = Costs(line)
    costs.promote(0)
    draw = line.hold_draw()
    assert draw.count > COUNT - 2 * stays
    for _ in range(60):
        costs.promote(500)
        costs.promote(0)
    costs.report(f"every {stays}th stayed")
    left_to_note = line.redis.llen(line.key("drawLeft"))
    cursor = line.counter("drawCursor")
    assert cursor > 0 or left_to_note < COUNT - COUNT // stays
    admitted = [(draw.place(line.place(member).seq), member) for member in line.redis.hkeys(line.key("places"))]
    standing = {place for place, _ in admitted} | {
        int(score) // 4096 for _, score in line.redis.zrange(line.key("drawn"), 0, -1, withscores=True)}
    expected = {place for place in (draw.place(number) for number in range(stays, COUNT + 1, stays)) if place < cursor} \
        if cursor < 40_000 else None
    if expected is not None:
        assert standing == expected, "nobody is left out, nobody came out of turn"
    assert len(admitted) == len(set(admitted))


@pytest.mark.limit(300)
def test_ranks_of_a_million_cost_one_look(crowded):
    line = crowded(1)
    line.promote(0)
    draw = line.hold_draw()
    line.promote(300)
    for number in random.sample(range(1, COUNT + 1), 200):
        answer = line.position(f"m{number}")
        if answer.status == "WAITING":
            assert answer.rank == draw.place(number) - line.counter("admitted")
