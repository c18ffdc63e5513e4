"""A long line, and those far back in it who ask two hosts: one that answers from its snapshot, and one that has none."""

import hashlib
import hmac
import time

from lib import fastcgi, metrics
from lib.board import Board
from lib.line import NO_TICKET, Line, Ticket, one_token
from lib.scripts import Scripts
from lib.tokens import decode, encode
from lib.wait import until

AT_ONCE = 200


class Asked:
    """An answer without what differs from moment to moment."""

    def __init__(self, answer):
        self.status = answer.status
        self.body = {name: value for name, value in answer.json().items()
                     if name not in ("serverTime", "retryAfterMs", "instance", "entryTokenExpiresAt")}
        # While everybody is held it moves on.
        self.body["ends"] = answer.json().get("entryTokenExpiresAt") is not None
        pause, least = answer.json().get("retryAfterMs"), 1000 * self.body.get("pollingIntervalSeconds", 0)
        assert pause is None or least <= pause <= 1.25 * least

    def __eq__(self, other):
        return (self.status, self.body) == (other.status, other.body)

    def __getitem__(self, name):
        return self.body[name]

    def __repr__(self):
        return f"{self.status} {self.body}"


class FarBack:
    """Members enter by the scripts themselves, so that there are many at once. `tickets`: the signed one of each."""

    def __init__(self, parts, **settings):
        self.parts, self.api = parts, parts.api
        # Near are all of whom rate and burst would let in: as few as can be.
        self.queue = parts.api.queue(**{"ratePerSecond": 1, "burst": 1, "activation": "hold", **settings})
        self.line = Line(Scripts(parts.redis), queue=self.queue)
        self.key = decode((parts.secrets / "queue-ticket.keys").read_text().split(":")[1].strip())
        self.tickets = {}
        self.exact, self.far = parts.socket("queue"), parts.add_host("far", "queue")
        self.board = Board(parts)

    def start_board(self, **settings):
        return self.board.start(snapshot_file=self.parts.memory / "far-snapshot", board_interval_ms=100,
                                snapshot_interval_ms=100, metrics_file=self.parts.memory / "far-metrics", **settings)

    def stop(self):
        self.board.stop()

    def sign(self, member, ticket, lane=None):
        """As the queue pool does it."""
        now = int(time.time())
        header = '{"alg":"HS256","kid":"k1","typ":"queue-ticket+jwt"}'
        claims = (f'{{"sub":"{member}","queue":"{self.queue}","epoch":{ticket.epoch},"seq":{ticket.seq},'
                  f'"lane":"{lane or ticket.lane}","queueSessionId":{ticket.generation},"inc":{ticket.incarnation},'
                  f'"iat":{now},"exp":{now + 3600}}}')
        signed = f"{encode(header)}.{encode(claims)}"
        return f"{signed}.{encode(hmac.digest(self.key, signed.encode(), hashlib.sha256))}"

    def enter(self, *members, **how):
        for member in members:
            answer = self.line.enter(member, **how)
            assert answer.code in ("ENTERED", "ALREADY"), answer
            self.tickets[member] = self.sign(member, answer.ticket)

    def _all_at_once(self, script, words):
        scripts = self.line.scripts
        keys = scripts.scripts[script].key_names(self.queue)
        with self.line.redis.pipeline(transaction=False) as pipe:
            for one in words:
                pipe.evalsha(scripts.sha(script), len(keys), *keys, *one)
            return {reply[0] for reply in pipe.execute()}

    def crowd(self, count):
        """m0, m1, …: numbers 1, 2, …"""
        words = [(f"m{i}", *NO_TICKET, 0, "take_over", *one_token(), "", 0) for i in range(count)]
        assert self._all_at_once("enter", words) == {"ENTERED"}
        self.tickets = {f"m{i}": self.sign(f"m{i}", self.ticket_of(i + 1)) for i in range(count)}

    def leave_all(self, members):
        assert self._all_at_once("leave", [(member, *NO_TICKET, 0) for member in members]) == {"LEFT"}

    def ticket_of(self, number, generation=0, **more):
        """The ticket that a number was given with."""
        return Ticket(number, generation, 1, 1, **more)

    def ask(self, socket, tickets, method="GET"):
        calls = [(socket, f"/v1/queues/{self.queue}/position", {"X-Queue-Ticket": ticket}, method) for ticket in tickets]
        answers = []
        for i in range(0, len(calls), AT_ONCE):
            answers += [Asked(answer) for answer in fastcgi.together(calls[i:i + AT_ONCE])]
        return answers

    def far_call(self, method, path, **headers):
        """A request of a member's to the host with the snapshot."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return fastcgi.together([(self.far, f"/v1/queues/{self.queue}/{path}", named, method)])[0]

    def one(self, member, socket=None):
        return self.ask(socket or self.far, [self.tickets[member]])[0]

    def count(self, source):
        """How many positions the host with the snapshot has told."""
        return self.figure(f'sluice_positions_total{{source="{source}"}}')

    def miscounts(self):
        return self.figure("sluice_snapshot_miscounts_total")

    def figure(self, name):
        return metrics.read(fastcgi.get(self.far, "/metrics").body)[name]

    def source_and_rank(self, member):
        """Who knows the answer, "snapshot" or "redis", and its rank."""
        before = self.count("snapshot")
        rank = self.one(member)["rank"]
        return ("snapshot" if self.count("snapshot") > before else "redis"), rank

    def source_of(self, member):
        return self.source_and_rank(member)[0]

    def wait_for(self, member, source="snapshot", seconds=5):
        until(lambda: self.source_of(member) == source, seconds, f"{member} answered by {source}", every=0.05)

    def both(self, tickets):
        """What either host says, and which tickets they differ about."""
        exact, far = self.ask(self.exact, tickets), self.ask(self.far, tickets)
        return [(ticket, one, other) for ticket, one, other in zip(tickets, exact, far) if one != other], exact

    def agree(self, tickets, seconds=3):
        """Once nothing changes any more, both say the same of everybody. Returns what they say."""
        seen = []

        def same():
            differ, answers = self.both(tickets)
            seen[:] = [differ[:3]]
            return not differ and answers
        try:
            return until(same, seconds, "both hosts say the same", every=0.1)
        except AssertionError as error:
            raise AssertionError(f"{error}: {seen}") from error
