"""Whose request it is: nobody loses a place by another cookie, a login or a change of mode, or gains one by an old pass."""

from datetime import datetime, timedelta, timezone

from lib.gate import FETCH, Visitor
from lib.wait import until


def in_line(site):
    """A browser that has taken its place."""
    browser = Visitor(site.port)
    browser.ask()
    assert browser.ask().face == "WAITING"
    return browser


def test_a_visitor_cookie_of_another_day_costs_no_place(visitor_queue, make_site, api):
    """The ticket tells who waits here, and the pass who is in; the cookie beside them is put right."""
    queue = visitor_queue(ratePerSecond=0)
    site = make_site(queue)
    browser, other = in_line(site), in_line(site)
    own = browser.visitor_id()
    browser.cookies["sluice_visitor"] = other.cookies["sluice_visitor"]
    reply = browser.ask()
    assert (reply.face, reply.state["rank"]) == ("WAITING", 0) and "sluice_visitor" in reply.set_cookies
    browser.cookies["sluice_visitor"] = other.cookies["sluice_visitor"]
    api.admin("PATCH", f"/queues/{queue}", {"ratePerSecond": 50})
    browser.come_in()
    assert browser.gate_pass(queue).subject == own
    browser.cookies["sluice_visitor"] = other.cookies["sluice_visitor"]
    assert browser.is_through() and browser.gate_pass(queue).subject == own
    assert api.stats(queue)["entered"] == 2


def test_logging_in_costs_a_visitor_no_place(visitor_queue, make_site, api):
    queue = visitor_queue(ratePerSecond=0)
    site = make_site(queue, lines=["set $sluice_member $cookie_login;"])
    browser = in_line(site)
    own = browser.visitor_id()
    browser.cookies["login"] = "alice"
    reply = browser.ask()
    assert (reply.face, reply.state["rank"]) == ("WAITING", 0)
    asked = browser.ask(f"/_sluice/queues/{queue}/position", headers=FETCH)
    assert (asked.status, asked.json["rank"]) == (200, 0)
    api.admin("PATCH", f"/queues/{queue}", {"ratePerSecond": 50})
    browser.come_in()
    assert browser.gate_pass(queue).subject == own and api.stats(queue)["entered"] == 1


def test_an_ended_pass_is_worth_nothing_after_a_loss(parts, visitor_queue, make_site, api):
    """Passes collected over a day do not all come back at once."""
    queue = visitor_queue(entryTtlSeconds=1, recoverySeconds=3600)
    site = make_site(queue)
    browser = Visitor(site.port)
    browser.come_in()
    name = f"sluice_pass-{queue}"
    thief = Visitor(site.port, keeps=False)
    thief.cookies = {name: browser.cookies[name]}
    until(lambda: not thief.is_through(), 10, "the end of the visit", every=0.3)
    parts.forget_everything()
    parts.reconcile_until(lambda: parts.redis.exists(f"sluice:{{{queue}}}:settings"), 20, "the queue is back")
    until(lambda: api.call("GET", f"/v1/queues/{queue}").status == 200, 5, "an answer for everyone")
    assert not any(thief.is_through() for _ in range(10))
    assert api.stats(queue)["ready"] == 0


def test_a_watched_visitor_is_not_asked_to_allow_cookies(visitor_queue, make_site, api):
    """While the gate watched, the pass was the only cookie."""
    queue = visitor_queue(activation="watch", ratePerSecond=0)
    site = make_site(queue)
    browser = Visitor(site.port)
    assert browser.ask().set_cookies == [f"sluice_pass-{queue}"]
    past = (datetime.now(timezone.utc) - timedelta(seconds=1)).isoformat()
    api.admin("PATCH", f"/queues/{queue}", {"activation": "on", "closesAt": past})
    until(lambda: not browser.copy().is_through(), 5, "the gate", every=0.1)
    assert browser.ask().face == "CLOSED"
    api.admin("PATCH", f"/queues/{queue}", {"closesAt": None})
    assert browser.ask(f"/_sluice/queues/{queue}/entries", "POST", headers=FETCH).status == 201


def test_a_script_is_told_the_place_of_its_browser(visitor_queue, make_site, api):
    """And no place that a reset has ended, or another screen has taken over; it takes and moves none itself."""
    queue = visitor_queue(ratePerSecond=0)
    site = make_site(queue)
    browser, _ = in_line(site), in_line(site)

    def told():
        reply = browser.ask("/api/stock", headers=FETCH)
        assert (reply.status, reply.set_cookies) == (503, [])
        return reply.json.get("position", {}).get("status"), reply.json["detail"]
    assert told() == ("WAITING", "You are waiting in line. Your place is kept.")
    assert browser.ask("/api/stock", headers=FETCH).json["position"]["rank"] == 0
    elsewhere = browser.copy()
    del elsewhere.cookies[f"sluice_ticket-{queue}"]
    assert elsewhere.ask(f"/_sluice/queues/{queue}/entries", "POST", headers=FETCH).status == 200
    assert told() == (None, "Your place was taken over on another screen.")
    api.act(queue, "reset")
    status, detail = told()
    assert status == "NOT_ENTERED" and "Load the page" in detail
    assert api.stats(queue)["entered"] == 2
    assert browser.ask().face == "WAITING" and told()[0] == "WAITING"
    assert api.stats(queue)["entered"] == 3
