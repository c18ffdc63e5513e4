"""What a crowd has seen of Redis losing its memory: the journal of tests/tools/patient_pages.mjs counted, against PostgreSQL."""

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime


@dataclass
class Answer:
    at: float              # ms, wall time
    member: str
    kind: str              # enter, ask, order, orders, again-ask, again-order
    status: int
    word: str              # WAITING, READY, …, or an error's code
    number: int | None
    incarnation: int | None
    ends: int | None       # of the entry token, in ms
    orders: list
    took: float            # ms


def read(path):
    """(answers by time, {second: (looks at the board, failed ones)})."""
    answers, boards = [], {}
    with open(path) as journal:
        for line in journal:
            at, member, kind, status, word, number, incarnation, ends, orders, took = line.rstrip("\n").split(",")
            if kind == "boards":
                boards[int(at) // 1000] = (int(status), int(word))
                continue
            answers.append(Answer(float(at), member, kind, int(status), word, int(number or 0) or None,
                                  int(incarnation or 0) or None, int(ends or 0) or None, orders.split(), float(took or 0)))
    return sorted(answers, key=lambda answer: answer.at), boards


@dataclass
class Count:
    members: int = 0
    waiting: int = 0            # in line when Redis lost its memory
    holding: int = 0            # had a token and no order
    ordered: int = 0            # had an order
    back_ms: float = 0.0        # first answer of the new line
    seated_ms: dict = field(default_factory=dict)   # percent → ms
    unseated: list = field(default_factory=list)
    renumbered: list = field(default_factory=list)
    admitted_ms: float = 0.0    # first one let in by the new line
    inversions: int = 0
    second_orders: list = field(default_factory=list)
    second_turns: list = field(default_factory=list)
    wrong_number: list = field(default_factory=list)
    lost: list = field(default_factory=list)
    refused: Counter = field(default_factory=Counter)

    def is_good(self):
        return not (self.unseated or self.renumbered or self.inversions or self.second_orders or self.second_turns or
                    self.wrong_number or self.lost)


def inversions(admissions):
    """How many were let in, by the end of their token, after somebody with a larger number had been: (end, number) of each."""
    wrong, largest, pending, before = 0, 0, 0, None
    for end, number in sorted(admissions):
        if end != before:
            largest, before = max(largest, pending), end
        pending = max(pending, number)
        wrong += number < largest
    return wrong


def percentile(values, percent):
    """Of sorted values; 0 without any."""
    return values[min(len(values) - 1, max(0, -(-len(values) * percent // 100) - 1))] if values else 0.0


def count(answers, wiped_at, orders):
    """`orders`: (member, number spent, order, when in ms) of PostgreSQL, of this queue."""
    result, by_member = Count(), defaultdict(list)
    for answer in answers:
        by_member[answer.member].append(answer)
    bought = defaultdict(list)
    for member, number, order, at in orders:
        bought[member].append((number, order, at))
    new = max((answer.incarnation or 0 for answer in answers), default=0)
    old = min(answer.incarnation for answer in answers if answer.incarnation)
    assert new > old, "the line was never made anew"
    first_of_new = [answer for answer in answers if answer.incarnation == new]
    result.back_ms = first_of_new[0].at - wiped_at
    result.members = len(by_member)
    # Whatever was bought before that was bought with a token of the old line.
    spent_until = first_of_new[0].at
    seated, admissions, before, admitted = [], {}, {}, []
    for member, seen in by_member.items():
        ticket = next(answer.number for answer in seen if answer.kind == "enter" and answer.number)
        if any(answer.number not in (None, ticket) for answer in seen):
            result.renumbered.append(member)
        has_ordered = any(at < spent_until for _, _, at in bought[member])
        result.ordered += has_ordered
        for answer in seen:
            if answer.word == "READY" and answer.ends:
                (admissions if answer.incarnation == new else before).setdefault(member, (answer.ends, ticket))
        if not has_ordered:
            had_token = any(answer.word == "READY" and answer.at < wiped_at for answer in seen)
            result.holding += had_token
            result.waiting += not had_token
            back = [answer for answer in seen if answer.incarnation == new and answer.word in ("WAITING", "READY") and
                    answer.number == ticket]
            if back:
                seated.append(back[0].at - wiped_at)
            else:
                result.unseated.append(member)
            admitted += [answer.at for answer in back if answer.word == "READY"][:1]
        elif any(answer.incarnation == new and answer.number for answer in seen):
            result.second_turns.append(member)
        shown = {order for answer in seen for order in answer.orders if answer.kind != "orders"}
        if len(bought[member]) > 1 or len(shown) > 1 or any(
                answer.kind == "again-order" and answer.status in (200, 201) for answer in seen):
            result.second_orders.append(member)
        if not bought[member] or not shown <= {order for _, order, _ in bought[member]}:
            result.lost.append(member)
        if any(number != ticket for number, _, _ in bought[member]):
            result.wrong_number.append(member)
    seated.sort()
    result.seated_ms = {percent: percentile(seated, percent) for percent in (50, 90, 100)}
    result.admitted_ms = min(admitted, default=wiped_at) - wiped_at
    result.inversions = inversions(before.values()) + inversions(admissions.values())
    for answer in answers:
        if answer.at >= wiped_at and (answer.status >= 400 or answer.status == 0) and not answer.kind.startswith("again"):
            result.refused[answer.word or answer.status or "no answer"] += 1
    return result


def served(path):
    """(when, how long) of each position that nginx has answered, in ms: without the time that a request waited in the sender."""
    found = []
    with open(path) as log:
        for line in log:
            if line.startswith('{"ts"') and '/position"' in line:
                entry = json.loads(line)
                found.append((datetime.fromisoformat(entry["ts"]).timestamp() * 1000, float(entry["dur_s"]) * 1000))
    return sorted(found)


def load(answers, boards, positions, begin, end):
    """Between two moments in ms: requests a second, exact questions a second and in the fullest second, the median and the
    99th percentile of how long those took at nginx (`positions`) and until the page had them, how many of all were refused."""
    times = [answer.at for answer in answers]
    inside = answers[bisect_left(times, begin):bisect_left(times, end)]
    asked = [answer for answer in inside if answer.kind in ("ask", "enter")]
    looks = [boards[second] for second in boards if begin <= second * 1000 < end]
    seconds = max((end - begin) / 1000, 0.001)
    took = sorted(answer.took for answer in asked if answer.status == 200)
    at_nginx = sorted(took_ms for at, took_ms in positions if begin <= at < end)
    total = len(inside) + sum(count for count, _ in looks)
    fullest = Counter(int(answer.at // 1000) for answer in asked)
    return {"requests": total / seconds, "asked": len(asked) / seconds, "fullest": max(fullest.values(), default=0),
            "p50": percentile(took, 50), "p99": percentile(took, 99),
            "nginx50": percentile(at_nginx, 50), "nginx99": percentile(at_nginx, 99),
            "refused": sum(answer.status >= 429 or answer.status == 0 for answer in inside) + sum(failed for _, failed in looks),
            "total": total}
