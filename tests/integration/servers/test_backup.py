"""A backup is put back after everything was lost: whoever stood in line stands where they stood."""

import os
import shutil
import subprocess

import pytest

from lib.project import SCRIPTS
from lib.wait import until


def run(name, *arguments, expect=0):
    done = subprocess.run([SCRIPTS / name, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          env={key: value for key, value in os.environ.items() if not key.startswith("SLUICE_")})
    assert done.returncode == expect, (done.stdout, done.stderr)
    return done.stdout.strip() if expect == 0 else done.stderr


@pytest.fixture
def places(parts, tmp_path):
    return ["--config", parts.config, "--secrets", parts.secrets], tmp_path / "backups"


def stop_all(parts):
    for process in [*parts.schedulers, *parts.pools.values()]:
        process.stop(seconds=20)
    # Ourselves as well: what earlier tests have asked Redis has left a connection.
    parts.redis.connection_pool.disconnect()


def start_all(parts):
    for name in list(parts.pools):
        parts.start_pool(name, parts._count_of(name))  # pylint: disable=protected-access
    for name in parts.pools:
        parts._wait_pool(name)  # pylint: disable=protected-access
    parts.restart_schedulers(1)


def everything_is_lost(parts):
    parts.postgres.query("DROP SCHEMA public CASCADE")
    parts.postgres.query("CREATE SCHEMA public")


@pytest.mark.limit(90)
def test_nobody_loses_a_place(parts, api, places):
    where, folder = places
    queue = api.queue(recoverySeconds=2)
    sku = api.product(queue)
    items = [{"sku": sku, "quantity": 1}]
    members = [api.member() for _ in range(8)]
    for member in members[:3]:
        assert member.enter(queue).status == 201
        member.wait_ready(queue)
    for member in members[:2]:
        assert member.order(queue, items, key="first").status == 201
    api.act(queue, "pause")
    for member in members[3:6]:
        assert member.enter(queue).status == 201
    backup = run("backup", "--to", folder, *where)
    assert oct(os.stat(backup).st_mode)[-3:] == "700"

    # After the backup two more come, and one orders.
    for member in members[6:]:
        assert member.enter(queue).status == 201
    assert members[2].order(queue, items, key="late").status == 201
    assert "stop all of Sluice first" in run("restore", *where, backup, expect=1)
    stop_all(parts)
    everything_is_lost(parts)
    run("restore", *where, backup)
    start_all(parts)
    parts.postgres.query("UPDATE queue SET created_at = created_at - interval '1 minute'")
    parts.reconcile_until(lambda: members[7].position(queue).status == 200, what="the line is back")

    # Whose order was lost stands where they stood; the others follow in their order.
    line = members[2:]
    for member in reversed(line):
        assert member.position(queue)["status"] == "WAITING", member.name
    assert [member.position(queue)["rank"] for member in line] == list(range(len(line)))
    for member in members[:2]:
        assert member.position(queue)["status"] == "NOT_ENTERED", "one place, one order"
        assert len(member.orders()["orders"]) == 1
    assert parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", queue) == 2
    api.act(queue, "resume")
    for member in line:
        member.wait_ready(queue)
        assert member.order(queue, items).status == 201
    assert parts.postgres.value("SELECT available FROM product WHERE sku = %s", sku) == 100 - len(members)
    again = run("backup", "--to", folder, *where)
    text = subprocess.run(["pg_restore", "--file=-", f"{again}/database.dump"], capture_output=True, text=True, check=True,
                          timeout=30).stdout
    assert "CREATE TABLE public.queue" in text and "CREATE SCHEMA" not in text, "it can be restored as the first was"


def test_damaged_backups_change_nothing(parts, api, places, tmp_path):
    where, folder = places
    queue = api.still_queue()
    backup = run("backup", "--to", folder, *where)
    run("restore", "--check", backup)
    with open(f"{backup}/database.dump", "r+b") as file:
        file.seek(-10, os.SEEK_END)
        file.write(b"0123456789")
    assert "damaged" in run("restore", "--check", backup, expect=1)
    assert "damaged" in run("restore", *where, backup, expect=1)
    assert "no backup" in run("restore", *where, tmp_path, expect=1)
    assert api.member().enter(queue).status == 201
    bad = tmp_path / "bad.conf"
    bad.write_text("postgres_conninfo = host=/nonexistent dbname=sluice\n")
    assert "could not be read" in run("backup", "--to", folder, "--config", bad, "--secrets", parts.secrets, expect=1)
    assert [entry.name for entry in folder.iterdir()] == [os.path.basename(backup)], "a backup that failed leaves nothing"


def test_the_newest_are_kept(parts, places):
    where, folder = places
    folder.mkdir()
    for name in ("sluice-20200101T000000Z", "sluice-20210101T000000Z", "sluice-20220101T000000Z", "somebody-else-s"):
        (folder / name).mkdir()
    backup = run("backup", "--to", folder, "--keep", "2", *where)
    assert {entry.name for entry in folder.iterdir()} == {
        os.path.basename(backup), "sluice-20220101T000000Z", "somebody-else-s"}
    until(lambda: parts.api.admin("GET", "/queues").status == 200, 5)


def test_keys_that_differ_are_neither_kept_nor_replaced_silently(parts, api, places, tmp_path):
    """A new installation has fresh keys, with which every ticket of before would be void."""
    where, folder = places
    api.queue()
    backup = run("backup", "--to", folder, *where)
    fresh = tmp_path / "fresh"
    shutil.copytree(parts.secrets, fresh)
    for name in ("queue-ticket.keys", "visitor.keys", "member-jwt.key"):
        (fresh / name).write_text("fresh\n")
    (fresh / "stores").mkdir()
    (fresh / "stores" / "redis.key").write_text("of these stores\n")
    anew = ["--config", parts.config, "--secrets", fresh]
    before = {path: path.read_bytes() for path in fresh.rglob("*") if path.is_file()}
    stop_all(parts)
    said = run("restore", *anew, backup, expect=1)
    assert "visitor.keys" in said and "--replace-keys" in said and "--keep-keys" in said
    assert run("restore", *anew, "--keep-keys", "--replace-keys", backup, expect=64)
    assert {path: path.read_bytes() for path in fresh.rglob("*") if path.is_file()} == before
    run("restore", *anew, "--keep-keys", backup)
    assert all(path.read_bytes() == text for path, text in before.items())
    run("restore", *anew, "--replace-keys", backup)
    for name in ("queue-ticket.keys", "visitor.keys", "member-jwt.key", "admin.key"):
        assert (fresh / name).read_bytes() == (parts.secrets / name).read_bytes()
        assert (fresh / name).stat().st_mode & 0o077 == 0
    assert (fresh / "stores" / "redis.key").read_text() == "of these stores\n"
    run("restore", *anew, backup)
    start_all(parts)


def test_a_backup_of_an_earlier_release_is_restored_as_it_was(parts, api, places):
    """It lacks what this release's rights name: those come with the migrations."""
    where, folder = places
    queue = api.queue()
    now = run("backup", "--to", folder, *where)
    stop_all(parts)
    newest = parts.postgres.value("SELECT max(version) FROM schema_migration")
    parts.postgres.query("DELETE FROM schema_migration WHERE version = %s", newest)
    parts.postgres.query("ALTER TABLE program_pass RENAME TO pass_of_before")
    earlier = run("backup", "--to", folder, *where)
    run("restore", *where, earlier)
    assert parts.postgres.value("SELECT count(*) FROM pass_of_before") >= 0
    assert parts.postgres.value("SELECT has_table_privilege('sluice-operator', 'audit', 'SELECT')") is False
    assert parts.postgres.value("SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef"
                                " AND has_function_privilege('sluice-catalog', oid, 'EXECUTE')") == 0
    run("restore", *where, now)
    assert parts.postgres.value("SELECT has_table_privilege('sluice-operator', 'audit', 'SELECT')") is True
    assert parts.postgres.value("SELECT count(*) FROM queue WHERE id = %s", queue) == 1
    start_all(parts)
