"""Visits that nobody waited for: let in at once, watched only, and what a host is told so that it can judge alone."""

import random

import pytest

from lib.line import Pass, Position, Refusal

AT_ONCE = "at_once"


def at_once(line, member):
    """Whether the member was let in. Whoever is refused has changed nothing."""
    before = line.counter("seq")
    answer = line.enter(member, mode=AT_ONCE)
    if isinstance(answer, Refusal):
        assert answer.code == "NOT_THERE" and line.counter("seq") == before
        return False
    assert (answer.status, answer.lane) == ("READY", "main")
    return True


@pytest.fixture
def idle(timed):
    """A queue with `admitWhenIdle` that has ticked once."""
    def make(**settings):
        line = timed(**{"admitWhenIdle": 1, **settings})
        line.promote()
        return line
    return make


# At once

def test_let_in_without_waiting(idle):
    line = idle()
    answer = line.enter("m", mode=AT_ONCE)
    assert (answer.code, answer.status, answer.seq) == ("ENTERED", "READY", 1)
    assert answer.token == line.place("m").token and line.members("pickup") == []
    assert isinstance(line.gate("m"), Pass)
    assert (line.counter("entered"), line.counter("admitted")) == (1, 1)
    line.check()


def test_only_where_it_is_switched_on(idle):
    line = idle(admitWhenIdle=0)
    assert not at_once(line, "m")
    assert line.enter("m").status == "WAITING"


@pytest.mark.parametrize("settings", [{"activation": "hold"}, {"operatorState": "PAUSED"}, {"opensAt": 2 * 10**12},
                                      {"maxActive": 0}, {"ratePerSecond": 0}])
def test_not_while_nobody_may_come_in(idle, settings):
    line = idle()
    line.publish(**settings)
    assert not at_once(line, "m")
    assert line.enter("m").status == "WAITING"


@pytest.mark.parametrize("settings, code", [({"operatorState": "SOLD_OUT"}, "SOLD_OUT"),
                                            ({"operatorState": "DRAINING"}, "QUEUE_CLOSED"),
                                            ({"closesAt": 10**12}, "QUEUE_CLOSED")])
def test_not_where_nobody_may_enter(idle, settings, code):
    line = idle()
    line.publish(**settings)
    assert line.enter("m", mode=AT_ONCE).code == code
    assert line.counter("seq") == 0


def test_nobody_is_overtaken(idle, clock):
    """Only while nobody waits, in any lane; whoever is away does not stand in line."""
    line = idle(maxActive=2, pickupSeconds=1, tickMs=100)
    assert at_once(line, "a") and at_once(line, "b")
    assert line.enter("waits").status == "WAITING"
    line.end("a")
    assert not at_once(line, "late"), "room is for whoever waits"
    assert line.promote().admitted == 1
    line.end("b")
    assert at_once(line, "late"), "nobody waits any more"
    clock.pass_ms(1100)
    assert line.promote().withdrawn == 1
    assert line.members("away") == ["waits"]
    assert at_once(line, "next")
    line.check()


def test_not_by_a_bucket_that_nobody_tends(idle, clock):
    """Where no scheduler ticks nobody knows of outages: the line keeps everyone until one does."""
    line = idle()
    clock.pass_ms(6000)
    assert not at_once(line, "m")
    line.promote()
    assert at_once(line, "m")
    line.promote(pool_age=5000, pool_silence=3000)
    assert not at_once(line, "n"), "an outage: nothing can be bought"


def test_within_the_active_places(idle):
    line = idle(maxActive=3)
    assert [at_once(line, f"m{i}") for i in range(5)] == [True] * 3 + [False] * 2
    line.claim("m0", line.place("m0").token)
    assert not at_once(line, "m9"), "a running order holds its place"
    line.consume("m0", line.place("m0").token, keep_place=1)
    assert not at_once(line, "m9"), "an unpaid order too"
    line.call("place_free", "m0", "o_1")
    assert at_once(line, "m9")
    line.check()


def test_within_the_bucket_which_ticks_keep(idle, clock):
    """What comes between two ticks takes from the bucket, and the moment of the last tick stays."""
    line = idle(ratePerSecond=10, burst=5, tickMs=1000)
    ticked = line.counter("bucketAt")
    assert [at_once(line, f"a{i}") for i in range(7)] == [True] * 5 + [False] * 2
    clock.pass_ms(250)
    assert [at_once(line, f"b{i}") for i in range(4)] == [True, True, False, False]
    clock.pass_ms(250)
    assert [at_once(line, f"c{i}") for i in range(4)] == [True] * 3 + [False]
    assert line.counter("bucketAt") == ticked == clock.now - 500
    line.enter("waits")
    assert line.promote().admitted == 0, "nothing is left for the tick"
    clock.pass_ms(100)
    assert line.promote().admitted == 1
    line.check()


def test_unproven_place_is_short(idle, clock):
    """A browser that may not keep cookies holds a place for half a minute; coming back proves it."""
    line = idle(entryTtlSeconds=300)
    for member in ("back", "gone"):
        assert line.enter(member, mode=AT_ONCE, unproven=True).ends - clock.now == 300_000
    clock.pass_ms(29_000)
    line.promote()
    assert line.gate("back").ends - clock.now == 315_000
    clock.pass_ms(1000)
    assert line.promote().withdrawn == 1
    assert set(line.check()) == {"back"}
    quick = idle(pickupSeconds=10)
    quick.enter("m", unproven=True)
    clock.pass_ms(10_000)
    assert quick.promote().withdrawn == 1, "never longer than anybody's"
    known = idle()
    known.enter("m")
    clock.pass_ms(60_000)
    known.promote()
    assert set(known.check()) == {"m"}, "whoever is known has seen the answer"


def test_holding_everyone_stops_the_clock(idle, clock):
    """Whoever is in when everyone is held comes back to the same place, however long it took."""
    line = idle(entryTtlSeconds=10)
    first = line.enter("in")
    line.publish(activation="hold")
    for _ in range(60):
        clock.pass_ms(1000)
        line.promote()
        assert line.gate("in") == "HELD"
    line.publish(activation="on")
    line.promote()
    assert set(line.check()) == {"in"} and line.gate("in").seq == first.seq
    clock.pass_ms(11_000)
    line.promote()
    assert line.promote().expired + len(line.check()) == 0, "and then the clock goes on"


def test_whoever_has_a_place_keeps_it(idle):
    """Entering at once is entering: who is in or waits is told so, and takes nothing."""
    line = idle(maxActive=1)
    at_once(line, "m")
    assert line.enter("m", mode=AT_ONCE).code == "ALREADY"
    line.enter("w")
    again = line.enter("w", mode=AT_ONCE)
    assert (again.code, again.status) == ("ALREADY", "WAITING")
    assert line.counter("admitted") == 1
    line.check()


class Counting:
    """Counts who is let in, and when, by any way."""

    def __init__(self, line, clock, dice):
        self.line, self.clock, self.dice = line, clock, dice
        self.names = (f"m{i}" for i in range(10**6))
        self.history = []  # time, how many, past the rate

    def note(self, count, owed=False):
        if count:
            self.history.append((self.clock.now, count, owed))

    def tick(self):
        tick = self.line.promote(60)
        assert tick.code == "OK"
        self.note(tick.admitted)
        if self.dice.random() < 0.5:
            for member in self.line.members("ready"):
                if self.dice.random() < 0.7:
                    self.line.end(member)

    def come(self):
        for _ in range(self.dice.choice([1, 1, 3, 30])):
            self.note(int(at_once(self.line, next(self.names))))

    def wait(self):
        for _ in range(self.dice.choice([1, 5, 40])):
            self.note(int(self.line.enter(next(self.names)).status == "READY"))

    def invite(self):
        code = f"code{next(self.names)}"
        self.line.add_codes("invite", code)
        self.note(int(self.line.enter(next(self.names), code=code).status == "READY"))

    def admit(self):
        waiting = self.line.members("waiting")
        member = self.dice.choice(waiting) if waiting and self.dice.random() < 0.5 else next(self.names)
        self.note(int(self.line.admit(member) == "ADMITTED"), owed=True)

    def hold_against(self, rate, burst):
        """In any stretch of time that begins anywhere and ends with somebody whom the rate lets in: no more than
        it saved up and brought, those whom the operator lets in included."""
        for i in range(0, len(self.history), 5):
            total = 0
            for at, count, owed in self.history[i:]:
                total += count
                if not owed:
                    assert total <= burst + rate * (at - self.history[i][0]) / 1000 + 1e-3


@pytest.mark.on("cluster")
@pytest.mark.parametrize("rate, burst, active", [(20, 20, 10**9), (3.5, 4, 10**9), (200, 30, 25), (0.5, 1, 10**9)])
def test_all_ways_in_share_one_rate(idle, clock, rate, burst, active):
    seed = random.randrange(2**32)
    print("seed", seed)
    dice = random.Random(seed)
    line = idle(ratePerSecond=rate, burst=burst, maxActive=active, tickMs=500)
    counting = Counting(line, clock, dice)
    ways = [counting.tick] * 3 + [counting.come] * 4 + [counting.wait, counting.invite, counting.admit]
    for _ in range(150):
        ticked = line.counter("bucketAt")
        way = dice.choice(ways)
        way()
        assert way == counting.tick or line.counter("bucketAt") == ticked, "only ticks move that moment"
        assert len(line.check()) <= active
        clock.pass_ms(dice.choice([0, 0, 1, 20, 100, 500, 1500]))
    counting.hold_against(rate, burst)
    assert line.counter("admitted") == sum(count for _, count, _ in counting.history) > 0
    left = sum(line.counter(name) for name in ("evicted", "returned", "consumed", "expired", "left"))
    standing = len(line.check()) + len(line.members("waiting")) + len(line.members("priority"))
    assert line.counter("entered") == line.counter("seq") == standing + len(line.members("away")) + left


@pytest.mark.on("cluster")
def test_all_of_the_rate_is_used(idle, clock):
    """Between ticks nothing of the rate is lost either: whoever comes all the time gets rate × time."""
    line = idle(ratePerSecond=33.3, burst=40, maxActive=10**9, tickMs=1000)
    while at_once(line, f"first{line.counter('seq')}"):
        pass
    begin, count, dice = clock.now, 0, random.Random(5)
    for i in range(1500):
        clock.pass_ms(dice.randrange(1, 25))
        count += at_once(line, f"m{i}")
        if i % 7 == 0:
            count += line.promote().admitted
    expected = 33.3 * (clock.now - begin) / 1000
    assert expected - 1.01 <= count <= expected + 1.01


# What a host is told

def test_view(timed, clock):
    line = timed(identity="visitor", admitWhenIdle=1, message="Soon", mode="lottery", entryTtlSeconds=100,
                 pickupSeconds=7, opensAt=clock.now + 5000, closesAt=clock.now + 90_000, bypass='{"paths":["/a"]}')
    line.enter("a", visitor=True)
    view = line.view()
    assert (view.version, view.activation, view.idle, view.identity) == (1, "on", 1, "visitor")
    assert (view.bypass, view.message, view.mode) == ('{"paths":["/a"]}', "Soon", "lottery")
    assert (view.epoch, view.incarnation, view.renew_ms) == (1, 1, 5000)
    assert (view.state, view.now, view.rate_milli) == ("PRE_OPEN", clock.now, 50_000)
    assert (int(view.opens_at), int(view.closes_at)) == (clock.now + 5000, clock.now + 90_000)
    assert (view.pickup_seconds, view.entry_ttl_seconds, view.ended) == (7, 100, [])


def test_view_counts_those_who_wait(timed):
    line = timed()
    for member in "abc":
        line.enter(member)
    assert line.view().waiting == 3
    line.promote()
    assert (line.view().waiting, line.view().state) == (0, "OPEN")
    line.publish(operatorState="PAUSED", activation="watch", ratePerSecond=5)
    view = line.view()
    assert (view.version, view.state, view.activation) == (2, "PAUSED", "watch")


@pytest.mark.parametrize("ttl, renew", [(10, 500), (300, 15_000)])
def test_ended_visits_are_named_until_no_pass_counts(timed, clock, ttl, renew):
    """Every host learns of an end from outside before it forgets: a pass counts unasked for renew_ms."""
    line = timed(entryTtlSeconds=ttl, tickMs=60_000)
    admissions = {}
    for member in "abc":
        line.enter(member)
        line.promote()
        admissions[member] = line.gate(member).admission
    line.end("a")
    assert line.view().ended == [admissions["a"]]
    clock.pass_ms(renew)
    line.end("b", admissions["b"])
    assert set(line.view().ended) == {admissions["a"], admissions["b"]}
    clock.pass_ms(renew + 4000)
    assert admissions["b"] in line.view().ended
    clock.pass_ms(renew + 5000)
    assert line.view().ended == []
    line.enter("waits")
    line.publish(maxActive=0)
    line.end("waits")
    assert line.view().ended == [], "who never was in has no pass to end"
    line.end("c")
    line.epoch = 2
    line.publish()
    assert line.view().ended == [], "a new opening needs no list: no pass of the old one counts"


def test_memory_of_ended_visits_is_bounded(timed, clock):
    line = timed(tickMs=60_000, maxActive=1000)
    for i in range(200):
        line.enter(f"m{i}")
        line.promote()
        line.end(f"m{i}")
        clock.pass_ms(1000)
    assert line.redis.zcard(line.key("ended")) <= 61


# Watching

def test_watching_counts_and_touches_nothing(timed, clock):
    """What would have happened: a burst of 5 goes through, the others would have waited."""
    line = timed(activation="watch", ratePerSecond=10, burst=5, maxActive=100, entryTtlSeconds=100)
    for i in range(20):
        answer = line.watch(f"m{i}")
        assert answer == ["WATCHED", clock.now, clock.now + 105_000]
    assert line.watch("m0") == ["WATCHED", clock.now, clock.now + 105_000]
    assert [line.counter(name) for name in ("watchVisits", "watchWouldWait", "watchLongest")] == [20, 15, 15]
    clock.pass_ms(1000)
    line.watch("later")
    assert [line.counter(name) for name in ("watchVisits", "watchWouldWait", "watchLongest")] == [21, 16, 15]
    clock.pass_ms(60_000)
    line.watch("much later")
    assert [line.counter(name) for name in ("watchVisits", "watchWouldWait", "watchLongest")] == [22, 16, 15]
    assert (line.counter("entered"), line.counter("admitted"), line.view().waiting) == (0, 0, 0)
    assert line.check() == {}


def test_watching_counts_a_visit_once_until_it_ends(timed, clock):
    line = timed(activation="watch", entryTtlSeconds=10)
    for _ in range(5):
        line.watch("m")
        clock.pass_ms(10_400)
    assert line.counter("watchVisits") == 1
    clock.pass_ms(200)
    line.watch("m")
    assert line.counter("watchVisits") == 2, "the visit had ended: a new one"
    assert line.redis.zcard(line.key("watched")) == 1


def test_watching_knows_of_full_places(timed, clock):
    line = timed(activation="watch", ratePerSecond=1000, burst=1000, maxActive=3, entryTtlSeconds=10)
    for i in range(5):
        line.watch(f"m{i}")
    assert line.counter("watchWouldWait") == 2
    clock.pass_ms(11_000)
    line.watch("later")
    assert line.counter("watchWouldWait") == 2, "those have gone meanwhile"


def test_watched_position_is_a_word(timed):
    """Whoever is in line when the gate begins to watch stays there: nothing of the line is touched."""
    line = timed(maxActive=0)
    line.enter("m")
    line.publish(activation="watch")
    line.watch("m")
    assert isinstance(line.position("m"), Position) and line.position("m").rank == 0
