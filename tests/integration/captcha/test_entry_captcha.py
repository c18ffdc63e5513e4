"""`entryCaptcha`: a new place in line costs a proof of work; nobody in line ever needs another."""

import pytest

from lib import altcha
from lib.client import assert_problem
from lib.gate import APP, FETCH, Visitor
from lib.wait import until


@pytest.fixture
def queue(api):
    return api.still_queue(entryCaptcha="altcha")


def challenge_of(api, queue, member):
    answer = api.call("GET", f"/v1/queues/{queue}/challenge", member.headers())
    assert answer.status == 200, answer.body
    assert answer.headers["cache-control"] == "no-store"
    return answer.json


def enter_with(api, queue, member, captcha):
    return api.call("POST", f"/v1/queues/{queue}/entries", member.headers(), {"captcha": captcha})


def test_members(api, queue):
    member, other = api.member(), api.member()
    problem = assert_problem(member.enter(queue), 403, "CAPTCHA_FAILED")
    assert problem["challenge"] == f"/v1/queues/{queue}/challenge"
    challenge = challenge_of(api, queue, member)
    good = altcha.answer(challenge)
    wrong = altcha.answer(challenge, altcha.derived(challenge, 5))
    for bad in (wrong, "x", "", altcha.pack({"challenge": challenge}), good[:-8], altcha.pack([])):
        assert_problem(enter_with(api, queue, member, bad), 403, "CAPTCHA_FAILED")
    assert_problem(enter_with(api, queue, other, good), 403, "CAPTCHA_FAILED")  # it was made for somebody else
    another = api.still_queue(entryCaptcha="altcha")
    assert_problem(enter_with(api, another, member, good), 403, "CAPTCHA_FAILED")
    for_coupon = api.call("GET", f"/v1/captcha/challenge?event={queue}", member.headers()).json
    assert_problem(enter_with(api, queue, member, altcha.answer(for_coupon)), 403, "CAPTCHA_FAILED")
    assert_problem(enter_with(api, queue, member, 5), 400, "INVALID_REQUEST")
    assert_problem(enter_with(api, queue, member, "e" * 2049), 400, "INVALID_REQUEST")
    assert api.stats(queue)["entered"] == 0
    entered = enter_with(api, queue, member, good)
    assert (entered.status, entered["rank"]) == (201, 0)
    # In line, none is needed, and a bad one does no harm: another screen, the same one, a poll.
    assert enter_with(api, queue, member, "x").status == 200 and member.enter(queue).status == 200
    assert member.position(queue)["rank"] == 0
    # Once is once, also for the same member.
    assert member.leave(queue).status == 204
    assert_problem(enter_with(api, queue, member, good), 403, "CAPTCHA_FAILED")
    assert api.stats(queue)["entered"] == 1


def test_of_many_who_send_one_proof_at_once_one_place_comes(api, queue):
    """Also from many screens of one member."""
    member = api.member()
    good = altcha.answer(challenge_of(api, queue, member))
    calls = [("POST", f"/v1/queues/{queue}/entries", member.headers(), {"captcha": good})] * 20
    statuses = [answer.status for answer in api.together(calls)]
    assert sorted(statuses) == [200] * 19 + [201] and api.stats(queue)["entered"] == 1


def test_a_place_survives_a_loss_without_another_proof(parts, api, queue):
    member = api.member()
    member.ticket = enter_with(api, queue, member, altcha.answer(challenge_of(api, queue, member)))["queueTicket"]
    parts.forget_everything()
    parts.reconcile_until(lambda: member.position(queue).status == 200)
    assert member.enter(queue).status == 200 and member.position(queue)["rank"] == 0


def test_a_visitor_without_a_cookie_gets_one_with_the_challenge(api):
    queue = api.still_queue(identity="visitor", entryCaptcha="altcha")
    assert_problem(api.call("POST", f"/v1/queues/{queue}/entries"), 403, "CAPTCHA_FAILED")
    first = api.call("GET", f"/v1/queues/{queue}/challenge")
    cookie = {"Cookie": first.headers["set-cookie"].split(";")[0]}
    body = {"captcha": altcha.answer(first.json)}
    assert_problem(api.call("POST", f"/v1/queues/{queue}/entries", {}, body), 403, "CAPTCHA_FAILED")
    assert api.call("POST", f"/v1/queues/{queue}/entries", cookie, body).status == 201


def test_the_gate_gives_no_place_without_a_proof(api, visitor_queue, make_site):
    """A page that keeps cookies is told where to get a challenge, and takes no place without; nor does an idle queue admit it."""
    queue = visitor_queue(entryCaptcha="altcha", admitWhenIdle=True)
    site = make_site(queue)
    browser = Visitor(site.port)
    assert browser.ask().face == "JOIN"
    page = browser.ask()
    assert (page.status, page.face) == (503, "PROOF") and api.stats(queue)["entered"] == 0
    assert page.state["challenge"] == f"/_sluice/queues/{queue}/challenge"
    app = Visitor(site.port, APP)
    app.cookies = dict(browser.cookies)
    refused = app.ask("/api/stock")
    assert (refused.status, refused.json["code"], refused.json["challenge"]) == (503, "WAITING", page.state["challenge"])
    challenge = browser.ask(page.state["challenge"], headers=FETCH)
    assert challenge.status == 200
    body = altcha.dump({"captcha": altcha.answer(challenge.json)})
    entered = browser.ask(page.state["entries"], "POST", {**FETCH, "Content-Type": "application/json"}, body)
    assert entered.status == 201 and entered.json["status"] == "READY"
    until(browser.is_through, 10, "the way in")
    nobody = Visitor(site.port, FETCH)
    assert nobody.ask(page.state["challenge"]).json["code"] == "COOKIES_REQUIRED"


def test_a_host_of_the_release_before_does_not_switch_it_off_for_long(parts, api, queue):
    """Its publication has fewer settings, and an unknown value for this one: reconcile publishes all of them again."""
    key = f"sluice:{{{queue}}}:settings"
    version = parts.redis.hget(key, "version")
    parts.redis.hdel(key, "packed", "publisherKnew", "mostKnown")
    parts.redis.hset(key, "entryCaptcha", "1")
    assert "queues published 1" in parts.reconcile()
    assert_problem(api.member().enter(queue), 403, "CAPTCHA_FAILED")
    assert parts.redis.hget(key, "version") == version
    assert "queues published 0" in parts.reconcile()
