"""A million entrants: closing, drawing, walking off and looking cost every call the same little, whoever has left."""

import random
import time

import pytest

pytestmark = pytest.mark.on("plain")
COUNT = 1_000_000
# Commands that one call may carry out: by these its time is bounded, on any machine.
MOST_COMMANDS = 600
CHUNK = 20_000
FILL = """
for n = tonumber(ARGV[1]), tonumber(ARGV[2]) do
    if n % ARGV[3] == 0 then
        redis.call('ZADD', KEYS[1], string.format('%d', n * 4096), 'm' .. n)
    else
        redis.call('RPUSH', KEYS[2], n)
    end
end
"""


@pytest.fixture
def crowded(make_line):
    def make(stays):
        """Entrants by the million of whom every `stays`th is still there."""
        line = make_line(ratePerSecond=100_000, burst=100_000, maxActive=10_000_000, tickMs=20, mode="lottery",
                         lotterySecret="of a large crowd")
        for start in range(1, COUNT + 1, CHUNK):
            line.redis.eval(FILL, 2, line.key("draw"), line.key("drawLeft"), start, start + CHUNK - 1, stays)
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


def assert_ranks(line, draw):
    """Of a million, by one look each; nobody has left, so that only those let in are gone."""
    waiting = 0
    for number in random.sample(range(1, COUNT + 1), 200):
        answer = line.position(f"m{number}")
        if answer.status == "WAITING":
            assert answer.rank == draw.place(number) - line.counter("admitted")
            waiting += 1
    assert waiting > 100


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
    if cursor < 40_000:
        expected = {place for place in range(cursor) if draw.number(place) % stays == 0}
        assert standing == expected, "nobody is left out, nobody came out of turn"
    assert len(admitted) == len(set(admitted))
    if stays == 1:
        assert_ranks(line, draw)
