"""A connection of the queue pool: requests in pieces, what is too much, and how its workers take their turns."""

import os
import socket
import struct
import subprocess
import time

import pytest

from lib.fastcgi import BEGIN, END, PARAMS, STDIN
from lib.fastcgi_proxy import Gone, exactly
from lib.processes import children_of
from lib.wait import until

# The first one starts all the parts.
pytestmark = pytest.mark.limit(120)

KEEP = struct.pack("!HB5x", 1, 1)
HALF_AT_MOST_S = 5


def record(kind, content=b"", padding=0, number=1):
    return struct.pack("!BBHHBx", 1, kind, number, len(content), padding) + content + bytes(padding)


def pairs(**names):
    return b"".join(struct.pack("!LL", len(name) | 1 << 31, len(value) | 1 << 31) + name.encode() + value.encode()
                    for name, value in names.items())


def request(path="/livez", method="GET", body=b"", **names):
    """As nginx writes it."""
    names = {"REQUEST_METHOD": method, "REQUEST_URI": path, "CONTENT_LENGTH": str(len(body)), **names}
    return (record(BEGIN, KEEP) + record(PARAMS, pairs(**names)) + record(PARAMS) +
            (record(STDIN, body) if body else b"") + record(STDIN))


@pytest.fixture
def connect(parts):
    opened = []

    def connect():
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(20)
        opened.append(link)
        link.connect(str(parts.socket("queue")))
        return link
    yield connect
    for link in opened:
        link.close()


def receive(link):
    """The answer's text; None where the connection is closed instead."""
    out = b""
    try:
        while True:
            _, kind, _, length, padding = struct.unpack("!BBHHBx", exactly(link, 8))
            content = exactly(link, length + padding)[:length]
            if kind == END:
                return out.decode()
            out += content
    except (Gone, ConnectionResetError):
        return None


def send(link, data):
    """A worker that has closed is no failure here: the answer tells."""
    try:
        link.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        pass


def test_pieces_make_a_request(connect):
    """However it is cut, and many on one connection."""
    link = connect()
    whole = request()
    for first in range(1, len(whole)):
        link.sendall(whole[:first])
        link.sendall(whole[first:])
        assert receive(link).startswith("Status: 200"), first


def test_long_requests(connect):
    """As long as nginx lets them be, in one piece and slowly; a body beyond its bound is refused and the connection goes on."""
    link = connect()
    cookies = "x" * 32_000
    link.sendall(request(HTTP_COOKIE=cookies))
    assert receive(link).startswith("Status: 200")
    send(link, request("/v1/queues/none/entries", "POST", b" " * 65_535))
    assert receive(link).startswith("Status: 4")
    long = record(BEGIN, KEEP) + record(PARAMS, pairs(REQUEST_METHOD="POST", REQUEST_URI="/v1/queues/none/entries",
                                                     CONTENT_LENGTH="65537", HTTP_COOKIE=cookies)) + record(PARAMS)
    long += record(STDIN, b" " * 65_000) + record(STDIN, b" " * 537) + record(STDIN)
    link.sendall(long)
    assert receive(link).startswith("Status: 413")
    link.sendall(request())
    assert receive(link).startswith("Status: 200")


def test_half_a_request_does_not_stay(connect):
    """And is in nobody's way meanwhile."""
    half, began = connect(), time.monotonic()
    half.sendall(request()[:-1])
    link = connect()
    link.sendall(request())
    assert receive(link).startswith("Status: 200")
    assert receive(half) is None
    assert time.monotonic() - began >= HALF_AT_MOST_S


def test_workers_interrupt_nobody(parts):
    """They gather what comes for them: with the usual policy nginx would be stopped at each request that it hands over."""
    workers = until(lambda: children_of(parts.pools["queue"].pid), 10, "workers")
    assert len(workers) == parts.queue_workers
    assert {os.sched_getscheduler(pid) for pid in workers} == {os.SCHED_BATCH}
    orders = children_of(parts.pools["order"].pid)
    assert {os.sched_getscheduler(pid) for pid in orders} == {os.SCHED_OTHER}


@pytest.mark.parametrize("words", [["--pool", "none"], ["--pool", "queue", "--config", "/nonexistent"]], ids=["words", "settings"])
def test_a_worker_that_cannot_start_ends_no_faster_than_once_a_second(parts, words):
    """Its keeper starts it again at once, however often it ends."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        began = time.monotonic()
        done = subprocess.run([parts.build / "sluice-fcgi", *words], stdin=listening, capture_output=True, text=True, timeout=60)
    assert done.returncode in (64, 78) and done.stderr, done
    assert time.monotonic() - began >= 1
