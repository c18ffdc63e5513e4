"""App hosts on machines of their own (network namespaces) before one nginx: each with its nginx, pools, scheduler and
reconcile; Redis and PostgreSQL are reached by TCP at the hub, where the parts run."""

import re
import urllib.request

from lib.hosts import Host
from lib.network import HUB, STORES
from lib.parts import Parts
from lib.ports import free_port
from lib.postgres_server import PostgresServer
from lib.processes import Process
from lib.project import ROOT
from lib.wait import until

REDIS_PORT, POSTGRES_PORT, NODE_PORT = 6379, 5432, 8080


class PostgresByTcp(PostgresServer):
    """Reached by the nodes too."""

    def create(self):
        super().create()
        with open(self.data / "pg_hba.conf", "a") as rules:
            rules.write("host all all 10.77.0.0/24 trust\n")
        self.options += [f"listen_addresses={STORES}", f"port={POSTGRES_PORT}"]
        return self


class HubParts(Parts):
    """What there is once: Redis, PostgreSQL, and pools for the test's own calls; no scheduler."""

    def __init__(self, directory, **settings):
        super().__init__(directory, queue_workers=1, order_workers=1, catalog_workers=1, **settings)
        self.redis_server.options = ["--bind", STORES, "--port", str(REDIS_PORT), "--protected-mode", "no"]
        self.postgres = PostgresByTcp(directory, self.logs / "postgres.log")


class Node(Host):
    """A host in the namespace `machine`."""

    def __init__(self, directory, parts, machine):
        super().__init__(directory, parts)
        self.machine = machine
        self.port = NODE_PORT
        self.config = directory / "sluice.conf"
        self.waits = True

    def begin(self, build):
        """Starts it, and leaves it to the caller to wait until it is ready: several come up at once."""
        self.waits = False
        self.start(build)
        self.waits = True

    def start(self, build):
        rows = self.parts.config.read_text()
        rows = re.sub(r"redis_socket = .*", f"redis_address = {STORES}:{REDIS_PORT}", rows)
        rows = re.sub(r"(postgres_conninfo = .*?)host=\S+", rf"\1host={STORES} port={POSTGRES_PORT}", rows)
        rows = re.sub(r"(catalog_l1_directory|metrics_file) = .*", rf"\1 = {self.directory}/\1", rows)
        self.config.write_text(rows)
        return super().start(build)

    def _spawn(self, name, command, *stdin):
        command = [self.config if word == self.parts.config else word for word in command]
        super()._spawn(name, [*self.machine.prefix, *command], *stdin)

    def _start_programs(self, build):
        super()._start_programs(build)
        self._spawn("reconcile", [build / "sluice-reconcile", "--every", "1", "--config", self.config])

    def _nginx_command(self, command):
        path = self.directory / "nginx" / "sluice.conf"
        path.write_text(path.read_text().replace(
            f"listen 127.0.0.1:{self.port}", f"set_real_ip_from {HUB};\n        real_ip_header X-Forwarded-For;\n"
            f"        listen {self.machine.address}:{self.port}"))
        return [*self.machine.prefix, *command]

    def answers(self, path="/readyz"):
        try:
            with urllib.request.urlopen(f"http://{self.machine.address}:{self.port}{path}", timeout=3) as answer:
                return answer.status == 200
        except OSError:
            return False

    def wait_ready(self):
        for path in ("/livez", "/readyz") if self.waits else ():
            until(lambda: self.answers(path), 30, f"{path} of {self.machine.name}", every=0.1)  # pylint: disable=cell-var-from-loop

    def stop(self):
        if "reconcile" in self.processes:
            self.processes["reconcile"].stop(seconds=20)
        super().stop()


class Balancer:
    """The nginx of packaging/nginx/nginx-balancer.conf before the nodes, by plain HTTP on the hub's loopback."""

    def __init__(self, directory, nodes):
        self.directory, self.port = directory, free_port()
        self.log = directory / "nginx.log"
        text = (ROOT / "packaging" / "nginx" / "nginx-balancer.conf").read_text()
        servers = "".join(f"    server {node.machine.address}:{node.port} max_fails=1 fail_timeout=5s;\n" for node in nodes)
        text = re.sub(r"(    server app\d\.example.*\n)+", servers, text)
        text = re.sub(r"    (listen \[|ssl_|proxy_ssl_).*\n", "", text).replace("https://sluice_hosts", "http://sluice_hosts")
        text = re.sub(r"listen 443 .*;", f"listen 127.0.0.1:{self.port};", text)
        (directory / "nginx.conf").write_text(
            f"worker_processes 1;\npid {directory}/nginx.pid;\nerror_log {self.log} warn;\nevents {{}}\n"
            "http {\naccess_log off;\n"
            + "".join(f"{kind}_temp_path {directory}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
            + text + "}\n")
        self.process = Process("balancer", ["nginx", "-p", directory, "-e", self.log, "-c", directory / "nginx.conf", "-g",
                                            "daemon off;"], self.log, cwd=directory)

    def stop(self):
        self.process.stop(seconds=20)
