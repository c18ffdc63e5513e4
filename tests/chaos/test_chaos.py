"""The whole system under faults: a seed of always and one of today. tests/chaos/run plays as many as one likes."""

import csv
import re
import secrets

import pytest

from chaos import promises
from chaos.journal import Record, Seen, Turn
from chaos.mutations import in_place
from chaos.one_run import play
from chaos.plan import FAULTS, make_plan
from lib.project import ROOT

FIXED_SEED = 20
MEMBERS, SECONDS, COUNT = 40, 4.0, 6


@pytest.mark.limit(240)
@pytest.mark.parametrize("which", ["fixed", "random"])
def test_the_promises_hold_under_faults(system, which):
    seed = FIXED_SEED if which == "fixed" else secrets.randbelow(10**9)
    plan = make_plan(seed, SECONDS, MEMBERS, COUNT)
    print(f"\ntests/chaos/run --seed {seed} --seconds {SECONDS:g} --members {MEMBERS} --count {COUNT}")
    print("\n".join(plan.describe()))
    result = play(system, plan)
    print(f"{result.seconds:.0f} s, {result.orders} orders, {result.coupons} coupons, {result.payments} payments, "
          f"{result.answers} answers; skipped: {result.skipped}; refused: {result.refused}")
    assert not result.findings, (seed, result.findings)
    assert result.admissions >= MEMBERS // 2 and result.orders + result.coupons >= MEMBERS // 2, "there was something to count"


def test_a_seed_determines_the_plan():
    assert make_plan(7) == make_plan(7) != make_plan(8)
    for seed in range(200):
        plan = make_plan(seed)
        assert 4 <= len(plan.faults) <= 9
        assert [fault.at_ms for fault in plan.faults] == sorted(fault.at_ms for fault in plan.faults)


def test_every_fault_is_chosen_sooner_or_later():
    chosen = {fault.name for seed in range(300) for fault in make_plan(seed).faults}
    assert chosen == {name for name, (weight, *_) in FAULTS.items() if weight}


def test_a_place_of_before_is_as_old_as_its_number():
    """Who enters again while an order has not given the place back yet is told of that place: another turn, and no other admission."""
    record = Record("m", number=7, turns=[Turn(7, 1.0, 1.1), Turn(7, 5.0, 5.1)], seen=[Seen(7, 2.0, 2.1, "READY", None, "token")])
    found, said = promises.admissions([record]), []
    assert [(one.after, one.before) for one in found] == [(1.0, 2.1)]
    promises.check_rate(found, 1, 1, lambda *words: said.append(words))
    assert not said


def test_what_mutations_take_out_stands_in_the_sources():
    assert not in_place(ROOT)


def test_the_log_of_runs_is_what_the_document_sums_up():
    """docs/reliability.md counts the rows of docs/reliability-runs.csv, and none of them is from a harness that found nothing to do."""
    with open(ROOT / "docs" / "reliability-runs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    text = (ROOT / "docs" / "reliability.md").read_text()
    assert len(rows) >= 200
    assert f"{len(rows)} runs" in text
    faults = {name: 0 for name in FAULTS}
    for row in rows:
        for word in row["faults"].split():
            name, _, count = word.partition("*")
            faults[name] += int(count or 1)
    table = {name: int(count) for name, count in re.findall(r"^\| `([a-z_]+)` \| (\d+) \|", text, re.MULTILINE)}
    assert table == faults
