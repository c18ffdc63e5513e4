"""queue_lock: an empty queue stays empty until a later version is published."""

import pytest

from lib.line import drain

FAST = {"ratePerSecond": 100000, "burst": 100000, "maxActive": 100000}


def lock(line, scope="all", version=None):
    return line.call("queue_lock", line.version if version is None else version, scope)


@pytest.mark.parametrize("settings", [{}, {"admitWhenIdle": 1, **FAST}, {"maxWaiting": 5}, {"entryCaptcha": "altcha"},
                                      {"mode": "lottery", "opensAt": 4102444800000, "lotterySecret": "s"}])
def test_nobody_enters_a_locked_queue(make_line, settings):
    line = make_line(**settings)
    line.add_codes("invite", "come-in")
    line.redis.hset(line.key("state"), "rateEma", 50)
    assert lock(line) == ["OK"]
    for more in ({}, {"code": "come-in"}, {"mode": "stay"}):
        assert line.enter("m", **more).code == "QUEUE_FULL"
    assert line.enter("m", mode="at_once").code == "NOT_THERE"
    together = line.call("enter_together", 0, "m", "")
    assert together[1] == 0 or together[10] == -1
    assert line.position("m").status == "NOT_ENTERED"
    assert line.code("come-in") == ("invite", 1)
    assert line.counter("seq") == 0
    assert line.publish(entryCaptcha="none", intent="change") == "PUBLISHED"
    assert line.enter("m").code == "ENTERED"


def test_a_queue_with_somebody_in_it_is_not_locked(make_line):
    line = make_line(pickupSeconds=10, releaseOn="payment", **FAST)
    for member in ("away", "ready", "claimed", "spent", "waiting"):
        line.enter(member)
    tokens = drain(line, ["away", "ready", "claimed", "spent"], count=4)
    for member in ("ready", "claimed", "spent"):
        line.position(member)
    line.advance(10_001)
    line.promote(0)
    line.claim("claimed", tokens["claimed"], claim="c1")
    line.claim("spent", tokens["spent"], claim="c2")
    line.consume("spent", tokens["spent"], keep_place=1)
    for scope in ("all", "line"):
        assert lock(line, scope) == ["QUEUE_BUSY", 1, 1, 1, 1, 1, 0]
    assert line.enter("another").code == "ENTERED"
    for member in ("another", "waiting", "away"):
        assert line.leave(member) == "LEFT"
    assert lock(line) == ["QUEUE_BUSY", 0, 0, 1, 1, 1, 0]
    assert line.enter("another").code == "ENTERED"
    assert line.leave("another") == "LEFT"
    assert lock(line, "line") == ["OK"]
    assert line.enter("another").code == "QUEUE_FULL"
    assert line.position("ready").status == "READY"


def test_a_token_that_was_not_picked_up_may_be_a_place_in_line_again(make_line):
    line = make_line(pickupSeconds=10, **FAST)
    for member in ("seen", "unseen"):
        line.enter(member)
    line.promote()
    line.position("seen")
    assert lock(line, "line") == ["QUEUE_BUSY", 0, 0, 2, 0, 0, 1]
    line.advance(10_001)
    line.promote(0)
    assert line.position("unseen").status == "WAITING"
    assert line.leave("unseen") == "LEFT"
    assert lock(line, "line") == ["OK"]


def test_a_queue_is_locked_on_one_version(line):
    assert lock(line, version=line.version + 1) == ["OLDER"]
    assert line.publish() == "PUBLISHED"
    assert lock(line, version=line.version - 1) == ["OLDER"]
    assert line.enter("m").code == "ENTERED"
    line.leave("m")
    assert lock(line) == ["OK"]
    assert lock(line) == ["OK"], "again"
    assert line.publish(version=line.version, intent="change") == "OLDER"
    assert line.publish(version=line.version, knows=30, intent="change", novelty="altcha") == "OLDER", "more of the same version"
    assert line.enter("m").code == "QUEUE_FULL"
    assert line.publish(intent="change", knows=20) == "PUBLISHED", "by a release that knows nothing of locks"
    assert line.enter("m").code == "ENTERED"
    assert line.publish(version=line.version, knows=30, intent="change", novelty="altcha") == "PUBLISHED"


def test_a_locked_queue_seats_nobody_again(make_line):
    """Who was in line before a loss is neither seated nor forgotten while the queue is locked."""
    line = make_line(**FAST)
    ticket = line.enter("m").ticket
    line.redis.flushall()
    line.incarnation += 1
    assert line.prepare() == "LOADED"
    assert line.publish(seq_floor=1000, intent="recover") == "PUBLISHED"
    assert lock(line) == ["OK"]
    assert line.position("m", ticket).code == "NOT_FOUND"
    assert line.enter("m", ticket).code == "NOT_FOUND"
    assert line.publish(intent="change") == "PUBLISHED"
    back = line.position("m", ticket)
    assert (back.status, back.seq) == ("WAITING", ticket.seq)


def test_a_locked_queue_gives_no_place_to_a_pass_or_by_an_operator(make_line):
    line = make_line(identity="visitor", **FAST)
    line.enter("v", visitor=True)
    line.promote()
    passed = line.gate("v", visitor=True)
    line.redis.flushall()
    line.incarnation += 1
    assert line.prepare() == "LOADED"
    assert line.publish(seq_floor=1000, intent="recover") == "PUBLISHED"
    assert lock(line) == ["OK"]
    assert line.gate("v", passed, visitor=True) == "WAIT"
    assert line.call("member_admit", "w", "t" * 43, "a" * 43) == ["NO_ROOM"]
    assert lock(line) == ["OK"], "it is still empty"
    assert line.publish(intent="change") == "PUBLISHED"
    assert line.gate("v", passed, visitor=True).seq == passed.seq
    assert line.call("member_admit", "w", "t" * 43, "a" * 43) == ["ADMITTED"]
