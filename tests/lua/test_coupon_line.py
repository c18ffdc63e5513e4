"""What Redis knows of coupon events: published by name and by number, so that nothing counts twice and nothing old wins."""

import pytest

from lib.line import sha256_text

FAST = {"ratePerSecond": 100000, "burst": 100000, "maxActive": 100000}


@pytest.fixture
def line(make_line):
    return make_line(**FAST)


def publish(line, change, events, sold_out=0, due=0):
    """A finding: events is {id: (total, gone, opens, ends)}."""
    words = [word for event, record in events.items() for word in (event, "/".join(map(str, record)))]
    return line.call("sold_out", change, sold_out, due, 1, *words)[0]


def standing(line, event):
    return line.call("coupon_standing", event)


def ready(line, member):
    line.enter(member)
    line.promote()
    return line.position(member).token


def state(line):
    return line.call("queue_state")[1]


def test_a_repeated_consume_counts_once(line):
    assert publish(line, 1, {"e": (3, 0, 0, 0)}) == "SET"
    token = ready(line, "m")
    assert line.claim("m", token, event="e") == ["CLAIMED", 30_000, 1, 1, 1, "order", 3, 0]
    for outcome in ("CONSUMED", "ALREADY", "ALREADY"):
        assert line.consume("m", token, event="e") == outcome
        assert standing(line, "e") == ["OK", 3, 1, 0]
    assert line.check() == {}


def test_a_consume_counts_whatever_became_of_the_token(line):
    """Its place may be gone by then: the coupon is issued all the same."""
    publish(line, 1, {"e": (3, 0, 0, 0)})
    assert line.consume("m", "a token of before", event="e") == "ALREADY"
    assert standing(line, "e") == ["OK", 3, 1, 0]


def test_an_order_is_no_coupon(line):
    publish(line, 1, {"e": (3, 0, 0, 0)})
    token = ready(line, "m")
    assert len(line.claim("m", token)) == 6
    assert line.consume("m", token) == "CONSUMED"
    assert standing(line, "e") == ["OK", 3, 0, 0]


def test_whoever_has_one_keeps_the_new_token(line):
    publish(line, 1, {"e": (3, 0, 0, 0), "f": (1, 0, 0, 0)})
    line.consume("m", "old", event="e")
    token = ready(line, "m")
    assert line.claim("m", token, event="e") == ["ALREADY"]
    assert line.place("m").claim == ""
    assert line.claim("m", "wrong", event="e") == ["ENTRY_TOKEN_INVALID"], "only its holder is told"
    assert line.claim("m", token, event="f")[0] == "CLAIMED", "another event's coupon is another matter"
    assert line.claim("m", token, event="e") == ["ORDER_IN_PROGRESS"]


def test_sold_out_only_where_postgres_has_said_so_and_all_owners_are_known(line):
    token = ready(line, "m")

    def claim(event="e"):
        answer = line.claim("m", token, event=event)
        if answer[0] == "CLAIMED":
            line.release("m", token)
        return answer[0]
    assert claim() == "CLAIMED", "an event that Redis does not know is PostgreSQL's to judge"
    publish(line, 1, {"e": (2, 0, 0, 0)})
    for other in ("a", "b"):
        line.consume(other, other, event="e")
    assert claim() == "CLAIMED", "Redis's count alone is no reason"
    publish(line, 2, {"e": (2, 1, 0, 0), "f": (1, 1, 0, 0), "none": (0, 1, 0, 0)})
    assert line.claim("m", token, event="e") == ["SOLD_OUT", 2]
    assert line.claim("m", "wrong", event="e") == ["ENTRY_TOKEN_INVALID"]
    assert claim("f") == "CLAIMED", "its owner is not known yet, and may be this very member"
    assert claim("none") == "SOLD_OUT"
    assert publish(line, 1, {"e": (1, 0, 0, 0)}) == "OLDER"
    assert claim() == "SOLD_OUT"
    publish(line, 3, {"e": (3, 0, 0, 0)})
    assert claim() == "CLAIMED"
    assert line.place("m").claim == ""
    line.check()


def test_before_and_after_its_time_an_event_is_postgres_s_to_judge(timed, clock):
    line = timed(**FAST)
    token = ready(line, "m")
    times = ((0, 0, "SOLD_OUT"), (1000, 0, "CLAIMED"), (-1000, 1000, "SOLD_OUT"), (-2, -1, "CLAIMED"))
    for change, (opens, ends, outcome) in enumerate(times, 1):
        now = clock()
        publish(line, change, {"e": (0, 1, opens and now + opens, ends and now + ends)})
        assert line.claim("m", token, event="e")[0] == outcome
        line.release("m", token)
        clock.pass_ms(5)


def test_all_that_is_left_comes_to_its_end_by_itself(timed, clock):
    line = timed(**FAST)
    ends = clock() + 10_000
    assert publish(line, 1, {"e": (2, 0, 0, ends)}, due=ends) == "SET"
    clock.pass_ms(9_999)
    assert state(line) == "OPEN"
    clock.pass_ms(1)
    assert state(line) == "SOLD_OUT"
    assert (line.enter("late").code, line.enter("late").more) == ("SOLD_OUT", ["ended"])
    clock.pass_ms(500)
    # Reconcile puts it down later; the time of it is the event's.
    assert publish(line, 2, {"e": (2, 0, 0, ends)}, sold_out=1) == "SET"
    assert int(line.redis.hget(line.key("state"), "soldOutAt")) == ends
    assert line.enter("late").more == ["ended"]
    assert publish(line, 3, {}, sold_out=1) == "SET", "a day later the event is no longer among them"
    assert line.enter("late").more == ["ended"]
    assert publish(line, 4, {"e": (2, 0, 0, 0)}) == "SET"
    assert state(line) == "OPEN", "it is given more time"
    assert publish(line, 5, {"e": (2, 1, 0, 0)}, sold_out=1) == "SET"
    assert (line.enter("late").code, line.enter("late").more) == ("SOLD_OUT", ["gone"])


def test_why_nothing_is_left_is_known_after_a_recovery_too(timed, clock):
    """The first finding of a recovered queue comes without the events."""
    line = timed(**FAST)
    assert line.call("sold_out", 1, 1, 0, 0) == ["SET"]
    assert line.enter("late").more == ["gone"]
    assert publish(line, 2, {"e": (2, 0, 0, clock() - 1), "f": (5, 1, 0, clock() - 1)}, sold_out=1) == "SET"
    assert line.enter("late").more == ["ended"]
    assert line.publish(operatorState="SOLD_OUT") == "PUBLISHED"
    assert line.enter("late").more == ["gone"], "the operator says so"


def test_a_finding_replaces_all_that_was_said_of_events(line):
    publish(line, 5, {"e": (2, 0, 0, 0), "f": (1, 0, 0, 0)})
    publish(line, 6, {"e": (3, 0, 0, 0)})
    assert standing(line, "e") == ["OK", 3, 0, 0]
    assert standing(line, "f") == ["NOT_FOUND", "event"]
    # One without events leaves them, and does not stand in the way of one with events that is as new.
    line.call("sold_out", 7, 0, 0, 0)
    assert standing(line, "e") == ["OK", 3, 0, 0]
    assert publish(line, 7, {"e": (4, 0, 0, 0)}) == "OLDER"
    assert standing(line, "e") == ["OK", 4, 0, 0]


def test_owners_by_name(line):
    publish(line, 1, {"e": (9, 0, 0, 0), "e-2": (9, 0, 0, 0), "e20": (9, 0, 0, 0)})

    def owners(event, what, *members):
        return line.call("coupon_owners", event, what, *members)
    assert owners("e", "add", "a", "b", "x/y") == ["LOADED", 3]
    assert owners("e", "add", "b", "c") == ["LOADED", 1]
    assert owners("e-2", "add", "a") == ["LOADED", 1]
    assert owners("e20", "add", "a", "b") == ["LOADED", 2]
    assert [standing(line, event)[2] for event in ("e", "e-2", "e20")] == [4, 1, 2]
    assert owners("e", "drop", "a", "stranger") == ["LOADED", 1]
    assert [standing(line, event)[2] for event in ("e", "e-2", "e20")] == [3, 1, 2]
    assert owners("gone", "add", "z") == ["LOADED", 1]
    line.redis.zadd(line.key("couponOwners"), {"nonsense": 0})
    known = line.call("coupons_known", 10)
    assert known[:2] == ["OK", 1]
    found = {known[i]: known[i + 1:i + 3] for i in range(2, len(known), 3)}
    assert found == {"e": ["9/0/0/0", 3], "e-2": ["9/0/0/0", 1], "e20": ["9/0/0/0", 2], "gone": ["", 1]}


def test_a_reset_keeps_them_and_a_deletion_does_not(line):
    publish(line, 1, {"e": (2, 0, 0, 0)})
    line.consume("m", "t", event="e")
    line.epoch += 1
    line.publish()
    assert standing(line, "e") == ["OK", 2, 1, 0], "one a member, whatever becomes of the line"
    line.publish(deleted=1)
    assert line.redis.exists(line.key("coupons"), line.key("couponOwners")) == 0


def test_they_come_back_before_the_queue_does(line):
    line.redis.flushall()
    assert publish(line, 9, {"e": (2, 1, 0, 0)}, sold_out=1) == "NOT_FOUND", "nobody has begun to recover it"
    line.incarnation += 1
    assert line.prepare() == "LOADED"
    assert line.call("coupon_owners", "e", "add", "a", "b") == ["LOADED", 2]
    assert publish(line, 9, {"e": (2, 1, 0, 0)}, sold_out=1) == "SET"
    assert line.publish(seq_floor=10, intent="recover") == "PUBLISHED"
    assert state(line) == "SOLD_OUT"
    assert standing(line, "e") == ["OK", 2, 2, 1]


def test_the_token_s_hash_is_all_that_redis_has_of_it(line):
    token = ready(line, "m")
    line.claim("m", token, event="e")
    line.consume("m", token, event="e")
    assert line.redis.zrange(line.key("couponOwners"), 0, -1) == ["e/m"]
    assert line.redis.hkeys(line.key("tombstones")) == [sha256_text(token)]
