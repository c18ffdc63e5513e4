"""Too much at once: what is refused first, what is finished all the same, and when the refused come back."""

import asyncio
import json
import subprocess
import time

import aiohttp
import pytest

from lib import metrics, processes
from lib.client import assert_problem
from lib.project import build_directory
from lib.wait import until


class Sender:
    """Sends calls at moments of their own and keeps what came of each: (sent at, seconds, answer's status, its Retry-After)."""

    def __init__(self, api):
        self.url, self.begin = f"http://127.0.0.1:{api.port}", time.monotonic()
        self.seen = {}

    async def send(self, session, kind, call, at):
        await asyncio.sleep(self.begin + at - time.monotonic())
        method, path, headers, body = call
        sent = time.monotonic() - self.begin
        async with session.request(method, self.url + path, headers=headers, json=body) as reply:
            await reply.read()
            took = time.monotonic() - self.begin - sent
            self.seen.setdefault(kind, []).append((sent, took, reply.status, reply.headers.get("Retry-After")))

    async def send_all(self, calls):
        timeout = aiohttp.ClientTimeout(total=30)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:
            await asyncio.gather(*(self.send(session, *call) for call in calls))

    def between(self, kind, first, last):
        """What was sent then."""
        rows = [row for row in self.seen[kind] if first <= row[0] < last]
        assert rows, (kind, first, last)
        return rows

    def statuses(self, kind, first, last):
        return {status for _, _, status, _ in self.between(kind, first, last)}

    def refused(self, kind, first, last):
        """The share of what was sent then that was refused."""
        rows = self.between(kind, first, last)
        return sum(1 for row in rows if row[2] == 503) / len(rows)


def shed(api, kind):
    return metrics.read(api.call("GET", "/metrics").body)[f'sluice_shed_total{{kind="{kind}"}}']


@pytest.fixture
def tuned(parts):
    """Sets limits of the pools; afterwards they are as they were."""
    before, changed = dict(parts.settings), []

    def tune(*pools, **settings):
        changed.extend(pools)
        parts.reconfigure(*pools, **settings)
    yield tune
    parts.settings.clear()
    if changed:
        parts.settings.update(before)
        parts.reconfigure(*changed)


@pytest.mark.limit(90)
def test_redis_late(parts, api, tuned):
    """Polls are refused before entries; what was begun before is answered well, however late; and nobody is refused
    any more once Redis is on time. A machine that stands still for longer than shed_polls_ms is late as Redis is: that
    happens, but not each time."""
    tuned("queue", redis_timeout_ms=9000, shed_polls_ms=500, shed_entries_ms=2500)
    for tries in range(3):
        queue = api.still_queue()
        before = shed(api, "poll"), shed(api, "entry")
        sender = redis_stalled(parts, api, queue)
        hints = [int(hint) for kind in ("poll", "enter") for _, _, status, hint in sender.seen[kind] if status == 503]
        assert min(hints) >= 2 and max(hints) <= 6 and len(set(hints)) >= 4, "spread"
        assert (shed(api, "poll") - before[0]) + (shed(api, "entry") - before[1]) == len(hints)
        entered = sum(1 for row in sender.seen["enter"] if row[2] == 201)
        assert api.stats(queue)["entered"] == 8 + entered, "who was refused did not enter"
        assert sender.statuses("probe", 0, 8) == {200}
        try:
            return assert_refused_in_order(sender)
        except AssertionError:
            if tries == 2:
                raise


def redis_stalled(parts, api, queue):
    """Polls, entries and probes, and a Redis that stands still from 0.5 to 5 s."""
    waiting = [api.member() for _ in range(8)]
    for member in waiting:
        assert member.enter(queue).status == 201
    calls = [("poll", waiting[i % 8].position_call(queue), i * 0.05) for i in range(140)]
    calls += [("enter", api.member().enter_call(queue), i * 0.1) for i in range(70)]
    calls += [("probe", ("GET", "/livez", {}, None), i * 0.5) for i in range(14)]
    redis = parts.redis_server.process.pid
    sender = Sender(api)

    async def play():
        async def stall():
            await asyncio.sleep(0.5)
            processes.stop(redis)
            await asyncio.sleep(4.5)
            processes.cont(redis)
        await asyncio.gather(sender.send_all(calls), stall())
    try:
        asyncio.run(play())
    finally:
        processes.cont(redis)
    return sender


def assert_refused_in_order(sender):
    assert sender.statuses("poll", 0, 0.4) == {200}
    assert sender.statuses("poll", 0.5, 0.8) == {200}, "begun, so finished"
    # A worker that has asked nothing for a while asks once more before it knows.
    assert sender.refused("poll", 2.0, 4.8) > 0.9
    took = sorted(row[1] for row in sender.seen["poll"] if row[2] == 503)
    assert took[len(took) * 9 // 10] < 1, "refused at once"
    assert sender.statuses("enter", 0, 2.1) == {201}, "entries are taken while polls are refused"
    assert sender.refused("enter", 3.9, 4.8) > 0.7
    assert sender.statuses("poll", 6, 7.5) == {200} and sender.statuses("enter", 6, 7.5) == {201}


@pytest.mark.limit(60)
def test_worker_late(parts, api, tuned, tmp_path):
    """More polls than the workers can answer: they are refused in part, and whoever enters meanwhile gets in."""
    tuned("queue", shed_polls_ms=3, shed_entries_ms=5000)
    queue = api.still_queue()
    member = api.member()
    assert member.enter(queue).status == 201
    before = shed(api, "poll")
    method, path, headers, _ = member.position_call(queue)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    requests = tmp_path / "requests"
    requests.write_bytes(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{lines}\r\n\0".encode())
    flood = subprocess.Popen(
        [build_directory("--sanitizers", "--test-hooks") / "sluice-closed", "--port", str(api.port), "--requests",
         requests, "--connections", "400", "--seconds", "4"], stdout=subprocess.PIPE)
    try:
        until(lambda: shed(api, "poll") > before, 10, "polls are refused")
        for _ in range(10):
            assert api.member().enter(queue).status == 201
    finally:
        said = json.loads(flood.communicate(timeout=30)[0])
    polls = {int(status): count for status, count in said["statuses"].items()}
    assert set(polls) == {200, 503} and polls[200] > 0 and polls[503] > 0, polls
    assert shed(api, "poll") - before == polls[503]
    assert member.position(queue).status == 200, "the place is kept"


def test_order_pool_late(parts, api, tuned):
    """What waits too long for a worker is refused: reading first, then what would be begun. The token stays good."""
    tuned("order", shed_reads_ms=700, shed_orders_ms=3000)
    queue = api.queue()
    items = [{"sku": api.product(queue), "quantity": 1}]
    buyer, late = api.ready_member(queue), api.ready_member(queue)
    before = shed(api, "read"), shed(api, "order")
    workers = parts.all_workers("order")

    def behind(seconds, *calls):
        """Sends calls to workers that stand still for so long."""
        sender = Sender(api)

        async def play():
            async def stall():
                await asyncio.sleep(seconds)
                for pid in workers:
                    processes.cont(pid)
            await asyncio.gather(sender.send_all([(i, call, 0) for i, call in enumerate(calls)]), stall())
        for pid in workers:
            processes.stop(pid)
        try:
            asyncio.run(play())
        finally:
            for pid in workers:
                processes.cont(pid)
        return [sender.seen[i][0][2] for i in range(len(calls))]

    reading = "GET", "/v1/orders", buyer.headers(), None
    assert behind(1.2, reading, reading, buyer.order_call(queue, items, key="first")) == [503, 503, 201]
    assert behind(3.5, late.order_call(queue, items, key="late")) == [503]
    assert (shed(api, "read") - before[0], shed(api, "order") - before[1]) == (2, 1)
    assert late.order(queue, items, key="late").status == 201, "nothing was spent"
    assert parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", queue) == 2


def test_refusals_are_spread(parts, api):
    """nginx's own refusals too: each of the seconds is as likely."""
    parts.pools["queue"].stop(seconds=20)
    try:
        answers = api.together([("GET", "/v1/queues/some/position", {}, None)] * 200, 8)
    finally:
        parts.start_pool("queue", parts.queue_workers)
        parts._wait_pool("queue")  # pylint: disable=protected-access
    hints = [int(answer.headers["retry-after"]) for answer in answers]
    for answer in answers:
        assert_problem(answer, 503, "ADMISSION_UNAVAILABLE")
    assert set(hints) == {2, 3, 4, 5, 6}
    assert all(15 <= hints.count(second) <= 75 for second in set(hints)), "each about 40 times"
