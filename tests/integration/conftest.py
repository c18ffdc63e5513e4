"""One set of parts for all integration tests; each test finds it in order and has queues of its own."""

import pytest

from lib.gate import write_gate_files
from lib.parts import Parts
from lib.paying import PayingParts
from lib.sites import Site
from lib.upstream import Upstream


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
