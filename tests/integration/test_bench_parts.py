"""What the benchmarks compute, without any load: overheard calls, shares, limits, tables and the picture."""

import json
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from lib.project import ROOT

sys.path.insert(0, str(ROOT))

from bench import burst, check, members, paths, picture, report, sql_yardstick, watch  # noqa: E402


def test_a_command_is_written_for_another_member():
    words = ["EVALSHA", "f" * 40, "1", "sluice:{q}:state", ("member",), "", "", "7", ("token",), ("admission",), "0"]
    command = members.Command(words)
    written = command.text(member="other", token="T", admission="A").decode()
    assert written.startswith("*11\r\n$7\r\nEVALSHA\r\n") and written.count("\r\n$") == 11
    assert written.split("\r\n")[2::2] == ["EVALSHA", "f" * 40, "1", "sluice:{q}:state", "other", "", "", "7", "T", "A", "0"]


def test_a_statement_for_pgbench_varies_what_differed_between_two_calls(tmp_path):
    calls = [("SELECT f($1, $2, $3, $4, $5)", ["q", "7", "o_abcdefgh", None, "it's"]),
             ("SELECT f($1, $2, $3, $4, $5)", ["q", "8", "o_ijklmnop", None, "it's"])]
    lines = sql_yardstick.script(calls, tmp_path / "f.sql", {}).read_text().split("\n")
    assert lines[0].startswith("\\set n random(")
    assert lines[1] == (
        "SELECT f('q', (:n)::bigint, ('o_' || substr(md5((:n)::text || '0'), 1, 8)), NULL, 'it''s') \\gset r0_")


def test_pgbench_hands_on_what_a_worker_hands_on(tmp_path):
    calls = [("SELECT f($1, $2, $3)", ["q", "0", None]), ("SELECT f($1, $2, $3)", ["q", "41", None])]
    text = sql_yardstick.script(calls, tmp_path / "f.sql", {2: "coupon_number", 3: "outbox_row"}).read_text()
    statements = [line for line in text.split("\n") if line.startswith("SELECT")]
    assert len(statements) == sql_yardstick.BATCH
    rows = ", ".join(f":r{i}_outbox_row" for i in range(sql_yardstick.BATCH))
    assert statements[0] == f"SELECT f('q', (:r15_coupon_number)::bigint, ARRAY[{rows}]::bigint[]) \\gset r0_"
    assert statements[1] == "SELECT f('q', (:r0_coupon_number)::bigint, NULL) \\gset r1_"


def test_waiting_pages_mostly_read_the_board():
    requests, share = paths.page_mix([b"near"], [b"far"], 5000, b"board")
    assert 0.05 < share < 0.10
    assert requests.count(b"near") + requests.count(b"far") == pytest.approx(share * 5000, rel=0.2)
    assert 0 < requests.count(b"far") < requests.count(b"near")


@pytest.mark.parametrize("looks, excess", [([(0, 0), (1, 10)], -5), ([(0, 0), (1, 15)], 0), ([(0, 0), (1, 10), (2, 40)], 15)])
def test_more_admissions_than_the_bucket_holds_are_counted(looks, excess):
    seen = watch.Watch(None, "q")
    seen.looks = [{"sent": at, "received": at, "admitted": admitted} for at, admitted in looks]
    assert seen.rate_excess(10, 5) == excess


def test_the_crowds_of_the_burst_find_places_for_all_who_only_wait():
    for count, connections, until, settings in burst.CROWDS:
        assert connections <= count and (until == "ordered" or settings["maxActive"] >= count)


def test_the_committed_instructions_are_those_of_every_request_and_part():
    known = json.loads(check.COUNTS.read_text())
    assert {request: set(parts) for request, parts in known["instructions"].items()} == {
        "poll among 16": {"worker", "redis"}, "enter among 16": {"worker", "redis"}, "poll far back": {"worker"},
        "poll": {"worker", "redis"}, "enter": {"worker", "redis"},
        "check at the gate": {"worker"}, "check at the gate among 16": {"worker"}}
    assert all(value > 1000 for parts in known["instructions"].values() for value in parts.values())


def test_tables_are_markdown():
    text = report.markdown(report.table("Title", ["a", "b", "c"], [["x", 1234.5, None], ["y", 0.5, True]], "Note."))
    assert text == "## Title\n\nNote.\n\n| a | b | c |\n|---|---|---|\n| x | 1,234 | – |\n| y | 0.50 | yes |\n"


def test_the_picture_is_well_formed_and_names_its_lines():
    points = [{"perSecond": rate, "p50Ms": rate / 1000, "p90Ms": rate / 500, "p99Ms": rate / 100} for rate in (1000, 2000, 8000)]
    root = xml.etree.ElementTree.fromstring(picture.latency(points, "Latency", 33.85))
    said = {element.text for element in root.iter() if element.text}
    assert {"p50", "p90", "p99", "1,000", "8,000", "33.85 ms"} <= said


@pytest.mark.parametrize("words, status", [(["nonsense"], 64), (["report", "/nonexistent.json"], 1)])
def test_the_command_refuses_what_is_not_there(words, status):
    done = subprocess.run(["/usr/bin/python3", "-m", "bench", *words], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == status and done.stderr
