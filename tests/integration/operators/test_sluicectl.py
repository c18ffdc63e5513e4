"""sluicectl: what it says of itself, how it ends, and its commands against a running system."""

import json
import os
import re
import shlex
import subprocess
from xml.etree import ElementTree

import pytest

from lib.project import ROOT
from lib.sluicectl import Sluicectl
from lib.wait import until

pytestmark = pytest.mark.early  # exports all products and shows that tests have made, and compares them with a file

TABLE = (ROOT / "sluicectl" / "commands.tbl").read_text()
WORDS = re.findall(r'^COMMAND\("([^"]+)"', TABLE, re.MULTILINE)


@pytest.fixture
def sluicectl(parts):
    return Sluicectl(parts.build, parts.port, parts.secrets)


def test_every_command_explains_itself_with_an_example(sluicectl):
    whole = sluicectl("help")
    assert len(WORDS) > 50 and all(f"\n    {words}" in whole for words in WORDS)
    for words in WORDS[::7] + ["queue set"]:
        text = sluicectl(*words.split(), "--help")
        assert text.startswith(f"    {words}") and f"EXAMPLES\n    sluicectl {words}" in text, words
        assert "--json" in text
    assert sluicectl("help", "coupons", "put").startswith("    coupons set EVENT")
    assert "    queue pause QUEUE" in sluicectl("queue", "--help") and "member" not in sluicectl("queue", "--help").split()[:3]
    assert "ratePerSecond" in sluicectl("help", "settings")
    sluicectl("help", "nonsense", code=64)


def test_every_example_is_a_command_line_of_that_command(sluicectl):
    examples = re.findall(r'"((?:[^"\\]|\\.)*)"\)$', TABLE, re.MULTILINE)
    assert len(examples) >= len(WORDS)
    for words, lines in zip(WORDS, examples):
        for line in lines.split(r"\n"):
            parts = [part for part in shlex.split(line) if not part.startswith(("<", ">"))]
            assert " ".join(parts).startswith(words), line
            assert sluicectl(*parts, "--help").startswith(f"    {words}"), line


def test_man_pages_and_completion_come_from_the_same_table(sluicectl):
    groups = sorted({words.split()[0] for words in WORDS if " " in words})
    made = subprocess.run([ROOT / "sluicectl" / "generate", "groups"], capture_output=True, text=True, check=True)
    assert sorted(made.stdout.split()) == groups
    page = subprocess.run([ROOT / "sluicectl" / "generate", "man", "sluicectl-queue"], capture_output=True, text=True,
                          check=True).stdout
    shown = subprocess.run(["groff", "-man", "-Tascii", "-ww"], input=page.encode("ascii", "replace"), capture_output=True)
    assert shown.returncode == 0 and not shown.stderr, shown.stderr
    assert b"sluicectl queue sold-out QUEUE" in re.sub(rb"\x1b\[[0-9;]*m|.\x08", b"", shown.stdout)
    script = subprocess.run([ROOT / "sluicectl" / "generate", "completion"], capture_output=True, text=True, check=True)
    tries = 't() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluicectl; echo "${COMPREPLY[*]}"; }\n' \
            't sluicectl queue so\nt sluicectl queue set q ratePer\nt sluicectl status --w\nt sluicectl --json member ev\n'
    done = subprocess.run(["bash", "-c", script.stdout + tries], capture_output=True, text=True, timeout=20)
    assert done.stdout.split("\n")[:4] == ["sold-out", "ratePerSecond=", "--watch", "evict"], done


def test_exit_codes(sluicectl, parts, tmp_path):
    assert sluicectl.call("queue", "get", "nowhere").code == 1
    assert sluicectl.call("queue", "get", "No Queue").code == 64
    assert sluicectl.call("queue", "get", "nowhere", "--watch").code == 64
    assert sluicectl.call("queues").code == 64
    assert "from 0 to 0.95" in sluicectl.call("plan", "--no-show", "1").errors
    assert sluicectl.call("queue", "list", url="http://127.0.0.1:1").code == 69
    viewer = Sluicectl(parts.build, parts.port, parts.secrets, "viewer.key")
    assert viewer.call("queue", "list").code == 0
    assert viewer.call("queue", "set", "nowhere", "rate=1").code == 77
    (tmp_path / "admin.key").write_text("x" * 43)
    (tmp_path / "admin.key").chmod(0o600)
    assert Sluicectl(parts.build, parts.port, tmp_path).call("queue", "list").code == 77
    assert Sluicectl(parts.build, parts.port, tmp_path, "none.key").call("queue", "list").code == 78
    assert sluicectl.call("apply", "-f", tmp_path / "none.json").code == 78
    refused = sluicectl.call("queue", "get", "nowhere", "--json")
    assert json.loads(refused.output)["code"] == "NOT_FOUND" and "NOT_FOUND" in refused.errors


def test_text_of_others_does_not_steer_the_terminal(sluicectl, tmp_path):
    """Neither by ESC [ nor by U+009B, which is the same to many of them."""
    title, file = "Concert \x1b[2J\x9b2J\x7f\u0085 \u00e9nd", tmp_path / "sale.json"
    file.write_text(json.dumps({"concerts": {"steers": {"title": title, "venue": "Hall"}}}, ensure_ascii=False))
    shown = sluicectl("diff", "-f", file, code=1)
    assert "\u00e9nd" in shown and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown), repr(shown)
    file.write_text(json.dumps({"queues": {"q": {title: 1}}}, ensure_ascii=False))
    said = sluicectl.call("diff", "-f", file)
    assert said.code == 78 and "\u00e9nd" in said.errors and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", said.errors)


def test_what_is_needed_in_a_hurry(sluicectl, api):
    queue = api.queue()
    sluicectl("queue", "rate", queue, "7.5")
    sluicectl("queue", "message", queue, "The doors open at noon. 정오에 엽니다.")
    sluicectl("queue", "hold", queue)
    now = api.admin("GET", f"/queues/{queue}")
    assert (now["ratePerSecond"], now["message"], now["activation"]) == (
        7.5, "The doors open at noon. 정오에 엽니다.", "hold")
    sluicectl("queue", "message", queue)
    sluicectl("queue", "unhold", queue)
    now = api.admin("GET", f"/queues/{queue}")
    assert (now["message"], now["activation"]) == (None, "on")
    for action, state in (("pause", "PAUSED"), ("resume", "OPEN"), ("drain", "DRAINING"), ("sold-out", "SOLD_OUT")):
        assert sluicectl.json("queue", action, queue)["state"] == state
    sluicectl("queue", "rate", queue, "fast", code=64)
    sluicectl("queue", "rate", queue, "100001", code=1)
    sluicectl("queue", "rate", "nowhere", "5", code=1)
    assert "nowhere" not in sluicectl("queue", "list"), "only queue set makes queues"


def test_one_member(sluicectl, api):
    queue = api.queue(ratePerSecond=0.001, burst=1, maxActive=10)
    first, second = api.member(), api.member()
    assert first.enter(queue).status == second.enter(queue).status == 201
    first.wait_ready(queue)
    assert sluicectl.json("member", "get", queue, second.name)["standing"] == "WAITING"
    assert "rank" in sluicectl("member", "get", queue, second.name)
    why = sluicectl("member", "why", queue, second.name)
    assert len(why.split()) > 3, why
    assert sluicectl.json("member", "admit", queue, second.name)["standing"] == "READY"
    assert sluicectl("member", "evict", queue, second.name).split("standing")[1].split()[0] == "NONE"
    sluicectl("member", "get", queue, "no member", code=64)
    sluicectl("member", "get", "nowhere", "ann", code=1)
    assert {"member.promote", "member.evict"} <= {
        row["action"] for row in sluicectl.json("audit", "--target", f"queue/{queue}")["entries"]}


def sale(queue, prefix):
    price = {"amount": 60000, "currency": "KRW"}
    return {
        "queues": {queue: {"ratePerSecond": 40, "maxActive": 500, "opensAt": "2026-03-01T12:00:00+09:00",
                           "message": "Soon!", "bypass": None, "autopilot": {"orderP95Ms": 150, "floor": 2}}},
        "concerts": {f"{prefix}-c": {"title": "Lanterns", "venue": "The hall", "description": "Two\nlines"}},
        "shows": {f"{prefix}-s": {"concert": f"{prefix}-c", "startsAt": "2026-06-01T19:00:00+09:00", "queue": queue,
                                  "maxSeatsPerMember": 4, "holdTtlSeconds": 300,
                                  "plan": {"sections": [{"name": "A", "rows": 2, "seatsPerRow": 3, "price": price},
                                                        {"name": "B", "rows": 1, "seatsPerRow": 2, "price": price}]}}},
        "products": {f"{prefix}-mug": {"name": "A mug", "price": price, "stock": 5, "queue": queue}},
        "couponEvents": {f"{prefix}-e": {"name": "Spring", "queue": queue, "opensAt": "2026-03-01T03:00:00Z",
                                         "captcha": "altcha"}}}


def test_a_sale_as_a_file(sluicectl, api, tmp_path):
    queue = "sale-of-a-file"
    api.made.append(queue)
    wanted, file = sale(queue, queue), tmp_path / "sale.json"
    file.write_text(json.dumps(wanted))
    changes = sluicectl.json("diff", "-f", file, code=1)
    assert (changes["created"], changes["changed"], changes["same"]) == (5, 0, 0)
    assert api.admin("GET", f"/queues/{queue}").status == 404, "diff changes nothing"
    sluicectl("apply", "-f", file)
    assert api.admin("GET", f"/queues/{queue}")["opensAt"] == "2026-03-01T03:00:00.000Z"
    assert api.admin("GET", f"/shows/{queue}-s?seats=false")["seatCount"] == 8
    audit = len(sluicectl.json("audit", "--limit", "500")["entries"])
    again = sluicectl.json("apply", "--file", "-", stdin=file.read_text())
    assert (again["created"], again["changed"], again["same"]) == (0, 0, 5), again
    assert sluicectl("diff", "-f", file) == "0 new, 0 changed, 5 as they were\n"
    assert len(sluicectl.json("audit", "--limit", "500")["entries"]) == audit, "a second time it asks for nothing"
    # What the file does not say stays; what it says anew is changed, and told.
    sluicectl("queue", "set", queue, "max-waiting=99")
    wanted["queues"][queue]["ratePerSecond"] = 41.5
    wanted["shows"][f"{queue}-s"]["plan"]["sections"][1]["seatsPerRow"] = 3
    wanted["products"][f"{queue}-mug"]["stock"] = 6
    file.write_text(json.dumps(wanted))
    printed = sluicectl("diff", "-f", file, code=1)
    assert f"~ queue/{queue}\n    ratePerSecond: 40 → 41.5\n" in printed
    assert '"8 seats" → "9 seats, 1 of them new or different"' in printed and "stock: 5 → 6" in printed
    assert "0 new, 3 changed, 2 as they were" in sluicectl("apply", "-f", file)
    now = api.admin("GET", f"/queues/{queue}")
    assert (now["ratePerSecond"], now["maxWaiting"], now["message"]) == (41.5, 99, "Soon!")
    assert api.admin("GET", f"/products/{queue}-mug")["available"] == 6
    # What export gives back, apply has nothing to do with, and elsewhere it makes the same.
    copy = tmp_path / "copy.json"
    sluicectl("export", "-f", copy)
    assert sluicectl("diff", "-f", copy).startswith("0 new, 0 changed,")
    exported = json.loads(copy.read_text())
    assert exported == json.loads(sluicectl("export"))
    assert len(exported["shows"][f"{queue}-s"]["seats"]) == 9
    assert exported["products"][f"{queue}-mug"] == {**wanted["products"][f"{queue}-mug"], "taxFree": False}
    other = copy.read_text().replace(queue, "sale-elsewhere")
    api.made.append("sale-elsewhere")
    part = {name: {key: value for key, value in objects.items() if key.startswith("sale-elsewhere")}
            for name, objects in json.loads(other).items()}
    file.write_text(json.dumps(part))
    assert "5 new, 0 changed" in sluicectl("apply", "-f", file)
    assert api.admin("GET", "/shows/sale-elsewhere-s")["seats"] == api.admin("GET", f"/shows/{queue}-s")["seats"]
    for kind, name in (("product", "mug"), ("coupons", "e"), ("concerts", "c"), ("shows", "s")):
        listed = sluicectl(kind, "list")
        assert f"{queue}-{name}" in listed and f"sale-elsewhere-{name}" in listed


def test_the_documented_file_is_one(sluicectl, api, tmp_path):
    text = (ROOT / "docs" / "sluicectl.md").read_text()
    file = tmp_path / "sale.json"
    file.write_text(re.search(r"```json\n(.*?)```", text, re.DOTALL).group(1))
    api.made += json.loads(file.read_text())["queues"]
    assert sluicectl.json("apply", "-f", file)["created"] == 5
    assert sluicectl.json("diff", "-f", file)["same"] == 5


@pytest.mark.parametrize("text, said", [
    ("{", "line 1"), ('{"queues": {}}\n}', "line 2"), ("[]", "must be an object"), ('{"queue": {}}', "/queue"),
    ('{"queues": []}', "/queues"), ('{"queues": {"No": {}}}', "/queues/No"), ('{"queues": {"q": 1}}', "/queues/q"),
    ('{"queues": {"q": {"rate": 1}}}', "no field 'rate'"), ('{"products": {"p": {"sku": "p"}}}', "no field 'sku'"),
    ('{"shows": {"s": {"seats": [], "plan": {}}}}', "not both"), ('{"queues": {"q": {"message": "\xff"}}}', "line 1"),
    ("[" * 100, "line 1")])
def test_a_file_that_says_nonsense_changes_nothing(sluicectl, api, tmp_path, text, said):
    file = tmp_path / "sale.json"
    file.write_bytes(text.encode("latin-1"))
    called = sluicectl.call("apply", "-f", file)
    assert called.code == 78 and said in called.errors, called


def test_what_the_server_refuses_ends_it_and_says_where(sluicectl, api, tmp_path):
    queue = api.queue()
    file = tmp_path / "sale.json"
    file.write_text(json.dumps({"queues": {queue: {"message": "First"}},
                                "products": {"refused": {"name": "", "queue": queue}}}))
    called = sluicectl.call("apply", "-f", file)
    assert called.code == 1 and "/name" in called.errors and "product/refused" in called.errors, called
    assert api.admin("GET", f"/queues/{queue}")["message"] == "First"


def test_status_is_what_stats_say(sluicectl, api):
    queue = api.queue(ratePerSecond=0.001, burst=1)
    for _ in range(3):
        assert api.member().enter(queue).status == 201
    until(lambda: api.stats(queue)["ready"] == 1, 10, "one let in")
    line = next(row for row in sluicectl.json("status") if row["queue"] == queue)
    stats = api.stats(queue)
    assert all(line[name] == stats[name] for name in ("state", "waiting", "ready", "claimed", "entered", "admitted"))
    text = sluicectl("status")
    assert text.startswith("QUEUE") and re.search(rf"^{queue} +OPEN +2 +1 +0 ", text, re.MULTILINE), text


def test_a_live_screen_ends_with_q_and_leaves_the_terminal_as_it_was(sluicectl, api):
    queue = api.queue(ratePerSecond=0.001, burst=1)
    assert api.member().enter(queue).status == 201
    # script gives it a terminal; the shell shows what became of that.
    command = f"'{sluicectl.program}' --url {sluicectl.url} status --watch; echo ended $?; stty -a | grep -o -- '-\\?icanon'"
    done = subprocess.Popen(["script", "-qec", f'sh -c "{command}"', "/dev/null"], env=sluicectl.environment,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    shown = ""
    while "q: end" not in shown.partition("q: end")[2]:  # two pictures
        shown += done.stdout.read(1)
    done.stdin.write("q")
    done.stdin.flush()
    rest, _ = done.communicate(timeout=20)
    assert queue in shown and "WAITING, LAST 30 S" in shown and "▁" in shown
    assert "\033[?1049h" in shown and "\033[?1049l" in rest
    assert "ended 0" in rest and re.search(r"(?<!-)icanon", rest), rest


def test_a_report_of_an_event(sluicectl, parts, api, tmp_path):
    queue = api.queue()
    api.product(queue, stock=5)
    # Minutes 0 to 9: a rush in minute 1, sold out in minute 6; nothing is known of waits before minute 2.
    entered = [0, 600, 900, 960, 990, 1000, 1000, 1000, 1000, 1000]
    consumed = [0, 0, 10, 30, 60, 90, 100, 100, 100, 100]
    for minute in range(10):
        parts.postgres.query(
            "INSERT INTO queue_history (queue, minute, waiting, ready, claimed, entered, admitted, consumed, expired, went,"
            " withdrawn, rate_milli, promised_seconds, actual_seconds, p95_ms) VALUES (%s, timestamptz "
            "'2026-03-01T12:00:00Z' + %s * interval '1 min', %s, 2, 1, %s, %s, %s, %s, %s, 0, 1000, %s, %s, 80)",
            queue, minute, max(0, 500 - 60 * minute), entered[minute], consumed[minute] + minute, consumed[minute], minute,
            2 * minute, 100 if minute > 1 else None, 120 if minute > 1 else None)
    api.act(queue, "sold-out")
    out = tmp_path / "report"
    report = sluicectl.json("report", queue, "--from", "2026-03-01T11:30:00Z", "--to", "2026-03-01T13:00:00Z", "--out", out)
    assert (report["points"], report["entered"], report["consumed"], report["left"]) == (10, 1000, 100, 18)
    assert report["soldOutAt"] == "2026-03-01T12:06:00.000Z"
    text = (out / "report.md").read_text()
    assert "**Sold out at 2026-03-01 12:06 UTC**" in text and "| 1000 | entered the line |" in text
    assert "| arrivals | 10 a second | 2026-03-01 12:01 UTC |" in text and "| 91.7 % | of those admitted ordered |" in text
    rows = (out / "history.csv").read_text().splitlines()
    assert len(rows) == 11 and rows[0].startswith("at,entered,admitted,consumed,expired,left,withdrawn")
    assert rows[2].startswith("2026-03-01T12:01:00.000Z,600,1,0,1,2,0")
    pictures = re.findall(r"!\[[^]]+\]\((.*?)\)", text)
    assert len(pictures) == 7 and {p.name for p in out.iterdir()} == {"report.md", "history.csv", *pictures}
    for picture in pictures:
        xml = (out / picture).read_text()
        drawn = ElementTree.fromstring(xml)
        assert drawn.tag.endswith("svg") and "nan" not in xml and "inf" not in xml, picture
    assert "sold out" in (out / "arrivals.svg").read_text()
    # Unknown at first: the line of waits begins with minute 2.
    points = re.search(r'points="([^"]+)"', (out / "waits.svg").read_text()).group(1).split()
    assert len(points) == 8
    again = sluicectl("report", queue, "--from", "2026-03-01T12:03:00Z", "--to", "2026-03-01T12:05:00Z", "--out", out)
    assert "2 points" in again
    sluicectl("report", queue, "--from", "2030-01-01T00:00:00Z", "--to", "2030-01-02T00:00:00Z", "--out", out, code=1)
    sluicectl("report", queue, "--from", "noon", code=64)
    sluicectl("report", "nowhere", code=1)


def test_json_everywhere(sluicectl, api):
    queue, event = api.queue(), None
    sku, event, show = api.product(queue), api.coupon_event(queue), api.show(queue, ["A-1"])
    concert = api.admin("GET", f"/shows/{show}?seats=false")["concert"]
    calls = [("status",), ("stats", queue), ("queue", "list"), ("queue", "get", queue), ("queue", "set", queue, "rate=9"),
             ("queue", "rate", queue, "9"), ("member", "get", queue, "ann"), ("product", "list"), ("product", "get", sku),
             ("product", "set", sku, "stock=3"), ("codes", "list", queue), ("codes", "add", queue, "invite", "ONE-CODE"),
             ("codes", "generate", queue, "priority", "2"), ("coupons", "list"), ("coupons", "get", event),
             ("coupons", "set", event, "name=x"), ("coupons", "upload", event), ("coupons", "generate", event, "2"),
             ("concerts", "list"), ("concerts", "get", concert), ("concerts", "set", concert, "venue=x"),
             ("shows", "list"), ("shows", "get", show), ("shows", "set", show, "max=2"), ("shows", "export", show),
             ("payments", "list"), ("payments", "stuck"), ("token", "member", "ann"), ("audit",), ("export",)]
    for words in calls:
        if words[0] == "token":
            words = (*words, "--data", str(sluicectl.data))
        printed = sluicectl(*words, "--json", stdin="A\nB\n")
        assert all(json.loads(line) is not None for line in ([printed] if words == ("export",) else printed.splitlines()))
    assert sluicectl.json("codes", "add", queue, "invite", "ONE-CODE") == {"added": 0, "known": 1}


def test_lists_come_by_pages_and_nothing_is_left_out(sluicectl, parts, api):
    parts.postgres.query(
        "INSERT INTO concert (id, title, venue, description) SELECT 'paged-' || lpad(n::text, 4, '0'), 'Concert ' || n, "
        "'Hall', '\"quoted\" \\ 봄' FROM generate_series(1, 1203) AS n")
    try:
        first = api.admin("GET", "/concerts?after=paged-0000").json
        assert len(first["concerts"]) == 500 and first["next"] == first["concerts"][-1]["concert"] == "paged-0500"
        assert first["concerts"][0]["description"] == '"quoted" \\ 봄'
        names = [row["concert"] for row in sluicectl.json("concerts", "list")["concerts"]]
        assert names == sorted(set(names)) and sum(name.startswith("paged-") for name in names) == 1203
        viewer = {"Authorization": f"Bearer {api.viewer_key}"}
        for kind in ("products", "coupon-events", "concerts", "shows"):
            assert api.call("GET", f"/v1/admin/{kind}", viewer).status == 200
    finally:
        parts.postgres.query("DELETE FROM concert WHERE id LIKE 'paged-' || repeat(%s, 4)", "_")


@pytest.mark.parametrize("foreign", ["data", "data/secrets", "data/secrets/admin.key", "data/sluice.conf"])
def test_what_another_user_has_put_into_the_working_folder_is_not_read(parts, sluicectl, tmp_path, foreign):
    """It could be a link to a file that only root may read, whose text would be sent as the key."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files to another user")
    (tmp_path / "data/secrets").mkdir(parents=True)
    (tmp_path / "data/secrets/admin.key").symlink_to(parts.secrets / "admin.key")
    (tmp_path / "data/sluice.conf").symlink_to(parts.config)

    def call(*words):
        return subprocess.run([sluicectl.program, "--url", sluicectl.url, *words], cwd=tmp_path, capture_output=True, text=True,
                              env={**os.environ, "SLUICE_ADMIN_KEY_FILE": ""}, timeout=60)
    word = "doctor" if foreign.endswith(".conf") else "status"
    assert call("status").returncode == 0
    assert f"{tmp_path}" not in call("doctor").stdout and "./data/sluice.conf is valid" in call("doctor").stdout
    os.chown(tmp_path / foreign, 4711, 4711, follow_symlinks=False)
    refused = call(word)
    assert f"./{foreign} belongs to another user" in refused.stdout + refused.stderr
    assert refused.returncode == (78 if word == "status" else 1), refused
    named = subprocess.run([sluicectl.program, "--url", sluicectl.url, "--data", tmp_path / "data", "status"], cwd=tmp_path,
                           capture_output=True, text=True, env={**os.environ, "SLUICE_ADMIN_KEY_FILE": ""}, timeout=60)
    assert named.returncode == 0, "a folder that is named is meant"
