"""How the queue went: the numbers that everyone may read afterwards."""

import pytest


@pytest.fixture
def line(timed):
    return timed(ratePerSecond=10, burst=10, maxActive=10**6, tickMs=60_000)


def test_nothing_has_happened(line, clock):
    assert line.result() == {
        "state": "OPEN", "entered": 0, "admitted": 0, "consumed": 0, "left": 0, "expired": 0, "last_served": 0,
        "first_admitted_at": 0, "last_admitted_at": 0, "last_wait": 0, "longest_wait": 0, "sold_out_at": 0,
        "opens_at": "", "closes_at": "", "epoch": 1, "now": clock.now}


def test_numbers_and_times(line, clock):
    for i in range(25):
        line.enter(f"m{i}")
    begin = clock.now
    line.promote()
    result = line.result()
    assert (result["entered"], result["admitted"], result["last_served"]) == (25, 10, 10)
    assert result["first_admitted_at"] == result["last_admitted_at"] == begin
    assert result["last_wait"] == result["longest_wait"] == 0
    clock.pass_ms(1000)
    line.promote()
    clock.pass_ms(7000)
    line.promote()
    result = line.result()
    assert (result["first_admitted_at"], result["last_admitted_at"]) == (begin, begin + 8000)
    assert (result["last_served"], result["last_wait"], result["longest_wait"]) == (25, 8000, 8000)
    line.leave("m3")
    token = line.place("m4").token
    line.claim("m4", token)
    line.consume("m4", token)
    result = line.result()
    assert (result["left"], result["consumed"], result["expired"]) == (1, 1, 0)
    clock.pass_ms(300_000)
    line.promote(0)
    line.advance(300_000)
    assert line.result()["admitted"] == 25


@pytest.mark.parametrize("entered_at_ms", [0, 1, 499, 999])
def test_wait_of_the_last_one_is_true_to_the_second(timed, clock, entered_at_ms):
    line = timed(ratePerSecond=0, burst=10, tickMs=60_000)
    for i in range(30):
        line.enter(f"early{i}")
        clock.pass_ms(700)
    clock.pass_ms(1000 - clock.now % 1000 + entered_at_ms)
    entered = clock.now
    line.enter("last")
    clock.pass_ms(41_234)
    line.publish(ratePerSecond=1000)
    line.promote()
    clock.pass_ms(10)
    while line.promote().admitted:
        clock.pass_ms(10)
    wait = line.result()["last_admitted_at"] - entered
    assert line.result()["last_served"] == 31
    assert wait <= line.result()["last_wait"] < wait + 1000
    assert line.result()["longest_wait"] >= line.result()["last_wait"]


def test_longest_wait_is_kept_when_it_gets_better(line, clock):
    line.publish(operatorState="PAUSED")
    line.enter("patient")
    clock.pass_ms(60_000)
    line.publish(operatorState="OPEN")
    line.promote()
    for i in range(5):
        line.enter(f"m{i}")
    clock.pass_ms(2000)
    line.promote()
    result = line.result()
    assert (result["longest_wait"], result["last_wait"]) == (60_000, 2000)
    assert (result["last_served"], result["last_admitted_at"]) == (6, clock.now)


def test_whoever_was_away_has_not_waited(timed, clock):
    """Nor do they hide how long those behind them waited, who are let in by the same tick."""
    line = timed(ratePerSecond=10, burst=10, pickupSeconds=5, tickMs=60_000)
    line.enter("away")
    line.promote()
    clock.pass_ms(6000)
    line.promote()
    assert line.members("away") == ["away"]
    line.publish(operatorState="PAUSED")
    for i in range(3):
        line.enter(f"m{i}")
    clock.pass_ms(50_000)
    line.enter("away")
    line.publish(operatorState="OPEN")
    assert line.promote().admitted == 4
    result = line.result()
    assert (result["last_served"], result["last_wait"]) == (4, 50_000)
    assert result["longest_wait"] == 50_000, "never less than the last one's"


def test_whoever_comes_back_is_not_the_last_one(line, clock):
    """The last number served never goes back."""
    line.publish(pickupSeconds=5)
    for i in range(5):
        line.enter(f"m{i}")
    line.promote()
    for i in range(1, 5):
        line.position(f"m{i}")
    clock.pass_ms(6000)
    line.promote()
    line.enter("m0")
    line.promote()
    result = line.result()
    assert (result["last_served"], result["last_wait"], result["longest_wait"]) == (5, 0, 0)
    assert result["last_admitted_at"] == clock.now


def test_whoever_is_let_in_at_once_is_served(line, clock):
    """Where nobody ever waited people were served all the same."""
    line.publish(admitWhenIdle=1)
    line.promote()
    for i in range(3):
        line.enter(f"m{i}")
        clock.pass_ms(100)
    result = line.result()
    assert (result["admitted"], result["last_served"]) == (3, 3)
    assert (result["first_admitted_at"], result["last_admitted_at"]) == (clock.now - 300, clock.now - 100)
    assert (result["last_wait"], result["longest_wait"]) == (0, 0)


def test_an_invited_newcomer_is_not_the_last_one_served(line, clock):
    """The newest number comes in past the line: those before it are not served yet, and their waits count."""
    line.promote()
    line.publish(maxActive=2)
    for i in range(5):
        line.enter(f"m{i}")
    line.add_codes("invite", "vip")
    line.promote()
    line.publish(maxActive=3)
    assert line.enter("guest", code="vip").status == "READY"
    assert line.result()["last_served"] == 2
    clock.pass_ms(7000)
    line.publish(maxActive=10)
    line.promote()
    result = line.result()
    assert (result["last_served"], result["last_wait"], result["longest_wait"]) == (5, 7000, 7000)


def test_when_it_sold_out(line, clock):
    line.call("sold_out", 1, 0, 0, 0)
    assert line.result()["sold_out_at"] == 0
    clock.pass_ms(5000)
    first = clock.now
    line.call("sold_out", 2, 1, 0, 0)
    clock.pass_ms(5000)
    line.call("sold_out", 3, 1, 0, 0)
    assert (line.result()["state"], line.result()["sold_out_at"]) == ("SOLD_OUT", first), "said again is not new"
    line.call("sold_out", 2, 0, 0, 0)
    assert line.result()["state"] == "SOLD_OUT", "an older finding"
    line.call("sold_out", 4, 0, 0, 0)
    clock.pass_ms(5000)
    line.call("sold_out", 5, 1, 0, 0)
    assert line.result()["sold_out_at"] == clock.now, "something came back, and went"


def test_when_an_operator_says_sold_out(line, clock):
    clock.pass_ms(3000)
    first = clock.now
    line.publish(operatorState="SOLD_OUT")
    clock.pass_ms(3000)
    line.publish(operatorState="SOLD_OUT", message="Sorry")
    assert (line.result()["state"], line.result()["sold_out_at"]) == ("SOLD_OUT", first)


def test_a_new_opening_shows_nothing_of_the_old_one(line, clock):
    for i in range(5):
        line.enter(f"m{i}")
    clock.pass_ms(3000)
    line.promote()
    line.call("sold_out", 1, 1, 0, 0)
    line.epoch = 2
    line.publish(opensAt=clock.now + 1000, closesAt=clock.now + 2000)
    result = line.result()
    for name in ("entered", "admitted", "consumed", "left", "expired", "last_served", "first_admitted_at",
                 "last_admitted_at", "last_wait", "longest_wait"):
        assert result[name] == 0, name
    assert (int(result["opens_at"]), int(result["closes_at"])) == (clock.now + 1000, clock.now + 2000)
    assert result["epoch"] == 2
