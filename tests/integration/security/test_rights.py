"""What each program may do in Redis and in PostgreSQL: what its code can come to, and nothing else."""

import os
import re
import subprocess

import psycopg2
import pytest
import redis

from lib import call_graph
from lib.project import ROOT, SCRIPTS
from lib.scripts import read_script, script_files

POOLS = ("queue", "order", "payment", "operator", "catalog")
PROGRAMS = (*POOLS, "scheduler", "board", "reconcile")
IN_POSTGRES = ("order", "payment", "operator", "catalog", "scheduler", "reconcile")
CALL = re.compile(r"redis\.p?call\(\s*['\"](\w+)['\"]")
# What a file of lua/include chooses from.
CHOSEN = re.compile(r"edge\('(Z\w+)'")
SERVERS_OWN = {"evalsha", "cluster", "info", "ping", "sentinel", "time"}


def rights_table():
    rows = (line.split(":") for line in (ROOT / "lua/rights.tbl").read_text().splitlines() if line and line[0] != "#")
    return {program: set(commands.split()) for program, commands in rows}


@pytest.mark.parametrize("program", PROGRAMS)
def test_redis_is_asked_what_the_code_asks(program):
    needed = call_graph.commands(program) - SERVERS_OWN
    for name in call_graph.scripts(program):
        text = read_script(name).text
        needed |= {word.lower() for word in CALL.findall(text)} - SERVERS_OWN
        needed |= {word.lower() for word in CHOSEN.findall(text)}
    if call_graph.names(program, "redis_subscription_new"):
        needed.add("subscribe")
    assert rights_table()[program] == needed


def test_every_script_and_every_query_belongs_to_somebody():
    scripts, queries = set(), {"doctor"}
    for program in PROGRAMS:
        scripts |= call_graph.scripts(program)
        queries |= call_graph.queries(program)
    assert scripts == set(script_files())
    assert queries == {path.stem for path in (ROOT / "sql/queries").glob("*/*.sql")}


def login(parts, program):
    password = (parts.secrets / f"redis-{program}.key").read_text().strip()
    return parts.redis_server.client(username=f"sluice-{program}", password=password)


def verdict_on(client, program, word):
    """What Redis would say, with as many words as it takes."""
    for count in (0, 1, 2, 3, 4, 5, 12):
        try:
            return str(client.execute_command("ACL", "DRYRUN", f"sluice-{program}", *word.split("|"), *["1"] * count))
        except redis.exceptions.ResponseError as error:
            assert "wrong number" in str(error), (word, error)
    raise AssertionError(f"how many words does {word} take?")


@pytest.mark.parametrize("program", [*PROGRAMS, "doctor"])
def test_redis_refuses_all_that_is_dangerous(parts, program):
    client = login(parts, program)
    assert client.ping()
    allowed = {"info"} | ({"config|get"} if program == "doctor" else set())
    # By their names alone, so that nothing is carried out even if it were allowed.
    dangerous = {word for kind in ("dangerous", "admin") for word in parts.redis.execute_command("ACL", "CAT", kind)}
    assert len(dangerous) > 40
    for word in sorted(dangerous - allowed):
        assert "no permissions" in verdict_on(parts.redis, program, word), word
    for words in (("FLUSHALL",), ("KEYS", "*"), ("CONFIG", "SET", "appendonly", "no"), ("ACL", "LIST"), ("SCAN", "0"),
                  ("SCRIPT", "FLUSH"), ("HGET", "others", "x"), ("SHUTDOWN",), ("MONITOR",)):
        with pytest.raises(redis.exceptions.NoPermissionError):
            client.execute_command(*words)
    with pytest.raises(redis.exceptions.ResponseError, match="can't run"):
        client.eval("return redis.call('FLUSHALL')", 0)
    with pytest.raises(redis.exceptions.ResponseError, match="can't access|permissions"):
        client.eval("return redis.call('HGET', KEYS[1], 'x')", 1, "others")
    client.close()


def test_a_program_that_has_no_password_is_nobody(parts):
    with pytest.raises(redis.exceptions.RedisError, match="WRONGPASS|invalid username"):
        parts.redis_server.client(username="sluice-queue", password="guess").ping()
    with pytest.raises(redis.exceptions.RedisError, match="WRONGPASS|invalid username"):
        parts.redis_server.client(username="sluice-queue", password=(parts.secrets / "redis-order.key").read_text().strip()).ping()


def in_role(parts, program):
    connection = psycopg2.connect(parts.postgres.conninfo.replace("user=sluice", f"user=sluice-{program}"))
    connection.autocommit = True
    return connection


def statement(path):
    text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("--"))
    return text.strip().rstrip(";")


# Reached by the code of these pools, and never called there: what is told late, and claims that were left, are the order pool's.
NEVER_THERE = {("catalog", "outbox_done")}


@pytest.mark.parametrize("program", IN_POSTGRES)
def test_its_queries_are_allowed_and_others_are_not(parts, program):
    """Planned and not carried out, with NULL for each parameter: that asks for the rights to all that the statement itself names."""
    own, refused = call_graph.queries(program), set()
    statements = {path.stem: statement(path) for path in sorted((ROOT / "sql/queries").glob("*/*.sql"))}
    connection = in_role(parts, program)
    with connection.cursor() as cursor:
        for name, text in statements.items():
            count = max([int(number) for number in re.findall(r"\$(\d+)", text)], default=0)
            cursor.execute(f"PREPARE tried AS {text}")
            try:
                cursor.execute("EXPLAIN EXECUTE tried" + (f"({', '.join(['NULL'] * count)})" if count else ""))
            except psycopg2.errors.InsufficientPrivilege:
                refused.add(name)
            cursor.execute("DEALLOCATE tried")
    connection.close()
    assert {name for name in own & refused if (program, name) not in NEVER_THERE} == set()
    written = {name for name in refused if re.search(r"^(INSERT|UPDATE|DELETE|WITH)", statements[name])}
    assert refused and (written or program == "operator"), refused


def test_nobody_writes_orders_money_or_the_audit_but_by_the_functions(parts):
    for program in IN_POSTGRES:
        connection = in_role(parts, program)
        with connection.cursor() as cursor:
            for sql in ("UPDATE customer_order SET status = 'PAID'", "UPDATE payment SET state = 'PAID'",
                        "DELETE FROM audit", "UPDATE audit SET actor = 'x'", "UPDATE product SET available = 1000",
                        "DELETE FROM admission_use", "INSERT INTO claim_outcome SELECT * FROM claim_outcome",
                        "UPDATE coupon SET member = 'm'", "UPDATE seat SET taken = false", "UPDATE queue SET epoch = 9",
                        "DROP TABLE audit", "CREATE TABLE mine (a int)", "CREATE TEMPORARY TABLE mine (a int)",
                        "ALTER TABLE audit DISABLE TRIGGER ALL", "SET ROLE sluice", "SELECT pg_read_file('/etc/passwd')",
                        "COPY audit TO PROGRAM 'true'", "SELECT * FROM lottery", "SELECT * FROM schema_migration"):
                with pytest.raises((psycopg2.errors.InsufficientPrivilege, psycopg2.errors.ObjectNotInPrerequisiteState)):
                    cursor.execute(sql)
        connection.close()
    connection = in_role(parts, "order")
    with connection.cursor() as cursor:
        for sql in ("SELECT return_hash FROM payment", "SELECT * FROM audit", "SELECT * FROM queue_code",
                    "SELECT raise_incarnation('q', 1)", "SELECT * FROM payment_paid('p', 'r', 1, 1, 1, 'x')",
                    "SELECT * FROM queue_act('q', 'pause', 'me', 'r')"):
            with pytest.raises((psycopg2.errors.InsufficientPrivilege, psycopg2.errors.UndefinedFunction)) as refusal:
                cursor.execute(sql)
            assert "permission denied" in str(refusal.value) or "payment_paid" in sql, sql
    connection.close()


def test_functions_with_the_owner_s_rights_are_nobody_else_s(parts):
    rows = parts.postgres.query("""
        SELECT p.proname, p.proconfig::text, has_function_privilege('public', p.oid, 'EXECUTE'), r.rolname
          FROM pg_proc p JOIN pg_roles r ON r.oid = p.proowner
         WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef""")
    assert len(rows) > 25
    for name, settings, is_public, owner in rows:
        assert "search_path=public, pg_temp" in settings and not is_public and owner == "sluice", name


def test_migrating_gives_the_rights_again_and_takes_others_away(parts):
    parts.postgres.superuser('GRANT ALL ON customer_order TO "sluice-catalog"; REVOKE ALL ON show FROM "sluice-catalog"')
    parts.postgres.migrate()
    assert parts.postgres.query("""
        SELECT has_table_privilege('sluice-catalog', 'customer_order', 'UPDATE'),
               has_table_privilege('sluice-catalog', 'show', 'SELECT')""") == [(False, True)]


def shell(function, *arguments):
    code = f'source {SCRIPTS}/lib/common.sh; source {SCRIPTS}/lib/settings_file.sh; {function} "$@"'
    done = subprocess.run(["bash", "-euc", code, "-", *map(str, arguments)], capture_output=True, text=True, check=True, timeout=20)
    return done.stdout


@pytest.mark.parametrize("conninfo, shown, password", [
    ("host=db user=sluice password=plain dbname=sluice", "host=db user=sluice  dbname=sluice", "plain"),
    (r"password = 'it\'s a \\ secret' host=db", " host=db", r"it's a \ secret"),
    (r"host=db password=a\ b", "host=db ", "a b"),
    ("postgresql://sluice:p%40ss@db.example/sluice?sslmode=require", "postgresql://sluice@db.example/sluice?sslmode=require", "p@ss"),
    ("postgres://db.example/sluice?password=x%2Fy&sslmode=require", "postgres://db.example/sluice?sslmode=require", "x/y"),
    ("host=/run/postgresql dbname=sluice user=sluice", "host=/run/postgresql dbname=sluice user=sluice", ""),
    ("host=db passfile=/etc/x user=y", "host=db passfile=/etc/x user=y", "")])
def test_a_password_goes_on_no_command_line(conninfo, shown, password, tmp_path):
    spy = tmp_path / "spy"
    spy.write_text("#!/bin/bash\ntr '\\0' '\\n' </proc/$$/cmdline | tail -n 1\nprintf '%s' \"${PGPASSWORD-}\"\n")
    spy.chmod(0o755)
    assert shell("with_conninfo", conninfo, spy) == f"--dbname={shown}\n{password}"


def test_no_script_names_a_password_to_a_program():
    """Whatever reaches a store is called with a conninfo without its password, and Redis's goes by the environment."""
    for path in [*SCRIPTS.iterdir(), *(SCRIPTS / "lib").iterdir(), *(ROOT / "packaging").iterdir()]:
        if path.is_file():
            text = path.read_text(errors="replace")
            assert not re.search(r"redis-cli[^\n]* (-a|--pass)\b", text), path
            assert not re.search(r'--dbname[= ]"?\$\{?conninfo', text), path


def test_the_owner_is_named_by_the_same_setting(tmp_path):
    file = tmp_path / "sluice.conf"
    file.write_text("postgres_conninfo = host=db user=sluice-{program} passfile=/s/{program}.pass\n")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SLUICE_")}
    assert environment is not None
    assert shell("conninfo_of_owner", file) == "host=db user=sluice passfile=/s/owner.pass"
    assert shell("setting_for", file, "postgres_conninfo", "order") == "host=db user=sluice-order passfile=/s/order.pass"
