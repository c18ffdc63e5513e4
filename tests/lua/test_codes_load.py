"""codes_load: after a loss a code has no more uses left than neither Redis nor PostgreSQL knows to be used."""

import pytest

from lib.line import sha256_text


@pytest.fixture
def line(make_line):
    return make_line(activation="hold")


def use(line, *members):
    """Redis counts them, as they enter."""
    for member in members:
        assert line.enter(member, code="FANS").code == "ENTERED"


def load(line, uses, left, code="FANS"):
    """As reconcile does it: who has used it by PostgreSQL's books, then what they say is left."""
    code_hash = sha256_text(code)
    for member in uses:
        assert line.call("codes_load", f"{code_hash}/{member}", 1) == ["LOADED", 0]
    return line.call("codes_load", code_hash, f"priority/{left}/0")


@pytest.mark.parametrize("redis, postgres, left", [
    ((), ("a",), 2), (("a",), ("a", "b"), 1), (("a",), ("b",), 1), (("a", "b"), (), 1), (("a", "b"), ("a",), 1), ((), ("a", "b", "c"), 0),
    (("a",), ("a",), 2), ((), (), 3),
])
def test_what_is_left_is_what_neither_knows_to_be_used(line, redis, postgres, left):
    line.add_codes("priority", "FANS", uses=3)
    use(line, *redis)
    for _ in range(2):
        assert load(line, postgres, 3 - len(postgres)) == ["LOADED", 0]
        assert line.code("FANS") == ("priority", left)
    # Whoever has used it goes on with it; it is good for as many others as are left.
    for member in {*redis, *postgres}:
        assert line.enter(member, code="FANS").lane == "priority"
    assert [line.enter(f"new{i}", code="FANS").code for i in range(left + 1)] == ["ENTERED"] * left + ["CODE_INVALID"]


def test_a_count_that_was_restored_too_high_is_mended(line):
    """By a release that brought the users back and left the count as Redis had it."""
    line.add_codes("priority", "FANS", uses=3)
    line.redis.hset(line.key("codeUsers"), f"{sha256_text('FANS')}/a", 1)
    assert load(line, ["a"], 2) == ["LOADED", 0]
    assert line.code("FANS") == ("priority", 2)


def test_a_code_that_redis_does_not_know_comes_with_what_is_left(line):
    assert load(line, ["a", "b"], 1) == ["LOADED", 1]
    assert line.code("FANS") == ("priority", 1)
    assert load(line, ["a", "b"], 1) == ["LOADED", 0]
    assert line.code("FANS") == ("priority", 1)


def test_only_the_code_that_was_used_is_counted_and_its_end_stays(line):
    line.add_codes("priority", "FANS", uses=2, ends=10**15)
    line.add_codes("invite", "GUEST", uses=2)
    assert load(line, ["a"], 1) == ["LOADED", 0]
    assert line.redis.hget(line.key("codes"), sha256_text("FANS")) == f"priority/1/{10**15}"
    assert line.code("GUEST") == ("invite", 2)
