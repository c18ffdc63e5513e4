"""What grows with the line: polls, entries and promotions with a thousand to five million waiting, and Redis's memory."""

import random
import socket
import time

from bench import load, usage
from bench.members import Command, Crowd, get, member_name, post, write_requests
from bench.report import median, table
from bench.system import System

SIZES = [1000, 100_000, 1_000_000, 5_000_000]
PROMOTIONS = [50, 500, 5000]
QUEUE, CALLS, LOOK_S, TICK_MS = "grow", 4000, 3, 1000
MOST_PER_CALL = 150  # of lib/admission/line/promotion.c


def script_us(system, words):
    """Redis's own time per call of these script calls, one after the other."""
    before = system.sample()
    with socket.socket(socket.AF_UNIX) as redis:
        redis.connect(str(system.place / "redis.sock"))
        for start in range(0, len(words), 100):
            Crowd._send(redis, words[start:start + 100])
    used = system.used(before)
    return used["scriptUs"] / max(1, used["scripts"])


def poll_redis_us(system, transactions):
    """Redis's processor time per poll, one transaction for each; in the queue pool many share one."""
    before = system.sample()
    with socket.socket(socket.AF_UNIX) as redis:
        redis.connect(str(system.place / "redis.sock"))
        for start in range(0, len(transactions), 100):
            Crowd._send(redis, transactions[start:start + 100])
    return system.used(before)["cpuS"].get("redis", 0.0) * 1e6 / len(transactions)


def polls_and_entries(system, crowd, poll, size, options):
    """Redis's time a call (`poll`: the commands of one), and latencies through the whole front at a moderate load."""
    numbers = [random.Random(size + i).randrange(1, crowd.first) for i in range(CALLS)]
    poll_us = poll_redis_us(system, [
        b"".join(command.text(member=member_name(i)) for command in poll) for i in numbers])
    token = b"t" * 43
    entering = Command(crowd.enter_slots)
    enter_us = script_us(system, [entering.text(member=member_name(i, f"g{size}"), token=token, admission=token)
                                  for i in range(CALLS)])
    polls = load.closed(system.port, write_requests(system.work / "polls", (
        get(f"/v1/queues/{QUEUE}/position", b"X-Queue-Ticket: " + crowd.ticket(i)) for i in numbers)), 8, options.seconds)
    entries = load.closed(system.port, write_requests(system.work / "entries", (
        post(f"/v1/queues/{QUEUE}/entries", b"", b"Authorization: Bearer " + crowd.signer.login(member_name(i, f"h{size}")))
        for i in range(15_000 * options.seconds))), 8, options.seconds)
    return {"pollUs": poll_us, "enterUs": enter_us, "polls": polls, "entries": entries}


def idle(system):
    """The load of a line that only waits on Redis."""
    before = system.sample()
    time.sleep(LOOK_S)
    return system.used(before)["redisCommandsPerSecond"]


def promotion(system, count):
    """Admits `count` members a second for some seconds. Returns, of the script calls meanwhile (there are no others), the longest
    and the median of the longest ones, as many as the admissions take, in µs; how many were admitted; Redis's processor time each."""
    before, sample = system.stats(QUEUE)["admitted"], system.sample()
    system.redis.config_set("slowlog-max-len", 10_000)
    system.redis.config_set("slowlog-log-slower-than", 100)
    system.redis.slowlog_reset()
    system.admin("PATCH", f"/queues/{QUEUE}", {"ratePerSecond": count, "burst": count})
    time.sleep(LOOK_S)
    system.admin("PATCH", f"/queues/{QUEUE}", {"ratePerSecond": 0, "burst": 1})
    time.sleep(1.5)
    calls = sorted((call["duration"] for call in system.redis.slowlog_get(10_000)
                    if call["command"].startswith(b"EVALSHA") and QUEUE.encode() in call["command"]), reverse=True)
    system.redis.config_set("slowlog-log-slower-than", 10_000)
    admitted = system.stats(QUEUE)["admitted"] - before
    cpu_us = system.used(sample)["cpuS"].get("redis", 0.0) * 1e6 / max(1, admitted)
    return median(calls[:LOOK_S * -(-count // MOST_PER_CALL)]), max(calls, default=0), admitted, cpu_us


def run(options):
    largest = options.largest
    sizes = [size for size in SIZES if size < largest] + [largest]
    rows, memory, promotions, raw = [], [], [], {}
    with System() as system:
        system.queue(QUEUE, ratePerSecond=0, burst=1, maxActive=1_000_000, tickMs=TICK_MS,
                     entryTtlSeconds=3600, pickupSeconds=3600)
        crowd = Crowd(system, QUEUE)
        poll = crowd.poll_commands()
        time.sleep(1)
        empty, empty_count = system.redis.info("memory")["used_memory"], system.stats(QUEUE)["waiting"]
        for size in sizes:
            crowd.grow(max(0, size - system.stats(QUEUE)["waiting"]))
            time.sleep(2)
            waiting = system.stats(QUEUE)["waiting"]
            info = system.redis.info("memory")
            memory.append([f"{waiting:,}", info["used_memory"] / 1e6, (info["used_memory"] - empty) / (waiting - empty_count),
                           info["used_memory_rss"] / 1e6])
            commands = idle(system)
            seen = raw[str(size)] = polls_and_entries(system, crowd, poll, size, options)
            rows.append([f"{waiting:,}", seen["pollUs"], seen["polls"]["p50Ms"], seen["polls"]["p99Ms"], seen["enterUs"],
                         seen["entries"]["p50Ms"], seen["entries"]["p99Ms"], commands])
        for count in PROMOTIONS:
            with usage.alone("redis", system.places):
                usual, longest, admitted, cpu_us = promotion(system, count)
            promotions.append([f"{count:,}", admitted, usual / 1000, longest / 1000, longest <= 5000, cpu_us])
        waiting = system.stats(QUEUE)["waiting"]
    return [
        table("Growth", ["waiting", "poll: Redis µs", "p50 ms", "p99 ms", "entry: Redis µs", "p50 ms", "p99 ms",
                         "Redis commands/s while all wait"], rows,
              "A poll: Redis's processor time for a transaction of its own, of members all over the line; an entry: Redis's own time a script call; latencies through nginx and the worker with 8 "
              "connections."),
        table("Redis memory", ["waiting", "used MB", "bytes a waiting member", "RSS MB"], memory,
              "Ids of 20 characters; everything that Redis has allocated since the queue was empty, divided by the members."),
        table("Promotion", ["a second", "admitted", "a call, ms (median)", "longest call ms", "≤ 5 ms",
                            "Redis µs a member"], promotions,
              f"With {waiting:,} waiting. A tick is {TICK_MS} ms long, and takes as many calls of {MOST_PER_CALL} as it needs. Redis has a core to itself."),
    ], raw
