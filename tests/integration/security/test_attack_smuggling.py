"""Requests that nginx and the pools could read differently: hidden requests, doubled and disguised headers, odd paths."""

import socket
import time

import pytest

from lib.api import some_name
from lib.client import assert_problem, new_key


@pytest.fixture
def queue(api):
    return api.still_queue()


def exchange(api, data, answers=0):
    """Sends bytes and reads all that comes until the connection ends or is still, not before there are so many answers."""
    received = b""
    with socket.create_connection(("127.0.0.1", api.port), timeout=5) as link:
        link.sendall(data)
        link.settimeout(0.4)
        deadline = time.monotonic() + (30 if answers else 2)
        while time.monotonic() < deadline:
            try:
                piece = link.recv(65536)
            except TimeoutError:
                if received.count(b"HTTP/1.1 ") >= max(answers, 1):
                    break
                continue
            except ConnectionResetError:
                break
            if not piece:
                break
            received += piece
    return received


def hidden_entry(member, queue):
    return (f"POST /v1/queues/{queue}/entries HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {member.jwt}\r\n"
            "Content-Length: 0\r\nConnection: close\r\n\r\n").encode()


# What stands in front of a body that is a whole request: none of it may make two requests out of one.
DISGUISES = {
    "length, then chunked": "Content-Length: {n}\r\nTransfer-Encoding: chunked",
    "chunked, then length": "Transfer-Encoding: chunked\r\nContent-Length: {n}",
    "space before the colon": "Transfer-Encoding : chunked\r\nContent-Length: {n}",
    "tab before the value": "Transfer-Encoding:\tchunked\r\nContent-Length: {n}",
    "unknown coding": "Transfer-Encoding: xchunked\r\nContent-Length: {n}",
    "two codings": "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\nContent-Length: {n}",
    "list of codings": "Transfer-Encoding: chunked, identity\r\nContent-Length: {n}",
    "quoted coding": 'Transfer-Encoding: "chunked"\r\nContent-Length: {n}',
    "folded coding": "Transfer-Encoding:\r\n chunked\r\nContent-Length: {n}",
    "NUL in the coding": "Transfer-Encoding: chunked\0\r\nContent-Length: {n}",
    "underscore": "Transfer_Encoding: chunked\r\nContent-Length: {n}",
    "two lengths": "Content-Length: 0\r\nContent-Length: {n}",
    "length and nought": "Content-Length: {n}\r\nContent-Length: 0",
    "list of lengths": "Content-Length: {n}, 0",
    "signed length": "Content-Length: +{n}",
    "negative length": "Content-Length: -1",
    "hexadecimal length": "Content-Length: 0x{n}",
    "length with a tail": "Content-Length: {n}x",
    "disguised length": "Content_Length: 0\r\nContent-Length: {n}",
    "length in an odd header": "X: y\rContent-Length: 0\r\nContent-Length: {n}",
}


@pytest.mark.parametrize("name", sorted(DISGUISES))
def test_a_body_is_never_a_second_request(api, queue, name):
    """The body holds an entry of somebody's. Whatever the answer, nobody has entered, nor been answered twice."""
    member = api.member()
    inner = hidden_entry(member, queue)
    chunked = b"0\r\n\r\n" + inner
    for body in (inner, chunked):
        head = (f"GET /v1/queues/{queue} HTTP/1.1\r\nHost: x\r\n{DISGUISES[name].format(n=len(body))}\r\n"
                "Connection: close\r\n\r\n").encode("latin-1")
        received = exchange(api, head + body)
        assert received.count(b"HTTP/1.1 ") <= 1, received
    assert member.position(queue)["status"] == "NOT_ENTERED"
    assert exchange(api, inner, 1).count(b"HTTP/1.1 201 ") == 1, "alone it is a request"


def test_requests_behind_each_other_are_answered_in_order(api, queue):
    """On one connection, to workers whose connections are kept: each answer is that of its own request."""
    members = [api.member() for _ in range(8)]
    for member in members[::2]:
        assert member.enter(queue).status == 201
    asked = b"".join(f"GET /v1/queues/{queue}/position HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {member.jwt}\r\n\r\n".encode()
                     for member in members)
    received = exchange(api, asked, 8)
    statuses = [part.split(b'"')[1] for part in received.split(b'"status":')[1:]]
    assert statuses == [b"WAITING", b"NOT_ENTERED"] * 4, received


@pytest.mark.parametrize("name", [
    "X_Entry_Token", "X-Entry_Token", "HTTP_X_ENTRY_TOKEN", "HTTP-X-Entry-Token", "X.Entry.Token", "X-Entry-Token ", " X-Entry-Token",
    "X-Entry-Token\t", "X-Entry-Token\0", "x\x0bentry-token"])
def test_other_spellings_of_a_header_are_not_it(api, name):
    """What a proxy in front overlooks must not be what the pool reads."""
    queue = api.queue()
    sku, member = api.product(queue), api.ready_member(queue)
    body = b'{"queue":"%s","items":[{"sku":"%s","quantity":1}]}' % (queue.encode(), sku.encode())
    answer = api.raw(f"POST /v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {member.jwt}\r\nIdempotency-Key: {new_key()}\r\n"
                     f"{name}: {member.token}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode("latin-1") + body)
    assert answer.status in (400, 401) and answer.code in ("INVALID_REQUEST", "ENTRY_TOKEN_REQUIRED"), answer.body
    assert member.position(queue)["status"] == "READY"


@pytest.mark.parametrize("name", ["Authorization", "X-Entry-Token", "X-Queue-Ticket", "Idempotency-Key"])
def test_of_two_headers_of_one_name_never_the_second_counts_for_another(api, name):
    """Two logins, tokens, tickets or keys: refused, or taken as the first alone; never some of each."""
    queue = api.queue()
    sku, first, second = api.product(queue), api.ready_member(queue), api.ready_member(queue)
    values = {"Authorization": (f"Bearer {first.jwt}", f"Bearer {second.jwt}"), "X-Entry-Token": (first.token, second.token),
              "X-Queue-Ticket": (first.ticket, second.ticket), "Idempotency-Key": (new_key(), new_key())}
    lines = []
    for header, (one, two) in values.items():
        lines += [f"{header}: {one}"] + ([f"{header}: {two}"] if header == name else [])
    body = b'{"queue":"%s","items":[{"sku":"%s","quantity":1}]}' % (queue.encode(), sku.encode())
    answer = api.raw("\r\n".join(["POST /v1/orders HTTP/1.1", "Host: x", *lines, f"Content-Length: {len(body)}", "Connection: close",
                                  "", ""]).encode() + body)
    assert answer.status in (201, 400, 401), answer.body
    assert second.position(queue)["status"] == "READY" and second.orders()["orders"] == []
    if answer.status == 201:
        assert [order["id"] for order in first.orders()["orders"]] == [answer["id"]]


@pytest.mark.parametrize("name", [
    "REQUEST-METHOD", "REQUEST-URI", "SLUICE-ROOM", "SLUICE-MEMBER", "SLUICE-HOST", "SLUICE-QUEUE", "HTTPS", "Request-At", "Proxy",
    "X-HTTP-Method-Override", "X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Proto", "X-Forwarded-User", "Remote-User"])
def test_no_header_becomes_a_word_of_nginx_s(api, queue, name):
    """The pools are told a few parameters by name; a header of such a name is none of them."""
    member, victim = api.member(), api.member()
    victim.enter(queue)
    for value in ("1", "on", "DELETE", victim.name, f"/v1/queues/{queue}/entries", "https"):
        plain = api.call("GET", f"/v1/queues/{queue}/position", member.headers())
        said = api.call("GET", f"/v1/queues/{queue}/position", {**member.headers(), name: value})
        assert (said.status, said["status"], said.headers.keys()) == (200, "NOT_ENTERED", plain.headers.keys()), (value, said.body)
    made = api.call("POST", f"/v1/queues/{api.still_queue(identity='visitor')}/entries", {name: "https"})
    assert "__Host-" not in made.headers["set-cookie"], "whether there is TLS is nginx's to say"
    assert victim.position(queue)["status"] == "WAITING"


# Paths that a proxy, nginx and a pool could take for different ones, and what the pool must not take them for.
@pytest.mark.parametrize("path", [
    "/v1/queues/{q}/position/../entries", "/v1/queues/{q}/%2e%2e/{q}/entries", "/v1/queues/{q}%2fentries", "/v1/queues/{q}/entries%00",
    "/v1/queues/{q}/entries;x=y", "/v1/queues/{q}/entries/", "/v1//queues/{q}/entries", "/V1/queues/{q}/entries",
    "/v1/queues/{q}\\entries", "/v1/queues/{q}/entries%20", "/v1/queues/{q}/%65ntries%2f", "/v1/queues/x/../{q}/entries",
    "/v1/orders/..%2fqueues/{q}/entries", "/v1/queues/{q}%23/entries", "/v1/queues/{q}/entries%0d%0aX-Evil:%201", "/v1/%71ueues/./{q}/entries"])
def test_a_path_is_what_it_looks_like(api, queue, path):
    member = api.member()
    address = path.format(q=queue)
    answer = api.raw(f"POST {address} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {member.jwt}\r\nContent-Length: 0\r\n"
                     "Connection: close\r\n\r\n".encode())
    assert_problem(answer)
    assert answer.status in (400, 404, 405) and "x-evil" not in answer.headers
    assert member.position(queue)["status"] == "NOT_ENTERED"


def test_no_disguise_of_a_path_leads_from_one_pool_s_rights_to_another_s(api):
    """nginx chooses the pool by its reading of the path, the pool's router reads it again: an order route in the queue
    pool, or an operator's in the order pool, is not there."""
    for path in ("/v1/queues/..%2fadmin%2fqueues", "/v1/queues/x/..%2f..%2forders", "/v1/orders/..%2fadmin%2fqueues", "/v1/orders%2f..%2fadmin/queues",
                 "/v1/queues/%2e%2e/admin/queues", "/v1/shows/x%2fholds", "/v1/concerts/..%2f..%2fadmin%2faudit", "/livez/..%2fv1%2fadmin%2fqueues"):
        answer = api.call("GET", path, {**api.operator_headers()})
        assert answer.status in (400, 401, 404), (path, answer.status, answer.body)
    assert_problem(api.call("GET", "/v1/queues/%2e%2e/admin/queues", api.member(some_name("m")).headers()))
