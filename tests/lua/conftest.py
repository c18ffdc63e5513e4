"""Every Lua test runs twice: on a plain Redis, and on a cluster node, which refuses undeclared keys. Those that are
about numbers rather than keys, or walk the same ways by chance, name the one that they run `on`."""

import pytest

from lib.line import Line
from lib.redis_server import RedisServer
from lib.scripts import Scripts


def pytest_generate_tests(metafunc):
    if "redis_server" in metafunc.fixturenames:
        chosen = metafunc.definition.get_closest_marker("on")
        metafunc.parametrize("redis_server", chosen.args if chosen else ("plain", "cluster"), indirect=True,
                             scope="session")


@pytest.fixture(scope="session")
def redis_servers(make_directory):
    """A function that gives the server of a kind. Each is started once: tests of both come in turn, and a cluster takes
    two seconds to begin."""
    servers = {}

    def server_of(kind):
        if kind not in servers:
            servers[kind] = RedisServer(make_directory("lua") / "r", cluster=kind == "cluster").start()
        return servers[kind]
    yield server_of
    for server in servers.values():
        server.stop()


@pytest.fixture(scope="session")
def redis_server(request, redis_servers):
    return redis_servers(request.param)


@pytest.fixture(scope="session")
def all_scripts(redis_server):
    client = redis_server.client()
    yield Scripts(client)
    client.close()


@pytest.fixture
def redis_client(all_scripts):
    all_scripts.client.flushall()
    return all_scripts.client


@pytest.fixture
def make_line(all_scripts, redis_client):
    """A function that publishes a new queue and leads it as owner "a"."""
    def make(**settings):
        line = Line(all_scripts, **settings)
        assert line.publish() == "PUBLISHED"
        assert line.lead()[0] == "LEADER"
        return line
    return make


@pytest.fixture
def line(make_line):
    return make_line()


class Clock:
    """Time that passes when the test says so."""

    def __init__(self):
        self.now = 1_800_000_000_000

    def __call__(self):
        return self.now

    def pass_ms(self, ms):
        self.now += ms


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def clocked_scripts(redis_server, clock):
    client = redis_server.client()
    client.flushall()
    yield Scripts(client, clock=clock)
    client.close()


@pytest.fixture
def timed(clocked_scripts):
    """A function that makes a queue, led as owner "a", in the time that the test decides."""
    def make(**settings):
        line = Line(clocked_scripts, **settings)
        assert line.publish() == "PUBLISHED"
        line.lead(lease_ms=10**9)
        return line
    return make
