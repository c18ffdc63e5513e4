"""Samples a system under load: connections, and a queue's counters."""

import threading
import time
from pathlib import Path


class Watch:
    """`with Watch(system, queue) as seen`: a sample every `every` seconds; seen.looks afterwards."""

    def __init__(self, system, queue, every=0.1):
        self.system, self.queue, self.every = system, queue, every
        self.looks, self.connections, self.missed = [], 0, 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    def _run(self):
        while True:
            done = self._done.is_set()
            self._look()
            if done:
                return
            self._done.wait(self.every)

    def _look(self):
        sent = time.monotonic()
        try:
            stats = self.system.stats(self.queue)
        except (SystemExit, OSError):
            self.missed += 1
            return
        self.looks.append({"sent": sent, "received": time.monotonic(), **{name: stats[name] for name in (
            "waiting", "ready", "claimed", "entered", "admitted", "consumed")}})
        self.connections = max(self.connections, established(self.system.port))

    def most_active(self):
        return max((look["ready"] + look["claimed"] for look in self.looks), default=0)

    def rate_excess(self, rate, burst):
        """By how many members the admissions between two samples exceeded what the bucket could have given; ≤ 0: never."""
        worst = -float("inf")
        for i, one in enumerate(self.looks):
            for other in self.looks[i + 1:]:
                worst = max(worst, other["admitted"] - one["admitted"]
                            - burst - rate * (other["received"] - one["sent"]))
        return worst


def established(port):
    """Connections of clients to nginx."""
    suffix = f":{port:04X}"
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    # A table that changes during the read may show lines twice.
    return len({line[2] for line in lines if line[3] == "01" and line[1].endswith(suffix)})
