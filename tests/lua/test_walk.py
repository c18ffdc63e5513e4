"""Thousands of random steps of all transitions, each answer and each state held against the model."""

import os
import random

import pytest

from lib.line import Line, base64url, for_promote, new_tokens, sha256_text
from model import AWAY, CLAIMED, INVITED, MAIN, PRIORITY, READY, WAITING, Model

pytestmark = pytest.mark.on("cluster")  # which finds undeclared keys too
STEPS = 2500
MEMBERS = [f"m{i}" for i in range(14)]
SETTINGS = {
    "ratePerSecond": 5.5, "burst": 7, "maxActive": 8, "maxInFlight": 3, "entryTtlSeconds": 20,
    "pickupSeconds": 7, "claimLeaseSeconds": 5, "maxWaiting": 9, "batchCap": 4, "releaseOn": "payment",
    "priorityShare": 0.4,
}
SILENCE, AWAY_MS, TOMBSTONE_MS = 3_000, 40_000, 15_000


class Walk:
    def __init__(self, line, clock, seed):
        self.line, self.clock = line, clock
        self.dice = random.Random(seed)
        self.model = Model({**line.settings}, clock.now)
        self.tickets = {name: [] for name in MEMBERS}
        self.tokens = [("m0", "nonsense", "c", "k")]   # ever used: member, token, claim, key
        self.orders = [("m0", "o_none")]
        self.pool_seen = clock.now
        self.order_numbers = 0
        self.locks = 0

    def member(self):
        return self.dice.choice(MEMBERS)

    def ticket(self, name):
        """None, the latest, or any ticket that this member ever had."""
        had = self.tickets[name]
        if not had or self.dice.random() < 0.3:
            return None
        return had[-1] if self.dice.random() < 0.7 else self.dice.choice(had)

    @staticmethod
    def as_model(ticket):
        return (ticket.epoch, ticket.seq, ticket.generation) if ticket else None

    def compare(self, name, answer):
        """An answer with a position must be the model's."""
        it = self.model.status(name, self.clock.now)
        kind = None if it is None else it.kind
        expected = {None: "NOT_ENTERED", WAITING: "WAITING", READY: "READY", CLAIMED: "READY"}[kind]
        assert answer.status == expected
        assert answer.waiting == self.model.count(WAITING)
        assert answer.rank == (self.model.rank(name) if kind == WAITING else -1)
        assert answer.ordering == (1 if kind == CLAIMED else 0)
        assert answer.token == (it.token if kind in (READY, CLAIMED) else "")
        if it is not None:
            assert (answer.seq, answer.generation) == (it.seq, it.generation)
        if kind == READY:
            assert answer.ends - answer.now == it.deadline - self.model.virtual(self.clock.now)
        if kind == CLAIMED:
            assert answer.ends - answer.now == it.remaining

    # One step each

    def enter(self):
        name = self.member()
        ticket = self.ticket(name)
        code, lane = self.dice.choices([("", MAIN), ("VIP", PRIORITY), ("INV", INVITED), ("no", None)], [30, 6, 3, 2])[0]
        token = new_tokens(1)[0]
        expected = self.model.enter(name, self.as_model(ticket), self.clock.now, lane, token)
        answer = self.line.enter(name, ticket, code=code)
        assert answer.code == expected
        if expected in ("ENTERED", "ALREADY"):
            self.compare(name, answer)
            self.tickets[name].append(answer.ticket)

    def position(self):
        name = self.member()
        ticket = self.ticket(name)
        expected = self.model.position(name, self.as_model(ticket), self.clock.now)
        answer = self.line.position(name, ticket)
        assert answer.code == expected
        if expected == "OK":
            self.compare(name, answer)

    def leave(self):
        name = self.member()
        ticket = self.ticket(name)
        expected = self.model.leave(name, self.as_model(ticket), self.clock.now)
        assert self.line.leave(name, ticket) == expected

    def promote(self):
        if self.dice.random() < 0.9:
            self.pool_seen = self.clock.now - self.dice.randrange(0, 1500)
        age = max(self.clock.now - self.pool_seen, 0)
        tokens = [base64url(os.urandom(32)) for _ in range(self.dice.randrange(6))]
        expected = self.model.promote(tokens, age, SILENCE, AWAY_MS, self.clock.now)
        words = [word for token in tokens for word in (token, sha256_text(token))]
        reply = self.line.call("promote", "a", self.pool_seen, 0, SILENCE, AWAY_MS, 0, *for_promote(words))
        assert (reply[0], tuple(reply[1:4])) == ("OK", expected)
        assert reply[5:9] == [self.model.count(WAITING), self.model.count(READY), self.model.count(CLAIMED),
                              len(self.model.unpaid)]

    def follower(self):
        assert self.line.promote(3, owner="b").code == "NOT_LEADER"

    def some_token(self):
        """A token in use, or one that was."""
        held = [(name, it.token) for name, it in self.model.members.items() if it.token]
        if held and self.dice.random() < 0.8:
            name, token = self.dice.choice(held)
        else:
            name, token, *_ = self.dice.choice(self.tokens)
        return (name if self.dice.random() < 0.95 else self.member()), token

    def claim(self):
        name, token = self.some_token()
        claim, key = f"c{self.dice.randrange(10**9)}", f"k{self.dice.randrange(4)}"
        expected = self.model.claim(name, token, claim, key, self.clock.now)
        answer = self.line.claim(name, token, claim, key)
        assert answer[0] == expected
        if expected == "CLAIMED":
            it = self.model.members[name]
            assert answer[1:4] == [5000, it.seq, self.model.epoch]
            self.tokens.append((name, token, claim, key))
        elif expected == "REPLAY":
            assert answer[1] == self.model.spent[token][2]

    def finished_claim(self):
        """A claim that runs, mostly; else one of the past, which must change nothing new."""
        running = [(name, it.token, it.claim, it.key) for name, it in self.model.members.items()
                   if it.kind == CLAIMED]
        return self.dice.choice(running if running and self.dice.random() < 0.7 else self.tokens)

    def consume(self):
        name, token, _claim, key = self.finished_claim()
        it = self.model.members.get(name)
        if it is not None and it.token == token and it.kind == READY:
            return  # a token whose claim was released has no committed order
        self.order_numbers += 1
        order, keep = f"o_{self.order_numbers}", self.dice.randrange(3) // 2
        expected = self.model.consume(name, token, key, order, keep, TOMBSTONE_MS, self.clock.now)
        assert self.line.consume(name, token, order, key, TOMBSTONE_MS, keep) == expected
        if keep:
            self.orders.append((name, order))

    def release(self):
        name, token, claim, _key = self.finished_claim()
        expected = self.model.release(name, token, claim, self.clock.now)
        assert self.line.release(name, token, claim) == expected

    def place_free(self):
        unpaid = [(field.split("/")[0], orders.split()[0]) for field, orders in self.model.unpaid.items()]
        name, order = self.dice.choice(unpaid if unpaid and self.dice.random() < 0.7 else self.orders)
        expected = self.model.place_free(name, order)
        assert self.line.call("place_free", member=name, order=order) == [expected]

    def publish(self):
        choice = {"operatorState": self.dice.choice(["OPEN"] * 5 + ["PAUSED", "DRAINING", "SOLD_OUT"])}
        if self.dice.random() < 0.2:
            choice["maxActive"] = self.dice.randrange(4, 10)
        self.model.publish(choice)
        assert self.line.publish(**choice) == "PUBLISHED"

    def lock(self):
        """Of a line that is as it is, or that everybody has just left; those with a token stay."""
        if self.dice.random() < 0.5:
            for name, it in list(self.model.members.items()):
                if it.kind in (WAITING, AWAY):
                    assert self.line.leave(name) == self.model.leave(name, None, self.clock.now) == "LEFT"
        scope = self.dice.choice(["line", "line", "all"])
        expected = self.model.lock(scope)
        assert self.line.call("queue_lock", self.line.version, scope) == expected
        self.locks += expected == ["OK"]

    def reset(self):
        if self.dice.random() < 0.05:
            self.model.reset()
            self.line.epoch = self.model.epoch
            assert self.line.publish() == "PUBLISHED"

    def time(self):
        self.clock.pass_ms(self.dice.choice([1, 50, 333, 1000, 1000, 2500, self.dice.randrange(9000)]))

    def overdue(self):
        found = self.line.call("claims_overdue", most=100)[1:]
        late = {name for name, it in self.model.members.items()
                if it.kind == CLAIMED and it.lease <= self.clock.now}
        assert set(found[::4]) == late

    def check(self):
        """The whole state in Redis is the model's."""
        self.line.check()
        model, line = self.model, self.line
        assert line.members("waiting") == [name for _, name in model.line()]
        assert line.members("priority") == [name for _, name in model.line(priority=True)]
        assert line.redis.llen(line.key("codeUses")) == len(model.used)
        for kind, name in ((AWAY, "away"), (READY, "ready"), (CLAIMED, "claimed")):
            assert set(line.members(name)) == {m for m, it in model.members.items() if it.kind == kind}, kind
        assert set(line.members("pickup")) == model.not_picked_up()
        assert not model.locked or model.count(WAITING, AWAY) == 0, "nobody came into a locked queue"
        assert line.redis.hgetall(line.key("unpaid")) == model.unpaid
        assert set(line.redis.hkeys(line.key("tombstones"))) == {sha256_text(token) for token in model.spent}
        assert line.drift() == ["OK", 0]

    STEPS = {"enter": 20, "position": 20, "leave": 4, "promote": 18, "follower": 1, "claim": 14, "consume": 8,
             "release": 6, "place_free": 5, "publish": 3, "lock": 1, "reset": 1, "time": 14, "overdue": 2}


@pytest.mark.parametrize("run", [1, 2])
def test_random_walk(clocked_scripts, clock, run):
    seed = int(os.environ.get("SLUICE_SEED") or random.randrange(2**32))
    print(f"seed {seed}: set SLUICE_SEED to walk the same way again")
    line = Line(clocked_scripts, **SETTINGS)
    line.publish()
    line.add_codes("priority", "VIP", uses=1000)
    line.add_codes("invite", "INV", uses=1000)
    line.redis.set(line.key("leader"), "a")
    walk = Walk(line, clock, seed)
    names, weights = list(Walk.STEPS), list(Walk.STEPS.values())
    done = dict.fromkeys(names, 0)
    for number in range(STEPS):
        name = walk.dice.choices(names, weights)[0]
        done[name] += 1
        try:
            getattr(walk, name)()
            if number % 5 == 0:
                walk.check()
        except AssertionError as error:
            raise AssertionError(f"step {number}, {name}, seed {seed}: {error}") from error
    walk.check()
    assert min(done.values()) > 0 and walk.locks > 0
    assert line.counter("admitted") > 50 and line.counter("consumed") > 20, "it went somewhere"


def test_order_of_admissions(clocked_scripts, clock):
    """Among those in line at a promotion nobody who came later goes first, whatever else happens."""
    seed = random.randrange(2**32)
    print("seed", seed)
    dice = random.Random(seed)
    line = Line(clocked_scripts, ratePerSecond=20, burst=20, maxActive=10**6, pickupSeconds=5)
    line.publish()
    line.redis.set(line.key("leader"), "a")
    numbers = {}
    for number in range(1500):
        what = dice.random()
        name = f"m{dice.randrange(300)}"
        if what < 0.5:
            answer = line.enter(name)
            assert numbers.setdefault(answer.seq, name) == name, "a number has one owner"
        elif what < 0.65:
            line.position(name)
        elif what < 0.7:
            line.leave(name)
        elif what < 0.85:
            clock.pass_ms(dice.randrange(800))
        else:
            before = line.members("waiting")
            tick = line.promote(30)
            assert line.members("waiting") == before[tick.admitted:], "the front, and nobody else"
            seqs = [line.place(member).seq for member in before[:tick.admitted]]
            assert seqs == sorted(seqs)
    line.check()
