"""claim, consume, release: once, and never the wrong one."""

import pytest

from lib.line import drain, sha256_text


@pytest.fixture
def line(make_line):
    return make_line(ratePerSecond=100000, burst=100000, maxActive=100000)


def ready(line, member="m"):
    line.enter(member)
    line.promote()
    return line.position(member).token


def test_claim_returns_what_the_order_needs(make_line):
    line = make_line(claimLeaseSeconds=17, releaseOn="payment")
    token = ready(line)
    assert line.claim("m", token) == ["CLAIMED", 17_000, 1, 1, 1, "payment"]
    line.check()


def test_lease_is_never_shorter_than_a_transaction_may_take(make_line):
    line = make_line(claimLeaseSeconds=3)
    token = ready(line)
    assert line.claim("m", token, least_lease_ms=9_000)[1] == 9_000
    line.advance(8_000)
    assert line.call("claims_overdue", most=10) == ["OK"]
    line.advance(1_001)
    assert line.call("claims_overdue", most=10)[1] == "m"
    line.release("m", token)
    assert line.claim("m", token, claim="c2", least_lease_ms=100)[1] == 3_000


def test_one_claim_at_a_time(line):
    token = ready(line)
    answers = [line.claim("m", token, claim=f"c{i}", key=f"k{i}")[0] for i in range(200)]
    assert answers == ["CLAIMED"] + ["ORDER_IN_PROGRESS"] * 199
    assert line.place("m").claim == "c0"
    assert line.claim("m", token, claim="c9", key="k0") == ["ORDER_IN_PROGRESS"], "a twin waits too"


@pytest.mark.parametrize("who, what", [("m", "wrong"), ("n", None), ("stranger", None)])
def test_wrong_tokens_are_all_refused_alike(line, who, what):
    token = ready(line)
    ready(line, "n")
    assert line.claim(who, what or token) == ["ENTRY_TOKEN_INVALID"]
    assert line.claim("m", token)[0] == "CLAIMED"


def test_expired_token(line):
    token = ready(line)
    line.advance(299_000)
    line.promote()
    line.advance(1_001)
    assert line.claim("m", token) == ["ENTRY_TOKEN_INVALID"]


def test_consume_spends_the_token_once(line):
    token = ready(line)
    line.claim("m", token)
    assert line.consume("m", token) == "CONSUMED"
    assert line.consume("m", token) == "ALREADY"
    assert line.counter("consumed") == 1
    assert line.claim("m", token, key="other") == ["ENTRY_TOKEN_INVALID"]
    assert line.check() == {}


def test_replay_is_answered_for_the_same_member_token_and_key_only(line):
    token = ready(line)
    line.claim("m", token, key="k")
    line.consume("m", token, order="o_7", key="k")
    assert line.claim("m", token, key="k") == ["REPLAY", "o_7"]
    assert line.claim("m", token, key="K") == ["ENTRY_TOKEN_INVALID"]
    assert line.claim("m", token, key="") == ["ENTRY_TOKEN_INVALID"]
    assert line.claim("n", token, key="k") == ["ENTRY_TOKEN_INVALID"]
    assert line.claim("m", "other", key="k") == ["ENTRY_TOKEN_INVALID"]


def test_keyless_use_is_never_a_replay(line):
    token = ready(line)
    line.claim("m", token, key="")
    line.consume("m", token, order="o_7", key="")
    assert line.claim("m", token, key="") == ["ENTRY_TOKEN_INVALID"]


def test_tombstone_is_short_lived(line):
    token = ready(line)
    line.claim("m", token, key="k")
    line.consume("m", token, key="k", tombstone_ms=5_000)
    line.advance(4_000)
    line.promote()
    assert line.claim("m", token, key="k")[0] == "REPLAY"
    line.advance(1_001)
    line.promote()
    assert line.claim("m", token, key="k") == ["ENTRY_TOKEN_INVALID"]
    line.check()


def test_replay_outlives_a_new_entry(line):
    old = ready(line)
    line.claim("m", old, key="k")
    line.consume("m", old, order="o_7", key="k")
    new = ready(line)
    assert line.claim("m", old, key="k") == ["REPLAY", "o_7"]
    assert line.claim("m", new, key="k2")[0] == "CLAIMED"


def test_release_gives_the_token_back(line):
    token = ready(line)
    line.position("m")
    line.advance(100_000)
    line.claim("m", token)
    line.advance(50_000)
    assert line.release("m", token) == "RELEASED"
    assert line.release("m", token) == "NOT_CLAIMED"
    again = line.position("m")
    assert (again.status, again.token, again.ordering) == ("READY", token, 0)
    assert 199_000 < again.ends - again.now <= 200_000, "the clock stood still while the order ran"
    assert line.claim("m", token, claim="c2")[0] == "CLAIMED"
    line.check()


def test_late_release_never_frees_another_claim(line):
    token = ready(line)
    line.claim("m", token, claim="c1")
    assert line.release("m", token, claim="c2") == "NOT_CLAIMED"
    line.release("m", token, claim="c1")
    line.claim("m", token, claim="c2")
    assert line.release("m", token, claim="c1") == "NOT_CLAIMED"
    assert line.place("m").claim == "c2"
    line.check()


@pytest.mark.parametrize("late", ["consume", "release"])
@pytest.mark.parametrize("now", ["waiting", "ready", "claimed"])
def test_late_ones_never_touch_a_newer_token(line, late, now):
    """The member has a new place by the time that the old order's word arrives."""
    old = ready(line)
    line.claim("m", old, claim="c1")
    line.consume("m", old)
    line.enter("m")
    new = None
    if now != "waiting":
        line.promote()
        new = line.position("m").token
    if now == "claimed":
        line.claim("m", new, claim="c1", key="k2")
    before = line.position("m")
    if late == "consume":
        assert line.consume("m", old) == "ALREADY"
    else:
        assert line.release("m", old, claim="c1") == "NOT_CLAIMED"
    after = line.position("m")
    assert (after.status, after.token, after.ordering, after.seq, after.rank) == (
        before.status, before.token, before.ordering, before.seq, before.rank)
    line.check()


def test_max_in_flight_keeps_the_token_ready(make_line):
    line = make_line(maxInFlight=2)
    for member in "abc":
        line.enter(member)
    tokens = drain(line, "abc")
    assert line.claim("a", tokens["a"], claim="ca")[0] == "CLAIMED"
    assert line.claim("b", tokens["b"], claim="cb")[0] == "CLAIMED"
    assert line.claim("c", tokens["c"], claim="cc") == ["ORDER_CAPACITY"]
    assert line.position("c").status == "READY" and line.position("c").ordering == 0
    line.consume("a", tokens["a"])
    assert line.claim("c", tokens["c"], claim="cc")[0] == "CLAIMED"
    assert line.claim("b", tokens["b"], claim="cx") == ["ORDER_IN_PROGRESS"], "before capacity is looked at"
    line.release("b", tokens["b"], claim="cb")
    assert line.claim("b", tokens["b"], claim="cb2")[0] == "CLAIMED"
    line.check()


def test_overdue_claims(line):
    for member in "abcde":
        line.enter(member)
    tokens = drain(line, "abcde")
    for member in "abcd":
        line.claim(member, tokens[member], claim=f"c-{member}", key=f"k-{member}")
    assert line.call("claims_overdue", most=10) == ["OK"]
    line.advance(30_001)
    found = line.call("claims_overdue", most=10)
    assert found == ["OK"] + [word for member in "abcd" for word in (
        member, sha256_text(tokens[member]), f"c-{member}", sha256_text(f"k-{member}"))]
    assert line.call("claims_overdue", most=2) == found[:9]
    line.consume("a", tokens["a"])
    line.release("b", tokens["b"], claim="c-b")
    assert line.call("claims_overdue", most=10) == ["OK"] + found[9:]
    line.check()
