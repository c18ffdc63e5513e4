"""sql/schema shows the database as the migrations make it."""

import subprocess

import pytest

from lib.postgres_server import PostgresServer
from lib.project import SCRIPTS


@pytest.fixture(scope="module")
def server(make_directory):
    """A migrated database that no program uses."""
    directory = make_directory("schema")
    directory.chmod(0o711)
    server = PostgresServer(directory).create().start()
    yield server
    server.stop()


def check(server):
    return subprocess.run([SCRIPTS / "schema", "--check", "--conninfo", server.conninfo], capture_output=True, text=True,
                          timeout=60)


def test_schema_is_what_the_migrations_make(server):
    done = check(server)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("change, undo, seen", [
    ("ALTER TABLE product ADD COLUMN weight integer", "ALTER TABLE product DROP COLUMN weight", "+    weight integer,"),
    ("ALTER TABLE seat DROP CONSTRAINT seat_id_check", "ALTER TABLE seat ADD CONSTRAINT seat_id_check "
     "CHECK (id ~ '^[A-Za-z0-9._-]{1,32}$')", "-    CONSTRAINT seat_id_check"),
    ("CREATE INDEX audit_at_idx ON audit (at)", "DROP INDEX audit_at_idx", "+CREATE INDEX audit_at_idx ON audit (at);"),
    ("CREATE FUNCTION payment_count() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'", "DROP FUNCTION payment_count()",
     "+-- FUNCTION payment_count()"),
    ("CREATE TABLE stray (id bigint)", "DROP TABLE stray", "-\tstray"),
])
def test_a_difference_is_seen(server, change, undo, seen):
    server.query(change)
    try:
        done = check(server)
    finally:
        server.query(undo)
    assert done.returncode == 1
    assert seen in done.stdout
