"""Booking seats: the highest rate of members that keeps its P95, an ordinary day, and queue and booking together."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

from bench import load
from bench.coupons import drop
from bench.members import Signer, member_name, write_requests
from bench.paths import open_queue, ready_headers
from bench.report import table, used_columns, used_row
from bench.system import BUILD, System

P95_MS, NORMAL_P95_MS, POLL_P95_MS = 200, 300, 50
SEATS, MEMBERS_A_SHOW, FIRST_RATE, MOST_RATE, BISECTIONS = 400, 200, 20, 5000, 3
STEPS = ("enter", "position", "map", "hold", "order")
NORMAL_BOOKINGS, NORMAL_COUPONS = 15, 225


class Halls:
    """Shows, each with a plan of SEATS free seats at no charge; each run gets its own shows."""

    def __init__(self, system, queue, first=0):
        self.system, self.queue, self.count = system, queue, first
        system.admin("PUT", "/concerts/bench", {"title": "Bench", "venue": "Here"})

    def open(self, members):
        """(first, count) of new shows for so many members."""
        first, count = self.count, -(-members // MEMBERS_A_SHOW)
        for number in range(first, first + count):
            self.system.admin("PUT", f"/shows/bench-{number}", {
                "concert": "bench", "startsAt": "2031-01-01T19:00:00Z", "queue": self.queue, "plan": {"sections": [
                    {"name": "A", "rows": SEATS // 20, "seatsPerRow": 20, "price": {"amount": 0, "currency": "KRW"}}]}})
        self.count += count
        return first, count


def book(system, queue, halls, headers, rate, seconds, enters=False):
    first, shows = halls.open(rate * seconds)
    file = write_requests(system.work / "members", (
        b"".join(line + b"\r\n" for line in headers(i)) for i in range(rate * seconds)))
    before = system.sample()
    done = subprocess.run([str(word) for word in (
        BUILD / "sluice-booking", "--port", system.port, "--members", file, "--queue", queue, "--first-show", first,
        "--shows", shows, "--rate", rate, "--seconds", seconds, *(["--enter"] if enters else []))],
        capture_output=True, text=True, check=False, timeout=seconds + 120)
    if done.returncode != 0:
        raise SystemExit(f"sluice-booking failed: {done.stderr}")
    return {**json.loads(done.stdout), "used": system.used(before)}


def bad_answers(seen):
    """Answers that are neither successful nor a seat taken by another member."""
    return seen["dropped"] + sum(count for step in STEPS for status, count in seen[step]["statuses"].items()
                                 if status not in ("200", "201") and (step, status) != ("hold", "409"))


def holds(seen, limit_ms=P95_MS):
    return bad_answers(seen) == 0 and all(seen[step]["p95Ms"] <= limit_ms for step in ("map", "hold", "order"))


def row(name, seen, good):
    return [name, *(seen[step]["p95Ms"] for step in STEPS), seen["booked"], seen["hold"]["statuses"].get("409", 0),
            bad_answers(seen), seen["senderLateP99Ms"], good]


def with_tokens(crowd, count):
    """`count` new members with entry tokens: the headers of each."""
    first = len(crowd.tokens)
    crowd.grow(count, keep_tokens=True)
    return lambda i: ready_headers(crowd, first + i)


def search(system, crowd, halls, options):
    """Doubles the rate until it breaks, then narrows down: the rows, the results, and the highest rate that held."""
    rows, runs, held, broken = [], {}, 0, None

    def probe(rate):
        count = rate * options.steady_seconds
        seen = runs[str(rate)] = book(system, "book", halls, with_tokens(crowd, count), rate, options.steady_seconds)
        rows.append(row(f"{rate:,}", seen, holds(seen)))
        return holds(seen)

    if options.rates:
        return rows, runs, max([rate for rate in options.rates if probe(rate)], default=0)
    while broken is None and FIRST_RATE << len(rows) <= MOST_RATE:
        rate = FIRST_RATE << len(rows)
        held, broken = (rate, None) if probe(rate) else (held, rate)
    for _ in range(BISECTIONS if held and broken else 0):
        middle = (held + broken) // 2
        held, broken = (middle, broken) if probe(middle) else (held, middle)
    return rows, runs, held


def inflow(system, held, seconds):
    """Twice as many members arrive as the queue admits, which is the sustainable rate of booking; those inside must not be affected."""
    rate = max(1, held * 8 // 10)
    system.queue("inflow", ratePerSecond=rate, burst=rate, maxActive=100_000, maxInFlight=1000, tickMs=200, entryTtlSeconds=600)
    signer = Signer(system.data / "secrets")
    seen = book(system, "inflow", Halls(system, "inflow", 500_000), lambda i: (
        b"Authorization: Bearer " + signer.login(member_name(i, "i")),), 2 * rate, seconds, enters=True)
    return row(f"inflow: {2 * rate:,} a second come, {rate:,} are let in", seen,
               holds(seen) and seen["position"]["p95Ms"] <= POLL_P95_MS), seen


def normal(system, crowd, halls, seconds):
    """300 requests a second: booking (with its maps the browsing) and coupons at once."""
    drop(system, "day", 1000, NORMAL_COUPONS * seconds)
    headers = with_tokens(crowd, NORMAL_BOOKINGS * seconds)
    with ThreadPoolExecutor(2) as both:
        rush = both.submit(load.rush, system, "day", "day", "--rate", NORMAL_COUPONS, "--seconds", seconds)
        booking = book(system, "book", halls, headers, NORMAL_BOOKINGS, seconds)
        rush = rush.result()
    good = (holds(booking, NORMAL_P95_MS) and rush["errors"] == 0
            and all(rush[step]["p95Ms"] <= NORMAL_P95_MS for step in ("enter", "position", "coupon")))
    line = row("an ordinary day: 300 requests a second", booking, good)
    line[1], line[2] = rush["enter"]["p95Ms"], rush["position"]["p95Ms"]
    line[5], line[7] = max(line[5], rush["coupon"]["p95Ms"]), line[7] + rush["errors"]
    return line, {"booking": booking, "coupons": rush}


def run(options):
    seconds = options.steady_seconds
    with System() as system:
        crowd = open_queue(system, "book")
        halls = Halls(system, "book")
        day, day_seen = normal(system, crowd, halls, seconds)
        rows, runs, held = search(system, crowd, halls, options)
        flow, flow_seen = inflow(system, held, seconds) if held else (None, None)
    usage = [[f"{rate}", *used_row(seen["used"])] for rate, seen in runs.items()]
    return [
        table("Booking seats", ["members a second", *(f"{step} P95 ms" for step in STEPS), "booked", "seats that others had",
                                "bad answers", "late ms", "held"], [day, *rows, *([flow] if flow else [])],
              f"{seconds} s each; seat map ({SEATS} seats), 2 s to think, hold (three tries, then the map again), 2 s to think, "
              f"order. Held: P95 of map, hold and order ≤ {P95_MS} ms ({NORMAL_P95_MS} ms on an ordinary day, whose entries, "
              "positions and orders are with those of coupons) and no bad answer; inflow also P95 of positions ≤ "
              f"{POLL_P95_MS} ms. Highest rate that held, and so the ratePerSecond to recommend here: **{held:,}**."),
        table("What booking took, in shares of a core", ["members a second", *used_columns()], usage),
    ], {"search": runs, "normal": day_seen, "inflow": flow_seen}
