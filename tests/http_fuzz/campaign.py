"""Asks and judges, some at a time, until so many attempts or seconds are over."""

import socket
import threading
import time
from collections import Counter

from http_fuzz.attempts import GATED, OPERATIONS, Maker
from http_fuzz.judge import faults
from http_fuzz.world import World

LONGEST_S = 60      # for one answer
ROUND = 400         # attempts between two fresh worlds
AT_ONCE = 4
TRIES, AGAIN_S = 3, 3  # after a 503


class Campaign:
    """`api`: the running system. `findings`: (number, sentences, bytes sent, bytes received)."""

    def __init__(self, api, seed):
        self.api, self.seed = api, seed
        self.world = World(api)
        self.keys = [api.admin_key, api.viewer_key, api.member_key.secret.decode()]
        self.findings, self.statuses = [], Counter()
        self.next = 0
        self._lock = threading.Lock()
        self._deadline = self._count = None

    def run(self, count=None, seconds=None):
        self._count = count
        self._deadline = time.monotonic() + seconds if seconds else None
        threads = [threading.Thread(target=self._work) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.world.victim.state() != self.world.victim.before:
            self.findings.append((-1, [f"the victim's things: {self.world.victim.before} became {self.world.victim.state()}"], b"", b""))
        return self.findings

    def _take_number(self):
        with self._lock:
            if (self._count is not None and self.next >= self._count) or (self._deadline and time.monotonic() > self._deadline):
                return None
            number, self.next = self.next, self.next + 1
            if number and number % ROUND == 0:
                self.world.begin_round()
            return number

    def _work(self):
        while (number := self._take_number()) is not None:
            self.ask(number)

    def ask(self, number):
        attempt = Maker(self.world, self.seed, number).attempt()
        sent = attempt.data()
        try:
            received = self._exchange(sent)
            for _ in range(TRIES):
                if not received.startswith(b"HTTP/1.1 503") or attempt.operation is GATED:
                    break
                # Two writers of one thing on a busy machine: whoever sends it again, as Retry-After says, is answered.
                time.sleep(AGAIN_S)
                received = self._exchange(sent)
            found = faults(attempt, received, self.world.victim.secrets, self.keys)
        except OSError as error:
            received, found = b"", [f"{type(error).__name__}: {error}"]
        with self._lock:
            status = received[9:12].decode("latin-1")
            self.statuses[(attempt.operation.method, attempt.operation.path, status)] += 1
            if found:
                self.findings.append((number, found, sent, received))

    def _exchange(self, data):
        received = []
        with socket.create_connection(("127.0.0.1", self.api.port), timeout=LONGEST_S) as link:
            try:
                link.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it was refused before it was read
            try:
                while piece := link.recv(65536):
                    received.append(piece)
            except ConnectionResetError:
                pass
        return b"".join(received)

    def reached(self):
        """Operations that have answered well at least once, and all others."""
        good = {(method, path) for method, path, status in self.statuses if status[:1] in ("2", "3")}
        every = {(operation.method, operation.path) for operation in OPERATIONS}
        return good, every - good
