"""enter: numbers, repeats, takeover, and who is refused."""

import threading

import pytest

from lib.line import Refusal


def test_first_entry_has_rank_0_and_the_total(line):
    first = line.enter("m")
    assert (first.code, first.status, first.rank, first.waiting, first.seq) == ("ENTERED", "WAITING", 0, 1, 1)
    assert (first.token, first.generation, first.epoch, first.incarnation) == ("", 0, 1, 1)


def test_numbers_run_from_0_without_a_gap(line):
    answers = [line.enter(f"m{i}") for i in range(200)]
    assert [answer.rank for answer in answers] == list(range(200))
    assert [answer.seq for answer in answers] == list(range(1, 201))
    assert answers[-1].waiting == 200
    assert [line.position(f"m{i}").rank for i in range(200)] == list(range(200))
    assert line.counter("entered") == 200


def test_members_at_once_get_distinct_numbers(line, redis_server):
    """Eight connections, fifty members each; no number twice, none left out."""
    from lib.scripts import Scripts
    from lib.line import Line
    seqs, ranks = [], []

    def enter_many(lane):
        client = redis_server.client()
        other = Line(Scripts(client), queue=line.queue)
        for i in range(50):
            answer = other.enter(f"{lane}-{i}")
            seqs.append(answer.seq)
            ranks.append(answer.rank)
        client.close()

    threads = [threading.Thread(target=enter_many, args=(lane,)) for lane in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(seqs) == list(range(1, 401))
    assert sorted(ranks) == list(range(400))


def test_repeat_keeps_rank_and_number(line):
    for i in range(5):
        line.enter(f"m{i}")
    for _ in range(10):
        again = line.enter("m2")
        assert (again.code, again.rank, again.seq, again.waiting) == ("ALREADY", 2, 3, 5)
    assert line.counter("entered") == 5
    line.check()


def test_entering_with_the_current_ticket_is_no_takeover(line):
    first = line.enter("m")
    again = line.enter("m", first.ticket)
    assert (again.code, again.generation) == ("ALREADY", 0)
    assert line.position("m", first.ticket).status == "WAITING"


@pytest.mark.parametrize("where", ["waiting", "ready", "away"])
def test_takeover_revokes_the_older_ticket(line, where):
    first = line.enter("m")
    line.enter("n")
    if where != "waiting":
        line.promote(1)
    if where == "away":
        line.advance(91_000)
        assert line.promote(0).withdrawn == 1
    second = line.enter("m")
    assert (second.code, second.seq, second.generation) == ("ALREADY", 1, 1)
    assert second.status == ("READY" if where == "ready" else "WAITING")
    assert line.position("m", first.ticket).code == "SESSION_REVOKED"
    assert line.leave("m", first.ticket) == "SESSION_REVOKED"
    assert line.position("m", second.ticket).status == second.status
    third = line.enter("m", first.ticket)
    assert third.generation == 2, "a revoked ticket takes over again"
    assert line.position("m", second.ticket).code == "SESSION_REVOKED"
    line.check()


def test_revoked_ticket_changes_nothing(line):
    """Neither does it pick the token up, nor does it bring back whoever is away."""
    first = line.enter("m")
    second = line.enter("m")
    line.promote(1)
    assert line.position("m", first.ticket).code == "SESSION_REVOKED"
    assert line.members("pickup") == ["m"]
    line.advance(91_000)
    line.promote(0)
    assert line.position("m", first.ticket).code == "SESSION_REVOKED"
    assert line.members("away") == ["m"]
    assert line.position("m", second.ticket).status == "WAITING"


def test_takeover_keeps_the_order(line):
    for i in range(10):
        line.enter(f"m{i}")
    for _ in range(50):
        line.enter("m4")
    assert [line.position(f"m{i}").rank for i in range(10)] == list(range(10))
    line.promote(5)
    assert line.members("waiting") == [f"m{i}" for i in range(5, 10)]


def test_generation_wraps_without_touching_the_number(line):
    line.enter("m")
    line.enter("n")
    line.redis.zadd(line.key("waiting"), {"m": 1 * 4096 + 4095})
    again = line.enter("m")
    assert (again.seq, again.generation, again.rank) == (1, 0, 0)


def test_large_numbers_stay_exact(line):
    """The score holds number and generation exactly far beyond any crowd."""
    line.redis.hset(line.key("state"), "seq", 2**40)
    one, two = line.enter("a"), line.enter("b")
    assert (one.seq, two.seq) == (2**40 + 1, 2**40 + 2)
    assert line.enter("a").generation == 1
    assert line.position("a").rank == 0
    line.promote(1)
    assert line.place("a").seq == 2**40 + 1
    assert line.place("a").generation == 1


def test_full_queue_refuses_newcomers_only(make_line):
    line = make_line(maxWaiting=2)
    line.enter("a")
    line.enter("b")
    assert line.enter("c") == Refusal("QUEUE_FULL")
    assert line.enter("a").code == "ALREADY"
    assert line.counter("seq") == 2, "a refusal takes no number"
    line.leave("a")
    assert line.enter("c").seq == 3


@pytest.mark.parametrize("settings, refusal", [
    ({"operatorState": "DRAINING"}, Refusal("QUEUE_CLOSED")),
    ({"operatorState": "SOLD_OUT"}, Refusal("SOLD_OUT", ["gone"])),
    ({"closesAt": 1}, Refusal("QUEUE_CLOSED")),
])
def test_closed_to_newcomers_but_not_to_those_in_line(line, settings, refusal):
    line.enter("old")
    line.publish(**settings)
    assert line.enter("new") == refusal
    assert line.enter("old").rank == 0
    assert line.counter("entered") == 1


@pytest.mark.parametrize("settings, state", [
    ({"operatorState": "PAUSED"}, "PAUSED"),
    ({"opensAt": 4_000_000_000_000}, "PRE_OPEN"),
])
def test_paused_and_pre_open_queues_take_people_in(make_line, settings, state):
    line = make_line(**settings)
    answer = line.enter("m")
    assert (answer.code, answer.queue_state, answer.rank) == ("ENTERED", state, 0)
    assert line.promote().admitted == 0


def test_visitor_only_where_the_queue_wants_visitors(make_line):
    members, visitors = make_line(), make_line(identity="visitor")
    for ask in ("enter", "position"):
        assert getattr(members, ask)("v~1", visitor=True).code == "UNAUTHENTICATED"
    assert members.leave("v~1", visitor=True) == "UNAUTHENTICATED"
    assert members.counter("seq") == 0
    assert visitors.enter("v~1", visitor=True).code == "ENTERED"
    assert visitors.enter("m").rank == 1


def test_unpaid_order_blocks_a_new_entry(make_line):
    line = make_line(releaseOn="payment")
    line.enter("m")
    line.promote(1)
    token = line.place("m").token
    line.claim("m", token)
    assert line.consume("m", token, order="o_1", keep_place=1) == "CONSUMED"
    assert line.enter("m").code == "ALREADY_ACTIVE"
    assert line.call("place_free", member="m", order="o_other") == ["ALREADY"]
    assert line.enter("m").code == "ALREADY_ACTIVE"
    assert line.call("place_free", member="m", order="o_1") == ["FREED"]
    assert line.call("place_free", member="m", order="o_1") == ["ALREADY"]
    assert line.enter("m").code == "ENTERED"


def test_queues_are_independent(make_line):
    """One member in three events: three places."""
    lines = [make_line() for _ in range(3)]
    lines[1].enter("other")
    assert [line.enter("m").rank for line in lines] == [0, 1, 0]
    lines[0].leave("m")
    assert lines[1].position("m").rank == 1
