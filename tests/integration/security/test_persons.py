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
worker_processes 1;
pid {place}/pid;
error_log {place}/error.log warn;
events {{ worker_connections 16; }}
http {{
    access_log off;
    include {place}/limits.conf;
    server {{
        listen 127.0.0.1:{port};
        location / {{ return 200 "$sluice_limited_person"; }}
    }}
}}
"""


class Nginx:
    """`person()`: whom nginx takes a request with these headers for."""

    def __init__(self, process, port):
        self.process, self.http = process, Http(port)

    def person(self, **headers):
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.call("GET", "/", names).body.decode()

    def is_there(self):
        try:
            return self.person() == ""
        except OSError:
            return False

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
    started = Nginx(process, port)
    until(started.is_there, 10, "answer of nginx")
    yield started
    process.stop()


def test_the_end_of_what_they_show(nginx):
    person = nginx.person
    signature = "-".join(f"{i:07d}" for i in range(8)) + "-"
    assert len(signature) == 64
    assert person() == ""
    assert person(Authorization="x") == "x"
    assert person(Authorization=signature[1:]) == signature[1:]
    assert person(Authorization=signature) == signature
    assert person(Authorization="Bearer head.claims." + signature) == signature
    assert person(X_Queue_Ticket="b." + signature) == signature
    assert person(Authorization="Bearer a.", X_Queue_Ticket="b." + signature) == "Bearer a.", "the login says who it is"
    assert person(Cookie="other=1; sluice_ticket=c." + signature) == signature


def test_a_long_ticket_is_not_tried_at_each_of_its_characters(nginx):
    before = nginx.seconds_used()
    for _ in range(100):
        assert nginx.person(Authorization="Bearer " + 7000 * "x" + 64 * "y") == 64 * "y"
    assert nginx.seconds_used() - before < 0.4
