"""The line moves from one Redis to another: by replication nobody notices more than a pause, by tickets alone everybody keeps
the number."""

import subprocess

import pytest

from lib.api import ticket_payload
from lib.parts import Parts
from lib.ports import free_port
from lib.project import SCRIPTS
from lib.redis_server import RedisServer
from lib.wait import until
from lib.waiting_crowd import PatientCrowd


class RedisByTcp(RedisServer):
    """As programs reach it on another machine."""

    def __init__(self, directory):
        super().__init__(directory, append_only=True)
        self.address = f"127.0.0.1:{free_port()}"
        self.options = ["--port", self.address.split(":")[1], "--repl-diskless-sync-delay", "0"]

    def settings(self):
        return {"redis_address": self.address}


class MovingParts(Parts):
    """All parts, whose Redis can be another one."""

    def __init__(self, directory):
        super().__init__(directory, queue_workers=1, order_workers=2, catalog_workers=1,
                         redis_server=RedisByTcp(directory / "redis"))
        (directory / "redis").mkdir()

    def point_to(self, server):
        """What an operator does on each host: another redis_address, and the programs anew."""
        self.redis_server = server
        self.redis.close()
        self.redis = server.client()
        self.stop_reconcile()
        for process in self.schedulers:
            process.stop()
        self.schedulers = []
        self.start_reconcile()
        self.reconfigure("queue", "order", "payment", "operator", "catalog")
        self.add_scheduler()


@pytest.fixture(scope="module")
def all_moving(make_directory):
    parts = MovingParts(make_directory("mv"))
    servers = [parts.redis_server]
    try:
        parts.start()
        parts.servers = servers
        yield parts
    finally:
        for server in servers:
            if server is not parts.redis_server:
                server.stop()
        parts.stop()


@pytest.fixture
def parts(all_moving):
    all_moving.settle()
    yield all_moving
    all_moving.settle()


@pytest.fixture
def new_redis(parts, make_directory):
    """An empty one, with the same users: those are not copied."""
    server = RedisByTcp(make_directory("new"))
    server.options += ["--aclfile", str(parts.directory / "redis.acl")]
    server.start()
    parts.servers.append(server)
    return server


def move(source, target, code=0):
    done = subprocess.run([SCRIPTS / "move-redis", "--from", source.address, "--to", target.address, "--seconds", "20"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout + done.stderr


@pytest.mark.limit(180)
def test_a_line_moves_to_another_redis_and_nobody_is_lost(parts, new_redis):
    """While people poll and order. Whoever is let in stays so, with the same token."""
    api, old = parts.api, parts.redis_server
    queue = api.queue(ratePerSecond=4, burst=2, tickMs=200, maxActive=1000, entryTtlSeconds=300, pickupSeconds=600)
    sku = api.product(queue)
    holder = api.ready_member(queue)
    crowd = PatientCrowd(queue, 40, [parts.port], lambda: api.member_key, sku).start()
    try:
        until(lambda: len(crowd.ordered()) >= 4, 20, "they are let in")
        assert "takes writes" in move(old, new_redis)
        before = dict(old.client().hgetall(f"sluice:{{{queue}}}:state"))
        parts.point_to(new_redis)
        until(lambda: crowd.wrong or len(crowd.ordered()) == 40, 60, "everybody has ordered")
    finally:
        crowd.stop()
    crowd.assert_right()
    assert crowd.unavailable > 0, "it was under load"
    answer = holder.order(queue, [{"sku": sku, "quantity": 1}])
    assert answer.status == 201, answer.body
    until(lambda: api.stats(queue)["consumed"] == 41, 15)
    assert api.stats(queue)["admitted"] == 41, "nobody was let in twice"
    assert api.state(queue)["incarnation"] == 1, "the line was not made anew"
    assert parts.postgres.value("SELECT count(DISTINCT member) FROM customer_order WHERE queue = %s", queue) == 41
    assert int(before["admitted"]) < 41


def test_a_move_that_cannot_be_leaves_everything_as_it_is(parts, new_redis):
    api, old = parts.api, parts.redis_server
    queue = api.still_queue()
    member = api.member()
    member.enter(queue)
    client = new_redis.client()
    client.set("somebody", "else's")
    assert "has data of its own" in move(old, new_redis, 1)
    client.flushall()
    assert "is a replica" in turned(new_redis, old)
    assert client.info("replication")["role"] == "slave"
    client.replicaof("NO", "ONE")
    client.close()
    assert member.position(queue)["status"] == "WAITING"


def turned(source, target):
    """`source` follows `target`, and is named as the one that has the line."""
    client = source.client()
    client.replicaof(*target.address.split(":"))
    client.close()
    return move(source, target, 1)


@pytest.mark.limit(90)
def test_by_tickets_alone_everybody_keeps_the_number(parts, new_redis):
    """The old one is switched off, nothing is copied: reconcile makes the line anew where the programs look now."""
    api, old = parts.api, parts.redis_server
    queue = api.queue(maxActive=4, recoverySeconds=2)
    sku = api.product(queue)
    items = [{"sku": sku, "quantity": 1}]
    members = [api.member() for _ in range(10)]
    for member in members:
        assert member.enter(queue).status == 201
    for member in members[:4]:
        member.wait_ready(queue)
    api.act(queue, "pause")
    for member in members[:2]:
        assert member.order(queue, items).status == 201
    parts.postgres.query("UPDATE queue SET created_at = created_at - interval '1 minute'")
    old.stop()
    parts.point_to(new_redis)
    line = members[2:]
    until(lambda: all(member.position(queue).status == 200 for member in reversed(line)), 20, "the queue is back")
    assert [member.position(queue)["rank"] for member in line] == list(range(8))
    assert [member.position(queue)["status"] for member in members[:2]] == ["NOT_ENTERED"] * 2
    newcomer = api.member()
    newcomer.enter(queue)
    assert ticket_payload(newcomer.ticket)["seq"] > 10
    api.act(queue, "resume")
    for member in line[:4]:
        member.wait_ready(queue)
        assert member.order(queue, items).status == 201
    assert parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", queue) == 6
