"""scripts/run: goes on where it stopped, keeps to itself, says clearly what is wrong."""

import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest
import redis

from lib import processes
from lib.project import SCRIPTS
from lib.stack import Stack
from lib.wait import until


@pytest.mark.limit(240)
def test_second_start_goes_on_where_the_first_stopped(make_directory):
    directory = make_directory("again")
    first = Stack(directory)
    second = None
    try:
        first.start()
        api = first.api
        queue = api.queue(entryTtlSeconds=3600, pickupSeconds=3600, maxActive=2)
        sku = api.product(queue, stock=10)
        members = [api.member() for _ in range(8)]
        for member in members:
            member.enter(queue)
        buyer, holder = members[:2]
        buyer.wait_ready(queue)
        holder.wait_ready(queue)
        order = buyer.order(queue, [{"sku": sku, "quantity": 1}], key="k")
        assert order.status == 201
        next_one = members[2].wait_ready(queue)
        api.act(queue, "pause")
        first.stop(signal.SIGINT)

        second = Stack(directory, data=first.data, environment={"SLUICE_ODER_WORKERS": "3", "SLUICE_LOG_LEVEL": "info"}).start()
        assert second.port != first.port
        unknown = re.findall(r"(\w+) in the environment is not a setting", second.process.text())
        assert "SLUICE_ODER_WORKERS" in unknown and "SLUICE_LOG_LEVEL" not in unknown
        for member in members:
            member.api = second.api
        assert holder.position(queue)["entryToken"] == holder.token
        assert members[2].position(queue)["entryToken"] == next_one["entryToken"]
        assert [member.position(queue)["rank"] for member in members[3:]] == list(range(5))
        assert buyer.position(queue)["status"] == "NOT_ENTERED"
        assert buyer.order(queue, [{"sku": sku, "quantity": 1}], key="k").json == order.json
        assert second.api.state(queue)["incarnation"] == 1, "nothing was lost"
        assert second.api.state(queue)["state"] == "PAUSED"
        second.api.act(queue, "resume")
        assert holder.order(queue, [{"sku": sku, "quantity": 1}]).status == 201
        members[3].wait_ready(queue)
        assert second.api.admin("GET", f"/products/{sku}")["available"] == 8
        second.stop()
    finally:
        first.abandon()
        if second:
            second.abandon()


@pytest.mark.limit(180)
def test_two_copies_do_not_disturb_each_other_and_a_killed_one_is_cleaned_up(stack, make_directory):
    directory = make_directory("two")
    other = Stack(directory)
    again = None
    try:
        other.start()
        assert other.api.admin_key != stack.api.admin_key
        queue = other.api.queue("only-here")
        assert stack.api.admin("GET", f"/queues/{queue}").status == 404
        # The same folder twice is refused in one sentence.
        refused = subprocess.run([SCRIPTS / "run", "--port", str(other.port), "--data", other.data],
                                 capture_output=True, text=True, timeout=30)
        assert refused.returncode != 0 and len(refused.stderr.strip().splitlines()) == 1
        # Killed without a word: the next start ends what was left behind and goes on.
        os.killpg(other.process.pid, signal.SIGKILL)
        other.process.wait(10)
        again = Stack(directory, data=other.data)
        again.mark, again.environment = other.mark, other.environment
        again.start()
        assert again.api.admin("GET", f"/queues/{queue}").status == 200
        again.stop()
        assert stack.api.call("GET", "/readyz").status == 200
    finally:
        other.abandon()
        if again:
            again.abandon()


def test_nginx_is_found_also_where_only_root_has_it_on_the_path():
    """Debian gives other users no /usr/sbin."""
    done = subprocess.run(["bash", "-c", f"source '{SCRIPTS}/lib/common.sh' && nginx -v"], capture_output=True, text=True, timeout=30,
                          env={"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"})
    assert done.returncode == 0 and "nginx version" in done.stderr


def test_taken_port_is_one_clear_sentence(make_directory):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = subprocess.run([SCRIPTS / "run", "--port", str(port), "--data", make_directory("port") / "d"],
                                 capture_output=True, text=True, timeout=60)
    assert refused.returncode != 0
    assert len(refused.stderr.strip().splitlines()) == 1 and str(port) in refused.stderr


@pytest.mark.parametrize("arguments", [["--port", "0"], ["--port", "x"], ["--port"], ["--what"], ["--port", "70000"]])
def test_wrong_arguments(arguments):
    refused = subprocess.run([SCRIPTS / "run", *arguments], capture_output=True, text=True, timeout=30)
    assert refused.returncode == 64 and refused.stderr.strip()


@pytest.mark.parametrize("size", ["0", "x", "-1", "1000"])
def test_a_wrong_pool_size_is_one_clear_sentence(size):
    environment = {**os.environ, "SLUICE_CATALOG_WORKERS": size}
    refused = subprocess.run([SCRIPTS / "run"], env=environment, capture_output=True, text=True, timeout=30)
    assert refused.returncode == 64 and len(refused.stderr.strip().splitlines()) == 1
    assert "SLUICE_CATALOG_WORKERS" in refused.stderr and f"'{size}'" in refused.stderr


@pytest.mark.parametrize("pool", ["queue", "order", "payment", "operator", "catalog"])
def test_the_settings_of_each_pool_are_checked(make_directory, pool):
    """A key file that only one pool reads; it is named by the address that outlives the failed start."""
    folder = make_directory("pools")
    program = folder / "sluice-fcgi"
    program.write_text(f'#!/bin/sh\n[ "$2" != {pool} ] || {{ echo "/run/none/data/secrets/some.key: line 1"; exit 78; }}\n')
    program.chmod(0o755)
    refused = subprocess.run(["bash", "-euc", "source common.sh; source programs.sh\n"
                              "build_dir=$1 settings_file=none run_dir=/run/none data_dir='/var/sluice & co'\n"
                              "as_program=(); check_settings", "sh", folder],
                             cwd=SCRIPTS / "lib", capture_output=True, text=True, timeout=30)
    assert refused.returncode == 1
    assert "the settings are refused: /var/sluice & co/secrets/some.key: line 1" in refused.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives programs another user")
def test_nothing_that_the_network_reaches_runs_as_root(stack):
    programs = [pid for word in ("sluice-fcgi", "sluice-scheduler", "sluice-board", "sluice-reconcile")
                for pid in stack.part_pids(word)]
    assert len(programs) > 10
    for pid in programs:
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        user, groups = status["Uid"].split()[0], status["Groups"].split()
        assert user not in ("0", "65534") and "0" not in groups and status["CapEff"].strip("0") == "", status
        assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status
    for key in (stack.data / "secrets").iterdir():
        assert key.stat().st_uid == 0 and key.stat().st_mode & 0o137 == 0, "what they read they cannot change"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives programs another user")
def test_settings_are_checked_as_the_programs_user(make_directory):
    """As root nobody would find out that a key is closed to them."""
    folder = make_directory("checked")
    folder.chmod(0o755)
    program, key = folder / "sluice-fcgi", folder / "key"
    program.write_text(f"#!/bin/sh\ncat {key}\n")
    program.chmod(0o755)
    key.write_text("secret\n")

    def check(mode):
        key.chmod(mode)
        return subprocess.run(["bash", "-euc", "source common.sh; source programs.sh\n"
                               "build_dir=$1 settings_file=none run_dir=/run/none data_dir=/none\n"
                               "as_program=(setpriv --reuid 61183 --regid 61183 --clear-groups --); check_settings", "sh", folder],
                              cwd=SCRIPTS / "lib", capture_output=True, text=True, timeout=30)
    assert check(0o644).returncode == 0
    refused = check(0o600)
    assert refused.returncode == 1 and "the settings are refused" in refused.stderr and "Permission denied" in refused.stderr


def test_no_secret_is_on_a_command_line(stack):
    """Nor in a log, which every test's end looks at, for the operator's key."""
    secrets = [line.split(":")[-1] for key in (stack.data / "secrets").iterdir() for line in key.read_text().split()]
    assert len(secrets) >= 15 and all(len(secret) > 20 for secret in secrets)
    lines = " ".join(line for _, line in processes.ours("SLUICE_TEST_STACK", stack.mark, stack.places))
    assert "sluice-fcgi" in lines and not [secret for secret in secrets if secret in lines]
    for log in (stack.data / "logs").iterdir():
        text = log.read_text(errors="replace")
        assert not [secret for secret in secrets if secret in text], log


@pytest.mark.parametrize("part", ["sluice-scheduler", "sluice-fcgi --pool queue", "sluice-fcgi --pool order",
                                  "sluice-reconcile", "redis-server"])
def test_a_part_that_dies_is_started_again(stack, part):
    """Whichever it is: soon members get through again, and nobody has lost anything. A Redis that begins anew is looked after
    first, and lets nobody in for recoverySeconds more."""
    api = stack.api
    recovery = {"recoverySeconds": 1}
    queue = api.still_queue(**recovery)
    members = [api.member() for _ in range(5)]
    for member in members:
        assert member.enter(queue).status == 201
    if part == "redis-server":
        # What is older than a second is on disk.
        until(lambda: _aof_written(stack), 10)
    victims = stack.part_pids(part)
    assert victims, part
    for pid in victims:
        processes.kill9(pid)
    until(lambda: [member.position(queue).json.get("rank") for member in members] == list(range(5)), 30,
          f"places after the death of {part}")
    assert api.state(queue)["incarnation"] == (2 if part == "redis-server" else 1)
    api.queue(queue, **recovery)
    for member in members:
        until(lambda m=member: m.wait_ready(queue, 1), 30)
    until(lambda: api.call("GET", "/readyz").status == 200, 20)


def _aof_written(stack):
    client = redis.Redis(unix_socket_path=stack.redis_socket)
    info = client.info("persistence")
    client.close()
    return info["aof_enabled"] == 1 and info["aof_pending_bio_fsync"] == 0 and info["aof_buffer_length"] == 0


@pytest.mark.parametrize("program, said", [
    ("trap '' TERM; echo on; while :; do sleep 0.05; done", "part did not stop within 1 s and is killed"),
    ("sleep 60 & echo on; wait", "what part has left behind is killed")])
def test_what_does_not_end_by_itself_is_said(make_directory, program, said):
    """The end of each system that a test has started looks for these words."""
    place = make_directory("parts")
    (place / "logs").mkdir()
    done = subprocess.run(["bash", "-euc", """
        for name in common interruptible supervise; do source $name.sh; done
        run_dir=$1 data_dir=$1
        start_part_of_ours() { spawn part TERM bash -c "$2"; }
        start_part_of_ours "$@"
        until grep -q on "$1/logs/part.log"; do tick 0.05; done
        stop_part part TERM 1
        """, "parts", place, program], cwd=SCRIPTS / "lib", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, f"parts: {said}\n")
    processes.assert_none_left("nothing", "at-all", [place])
