"""Two hosts get another release one after the other, and go back, while people stand in line and order."""

import os
from pathlib import Path

import pytest

from lib import logs
from lib.hosts import Host
from lib.project import plain_build
from lib.wait import until
from lib.waiting_crowd import WaitingCrowd

PEOPLE = 40


def old_build():
    """The release before, where SLUICE_OLD_BUILD names its programs (packaging/test-upgrade makes them); else the same
    one, built in another way."""
    return Path(os.environ["SLUICE_OLD_BUILD"]) if "SLUICE_OLD_BUILD" in os.environ else plain_build()


@pytest.fixture
def hosts(parts, make_directory):
    """Two hosts with the old release; nobody else schedules."""
    for scheduler in parts.schedulers:
        scheduler.stop()
    both = [Host(make_directory("host"), parts) for _ in range(2)]
    try:
        for host in both:
            host.start(old_build())
        yield both
    finally:
        for host in both:
            host.stop()
    for host in both:
        logs.assert_clean(host.logs)


@pytest.mark.limit(120)
def test_nobody_loses_a_place(parts, api, hosts):
    first, second = hosts
    queue = api.queue(ratePerSecond=1, burst=1, maxActive=PEOPLE)
    sku = api.product(queue, stock=PEOPLE)
    crowd = WaitingCrowd(queue, PEOPLE, [host.port for host in hosts], key=lambda: api.member_key, sku=sku).start()
    try:
        for host, build in ((first, parts.build), (second, parts.build), (first, old_build()), (second, old_build())):
            before = len(crowd.ordered())
            host.replace(build)
            crowd.polled_again(times=2)
            until(lambda: len(crowd.ordered()) > before or crowd.wrong, 15, "the line moves on")  # pylint: disable=cell-var-from-loop
            crowd.assert_right()
        assert len(crowd.ordered()) < PEOPLE, "all of it happened while people stood in line"
        api.admin("PATCH", f"/queues/{queue}", {"ratePerSecond": 1000, "burst": 1000})
        until(lambda: len(crowd.ordered()) == PEOPLE or crowd.wrong, 20, "everybody has ordered")
        crowd.assert_right()
    finally:
        crowd.stop()
    assert sorted(person.seq for person in crowd.people) == list(range(1, PEOPLE + 1)), "a number each"
    assert len({order for person in crowd.people for order in person.orders}) == PEOPLE
    assert parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", queue) == PEOPLE
    assert parts.postgres.value("SELECT available FROM product WHERE sku = %s", sku) == 0
    stats = api.stats(queue)
    assert (stats["entered"], stats["admitted"], stats["waiting"], stats["consumed"]) == (PEOPLE, PEOPLE, 0, PEOPLE), stats
