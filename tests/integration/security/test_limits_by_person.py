"""How nginx tells persons apart for the rate limits."""

import os
import re
import shutil

import pytest

from lib.client import Http
from lib.ports import free_port
from lib.processes import Process, children_of
from lib.project import ROOT
from lib.wait import until

# Whoever comes from this machine is not limited: here everybody is.
CONFIG = """
daemon off;
pcre_jit on;
worker_processes 1;
pid {place}/pid;
error_log {place}/error.log warn;
events {{ worker_connections 16; }}
http {{
    access_log off;
    include {place}/limits.conf;
    large_client_header_buffers 4 16k;
    server {{
        listen 127.0.0.1:{port};
        uninitialized_variable_warn off;
        location / {{ return 200 "$sluice_limited_login|$sluice_limited_ticket|$sluice_limited_visitor|$sluice_several_tickets$sluice_several_visitors"; }}
        location /_sluice/ {{
            set $sluice_member "member of the site";
            return 200 "$sluice_limited_login|$sluice_limited_ticket|$sluice_limited_visitor|$sluice_several_tickets$sluice_several_visitors";
        }}
    }}
}}
"""


class Nginx:
    """`person()`: whom nginx takes a request with these headers for, as the login, the ticket and the visitor that are limited;
    None for tickets or visitors of which there are several."""

    def __init__(self, process, port, log):
        self.process, self.http, self.log = process, Http(port), log

    def person(self, path="/", **headers):
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        login, ticket, visitor, several = self.http.call("GET", path, names).body.split(b"|")
        network = bytes([127, 0, 0, 1])
        assert several == b"1" * (ticket, visitor).count(network)
        return tuple(None if shown == network else shown.decode() for shown in (login, ticket, visitor))

    def is_there(self):
        try:
            return self.person() == ("", "", "")
        except OSError:
            return False

    def errors(self):
        return self.log.read_text()

    def seconds_used(self):
        """Processor time of the workers."""
        tree = [pid for child in [self.process.pid, *children_of(self.process.pid)] for pid in [child, *children_of(child)]]
        ticks = 0
        for pid in set(tree):
            with open(f"/proc/{pid}/stat") as stat:
                ticks += sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module")
def nginx(make_directory):
    place, port = make_directory("persons"), free_port()
    limits = (ROOT / "nginx" / "snippets" / "limits.conf.in").read_text()
    (place / "limits.conf").write_text(re.sub(r"^    (127\.\S+|::1) +1;$", "", limits, flags=re.M))
    (place / "nginx.conf").write_text(CONFIG.format(place=place, port=port))
    process = Process("nginx", [shutil.which("nginx"), "-e", place / "error.log", "-c", place / "nginx.conf"],
                      place / "nginx.log")
    started = Nginx(process, port, place / "error.log")
    until(started.is_there, 10, "answer of nginx")
    yield started
    process.stop()


POSITION = "/v1/queues/shop/position"
SIGNATURE = "-".join(f"{i:07d}" for i in range(8)) + "-"


def test_the_end_of_what_they_show(nginx):
    assert len(SIGNATURE) == 64
    for shown, known in [("x", "x"), (SIGNATURE[1:], SIGNATURE[1:]), (SIGNATURE, SIGNATURE), ("Bearer head.claims." + SIGNATURE, SIGNATURE),
                         ("x\t\t", "x"), (f"Bearer head.{SIGNATURE} \t \t", SIGNATURE)]:
        assert nginx.person(Authorization=shown) == (known, "", "")
        assert nginx.person(X_Queue_Ticket=shown) == ("", known, "")
        assert nginx.person(Cookie=f"a=b; sluice_visitor={shown}; c=d") == ("", "", known)
        assert nginx.person(POSITION, Cookie=f"a=b; sluice_ticket-shop={shown}; c=d") == ("", known, "")


def test_each_thing_that_they_show_counts_by_itself(nginx):
    all_of_it = {"Authorization": "login", "X_Queue_Ticket": "ticket", "Cookie": "sluice_visitor=visitor; sluice_ticket-shop=other"}
    assert nginx.person(POSITION, **all_of_it) == ("login", "ticket", "visitor")
    assert nginx.person("/v1/orders", **all_of_it) == ("login", "ticket", "visitor")
    assert nginx.person("/_sluice/queues/shop/position", **all_of_it) == ("member of the site", "ticket", "visitor")
    assert nginx.person("/_sluice/continue/shop", Cookie="sluice_ticket-shop=t") == ("member of the site", "t", "")


@pytest.mark.parametrize("cookies, ticket, visitor", [
    ("sluice_visitor=v", "", "v"), ("__Host-sluice_visitor=v", "", "v"), ("a=b;  \t__Host-sluice_visitor=v ;c", "", "v"),
    ("sluice_visitor=made-up; __Host-sluice_visitor=v", "", None), ("sluice_visitor=made-up;sluice_visitor=v", "", None),
    ("x_sluice_visitor=v; sluice_visitors=v; sluice_visitor =v", "", ""),
    ("sluice_ticket-shop=t", "t", ""), ("a=b;\t__Host-sluice_ticket-shop=t", "t", ""), ("sluice_ticket=t", "t", ""),
    ("sluice_ticket-other=o; sluice_ticket-shop=t; sluice_ticket-third=o", "t", ""), ("sluice_ticket-other=o", "", ""),
    # On plain HTTP the application sets two.
    ("sluice_ticket=t; a=b; sluice_ticket-shop=t", "t", ""), ("sluice_ticket-shop=t;sluice_ticket=t", "t", ""),
    ("sluice_ticket-shop=made-up; __Host-sluice_ticket-shop=t", None, ""), ("sluice_ticket=made-up; sluice_ticket-shop=t", None, ""),
    ("sluice_ticket=t; sluice_ticket-shop=tt", None, ""), ("sluice_ticket=t; sluice_ticket=t; sluice_ticket-shop=u", None, ""),
    ("sluice_ticket=; sluice_ticket-shop=t", None, ""),
])
def test_cookies_of_which_the_application_reads_one(nginx, cookies, ticket, visitor):
    assert nginx.person(POSITION, Cookie=cookies) == ("", ticket, visitor)
    assert nginx.person("/v1/orders", Cookie=cookies) == ("", "", visitor), "the order pool reads no ticket"
    assert nginx.person(POSITION, Cookie=cookies, X_Queue_Ticket="header") == ("", "header", visitor)


@pytest.mark.parametrize("filler", [";", "; ", "a;", "=;", "sluice_ticket;", ";sluice_ticket"])
@pytest.mark.parametrize("path", [POSITION, "/_sluice/continue/shop"])
def test_a_person_is_known_however_many_cookies_are_before(nginx, path, filler):
    """Each must not cost stack in the regular expressions: where it ends, nginx takes the request for nobody's."""
    many = 16_000 // len(filler) * filler
    assert nginx.person(path, Cookie=f"{many};sluice_ticket=t; sluice_visitor=v")[1:] == ("t", "v")
    assert nginx.person(path, Cookie=f"sluice_ticket=t;{many}; sluice_visitor=v")[1:] == ("t", "v")
    assert nginx.person(path, Cookie=f"sluice_ticket=t;{many};sluice_ticket=u;sluice_visitor=v;sluice_visitor=w")[1:] == (None, None)
    assert "pcre" not in nginx.errors()


@pytest.mark.parametrize("headers", [
    {"Authorization": "Bearer " + 7000 * "x" + 64 * "y"}, {"Authorization": "x" + 7000 * "\t"}, {"X-Queue-Ticket": 3500 * "x\t" + "y"},
    {"Cookie": 550 * "sluice_ticket="}, {"Cookie": 500 * "sluice_ticket=;"}, {"Cookie": 500 * "sluice_visitor="},
    {"Cookie": "sluice_visitor=" + 3500 * "; "}, {"Cookie": ";" + 7000 * " "}, {"Cookie": "sluice_ticket-shop=" + 7000 * ";"},
    {"Cookie": 490 * "sluice_ticket=;" + "sluice_ticket=1"},
], ids=lambda headers: next(iter(headers.values()))[:30])
def test_a_long_header_is_not_tried_at_each_of_its_characters(nginx, headers):
    before = nginx.seconds_used()
    for _ in range(100):
        assert nginx.http.call("GET", POSITION, headers).status == 200
    assert nginx.seconds_used() - before < 0.4
