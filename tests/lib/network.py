"""Machines in network namespaces: a hub, and nodes that reach it and each other through its bridge. All of it ends with the
processes that hold the namespaces, and nothing of the machine's own network is touched.

The test's main thread works in the hub (`entered()`), so whatever it starts or asks is there; what a node runs is
started behind its `prefix`."""

import contextlib
import ctypes
import os
import subprocess

import pytest

from lib.processes import Process
from lib.wait import until

HUB = "10.77.0.1"
STORES = "10.77.0.2"  # a second address of the hub, which a node can lose by itself
NOBODY = "02:00:00:00:00:99"
BRIDGE = "02:00:00:00:00:01"
CLONE_NEWNET = 0x40000000


def may_be_made():
    """Whether this user and this machine allow namespaces, and a bridge in them."""
    probe = ["unshare", "--net", "--", "ip", "link", "add", "name", "probe", "type", "bridge"]
    try:
        return subprocess.run(probe, capture_output=True, timeout=10).returncode == 0
    except OSError:
        return False


def needed():
    """Skips where they may not be made."""
    if not may_be_made():
        pytest.skip("network namespaces may not be made here (needs root, and bridges in the kernel)")


def _run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=10)
    assert done.returncode == 0, (command, done.stderr)


class Namespace:
    """Lives as long as a process that does nothing."""

    def __init__(self, name, log):
        self.name = name
        self.holder = Process(f"namespace {name}", ["unshare", "--net", "--", "sleep", "infinity"], log)
        self.file = f"/proc/{self.holder.pid}/ns/net"
        until(lambda: os.readlink(self.file) != os.readlink("/proc/self/ns/net") and
              os.readlink(f"/proc/{self.holder.pid}/exe").endswith("sleep"), 10, f"namespace {name}")
        self.prefix = ["nsenter", f"--net={self.file}", "--"]
        self.run("ip", "link", "set", "lo", "up")

    def run(self, *command):
        _run(*self.prefix, *command)

    def stop(self):
        self.holder.kill()


class Network:
    """The hub and so many nodes, with the addresses 10.77.0.11 and up."""

    def __init__(self, log, nodes):
        self.hub = Namespace("hub", log)
        # Without an address of its own a bridge has the lowest of its ports', another one when that port is cut off: for
        # seconds, until the neighbours have found out, nobody would reach it.
        self.hub.run("ip", "link", "add", "bridge", "address", BRIDGE, "type", "bridge")
        for address in (HUB, STORES):
            self.hub.run("ip", "address", "add", f"{address}/24", "dev", "bridge")
        self.hub.run("ip", "link", "set", "bridge", "up")
        self.nodes = [self._add_node(number, log) for number in range(1, nodes + 1)]

    def _add_node(self, number, log):
        node = Namespace(f"node{number}", log)
        node.number, node.address = number, f"10.77.0.{10 + number}"
        self.hub.run("ip", "link", "add", f"port{number}", "type", "veth", "peer", "name", "eth0", "netns", node.holder.pid)
        node.run("ip", "address", "add", f"{node.address}/24", "dev", "eth0")
        node.run("ip", "link", "set", "eth0", "up")
        self.hub.run("ip", "link", "set", f"port{number}", "master", "bridge", "up")
        return node

    @contextlib.contextmanager
    def entered(self):
        """The main thread, and all that is started from it, is in the hub meanwhile."""
        libc = ctypes.CDLL(None, use_errno=True)
        with open("/proc/self/ns/net") as outside, open(self.hub.file) as inside:
            assert libc.setns(inside.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
            try:
                yield self
            finally:
                assert libc.setns(outside.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())

    # Faults. Nothing is refused: packets are lost, as behind a dead switch.

    def cut_off(self, node):
        """Nobody hears the node, and it hears nobody."""
        self.hub.run("ip", "link", "set", f"port{node.number}", "nomaster")

    def join(self, node):
        self.hub.run("ip", "link", "set", f"port{node.number}", "master", "bridge")

    @staticmethod
    def lose_stores(node):
        """What the node sends to Redis and PostgreSQL gets lost; all else goes on."""
        node.run("ip", "neigh", "replace", STORES, "lladdr", NOBODY, "dev", "eth0", "nud", "permanent")

    @staticmethod
    def find_stores(node):
        node.run("ip", "neigh", "del", STORES, "dev", "eth0")

    def stop(self):
        for node in self.nodes:
            node.stop()
        self.hub.stop()

