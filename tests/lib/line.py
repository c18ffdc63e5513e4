"""One queue seen through its scripts: the transitions by name, and what must always be true of its keys."""

import base64
import hashlib
import itertools
import os
from dataclasses import dataclass, field

from redis.client import NEVER_DECODE

from lib.draw import Draw, seed_of

GENERATIONS = 4096
INVITED_SCORE = 2**40 * GENERATIONS
DEFAULTS = {
    "mode": "fifo", "identity": "member", "ratePerSecond": 50, "burst": 50, "maxActive": 1000,
    "maxInFlight": 100, "entryTtlSeconds": 300, "claimLeaseSeconds": 30, "maxWaiting": 0,
    "opensAt": "", "closesAt": "", "releaseOn": "order", "pickupSeconds": 90, "activation": "on",
    "batchCap": 500, "admitWhenIdle": 0, "tickMs": 1000, "recoverySeconds": 38, "message": "",
    "operatorState": "OPEN", "deleted": 0, "priorityShare": 0.5, "lotterySecret": "", "lotteryCommitment": "",
    "lotteryDraw": "",
}
# Every field of a queue's keys that holds a time, so that a test can let time pass at once.
TIME_SETS = ("ready", "pickup", "awayUntil", "claimed", "tombstoneUntil", "ended", "watched")
TIME_FIELDS = ("bucketAt", "frozenSince", "frozenEnd", "recoveringUntil", "firstAdmittedAt", "lastAdmittedAt",
               "soldOutAt", "watchAt", "tickAt")


@dataclass(frozen=True)
class Ticket:
    seq: int
    generation: int
    epoch: int
    incarnation: int
    lane: str = "main"


NO_TICKET = ("", "", "", "", "")


@dataclass
class Position:
    code: str
    queue_state: str
    status: str
    rank: int
    waiting: int
    token: str
    ends: int
    ordering: int
    rate_milli: int
    seq: int
    generation: int
    epoch: int
    incarnation: int
    now: int
    activation: str
    rate: str
    lane: str
    exact_only: int

    @property
    def ticket(self):
        return Ticket(self.seq, self.generation, self.epoch, self.incarnation, self.lane or "main")


@dataclass
class Refusal:
    code: str
    more: list = field(default_factory=list)


@dataclass
class Tick:
    code: str
    admitted: int = 0
    expired: int = 0
    withdrawn: int = 0
    more: int = 0
    waiting: int = 0
    ready: int = 0
    claimed: int = 0
    unpaid: int = 0
    queue_state: str = ""
    frozen: int = 0
    draw_waits: int = 0
    highest_served: int = 0


@dataclass
class Pass:
    admission: str
    seq: int
    generation: int
    epoch: int
    incarnation: int
    now: int
    ends: int


@dataclass
class View:
    version: int
    activation: str
    idle: int
    identity: str
    bypass: str
    epoch: int
    incarnation: int
    renew_ms: int
    state: str
    waiting: int
    rate_milli: int
    now: int
    message: str
    opens_at: str
    closes_at: str
    pickup_seconds: int
    entry_ttl_seconds: int
    mode: str
    ended: list


@dataclass
class Snapshot:
    state: str
    waiting: int
    in_main: int
    last: int
    front: int
    at_front: int
    before_main: int
    rate_milli: int
    epoch: int
    incarnation: int
    now: int
    activation: str
    poll_tiers: str
    for_visitors: int
    near: int
    exact_only: int
    change: int
    missing: int
    changes: list


@dataclass
class Place:
    seq: int
    generation: int
    admission: str
    token: str
    claim: str
    key_hash: str
    remaining: int


def base64url(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def sha256_text(text):
    return base64url(hashlib.sha256(text.encode()).digest())


_spare = []


def new_tokens(count):
    """Entry tokens and their admission ids, as the scheduler makes them: 43 characters each, never twice."""
    while len(_spare) < 2 * count:
        token = base64url(os.urandom(32))
        _spare.extend((token, sha256_text(token)))
    return _spare[:2 * count]


def for_promote(words):
    """Tokens and admission ids, one after the other, as promote takes them."""
    return [f"{admission}/{token}" for token, admission in zip(words[::2], words[1::2])]


def _forget_tokens(count):
    del _spare[:2 * count]


def one_token():
    """An entry token and its admission id, used up."""
    words = new_tokens(1)
    _forget_tokens(1)
    return words


def raw_hash(client, key):
    """A hash as it is: not all of it is text."""
    fields, values = (client.execute_command(command, key, **{NEVER_DECODE: []}) for command in ("HKEYS", "HVALS"))
    return dict(zip(fields, values, strict=True))


def seen_before(*groups):
    return set().union(*groups)


class Line:
    _numbers = itertools.count()

    def __init__(self, scripts, queue=None, **settings):
        self.scripts = scripts
        self.redis = scripts.client
        self.queue = queue or f"q{next(self._numbers)}"
        self.settings = {**DEFAULTS, **settings}
        self.version = 0
        self.epoch = 1
        self.incarnation = 1

    def key(self, name):
        return f"sluice:{{{self.queue}}}:{name}"

    def call(self, script, *args, **named):
        return self.scripts.call(script, self.queue, *args, **named)

    def drift(self):
        """All calls of drift that there are: OK, how many were mended, and who."""
        mended, who = 0, []
        for part in ("ready", "claimed", "pickup", "places"):
            at = None
            while at != 0:
                code, count, at, *found = self.call("drift", part=part, **{"from": at or 0})
                assert code == "OK"
                mended, who = mended + count, who + found
                if at < 0:
                    return [code, mended, *who]
        return ["OK", mended, *who]

    # Operators

    def publish(self, seq_floor=0, recovery_ms=0, version=None, intent="create", knows=25, announced=None, **settings):
        """Makes the queue, or changes it; `announced`: the name under which a creation has announced itself, otherwise it does so
        first. Returns the outcome."""
        self.settings.update(settings)
        self.version = version if version is not None else self.version + 1
        fields = {**self.settings, "version": self.version, "epoch": self.epoch,
                  "incarnation": self.incarnation}
        flat = [str(word) for pair in fields.items() for word in pair]
        name = announced or ""
        if announced is None and intent == "create" and not self.redis.exists(self.key("settings")):
            name = self.announce()
        return self.call("queue_publish", intent, self.version, self.epoch, self.incarnation, seq_floor,
                         recovery_ms, knows, name, *flat)[0]

    def announce(self):
        """As a publisher does who does not know whether Redis has the queue. Returns the publication's name."""
        name = f"publication-{next(self._numbers)}"
        self.redis.hset(self.key("state"), "announced", name)
        return name

    def lead(self, owner="a", lease_ms=60000):
        return self.call("leader_acquire", owner=owner, leaseMs=lease_ms)

    # Reconcile

    def load_spent(self, *numbers, after=0, script="spent_load"):
        """A page of spent numbers before a recovery; none after the last. Returns the outcome."""
        return self.call(script, self.incarnation, self.epoch, after, *numbers)[0]

    def prepare(self, *numbers, script="spent_load"):
        """All pages of a recovery. Returns the outcome of the last."""
        numbers = sorted(numbers)
        assert not numbers or self.load_spent(*numbers, script=script) == "LOADED"
        while (outcome := self.load_spent(after=numbers[-1] if numbers else 0, script=script)) == "MORE":
            pass
        return outcome

    # Members

    def _ask(self, script, member, ticket, visitor, *more):
        words = NO_TICKET if ticket is None else (
            ticket.seq, ticket.generation, ticket.epoch, ticket.incarnation, ticket.lane)
        reply = self.call(script, member, *words, 1 if visitor else 0, *more)
        if len(reply) == len(Position.__dataclass_fields__):
            return Position(*reply)
        return Refusal(reply[0], reply[1:])

    def enter(self, member, ticket=None, visitor=False, mode="take_over", code="", unproven=False, proof=""):
        return self._ask("enter", member, ticket, visitor, mode, *one_token(), sha256_text(code) if code else "",
                         1 if unproven else 0, proof)

    def position(self, member, ticket=None, visitor=False):
        return self._ask("position", member, ticket, visitor)

    def leave(self, member, ticket=None, visitor=False):
        return self._ask("leave", member, ticket, visitor).code

    # The lottery

    def closed_list(self):
        """What the opening's tick has left for whoever holds the draw: list hash and ranges."""
        return self.redis.hmget(self.key("state"), "drawList", "drawRanges")

    def hold_draw(self):
        """Puts the draw down and publishes it, as reconcile does. Returns it."""
        list_hash_text, ranges = self.closed_list()
        seed = seed_of(self.settings["lotterySecret"], self.queue, self.epoch, list_hash_text, ranges)
        assert self.publish(lotteryDraw=f"{seed} {list_hash_text} {ranges}") == "PUBLISHED"
        return Draw(seed, ranges)

    # Codes

    def add_codes(self, kind, *codes, uses=1, ends=0):
        for code in codes:
            self.redis.hset(self.key("codes"), sha256_text(code), f"{kind}/{uses}/{ends}")

    def code(self, code):
        """Kind and uses left."""
        kind, left, _ends = self.redis.hget(self.key("codes"), sha256_text(code)).split("/")
        return kind, int(left)

    # The scheduler

    def promote(self, count=500, owner="a", pool_age=0, pool_silence=0, away_ms=86400000, pool_silent_ms=0,
                goes_on=False):
        """One call of a tick; `goes_on`: not its first one."""
        seen = -1 if pool_age < 0 else self.scripts.now() - pool_age
        reply = self.call("promote", owner, seen, pool_silent_ms, pool_silence, away_ms, int(goes_on),
                          *for_promote(new_tokens(count)))
        tick = Tick(*reply)
        _forget_tokens(tick.admitted)
        return tick

    # The gate

    def gate(self, member, gate_pass=None, visitor=False, lane=""):
        """`gate_pass` is what an earlier call answered, `lane` that of the ticket. Returns a Pass, or the word of the refusal."""
        words = (("",) * 5 if gate_pass is None else
                 (gate_pass.admission, gate_pass.seq, gate_pass.generation, gate_pass.epoch, gate_pass.incarnation))
        reply = self.call("gate_check", member, *words, 1 if visitor else 0, *one_token(), lane)
        return Pass(*reply[1:]) if reply[0] == "ADMITTED" else reply[0]

    def view(self):
        return View(*(reply := self.call("gate_view"))[1:19], reply[19:])

    def watch(self, member):
        return self.call("gate_watch", member)

    def end(self, member, admission=""):
        return self.call("member_end", member, admission)[0]

    def admit(self, member):
        return self.call("member_admit", member, *one_token())[0]

    def find(self, member):
        return self.call("member_find", member)[1:]

    def result(self):
        names = ("state", "entered", "admitted", "consumed", "left", "expired", "last_served", "first_admitted_at",
                 "last_admitted_at", "last_wait", "longest_wait", "sold_out_at", "opens_at", "closes_at", "epoch",
                 "now")
        return dict(zip(names, self.call("result")[1:], strict=True))

    # Orders

    def claim(self, member, token, claim="claim-1", key="key-1", least_lease_ms=0, event=""):
        return self.call("claim", member=member, admission=sha256_text(token), claim=claim,
                         keyHash=sha256_text(key) if key else "", leastLeaseMs=least_lease_ms, event=event)

    def consume(self, member, token, order="o_1", key="key-1", tombstone_ms=900000, keep_place=0, event="", load=""):
        return self.call("consume", member=member, admission=sha256_text(token),
                         keyHash=sha256_text(key) if key else "", order=order,
                         tombstoneMs=tombstone_ms, keepPlace=keep_place, event=event, load=load)[0]

    def release(self, member, token, claim="claim-1", load=""):
        return self.call("release", member=member, admission=sha256_text(token), claim=claim, load=load)[0]

    # What is in Redis

    def counter(self, name):
        return int(self.redis.hget(self.key("state"), name) or 0)

    def members(self, name):
        return self.redis.zrange(self.key(name), 0, -1)

    def place(self, member):
        record = self.redis.hget(self.key("places"), member)
        if record is None:
            return None
        seq, generation, admission, token, claim, key_hash, remaining = record.split("/")
        return Place(int(seq), int(generation), admission, token, claim, key_hash, int(remaining))

    def advance(self, ms):
        """Lets `ms` pass for this queue: every time in its keys moves into the past by as much."""
        with self.redis.pipeline() as pipe:
            for name in TIME_SETS:
                for member, score in self.redis.zrange(self.key(name), 0, -1, withscores=True):
                    pipe.zadd(self.key(name), {member: score - ms})
            state = self.redis.hgetall(self.key("state"))
            for name in TIME_FIELDS:
                if int(float(state.get(name) or 0)) > 0:
                    pipe.hset(self.key("state"), name, int(float(state[name])) - ms)
            for name in ("opensAt", "closesAt"):
                value = self.redis.hget(self.key("settings"), name)
                if value:
                    pipe.hset(self.key("settings"), name, int(value) - ms)
                    pipe.hdel(self.key("settings"), "packed")
            pipe.execute()

    def check(self):
        """What must be true between any two scripts. Returns the places."""
        places = {member: self.place(member) for member in self.redis.hkeys(self.key("places"))}
        ready, claimed = set(self.members("ready")), set(self.members("claimed"))
        assert set(places) == ready | claimed, "places are those READY and those CLAIMED"
        assert not ready & claimed, "nobody is READY and CLAIMED"
        for member, place in places.items():
            assert (place.claim != "") == (member in claimed), f"claim of {member}"
        assert set(self.members("pickup")) <= ready, "only the READY are waited for"
        waiting = {}
        for name in ("waiting", "priority", "draw"):
            standing = dict(self.redis.zrange(self.key(name), 0, -1, withscores=True))
            assert not standing.keys() & waiting.keys(), "a member stands in one lane"
            waiting.update({member: score % INVITED_SCORE for member, score in standing.items()})
        away = dict(self.redis.zrange(self.key("away"), 0, -1, withscores=True))
        assert set(away) == set(self.members("awayUntil")), "whoever is away is so until some time"
        seen = list(waiting) + list(away) + list(places)
        assert len(seen) == len(set(seen)), "a member is in one of line, away and places"
        places_drawn = dict(self.redis.zrange(self.key("drawn"), 0, -1, withscores=True))
        assert not places_drawn.keys() & seen_before(waiting, away, places), "the drawn stand nowhere else"
        numbers = [int(score) // GENERATIONS for score in [*waiting.values(), *away.values()]]
        numbers += [place.seq for place in places.values()]
        assert len(numbers) == len(set(numbers)), "no number twice"
        assert all(number >= 1 for number in numbers)
        assert not numbers or max(numbers) <= self.counter("seq"), "no number above the counter"
        assert set(self.redis.zrange(self.key("tombstoneUntil"), 0, -1)) == set(
            self.redis.hkeys(self.key("tombstones"))), "every tombstone has an end"
        self.check_marks()
        return places

    # What hosts go by who answer for those far from the front

    def marks(self):
        """Number to mark, 1 gone or 2 ask, of all that are marked."""
        marked = {}
        for field, value in raw_hash(self.redis, self.key("marks")).items():
            if field.isdigit():
                bits = int.from_bytes(value, "little")
                marked.update({1024 * int(field) + i: bits >> 2 * i & 3 for i in range(1024) if bits >> 2 * i & 3})
        return marked

    def snapshot(self, known=-1):
        return Snapshot(*(reply := self.call("snapshot", known))[1:19], [int(change) for change in reply[19:]])

    def check_marks(self):
        """Above the front, who is not marked stands in the main line as entered, and who is gone does not."""
        snapshot, marked = self.snapshot(), self.marks()
        standing = {int(score) // GENERATIONS: int(score) % GENERATIONS
                    for _, score in self.redis.zrange(self.key("waiting"), 0, -1, withscores=True)}
        for number in range(snapshot.front + 1, snapshot.last + 1):
            mark = marked.get(number, 0)
            assert (mark == 1) == (number not in standing), f"mark {mark} of {number}"
            assert mark or standing[number] == 0, f"{number} was taken over"
        assert snapshot.at_front == sum(number <= snapshot.front for number in standing)
        assert snapshot.in_main == len(standing)


def drain(line, members, **options):
    """Promotes once and returns the tokens of `members`, by member."""
    line.promote(**options)
    tokens = {}
    for member in members:
        place = line.place(member)
        assert place, f"{member} has no place"
        tokens[member] = place.token
    return tokens
