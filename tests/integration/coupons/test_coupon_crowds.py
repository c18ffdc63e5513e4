"""Crowds at a coupon event: exactly as many as there are, to the first that asked, and an answer for everybody."""

import threading
import time

import pytest

from lib import processes
from lib.coupons import RETRY, Crowd, in_sql, issued, known, stored
from lib.parts import SHORTEST_LEASE_S
from lib.wait import until


@pytest.mark.limit(240)
def test_70_coupons_1000_members_three_tabs_each(parts, api):
    """While order workers die: exactly 70 to 70 different members, the first that asked, and an answer for everybody."""
    active = 40
    queue = api.queue(claimLeaseSeconds=SHORTEST_LEASE_S, maxActive=active, ratePerSecond=100, burst=100,
                      opensAt=None)
    event = api.coupon_event(queue, 70)
    parts.start_reconcile(1)
    over = threading.Event()
    killed = []

    def kill_now_and_then():
        while not over.wait(0.3):
            for pid in parts.workers("order")[:1]:
                try:
                    processes.kill9(pid)
                    killed.append(pid)
                except ProcessLookupError:
                    pass
    killer = threading.Thread(target=kill_now_and_then)
    killer.start()
    crowd = Crowd(api, queue, event, 256)
    try:
        crowd.run([api.member() for _ in range(1000)], 3, 200)
    finally:
        over.set()
        killer.join(10)
    assert not crowd.unexpected, crowd.unexpected[:5]
    assert crowd.tabs_ended == 3000, "every tab has its answer"
    assert len(killed) >= 5
    assert sum(crowd.retries.values()) > 0, "workers died under requests"
    rows = parts.postgres.query("SELECT member, code, seq FROM coupon WHERE event = %s AND member IS NOT NULL", event)
    assert len(rows) == 70 == len({row[0] for row in rows}) == len({row[1] for row in rows})
    owners = {member: code for member, code, _ in rows}
    assert len(crowd.outcomes) == 1000
    for name, outcomes in crowd.outcomes.items():
        assert outcomes == {owners.get(name, "SOLD_OUT")}, (name, outcomes)
    assert owners.keys() <= crowd.asked
    # Sold out was said to nobody while one could still be had.
    last = parts.postgres.value("SELECT extract(epoch FROM max(issued_at))::float FROM coupon WHERE event = %s", event)
    assert crowd.sold_out_at and min(crowd.sold_out_at) >= last
    # Whoever asked in vain and stood before the last that got one was asking at the same time.
    in_vain = [crowd.seqs[name] for name in crowd.asked - owners.keys()]
    assert sum(seq < max(row[2] for row in rows) for seq in in_vain) < active, sorted(in_vain)
    for member, _, seq in rows:
        assert seq == crowd.seqs[member]
        # Nobody was let in before all but 69 of those before had got one, or were asking at the same time.
        assert seq <= 69 + active, sorted(row[2] for row in rows)
    assert until(lambda: parts.outbox_empty(queue), 20)
    uses = parts.postgres.value("SELECT count(*) FROM admission_use WHERE queue = %s", queue)
    assert uses == 70
    until(lambda: known(parts, queue, event) == stored(parts, event) == ("70/1/0/0", owners.keys()), 5)


@pytest.mark.limit(90)
def test_one_after_the_other_the_first_numbers_get_them(parts, api):
    queue = api.queue(maxActive=1)
    event = api.coupon_event(queue, 5)
    crowd = Crowd(api, queue, event, 16)
    crowd.run([api.member() for _ in range(12)], 2, 60)
    assert not crowd.unexpected
    seqs = parts.postgres.query("SELECT seq FROM coupon WHERE event = %s ORDER BY seq", event)
    assert [seq for seq, in seqs] == [1, 2, 3, 4, 5]
    result = api.call("GET", f"/v1/coupon-events/{event}/result").json
    assert result["numbersServed"] == [{"epoch": 1, "numbers": "1-5"}]


@pytest.mark.limit(90)
def test_all_go_out_where_some_roll_back(parts, api):
    """Transactions that take a row and give it back, all the while: N coupons for N members, never N - 1."""
    queue = api.queue()
    event = api.coupon_event(queue, 30)
    members = api.ready_members(queue, 33)
    over = threading.Event()
    given_back = []

    def take_and_give_back():
        number = 5000
        while not over.is_set():
            number += 5
            holders = [parts.postgres.connection() for _ in range(5)]
            outcomes = [in_sql(parts, event, queue, f"nobody-{number + n}", number + n, holder)[0]
                        for n, holder in enumerate(holders)]
            taken.set()
            time.sleep(0.05)
            for holder in holders:
                holder.rollback()
                holder.close()
            given_back.extend(outcomes)
    taken = threading.Event()
    thread = threading.Thread(target=take_and_give_back)
    thread.start()
    assert taken.wait(10), "five rows are taken before anybody asks"
    pending = list(members)
    in_vain = []

    def all_have_their_answer():
        for member, answer in zip(list(pending), api.together([m.coupon_call(event) for m in pending], 12)):
            if answer.status in (200, 201):
                pending.remove(member)
            elif answer.code == "SOLD_OUT":
                pending.remove(member)
                in_vain.append(issued(parts, event))
            else:
                assert answer.code in RETRY, answer.body
        return not pending
    try:
        until(all_have_their_answer, 40, "a coupon for everybody", every=0.1)
    finally:
        over.set()
        thread.join(10)
    assert issued(parts, event) == 30
    assert in_vain == [30, 30, 30], "sold out is said once all are out"
    assert given_back.count("issued") >= 5, given_back
