"""One show seen through its scripts, and what must always be true of its keys."""

import itertools
from dataclasses import dataclass

from redis.client import NEVER_DECODE

from lib.line import sha256_text

CELL = 7


@dataclass(frozen=True)
class Hold:
    seat: str
    deadline: int
    guard: int = 0
    claim: str = ""
    admission: str = ""

    @property
    def end(self):
        return max(self.deadline, self.guard)


@dataclass
class SeatMap:
    now: int
    version: int
    total: int
    board: bytes
    mine: set

    def cell(self, position):
        """State and end of the seat there: '' for one that is free."""
        cell = self.board[position * CELL:(position + 1) * CELL]
        state, end = cell[:1].decode().strip("\0"), int.from_bytes(cell[1:], "big")
        return ("", 0) if state == "H" and end <= self.now else (state, end)


def read_holds(record):
    holds = []
    for text in record.split():
        seat, deadline, guard, claim, admission = text.split("/")
        holds.append(Hold(seat, int(deadline), int(guard), claim, admission))
    return holds


class Show:
    _numbers = itertools.count()

    def __init__(self, line, seats=(), name=None, **rules):
        self.line = line
        self.name = name or f"s{next(self._numbers)}"
        self.rules = {"maxSeats": 4, "holdTtlMs": 60_000, **rules}
        self.version = 0
        self.seats = []
        if seats:
            assert self.load(seats) == "LOADED"

    def key(self, name):
        return self.line.key(f"show:{self.name}:{name}")

    def call(self, script, *args, **named):
        return self.line.call(script, *args, show=self.name, **named)

    # What operators and PostgreSQL say

    def load_piece(self, loader, version, seats, first, total, **rules):
        rules = {"updated": version, **self.rules, **rules}
        return self.call("seats_load", loader, version, rules["updated"], rules["maxSeats"], rules["holdTtlMs"], total, first,
                         *seats)[0]

    def load(self, seats, version=None, loader=None, piece=500):
        """The whole plan; returns what the last piece came to."""
        version = version or self.version + 1
        seats = list(seats)
        said = None
        for first in range(0, max(len(seats), 1), piece):
            said = self.load_piece(loader or f"l{version}", version, seats[first:first + piece], first, len(seats))
            if said != "LOADED":
                return said
        self.version, self.seats = version, seats
        return said

    def publish(self, *rows, correct=0):
        """Rows (seat, change, state, member, order). Returns how many were news."""
        said, news = self.call("seats_publish", correct, *[word for row in rows for word in row])
        assert said == "OK"
        return news

    # Members

    def hold(self, member, token, *seats, replace=0):
        """The member's holds, or the refusal as it came."""
        reply = self.call("seats_hold", member, sha256_text(token), replace, *seats)
        return read_holds(reply[2]) if reply[0] == "HELD" else reply

    def give_back(self, member, *seats):
        return self.call("seats_release", member, *seats)

    def mine(self, member):
        """What of the member's is alive."""
        said, now, record = self.call("seats_mine", member)
        assert said == "OK"
        return [hold for hold in read_holds(record) if hold.end > now]

    def map(self, member=""):
        scripts = self.line.scripts
        script = scripts.scripts["seats_map"]
        keys = script.key_names(self.line.queue, self.name)
        if scripts.clock:
            seconds, milliseconds = divmod(scripts.clock(), 1000)
            keys.append(f"sluice:{{{self.line.queue}}}:clock.{seconds}.{milliseconds * 1000:06d}")
        reply = scripts.client.execute_command("EVALSHA", scripts.sha("seats_map"), len(keys), *keys, member,
                                               **{NEVER_DECODE: True})
        assert reply[0] == b"OK", reply
        now, version, total, board, record, owned = reply[1:]
        held = {hold.seat for hold in read_holds(record.decode()) if hold.end > now}
        return SeatMap(now, version, total, board, held | set(owned.decode().split()))

    def states(self, member=""):
        """What the map says of each seat: '' free, H held, O ordered, S sold."""
        seen = self.map(member)
        assert seen.total == len(self.seats) and seen.version == self.version
        return {seat: seen.cell(position)[0] for position, seat in enumerate(self.seats)}

    # Orders

    def claim(self, member, token, *seats, claim="claim-1", key="key-1", least_lease_ms=0, margin_ms=60_000):
        return self.call("claim_seats", *seats, member=member, admission=sha256_text(token), claim=claim,
                         keyHash=sha256_text(key) if key else "", leastLeaseMs=least_lease_ms, marginMs=margin_ms)

    def release(self, member, token, claim="claim-1"):
        return self.call("release_seats", member=member, admission=sha256_text(token), claim=claim, load="")[0]

    # What is in Redis

    def holders(self):
        """Seat → member and hold, those that have ended included."""
        found = {}
        for member, record in self.line.redis.hgetall(self.key("mine")).items():
            holds = read_holds(record)
            assert holds, "no empty record"
            assert holds == sorted(holds, key=lambda hold: (hold.deadline, hold.seat)), "soonest first"
            for hold in holds:
                assert hold.seat not in found, f"{hold.seat} has two owners"
                found[hold.seat] = (member, hold)
        return found

    def taken(self):
        """Seat → change, state, member, order."""
        return {seat: (int(change), state, member, order) for seat, (change, state, member, order) in (
            (seat, record.split("/")) for seat, record in self.line.redis.hgetall(self.key("taken")).items())}

    def check(self):
        """What must be true between any two scripts: every index says the same. Returns the living holds."""
        redis, now = self.line.redis, self.line.scripts.now()
        holders, taken = self.holders(), self.taken()
        assert redis.hgetall(self.key("holds")) == {seat: member for seat, (member, _) in holders.items()}
        assert dict(redis.zrange(self.key("held"), 0, -1, withscores=True)) == {
            seat: hold.end for seat, (_, hold) in holders.items()}
        gone = {seat: record for seat, record in taken.items() if record[1] != "F"}
        assert not gone.keys() & holders.keys(), "what is ordered is held by nobody"
        owned = {member: set(seats.split()) for member, seats in redis.hgetall(self.key("owned")).items()}
        assert owned == {member: {seat for seat, record in gone.items() if record[2] == member}
                         for member in {record[2] for record in gone.values()}}
        alive = {seat: (member, hold) for seat, (member, hold) in holders.items() if hold.end > now}
        if self.version:
            assert redis.hgetall(self.key("plan")) == {seat: str(i) for i, seat in enumerate(self.seats)}
            seen = self.map()
            for position, seat in enumerate(self.seats):
                expected = (gone[seat][1], 0) if seat in gone else (
                    ("H", alive[seat][1].end) if seat in alive else ("", 0))
                assert seen.cell(position) == expected, seat
        return alive
