"""nginx's own limits: by address, an IPv6 /64 as one, by person, and by kind in front of a pool that stands still; what probes
cost."""

import asyncio
import contextlib
import json
import re
import secrets
import shutil
import socket
import subprocess
import time

import aiohttp
import pytest

from lib import metrics, processes, tokens
from lib.client import Http, assert_problem
from lib.gate import APP, FETCH, NAVIGATION, Visitor
from lib.project import build_directory
from lib.sites import Site
from lib.wait import until, until_async

ASKED = 1600
# Clients come by way of a proxy on this machine, which names their address.
BEHIND_A_PROXY = ("set_real_ip_from 127.0.0.1;", "real_ip_header X-Real-IP;")


@pytest.fixture
def asked(visitor_queue, make_site, front, tmp_path):
    """A function that sends requests of clients behind a proxy, as (their address, further headers), to a site's waiting page or
    to a path of the API; says how many got which status."""
    queue = visitor_queue(activation="hold")
    site = make_site(queue, http_lines=BEHIND_A_PROXY)
    requests = tmp_path / "requests"

    def ask(*clients, path="/_sluice/queues/{queue}/position"):
        requests.write_bytes(b"".join(
            (f"GET {path.format(queue=queue)} HTTP/1.1\r\nHost: x\r\nX-Real-IP: {address}\r\n"
             + "".join(f"{name}: {value}\r\n" for name, value in headers.items()).replace("{queue}", queue) + "\r\n\0").encode()
            for address, headers in clients))
        port = front.port if path.startswith("/v1/") else site.port
        done = subprocess.run(
            [build_directory("--sanitizers", "--test-hooks") / "sluice-closed", "--port", str(port), "--requests",
             requests, "--connections", "32", "--once"], capture_output=True, text=True, check=True, timeout=50)
        return {int(status): count for status, count in json.loads(done.stdout)["statuses"].items()}
    return ask


def test_one_address_is_bounded_and_no_other_is(asked):
    statuses = asked(*[("203.0.113.7", {})] * ASKED)
    assert statuses[429] > 0 and statuses[401] >= 400, "the burst is let through"
    assert asked(*[("203.0.113.8", {})] * 300) == {401: 300}


def test_an_ipv6_network_of_64_bits_counts_as_one_address(asked):
    one = asked(*[(f"2001:db8:1:2:{i:x}::{i:x}", {}) for i in range(ASKED)])
    assert one[429] > 0 and one[401] >= 400
    many = asked(*[(f"2001:db8:2:{i:x}::1", {}) for i in range(ASKED)])
    assert many == {401: ASKED}


def test_trusted_networks_have_no_limit(asked):
    assert asked(*[("127.0.0.9", {})] * ASKED) == {401: ASKED}
    assert asked(*[("::1", {})] * ASKED) == {401: ASKED}


API, ORDERS, CAPTCHA, PAGE = "/v1/queues/{queue}/position", "/v1/orders", "/v1/captcha/challenge", "/_sluice/queues/{queue}/position"
TICKET, VISITOR = {"X-Queue-Ticket": "a.{me}.c"}, {"Cookie": "sluice_visitor=k1.1.{me}.signature"}
SECURE = {"Cookie": "a=b; __Host-sluice_visitor=k1.1.{me}.signature"}


@pytest.mark.parametrize("path, own, beside", [
    (API, "login", {"X-Queue-Ticket": "x{}", "Cookie": "sluice_ticket=x{}; sluice_visitor=x{}"}),
    (ORDERS, "login", {"X-Queue-Ticket": "x{}", "Cookie": "sluice_visitor=x{}"}),
    (CAPTCHA, "login", {"X-Queue-Ticket": "x{}", "Cookie": "sluice_visitor=x{}"}),
    (API, TICKET, {"Authorization": "Bearer x{}", "Cookie": "sluice_ticket=x{}"}), (PAGE, TICKET, {"Authorization": "Bearer x{}"}),
    (API, VISITOR, {"X-Queue-Ticket": "x{}"}), (ORDERS, VISITOR, {"X-Queue-Ticket": "x{}"}),
    (CAPTCHA, VISITOR, {"X-Queue-Ticket": "x{}"}),
    (PAGE, VISITOR, {"Authorization": "Bearer x{}", "X-Queue-Ticket": "x{}"}), (PAGE, SECURE, {}),
    (PAGE, {"Cookie": "__Host-sluice_ticket-{queue}=a.{me}.c"}, {"Authorization": "Bearer x{}"}),
])
def test_one_person_is_bounded_from_wherever(api, asked, path, own, beside):
    """What is made up beside what identifies them makes nobody another person."""
    # Nobody whom another test has used up.
    me = secrets.token_hex(8)
    own = {"Authorization": "Bearer " + tokens.make(api.member_key, me)} if own == "login" else \
        {name: value.replace("{me}", me) for name, value in own.items()}
    clients = [(f"2001:db8:3:{i:x}::1", {**own, **{name: value.replace("{}", str(i)) for name, value in beside.items()}})
               for i in range(400)]
    statuses = asked(*clients, path=path)
    let_in = 400 - statuses[429]
    assert 10 <= let_in < 300, statuses
    others = [(f"2001:db8:4:{i:x}::1", {"Authorization": f"Bearer {tokens.make(api.member_key, f'o{i}')}"}) for i in range(400)]
    assert 429 not in asked(*others, path=path)


def test_made_up_visitors_beside_the_true_one_are_bounded_by_network(asked):
    """nginx cannot know which of them is true."""
    cookies = "sluice_visitor=x{}; __Host-sluice_visitor=v".format
    one = asked(*[("203.0.113.9", {"Cookie": cookies(i)}) for i in range(200)])
    assert one[429] > 50 and one[401] >= 20, one
    assert asked(*[(f"2001:db8:5:{i:x}::1", {"Cookie": cookies(i)}) for i in range(200)]) == {401: 200}


def test_newcomers_of_one_address_are_bounded_at_the_gate(asked):
    """Far beyond what one household or office sends; and apart from the polls of those who wait."""
    flood = asked(*[("203.0.113.7", APP)] * 4000, path="/")
    assert flood[429] > 0 and flood[503] >= 1000, flood
    assert asked(*[("203.0.113.7", {})] * 300) == {401: 300}
    assert asked(*[("203.0.113.8", APP)] * 300, path="/") == {503: 300}
    assert asked(*[("127.0.0.9", APP)] * 1400, path="/") == {503: 1400}


def test_beyond_the_limit_at_the_gate(visitor_queue, gate_files, shop, make_directory):
    """A page that reloads itself, and problem+json for programs; whoever has a pass does not notice."""
    place = make_directory("few")
    shutil.copytree(gate_files, place, dirs_exist_ok=True)
    for path in place.rglob("*.conf"):
        path.write_text(path.read_text().replace(str(gate_files), str(place)).replace("zone=sluice_room:16m rate=200r/s", "zone=sluice_room:16m rate=1r/m")
                        .replace("zone=sluice_room burst=1000", "zone=sluice_room burst=5"))
    site = Site(make_directory("site"), shop.port, place, {"/": visitor_queue()}, http_lines=BEHIND_A_PROXY)
    address = {"X-Real-IP": "203.0.113.7"}
    try:
        site.start()
        browser = Visitor(site.port)
        browser.come_in()
        assert [Visitor(site.port).ask("/", headers=address).is_page for _ in range(6)] == [True] * 6
        page = Visitor(site.port).ask("/some/page", headers=address)
        assert page.status == 429 and page.get("content-type").startswith("text/html") and not page.is_page
        seconds = int(page.get("retry-after"))
        assert 5 <= seconds <= 15 and f'http-equiv="refresh" content="{seconds}"'.encode() in page.body
        assert page.get("cache-control") == "no-store" and not page.set_cookies and page.get("x-request-id")
        for headers in (APP, FETCH):
            assert_problem(Http(site.port).call("GET", "/", {**headers, **address}), 429, "RATE_LIMITED")
        assert_problem(Http(site.port).call("POST", "/", {**NAVIGATION, **address}, {}), 429, "RATE_LIMITED")
        assert [browser.ask("/", headers=address).status for _ in range(20)] == [200] * 20
        assert Visitor(site.port).ask("/", headers={"X-Real-IP": "203.0.113.8"}).is_page
        assert Visitor(site.port).ask("/").is_page, "trusted"
    finally:
        site.stop()


def ready_answers(api):
    """How often the order pool has answered /readyz."""
    return sum(count for name, count in metrics.read(api.call("GET", "/metrics").body).items()
               if name.startswith('sluice_requests_total{pool="order",') and 'route="/readyz"' in name)


def test_probes_of_a_network_take_a_worker_once_a_second(parts, api, front):
    """Whatever they ask beside it. A trusted network gets an answer of that moment."""
    calls = [("GET", f"/readyz?{number}", {"X-Real-IP": f"203.0.113.{number % 2}"}, None) for number in range(300)]
    before, began = ready_answers(api), time.monotonic()
    until(lambda: front.call(*calls[0][:3]).status == 200 and ready_answers(api) > before, 5, "the pool is asked", every=0.1)
    answers = front.together(calls, 10)
    seconds = time.monotonic() - began
    assert {(answer.status, answer.body) for answer in answers} == {(200, b'{"status":"ok","parts":{"redis":"ok","postgres":"ok"}}')}
    assert len({answer.headers["x-request-id"] for answer in answers}) == len(calls)
    asked = ready_answers(api) - before
    assert 1 <= asked <= seconds + 2
    assert front.call("HEAD", "/readyz", {"X-Real-IP": "203.0.113.1"}).status == 200
    assert_problem(front.call("POST", "/readyz", {"X-Real-IP": "203.0.113.1"}, {}), 405, "METHOD_NOT_ALLOWED")
    before = ready_answers(api)
    assert [api.call("GET", "/readyz").status for _ in range(5)] == [200] * 5
    assert ready_answers(api) - before == 5


def test_an_answer_to_probes_that_is_over_is_asked_for_once(parts, api, front):
    """Also while the pool is slow, by many networks, and by methods that are not stored."""
    workers = parts.all_workers("order")
    calls = [(method, "/readyz", {"X-Real-IP": f"203.0.{number}.1"}, None) for number in range(1, 41) for method in ("GET", "POST")]
    assert front.call(*calls[0][:3]).status == 200
    first = time.time()
    until(lambda: time.time() > first + 2.1, 5, "the answer is over")
    before, began = ready_answers(api), time.monotonic()

    def writing():
        return int(re.search(rb"Writing: (\d+)", front.call("GET", "/_sluice/nginx-status").body)[1])

    async def play():
        session, tasks = await begun(front, calls, 40)
        assert {task.result()[0] for task in tasks if task.done()} == {405}
        await until_async(lambda: asyncio.to_thread(lambda: writing() > 40), 5, "all others wait")
        for pid in workers:
            processes.cont(pid)
        served = [status for status, _, _ in await asyncio.gather(*tasks)]
        await session.close()
        return served
    for pid in workers:
        processes.stop(pid)
    try:
        served = asyncio.run(play())
    finally:
        for pid in workers:
            processes.cont(pid)
    assert (served.count(200), served.count(405)) == (40, 40)
    assert 1 <= ready_answers(api) - before <= time.monotonic() - began + 2


@pytest.mark.parametrize("path", ["/readyz", "/livez", "/healthz", "/metrics"])
def test_a_probe_with_a_body_is_refused_before_the_body_is_read(front, path):
    """It would keep one of its network's slots for as long as its client sends."""
    with contextlib.ExitStack() as stack:
        for head in ("Content-Length: 5", "Content-Length: 1", "Transfer-Encoding: chunked"):
            link = stack.enter_context(socket.create_connection(("127.0.0.1", front.port), timeout=5))
            link.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nX-Real-IP: 10.1.2.3\r\n{head}\r\n\r\n".encode())
            assert link.recv(12) == b"HTTP/1.1 413", head
    assert_problem(front.call("POST", path, {"X-Real-IP": "10.1.2.3"}, {}), 405, "METHOD_NOT_ALLOWED")
    assert front.call("GET", path, {"X-Real-IP": "10.1.2.3", "Content-Length": "0"}).status == 200


@pytest.mark.limit(90)
@pytest.mark.parametrize("pool, path", [("order", "/readyz"), ("queue", "/livez"), ("queue", "/healthz"), ("queue", "/metrics")])
def test_a_pool_that_stands_still_is_not_filled_by_probes(parts, api, front, pool, path):
    """Of one network a few wait; the others are refused at once."""
    workers, most, beyond = parts.all_workers(pool), 16, 60
    calls = [("GET", path, {"X-Real-IP": "10.1.2.3"}, None)] * (most + beyond)

    def nothing_is_cached():
        with socket.create_connection(("127.0.0.1", front.port), timeout=0.3) as link:
            link.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nX-Real-IP: 10.9.9.9\r\n\r\n".encode())
            try:
                return link.recv(1) == b""
            except TimeoutError:
                return True

    async def play():
        await until_async(lambda: asyncio.to_thread(nothing_is_cached), 5, "the cached answer is over")
        session, tasks = await begun(front, calls, beyond)
        early = [task.result() for task in tasks if task.done()]
        code = "ORDERS_UNAVAILABLE" if pool == "order" else "ADMISSION_UNAVAILABLE"
        assert [(status, json.loads(body)["code"]) for status, body, _ in early] == [(503, code)] * beyond
        for pid in workers:
            processes.cont(pid)
        late = [status for status, _, _ in await asyncio.gather(*tasks)]
        await session.close()
        return late
    for pid in workers:
        processes.stop(pid)
    try:
        served = asyncio.run(play())
    finally:
        for pid in workers:
            processes.cont(pid)
    assert served.count(200) == most


async def begun(api, calls, refused):
    """Sends all at once and waits until so many are answered; returns the tasks, of which those go on."""
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def one(method, path, headers, _):
        async with session.request(method, f"http://127.0.0.1:{api.port}{path}", headers=headers) as reply:
            return reply.status, await reply.read(), int(reply.headers.get("Retry-After", 0))
    tasks = [asyncio.ensure_future(one(*call)) for call in calls]

    async def refused_are_answered():
        return sum(task.done() for task in tasks) >= refused
    await until_async(refused_are_answered, 8, "those beyond are refused")
    return session, tasks


@pytest.mark.limit(90)
def test_a_pool_that_stands_still_is_not_filled_by_polls(parts, api):
    """Polls get half of its room; those beyond are told at once, entries and orders go on, and who was taken is answered."""
    queue = api.still_queue()
    member, buyer = api.member(), api.member()
    assert member.enter(queue).status == 201
    def shed():
        return metrics.read(api.call("GET", "/metrics").body)['sluice_shed_total{kind="poll"}']

    before, most_polls, beyond = shed(), 512, 40  # half of the socket's room
    workers = parts.all_workers("queue")

    async def play():
        polls, first = await begun(api, [member.position_call(queue)] * (most_polls + beyond), beyond)
        entries, then = await begun(api, [api.member().enter_call(queue) for _ in range(60)], 0)
        try:
            assert await asyncio.to_thread(lambda: buyer.orders().status) == 200
            answered = [task.result() for task in first if task.done()]
            assert [(status, json.loads(body)["code"]) for status, body, _ in answered] == [(503, "ADMISSION_UNAVAILABLE")] * beyond
            assert all(2 <= hint <= 6 for _, _, hint in answered)
            assert not any(task.done() for task in then), "there is room for them"
        finally:
            for pid in workers:
                processes.cont(pid)
        served = [status for status, _, _ in await asyncio.gather(*first)]
        assert [status for status, _, _ in await asyncio.gather(*then)] == [201] * 60
        await asyncio.gather(polls.close(), entries.close())
        return served
    for pid in workers:
        processes.stop(pid)
    try:
        served = asyncio.run(play())
    finally:
        for pid in workers:
            processes.cont(pid)
    # Those who were taken have waited long, and the workers may refuse some of them themselves.
    assert served.count(503) == beyond + shed() - before and served.count(200) + served.count(503) == most_polls + beyond
