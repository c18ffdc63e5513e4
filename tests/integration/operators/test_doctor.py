"""sluicectl doctor: it finds nothing on a sound system, and each of many faults on one that is not."""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from lib.sluicectl import Sluicectl

OURS = ("board", "kernel.", "program.", "nginx.", "redis.", "postgres.", "secret.", "memory.", "disk.", "settings",
        "server.reach", "server.http-clock")
KERNEL = {"net/core/somaxconn": "4096", "net/ipv4/tcp_max_syn_backlog": "4096", "net/ipv4/tcp_syncookies": "1",
          "fs/file-max": "1000000", "vm/overcommit_memory": "1"}


class Patient:
    """A sound system, of which a test spoils one thing."""

    def __init__(self, parts, directory, memory):
        self.parts, self.directory = parts, directory
        self.sluicectl = Sluicectl(parts.build, parts.port, parts.secrets)
        self.secrets = directory / "secrets"
        shutil.copytree(parts.secrets, self.secrets)
        self.config = directory / "sluice.conf"
        text = parts.config.read_text().replace(str(parts.secrets), str(self.secrets))
        self.config.write_text(text.replace(str(parts.memory), str(memory)))
        self.kernel = directory / "proc" / "sys"
        for name, value in KERNEL.items():
            (self.kernel / name).parent.mkdir(parents=True, exist_ok=True)
            (self.kernel / name).write_text(value + "\n")
        # In nginx's own folder, where its includes are found.
        self.nginx = parts.directory / "nginx" / "doctor.conf"
        self.nginx.write_text((parts.directory / "nginx" / "sluice.conf").read_text())
        self.options = []

    def change(self, path, old, new):
        text = Path(path).read_text()
        assert old in text
        Path(path).write_text(text.replace(old, new))

    def set_kernel(self, name, value):
        (self.kernel / name).write_text(value + "\n")

    def set_setting(self, name, value):
        lines = [line for line in self.config.read_text().splitlines() if not line.startswith(name + " =")]
        self.config.write_text("\n".join([*lines, f"{name} = {value}"]) + "\n")

    def findings(self, code=None):
        """Name → item of what is not as it should be, the server's own checklist left out."""
        answer = self.sluicectl.call("doctor", "--json", "--config", self.config, "--nginx", self.nginx, "--proc",
                                     self.directory / "proc", "--data", self.parts.directory / "data", *self.options)
        assert code is None or answer.code == code, answer
        items = json.loads(answer.output)["items"]
        assert len(items) > 10 and all(item["detail"] for item in items)
        wrong = {item["name"]: item for item in items if item["state"] != "ok" and item["name"].startswith(OURS)}
        assert all(item["do"] for item in wrong.values()), wrong
        return wrong


@pytest.fixture
def patient(all_parts, make_directory):
    """Of parts that need not be put in order for each test: nothing here makes a queue or stops anybody."""
    memory = Path("/dev/shm") / all_parts.directory.name
    memory.mkdir()
    patient = Patient(all_parts, make_directory("doctor"), memory)
    all_parts.redis.config_set("maxmemory", "1gb")
    yield patient
    all_parts.redis.config_set("maxmemory", "0")
    shutil.rmtree(memory)
    patient.nginx.unlink()


def test_nothing_is_found_on_a_sound_system(patient):
    assert patient.findings() == {}
    text = patient.sluicectl.call("doctor", "--config", patient.config, "--nginx", patient.nginx).output
    assert "ok    redis.maxmemory-policy: maxmemory-policy is noeviction" in text and "as they should be" in text


def low_somaxconn(patient):
    patient.set_kernel("net/core/somaxconn", "4095")


def short_syn_backlog(patient):
    patient.set_kernel("net/ipv4/tcp_max_syn_backlog", "4095")


def no_syncookies(patient):
    patient.set_kernel("net/ipv4/tcp_syncookies", "0")


def no_sandbox(patient):
    patient.set_setting("sandbox", "false")


def few_files(patient):
    lines = patient.nginx.read_text().splitlines()
    patient.nginx.write_text("\n".join(
        "worker_rlimit_nofile 256;" if line.startswith("worker_rlimit_nofile") else line for line in lines) + "\n")


def few_files_of_the_running_master(patient):
    """Without a setting its limit counts: the first of the two numbers."""
    pid = patient.directory / "nginx.pid"
    pid.write_text("7\n")
    lines = [line for line in patient.nginx.read_text().splitlines() if not line.startswith(("worker_rlimit_nofile", "pid "))]
    patient.nginx.write_text("\n".join([f"pid {pid};", *lines]) + "\n")
    (patient.directory / "proc" / "7").mkdir()
    (patient.directory / "proc" / "7" / "limits").write_text(
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max processes             63000                63000                processes \n"
        "Max open files            256                  1048576              files     \n")


def nothing_of_ours_in_nginx(patient):
    patient.nginx.write_text("events {}\nhttp {\n    server {\n        listen 127.0.0.1:1;\n    }\n}\n")


def bad_nginx(patient):
    patient.change(patient.nginx, "http {", "http {\n    bogus on;")


def hidden_clients(patient):
    patient.options = ["--load-balancer", "10.0.0.5"]


def proxy_header_that_nobody_reads(patient):
    patient.nginx.write_text(patient.nginx.read_text().replace(" backlog=", " proxy_protocol backlog=", 1))


def everybody_is_believed(patient):
    patient.change(patient.nginx, "http {", "http {\n    set_real_ip_from 0.0.0.0/0;\n    real_ip_header X-Real-IP;")


def ending_certificate(patient):
    place = patient.directory
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "3", "-subj", "/CN=x", "-keyout", place / "key.pem", "-out", place / "cert.pem"],
                   check=True, capture_output=True, timeout=20)
    patient.change(patient.nginx, "http {", f"http {{\n    ssl_certificate {place}/cert.pem;\n"
                                            f"    ssl_certificate_key {place}/key.pem;")


def readable_secret(patient):
    (patient.secrets / "admin.key").chmod(0o644)


def guessable_secret(patient):
    (patient.secrets / "viewer.key").write_text("secret\n")


def folder_of_secrets_open_to_all(patient):
    patient.secrets.chmod(0o777)


def unknown_setting(patient):
    patient.set_setting("redis_timeout", "1")


def counters_on_a_disk(patient):
    patient.set_setting("metrics_file", patient.parts.memory / "metrics")


def silent_board(patient):
    board = patient.directory / "board"
    board.mkdir()
    (board / "queue.json").write_text("{}")
    os.utime(board / "queue.json", (time.time() - 60,) * 2)
    patient.set_setting("board_directory", board)


def unreachable_redis(patient):
    patient.set_setting("redis_socket", patient.directory / "none.sock")


def unreachable_postgres(patient):
    patient.set_setting("postgres_conninfo", f"host={patient.directory} dbname=sluice user=sluice")


def no_schema(patient):
    patient.set_setting("postgres_conninfo", patient.parts.postgres.conninfo.replace("dbname=sluice", "dbname=postgres"))


@pytest.mark.parametrize("spoil, name, state", [
    (low_somaxconn, "kernel.somaxconn", "fail"), (short_syn_backlog, "kernel.syn-backlog", "fail"),
    (no_syncookies, "kernel.syncookies", "fail"), (no_sandbox, "kernel.sandbox", "warn"),
    (few_files, "nginx.open-files", "fail"), (few_files_of_the_running_master, "nginx.open-files", "fail"),
    (nothing_of_ours_in_nginx, "nginx.include", "fail"), (bad_nginx, "nginx.config", "fail"),
    (hidden_clients, "nginx.real-ip", "fail"), (proxy_header_that_nobody_reads, "nginx.real-ip", "fail"),
    (everybody_is_believed, "nginx.real-ip", "fail"), (ending_certificate, "nginx.certificate", "warn"),
    (readable_secret, "secret.admin_key_file", "fail"), (guessable_secret, "secret.viewer_key_file", "fail"),
    (folder_of_secrets_open_to_all, "secret.member_jwt_key_file", "fail"), (unknown_setting, "settings", "fail"),
    (counters_on_a_disk, "memory.metrics_file", "warn"), (silent_board, "board", "fail"), (unreachable_redis, "redis.reach", "fail"),
    (unreachable_postgres, "postgres.reach", "fail"), (no_schema, "postgres.reach", "fail")],
    ids=lambda value: value.__name__ if callable(value) else "")
def test_what_is_wrong_is_found(patient, spoil, name, state):
    spoil(patient)
    wrong = patient.findings(1 if state == "fail" else None)
    assert name in wrong and wrong[name]["state"] == state, wrong
    allowed = {name, "nginx.backlog"} if spoil is low_somaxconn else {name}
    assert set(wrong) <= allowed or spoil is folder_of_secrets_open_to_all, wrong


@pytest.mark.parametrize("key, value, sound, name, code", [
    ("maxmemory-policy", "allkeys-lru", "noeviction", "redis.maxmemory-policy", 1),
    ("appendonly", "no", "yes", "redis.append-only", 1), ("appendfsync", "no", "everysec", "redis.appendfsync", 1),
    ("maxmemory", "2mb", "1gb", "redis.memory", 1), ("maxmemory", "0", "1gb", "redis.memory", None)])
def test_a_redis_that_may_forget_is_found(patient, key, value, sound, name, code):
    if value == "2mb":
        patient.parts.redis.set("o3:large", "x" * 3_000_000)
    patient.parts.redis.config_set(key, value)
    try:
        found = patient.findings(code)
        assert set(found) == {name} and found[name]["state"] == ("fail" if code == 1 else "warn")
    finally:
        patient.parts.redis.config_set(key, sound)
        patient.parts.redis.delete("o3:large")


@pytest.mark.parametrize("role", ["sluice-order", "sluice-doctor"])
def test_a_postgresql_that_may_forget_is_found(patient, role):
    patient.parts.postgres.superuser(f'ALTER ROLE "{role}" SET synchronous_commit = off')
    try:
        assert set(patient.findings(1)) == {"postgres.synchronous-commit"}
    finally:
        patient.parts.postgres.superuser(f'ALTER ROLE "{role}" RESET ALL')


def test_addresses_that_a_load_balancer_brings_are_believed_from_it_alone(patient):
    patient.change(patient.nginx, "http {",
                   "http {\n    set_real_ip_from 10.0.0.0/24;\n    real_ip_header X-Forwarded-For;")
    patient.options = ["--load-balancer", "10.0.0.5, 10.0.0.128/25"]
    assert patient.findings() == {}
    patient.options = ["--load-balancer", "10.0.0.0/16"]
    assert set(patient.findings(1)) == {"nginx.real-ip"}
    patient.options = ["--load-balancer", "somewhere"]
    assert set(patient.findings(1)) == {"nginx.real-ip"}


def test_a_clock_that_is_off_is_found(patient):
    """PostgreSQL's and the server's are right, this machine's is not: what sees another time is told so."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    assert library, "the Debian package faketime is missing"
    patient.sluicectl.environment.update(LD_PRELOAD=str(library), FAKETIME="+30s", ASAN_OPTIONS="verify_asan_link_order=0")
    wrong = patient.findings(1)
    assert {"redis.clock", "postgres.clock", "server.http-clock"} <= set(wrong)
    assert re.search(r"\b3[0-3]\.", wrong["redis.clock"]["detail"])


def test_the_server_s_own_checklist_is_part_of_it(patient, api):
    queue = api.queue()
    items = patient.sluicectl.call("doctor", "--json", "--config", patient.config, "--nginx", patient.nginx)
    assert any(item["queue"] == queue and item["name"].startswith("server.") for item in json.loads(items.output)["items"])


def test_without_a_server(patient):
    called = patient.sluicectl.call("doctor", "--config", patient.config, url="http://127.0.0.1:1")
    assert called.code == 1 and "fail  server.reach" in called.output


@pytest.mark.skipif(os.geteuid() != 0, reason="only root looks as other users do")
def test_keys_are_read_as_the_program_s_user_reads_them(patient):
    """Root may read a key that its program may not."""
    commands = patient.directory / "commands"
    commands.mkdir()
    (commands / "systemctl").write_text(
        "#!/bin/sh\nfor unit; do :; done\ncase $unit in *@order.*) ;; *) echo User=; exit ;; esac\n"
        "echo User=www-data\n"
        f"echo 'ExecStart={{ path=/x ; argv[]=/x order /usr/bin/sluice-fcgi --config {patient.config} ; ignore_errors=no }}'\n")
    (commands / "systemctl").chmod(0o755)
    (commands / "sluice-fcgi").symlink_to(patient.parts.build / "sluice-fcgi")
    patient.sluicectl.environment["PATH"] = f"{commands}:{os.environ['PATH']}"
    patient.directory.chmod(0o711)
    patient.config.chmod(0o644)
    patient.secrets.chmod(0o711)
    wrong = patient.findings(1)
    assert set(wrong) == {"program.order-pool"} and "www-data" in wrong["program.order-pool"]["detail"]
    assert str(patient.secrets) in wrong["program.order-pool"]["detail"]
    for key in patient.secrets.iterdir():
        shutil.chown(key, "www-data")
    assert patient.findings() == {}
    # What a unit has in its environment counts.
    shutil.chown(patient.secrets / "visitor.keys", "root")
    own = patient.directory / "a place of its own"
    own.mkdir()
    shutil.copy(patient.secrets / "visitor.keys", own)
    shutil.chown(own / "visitor.keys", "www-data")
    assert set(patient.findings(1)) == {"program.order-pool"}
    with (commands / "systemctl").open("a") as file:
        file.write(f"echo 'Environment=LANG=C \"GREETING=a \\\"b\" \"SLUICE_VISITOR_KEYS_FILE={own}/visitor.keys\"'\n")
    assert patient.findings() == {}
    # Settings that no unit reads need not be readable for one.
    shutil.chown(patient.secrets / "visitor.keys", "root")
    patient.change(commands / "systemctl", str(patient.config), "/etc/sluice/sluice.conf")
    assert patient.findings() == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_it_has_nginx_read_nothing_that_another_user_names(patient, tmp_path):
    """nginx -T loads modules with the rights of whoever asks it."""
    place = tmp_path / "place"
    (place / "nginx").mkdir(parents=True)
    (place / "nginx" / "sluice.conf").write_text("nothing that nginx takes;\n")
    named = tmp_path / "run.place"
    named.write_text(f"{place}\n")

    def detail():
        answer = patient.sluicectl.call("doctor", "--json", "--config", patient.config, "--data", tmp_path)
        return next(item["detail"] for item in json.loads(answer.output)["items"] if item["name"] == "nginx.config")
    assert str(place) in detail()
    for uid, mode in ((65534, 0o600), (0, 0o666)):
        os.chown(named, uid, -1)
        named.chmod(mode)
        assert str(place) not in detail()
