"""Redis is wiped while very many wait: how long until everybody stands where they stood, and who is let in twice (nobody).

    SLUICE_CHAOS_WAITING=10000 scripts/test chaos     (with PYTEST_ADDOPTS='-k size -s')

is the size that docs/reliability.md tells of.
"""

import os
import time

import pytest

from lib.api import ticket_payload
from lib.wait import until

WAITING = int(os.environ.get("SLUICE_CHAOS_WAITING", "300"))
ORDERED = max(20, WAITING // 50)
HOLDING = max(10, WAITING // 200)    # have a token that they have not spent
CONNECTIONS = 48


def enter_all(api, queue, members):
    """One after another within a piece, so that nobody's number depends on chance more than it must."""
    for begin in range(0, len(members), 500):
        piece = members[begin:begin + 500]
        for member, answer in zip(piece, api.together([one.enter_call(queue) for one in piece], CONNECTIONS, timeout=60)):
            assert answer.status in (200, 201), answer.body
            member.ticket = answer["queueTicket"]


def positions(api, queue, members):
    return api.together([member.position_call(queue) for member in members], CONNECTIONS, timeout=120)


@pytest.mark.limit(120 + WAITING // 20)
def test_redis_wiped_at_size(system):
    api = system.api
    queue = api.queue(maxActive=ORDERED + HOLDING, recoverySeconds=5, pickupSeconds=600)
    system.postgres.query("UPDATE queue SET created_at = created_at - interval '1 minute' WHERE id = %s", queue)
    sku = api.product(queue, stock=10 * WAITING, amount=0)
    items = [{"sku": sku, "quantity": 1}]
    buyers = api.ready_members(queue, ORDERED)
    holders = api.ready_members(queue, HOLDING)
    api.act(queue, "pause")
    for answer in api.together([one.order_call(queue, items, key="first") for one in buyers], 8):
        assert answer.status == 201, answer.body
    crowd = [api.member() for _ in range(WAITING)]
    enter_all(api, queue, crowd)
    numbers = {member: ticket_payload(member.ticket)["seq"] for member in [*buyers, *holders, *crowd]}
    assert len(set(numbers.values())) == len(numbers)

    system.redis.flushall()
    wiped = time.monotonic()
    first = min(crowd, key=numbers.get)
    until(lambda: first.position(queue).status == 200, 30, "the queue is back", every=0.05)
    back = time.monotonic() - wiped
    # Those behind come first: it makes no difference.
    line = sorted([*holders, *crowd], key=numbers.get)
    for answer in positions(api, queue, line[::-1]):
        assert answer.status == 200 and answer["status"] == "WAITING", answer.body
    seated = time.monotonic() - wiped
    assert [answer["rank"] for answer in positions(api, queue, line)] == list(range(len(line))), "everybody at the number of old"
    for answer in positions(api, queue, buyers):
        assert answer["status"] == "NOT_ENTERED"
    for answer in api.together([one.order_call(queue, items, key="second") for one in [*buyers, *holders]], 8):
        assert answer.status == 401 and answer.code == "ENTRY_TOKEN_INVALID", "a token that Redis does not know is void"
    api.act(queue, "resume")
    for member in line[:10]:
        member.wait_ready(queue, 30)
    served = time.monotonic() - wiped
    rest = positions(api, queue, line[len(holders) + ORDERED:])
    assert all(answer["status"] == "WAITING" for answer in rest), "nobody behind the places that there are"
    assert line[0].order(queue, items, key="third").status == 201
    spent = system.postgres.query("SELECT count(*), count(DISTINCT seq), count(DISTINCT admission_id) FROM admission_use "
                                  "WHERE queue = %s", queue)[0]
    assert spent == (ORDERED + 1,) * 3
    assert system.postgres.value("SELECT count(DISTINCT member) FROM customer_order WHERE queue = %s", queue) == ORDERED + 1
    print(f"\n{WAITING} waiting, {ORDERED} ordered, {HOLDING} with a token: the queue was back after {back:.1f} s, everybody who "
          f"asked stood in line after {seated:.1f} s, the first were let in after {served:.1f} s")
