"""Holds of seats: all or none, one owner, a deadline that needs nobody to sweep; and orders of held seats."""

import pytest

from lib.line import Ticket, drain
from lib.show import Show

ALL = [f"A-{number}" for number in range(1, 21)]
MINUTE = 60_000


@pytest.fixture
def line(timed):
    return timed(ratePerSecond=10000, burst=10000, maxActive=10000, entryTtlSeconds=600, pickupSeconds=600)


@pytest.fixture
def show(line):
    return Show(line, ALL, holdTtlMs=MINUTE)


@pytest.fixture
def ready(line):
    """A function that gives a member an entry token."""
    def make(member="m"):
        line.enter(member)
        line.promote()
        return line.position(member).token
    return make


def seats_of(holds):
    return [hold.seat for hold in holds]


def test_hold_takes_all_or_none(show, ready, clock):
    mine, other = ready("m"), ready("n")
    holds = show.hold("m", mine, "A-1", "A-2")
    assert [(hold.seat, hold.deadline) for hold in holds] == [("A-1", clock.now + MINUTE), ("A-2", clock.now + MINUTE)]
    assert show.hold("n", other, "A-2", "A-3", "A-1") == ["SEATS_TAKEN", "A-2", "A-1"], "every one is named"
    assert show.mine("n") == [] and show.states()["A-3"] == "", "nothing of it was held"
    assert seats_of(show.hold("n", other, "A-3", "A-4")) == ["A-3", "A-4"]
    show.check()


def test_deadline_is_the_last_moment(show, ready, clock):
    """One ms before it nobody else can have the seat, at it anybody can; nobody sweeps."""
    mine, other = ready("m"), ready("n")
    show.hold("m", mine, "A-1")
    clock.pass_ms(MINUTE - 1)
    assert show.hold("n", other, "A-1") == ["SEATS_TAKEN", "A-1"]
    assert show.states()["A-1"] == "H" and show.map("m").mine == {"A-1"}
    clock.pass_ms(1)
    assert show.states()["A-1"] == "" and show.map("m").mine == set() and show.mine("m") == []
    assert seats_of(show.hold("n", other, "A-1")) == ["A-1"]
    assert show.mine("m") == [] and show.map("n").mine == {"A-1"}
    assert show.claim("m", mine, "A-1") == ["SEAT_NOT_HELD", "A-1"]
    show.check()


def test_asking_again_is_no_way_to_hold_for_ever(show, ready, clock):
    token = ready()
    first = show.hold("m", token, "A-1")[0].deadline
    clock.pass_ms(MINUTE // 2)
    assert [(hold.seat, hold.deadline) for hold in show.hold("m", token, "A-1", "A-2")] == [
        ("A-1", first), ("A-2", clock.now + MINUTE)], "soonest first"
    clock.pass_ms(MINUTE // 2)
    assert seats_of(show.mine("m")) == ["A-2"]
    assert show.hold("m", token, "A-1")[1].deadline == clock.now + MINUTE, "what has ended begins anew"
    show.check()


def test_unknown_seats_are_named_and_nothing_is_held(show, ready):
    token = ready()
    assert show.hold("m", token, "A-1", "B-1", "nonsense") == ["UNKNOWN_SEAT", "B-1", "nonsense"]
    assert show.check() == {}


def test_a_member_may_have_so_many_and_what_is_ordered_counts(show, ready, clock):
    token = ready()
    assert show.hold("m", token, *ALL[:5]) == ["TOO_MANY_SEATS", 4]
    assert len(show.hold("m", token, *ALL[:4])) == 4
    assert show.hold("m", token, "A-5") == ["TOO_MANY_SEATS", 4]
    assert len(show.hold("m", token, "A-1", "A-2")) == 4, "those that are held already count once"
    clock.pass_ms(MINUTE)
    show.publish(("A-9", 1, "O", "m", "o_1"), ("A-10", 1, "S", "m", "o_1"))
    assert show.hold("m", token, "A-1", "A-2", "A-3") == ["TOO_MANY_SEATS", 4]
    assert len(show.hold("m", token, "A-1", "A-2")) == 2
    show.publish(("A-9", 2, "F", "", ""))
    assert len(show.hold("m", token, "A-3")) == 3
    show.check()


def test_replacing_a_selection_is_one_step(show, ready):
    mine, other = ready("m"), ready("n")
    show.hold("m", mine, *ALL[:4])
    show.hold("n", other, "A-7")
    assert show.hold("m", mine, "A-5", "A-7", replace=1) == ["SEATS_TAKEN", "A-7"]
    assert seats_of(show.mine("m")) == ALL[:4], "the old selection stands where the new one cannot be had"
    kept = show.mine("m")[3].deadline
    assert sorted(seats_of(show.hold("m", mine, "A-4", "A-5", "A-6", "A-8", replace=1))) == ["A-4", "A-5", "A-6", "A-8"]
    assert [hold.deadline for hold in show.mine("m") if hold.seat == "A-4"] == [kept]
    assert seats_of(show.hold("n", other, "A-1", "A-2", "A-3")) == ["A-1", "A-2", "A-3", "A-7"]
    show.check()


def test_giving_back(show, ready):
    mine, other = ready("m"), ready("n")
    show.hold("m", mine, *ALL[:4])
    show.hold("n", other, "A-9")
    assert show.give_back("m", "A-1", "A-9", "A-20", "nonsense") == ["RELEASED", 1], "never what another holds"
    assert seats_of(show.mine("m")) == ["A-2", "A-3", "A-4"] and seats_of(show.mine("n")) == ["A-9"]
    assert show.give_back("m") == ["RELEASED", 3]
    assert show.give_back("m") == ["RELEASED", 0]
    assert list(show.check()) == ["A-9"]


@pytest.mark.parametrize("how", ["expired", "evicted", "left", "reset", "spent"])
def test_holds_outlive_the_entry_token_but_no_new_ones_come(line, show, ready, clock, how):
    token = ready()
    if how == "expired":
        clock.pass_ms(600_000 - MINUTE // 2)
        line.promote()
    show.hold("m", token, "A-1")
    if how == "expired":
        clock.pass_ms(MINUTE // 2)
        line.promote()
    elif how == "evicted":
        assert line.end("m") == "ENDED"
    elif how == "left":
        assert line.leave("m", Ticket(1, 0, 1, 1)) == "LEFT"
    elif how == "reset":
        line.epoch += 1
        line.publish()
    else:
        line.claim("m", token)
        line.consume("m", token)
    assert show.hold("m", token, "A-2") == ["ENTRY_TOKEN_INVALID"]
    assert show.claim("m", token, "A-1", key="another") == ["ENTRY_TOKEN_INVALID"]
    assert seats_of(show.mine("m")) == ["A-1"]
    other = ready("n")
    assert show.hold("n", other, "A-1") == ["SEATS_TAKEN", "A-1"]
    clock.pass_ms(show.mine("m")[0].deadline - clock.now)
    assert show.mine("m") == []
    assert show.give_back("m")[0] == "RELEASED"
    line.promote()
    assert seats_of(show.hold("n", other, "A-1")) == ["A-1"]
    show.check()


def test_new_token_goes_on_with_what_is_still_held(line, show, ready):
    token = ready()
    show.hold("m", token, "A-1")
    line.end("m")
    again = ready()
    assert sorted(seats_of(show.hold("m", again, "A-2"))) == ["A-1", "A-2"]
    assert show.claim("m", again, "A-1", "A-2")[0] == "CLAIMED"
    show.check()


def test_wrong_tokens_are_all_refused_alike(show, ready):
    token = ready("m")
    ready("n")
    for member, word in (("m", "wrong"), ("n", token), ("stranger", token), ("m", "")):
        assert show.hold(member, word, "A-1") == ["ENTRY_TOKEN_INVALID"]
    assert show.check() == {}


# Orders


def test_order_takes_the_token_and_guards_the_holds(line, show, ready, clock):
    token, other = ready("m"), ready("n")
    show.hold("m", token, "A-1", "A-2", "A-3")
    assert show.claim("m", token, "A-1", "A-2", least_lease_ms=45_000) == ["CLAIMED", 45_000, 1, 1, 1, "order"]
    guard = clock.now + 45_000 + 60_000
    assert {hold.seat: (hold.guard, hold.claim) for hold in show.mine("m")} == {
        "A-1": (guard, "claim-1"), "A-2": (guard, "claim-1"), "A-3": (0, "")}
    clock.pass_ms(MINUTE)
    assert show.hold("n", other, "A-3")[0].seat == "A-3", "not a part of the order: its deadline is over"
    assert show.hold("n", other, "A-1") == ["SEATS_TAKEN", "A-1"], "the order runs on it"
    assert sorted(seats_of(show.mine("m"))) == ["A-1", "A-2"] and show.states()["A-1"] == "H"
    clock.pass_ms(guard - clock.now - 1)
    assert show.hold("n", other, "A-1") == ["SEATS_TAKEN", "A-1"]
    clock.pass_ms(1)
    assert show.hold("n", other, "A-1")[-1].seat == "A-1"
    show.check()


@pytest.mark.parametrize("before_ms, outcome", [(1, "CLAIMED"), (0, "SEAT_NOT_HELD"), (-1, "SEAT_NOT_HELD")])
def test_order_at_the_deadline(line, show, ready, clock, before_ms, outcome):
    token = ready()
    deadline = show.hold("m", token, "A-1")[0].deadline
    clock.pass_ms(deadline - before_ms - clock.now)
    assert show.claim("m", token, "A-1")[0] == outcome
    assert (line.place("m").claim == "claim-1") == (outcome == "CLAIMED"), "a refusal leaves the token READY"
    show.check()
    line.check()


def test_order_that_fails_leaves_the_hold_as_it_was(line, show, ready, clock):
    token = ready()
    before = show.hold("m", token, "A-1", "A-2")
    show.claim("m", token, "A-1", "A-2")
    clock.pass_ms(10_000)
    assert show.release("m", token) == "RELEASED"
    assert show.mine("m") == before
    assert line.position("m").token == token
    assert show.claim("m", token, "A-1", "A-2", claim="c2")[0] == "CLAIMED"
    clock.pass_ms(MINUTE)
    assert show.release("m", token, claim="c2") == "RELEASED"
    assert show.mine("m") == [], "its deadline has passed while the order ran"
    show.check()
    line.check()


def test_order_needs_every_seat(show, ready):
    mine, other = ready("m"), ready("n")
    show.hold("m", mine, "A-1", "A-2")
    show.hold("n", other, "A-3")
    assert show.claim("m", mine, "A-1", "A-3", "A-4", "nonsense") == ["SEAT_NOT_HELD", "A-3", "A-4", "nonsense"]
    assert all(hold.claim == "" for hold in show.mine("m"))
    assert show.claim("m", mine, "A-1")[0] == "CLAIMED"
    show.check()


def test_while_an_order_runs_nothing_of_it_is_given_back(show, ready):
    token = ready()
    show.hold("m", token, "A-1", "A-2")
    show.claim("m", token, "A-1")
    assert show.give_back("m", "A-1") == ["ORDER_IN_PROGRESS"]
    assert show.give_back("m") == ["ORDER_IN_PROGRESS"], "all or none"
    assert show.hold("m", token, "A-3") == ["ORDER_IN_PROGRESS"]
    assert show.hold("m", token, "A-3", replace=1) == ["ORDER_IN_PROGRESS"]
    assert seats_of(show.mine("m")) == ["A-1", "A-2"]
    assert show.give_back("m", "A-2") == ["RELEASED", 1]
    show.check()


def test_order_between_its_end_and_the_word_of_it(line, show, ready, clock):
    """Committed and consumed, but nobody has told of the seats yet: nobody gets them, nor may they be given back,
    not even with a new token."""
    token = ready()
    show.hold("m", token, "A-1")
    show.claim("m", token, "A-1")
    line.consume("m", token)
    assert show.give_back("m") == ["ORDER_IN_PROGRESS"]
    again, other = ready("m"), ready("n")
    assert show.give_back("m") == ["ORDER_IN_PROGRESS"]
    assert show.hold("m", again, "A-2", replace=1) == ["ORDER_IN_PROGRESS"]
    assert show.claim("m", again, "A-1", claim="c2") == ["ORDER_IN_PROGRESS"]
    clock.pass_ms(MINUTE)
    assert show.hold("n", other, "A-1") == ["SEATS_TAKEN", "A-1"]
    show.publish(("A-1", 1, "O", "m", "o_1"))
    assert show.give_back("m") == ["RELEASED", 0]
    assert show.states("m")["A-1"] == "O" and show.map("m").mine == {"A-1"} and show.map("n").mine == set()
    show.check()


def test_claim_given_back_without_its_show_does_not_hold_up_the_next(line, show, ready, clock):
    """Reconcile releases the claims of dead workers and knows no shows."""
    token = ready()
    show.hold("m", token, "A-1", "A-2")
    show.claim("m", token, "A-1")
    assert line.release("m", token) == "RELEASED"
    assert show.claim("m", token, "A-1", "A-2", claim="c2")[0] == "CLAIMED"
    assert show.release("m", token) == "NOT_CLAIMED", "a late one"
    assert [hold.claim for hold in show.mine("m")] == ["c2", "c2"]
    assert show.release("m", token, claim="c2") == "RELEASED"
    show.claim("m", token, "A-1", claim="c3")
    line.release("m", token, claim="c3")
    assert show.give_back("m") == ["RELEASED", 2]
    assert show.check() == {}


def test_guard_alone_is_no_hold_for_an_order(line, show, ready, clock):
    """The claim was given back, the guard still stands, the hold's own time is over."""
    token, other = ready("m"), ready("n")
    show.hold("m", token, "A-1")
    show.claim("m", token, "A-1")
    line.release("m", token)
    clock.pass_ms(MINUTE)
    assert show.claim("m", token, "A-1", claim="c2") == ["SEAT_NOT_HELD", "A-1"]
    assert show.hold("n", other, "A-1") == ["SEATS_TAKEN", "A-1"]
    assert show.hold("m", token, "A-1")[0].deadline == clock.now + MINUTE
    show.check()


def test_replay_needs_no_hold(line, show, ready):
    token = ready()
    show.hold("m", token, "A-1")
    show.claim("m", token, "A-1", key="k")
    line.consume("m", token, order="o_7", key="k")
    show.publish(("A-1", 1, "S", "m", "o_7"))
    assert show.claim("m", token, "A-1", key="k") == ["REPLAY", "o_7"]
    assert show.claim("m", token, "A-1", key="other") == ["ENTRY_TOKEN_INVALID"]


def test_order_in_flight_limit_counts_before_the_seats(timed):
    line = timed(maxInFlight=1, ratePerSecond=1000, burst=1000)
    show = Show(line, ALL)
    for member in "ab":
        line.enter(member)
    tokens = drain(line, "ab")
    show.hold("a", tokens["a"], "A-1")
    show.hold("b", tokens["b"], "A-2")
    assert show.claim("a", tokens["a"], "A-1", claim="ca")[0] == "CLAIMED"
    assert show.claim("b", tokens["b"], "A-2", claim="cb") == ["ORDER_CAPACITY"]
    assert show.mine("b")[0].claim == ""


# What PostgreSQL says


def test_older_word_that_comes_late_changes_nothing(show, ready):
    assert show.publish(("A-1", 2, "F", "", "")) == 1
    assert show.publish(("A-1", 1, "O", "m", "o_1")) == 0
    assert show.states()["A-1"] == "" and show.map("m").mine == set()
    assert show.publish(("A-1", 3, "O", "n", "o_2"), ("A-1", 4, "S", "n", "o_2")) == 2
    assert show.publish(("A-1", 4, "S", "n", "o_2")) == 0, "twice is once"
    assert show.states()["A-1"] == "S" and show.map("n").mine == {"A-1"}
    show.check()


def test_order_takes_the_place_of_whatever_hold_there_is(line, show, ready):
    """Its own, and that of somebody who got the seat because Redis had not heard in time."""
    mine, other = ready("m"), ready("n")
    show.hold("m", mine, "A-1", "A-2")
    show.hold("n", other, "A-3")
    show.claim("m", mine, "A-1")
    show.publish(("A-1", 1, "O", "m", "o_1"), ("A-3", 1, "S", "x", "o_2"))
    assert seats_of(show.mine("m")) == ["A-2"] and show.mine("n") == []
    assert show.hold("n", other, "A-1", "A-3") == ["SEATS_TAKEN", "A-1", "A-3"]
    assert show.release("m", mine) == "RELEASED", "an order that failed all the same does not disturb it"
    show.check()


def test_freed_seat_leaves_a_hold_alone(show, ready):
    """Redis never heard of the order; somebody holds the seat by the time that it ends."""
    other = ready("n")
    show.hold("n", other, "A-1")
    show.publish(("A-1", 2, "F", "", ""))
    assert seats_of(show.mine("n")) == ["A-1"] and show.states()["A-1"] == "H"
    show.check()


def test_correction_overrules_a_later_change(show):
    show.publish(("A-1", 9, "S", "ghost", "o_9"), ("A-2", 3, "O", "m", "o_1"))
    rows = [("A-1", 2, "F", "", ""), ("A-2", 3, "O", "m", "o_1")]
    assert show.publish(*rows) == 0
    assert show.publish(*rows, correct=1) == 1
    assert show.states()["A-1"] == "" and show.map("ghost").mine == set()
    assert show.publish(("A-2", 3, "S", "m", "o_1"), correct=1) == 1, "the same change, published wrongly"
    show.check()


# The plan


def test_show_is_there_with_the_last_piece_only(line, ready):
    show = Show(line)
    token = ready()
    assert show.call("seats_known") == ["NOT_FOUND", "show", 0]
    for first in (0, 5, 10):
        assert show.load_piece("l", 1, ALL[first:first + 5], first, len(ALL)) == "LOADED"
        assert show.hold("m", token, "A-1") == ["NOT_FOUND", "show"]
        assert show.call("seats_mine", "m") == ["NOT_FOUND", "show"]
        assert show.call("seats_map", "m") == ["NOT_FOUND", "show"]
        assert show.claim("m", token, "A-1") == ["NOT_FOUND", "show"]
        assert show.give_back("m") == ["NOT_FOUND", "show"]
        assert show.call("seats_known") == ["NOT_FOUND", "show", 1], "being loaded"
    show.publish(("A-2", 1, "S", "x", "o_1"), ("A-19", 1, "O", "x", "o_1"))
    assert show.load_piece("l", 1, ALL[15:], 15, len(ALL)) == "LOADED"
    show.version, show.seats = 1, ALL
    assert {seat: state for seat, state in show.states().items() if state} == {"A-2": "S", "A-19": "O"}
    assert show.call("seats_known") == ["OK", 1, 0, "1", 1]
    show.check()


def test_new_plan_keeps_holds_and_orders(line, show, ready, clock):
    """Seats move and come; what happens while it is loaded is in it."""
    mine, other = ready("m"), ready("n")
    before = show.hold("m", mine, "A-1", "A-20")
    show.publish(("A-5", 1, "O", "x", "o_1"))
    plan = ["B-1", *reversed(ALL), "B-2"]
    assert show.load_piece("l", 2, plan[:11], 0, len(plan)) == "LOADED"
    assert show.hold("n", other, "B-1") == ["UNKNOWN_SEAT", "B-1"], "not yet"
    show.hold("n", other, "A-2", "A-19")
    show.give_back("n", "A-19")
    show.publish(("A-18", 1, "S", "y", "o_2"), ("A-5", 2, "F", "", ""))
    show.claim("m", mine, "A-20")
    assert show.load_piece("l", 2, plan[11:], 11, len(plan)) == "LOADED"
    show.version, show.seats = 2, plan
    show.release("m", mine)
    assert show.mine("m") == before
    assert {seat: state for seat, state in show.states().items() if state} == {
        "A-1": "H", "A-20": "H", "A-2": "H", "A-18": "S"}
    assert seats_of(show.hold("n", other, "B-1", "B-2")) == ["A-2", "B-1", "B-2"]
    show.check()


def test_seat_that_left_the_plan_cannot_be_ordered(show, ready):
    token = ready()
    show.hold("m", token, "A-1", "A-2")
    show.load(ALL[1:])
    assert show.claim("m", token, "A-1", "A-2") == ["SEAT_NOT_HELD", "A-1"]
    assert show.claim("m", token, "A-2")[0] == "CLAIMED"


def test_rules_come_with_the_plan(show, ready, clock):
    token = ready()
    show.rules = {"maxSeats": 1, "holdTtlMs": 5_000}
    assert show.load(ALL) == "LOADED"
    assert show.hold("m", token, "A-1", "A-2") == ["TOO_MANY_SEATS", 1]
    assert show.hold("m", token, "A-1")[0].deadline == clock.now + 5_000


def test_two_who_load_at_once(line):
    show = Show(line)
    assert show.load_piece("a", 1, ALL[:5], 0, 20) == "LOADED"
    assert show.load_piece("b", 1, ALL[:5], 0, 20) == "LOADED", "whoever begins last goes on"
    assert show.load_piece("a", 1, ALL[5:10], 5, 20) == "OLDER"
    assert show.load_piece("b", 1, ALL[10:], 10, 20) == "OLDER", "a piece is missing"
    assert show.load_piece("b", 1, ALL[5:], 5, 20) == "LOADED"
    assert show.load_piece("a", 1, ALL[:5], 0, 20) == "PRESENT"
    assert show.load_piece("c", 3, ALL[:5], 0, 20) == "LOADED"
    assert show.load_piece("d", 2, ALL[:5], 0, 20) == "OLDER", "a later version is on its way"
    assert show.load_piece("c", 3, ALL[5:10], 5, 10) == "LOADED"
    show.version, show.seats = 3, ALL[:10]
    show.check()


def test_version_that_was_given_twice(line, ready):
    """PostgreSQL has lost the first plan of that version: what was stored at another moment is another plan."""
    show = Show(line, ALL)
    token = ready()
    plan = ["B-1", *ALL[1:]]
    show.hold("m", token, "A-2")
    assert show.load_piece("b", 1, plan[:5], 0, len(plan), updated=7) == "LOADED"
    assert show.call("seats_known") == ["OK", 1, 1, "1", 1]
    assert show.load_piece("b", 1, plan[5:], 5, len(plan), updated=7) == "LOADED"
    show.seats = plan
    assert show.call("seats_known") == ["OK", 1, 1, "7", 1]
    assert show.load_piece("c", 1, plan, 0, len(plan), updated=7) == "PRESENT"
    assert seats_of(show.hold("m", token, "B-1")) == ["A-2", "B-1"]
    assert show.load_piece("d", 3, plan[:5], 0, len(plan)) == "LOADED"
    assert show.call("seats_known") == ["OK", 1, 2, "7", 3], "being loaded"
    show.check()


def test_show_without_seats(line, ready):
    show = Show(line)
    assert show.load([]) == "LOADED"
    token = ready()
    assert show.hold("m", token, "A-1") == ["UNKNOWN_SEAT", "A-1"]
    assert show.states() == {}
    assert show.load(ALL) == "LOADED" and show.load([]) == "LOADED"
    assert show.states() == {}


def test_forgotten_show_leaves_nothing(line, show, ready):
    token = ready()
    show.hold("m", token, "A-1")
    assert show.call("seats_known") == ["OK", 1, 1, "1", 1]
    show.publish(("A-2", 1, "O", "x", "o_1"))
    show.load_piece("l", 2, ALL, 0, 30)
    assert show.call("seats_forget") == ["OK"]
    assert line.redis.keys(show.key("*").replace("{", "\\{")) == []
    assert show.hold("m", token, "A-1") == ["NOT_FOUND", "show"]


def test_shows_of_a_queue_do_not_touch_each_other(line, show, ready):
    token = ready()
    other = Show(line, ALL)
    show.hold("m", token, "A-1")
    other.hold("m", token, "A-1", "A-2")
    show.claim("m", token, "A-1")
    assert [hold.claim for hold in other.mine("m")] == ["", ""]
    assert other.hold("m", token, "A-3") == ["ORDER_IN_PROGRESS"]
    assert show.release("m", token) == "RELEASED"
    show.give_back("m")
    assert len(other.mine("m")) == 2
    show.check()
    other.check()


def test_abandoned_holds_are_taken_out_little_by_little(line, ready, clock):
    """What has ended is nothing at once, and does not stay in Redis for ever."""
    show = Show(line, [f"S-{i}" for i in range(200)])
    for i in range(30):
        show.hold(f"a{i}", ready(f"a{i}"), *[f"S-{j}" for j in range(4 * i, 4 * i + 4)])
    assert len(show.check()) == 120
    clock.pass_ms(MINUTE)
    assert show.check() == {}
    token = ready("m")
    for _ in range(6):
        before = line.redis.zcard(show.key("held"))
        show.hold("m", token, "S-199", replace=1)
        show.check()
        assert line.redis.zcard(show.key("held")) >= before - 20, "a few in one step"
    assert line.redis.hlen(show.key("mine")) == 1


# What it costs


def commands_of(redis, call):
    """How many commands a call makes Redis carry out, by its own count."""
    redis.config_resetstat()
    call()
    stats = redis.info("commandstats")
    return {name.removeprefix("cmdstat_"): row["calls"] for name, row in stats.items() if "config" not in name
            and "info" not in name}


def test_own_holds_cost_the_same_in_a_large_show(line, ready, clock):
    """Counted: the commands that Redis carries out, and what it looks at in each."""
    costs = []
    for size in (100, 50_000):
        show = Show(line, [f"S-{i}" for i in range(size)])
        show.hold("m", ready("m"), "S-0", "S-7")
        for i in range(1, 20):
            show.hold(f"x{i}", ready(f"x{i}"), f"S-{i + 10}")
        costs.append(commands_of(line.redis, lambda: show.mine("m")))
        assert seats_of(show.mine("m")) == ["S-0", "S-7"]
    assert costs[0] == costs[1] == {"evalsha": 1, "hexists": 1, "hget": 1}


def test_map_of_a_large_show_keeps_redis_for_no_time(redis_client, make_line):
    """50,000 seats, all of them held or sold: below 5 ms in Redis, whatever is in them."""
    line = make_line()
    show = Show(line, [f"sec-{i // 1000}-{i % 1000}" for i in range(50_000)])
    for first in range(0, 50_000, 200):
        show.publish(*[(show.seats[i], 1, "OS"[i % 2], f"m{i // 4}", f"o_{i // 4}") for i in range(first, first + 200)])
    line.redis.config_set("slowlog-log-slower-than", 0)
    line.redis.slowlog_reset()
    for _ in range(5):
        seen = show.map("m7")
    spent = [row["duration"] for row in line.redis.slowlog_get(50) if row["command"].startswith(b"EVALSHA")]
    line.redis.config_set("slowlog-log-slower-than", 10000)
    assert len(spent) == 5 and min(spent) < 5_000, spent
    assert len(seen.board) == 350_000 and len(seen.mine) == 4
