"""What tests/chaos/wiped counts: from a journal that somebody has written by hand, each broken promise is seen."""

import pytest

from chaos import homecoming

WIPED = 10_000
# One has ordered, one holds a token, two wait when Redis loses its memory; all get through afterwards, in order.
GOOD = """
1000,a,enter,201,WAITING,1,1,,,5
1001,b,enter,201,WAITING,2,1,,,5
1002,c,enter,201,WAITING,3,1,,,5
1003,d,enter,201,WAITING,4,1,,,5
2000,a,ask,200,READY,1,1,60000,,5
2000,b,ask,200,READY,2,1,60000,,5
3000,a,order,201,CONFIRMED,,,,o1,9
10500,b,order,503,ADMISSION_UNAVAILABLE,,,,,5
11000,d,ask,200,WAITING,4,2,,,5
11500,c,ask,200,WAITING,3,2,,,5
11600,a,again-ask,200,NOT_ENTERED,,2,,,5
11700,a,again-order,401,ENTRY_TOKEN_INVALID,,,,,5
12000,b,order,401,ENTRY_TOKEN_INVALID,,,,,5
12500,b,ask,200,WAITING,2,2,,,5
50000,b,ask,200,READY,2,2,110000,,5
50100,c,ask,200,READY,3,2,110000,,5
51000,d,ask,200,READY,4,2,111000,,5
51000,b,order,201,CONFIRMED,,,,o2,9
52000,c,order,201,CONFIRMED,,,,o3,9
53000,d,order,201,CONFIRMED,,,,o4,9
11000,,boards,7,2,,,,,
"""
ORDERS = [("a", 1, "o1", 3000), ("b", 2, "o2", 51000), ("c", 3, "o3", 52000), ("d", 4, "o4", 53000)]


def counted(directory, journal=GOOD, orders=None):
    path = directory / "journal"
    path.write_text(journal.strip() + "\n")
    answers, boards = homecoming.read(path)
    assert boards == {11: (7, 2)}
    return homecoming.count(answers, WIPED, ORDERS if orders is None else orders), answers, boards


def test_a_return_that_went_well_is_reported_as_it_was(tmp_path):
    count, answers, boards = counted(tmp_path)
    assert count.is_good()
    assert (count.members, count.waiting, count.holding, count.ordered) == (4, 2, 1, 1)
    assert (count.back_ms, count.seated_ms, count.admitted_ms) == (1000, {50: 1500, 90: 2500, 100: 2500}, 40000)
    assert count.refused == {"ADMISSION_UNAVAILABLE": 1, "ENTRY_TOKEN_INVALID": 1}
    load = homecoming.load(answers, boards, [(11_000.0, 4.0), (20_000.0, 9.0)], WIPED, 13_000)
    assert (load["total"], load["refused"], load["fullest"], load["nginx99"], load["p99"]) == (14, 3, 2, 4, 5)


@pytest.mark.parametrize("what, old, new", [
    ("renumbered", "12500,b,ask,200,WAITING,2,2", "12500,b,ask,200,WAITING,9,2"),
    ("unseated", "11000,d,ask,200,WAITING,4,2,,,5\n", ""),
    ("inversions", "51000,d,ask,200,READY,4,2,111000", "51000,d,ask,200,READY,4,2,109999"),
    ("second_turns", "again-ask,200,NOT_ENTERED,,2", "again-ask,200,WAITING,1,2"),
    ("second_orders", "again-order,401,ENTRY_TOKEN_INVALID,,,,,", "again-order,201,CONFIRMED,,,,o5,"),
    ("lost", "53000,d,order,201,CONFIRMED,,,,o4,", "53000,d,order,201,CONFIRMED,,,,o9,")])
def test_a_broken_promise_is_seen_in_what_members_were_answered(tmp_path, what, old, new):
    assert old in GOOD
    journal = GOOD.replace(old, new)
    if what == "unseated":
        journal = journal.replace("51000,d,ask,200,READY,4,2,111000", "51000,d,ask,200,NOT_ENTERED,,2,")
    count, _, _ = counted(tmp_path, journal)
    assert getattr(count, what) and not count.is_good()


@pytest.mark.parametrize("what, orders", [
    ("lost", ORDERS[:3]), ("second_orders", [*ORDERS, ("a", 5, "o5", 60000)]), ("wrong_number", [*ORDERS[:3], ("d", 5, "o4", 53000)])])
def test_a_broken_promise_is_seen_in_what_postgresql_has(tmp_path, what, orders):
    count, _, _ = counted(tmp_path, orders=orders)
    assert getattr(count, what) and not count.is_good()
