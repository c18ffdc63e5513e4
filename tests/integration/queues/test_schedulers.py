"""Any number of schedulers: one rate, nobody lost, and a quick hand-over."""

import signal
import threading
import time

import pytest

from lib import logs, processes
from lib.parts import SETTINGS
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


@pytest.mark.limit(120)
def test_four_schedulers_stay_within_rate_and_burst(parts, api):
    """One of them is stopped and continued in between: the one that leads, so that it sleeps through its lock."""
    rate, burst = 20, 25
    queue = api.queue(ratePerSecond=rate, burst=burst, tickMs=200, maxActive=10000, batchCap=500, pickupSeconds=600)
    crowd(parts, queue, 300)
    schedulers = parts.restart_schedulers(4)
    until(lambda: admitted(parts, queue)[1] > 0, 10)
    history = [admitted(parts, queue)]
    begin = time.monotonic()
    stopped = None
    while time.monotonic() - begin < 10:
        now = time.monotonic() - begin
        if stopped is None and now > 3:
            stopped = parts.leading_pid(queue)
            assert stopped in [process.pid for process in schedulers]
            processes.stop(stopped)
            before = leader(parts, queue)
        if stopped and now > 7 and processes.is_stopped(stopped):
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


def fill(parts, queue, count):
    """A line of `count` members by the shortest way."""
    key = f"sluice:{{{queue}}}"
    with parts.redis.pipeline(transaction=False) as pipe:
        for first in range(1, count + 1, 5000):
            pipe.zadd(f"{key}:waiting", {f"m{i}": i * 4096 for i in range(first, min(first + 5000, count + 1))})
        pipe.hset(f"{key}:state", "seq", count)
        pipe.execute()


def numbers_let_in(parts, queue):
    return sorted(int(record.split("/")[0]) for record in parts.redis.hvals(f"sluice:{{{queue}}}:places"))


@pytest.mark.limit(60)
@pytest.mark.parametrize("schedulers, tick_ms", [(1, 1000), (4, 500)])
def test_a_rate_beyond_what_one_call_lets_in_is_reached_and_never_exceeded(parts, api, schedulers, tick_ms):
    """A tick takes as many calls as it needs; counted by Redis's own time, between any two looks."""
    rate, burst = 3000, 6000
    queue = api.queue(ratePerSecond=rate, burst=burst, tickMs=tick_ms, maxActive=1_000_000, pickupSeconds=600)
    api.act(queue, "pause")
    fill(parts, queue, 40_000)
    parts.restart_schedulers(schedulers)
    api.act(queue, "resume")
    until(lambda: admitted(parts, queue)[1] >= burst, 20, "what was saved up is admitted", every=0.01)
    history = [admitted(parts, queue)]

    def reached():
        """In the time since the first look. What a tick of a busy machine was late for, the next one makes good."""
        threading.Event().wait(0.02)
        history.append(admitted(parts, queue))
        seconds = history[-1][0] - history[0][0]
        return seconds >= 5 and history[-1][1] - history[0][1] >= rate * (seconds - 2 * tick_ms / 1000)
    until(reached, 9, "the rate")
    for i, (since, before) in enumerate(history):
        for at, count in history[i + 1:]:
            assert count - before <= burst + rate * (at - since) + 1
    total = history[-1][1] - history[0][1]
    api.act(queue, "pause")
    until(lambda: api.stats(queue)["state"] == "PAUSED", 5)
    numbers = numbers_let_in(parts, queue)
    assert len(numbers) >= burst + total and numbers == list(range(1, len(numbers) + 1)), "in order, nobody left out"


def test_a_call_lets_in_no_more_than_its_batch_and_the_tick_goes_on(parts, api):
    queue = api.queue(ratePerSecond=10, burst=10000, tickMs=40000, batchCap=7, maxActive=10000)
    api.act(queue, "pause")
    fill(parts, queue, 60)
    until(lambda: parts.redis.hget(f"sluice:{{{queue}}}:state", "tickAt"), 10, "the first tick, which lets nobody in")
    parts.arm_pause("scheduler.between_calls")
    api.act(queue, "resume")
    api.admin("PATCH", f"/queues/{queue}", {"tickMs": 30000})  # a shorter tick comes at once
    pid = parts.wait_hit("scheduler.between_calls")
    assert admitted(parts, queue)[1] == 7
    tick = parts.redis.hget(f"sluice:{{{queue}}}:state", "tickAt")
    processes.cont(pid)
    until(lambda: admitted(parts, queue)[1] == 60, 10)
    assert parts.redis.hget(f"sluice:{{{queue}}}:state", "tickAt") == tick, "all in one tick"
    assert numbers_let_in(parts, queue) == list(range(1, 61))


def test_kill_9_between_two_calls_of_a_tick_loses_nobody(parts, api):
    queue = api.queue(ratePerSecond=1000, burst=1000, tickMs=200, batchCap=7, maxActive=1000)
    api.act(queue, "pause")
    members = [api.member() for _ in range(30)]
    for member in members:
        member.enter(queue)
    parts.arm_pause("scheduler.between_calls")
    api.act(queue, "resume")
    pid = parts.wait_hit("scheduler.between_calls")
    assert admitted(parts, queue)[1] == 7
    processes.kill9(pid)
    parts.schedulers = [process for process in parts.schedulers if process.alive()]
    parts.add_scheduler()
    tokens = [member.wait_ready(queue)["entryToken"] for member in members]
    assert len(set(tokens)) == 30
    assert api.stats(queue)["admitted"] == 30
    assert numbers_let_in(parts, queue) == list(range(1, 31))


def test_a_leader_that_lost_its_lock_between_two_calls_does_nothing(parts, api):
    queue = api.queue(ratePerSecond=0.001, burst=50, tickMs=100, batchCap=7, maxActive=1000)
    api.act(queue, "pause")
    fill(parts, queue, 100)
    parts.arm_pause("scheduler.between_calls")
    api.act(queue, "resume")
    pid = parts.wait_hit("scheduler.between_calls")
    parts.add_scheduler()
    until(lambda: admitted(parts, queue)[1] == 50, 10, "another one leads and goes on")
    processes.cont(pid)
    ticks = parts.redis.hget(f"sluice:{{{queue}}}:state", "tickAt")
    until(lambda: int(parts.redis.hget(f"sluice:{{{queue}}}:state", "tickAt")) > int(ticks) + 500, 10, "ticks go on")
    assert admitted(parts, queue)[1] == 50
    assert numbers_let_in(parts, queue) == list(range(1, 51))


def test_a_queue_that_lets_in_without_end_keeps_no_other_one_waiting(parts, api):
    """Of two queues of one scheduler one has more to let in than any time is enough for."""
    parts.restart_schedulers(1)
    greedy = api.queue(ratePerSecond=100000, burst=10000000, tickMs=1000, batchCap=10, maxActive=1_000_000)
    modest = api.queue(ratePerSecond=100, burst=100, tickMs=100, maxActive=1_000_000)
    for queue in (greedy, modest):
        api.act(queue, "pause")
    fill(parts, greedy, 100_000)
    fill(parts, modest, 100)
    api.act(greedy, "resume")
    until(lambda: admitted(parts, greedy)[1] > 0, 10)
    api.act(modest, "resume")
    until(lambda: admitted(parts, modest)[1] == 100, 10, every=0.01)
    assert admitted(parts, greedy)[1] < 100_000, "they went on side by side"


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
        assert time.monotonic() - begin < 10, "one tick, and what it takes to end; not what is left of the lock"
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


@pytest.fixture
def patient(parts):
    """Schedulers that take a pool's beat of a minute ago for good: one that sleeps has read it before."""
    parts.reconfigure(order_pool_silence_ms=60_000)
    parts.restart_schedulers(1)
    yield
    parts.reconfigure(order_pool_silence_ms=SETTINGS["order_pool_silence_ms"])
    parts.restart_schedulers(1)


def test_a_leader_whose_lock_another_holds_promotes_nobody_although_the_bucket_is_full(parts, api, patient):
    """Only the lock can stop it: rate, places and line would let it promote. The new leader is stopped, so nobody else acts."""
    queue = api.queue(ratePerSecond=0.001, burst=50, tickMs=100, maxActive=1000)
    fill(parts, queue, 100)
    state, lock = f"sluice:{{{queue}}}:state", f"sluice:{{{queue}}}:leader"
    until(lambda: admitted(parts, queue)[1] == 50, 10, "what the bucket held from the start")
    parts.arm_pause("scheduler.before_promote")
    asleep = parts.wait_hit("scheduler.before_promote")
    other = parts.add_scheduler().pid
    until(lambda: parts.leading_pid(queue) == other, 15, "another leads")
    processes.stop(other)
    parts.redis.set(lock, until(lambda: leader(parts, queue), 5), px=600_000)
    parts.redis.hset(state, "bucket", 50)
    before = parts.redis.hmget(state, "admitted", "tickAt")
    processes.cont(asleep)
    until(lambda: any((event["pid"], event["queue"]) == (asleep, queue) for event in logs.events(parts.logs, "scheduler.following")),
          10, "its call has been answered")
    assert parts.redis.hmget(state, "admitted", "tickAt") == before
    processes.cont(other)
    until(lambda: admitted(parts, queue)[1] == 100, 10, "the leader promotes them")


def test_token_not_picked_up_is_withdrawn(parts, api):
    queue = api.queue(maxActive=1, pickupSeconds=2, tickMs=100)
    away, here = api.member(), api.member()
    away.enter(queue)
    here.enter(queue)
    here.wait_ready(queue)
    back = away.position(queue)
    assert (back["status"], back["rank"]) == ("WAITING", 0)
    assert api.member().enter(queue)["rank"] == 1
    here.leave(queue)
    away.wait_ready(queue)
