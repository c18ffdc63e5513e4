"""Ten thousand waiting pages read the board: what Redis sees hardly grows with the crowd."""

import json
import subprocess
import time

import pytest
import redis

from lib.project import ROOT, plain_build
from lib.stack import Stack

SECONDS = 10


@pytest.fixture(scope="module")
def stack(make_directory):
    """Programs as users run them."""
    stack = Stack(make_directory("pages"), environment={"SLUICE_BUILD": str(plain_build())})
    try:
        yield stack.start()
        stack.stop()
    finally:
        stack.abandon()


def script_calls(stack):
    with redis.Redis(unix_socket_path=stack.redis_socket, decode_responses=True) as client:
        stats = client.info("commandstats")
    return sum(stats[name]["calls"] for name in ("cmdstat_evalsha", "cmdstat_eval") if name in stats)


def crowd_of(stack, pages, rate):
    """What so many pages asked in SECONDS, and how many scripts Redis ran a second meanwhile."""
    queue = stack.api.queue(f"pages-{pages}", identity="visitor", ratePerSecond=rate, burst=rate, maxActive=100_000,
                            pickupSeconds=3600, entryTtlSeconds=7200)
    command = ["node", ROOT / "tests" / "tools" / "waiting_pages.mjs", f"http://127.0.0.1:{stack.port}", queue, str(pages), str(SECONDS)]
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "entered\n"
        before, began = script_calls(stack), time.monotonic()
        counts = json.loads(process.stdout.readline())
        calls = (script_calls(stack) - before) / (time.monotonic() - began)
        assert process.wait(timeout=60) == 0
    assert counts["entered"] == pages and counts["failed"] == 0
    return counts, calls


@pytest.mark.limit(150)
def test_ten_thousand_pages(stack):
    few, calls_of_few = crowd_of(stack, 1_000, rate=20)
    many, calls_of_many = crowd_of(stack, 10_000, rate=20)
    print(f"1,000 pages: {few}, {calls_of_few:.0f} scripts a second; 10,000: {many}, {calls_of_many:.0f}")
    # Nearly ten times as often, where the machine lets so many speak.
    assert many["board"] > 1.5 * few["board"], "the crowd reads the board"
    assert many["position"] < 2 * few["position"], "and only the front asks exactly"
    assert calls_of_many < 2 * calls_of_few + 20
    assert few["ready"] > 0 and many["ready"] > 0, "the front is let in"
