"""The draw by itself: the same places as in C, one number a place, and nobody favoured."""

import hashlib
import random
import re
from collections import Counter

import pytest

from lib.draw import Draw
from lib.project import LUA, ROOT

pytestmark = pytest.mark.on("plain")  # arithmetic, no keys

HARNESS = """
local conf, run = { lotteryDraw = ARGV[1] }, { drawCursor = 0 }
%s
local answer = {}
for i = 3, #ARGV do
    answer[#answer + 1] = _G_ask[ARGV[2]](tonumber(ARGV[i])) or -1
end
return answer
"""


@pytest.fixture(scope="module")
def ask(all_scripts):
    """ask("place" | "number", draw text, values) by the Lua of the scripts."""
    source = (LUA / "include" / "draw.lua").read_text()
    text = (HARNESS % source).replace(
        "_G_ask[ARGV[2]]", "(ARGV[2] == 'place' and place_of_number or number_of_place)")
    sha = all_scripts.client.script_load(text)

    def ask(what, draw, values):
        answer = []
        for at in range(0, len(values), 4000):
            answer += all_scripts.client.evalsha(sha, 0, draw, what, *values[at:at + 4000])
        return answer
    return ask


def seed(text):
    return hashlib.sha256(text.encode()).hexdigest()


def drawn(name, ranges):
    return f"{seed(name)} {'0' * 40} {ranges}"


def test_vectors(ask):
    rows = re.findall(r'VECTOR\("(\w+)", "([\d,-]+)",\s+(\d+), (-?\d+)\)', (ROOT / "tests/vectors/lottery.tbl").read_text())
    assert len(rows) > 30
    for seed_text, ranges, number, place in rows:
        draw = f"{seed_text} {'0' * 40} {ranges}"
        assert ask("place", draw, [int(number)]) == [int(place)]
        assert (Draw(seed_text, ranges).place(int(number)) or 0) == max(int(place), 0)
        if int(place) >= 0:
            assert ask("number", draw, [int(place)]) == [int(number)]


@pytest.mark.parametrize("count", [*range(1, 40), 63, 64, 65, 100, 255, 256, 257, 1000, 4096, 5000])
def test_one_number_a_place(ask, count):
    draw = drawn(f"n{count}", f"11-{10 + count}")
    places = ask("place", draw, list(range(11, 11 + count)))
    assert sorted(places) == list(range(count))
    numbers = ask("number", draw, list(range(count)))
    assert [places[number - 11] for number in numbers] == list(range(count))
    assert ask("place", draw, [10, 11 + count]) == [-1, -1]


def test_ranges_leave_no_place_for_the_numbers_between(ask):
    draw = drawn("gap", "1-50,1000-1029,70000-70000")
    numbers = [*range(1, 51), *range(1000, 1030), 70000]
    assert sorted(ask("place", draw, numbers)) == list(range(81))
    assert ask("place", draw, [51, 999, 1030, 69999]) == [-1] * 4
    assert sorted(ask("number", draw, list(range(81)))) == numbers


def chi_square(counts, expected, cells):
    return sum((count - expected) ** 2 / expected for count in counts) + (cells - len(counts)) * expected


@pytest.mark.parametrize("count", [2, 3, 5, 7, 10, 17, 30])
def test_every_number_is_as_likely_at_every_place(ask, count):
    draws, seen = 3000, Counter()
    for i in range(draws):
        for number, place in enumerate(ask("place", drawn(f"chi{i}", f"1-{count}"), list(range(1, count + 1)))):
            seen[number, place] += 1
    freedom = (count - 1) ** 2
    # Six standard deviations: seeds are fixed, so that this fails never or always.
    assert chi_square(seen.values(), draws / count, count ** 2) < freedom + 6 * (2 * freedom) ** 0.5


@pytest.mark.parametrize("count, orders", [(3, 6), (4, 24), (5, 120)])
def test_every_order_is_as_likely(ask, count, orders):
    draws, seen = 6000, Counter()
    for i in range(draws):
        seen[tuple(ask("place", drawn(f"order{i}", f"1-{count}"), list(range(1, count + 1))))] += 1
    freedom = orders - 1
    assert chi_square(seen.values(), draws / orders, orders) < freedom + 6 * (2 * freedom) ** 0.5


def test_a_large_draw_has_no_structure(ask):
    """Neighbours fall apart, nobody stays more often than by chance, early and late mix."""
    count = 20_000
    draw = drawn("large", f"1-{count}")
    places = ask("place", draw, list(range(1, count + 1)))
    assert sorted(places) == list(range(count))
    assert sum(place == at for at, place in enumerate(places)) < 10
    near = sum(abs(a - b) <= 10 for a, b in zip(places, places[1:]))
    assert near < 2 * 20 + 30, near
    early = sum(place < count // 2 for place in places[:count // 2])
    assert abs(early - count // 4) < 6 * (count / 16) ** 0.5
    mean = (count - 1) / 2
    correlation = sum((a - mean) * (b - mean) for a, b in enumerate(places)) / sum((a - mean) ** 2 for a in range(count))
    assert abs(correlation) < 6 / count ** 0.5


def test_other_seeds_other_draws(ask):
    numbers = random.Random(5).sample(range(1, 100_001), 200)
    one, other = (ask("place", drawn(name, "1-100000"), numbers) for name in ("one", "other"))
    assert sum(a == b for a, b in zip(one, other)) < 3
