"""Polls and entries of one moment are one query to Redis, and get the answers that the scripts would give."""

import random
import threading

import pytest

from lib import processes
from lib.api import ticket_payload
from lib.client import assert_problem
from lib.line import Position
from lib.processes import is_stopped
from lib.scripts import Scripts
from lib.wait import holds_for, until

# Only what is asked together looks up several scores: once for polls, twice for entries.
COMMANDS = ("multi", "exec", "zmscore")


@pytest.fixture
def scripts(parts):
    client = parts.redis_server.client()
    yield Scripts(client)
    client.close()


@pytest.fixture
def ticked(api, scripts):
    """A function that makes a queue that has had its first tick: before, everything goes the general way."""
    def make(**settings):
        queue = api.queue(**{"activation": "hold", **settings})
        until(lambda: scripts.client.hget(f"sluice:{{{queue}}}:state", "rateEma"), 10, "first tick")
        return queue
    return make


def calls(scripts):
    stats = scripts.client.info("commandstats")
    return {name: stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in COMMANDS}


def by_script(scripts, queue, member):
    """What position.lua says of the member, with the ticket in hand."""
    ticket = ticket_payload(member.ticket) if member.ticket else None
    words = ["", "", "", "", ""] if ticket is None else [
        ticket["seq"], ticket["queueSessionId"], ticket["epoch"], ticket["inc"], ticket["lane"]]
    reply = scripts.call("position", queue, member.name, *words, 0)
    return Position(*reply) if reply[0] == "OK" else reply[0]


def same(api, scripts, queue, member):
    """Asks over HTTP and by the script; nothing happens in between. Returns the answer."""
    answer, known = member.position(queue), by_script(scripts, queue, member)
    if isinstance(known, str):
        assert answer.code == known
        return answer
    assert answer.status == 200
    assert (answer["queueState"], answer["status"], answer["currentTotalWaitingCount"], answer["epoch"],
            answer["incarnation"]) == (known.queue_state, known.status, known.waiting, known.epoch, known.incarnation)
    assert answer["rank"] == (known.rank if known.status == "WAITING" else None)
    assert answer["seq"] == (known.seq if known.status != "NOT_ENTERED" else None)
    assert answer["entryToken"] == (known.token or None)
    assert answer.json.get("exactOnly", False) == bool(known.exact_only)
    moves = known.queue_state in ("OPEN", "DRAINING") and known.activation != "hold" and known.rank >= 0
    wait = -(-(known.rank + 1) * 1000 // known.rate_milli) if moves and known.rate_milli else None
    assert answer["estimatedWaitSeconds"] == wait
    return answer


def test_a_poll_of_the_main_line_is_plain_reads(api, scripts, ticked):
    queue = ticked()
    members = [api.member() for _ in range(3)]
    for member in members:
        member.enter(queue)
    before = calls(scripts)
    assert [member.position(queue)["rank"] for member in members] == [0, 1, 2]
    after = calls(scripts)
    assert after["multi"] - before["multi"] == after["exec"] - before["exec"] == 3


@pytest.mark.parametrize("settings, act", [
    ({}, None), ({"activation": "on", "ratePerSecond": 0.01, "burst": 1}, None), ({}, "pause"), ({}, "drain"), ({}, "sold-out"),
    ({"opensAt": "2099-01-01T00:00:00.000Z"}, None), ({"closesAt": "2001-01-01T00:00:00.000Z"}, None),
    ({"pollTiers": [{"upToRank": 1, "seconds": 2}, {"upToRank": None, "seconds": 7}]}, None),
])
def test_answers_are_those_of_the_script(api, scripts, ticked, settings, act):
    queue = ticked()
    members = [api.member() for _ in range(4)]
    for member in members:
        member.enter(queue)
    assert api.admin("PATCH", f"/queues/{queue}", settings).status == 200
    if act:
        api.act(queue, act)
    if settings.get("activation") == "on":
        until(lambda: members[0].position(queue)["status"] == "READY", 10, "the first one admitted")
    answers = [same(api, scripts, queue, member) for member in [*members, api.member()]]
    if "pollTiers" in settings:
        assert [answer["pollingIntervalSeconds"] for answer in answers[:4]] == [2, 2, 7, 7]


def test_tickets_and_visitors(api, scripts, ticked):
    queue = ticked()
    member, other = api.member(), api.member()
    old = member.enter(queue)["queueTicket"]
    other.enter(queue)
    member.ticket = None
    assert same(api, scripts, queue, member)["rank"] == 0
    again = member.enter(queue)
    assert (again.status, again["rank"]) == (200, 0)
    assert same(api, scripts, queue, member)["rank"] == 0
    member.ticket = old
    assert same(api, scripts, queue, member).code == "SESSION_REVOKED"
    api.act(queue, "reset")
    assert_problem(other.position(queue), 409, "QUEUE_RESET")


def asked(client, what):
    """All that Redis is asked while `what` runs, a text for each command."""
    with client.monitor() as monitor:
        what()
        client.echo("that is all")
        commands = []
        for entry in monitor.listen():
            if "that is all" in entry["command"]:
                return commands
            commands.append(entry["command"])


def test_a_ticket_of_before_a_loss_costs_no_more_once_its_place_is_there(parts, api, scripts, ticked):
    """The first poll brings the place back, which takes the script; then it stands as any other, with the ticket of old."""
    queue = ticked(recoverySeconds=0)
    member, other = api.member(), api.member()
    for each in (member, other):
        each.enter(queue)
    old = member.ticket
    parts.forget_everything()
    parts.reconcile_until(lambda: other.position(queue).status == 200)
    until(lambda: scripts.client.hget(f"sluice:{{{queue}}}:state", "rateEma"), 10, "first tick")

    def scripts_for(call):
        commands = asked(scripts.client, call)
        return [name for name in ("position", "enter") if any(scripts.sha(name) in command for command in commands)]
    assert scripts_for(lambda: member.position(queue)) == ["position"]
    # Also where a tick is late a script is asked: on a busy machine not the very first look counts.
    until(lambda: scripts_for(lambda: member.position(queue)) == [], 10, "a poll as any other")

    def enter_with_it():
        member.ticket = old
        member.enter(queue)
    until(lambda: scripts_for(enter_with_it) == [], 10, "an entry as any other")
    assert ticket_payload(old)["inc"] == 1 and ticket_payload(member.ticket)["inc"] == 2
    member.ticket = old
    assert same(api, scripts, queue, member)["rank"] == 0


def test_a_walk(api, scripts, ticked):
    """Members enter, leave and return, are admitted and give places up, other lanes fill: each poll is the script's answer."""
    queue = ticked()
    chance = random.Random(8)
    members = [api.member() for _ in range(12)]
    lane = f"sluice:{{{queue}}}:priority"
    for _ in range(40):
        member, what = chance.choice(members), chance.random()
        if what < 0.45:
            member.enter(queue)
        elif what < 0.6:
            member.leave(queue)
        elif what < 0.7:
            member.ticket = None
        elif what < 0.78:
            assert api.admin("POST", f"/queues/{queue}/members/{member.name}/promote").status in (200, 404, 409)
        elif what < 0.86:
            if not scripts.client.delete(lane):
                scripts.client.zadd(lane, {"somebody": 4096 * 500000})
        same(api, scripts, queue, chance.choice(members))
        same(api, scripts, queue, member)
    scripts.client.delete(lane)


class AtOnce:
    """Requests that reach the workers while they are stopped, so that they are begun in one turn."""

    def __init__(self, parts, api):
        self.parts, self.api = parts, api

    def __call__(self, requests):
        pids = self.parts.workers("queue")
        answers = []
        for pid in pids:
            processes.stop(pid)
        try:
            until(lambda: all(is_stopped(pid) for pid in pids), 5, "stopped workers")
            sender = threading.Thread(target=lambda: answers.extend(self.api.together(requests, len(requests))))
            sender.start()
            # Meanwhile the requests reach the workers; fewer would only make the count below larger.
            holds_for(0.5, lambda: sender.is_alive() and not answers, "stopped workers, which answer nothing")
        finally:
            for pid in pids:
                processes.cont(pid)
        sender.join(30)
        return answers


def test_many_at_once_cost_few_questions(parts, api, scripts, ticked):
    """How many of a crowd reach a worker in one turn depends on the machine: one crowd out of several is enough."""
    queue = ticked()
    at_once = AtOnce(parts, api)
    members = [api.member() for _ in range(60)]
    entered = at_once([member.enter_call(queue) for member in members])
    assert [answer.status for answer in entered] == [201] * 60
    assert sorted(answer["rank"] for answer in entered) == list(range(60))
    assert sorted(ticket_payload(answer["queueTicket"])["seq"] for answer in entered) == list(range(1, 61))
    for member, answer in zip(members, entered):
        member.ticket = answer["queueTicket"]

    def questions(requests):
        before = calls(scripts)
        answers = at_once(requests)
        assert [answer["rank"] for answer in answers] == [answer["rank"] for answer in entered]
        return calls(scripts)["zmscore"] - before["zmscore"]
    for requests in ([member.position_call(queue) for member in members], [member.enter_call(queue) for member in members]):
        until(lambda crowd=requests: 1 <= questions(crowd) <= 30, 25, "a crowd that was asked about together")


def test_an_entry_twice_at_once_is_one_place(parts, api, scripts, ticked):
    queue = ticked()
    at_once = AtOnce(parts, api)
    members = [api.member() for _ in range(8)]
    answers = at_once([member.enter_call(queue) for member in members for _ in range(4)])
    assert sorted(answer.status for answer in answers) == [200] * 24 + [201] * 8
    assert {answer["rank"] for answer in answers} == set(range(8))
    assert api.state(queue)["waiting"] == 8


def test_without_redis_polls_and_entries_are_refused(parts, api, ticked):
    queue = ticked()
    member, late = api.member(), api.member()
    member.enter(queue)
    parts.redis_server.kill()
    try:
        for answer in api.together([member.position_call(queue), late.enter_call(queue), member.position_call(queue)]):
            assert_problem(answer, 503, "ADMISSION_UNAVAILABLE")
    finally:
        parts.start_redis()
    assert until(lambda: member.position(queue).status == 200, 15, "polls answered again")
