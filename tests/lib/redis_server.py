"""A private Redis on a Unix socket, plain or as a cluster of one node."""

import shutil
import signal

import redis

from lib.ports import free_port
from lib.processes import Process
from lib.wait import until


class RedisServer:
    """Runs in `directory`; `cluster` makes it a cluster node that owns every slot."""

    def __init__(self, directory, cluster=False, append_only=False):
        self.directory = directory
        self.cluster = cluster
        self.append_only = append_only
        self.socket = str(directory / "redis.sock")
        self.options = []  # more words of its command line; of two the later counts
        self.process = None
        self._port = 0
        if len(self.socket.encode()) > 107:
            raise ValueError(f"path too long for a socket: {self.socket}")

    def start(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        command = [shutil.which("redis-server"), "--unixsocket", self.socket, "--save", "",
                   "--dir", str(self.directory), "--appendonly", "yes" if self.append_only else "no",
                   "--daemonize", "no", "--bind", "127.0.0.1"]
        if self.cluster:
            # A cluster node needs a TCP port of its own; nobody talks to it there.
            self._port = self._port or free_port()
            command += ["--port", str(self._port), "--cluster-port", str(free_port()),
                        "--cluster-enabled", "yes",
                        "--cluster-config-file", str(self.directory / "nodes.conf")]
        else:
            command += ["--port", "0"]
        self.process = Process("redis", [*command, *self.options], self.directory / "redis.log")
        client = self.client()
        until(client.ping, 10, "answer of Redis")
        if self.cluster:
            if "cluster_slots_assigned:16384" not in client.execute_command("CLUSTER", "INFO"):
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            until(lambda: "cluster_state:ok" in client.execute_command("CLUSTER", "INFO"), 10,
                  "state of the cluster")
        client.close()
        return self

    def settings(self):
        """What programs are told of it."""
        return {"redis_socket": self.socket}

    def client(self, **options):
        options.setdefault("decode_responses", True)
        return redis.Redis(unix_socket_path=self.socket, socket_timeout=30, **options)

    def stop(self):
        """An orderly end, as an operator would."""
        if self.process and self.process.alive():
            self.process.stop(signal.SIGTERM)

    def kill(self):
        if self.process:
            self.process.kill()
