"""What is installed on servers: units that systemd understands and finds closed, and scripts that find what they need.
packaging/test-package boots all of it; that takes minutes."""

import os
import re
import shutil
import subprocess
import time

import pytest

from lib.processes import Process
from lib.project import ROOT, build_directory
from lib.wait import until

UNITS = ROOT / "packaging" / "systemd"
POOLS = ("catalog", "operator", "order", "payment", "queue")
SERVICES = [*(f"sluice-pool@{pool}.service" for pool in POOLS), "sluice-scheduler.service", "sluice-board.service",
            "sluice-reconcile.service", "sluice-reconcile-check.service"]
MOST_EXPOSED = 3.0  # of 10, by systemd-analyze security


def run(*command, environment=None, expect=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **(environment or {})})
    assert done.returncode == expect, (done.stdout, done.stderr)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(make_directory):
    """A folder with what `make install` puts there, without the programs."""
    place = make_directory("dest")
    run("make", "--no-print-directory", "-s", "-C", build_directory("--sanitizers", "--test-hooks"), "install-data",
        "install-exec-hook", "bin_PROGRAMS=", f"DESTDIR={place}", "prefix=/usr", "sysconfdir=/etc")
    return place


@pytest.fixture(scope="module")
def units(make_directory):
    """The units with the paths of this tree."""
    place, build = make_directory("units"), build_directory("--sanitizers", "--test-hooks")
    for source in UNITS.rglob("*"):
        if source.is_dir():
            continue
        text = source.read_text()
        for name, value in (("bindir", build), ("pkgdatadir", ROOT), ("sysconfdir", "/etc")):
            text = text.replace(f"@{name}@", str(value))
        pool = source.parent.name if source.parent != UNITS else None
        folder = place / f"sluice-pool@{pool}.service.d" if pool else place
        folder.mkdir(exist_ok=True)
        (folder / source.name.removesuffix(".in")).write_text(text)
    return place, {"SYSTEMD_UNIT_PATH": f"{place}:/lib/systemd/system"}


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_understands_the_units_and_finds_them_closed(units):
    place, environment = units
    names = [*SERVICES, *(f"sluice-pool@{pool}.socket" for pool in POOLS), "sluice-reconcile-check.timer", "sluice.target"]
    complaints = [line for line in run("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *names,
                                       environment=environment).splitlines() if "sluice" in line]
    assert not complaints, complaints
    for name in SERVICES:
        text = run("systemd-analyze", "security", "--no-pager", "--offline=true", f"--threshold={MOST_EXPOSED * 10:.0f}",
                   name, environment=environment)
        assert re.search(r"Overall exposure level", text), text
    target = (place / "sluice.target").read_text()
    assert all(name in target for name in names if name not in ("sluice.target", "sluice-reconcile-check.service"))


def test_each_pool_is_kept_from_the_others_keys(units):
    place, _ = units
    needs = {"queue": {"members", "stores"}, "order": {"members", "orders", "stores"}, "catalog": {"members", "stores"},
             "payment": {"members", "payments", "stores"}, "operator": {"members", "operators", "stores"}}
    for pool, needed in needs.items():
        text = (place / f"sluice-pool@{pool}.service.d" / "pool.conf").read_text()
        hidden = set(re.findall(r"-/etc/sluice/secrets/(\w+)", text))
        assert hidden == {"members", "operators", "orders", "payments", "stores"} - needed, pool


def test_the_units_without_a_network_are_those_that_redis_by_address_opens(units):
    place, _ = units
    closed = {path.parent.name.removesuffix(".service.d") if path.name == "pool.conf" else path.stem
              for path in [*place.glob("sluice-*.service"), *place.glob("sluice-*.service.d/pool.conf")]
              if "PrivateNetwork=yes" in path.read_text()}
    example = (ROOT / "packaging" / "etc" / "redis-by-tcp.conf").read_text()
    assert set(re.findall(r"(sluice-[a-z@]+)\.service\.d", example)) == closed


def test_installed_scripts_find_what_they_need(installed, make_directory):
    share, output = installed / "usr/share/sluice", make_directory("site")
    commands = {path.name: os.readlink(path) for path in (installed / "usr/sbin").iterdir()}
    assert {"sluice-backup", "sluice-bootstrap", "sluice-deploy", "sluice-keys", "sluice-migrate", "sluice-restore",
            "sluice-site"} <= set(commands)
    for name, target in commands.items():
        text = run(installed / target.lstrip("/"), "--help")
        assert text.startswith("Usage:"), name
    assert sorted(path.name for path in (share / "sql/migrations").iterdir()) == sorted(
        path.name for path in (ROOT / "sql/migrations").iterdir())
    for path in installed.rglob("*"):
        if path.suffix in (".service", ".socket", ".timer", ".target", ".conf") and path.is_file():
            assert not re.search(r"@[a-z]+@", path.read_text()), path
    for folder in ("logs", "cache"):
        (output / folder).mkdir()
    run(share / "scripts/site", "--output", output, "--logs", output / "logs", "--cache", output / "cache")
    page = (output / "web/problems/not-found.html").read_text()
    assert "NOT_FOUND" in page and "@" not in page

    # The sample site, as it would be in nginx's own configuration.
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=shop.example", "-keyout",
        output / "privkey.pem", "-out", output / "fullchain.pem")
    site = (share / "examples/nginx-site.conf").read_text()
    site = site.replace("/var/lib/sluice", str(output)).replace("/etc/ssl/sluice", str(output))
    site = site.replace("/var/log/sluice", str(output / "logs"))
    (output / "nginx.conf").write_text(
        f"pid {output}/nginx.pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{site}\n}}\n")
    assert "test is successful" in run("nginx", "-t", "-c", output / "nginx.conf")
    lines = (output / "nginx/snippets/metrics_allowed.conf").read_text().splitlines()
    assert lines.index("include /etc/sluice/metrics-allowed*.conf;") < lines.index("allow 10.0.0.0/8;")
    left = [path for path in output.rglob("*.conf") if re.search(r"@[A-Z_]+@", path.read_text())]
    assert not left, left


def test_installed_documents_link_to_what_is_installed(installed):
    """To files and to headings, in the documents' own folder; units name a document that is there."""
    place, checked, wrong = installed / "usr/share/doc/sluice", 0, []
    for page in place.rglob("*.md"):
        for target, heading in re.findall(r"\]\((?![a-z]+:)([^)#\s]*)#?([^)\s]*)\)", page.read_text()):
            path = (page.parent / target).resolve() if target else page
            checked += 1
            if not path.is_relative_to(place) or not path.exists() or heading and heading not in headings(path):
                wrong.append(f"{page.relative_to(place)}: {target}#{heading}")
    assert checked > 200 and not wrong, "\n".join(wrong)
    for unit in UNITS.glob("sluice*"):
        for named in re.findall(r"^Documentation=file://(.*)$", unit.read_text(), re.MULTILINE):
            assert (installed / named.lstrip("/")).exists(), (unit, named)


def test_commands_in_documents_are_those_of_the_programs(installed):
    """Each program has the options that documents call it with, files that they name are installed, and a pool's socket is not
    restarted with its workers."""
    build, commands, checked, wrong = build_directory("--sanitizers", "--test-hooks"), {}, 0, []
    for path in (installed / "usr/sbin").iterdir():
        commands[path.name] = installed / os.readlink(path).lstrip("/")
    for name in ("sluice-fcgi", "sluice-scheduler", "sluice-board", "sluice-reconcile", "sluicectl/sluicectl"):
        commands[name.split("/")[-1]] = build / name
    helps = {}
    for page in (installed / "usr/share/doc/sluice/docs").rglob("*.md"):
        text = page.read_text()
        for name, words in re.findall(r"(?:^|[\s`])(sluice(?:ctl|-[a-z-]+))((?: +[^\s`|&;#>]+)*)", text):
            options = re.findall(r"(?<= )--?[a-z][a-z-]*", words)
            if not options or words.lstrip().startswith("-- "):
                continue
            of = re.match(r"(?: [a-z][a-z-]*)*", words)[0].split()[:2] if name == "sluicectl" else []
            said = helps.get((name, *of)) or helps.setdefault((name, *of), help_of(commands.get(name), *of))
            checked += 1
            wrong += [f"{page.name}: {name}{words}: there is no {option}" for option in options
                      if not re.search(rf"(?<![\w-]){option}(?![\w-])", said)]
        wrong += [f"{page.name}: {line.strip()}" for line in text.splitlines() if re.search(r"systemctl \w+ .*sluice-pool@\*(?!\.)", line)]
        files = re.findall(r"`[^`\n]*?(?:/usr/share/sluice/|(?=examples/))([\w./-]+)", text)
        wrong += [f"{page.name}: {file} is not installed" for file in files if not (installed / "usr/share/sluice" / file).exists()]
        checked += len(files)
    assert checked > 50 and not wrong, "\n".join(wrong)


def help_of(program, *words):
    """Of a command of sluicectl's the words after its name may be arguments; options before a command are in the head of it all."""
    if program is None:
        return ""
    for count in range(len(words), -1, -1):
        done = subprocess.run([program, *words[:count], "--help"], capture_output=True, text=True, timeout=60)
        if done.returncode == 0:
            break
    return done.stdout + (run(program, "help").split("COMMANDS")[0] if words else "")


def headings(page):
    """As GitHub names them in links."""
    return {re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
            for text in re.findall(r"^#+ +(.*)$", page.read_text(), re.MULTILINE)}


def test_sluicectl_looks_where_the_installation_has_the_operators_key():
    setting = re.search(r"^admin_key_file = (.*)$", (ROOT / "packaging/etc/sluice.conf.in").read_text(), re.MULTILINE)
    path = setting[1].replace("@sysconfdir@", "/etc")
    program = build_directory("--sanitizers", "--test-hooks") / "sluicectl/sluicectl"
    assert b"\0" + path.encode() + b"\0" in program.read_bytes() and path in run(program, "help")


def test_the_board_hears_where_nginx_speaks_and_nobody_else_can(installed, make_directory):
    output = make_directory("measured")
    run(installed / "usr/share/sluice/scripts/site", "--output", output)
    socket = re.search(r"server=unix:([^,]+),", (output / "nginx/measure.conf").read_text())[1]
    assert f"origin_socket = {socket}\n" in (ROOT / "packaging/etc/sluice.conf.in").read_text()
    folder = os.path.dirname(socket)
    assert re.search(rf"^d {folder} +2750 sluice-board www-data", (ROOT / "packaging/etc/tmpfiles.conf").read_text(), re.MULTILINE)
    unit = (installed / "lib/systemd/system/sluice-board.service", installed / "usr/lib/systemd/system/sluice-board.service")
    text = next(path for path in unit if path.exists()).read_text()
    assert folder in re.search(r"^ReadWritePaths=(.*)$", text, re.MULTILINE)[1].split()


def test_the_one_user_for_all_is_in_the_group_of_every_key():
    """As the settings are installed all programs run as `sluice`, and a key of another group would be refused."""
    etc = ROOT / "packaging/etc"
    groups = set(re.findall(r"^z /etc/sluice/secrets/\S+ +0640 sluice (\S+)", (etc / "tmpfiles.conf").read_text(), re.MULTILINE))
    assert len(groups) >= 4
    assert groups <= set(re.findall(r"^m sluice +(\S+)", (etc / "sysusers.conf").read_text(), re.MULTILINE))


@pytest.mark.parametrize("by_program", [False, True])
def test_settings_that_are_installed_are_accepted(installed, tmp_path, by_program):
    """With keys as sluice-keys makes them, in the folders that the settings name; also as sluice-rights --make has them."""
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    run(installed / "usr/share/sluice/scripts/keys", "make", secrets)
    text = (ROOT / "packaging/etc/sluice.conf.in").read_text()
    text = text.replace("@sysconfdir@/sluice/secrets", str(secrets)).replace(
        "@pkgdatadir@", str(installed / "usr/share/sluice"))
    (tmp_path / "board").mkdir()
    text = text.replace("/run/sluice/board", str(tmp_path / "board"))
    if by_program:
        text = text.replace("memory/catalog\n", "memory/catalog-{program}\n")
        text = re.sub(r"^(postgres_conninfo = .*user=sluice)$", r"\1-{program}", text, flags=re.MULTILINE)
        text += f"redis_user = sluice-{{program}}\nredis_password_file = {secrets}/stores/redis-{{program}}.key\n"
    config = tmp_path / "sluice.conf"
    config.write_text(text)
    build = build_directory("--sanitizers", "--test-hooks")
    for pool in POOLS:
        run(build / "sluice-fcgi", "--pool", pool, "--check-config", "--config", config)
    for program in ("sluice-scheduler", "sluice-board", "sluice-reconcile"):
        run(build / program, "--check-config", "--config", config)


def test_the_programs_can_read_settings_that_make_install_has_placed():
    """make install knows no users; systemd-tmpfiles gives the file its group."""
    text = (ROOT / "packaging/etc/tmpfiles.conf").read_text()
    assert re.search(r"^z /etc/sluice/sluice\.conf +0640 root +sluice +-$", text, re.MULTILINE)


def test_operator_pool_has_at_least_two_workers():
    said = run("bash", "-c", f"source {ROOT}/scripts/lib/pool_sizes.sh && pool_workers operator",
               environment={"SLUICE_OPERATOR_WORKERS": ""})
    assert int(said) >= 2


@pytest.mark.skipif(os.geteuid() != 0, reason="deploys as root")
def test_a_package_is_brought_where_nobody_else_can_change_it(make_directory):
    """A host that is this machine, with an apt-get that only looks."""
    place = make_directory("deploy")
    programs = {
        "apt-get": 'for file; do :; done; stat -c "%a %u" "${file%/*}" >>seen; cat "$file" >>seen; echo "$file" >>seen\n'
                   '[ ! -e refuse ]',
        "ssh": f'cd {place} && PATH={place}:$PATH exec sh -c "$2"', "scp": 'exec cp -- "$2" "${3#*:}"',
        "runuser": "exit 0", "sluice-deploy": "exit 0"}
    for name, text in programs.items():
        (place / name).write_text(f"#!/bin/sh\n{text}\n")
        (place / name).chmod(0o755)
    package = place / "sluice one.deb"
    package.write_text("the package\n")
    command = ROOT / "packaging/deploy", "--package", package, "host-1"
    environment = {"SLUICE_SSH": str(place / "ssh"), "SLUICE_SCP": str(place / "scp")}
    run(*command, environment=environment)
    mode, text, file = (place / "seen").read_text().splitlines()
    assert (mode, text) == ("700 0", "the package") and not os.path.exists(os.path.dirname(file))
    (place / "refuse").touch()
    assert "could not be installed" in run(*command, environment=environment, expect=1)
    assert not os.path.exists(os.path.dirname((place / "seen").read_text().splitlines()[-1]))


@pytest.mark.skipif(os.geteuid() != 0, reason="places files as root")
def test_a_host_set_up_again_keeps_the_site_that_names_its_load_balancer(make_directory):
    """Until another site is given."""
    place = make_directory("site")
    for folder in ("sites-available", "sites-enabled"):
        (place / folder).mkdir()
    (place / "sites-enabled/default").touch()
    (place / "given.conf").write_text("# given\n")

    def set_up(site=""):
        run("bash", "-c", f"source {ROOT}/packaging/bootstrap\nsluice-site() {{ :; }}\nnginx() {{ :; }}\n"
            f"nginx_config={place} site={site}\nplace_site")
        assert sorted(path.name for path in (place / "sites-enabled").iterdir()) == ["sluice"]
        return (place / "sites-enabled/sluice").read_text()
    plain = set_up()
    assert "listen 80 default_server" in plain and "\n#set_real_ip_from 10.0.0.0/8;\n" in plain
    changed = plain.replace("#set_real_ip_from", "set_real_ip_from").replace("#real_ip", "real_ip")
    (place / "sites-available/sluice").write_text(changed)
    assert set_up() == changed
    # The release before wrote a file with another head.
    now, before = re.search(r"include \S*server\.conf;", changed)[0], "include /var/lib/sluice/nginx/server.conf;"
    head = ("# Written by sluice-bootstrap. Behind a load balancer: name its networks in set_real_ip_from, or limits by address\n"
            "# apply to all clients together.\nset_real_ip_from 10.0.0.0/8;\n")
    earlier = head + plain[plain.index("include /var/lib/sluice/nginx/http.conf"):].replace(now, before)
    (place / "sites-available/sluice").write_text(earlier)
    assert set_up() == earlier.replace(before, now)
    # With the shop in it, server.conf closes the ways around the gate.
    gate = '    location /shop/ { set $sluice_queue "shop"; include /var/lib/sluice/nginx/gate.conf; proxy_pass http://127.0.0.1:3000; }\n'
    for own in (f"# our own\n{before}\n", changed.replace(now, before), changed.replace(now, f"{before}\n{gate}"),
                earlier.replace("    location / {", f"{gate}    location / {{")):
        (place / "sites-available/sluice").write_text(own)
        assert set_up() == own
    assert set_up(place / "given.conf") == "# given\n" == set_up()


def test_a_pool_opens_its_socket_where_nobody_hands_it_one(parts, make_directory):
    """Without systemd, by spawn-fcgi."""
    place = make_directory("pool")
    pool = Process("pool", [ROOT / "scripts/pool", "queue", parts.build / "sluice-fcgi", "--config", parts.config],
                   place / "pool.log", env={**parts.environment, "SLUICE_POOL_SOCKETS": str(place),
                                            "SLUICE_QUEUE_WORKERS": "1"})
    try:
        from lib import fastcgi
        until(lambda: fastcgi.together([(place / "queue.sock", "/livez")])[0].status == 200, 15, "an answer of the pool")
        assert (place / "queue.sock").stat().st_mode & 0o777 == 0o660
    finally:
        assert pool.stop(seconds=20) == 0
    assert '"event":"worker.stopped"' in (place / "pool.log").read_text(), "its workers have ended in order"
    for wrong in (("nothing", "program"), ("queue",), ()):
        run(ROOT / "scripts/pool", *wrong, expect=64)
    run(ROOT / "scripts/pool", "queue", "program", environment={"SLUICE_QUEUE_WORKERS": "many"}, expect=64)


@pytest.fixture
def unusable(parts, make_directory):
    """Settings with a key file that others may read."""
    place = make_directory("unusable")
    key = place / "queue-ticket.keys"
    key.write_text((parts.secrets / "queue-ticket.keys").read_text())
    key.chmod(0o644)
    text = parts.config.read_text()
    (place / "sluice.conf").write_text(text.replace(str(parts.secrets / "queue-ticket.keys"), str(key)))
    return place


def test_workers_that_cannot_start_pause_before_the_next_attempt(parts, unusable):
    pool = Process("pool", [ROOT / "scripts/pool", "queue", parts.build / "sluice-fcgi", "--config", unusable / "sluice.conf"],
                   unusable / "pool.log", env={**parts.environment, "SLUICE_POOL_SOCKETS": str(unusable),
                                               "SLUICE_QUEUE_WORKERS": "2"})
    try:
        until(lambda: pool.text().count("queue-ticket.keys") >= 5, 30, "third attempts of two workers", every=0.02)
        assert time.monotonic() - pool.started >= 2
    finally:
        assert pool.stop(seconds=20) == 0


def test_a_worker_that_pauses_ends_when_asked(parts, unusable):
    """At least once of three times faster than the pause takes."""
    took = []
    for number in range(3):
        worker = Process("worker", [parts.build / "sluice-fcgi", "--pool", "queue", "--config", unusable / "sluice.conf"],
                         unusable / f"worker-{number}.log", env=parts.environment)
        until(worker.text, 15, "its complaint", every=0.01)
        began = time.monotonic()
        worker.stop()
        took.append(time.monotonic() - began)
    assert min(took) < 0.5, took
