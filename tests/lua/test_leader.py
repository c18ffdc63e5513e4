"""One leader a queue: taken, renewed, handed over, lost."""

from lib.line import Tick
from lib.wait import until


def test_one_leader_at_a_time(line):
    code, left = line.lead("b")
    assert code == "FOLLOWER" and 0 < left <= 60_000
    assert line.lead("a") == ["LEADER"]
    assert line.call("leader_release", owner="b") == ["NOT_LEADER"]
    assert line.call("leader_release", owner="a") == ["RELEASED"]
    assert line.call("leader_release", owner="a") == ["NOT_LEADER"]
    assert line.lead("b") == ["LEADER"]


def test_renewal_lengthens_the_lease(line):
    line.lead("a", lease_ms=50)
    line.lead("a", lease_ms=60_000)
    assert line.redis.pttl(line.key("leader")) > 50_000


def test_lease_runs_out_by_itself(line):
    line.lead("a", lease_ms=30)
    until(lambda: line.lead("b", lease_ms=60_000) == ["LEADER"], 5)


def test_whoever_does_not_lead_does_nothing(line):
    """A leader that slept through its lock changes not one key."""
    for i in range(20):
        line.enter(f"m{i}")
    line.promote(5)
    line.advance(301_000)
    line.call("leader_release", owner="a")
    line.lead("b")
    before = line.redis.hgetall(line.key("state")), line.members("waiting"), line.members("ready")
    assert line.promote(owner="a") == Tick("NOT_LEADER")
    line.redis.delete(line.key("leader"))
    assert line.promote(owner="a") == Tick("NOT_LEADER")
    assert line.promote(owner="") == Tick("NOT_LEADER")
    assert (line.redis.hgetall(line.key("state")), line.members("waiting"), line.members("ready")) == before
