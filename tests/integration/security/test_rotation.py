"""Every secret of ours is changed by scripts/keys while people stand in line, and nobody loses a place."""

import subprocess
import time

import pytest

from lib import tokens
from lib.client import assert_problem
from lib.gate import Visitor
from lib.project import SCRIPTS
from lib.sluicectl import Sluicectl
from lib.wait import until
from lib.waiting_crowd import WaitingCrowd

RELOAD_S = 1.5  # programs look at their key files once a second


def run_keys(*arguments, given=None, expect=0):
    done = subprocess.run([SCRIPTS / "keys", *map(str, arguments)], input=given, capture_output=True, text=True,
                          timeout=20)
    assert done.returncode == expect, (done.stdout, done.stderr)
    return done


def keys(*arguments, **options):
    return run_keys(*arguments, **options).stdout.split()


def test_the_last_key_stays_and_mistakes_change_nothing(tmp_path):
    ring, line = tmp_path / "members" / "visitor.keys", tmp_path / "operators" / "admin.key"
    assert len(keys("make", tmp_path)) == 16
    assert keys("make", tmp_path) == [], "what is there stays"
    before = ring.read_text(), line.read_text()
    for file in (ring, line):
        only = keys("list", file)
        assert len(only) == 1 and file.stat().st_mode & 0o777 == 0o600
        keys("drop", file, *only, expect=1)
        keys("promote", file, "nobody", expect=1)
        keys("add", file, "--given", given="too short", expect=1)
    keys("add", ring, "--given", given="a line of thirty-two characters and no key of a ring", expect=1)
    keys("add", line, "--given", given="# a line of thirty-two characters, and a remark", expect=1)
    assert (ring.read_text(), line.read_text()) == before
    for _ in range(3):
        keys("add", line)
    keys("add", line, expect=1)
    assert line.read_text().startswith(before[1]) and len(keys("list", line)) == 4
    assert {file.name for file in tmp_path.glob("*/*") if not file.name.startswith("redis")} == {
        "admin.key", "viewer.key", "member-jwt.key", "queue-ticket.keys", "visitor.keys", "altcha.keys"}


@pytest.mark.parametrize("name, secret, other", [
    ("queue-ticket.keys", "k1:" + "A" * 43, "k1:" + "B" * 43), ("member-jwt.key", "m" * 32, "m" * 32)])
def test_a_key_that_is_there_is_not_added_again(tmp_path, name, secret, other):
    """A ring with an id twice is refused by all programs, and a drop would remove the wrong one of the two."""
    file = tmp_path / name
    file.write_text(f"# ours\n{secret}\n")
    before = file.read_text()
    key, = keys("list", file)
    for again in (secret, other):
        refused = run_keys("add", file, "--given", given=again, expect=1)
        assert f"already has the key '{key}'" in refused.stderr and secret not in refused.stderr
        assert refused.stdout == "" and file.read_text() == before
    added, = keys("add", file, "--given", given="k2:" + "C" * 43)
    assert keys("list", file) == [key, added]


def test_a_remark_in_a_file_of_keys_is_no_key(parts, api):
    file, remark, second = parts.secrets / "admin.key", "# changed in spring, after the rehearsal", "k" * 40
    before = file.read_text()
    status = lambda key: api.call("GET", "/v1/admin/queues", {"Authorization": f"Bearer {key}"}).status
    try:
        file.write_text(f"{remark}\n{before.strip()}\n{second}\n")
        until(lambda: status(second) == 200, 5, "the file is read")
        assert status(remark) == 401 and status(before.strip()) == 200
        Sluicectl(parts.build, parts.port, parts.secrets)("queue", "list")
    finally:
        file.write_text(before)
    until(lambda: status(second) == 401, 5, "the file of before is back")


@pytest.fixture
def crowds(parts, api):
    """Members and visitors in line, and one visitor who is through the gate; `login` signs members' JWTs."""
    class Crowds:
        path = {name: parts.secrets / name
                for name in ("queue-ticket.keys", "visitor.keys", "member-jwt.key", "admin.key", "viewer.key")}
        before = {file: file.read_text() for file in path.values()}
        login = api.member_key
        members = WaitingCrowd(api.still_queue(), 12, [parts.port], key=lambda: Crowds.login)
        visitors = WaitingCrowd(api.still_queue(identity="visitor"), 12, [parts.port])

        @staticmethod
        def go_on():
            """Past the moment at which every program has read its files again."""
            seen = time.monotonic() + RELOAD_S
            until(lambda: time.monotonic() >= seen, 5)
            for crowd in (Crowds.members, Crowds.visitors):
                crowd.polled_again()
    Crowds.members.start()
    Crowds.visitors.start()
    yield Crowds
    Crowds.members.stop()
    Crowds.visitors.stop()
    for file, text in Crowds.before.items():
        file.write_text(text)
    until(lambda: api.admin("GET", "/queues").status == 200, 10, "the old keys are back")
    Crowds.members.assert_right()
    Crowds.visitors.assert_right()


@pytest.mark.limit(60)
def test_all_secrets_are_changed_under_load(parts, api, crowds, visitor_queue, make_site):
    rings = [crowds.path["queue-ticket.keys"], crowds.path["visitor.keys"]]
    queue = visitor_queue(entryTtlSeconds=60)
    inside = Visitor(make_site(queue).port)
    inside.come_in()
    api.admin("PATCH", f"/queues/{queue}", {"ratePerSecond": 0})
    old_jwt = tokens.make(api.member_key, "m-old")

    # One file that all know, a new key in each: it is good, and signs nothing yet.
    fresh = {file: keys("add", file)[0] for file in crowds.path.values() if file.name != "member-jwt.key"}
    secret = "the login's next secret, of more than 32 characters"
    fresh[crowds.path["member-jwt.key"]] = keys("add", crowds.path["member-jwt.key"], "--given", given=secret)[0]
    crowds.go_on()
    assert inside.is_through() and inside.gate_pass(queue).kid == "k1"
    newcomer = api.member()
    assert newcomer.enter(crowds.members.queue).status == 201
    assert tokens.header_of(newcomer.ticket)["kid"] == "k1"

    # The login may sign with its new secret as soon as everybody has it.
    crowds.login = tokens.Hs256(secret)
    new_admin = crowds.path["admin.key"].read_text().split()[1]
    for key in (api.admin_key, new_admin):
        assert api.call("GET", "/v1/admin/queues", {"Authorization": f"Bearer {key}"}).status == 200
    for file, name in fresh.items():
        keys("promote", file, name)
    crowds.go_on()
    assert inside.is_through()
    assert newcomer.enter(crowds.members.queue).status == 200, "the old login's token is good all the time"
    assert tokens.header_of(newcomer.ticket)["kid"] == fresh[rings[0]]
    until(lambda: inside.ask().status == 200 and inside.gate_pass(queue).kid == fresh[rings[0]], 10,
          "a pass by the new key", every=0.2)

    # In production after the life of what the old keys signed. Here everybody in line comes once more first.
    for crowd in (crowds.members, crowds.visitors):
        seqs = {person: person.seq for person in crowd.people}
        crowd.stop()
        again = WaitingCrowd(crowd.queue, len(crowd.people), crowd.ports, crowd.key)
        for person, known in zip(again.people, crowd.people, strict=True):
            person.name, person.cookies, person.ticket = known.name, known.cookies, known.ticket
        again.start()
        assert [person.seq for person in again.people] == list(seqs.values()), "everybody has the place of before"
        if crowd is crowds.members:
            crowds.members = again
        else:
            crowds.visitors = again
    for file, name in fresh.items():
        keys("drop", file, next(key for key in keys("list", file) if key != name))
        assert keys("list", file) == [name]
    crowds.go_on()
    assert inside.is_through()
    assert_problem(api.call("GET", "/v1/admin/queues", api.operator_headers()), 401, "UNAUTHENTICATED")
    assert_problem(api.call("POST", f"/v1/queues/{crowds.members.queue}/entries", {"Authorization": f"Bearer {old_jwt}"}),
                   401, "UNAUTHENTICATED")
    assert api.call("GET", "/v1/admin/queues", {"Authorization": f"Bearer {new_admin}"}).status == 200
