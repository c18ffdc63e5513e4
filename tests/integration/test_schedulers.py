"""Any number of schedulers: one rate, nobody lost, and a quick hand-over."""

import signal
import threading
import time

import pytest

from lib import processes
from lib.wait import until


def admitted(parts, queue):
    """What Redis has counted, with Redis's own time in seconds."""
    with parts.redis.pipeline() as pipe:
        pipe.time()
        pipe.hget(f"sluice:{{{queue}}}:state", "admitted")
        (seconds, micros), count = pipe.execute()
    return seconds + micros / 1e6, int(count or 0)


def crowd(parts, queue, count):
    answers = parts.api.together([parts.api.member().enter_call(queue) for _ in range(count)], 32, timeout=60)
    assert all(answer.status == 201 for answer in answers)


def leader(parts, queue):
    return parts.redis.get(f"sluice:{{{queue}}}:leader")


def sees_no_renewal(parts, queue):
    """The leader renews each tick, 200 ms here: only a stopped one lets its lock run down below that."""
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        if parts.redis.pttl(f"sluice:{{{queue}}}:leader") < 500:
            return True
    return False


@pytest.mark.limit(120)
def test_four_schedulers_stay_within_rate_and_burst_over_30_s(parts, api):
    """One of them is stopped and continued in between: the one that leads, so that it sleeps through its lock."""
    rate, burst = 20, 25
    queue = api.queue(ratePerSecond=rate, burst=burst, tickMs=200, maxActive=10000, batchCap=500, pickupSeconds=600)
    crowd(parts, queue, 800)
    schedulers = parts.restart_schedulers(4)
    until(lambda: admitted(parts, queue)[1] > 0, 10)
    history = [admitted(parts, queue)]
    begin = time.monotonic()
    stopped = None
    while time.monotonic() - begin < 30:
        now = time.monotonic() - begin
        if stopped is None and now > 8:
            stopped = parts.leading_pid(queue)
            assert stopped in [process.pid for process in schedulers]
            processes.stop(stopped)
            before = leader(parts, queue)
        if stopped and now > 20 and processes.is_stopped(stopped):
            assert leader(parts, queue) != before, "another leads"
            processes.cont(stopped)
        history.append(admitted(parts, queue))
        threading.Event().wait(0.05)
    assert stopped and not processes.is_stopped(stopped)
    # Between any two looks: never more than the bucket can hold and the time has brought.
    for i in range(0, len(history), 5):
        for at, count in history[i + 1:]:
            assert count - history[i][1] <= burst + rate * (at - history[i][0]) + 1
    total, seconds = history[-1][1] - history[0][1], history[-1][0] - history[0][0]
    assert total >= rate * (seconds - 4), "the others went on while one was stopped"
    numbers = sorted(int(record.split("/")[0]) for record in parts.redis.hvals(f"sluice:{{{queue}}}:places"))
    assert numbers == list(range(1, len(numbers) + 1)), "in order, nobody left out"


def test_a_tick_issues_no_more_than_its_batch(parts, api):
    queue = api.queue(ratePerSecond=10000, burst=10000, tickMs=1000, batchCap=7, maxActive=10000)
    api.act(queue, "pause")
    crowd(parts, queue, 60)
    api.act(queue, "resume")
    looks = []

    def enough():
        looks.append(admitted(parts, queue))
        return looks[-1][1] >= 28
    until(enough, 15, every=0.01)
    steps = [b - a for (_, a), (_, b) in zip(looks, looks[1:]) if b != a]
    assert set(steps) == {7}
    times = [b for (b, count), (_, before) in zip(looks[1:], looks) if count != before]
    assert all(later - earlier > 0.5 for earlier, later in zip(times, times[1:]))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_sigterm_hands_the_lock_over_within_a_tick(parts, api, number):
    """The lock lasts three ticks or longer; the other one does not wait for its end."""
    parts.reconfigure(leader_lock_ms=20000)
    try:
        schedulers = parts.restart_schedulers(2)
        queue = api.queue(ratePerSecond=1, burst=1, tickMs=500)
        pid = until(lambda: parts.leading_pid(queue), 10)
        before = leader(parts, queue)
        leading = next(process for process in schedulers if process.pid == pid)
        begin = time.monotonic()
        assert leading.stop(number, 5) == 0
        until(lambda: leader(parts, queue) not in (None, before), 5)
        assert time.monotonic() - begin < 1.5, "one tick, and what it takes to end"
    finally:
        parts.reconfigure(leader_lock_ms=1000)
        parts.restart_schedulers(1)


@pytest.mark.parametrize("step", ["scheduler.before_promote", "scheduler.promoted"])
def test_kill_9_at_each_step_loses_nobody(parts, api, step):
    queue = api.queue(tickMs=100)
    api.act(queue, "pause")
    members = [api.member() for _ in range(20)]
    for member in members:
        member.enter(queue)
    parts.arm_pause(step)
    api.act(queue, "resume")
    pid = parts.wait_hit(step)
    processes.kill9(pid)
    parts.schedulers = [process for process in parts.schedulers if process.alive()]
    parts.add_scheduler()
    tokens = [member.wait_ready(queue)["entryToken"] for member in members]
    assert len(set(tokens)) == 20
    assert api.stats(queue)["admitted"] == 20


def test_leader_that_slept_through_its_lock_does_nothing(parts, api):
    """It stops between taking the lead and promoting, another leads meanwhile, then it goes on."""
    queue = api.queue(ratePerSecond=5, burst=5, tickMs=100, maxActive=1000)
    crowd(parts, queue, 100)
    parts.arm_pause("scheduler.before_promote")
    pid = parts.wait_hit("scheduler.before_promote")
    before = admitted(parts, queue)
    parts.add_scheduler()
    until(lambda: admitted(parts, queue)[1] >= before[1] + 10, 15)
    processes.cont(pid)
    until(lambda: admitted(parts, queue)[1] >= before[1] + 20, 15)
    after = admitted(parts, queue)
    assert after[1] - before[1] <= 5 + 5 * (after[0] - before[0]) + 1
    numbers = sorted(int(record.split("/")[0]) for record in parts.redis.hvals(f"sluice:{{{queue}}}:places"))
    assert numbers == list(range(1, len(numbers) + 1))


def test_token_not_picked_up_is_withdrawn(parts, api):
    queue = api.queue(maxActive=1, pickupSeconds=1, tickMs=100)
    away, here = api.member(), api.member()
    away.enter(queue)
    here.enter(queue)
    here.wait_ready(queue)
    back = away.position(queue)
    assert (back["status"], back["rank"]) == ("WAITING", 0)
    assert api.member().enter(queue)["rank"] == 1
    here.leave(queue)
    away.wait_ready(queue)
