"""Each path of a request beside its yardsticks, in turns: one core for the servers and one for the client, then both
for all."""

import random
import subprocess
import time
from dataclasses import dataclass, field

from bench import load, sql_yardstick
from bench.front import Yardsticks
from bench.members import Crowd, get, member_name, post, write_requests
from bench.report import median, table
from bench.system import System, pinned

QUEUE, NEAR, PAGE_CROWD, ADMITTED_PER_SECOND = "polls", 100, 10_000, 50
ORDER_WORKERS = 2


@dataclass
class Subject:
    """One measured subject, and the results of its runs."""
    name: str
    port: int
    requests: object
    good: tuple = (200,)
    rotates: bool = False  # each request only once: entries
    connections: int = 64
    first: int = 0
    prepare: object = None  # called before each run
    runs: list = field(default_factory=list)

    def rates(self):
        return [run["perSecond"] for run in self.runs]

    def cpu_us(self, part):
        return median([run["used"]["cpuS"].get(part, 0.0) / max(1, run["answered"]) * 1e6 for run in self.runs])

    def per_answer(self, what):
        return median([run["used"][what] / max(1, run["answered"]) for run in self.runs])


def in_turns(system, subjects, rounds, seconds, pin):
    """Runs all of them, round after round, so that disturbances of the machine affect all of them."""
    for _ in range(rounds):
        for subject in subjects:
            if subject.prepare:
                subject.prepare()
            before = system.sample()
            result = load.closed(subject.port, subject.requests, subject.connections, seconds, subject.first, pin=pin)
            if subject.rotates:
                subject.first = result["next"]
            result["used"] = system.used(before)
            result["good"] = load.good_share(result, *subject.good)
            subject.runs.append(result)


def ratio(subject, other):
    """Median of the rounds' ratios."""
    if not subject or not other or not other.runs:
        return None
    return median([one / two for one, two in zip(subject.rates(), other.rates()) if two])


def row(subject, hand_built, hello):
    worst = min((run["good"] for run in subject.runs), default=0.0)
    worker = subject.cpu_us("queue pool") + subject.cpu_us("hello") + subject.cpu_us("blocking")
    return [subject.name, median(subject.rates()), median([run["p50Ms"] for run in subject.runs]),
            median([run["p99Ms"] for run in subject.runs]), ratio(subject, hand_built), ratio(subject, hello),
            subject.cpu_us("nginx"), worker, subject.cpu_us("redis"), subject.per_answer("scripts"),
            "all" if worst == 1.0 else f"{worst:.2%}"]


COLUMNS = ["path", "requests a second", "p50 ms", "p99 ms", "÷ hand-built", "÷ hello", "nginx µs", "worker µs", "Redis µs",
           "scripts a request", "good answers"]


def page_mix(near, far, count, board):
    """What the waiting pages of a crowd of PAGE_CROWD ask in a second (web/waiting-room/script/decisions.js): the board at 1, 2
    or 5 s by the wait left, the exact place at 1 or 2 s within 5 s of the front, and each once in five minutes."""
    close = ADMITTED_PER_SECOND * 5
    seldom = PAGE_CROWD / 300
    exact = min(close, NEAR) / 1 + max(0, close - NEAR) / 2.25 + seldom
    looks = sum((min(PAGE_CROWD, upper) - lower) / (pause * 1.125) for lower, upper, pause in (
        (close, ADMITTED_PER_SECOND * 10, 1), (ADMITTED_PER_SECOND * 10, ADMITTED_PER_SECOND * 60, 2),
        (ADMITTED_PER_SECOND * 60, PAGE_CROWD, 5)))
    share = exact / (exact + looks)
    chance = random.Random(1)

    def exact_poll(i):
        return far[i % len(far)] if chance.random() < seldom / exact else near[i % len(near)]

    return [exact_poll(i) if chance.random() < share else board for i in range(count)], share


class Requests:
    """The request files of a crowd, written once."""

    def __init__(self, system, crowd, entries):
        work, signer = system.work, crowd.signer

        def polls(prefix, numbers):
            return [get(f"{prefix}/v1/queues/{QUEUE}/position", b"X-Queue-Ticket: " + crowd.ticket(i)) for i in numbers]

        size = crowd.first - 1
        near, far = range(1, min(NEAR, size) + 1), range(size // 5, size, max(1, size // 12_500))
        board = get(f"/_sluice/board/{QUEUE}.json")
        self.near = write_requests(work / "near", polls("", near))
        self.near_blocking = write_requests(work / "near-blocking", polls("/blocking", near))
        self.far = write_requests(work / "far", polls("", far))
        self.far_blocking = write_requests(work / "far-blocking", polls("/blocking", far))
        self.board = write_requests(work / "board", [board])
        self.board_304 = write_requests(work / "board-304", [
            get(f"/_sluice/board/{QUEUE}.json", b"If-None-Match: *")])
        mix, self.exact_share = page_mix(polls("", near), polls("", far), 5000, board)
        self.mix = write_requests(work / "mix", mix)
        self.hello = write_requests(work / "hello", [get("/hello", b"X-Queue-Ticket: " + crowd.ticket(1))])
        self.return200 = write_requests(work / "return200", [get("/return200")])
        self.static = write_requests(work / "static", [get("/static.json")])
        self.enter = write_requests(work / "enter", (
            post(f"/v1/queues/{QUEUE}/entries", b"", b"Authorization: Bearer " + signer.login(member_name(i, "e")))
            for i in range(entries)))
        self.enter_blocking = write_requests(work / "enter-blocking", (
            post(f"/blocking/v1/queues/{QUEUE}/entries", b"", b"Authorization: Bearer " + signer.login(member_name(i, "f")))
            for i in range(entries // 3)))


def pass_through_gate(system):
    """The cookies of a visitor admitted by the gate of the sample shop."""
    jar = {}
    page = {"Accept": "text/html", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
            "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"}
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())} if jar else {}
        status, headers, _ = system.call("GET", "/shop/index.html", headers={**page, **cookie})
        for line in headers.get_all("Set-Cookie") or []:
            name, _, value = line.split(";")[0].partition("=")
            jar[name] = value
        if status == 200 and any("pass" in name for name in jar):
            return "; ".join(f"{name}={value}" for name, value in jar.items())
        time.sleep(0.5)
    raise SystemExit("nobody was let through the gate of the sample shop")


def gate_subjects(system):
    """A page in front of the gate and one behind it, whose pass is a new one in each run: an old one is renewed at each
    request of a client that does not keep the cookie."""
    system.admin("PATCH", "/queues/shop", {"ratePerSecond": 100, "maxActive": 10_000, "admitWhenIdle": True})
    time.sleep(1.2)
    place = system.work / "gated"

    def new_pass():
        write_requests(place, [get("/shop/index.html", b"Cookie: " + pass_through_gate(system).encode())])

    return [Subject("a page without gate", system.port, write_requests(system.work / "open", [get("/shop/coupon.html")])),
            Subject("**a page behind the gate, with a pass**", system.port, place, prepare=new_pass)]


def redis_benchmark(system, slots, member, seq, pipeline, pin):
    words = [{"member": member, "seq": str(seq)}[slot[0]] if isinstance(slot, tuple) else slot for slot in slots]
    done = subprocess.run(pinned("1" if pin else None, [
        "redis-benchmark", "-s", system.place / "redis.sock", "-c", "64", "-n", "40000", "-P", pipeline, "--csv", *words]),
        capture_output=True, text=True, check=True, timeout=120)
    return float(done.stdout.strip().split("\n")[-1].split('","')[1])


def fairness(system, front, requests, rounds, seconds):
    """At 256 connections: how equal their shares are, and the longest wait."""
    rows = []
    for name, port in (("exact poll, near", system.port), *((("hand-built", front.port),) if front.has_lua else ())):
        runs = [load.closed(port, requests.near, connections=256, seconds=seconds) for _ in range(rounds)]
        rows.append([name, min(run["leastOfAConnection"] for run in runs),
                     median([run["mostOfAConnection"] / max(1, run["leastOfAConnection"]) for run in runs]),
                     median([run["p99Ms"] for run in runs]), max(run["maxMs"] for run in runs)])
    return table("Fairness at 256 connections", ["path", "fewest answers of a connection", "most ÷ fewest (median)",
                                                 "p99 ms", "longest wait ms"], rows)


def on_one_core(options):
    tables, raw = [], {}
    with System(cores="0", SLUICE_ORDER_WORKERS=str(ORDER_WORKERS)) as system:
        system.queue(QUEUE, ratePerSecond=0, entryTtlSeconds=3600)
        crowd = Crowd(system, QUEUE)
        crowd.grow(options.crowd)
        entries = int(options.entries_a_second * options.seconds * options.rounds * 2.5)
        requests = Requests(system, crowd, entries)
        with Yardsticks(system, "0", crowd) as front:
            hello = Subject("hello: 4 blocking libfcgi workers", front.port, requests.hello)
            lua = front.has_lua
            near_hand = lua and Subject("poll near the front, hand-built", front.port, requests.near)
            far_hand = lua and Subject("poll far from it, hand-built", front.port, requests.far)
            enter_hand = lua and Subject("enter, hand-built", front.port, requests.enter, (201,), True, first=entries // 2)
            gate = gate_subjects(system)
            subjects = [
                (Subject("nginx return 200", front.port, requests.return200), None),
                (Subject("nginx static file", front.port, requests.static), None), (hello, None),
                (near_hand, None), (Subject("poll near the front, 4 blocking workers", front.port, requests.near_blocking),
                                    near_hand),
                (Subject("**poll near the front**", system.port, requests.near), near_hand),
                (far_hand, None), (Subject("**poll far from it**", system.port, requests.far), far_hand),
                (Subject(f"**polls of {PAGE_CROWD:,} waiting pages**", system.port, requests.mix), near_hand),
                (Subject("**board**", system.port, requests.board), near_hand),
                (Subject("**board, 304**", system.port, requests.board_304, (304,)), near_hand),
                (enter_hand, None),
                (Subject("enter, 4 blocking workers", front.port, requests.enter_blocking, (201,), True), enter_hand),
                (Subject("**enter**", system.port, requests.enter, (201,), True), enter_hand),
                *((one, None) for one in gate)]
            subjects = [(one, other) for one, other in subjects if one]
            in_turns(system, [one for one, _ in subjects], options.rounds, options.seconds, True)
            tables.append(table(
                "Paths on one core", COLUMNS, [row(one, other, hello) for one, other in subjects],
                f"All servers on one core, the sender on another; 64 connections, {options.crowd:,} members waiting, median of "
                f"{options.rounds} runs of {options.seconds} s in turns; µs are processor time a request. Of the waiting "
                f"pages' questions {requests.exact_share:.0%} are for the exact place, the rest for the board (never a 304); "
                "hand-built, each of them asks Redis."))
            tables.append(ratios(subjects, gate))
            tables.append(fairness(system, front, requests, min(options.rounds, 3), options.seconds))
            near = next(one for one, _ in subjects if one.name == "**poll near the front**")
            rows = [[f"redis-benchmark, the poll's script, pipelined {pipeline}", median([
                redis_benchmark(system, crowd.position_slots, member_name(1), crowd.base + 1, pipeline, True)
                for _ in range(min(options.rounds, 3))])] for pipeline in (1, 16)]
            rows.append(["the poll through nginx and the worker", median(near.rates())])
            tables.append(table("The script alone", ["how", "a second"], rows))
            raw["paths"] = {one.name.strip("*"): one.runs for one, _ in subjects}
    return tables, raw


def ratios(subjects, gate):
    """The targets of the contract, each beside the result."""
    by_name = {one.name.strip("*"): one for one, _ in subjects}
    find = by_name.get
    rows = []

    def bar(name, one, other, wanted):
        reached = ratio(find(one), find(other))
        rows.append([name, wanted, reached, None if reached is None else reached >= wanted])

    near, hello = "poll near the front", "hello: 4 blocking libfcgi workers"
    bar("exact poll ÷ hand-built", near, "poll near the front, hand-built", 1.0)
    bar("exact poll ÷ hello", near, hello, 1.2)
    bar("waiting pages' polls ÷ hand-built", f"polls of {PAGE_CROWD:,} waiting pages", "poll near the front, hand-built", 2.0)
    bar("poll far from the front ÷ hello", "poll far from it", hello, 1.8)
    bar("board ÷ exact poll", "board", near, 2.7)
    bar("board 304 ÷ exact poll", "board, 304", near, 3.3)
    bar("enter ÷ blocking", "enter", "enter, 4 blocking workers", 2.0)
    bar("enter ÷ hand-built", "enter", "enter, hand-built", 1.0)
    bar("gated page ÷ hello", "a page behind the gate, with a pass", hello, 1.8)
    if gate:
        parts = ("nginx", "queue pool", "redis")
        adds = sum(gate[1].cpu_us(part) - gate[0].cpu_us(part) for part in parts)
        hello_takes = find(hello).cpu_us("nginx") + find(hello).cpu_us("hello")
        hello_adds = hello_takes - gate[0].cpu_us("nginx")
        rows.append(["what hello adds to a page ÷ what the gate adds, by processor time", 1.8, hello_adds / adds,
                     hello_adds >= 1.8 * adds])
        rows.append(["hello ÷ a check at the gate by itself, by processor time", 1.8, hello_takes / adds, hello_takes >= 1.8 * adds])
        rows.append(["the gate adds, µs of processor (at most)", 60, adds, adds <= 60])
    return table("Bars", ["ratio", "wanted", "reached", "reached it"], rows)


def way_rows(subjects):
    """Processor time of each step of a member."""
    parts = ("nginx", "queue pool", "order pool", "redis", "postgres")
    return [[one.name.strip("*"), *(one.cpu_us(part) for part in parts), sum(one.cpu_us(part) for part in parts)]
            for one in subjects if one and one.runs]


def open_queue(system, name):
    """A queue that admits everyone immediately, and its crowd: grow(…, keep_tokens=True) creates members with tokens."""
    system.queue(name, ratePerSecond=100_000, burst=10_000_000, maxActive=10_000_000, maxInFlight=100_000,
                 entryTtlSeconds=7200, pickupSeconds=7200, admitWhenIdle=True)
    return Crowd(system, name)


def ready_headers(crowd, i):
    """The login and the entry token of the i-th member created that way."""
    return b"Authorization: Bearer " + crowd.signer.login(member_name(i + 1)), b"X-Entry-Token: " + crowd.tokens[i]


def order_requests(system, count):
    crowd = open_queue(system, "orders")
    crowd.grow(count, keep_tokens=True)
    system.admin("PUT", "/products/bench-mug", {"name": "Mug", "price": {"amount": 0, "currency": "KRW"},
                                                "stock": 10_000_000, "queue": "orders"})
    body = b'{"queue":"orders","items":[{"sku":"bench-mug","quantity":1}]}'
    return [post("/v1/orders", body, *ready_headers(crowd, i), b"Idempotency-Key: key-%d" % i) for i in range(count)]


def coupon_requests(system, count, spare):
    crowd = open_queue(system, "drop")
    crowd.grow(count, keep_tokens=True)
    system.admin("PUT", "/coupon-events/drop", {"name": "drop", "queue": "drop"})
    for rest in range(count + spare, 0, -100_000):
        system.admin("POST", "/coupon-events/drop/codes", {"generate": min(rest, 100_000)})
    return [post("/v1/coupon-events/drop/coupons", b"{}", *ready_headers(crowd, i)) for i in range(count)]


def send_raw(system, request):
    """A single request, to record its statement."""
    path = write_requests(system.work / "one", [request])
    result = load.closed(system.port, path, connections=1, once=True)
    if load.good_share(result, 201) < 1:
        raise SystemExit(f"a request that was to be overheard was answered {result['statuses']}")


def against_pgbench(system, name, function, requests, options):
    """An order or coupon path, in turns with pgbench's runs of its statement; each request is sent once."""
    calls = sql_yardstick.overhear(system, function, lambda: [send_raw(system, one) for one in requests[:2]])
    if len(calls) < 2:
        raise SystemExit(f"{function} was not overheard in PostgreSQL's log")
    handed_on = sql_yardstick.HANDED_ON[function]
    script = sql_yardstick.script(calls, system.work / f"{name}.sql", handed_on)
    subject = Subject(name, system.port, None, (201,), True)
    left, pgbench = requests[2:], []
    for number in range(options.rounds):
        pgbench.append(sql_yardstick.pgbench(system, script, ORDER_WORKERS, options.seconds, handed_on))
        # About as long as pgbench's run.
        size = max(1, min(int(pgbench[-1]["perSecond"] * options.seconds), len(left) // (options.rounds - number)))
        part, left = left[:size], left[size:]
        slice_of_them, before = write_requests(system.work / "slice", part), system.sample()
        with sql_yardstick.Busy() as busy:
            result = load.closed(system.port, slice_of_them, connections=64, once=True, pin=False)
        result["used"], result["good"] = system.used(before), load.good_share(result, 201)
        result["busyCores"] = busy.cores
        subject.runs.append(result)
    return subject, pgbench


def on_two_cores(options):
    with System(SLUICE_ORDER_WORKERS=str(ORDER_WORKERS)) as system:
        system.queue(QUEUE, ratePerSecond=0, entryTtlSeconds=3600)
        crowd = Crowd(system, QUEUE)
        crowd.grow(options.crowd)
        entries = int(options.entries_a_second * options.seconds * options.rounds)
        requests = Requests(system, crowd, entries)
        rows, bars = [], []
        with Yardsticks(system, None, crowd) as front:
            hello = Subject("hello: 4 blocking libfcgi workers", front.port, requests.hello)
            hand = front.has_lua and Subject("poll near the front, hand-built", front.port, requests.near)
            near = Subject("**poll near the front**", system.port, requests.near)
            enter = Subject("**enter**", system.port, requests.enter, (201,), True)
            subjects = [one for one in (hello, hand, near, enter) if one]
            in_turns(system, subjects, options.rounds, options.seconds, False)
            rows = [row(one, hand if one is near else None, hello) for one in subjects]
            reached = ratio(near, hand)
            bars.append(["exact poll ÷ hand-built, two cores", 0.9, reached, reached is not None and reached >= 0.9])
        spare = 10_000 * options.seconds * options.rounds  # for pgbench's runs
        count = max(200, int(options.orders_a_second * options.seconds)) * options.rounds + 2
        way, sql, yardsticks, raw = [near, enter], [], [], {}
        for name, function, made in (
                ("order", "place_order", order_requests(system, count)),
                ("coupon", "issue_coupon", coupon_requests(system, count, spare))):
            subject, pgbench = against_pgbench(system, name, function, made, options)
            way.append(subject)
            reached = median([one / two["perSecond"] for one, two in zip(subject.rates(), pgbench)])
            worst = min(run["good"] for run in subject.runs)
            sql.append([name, median(subject.rates()), median([run["p50Ms"] for run in subject.runs]),
                        median([run["p99Ms"] for run in subject.runs]), median([run["busyCores"] for run in subject.runs]),
                        median([one["perSecond"] for one in pgbench]), median([one["busyCores"] for one in pgbench]), reached,
                        "all" if worst == 1.0 else f"{worst:.2%}"])
            yardsticks.append([f"{name}, pgbench", *[None] * 4, median([one["postgresUs"] for one in pgbench]),
                               median([one["postgresUs"] for one in pgbench])])
            raw[f"{name}, pgbench"] = pgbench
            bars.append([f"{name} ÷ pgbench", 0.8, reached, reached >= 0.8])
    return [
        table("Paths on two cores", COLUMNS, rows, "Servers and sender wherever the kernel puts them."),
        table("Orders and coupons on two cores", ["path", "a second", "p50 ms", "p99 ms", "cores busy", "pgbench, same statement",
                                                  "cores busy then", "÷ pgbench", "good answers"], sql,
              f"{ORDER_WORKERS} order workers, as many connections of pgbench; durable commits; 64 clients, each with an entry "
              "token; through nginx, Redis (claim, consume) and PostgreSQL."),
        table("Bars on two cores", ["ratio", "wanted", "reached", "reached it"], bars),
        table("A member's way, µs of processor", ["step", "nginx", "queue pool", "order pool", "Redis", "PostgreSQL", "sum"],
              way_rows(way) + yardsticks, "On two cores. A waiting member also polls the board: see the paths on one core."),
    ], {"two cores": {one.name.strip("*"): one.runs for one in way}, "pgbench": raw}


def run(options):
    tables, raw = on_one_core(options)
    more, other = on_two_cores(options)
    return tables + more, {**raw, **other}
