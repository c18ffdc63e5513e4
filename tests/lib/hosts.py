"""Hosts as servers have them: pools, a scheduler and an nginx of their own before stores that all hosts share. Their sockets
are opened by somebody else, as systemd does it, and outlive the programs behind them."""

import os
import shutil
import socket
import subprocess

from lib.ports import free_port
from lib.processes import Process
from lib.project import ROOT, SCRIPTS
from lib.wait import until

POOLS = ("order", "queue")
# Made by the parts' own programs; here they are only known to nginx.
OF_THE_PARTS = ("catalog", "operator", "payment")


class Host:
    """One of them, beside `parts`, with the programs of the folder `build`."""

    def __init__(self, directory, parts):
        self.directory, self.parts = directory, parts
        self.logs = directory / "data" / "logs"
        self.port = free_port()
        self.sockets, self.processes = {}, {}
        self.nginx = None
        self.build = None

    def start(self, build):
        self.directory.chmod(0o711)
        (self.directory / "fcgi").mkdir()
        (self.directory / "nginx").mkdir()
        self.logs.mkdir(parents=True)
        for pool in POOLS:
            self._open_socket(pool)
        for pool in OF_THE_PARTS:
            os.symlink(self.parts.socket(pool), self.directory / "fcgi" / f"{pool}.sock")
        if os.geteuid() == 0:
            shutil.chown(self.directory / "fcgi", group="www-data")
            os.chmod(self.directory / "fcgi", 0o710)
        self._start_programs(build)
        self._start_nginx()
        self.wait_ready()
        return self

    def _open_socket(self, pool):
        path = self.directory / "fcgi" / f"{pool}.sock"
        self.sockets[pool] = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sockets[pool].bind(str(path))
        self.sockets[pool].listen(512)
        path.chmod(0o660)
        if os.geteuid() == 0:
            shutil.chown(path, group="www-data")

    def _spawn(self, name, command, stdin=subprocess.DEVNULL):
        environment = {**self.parts.environment, "SLUICE_QUEUE_WORKERS": "2", "SLUICE_ORDER_WORKERS": "2"}
        self.processes[name] = Process(name, command, self.logs / f"{name}.log", env=environment, cwd=self.directory,
                                       stdin=stdin)

    def _config(self):
        """The parts' settings; as the release before had them, which knew one role for all, for its programs."""
        if str(self.build) != os.environ.get("SLUICE_OLD_BUILD"):
            return self.parts.config
        path = self.directory / "sluice.conf"
        rows = [row for row in self.parts.config.read_text().splitlines() if not row.startswith(("redis_user", "redis_password_file"))]
        path.write_text("\n".join(rows).replace("sluice-{program}", "sluice") + "\n")
        return path

    def _start(self, name):
        if name == "scheduler":
            self._spawn(name, [self.build / "sluice-scheduler", "--config", self._config()])
        else:
            self._spawn(name, [SCRIPTS / "pool", name, self.build / "sluice-fcgi", "--config", self._config()],
                        self.sockets[name].fileno())

    def _start_programs(self, build):
        self.build = build
        for name in ("scheduler", *POOLS):
            self._start(name)

    def _start_nginx(self):
        script = """
            set -euo pipefail
            root=$1 run_dir=$2 data_dir=$2/data port=$3 pool_backlog=512
            for name in common templates problem_pages nginx; do source "$root/scripts/lib/$name.sh"; done
            project_root=$root
            fail_part() { shift; die "nginx $*"; }
            write_nginx_config
            """
        done = subprocess.run(["bash", "-c", script, "host", ROOT, self.directory, str(self.port)], capture_output=True,
                              text=True, timeout=180)
        assert done.returncode == 0, done.stderr
        self.nginx = Process("nginx", self._nginx_command([
            "nginx", "-p", self.directory / "nginx", "-e", "stderr", "-c", self.directory / "nginx" / "sluice.conf", "-g",
            "daemon off;"]), self.logs / "nginx.log", cwd=self.directory)

    def _nginx_command(self, command):
        """For hosts that start it elsewhere or otherwise."""
        return command

    def wait_ready(self):
        from lib.client import Http
        http = Http(self.port)
        for path in ("/livez", "/readyz"):
            until(lambda: all(answer.status == 200 for answer in http.together([("GET", path, {}, None)] * 6)),  # pylint: disable=cell-var-from-loop
                  30, f"{path} of a host", every=0.1)

    def replace(self, build):
        """As sluice-deploy starts a host anew: one part after another, with other programs."""
        self.build = build
        for name in ("scheduler", *POOLS):
            code = self.processes[name].stop(seconds=20)
            assert code == 0, (name, code)
            self._start(name)
        self.wait_ready()

    def stop(self):
        for name in (*POOLS, "scheduler"):
            if name in self.processes and self.processes[name].alive():
                self.processes[name].stop(seconds=20)
        if self.nginx and self.nginx.alive():
            self.nginx.stop(seconds=20)
        for opened in self.sockets.values():
            opened.close()
