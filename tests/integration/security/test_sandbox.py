"""Programs confine themselves: whoever takes one over has a dead process, or one that can do no more than it did before."""

import signal
import socket
import subprocess
from pathlib import Path

import pytest

from lib import logs
from lib.board import Board
from lib.processes import children_of
from lib.project import ROOT
from lib.wait import until

DIES = {"exec", "fork", "ptrace", "memory", "packets", "code", "turn-to-code", "kill", "setuid", "namespace", "i386"}
IS_REFUSED = {"read", "write", "create", "connect", "listen", "listen-by-name", "undo"}
PROGRAMS = {**{pool: ["sluice-fcgi", "--pool", pool] for pool in ("queue", "order", "payment", "operator", "catalog")},
            "scheduler": ["sluice-scheduler"], "board": ["sluice-board"], "reconcile": ["sluice-reconcile", "--every", "60"]}


@pytest.fixture(scope="module")
def try_way(all_parts, make_directory):
    """A function that starts a program, which tries a way out as soon as it has confined itself; returns how it ended."""
    # The program that writes boards may write to the directory that theirs is in.
    board = make_directory("board") / "board"
    board.mkdir()
    # FastCGI's socket, as the pools get it.
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(board / "fcgi.sock"))
    listener.listen()
    # What "write" opens, and what "create" makes.
    files = make_directory("writable")
    (files / "existing").write_text("")

    def run(program, way, environment=None, says="", **settings):
        name, *options = PROGRAMS[program]
        (files / "new").unlink(missing_ok=True)
        environment = {**all_parts.environment, "SLUICE_TEST_BREAK_OUT": way,
                       "SLUICE_TEST_OPEN": str(files / ("new" if way == "create" else "existing")), "SLUICE_BOARD_DIRECTORY": str(board),
                       **{f"SLUICE_{key.upper()}": str(value) for key, value in settings.items()}, **(environment or {})}
        done = subprocess.run([all_parts.build / name, *options, "--config", all_parts.config], stdin=listener, timeout=20,
                              capture_output=True, text=True, env=environment, check=False)
        assert "ERROR: AddressSanitizer" not in done.stderr and says in done.stderr, done.stderr
        assert "hunter2" not in done.stderr, done.stderr
        assert (files / "new").exists() == (way == "create" and done.returncode == 0)
        return done.returncode
    yield run
    listener.close()


def expected(way):
    return -signal.SIGSYS if way in DIES else 3


@pytest.mark.parametrize("way", sorted(DIES | IS_REFUSED))
def test_no_way_leads_out_of_the_queue_pool(try_way, way):
    # Some kernels have no 32-bit calls, which could lead past a filter for 64-bit ones.
    assert try_way("queue", way) in (expected(way), 3 if way == "i386" else None)


@pytest.mark.parametrize("program", sorted(set(PROGRAMS) - {"queue"}))
def test_nor_out_of_any_other_program(try_way, program):
    for way in ("exec", "ptrace", "read", "create", "connect"):
        assert try_way(program, way) == expected(way), way


@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_only_the_board_gets_to_the_socket_at_which_nginx_reports(try_way, make_directory, program):
    folder = make_directory("origin")
    (folder / "existing").write_text("")
    ended = try_way(program, "write", {"SLUICE_TEST_OPEN": str(folder / "existing")}, origin_socket=folder / "origin.sock")
    assert ended == (0 if program == "board" else 3)


def test_a_program_that_needs_the_net_gets_it_and_nothing_else(try_way):
    assert try_way("order", "connect", postgres_conninfo="host=127.0.0.1 dbname=sluice") == 0
    for way in ("exec", "listen", "listen-by-name", "write", "create"):
        assert try_way("order", way, postgres_conninfo="host=127.0.0.1 dbname=sluice") == expected(way)


@pytest.fixture
def place(make_directory):
    """Folders with a file each; opens() is how a program ends that tries to read one of them."""
    folder = make_directory("files")
    folder.chmod(0o755)
    for name in ("named", "beside", "target", "elsewhere"):
        (folder / name).mkdir()
        (folder / name / "file").write_text("text\n")
    return folder


def test_what_a_setting_leads_to_by_links_can_be_read(try_way, place):
    """As with certificates: a link in one folder, the file that it leads to in another, where the next one will be."""
    (place / "beside/link").symlink_to("../target/file")
    (place / "named/link").symlink_to("../beside/link")
    (place / "target/next").write_text("text\n")

    def opens(name):
        return try_way("operator", "named", {"SLUICE_TEST_OPEN": str(place / name)}, tls_certificate_file=place / "named/link")
    for name in ("named/link", "target/file", "target/next"):
        assert opens(name) == 0, name
    assert opens("elsewhere/file") == 3


def test_a_theme_of_links_can_be_read(try_way, place):
    theme = place / "theme"
    (place / "named/texts").mkdir()
    (place / "named/texts/en.json").symlink_to("../../target/file")
    (place / "named/logo.svg").symlink_to(place / "beside/file")
    theme.symlink_to("named")
    (place / "target/file").write_text((ROOT / "web/waiting-room/texts/en.json").read_text())

    def opens(name):
        return try_way("queue", "named", {"SLUICE_TEST_OPEN": str(place / name)}, waiting_room_theme_directory=theme)
    for name in ("theme/texts/en.json", "theme/logo.svg"):
        assert opens(name) == 0, name
    assert opens("elsewhere/file") == 3


def test_a_service_of_postgresql_brings_its_files(try_way, place):
    services = place / "named/services"
    services.write_text(f"[shop]\nhost=/run/nowhere\ndbname=sluice\npassfile={place}/target/file\n")
    environment = {"PGSERVICEFILE": str(services)}

    def opens(name, **more):
        return try_way("order", "named", {**environment, "SLUICE_TEST_OPEN": str(place / name)}, postgres_conninfo="service=shop", **more)
    assert opens("named/services") == 0 and opens("target/file") == 0
    assert opens("elsewhere/file") == 3


@pytest.mark.parametrize("conninfo, says", [
    ("service=nobody dbname=sluice", 'postgres_conninfo is refused: definition of service "nobody" not found'),
    ("dbname=sluice passfile=pass", "postgres_conninfo: passfile must be an absolute path, not 'pass'"),
    ("host=/run password='hunter2", "postgres_conninfo must be of libpq's form")])
@pytest.mark.parametrize("program", ["order", "scheduler", "reconcile"])
def test_a_conninfo_that_the_sandbox_would_break_is_refused_at_the_start(try_way, place, program, conninfo, says):
    (place / "named/services").write_text("[shop]\n")
    assert try_way(program, "named", {"PGSERVICEFILE": str(place / "named/services")}, says, postgres_conninfo=conninfo) == 78


def test_without_the_sandbox_these_ways_are_open(try_way):
    """So what the tests above see is the sandbox."""
    for way in sorted((DIES | IS_REFUSED) - {"i386", "memory", "setuid", "namespace", "packets"}):
        assert try_way("queue", way, sandbox="false") == 0, way


@pytest.fixture
def board(parts):
    board = Board(parts)
    yield board
    board.stop()


def program_of(pid):
    """Its name in PROGRAMS."""
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return words[words.index("--pool") + 1] if "--pool" in words else Path(words[0]).name.removeprefix("sluice-")


def test_all_that_runs_is_confined(parts, board):
    queue = parts.api.queue()
    writer = board.start()
    board.wait_for(queue)
    parts.start_reconcile()
    until(lambda: parts.reconciler.pid in {event["pid"] for event in logs.events(parts.logs, "reconcile.started")}, 10, "reconcile")
    programs = [pid for pool in parts.pools.values() for pid in children_of(pool.pid)]
    programs += [process.pid for process in (*parts.schedulers, writer, parts.reconciler)]
    assert {program_of(pid) for pid in programs} == set(PROGRAMS)
    for pid in programs:
        status = Path(f"/proc/{pid}/status").read_text()
        assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status, (pid, status)
        core = next(line for line in Path(f"/proc/{pid}/limits").read_text().splitlines() if line.startswith("Max core"))
        assert core.split()[4:6] == ["0", "0"], core
