"""Three hosts behind one nginx, each on a machine of its own; one of them falls off the network. SLUICE_CUT_SECONDS is
for how long (default 6; the longer form is 30)."""

import asyncio
import os
import threading
import time

import pytest

from lib import logs, network
from lib.background_call import BackgroundCall
from lib.line import GENERATIONS
from lib.nodes import Balancer, HubParts, Node
from lib.processes import children_of, cont, is_stopped
from lib.project import build_directory
from lib.wait import holds_for, until
from lib.waiting_crowd import PatientCrowd

CUT_SECONDS = int(os.environ.get("SLUICE_CUT_SECONDS", "6"))
RATE, BURST = 5, 5


class System:
    """Hub, nodes and balancer."""

    def __init__(self, make_directory):
        self.network = network.Network(make_directory("net") / "namespaces.log", 3)
        self.parts = HubParts(make_directory("hub"))
        self.make_directory = make_directory
        self.nodes, self.balancer = [], None

    def start(self):
        self.parts.start(schedulers=0)
        build = build_directory("--sanitizers", "--test-hooks")
        for machine in self.network.nodes:
            self.nodes.append(Node(self.make_directory(machine.name), self.parts, machine))
            self.nodes[-1].begin(build)
        for node in self.nodes:
            node.wait_ready()
        self.balancer = Balancer(self.make_directory("front"), self.nodes)
        return self

    def stop(self):
        for node in self.nodes:
            node.stop()
        if self.balancer:
            self.balancer.stop()
        self.parts.stop()
        for node in self.nodes:
            logs.assert_clean(node.logs)

    def leader(self, queue):
        """The node whose scheduler has begun to lead last."""
        found = [(event["ts"], node) for node in self.nodes for event in logs.events(node.logs, "scheduler.leading")
                 if event["queue"] == queue]
        return max(found, key=lambda one: one[0])[1] if found else None


@pytest.fixture(scope="module")
def system(make_directory):
    network.needed()
    system = System(make_directory)
    with system.network.entered():
        try:
            yield system.start()
        finally:
            system.stop()
    system.network.stop()


class Watch:
    """Looks at a queue in Redis all the time, by Redis's own clock. Everybody (`count`) stands in line when it begins."""

    def __init__(self, parts, queue, count):
        self.key, self.count = f"sluice:{{{queue}}}", count
        self.client = parts.redis_server.client()
        self.admitted = []  # at which second, how many
        self.jumped = []
        self.displaced = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self):
        leader, lapses_at = None, 0
        while not self._end.wait(0.05):
            with self.client.pipeline() as pipe:
                pipe.time().hget(f"{self.key}:state", "admitted")
                pipe.zrange(f"{self.key}:waiting", 0, -1, withscores=True)
                pipe.get(f"{self.key}:leader").pttl(f"{self.key}:leader")
                (seconds, micros), admitted, waiting, holder, lease_ms = pipe.execute()
            now = seconds + micros / 1e6
            self.admitted.append((now, int(admitted or 0)))
            if leader and holder not in (None, leader) and now < lapses_at - 0.01:
                self.displaced.append((leader, holder, lapses_at - now))
            leader, lapses_at = holder, now + lease_ms / 1000
            numbers = [int(score) // GENERATIONS for _, score in waiting]
            if numbers != list(range(self.count - len(numbers) + 1, self.count + 1)):
                self.jumped.append(numbers)

    def stop(self):
        self._end.set()
        self._thread.join()
        self.client.close()

    def assert_right(self):
        assert not self.jumped, ("only the first in line leave it", self.jumped[0])
        assert not self.displaced, ("nobody leads before the other's lease is over", self.displaced)
        for i in range(0, len(self.admitted), 3):
            since, before = self.admitted[i]
            for at, seen in self.admitted[i + 1:]:
                assert seen - before <= BURST + RATE * (at - since) + 1, "the rate holds through the cut"


@pytest.mark.limit(240 + 2 * CUT_SECONDS)
def test_a_node_that_is_cut_off_costs_nobody_their_place_and_lets_nobody_in(system):
    """It is the one whose scheduler leads. Others let in, at the same rate and in order; nginx asks the other hosts; and what
    comes back does nothing that has been done meanwhile."""
    parts, api = system.parts, system.parts.api
    queue = api.queue(ratePerSecond=RATE, burst=BURST, tickMs=200, maxActive=10000, pickupSeconds=600, claimLeaseSeconds=2)
    sku = api.product(queue, stock=10000)
    api.act(queue, "pause")
    count = RATE * (CUT_SECONDS + 7)
    crowd = PatientCrowd(queue, count, [system.balancer.port], lambda: api.member_key, sku).start()
    api.act(queue, "resume")
    watch = Watch(parts, queue, count)
    try:
        until(lambda: len(crowd.ordered()) >= BURST, 20, "it has begun")
        cut = system.leader(queue)
        begin = time.monotonic()
        system.network.cut_off(cut.machine)
        until(lambda: system.leader(queue) is not cut, 15, "another one leads")
        print("another one leads after, s", round(time.monotonic() - begin, 2))
        until(lambda: time.monotonic() - begin >= CUT_SECONDS, CUT_SECONDS + 5, "the cut is long enough")
        crowd.assert_right()
        ordered = len(crowd.ordered())
        assert ordered > BURST + RATE, "sessions go on by the other nodes"
        system.network.join(cut.machine)
        joined = time.monotonic()
        until(cut.answers, 15, "the node is back")
        print("the node answers again after, s", round(time.monotonic() - joined, 2))
        until(lambda: len(crowd.ordered()) >= min(count, ordered + 3 * RATE), 30, "all goes on")
        until(lambda: len(crowd.ordered()) == count, 60, "everybody has ordered")
    finally:
        watch.stop()
        crowd.stop()
    crowd.assert_right()
    print("answers 503:", crowd.unavailable, "longest until an answer, s", round(crowd.longest, 2))
    assert crowd.longest < 13, "a member waits for one silent host, not longer"
    watch.assert_right()
    orders = parts.postgres.query("SELECT member, id FROM customer_order WHERE queue = %s", queue)
    assert len(orders) == count == len({member for member, _ in orders}), "one order each"
    assert api.stats(queue)["admitted"] == count, "nobody was let in twice"


@pytest.mark.limit(120)
def test_what_a_node_could_not_send_is_not_done_later(system):
    """Its way to Redis is lost for a while, with a member's entry on it. The member enters at another host. Should the first
    entry arrive after all, it would take over the member's place as another screen does."""
    parts, api = system.parts, system.parts.api
    queue = api.still_queue()
    lost, other = system.nodes[0], system.nodes[1]
    member = api.member()
    system.network.lose_stores(lost.machine)
    try:
        answer = ask(lost, *member.enter_call(queue))
        assert answer[0] == 503, answer
        status, body = ask(other, *member.enter_call(queue))
        assert status == 201, body
        member.ticket = body["queueTicket"]
    finally:
        system.network.find_stores(lost.machine)
    until(lost.answers, 20, "the node has found its way again")
    # The kernel sends what it still has at ever longer intervals: after so long a loss within the next few seconds.
    def still_waits():
        status, body = ask(other, *member.position_call(queue))
        assert (status, body["status"]) == (200, "WAITING"), body
        return True

    holds_for(5, still_waits, "the member waits")
    assert parts.redis.hget(f"sluice:{{{queue}}}:state", "seq") == "1"


@pytest.mark.limit(120)
def test_an_order_that_a_node_could_not_send_is_not_done_later(system):
    """The same with a statement on its way to PostgreSQL. Its claim lives on for long, so nobody else settles it."""
    parts, api = system.parts, system.parts.api
    queue = api.queue(claimLeaseSeconds=120)
    sku = api.product(queue)
    lost = system.nodes[0]
    member = api.ready_member(queue)
    parts.arm_pause("order.before_transaction")
    call = BackgroundCall(lambda: ask(lost, *member.order_call(queue, [{"sku": sku, "quantity": 1}])))
    until((parts.pauses / "order.before_transaction.hit").exists, 15)
    pid = until(lambda: [pid for pid in children_of(lost.processes["order"].pid) if is_stopped(pid)], 10)[0]
    system.network.lose_stores(lost.machine)
    try:
        cont(pid)
        assert call.wait()[0] == 503
    finally:
        system.network.find_stores(lost.machine)
    until(lost.answers, 20, "the node has found its way again")
    holds_for(5, lambda: parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", queue) == 0, "no order is made")


def ask(node, method, path, headers, body):
    """One call of a node's own nginx; status and JSON."""
    import aiohttp

    async def call():
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=15)) as session:
            async with session.request(method, f"http://{node.machine.address}:{node.port}{path}", headers=headers,
                                       json=body) as answer:
                return answer.status, await answer.json(content_type=None)
    return asyncio.run(call())
