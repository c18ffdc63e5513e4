"""How long a start takes, and whether the workers' memory is stable over a million requests."""

import time

from bench import load
from bench.members import Crowd, get, member_name, post, write_requests
from bench.report import table
from bench.system import System

QUEUE, LOOKS = "rss", 10


def rss_of_queue_pool(system):
    part = system.sample()["parts"]["queue pool"]
    return part["rssMb"] / part["processes"]


def run(options):
    rows, memory, raw = [], [], []
    with System() as system:
        rows.append(["the first time, with a new database", system.start_s])
        system.stop()
        system.start()
        rows.append(["again, on the same folder", system.start_s])
        system.queue(QUEUE, ratePerSecond=0)
        crowd = Crowd(system, QUEUE)
        crowd.grow(20_000)
        # Nine polls per entry, which leaves a member in Redis but nothing in the worker.
        polls = [get(f"/v1/queues/{QUEUE}/position", b"X-Queue-Ticket: " + crowd.ticket(i)) for i in range(1, 9001)]
        entries = [post(f"/v1/queues/{QUEUE}/entries", b"", b"Authorization: Bearer " + crowd.signer.login(member_name(i, "r")))
                   for i in range(1000)]
        mixed = [one for i, entry in enumerate(entries) for one in (*polls[9 * i:9 * i + 9], entry)]
        file = write_requests(system.work / "mixed", mixed)
        looks = max(1, min(LOOKS, options.requests // len(mixed)))
        memory.append([0, rss_of_queue_pool(system)])
        answered, began = 0, time.monotonic()
        for look in range(1, looks + 1):
            while answered < options.requests * look // looks:
                answered += load.closed(system.port, file, once=True, pin=False)["answered"]
            memory.append([answered, rss_of_queue_pool(system)])
        raw.append({"memory": memory, "seconds": time.monotonic() - began})
    return [table("Start", ["what", "seconds until ready"], rows,
                  "From scripts/run on a built tree to `ready`, the sample shop included."),
            table("Memory of a worker of the queue pool", ["requests answered", "RSS MB"], memory)], raw
