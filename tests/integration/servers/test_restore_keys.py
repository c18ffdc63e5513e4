"""What sluice-restore does to the keys: it runs with stores that only answer what a test wants."""

import hashlib
import os
import subprocess
from types import SimpleNamespace

import pytest

from lib.project import SCRIPTS

OWNER, OWN_GROUP, KEYS_GROUP = 4900, 4900, 4901
KEYS = ("members/visitor.keys", "operators/admin.key", "queue-ticket.keys")


@pytest.fixture
def host(make_directory):
    """A host whose keys differ from the backup's, in folders of a group of their own, and a backup with none of that."""
    if os.geteuid() != 0:
        pytest.skip("needs files of another user")
    place = make_directory("restore")
    programs, secrets, backup, old = place / "programs", place / "secrets", place / "backup", place / "old"
    fakes = {"pg_restore": "exit 0",
             "redis-cli": 'case "$*" in *PING) echo PONG ;; esac',
             "psql": f'cat >/dev/null\necho 0\ncase "$*" in *--single-transaction*) [ ! -e {place}/database-refuses ] ;; esac'}
    for folder in (programs, secrets, backup, old):
        folder.mkdir()
    for name, text in fakes.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    for name in KEYS:
        for folder, text in ((old, "of the backup\n"), (secrets, "existing\n")):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
            (folder / name).chmod(0o600)
    subprocess.run(["tar", "--create", "--file", backup / "secrets.tar", "--directory", old, "."], check=True)
    for name in ("database.dump", "sluice.conf"):
        (backup / name).write_text("")
    names = ("database.dump", "secrets.tar", "sluice.conf")
    (backup / "SHA256SUMS").write_text("".join(
        f"{hashlib.sha256((backup / name).read_bytes()).hexdigest()}  {name}\n" for name in names))
    config = place / "sluice.conf"
    config.write_text("postgres_conninfo = dbname=sluice\nredis_socket = /nonexistent\n")
    for path in (place, *place.rglob("*")):
        os.chown(path, OWNER, OWN_GROUP)
    for name in KEYS[:2]:
        for path, mode in (((secrets / name).parent, 0o2750), (secrets / name, 0o640)):
            os.chown(path, OWNER, KEYS_GROUP)
            path.chmod(mode)

    def restore(*options, expect=0):
        done = subprocess.run([SCRIPTS / "restore", "--config", config, "--secrets", secrets, *options, backup],
                              capture_output=True, text=True, timeout=60, user=OWNER, group=OWN_GROUP,
                              extra_groups=[KEYS_GROUP], env={"PATH": f"{programs}:/usr/sbin:/usr/bin:/sbin:/bin"})
        assert done.returncode == expect, (done.stdout, done.stderr)
        return done.stderr

    def owners():
        found = {path: path.stat() for path in (secrets, *secrets.rglob("*"))}
        return {path: (oct(status.st_mode), status.st_uid, status.st_gid) for path, status in found.items()}

    def texts():
        return {name: (secrets / name).read_text() for name in KEYS}

    return SimpleNamespace(place=place, secrets=secrets, restore=restore, owners=owners, texts=texts)


def test_keys_that_are_replaced_stay_readable_by_their_programs(host):
    """The group decides: a program refuses a key whose group is its own."""
    before = host.owners()
    host.restore("--replace-keys")
    assert set(host.texts().values()) == {"of the backup\n"}
    assert host.owners() == before


def test_who_replaces_keys_hears_that_the_other_hosts_need_them(host):
    assert "to all other hosts" in host.restore("--replace-keys")
    assert "other hosts" not in host.restore()


def test_keys_are_not_replaced_if_the_database_is_not_restored(host):
    (host.place / "database-refuses").touch()
    (host.secrets / KEYS[0]).unlink()
    before = {name: (host.secrets / name).read_bytes() for name in KEYS[1:]}
    assert "as before" in host.restore("--replace-keys", expect=1)
    assert {name: (host.secrets / name).read_bytes() for name in KEYS[1:]} == before
    (host.place / "database-refuses").unlink()
    host.restore("--replace-keys")
    assert set(host.texts().values()) == {"of the backup\n"}


def test_an_interrupted_replacement_is_completed_by_the_next(host):
    (host.secrets / KEYS[1]).write_text("of the backup\n")
    (host.secrets / f"{KEYS[0]}.new").write_text("of the")
    assert KEYS[0] in host.restore(expect=1)
    host.restore("--replace-keys")
    assert set(host.texts().values()) == {"of the backup\n"}
    assert not list(host.secrets.rglob("*.new"))
