"""Redis on several "machines" of this one: under three Sentinels, or as a cluster. Over TCP, with a login."""

import shutil
import signal
import time

import redis

from lib.ports import free_port
from lib.processes import Process
from lib.wait import until

USER, PASSWORD = "sluice", "the-password-of-tests"
SENTINEL_PASSWORD = "the-sentinels-password"


class Node:
    """One redis-server with a folder of its own."""

    def __init__(self, directory, name, arguments, users=True):
        self.directory, self.name = directory / name, name
        self.port = free_port()
        self.arguments = arguments
        self.users = users
        self.process = None

    def start(self, *more):
        self.directory.mkdir(parents=True, exist_ok=True)
        command = [shutil.which("redis-server"), "--port", self.port, "--bind", "127.0.0.1", "--save", "",
                   "--appendonly", "yes", "--dir", self.directory, "--daemonize", "no", "--repl-diskless-sync-delay", "0",
                   *self.arguments, *more]
        if self.users:
            # Replicas and whoever repairs log in as the default user.
            command += ["--requirepass", PASSWORD, "--masterauth", PASSWORD,
                        "--user", USER, "on", f">{PASSWORD}", "~*", "&*", "+@all"]
        self.process = Process(self.name, command, self.directory / "redis.log")
        with self.client() as client:
            until(client.ping, 15, f"answer of {self.name}")
        return self

    def client(self, **options):
        options.setdefault("decode_responses", True)
        return redis.Redis(port=self.port, password=PASSWORD if self.users else None, socket_timeout=30, **options)

    def call(self, *words):
        with self.client() as client:
            return client.execute_command(*words)

    def info(self, section="replication"):
        with self.client() as client:
            return client.info(section)

    def alive(self):
        return self.process is not None and self.process.alive()

    def stop(self):
        if self.alive():
            self.process.stop(signal.SIGTERM)

    def kill(self):
        self.process.kill()


class _Group:
    """What Parts asks of a Redis."""

    def __init__(self, directory):
        self.directory = directory / "redis"
        self.directory.mkdir()
        self.password_file = self.directory / "password"
        self.password_file.write_text(PASSWORD + "\n")
        self.password_file.chmod(0o600)
        self.nodes = []

    @property
    def process(self):
        return self

    def alive(self):
        return all(node.alive() for node in self.nodes)

    def stop(self):
        for node in self.nodes:
            node.stop()

    def settings(self):
        return {"redis_user": USER, "redis_password_file": self.password_file}


class SentinelGroup(_Group):
    """One primary, two replicas, three Sentinels."""

    NAME = "shop"

    def __init__(self, directory, down_after_ms=1000, lag_s=3):
        super().__init__(directory)
        self.down_after_ms = down_after_ms
        policy = ["--min-replicas-to-write", 1, "--min-replicas-max-lag", lag_s, "--repl-ping-replica-period", 1]
        self.nodes = [Node(self.directory, f"redis-{i}", policy) for i in range(3)]
        self.sentinels = []

    def start(self):
        if self.sentinels:
            for node in self.nodes:
                if not node.alive():
                    node.start()
            return self
        first = self.nodes[0].start()
        for node in self.nodes[1:]:
            node.start("--replicaof", "127.0.0.1", first.port)
        until(lambda: all(node.info()["master_link_status"] == "up" for node in self.nodes[1:]), 20, "replicas in step")
        self.sentinels = [self._start_sentinel(i, first) for i in range(3)]
        until(lambda: all(self._knows(port, 2, 2) for port, _ in self.sentinels), 30, "Sentinels know each other")
        return self

    def _start_sentinel(self, number, first):
        port = free_port()
        config = self.directory / f"sentinel-{number}.conf"
        config.write_text(
            f"port {port}\nbind 127.0.0.1\ndir {self.directory}\nrequirepass {SENTINEL_PASSWORD}\n"
            f"sentinel sentinel-pass {SENTINEL_PASSWORD}\n"
            f"sentinel monitor {self.NAME} 127.0.0.1 {first.port} 2\n"
            f"sentinel auth-pass {self.NAME} {PASSWORD}\n"
            f"sentinel down-after-milliseconds {self.NAME} {self.down_after_ms}\n"
            f"sentinel failover-timeout {self.NAME} 5000\nsentinel parallel-syncs {self.NAME} 1\n")
        return port, Process(f"sentinel-{number}", [shutil.which("redis-server"), config, "--sentinel"],
                             self.directory / f"sentinel-{number}.log")

    @staticmethod
    def _ask(port, *words):
        with redis.Redis(port=port, password=SENTINEL_PASSWORD, decode_responses=True, socket_timeout=15) as client:
            return client.execute_command(*words)

    def _knows(self, port, replicas, sentinels):
        words = self._ask(port, "SENTINEL", "MASTER", self.NAME)
        about = dict(zip(words[::2], words[1::2]))
        return int(about["num-slaves"]) == replicas and int(about["num-other-sentinels"]) == sentinels

    def settings(self):
        secret = self.directory / "sentinel-password"
        secret.write_text(SENTINEL_PASSWORD + "\n")
        secret.chmod(0o600)
        return {**super().settings(), "redis_master_name": self.NAME, "redis_sentinel_password_file": secret,
                "redis_sentinels": " ".join(f"127.0.0.1:{port}" for port, _ in self.sentinels)}

    def primary(self):
        """Which node the Sentinels call the primary."""
        port = int(self._ask(self.sentinels[0][0], "SENTINEL", "get-master-addr-by-name", self.NAME)[1])
        return next(node for node in self.nodes if node.port == port)

    def wait_promoted(self, before, seconds=30):
        """Until another node than `before` is the primary; returns it and when that was."""
        return until(lambda: self._primary_other_than(before), seconds, "another primary"), time.monotonic()

    def _primary_other_than(self, before):
        node = self.primary()
        return node if node is not before and node.info()["role"] == "master" else None

    def fail_over(self, before, seconds=60):
        """Asks the Sentinels for an orderly one until they have carried it out: they refuse or give up where they have not seen yet
        that a replica is fit."""
        def asked():
            try:
                self._ask(self.sentinels[0][0], "SENTINEL", "FAILOVER", self.NAME)
            except redis.ResponseError:
                pass
            # Asked again while it goes on, they would carry out a second one; where they have refused nothing goes on.
            end = time.monotonic() + 10
            while time.monotonic() < end:
                try:
                    if node := self._primary_other_than(before):
                        return node
                except (redis.RedisError, OSError):
                    pass
                time.sleep(0.1)
            return None
        return until(asked, seconds, "an orderly failover")

    def wait_in_step(self):
        """Until the primary has two replicas in step again."""
        until(lambda: self.primary().info()["min_slaves_good_slaves"] == 2, 30, "replicas")
        until(lambda: all(node.info().get("master_link_status") == "up" for node in self.nodes
                          if node is not self.primary()), 30, "replicas in step")

    def client(self, **options):
        return redis.sentinel.Sentinel(
            [("127.0.0.1", port) for port, _ in self.sentinels], sentinel_kwargs={"password": SENTINEL_PASSWORD},
            password=PASSWORD, decode_responses=True, socket_timeout=15).master_for(self.NAME)

    def stop(self):
        for _port, process in self.sentinels:
            process.stop(signal.SIGTERM)
        super().stop()


class ClusterGroup(_Group):
    """Three primaries, and as many replicas as asked for."""

    def __init__(self, directory, replicas=0):
        super().__init__(directory)
        arguments = ["--cluster-enabled", "yes", "--cluster-node-timeout", 1500, "--cluster-config-file", "nodes.conf",
                     "--min-replicas-max-lag", 3, "--repl-ping-replica-period", 1]
        self.nodes = []
        for i in range(3 + replicas):
            self.nodes.append(Node(self.directory, f"redis-{i}", [*arguments, "--cluster-port", free_port()]))

    def start(self):
        new = self.nodes[0].process is None
        for node in self.nodes:
            if not node.alive():
                node.start()
        if not new:
            return self
        with open(self.directory / "create.log", "w") as log:
            done = Process("redis-cli", [
                shutil.which("redis-cli"), "-a", PASSWORD, "--no-auth-warning", "--cluster", "create",
                *(f"127.0.0.1:{node.port}" for node in self.nodes), "--cluster-replicas",
                (len(self.nodes) - 3) // 3, "--cluster-yes"], log.name)
        assert done.wait(60) == 0, done.text()
        until(lambda: all("cluster_state:ok" in node.call("CLUSTER", "INFO") for node in self.nodes), 20, "the cluster")
        return self

    def settings(self):
        return {**super().settings(), "redis_cluster": " ".join(f"127.0.0.1:{node.port}" for node in self.nodes[:2])}

    def slot_of(self, queue):
        return int(self._living().call("CLUSTER", "KEYSLOT", f"sluice:{{{queue}}}:state"))

    def _living(self):
        return next(node for node in self.nodes if node.alive())

    def owner_of(self, queue):
        """The node that serves the queue."""
        slot = self.slot_of(queue)
        for first, last, (_host, port, *_rest), *_others in self._living().call("CLUSTER", "SLOTS"):
            if int(first) <= slot <= int(last):
                return next(node for node in self.nodes if node.port == int(port))
        raise AssertionError(f"nobody serves slot {slot}")

    def move(self, queue, to):
        """Moves the queue's slot to another primary, key by key, as redis-cli does. Returns how many keys that were and
        how long the slot was on its way."""
        source, slot = self.owner_of(queue), self.slot_of(queue)
        ids = {node: node.call("CLUSTER", "MYID") for node in (source, to)}
        begin = time.monotonic()
        to.call("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source])
        source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[to])
        moved = 0
        while True:
            keys = source.call("CLUSTER", "GETKEYSINSLOT", slot, 3)
            if not keys:
                break
            source.call("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "AUTH", PASSWORD, "KEYS", *keys)
            moved += len(keys)
        others = [node for node in self.nodes if node not in (to, source) and node.info()["role"] == "master"]
        for node in (to, source, *others):
            node.call("CLUSTER", "SETSLOT", slot, "NODE", ids[to])
        return moved, time.monotonic() - begin

    def client(self, **options):
        return redis.cluster.RedisCluster(host="127.0.0.1", port=self.nodes[0].port, password=PASSWORD,
                                          decode_responses=True)
