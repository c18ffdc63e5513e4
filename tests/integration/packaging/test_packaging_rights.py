"""sluice-rights on hosts of earlier releases: what it changes, what it leaves, and what it refuses before it changes anything.
It runs with an /etc of its own, and with stores that only write down what they are told."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from types import SimpleNamespace

import pytest
import redis

from lib.project import ROOT
from lib.redis_server import RedisServer

SETTINGS = (ROOT / "packaging/etc/sluice.conf.in").read_text().replace("@sysconfdir@", "/etc").replace("@pkgdatadir@", str(ROOT))
CONNINFO = "host=/run/postgresql dbname=sluice user=sluice"
REDIS_CONF = "port 0\nunixsocket /run/redis/redis-server.sock\n"
ONE_USER = {f"{unit}.service.d/00-sluice-one-user.conf"
            for unit in ("sluice-pool@", "sluice-scheduler", "sluice-reconcile", "sluice-reconcile-check")}
BOUND = {f"sluice-pool@{pool}.service.d/zz-sluice-addresses.conf" for pool in ("operator", "catalog")}
USERS = ("sluice", *(f"sluice-{name}" for name in ("queue", "order", "payment", "operator", "catalog", "reconcile", "scheduler", "board")))


@pytest.fixture
def host(make_directory):
    """A host as an earlier release has left it; run() is sluice-rights there."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        pytest.skip("needs a mount namespace")
    place = make_directory("rights")
    etc, calls, programs = place / "etc", place / "calls", place / "programs"
    for folder in ("sluice/secrets/stores", "redis", "systemd/system"):
        (etc / folder).mkdir(parents=True)
    for name in ("alternatives", "nsswitch.conf"):
        subprocess.run(["cp", "-a", f"/etc/{name}", etc], check=True)
    (etc / "passwd").write_text("root:x:0:0::/root:/bin/sh\n" + "".join(
        f"{name}:x:{4000 + number}:4000::/:/bin/false\n" for number, name in enumerate((*USERS, "redis"))))
    (etc / "group").write_text("root:x:0:\nsluice:x:4000:\nredis:x:4100:\n")
    config, conf, units = etc / "sluice/sluice.conf", etc / "redis/redis.conf", etc / "systemd/system"
    config.write_text(SETTINGS)
    conf.write_text(REDIS_CONF)
    programs.mkdir()
    for name in ("runuser", "redis-cli", "systemctl"):
        (programs / name).write_text(f"#!/bin/sh\necho {name} \"$@\" >>{calls}\n[ ! -e {place}/refuse-$1-$2 ]\n")
        (programs / name).chmod(0o755)
    with (programs / "redis-cli").open("a") as file:
        file.write(f"[ ! -e {place}/redis-is-down ] || exit 1\n[ ! -e {place}/redis-refuses ] || {{ echo NOAUTH; exit; }}\n"
                   f'case $* in *PING) echo PONG ;; *) while read -r line; do echo "$line" >>{calls}; echo OK; done ;; esac\n')
    calls.touch()

    tmpfiles = place / "tmpfiles.d"
    tmpfiles.mkdir()
    (tmpfiles / "sluice.conf").write_text((ROOT / "packaging/etc/tmpfiles.conf").read_text())

    def run(*options, script="rights", expect=0, mounts="true", **environment):
        done = subprocess.run(["unshare", "--mount", "sh", "-c",
                               f'mount --bind {etc} /etc && mount --bind {tmpfiles} /usr/lib/tmpfiles.d && {mounts} && exec "$@"', "sh",
                               ROOT / "packaging" / script, *options], capture_output=True, text=True, timeout=60,
                              env={"PATH": f"{programs}:/usr/sbin:/usr/bin:/sbin:/bin", **environment})
        assert done.returncode == expect, (done.stdout, done.stderr)
        return done.stderr

    def files():
        return {path: (path.read_bytes(), path.stat().st_mode) for path in etc.rglob("*") if path.is_file()}

    def drop_ins():
        return {str(path.relative_to(units)) for path in units.rglob("*.conf")}

    return SimpleNamespace(place=place, programs=programs, tmpfiles=tmpfiles / "sluice.conf", etc=etc, units=units, config=config, conf=conf, calls=calls,
                           run=run, files=files, drop_ins=drop_ins)


def change(file, setting, value):
    text, count = re.subn(f"^{setting} = .*$", lambda _: f"{setting} = {value}", file.read_text(), flags=re.MULTILINE)
    file.write_text(text if count else f"{text}{setting} = {value}\n")


def values(file):
    return dict(re.findall(r"^(\w+) = (.*)$", file.read_text(), re.MULTILINE))


def test_settings_that_dpkg_may_put_in_place_name_one_user(host):
    """/etc/sluice/sluice.conf is a conffile: whoever has not edited it has the package's after an upgrade."""
    assert "{program}" not in "".join(values(host.config).values())
    host.run()
    assert host.drop_ins() == ONE_USER | BOUND
    assert host.config.read_text() == SETTINGS


def test_each_program_gets_its_own_by_one_command(host):
    host.run()
    before, mode = values(host.config), host.config.stat().st_mode
    host.run("--make")
    after = values(host.config)
    own = {"postgres_conninfo": CONNINFO + "-{program}", "redis_user": "sluice-{program}",
           "redis_password_file": "/etc/sluice/secrets/stores/redis-{program}.key",
           "catalog_l1_directory": "/run/sluice/memory/catalog-{program}"}
    assert after == {**before, **own} and host.config.stat().st_mode == mode
    assert host.drop_ins() == BOUND
    assert set(USERS) <= set(re.findall(r"^user (\S+)", (host.etc / "redis/sluice.acl").read_text(), re.MULTILINE))
    assert host.conf.read_text() == REDIS_CONF + "aclfile /etc/redis/sluice.acl\n"
    assert "systemctl try-restart" in host.calls.read_text()
    assert "systemctl restart redis-server.service" in host.calls.read_text(), "it reads the name of its aclfile at its start"
    assert [path.name for path in (host.etc / "sluice").iterdir() if path.is_file()] == ["sluice.conf"]
    once = host.files()
    host.calls.write_text("")
    host.run("--make")
    assert host.files() == once and not re.search("restart|ACL LOAD", host.calls.read_text())


@pytest.fixture
def upgraded(host):
    """A host with users of its own in Redis, and the file of a release whose queue pool needed less and another command."""
    host.run("--make")
    acl = host.etc / "redis/sluice.acl"
    now = acl.read_text()
    assert " +multi " in now
    acl.write_text(now.replace(" +multi ", " +append "))
    host.calls.write_text("")
    return SimpleNamespace(acl=acl, now=now, before=acl.read_text())


def rewritten(text):
    """redis.conf as CONFIG REWRITE leaves it."""
    return re.sub(r"^(aclfile|unixsocket) (\S+)$", r'\1 "\2"', text, flags=re.MULTILINE)


def told(host):
    """What Redis is told about its users: the words of each."""
    return {name: rules.split() for name, rules in re.findall(r"^ACL SETUSER (\S+) (.*)$", host.calls.read_text(), re.MULTILINE)}


def test_an_upgrade_gives_redis_the_commands_that_its_programs_need(host, upgraded):
    """Before the programs are restarted: those of the release before keep what they have, and no connection is closed."""
    host.run()
    assert upgraded.acl.read_text() == upgraded.now
    rules = told(host)
    assert set(rules) == set(re.findall(r"^user (sluice\S*)", upgraded.now, re.MULTILINE)) >= set(USERS)
    assert "+multi" in rules["sluice-queue"] and "~sluice:*" in rules["sluice-queue"]
    assert not [word for words in rules.values() for word in words if word.startswith(("reset", "-"))]
    assert not re.search("restart|ACL LOAD", host.calls.read_text())
    host.calls.write_text("")
    host.run("--make")
    rules = told(host)
    assert all(words[0] == "reset" for words in rules.values()) and "off" in rules["default"]


def test_an_upgrade_renews_the_users_of_a_redis_that_has_rewritten_its_configuration(host, upgraded):
    conf = rewritten(f"aclfile /etc/redis/others.acl\n{host.conf.read_text()}")
    assert '\naclfile "/etc/redis/sluice.acl"\n' in conf
    host.conf.write_text(conf)
    host.run()
    assert upgraded.acl.read_text() == upgraded.now and "+multi" in told(host)["sluice-queue"]
    host.run("--make")
    assert host.conf.read_text() == conf


def test_a_repeated_bootstrap_takes_no_command_from_programs_that_still_run(host, bootstrap, upgraded):
    (host.programs / "sluice-rights").write_text(f'#!/bin/sh\nexec {ROOT}/packaging/rights "$@"\n')
    bootstrap.run("--all-in-one", expect=7)
    rules = told(host)
    assert "+multi" in rules["sluice-queue"]
    assert not [word for words in rules.values() for word in words if word.startswith(("reset", "-"))]


def test_a_program_that_is_connected_stays_so_when_it_gets_another_command(host, upgraded, make_directory):
    """In a real Redis, where ACL LOAD would close the connection."""
    server = RedisServer(make_directory("users")).start()
    try:
        for line in upgraded.before.splitlines():
            _, name, *rules = line.split()
            if name != "default":
                server.client().execute_command("ACL", "SETUSER", name, *rules)
        owner, client = (server.client(username=name, password=(host.etc / "sluice/secrets/stores" / file).read_text().strip(),
                                       single_connection_client=True)
                         for name, file in (("sluice", "redis.key"), ("sluice-queue", "redis-queue.key")))
        change(host.config, "redis_socket", server.socket)
        host.conf.write_text(f"unixsocket {server.socket}\naclfile /etc/redis/sluice.acl\n")
        (host.programs / "redis-cli").unlink()
        with pytest.raises(redis.exceptions.NoPermissionError):
            client.execute_command("MULTI")
        before = {row["id"] for row in owner.client_list()}
        host.run()
        assert client.execute_command("MULTI") == "OK" and before <= {row["id"] for row in owner.client_list()}
        assert "+append" in next(row for row in owner.execute_command("ACL", "LIST") if row.startswith("user sluice-queue "))
        host.run("--make")
        assert client.execute_command("EXEC") == [] and before <= {row["id"] for row in owner.client_list()}
        assert "+append" not in next(row for row in owner.execute_command("ACL", "LIST") if row.startswith("user sluice-queue "))
    finally:
        server.process.stop()


def test_an_administrators_users_in_redis_are_kept(host, upgraded):
    own = "user monitoring on nopass ~* -@all +info\n"
    with upgraded.acl.open("a") as file:
        file.write(f"{own}user sluice-formerly on nopass ~* +@all\n")
    for options in ((), ("--make",)):
        host.run(*options)
        assert upgraded.acl.read_text() == upgraded.now + own


def test_a_new_program_gets_its_password_with_the_upgrade(host, upgraded):
    key = host.etc / "sluice/secrets/stores/redis-board.key"
    key.unlink()
    host.run()
    digest = hashlib.sha256(key.read_text().strip().encode()).hexdigest()
    assert f"user sluice-board on sanitize-payload #{digest} " in upgraded.acl.read_text() and f"#{digest}" in told(host)["sluice-board"]


def test_a_redis_that_is_down_reads_its_users_at_its_start(host, upgraded):
    (host.place / "redis-is-down").touch()
    host.run()
    assert upgraded.acl.read_text() == upgraded.now


def test_a_redis_that_refuses_new_users_stops_the_upgrade(host, upgraded):
    """And Redis starts again with those of before."""
    before = host.files()
    (host.place / "redis-refuses").touch()
    assert "sluice-rights --make" in host.run(expect=1)
    assert host.files() == before


@pytest.mark.parametrize("setting, value", [("redis_address", "10.0.0.1:6379"), ("redis_password_file", "/etc/shop-{program}.key"),
                                            ("aclfile", ""), ("aclfile", "aclfile /etc/redis/users.acl\n")])
def test_users_of_another_redis_are_not_renewed(host, upgraded, setting, value):
    if setting == "aclfile":
        host.conf.write_text(REDIS_CONF + value)
    else:
        change(host.config, setting, value)
    host.run()
    assert upgraded.acl.read_text() == upgraded.before and not told(host)


@pytest.mark.parametrize("conninfo", ["user=sluice dbname=shop  host=/var/run/postgresql port=5432",
                                      "host=/run/postgresql connect_timeout=3 user=sluice dbname=sluice"])
def test_the_role_is_changed_wherever_it_stands(host, conninfo):
    change(host.config, "postgres_conninfo", conninfo)
    host.run("--make")
    assert values(host.config)["postgres_conninfo"].split() == [
        "user=sluice-{program}" if word == "user=sluice" else word for word in conninfo.split()]


@pytest.mark.parametrize("setting, value", [
    ("postgres_conninfo", "host=db.example dbname=sluice user=sluice"), ("postgres_conninfo", "host=/run/postgresql dbname=sluice"),
    ("postgres_conninfo", "host=/run/postgresql dbname=sluice user=shop"), ("postgres_conninfo", "postgresql://sluice@/sluice"),
    ("postgres_conninfo", "dbname=sluice user = sluice"), ("postgres_conninfo", "port=5433 dbname=sluice user=sluice"),
    ("postgres_conninfo", "dbname=sluice user=sluice passfile=/etc/sluice/secrets/stores/postgres.pass"),
    ("redis_socket", "/run/haproxy/redis.sock"), ("redis_address", "redis.example:6379"), ("redis_user", "shop"),
    ("redis_password_file", "/etc/shop.key")])
def test_stores_that_it_cannot_make_users_for_are_left_alone(host, setting, value):
    change(host.config, setting, value)
    before = host.files()
    assert "docs/ops/rights.md" in (said := host.run("--make", expect=1)) or setting in said
    assert host.files() == before and host.calls.read_text() == ""


@pytest.mark.parametrize("settings, opened, bound", [
    ({}, set(), {"operator", "catalog"}),
    ({"postgres_conninfo": "host='/run/postgresql,/run/other' user=sluice"}, set(), {"operator", "catalog"}),
    ({"postgres_conninfo": "host=127.0.0.1 user=sluice"}, {"scheduler"}, {"operator", "catalog", "scheduler"}),
    ({"redis_address": "[::1]:6379"}, {"queue", "board", "scheduler"}, {"operator", "catalog", "queue", "board", "scheduler"}),
    ({"redis_address": "127.0.0.1:6379", "postgres_conninfo": "dbname=sluice host = localhost,db.example"},
     {"queue", "board", "scheduler"}, {"queue", "board"}),
    ({"redis_address": "127.0.0.1.example:6379"}, {"queue", "board", "scheduler"}, set()),
    ({"redis_cluster": "127.0.0.1:6379"}, {"queue", "board", "scheduler"}, set()),
    ({"postgres_conninfo": "hostaddr=10.0.0.1 user=sluice"}, {"scheduler"}, set()),
    ({"postgres_conninfo": "service=shop"}, {"scheduler"}, set()),
    ({"postgres_conninfo": "dbname=sluice user=sluice"}, {"scheduler"}, set()),
    ({"postgres_conninfo": "postgresql://sluice@localhost/sluice"}, {"scheduler"}, set())])
def test_units_reach_what_the_settings_name(host, settings, opened, bound):
    """Who has a network, and who reaches no more of it than this machine; again where the settings are others by then."""
    def units(file):
        return {re.sub(r"sluice-(pool@)?|\.service\.d/.*", "", name) for name in host.drop_ins() if name.endswith(file)}
    for setting, value in settings.items():
        change(host.config, setting, value)
    host.run()
    assert units("/zz-sluice-network.conf") == opened and units("/zz-sluice-addresses.conf") == bound
    host.config.write_text(SETTINGS)
    host.run()
    assert host.drop_ins() == ONE_USER | BOUND
    text = (host.units / next(iter(BOUND))).read_text()
    assert "IPAddressDeny=any\nIPAddressAllow=localhost\n" in text


@pytest.mark.parametrize("line", ["aclfile /etc/redis/users.acl", 'aclfile "/etc/redis/users.acl"', "user shop on nopass ~* +@all"])
def test_users_that_redis_has_already_are_left_alone(host, line):
    host.conf.write_text(f"{REDIS_CONF}{line}\n")
    before = host.files()
    assert "users of its own" in host.run("--make", expect=1)
    assert host.files() == before and host.calls.read_text() == ""


def test_settings_that_a_program_refuses_stay_as_they_were(host):
    (host.place / "refuse--u-sluice-payment").touch()
    assert "stay as they are" in host.run("--make", expect=1)
    assert host.config.read_text() == SETTINGS and host.conf.read_text() == REDIS_CONF
    assert [path.name for path in (host.etc / "sluice").iterdir() if path.is_file()] == ["sluice.conf"]


@pytest.mark.parametrize("setting, value", [("redis_user", "sluice-{program}"),
                                            ("redis_password_file", "/etc/sluice/secrets/stores/redis-{program}.key")])
def test_users_of_their_own_in_redis_alone_are_refused(host, setting, value):
    change(host.config, setting, value)
    assert setting in host.run(expect=1)
    assert not host.drop_ins()


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_a_redis_by_address_opens_the_network_of_those_that_have_none(host):
    closed = ("sluice-pool@queue", "sluice-scheduler", "sluice-board")
    old = host.units / "sluice-pool@queue.service.d/00-sluice-network.conf"
    old.parent.mkdir()
    old.write_text("[Service]\nPrivateNetwork=no\n")
    change(host.config, "redis_address", "10.0.0.1:6379")
    host.run()
    assert not old.exists()
    for unit in closed:
        name, = (path.name for path in (host.units / f"{unit}.service.d").iterdir() if "network" in path.name)
        assert all(name > vendors.name.removesuffix(".in") for vendors in (ROOT / "packaging/systemd").glob("*/*.conf.in"))

    # And as systemd sees them.
    vendor = host.place / "vendor"
    for source in (ROOT / "packaging/systemd").rglob("*.in"):
        folder = vendor if source.parent.name == "systemd" else vendor / f"sluice-pool@{source.parent.name}.service.d"
        folder.mkdir(exist_ok=True, parents=True)
        (folder / source.name.removesuffix(".in")).write_text(
            re.sub(r"@[a-z]+@/(bin|sluice-)?", "/bin/", source.read_text()))

    def has_network(unit):
        said = subprocess.run(["systemd-analyze", "security", "--offline=true", "--json=short", f"{unit}.service"], text=True,
                              stdout=subprocess.PIPE, timeout=60,
                              env={**os.environ, "SYSTEMD_UNIT_PATH": f"{host.units}:{vendor}:/lib/systemd/system"})
        rows = {row["name"]: row["set"] for row in json.loads(said.stdout)}
        return not rows["PrivateNetwork="] and not rows["RestrictAddressFamilies=~AF_(INET|INET6)"]

    assert all(has_network(unit) for unit in closed)
    change(host.config, "redis_address", "")
    host.run()
    assert not any(has_network(unit) for unit in closed) and host.drop_ins() == ONE_USER | BOUND


@pytest.fixture
def roll_back(host):
    """Back to another release by sluice-deploy, with this machine as the host; each key is of a group before."""
    keys = [host.etc / "sluice/secrets" / name for name in ("members/visitor.keys", "operators/admin.key", "stores/redis-order.key")]
    for number, key in enumerate(keys):
        key.parent.mkdir(exist_ok=True)
        key.write_text("secret\n")
        key.chmod(0o640)
        os.chown(key, 4002 + number, 4100)
    programs = {"ssh": 'exec sh -c "$2"', "scp": 'exec cp -- "$2" "${3#*:}"', "apt-get": "exit 0",
                "sluice-deploy": f"stat -c '%a %u %g' {' '.join(map(str, keys))} >{host.place}/started"}
    for name, text in programs.items():
        (host.programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (host.programs / name).chmod(0o755)
    (host.place / "old.deb").write_text("a package")

    def run(expect=0):
        said = host.run("--roll-back", "--package", host.place / "old.deb", "host-1", script="deploy", expect=expect,
                        SLUICE_SSH=str(host.programs / "ssh"), SLUICE_SCP=str(host.programs / "scp"))
        started = host.place / "started"
        return said, started.read_text().splitlines() if started.exists() else None
    return run


def test_a_release_without_groups_finds_keys_as_it_wants_them(host, roll_back):
    host.tmpfiles.write_text("d /etc/sluice/secrets/members   0700 sluice sluice -\n")
    assert roll_back()[1] == ["600 4000 4000"] * 3, "before anything is started anew"
    assert "--check-config" in host.calls.read_text()


def test_a_release_with_groups_keeps_them(host, roll_back):
    assert roll_back()[1] == [f"640 {4002 + number} 4100" for number in range(3)]


def test_settings_that_the_release_before_does_not_know_stop_the_way_back(host, roll_back):
    host.tmpfiles.write_text("d /etc/sluice/secrets/members   0700 sluice sluice -\n")
    change(host.config, "redis_user", "sluice-{program}")
    before = host.files()
    said, started = roll_back(expect=1)
    assert "{program}" in said and "nothing was restarted" in said and started is None and host.files() == before
    change(host.config, "redis_user", "shop")
    (host.place / "refuse--u-sluice").touch()
    said, started = roll_back(expect=1)
    assert "nothing was restarted" in said and started is None


@pytest.fixture
def bootstrap(host):
    """sluice-bootstrap with settings and keys from elsewhere, up to where it would make nginx's site."""
    for folder in ("nginx/modules-enabled", "sysctl.d"):
        (host.etc / folder).mkdir(parents=True)
    (host.etc / "nginx/nginx.conf").touch()
    share = host.place / "share/sluice/examples"
    share.mkdir(parents=True)
    shutil.copy(ROOT / "packaging/etc/sysctl.conf", share)
    programs = {name: f'echo {name} "$@" >>{host.calls}' for name in ("apt-get", "sysctl", "systemd-tmpfiles")}
    programs |= {"sluice-rights": f"exec {ROOT}/packaging/rights", "sluice-site": f"echo sluice-site >>{host.calls}; exit 7",
                 "sluice-keys": "exit 0"}
    for name, text in programs.items():
        (host.programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (host.programs / name).chmod(0o755)
    settings, folder, keys = host.place / "settings", host.place / "keys", host.place / "keys.tar"
    settings.write_text(SETTINGS)
    (folder / "stores").mkdir(parents=True)

    (share.parent / "sql").mkdir()
    shutil.copy(ROOT / "sql/roles.sql", share.parent / "sql")

    for runtime in ("redis", "sluice"):
        (host.place / "run" / runtime).mkdir(parents=True)

    def run(*options, expect):
        subprocess.run(["tar", "-C", folder, "-cf", keys, "."], check=True)
        return host.run(*(options or ("--settings", settings, "--secrets", keys)), script="bootstrap", expect=expect,
                        mounts=f"mount --bind {host.place}/share /usr/share && mount --bind {host.place}/run /run")
    return SimpleNamespace(run=run, settings=settings, stores=folder / "stores")


def test_a_new_host_reports_which_password_it_lacks(host, bootstrap):
    for setting, value in (("redis_user", "sluice-{program}"), ("redis_password_file", "/etc/sluice/secrets/stores/redis-{program}.key"),
                           ("postgres_conninfo", "host=db.example dbname=sluice user=sluice-{program} "
                                                 "passfile=/etc/sluice/secrets/stores/postgres-{program}.pass")):
        change(bootstrap.settings, setting, value)
    programs = [user.removeprefix("sluice-") for user in USERS[1:]]
    needed = [f"redis-{name}.key" for name in programs] + [
        f"postgres-{name}.pass" for name in programs if name not in ("queue", "board")]
    for name in needed:
        (bootstrap.stores / name).write_text("a password\n")
    bootstrap.run(expect=7)
    assert "sluice-site" in host.calls.read_text()
    host.calls.write_text("")
    for name in ("redis-queue.key", "redis-reconcile.key", "postgres-scheduler.pass"):
        (bootstrap.stores / name).unlink()
        (host.etc / "sluice/secrets/stores" / name).unlink()
        said = bootstrap.run(expect=1)
        assert f"there is no /etc/sluice/secrets/stores/{name}" in said and "sluice-rights --make" in said
        (bootstrap.stores / name).write_text("a password\n")
    assert "sluice-site" not in host.calls.read_text()


def test_a_new_host_with_one_user_needs_no_password(host, bootstrap):
    bootstrap.run(expect=7)
    assert "sluice-site" in host.calls.read_text()


def test_files_that_are_in_place_already_may_be_named(host, bootstrap):
    """Repeated by hand with what the host itself has."""
    for name, text in {"sluice-site": "exit 0", "nginx": "exit 0", "curl": "printf 200", "sluice-deploy": "exit 0"}.items():
        (host.programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (host.programs / name).chmod(0o755)
    for folder in ("available", "enabled"):
        (host.etc / f"nginx/sites-{folder}").mkdir()
    site = host.etc / "nginx/sites-available/sluice"
    site.write_text("# a site\n")
    host.config.chmod(0o600)
    for _ in range(2):
        bootstrap.run("--settings", "/etc/sluice/sluice.conf", "--site", "/etc/nginx/sites-available/sluice", expect=0)
    assert host.config.read_text() == SETTINGS and site.read_text() == "# a site\n"
    found = host.config.stat()
    assert (found.st_mode & 0o777, found.st_uid, found.st_gid) == (0o640, 0, 4000) and site.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("own", ["", "maxmemory 3gb\n"])
def test_redis_on_the_host_refuses_writes_before_memory_is_short(host, bootstrap, own):
    host.conf.write_text(REDIS_CONF + own)
    for _ in range(2):
        bootstrap.run("--all-in-one", expect=7)
    limit, = re.findall(r"^maxmemory (\d+)([mg]b)$", host.conf.read_text(), re.MULTILINE)
    assert re.findall(r"^maxmemory-policy (.*)$", host.conf.read_text(), re.MULTILINE) == ["noeviction"]
    if own:
        assert limit == ("3", "gb")
    else:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
        assert limit[1] == "mb" and 0 < int(limit[0]) <= memory * 2 / 5


@pytest.fixture
def running(host, bootstrap):
    """bootstrap.run() to its end: Redis, nginx and the parts run once they are started; returns what is asked of systemd."""
    programs = {"sluice-site": "exit 0", "nginx": f"[ ! -e {host.place}/nginx-refuses ]", "curl": "printf 200",
                "sluice-deploy": f'echo sluice-deploy "$@" >>{host.calls}; exec {ROOT}/packaging/deploy "$@"',
                "systemctl": f'''echo systemctl "$@" >>{host.calls}
case "$*" in
    *"show "*) ;;
    *"restart redis-server.service")
        rm -f /run/redis/redis-server.sock
        exec python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('/run/redis/redis-server.sock')" ;;
    *"restart nginx.service") touch /run/nginx.pid ;;
    "enable --quiet --now sluice.target") touch /run/sluice/target ;;
    "is-active "*redis*) [ -S /run/redis/redis-server.sock ] ;;
    "is-active "*nginx*) [ -e /run/nginx.pid ] ;;
    "is-active "*sluice.target*) [ -e /run/sluice/target ] ;;
esac'''}
    for name, text in programs.items():
        (host.programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (host.programs / name).chmod(0o755)
    for folder in ("available", "enabled"):
        (host.etc / f"nginx/sites-{folder}").mkdir()

    def run(*options, expect=0):
        host.calls.write_text("")
        bootstrap.run(*options, expect=expect)
        return [line.split(" ", 1)[1] for line in host.calls.read_text().splitlines()
                if re.match(r"systemctl (try-re|re)(start|load) |sluice-deploy", line)]
    return SimpleNamespace(run=run, sysctl=host.place / "share/sluice/examples/sysctl.conf")


def test_a_repeated_bootstrap_restarts_neither_redis_nor_nginx(host, running):
    """A restart of Redis closes all queues until reconcile has recovered them."""
    assert {"restart redis-server.service", "restart nginx.service"} <= set(running.run("--all-in-one"))
    assert running.run("--all-in-one") == ["reload nginx.service"]
    with host.conf.open("a") as file:
        file.write("maxmemory-clients 1gb\n")
    assert running.run("--all-in-one") == ["restart redis-server.service", "reload nginx.service"]
    with running.sysctl.open("a") as file:
        file.write("# net.core.somaxconn = 8192\n")
    assert running.run("--all-in-one") == ["restart nginx.service"]
    (host.place / "site").write_text("# another\n")
    assert running.run("--all-in-one", "--site", host.place / "site") == ["restart nginx.service"]
    assert running.run("--all-in-one", "--site", host.place / "site") == ["reload nginx.service"]


def test_other_settings_take_effect_on_a_host_that_runs(host, bootstrap, running):
    assert "--here" not in running.run()
    assert running.run() == ["reload nginx.service"]
    change(bootstrap.settings, "cookie_secure", "false")
    (host.place / "nginx-refuses").touch()
    assert not running.run(expect=1), "nothing is restarted"
    (host.place / "nginx-refuses").unlink()
    done = running.run()
    assert done[0] == "--here" and "restart sluice-pool@queue.service" in done, "although the settings are in place already"
    assert running.run() == ["reload nginx.service"]


@pytest.fixture
def restart(host):
    """sluice-deploy --here on this host, whose nginx gives what `broken` names the status 503."""
    programs = {"sluice-rights": "exit 0", "sluice-site": "exit 0", "nginx": "echo 'listen 127.0.0.1:280;'",
                "curl": f'''for url; do :; done
if grep -qxF "${{url#http://127.0.0.1}}" {host.place}/broken; then printf 503; exit; fi
case $url in */cancel) printf 401 ;; */admin/queues) grep -q 'Bearer the-key$' && printf 200 || printf 401 ;; *) printf 200 ;; esac'''}
    for name, text in programs.items():
        (host.programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (host.programs / name).chmod(0o755)
    (host.place / "run/sluice").mkdir(parents=True)
    (host.place / "broken").touch()
    key = host.etc / "sluice/secrets/operators/admin.key"
    key.parent.mkdir()
    key.write_text("# the operator's\nthe-key\nthe-next\n")

    def run(expect=0, **environment):
        host.calls.write_text("")
        said = host.run("-c", f"source {ROOT}/packaging/deploy\nready_within=1\nrestart_here", script="/bin/bash", expect=expect,
                        mounts=f"mount --bind {host.place}/run /run", **environment)
        return said, re.findall(r"^systemctl restart (\S+)\.service$", host.calls.read_text(), re.MULTILINE)
    return run


PARTS = {**{f"sluice-pool@{pool}": f"sluice-{pool}" for pool in ("queue", "order", "payment", "operator", "catalog")},
         **{name: name for name in ("sluice-scheduler", "sluice-board", "sluice-reconcile")}}


@pytest.mark.parametrize("path, pool", [
    ("/readyz", None), (":280/livez", "queue"), (":280/readyz", "order"), (":280/v1/concerts", "catalog"),
    (":280/v1/orders/o_AAAAAAAAAAAAAAAAAAAAAA/cancel", "payment"), (":280/v1/admin/queues", "operator")])
def test_a_host_is_ready_once_every_pool_serves(host, restart, path, pool):
    assert set(restart()[1]) == set(PARTS)
    (host.place / "broken").write_text(f"{path}\n")
    said, _ = restart(expect=1)
    assert (f"the {pool} pool" if pool else "not ready within") in said


def test_a_host_without_an_operators_key_needs_none(host, restart):
    (host.etc / "sluice/secrets/operators/admin.key").unlink()
    restart()


def test_without_a_local_address_the_pools_must_at_least_run(host, restart):
    (host.etc / "sluice/local-address").write_text("none\n")
    restart()
    (host.place / "refuse-is-active---quiet").touch()
    assert "pool does not run" in restart(expect=1)[0]


@pytest.mark.parametrize("unit", PARTS)
def test_nothing_is_restarted_if_a_part_refuses_the_settings(host, restart, unit):
    (host.place / f"refuse--u-{PARTS[unit]}").touch()
    said, restarted = restart(expect=1)
    assert f"{unit}: " in said and "nothing was restarted" in said and not restarted


def test_settings_of_a_units_environment_are_checked_too(host, restart):
    with (host.programs / "systemctl").open("a") as file:
        file.write('case "$*" in *Environment*@order*) printf "%s\\\\n" \'"GREETING=say \\"hi\\"" '
                   '"SLUICE_POSTGRES_CONNINFO=host=db.example password=a\\"b\\$c" PGSERVICEFILE=/etc/service LANG=C\' ;; esac\n')
    restart()
    checked, = re.findall("^runuser -u sluice-order -- env -i PATH=[^ ]+ (.*)$", host.calls.read_text(), re.MULTILINE)
    assert checked.startswith('SLUICE_POSTGRES_CONNINFO=host=db.example password=a"b$c PGSERVICEFILE=/etc/service '
                              'sluice-fcgi --pool order --check-config ')


def test_the_operators_own_environment_is_not_the_programs(host, restart):
    """SLUICE_ADMIN_KEY_FILE is also the variable of sluicectl, with another kind of file."""
    mine = host.place / "my.key"
    mine.write_text("another-key\n")
    restart(SLUICE_ADMIN_KEY_FILE=str(mine))
    checks = re.findall("^runuser .* -- env (.*)$", host.calls.read_text(), re.MULTILINE)
    assert len(checks) == len(PARTS) and all(check.startswith("-i PATH=") for check in checks)
