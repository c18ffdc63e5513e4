"""The examples for nginx fit together: the balancer, a host with the sample site, and what asks a host by its own name."""

import http.client
import os
import re
import ssl
import subprocess

import pytest

from lib.client import Answer, assert_problem
from lib.gate import NAVIGATION, Reply
from lib.ports import free_port
from lib.processes import Process
from lib.project import ROOT
from lib.wait import until

QUEUE = "behind-a-balancer"
EXAMPLES = ROOT / "packaging" / "nginx"
NGINX = """{user}
worker_processes 1;
pid {place}/{name}.pid;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {place}/{name}-body;
    proxy_temp_path {place}/{name}-proxy;
    fastcgi_temp_path {place}/{name}-fastcgi;
    scgi_temp_path {place}/{name}-scgi;
    uwsgi_temp_path {place}/{name}-uwsgi;
{text}
}}
"""


class Examples:
    """A host and a balancer in front of it, with the ports of a test, its certificate and its queue."""

    def __init__(self, place, shop):
        self.place, self.processes = place, {}
        self.tls, self.plain, self.front = free_port(), free_port(), free_port()
        site = (EXAMPLES / "nginx-site.conf").read_text().replace("/var/lib/sluice", str(place)).replace('"shop"', f'"{QUEUE}"')
        site = site.replace("server 127.0.0.1:3000;", f"server 127.0.0.1:{shop.port};")
        site = re.sub("^#set_real_ip_from .*;$", "set_real_ip_from 127.0.0.1;", site, flags=re.M)
        self.texts = {
            "host": re.sub("^#(real_ip_.*;)$", r"\1", site, flags=re.M),
            "balancer": re.sub(r"(    server app\d\.example:443 (.*;)\n)+", rf"    server 127.0.0.1:{self.tls} \2\n",
                               (EXAMPLES / "nginx-balancer.conf").read_text())}

    def start(self, name):
        text = re.sub(r"    listen \[.*\n", "", self.texts[name]).replace("/etc/ssl/sluice", str(self.place)).replace("/var/log/sluice", str(self.place / "logs"))
        text = text.replace("/etc/ssl/certs/ca-certificates.crt", str(self.place / "fullchain.pem"))
        text = text.replace("listen 443 ", f"listen 127.0.0.1:{self.tls if name == 'host' else self.front} ")
        text = text.replace("listen 80 ", f"listen 127.0.0.1:{self.plain} ")
        path = self.place / f"{name}.conf"
        path.write_text(NGINX.format(user="user www-data www-data;" if os.geteuid() == 0 else "", place=self.place, name=name, text=text))
        command = ["nginx", "-p", self.place, "-e", "stderr", "-c", path]
        check = subprocess.run([*command, "-t", "-q"], capture_output=True, text=True, timeout=10)
        assert check.returncode == 0, check.stderr
        self.processes[name] = Process(name, [*command, "-g", "daemon off;"], self.place / f"{name}.log")

    def stop(self, name):
        self.processes.pop(name).stop()

    def ask(self, path, headers=None, method="GET", body=None, link=None):
        """Through the balancer, unless there is a connection to something else."""
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        link = link or http.client.HTTPSConnection("127.0.0.1", self.front, timeout=30, context=trusting)
        try:
            link.request(method, path, body=body, headers={"Host": "shop.example", **(headers or {})})
            answer = link.getresponse()
            return Reply(answer.status, [(key.lower(), value) for key, value in answer.getheaders()], answer.read())
        finally:
            link.close()

    def ask_host(self, path, name):
        """At port 80, by a name of the host or of the site."""
        return self.ask(path, {"Host": name}, link=http.client.HTTPConnection("127.0.0.1", self.plain, timeout=30))


@pytest.fixture(scope="module")
def examples(all_parts, shop, make_directory):
    place = make_directory("examples")
    place.chmod(0o755)
    for folder in ("logs", "cache"):
        (place / folder).mkdir()
    for command in ([ROOT / "scripts/site", "--output", place, "--run", all_parts.directory, "--logs", place / "logs", "--cache", place / "cache"],
                    ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj",
                     "/CN=shop.example", "-keyout", place / "privkey.pem", "-out", place / "fullchain.pem"]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, done.stderr
    examples = Examples(place, shop)
    try:
        examples.start("host")
        examples.start("balancer")
        until(lambda: examples.ask("/livez").status == 200, 10, "an answer through both")
        yield examples
    finally:
        for name in list(examples.processes):
            examples.stop(name)


def problem(reply, status, code):
    return assert_problem(Answer(reply.status, dict(reply.headers), reply.body), status, code)


def test_a_visitor_comes_through_balancer_and_host_to_the_shop(parts, api, examples, shop):
    api.queue(QUEUE, identity="visitor")
    cookies, pages = {}, []

    def through():
        reply = examples.ask("/deep/page.html?x=1", {**NAVIGATION, "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())})
        cookies.update(line.split(";")[0].split("=", 1) for line in reply.all("set-cookie"))
        pages.append(reply.is_page)
        assert reply.is_page or reply.status == 200
        return reply.status == 200
    until(through, 10, "the shop", every=0.1)
    assert pages[0] and cookies and all(name.startswith("__Host-") for name in cookies)
    assert shop.seen("/deep/page.html")[-1]["headers"]["x-forwarded-proto"] == "https"


@pytest.mark.parametrize("name", ["app-1.internal", "127.0.0.1", "shop.example"])
def test_a_host_is_asked_by_whatever_name_on_port_80(parts, examples, name):
    """As prometheus.yml, nginx's exporter and balancers ask it, without TLS; all else is redirected to the site."""
    assert examples.ask_host("/readyz", name).json == {"status": "ok", "parts": {"redis": "ok", "postgres": "ok"}}
    assert examples.ask_host("/livez", name).status == 200
    metrics = examples.ask_host("/metrics", name)
    assert metrics.status == 200 and b"sluice_requests_total{" in metrics.body
    assert b"Active connections" in examples.ask_host("/_sluice/nginx-status", name).body
    for path in ("/", "/v1/orders", "/_sluice/console/"):
        reply = examples.ask_host(path, name)
        assert (reply.status, reply.get("location")) == (301, f"https://shop.example{path}")
    targets = re.search(r"job_name: sluice\n.*\n.*\n.*targets: \[(.*)\]", (ROOT / "docs/ops/prometheus.yml").read_text())[1]
    assert re.findall(r":(\d+)'", targets) == ["80", "80"]


def test_large_bodies_get_as_far_as_the_host_allows(parts, examples):
    json_body = {"Content-Type": "application/json"}
    problem(examples.ask("/v1/admin/queues/none", json_body, "PUT", b"x" * 2_000_000), 401, "UNAUTHENTICATED")
    problem(examples.ask("/v1/admin/queues/none", json_body, "PUT", b"x" * 17_000_000), 413, "BODY_TOO_LARGE")
    problem(examples.ask("/v1/orders", json_body, "POST", b"x" * 2_000_000), 413, "BODY_TOO_LARGE")


def test_the_balancer_waits_longer_than_a_host():
    """A host's own answer must reach the client, also when its time is over."""
    snippets = "".join(path.read_text() for path in (ROOT / "nginx" / "snippets").iterdir())
    waits = dict(re.findall(r'location (?:~ )?(\S+) \{\n(?:[^}]*\n)? *proxy_read_timeout (\d+)s;', (EXAMPLES / "nginx-balancer.conf").read_text()))
    longest = max(int(seconds) for seconds in re.findall(r"fastcgi_read_timeout (\d+)s;", snippets))
    assert [int(seconds) > longest for path, seconds in waits.items() if "admin" in path or "payment" in path] == [True] * 2, waits


def test_clients_of_a_balancer_without_hosts_come_back_apart(parts, examples):
    examples.stop("host")
    try:
        replies = [examples.ask("/v1/queues/none/position") for _ in range(40)]
        for reply in replies:
            problem(reply, 503, "ADMISSION_UNAVAILABLE")
        hints = {int(reply.get("retry-after")) for reply in replies}
        assert len(hints) > 1 and hints <= set(range(2, 7))
    finally:
        examples.start("host")
        until(lambda: examples.ask("/livez").status == 200, 20, "the host again")
