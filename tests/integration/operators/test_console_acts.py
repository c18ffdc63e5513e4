"""What the console does and asks: every action on two hosts within a second, why a member waits, and dry runs of the gate."""

import pytest

from lib import fastcgi
from lib.api import some_name
from lib.client import assert_problem
from lib.gate import Visitor
from lib.wait import until, within


@pytest.fixture
def second_host(parts):
    """The queue pool of another host, beside the first."""
    return parts.add_host("second", "queue")


def seen_by(socket, queue):
    answer = fastcgi.together([(socket, f"/v1/queues/{queue}")])[0]
    return answer.json() if answer.status == 200 else {}


ACTIONS = [("pause", "PAUSED"), ("resume", "OPEN"), ("drain", "DRAINING"), ("resume", "OPEN"), ("sold-out", "SOLD_OUT"),
           ("resume", "OPEN")]


def test_every_action_holds_on_two_hosts_within_a_second(parts, api, second_host):
    queue = api.queue(maxActive=1)
    hosts = [parts.socket("queue"), second_host]
    for action, state in ACTIONS:
        api.act(queue, action)
        within(1.0, lambda: [seen_by(host, queue).get("state") for host in hosts] == [state] * 2, action)
    for settings, check in (({"message": "Soon"}, lambda it: it["message"] == "Soon"),
                            ({"activation": "hold"}, lambda it: it["activation"] == "hold"),
                            ({"activation": "on"}, lambda it: it["activation"] == "on")):
        api.admin("PATCH", f"/queues/{queue}", settings)
        within(1.0, lambda: all(check(seen_by(host, queue)) for host in hosts), str(settings))
    epoch = seen_by(second_host, queue)["epoch"]
    api.act(queue, "reset")
    within(1.0, lambda: [seen_by(host, queue)["epoch"] for host in hosts] == [epoch + 1] * 2, "reset")
    members = [api.member() for _ in range(4)]
    for member in members:
        member.enter(queue)
    until(lambda: api.stats(queue)["ready"] == 1, 5)
    api.admin("PATCH", f"/queues/{queue}", {"maxActive": 3})
    within(1.0, lambda: api.stats(queue)["ready"] == 3, "places")
    api.admin("PATCH", f"/queues/{queue}", {"ratePerSecond": 0, "burst": None, "maxActive": 9})
    parts.wait_tick(queue)
    assert api.stats(queue)["ready"] == 3, "nobody at rate 0"
    api.admin("PATCH", f"/queues/{queue}", {"ratePerSecond": 100})
    within(1.0, lambda: api.stats(queue)["ready"] == 4, "rate")


class TestWhy:
    @pytest.fixture
    def why(self, api):
        def why(queue, member):
            answer = api.admin("GET", f"/queues/{queue}/members/{member.name}")
            assert answer.status == 200, answer.body
            return answer["why"]
        return why

    def test_says_what_a_member_waits_for(self, api, why):
        queue = api.queue(maxActive=1)
        first, second = api.ready_member(queue), api.member()
        assert "knows it" in why(queue, first)
        assert "Is not in the queue" in why(queue, second)
        second.enter(queue)
        assert "0 before; every place is taken (1 of 1)" in why(queue, second)
        api.admin("PATCH", f"/queues/{queue}", {"maxActive": 2, "ratePerSecond": 0, "burst": None})
        assert "rate is 0" in why(queue, second)
        api.act(queue, "pause")
        assert "an operator has paused" in why(queue, second)
        api.admin("PATCH", f"/queues/{queue}", {"activation": "hold"})
        assert "on hold" in why(queue, second)

    def test_says_what_keeps_everyone(self, parts, api, why):
        queue = api.queue(opensAt="2100-01-01T00:00:00Z")
        member = api.member()
        member.enter(queue)
        assert "not open yet, it opens at 2100-01-01T00:00:00.000Z" in why(queue, member)
        parts.schedulers[0].stop()
        api.admin("PATCH", f"/queues/{queue}", {"opensAt": None})
        until(lambda: "no scheduler leads" in why(queue, member), 5)

    def test_says_that_somebody_was_not_seen(self, api, why):
        queue, member = api.queue(), api.member()
        member.enter(queue)
        until(lambda: "has not been seen since: after 90 s" in why(queue, member), 5)

    def test_says_that_somebody_has_ordered(self, api, why):
        queue = api.queue(releaseOn="payment")
        sku, member = api.product(queue), api.ready_member(queue)
        order = member.order(queue, [{"sku": sku, "quantity": 1}])
        assert order["id"] in why(queue, member)


class TestDryRun:
    @pytest.fixture
    def dry(self, api):
        def dry(queue, key=None, **body):
            answer = api.call("POST", "/v1/admin/gate/dry-run", {"Authorization": f"Bearer {key or api.viewer_key}"},
                              {"queue": queue, "url": "/", **body})
            assert answer.status == 200, answer.body
            return answer.json
        return dry

    def test_judges_as_the_gate_does_and_changes_nothing(self, visitor_queue, make_site, api, dry):
        queue = visitor_queue(maxActive=1, entryTtlSeconds=300, tickMs=100)
        site = make_site(queue)
        inside, waiting = Visitor(site.port), Visitor(site.port)
        inside.come_in()
        waiting.ask(), waiting.ask()
        before = api.stats(queue)
        cookies = lambda visitor: "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
        said = dry(queue, cookie=cookies(inside))
        assert (said["through"], said["verdict"], said["subject"], said["pass"]) == \
            (True, "pass", inside.visitor_id(), "good")
        said = dry(queue, cookie=cookies(waiting))
        assert (said["through"], said["subject"]) == (False, waiting.visitor_id()) and "every place" in said["why"]
        assert dry(queue, member=waiting.visitor_id())["why"] == said["why"]
        assert dry(queue)["subject"] is None and "enters the line" in dry(queue)["why"]
        assert "takes no place" in dry(queue, client="app")["why"]
        api.admin("POST", f"/queues/{queue}/members/{inside.visitor_id()}/evict")
        until(lambda: dry(queue, cookie=cookies(inside))["pass"] == "ended by an operator or the site", 2)
        counted = ("entered", "admitted", "waiting")
        until(lambda: [api.stats(queue)[name] - before[name] for name in counted] == [0, 1, -1], 5,
              "only the next one came in")

    def test_a_path_of_any_bytes_is_shown(self, visitor_queue, dry):
        assert dry(visitor_queue(), url="/a%ff\u00e9%c3%a9%0a")["path"] == "/a\ufffd\u00e9\u00e9\n"

    @pytest.mark.parametrize("settings, body, through, verdict", [
        ({"activation": "off"}, {}, True, "off"), ({"activation": "watch"}, {}, True, "watch"),
        ({"activation": "hold"}, {}, False, "hold"), ({"admitWhenIdle": True}, {}, True, "enter"),
        ({"admitWhenIdle": True}, {"client": "fetch"}, False, "wait"),
        ({"bypass": {"paths": ["/pay"]}}, {"url": "https://shop.test/a/../%70ay/x?y#z"}, True, "bypass"),
        ({"bypass": {"paths": ["/pay"]}}, {"url": "/payment"}, False, "wait"),
        ({"bypass": {"networks": ["10.0.0.0/8"]}}, {"address": "10.1.2.3"}, True, "bypass"),
        ({"identity": "member"}, {"member": "kim"}, False, "wait")])
    def test_says_which_rule_decides(self, visitor_queue, dry, settings, body, through, verdict):
        said = dry(visitor_queue(**{"maxActive": 10, **settings}), **body)
        assert (said["through"], said["verdict"]) == (through, verdict) and said["why"]

    def test_shows_the_path_that_rules_see(self, visitor_queue, dry):
        queue = visitor_queue()
        for url, path in (("/a//b/./c/../d", "/a/b/d"), ("/../../x/", "/x/"), ("http://shop.test", "/"), ("/%7Ea/..", "/")):
            assert dry(queue, url=url)["path"] == path

    @pytest.mark.parametrize("body", [{"url": "x"}, {"url": "/%zz"}, {"url": 1}, {"url": "/", "client": "robot"},
                                      {"url": "/", "member": "a b"}, {"url": "/", "address": "x"}, {"url": "/", "cookie": "x" * 9000},
                                      {"url": "/" + "x" * 5000}])
    def test_dry_run_rejects_invalid_requests(self, api, body):
        queue = api.still_queue()
        assert_problem(api.admin("POST", "/gate/dry-run", {"queue": queue, **body}), 400, "INVALID_REQUEST")

    def test_needs_a_queue_and_a_key(self, api):
        assert_problem(api.admin("POST", "/gate/dry-run", {"queue": some_name("none"), "url": "/"}), 404, "NOT_FOUND")
        assert_problem(api.admin("POST", "/gate/dry-run", {"queue": "No", "url": "/"}), 400, "INVALID_REQUEST")
        assert_problem(api.call("POST", "/v1/admin/gate/dry-run", {}, {}), 401, "UNAUTHENTICATED")

    @pytest.mark.parametrize("known", [False, True], ids=["never-seen", "seen"])
    def test_tells_a_lost_queue_from_a_deleted_one(self, parts, api, visitor_queue, dry, known):
        """Also where a worker still has its settings. The routes about a member say the same."""
        queue, member = visitor_queue(), f"/members/{some_name('m')}"
        deleted = api.queue()
        assert api.admin("DELETE", f"/queues/{deleted}").status == 204
        if known:
            for _ in range(8):
                dry(queue)
        parts.forget_everything()
        for name, status, code in ((queue, 503, "ADMISSION_UNAVAILABLE"), (deleted, 404, "NOT_FOUND")):
            for body in ({}, {"member": "v~" + 22 * "A"}):
                assert_problem(api.admin("POST", "/gate/dry-run", {"queue": name, "url": "/", **body}), status, code)
            assert_problem(api.admin("GET", f"/queues/{name}{member}"), status, code)
            assert_problem(api.admin("POST", f"/queues/{name}{member}/evict"), status, code)
