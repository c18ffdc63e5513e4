"""A queue where each new place costs a proof of work."""

import pytest

from lib.line import Position, Refusal


@pytest.fixture
def guarded(timed):
    def make(**settings):
        line = timed(**{"entryCaptcha": "altcha", **settings})
        line.promote()
        return line
    return make


def refused(answer):
    return isinstance(answer, Refusal) and answer.code == "CAPTCHA_FAILED"


def test_a_new_place_costs_a_proof_and_each_proof_counts_once(guarded):
    line = guarded(ratePerSecond=0)
    assert refused(line.enter("a")) and line.counter("seq") == 0
    assert line.enter("a", proof="p1").seq == 1
    assert refused(line.enter("b", proof="p1")) and line.counter("seq") == 1
    assert line.enter("b", proof="p2").seq == 2
    line.check()


def test_who_has_a_place_needs_none(guarded, clock):
    line = guarded(ratePerSecond=0)
    ticket = line.enter("a", proof="p1")
    for answer in (line.enter("a"), line.enter("a", ticket=ticket), line.enter("a", mode="stay")):
        assert isinstance(answer, Position) and (answer.code, answer.seq) == ("ALREADY", 1)
    line.publish(ratePerSecond=1000)
    clock.pass_ms(1000)
    line.promote()
    assert line.enter("a").status == "READY"
    assert line.leave("a") == "LEFT"
    assert refused(line.enter("a", proof="p1")), "a new place is a new proof"
    assert line.enter("a", proof="p2").code == "ENTERED"


def test_a_proof_is_not_spent_where_nobody_gets_in(guarded):
    line = guarded(ratePerSecond=0, maxWaiting=1)
    assert line.enter("a", proof="p1").code == "ENTERED"
    assert line.enter("b", proof="p2").code == "QUEUE_FULL"
    line.publish(operatorState="SOLD_OUT")
    assert line.enter("b", proof="p2").code == "SOLD_OUT"
    line.publish(operatorState="OPEN", maxWaiting=2)
    assert line.enter("b", proof="p2").code == "ENTERED"


def test_nobody_is_let_in_at_once_without_one(guarded):
    line = guarded(admitWhenIdle=1)
    assert line.enter("a", mode="at_once").code == "NOT_THERE"
    assert refused(line.enter("a")) and line.counter("seq") == 0
    assert line.enter("a", proof="p1").status == "READY"


def test_proofs_are_forgotten_a_few_at_a_time(guarded, clock):
    line = guarded(ratePerSecond=0)
    for i in range(6):
        line.enter(f"m{i}", proof=f"p{i}")
    assert line.redis.zcard(line.key("proofs")) == 6
    assert 350_000 < line.redis.pttl(line.key("proofs")) <= 360_000
    clock.pass_ms(359_000)
    assert refused(line.enter("other", proof="p0")), "longer than it could be sent"
    clock.pass_ms(2_000)
    line.enter("m6", proof="p6")
    assert line.redis.zcard(line.key("proofs")) == 3
    line.enter("m7", proof="p7")
    assert line.redis.zrange(line.key("proofs"), 0, -1) == ["p6", "p7"]


def test_switched_off_it_asks_nothing_and_keeps_nothing(timed):
    line = timed(entryCaptcha="none", ratePerSecond=0)
    assert line.enter("a", proof="p1").code == "ENTERED"
    line.publish(entryCaptcha="altcha")
    assert refused(line.enter("b"))
    line.publish(entryCaptcha="none")
    assert line.enter("b").code == "ENTERED" and not line.redis.exists(line.key("proofs"))
