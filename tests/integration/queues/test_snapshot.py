"""Polls from far behind the front, answered by the host itself: as Redis would answer, or not at all."""

import random
import signal
import time

import pytest

from lib import processes
from lib.far_back import FarBack
from lib.line import sha256_text
from lib.wait import until, within


@pytest.fixture
def make_far(parts):
    made = []

    def make(count, **settings):
        far = FarBack(parts, **settings)
        made.append(far)
        far.crowd(count)
        far.start_board()
        return far
    yield make
    for far in made:
        far.stop()


def test_says_what_redis_says(make_far):
    """Everybody is asked about both ways, after all kinds of changes, in random order."""
    far = make_far(420, pollTiers=[{"upToRank": 200, "seconds": 2}, {"upToRank": None, "seconds": 7}])
    seed = int(time.time())
    print(f"seed {seed}")
    dice = random.Random(seed)
    every = [(member, ticket) for member, ticket in far.tickets.items()]
    names = iter(f"new{i}" for i in range(1000))
    far.line.add_codes("priority", "VIP", uses=100)
    far.wait_for("m400")
    miscounts = far.miscounts()

    def somebody():
        return dice.choice(list(far.tickets))

    def enter():
        name = next(names)
        far.enter(name)
        every.append((name, far.tickets[name]))

    def take_over():
        far.enter(name := somebody())
        every.append((name, far.tickets[name]))

    def leave():
        far.line.leave(somebody())

    def let_in():
        far.api.admin("PATCH", f"/queues/{far.queue}", {"activation": "on"})
        time.sleep(dice.uniform(0, 1.5))
        far.api.admin("PATCH", f"/queues/{far.queue}", {"activation": "hold"})

    steps = {enter: 20, take_over: 12, leave: 20, let_in: 2,
             lambda: far.line.end(somebody()): 10, lambda: far.line.admit(somebody()): 4,
             lambda: far.line.enter(somebody(), code="VIP"): 1,
             lambda: far.api.act(far.queue, dice.choice(("pause", "resume"))): 3,
             lambda: far.api.admin("PATCH", f"/queues/{far.queue}", {"ratePerSecond": dice.choice((1, 2, 3))}): 2}
    for _ in range(7):
        for step in dice.choices(list(steps), list(steps.values()), k=14):
            step()
        answers = []

        def answered_by_the_host():
            """All that is asked about; a board that is late for a second leaves them to Redis."""
            before = far.count("snapshot")
            answers[:] = far.agree([ticket for _, ticket in every])
            return far.count("snapshot") - before > 150
        until(answered_by_the_host, 5, "most of those far back never reach Redis")
        kinds = {answer["code"] if answer.status != 200 else answer["status"] for answer in answers}
        assert "WAITING" in kinds
    assert far.miscounts() == miscounts
    far.line.check_marks()
    far.api.act(far.queue, "reset")
    assert {answer["code"] for answer in far.agree([ticket for _, ticket in every[:30]])} == {"QUEUE_RESET"}


def test_redis_is_not_asked(make_far, parts):
    far = make_far(400)
    far.wait_for("m390")

    def sources():
        """Of 250 that are far back."""
        before, asked = far.count("snapshot"), far.count("redis")
        far.ask(far.far, [far.tickets[f"m{i}"] for i in range(150, 400)])
        return far.count("snapshot") - before, far.count("redis") - asked
    until(lambda: sources() == (250, 0), 5, "the host knows all of them")
    near = far.count("redis")
    far.ask(far.far, [far.tickets[f"m{i}"] for i in range(50)])
    assert far.count("redis") - near == 50, "near the front, and nearer than rate and burst may let in at once"


def test_other_tickets_are_for_redis(make_far):
    far = make_far(400)
    far.wait_for("m390")
    before = far.count("snapshot")
    wrong = {"generation": 1, "epoch": 2, "incarnation": 2, "seq": 450, "lane": "priority"}
    for name, value in wrong.items():
        ticket = far.ticket_of(391)
        ticket = type(ticket)(**{**ticket.__dict__, name: value})
        far.agree([far.sign("m390", ticket)], seconds=1)
    assert far.count("snapshot") == before
    by_login = far.api.member("m390")
    assert far.far_call("GET", "position", Authorization=f"Bearer {by_login.jwt}").json()["rank"] == 390
    assert far.count("snapshot") == before


def test_a_takeover_on_this_host_counts_at_once(make_far):
    far = make_far(400)
    far.wait_for("m390")
    for i in range(300, 390, 5):
        member = far.api.member(f"m{i}")
        assert far.far_call("POST", "entries", Authorization=f"Bearer {member.jwt}").status == 200
        answer = far.one(member.name)
        assert (answer.status, answer["code"]) == (409, "SESSION_REVOKED")


def test_who_leaves_on_this_host_is_out_at_once(make_far):
    far = make_far(400)
    far.wait_for("m390")
    for i in range(300, 390, 5):
        headers = ({"X_Queue_Ticket": far.tickets[f"m{i}"]} if i % 2 else
                   {"Authorization": f"Bearer {far.api.member(f'm{i}').jwt}"})
        assert far.far_call("DELETE", "entries", **headers).status == 204
        assert far.one(f"m{i}")["status"] == "NOT_ENTERED"


@pytest.mark.parametrize("change, seen", [
    (lambda far: far.line.enter("m390"), lambda answer: answer.status == 409),
    (lambda far: far.line.leave("m390"), lambda answer: answer.status == 200 and answer["status"] == "NOT_ENTERED"),
    (lambda far: far.line.admit("m390"), lambda answer: answer.status == 200 and answer["status"] == "READY"),
    (lambda far: far.api.act(far.queue, "pause"), lambda answer: answer["queueState"] == "PAUSED"),
    (lambda far: far.api.act(far.queue, "reset"), lambda answer: answer.status == 409),
])
def test_what_happens_elsewhere_counts_within_a_second(make_far, change, seen):
    far = make_far(400)
    far.wait_for("m390")
    change(far)
    within(1.5, lambda: seen(far.one("m390")), "the change")


def test_an_old_snapshot_is_not_used(make_far):
    far = make_far(400)
    far.wait_for("m390")
    writer = far.board.writers[0]
    processes.stop(writer.pid)
    try:
        far.line.leave("m380")  # as on another host
        within(2.5, lambda: far.source_of("m390") == "redis", "Redis is asked again")
        assert far.one("m390")["rank"] == 389
    finally:
        processes.cont(writer.pid)
    far.wait_for("m390")
    assert far.one("m390")["rank"] == 389


def test_without_redis_nobody_is_made_to_wait_for_long(make_far, parts):
    far = make_far(400)
    far.wait_for("m390")
    parts.redis_server.process.send(signal.SIGSTOP)
    try:
        assert far.one("m390").status == 200
        answer = until(lambda: (it := far.one("m390")).status == 503 and it, 4, "nobody knows any more", every=0.05)
        assert answer["code"] == "ADMISSION_UNAVAILABLE"
    finally:
        parts.redis_server.process.send(signal.SIGCONT)
    far.wait_for("m390", seconds=10)


def test_a_lost_memory_is_noticed(make_far, parts):
    far = make_far(400)
    far.wait_for("m390")
    parts.forget_everything()
    until(lambda: far.one("m390").status == 503, 2, "the queue is not known")
    parts.reconcile()
    # Tickets of before seat their owners again, and only Redis can do that.
    assert far.one("m390")["rank"] == 0
    assert far.source_of("m390") == "redis"


def test_what_does_not_add_up_is_not_shown(make_far):
    """As a release does that keeps no marks."""
    far = make_far(400)
    far.wait_for("m390")
    miscounts = far.miscounts()
    score = far.line.redis.zscore(far.line.key("waiting"), "m300")
    far.line.redis.zrem(far.line.key("waiting"), "m300")
    far.wait_for("m390", "redis")
    assert far.one("m390")["rank"] == 389
    assert far.miscounts() > miscounts
    far.line.redis.zadd(far.line.key("waiting"), {"m300": score})
    far.wait_for("m390")
    assert far.one("m390")["rank"] == 390


def test_more_changes_than_are_kept(make_far):
    far = make_far(2600)
    far.wait_for("m2500")
    miscounts = far.miscounts()
    writer = far.board.writers[0]
    processes.stop(writer.pid)
    try:
        far.leave_all(f"m{i}" for i in range(200, 2400))
    finally:
        processes.cont(writer.pid)
    far.wait_for("m2500")
    far.agree([far.tickets[f"m{i}"] for i in (0, 150, 199, 200, 1000, 2399, 2400, 2500, 2599)])
    assert far.one("m2500")["rank"] == 300
    assert far.miscounts() == miscounts


def test_another_board_takes_over(make_far):
    far = make_far(400)
    far.wait_for("m390")
    second = far.start_board()
    assert until(second.alive, 2)
    far.board.writers[0].kill()
    far.leave_all(["m0"])
    until(lambda: far.source_and_rank("m390") == ("snapshot", 389), 8, "a snapshot by the second")


def test_a_lane_in_front_changes_rate_and_rank(make_far):
    far = make_far(400)
    far.line.add_codes("priority", "VIP", uses=5)
    assert far.line.enter("vip", code="VIP").lane == "priority"
    far.wait_for("m390")
    answer = far.agree([far.tickets["m390"]])[0]
    assert (answer["rank"], answer["currentTotalWaitingCount"]) == (390, 401)
    assert sha256_text("VIP") in far.line.redis.hkeys(far.line.key("codes"))
