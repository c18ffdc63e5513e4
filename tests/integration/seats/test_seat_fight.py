"""Three hundred members fight for a hundred seats, in overlapping groups of four from 64 connections: each seat has one
owner, every refusal names what is taken, and nobody ever sees half a hold."""

import random
import threading

import pytest

from lib import processes
from lib.client import assert_problem, new_key
from lib.seats import assert_orders_whole, owners, taken_in_redis
from lib.wait import until

SEATS = [f"A-{number:03}" for number in range(100)]
MEMBERS, CONNECTIONS, GROUP = 300, 64, 4


class Reader:
    """Polls the map and members' own holds all the while, and notes what must not be."""

    def __init__(self, api, show, members):
        self.api, self.show, self.members = api, show, members
        self.maps, self.wrong, self.ends = 0, [], threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self._thread.join(30)

    def _run(self):
        dice = random.Random(1)
        while not self.ends.is_set():
            member = dice.choice(self.members)
            plain, own, mine = self.api.together([
                ("GET", f"/v1/shows/{self.show}/seats", {}, None),
                ("GET", f"/v1/shows/{self.show}/seats", member.headers(), None),
                ("GET", f"/v1/shows/{self.show}/holds/mine", member.headers(), None)])
            if plain.status == own.status == 200 and plain["holdsKnown"] and own["holdsKnown"]:
                self.maps += 1
                self._look(plain, own)
            if mine.status == 200 and len(mine["seats"]) not in (0, GROUP):
                self.wrong.append(("own holds", mine["seats"]))

    def _look(self, plain, own):
        """Groups are four seats side by side, so whatever is taken lies in runs of four, eight, twelve …"""
        taken = "".join("x" if seat["status"] != "AVAILABLE" else " " for seat in plain["seats"])
        runs = [len(run) for run in taken.split()]
        if any(run % GROUP for run in runs):
            self.wrong.append(("map", taken))
        if sum(seat["mine"] for seat in own["seats"]) not in (0, GROUP):
            self.wrong.append(("own map", [seat["id"] for seat in own["seats"] if seat["mine"]]))


def hold_all(api, show, groups):
    """Everybody asks for their group; returns the answers."""
    calls = [member.hold_call(show, *group) for member, group in groups.items()]
    return dict(zip(groups, api.together(calls, CONNECTIONS, timeout=60)))


@pytest.fixture
def fight(api):
    queue = api.queue(maxActive=1000, maxInFlight=1000, burst=1000, claimLeaseSeconds=2)
    show = api.show(queue, SEATS)
    members = api.ready_members(queue, MEMBERS)
    dice = random.Random(7)
    starts = [dice.randrange(len(SEATS) - GROUP + 1) for _ in members]
    groups = {member: SEATS[start:start + GROUP] for member, start in zip(members, starts)}
    return queue, show, groups


@pytest.mark.limit(120)
def test_everybody_at_once(parts, api, fight):
    queue, show, groups = fight
    with Reader(api, show, list(groups)) as reader:
        answers = hold_all(api, show, groups)
        held = {}
        for member, answer in answers.items():
            if answer.status == 201:
                assert sorted(answer["seats"]) == groups[member]
                for seat in groups[member]:
                    assert seat not in held, f"{seat} has two owners"
                    held[seat] = member
            else:
                assert_problem(answer, 409, "SEATS_TAKEN")
                assert answer["taken"] and set(answer["taken"]) <= set(groups[member])
        winners = [member for member, answer in answers.items() if answer.status == 201]
        assert len(winners) >= 13, "no group fits between those that are held"
        for member, answer in answers.items():
            if answer.status != 201:
                assert set(answer["taken"]) <= held.keys(), "nobody gave anything back: what is named is held"
        states = api.seat_states(show)
        assert {seat for seat, state in states.items() if state == "HELD"} == held.keys()
        calls = [call for member in winners for call in (
            member.seat_order_call(queue, show, groups[member]),
            next(iter(groups)).hold_call(show, *groups[member]))]
        ordered = api.together(calls, CONNECTIONS, timeout=60)[::2]
        assert {answer.status for answer in ordered} == {201}
    assert not reader.wrong, reader.wrong[:3]
    assert reader.maps > 2
    has = owners(parts, show)
    assert has == {seat: member.name for seat, member in held.items()}
    until(lambda: taken_in_redis(parts, queue, show) == has, 5, "Redis knows")
    assert_orders_whole(parts, show)


@pytest.mark.limit(180)
def test_the_same_with_everything_breaking(parts, api, fight):
    """Workers are killed, Redis and PostgreSQL are restarted in the middle, while all members continue to hold, order and
    give back."""
    queue, show, groups = fight
    parts.redis.config_set("appendfsync", "always")
    dice = random.Random(3)
    ends = threading.Event()
    keys = {member: new_key() for member in groups}
    wrong, served = [], []

    def served_again(count):
        goal = len(served) + count
        until(lambda: len(served) >= goal, 20, f"{count} more requests that are answered")

    def shopper(some):
        while not ends.is_set():
            calls = []
            for member in dice.sample(some, 12):
                what = dice.random()
                calls.append(member.hold_call(show, *groups[member]) if what < 0.6 else
                             member.seat_order_call(queue, show, groups[member], key=keys[member]) if what < 0.9 else
                             ("DELETE", f"/v1/shows/{show}/holds", member.headers(), None))
            try:
                for answer in api.together(calls, 12, timeout=20):
                    if answer.status not in (200, 201, 204, 401, 409, 503):
                        wrong.append((answer.status, answer.body))
                    elif answer.status != 503:
                        served.append(answer.status)
            except Exception as error:  # pylint: disable=broad-except
                wrong.append(error)

    members = list(groups)
    threads = [threading.Thread(target=shopper, args=(members[i::3],)) for i in range(3)]
    parts.start_reconcile()
    with Reader(api, show, members) as reader:
        for thread in threads:
            thread.start()
        try:
            for _ in range(4):
                served_again(150)
                processes.kill9(dice.choice(parts.workers("order")))
            parts.redis_server.stop()
            parts.start_redis()
            for _ in range(2):
                served_again(150)
                processes.kill9(dice.choice(parts.workers("order")))
            parts.postgres.stop()
            parts.postgres.start()
            served_again(400)
        finally:
            ends.set()
            for thread in threads:
                thread.join(60)
    assert not wrong, wrong[:3]
    assert not reader.wrong, reader.wrong[:3]
    parts.stop_reconcile()
    has = owners(parts, show)
    assert len(has) >= 8, "it went on all the while"
    parts.reconcile_until(lambda: parts.outbox_empty(queue) and taken_in_redis(parts, queue, show) == has, 30)
    assert_orders_whole(parts, show)
    for member, group in groups.items():
        assert sum(has.get(seat) == member.name for seat in group) in (0, GROUP)
    for member in members[:20]:
        assert len(member.my_holds(show)["seats"]) in (0, GROUP)
