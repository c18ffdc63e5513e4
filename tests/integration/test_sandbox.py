"""Programs confine themselves: whoever takes one over has a dead process, or one that can do no more than it did before."""

import signal
import socket
import subprocess
from pathlib import Path

import pytest

from lib.processes import children_of

DIES = {"exec", "fork", "ptrace", "memory", "packets", "code", "turn-to-code", "kill", "setuid", "namespace", "i386"}
IS_REFUSED = {"read", "write", "connect", "listen", "undo"}
PROGRAMS = {**{pool: ["sluice-fcgi", "--pool", pool] for pool in ("queue", "order", "payment", "operator", "catalog")},
            "scheduler": ["sluice-scheduler"], "board": ["sluice-board"], "reconcile": ["sluice-reconcile", "--every", "60"]}


@pytest.fixture(scope="module")
def try_way(all_parts, make_directory):
    """A function that starts a program, which tries a way out as soon as it has confined itself; returns how it ended."""
    board = make_directory("board")
    # FastCGI's socket, as the pools get it.
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(board / "fcgi.sock"))
    listener.listen()

    def run(program, way, **settings):
        name, *options = PROGRAMS[program]
        environment = {**all_parts.environment, "SLUICE_TEST_BREAK_OUT": way, "SLUICE_BOARD_DIRECTORY": str(board),
                       **{f"SLUICE_{key.upper()}": str(value) for key, value in settings.items()}}
        done = subprocess.run([all_parts.build / name, *options, "--config", all_parts.config], stdin=listener, timeout=20,
                              capture_output=True, text=True, env=environment, check=False)
        assert "ERROR: AddressSanitizer" not in done.stderr, done.stderr
        return done.returncode
    yield run
    listener.close()


def expected(way):
    return -signal.SIGSYS if way in DIES else 3


@pytest.mark.parametrize("way", sorted(DIES | IS_REFUSED))
def test_no_way_leads_out_of_the_queue_pool(try_way, way):
    assert try_way("queue", way) == expected(way)


@pytest.mark.parametrize("program", sorted(set(PROGRAMS) - {"queue"}))
def test_nor_out_of_any_other_program(try_way, program):
    for way in ("exec", "ptrace", "read", "connect"):
        assert try_way(program, way) == expected(way), way


def test_a_program_that_needs_the_net_gets_it_and_nothing_else(try_way):
    assert try_way("order", "connect", postgres_conninfo="host=127.0.0.1 dbname=sluice") == 0
    for way in ("exec", "listen", "write"):
        assert try_way("order", way, postgres_conninfo="host=127.0.0.1 dbname=sluice") == expected(way)


def test_without_the_sandbox_these_ways_are_open(try_way):
    """So what the tests above see is the sandbox."""
    for way in sorted((DIES | IS_REFUSED) - {"i386", "memory", "setuid", "namespace", "packets"}):
        assert try_way("queue", way, sandbox="false") == 0, way


def test_all_that_runs_is_confined(parts):
    parts.api.queue()
    programs = [pid for pool in parts.pools.values() for pid in children_of(pool.pid)]
    programs += [scheduler.pid for scheduler in parts.schedulers]
    assert len(programs) >= 8
    for pid in programs:
        status = Path(f"/proc/{pid}/status").read_text()
        assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status, (pid, status)
        core = next(line for line in Path(f"/proc/{pid}/limits").read_text().splitlines() if line.startswith("Max core"))
        assert core.split()[4:6] == ["0", "0"], core
