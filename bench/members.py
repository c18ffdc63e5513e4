"""Members for benchmarks: their logins and tickets, requests on their behalf, and a crowd already waiting.

A large crowd does not come in through HTTP: the entry script is called with their names. So every place is made by the
system's own script. What the queue pool sends to Redis for a poll is overheard, to be sent for others.
"""

import base64
import hashlib
import hmac
import json
import os
import socket
import sys
import time

from bench.system import BUILD, ROOT

BATCH = 500


def encode(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


def member_name(number, prefix="m"):
    """Twenty characters."""
    return f"{prefix}{number:0{20 - len(prefix)}d}"


class Signer:
    """Logins (JWTs of the shop) and queue tickets, signed with a system's own keys."""

    HEADER = encode(b'{"alg":"HS256","typ":"JWT"}')

    def __init__(self, secrets):
        self.login_key = (secrets / "member-jwt.key").read_text().strip().encode()
        kid, secret = (secrets / "queue-ticket.keys").read_text().split("\n")[0].split(":")
        self.ticket_key = base64.urlsafe_b64decode(secret + "=" * (-len(secret) % 4))
        self.ticket_header = encode(f'{{"alg":"HS256","kid":"{kid}","typ":"queue-ticket+jwt"}}'.encode())
        self.now = int(time.time())

    def login(self, member):
        claims = f'{{"sub":"{member}","iat":{self.now},"exp":{self.now + 43200}}}'.encode()
        text = self.HEADER + b"." + encode(claims)
        return text + b"." + encode(hmac.digest(self.login_key, text, "sha256"))

    def ticket(self, member, queue, seq, epoch, incarnation):
        claims = (f'{{"sub":"{member}","queue":"{queue}","epoch":{epoch},"seq":{seq},"lane":"main",'
                  f'"queueSessionId":0,"inc":{incarnation},"iat":{self.now},"exp":{self.now + 43200}}}').encode()
        text = self.ticket_header + b"." + encode(claims)
        return text + b"." + encode(hmac.digest(self.ticket_key, text, "sha256"))


def overhear(system, action, member):
    """The commands of the transaction that the queue pool sends to Redis while `action` runs, the one about `member`."""
    commands, end = [], "end-of-action"
    with system.redis.monitor() as monitor:
        action()
        system.redis.echo(end)
        for heard in monitor.listen():
            words = heard["command"].split(" ")
            if words[0].upper() == "MULTI":
                commands = []
            commands.append(words)
            if words[0].upper() == "EXEC" and any(member in other for other in commands):
                return commands
            if words[-1] == end:
                break
    raise SystemExit(f"no transaction with {member} was overheard")


def script_slots(redis, name, queue, **values):
    """The words of a call of a script of lua/, with its keys; arguments are `values`, text or ("slot",), the rest is empty."""
    os.environ.setdefault("SLUICE_PLAIN_BUILD", str(BUILD))
    if str(ROOT / "tests") not in sys.path:
        sys.path.insert(0, str(ROOT / "tests"))
    from lib.scripts import read_script  # only here: it belongs to the tests
    script = read_script(name)
    keys = script.key_names(queue)
    return ["EVALSHA", redis.script_load(script.text), str(len(keys)), *keys,
            *(values.get(arg, "") for arg in script.args)]


def _word(text):
    raw = text if isinstance(text, bytes) else text.encode()
    return b"$%d\r\n%b\r\n" % (len(raw), raw)


class Command:
    """A command with slots, written quickly."""

    def __init__(self, slots):
        self.pieces = []
        piece = b"*%d\r\n" % len(slots)
        for slot in slots:
            if isinstance(slot, tuple):
                self.pieces += [piece, slot[0]]
                piece = b""
            else:
                piece += _word(slot)
        self.pieces.append(piece)

    def text(self, **values):
        return b"".join(piece if isinstance(piece, bytes) else _word(values[piece]) for piece in self.pieces)


class Crowd:
    """Members of one queue, `enter`ed by its script; `first` is the number of the next one."""

    def __init__(self, system, queue):
        self.system, self.queue = system, queue
        self.signer = Signer(system.data / "secrets")
        self.first, self.tokens = 1, []
        probe = member_name(0)
        self._enter(probe)
        claims = self.claims
        self.enter_slots = script_slots(
            system.redis, "enter", queue, member=("member",), visitor="0", mode="take_over", token=("token",),
            admission=("admission",), unproven="0")
        self.position_slots = script_slots(
            system.redis, "position", queue, member=("member",), seq=("seq",), generation="0", epoch=str(claims["epoch"]),
            incarnation=str(claims["inc"]), lane="main", visitor="0")
        self.command = Command(self.enter_slots)
        self.base = self.seq

    def poll_commands(self):
        """The commands that the queue pool sends to Redis for a waiting member's poll, with a slot for the member."""
        probe = member_name(0)
        return [Command([("member",) if word == probe else word for word in words])
                for words in overhear(self.system, self._ask, probe)]

    def _enter(self, member):
        status, _, answer = self.system.call("POST", f"/v1/queues/{self.queue}/entries", headers={
            "Authorization": "Bearer " + self.signer.login(member).decode()})
        if status not in (200, 201):
            raise SystemExit(f"entering {self.queue} was answered {status}: {answer}")
        part = answer["queueTicket"].split(".")[1]
        if member == member_name(0):
            self.ticket0 = answer["queueTicket"]
            self.seq = answer["seq"]
        self.claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))

    def _ask(self):
        self.system.call("GET", f"/v1/queues/{self.queue}/position", headers={"X-Queue-Ticket": self.ticket0})

    def grow(self, count, keep_tokens=False):
        """`count` more members; with keep_tokens their entry tokens, for queues that admit immediately, in self.tokens."""
        with socket.socket(socket.AF_UNIX) as redis:
            redis.connect(str(self.system.place / "redis.sock"))
            while count > 0:
                batch = []
                for _ in range(min(BATCH, count)):
                    token = encode(os.urandom(32))
                    admission = encode(hashlib.sha256(token).digest())
                    if keep_tokens:
                        self.tokens.append(token)
                    batch.append(self.command.text(member=member_name(self.first), token=token, admission=admission))
                    self.first += 1
                    count -= 1
                self._send(redis, batch)

    @staticmethod
    def _send(redis, batch):
        mark = b"end-of-batch-" + encode(os.urandom(12))
        redis.sendall(b"".join(batch) + b"*2\r\n$4\r\nECHO\r\n" + _word(mark))
        tail = b""
        while not tail.endswith(mark + b"\r\n"):
            got = redis.recv(1 << 20)
            if not got or b"-NOSCRIPT " in got or b"-ERR " in got:  # tokens have no blanks
                raise SystemExit(f"Redis refused a script call: {got[:200]}")
            tail = (tail + got)[-200:]

    def ticket(self, number):
        """For member `number`, 1 … : the script assigned the numbers in order."""
        seq = self.base + number
        return self.signer.ticket(member_name(number), self.queue, seq, self.claims["epoch"], self.claims["inc"])


def write_requests(path, requests):
    """For sluice-closed: complete requests, NUL-terminated."""
    with open(path, "wb") as out:
        for request in requests:
            out.write(request + b"\0")
    return path


def get(path, *headers):
    return b"\r\n".join([b"GET " + path.encode() + b" HTTP/1.1", b"Host: 127.0.0.1", *headers, b"", b""])


def post(path, body, *headers):
    return b"\r\n".join([b"POST " + path.encode() + b" HTTP/1.1", b"Host: 127.0.0.1", *headers,
                         *([b"Content-Type: application/json"] if body else []),
                         b"Content-Length: %d" % len(body), b"", body])
