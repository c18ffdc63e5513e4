"""Sites of somebody who uses Sluice: an nginx of their own before their shop, with or without the gate."""

import os
import socket
import subprocess
import uuid

from lib.ports import free_port
from lib.processes import Process, assert_none_left
from lib.wait import until

# The gate's files in the folder that scripts/run renders them into; a site includes one in each block.
GATE_HTTP = "http.conf"
GATE_SERVER = "server.conf"
GATE_LOCATION = "gate.conf"
GATE_RETURN = "return.conf"

# A page of the shop with a query, which it shows in #query.
DEEP = "/deep/page.html?x=1"

CONFIGURATION = """{user}
worker_processes 1;
pid {directory}/nginx.pid;
error_log {directory}/error.log warn;
events {{
    worker_connections 1024;
}}
http {{
    access_log {directory}/access.log;
    client_body_temp_path {directory}/tmp/body;
    proxy_temp_path {directory}/tmp/proxy;
    fastcgi_temp_path {directory}/tmp/fastcgi;
    scgi_temp_path {directory}/tmp/scgi;
    uwsgi_temp_path {directory}/tmp/uwsgi;
    map $http_upgrade $shop_connection {{
        "" close;
        default upgrade;
    }}
{http}
    server {{
        listen 127.0.0.1:{port};
        server_name _;
{server}
{locations}
    }}
}}
"""

LOCATION = """        location {path} {{
{gate}
            proxy_pass http://127.0.0.1:{upstream};
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $shop_connection;
        }}"""


def gated(queue, gate, *lines):
    """What a location holds to stand behind the queue; `lines` are further ones, set before the include."""
    return "\n".join([f'            set $sluice_queue "{queue}";', *(f"            {line}" for line in lines),
                      f"            include {gate / GATE_LOCATION};"])


class Site:
    """nginx on a free port before the shop on port `upstream`.

    `gate` is the folder with the gate's files, None for a site without it. `queues` tells which queue each path
    is behind, None for a path that is open to everyone. `lines` go into each gated location. Answers below the
    paths `ends` may end the visit. `block` is all that the server block holds besides, instead of these locations:
    `@gate@` in it puts a location behind the queue of `queues["/"]`, `@shop@` hands over to the shop, `@www@` is a
    folder with an index.html.
    """

    def __init__(self, directory, upstream, gate=None, queues=None, lines=(), ends=(), block=None, http_lines=()):
        self.directory = directory / f"site-{uuid.uuid4().hex[:8]}"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process = None
        self._text = self._configuration(upstream, gate, queues or {"/": None}, lines, ends, block, http_lines)

    def _configuration(self, upstream, gate, queues, lines, ends, block, http_lines):
        include = "include {};".format
        locations = ["        client_max_body_size 64m;"] if block is None else [
            block.replace("@gate@", gated(queues["/"], gate, *lines)).replace("@www@", str(self.directory / "www"))
            .replace("@shop@", f"proxy_pass http://127.0.0.1:{upstream}; proxy_set_header Host $http_host;")]
        for path, queue in queues.items() if block is None else ():
            more = [*lines, include(gate / GATE_RETURN)] if path in ends else lines
            locations.append(LOCATION.format(path=path, upstream=upstream,
                                             gate=gated(queue, gate, *more) if queue else ""))
        return CONFIGURATION.format(
            user="user www-data www-data;" if os.geteuid() == 0 else "",
            directory=self.directory, port=self.port, locations="\n".join(locations),
            http="\n".join([*http_lines, "    " + include(gate / GATE_HTTP) if gate else ""]),
            server="        " + include(gate / GATE_SERVER) if gate else "")

    def start(self):
        for folder in ("tmp", "www"):
            (self.directory / folder).mkdir(parents=True)
        (self.directory / "www").chmod(0o755)
        (self.directory / "www" / "index.html").write_text("the site's own page")
        # Its workers, of another user, keep large bodies there.
        for folder in (self.directory.parent, self.directory, self.directory / "tmp"):
            folder.chmod(0o711)
        configuration = self.directory / "nginx.conf"
        configuration.write_text(self._text)
        command = ["nginx", "-p", self.directory, "-e", "stderr", "-c", configuration]
        check = subprocess.run([*command, "-t", "-q"], capture_output=True, text=True, timeout=10)
        assert check.returncode == 0, check.stderr + self._text
        self._process = Process("site", [*command, "-g", "daemon off;"], self.directory / "nginx.log")
        until(self._listens, 10, "the site's nginx")
        return self

    def _listens(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True

    def stop(self):
        if self._process:
            self._process.stop()
            assert_none_left("SLUICE_TEST_SITE", "none", [self.directory])

    def errors(self):
        """What nginx had to say."""
        log = self.directory / "error.log"
        return log.read_text() if log.exists() else ""


class GatedShop:
    """A site of which everything stands behind one queue: what happens to its visitors, and what its operator does."""

    def __init__(self, api, site, queue):
        self.api, self.site, self.queue = api, site, queue
        self.url = site.url

    def line_up(self, page, path=DEEP):
        """Opens the shop in a page that has to wait; returns the page."""
        page.goto(self.url + path)
        page.wait_face("WAITING")
        return page

    def bring_in(self, page, path=DEEP):
        """Waits in the page and lets it in; after that the line stands still again. Returns the page."""
        self.line_up(page, path)
        self.let_in()
        page.wait("body[data-page]")
        self.let_in(0)
        return page

    def set(self, **settings):
        """Changes settings of the queue."""
        answer = self.api.admin("PATCH", f"/queues/{self.queue}", settings)
        assert answer.status == 200, answer.body

    def act(self, action):
        self.api.act(self.queue, action)

    def let_in(self, per_second=1000):
        """From now on the line moves."""
        self.set(ratePerSecond=per_second)

    def stats(self, name):
        return self.api.stats(self.queue)[name]

    def others(self, count):
        """Takes places for so many others; returns them, the first in line first."""
        others = [self.api.member() for _ in range(count)]
        # One connection: they come one after another.
        answers = self.api.together([other.enter_call(self.queue) for other in others], 1)
        for other, answer in zip(others, answers):
            assert answer.status == 201, answer.body
            other.ticket = answer["queueTicket"]
        return others

    def leave(self, others):
        for other in others:
            assert other.leave(self.queue).status == 204

    def member_of(self, visitor):
        """Under which name a browser stands in line."""
        return visitor.cookies()["sluice_visitor"]["value"].split(".")[2]

    def evict(self, visitor):
        answer = self.api.admin("POST", f"/queues/{self.queue}/members/{self.member_of(visitor)}/evict")
        assert answer.status in (200, 204), answer.body
