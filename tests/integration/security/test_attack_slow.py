"""Clients that take their time: they wait in nginx, a few of each network at the pools' doors, and hold up nobody."""

import socket
import time

from lib.client import new_key
from lib.wait import until

SLOW, OTHER = "203.0.113.7", "198.51.100.9"
MANY = 400


def opened(port, data):
    link = socket.create_connection(("127.0.0.1", port), timeout=5)
    link.sendall(data)
    return link


def test_slow_bodies_of_one_network_leave_the_pools_to_others(parts, api, front):
    """So many unfinished bodies as would fill the pools' doors, of orders and of operators' calls; all the while others order
    within seconds, operators act, and probes are answered."""
    queue = api.queue()
    sku, member = api.product(queue), api.ready_member(queue)
    links = []
    try:
        for number in range(MANY):
            path = ("/v1/orders", f"/v1/admin/queues/{queue}", "/v1/coupon-events/none/coupons", "/v1/shows/none/holds")[number % 4]
            links.append(opened(front.port, f"POST {path} HTTP/1.1\r\nHost: x\r\nX-Real-IP: {SLOW}\r\nContent-Length: 50\r\n\r\nh".encode()))
        began = time.monotonic()
        order = front.call("POST", "/v1/orders", member.headers(X_Entry_Token=member.token, Idempotency_Key=new_key(), X_Real_IP=OTHER),
                           {"queue": queue, "items": [{"sku": sku, "quantity": 1}]})
        paused = front.call("POST", f"/v1/admin/queues/{queue}/actions/pause", api.operator_headers(**{"X-Real-IP": OTHER}))
        ready = front.call("GET", "/readyz", {"X-Real-IP": OTHER})
        assert (order.status, paused.status, ready.status) == (201, 200, 200), (order.body, paused.body, ready.body)
        assert time.monotonic() - began < 15
        # What was one too many of that network was refused at once, as a problem.
        refused = set()

        def all_answered():
            for link in set(links) - refused:
                link.setblocking(False)
                try:
                    refused.update([link] if link.recv(4096).startswith(b"HTTP/1.1 503 ") else [])
                except BlockingIOError:
                    pass
            return len(refused) >= MANY - 64 * 2
        until(all_answered, 5, "those beyond are refused")
        assert len(refused) < MANY
    finally:
        for link in links:
            link.close()


def test_slow_heads_and_silent_connections_cost_no_worker(parts, api, front):
    links = []
    try:
        for number in range(MANY):
            links.append(opened(front.port, (b"", b"GET /v1/orders HTTP/1.1\r\nHost: x\r\nX-Re", b"G")[number % 3]))
        member, queue = api.member(), api.still_queue()
        began = time.monotonic()
        for _ in range(10):
            assert front.call("POST", f"/v1/queues/{queue}/entries", member.headers(X_Real_IP=OTHER)).status in (200, 201)
        assert time.monotonic() - began < 15
    finally:
        for link in links:
            link.close()


def test_whoever_does_not_read_the_answer_holds_no_worker(parts, api, front):
    """A large answer waits in nginx: the catalogue's workers, of which there are two, go on."""
    queue = api.still_queue()
    plan = {"sections": [{"name": "A", "rows": 50, "seatsPerRow": 50, "price": {"amount": 100, "currency": "KRW"}}]}
    show = api.show(queue, plan=plan)
    links = []
    try:
        for _ in range(20):
            link = socket.socket()
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            link.settimeout(5)
            link.connect(("127.0.0.1", front.port))
            link.sendall(f"GET /v1/shows/{show}/seats HTTP/1.1\r\nHost: x\r\nX-Real-IP: {SLOW}\r\n\r\n".encode())
            links.append(link)
        began = time.monotonic()
        for _ in range(5):
            answer = front.call("GET", f"/v1/shows/{show}/seats", {"X-Real-IP": OTHER})
            assert answer.status == 200 and len(answer["seats"]) == 2500
        assert time.monotonic() - began < 24
    finally:
        for link in links:
            link.close()
