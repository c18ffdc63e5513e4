"""queue_publish: versions, reset, deletion; sold_out: change numbers."""

import pytest

from lib.line import drain


def test_older_version_changes_nothing(line):
    assert line.publish(ratePerSecond=7, version=10) == "PUBLISHED"
    assert line.publish(ratePerSecond=8, version=10) == "OLDER"
    assert line.publish(ratePerSecond=9, version=3) == "OLDER"
    assert line.redis.hget(line.key("settings"), "ratePerSecond") == "7"
    assert line.publish(ratePerSecond=9, version=11) == "PUBLISHED"
    assert line.redis.hget(line.key("settings"), "ratePerSecond") == "9"


@pytest.mark.parametrize("deleted", [0, 1])
def test_a_queue_that_redis_does_not_have_is_made_known_after_an_announcement_only(line, deleted):
    """Announced in this memory, by this very publication: it may have come to a standstill before a loss of Redis."""
    name = line.announce()
    line.redis.flushall()
    for announced in ("", name):
        assert line.publish(deleted=deleted, announced=announced) == "NOT_FOUND"
    assert not line.redis.keys("*")
    other = line.announce()
    assert line.publish(deleted=deleted, announced=name) == "NOT_FOUND"
    assert line.publish(deleted=deleted, announced=other) == "PUBLISHED"
    assert line.redis.hget(line.key("state"), "announced") is None


def test_an_announcement_that_another_publication_overtakes_is_removed(line):
    assert line.publish(deleted=1) == "PUBLISHED"
    name = line.announce()
    line.version -= 1
    assert line.publish(announced="another") == "OLDER"
    assert line.redis.hget(line.key("state"), "announced") == name
    line.version -= 1
    assert line.publish(announced=name) == "OLDER"
    assert not line.redis.exists(line.key("state"))


def test_a_queue_that_redis_has_is_deleted_and_made_again_without_one(line):
    line.enter("m")
    assert line.publish(deleted=1, announced="") == "PUBLISHED"
    line.epoch = 2
    assert line.publish(deleted=0, announced="") == "PUBLISHED"
    assert line.enter("m").seq == 1


def test_settings_that_are_gone_are_gone(line):
    line.redis.hset(line.key("settings"), "leftover", 1)
    line.publish()
    assert line.redis.hget(line.key("settings"), "leftover") is None


def test_what_a_later_release_has_published_stays(line):
    """A host that does not know a setting erases it not, however often it publishes; who knows it may take it away."""
    settings = line.key("settings")
    assert line.publish(knows=30, novelty="altcha") == "PUBLISHED"
    del line.settings["novelty"]
    for rate in (3, 4):
        assert line.publish(ratePerSecond=rate) == "PUBLISHED"
        assert line.redis.hmget(settings, "ratePerSecond", "novelty") == [str(rate), "altcha"]
    assert line.publish(knows=31) == "PUBLISHED"
    assert line.redis.hget(settings, "novelty") is None
    assert line.publish(knows=31, novelty="altcha", deleted=1) == "PUBLISHED"
    del line.settings["novelty"]
    assert line.publish(deleted=0) == "PUBLISHED"
    assert line.redis.hget(settings, "novelty") is None, "another queue of that name"


def test_whoever_knows_more_settings_says_the_same_version_once_more(line):
    assert line.publish(version=10) == "PUBLISHED"
    for intent in ("create", "recover"):
        assert line.publish(version=10, knows=30, intent=intent, novelty="altcha") == "OLDER"
    assert line.publish(version=9, knows=30, intent="change", novelty="altcha") == "OLDER"
    assert line.publish(version=10, knows=30, intent="change", novelty="altcha") == "PUBLISHED"
    assert line.redis.hget(line.key("settings"), "novelty") == "altcha"
    assert line.publish(version=10, knows=30, intent="change") == "OLDER", "once"
    # The release of before knew nothing of all this, and left no word of it.
    line.redis.hdel(line.key("settings"), "publisherKnew", "mostKnown", "novelty")
    assert line.publish(version=10, knows=30, intent="change") == "PUBLISHED"
    assert line.redis.hget(line.key("settings"), "novelty") == "altcha"


def test_publishing_settings_touches_nobody(line):
    for i in range(20):
        line.enter(f"m{i}")
    line.promote(5)
    before = {name: line.redis.dump(line.key(name)) for name in ("waiting", "places", "ready", "pickup", "state")}
    line.publish(maxActive=10)
    assert {name: line.redis.dump(line.key(name)) for name in before} == before


def test_new_queue_starts_with_a_full_bucket(make_line):
    line = make_line(ratePerSecond=1, burst=30)
    for i in range(50):
        line.enter(f"m{i}")
    assert line.promote().admitted == 30


@pytest.fixture
def full(make_line):
    """A queue with somebody in every state."""
    line = make_line(ratePerSecond=100000, burst=100000, pickupSeconds=10, releaseOn="payment")
    line.tickets = {}
    for member in ("away", "ready", "claimed", "spent", "waiting"):
        line.tickets[member] = line.enter(member).ticket
    line.tokens = drain(line, ["away", "ready", "claimed", "spent"], count=4)
    for member in ("ready", "claimed", "spent"):
        line.position(member)
    line.advance(10_001)
    line.promote(0)
    line.claim("claimed", line.tokens["claimed"], claim="c1")
    line.claim("spent", line.tokens["spent"], claim="c2")
    line.consume("spent", line.tokens["spent"], keep_place=1)
    line.enter("gone")
    line.leave("gone")
    line.check()
    return line


def test_reset_empties_the_line_and_starts_numbers_anew(full):
    line = full
    line.epoch = 2
    assert line.publish() == "PUBLISHED"
    for member, ticket in line.tickets.items():
        assert line.position(member, ticket).code == "QUEUE_RESET"
        assert line.position(member).status == "NOT_ENTERED"
        assert line.leave(member, ticket) == "NOT_THERE"
    left = {key.rpartition(":")[2] for key in line.redis.keys("sluice:{%s}:*" % line.queue)}
    assert left == {"settings", "state", "leader", "unpaid", "tombstones", "tombstoneUntil"}, "what orders left behind"
    assert line.claim("ready", line.tokens["ready"]) == ["ENTRY_TOKEN_INVALID"]
    assert line.consume("claimed", line.tokens["claimed"], order="o_late") == "ALREADY"
    assert line.release("claimed", line.tokens["claimed"], claim="c1") == "NOT_CLAIMED"
    first = line.enter("waiting", line.tickets["waiting"])
    assert (first.code, first.seq, first.rank, first.epoch) == ("ENTERED", 1, 0, 2)
    assert line.enter("ready").seq == 2
    line.check()


def test_reset_gives_no_second_burst(make_line):
    line = make_line(ratePerSecond=1, burst=30)
    for i in range(40):
        line.enter(f"m{i}")
    assert line.promote().admitted == 30
    line.epoch = 2
    line.publish()
    for i in range(40):
        line.enter(f"m{i}")
    assert line.promote().admitted <= 1


def test_deleted_queue_is_empty_and_may_be_made_again(full):
    line = full
    line.publish(deleted=1)
    left = {key.rpartition(":")[2] for key in line.redis.keys("sluice:{%s}:*" % line.queue)}
    assert left == {"settings", "leader"}
    assert line.position("waiting", line.tickets["waiting"]).code == "NOT_FOUND"
    line.epoch = 2
    line.publish(deleted=0)
    assert line.position("waiting", line.tickets["waiting"]).code == "QUEUE_RESET"
    assert line.enter("waiting").seq == 1


def sold_out(line, change, flag):
    return line.call("sold_out", change=change, soldOut=flag, due=0, withEvents=0)


def test_sold_out_by_change_number(line):
    """The word that was found later wins, in whatever order the two arrive."""
    line.enter("m")
    assert sold_out(line, 5, 1) == ["SET"]
    assert line.position("m").queue_state == "SOLD_OUT"
    assert line.position("m").rank == 0, "those who wait keep their numbers"
    assert line.enter("n").code == "SOLD_OUT"
    assert line.promote().admitted == 0
    assert sold_out(line, 5, 0) == ["OLDER", 5]
    assert sold_out(line, 4, 0) == ["OLDER", 5]
    assert line.position("m").queue_state == "SOLD_OUT"
    assert sold_out(line, 6, 0) == ["SET"]
    assert line.position("m").queue_state == "OPEN"
    assert sold_out(line, 5, 1) == ["OLDER", 6]
    assert line.promote().admitted == 1


def test_operator_s_sold_out_is_not_undone_by_stock(line):
    line.publish(operatorState="SOLD_OUT")
    sold_out(line, 1, 1)
    sold_out(line, 2, 0)
    assert line.enter("m").code == "SOLD_OUT"
    line.publish(operatorState="OPEN")
    assert line.enter("m").code == "ENTERED"


def test_state_by_settings_and_clock(line):
    def state(**settings):
        line.publish(**{"operatorState": "OPEN", "opensAt": "", "closesAt": "", **settings})
        return line.call("queue_state")[1]
    assert state() == "OPEN"
    assert state(operatorState="PAUSED") == "PAUSED"
    assert state(operatorState="DRAINING") == "DRAINING"
    assert state(opensAt=4_000_000_000_000) == "PRE_OPEN"
    assert state(opensAt=1) == "OPEN"
    assert state(closesAt=1) == "CLOSED"
    assert state(closesAt=4_000_000_000_000) == "OPEN"
    assert state(operatorState="SOLD_OUT", opensAt=4_000_000_000_000) == "SOLD_OUT"
    assert state(operatorState="PAUSED", closesAt=1) == "CLOSED"
