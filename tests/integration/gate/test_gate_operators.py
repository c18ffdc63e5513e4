"""What an operator does to one visitor or member; and places that are returned, so that the next visitor is admitted at once."""

import json

import pytest

from lib.api import some_name
from lib.client import assert_problem
from lib.gate import Visitor
from lib.wait import holds_for, until, within


@pytest.fixture
def full(visitor_queue, make_site, gate_files):
    """A queue with one place, a visitor who holds it, and one who waits for it. A place lasts for minutes."""
    class Full:
        queue = visitor_queue(maxActive=1, entryTtlSeconds=300, tickMs=100)
        site = make_site(queue, lines=[f"include {gate_files}/return.conf;"])
        first, second = Visitor(site.port), Visitor(site.port)
    Full.first.come_in()
    Full.second.ask(), Full.second.ask()
    assert Full.second.ask().face == "WAITING"
    return Full


def is_admitted_at_once(full):
    full.second.come_in(seconds=3)
    within(1.0, lambda: not any(full.first.is_through() for _ in range(4)), "the other visitor's place, on every worker")


def test_the_shop_s_answer_gives_the_place_back(full, api):
    done = full.first.ask("/done")
    assert done.status == 200 and b"Good-bye" in done.body, "the visitor sees the shop's page"
    is_admitted_at_once(full)
    assert api.stats(full.queue)["ready"] == 1


def test_nobody_gives_back_what_is_another_s(full, shop):
    """The header counts only in a response of the site, for the visitor who receives it."""
    stranger = Visitor(full.site.port)
    for headers in ({"X-Sluice-Return": "1"}, {"Sluice-Return": "1"}):
        assert full.first.ask(headers=headers).status == 200
        stranger.ask("/done", headers=headers)
    holds_for(0.5, full.first.is_through, "the first visitor's place")
    assert shop.seen("/done") == []


def test_the_header_counts_only_where_it_is_wanted(visitor_queue, make_site, api):
    queue = visitor_queue()
    site = make_site(queue)
    browser = Visitor(site.port)
    browser.come_in()
    assert browser.ask("/done").status == 200
    holds_for(0.5, lambda: api.stats(queue)["ready"] == 1, "the place")


def test_the_shop_s_server_gives_the_place_back(full, api):
    value = full.first.cookies[f"sluice_pass-{full.queue}"]
    path = f"/queues/{full.queue}/returns"
    assert api.admin("POST", path, {"pass": value}).status == 204
    is_admitted_at_once(full)
    assert api.admin("POST", path, {"pass": value}).status == 204, "twice is once"
    assert full.second.is_through(), "and a late one takes nothing from the next"
    assert full.first.ask().face == "WAITING"
    assert api.admin("POST", path, {"pass": value}).status == 204
    place = api.admin("GET", f"/queues/{full.queue}/members/{full.first.visitor_id()}")
    assert place["standing"] == "WAITING", "nor from the same one"


def test_returns_are_refused(full, api, visitor_queue):
    value = full.first.cookies[f"sluice_pass-{full.queue}"]
    path = f"/v1/admin/queues/{full.queue}/returns"
    bad = (None, 1, "", "v1.x", value[:-2] + "AA", value[1:], "x" * 9000)
    for body in ({}, [], *({"pass": one} for one in bad)):
        assert_problem(api.call("POST", path, api.operator_headers(), body), 400, "INVALID_REQUEST")
    other = visitor_queue()
    assert_problem(api.admin("POST", f"/queues/{other}/returns", {"pass": value}), 400, "INVALID_REQUEST")
    assert_problem(api.admin("POST", "/queues/never-made/returns", {"pass": value}), 400)
    assert_problem(api.call("POST", path, {}, {"pass": value}), 401, "UNAUTHENTICATED")
    viewer = {"Authorization": f"Bearer {api.viewer_key}"}
    assert_problem(api.call("POST", path, viewer, {"pass": value}), 403, "FORBIDDEN")
    assert full.first.is_through()


def test_a_visit_to_a_lost_queue_is_returned_later(full, api, parts):
    value = full.first.cookies[f"sluice_pass-{full.queue}"]
    parts.forget_everything()
    assert_problem(api.admin("POST", f"/queues/{full.queue}/returns", {"pass": value}), 503, "ADMISSION_UNAVAILABLE")


def test_returned_visit_orders_nothing_more(api, make_site):
    """A queue for members: the entry token ends with the visit."""
    queue = api.queue(entryTtlSeconds=60)
    site = make_site(queue, lines=["set $sluice_member $cookie_login;"])
    member, sku = api.ready_member(queue), api.product(queue)
    browser = Visitor(site.port)
    browser.cookies["login"] = member.name
    browser.come_in()
    assert browser.gate_pass(queue).subject == member.name
    answer = api.admin("POST", f"/queues/{queue}/returns", {"pass": browser.cookies[f"sluice_pass-{queue}"]})
    assert answer.status == 204
    assert member.position(queue)["status"] == "NOT_ENTERED"
    assert_problem(member.order(queue, [{"sku": sku, "quantity": 1}]), 401, "ENTRY_TOKEN_INVALID")


# Members

FIELDS = {"queue", "member", "queueState", "standing", "seq", "generation", "rank", "endsAt", "hasSeenToken",
          "unpaidOrder", "serverTime"}


def test_where_one_stands(api):
    queue = api.queue(maxActive=1, entryTtlSeconds=300, tickMs=100)
    first, second = api.ready_member(queue), api.member()
    second.enter(queue)
    ready = api.admin("GET", f"/queues/{queue}/members/{first.name}").json
    waiting = api.admin("GET", f"/queues/{queue}/members/{second.name}").json
    nobody = api.admin("GET", f"/queues/{queue}/members/{some_name('m')}").json
    assert FIELDS <= set(ready) and FIELDS <= set(waiting) and FIELDS <= set(nobody)
    assert (ready["standing"], ready["seq"], ready["rank"], ready["hasSeenToken"]) == ("READY", 1, None, True)
    assert ready["endsAt"] > ready["serverTime"]
    assert (waiting["standing"], waiting["seq"], waiting["rank"], waiting["endsAt"]) == ("WAITING", 2, 0, None)
    assert (nobody["standing"], nobody["seq"], nobody["rank"], nobody["endsAt"]) == ("NONE", None, None, None)
    assert {one["queue"] for one in (ready, waiting, nobody)} == {queue}


def test_promote_and_evict_with_their_audit(api):
    queue = api.queue(ratePerSecond=0, entryTtlSeconds=300)
    first, second = api.member(), api.member()
    first.enter(queue), second.enter(queue)
    promoted = api.admin("POST", f"/queues/{queue}/members/{second.name}/promote")
    assert (promoted.status, promoted["standing"], promoted["seq"]) == (200, "READY", 2)
    assert second.wait_ready(queue)["entryToken"]
    evicted = api.admin("POST", f"/queues/{queue}/members/{second.name}/evict")
    assert (evicted.status, evicted["standing"]) == (200, "NONE")
    again = api.admin("POST", f"/queues/{queue}/members/{second.name}/evict")
    assert (again.status, again["standing"]) == (200, "NONE"), "nothing to take is no error"
    rows = [row for row in api.admin("GET", f"/audit?target=queue/{queue}").json["entries"]
            if row["action"].startswith("member.")]
    assert [row["action"] for row in rows] == ["member.evict", "member.evict", "member.promote"]
    assert {row["actor"] for row in rows} == {"operator"}
    assert all(second.name in json.dumps(row) for row in rows), "it tells whom"


def test_promoted_visitor_is_admitted(full, api):
    """An operator promotes a waiting visitor: the page's next request passes. maxActive is unchanged."""
    member = full.second.visitor_id()
    path = f"/queues/{full.queue}/members/{member}"
    assert_problem(api.admin("POST", f"{path}/promote"), 409, "NO_ROOM")
    assert api.admin("PATCH", f"/queues/{full.queue}", {"maxActive": 2, "ratePerSecond": 0}).status == 200
    assert api.admin("POST", f"{path}/promote").json["standing"] == "READY"
    assert full.second.ask().status == 200
    assert full.first.is_through()


def test_refusals(api):
    queue = api.queue(entryTtlSeconds=60, releaseOn="payment")
    member = api.ready_member(queue)
    sku = api.product(queue)
    assert member.order(queue, [{"sku": sku, "quantity": 1}]).status == 201
    base = f"/v1/admin/queues/{queue}/members/{member.name}"
    unpaid = until(lambda: (r := api.admin("GET", base[9:])).json["unpaidOrder"] and r, 5, "the order's place")
    assert unpaid["standing"] == "NONE"
    assert_problem(api.admin("POST", f"{base[9:]}/promote"), 409, "ALREADY_ACTIVE")
    for path in (base, f"{base}/promote", f"{base}/evict"):
        method = "GET" if path == base else "POST"
        assert_problem(api.call(method, path), 401, "UNAUTHENTICATED")
        viewer = api.call(method, path, {"Authorization": f"Bearer {api.viewer_key}"})
        assert viewer.status == (200 if method == "GET" else 403)
        member_s = api.call(method, path, member.headers())
        assert member_s.status == 401
    for name in ("a%20b", "a%2Fb", "x" * 65, "%00", "%C3%A9"):
        assert api.admin("GET", f"/queues/{queue}/members/{name}").status in (400, 404), name
        assert api.admin("POST", f"/queues/{queue}/members/{name}/evict").status in (400, 404), name
    for call in ("", "/promote", "/evict"):
        answer = api.admin("POST" if call else "GET", f"/queues/never-made/members/m{call}")
        assert_problem(answer, 404, "NOT_FOUND")


def test_evict_leaves_a_running_order(parts, api):
    queue = api.queue(entryTtlSeconds=60)
    member = api.ready_member(queue)
    key = f"sluice:{{{queue}}}:"
    record = parts.redis.hget(key + "places", member.name).split("/")
    record[4] = "claim"
    with parts.redis.pipeline() as pipe:
        pipe.hset(key + "places", member.name, "/".join(record))
        pipe.zrem(key + "ready", member.name)
        pipe.zadd(key + "claimed", {member.name: parts.redis.time()[0] * 1000 + 60_000})
        pipe.execute()
    assert_problem(api.admin("POST", f"/queues/{queue}/members/{member.name}/evict"), 409, "ORDER_IN_PROGRESS")
    assert api.admin("GET", f"/queues/{queue}/members/{member.name}").json["standing"] == "CLAIMED"
