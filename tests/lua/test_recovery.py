"""Redis lost its memory: tickets bring their owners back to their own numbers."""

import random

import pytest
from redis.exceptions import ResponseError

from lib.line import Ticket

FAST = {"ratePerSecond": 100000, "burst": 100000, "maxActive": 100000}


@pytest.fixture
def lost(make_line):
    """A queue and a function that loses it: Redis forgets, PostgreSQL raises the incarnation, reconcile
    loads who has spent an admission."""
    line = make_line(**FAST)

    def lose(spent=(), floor=1000, recovery_ms=0, unpaid=()):
        line.redis.flushall()
        line.incarnation += 1
        assert line.prepare(*spent) == "LOADED"
        assert not unpaid or line.call("unpaid_load", line.incarnation, *unpaid) == ["LOADED"]
        assert line.publish(seq_floor=floor, recovery_ms=recovery_ms, intent="recover") == "PUBLISHED"
        line.lead()
        line.advance(1000)

    line.lose = lose
    return line


def test_waiting_members_keep_number_and_order(lost):
    tickets = {f"m{i}": lost.enter(f"m{i}").ticket for i in range(50)}
    lost.lose()
    members = list(tickets)
    random.Random(3).shuffle(members)
    for member in members:
        back = lost.position(member, tickets[member])
        assert (back.status, back.seq, back.incarnation) == ("WAITING", tickets[member].seq, 2)
    assert [lost.position(f"m{i}").rank for i in range(50)] == list(range(50))
    assert lost.promote(20).admitted == 20
    assert set(lost.check()) == {f"m{i}" for i in range(20)}


def test_newcomers_stand_behind_every_number_given(lost):
    tickets = [lost.enter(f"m{i}").ticket for i in range(5)]
    lost.lose(floor=900)
    new = lost.enter("new")
    assert new.seq == 901
    for i, ticket in enumerate(tickets):
        assert lost.position(f"m{i}", ticket).rank == i
    assert lost.position("new").rank == 5


def place_from_board(line, seq):
    """As the waiting page computes it from the public state, 1 for the first."""
    state = line.call("queue_state")
    head, departures = state[3], [int(word) for word in state[12]]
    gone = [(1024 * at, 1024 * at + 1023, count) for at, count in zip(departures[::2], departures[1::2])]
    gone.append((head, *state[15:17]))
    place = seq - head + 1 - sum(count for first, last, count in gone if first >= head and last < seq)
    return min(max(place, 1), state[2])


@pytest.mark.on("cluster")
@pytest.mark.parametrize("how", ["upgrade", "upgrade, then departures", "ticket"])
def test_departures_of_a_range_count_once(make_line, how):
    """Departures in the range of the last number, before and after the first tick after an upgrade, or a ticket above the counter."""
    line = make_line(**FAST)
    line.redis.hset(line.key("state"), "seq", 900)
    for i in range(400):
        line.enter(f"m{i}")
    if how == "upgrade, then departures":
        line.redis.hdel(line.key("state"), "countedFrom")
        line.promote(0)
    for i in range(150, 250):
        line.leave(f"m{i}")
    if how == "upgrade":
        line.redis.hdel(line.key("state"), "countedFrom")
        line.promote(0)
    elif how == "upgrade, then departures":
        line.enter("next")
        line.leave("next")
    else:
        line.incarnation += 1
        assert line.prepare(script="spent_settle") == "LOADED"
        assert line.publish(seq_floor=1300, intent="recover") == "PUBLISHED"
        line.lead()
        line.advance(1000)
        assert line.position("late", Ticket(1400, 0, 1, 1)).seq == 1400
    for i in range(900):
        line.enter(f"n{i}")
    it = line.position("n899")
    assert it.seq == {"upgrade": 2200, "upgrade, then departures": 2201, "ticket": 2300}[how]
    assert place_from_board(line, it.seq) == it.rank + 1
    line.check()


@pytest.mark.on("cluster")
@pytest.mark.parametrize("kept", [True, False])
def test_newcomers_can_compute_their_place_after_a_recovery(make_line, kept):
    """Those of before it count as they come back, and as they leave; of those who are lost nobody knows."""
    line = make_line(**FAST)
    line.redis.hset(line.key("state"), "seq", 2000)
    before = {f"m{i}": line.enter(f"m{i}").ticket for i in range(1200)}
    for i in range(30, 80):
        line.leave(f"m{i}")
    assert place_from_board(line, before["m1199"].seq) == 1150
    if kept:
        line.incarnation += 1
        assert line.prepare(script="spent_settle") == "LOADED"
    else:
        line.redis.flushall()
        line.incarnation += 1
        assert line.prepare() == "LOADED"
    assert line.publish(seq_floor=1_000_000, intent="recover") == "PUBLISHED"
    line.lead()
    line.advance(1000)
    back = [f"m{i}" for i in range(1200) if not 30 <= i < 80 and i % 10]
    if not kept:
        for member in back:
            line.position(member, before[member])
    assert [line.enter(f"n{i}").seq for i in range(100)] == list(range(1_000_001, 1_000_101))
    line.leave("n50")

    def agree(*members):
        for member in members:
            it = line.position(member)
            assert place_from_board(line, it.seq) == it.rank + 1, member
    agree("n0", "n49")
    for member in ("m2", "m901", "m902", "m1199"):
        line.leave(member)
    agree("n0", "n49")
    line.promote(10)
    agree("n0", "n49")
    while len(line.members("waiting")) > 90:
        line.promote()
    assert line.call("queue_state")[15:17] == [0, 0]
    line.check()


def test_ticket_above_the_floor_lifts_the_counter(lost):
    lost.enter("m")
    lost.lose(floor=10)
    assert lost.position("m", Ticket(5000, 0, 1, 1)).seq == 5000
    assert lost.enter("new").seq == 5001


def test_whoever_ordered_gets_no_second_place(lost):
    tickets = {member: lost.enter(member).ticket for member in "abc"}
    lost.lose(spent=[tickets["b"].seq])
    assert lost.position("b", tickets["b"]).status == "NOT_ENTERED"
    assert lost.position("a", tickets["a"]).rank == 0
    assert lost.position("c", tickets["c"]).rank == 1
    assert lost.enter("b", tickets["b"]).code == "ENTERED", "a new place, at the end"
    assert lost.position("b").rank == 2
    lost.check()


def test_tokens_of_before_are_void(lost):
    ticket = lost.enter("m").ticket
    lost.promote()
    token = lost.position("m").token
    lost.lose()
    assert lost.claim("m", token) == ["ENTRY_TOKEN_INVALID"]
    assert lost.position("m", ticket).status == "WAITING"
    assert lost.claim("m", token) == ["ENTRY_TOKEN_INVALID"]
    lost.promote()
    assert lost.claim("m", lost.position("m").token)[0] == "CLAIMED"


def test_one_number_is_seated_once(lost):
    """After the second turn is over, one more copy of the ticket does not bring a third."""
    ticket = lost.enter("m").ticket
    lost.lose()
    lost.position("m", ticket)
    lost.promote()
    token = lost.position("m", ticket).token
    lost.claim("m", token)
    assert lost.position("m", ticket).ordering == 1
    lost.consume("m", token)
    assert lost.position("m", ticket).status == "NOT_ENTERED"
    assert lost.enter("m", ticket).seq == 1001


@pytest.mark.parametrize("seated_before", [True, False])
def test_leaving_holds(lost, seated_before):
    ticket = lost.enter("m").ticket
    lost.lose()
    if seated_before:
        lost.position("m", ticket)
    assert lost.leave("m", ticket) == ("LEFT" if seated_before else "NOT_THERE")
    assert lost.position("m", ticket).status == "NOT_ENTERED"
    lost.check()


def test_higher_generation_wins(lost):
    old = lost.enter("m").ticket
    new = lost.enter("m").ticket
    lost.lose()
    assert lost.position("m", old).status == "WAITING", "nobody knows of the newer one yet"
    assert lost.position("m", new).status == "WAITING"
    assert lost.position("m", old).code == "SESSION_REVOKED"
    assert lost.position("m", new).generation == 1
    lost.check()


def test_revoked_ticket_stays_revoked_once_the_newer_one_is_seated(lost):
    old = lost.enter("m").ticket
    new = lost.enter("m").ticket
    lost.lose()
    assert lost.position("m", new).status == "WAITING"
    assert lost.position("m", old).code == "SESSION_REVOKED"


def test_place_taken_meanwhile_is_given_up_for_the_own_number(lost):
    ticket = lost.enter("m").ticket
    lost.enter("n")
    lost.lose()
    lost.enter("x")
    assert lost.enter("m").rank == 1, "by login alone: at the end"
    back = lost.position("m", ticket)
    assert (back.rank, back.seq) == (0, 1)
    lost.check()


def test_enter_with_the_old_ticket_is_seated_too(lost):
    ticket = lost.enter("m").ticket
    lost.enter("n")
    lost.lose()
    lost.enter("x")
    back = lost.enter("m", ticket)
    assert (back.code, back.status, back.seq, back.rank) == ("ALREADY", "WAITING", 1, 0)


def test_ticket_of_an_older_epoch_is_not_seated(lost):
    ticket = lost.enter("m").ticket
    lost.epoch = 2
    lost.lose()
    assert lost.position("m", ticket).code == "QUEUE_RESET"
    assert lost.enter("m", ticket).seq == 1001


def test_full_or_closed_queues_take_their_own_people_back(lost):
    ticket = lost.enter("m").ticket
    lost.settings.update(maxWaiting=1, operatorState="DRAINING")
    lost.lose()
    assert lost.position("m", ticket).status == "WAITING"


def test_bucket_is_empty_and_promotion_waits(make_line):
    line = make_line(ratePerSecond=10, burst=100)
    tickets = [line.enter(f"m{i}").ticket for i in range(50)]
    line.redis.flushall()
    line.incarnation = 2
    line.publish(seq_floor=100, recovery_ms=5_000)
    line.lead()
    for i, ticket in enumerate(tickets):
        line.position(f"m{i}", ticket)
    assert line.promote().admitted == 0
    line.advance(4_000)
    assert line.promote().admitted == 0
    line.advance(1_001)
    admitted = line.promote().admitted
    assert 50 <= admitted <= 51, "what the rate has brought since, and no burst"
    assert line.call("stats", samples=0)[18] == 2


def test_bucket_is_empty_after_a_loss(make_line):
    line = make_line(ratePerSecond=1, burst=100)
    line.redis.flushall()
    line.incarnation = 2
    line.publish(seq_floor=100)
    line.lead()
    for i in range(50):
        line.enter(f"m{i}")
    assert line.promote().admitted <= 1


def test_only_recovery_makes_a_lost_line_anew(lost):
    """A change that comes into a Redis without memory, and a recovery that lost its preparation, do nothing."""
    lost.enter("m")
    lost.redis.flushall()
    assert lost.publish(intent="change", message="hello") == "NOT_FOUND"
    lost.incarnation += 1
    lost.prepare(1)
    lost.redis.flushall()
    assert lost.publish(intent="recover") == "NOT_FOUND"
    assert not lost.redis.exists(lost.key("settings"))
    lost.prepare(1)
    assert lost.publish(intent="recover") == "PUBLISHED"
    assert lost.publish(intent="change", message="hello") == "PUBLISHED"


def test_a_reset_keeps_what_orders_left_behind(lost):
    lost.enter("m")
    lost.lead()
    lost.advance(1000)
    lost.promote(1)
    token = lost.position("m").token
    lost.claim("m", token)
    lost.consume("m", token, keep_place=1)
    lost.epoch += 1
    lost.publish()
    assert lost.claim("m", token)[0] == "REPLAY"
    assert lost.enter("m").code == "ALREADY_ACTIVE"


def test_spent_numbers_are_loaded_only_before_the_queue_is_back(lost):
    lost.enter("m")
    assert lost.load_spent(1, 2, 3) == "PRESENT"
    assert lost.redis.exists(lost.key("seated")) == 0


@pytest.fixture
def failed_over(make_line):
    """A replica took over that had everything: the incarnation is raised, the line is there."""
    line = make_line(**FAST)

    def fail_over():
        line.incarnation += 1
        line.publish(seq_floor=1000)
        line.advance(1000)

    line.fail_over = fail_over
    return line


def test_fail_over_without_a_loss_changes_no_place(failed_over):
    line = failed_over
    tickets = {f"m{i}": line.enter(f"m{i}").ticket for i in range(10)}
    line.promote(3)
    token = line.position("m0").token
    line.fail_over()
    assert line.position("m0", tickets["m0"]).token == token
    assert [line.position(f"m{i}", tickets[f"m{i}"]).rank for i in range(3, 10)] == list(range(7))
    assert line.enter("new").seq == 1001
    line.check()


@pytest.mark.parametrize("end", ["expire", "leave by login", "order"])
def test_a_turn_that_is_over_is_over_after_a_fail_over(failed_over, end):
    """A ticket of the incarnation before does not bring a number back whose turn has ended since."""
    line = failed_over
    ticket = line.enter("m").ticket
    line.enter("n")
    line.fail_over()
    line.promote(1)
    token = line.position("m").token
    if end == "expire":
        line.advance(300_001)
        line.promote(0)
    elif end == "order":
        line.claim("m", token)
        line.consume("m", token)
    else:
        assert line.leave("m") == "LEFT"
    after = line.position("m", ticket)
    assert after.status == "NOT_ENTERED"
    assert line.enter("m", ticket).seq > 1000, "a new place, at the end"
    line.check()


def test_whoever_ordered_before_a_fail_over_gets_no_second_place(failed_over):
    line = failed_over
    ticket = line.enter("m").ticket
    line.enter("n")
    line.promote(1)
    token = line.position("m").token
    line.claim("m", token)
    line.consume("m", token)
    line.fail_over()
    assert line.position("m", ticket).status == "NOT_ENTERED"
    assert line.enter("m", ticket).seq > 1000


def test_reset_forgets_whose_turn_was_over(failed_over):
    """Numbers start anew: that of somebody of the epoch before must not stand in a new owner's way."""
    line = failed_over
    line.enter("old")
    line.fail_over()
    line.promote(1)
    token = line.position("old").token
    line.claim("old", token)
    line.consume("old", token)
    line.epoch = 2
    line.publish()
    ticket = line.enter("new").ticket
    assert ticket.seq == 1
    line.redis.delete(line.key("waiting"))
    line.incarnation += 1
    line.publish()
    assert line.position("new", ticket).status == "WAITING"


@pytest.mark.parametrize("end", ["expire", "leave by login"])
def test_a_turn_that_is_over_is_over_after_a_loss_too(lost, end):
    ticket = lost.enter("m").ticket
    lost.lose()
    lost.position("m", ticket)
    lost.promote(1)
    lost.position("m", ticket)
    if end == "expire":
        lost.advance(300_001)
        lost.promote(0)
    else:
        lost.leave("m")
    assert lost.position("m", ticket).status == "NOT_ENTERED"


def test_a_stale_screen_that_leaves_takes_nothing_from_the_current_one(lost):
    old = lost.enter("m").ticket
    new = lost.enter("m").ticket
    lost.lose()
    lost.position("m", new)
    assert lost.leave("m", old) == "SESSION_REVOKED"
    assert lost.position("m", new).rank == 0


@pytest.fixture
def cut(make_line):
    """A queue and a function that loses its end: what Redis has is older than PostgreSQL's books. The incarnation is
    raised, reconcile tells who has spent an admission, and the line goes on."""
    line = make_line(**FAST, priorityShare=0.5)

    def lose_the_end(spent=(), floor=1000, recovery_ms=0):
        line.incarnation += 1
        assert line.load_spent(*spent) == "PRESENT"
        assert line.prepare(*spent, script="spent_settle") == "LOADED"
        assert line.publish(seq_floor=floor, recovery_ms=recovery_ms, intent="recover") == "PUBLISHED"
        line.lead()
        line.advance(1000)

    line.lose_the_end = lose_the_end
    return line


def test_a_line_that_lost_its_end_keeps_what_it_has(cut):
    tickets = {member: cut.enter(member).ticket for member in "abc"}
    cut.promote(1)
    token = cut.position("a").token
    # Entered in the lost moments.
    late = Ticket(4, 0, 1, 1)
    cut.lose_the_end()
    assert cut.position("a", tickets["a"]).token == token, "a token that Redis knows is good"
    assert [cut.position(member, tickets[member]).rank for member in "bc"] == [0, 1]
    assert cut.enter("new").seq == 1001
    back = cut.position("d", late)
    assert (back.seq, back.rank) == (4, 2)
    assert cut.position("new").rank == 3
    assert cut.claim("a", token)[0] == "CLAIMED"
    cut.check()


@pytest.mark.parametrize("by", ["poll", "entry", "leaving"])
@pytest.mark.parametrize("state", ["WAITING", "READY", "CLAIMED", "AWAY"])
def test_a_take_over_in_the_lost_moments_counts(cut, state, by):
    """The later screen's ticket is all that is left of it: it goes on there, and the earlier one is revoked."""
    line = cut
    line.publish(pickupSeconds=1)
    old = line.enter("m").ticket
    token = None
    if state != "WAITING":
        line.promote(1)
    if state in ("READY", "CLAIMED"):
        token = line.position("m").token
    if state == "CLAIMED":
        assert line.claim("m", token)[0] == "CLAIMED"
    if state == "AWAY":
        line.advance(5000)
        line.promote(1)
        assert line.members("away") == ["m"]
    new = Ticket(old.seq, old.generation + 2, old.epoch, old.incarnation)
    line.lose_the_end()
    if by == "leaving":
        assert line.leave("m", new) == ("ORDER_IN_PROGRESS" if state == "CLAIMED" else "LEFT")
        assert line.position("m", old).status == ("READY" if state == "CLAIMED" else "NOT_ENTERED")
        return
    ask, code = (line.position, "OK") if by == "poll" else (line.enter, "ALREADY")
    for _ in range(2):
        answer = ask("m", new)
        assert (answer.code, answer.seq, answer.generation) == (code, old.seq, new.generation)
        assert (answer.status, answer.token) == (("READY", token) if token else ("WAITING", ""))
        assert line.position("m", old).code == line.enter("m", old, mode="stay").code == "SESSION_REVOKED"
    if state == "READY":
        assert line.claim("m", token)[0] == "CLAIMED"
    if token:
        assert line.consume("m", token) == "CONSUMED"
    line.check()


def test_whoever_ordered_in_the_lost_moments_leaves_the_line(cut):
    cut.add_codes("priority", "VIP-1", uses=10)
    cut.add_codes("invite", "INV-1", uses=10)
    tickets = {"ready": cut.enter("ready").ticket}
    cut.promote(1)
    tickets["waiting"] = cut.enter("waiting").ticket
    tickets["first"] = cut.enter("first", code="VIP-1").ticket
    tickets["other"] = cut.enter("other").ticket
    cut.lose_the_end(spent=[ticket.seq for member, ticket in tickets.items() if member != "other"])
    for member in ("ready", "waiting", "first"):
        assert cut.position(member, tickets[member]).status == "NOT_ENTERED", member
        assert cut.place(member) is None
    assert cut.position("other", tickets["other"]).rank == 0
    assert cut.counter("consumed") == 3
    assert cut.promote(5).admitted == 1
    cut.check()


def test_who_is_set_aside_and_has_ordered_does_not_come_back(make_line):
    line = make_line(**FAST, pickupSeconds=1)
    ticket = line.enter("m").ticket
    line.promote(1)
    line.advance(5000)
    line.promote(1)
    assert line.members("away") == ["m"]
    line.incarnation += 1
    assert line.prepare(ticket.seq, script="spent_settle") == "LOADED"
    assert line.publish(intent="recover") == "PUBLISHED"
    assert line.members("away") == []
    assert line.position("m", ticket).status == "NOT_ENTERED"


@pytest.mark.parametrize("since", ["waiting", "with a token", "set aside"])
def test_whoever_was_seated_again_and_orders_in_the_lost_moments_has_had_the_turn(lost, since):
    """The number has been marked since its owner came back after the first loss; the second one hides the order."""
    line = lost
    ticket = line.enter("m").ticket
    other = line.enter("other").ticket
    line.lose()
    line.publish(pickupSeconds=1)
    assert line.position("m", ticket).status == "WAITING"
    if since != "waiting":
        line.promote(1)
    if since == "set aside":
        line.advance(5000)
        line.promote(0)
        assert line.members("away") == ["m"]
    line.incarnation += 1
    for _ in range(2):
        assert line.load_spent(ticket.seq, script="spent_settle") == "LOADED"
    assert line.load_spent(after=ticket.seq, script="spent_settle") == "LOADED"
    assert line.counter("consumed") == 1
    assert line.publish(intent="recover") == "PUBLISHED"
    line.advance(1000)
    assert line.place("m") is None and line.members("away") == []
    assert line.position("m", ticket).status == "NOT_ENTERED"
    assert line.position("other", other).rank == 0
    line.check()


def test_whoever_an_operator_has_let_in_and_orders_in_the_lost_moments_has_had_the_turn(cut):
    """Leaving the line has marked the number, which the place keeps."""
    ticket = cut.enter("m").ticket
    assert cut.admit("m") == "ADMITTED"
    cut.lose_the_end(spent=[ticket.seq])
    assert cut.place("m") is None
    assert cut.position("m", ticket).status == "NOT_ENTERED"
    assert cut.counter("consumed") == 1
    cut.check()


PLACES = """for i = ARGV[1], ARGV[2] do
    redis.call('HSET', KEYS[1], 'm' .. i, string.format('%d/0/a%d/t%d///0', i, i, i))
    redis.call('ZADD', KEYS[2], 4e12, 'm' .. i)
    redis.call('ZADD', KEYS[3], 4e12, 'm' .. i)
    redis.call('SETBIT', KEYS[4], i, i % 2)
end"""


def make_places(line, count):
    """READY members with the numbers from 1 on; the odd numbers are marked."""
    line.redis.eval(PLACES, 4, *(line.key(name) for name in ("places", "ready", "pickup", "seated")), 1, count)
    line.redis.hset(line.key("state"), "seq", count)


def durations_us(line, calls):
    line.redis.config_set("slowlog-max-len", 10_000)
    line.redis.config_set("slowlog-log-slower-than", 0)
    line.redis.slowlog_reset()
    calls()
    found = [entry["duration"] for entry in line.redis.slowlog_get(10_000) if entry["command"].startswith(b"EVALSHA")]
    line.redis.config_set("slowlog-log-slower-than", 10_000)
    return found


def test_no_call_of_a_recovery_takes_longer_with_the_number_of_places(make_line):
    """A call that outlasts the timeout would begin the recovery anew, each time."""
    pages = {}
    for count in (1000, 50_000):
        line = make_line(**FAST)
        make_places(line, count)
        line.incarnation += 1
        numbers = range(1_000_001, 1_001_001)
        assert line.load_spent(*numbers, script="spent_settle") == "LOADED"
        pages[count] = min(durations_us(line, lambda: [line.load_spent(*numbers, script="spent_settle") for _ in range(5)]))
    # A page that reads all places takes a hundred milliseconds; the constant is for a busy machine.
    bound = 3 * pages[1000] + 20_000
    assert pages[50_000] < bound
    steps = durations_us(line, lambda: [line.load_spent(after=1_001_000, script="spent_settle") for _ in range(5)])
    assert min(steps) < bound
    assert line.load_spent(after=1_001_000, script="spent_settle") == "MORE"
    assert line.prepare(script="spent_settle") == "LOADED"


def test_a_recovery_looks_through_all_places(cut):
    """Those of spent numbers end, and each counts once, whatever has been marked or prepared before."""
    line = cut
    make_places(line, 2500)
    claimed = ("m10", "m11")
    for member in claimed:
        line.redis.hset(line.key("places"), member, f"{member[1:]}/0/a/t/c/k/0")
        line.redis.zrem(line.key("ready"), member)
        line.redis.zrem(line.key("pickup"), member)
        line.redis.zadd(line.key("claimed"), {member: 4e12})
    spent = [1, 2, 10, 11, 1250, 1251, 2499, 2500]
    line.incarnation += 1
    assert line.load_spent(*spent, script="spent_settle") == "LOADED"
    assert line.load_spent(after=2500, script="spent_settle") == "MORE"
    assert line.publish(seq_floor=3000, intent="recover") == "NOT_FOUND", "the preparation is not complete"
    line.lose_the_end(spent, floor=3000)
    gone = {f"m{number}" for number in spent} - set(claimed)
    assert set(line.redis.hkeys(line.key("places"))) == {f"m{i}" for i in range(1, 2501)} - gone
    assert not gone & set(line.members("ready")) and not gone & set(line.members("pickup"))
    assert line.counter("consumed") == len(gone)
    assert not line.redis.exists(line.key("seatedNext"))
    line.lose_the_end(spent, floor=4000)
    assert line.counter("consumed") == len(gone)
    line.check()


def test_a_recovery_misses_no_place_where_one_is_added_meanwhile(cut):
    """A late release of a claim stands below those that are still to come."""
    make_places(cut, 1200)
    spent = range(201, 1201)
    cut.incarnation += 1
    assert cut.load_spent(*spent, script="spent_settle") == "LOADED"
    assert cut.load_spent(after=1200, script="spent_settle") == "MORE"
    cut.redis.zadd(cut.key("ready"), {f"late{i}": 1 for i in range(50)})
    while cut.load_spent(after=1200, script="spent_settle") == "MORE":
        pass
    assert not {f"m{number}" for number in spent} & set(cut.redis.hkeys(cut.key("places")))


def test_a_claim_that_has_spent_its_number_is_counted_by_its_settling(cut):
    cut.enter("m")
    cut.promote(1)
    token = cut.position("m").token
    assert cut.claim("m", token)[0] == "CLAIMED"
    cut.lose_the_end(spent=[cut.place("m").seq])
    assert cut.place("m").claim and cut.counter("consumed") == 0
    assert cut.consume("m", token) == "CONSUMED"
    assert cut.counter("consumed") == 1


def test_a_claim_that_is_settled_while_a_recovery_goes_on_is_counted_once(cut):
    """Its number's page has come, and counted it; the places are looked at later."""
    cut.enter("m")
    cut.promote(1)
    token, seq = cut.position("m").token, cut.position("m").seq
    assert cut.claim("m", token)[0] == "CLAIMED"
    cut.incarnation += 1
    assert cut.load_spent(seq, script="spent_settle") == "LOADED"
    assert cut.consume("m", token) == "CONSUMED"
    assert cut.load_spent(after=seq, script="spent_settle") == "LOADED"
    assert cut.counter("consumed") == 1


@pytest.mark.parametrize("state", ["WAITING", "CLAIMED"])
def test_a_leaving_that_is_refused_ends_no_turn(cut, state):
    """The member is still there: the ticket must keep its number."""
    old = cut.enter("m").ticket
    current = cut.enter("m").ticket
    if state == "CLAIMED":
        cut.promote(1)
        assert cut.claim("m", cut.position("m").token)[0] == "CLAIMED"
    cut.lose_the_end()
    by, refusal = (old, "SESSION_REVOKED") if state == "WAITING" else (current, "ORDER_IN_PROGRESS")
    assert cut.leave("m", by) == refusal
    assert not cut.redis.getbit(cut.key("seated"), current.seq)
    assert cut.position("m", current).code == "OK"


def test_a_draw_that_was_held_stands_when_the_end_is_lost(make_line):
    line = make_line(**FAST, mode="lottery", opensAt=10**15)
    tickets = {f"m{i}": line.enter(f"m{i}").ticket for i in range(20)}
    line.publish(mode="lottery", opensAt=0)
    line.lead()
    line.advance(1000)
    line.promote(0)
    line.hold_draw()
    line.promote(5)
    before = {member: line.position(member, ticket).rank for member, ticket in tickets.items()}
    ended = [member for member, rank in before.items() if rank in (0, 3)]
    line.incarnation += 1
    assert line.prepare(*(tickets[member].seq for member in ended), script="spent_settle") == "LOADED"
    assert line.publish(intent="recover", mode="lottery", opensAt=0) == "PUBLISHED"
    line.lead()
    line.advance(1000)
    waiting = sorted((rank, member) for member, rank in before.items() if rank is not None and rank >= 0
                     and member not in ended)
    assert [line.position(member, tickets[member]).rank for _rank, member in waiting] == list(range(len(waiting)))


def test_settling_twice_or_late_changes_nothing(cut):
    tickets = [cut.enter(member).ticket for member in "ab"]
    cut.lose_the_end(spent=[tickets[0].seq])
    before = cut.redis.hgetall(cut.key("state"))
    assert cut.load_spent(tickets[1].seq, script="spent_settle") == "PRESENT"
    assert cut.redis.hgetall(cut.key("state")) == before
    assert cut.position("b", tickets[1]).rank == 0


def test_a_reset_that_redis_has_not_heard_of(make_line):
    """Reset and orders are in PostgreSQL, Redis is still in the line before: its people are out, those who have ordered since are
    not seated again, and everybody else of the new line is."""
    line = make_line(**FAST)
    old = [line.enter(f"old{i}").ticket for i in range(6)]
    line.lead()
    line.promote()
    # Somebody of the line before had ordered under a number that the new line has given to somebody else.
    line.redis.setbit(line.key("seated"), 3, 1)
    line.epoch = 2
    line.incarnation += 1
    assert line.load_spent(5) == "PRESENT"
    assert line.load_spent(5, script="spent_settle") == "LOADED"
    assert line.load_spent(7, after=5, script="spent_settle") == "LOADED", "a second page keeps the first"
    assert line.load_spent(after=7, script="spent_settle") == "LOADED"
    assert line.publish(seq_floor=1000, intent="recover") == "PUBLISHED"
    line.advance(1000)
    new = [Ticket(number, 0, 2, 1, "main") for number in (3, 5, 7)]
    assert line.position("new3", new[0]).status == "WAITING"
    assert [line.position(f"new{ticket.seq}", ticket).status for ticket in new[1:]] == ["NOT_ENTERED"] * 2
    assert line.position("old1", old[1]).code == "QUEUE_RESET"
    assert line.redis.hmget(line.key("state"), "mainFront", "prunedTo", "lastServedSeq", "drawClosed") == ["0", "0", None, None]


def test_a_queue_that_redis_knows_as_deleted_comes_back(make_line):
    line = make_line(**FAST)
    line.enter("m")
    line.settings["deleted"] = "1"
    assert line.publish(intent="change") == "PUBLISHED"
    del line.settings["deleted"]
    line.incarnation += 1
    assert line.prepare(4) == "LOADED"
    assert line.publish(seq_floor=10, intent="recover") == "PUBLISHED"
    line.advance(1000)
    assert line.enter("n").rank == 0


def test_whoever_has_an_unpaid_order_is_seated_by_no_older_ticket(lost):
    """Two orders of one member would hold two places, and be counted as one."""
    older = lost.enter("m").ticket
    assert lost.leave("m") == "LEFT"
    ticket = lost.enter("m").ticket
    lost.lose(spent=[ticket.seq], unpaid=["m", "o_1"])
    assert lost.position("m", older).status == "NOT_ENTERED"
    assert lost.enter("m", older).code == "ALREADY_ACTIVE"
    assert lost.call("place_free", "m", "o_1") == ["FREED"]
    assert lost.position("m", older).seq == older.seq, "paid: nothing is lost"
    lost.check()


def test_two_unpaid_orders_of_one_member_hold_two_places(lost):
    """The first was told of after a reset, when its owner had entered again."""
    tokens = []
    for order in ("o_1", "o_2"):
        lost.enter("m")
        lost.promote()
        tokens.append(lost.position("m").token)
        assert lost.claim("m", tokens[-1])[0] == "CLAIMED"
        if order == "o_1":
            lost.epoch += 1
            lost.publish()
            lost.lead()
    assert lost.consume("m", tokens[0], order="o_1", keep_place=1) == "ALREADY"
    assert lost.consume("m", tokens[1], order="o_2", keep_place=1) == "CONSUMED"
    held = lost.redis.hgetall(lost.key("unpaid"))
    assert held == {"m": "o_2 o_1", "m/o_1": "o_1"}
    assert lost.promote().unpaid == 2
    lost.lose(unpaid=["m", "o_1", "m", "o_2"])
    assert lost.redis.hgetall(lost.key("unpaid")) == held
    assert lost.enter("m").code == "ALREADY_ACTIVE"
    assert lost.call("place_free", "m", "o_2") == ["FREED"]
    assert lost.enter("m").code == "ALREADY_ACTIVE", "there is one more"
    assert lost.redis.hgetall(lost.key("unpaid")) == {"m": "o_1"}
    assert lost.consume("m", tokens[0], order="o_1", keep_place=1) == "ALREADY", "held already"
    assert lost.call("place_free", "m", "o_1") == ["FREED"]
    assert lost.call("place_free", "m", "o_1") == ["ALREADY"]
    assert lost.redis.hgetall(lost.key("unpaid")) == {}


# Several recoveries at once, and one after another

def ended(line):
    """The numbers whose turn is over, in the line that is being prepared or else in the one that is there."""
    key = line.key("seatedNext" if line.redis.exists(line.key("seatedNext")) else "seated")
    return [number for number in range(64) if line.redis.getbit(key, number)]


def lost_queue(line):
    """Redis has lost the queue; its recovery is in incarnation 2."""
    line.redis.flushall()
    line.incarnation = 2
    return line


def unknown_reset(line):
    """A reset is in PostgreSQL only, and Redis has lost the end of the queue; its recovery is in incarnation 2."""
    line.enter("old")
    line.redis.setbit(line.key("seated"), 3, 1)
    line.epoch = line.incarnation = 2
    return line


@pytest.fixture
def gone(make_line):
    return lost_queue(make_line(**FAST))


@pytest.fixture(params=[(lost_queue, "spent_load"), (unknown_reset, "spent_settle")], ids=["lost", "reset"])
def recovery(request, make_line):
    """A queue whose line is not there, and the script that prepares it."""
    make, script = request.param
    return make(make_line(**FAST)), script


@pytest.mark.parametrize("raised", [True, False])
def test_a_recovery_that_was_abandoned_leaves_no_number_to_a_later_epoch(recovery, raised):
    """Reconcile dies after its first page, an operator resets the queue; the next reconcile may or may not raise the
    incarnation once more."""
    line, script = recovery
    assert line.load_spent(4, 6, script=script) == "LOADED"
    line.epoch += 1
    line.incarnation += raised
    assert line.prepare(5, script=script) == "LOADED"
    assert ended(line) == [5]
    assert line.publish(seq_floor=1000, intent="recover") == "PUBLISHED"
    ticket = Ticket(4, 0, line.epoch, 1)
    assert line.position("m", ticket).status == "WAITING"
    assert line.position("n", Ticket(5, 0, line.epoch, 1)).status == "NOT_ENTERED"


@pytest.mark.parametrize("when", ["before the first page", "between two pages", "after the last page"])
def test_the_line_before_ends_no_turn_of_the_new_one(make_line, when):
    """A reset is unknown to Redis. The outbox, or a worker that has not noticed the restart, still consumes a token of the
    line before, while the spent numbers of the new line are loaded."""
    line = make_line(**FAST)
    old = line.enter("old").ticket
    line.promote()
    token = line.position("old").token
    line.claim("old", token)
    line.epoch = line.incarnation = 2

    def consume(now):
        assert now != when or line.consume("old", token) == "CONSUMED"
    consume("before the first page")
    assert line.load_spent(5, script="spent_settle") == "LOADED"
    consume("between two pages")
    assert line.load_spent(7, after=5, script="spent_settle") == "LOADED"
    assert line.load_spent(after=7, script="spent_settle") == "LOADED"
    consume("after the last page")
    assert line.publish(seq_floor=1000, intent="recover") == "PUBLISHED"
    line.advance(1000)
    assert ended(line) == [5, 7] and not line.redis.exists(line.key("seatedNext"))
    assert line.position("new", Ticket(old.seq, 0, 2, 1)).status == "WAITING"
    assert line.position("spent", Ticket(5, 0, 2, 1)).status == "NOT_ENTERED"


def test_a_line_without_its_prepared_bitmap_is_not_published(recovery):
    line, script = recovery
    assert line.prepare(4, script=script) == "LOADED"
    line.redis.delete(line.key("seatedNext"))
    before = {key: line.redis.dump(key) for key in line.redis.keys(line.key("*"))}
    with pytest.raises(ResponseError, match="no such key"):
        line.publish(intent="recover", version=2)
    assert {key: line.redis.dump(key) for key in line.redis.keys(line.key("*"))} == before
    line.incarnation += 1
    assert line.prepare(4, script=script) == "LOADED"
    assert line.publish(intent="recover", version=3) == "PUBLISHED"
    assert ended(line) == [4]


@pytest.mark.parametrize("late", ["page", "last page", "publication"])
def test_a_recovery_that_was_overtaken_changes_nothing(recovery, late):
    line, script = recovery
    assert line.load_spent(4, script=script) == "LOADED"
    line.incarnation = 3
    assert line.load_spent(4, 6, script=script) == "LOADED"
    line.incarnation = 2
    if late == "publication":
        assert line.publish(intent="recover", version=2) == "NOT_FOUND"
    else:
        assert line.load_spent(*[6] if late == "page" else [], after=4, script=script) == "OLDER"
        assert line.call("unpaid_load", 2, "m", "o_1") == ["OLDER", 3]
    assert ended(line) == [4, 6]
    line.incarnation = 3
    assert line.prepare(4, 6, script=script) == "LOADED"
    assert line.call("unpaid_load", 3, "m", "o_1") == ["LOADED"]
    assert line.publish(intent="recover", version=3) == "PUBLISHED"
    # And once the queue is back.
    line.incarnation = 2
    assert line.load_spent(8) == "PRESENT"
    assert line.load_spent(8, script="spent_settle") == "OLDER"
    assert line.call("unpaid_load", 2, "n", "o_2") == ["OLDER", 3]
    assert ended(line) == [4, 6] and line.redis.hgetall(line.key("unpaid")) == {"m": "o_1"}


def test_an_earlier_epoch_of_the_same_incarnation_is_overtaken_too(recovery):
    line, script = recovery
    assert line.prepare(4, script=script) == "LOADED"
    line.epoch += 1
    assert line.prepare(5, script=script) == "LOADED"
    line.epoch -= 1
    assert line.load_spent(4, script=script) == "OLDER"
    assert line.publish(intent="recover", version=2) == "NOT_FOUND"
    assert ended(line) == [5]


def test_a_recovery_of_before_a_deletion_changes_nothing(make_line):
    line = make_line(**FAST)
    line.incarnation = 3
    line.publish()
    line.publish(deleted=1)
    line.epoch = 2
    assert line.publish(deleted=0, intent="change") == "PUBLISHED"
    line.enter("m")
    line.leave("m")
    line.epoch, line.incarnation = 1, 2
    assert line.load_spent(2, script="spent_settle") == "OLDER"
    assert ended(line) == [1]


def test_two_recoveries_of_one_incarnation_complete_each_other(recovery):
    line, script = recovery
    assert line.load_spent(1, 2, script=script) == "LOADED"
    assert line.load_spent(1, 2, script=script) == "LOADED"
    assert line.load_spent(4, 5, after=2, script=script) == "LOADED"
    assert line.publish(intent="recover", version=2) == "NOT_FOUND", "not prepared to the end"
    assert line.load_spent(after=5, script=script) == "LOADED"
    assert line.load_spent(4, 5, after=2, script=script) == "LOADED"
    assert ended(line) == [1, 2, 4, 5]
    assert line.publish(intent="recover", version=2) == "PUBLISHED"


def test_a_recovery_during_which_redis_is_lost_again_begins_anew(gone):
    line = gone
    assert line.load_spent(1, 2) == "LOADED"
    line.redis.flushall()
    assert line.load_spent(4, 5, after=2) == "OLDER", "the page before is lost"
    assert line.load_spent(after=5) == "OLDER"
    assert line.call("unpaid_load", line.incarnation, "m", "o_1") == ["OLDER", 0]
    assert line.publish(intent="recover") == "NOT_FOUND"
    # Another reconcile has begun to prepare the same incarnation.
    assert line.load_spent(1) == "LOADED"
    assert line.load_spent(4, 5, after=2) == "OLDER"
    assert line.publish(intent="recover") == "NOT_FOUND"
    assert ended(line) == [1]
    assert line.prepare(1, 2, 4, 5) == "LOADED"
    assert line.publish(intent="recover") == "PUBLISHED"


@pytest.mark.parametrize("deleted", [True, False])
def test_a_queue_made_anew_has_no_number_of_an_abandoned_recovery(make_line, deleted):
    line = make_line(**FAST)
    if deleted:
        line.publish(deleted=1)
    else:
        line.redis.flushall()
    line.incarnation += 1
    assert line.prepare(1, 2) == "LOADED"
    # It was deleted in PostgreSQL, and created again under another epoch.
    line.epoch += 1
    assert line.publish(deleted=0, intent="change" if deleted else "create") == "PUBLISHED"
    ticket = line.enter("m").ticket
    assert ticket.seq == 1 and ended(line) == []


def test_postgresql_that_has_lost_incarnations_catches_up(gone):
    """Redis has prepared a later one than PostgreSQL remembers, and says which: the next attempt is above it."""
    line = gone
    line.incarnation, line.epoch = 4, 3
    assert line.prepare(7) == "LOADED"
    line.epoch = 1
    for incarnation in (3, 4):
        assert line.call("spent_load", incarnation, 1, 0, 1) == ["OLDER", 4]
    line.incarnation = 5
    assert line.prepare(1) == "LOADED"
    assert ended(line) == [1]
    assert line.publish(intent="recover") == "PUBLISHED"


def test_postgresql_that_has_lost_versions_recovers_above_those_of_redis(cut):
    """It has lost a change and the incarnation of a recovery, and is raised above both."""
    line = cut
    ticket = line.enter("m").ticket
    line.incarnation = 4
    assert line.publish(version=20, intent="create", message="lost") == "PUBLISHED"
    assert line.call("spent_settle", 2, 1, 0) == ["OLDER", 4]
    line.incarnation = 5
    assert line.publish(version=21, intent="recover", message="") == "NOT_FOUND", "not prepared"
    assert line.prepare(script="spent_settle") == "LOADED"
    for version in (19, 20):
        assert line.publish(version=version, intent="recover") == "OLDER"
    assert line.publish(version=21, intent="recover") == "PUBLISHED"
    assert line.redis.hmget(line.key("settings"), "version", "message", "incarnation") == ["21", "", "5"]
    assert line.position("m", ticket).rank == 0
    assert line.publish(version=21, intent="recover") == "OLDER", "once"
    # A publication of what was lost is late.
    line.incarnation = 4
    assert line.publish(version=22, intent="change", message="lost") == "NOT_FOUND"


def test_a_deletion_is_newer_than_a_recovery_under_way(recovery):
    line, script = recovery
    assert line.prepare(4, script=script) == "LOADED"
    assert line.publish(version=9, deleted=1) == "PUBLISHED"
    assert line.prepare(4) == "LOADED"
    assert line.publish(version=8, deleted=0, intent="recover") == "OLDER"


def test_a_deletion_that_postgresql_has_lost_is_recovered_above_it(make_line):
    line = make_line(**FAST)
    ticket = line.enter("m").ticket
    assert line.publish(version=9, deleted=1) == "PUBLISHED"
    line.incarnation += 1
    assert line.prepare(4) == "LOADED"
    assert line.publish(version=10, deleted=0, intent="recover", seq_floor=1000) == "PUBLISHED"
    assert ended(line) == [4]
    assert line.enter("n").seq == 1001
    assert (line.position("m", ticket).rank, line.position("n").rank) == (0, 1)


@pytest.mark.parametrize("after_last_page", [True, False])
def test_a_late_creation_during_a_recovery_makes_it_begin_anew(gone, after_last_page):
    """The operator's worker stood still between its commit and its publication, and Redis was lost meanwhile."""
    line = gone
    line.incarnation = 3
    assert line.load_spent(1, 2) == "LOADED"
    if after_last_page:
        assert line.load_spent(4, 5, after=2) == line.load_spent(after=5) == "LOADED"
    line.incarnation = 1
    assert line.publish(version=1, intent="create") == "PUBLISHED"
    line.incarnation = 3
    if not after_last_page:
        assert line.load_spent(4, 5, after=2, script="spent_settle") == "OLDER"
        assert line.load_spent(after=5, script="spent_settle") == "OLDER"
    assert line.publish(intent="recover", version=3) == "NOT_FOUND"
    assert line.prepare(1, 2, 4, 5, script="spent_settle") == "LOADED"
    assert line.publish(intent="recover", version=3) == "PUBLISHED"
    assert ended(line) == [1, 2, 4, 5]


def test_what_a_host_of_the_release_before_has_loaded_stays(gone):
    """Its scripts keep no epoch and no progress, and mark the numbers in `seated` itself; both hosts prepare one incarnation."""
    line = gone
    line.redis.hset(line.key("state"), "preparedFor", line.incarnation)
    for number in (1, 2, 4, 5):
        line.redis.setbit(line.key("seated"), number, 1)
    assert line.load_spent(1, 2) == "LOADED"
    assert [number for number in range(64) if line.redis.getbit(line.key("seated"), number)] == [1, 2, 4, 5]
    assert ended(line) == [1, 2]
