"""One set of parts for all integration tests; each test finds it in order and has queues of its own."""

import re
import shutil

import pytest

from lib.client import Http
from lib.gate import write_gate_files
from lib.parts import Parts
from lib.paying import PayingParts
from lib.ports import free_port
from lib.processes import Process
from lib.sites import Site
from lib.statement_log import statement_log
from lib.upstream import Upstream
from lib.wait import until


def started(parts):
    """Yields them while they run."""
    try:
        parts.start()
        yield parts
    finally:
        parts.stop()


@pytest.fixture(scope="session")
def all_parts(make_directory):
    yield from started(Parts(make_directory("int")))


@pytest.fixture
def parts(all_parts, request):
    yield from all_parts.at_work(request.fixturenames)


@pytest.fixture
def api(parts):
    return parts.api


@pytest.fixture
def logged(parts):
    """A function that tells which statements PostgreSQL has carried out since it was called last."""
    with statement_log(parts) as since:
        yield since


@pytest.fixture(scope="session")
def all_paying(make_directory):
    yield from started(PayingParts(make_directory("pay")))


@pytest.fixture
def paying(all_paying, request):
    """Parts with a payment provider; each test finds them in order."""
    yield from all_paying.at_work(request.fixturenames)


@pytest.fixture
def toss(paying):
    """The same, with the other provider."""
    paying.use_settings("toss", "payment", payment_provider="toss")
    return paying


@pytest.fixture(scope="module")
def front(all_parts):
    """A second nginx before the same pools, of which clients tell the address that they come from."""
    place, port = all_parts.directory / "nginx", free_port()
    text = (place / "sluice.conf").read_text()
    text = re.sub(r"listen 127\.0\.0\.1:\d+", f"listen 127.0.0.1:{port}", text)
    text = text.replace("nginx.pid;", "front.pid;").replace("http {\n", "http {\n    set_real_ip_from 127.0.0.1;\n    real_ip_header X-Real-IP;\n", 1)
    (place / "front.conf").write_text(text)
    process = Process("front-nginx", [shutil.which("nginx"), "-p", place, "-e", "stderr", "-c", place / "front.conf", "-g", "daemon off;"],
                      all_parts.directory / "front-nginx.log")
    http = Http(port)
    try:
        until(lambda: http.call("GET", "/livez").status == 200, 10, "the second nginx")
        yield http
    finally:
        process.stop()


@pytest.fixture(scope="session")
def gate_files(all_parts):
    """The files that put the gate before a site."""
    return write_gate_files(all_parts.directory, all_parts.port)


@pytest.fixture(scope="session")
def shop(make_directory):
    """A shop that knows nothing of Sluice."""
    shop = Upstream(make_directory("shop"))
    try:
        yield shop.start()
    finally:
        shop.stop()


@pytest.fixture
def make_site(gate_files, shop, make_directory):
    """A function that puts the shop behind a queue, by an nginx of its own. `queues` names further paths; more: see Site."""
    sites = []

    def make(queue, queues=None, lines=(), **more):
        site = Site(make_directory("site"), shop.port, gate_files, {"/": queue, **(queues or {})}, lines, **more)
        sites.append(site)
        shop.forget()
        return site.start()

    yield make
    for site in sites:
        site.stop()


@pytest.fixture
def visitor_queue(api):
    """A function that makes a queue for visitors: open, and quick unless told otherwise."""
    return lambda **settings: api.queue(**{"identity": "visitor", **settings})
