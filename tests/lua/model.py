"""What the admission protocol promises, as simply as it can be said: the model that the scripts are held to.

Times are ms of the test's clock. It knows nothing of keys, scores or records.
"""

import math
from dataclasses import dataclass

WAITING, AWAY, READY, CLAIMED = "WAITING", "AWAY", "READY", "CLAIMED"
MAIN, PRIORITY, INVITED = 0, 1, 2


@dataclass
class Member:
    kind: str
    seq: int
    generation: int = 0
    token: str = ""
    deadline: int = 0      # virtual
    pickup: int = 0        # virtual, 0: seen
    away_until: int = 0
    claim: str = ""
    key: str = ""
    remaining: int = 0
    lease: int = 0
    lane: int = 0          # 0 main, 1 priority, 2 invited


class Model:
    def __init__(self, settings, now):
        self.settings = dict(settings)
        self.members = {}
        self.unpaid = {}
        self.spent = {}        # token -> (member, key, order, forgotten at)
        self.last = 0
        self.bucket, self.bucket_at = float(settings["burst"]), now
        self.frozen_ms, self.frozen_since, self.frozen_end = 0, 0, 0
        self.epoch = 1
        self.away_ms = 0       # how long whoever is set aside keeps the number, by the last tick
        self.admitted = []     # numbers in order of admission
        self.carry = 0.0       # of the priority lane's share
        self.used = set()      # (code, member)
        self.locked = False    # nobody enters before the next publication

    def virtual(self, now):
        return now - self.frozen_ms - (now - self.frozen_since if self.frozen_since else 0)

    def line(self, priority=False):
        standing = [(it, name) for name, it in self.members.items()
                    if it.kind == WAITING and (it.lane > MAIN) == priority]
        return [(it.seq, name) for it, name in sorted(standing, key=lambda one: (-one[0].lane, one[0].seq))]

    def rank(self, name):
        return [member for _, member in self.line(self.members[name].lane > MAIN)].index(name)

    def filled(self, now):
        return min(self.settings["burst"],
                   self.bucket + max(now - self.bucket_at, 0) * self.settings["ratePerSecond"] / 1000)

    def comes_in_by_invite(self, now):
        taken = self.count(READY, CLAIMED) + len(self.unpaid)
        return (self.state() == "OPEN" and not self.frozen_since and not self.ticks_are_overdue(now)
                and taken < self.settings["maxActive"] and self.filled(now) >= 1)

    def come_in(self, it, token, now):
        refill = max(now - self.bucket_at, 0) * self.settings["ratePerSecond"] / 1000
        self.bucket = float(f"{self.filled(now) - 1 - refill:.6f}")
        it.kind, it.token, it.pickup = READY, token, 0
        it.deadline = self.virtual(now) + self.visit_ms()
        self.admitted.append(it.seq)

    def visit_ms(self):
        return self.settings["entryTtlSeconds"] * 1000

    def ticks_are_overdue(self, now):
        """Without ticks nobody knows whether a deadline has moved."""
        return now - self.bucket_at > max(5000, 3 * self.settings["tickMs"])

    def status(self, name, now):
        """The member as whoever asks finds it, None for one who is not there (any more)."""
        it = self.members.get(name)
        if it is None or it.kind != READY or it.deadline > self.virtual(now):
            return it
        if self.ticks_are_overdue(now):
            return it
        if it.pickup:
            self.set_aside(it, now)
            return it
        return None

    def set_aside(self, it, now):
        it.kind, it.token, it.pickup, it.away_until = AWAY, "", 0, now + self.away_ms

    def count(self, *kinds):
        return sum(it.kind in kinds for it in self.members.values())

    def state(self):
        return self.settings["operatorState"]

    # Transitions: each gives the outcome that the script must give.

    def enter(self, name, ticket, now, lane=MAIN, token=""):
        """`lane`: that of a good code, None with a wrong one; `token`: for one who is let in at once."""
        it = self.status(name, now)
        if lane is None:
            if it is None:
                self.members.pop(name, None)
            return "CODE_INVALID"
        if it is None:
            self.members.pop(name, None)
            if name in self.unpaid:
                return "ALREADY_ACTIVE"
            if self.state() == "DRAINING":
                return "QUEUE_CLOSED"
            if self.state() == "SOLD_OUT":
                return "SOLD_OUT"
            if self.locked:
                return "QUEUE_FULL"
            invited = lane == INVITED and self.comes_in_by_invite(now)
            if not invited and 0 < self.settings["maxWaiting"] <= self.count(WAITING):
                return "QUEUE_FULL"
            self.last += 1
            it = self.members[name] = Member(WAITING, self.last, lane=lane)
            if lane > MAIN:
                self.used.add((lane, name))
            if invited:
                self.come_in(it, token, now)
            return "ENTERED"
        moves = it.kind in (WAITING, AWAY) and (
            lane > it.lane or (lane == INVITED and self.comes_in_by_invite(now)))
        if moves:
            self.used.add((lane, name))
        if moves or ticket != (self.epoch, it.seq, it.generation):
            it.generation += 1
        if moves and lane == INVITED and self.comes_in_by_invite(now):
            it.lane = lane
            self.come_in(it, token, now)
            return "ALREADY"
        if moves:
            it.lane = lane
        if it.kind == AWAY:
            it.kind = WAITING
        it.pickup = 0
        return "ALREADY"

    def position(self, name, ticket, now):
        if ticket and ticket[0] != self.epoch:
            return "QUEUE_RESET"
        it = self.status(name, now)
        if it is not None:
            if ticket and ticket != (self.epoch, it.seq, it.generation):
                return "SESSION_REVOKED"
            if it.kind == AWAY:
                it.kind = WAITING
            it.pickup = 0
        return "OK"

    def leave(self, name, ticket, now):
        if ticket and ticket[0] != self.epoch:
            return "NOT_THERE"
        it = self.status(name, now)
        if it is None:
            self.members.pop(name, None)
            return "NOT_THERE"
        if ticket and ticket != (self.epoch, it.seq, it.generation):
            return "SESSION_REVOKED"
        if it.kind == CLAIMED:
            return "ORDER_IN_PROGRESS"
        del self.members[name]
        return "LEFT"

    def promote(self, tokens, age, silence, away_ms, now):
        """Tokens in order; returns (admitted, expired, withdrawn)."""
        outage = silence > 0 and (age < 0 or age > silence)
        if outage and not self.frozen_since:
            self.frozen_since = max(now - max(age, 0), self.frozen_end)
        virtual = self.virtual(now)
        if not outage and self.frozen_since:
            self.frozen_ms += now - self.frozen_since
            self.frozen_since, self.frozen_end = 0, now
        before = virtual - age if silence > 0 and not outage else virtual
        self.away_ms = away_ms
        withdrawn = [it for it in self.members.values() if it.kind == READY and it.pickup
                     and min(it.pickup, it.deadline) <= before]
        for it in withdrawn:
            self.set_aside(it, now)
        expired = [name for name, it in self.members.items() if it.kind == READY and it.deadline <= before]
        for name in expired:
            del self.members[name]
        for name in [name for name, it in self.members.items() if it.kind == AWAY and it.away_until <= now]:
            del self.members[name]
        for token in [token for token, (*_, until) in self.spent.items() if until <= now]:
            del self.spent[token]
        self.bucket = self.filled(now)
        self.bucket_at = now
        room = min(math.floor(self.bucket), len(tokens), self.settings["batchCap"],
                   self.settings["maxActive"] - self.count(READY, CLAIMED) - len(self.unpaid))
        if outage or self.state() not in ("OPEN", "DRAINING"):
            room = 0
        first, others = self.divide(max(room, 0))
        front = self.line(priority=True)[:first] + self.line()[:others]
        # Kept to a millionth, as the protocol does.
        self.bucket = float(f"{self.bucket - len(front):.6f}")
        for (seq, name), token in zip(front, tokens):
            it = self.members[name]
            it.kind, it.token = READY, token
            it.deadline = virtual + self.settings["entryTtlSeconds"] * 1000
            it.pickup = virtual + self.settings["pickupSeconds"] * 1000
            self.admitted.append(seq)
        return len(front), len(expired), len(withdrawn)

    def divide(self, room):
        """How many come from the priority lane and how many from the main one."""
        first, others = len(self.line(priority=True)), len(self.line())
        quota = room * self.settings["priorityShare"] + (self.carry if first and others else 0)
        whole = math.floor(quota + 1e-9)
        from_first = min(whole, room, first)
        from_others = min(room - from_first, others)
        from_first = min(room - from_others, first)
        goes_on = from_first == whole and first > from_first
        self.carry = float(f"{max(quota - whole, 0):.6f}") if goes_on else 0.0
        return from_first, from_others

    def claim(self, name, token, claim, key, now):
        it = self.members.get(name)
        if it is not None and it.kind in (READY, CLAIMED) and it.token == token:
            if it.kind == CLAIMED:
                return "ORDER_IN_PROGRESS"
            if it.deadline <= self.virtual(now) and not self.ticks_are_overdue(now):
                return "ENTRY_TOKEN_INVALID"
            if self.count(CLAIMED) >= self.settings["maxInFlight"]:
                return "ORDER_CAPACITY"
            it.kind, it.claim, it.key, it.pickup = CLAIMED, claim, key, 0
            it.remaining = it.deadline - self.virtual(now)
            it.lease = now + self.settings["claimLeaseSeconds"] * 1000
            return "CLAIMED"
        if token in self.spent and self.spent[token][:2] == (name, key):
            return "REPLAY"
        return "ENTRY_TOKEN_INVALID"

    def consume(self, name, token, key, order, keep, tombstone_ms, now):
        is_first = token not in self.spent
        self.spent[token] = (name, key, order, now + tombstone_ms)
        it = self.members.get(name)
        if it is None or it.kind not in (READY, CLAIMED) or it.token != token:
            if is_first and keep:
                self.hold_place(name, order)
            return "ALREADY"
        del self.members[name]
        if keep:
            self.hold_place(name, order)
        return "CONSUMED"

    def hold_place(self, name, order):
        orders = self.unpaid.get(name, "").split()
        if orders:
            self.unpaid[f"{name}/{orders[0]}"] = orders[0]
        self.unpaid[name] = " ".join([order, *orders])

    def release(self, name, token, claim, now):
        it = self.members.get(name)
        if it is None or it.kind != CLAIMED or it.token != token or it.claim != claim:
            return "NOT_CLAIMED"
        it.kind, it.claim, it.key = READY, "", ""
        it.deadline = self.virtual(now) + it.remaining
        return "RELEASED"

    def place_free(self, name, order):
        orders = self.unpaid.get(name, "").split()
        if order not in orders:
            return "ALREADY"
        rest = [held for held in orders if held != order]
        if rest:
            self.unpaid[name] = " ".join(rest)
            del self.unpaid[f"{name}/{rest[0] if orders[0] == order else order}"]
        else:
            del self.unpaid[name]
        return "FREED"

    def not_picked_up(self):
        return {name for name, it in self.members.items() if it.kind == READY and it.pickup}

    def lock(self, scope):
        """The whole reply."""
        in_line = [self.count(WAITING), self.count(AWAY)]
        others = [self.count(READY), self.count(CLAIMED), len(self.unpaid)]
        unseen = len(self.not_picked_up())
        if sum(in_line) + unseen > 0 or (scope == "all" and sum(others) > 0):
            return ["QUEUE_BUSY", *in_line, *others, unseen]
        self.locked = True
        return ["OK"]

    def publish(self, settings):
        self.settings.update(settings)
        self.locked = False

    def reset(self):
        self.locked = False
        self.members.clear()   # what orders have left behind stays
        self.last = 0
        self.epoch += 1
        self.carry = 0.0
        self.admitted.clear()
