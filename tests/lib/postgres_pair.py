"""PostgreSQL on two servers: a primary and a streaming standby, which the programs know by one conninfo."""

from lib.postgres_server import PostgresServer
from lib.wait import until


class PostgresPair:
    """Stands where a PostgresServer does. `active` is the one that takes writes; nothing becomes that by itself."""

    def __init__(self, directory, logs):
        self.servers = []
        for name in ("a", "b"):
            (directory / name).mkdir()
            (directory / name).chmod(0o711)
            self.servers.append(PostgresServer(directory / name, logs / f"postgres-{name}.log"))
        hosts = ",".join(str(server.sockets) for server in self.servers)
        self.conninfo = f"host={hosts} dbname=sluice user=sluice target_session_attrs=read-write"
        self.active = self.servers[0]

    @property
    def other(self):
        return self.servers[1 - self.servers.index(self.active)]

    def create(self):
        self.active.create()
        with open(self.active.data / "postgresql.conf", "a") as conf:
            conf.write("wal_log_hints = on\nwal_keep_size = 64MB\n")  # pg_rewind needs both, and reads them here alone
        return self

    def start(self):
        self.active.start()
        if not self.other.data.exists():
            self.add_standby()
        return self

    def add_standby(self):
        self.other.create_standby_of(self.active).start()
        self.wait_for_standby()

    def wait_for_standby(self):
        """From here on what is acknowledged is on both."""
        self.active.superuser("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (standby)'")
        self.active.superuser("SELECT pg_reload_conf()")
        until(lambda: self.active.superuser("SELECT sync_state FROM pg_stat_replication") == [("quorum",)], 20,
              "the standby follows")

    def promote_other(self):
        """What an operator or a cluster manager does once the primary is down for good. The promoted one waits for nobody,
        as there is nobody left."""
        self.active = self.other
        self.active.superuser("ALTER SYSTEM RESET synchronous_standby_names")
        self.active.superuser("SELECT pg_reload_conf()")
        assert self.active.superuser("SELECT pg_promote(true, 20)") == [(True,)]

    def rejoin_other(self):
        """The former primary, or a standby that was down, comes back as the standby of the present one."""
        if not self.other.is_standby():
            self.other.rewind_to(self.active)
        self.other.follow(self.active)
        self.other.start()
        self.wait_for_standby()

    # As a PostgresServer

    @property
    def process(self):
        return self.active.process

    def query(self, sql, *parameters):
        return self.active.query(sql, *parameters)

    def value(self, sql, *parameters):
        return self.active.value(sql, *parameters)

    def superuser(self, sql, database="sluice"):
        return self.active.superuser(sql, database)

    def kill(self):
        self.active.kill()

    def stop(self):
        for server in self.servers:
            if server.process and server.process.alive():
                # Not the fast way: a commit that waits for a standby which is down would wait on.
                server.kill()

    def mend(self):
        """Both are up and follow each other again, whatever a test has done."""
        if not self.active.process.alive():
            self.active.start()
        if self.other.process.alive() and not self.other.superuser("SELECT pg_is_in_recovery()", "postgres")[0][0]:
            self.other.kill()
        if not self.other.process.alive():
            self.rejoin_other()
