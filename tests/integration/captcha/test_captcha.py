"""Captchas before coupons: proof of work, a provider's captcha, and one for the other. None of it costs the place."""

import copy
import json
import re
import subprocess
import time
from datetime import datetime, timedelta, timezone

import pytest

from lib import altcha, tokens
from lib.api import some_name
from lib.client import assert_problem
from lib.project import ROOT
from lib.siteverify import SECRET, Siteverify, token
from lib.wait import until

HEX = re.compile(r"[0-9a-f]+")


def at(seconds):
    moment = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Event:
    """A coupon event with a queue of its own."""

    def __init__(self, api, captcha, opens=-60):
        self.api, self.captcha, self.name, self.queue = api, captcha, some_name("e"), api.queue()
        self.put(opens)
        answer = api.admin("POST", f"/coupon-events/{self.name}/codes", {"generate": 20})
        assert answer.status in (200, 201), answer.body

    def put(self, opens):
        answer = self.api.admin("PUT", f"/coupon-events/{self.name}", {
            "name": "Event", "queue": self.queue, "opensAt": at(opens), "endsAt": at(7200), "captcha": self.captcha})
        assert answer.status in (200, 201), answer.body

    def member(self):
        return self.api.ready_member(self.queue)

    def issue_call(self, member, captcha=None):
        body = {} if captcha is None else {"captcha": captcha}
        return ("POST", f"/v1/coupon-events/{self.name}/coupons", member.headers(X_Entry_Token=member.token), body)

    def issue(self, member, captcha=None):
        return self.api.call(*self.issue_call(member, captcha))

    def challenge(self, member):
        answer = self.api.call("GET", f"/v1/captcha/challenge?event={self.name}", member.headers())
        assert answer.status == 200, answer.body
        return answer.json

    def solved(self, member):
        return altcha.answer(self.challenge(member))


@pytest.fixture
def event(api):
    return Event(api, "altcha")


def refused(answer):
    return assert_problem(answer, 403, "CAPTCHA_FAILED")["detail"]


# Proof of work

def test_a_challenge_has_every_field_and_no_member(api, event):
    member = api.member()
    answer = api.call("GET", f"/v1/captcha/challenge?event={event.name}", member.headers())
    assert answer.status == 200 and answer.headers["cache-control"] == "no-store"
    parameters = answer["parameters"]
    assert list(answer.json) == ["parameters", "signature"] and list(parameters) == sorted(parameters)
    assert (parameters["algorithm"], parameters["cost"], parameters["keyLength"]) == ("SHA-256", 1, 32)
    assert 290 <= parameters["expiresAt"] - time.time() <= 301
    for name, length in (("nonce", 32), ("salt", 32), ("keyPrefix", 32), ("keySignature", 64)):
        assert HEX.fullmatch(parameters[name]) and len(parameters[name]) == length
    assert parameters["data"]["event"] == event.name and member.name not in answer.body.decode()
    assert 20_000 <= altcha.solve(answer.json)["counter"] <= 60_000
    assert event.challenge(member) != answer.json


def test_who_gets_no_challenge(api):
    member = api.member()
    assert_problem(api.call("GET", "/v1/captcha/challenge?event=e"), 401, "UNAUTHENTICATED")
    for query in ("?event=", "?event=A", "?event=a%22b", "?event=" + "a" * 64):
        assert_problem(api.call("GET", f"/v1/captcha/challenge{query}", member.headers()), 400, "INVALID_REQUEST")
    for path in ("/v1/captcha", "/v1/captcha/", "/v1/captcha/challenge/"):
        assert_problem(api.call("GET", path, member.headers()), 404, "NOT_FOUND")
    assert_problem(api.call("POST", "/v1/captcha/challenge?event=e", member.headers()), 405, "METHOD_NOT_ALLOWED")


def test_a_solved_challenge_gets_the_coupon(event):
    member = event.member()
    assert event.issue(member, event.solved(member)).status == 201


def test_a_challenge_without_an_event_is_for_any(api):
    """For its caller alone, and once: used at one event it is used up for every other."""
    first, second = Event(api, "altcha"), Event(api, "altcha")
    member, other = first.member(), first.member()
    answer = api.call("GET", "/v1/captcha/challenge", member.headers())
    assert answer.status == 200 and member.name not in answer.body.decode()
    solution = altcha.answer(answer.json)
    assert "another" in refused(first.issue(other, solution))
    assert first.issue(member, solution).status == 201
    assert "used before" in refused(second.issue(api.ready_member(second.queue, member.name), solution))


def test_what_is_refused_costs_no_place(event):
    member = event.member()
    challenge = event.challenge(member)
    solution = altcha.solve(challenge)

    def changed(where, value):
        other = copy.deepcopy({"challenge": challenge, "solution": solution})
        at = other
        for name in where[:-1]:
            at = at[name]
        at[where[-1]] = value
        return altcha.pack(other)

    parameters = ("challenge", "parameters")
    hostile = {
        "nothing": None, "empty": "", "no base64": "???", "no JSON": "AAAA",
        "the widget's test mode": altcha.pack({"challenge": None, "solution": None, "test": True}),
        "longer": changed((*parameters, "expiresAt"), challenge["parameters"]["expiresAt"] + 9999),
        "another event": changed((*parameters, "data", "event"), "other"),
        "cheaper": changed((*parameters, "keyPrefix"), "00" * 16),
        "another nonce": changed((*parameters, "nonce"), "00" * 16),
        "more": changed((*parameters, "more"), 1),
        "another signature": changed(("challenge", "signature"), "0" * 64),
        "another counter": changed(("solution", "counter"), solution["counter"] + 1),
        "another key": changed(("solution", "derivedKey"), "0" * 64),
        "half of the key": changed(("solution", "derivedKey"), challenge["parameters"]["keyPrefix"] + "0" * 32),
        "no work": altcha.answer(challenge, altcha.derived(challenge, 7)),
        "deep": altcha.pack({"challenge": [[[[[[[[[[[[[]]]]]]]]]]]]], "solution": {}}),
        "long": altcha.pack({"challenge": challenge, "solution": solution, "pad": "x" * 4000}),
    }
    for name, text in hostile.items():
        assert refused(event.issue(member, text)), name
        assert member.position(event.queue)["status"] == "READY", name
    assert event.issue(member, altcha.answer(challenge, solution)).status == 201


def test_it_is_the_member_s_own_and_this_event_s(api, event):
    other_event = Event(api, "altcha")
    one, two, elsewhere = event.member(), event.member(), other_event.member()
    solved = event.solved(one)
    assert "another person" in refused(event.issue(two, solved))
    assert "another event" in refused(other_event.issue(elsewhere, solved))
    assert event.issue(one, solved).status == 201
    assert event.issue(two, event.solved(two)).status == 201


def test_an_expired_challenge_is_refused(parts, event):
    """Signed by the right key, and expired for a second: as if the member had taken too long."""
    member = event.member()
    challenge = event.challenge(member)
    data = challenge["parameters"]["data"]
    old = opinion(parts, None, data, expires=time.time() - 1)
    assert "time" in refused(event.issue(member, old))
    assert event.issue(member, opinion(parts, None, data, expires=time.time() + 20)).status == 201


def test_a_solution_counts_for_one_entry_token(parts, api):
    event = Event(api, "altcha", opens=3600)
    member = event.member()
    solved = event.solved(member)
    for _ in range(3):
        assert_problem(event.issue(member, solved), 403, "EVENT_NOT_OPEN")  # the captcha holds: the same request again
    first = member.token
    assert member.leave(event.queue).status in (200, 204)
    assert member.enter(event.queue).status == 201
    member.wait_ready(event.queue)
    assert member.token != first
    event.put(-60)
    assert "used before" in refused(event.issue(member, solved))
    assert event.issue(member, event.solved(member)).status == 201
    keys = [key for key in parts.redis.scan_iter("sluice:*:captcha")]
    assert keys and all(0 < parts.redis.pttl(key) <= 360_000 for key in keys)


def test_one_solution_in_parallel_gets_one_coupon(event):
    member = event.member()
    answers = event.api.together([event.issue_call(member, event.solved(member))] * 20)
    assert [answer.status for answer in answers].count(201) == 1
    for answer in answers:
        assert answer.status in (200, 201) or answer.code in ("ORDER_IN_PROGRESS", "ENTRY_TOKEN_INVALID"), answer.body


def test_without_redis_nobody_passes_unseen(parts, event):
    member = event.member()
    solved = event.solved(member)
    event.issue(event.member(), "x")  # the workers know the event
    parts.redis_server.process.kill()
    answer = event.issue(member, solved)
    assert answer.status == 503
    parts.start_redis()
    until(lambda: event.issue(member, solved).status == 201, 20, "coupon")


# ALTCHA's own library

def secrets_of(parts):
    """What the ring's key signs with, for each of its two purposes."""
    ring = (parts.secrets / "altcha.keys").read_text().strip().partition(":")[2]
    key = tokens.Hs256(tokens.decode(ring))
    return {name: tokens.encode(key.sign(f"sluice altcha {name}\n".encode())) for name in ("challenge", "key")}


def opinion(parts, challenge=None, data=None, expires=None):
    """Has the library solve a challenge, or make one for `data`; gives its payload."""
    return library(parts, challenge, data, expires)["payload"]


def library(parts, challenge=None, data=None, expires=None):
    given = json.dumps({"challenge": challenge, "data": data, "secrets": secrets_of(parts), "expires": expires and
                        int(expires)})
    done = subprocess.run(["node", ROOT / "tests" / "tools" / "altcha_library.mjs"], input=given, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_library_understands_our_challenges(parts, event):
    member = event.member()
    found = library(parts, event.challenge(member))
    assert (found["verified"], found["tampered"]) == (True, False)
    assert event.issue(member, found["payload"]).status == 201


def test_we_understand_the_library_s_challenges(parts, event):
    member = event.member()
    data = event.challenge(member)["parameters"]["data"]
    found = library(parts, None, data)
    assert (found["verified"], found["tampered"]) == (True, False)
    assert event.issue(member, found["payload"]).status == 201


# A provider's captcha

@pytest.fixture(scope="module")
def simulator(make_directory):
    simulator = Siteverify(make_directory("provider"))
    yield simulator
    simulator.stop()


@pytest.fixture
def provider(parts, simulator):
    """A function that sets the provider up, with further settings; it is taken away before a test without it."""
    secret = parts.secrets / "captcha.secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)

    def provider(**settings):
        parts.use_settings("provider", "order", captcha_siteverify_url=simulator.url(), captcha_secret_file=secret,
                   captcha_timeout_ms=300, **settings)
        return simulator

    simulator.fault()
    yield provider
    simulator.fault()


def test_a_provider_s_captcha(api, provider):
    simulator = provider(captcha_hostname="shop.test", captcha_action="coupon")
    event = Event(api, "siteverify")
    member = event.member()
    assert refused(event.issue(member))
    assert refused(event.issue(member, "nonsense"))
    assert refused(event.issue(member, token("evil.test", "coupon")))
    assert refused(event.issue(member, token("shop.test", "login")))
    assert refused(event.issue(member, token("shop.test", "coupon", age=1000)))
    assert refused(event.issue(member, event.solved(member)))
    assert member.position(event.queue)["status"] == "READY"
    solved = token("shop.test", "coupon")
    assert event.issue(member, solved).status == 201
    before = len(simulator.asked())
    assert refused(event.issue(event.member(), solved))
    assert len(simulator.asked()) == before  # we know it ourselves


def test_a_request_is_repeated_with_the_same_token(api, provider):
    """The provider would refuse it the second time."""
    simulator = provider()
    event = Event(api, "siteverify", opens=3600)
    member = event.member()
    solved = token()
    for _ in range(3):
        assert_problem(event.issue(member, solved), 403, "EVENT_NOT_OPEN")
    assert [question["response"] for question in simulator.asked()].count(solved) == 1
    event.put(-60)
    assert event.issue(member, solved).status == 201


def test_only_who_holds_an_entry_token_is_looked_at(api, provider):
    simulator = provider()
    event = Event(api, "siteverify")
    stranger = api.member()
    stranger.token = "A" * 43
    before = len(simulator.asked())
    assert_problem(event.issue(stranger, token()), 401, "ENTRY_TOKEN_INVALID")
    assert len(simulator.asked()) == before


@pytest.mark.parametrize("fault", ["silent", "drop", "status-500", "huge-chunks", "redirect", "no-json"])
def test_a_silent_provider_lets_nobody_pass(api, provider, fault):
    simulator = provider()
    event = Event(api, "siteverify")
    member = event.member()
    simulator.fault(fault)
    assert_problem(event.issue(member, token()), 503, "CAPTCHA_UNAVAILABLE")
    assert int(event.issue(member, event.solved(member)).headers["retry-after"]) >= 1
    assert member.position(event.queue)["status"] == "READY"
    simulator.fault()
    assert until(lambda: event.issue(member, token()).status == 201, 20, "coupon", every=0.2)


def test_a_silent_provider_does_not_hold_the_others_up(api, provider):
    simulator = provider()
    event, open_event = Event(api, "siteverify"), Event(api, "none")
    simulator.fault("silent")
    members = api.ready_members(event.queue, 40)
    before = len(simulator.asked())
    answers = api.together([event.issue_call(member, token()) for member in members])
    assert {answer.code for answer in answers} == {"CAPTCHA_UNAVAILABLE"}
    # Each of four workers asks three times and then no more, but for one that looks again after its rest: not forty times 300 ms.
    assert len(simulator.asked()) - before <= 3 * 4 + 8
    assert open_event.issue(open_event.member()).status == 201


def test_a_proof_of_work_in_its_place(api, provider):
    simulator = provider(captcha_fallback="altcha")
    event = Event(api, "siteverify")
    member, other = event.member(), event.member()
    assert "provider answers" in refused(event.issue(member, event.solved(member)))
    simulator.fault("silent")
    assert_problem(event.issue(member, token()), 503, "CAPTCHA_UNAVAILABLE")
    assert "another person" in refused(event.issue(other, event.solved(member)))
    assert event.issue(member, event.solved(member)).status == 201
    simulator.fault()
    assert until(lambda: "provider answers" in refused(event.issue(other, event.solved(other))), 20, "refusal",
                 every=0.2)
    assert until(lambda: event.issue(other, token()).status == 201, 20, "coupon", every=0.2)


def test_a_captcha_that_is_not_set_up_lets_nobody_pass(api, parts):
    event = Event(api, "siteverify")
    member = event.member()
    assert_problem(event.issue(member, token()), 503, "CAPTCHA_UNAVAILABLE")
    assert member.position(event.queue)["status"] == "READY"


@pytest.mark.parametrize("settings, why", [
    ({"captcha_siteverify_url": "http://example.com/siteverify", "captcha_secret_file": "SECRET"}, "https://"),
    ({"captcha_siteverify_url": "https://example.com/siteverify"}, "captcha_secret_file must be set"),
    ({"captcha_fallback": "altcha", "altcha_keys_file": ""}, "altcha_keys_file must be set"),
    ({"altcha_keys_file": "/nowhere"}, "/nowhere"),
    ({"captcha_fallback": "open"}, "closed, altcha"),
])
def test_settings_that_are_refused(parts, settings, why):
    secret = parts.secrets / "captcha.secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    environment = {f"SLUICE_{name.upper()}": str(secret) if value == "SECRET" else value
                   for name, value in settings.items()}
    done = subprocess.run([parts.build / "sluice-fcgi", "--pool", "order", "--check-config", "--config", parts.config],
                          env={**parts.environment, **environment}, capture_output=True, text=True, timeout=30)
    assert done.returncode == 78 and why in done.stderr, done.stderr


def test_nothing_secret_is_logged(parts, event):
    """After all of the above."""
    member = event.member()
    solved = event.solved(member)
    assert event.issue(member, solved).status == 201
    text = "".join(path.read_text(errors="replace") for path in parts.logs.glob("*.log"))
    assert SECRET not in text and "sim~" not in text and solved not in text
    assert (parts.secrets / "altcha.keys").read_text().strip().partition(":")[2] not in text
