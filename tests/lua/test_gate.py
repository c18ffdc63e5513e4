"""The gate's check: who may go through, and how long a visit lasts."""

import pytest

from lib.line import Line, Pass, Ticket

# entryTtlSeconds, and how long a pass counts unasked.
RENEWALS = [(1, 200), (10, 500), (60, 3000), (300, 15_000), (3600, 15_000)]


def admitted(line, *members):
    """Lets them in and gives their first passes."""
    for member in members:
        line.enter(member)
    line.promote()
    passes = [line.gate(member) for member in members]
    assert all(isinstance(one, Pass) for one in passes), passes
    return passes if len(passes) > 1 else passes[0]


def end_of(line, member):
    return line.redis.zscore(line.key("ready"), member)


def tick_until(line, clock, until_ms):
    """Ticks as a scheduler does, so that nobody takes the silence for an outage."""
    while clock.now < until_ms:
        clock.pass_ms(min(line.settings["tickMs"], until_ms - clock.now))
        line.promote()


# Who goes through

def test_only_whoever_is_let_in(make_line):
    line = make_line(maxActive=1)
    assert line.gate("nobody") == "WAIT"
    line.enter("a"), line.enter("b")
    assert line.gate("a") == "WAIT", "nobody was promoted yet"
    line.promote()
    first = line.gate("a")
    place = line.place("a")
    assert (first.admission, first.seq, first.generation) == (place.admission, place.seq, place.generation)
    assert (first.epoch, first.incarnation) == (1, 1)
    assert line.gate("b") == "WAIT"
    assert line.gate("b", first) == "WAIT", "the pass says nothing without its owner"
    line.check()


def test_coming_through_is_picking_up(make_line):
    """Whoever has come through has seen that it is their turn: the place is not taken back after pickupSeconds."""
    line = make_line(pickupSeconds=5)
    admitted(line, "came")
    line.enter("never")
    line.promote()
    line.advance(6000)
    assert line.promote().withdrawn == 1
    assert isinstance(line.gate("came"), Pass)
    assert line.gate("never") == "WAIT"
    assert line.members("away") == ["never"]


def test_a_look_moves_nobody(make_line):
    """Who is refused is left as found: the gate neither seats nor removes anybody who waits."""
    line = make_line(maxActive=1)
    for member in ("in", "waits", "absent"):
        line.enter(member)
    line.promote()
    line.redis.zrem(line.key("waiting"), "absent")
    before = {key: line.redis.dump(key) for key in line.redis.keys(line.key("*"))}
    for member in ("waits", "absent", "stranger"):
        assert line.gate(member) == "WAIT"
    assert {key: line.redis.dump(key) for key in line.redis.keys(line.key("*"))} == before


def test_hold_lets_nobody_through_and_lengthens_nothing(timed, clock):
    line = timed()
    one = admitted(line, "m")
    clock.pass_ms(2000)
    line.publish(activation="hold")
    assert line.gate("m", one) == "HELD"
    assert line.gate("stranger") == "HELD"
    assert end_of(line, "m") == one.ends
    line.publish(activation="on")
    assert line.gate("m", one).admission == one.admission, "the place has waited"


def test_visitors_only_where_they_may(make_line):
    members = make_line()
    assert members.gate("m", visitor=True) == "UNAUTHENTICATED"
    visitors = make_line(identity="visitor")
    visitors.enter("v", visitor=True)
    visitors.promote()
    assert isinstance(visitors.gate("v", visitor=True), Pass)
    assert Line(members.scripts, "never-made").gate("m") == "NOT_FOUND"
    members.publish(deleted=1)
    assert members.gate("m") == "NOT_FOUND"


def test_pass_of_another_admission_is_worth_nothing(make_line):
    line = make_line(maxActive=1)
    old = admitted(line, "m")
    assert line.end("m") == "ENDED"
    assert line.gate("m", old) == "WAIT"
    line.enter("other")
    line.enter("m")
    line.promote()
    assert line.gate("m", old) == "WAIT", "the line has a place for another one"
    line.end("other")
    line.promote()
    new = line.gate("m", old)
    assert new.admission != old.admission and new.admission == line.place("m").admission, "the place itself counts"
    line.check()


def test_pass_of_an_older_epoch_is_worth_nothing(make_line):
    """Also where Redis has lost its memory since."""
    line = make_line()
    old = admitted(line, "m")
    line.epoch = 2
    assert line.publish() == "PUBLISHED"
    for incarnation in (old.incarnation, old.incarnation + 1, 7):
        old.incarnation = incarnation
        assert line.gate("m", old) == "WAIT"
    assert line.check() == {}


# How long a visit lasts

@pytest.mark.parametrize("ttl, renew", RENEWALS)
def test_a_visit_ends_after_the_last_request(timed, clock, ttl, renew):
    """entryTtlSeconds after the last check, and at most one renewal's time later."""
    line = timed(entryTtlSeconds=ttl, tickMs=60_000)
    assert line.view().renew_ms == renew
    one = admitted(line, "m")
    assert one.now == clock.now and one.ends - clock.now == ttl * 1000 + renew
    tick_until(line, clock, clock.now + ttl * 500)
    again = line.gate("m", one)
    assert again.admission == one.admission
    assert again.ends - clock.now == ttl * 1000 + renew == end_of(line, "m") - clock.now
    tick_until(line, clock, again.ends - 1)
    assert list(line.check()) == ["m"], "not a moment earlier than promised"
    clock.pass_ms(1)
    assert line.promote().expired == 1
    assert line.gate("m", again) == "WAIT"
    assert line.check() == {}


def test_an_end_that_has_come_is_an_end_before_any_tick(timed, clock):
    line = timed(entryTtlSeconds=2)
    one = admitted(line, "m")
    clock.pass_ms(one.ends - clock.now)
    assert line.gate("m", one) == "WAIT"


def test_renewal_lengthens_and_never_shortens(timed, clock):
    line = timed(entryTtlSeconds=300)
    ends = admitted(line, "m").ends
    clock.pass_ms(1000)
    assert line.gate("m").ends == ends + 1000
    line.publish(entryTtlSeconds=10)
    clock.pass_ms(1000)
    shorter = line.gate("m")
    assert shorter.ends == ends + 1000 == end_of(line, "m"), "what was promised stands"
    line.publish(entryTtlSeconds=600)
    assert line.gate("m").ends == clock.now + 615_000
    line.publish(entryTtlSeconds=1)
    line.enter("n")
    line.promote()
    assert line.gate("n").ends == clock.now + 1200


def test_token_and_pass_live_equally_long(timed, clock):
    """An entry token is good for an order as long as its owner is in the shop."""
    line = timed(entryTtlSeconds=10)
    admitted(line, "m")
    token = line.place("m").token
    for _ in range(6):
        tick_until(line, clock, clock.now + 9000)
        assert line.gate("m").admission == line.place("m").admission
    assert line.claim("m", token)[0] == "CLAIMED"


def test_an_outage_ends_no_visit(timed, clock):
    """While nothing can be bought the visit's time stands still, and the end that the pass names moves."""
    line = timed(entryTtlSeconds=10)
    one = admitted(line, "m")
    begin = clock.now
    for _ in range(30):
        clock.pass_ms(1000)
        line.promote(pool_age=clock.now - begin, pool_silence=3000)
    assert line.promote().expired == 0
    back = line.gate("m", one)
    assert back.admission == one.admission and back.ends - clock.now == 10_500


# Orders

def test_claimed_place_passes_and_is_not_lengthened(timed, clock):
    line = timed(entryTtlSeconds=60)
    one = admitted(line, "m")
    clock.pass_ms(3000)
    assert line.claim("m", line.place("m").token)[0] == "CLAIMED"
    record = line.place("m")
    clock.pass_ms(5000)
    during = line.gate("m", one)
    assert during.admission == one.admission
    assert during.ends - clock.now == record.remaining
    assert line.place("m") == record and line.members("ready") == []
    line.release("m", record.token)
    assert line.gate("m", during).ends == clock.now + 63_000
    line.check()


def test_consumed_place_passes_no_more(make_line):
    line = make_line()
    one = admitted(line, "m")
    token = line.place("m").token
    line.claim("m", token)
    line.consume("m", token)
    assert line.gate("m", one) == "WAIT"
    assert line.gate("m") == "WAIT"


def test_unpaid_order_holds_the_visit(timed, clock):
    """releaseOn payment: whoever goes to pay comes back through, until the payment has ended."""
    line = timed(entryTtlSeconds=60, maxActive=1, tickMs=10_000)
    one = admitted(line, "m")
    token = line.place("m").token
    line.claim("m", token)
    line.consume("m", token, order="o_9", keep_place=1)
    line.enter("next")
    assert line.promote().admitted == 0, "the place is taken"
    tick_until(line, clock, clock.now + 300_000)
    unpaid = line.gate("m", one)
    assert isinstance(unpaid, Pass) and unpaid.ends == clock.now + 63_000
    assert line.gate("m", unpaid).ends == unpaid.ends
    assert line.call("place_free", "m", "o_9") == ["FREED"]
    assert line.gate("m", unpaid) == "WAIT"
    assert line.promote().admitted == 1
    line.check()


# After Redis has lost its memory

@pytest.fixture
def lost(timed, clock):
    """A queue, and a function that loses it: PostgreSQL raises the incarnation, and reconcile loads who has spent
    an admission."""
    line = timed(ratePerSecond=1000, burst=1000, maxActive=3)

    def lose(spent=(), floor=1000, recovery_ms=0):
        for key in line.redis.keys(line.key("*")):
            line.redis.delete(key)
        line.incarnation += 1
        assert line.prepare(*spent) == "LOADED"
        assert line.publish(seq_floor=floor, recovery_ms=recovery_ms, intent="recover") == "PUBLISHED"
        line.lead(lease_ms=10**9)
        clock.pass_ms(1000)

    line.lose = lose
    return line


def test_a_pass_seats_its_owner_again_and_first(lost, clock):
    """While nobody is promoted yet, before everybody who waits."""
    old = admitted(lost, "a", "b")
    ticket = lost.enter("waits").ticket
    lost.lose(recovery_ms=30_000)
    assert lost.position("waits", ticket).rank == 0
    assert lost.promote().admitted == 0, "recovery"
    for member, one in zip("ab", old):
        back = lost.gate(member, one)
        assert (back.seq, back.generation, back.incarnation) == (one.seq, one.generation, 2)
        assert back.admission != one.admission, "no token of before is good"
        assert back.ends - clock.now == 315_000
    clock.pass_ms(30_000)
    assert lost.promote().admitted == 1
    assert set(lost.check()) == {"a", "b", "waits"}
    lost.enter("late")
    assert lost.promote().admitted == 0, "within maxActive"


def test_a_pass_seats_once(lost):
    old = admitted(lost, "m")
    lost.lose()
    back = lost.gate("m", old)
    assert lost.gate("m", old).admission == back.admission, "a second tab finds the place made by the first"
    lost.end("m", back.admission)
    assert lost.gate("m", old) == "WAIT", "given back is given back"
    assert lost.gate("m", back) == "WAIT"
    lost.lose(spent=[old.seq])
    assert lost.gate("m", back) == "WAIT", "spent is spent"
    assert lost.check() == {}


def test_a_spent_number_is_never_seated(lost):
    """Whoever has ordered before the loss has had the turn."""
    a, b = admitted(lost, "a", "b")
    lost.lose(spent=[a.seq])
    assert lost.gate("a", a) == "WAIT"
    assert isinstance(lost.gate("b", b), Pass)


def test_a_pass_and_a_ticket_are_one_turn(lost):
    """Who was seated in line by the ticket is not seated once more by the pass, nor the other way round."""
    ticket = lost.enter("m").ticket
    lost.promote()
    old = lost.gate("m")
    lost.lose()
    assert lost.position("m", ticket).status == "WAITING"
    assert lost.gate("m", old) == "WAIT"
    lost.promote()
    assert isinstance(lost.gate("m", old), Pass)
    lost.end("m")
    assert lost.gate("m", old) == "WAIT"
    assert lost.position("m", ticket).status == "NOT_ENTERED"
    lost.lose()
    back = lost.gate("m", old)
    assert isinstance(back, Pass)
    lost.end("m", back.admission)
    assert lost.position("m", ticket).status == "NOT_ENTERED"
    lost.check()


def test_passes_keep_to_max_active_during_recovery_too(lost, clock):
    """Visits whose end Redis has forgotten come back like the others: the places count from the first one."""
    old = {}
    for member in "abcdefgh":
        old[member] = admitted(lost, member)
        if member < "f":
            assert lost.end(member, old[member].admission) == "ENDED"
    lost.lose(recovery_ms=10_000)
    for number, member in enumerate("abcdefgh"):
        answer = lost.gate(member, old[member])
        assert isinstance(answer, Pass) if number < 3 else answer == "WAIT"
        lost.check()
    clock.pass_ms(10_000)
    assert lost.promote().admitted == 0
    assert set(lost.check()) == set("abc")


def test_without_room_the_owner_of_a_pass_stands_before_those_who_waited(lost, clock):
    """A refusal costs nobody the turn, with or without the ticket, however often it is asked for."""
    lost.publish(maxActive=5)
    tickets = {member: lost.enter(member).ticket for member in "abcde"}
    lost.promote()
    old = {member: lost.gate(member) for member in "abcde"}
    waits = lost.enter("waits").ticket
    lost.publish(maxActive=2)
    lost.lose(recovery_ms=10_000)
    assert lost.position("waits", waits).rank == 0
    for member in "eabcd":
        answers = [lost.gate(member, old[member]) for _ in range(2)]
        assert all(isinstance(answer, Pass) for answer in answers) if member in "ea" else answers == ["WAIT"] * 2
    assert [lost.find(member)[0] for member in "bcd"] == ["WAITING"] * 3
    assert lost.position("b", tickets["b"]).rank == 0
    assert lost.enter("c", tickets["c"], mode="stay").rank == 1
    again = lost.enter("d")
    assert (again.code, again.seq, again.rank) == ("ALREADY", old["d"].seq, 2)
    assert lost.position("waits", waits).rank == 3
    lost.check()
    clock.pass_ms(10_000)
    for member in "bcd":
        for place in list(lost.check()):
            lost.end(place)
        lost.publish(maxActive=1)
        assert lost.promote().admitted == 1
        assert isinstance(lost.gate(member, old[member]), Pass)
        assert lost.promote().admitted == 0
    assert lost.end("d") == "ENDED"
    assert lost.gate("d", old["d"]) == "WAIT", "given back is given back"
    assert lost.members("waiting") == ["waits"]
    lost.check()


def test_without_room_the_owner_of_a_pass_keeps_the_lane_of_the_ticket(lost):
    lost.publish(maxActive=9)
    lost.add_codes("priority", "VIP", uses=9)
    lost.add_codes("invite", "INV", uses=9)
    names = {"main": "", "priority": "VIP", "invite": "INV"}
    tickets = {lane: lost.enter(lane, code=code).ticket for lane, code in names.items()}
    lost.promote()
    old = {lane: lost.gate(lane) for lane in names}
    lost.publish(maxActive=0)
    lost.lose()
    for lane, one in old.items():
        assert lost.gate(lane, one, lane=tickets[lane].lane) == "WAIT"
        assert lost.position(lane, tickets[lane]).lane == lane
    assert lost.members("priority") == ["invite", "priority"] and lost.members("waiting") == ["main"]
    lost.check()


@pytest.mark.parametrize("drawn", [True, False])
def test_without_room_the_owner_of_a_pass_keeps_the_place_drawn(timed, clock, drawn):
    """A number that was let in before the draw is on no list, and joins none."""
    opens = clock.now + 60_000
    line = timed(mode="lottery", opensAt=opens, ratePerSecond=100, burst=100, maxActive=9)
    for number in range(6):
        line.enter(f"m{number}")
    if drawn:
        clock.pass_ms(60_000)
        line.promote()
        line.hold_draw()
        line.promote(2)
    else:
        assert line.admit("m2") == "ADMITTED"
    inside = list(line.check())
    old = {member: line.gate(member) for member in inside}
    for key in line.redis.keys(line.key("*")):
        line.redis.delete(key)
    line.incarnation += 1
    assert line.prepare() == "LOADED"
    assert line.publish(seq_floor=1000, intent="recover", maxActive=0) == "PUBLISHED"
    back = [number for number in range(1, 7) if f"m{number - 1}" not in inside]
    for number in back:
        line.position(f"m{number - 1}", Ticket(number, 0, 1, 1, "lottery"))
    for member, one in old.items():
        assert line.gate(member, one) == "WAIT"
        assert line.find(member)[0] == "WAITING"
    assert line.redis.llen(line.key("entrants")) == (0 if drawn else len(back))
    assert (set(inside) <= set(line.members("drawn"))) if drawn else line.members("waiting") == inside
    line.check()


def test_numbers_of_passes_are_not_given_out_again(lost):
    """A pass that names a number above the counter lifts it, as a ticket does: no number twice."""
    lost.lose(floor=10)
    old = Pass("x" * 43, 12, 0, 1, 1, 0, 0)
    assert isinstance(lost.gate("m", old), Pass)
    assert lost.enter("n").seq == 13
    lost.check()
