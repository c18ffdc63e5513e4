"""sluicectl on a host of the package: it finds the host's address and key by itself, whatever site is in front."""

import os
import re
import socket
import subprocess

import pytest

from lib.ports import free_port
from lib.processes import Process
from lib.project import ROOT
from lib.wait import until


def free_low_port():
    """A port of the loopback that only root can open."""
    for port in range(400, 500):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise AssertionError("no free port")


class Host:
    """The sample site with TLS over the pools of `parts`, and an /etc/sluice that only call() sees."""

    def __init__(self, parts, place):
        self.parts, self.place, self.etc = parts, place, place / "etc"
        self.plain, self.tls, self.local = free_port(), free_port(), f"127.0.0.1:{free_low_port()}"
        self.nginx = None

    def start(self):
        secrets = self.etc / "sluice" / "secrets" / "operators"
        secrets.mkdir(parents=True)
        (self.place / "elsewhere").mkdir()
        (secrets / "admin.key").write_bytes((self.parts.secrets / "admin.key").read_bytes())
        (secrets / "admin.key").chmod(0o600)
        for folder in ("logs", "cache", "tmp"):
            (self.place / folder).mkdir()
        for folder in (self.place, self.place / "tmp"):
            folder.chmod(0o711)
        output = self.place / "site"
        site("--output", output, "--run", self.parts.directory, "--logs", self.place / "logs", "--cache",
             self.place / "cache", "--local", self.local)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=shop.example",
                        "-keyout", self.place / "privkey.pem", "-out", self.place / "fullchain.pem"], check=True, capture_output=True)
        text = (ROOT / "packaging/nginx/nginx-site.conf").read_text()
        text = text.replace("/var/lib/sluice", str(output)).replace("/etc/ssl/sluice", str(self.place)).replace("/var/log/sluice", str(self.place / "logs"))
        text = re.sub(r"listen 80\b", f"listen 127.0.0.1:{self.plain}", text)
        text = re.sub(r"listen 443\b", f"listen 127.0.0.1:{self.tls}", text)
        text = re.sub(r"^ *listen \[::\].*$", "", text, flags=re.MULTILINE)
        paths = "\n".join(f"{kind}_temp_path {self.place}/tmp/{kind};" for kind in ("client_body", "proxy", "fastcgi", "scgi", "uwsgi"))
        (self.place / "nginx.conf").write_text(
            f"user www-data www-data;\nworker_processes 1;\npid {self.place}/nginx.pid;\nerror_log {self.place}/error.log warn;\n"
            f"events {{}}\nhttp {{\naccess_log off;\n{paths}\n{text}\n}}\n")
        self.nginx = Process("site", ["nginx", "-p", self.place, "-e", "stderr", "-c", self.place / "nginx.conf", "-g",
                                      "daemon off;"], self.place / "nginx.log")
        until(lambda: socket.create_connection(("127.0.0.1", self.plain), timeout=1).close() is None, 10, "nginx")
        return self

    def stop(self):
        if self.nginx:
            self.nginx.stop()

    def say_address(self, address):
        (self.etc / "sluice" / "local-address").write_text(f"{address}\n")

    def call(self, *words, network=True):
        """sluicectl, with no option or variable that names a server; without `network` nothing can be reached."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")}
        return subprocess.run(["unshare", "--mount", *([] if network else ["--net"]), "--", "sh", "-c",
                               f'mount --bind {self.etc} /etc && cd {self.place}/elsewhere && exec "$@"', "sh",
                               self.parts.build / "sluicectl" / "sluicectl", *words],
                              env=environment, capture_output=True, text=True, timeout=60)

    def installed_http_conf(self, lib):
        """The http.conf that sluice-site writes on this host; `lib` stands for /var/lib."""
        done = subprocess.run(["unshare", "--mount", "--", "sh", "-c",
                               f"mount --bind {lib} /var/lib && cp -a /etc/alternatives {self.etc}/ && mount --bind {self.etc} /etc &&"
                               f" exec {ROOT}/scripts/site"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done
        return (lib / "sluice/nginx/http.conf").read_text()

    def run(self, *words):
        done = self.call(*words)
        assert done.returncode == 0, done
        return done.stdout


def site(*options, expect=0):
    done = subprocess.run([ROOT / "scripts/site", *map(str, options)], capture_output=True, text=True, timeout=60)
    assert done.returncode == expect, done
    return done.stderr


@pytest.fixture
def host(parts, make_directory):
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "--net", "true"], capture_output=True).returncode != 0:
        pytest.skip("needs root and namespaces")
    host = Host(parts, make_directory("host"))
    try:
        yield host.start()
    finally:
        host.stop()


def test_commands_of_the_runbook(host, api):
    """As they stand there: nothing names the server."""
    queue = api.queue()
    host.say_address(host.local)
    assert queue in host.run("status")
    host.run("queue", "pause", queue)
    assert api.admin("GET", f"/queues/{queue}").json["state"] == "PAUSED"
    host.run("queue", "resume", queue)
    assert queue in host.run("audit")
    doctor = host.call("doctor").stdout
    assert f"ok    server.reach: http://{host.local} is ready" in doctor, doctor


def test_what_it_says_where_there_is_no_answer(host):
    silent = host.call("status", network=False)
    assert silent.returncode == 69
    assert "http://127.0.0.1:280 does not answer" in silent.stderr and "nginx" in silent.stderr
    assert "/var/lib/sluice/nginx/http.conf" in silent.stderr and "--url or SLUICE_URL" in silent.stderr
    # The address that the sample site redirects to TLS.
    redirected = host.call("--url", f"http://127.0.0.1:{host.plain}", "status")
    assert redirected.returncode == 69
    assert f"http://127.0.0.1:{host.plain} redirects to https://shop.example, where sluicectl does not follow" in redirected.stderr
    assert "--url or SLUICE_URL" in redirected.stderr


def test_the_local_address_is_of_this_machine_and_of_root(tmp_path):
    """The operator's key comes there in clear."""
    for wrong in ("0.0.0.0:280", "10.0.0.1:280", "280", "127.0.0.1:8080", "127.0.0.1:280;x", "127.0.0.1:1024"):
        assert "loopback address" in site("--output", tmp_path / "a", "--local", wrong, expect=64), wrong
    assert not (tmp_path / "a").exists()
    site("--output", tmp_path / "b", "--local", "[::1]:281")
    assert "listen [::1]:281;" in (tmp_path / "b/nginx/http.conf").read_text()
    site("--output", tmp_path / "c")
    assert "listen" not in (tmp_path / "c/nginx/http.conf").read_text(), "two cannot share an address"


def test_a_host_without_an_address_of_its_own(host, make_directory, tmp_path, api):
    """Nothing is sent to a server that is called none."""
    site("--output", tmp_path / "a", "--local", "none")
    assert "listen" not in (tmp_path / "a/nginx/http.conf").read_text()
    host.say_address("none")
    assert "listen" not in host.installed_http_conf(make_directory("lib"))
    refused = host.call("status")
    assert refused.returncode == 78
    assert "/etc/sluice/local-address says none" in refused.stderr and "--url or SLUICE_URL" in refused.stderr
    assert host.call("--url", f"http://127.0.0.1:{api.port}", "status").returncode == 0


@pytest.mark.parametrize("named", [None, "127.0.0.1:281"])
def test_the_files_of_the_package_have_the_address_that_sluicectl_looks_at(host, make_directory, named):
    if named:
        host.say_address(named)
    address = named or "127.0.0.1:280"
    assert f"listen {address};" in host.installed_http_conf(make_directory("lib"))
    assert f"http://{address} does not answer" in host.call("status", network=False).stderr
