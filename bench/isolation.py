"""Polls and pages while orders stall: PostgreSQL is stopped most of the time, which must not affect anything else."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

from bench import load, usage
from bench.coupons import drop, refused
from bench.members import get, write_requests
from bench.report import table
from bench.system import System

RATE, PAGE_CONNECTIONS, STILL_S, RUNS_S = 300, 2, 0.45, 0.05


class Slowed:
    """`with Slowed(system)`: PostgreSQL's processes are stopped nine tenths of the time."""

    def __init__(self, system):
        self.places = [str(system.place), str(system.data)]
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    def _signal(self, number):
        for pid, part in usage.processes(self.places).items():
            if part == "postgres":
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    continue

    def _run(self):
        try:
            while not self._done.is_set():
                self._signal(signal.SIGSTOP)
                self._done.wait(STILL_S)
                self._signal(signal.SIGCONT)
                self._done.wait(RUNS_S)
        finally:
            self._signal(signal.SIGCONT)


def measured(system, name, seconds):
    """The open model's entries, positions and coupons, and an ungated page beside them."""
    drop(system, name, RATE, RATE * seconds)
    page = write_requests(system.work / "page", [get("/shop/coupon.html")])
    with ThreadPoolExecutor(1) as beside:
        pages = beside.submit(load.closed, system.port, page, PAGE_CONNECTIONS, seconds, 0, False, False)
        seen = load.rush(system, name, name, "--rate", RATE, "--seconds", seconds)
        return seen, pages.result()


def row(name, seen, pages):
    front = sum(seen[kind]["statuses"].get(status, 0) for kind in ("enter", "position") for status in ("503", "429", "0"))
    return [name, seen["enter"]["p95Ms"], seen["position"]["p95Ms"], pages["p95Ms"], load.good_share(pages, 200) == 1.0,
            front, seen["coupon"]["p95Ms"], refused(seen), seen["unanswered"], seen["issued"]]


def run(options):
    seconds = options.steady_seconds
    with System() as system:
        before = measured(system, "before", seconds)
        with Slowed(system):
            during = measured(system, "during", seconds)
        after = measured(system, "after", seconds)
    rows = [row(name, *seen) for name, seen in (("as usual", before), ("PostgreSQL slowed", during), ("right afterwards", after))]
    return [table("Isolation", ["PostgreSQL", "entries P95 ms", "positions P95 ms", "page P95 ms", "every page came",
                                "entries and positions refused", "coupons P95 ms", "503 and 429", "unanswered", "coupons issued"],
                  rows, f"{RATE} requests a second, a third each entries, positions and coupons, {seconds} s, and a page of the "
                        f"shop over {PAGE_CONNECTIONS} connections. Slowed: PostgreSQL's processes are stopped for "
                        f"{STILL_S * 1000:.0f} ms of every {(STILL_S + RUNS_S) * 1000:.0f}.")], {
        "before": before, "during": during, "after": after}
