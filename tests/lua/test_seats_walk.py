"""Thousands of random steps of members, orders that die anywhere, words that come late, plans that change: each answer
and each state held against a model that only counts."""

import os
import random
from dataclasses import dataclass, field

import pytest

from lib.line import Line, sha256_text
from lib.show import Hold, Show

STEPS = 2500
MEMBERS = [f"m{i}" for i in range(6)]
SEATS = [f"A-{i}" for i in range(12)]
LEASE, MARGIN, TTL, MOST = 5_000, 7_000, 10_000, 4


@dataclass
class Order:
    member: str
    token: str
    claim: str
    seats: list
    state: str = "running"      # then released, or committed
    consumed: bool = False
    ended: bool = False
    number: str = ""


@dataclass
class Truth:
    """PostgreSQL: who has which seat, and how often it changed hands."""
    change: dict = field(default_factory=lambda: dict.fromkeys(SEATS, 0))
    owner: dict = field(default_factory=dict)    # seat -> (order, state)
    unpublished: list = field(default_factory=list)
    published: list = field(default_factory=list)

    def row(self, seat):
        order, state = self.owner.get(seat, (None, "F"))
        return (seat, self.change[seat], state, order.member if order else "", order.number if order else "")

    def changed(self, seats):
        for seat in seats:
            self.change[seat] += 1
            self.unpublished.append(self.row(seat))


class Model:
    """What Redis is to know: holds, and the latest word of each seat."""

    def __init__(self):
        self.holds = {}     # seat -> (member, Hold), ended ones may stay
        self.word = {}      # seat -> row
        self.places = {}    # member -> [token, claim]

    def running(self, member, hold, now):
        if not hold.claim or hold.guard <= now:
            return False
        token, claim = self.places.get(member, (None, None))
        return not (token and sha256_text(token) == hold.admission and claim != hold.claim)

    def alive(self, now):
        return {seat: it for seat, it in self.holds.items() if it[1].end > now}

    def is_taken(self, seat):
        return self.word.get(seat, (seat, 0, "F"))[2] != "F"

    def refusal(self, member, token):
        mine, claim = self.places.get(member, (None, ""))
        if mine != token:
            return ["ENTRY_TOKEN_INVALID"]
        return ["ORDER_IN_PROGRESS"] if claim else None

    def hold(self, member, token, wanted, replace, now):
        refusal = self.refusal(member, token)
        if refusal:
            return refusal
        mine = {seat: hold for seat, (who, hold) in self.holds.items() if who == member}
        for seat, hold in mine.items():
            if self.running(member, hold, now) and (seat in wanted or replace):
                return ["ORDER_IN_PROGRESS"]
        kept = {seat for seat, hold in mine.items() if hold.deadline > now or self.running(member, hold, now)}
        unknown = [seat for seat in wanted if seat not in SEATS]
        if unknown:
            return ["UNKNOWN_SEAT", *unknown]
        bought = sum(1 for row in self.word.values() if row[2] != "F" and row[3] == member)
        if len(set(wanted) | (set() if replace else kept)) + bought > MOST:
            return ["TOO_MANY_SEATS", MOST]
        alive = self.alive(now)
        taken = [seat for seat in wanted
                 if self.is_taken(seat) or (seat in alive and alive[seat][0] != member)]
        if taken:
            return ["SEATS_TAKEN", *taken]
        for seat in kept - set(wanted) if replace else ():
            del self.holds[seat]
        for seat in wanted:
            if seat not in kept:
                self.holds[seat] = (member, Hold(seat, now + TTL))
        return None

    def give_back(self, member, named, now):
        mine = [seat for seat, (who, _) in self.holds.items() if who == member and (not named or seat in named)]
        if any(self.running(member, self.holds[seat][1], now) for seat in mine):
            return "ORDER_IN_PROGRESS"
        for seat in mine:
            del self.holds[seat]
        return "RELEASED"

    def claim(self, member, token, claim, wanted, now):
        refusal = self.refusal(member, token)
        if refusal:
            return refusal
        lacking = []
        for seat in wanted:
            who, hold = self.holds.get(seat, (None, None))
            if who == member and self.running(member, hold, now):
                return ["ORDER_IN_PROGRESS"]
            if who != member or hold.deadline <= now:
                lacking.append(seat)
        if lacking:
            return ["SEAT_NOT_HELD", *lacking]
        for seat in wanted:
            _, hold = self.holds[seat]
            self.holds[seat] = (member, Hold(seat, hold.deadline, now + LEASE + MARGIN, claim, sha256_text(token)))
        self.places[member][1] = claim
        return None

    def release(self, member, token, claim, with_show):
        for seat, (who, hold) in self.holds.items():
            if with_show and who == member and hold.claim == claim:
                self.holds[seat] = (who, Hold(seat, hold.deadline))
        if self.places.get(member) != [token, claim]:
            return "NOT_CLAIMED"
        self.places[member][1] = ""
        return "RELEASED"

    def publish(self, row):
        seat = row[0]
        if row[1] <= self.word.get(seat, (seat, 0))[1]:
            return 0
        self.word[seat] = row
        if row[2] != "F":
            self.holds.pop(seat, None)
        return 1


class Walk:
    def __init__(self, line, clock, seed):
        self.line, self.clock = line, clock
        self.dice = random.Random(seed)
        self.show = Show(line, SEATS, maxSeats=MOST, holdTtlMs=TTL)
        self.model, self.truth = Model(), Truth()
        self.orders = []
        self.numbers = 0
        self.loading = None
        self.went = {}

    def count(self, what):
        self.went[what] = self.went.get(what, 0) + 1

    def some_seats(self, most=4):
        seats = self.dice.sample(SEATS, self.dice.randint(1, most))
        return [*seats, "Z-9"] if self.dice.random() < 0.05 else seats

    def token(self, member):
        if self.dice.random() < 0.05:
            return "nonsense"
        return self.model.places.get(member, ["none"])[0]

    # Members

    def enter(self):
        member = self.dice.choice(MEMBERS)
        if member not in self.model.places:
            self.line.enter(member)
            self.line.promote()
            self.model.places[member] = [self.line.position(member).token, ""]

    def evict(self):
        member = self.dice.choice(MEMBERS)
        token, claim = self.model.places.get(member, (None, ""))
        if token and not claim and self.dice.random() < 0.4:
            assert self.line.end(member) == "ENDED"
            del self.model.places[member]

    def hold(self):
        member, seats, replace = self.dice.choice(MEMBERS), self.some_seats(), self.dice.randrange(3) // 2
        token = self.token(member)
        expected = self.model.hold(member, token, seats, replace, self.clock.now)
        answer = self.show.hold(member, token, *seats, replace=replace)
        assert (answer == expected) if expected else set(seats) <= {hold.seat for hold in answer}
        self.count(expected[0] if expected else "HELD")

    def give_back(self):
        member = self.dice.choice(MEMBERS)
        named = self.some_seats() if self.dice.random() < 0.7 else []
        expected = self.model.give_back(member, named, self.clock.now)
        assert self.show.give_back(member, *named)[0] == expected

    # Orders

    def claim(self):
        member = self.dice.choice(MEMBERS)
        mine = [hold.seat for hold in self.show.mine(member)]
        seats = mine or self.some_seats()
        if self.dice.random() < 0.2:
            seats = self.dice.sample(seats, self.dice.randint(1, len(seats)))
        elif self.dice.random() < 0.1:
            seats = self.some_seats()
        token, claim = self.token(member), f"c{self.numbers}"
        self.numbers += 1
        expected = self.model.claim(member, token, claim, seats, self.clock.now)
        answer = self.show.claim(member, token, *seats, claim=claim, key=claim, least_lease_ms=LEASE, margin_ms=MARGIN)
        assert (answer == expected) if expected else answer[0] == "CLAIMED"
        self.count(expected[0] if expected else "CLAIMED")
        if not expected:
            self.orders.append(Order(member, token, claim, seats, number=f"o{claim}"))

    def some_order(self, *states):
        fitting = [order for order in self.orders if order.state in states]
        return self.dice.choice(fitting[-4:]) if fitting else None

    def finish(self):
        """PostgreSQL has the last word; whoever loses there is given everything back."""
        order = self.some_order("running")
        if order and self.dice.random() < 0.55 and not any(seat in self.truth.owner for seat in order.seats):
            order.state = "committed"
            for seat in order.seats:
                assert seat not in self.truth.owner
                self.truth.owner[seat] = (order, self.dice.choice("OS"))
            self.truth.changed(order.seats)
            self.count("committed")
        elif order:
            order.state = "released"
            self.release_of(order, self.dice.random() < 0.6)

    def release_of(self, order, with_show):
        expected = self.model.release(order.member, order.token, order.claim, with_show)
        answer = (self.show if with_show else self.line).release(order.member, order.token, order.claim)
        assert answer == expected
        self.count("released" if with_show else "released by reconcile")

    def release_late(self):
        order = self.some_order("released")
        if order:
            self.release_of(order, True)

    def consume(self):
        order = self.some_order("committed")
        if order:
            said = self.line.consume(order.member, order.token, order.number, order.claim)
            has = self.model.places.get(order.member, [None])[0] == order.token
            assert said == ("CONSUMED" if has else "ALREADY")
            if has:
                del self.model.places[order.member]

    def end_order(self):
        order = self.some_order("committed")
        if order and not order.ended:
            order.ended = self.dice.random() < 0.6
            for seat in order.seats:
                if order.ended:
                    del self.truth.owner[seat]
                else:
                    self.truth.owner[seat] = (order, "S")
            self.truth.changed(order.seats)
            self.count("canceled" if order.ended else "paid")

    def publish(self):
        """Words come in any order, and twice."""
        truth = self.truth
        if truth.unpublished:
            rows = [truth.unpublished.pop(self.dice.randrange(len(truth.unpublished)))
                    for _ in range(min(len(truth.unpublished), self.dice.randint(1, 4)))]
            truth.published.extend(rows)
        elif truth.published:
            rows = [self.dice.choice(truth.published)]
        else:
            return
        assert self.show.publish(*rows) == sum([self.model.publish(row) for row in rows])

    # The rest

    def load(self):
        """A new plan of the same seats comes in pieces, with everything else going on in between."""
        if not self.loading:
            self.loading = [self.dice.sample(SEATS, len(SEATS)), 0]
        plan, first = self.loading
        piece = plan[first:first + 5]
        assert self.show.load_piece("l", self.show.version + 1, piece, first, len(plan)) == "LOADED"
        self.loading[1] += len(piece)
        if self.loading[1] == len(plan):
            self.show.version, self.show.seats, self.loading = self.show.version + 1, plan, None
            self.count("loaded")

    def reset(self):
        if self.dice.random() < 0.1:
            self.line.epoch += 1
            assert self.line.publish() == "PUBLISHED"
            self.model.places = {}

    def time(self):
        self.clock.pass_ms(self.dice.choice([1, 100, 1000, 2500, 4000, self.dice.randrange(8000)]))

    def check(self):
        alive = self.show.check()
        assert alive == self.model.alive(self.clock.now)
        assert self.show.taken() == {seat: row[1:] for seat, row in self.model.word.items()}
        for member in MEMBERS:
            assert self.show.map(member).mine == {seat for seat, it in alive.items() if it[0] == member} | {
                seat for seat, row in self.model.word.items() if row[2] != "F" and row[3] == member}

    def check_published(self):
        """Once all is published, Redis says what PostgreSQL says."""
        while self.truth.unpublished:
            self.publish()
        for seat in SEATS:
            if self.truth.change[seat]:
                assert self.show.taken()[seat] == self.truth.row(seat)[1:]

    STEPS = {"enter": 14, "evict": 3, "hold": 26, "give_back": 5, "claim": 16, "finish": 12, "release_late": 2, "consume": 8,
             "end_order": 8, "publish": 12, "load": 3, "reset": 1, "time": 8}


@pytest.mark.parametrize("run", [1, 2])
def test_random_walk_of_seats(clocked_scripts, clock, run):
    seed = int(os.environ.get("SLUICE_SEED") or random.randrange(2**32))
    print(f"seed {seed}: set SLUICE_SEED to walk the same way again")
    line = Line(clocked_scripts, ratePerSecond=100_000, burst=100_000, maxActive=100_000, entryTtlSeconds=10**7,
                pickupSeconds=10**7, claimLeaseSeconds=1)
    line.publish()
    line.lead(lease_ms=10**9)
    walk = Walk(line, clock, seed)
    names, weights = list(Walk.STEPS), list(Walk.STEPS.values())
    for number in range(STEPS):
        name = walk.dice.choices(names, weights)[0]
        try:
            getattr(walk, name)()
            if number % 3 == 0:
                walk.check()
        except AssertionError as error:
            raise AssertionError(f"step {number}, {name}, seed {seed}: {error}") from error
    walk.check()
    walk.check_published()
    print(walk.went)
    for what in ("HELD", "SEATS_TAKEN", "TOO_MANY_SEATS", "UNKNOWN_SEAT", "ORDER_IN_PROGRESS", "CLAIMED", "SEAT_NOT_HELD",
                 "committed", "released", "released by reconcile", "canceled", "paid", "loaded"):
        assert walk.went.get(what, 0) > 0, f"{what}: {walk.went}"
