"""Outages of parts of Sluice: admitted visitors stay until their visit ends, nobody new is admitted, every client is told."""

import json
import time

import pytest

from lib import processes
from lib.gate import APP, FETCH, NAVIGATION, Visitor, secret_of
from lib.wait import holds_for, until


@pytest.fixture
def in_and_out(visitor_queue, make_site):
    """A site, and a visitor who has been admitted."""
    def make(**settings):
        queue = visitor_queue(**{"entryTtlSeconds": 60, **settings})
        site = make_site(queue, {"/nowhere/": "never-made"})
        browser = Visitor(site.port)
        browser.come_in()
        return queue, site, browser
    return make


def refused_well(site, faces, code="ADMISSION_UNAVAILABLE"):
    """A page for people and JSON for programs, both 503 with Retry-After, and nothing that is kept."""
    page = Visitor(site.port).ask("/deep/page.html?x=1")
    assert page.status == 503 and page.face in faces
    texts = [Visitor(site.port, kind).ask("/api/stock") for kind in (FETCH, APP)]
    for reply in texts:
        assert reply.status == 503 and reply.get("content-type") == "application/problem+json"
        assert reply.json["code"] == code, reply.json
    for reply in (page, *texts):
        assert 1 <= int(reply.get("retry-after")) <= 120
        assert reply.get("cache-control") == "no-store"
        assert reply.get("location") is None and reply.get("www-authenticate") is None


@pytest.mark.parametrize("how", ["stopped", "silent"])
def test_redis_gone(parts, in_and_out, shop, how):
    """A pass counts until the end that it names; an expired one does not, and nobody new is admitted."""
    queue, site, browser = in_and_out(entryTtlSeconds=4)
    ends = int(browser.gate_pass(queue).ends)
    parts.redis.config_set("appendfsync", "always")
    now_ms = parts.redis.time()[0] * 1000
    if how == "stopped":
        parts.redis_server.stop()
    else:
        processes.stop(parts.redis_server.process.pid)
    begin = time.monotonic()
    try:
        holds_for(1.0, browser.is_through, "the pass, until every worker has to ask Redis")
        assert browser.ask("/deep/page.html?x=1").status == 200
        assert browser.ask("/style.css").status == 200
        shop.forget()
        refused_well(site, {"UNAVAILABLE"})
        assert shop.seen() == []
        asked = []  # those times at which it was let through

        def is_over():
            at = time.monotonic() - begin
            if browser.is_through():
                asked.append(at)
                return False
            return True
        until(is_over, 15, "the end that the pass names", every=0.2)
        assert (time.monotonic() - begin) * 1000 > ends - now_ms - 1500, "until its end"
        assert max(asked, default=0) * 1000 < ends - now_ms, "and not beyond"
    finally:
        if how == "stopped":
            parts.start_redis()
        else:
            processes.cont(parts.redis_server.process.pid)
    until(lambda: browser.ask().status == 200, 20, "the way in is open again", every=0.2)


def test_queue_pool_gone(parts, in_and_out, shop):
    """Closed, with a page of nginx's own, for every client: without the pool no pass can be checked."""
    queue, site, browser = in_and_out()
    parts.pools["queue"].stop(seconds=20)
    try:
        shop.forget()
        for client in (browser, Visitor(site.port)):
            page = client.ask("/deep/page.html?x=1")
            assert page.status == 503 and page.get("content-type").startswith("text/html")
            assert not page.is_page and b"<html" in page.body
            assert 5 <= int(page.get("retry-after")) <= 15 and page.get("cache-control") == "no-store"
            assert page.get("location") is None and page.set_cookies == []
        for kind in (FETCH, APP):
            reply = Visitor(site.port, kind).ask("/api/stock")
            assert (reply.status, reply.get("content-type")) == (503, "application/problem+json")
            assert reply.json["code"] == "ADMISSION_UNAVAILABLE"
            assert int(reply.get("retry-after")) >= 1 and reply.get("cache-control") == "no-store"
        form = browser.ask("/order", "POST", body="name=Kim",
                           headers={**NAVIGATION, "Content-Type": "application/x-www-form-urlencoded"})
        assert form.status == 503 and form.get("location") is None
        upload = Visitor(site.port, FETCH).ask("/upload", "POST", body=b"x" * 3_000_000)
        assert upload.status == 503
        assert shop.seen() == []
    finally:
        parts.start_pool("queue", parts.queue_workers)
        parts._wait_pool("queue")  # pylint: disable=protected-access
    assert browser.ask("/deep/page.html?x=1").status == 200


def test_unknown_queue(in_and_out, shop):
    """A queue that does not exist admits nobody; the problem says so to the site's operator."""
    _, site, browser = in_and_out()
    shop.forget()
    for client in (browser, Visitor(site.port)):
        reply = client.ask("/nowhere/")
        assert (reply.status, reply.face, reply.set_cookies) == (503, "NOT_CONFIGURED", [])
    reply = Visitor(site.port, APP).ask("/nowhere/")
    assert (reply.status, reply.json["code"]) == (503, "ADMISSION_UNAVAILABLE")
    assert "does not exist" in reply.json["detail"]
    assert shop.seen() == [] and browser.ask().status == 200


@pytest.mark.parametrize("name", ["", "No-Slug", "a b", "x" * 70])
def test_queue_s_name_that_is_none(parts, make_site, shop, name):
    site = make_site("fine", {"/bad": name or '$http_x_nothing'})
    parts.allowed_errors.add("gate.no_queue")
    reply = Visitor(site.port).ask("/bad")
    assert reply.status == 503 and int(reply.get("retry-after")) >= 1
    assert reply.get("cache-control") == "no-store" and reply.set_cookies == []
    assert shop.seen() == []


def test_redis_that_lost_its_memory(parts, api, in_and_out):
    """A pass admits its owner again, without another wait."""
    queue, site, browser = in_and_out(recoverySeconds=2)
    before = browser.gate_pass(queue)
    stranger = Visitor(site.port)
    parts.forget_everything()
    parts.reconcile_until(lambda: api.admin("GET", f"/queues/{queue}").status == 200
                          and parts.redis.exists(f"sluice:{{{queue}}}:settings"), 20, "the queue is back")
    until(lambda: browser.is_through() and browser.gate_pass(queue).incarnation == "2", 5, "a pass of now")
    after = browser.gate_pass(queue)
    assert (after.seq, after.epoch) == (before.seq, before.epoch) and after.admission != before.admission
    assert api.stats(queue)["ready"] == 1
    assert not stranger.is_through()
    stranger.ask()
    assert stranger.come_in(seconds=15).status == 200


def test_a_pass_for_which_there_is_no_room_any_more(parts, api, in_and_out):
    """Its owner is the next to come in, with the number of before: without the ticket too, and with it in its lane."""
    queue, site, browser = in_and_out(recoverySeconds=2)
    assert api.admin("POST", f"/queues/{queue}/codes", {"kind": "priority", "codes": ["FAN CLUB"], "uses": 1}).status == 201
    plain, first = Visitor(site.port), Visitor(site.port)
    plain.come_in()
    first.ask()
    entered = first.ask(f"/_sluice/queues/{queue}/entries", "POST", body=json.dumps({"code": "FAN CLUB"}),
                        headers={**FETCH, "Content-Type": "application/json"})
    assert entered.status == 201, entered.body
    first.come_in()
    del plain.cookies[f"sluice_ticket-{queue}"]
    before = {client: client.gate_pass(queue) for client in (plain, first)}
    api.admin("PATCH", f"/queues/{queue}", {"maxActive": 1})
    parts.forget_everything()
    parts.reconcile_until(lambda: parts.redis.exists(f"sluice:{{{queue}}}:settings"), 20, "the queue is back")
    until(lambda: browser.is_through() and browser.gate_pass(queue).incarnation == "2", 5, "a pass of now")
    for client in before:
        reply = client.ask()
        assert (reply.status, reply.face, reply.state["rank"]) == (503, "WAITING", 0)
    for lane, client in (("waiting", plain), ("priority", first)):
        assert parts.redis.zrange(f"sluice:{{{queue}}}:{lane}", 0, -1) == [before[client].subject]
    assert api.stats(queue)["ready"] == 1
    api.admin("PATCH", f"/queues/{queue}", {"maxActive": 3})
    for client, old in before.items():
        client.come_in(seconds=15)
        assert client.gate_pass(queue).seq == old.seq


def test_a_pass_of_an_ended_visit_does_not_revoke_the_later_ticket(parts, api, in_and_out):
    """Its owner has returned the place and entered again: after the loss the gate's check comes before the first poll."""
    queue, site, browser = in_and_out(recoverySeconds=2, maxActive=1)
    ended = browser.gate_pass(queue)
    assert api.admin("POST", f"/queues/{queue}/returns", {"pass": browser.cookies[f"sluice_pass-{queue}"]}).status == 204
    inside = Visitor(site.port)
    inside.come_in()
    entered = browser.ask(f"/_sluice/queues/{queue}/entries", "POST", headers=FETCH)
    assert (entered.status, entered.json["status"]) == (201, "WAITING")
    assert entered.json["seq"] > int(ended.seq) and browser.gate_pass(queue) == ended
    parts.forget_everything()
    parts.reconcile_until(lambda: parts.redis.exists(f"sluice:{{{queue}}}:settings"), 20, "the queue is back")
    until(lambda: inside.is_through() and inside.gate_pass(queue).incarnation == "2", 5, "a pass of now")
    page = browser.ask()
    assert (page.status, page.face) == (503, "WAITING")
    position = browser.ask(f"/_sluice/queues/{queue}/position", headers=FETCH)
    assert (position.status, position.json["seq"]) == (200, entered.json["seq"]), position.body
    api.admin("PATCH", f"/queues/{queue}", {"maxActive": 2})
    browser.come_in(seconds=15)
    assert browser.gate_pass(queue).seq == str(entered.json["seq"])


def replace_queue_workers(parts, between=lambda: None):
    """The new ones have no entry of any queue. `between` runs while there is no worker."""
    parts.pools["queue"].stop(seconds=20)
    between()
    parts.start_pool("queue", parts.queue_workers)
    parts._wait_pool("queue")  # pylint: disable=protected-access


def with_pass(parts, site, given, **fields):
    """A client that has the pass `given` with other fields."""
    client = Visitor(site.port)
    changed = given.but(**fields)
    client.cookies[f"sluice_pass-{changed.queue}"] = changed.signed(secret_of(parts.secrets / "queue-ticket.keys"))
    return client

def test_a_visitor_who_logs_in_stays_in_while_new_workers_cannot_ask(parts, visitor_queue, make_site):
    """The pass says that the queue is for visitors, whomever the site names beside it."""
    queue = visitor_queue(entryTtlSeconds=60)
    site = make_site(queue, lines=["set $sluice_member $cookie_login;"])
    browser = Visitor(site.port)
    browser.come_in()
    browser.cookies["login"] = "alice"
    parts.redis.config_set("appendfsync", "always")
    try:
        replace_queue_workers(parts, parts.redis_server.stop)
        for _ in range(4):
            assert browser.ask("/deep/page.html?x=1").status == 200
        stranger = Visitor(site.port)
        stranger.cookies["login"] = "alice"
        assert stranger.ask().status == 503
    finally:
        parts.start_redis()


def not_configured(client, path):
    """Several requests, so that every worker answers one."""
    for _ in range(4):
        reply = client.ask(path)
        assert (reply.status, reply.face) == (503, "NOT_CONFIGURED")


@pytest.mark.limit(90)
def test_a_worker_that_started_after_redis_lost_its_memory(parts, in_and_out, shop):
    """It has no entry of the queue, and Redis has no settings: an outage, in which a pass counts and nobody new is admitted."""
    queue, site, browser = in_and_out(recoverySeconds=0)
    forged = with_pass(parts, site, browser.gate_pass(queue), queue="never-made")
    parts.reconcile(expect=None)
    replace_queue_workers(parts)
    not_configured(forged, "/nowhere/")
    replace_queue_workers(parts, parts.forget_everything)
    shop.forget()
    refused_well(site, {"UNAVAILABLE"})
    given = browser.gate_pass(queue)
    for refused in ({"kind": "w"}, {"ends": given.renewed}):
        page = with_pass(parts, site, given, **refused).ask("/deep/page.html?x=1")
        assert (page.status, page.face) == (503, "UNAVAILABLE"), refused
        assert int(page.get("retry-after")) >= 1
    assert shop.seen() == []
    for _ in range(6):
        assert browser.ask("/deep/page.html?x=1").status == 200
    parts.reconcile_until(lambda: parts.redis.hget("sluice:tenures", "complete"), 20, "the queue is back")
    until(lambda: browser.is_through() and browser.gate_pass(queue).incarnation == "2", 5, "a pass of now")
    not_configured(forged, "/nowhere/")


@pytest.mark.limit(90)
def test_rules_of_a_change_that_both_stores_have_lost(parts, api, in_and_out):
    """The recovery reaches the version of the lost change, which the workers know with other rules."""
    queue, site, _ = in_and_out(recoverySeconds=0)
    stranger = Visitor(site.port, keeps=False)
    assert api.admin("PATCH", f"/queues/{queue}", {"activation": "hold"}).status == 200
    version, settings = parts.postgres.query("SELECT version, settings::text FROM queue WHERE id = %s", queue)[0]
    assert api.admin("PATCH", f"/queues/{queue}", {"bypass": {"paths": ["/api/"]}}).status == 200
    until(lambda: all(stranger.ask("/api/stock").status == 200 for _ in range(8)), 5, "every worker knows the rules")
    parts.postgres.query("UPDATE queue SET version = %s, settings = %s WHERE id = %s", version, settings, queue)
    parts.forget_everything()
    parts.reconcile_until(lambda: parts.redis.hget("sluice:tenures", "complete"), 20, "the queue is back")
    assert int(parts.redis.hget(f"sluice:{{{queue}}}:settings", "version")) == version + 1
    until(lambda: all(stranger.ask("/api/stock").status == 503 for _ in range(8)), 5, "no worker lets anybody pass")


def test_a_queue_that_redis_knows_is_judged_by_it(parts, api, in_and_out, make_site, shop):
    """While others may still be lost: a queue that was deleted or is on hold admits nobody."""
    queue, site, browser = in_and_out()
    gone = api.queue()
    assert api.admin("DELETE", f"/queues/{gone}").status == 204
    deleted = make_site(gone)
    assert api.admin("PATCH", f"/queues/{queue}", {"activation": "hold"}).status == 200
    former = with_pass(parts, deleted, browser.gate_pass(queue), queue=gone)
    replace_queue_workers(parts, lambda: parts.redis.hdel("sluice:tenures", "complete"))
    shop.forget()
    not_configured(former, "/")
    for _ in range(4):
        assert browser.ask().face == "HOLD"
    assert shop.seen() == []
