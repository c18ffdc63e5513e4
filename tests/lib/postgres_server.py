"""A private PostgreSQL on a Unix socket, run as the user postgres where we are root."""

import atexit
import functools
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg2

from lib.processes import Process
from lib.project import ROOT, SCRIPTS
from lib.wait import until

PROGRAMS = Path("/usr/lib/postgresql/15/bin")


@functools.cache
def _template():
    """The data of a server that has the database, made once in this process: initdb and all migrations take seconds."""
    directory = Path(tempfile.mkdtemp(prefix="sluice-pg-", dir="/tmp"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    directory.chmod(0o711)
    server = PostgresServer(directory)
    server.initialize()
    server.start()
    server.make_database()
    server.stop()
    return server.data


class PostgresServer:
    """Keeps its data in `directory`/postgres and its socket in `directory`/pg."""

    def __init__(self, directory, log=None):
        self.data = directory / "postgres"
        self.sockets = directory / "pg"
        self.log = log or directory / "postgres.log"
        self.user = "postgres" if os.geteuid() == 0 else None
        self.conninfo = f"host={self.sockets} dbname=sluice user=sluice"
        self.options = []  # more settings, as name=value
        self.process = None

    def _as_user(self, *command):
        prefix = []
        if self.user:
            prefix = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--init-groups", "--"]
        done = subprocess.run([*prefix, *map(str, command)], capture_output=True, text=True, timeout=180, cwd="/")
        assert done.returncode == 0, done.stderr

    def _make_folders(self):
        for folder in (self.data, self.sockets):
            folder.mkdir(mode=0o700)
            if self.user:
                shutil.chown(folder, self.user, self.user)

    def create(self):
        """With the database in it, as a copy of the template."""
        template = _template()
        self._make_folders()
        subprocess.run(["cp", "--archive", "--reflink=auto", f"{template}/.", self.data], check=True, timeout=180)
        return self

    def initialize(self):
        """Without a database."""
        self._make_folders()
        self._as_user(PROGRAMS / "initdb", "--pgdata", self.data, "--username=postgres", "--auth=trust",
                      "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")

    def create_standby_of(self, other):
        """A copy of another one that streams from it, under the name `standby`, once it is started."""
        self._make_folders()
        source = f"host={other.sockets} user=postgres application_name=standby"
        self._as_user(PROGRAMS / "pg_basebackup", "--dbname", source, "--pgdata", self.data, "--wal-method=stream",
                      "--checkpoint=fast", "--no-sync")
        self.follow(other)
        return self

    def follow(self, other):
        """From its next start on it is a standby of another one."""
        (self.data / "standby.signal").touch()
        if self.user:
            shutil.chown(self.data / "standby.signal", self.user, self.user)
        self.options = [f"primary_conninfo=host={other.sockets} user=postgres application_name=standby",
                        "wal_retrieve_retry_interval=200ms"]

    def is_standby(self):
        """Whether it is one whenever it is started."""
        return (self.data / "standby.signal").exists()

    def rewind_to(self, other):
        """Brings a former primary, which has been killed, to where another one's history leads."""
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        other.superuser("CHECKPOINT")  # only that writes down where its history leads
        self._as_user(PROGRAMS / "pg_rewind", "--target-pgdata", self.data, "--source-server",
                      f"host={other.sockets} user=postgres dbname=postgres", "--no-sync")

    def start(self):
        """Starts it (again) and waits until it answers."""
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        self.process = Process("postgres", [
            PROGRAMS / "postgres", "-D", self.data, "-c", "listen_addresses=",
            "-c", f"unix_socket_directories={self.sockets}", "-c", "fsync=on", "-c", "max_connections=60",
            "-c", "shared_buffers=32MB", *(part for option in self.options for part in ("-c", option))],
            self.log, user=self.user, cwd="/")
        until(lambda: self._answers(), 30, "answer of PostgreSQL")
        return self

    def _answers(self):
        self.superuser("SELECT 1", database="postgres")
        return True

    def make_database(self):
        self.superuser((ROOT / "sql" / "roles.sql").read_text(), database="postgres")
        self.superuser("CREATE DATABASE sluice OWNER sluice", database="postgres")
        self.migrate()

    def migrate(self):
        done = subprocess.run([SCRIPTS / "migrate", "--conninfo", self.conninfo], capture_output=True,
                              text=True, timeout=180)
        assert done.returncode == 0, done.stderr

    def superuser(self, sql, database="sluice"):
        connection = psycopg2.connect(host=str(self.sockets), user="postgres", dbname=database,
                                      connect_timeout=20)
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetchall() if cursor.description else None
        finally:
            connection.close()

    def query(self, sql, *parameters):
        """Rows as tuples, on a connection of its own."""
        connection = psycopg2.connect(self.conninfo, connect_timeout=20)
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(sql, parameters)
                return cursor.fetchall() if cursor.description else None
        finally:
            connection.close()

    def value(self, sql, *parameters):
        return self.query(sql, *parameters)[0][0]

    def connection(self):
        """For tests that hold locks; the caller closes it."""
        return psycopg2.connect(self.conninfo, connect_timeout=20)

    def stop(self):
        """Fast shutdown."""
        if self.process and self.process.alive():
            self.process.stop(signal.SIGINT, 30)

    def kill(self):
        """What a power cut leaves: every process ends at once."""
        if self.process:
            self.process.kill()
            until(lambda: not self.pids(), 10, "end of PostgreSQL's processes")

    def pids(self):
        """PostgreSQL gives each child a session of its own; all of them work in the data folder."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    if os.readlink(f"/proc/{entry}/cwd") == str(self.data):
                        found.append(int(entry))
                except OSError:
                    pass
        return found
