"""The lottery: who takes part, closing and drawing, walking it off, and what holds across leaving and losses."""

import random
from collections import Counter

import pytest

from lib.draw import list_hash
from lib.line import Ticket

FAST = {"ratePerSecond": 100000, "burst": 100000, "maxActive": 100000, "tickMs": 20, "mode": "lottery",
        "lotterySecret": "a secret that nobody knows"}
HOUR = 3_600_000


@pytest.fixture
def lottery(make_line):
    """A queue that opens in an hour."""
    def make(**settings):
        line = make_line(**{**FAST, **settings})
        line.publish(opensAt=line.scripts.now() + HOUR)
        return line
    return make


def open_up(line):
    """The opening: the list closes."""
    line.advance(HOUR + 1000)
    line.settings["opensAt"] = line.redis.hget(line.key("settings"), "opensAt")
    return line.promote(0)


def walk_off(line, batch=50):
    """Promotes until nobody waits; members in order of admission."""
    order = []
    while line.position("nobody").waiting > 0:
        before = set(line.redis.hkeys(line.key("places")))
        line.promote(batch)
        new = set(line.redis.hkeys(line.key("places"))) - before
        order.append(new)
        line.advance(1000)
        assert len(order) < 10_000
    return order


def enter_all(line, count, prefix="m"):
    return {f"{prefix}{i}": line.enter(f"{prefix}{i}") for i in range(count)}


def test_before_the_opening_nobody_has_a_rank(lottery):
    line = lottery()
    first, second = line.enter("a"), line.enter("b")
    for answer in (first, second, line.position("a"), line.enter("a", first.ticket)):
        assert (answer.status, answer.rank, answer.lane, answer.exact_only) == ("WAITING", -1, "lottery", 1)
        assert answer.queue_state == "PRE_OPEN"
    assert (first.seq, second.seq, second.waiting) == (1, 2, 2)
    assert line.promote(10).admitted == 0
    found = line.find("a")
    assert (found[0], found[3], found[-1]) == ("WAITING", -1, "lottery")
    line.check()


def test_the_list_and_its_hash_go_along_with_entries(lottery):
    line = lottery()
    enter_all(line, 5)
    line.enter("m2")
    line.leave("m1")
    line.enter("m1")
    lines = line.redis.lrange(line.key("entrants"), 0, -1)
    assert lines == ["1 m0", "2 m1", "3 m2", "4 m3", "5 m4", "6 m1"]
    assert line.redis.hget(line.key("state"), "drawList") == list_hash(lines)


def test_nobody_is_let_in_before_the_draw_is_put_down(lottery):
    line = lottery()
    enter_all(line, 20)
    tick = open_up(line)
    assert (tick.queue_state, tick.admitted, tick.draw_waits) == ("OPEN", 0, 1)
    late = line.enter("late")
    assert (late.lane, late.rank, late.exact_only, late.waiting) == ("main", 20, 1, 21)
    assert line.position("m3").rank == -1
    assert line.promote(10).admitted == 0
    hash_before, ranges = line.closed_list()
    assert ranges == "1-20"
    line.enter("m3")
    assert line.closed_list() == [hash_before, "1-20"], "a closed list does not change"
    draw = line.hold_draw()
    assert line.promote(0).draw_waits == 0
    for i in range(20):
        assert line.position(f"m{i}").rank == draw.place(i + 1)
    assert line.position("late").rank == 20
    line.check()


@pytest.mark.parametrize("count, batch", [(1, 1), (2, 1), (7, 3), (300, 40), (1203, 200)])
def test_they_go_in_by_the_places_drawn_and_the_late_behind(lottery, count, batch):
    line = lottery()
    enter_all(line, count)
    open_up(line)
    enter_all(line, 25, "late")
    draw = line.hold_draw()
    by_place = sorted((f"m{i}" for i in range(count)), key=lambda name: draw.place(int(name[1:]) + 1))
    expected = by_place + [f"late{i}" for i in range(25)]
    admitted = []
    for group in walk_off(line, batch):
        assert group == set(expected[len(admitted):len(admitted) + len(group)])
        admitted += group
    assert sorted(admitted) == sorted(expected)
    line.check()
    assert line.place("m0").seq == 1


@pytest.mark.on("cluster")
def test_ranks_are_exact_all_along(lottery):
    line = lottery(pickupSeconds=10)
    dice = random.Random(7)
    names = [f"m{i}" for i in range(400)]
    enter_all(line, 400)
    for name in dice.sample(names, 60):
        line.leave(name)
    open_up(line)
    late = [f"late{i}" for i in range(20)]
    enter_all(line, 20, "late")
    draw = line.hold_draw()
    line.promote(0)
    while True:
        standing = {name: line.position(name) for name in names + late}
        waiting = {name: it for name, it in standing.items() if it.status == "WAITING"}
        expected = sorted(waiting, key=lambda name: (waiting[name].lane == "main", draw.place(waiting[name].seq) or 0,
                                                     waiting[name].seq))
        assert [waiting[name].rank for name in expected] == list(range(len(waiting)))
        line.check()
        if not waiting:
            break
        for _ in range(10):
            name = dice.choice(names + late)
            what = dice.random()
            if what < 0.4:
                line.leave(name)
            elif what < 0.6:
                line.end(name)
            elif what < 0.7 and standing[name].status == "WAITING":
                line.admit(name)
            elif standing[name].status == "WAITING":
                line.enter(name)
        line.promote(dice.randrange(1, 30))
        line.advance(dice.randrange(100, 3000))


@pytest.mark.on("cluster")
def test_ranks_far_from_the_front_count_those_who_left(lottery):
    """Beyond what was walked off ahead, ranks come from the places and from who left of them."""
    line = lottery()
    dice = random.Random(11)
    names = [f"m{i}" for i in range(2000)]
    numbers = {name: answer.seq for name, answer in enter_all(line, 2000).items()}
    for name in dice.sample(names, 100):
        line.leave(name)
    open_up(line)
    draw = line.hold_draw()
    said = {line.position(name).rank for name in names[:50] if line.position(name).status == "WAITING"}
    assert said == {-1}, "nothing is said before it is exact"
    for _ in range(9):
        line.promote(0)
    assert line.redis.zcard(line.key("draw")) > 500, "they are not all walked off"

    def check(members):
        standing = sorted((name for name in names if name in members), key=lambda name: draw.place(numbers[name]))
        ranks = [line.position(name).rank for name in standing]
        assert ranks == list(range(len(standing)))

    members = set(line.members("draw")) | set(line.members("drawn"))
    check(members)
    for name in dice.sample(sorted(members), 200):
        {0: line.leave, 1: line.end, 2: line.admit}[dice.randrange(3)](name)
        members.discard(name)
    check(members)
    line.promote(50)
    check(set(line.members("draw")) | set(line.members("drawn")))
    line.check()


def test_who_was_set_aside_stands_first_at_the_drawn_place(lottery):
    line = lottery(pickupSeconds=5)
    enter_all(line, 30)
    open_up(line)
    draw = line.hold_draw()
    by_place = sorted(range(1, 31), key=draw.place)
    line.promote(10)
    line.advance(6000)
    line.promote(0)
    assert len(line.members("away")) == 10
    for number in by_place[5:10]:
        back = line.position(f"m{number - 1}")
        assert (back.status, back.lane, back.seq) == ("WAITING", "lottery", number)
    assert [line.position(f"m{number - 1}").rank for number in by_place[5:12]] == list(range(7))
    line.promote(5)
    assert {line.place(name).seq for name in line.redis.hkeys(line.key("places"))} == set(by_place[5:10])
    line.check()


def test_an_admission_by_the_operator_may_come_back_at_its_place(lottery):
    line = lottery(pickupSeconds=5)
    enter_all(line, 10)
    line.admit("m4")
    assert line.position("m4").status == "READY"
    open_up(line)
    draw = line.hold_draw()
    line.promote(0)
    last = max(range(1, 11), key=draw.place)
    victim = f"m{last - 1}"
    if victim != "m4":
        assert line.admit(victim) == "ADMITTED"
        line.redis.zadd(line.key("pickup"), {victim: 1})
        line.promote(0)
        assert victim in line.members("away")
        others = line.position("nobody").waiting
        assert (line.position(victim).rank, line.position(victim).waiting) == (others, others + 1)
    line.check()


def set_aside_after_operator(line, member):
    """Let in by an operator, not picked up: away with the number kept."""
    assert line.admit(member) == "ADMITTED"
    line.redis.zadd(line.key("pickup"), {member: 1})
    line.promote(0)
    assert member in line.members("away")


def test_who_comes_back_before_the_draw_takes_part_in_it(lottery):
    line = lottery()
    enter_all(line, 30)
    set_aside_after_operator(line, "m4")
    assert (line.position("m4").lane, line.position("m4").rank) == ("lottery", -1)
    open_up(line)
    draw = line.hold_draw()
    line.promote(0)
    assert [line.position(f"m{i}").rank for i in range(30)] == [draw.place(i + 1) for i in range(30)]
    line.check()


@pytest.mark.on("cluster")
def test_who_comes_back_far_from_the_front_has_the_drawn_place(lottery):
    line = lottery()
    enter_all(line, 1400)
    open_up(line)
    draw = line.hold_draw()
    for _ in range(8):
        line.promote(0)
    far = sorted(range(1, 1401), key=draw.place)[1300]
    set_aside_after_operator(line, f"m{far - 1}")
    assert line.position(f"m{far - 1}").rank == 1300
    assert f"m{far - 1}" in line.members("draw")
    for number in random.sample(range(1, 1401), 300):
        assert line.position(f"m{number - 1}").rank == draw.place(number)
    line.check()


def test_takeovers_reset_and_deletion(lottery):
    line = lottery()
    old = line.enter("m").ticket
    new = line.enter("m")
    assert (new.code, new.seq, new.generation) == ("ALREADY", 1, 1)
    assert line.position("m", old).code == "SESSION_REVOKED"
    assert line.leave("m", old) == "SESSION_REVOKED"
    enter_all(line, 5)
    open_up(line)
    line.hold_draw()
    again = line.enter("m0")
    assert (again.generation, again.lane) == (1, "lottery")
    line.promote(0)
    assert line.enter("m0").generation == 2
    assert line.leave("m0") == "LEFT"
    line.epoch += 1
    line.publish(lotteryDraw="")
    assert line.position("m1").status == "NOT_ENTERED"
    assert line.closed_list() == [None, None]
    assert {key.split(":")[-1] for key in line.redis.keys("sluice:*")} == {"settings", "state", "leader"}


def test_an_empty_lottery_opens_as_a_line(lottery):
    line = lottery()
    line.enter("gone")
    line.leave("gone")
    tick = open_up(line)
    assert tick.draw_waits == 0
    assert line.enter("m").lane == "main"
    assert line.promote(10).admitted == 1
    line.check()


def test_the_priority_lane_is_served_while_the_draw_is_put_down(lottery):
    line = lottery()
    line.add_codes("priority", "VIP", uses=10)
    enter_all(line, 6)
    moved = line.enter("m2", code="VIP")
    assert (moved.lane, moved.seq, moved.rank) == ("priority", 3, 0)
    line.enter("p", code="VIP")
    open_up(line)
    assert line.promote(10).admitted == 2
    draw = line.hold_draw()
    line.promote(0)
    numbers = sorted((1, 2, 4, 5, 6), key=draw.place)
    assert [line.position(f"m{number - 1}").rank for number in numbers] == [0, 1, 2, 3, 4]
    line.check()


def test_nobody_joins_a_closed_list_even_if_the_clock_steps_back(lottery):
    line = lottery()
    enter_all(line, 3)
    open_up(line)
    line.publish(opensAt=line.scripts.now() + HOUR)
    assert line.enter("new").lane == "main"
    assert line.redis.llen(line.key("entrants")) == 3


def test_a_mode_that_changes_all_the_same_strands_nobody(lottery):
    line = lottery()
    enter_all(line, 600)
    line.publish(mode="fifo", opensAt="")
    admitted = [member for group in walk_off(line, 100) for member in group]
    assert sorted(admitted) == sorted(f"m{i}" for i in range(600))
    line.check()


def lose(line, floor=1000, recovery_ms=0):
    line.redis.flushall()
    line.incarnation += 1
    assert line.prepare() == "LOADED"
    assert line.publish(seq_floor=floor, recovery_ms=recovery_ms, intent="recover") == "PUBLISHED"
    line.lead()
    line.advance(1000)
    line.settings["opensAt"] = line.redis.hget(line.key("settings"), "opensAt")


def test_the_draw_survives_a_loss(lottery):
    line = lottery()
    tickets = {name: answer.ticket for name, answer in enter_all(line, 200).items()}
    open_up(line)
    late = line.enter("late").ticket
    draw = line.hold_draw()
    by_place = sorted((f"m{i}" for i in range(200)), key=lambda name: draw.place(tickets[name].seq))
    line.promote(30)
    lose(line)
    assert line.position("late", late).rank == 0
    back = random.Random(2).sample(by_place, 150)
    for name in back:
        answer = line.position(name, tickets[name])
        assert (answer.lane, answer.seq) == ("lottery", tickets[name].seq)
    standing = [name for name in by_place if name in back]
    assert [line.position(name).rank for name in standing] == list(range(150))
    assert line.position("late").rank == 150
    assert line.enter("new").lane == "main"
    line.promote(40)
    assert set(line.redis.hkeys(line.key("places"))) == set(standing[:40])
    very_late = next(name for name in by_place if name not in back)
    assert line.position(very_late, tickets[very_late]).lane == "lottery"
    line.check()


def test_a_loss_before_the_draw_draws_among_those_who_come_back(lottery):
    line = lottery()
    tickets = {name: answer.ticket for name, answer in enter_all(line, 40).items()}
    lose(line, floor=1_000_000, recovery_ms=5000)
    for name in list(tickets)[:30]:
        answer = line.position(name, tickets[name])
        assert (answer.lane, answer.rank) == ("lottery", -1)
    new = [line.enter(f"new{i}") for i in range(10)]
    assert [answer.lane for answer in new] == ["lottery"] * 10
    assert new[0].seq == 1_000_001
    line.advance(HOUR)
    line.settings["opensAt"] = line.redis.hget(line.key("settings"), "opensAt")
    line.promote(0)
    assert line.closed_list()[1] == "1-30,1000001-1000010"
    assert line.closed_list()[0] == list_hash(line.redis.lrange(line.key("entrants"), 0, -1))
    very_late = line.position("m39", tickets["m39"])
    assert very_late.lane == "main", "it stands before all who entered after the opening"
    line.enter("after")
    draw = line.hold_draw()
    assert draw.count == 40
    admitted = [member for group in walk_off(line, 1) for member in group]
    assert admitted[-1] == "after" and admitted[-2] == "m39"
    assert len(admitted) == 42
    line.check()


def test_a_forged_range_is_no_way_in(lottery):
    """A ticket that says lottery, of a number that the draw does not know, is no place in it."""
    line = lottery()
    enter_all(line, 5)
    open_up(line)
    line.hold_draw()
    lose(line)
    assert line.position("x", Ticket(77, 0, 1, 1, "lottery")).lane == "main"
    line.check()


def test_losses_of_time_are_bounded(lottery):
    """A line with a long run of people who left is walked over in bounded calls, and nobody is skipped."""
    line = lottery()
    count = 6000
    with line.redis.pipeline() as pipe:
        pipe.zadd(line.key("draw"), {f"m{i}": (i + 1) * 4096 for i in range(0, count, 50)})
        pipe.hset(line.key("state"), mapping={"seq": count, "drawFirst": 1, "drawLast": count, "drawList": "ab"})
        pipe.rpush(line.key("drawLeft"), *[i + 1 for i in range(count) if i % 50])
        pipe.execute()
    open_up(line)
    draw = line.hold_draw()
    calls, admitted = 0, []
    while line.position("nobody").waiting:
        before = set(line.redis.hkeys(line.key("places")))
        line.promote(5)
        new = set(line.redis.hkeys(line.key("places"))) - before
        admitted.append(new)
        calls += 1
        assert calls < 200
    order = [draw.place(line.place(name).seq) for group in admitted
             for name in sorted(group, key=lambda name: draw.place(line.place(name).seq))]
    assert order == sorted(order) and len(order) == 120
    assert line.redis.zcard(line.key("drawGone")) == 0 or max(Counter(order).values()) == 1
    line.check()
