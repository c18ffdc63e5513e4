"""Instructions that a poll, an entry and a check at the gate cost the queue pool's worker and Redis, counted by callgrind and compared with
bench/instructions.json. No clock is involved: a busy machine gives the same counts.

Each run is made anew: some requests, and then the same with a thousand more of one kind; the difference is theirs
alone. After a change that is meant to cost: scripts/bench check --write, and commit the file with it."""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import platform
import re
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import redis

from bench.members import Signer, encode, member_name
from bench.report import table
from bench.system import BUILD, ROOT

COUNTS = ROOT / "bench" / "instructions.json"
TOLERANCE = 0.03
QUEUE, GATED, BASE, MORE, LONGEST_S = "check", "gated", 200, 1000, 300
CROWD = 16  # requests that come at once, where they do
BEGIN, PARAMS, STDIN, END = 1, 4, 5, 3
WAITING, PASSED = '"status":"WAITING"', "X-Sluice-Verdict: pass"
FAR, SETTLED_S = 40, 0.5  # the last so many of BASE are far from the front


class Worker:
    """One kept FastCGI connection, a request at a time, so that all runs are identical."""

    def __init__(self, path):
        self.link = socket.socket(socket.AF_UNIX)
        self.link.settimeout(60)
        self.link.connect(str(path))

    @staticmethod
    def _record(kind, content):
        return struct.pack("!BBHHBx", 1, kind, 1, len(content), 0) + content

    def _read(self, size):
        data = b""
        while len(data) < size:
            got = self.link.recv(size - len(data))
            if not got:
                raise SystemExit("the worker closed its connection")
            data += got
        return data

    def ask(self, method, path, **headers):
        """Sends a request with nginx' parameters; returns the answer's text."""
        self.send(method, path, **headers)
        return self.receive()

    def send(self, method, path, **headers):
        names = {"REQUEST_METHOD": method, "REQUEST_URI": path, "REQUEST_ID": "0" * 32, **headers}
        params = b"".join(struct.pack("!LL", len(name) | 1 << 31, len(value) | 1 << 31) + name.encode() + value.encode()
                          for name, value in names.items())
        self.link.sendall(self._record(BEGIN, struct.pack("!HB5x", 1, 1)) + self._record(PARAMS, params)
                          + self._record(PARAMS, b"") + self._record(STDIN, b""))

    def receive(self):
        out = b""
        while True:
            _, kind, _, length, padding = struct.unpack("!BBHHBx", self._read(8))
            content = self._read(length + padding)[:length]
            if kind == END:
                return out.decode()
            out += content


@contextlib.contextmanager
def counted(place, name, command, stdin=subprocess.DEVNULL):
    """A program under callgrind; yields a function that ends it and says how many instructions it took."""
    out = place / f"{name}.callgrind"
    with open(place / f"{name}.log", "ab") as log:
        process = subprocess.Popen([
            "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--", *map(str, command)],
            cwd=place, stdin=stdin, stdout=log, stderr=log,
            env={**os.environ, "SLUICE_SANDBOX": "false"})  # valgrind asks the kernel for more than we do

    def end():
        process.terminate()
        process.wait(60)
        return int(re.search(r"^(?:totals|summary): (\d+)", out.read_text(), re.M)[1])
    end.pid = process.pid
    try:
        yield end
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def wait_for(what, check):
    deadline = time.monotonic() + LONGEST_S
    while True:
        try:
            return check()
        except (OSError, redis.RedisError) as fault:
            if time.monotonic() > deadline:
                raise SystemExit(f"{what} did not answer: {fault}") from fault
            time.sleep(0.05)


def write_settings(place):
    secret = place / "secrets"
    secret.mkdir(mode=0o700)
    (secret / "member-jwt.key").write_text(encode(secrets.token_bytes(32)).decode() + "\n")
    for name in ("queue-ticket.keys", "visitor.keys"):
        (secret / name).write_text(f"k1:{encode(secrets.token_bytes(32)).decode()}\n")
    for path in secret.iterdir():
        path.chmod(0o600)
    config = place / "sluice.conf"
    config.write_text("".join(f"{name} = {value}\n" for name, value in {
        "redis_socket": place / "redis.sock", "redis_timeout_ms": 60000, "member_jwt_algorithm": "HS256",
        "member_jwt_key_file": secret / "member-jwt.key", "queue_ticket_keys_file": secret / "queue-ticket.keys",
        "visitor_keys_file": secret / "visitor.keys", "metrics_file": place / "metrics",
        "snapshot_file": place / "snapshot", "board_directory": place, "log_level": "warning",
        "waiting_room_directory": ROOT / "web" / "waiting-room"}.items()))
    return config


def make_queues(path):
    """Calls the scripts directly, as their tests do."""
    os.environ["SLUICE_PLAIN_BUILD"] = str(BUILD)
    if str(ROOT / "tests") not in sys.path:
        sys.path.insert(0, str(ROOT / "tests"))
    from lib.line import Line  # only here: they belong to the tests
    from lib.scripts import Scripts
    client = redis.Redis(unix_socket_path=str(path), decode_responses=True, socket_timeout=60)
    for name, identity in ((QUEUE, "member"), (GATED, "visitor")):
        line = Line(Scripts(client), queue=name, identity=identity, ratePerSecond=0)
        if line.publish() != "PUBLISHED":
            raise SystemExit("the queue could not be made")
        # Only behind the first tick is a queue as it is all its life.
        line.lead()
        line.promote(0)
    client.sadd("sluice:queues", QUEUE)  # where the board looks for queues
    client.close()


def entry_of(signer, number):
    return "POST", f"/v1/queues/{QUEUE}/entries", {
        "HTTP_AUTHORIZATION": "Bearer " + signer.login(member_name(number)).decode()}


def enter(worker, signer, number):
    method, path, headers = entry_of(signer, number)
    answer = worker.ask(method, path, **headers)
    if not answer.startswith("Status: 201"):
        raise SystemExit(f"an entry was answered: {answer[:500]}")
    return json.loads(answer.split("\r\n\r\n", 1)[1])["queueTicket"]


def poll(worker, ticket):
    answer = worker.ask("GET", f"/v1/queues/{QUEUE}/position", HTTP_X_QUEUE_TICKET=ticket)
    if WAITING not in answer:
        raise SystemExit(f"a poll was answered: {answer[:500]}")


def poll_of(ticket):
    return "GET", f"/v1/queues/{QUEUE}/position", {"HTTP_X_QUEUE_TICKET": ticket}


class Visitor:
    """An admitted visitor, with the cookies and a browser's headers."""

    def __init__(self, place):
        self.keys = {}
        for name in ("queue-ticket", "visitor"):
            kid, secret = (place / "secrets" / f"{name}.keys").read_text().strip().split(":")
            self.keys[name] = kid, base64.urlsafe_b64decode(secret + "=" * (-len(secret) % 4))
        self.id = "v~" + encode(bytes(range(16))).decode()
        ticket = Signer(place / "secrets").ticket(self.id, GATED, 7, 1, 1).decode()
        seen = self._signed("visitor", "sluice visitor cookie", "v1.{kid}." + f"{self.id}.{int(time.time())}")
        self.cookies = f"sluice_visitor={seen}; sluice_ticket-{GATED}={ticket}; theme=dark"

    def _signed(self, key, purpose, text):
        kid, secret = self.keys[key]
        text = text.replace("{kid}", kid)
        return f"{text}.{encode(hmac.digest(secret, f'{purpose}{chr(10)}{text}'.encode(), 'sha256')).decode()}"

    def check(self):
        """With a pass just issued."""
        now = int(time.time() * 1000)
        admission = encode(hashlib.sha256(b"admission").digest()).decode()
        passed = self._signed("queue-ticket", "sluice gate pass",
                              "v1.{kid}." + f"a.{GATED}.1.1.7.0.{now}.{now + 300_000}.{admission}.{self.id}")
        return "GET", "/_sluice/check", {
            "SLUICE_QUEUE": GATED, "SLUICE_METHOD": "GET", "SLUICE_PATH": "/shop/index.html", "REMOTE_ADDR": "192.0.2.7",
            "HTTP_ACCEPT": "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8",
            "HTTP_USER_AGENT": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            "HTTP_SEC_FETCH_MODE": "navigate", "HTTP_SEC_FETCH_DEST": "document", "HTTP_ACCEPT_LANGUAGE": "en-US,en;q=0.5",
            "HTTP_COOKIE": f"{self.cookies}; sluice_pass-{GATED}={passed}"}


def check_at_gate(worker, visitor):
    method, path, headers = visitor.check()
    answer = worker.ask(method, path, **headers)
    if PASSED not in answer:
        raise SystemExit(f"a check at the gate was answered: {answer[:500]}")


def in_crowds(pid, links, requests, expected):
    """Sends as many at a time as there are links, while the worker is stopped: it begins each crowd in one turn, identically in
    every run. `requests` are functions that build one."""
    for start in range(0, len(requests), len(links)):
        os.kill(pid, signal.SIGSTOP)
        crowd = list(zip(links, requests[start:start + len(links)]))
        for link, make in crowd:
            method, path, headers = make()
            link.send(method, path, **headers)
        os.kill(pid, signal.SIGCONT)
        for link, _ in crowd:
            answer = link.receive()
            if expected not in answer:
                raise SystemExit(f"one of a crowd was answered: {answer[:500]}")


def keeps_a_snapshot(path):
    """Whether the first slot of the file belongs to a queue."""
    if not path.exists():
        return False
    with open(path, "rb") as file:
        return any(file.read(72)[64:])


@contextlib.contextmanager
def board_beside(place, config):
    """Runs the program that maintains the host's snapshot, until it exists."""
    with open(place / "board.log", "ab") as log:
        board = subprocess.Popen([BUILD / "sluice-board", "--config", config], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + LONGEST_S
        while not keeps_a_snapshot(place / "snapshot"):
            if time.monotonic() > deadline:
                raise SystemExit("sluice-board keeps no snapshot")
            time.sleep(0.05)
        time.sleep(SETTLED_S)
        yield
    finally:
        board.terminate()
        board.wait()


def poll_far(worker, tickets, count):
    """Polls answered from the snapshot. A single one answered by Redis would invalidate the count."""
    for number in range(count):
        poll(worker, tickets[BASE - FAR + number % FAR])
    text = worker.ask("GET", "/metrics")
    found = int(re.search(r'^sluice_positions_total\{source="snapshot"\} (\d+)', text, re.M)[1])
    if found < count:
        raise SystemExit(f"only {found} of {count} polls from far back were answered by the host itself")


def one_run(entries, polls, far=0, checks=0, crowded_polls=0, crowded_entries=0, crowded_checks=0):
    """(instructions of the worker, of Redis) of a run with so many of each: entries, polls that Redis answers, polls that the
    host answers, checks at the gate, and polls, entries and checks that come in crowds."""
    place = Path(tempfile.mkdtemp(prefix="sluice-check."))
    try:
        config = write_settings(place)
        with counted(place, "redis", ["redis-server", "--port", 0, "--unixsocket", place / "redis.sock", "--save", "",
                                      "--hz", 1, "--dynamic-hz", "no", "--daemonize", "no"]) as end_redis:
            wait_for("Redis", redis.Redis(unix_socket_path=str(place / "redis.sock")).ping)
            make_queues(place / "redis.sock")
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(place / "worker.sock"))
            listener.listen(16)
            # As spawn-fcgi hands it over: descriptor 0.
            with listener, counted(place, "worker", [BUILD / "sluice-fcgi", "--pool", "queue", "--config", config],
                                   listener) as end_worker:
                worker = wait_for("the worker", lambda: Worker(place / "worker.sock"))
                signer = Signer(place / "secrets")
                tickets = [enter(worker, signer, number) for number in range(entries)]
                for number in range(polls):
                    poll(worker, tickets[number % BASE])
                links = [Worker(place / "worker.sock") for _ in range(CROWD)]
                visitor = Visitor(place)
                for _ in range(checks):
                    check_at_gate(worker, visitor)
                for requests, expected in (
                        ([partial(poll_of, tickets[i % BASE]) for i in range(crowded_polls)], WAITING),
                        ([partial(entry_of, signer, entries + i) for i in range(crowded_entries)], WAITING),
                        ([visitor.check] * crowded_checks, PASSED)):
                    in_crowds(end_worker.pid, links, requests, expected)
                if far > 0:
                    with board_beside(place, config):
                        poll_far(worker, tickets, far)
                worker.link.close()
                return end_worker(), end_redis()
    finally:
        shutil.rmtree(place, ignore_errors=True)


def count():
    base = one_run(BASE, BASE)
    more_polls, more_entries = one_run(BASE, BASE + MORE), one_run(BASE + MORE, BASE)
    less_far, more_far = one_run(BASE, 0, BASE), one_run(BASE, 0, BASE + MORE)
    crowded_polls, crowded_entries = one_run(BASE, BASE, crowded_polls=MORE), one_run(BASE, BASE, crowded_entries=MORE)
    less_checks, more_checks = one_run(BASE, 0, checks=BASE), one_run(BASE, 0, checks=BASE + MORE)
    crowded_checks = one_run(BASE, 0, checks=BASE, crowded_checks=MORE)
    names = ("worker", "redis")
    return {"check at the gate": {"worker": round((more_checks[0] - less_checks[0]) / MORE)},
            f"check at the gate among {CROWD}": {"worker": round((crowded_checks[0] - less_checks[0]) / MORE)},
            f"poll among {CROWD}": {name: round((more - less) / MORE) for name, more, less in zip(names, crowded_polls, base)},
            f"enter among {CROWD}": {name: round((more - less) / MORE)
                                     for name, more, less in zip(names, crowded_entries, base)},
            "poll far back": {"worker": round((more_far[0] - less_far[0]) / MORE)},
            "poll": {name: round((more - less) / MORE) for name, more, less in zip(names, more_polls, base)},
            "enter": {name: round((more - less) / MORE) for name, more, less in zip(names, more_entries, base)}}


def toolchain():
    """What the counts depend on besides our sources."""
    compiler = subprocess.run(["cc", "-dumpfullversion"], capture_output=True, text=True, check=False).stdout.strip()
    server = subprocess.run(["redis-server", "--version"], capture_output=True, text=True, check=False).stdout
    return {"architecture": platform.machine(), "compiler": compiler, "libc": "-".join(platform.libc_ver()),
            "redis": (re.search(r"v=(\S+)", server) or ["", "?"])[1]}


def run(options):
    found, tools = count(), toolchain()
    if options.write:
        COUNTS.write_text(json.dumps({"toolchain": tools, "instructions": found}, indent=1) + "\n")
    known = json.loads(COUNTS.read_text()) if COUNTS.exists() else {"toolchain": {}, "instructions": {}}
    rows, wrong = [], []
    for request, parts in found.items():
        for part, value in parts.items():
            was = known["instructions"].get(request, {}).get(part)
            change = None if not was else value / was - 1
            good = change is not None and abs(change) <= TOLERANCE
            rows.append([f"{request}, {part}", was, value, "–" if change is None else f"{change:+.1%}", good])
            if not good:
                wrong.append(f"{request}, {part}")
    options.failed = bool(wrong)
    note = f"Within {TOLERANCE:.0%} of bench/instructions.json."
    if known["toolchain"] != tools:
        note += f" Those were counted with {known['toolchain']}, these with {tools}: they may differ for that alone."
    if wrong:
        note += " After a change that is meant: scripts/bench check --write."
    return [table("Instructions a request", ["what", "committed", "counted", "change", "within"], rows, note)], {
        "instructions": found, "toolchain": tools}
