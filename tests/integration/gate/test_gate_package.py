"""The files that the package writes, in a site's own server block: they close what they gate, and leave the rest as it was."""

import re
import shutil
from pathlib import Path

import pytest

from lib.gate import APP, FETCH, Visitor, write_installed_files
from lib.project import ROOT
from lib.sites import Site
from lib.wait import until

# What cannot change a location of the site's.
IN_HTTP = {"map", "geo", "split_clients", "upstream", "log_format", "limit_req_zone", "limit_conn_zone", "fastcgi_cache_path"}
IN_SERVER = {"location", "set"}
IN_LOCATION = {"auth_request", "auth_request_set", "add_header", "error_page", "recursive_error_pages", "uninitialized_variable_warn"}
# A block for our own addresses that only ends the site's rewrites there.
ENDS_REWRITES = "if ($uri ~ ^/_sluice/) { break; }"
# Clients come by way of a proxy on this machine, which names their address.
BEHIND_A_PROXY = ("    set_real_ip_from 127.0.0.1;", "    real_ip_header X-Real-IP;")
HALF_MEGABYTE = b"x" * 500_000


@pytest.fixture(scope="module")
def installed_files(all_parts, make_directory):
    return write_installed_files(all_parts.directory, make_directory("installed"))


@pytest.fixture
def site_of(visitor_queue, installed_files, shop, make_directory):
    """A function that puts a server block of one's own behind a queue with these settings."""
    sites = []

    def make(block, http_lines=(), **settings):
        queue = visitor_queue(**settings)
        sites.append(Site(make_directory("site"), shop.port, installed_files, {"/": queue}, block=block, http_lines=http_lines))
        shop.forget()
        return sites[-1].start()

    yield make
    for site in sites:
        site.stop()


def directives(path):
    """Those of the outermost level, with what they include, each as its text."""
    text = re.sub(r"(?m)^\s*#.*$", "", path.read_text())
    found, start, depth, quote = [], 0, 0, None
    for at, sign in enumerate(text):
        if quote:
            quote = None if sign == quote and text[at - 1] != "\\" else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "{}" and text[at - 1:at].strip() != "$":
            depth += 1 if sign == "{" else -1
        if not quote and depth == 0 and sign in ";}":
            found.append(" ".join(text[start:at + 1].split()))
            start = at + 1
    assert (depth, quote, text[start:].strip()) == (0, None, ""), path
    return [one for directive in found for one in (
        directives(path.parent / directive.split()[1].rstrip(";")) if directive.startswith("include ") else [directive])]


@pytest.mark.parametrize("name, allowed", [("http.conf", IN_HTTP), ("server.conf", IN_SERVER), ("gate_server.conf", IN_SERVER),
                                           ("gate.conf", IN_LOCATION)])
def test_nothing_is_set_for_the_site_s_own_locations(installed_files, name, allowed):
    found = directives(installed_files / name)
    assert len(found) > 5
    assert [directive for directive in found if directive.split()[0] not in allowed and directive != ENDS_REWRITES] == []


def test_each_answer_of_ours_says_how_it_is_given(installed_files):
    """A location for which the server block sets nothing has all that it needs: the headers, timeouts and limits."""
    def missing(location):
        inside = location[location.index(" {") + 2:-1]
        return not included(re.sub(r"location [^{]* \{.*", "", inside)) & {"own_answer.conf"}

    def included(text):
        paths = [Path(path) for path in re.findall(r"(?:^|[;{}])\s*include ([^;*]+)(?=;)", re.sub(r"(?m)^\s*#.*$", "", text))]
        return {path.name for path in paths}.union(*(included(path.read_text()) for path in paths))

    without = {directive.split(" {")[0] for directive in directives(installed_files / "server.conf")
               if directive.startswith("location ") and missing(directive)}
    assert without == {
        # Subrequests, and answers in the site's place.
        "location = /_sluice/variables", "location @sluice_check_failed", "location @sluice_failed"}


PART = "root @www@; location /drop/ { @gate@ } location / { add_header X-Of The-Site; }"


@pytest.mark.parametrize("path", ["/drop/index.html", "//drop/index.html", "/.//drop/index.html", "/drop//index.html",
                                  "///drop/./index.html", "/x/..//drop/index.html", "/%2fdrop/index.html"])
def test_a_gated_part_has_no_other_spelling(site_of, path):
    site = site_of(PART, activation="hold")
    folder = site.directory / "www" / "drop"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "index.html").write_text("behind the gate")
    reply = Visitor(site.port).ask(path)
    assert reply.status == 503 and b"behind the gate" not in reply.body


def test_the_site_s_own_locations_are_as_they_were(site_of, shop):
    site = site_of("""
        client_max_body_size 1m;
        error_page 404 /missing.html;
        root @www@;
        location / { @gate@ @shop@ }
        location /upload { client_max_body_size 3m; @shop@ }
        location /plain/ { }
        location = /missing.html { internal; }""", ["    types { image/jpeg jpg; text/html html; }"])
    folder = site.directory / "www" / "plain"
    folder.mkdir()
    for path, content in ((folder / "a.jpg", "a picture"), (folder / "a.html", "a page"), (folder.parent / "missing.html", "no such page")):
        path.write_text(content)
    folder.chmod(0o755)
    visitor = Visitor(site.port)
    picture, page, missing = (visitor.ask(f"/plain/{name}") for name in ("a.jpg", "a.html", "b.html"))
    assert (picture.status, picture.get("content-type")) == (200, "image/jpeg")
    assert page.get("content-type") == "text/html", "and no character set"
    assert (missing.status, missing.body) == (404, b"no such page")
    for reply in (picture, page, missing):
        assert not {"x-content-type-options", "x-request-id"} & {name for name, _ in reply.headers}
    assert visitor.ask("/upload", "POST", body=b"x" * 2_000_000).json["length"] == 2_000_000
    assert visitor.ask("/upload", "POST", body=b"x" * 3_500_000).status == 413
    visitor.come_in()
    assert visitor.ask("/api/echo", "POST", {"Content-Type": "application/json"}, b'"%s"' % HALF_MEGABYTE).status == 200
    assert visitor.ask("/", "POST", body=b"x" * 1_100_000).status == 413
    log = site.directory / "access.log"
    until(lambda: log.read_text().count("/plain/a.jpg") == 1, 5, "its requests are in the site's own log")


@pytest.mark.parametrize("pool, path", [("order", "/readyz"), ("queue", "/v1/queues/{queue}")])
def test_a_cache_of_the_site_s_does_not_keep_our_answers(all_parts, api, installed_files, shop, visitor_queue, make_directory, pool, path):
    """Sites in front of PHP often return expired answers while it fails. Ours must report that a pool does not answer."""
    place, queue = make_directory("stale"), visitor_queue()
    shutil.copytree(installed_files, place, dirs_exist_ok=True)
    place.chmod(0o711)
    link = place / f"{pool}.sock"
    link.symlink_to(all_parts.directory / "fcgi" / f"{pool}.sock")
    (place / "cache").mkdir()
    for file in place.rglob("*.conf"):
        file.write_text(file.read_text().replace(str(installed_files.parent / "cache" / "state"), str(place / "cache"))
                        .replace(str(installed_files), str(place)).replace(str(link.readlink()), str(link)).replace("keepalive 512;", ""))
    lines = ["    fastcgi_cache_use_stale error timeout invalid_header updating http_500 http_503;", "    fastcgi_cache_background_update on;",
             *BEHIND_A_PROXY]
    site = Site(make_directory("site"), shop.port, place, {"/": queue}, http_lines=lines)
    try:
        site.start()
        visitor = Visitor(site.port, {**FETCH, "X-Real-IP": "203.0.113.7"})
        until(lambda: visitor.ask(path.format(queue=queue)).status == 200, 10, "an answer of the pool")
        link.unlink()
        until(lambda: visitor.ask(path.format(queue=queue)).status == 503, 5, "the answer that the pool cannot be reached")
    finally:
        site.stop()


def test_our_own_addresses_have_what_the_site_does_not_set(site_of, api):
    """Their timeouts, types, error pages and headers, whatever the site has."""
    site = site_of("""
        error_page 404 405 429 =200 /free;
        location = /free { return 200 "free"; }
        add_header X-Of The-Site;
        charset euc-kr;
        default_type image/png;
        types { }
        location / { @gate@ @shop@ }""", ratePerSecond=0)
    visitor = Visitor(site.port, FETCH)
    for path, status, kind in (("/v1/queues", 404, "application/problem+json"), ("/v1/admin", 404, "application/problem+json"),
                               ("/problems/not-found", 200, "text/html; charset=utf-8"), ("/problems/x", 404, "application/problem+json"),
                               ("/openapi.yaml", 200, "application/yaml"), ("/_sluice/console/", 200, "text/html; charset=utf-8"),
                               ("/_sluice/console/app.mjs", 200, "text/javascript; charset=utf-8"), ("/livez", 200, "application/json"),
                               ("/readyz", 200, "application/json"), ("/_sluice/other", 404, "application/problem+json"),
                               ("/_sluice/console/none", 404, "application/problem+json"), ("/v1/orders", 401, "application/problem+json"),
                               ("/v1/admin/queues", 401, "application/problem+json"), ("/v1/concerts/x", 404, "application/problem+json")):
        reply = visitor.ask(path)
        assert (reply.status, reply.get("content-type")) == (status, kind), path
        assert (reply.get("x-content-type-options"), len(reply.all("x-request-id")), reply.get("x-of")) == ("nosniff", 1, None), path
    too_large = visitor.ask("/v1/orders", "POST", body=b"x" * 100_000)
    assert (too_large.status, too_large.json["code"]) == (413, "BODY_TOO_LARGE")
    plan = visitor.ask("/v1/admin/queues/x", "PUT", {**api.operator_headers()}, b"x" * 100_000)
    assert plan.status == 400, "operators may send more"
    page = Visitor(site.port).ask("/")
    assert page.is_page and (page.get("x-content-type-options"), len(page.all("x-request-id"))) == ("nosniff", 1)


def test_limits_of_the_site_s_own_beside_ours(site_of):
    """A directive may be in a block once: the site's own are the only ones."""
    lines = ["    limit_conn_status 429;", "    limit_conn_log_level error;", "    limit_req_status 429;", "    charset utf-8;"]
    site = site_of("""
        client_max_body_size 8m; client_body_buffer_size 16k; client_header_timeout 20s; client_body_timeout 60s; send_timeout 60s;
        keepalive_timeout 10s; fastcgi_read_timeout 300s; uninitialized_variable_warn on; merge_slashes on; server_tokens on;
        large_client_header_buffers 4 8k; absolute_redirect on; charset euc-kr; default_type text/plain; recursive_error_pages on;
        location / { @gate@ @shop@ }""", lines)
    assert Visitor(site.port).come_in("/upload").status == 405


@pytest.mark.parametrize("name", ["server.conf", "gate_server.conf"])
def test_the_gate_alone_leaves_the_api_s_addresses_to_the_site(installed_files, site_of, name, monkeypatch):
    monkeypatch.setattr("lib.sites.GATE_SERVER", name)
    site = site_of("location / { @gate@ @shop@ }", activation="hold")
    page, reply = Visitor(site.port).ask("/"), Visitor(site.port, APP).ask("/v1/queues")
    assert page.is_page
    assert reply.status == (404 if name == "server.conf" else 503)


def test_a_server_of_ours_alone(installed_files, site_of, monkeypatch):
    """As sluice-bootstrap has it: all that nginx itself says is like the API's answers."""
    monkeypatch.setattr("lib.sites.GATE_SERVER", "own_server.conf")
    site = site_of("location / { return 404; }")
    reply = Visitor(site.port, APP).ask("/nothing/here")
    assert (reply.status, reply.get("content-type"), reply.get("x-content-type-options")) == (404, "application/problem+json", "nosniff")
    assert Visitor(site.port, APP).ask("/v1//queues").status == 404
    until(lambda: '"path":"/nothing/here"' in (installed_files.parent / "logs" / "access.log").read_text(), 10, "the line in our log")
    assert "include /var/lib/sluice/nginx/own_server.conf;" in (ROOT / "packaging" / "bootstrap").read_text()


def test_the_sample_site_s_way_around_the_gate_leads_to_assets_alone(site_of, shop):
    """The shop gets the path as nginx has read it, and only such as every server reads alike."""
    text = (ROOT / "packaging" / "nginx" / "nginx-site.conf").read_text()
    assets = re.search(r"location [^{}]*/assets/[^{}]*\{[^}]*\}", text)[0].replace("http://shop", "http://127.0.0.1:@upstream@")
    assert "gate.conf" not in assets
    site = site_of(f"location / {{ @gate@ @shop@ }} {assets.replace('@upstream@', str(shop.port))}", activation="hold")
    visitor = Visitor(site.port)
    for path, passed_on in (("/assets/a.js", "/assets/a.js"), ("/assets/css/a-1_b.css?v=2", "/assets/css/a-1_b.css?v=2"),
                            ("/assets//x/../a.js", "/assets/a.js"), ("/x/%2e%2e/assets/%61.js", "/assets/a.js"),
                            ("/checkout%3f/../assets/a.js", "/assets/a.js"), ("/checkout;/../assets/a.js?x=..;", "/assets/a.js?x=..;")):
        shop.forget()
        assert visitor.ask(path).status == 404, "the shop has no such file"
        assert [entry["path"] for entry in shop.seen()] == [passed_on]
    shop.forget()
    for path in ("/assets/..;/checkout", "/assets/%2e%2e;/checkout", "/assets/..%3b/checkout", "/assets/.;/..;/checkout", "/assets/..%5ccheckout",
                 "/assets/..\\checkout", "/assets/%252e%252e/checkout", "/assets/x%2523", "/assets/../checkout", "/assets/%2e%2e/checkout",
                 "/assets/..%2fcheckout", "/assets/x%0d%0aHost:y", "/assets/"):
        assert visitor.ask(path).status in (400, 503), path
    assert shop.seen() == []
