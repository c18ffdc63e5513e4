"""sluicectl lottery and sluicectl codes."""

import os
import subprocess

import pytest

from lib.draw import Draw
from lib.wait import until
from test_lottery import crowd, document, lottery, number_of, open_now  # noqa: F401


@pytest.fixture
def ctl(parts):
    def run(*words, key=True, expect=0, stdin=None):
        key_file = parts.secrets / "admin.key" if key else "/nonexistent"
        done = subprocess.run([parts.build / "sluicectl" / "sluicectl", "--url", f"http://127.0.0.1:{parts.port}", *words],
                              capture_output=True, text=True, input=stdin,
                              env={**os.environ, "SLUICE_ADMIN_KEY_FILE": str(key_file)})
        assert done.returncode == expect, done.stdout + done.stderr
        return done.stdout
    return run


def test_anybody_can_compute_the_draw_again(parts, api, lottery, ctl, tmp_path):
    queue = lottery()
    noted = document(api, queue)["commitment"]
    members = crowd(api, queue, 30)
    ctl("lottery", "verify", queue, key=False, expect=1)
    open_now(api, queue)
    until(lambda: document(api, queue)["phase"] == "DRAWN", 10, "the draw")
    entrants = tmp_path / "entrants"
    entrants.write_text(ctl("lottery", "entrants", queue))
    shown = ctl("lottery", "verify", queue, "--members", str(entrants), "--commitment", noted, key=False)
    assert shown.count("ok  ") == 4 and "30 numbers" in shown
    draw = Draw(document(api, queue)["seed"], "1-30")
    rows = [tuple(map(int, line.split())) for line in ctl("lottery", "places", queue, key=False).splitlines()]
    assert rows == sorted(((number, draw.place(number) + 1) for number in range(1, 31)), key=lambda row: row[1])
    one = number_of(members[3])
    assert ctl("lottery", "places", queue, str(one), key=False) == f"{one} {draw.place(one) + 1}\n"
    ctl("lottery", "places", queue, "31", key=False, expect=1)
    assert "WRONG" in ctl("lottery", "verify", queue, "--commitment", "0" * 64, key=False, expect=1)
    entrants.write_text(entrants.read_text().replace("1 ", "2 ", 1))
    assert "WRONG" in ctl("lottery", "verify", queue, "--members", str(entrants), key=False, expect=1)
    assert noted in ctl("lottery", "show", queue, key=False)


def test_codes_from_a_shell(parts, api, ctl):
    queue = api.still_queue()
    made = ctl("codes", "generate", queue, "invite", "12", "--uses", "2").split()
    assert len(set(made)) == 12
    assert ctl("codes", "add", queue, "priority", "FANS-2026", "FRIENDS") == "2 added, 0 known before\n"
    assert ctl("codes", "add", queue, "priority", stdin="FANS-2026\nOTHERS\n\n") == "1 added, 1 known before\n"
    assert api.member().enter(queue).status == 201
    member = api.member()
    method, path, headers, _ = member.enter_call(queue)
    assert api.call(method, path, headers, {"code": "fans2026"}).status == 201
    parts.reconcile()
    assert [line.split() for line in ctl("codes", "list", queue).splitlines()[1:]] == [
        ["invite", "12", "24", "0"], ["priority", "3", "3", "1"]]
    _at, kind, name, _hash = ctl("codes", "export", queue).split()
    assert (kind, name) == ("priority", member.name)
    ctl("codes", "add", queue, "vip", "X", expect=64)
    ctl("codes", "add", queue, "invite", "ab", expect=1)
