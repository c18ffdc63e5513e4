"""What the console and reports are made of: the overview, the history, what is left, and the checklist."""

import subprocess
import time
from datetime import datetime, timezone

import pytest

from lib.client import assert_problem
from lib.wait import until


def rfc3339(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def viewer(api):
    """Asks with the viewer's key."""
    def viewer(path):
        return api.call("GET", f"/v1/admin{path}", {"Authorization": f"Bearer {api.viewer_key}"})
    return viewer


def series(parts, queue, *samples):
    """Puts samples into Redis as the scheduler would."""
    parts.redis.rpush(f"sluice:{{{queue}}}:series", *samples)


def test_the_overview_says_what_stats_say(api, viewer):
    queue = api.still_queue()
    for _ in range(3):
        api.member().enter(queue)
    answer = viewer("/overview?samples=2")
    assert answer.status == 200 and answer["role"] == "viewer" and answer["redis"] and answer["postgres"]
    mine = next(one for one in answer["queues"] if one["queue"] == queue)
    stats, settings = api.stats(queue), api.admin("GET", f"/queues/{queue}").json
    assert mine["settings"] == settings
    changes = ("serverTime", "series")
    assert {k: v for k, v in mine["stats"].items() if k not in changes} == \
        {k: v for k, v in stats.items() if k not in changes}
    assert len(mine["stats"]["series"]) <= 2
    assert answer["service"]["paymentsStuck"] == 0
    assert api.admin("GET", "/overview")["role"] == "operator"
    assert_problem(api.call("GET", "/v1/admin/overview"), 401, "UNAUTHENTICATED")
    assert_problem(viewer("/overview?samples=61"), 400, "INVALID_REQUEST")


def test_the_overview_goes_on_without_one_store(parts, api, viewer):
    queue = api.still_queue()
    api.member().enter(queue)

    def seen():
        answer = viewer("/overview")
        return answer, {one["queue"]: one for one in answer["queues"]}.get(queue)
    parts.postgres.stop()
    answer, mine = seen()
    assert (answer["redis"], answer["postgres"], answer["service"]) == (True, False, None)
    assert mine["settings"] is None and mine["stats"]["waiting"] == 1
    parts.postgres.start()
    until(lambda: seen()[0]["postgres"], 10, "PostgreSQL again")
    parts.redis_server.stop()
    answer, mine = seen()
    assert (answer["redis"], answer["postgres"]) == (False, True)
    assert mine["settings"]["queue"] == queue and mine["stats"] is None
    items = {item["name"]: item for item in viewer(f"/checklist?queue={queue}")["items"]}
    assert items["redis"]["state"] == "fail" and items["redis"]["do"] and items["opening"]["queue"] == queue


def test_the_last_quarter_of_an_hour_is_written_down_once(parts, api, viewer):
    queue = api.still_queue()
    minute = int(time.time()) // 60 * 60
    long_ago = minute - 14 * 60
    parts.redis.delete(f"sluice:{{{queue}}}:series")
    series(parts, queue,
           f"{long_ago + 1},9,0,0,9,0,0,0,0",              # a sample of the release before
           f"{long_ago + 58},5,1,0,9,3,2,1,0,1,12500,40,90,120,2,7,8",
           f"{long_ago + 59},4,2,1,9,4,3,1,1,1,12500,30,80,100,3,,9",
           f"{minute - 60},3,0,0,9,5,4,1,1,1,12000,,,,3,6,9",
           f"{minute + 61},1,0,0,9,8,7,1,1,1,12000,,,,3,6,9")  # of a minute that is not over
    path = f"/queues/{queue}/history"
    assert viewer(path)["points"] == []
    parts.reconcile()
    answer = viewer(f"{path}?from={rfc3339(long_ago)}&step=60")
    assert answer.status == 200 and answer["step"] == 60 and answer["queue"] == queue
    first, last = answer["points"][0], answer["points"][-1]
    assert first == {
        "at": rfc3339(long_ago).replace("Z", ".000Z"), "waiting": 4, "ready": 2, "claimed": 1, "entered": 9,
        "admitted": 4, "consumed": 3, "expired": 1, "left": 1, "withdrawn": 1, "ratePerSecond": 12.5,
        "orderP50Ms": 40, "orderP95Ms": 90, "orderP99Ms": 120, "promisedWaitSeconds": None, "actualWaitSeconds": 9,
        "orderErrors": 3}
    assert last["at"] == rfc3339(minute - 60).replace("Z", ".000Z") and last["orderP95Ms"] is None
    again = viewer(f"{path}?from={rfc3339(long_ago)}&step=60")["points"]
    parts.reconcile()
    assert viewer(f"{path}?from={rfc3339(long_ago)}&step=60")["points"][:len(again)] == again
    hours = viewer(f"{path}?from={rfc3339(minute - 3600)}&to={rfc3339(minute)}&step=3600")["points"]
    assert max(point["orderP95Ms"] or 0 for point in hours) == 90, "of many minutes the worst"
    assert hours[-1]["admitted"] == 5, "and the last count"


def test_old_history_goes(parts, api, viewer):
    queue = api.still_queue()
    put = "INSERT INTO queue_history VALUES (%s, now() - %s::interval, 1, 0, 0, 1, 0, 0, 0, 0)"
    for age in ("29 days", "31 days"):
        parts.postgres.query(put, queue, age)
    parts.reconcile()
    ages = parts.postgres.query("SELECT now() - minute < interval '30 days' FROM queue_history WHERE queue = %s", queue)
    assert ages and all(young for young, in ages)


@pytest.mark.parametrize("query", ["?step=59", "?step=90", "?step=x", "?from=yesterday",
                                   "?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
                                   "?from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z&step=60"])
def test_history_is_bounded(api, query):
    assert_problem(api.admin("GET", f"/queues/{api.still_queue()}/history{query}"), 400, "INVALID_REQUEST")


def test_history_of_years_comes_in_long_steps(api):
    answer = api.admin("GET", f"/queues/{api.still_queue()}/history?from=2020-01-01T00:00:00Z")
    assert answer.status == 200 and answer["step"] % 60 == 0 and answer["step"] > 60
    assert_problem(api.admin("GET", "/queues/nowhere/history"), 404, "NOT_FOUND")


def test_what_is_left(api, viewer):
    queue = api.queue()
    sku = api.product(queue, stock=5)
    show = api.show(queue, ["A-1", "A-2"], amount=0)
    event = api.coupon_event(queue, coupons=3)
    buyer = api.ready_member(queue)
    assert buyer.order(queue, [{"sku": sku, "quantity": 2}]).status == 201
    left = {good["kind"]: (good["id"], good["total"], good["sold"], good["left"], good["costs"])
            for good in viewer(f"/queues/{queue}/goods")["goods"]}
    assert left == {"product": (sku, 5, 2, 3, True), "show": (show, 2, 0, 2, False),
                    "coupon-event": (event, 3, 0, 3, False)}
    assert_problem(viewer("/queues/nowhere/goods"), 404, "NOT_FOUND")


class TestTheChecklist:
    TIERS = [{"upToRank": 100, "seconds": 1}, {"upToRank": None, "seconds": 80}]

    @pytest.fixture
    def items(self, viewer):
        def items(queue):
            answer = viewer(f"/checklist?queue={queue}")
            assert answer.status == 200, answer.body
            for item in answer["items"]:
                assert bool(item["do"]) == (item["state"] != "ok"), item
            return {item["name"]: item for item in answer["items"]}
        return items

    def test_finds_nothing_on_a_sound_system(self, parts, api, items):
        queue = api.queue(opensAt="2100-01-01T00:00:00Z", message="Soon")
        api.product(queue, amount=0)
        parts.reconcile()
        found = until(lambda: (f := items(queue)) and f["scheduler"]["state"] == "ok" and f, 5, "a leader")
        assert {name: item["detail"] for name, item in found.items() if item["state"] != "ok"} == {}
        assert "Soon" in found["message"]["detail"]

    @pytest.mark.parametrize("name, state, settings", [
        ("opening", "fail", {"closesAt": "2020-01-01T00:00:00Z"}),
        ("gate", "warn", {"activation": "watch"}), ("gate", "warn", {"activation": "hold"}),
        ("rate", "fail", {"ratePerSecond": 0, "burst": None}), ("stock", "warn", {}),
        ("recovery", "warn", {"recoverySeconds": 37}), ("pickup", "warn", {"pickupSeconds": 37}),
        # The longest poll interval of these is 100 s.
        ("recovery", "warn", {"recoverySeconds": 99, "pollTiers": TIERS}), ("recovery", "ok", {"recoverySeconds": 100, "pollTiers": TIERS}),
        ("pickup", "warn", {"pickupSeconds": 100, "pollTiers": TIERS}), ("pickup", "ok", {"pickupSeconds": 101, "pollTiers": TIERS})])
    def test_finds_what_is_set_wrongly(self, api, items, name, state, settings):
        assert items(api.queue(**settings))[name]["state"] == state

    def test_finds_what_is_missing(self, parts, api, items):
        queue = api.queue()
        api.product(queue, stock=0)
        api.act(queue, "pause")
        found = items(queue)
        assert (found["stock"]["state"], found["opening"]["state"]) == ("fail", "warn")
        api.product(queue, stock=1)
        assert items(queue)["payment-provider"]["state"] == "warn"
        parts.schedulers[0].stop()
        until(lambda: items(queue)["scheduler"]["state"] == "fail", 5, "no leader")
        parts.redis.delete(f"sluice:{{{queue}}}:settings")
        assert items(queue)["settings"]["state"] == "fail"
        parts.postgres.query("UPDATE program_pass SET finished_at = now() - interval '1 hour'")
        assert items(queue)["reconcile"]["state"] == "fail"

    def test_looks_at_the_certificate(self, parts, api, items, tmp_path):
        file, queue = tmp_path / "site.pem", api.queue()
        tmp_path.chmod(0o755)

        def good_for(days):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", tmp_path / "key",
                            "-out", file, "-days", str(days), "-subj", "/CN=shop.test"], check=True, capture_output=True)
        try:
            parts.reconfigure("operator", tls_certificate_file=file)
            assert items(queue)["certificate"]["state"] == "fail", "it is not there"
            for days, state in ((90, "ok"), (10, "warn"), (1, "fail")):
                good_for(days)
                assert items(queue)["certificate"]["state"] == state
        finally:
            del parts.settings["tls_certificate_file"]
            parts.reconfigure("operator")

    def test_is_for_those_who_have_a_key(self, api):
        assert_problem(api.call("GET", "/v1/admin/checklist"), 401, "UNAUTHENTICATED")
        assert_problem(api.admin("GET", "/checklist?queue=nowhere"), 404, "NOT_FOUND")
        assert_problem(api.admin("GET", "/checklist?queue=No"), 400, "INVALID_REQUEST")
