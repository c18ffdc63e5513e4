"""What real sites have in their nginx besides: none of it leads past the gate, takes a second place, or breaks the site."""

import json
import socket
import subprocess

import pytest

from lib.gate import FETCH, Visitor
from lib.ports import free_port
from lib.wait import until

# An application behind one script, in the ways in which it is usually written.
REWRITE = """
    if (!-e $request_filename) { rewrite ^/(.*)$ /index.php?q=$1 last; }
    location / { @gate@ @shop@ }
    location ~ \\.php$ { @gate@ @shop@ }"""
TRY_FILES = """
    root @www@;
    location / { @gate@ try_files $uri /index.php?$args; }
    location ~ \\.php$ { @gate@ @shop@ }"""
PLAIN = "location / { @gate@ @shop@ }"


@pytest.fixture
def site_of(visitor_queue, make_site):
    """A function that puts a server block of one's own behind a queue with these settings."""
    def make(block, http_lines=(), **settings):
        queue = visitor_queue(**settings)
        return queue, make_site(queue, block=block, http_lines=http_lines)
    return make


@pytest.mark.parametrize("block", [REWRITE, TRY_FILES, """
    fastcgi_intercept_errors on;
    error_page 401 =200 /free;
    error_page 500 502 503 504 =200 /free;
    location = /free { return 200 "free"; }
    """ + PLAIN, """
    location ~ ^/ { @gate@ @shop@ }"""], ids=["rewrite", "try_files", "error pages", "regular expression"])
def test_nothing_of_the_site_s_leads_past_the_gate(site_of, shop, block):
    _, site = site_of(block, activation="hold")
    shop.forget()
    for path in ("/", "/checkout", "/index.php", "/index.php/checkout", "/checkout?x=/_sluice/check", "/a.php"):
        for headers in (None, FETCH):
            assert Visitor(site.port, headers).ask(path).status == 503, path
    assert shop.seen() == []


def test_a_cache_of_the_site_s_hands_out_no_pass(site_of, make_directory):
    lines = [f"    fastcgi_cache_path {make_directory('cache')}/cache keys_zone=site:1m;", "    fastcgi_cache site;",
             "    fastcgi_cache_key $request_method$host$request_uri;", "    fastcgi_cache_valid any 10m;",
             "    fastcgi_ignore_headers Cache-Control Expires Set-Cookie Vary;"]
    _, site = site_of(PLAIN, http_lines=lines, maxActive=1)
    visitor = Visitor(site.port)
    assert visitor.come_in("/deep/page.html").status == 200
    for _ in range(3):
        assert visitor.is_through("/deep/page.html")
        stranger = Visitor(site.port).ask("/deep/page.html")
        assert stranger.status == 503 and not [name for name in stranger.set_cookies if "pass" in name]


@pytest.mark.parametrize("block", [TRY_FILES, "root @www@; index index.html; location / { @gate@ }", REWRITE],
                         ids=["try_files", "index", "rewrite"])
def test_one_visit_takes_one_place(site_of, api, block):
    queue, site = site_of(block, admitWhenIdle=True, maxActive=10)
    until(lambda: api.stats(queue)["leader"], 10, "a scheduler")
    visitor = Visitor(site.port)
    replies = [visitor.ask("/") for _ in range(3)]
    assert 503 not in [reply.status for reply in replies], replies
    assert [name.split("-")[0] for reply in replies for name in reply.set_cookies] == ["sluice_visitor", "sluice_pass"]
    assert (api.stats(queue)["entered"], api.stats(queue)["ready"]) == (1, 1)


@pytest.mark.parametrize("block", [REWRITE, TRY_FILES], ids=["rewrite", "try_files"])
def test_a_rule_is_about_what_was_asked_for(site_of, shop, block):
    """A payment's call-back reaches the one script behind which everything is."""
    _, site = site_of(block, ratePerSecond=0, bypass={"paths": ["/pay/callback"]})
    shop.forget()
    assert Visitor(site.port, FETCH).ask("/pay/callback", "POST", body=b"paid").status != 503
    assert len(shop.seen()) == 1
    assert Visitor(site.port, FETCH).ask("/index.php", "POST", body=b"paid").status == 503
    assert len(shop.seen()) == 1


def test_a_body_is_as_large_as_its_location_allows(site_of):
    _, site = site_of("location / { client_max_body_size 8m; @gate@ @shop@ }")
    visitor = Visitor(site.port)
    visitor.come_in()
    assert visitor.ask("/upload", "POST", body=b"x" * (5 << 20)).status == 200
    assert visitor.ask("/upload", "POST", body=b"x" * (9 << 20)).status == 413


LARGE = 4 << 20


@pytest.mark.parametrize("limit", ["8m", "0"])
def test_of_a_body_in_pieces_without_a_pass_little_is_read(site_of, shop, limit):
    """It is refused before it is complete, and nothing of it is written to a file."""
    _, site = site_of(f"client_max_body_size {limit}; {PLAIN}", activation="hold")
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as link:
        link.sendall(b"POST /upload HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                     b"%x\r\n%s" % (LARGE, b"x" * (LARGE // 4)))
        answer = link.makefile("rb")
        assert answer.readline().split()[1] == b"503"
        assert b"application/problem+json" in answer.read(300)
    assert "temporary file" not in site.errors() and shop.seen() == []


@pytest.mark.parametrize("protocol", ["--http1.1", "--http2-prior-knowledge"])
def test_a_body_without_a_pass_gets_the_answer_of_the_gate(site_of, shop, protocol):
    """Small or large, with its length or without."""
    port = free_port()
    _, site = site_of(f"listen 127.0.0.1:{port} {'http2' if '2' in protocol else ''}; client_max_body_size 8m; {PLAIN}",
                      activation="hold")
    for size in (1000, 70_000, LARGE):
        for way in ("--upload-file", "-"), ("--data-binary", "@-"):
            done = subprocess.run(
                ["curl", "--silent", protocol, *way, "--request", "POST", "--header", "Accept: application/json", "--header", "Expect:",
                 "--write-out", "\n%{http_code}", f"http://127.0.0.1:{port}/upload"], input=b"x" * size, capture_output=True, timeout=20)
            # This client gives up a stream that the server ends before the body.
            if (way[0], "2" in protocol, size > 1000) != ("--upload-file", True, True):
                body, status = done.stdout.rsplit(b"\n", 1)
                assert (done.returncode, status) == (0, b"503"), (size, way, done.stdout)
                assert json.loads(body)["code"] == "WAITING"
    def log():
        return (site.directory / "access.log").read_text().splitlines()
    until(lambda: len(log()) == 6, 10, "the end of all requests")
    assert all('" 503 ' in line for line in log()), log()
    assert shop.seen() == []


def test_a_login_of_the_site_s_is_asked_for(site_of):
    _, site = site_of("location / { auth_basic shop; auth_basic_user_file @www@/users; @gate@ @shop@ }")
    users = site.directory / "www" / "users"
    users.write_text("shop:{PLAIN}secret\n")
    users.chmod(0o644)
    visitor = Visitor(site.port)
    refused = visitor.ask("/")
    assert (refused.status, refused.get("www-authenticate")) == (401, 'Basic realm="shop"')
    visitor.headers["Authorization"] = "Basic c2hvcDpzZWNyZXQ="
    assert visitor.come_in().status == 200


def test_the_page_is_heard_whatever_locations_there_are(site_of):
    queue, site = site_of("location ~ ^/ { @gate@ @shop@ }", ratePerSecond=0)
    visitor = Visitor(site.port)
    visitor.ask("/")
    assert visitor.ask(f"/_sluice/queues/{queue}/entries", "POST", FETCH).status == 201
    assert visitor.ask(f"/_sluice/queues/{queue}/position", headers=FETCH).status == 200
    assert visitor.ask(f"/_sluice/board/{queue}.json", headers=FETCH).status == 200
    assert visitor.ask(f"/_sluice/queues/{queue}/result", headers=FETCH).status == 200
    assert visitor.ask("/_sluice/anything", headers=FETCH).status == 404


def asks_of_the_page(visitor, queue):
    return {path: visitor.ask(f"/_sluice/{path}", headers=FETCH).status
            for path in (f"queues/{queue}/position", f"board/{queue}.json", f"queues/{queue}/result")}


def test_limits_of_the_site_s_count_requests_to_the_site_alone(site_of):
    """Each once, whatever the gate makes of it; none is a request of the waiting page."""
    queue, site = site_of(f"limit_req zone=site burst=4 nodelay; limit_req_status 429; {PLAIN}",
                          ["    limit_req_zone $binary_remote_addr zone=site:1m rate=1r/m;"], ratePerSecond=0)
    visitor = Visitor(site.port)
    assert visitor.ask("/").is_page
    assert visitor.ask(f"/_sluice/queues/{queue}/entries", "POST", FETCH).status == 201
    for _ in range(10):
        assert set(asks_of_the_page(visitor, queue).values()) == {200}
    replies = [visitor.ask("/") for _ in range(5)]
    assert [reply.status for reply in replies] == [503] * 4 + [429] and replies[3].is_page and not replies[4].is_page
    assert set(asks_of_the_page(visitor, queue).values()) == {200}


def test_a_site_s_limit_of_connections_is_not_one_of_the_waiting_page_s(site_of):
    queue, site = site_of("limit_conn one 1; location = /upload { @shop@ }" + PLAIN,
                          ["    limit_conn_zone $binary_remote_addr zone=one:1m;"], ratePerSecond=0)
    visitor = Visitor(site.port)
    visitor.ask("/")
    assert visitor.ask(f"/_sluice/queues/{queue}/entries", "POST", FETCH).status == 201
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as link:
        link.sendall(b"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
        until(lambda: not visitor.ask("/").is_page, 10, "the site's limit is reached")
        assert set(asks_of_the_page(visitor, queue).values()) == {200}
        assert visitor.ask("/_sluice/board/none.json", headers=FETCH).status == 404
        for method, path in (("GET", "language/ko"), ("POST", f"continue/{queue}")):
            assert visitor.ask(f"/_sluice/{path}", method, FETCH).status == 303, path


def test_a_login_of_the_whole_site_s_leaves_the_page_to_everybody(site_of):
    """Who has not logged in waits too; the site asks for the login behind the gate."""
    queue, site = site_of("auth_request /login; location = /login { internal; return 401; } location /free { @shop@ }" + PLAIN,
                          ratePerSecond=0)
    visitor = Visitor(site.port)
    assert visitor.ask("/free").status == 401
    assert visitor.ask("/").is_page
    assert visitor.ask(f"/_sluice/queues/{queue}/entries", "POST", FETCH).status == 201
    assert set(asks_of_the_page(visitor, queue).values()) == {200}
    assert visitor.ask("/_sluice/board/none.json").status == 404
