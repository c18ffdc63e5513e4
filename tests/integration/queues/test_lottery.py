"""A lottery over HTTP: commitment, draw, places that anybody can compute again, and losses around it."""

import hashlib
from datetime import datetime, timedelta, timezone

import pytest

from lib import processes
from lib.api import ticket_payload
from lib.client import assert_problem
from lib.draw import Draw, list_hash, seed_of
from lib.wait import until


def soon(seconds):
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def document(api, queue):
    answer = api.call("GET", f"/v1/queues/{queue}/lottery")
    assert answer.status == 200, answer.body
    return answer.json


def open_now(api, queue):
    assert api.admin("PATCH", f"/queues/{queue}", {"opensAt": soon(0.2)}).status == 200


@pytest.fixture
def lottery(api):
    def make(**settings):
        return api.queue(mode="lottery", opensAt=soon(3600), **{"activation": "hold", **settings})
    return make


def crowd(api, queue, count):
    members = [api.member() for _ in range(count)]
    for answer, member in zip(api.together([member.enter_call(queue) for member in members], 16), members):
        assert answer.status == 201, answer.body
        member.ticket = answer["queueTicket"]
    return members


def number_of(member):
    return ticket_payload(member.ticket)["seq"]


def test_settings_of_a_lottery(api):
    answer = api.admin("PUT", "/queues/lottery-without-opening", {"mode": "lottery"})
    assert_problem(answer, 400, "INVALID_REQUEST")
    assert answer["pointer"] == "/opensAt"
    queue = api.still_queue()
    assert api.admin("GET", f"/queues/{queue}").json["lotteryCommitment"] is None
    assert_problem(api.call("GET", f"/v1/queues/{queue}/lottery"), 404, "NOT_FOUND")
    changed = api.admin("PATCH", f"/queues/{queue}", {"mode": "lottery", "opensAt": soon(3600)})
    assert changed.status == 200, changed.body
    commitment = changed["lotteryCommitment"]
    assert len(commitment) == 64
    for body in ({"mode": "fifo"}, {"mode": "lottery"}, {"message": "Soon"}):
        answer = api.admin("PATCH", f"/queues/{queue}", body)
        assert (answer.status, answer["lotteryCommitment"]) == (200, commitment), "nobody can try another secret"
    shown = api.admin("GET", f"/queues/{queue}").json
    assert api.admin("PUT", f"/queues/{queue}", shown).json == {**shown, "state": shown["state"]}
    api.act(queue, "reset")
    assert api.admin("GET", f"/queues/{queue}").json["lotteryCommitment"] != commitment


def test_the_mode_stays_while_somebody_is_in_line(api):
    queue = api.still_queue()
    member = api.member()
    member.enter(queue)
    answer = api.admin("PATCH", f"/queues/{queue}", {"mode": "lottery", "opensAt": soon(3600)})
    assert_problem(answer, 409, "QUEUE_BUSY")
    settings = api.admin("GET", f"/queues/{queue}").json
    answer = api.admin("PUT", f"/queues/{queue}", {**settings, "mode": "lottery", "opensAt": soon(3600)})
    assert_problem(answer, 409, "QUEUE_BUSY")
    member.leave(queue)
    assert api.admin("PATCH", f"/queues/{queue}", {"mode": "lottery", "opensAt": soon(3600)}).status == 200


def test_from_commitment_to_the_last_place(parts, api, lottery):
    queue = lottery(ratePerSecond=100000, burst=100000, batchCap=10, maxActive=1000)
    before = document(api, queue)
    assert (before["phase"], before["entrants"], before["seed"], before["secret"]) == ("OPEN", 0, None, None)
    secret = parts.redis.hget(f"sluice:{{{queue}}}:settings", "lotterySecret")
    assert secret not in api.admin("GET", f"/queues/{queue}").body.decode()
    members = sorted(crowd(api, queue, 40), key=number_of)
    assert {(m.position(queue)["rank"], m.position(queue)["estimatedWaitSeconds"]) for m in members[:3]} == {(None, None)}
    assert members[0].position(queue)["currentTotalWaitingCount"] == 40
    assert {ticket_payload(member.ticket)["lane"] for member in members} == {"lottery"}
    for member in members[5:10]:
        member.leave(queue)
    open_now(api, queue)
    until(lambda: api.stats(queue)["state"] == "OPEN", 10, "the opening")
    late = sorted(crowd(api, queue, 3), key=number_of)
    assert {ticket_payload(member.ticket)["lane"] for member in late} == {"main"}
    until(lambda: document(api, queue)["phase"] == "DRAWN", 10, "the draw, which waits for no reconcile")
    drawn = document(api, queue)
    assert (drawn["phase"], drawn["commitment"], drawn["ranges"]) == ("DRAWN", before["commitment"], "1-40")
    assert hashlib.sha256(drawn["secret"].encode()).hexdigest() == before["commitment"]
    assert drawn["seed"] == seed_of(drawn["secret"], queue, drawn["epoch"], drawn["listHash"], drawn["ranges"])
    entrants = api.admin("GET", f"/queues/{queue}/lottery/entrants").json
    assert entrants["next"] is None and len(entrants["entrants"]) == drawn["entrants"] == 40
    assert list_hash(entrants["entrants"]) == drawn["listHash"]
    assert {tuple(line.split()) for line in entrants["entrants"]} == {(str(number_of(m)), m.name) for m in members}
    draw = Draw(drawn["seed"], drawn["ranges"])
    standing = sorted(members[:5] + members[10:], key=lambda member: draw.place(number_of(member)))
    until(lambda: standing[0].position(queue)["rank"] == 0, 10, "ranks")
    assert [member.position(queue)["rank"] for member in standing + late] == list(range(38))
    assert api.admin("PATCH", f"/queues/{queue}", {"mode": "fifo"}).code == "QUEUE_BUSY"
    api.admin("PATCH", f"/queues/{queue}", {"activation": "on", "maxActive": 12})
    until(lambda: api.stats(queue)["ready"] == 12, 10, "twelve let in")
    assert all(member.position(queue)["status"] == "READY" for member in standing[:12])
    assert [member.position(queue)["rank"] for member in standing[12:] + late] == list(range(26))
    assert [row["action"] for row in api.admin("GET", f"/audit?target=queue/{queue}").json["entries"]].count("draw") == 1


def test_the_draw_is_the_same_after_a_loss(parts, api, lottery):
    queue = lottery(recoverySeconds=0)
    members = crowd(api, queue, 25)
    open_now(api, queue)
    until(lambda: document(api, queue)["phase"] == "DRAWN", 10, "the draw")
    drawn = document(api, queue)
    parts.forget_everything()
    parts.reconcile_until(lambda: parts.redis.exists(f"sluice:{{{queue}}}:settings"), seconds=20)
    again = document(api, queue)
    assert {name: again[name] for name in ("phase", "commitment", "seed", "secret", "listHash", "ranges")} == {
        name: drawn[name] for name in ("phase", "commitment", "seed", "secret", "listHash", "ranges")}
    draw = Draw(drawn["seed"], drawn["ranges"])
    by_place = sorted(members, key=lambda member: draw.place(number_of(member)))
    for member in members:
        assert member.position(queue)["status"] == "WAITING"
    assert [member.position(queue)["rank"] for member in by_place] == list(range(25))


def tick_by_tick_until(parts, check):
    """Stops the scheduler after each tick until `check` holds; gives its pid, stopped."""
    pid = None
    for _ in range(100):
        parts.arm_pause("scheduler.promoted")
        if pid:
            processes.cont(pid)
        pid = parts.wait_hit("scheduler.promoted")
        if check():
            return pid
    raise AssertionError("not within 100 ticks")


def test_a_draw_that_was_put_down_is_never_held_again(parts, api, lottery):
    """Redis does not hear that the draw stands: it stands all the same, and comes with the next tick or reconcile."""
    queue = lottery()
    members = crowd(api, queue, 12)
    open_now(api, queue)
    # A further tick would walk off the draw that Redis is not to know.
    scheduler = tick_by_tick_until(parts, lambda: document(api, queue)["phase"] == "DRAWN")
    drawn = document(api, queue)
    assert not parts.postgres.value("SELECT lottery_put_down(%s, 1, %s, '1-9', %s)", queue, "0" * 40, "f" * 64)
    settings = f"sluice:{{{queue}}}:settings"
    parts.redis.hset(settings, mapping={"lotteryDraw": "", "version": int(parts.redis.hget(settings, "version")) - 1})
    parts.redis.hdel(settings, "packed")
    assert document(api, queue)["phase"] != "DRAWN"
    processes.cont(scheduler)
    until(lambda: document(api, queue)["phase"] == "DRAWN", 10, "the draw that stands")
    assert document(api, queue)["seed"] == drawn["seed"]
    assert members[0].position(queue)["rank"] == Draw(drawn["seed"], "1-12").place(number_of(members[0]))
