"""Workers whose clocks are a minute fast or slow change nothing: order, rate and deadlines are Redis's."""

import glob
import stat

import pytest

from lib.api import ticket_payload
from lib.parts import Parts
from lib.project import plain_build
from lib.wait import until

OFFSETS = ("+60", "-60")


@pytest.fixture(scope="module")
def skewed(make_directory):
    """Queue and order workers and the scheduler, each with a clock of its own: 60 s ahead or behind, in turn.
    The library that moves the clock and AddressSanitizer cannot live in one process: a build without it."""
    directory = make_directory("clk")
    library = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    assert library, "the Debian package faketime is missing"
    wrapper = directory / "skew"
    wrapper.write_text(f"""#!/bin/bash
# Of each pool, whoever comes first to make a folder gets its offset, and the next one the other.
pool=scheduler n=0
[[ $2 != --pool ]] || pool=$3
until mkdir {directory}/skew.$pool.$n 2>/dev/null; do n=$((n + 1)); done
offsets=({' '.join(OFFSETS)})
export LD_PRELOAD={library[0]} FAKETIME=${{offsets[n % 2]}}s FAKETIME_DONT_FAKE_MONOTONIC=1
exec "$@"
""")
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    parts = Parts(directory, build=plain_build(), wrapper=[wrapper])
    try:
        yield parts.start(schedulers=2)
    finally:
        parts.stop()


def test_clocks_really_differ(skewed):
    """By the issue times in tickets, which come from the workers."""
    api = skewed.api
    queue = api.still_queue()
    now = skewed.redis.time()[0]
    issued = set()

    def both_seen():
        answers = api.together([api.member().enter_call(queue) for _ in range(100)], 50)
        issued.update(round((ticket_payload(answer["queueTicket"])["iat"] - now) / 60) for answer in answers)
        return issued == {1, -1}
    until(both_seen, 20, "tickets of both workers")


def test_order_of_entry_is_the_order_of_numbers(skewed):
    api = skewed.api
    queue = api.still_queue()
    members = [api.member() for _ in range(60)]
    seqs = []
    for member in members:
        answer = member.enter(queue)
        assert answer.status == 201
        seqs.append(ticket_payload(answer["queueTicket"])["seq"])
    assert seqs == list(range(1, 61))
    answers = api.together([member.position_call(queue) for member in members], 16)
    assert [answer["rank"] for answer in answers] == list(range(60)), "whichever worker answers"


def test_rate_deadlines_and_orders(skewed):
    api = skewed.api
    queue = api.queue(ratePerSecond=20, burst=20, tickMs=100, entryTtlSeconds=30)
    sku = api.product(queue)
    key = f"sluice:{{{queue}}}:state"
    begin = skewed.redis.time()
    members = api.ready_members(queue, 60)
    end = skewed.redis.time()
    seconds = end[0] - begin[0] + (end[1] - begin[1]) / 1e6
    assert int(skewed.redis.hget(key, "admitted")) == 60 <= 20 + 20 * seconds + 1
    expiries = {member.position(queue)["status"] for member in members}
    assert expiries == {"READY"}, "no token of 30 s has run out by a clock 60 s ahead"
    items = [{"sku": sku, "quantity": 1}]
    answers = api.together([member.order_call(queue, items, key="k") for member in members], 4)
    assert [answer.status for answer in answers] == [201] * 60
    assert skewed.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", queue) == 60
    assert {member.position(queue)["status"] for member in members} == {"NOT_ENTERED"}
