"""The operators' console: what is seen in a rush, what is done, and what it says when something is wrong."""

import json
import re

import pytest

from lib.processes import Process
from lib.project import plain_build
from lib.sluicectl import Sluicectl
from lib.wait import until

QUEUE = "spring-sale"


@pytest.fixture
def console(running, browser):
    """A function that opens the console, with a key or without."""
    def console(key=None, screen="desktop", queue=None, **options):
        page = browser.page(screen=screen, **options)
        page.goto(f"http://127.0.0.1:{running.port}/_sluice/console/" + (f"#queue={queue}" if queue else ""))
        if key:
            page.wait("#key-form")
            page.fill("#key", key)
            page.click("#key-form button")
            page.wait("#tiles .number")
        return page
    return console


@pytest.fixture
def rush(running, api, make_directory):
    """A crowd of simulated shoppers before a queue that lets nobody in yet."""
    log = make_directory("rush") / "shoppers.log"
    shoppers = Process("shoppers", [plain_build() / "sluice-shoppers", "--url", f"http://127.0.0.1:{running.port}",
                                    "--data", running.data, "--queue", QUEUE, "--shoppers", "400"], log)
    api.made.append(QUEUE)
    until(lambda: api.call("GET", f"/v1/queues/{QUEUE}").status == 200, 15, "the shoppers' queue")
    api.admin("PATCH", f"/queues/{QUEUE}", {"opensAt": "2100-01-01T00:00:00Z"})
    yield shoppers
    shoppers.stop()


def figure(page, name):
    """The raw value of a tile."""
    text = page.evaluate("document.querySelector(`[data-figure=${argument}]`)?.dataset.value ?? ''", name)
    return float(text) if text else None


def do(page, act, value=None, typed=None):
    """Presses a button, and confirms; returns what the confirmation said."""
    if page.text(f"[data-act={act}]") is None:
        page.click("#actions summary")
    page.click(f"[data-act={act}]")
    page.wait("#confirm")
    if value is not None:
        page.fill("#confirm-value", value)
    if typed:
        assert page.evaluate("document.querySelector('#confirm-yes').disabled"), "not by a mere press"
        page.fill("#confirm-typed", typed)
    said = page.text("#confirm")
    page.until("!document.querySelector('#confirm-yes').disabled")
    page.click("#confirm-yes")
    return said


def pictures(page, name, scheme="light"):
    """A picture, held against WCAG 2.2 AA."""
    page.call("scheme", scheme=scheme)
    page.until("document.documentElement.dataset.scheme === argument", scheme)
    assert page.axe() == [], name
    page.screenshot(name)


@pytest.mark.limit(150)
def test_a_rush_from_its_beginning_to_sold_out(running, api, console, rush):
    page, phone = console(api.admin_key, queue=QUEUE), console(api.viewer_key, "phone", queue=QUEUE)
    page.until("Number(document.querySelector('[data-figure=waiting]').dataset.value) > 150", seconds=20)
    assert page.text("#queue-state") == "PRE OPEN" and "opens in" in page.text("#queue-opening")
    assert phone.text("#actions button") is None and "may look only" in phone.text("#role")
    page.screenshot("start")

    waiting = figure(page, "waiting")
    said = do(page, "rate", "25")
    assert "From 20 to 25 people a second." in said and re.search(r"(\d+) people wait", said), said
    assert abs(int(re.search(r"(\d+) people wait", said)[1]) - waiting) < 150
    page.until("document.querySelector('#done').textContent.includes('in force')")
    assert api.admin("GET", f"/queues/{QUEUE}")["ratePerSecond"] == 25
    api.admin("PATCH", f"/queues/{QUEUE}", {"opensAt": None})
    page.until("Number(document.querySelector('[data-figure=admittedPerSecond]').dataset.value) > 5", seconds=20)
    page.until("['consumedPerSecond', 'p95', 'actual'].every((name) => Number(document.querySelector(`[data-figure=${name}]`).dataset.value) > 0)",
               seconds=30)
    pictures(page, "peak")
    pictures(phone, "peak-phone", "dark")

    said = do(page, "pause")
    assert "stay and can order" in said and "keep their places" in said
    page.until("document.querySelector('#queue-state').dataset.state === 'PAUSED'")
    page.screenshot("paused")
    do(page, "resume")
    page.until("document.querySelector('#queue-state').dataset.state === 'OPEN'")
    do(page, "sold-out", typed=QUEUE)
    page.until("document.querySelector('#queue-state').dataset.state === 'SOLD_OUT'")
    page.until("document.querySelector('#done').textContent.includes('in force')")
    page.screenshot("sold-out")
    page.click("#tab-audit")
    page.until("document.querySelectorAll('#panel-audit tbody tr').length > 4")
    assert "ratePerSecond 20 → 25" in page.text("#panel-audit"), page.text("#panel-audit")
    page.screenshot("audit")
    for one in (page, phone):
        assert one.complaints() == []
        assert {re.sub(r"^(http://[^/]+/).*", r"\1", request.url) for request in one.requests()} == {
            f"http://127.0.0.1:{running.port}/"}


def test_the_page_metrics_and_sluicectl_say_the_same(running, api, console):
    queue = api.queue(maxActive=5)
    for _ in range(12):
        api.member().enter(queue)
    until(lambda: api.stats(queue)["ready"] == 5, 10, "five inside")
    page = console(api.viewer_key, queue=queue)
    sluicectl = Sluicectl(plain_build(), running.port, running.data / "secrets")

    def of_metrics():
        text = api.call("GET", "/metrics").body.decode()
        value = lambda labels: float(re.search(r"\{[^}]*" + labels + r"[^}]*\} (\S+)", "\n".join(
            line for line in text.splitlines() if f'queue="{queue}"' in line))[1])
        return {"waiting": value('status="waiting"'), "inside": value('status="ready"') + value('status="claimed"')
                + value('status="unpaid"'), "admitted": value('event="admitted"')}

    def of_sluicectl():
        stats = sluicectl.json("stats", queue)
        return {"waiting": stats["waiting"], "inside": stats["ready"] + stats["claimed"] + stats["unpaid"],
                "admitted": stats["admitted"]}

    def of_page():
        return {name: figure(page, name) for name in ("waiting", "inside", "admitted")}
    wanted = {"waiting": 7, "inside": 5, "admitted": 5}
    for source in (of_page, of_metrics, of_sluicectl):
        until(lambda: source() == wanted, 3, source.__name__)
    api.member().enter(queue)
    wanted["waiting"] = 8
    until(lambda: of_page() == of_metrics() == of_sluicectl() == wanted, 3, "all the same within a tick")


def test_without_the_right_key_nothing_is_shown(api, console):
    page = console()
    page.wait("#key-form")
    assert page.text("#console") is None
    pictures(page, "key")
    page.fill("#key", "k" * 40)
    page.click("#key-form button")
    assert "not accepted here" in page.wait("#key-why")
    assert page.evaluate("[sessionStorage.length, localStorage.length, document.cookie]") == [0, 0, ""]
    page.fill("#key", api.viewer_key)
    page.click("#key-form button")
    page.wait("#queues button")
    assert page.evaluate("[...Array(localStorage.length).keys()].map((i) => localStorage.key(i))") == []
    page.evaluate("sessionStorage.setItem('sluice-operator-key', 'another-key-of-yesterday')")
    assert "not accepted here" in page.wait("#key-why")
    assert page.text("#console") is None and page.evaluate("sessionStorage.length") == 0


def test_blocked_site_data_cost_the_memory_of_the_key_only(api, console):
    queue = api.still_queue()
    page = console(api.admin_key, queue=queue, cookies=False)
    page.until("document.querySelector('#link').dataset.state === 'live'")
    page.click("#scheme")
    page.until("document.querySelector('#scheme').textContent.endsWith('light')")
    do(page, "pause")
    page.until("document.querySelector('#done').textContent.includes('in force')")
    assert api.state(queue)["state"] == "PAUSED"


def test_a_confirmation_is_never_carried_out_on_another_queue(api, console):
    asked, other = api.still_queue(), api.still_queue()
    page = console(api.admin_key, queue=asked)
    page.click("[data-act=message]")
    page.wait("#confirm")
    page.fill("#confirm-value", f"for those of {asked}")
    page.until("!document.querySelector('#confirm-yes').disabled")
    assert api.admin("DELETE", f"/queues/{asked}?force=true").status == 204
    page.until("document.querySelector('#confirm-yes').disabled")
    assert asked in page.text("#confirm-title") and "not among the queues" in page.text("#confirm-figures")
    page.evaluate("document.querySelector('#confirm-form').requestSubmit()")
    page.click("#confirm-cancel")
    page.until("!document.querySelector('#confirm').open")
    assert api.admin("GET", f"/queues/{other}")["message"] is None
    assert [request.url for request in page.requests() if request.method == "PATCH"] == []


def test_a_report_names_the_queue_of_its_action(api, console):
    acted, looked_at = api.still_queue(), api.still_queue()
    page = console(api.admin_key, queue=acted)
    page.hinder("**/v1/admin/overview*", times=2, delay=1)
    do(page, "pause")
    page.until("document.querySelector('#done').textContent.includes('done in')")
    page.click(f"tr[data-queue={looked_at}] button")
    assert page.text("#queue-name") == looked_at and page.text("#done") is None
    assert page.wait("#done").startswith(f"{acted}, Pause: in force")
    assert page.text("#queue-name") == looked_at


def test_old_figures_are_called_old(api, console):
    queue = api.still_queue()
    page = console(api.admin_key, queue=queue)
    assert page.text("#link").startswith("live")
    page.context.offline()
    page.until("document.querySelector('#link').dataset.state === 'stale'")
    assert "OLD" in page.text("#link") and "cannot be reached" in page.text("#link")
    assert page.axe() == [], "what is old can be read all the same"
    page.click("[data-act=pause]")
    page.until("document.querySelector('#confirm-figures').dataset.stale === 'true'")
    page.until("!document.querySelector('#confirm-yes').disabled")
    page.click("#confirm-yes")
    assert "may have happened or not" in page.wait("#confirm-error")
    page.screenshot("stale")
    page.context.offline(False)
    page.until("document.querySelector('#link').dataset.state === 'live'")
    page.click("#confirm-cancel")
    assert api.state(queue)["state"] == "OPEN"


def test_a_reset_is_not_pressed_by_mistake(api, console):
    queue = api.still_queue()
    member = api.member()
    member.enter(queue)
    page = console(api.admin_key, "phone", queue=queue)
    assert page.text("[data-act=reset]") is None, "folded away"
    page.click("#actions summary")
    page.click("[data-act=reset]")
    page.wait("#confirm")
    page.press("Enter")
    page.until("!document.querySelector('#confirm').open")
    page.click("[data-act=reset]")
    page.wait("#confirm")
    page.fill("#confirm-typed", queue[:-1])
    page.press("Enter")
    assert page.evaluate("document.querySelector('#confirm-yes').disabled")
    pictures(page, "reset-phone", "dark")
    page.press("Escape")
    page.until("!document.querySelector('#confirm').open")
    assert member.position(queue)["status"] == "WAITING"
    do(page, "reset", typed=queue)
    page.until("document.querySelector('#done').textContent.includes('in force')")
    assert member.position(queue).status == 409


def test_one_member_is_looked_up_let_in_and_taken_out(api, console):
    queue = api.queue(maxActive=1)
    first, second = api.ready_member(queue), api.member()
    second.enter(queue)
    page = console(api.admin_key, "phone", queue=queue)
    page.click("#tab-member")
    page.fill("#member", second.name)
    page.press("Enter")
    assert "every place is taken" in page.wait("#why")
    assert "1, with 0 before" in page.text("#panel-member")
    pictures(page, "member-phone")
    api.admin("PATCH", f"/queues/{queue}", {"maxActive": 2, "ratePerSecond": 0, "burst": None})
    page.click("[data-act=promote]")
    page.until("!document.querySelector('#confirm-yes').disabled")
    page.click("#confirm-yes")
    page.until("document.querySelector('#panel-member h2').textContent.includes('has their turn')")
    page.click("[data-act=evict]")
    page.until("!document.querySelector('#confirm-yes').disabled")
    page.click("#confirm-yes")
    page.until("document.querySelector('#panel-member h2').textContent.includes('is not in the queue')")
    assert second.position(queue)["status"] == "NOT_ENTERED" and first.position(queue)["status"] == "READY"


def test_before_the_opening(api, console):
    queue = api.queue(identity="visitor", opensAt="2100-01-01T00:00:00Z")
    page = console(api.viewer_key, queue=queue)
    page.click("#tab-checklist")
    page.wait("#checklist-sum")
    assert page.text("#panel-checklist [data-name=opening] .mark") == "✓ ok"
    assert page.text("#panel-checklist [data-name=redis] .mark") == "✓ ok"
    pictures(page, "checklist", "dark")
    page.click("#tab-dry-run")
    page.fill("#dry-url", "/sale/?x=1")
    page.click("#panel-dry-run button")
    assert page.wait("#dry-verdict") == "Would wait."
    pictures(page, "dry-run")
    assert api.stats(queue)["entered"] == 0


def test_the_headers_allow_nothing_from_elsewhere(running, api):
    answer = api.call("GET", "/_sluice/console/")
    policy = answer.headers["content-security-policy"]
    assert answer.status == 200 and "default-src 'none'" in policy and "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy and "form-action 'none'" in policy
    assert api.call("GET", "/_sluice/console").headers["location"].endswith("/_sluice/console/")
    for path in ("Makefile.inc", "../shop/index.html", "nothing"):
        assert api.call("GET", f"/_sluice/console/{path}").status in (400, 404)
