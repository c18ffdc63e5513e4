"""What one run is made of: its queue, its members and its faults, wholly determined by a seed.

Nothing here looks at a clock or at the system, so a seed gives the same plan wherever it is played again. What the plan hits
(which order a killed worker had in its hands) is up to the machine; that is what many runs are for.
"""

import random
from dataclasses import dataclass

HOOKS = ("order.before_claim", "order.claimed", "order.before_transaction", "order.committed", "order.consumed",
         "scheduler.before_promote", "scheduler.between_calls", "scheduler.promoted", "payment.starting", "payment.started",
         "payment.approving", "payment.approved", "payment.canceling", "payment.canceled", "payment.looked")
POOLS = ("queue", "order", "payment")
# Whose way to which server a fault can lie on. The simulator of the payment provider is reached by pool and reconcile.
LINKS = [(program, "redis") for program in ("queue", "order", "payment", "scheduler1", "scheduler2", "reconcile")]
LINKS += [(program, "postgres") for program in ("order", "payment", "reconcile")] + [("all", "provider")]

# Name → weight (0: only where it is asked for by name), whether it needs its server for itself, shortest and longest time in ms (0: it is over at once).
FAULTS = {
    "kill_worker": (10, None, 0, 0), "kill_scheduler": (3, None, 300, 1500), "kill_leader": (3, None, 300, 1500),
    "kill_reconcile": (3, None, 300, 2000), "stop_worker": (6, None, 300, 5000), "stop_scheduler": (3, None, 500, 4000),
    "stop_leader": (5, None, 1300, 4000), "stop_reconcile": (3, None, 500, 5000), "hook_kill": (8, "hook", 1500, 1500),
    "hook_hold": (10, "hook", 1500, 9000),
    "redis_kill": (4, "redis", 0, 1500), "redis_restart": (2, "redis", 0, 1000), "redis_stall": (4, "redis", 500, 3000),
    "redis_full": (3, "redis", 500, 2500), "redis_script_flush": (3, None, 0, 0), "redis_flush": (4, "redis", 0, 0),
    "redis_lost": (2, "redis", 0, 1500), "redis_power_cut": (3, "redis", 0, 1000),
    "postgres_kill": (4, "postgres", 0, 1500), "postgres_restart": (2, "postgres", 0, 1000),
    "postgres_stall": (4, "postgres", 500, 3000), "postgres_cut": (4, None, 0, 0), "postgres_full": (3, "postgres", 500, 2000),
    "nginx_reload": (2, "nginx", 0, 0), "nginx_restart": (2, "nginx", 0, 500),
    "link_slow": (5, None, 500, 3000), "link_cut": (5, None, 300, 2500), "link_silent": (6, None, 500, 6000),
    "link_deaf": (5, None, 300, 2500), "provider_kill": (2, "provider", 200, 1500), "provider_stall": (2, "provider", 500, 2500),
    "operator_pause": (3, "operator", 500, 2500),
}
# After these Redis has lost its memory or its last second, or may have: one that begins anew is not believed.
LOSSES = ("redis_flush", "redis_lost", "redis_power_cut", "redis_kill", "redis_restart")
MOST_LOSSES = 3


@dataclass
class Fault:
    name: str
    at_ms: int
    ms: int          # how long it lasts
    dice: int        # which of the candidates it hits
    words: tuple = ()

    def __str__(self):
        return f"{self.at_ms:>6} ms  {self.name}{'' if not self.words else ' ' + ' '.join(self.words)}" + (
            f" for {self.ms} ms" if self.ms else "")


@dataclass
class MemberPlan:
    arrives_ms: int
    wants: str                    # thing, free, seats, coupon
    leaves: bool = False          # gives the place up while waiting
    vanishes: str = ""            # "waiting" or "ready": goes without a word
    takes_over: bool = False      # goes on on a second screen
    twins: bool = False           # sends every order twice at once
    spends_twice: bool = False    # and with the same token once more under another key
    replays: bool = False         # asks for the order that was made again
    pays: str = ""                # pay, cancel, fail, or nothing
    cancels: bool = False         # cancels the order afterwards
    returns: bool = False         # enters again after all that
    seed: str = ""


@dataclass
class Plan:
    seed: int
    seconds: float
    settings: dict
    members: list
    faults: list
    seats: int
    coupons: int
    stock: int
    misbehaves: bool              # the payment provider
    reconcilers: int = 1

    def describe(self):
        yield f"seed {self.seed}: {len(self.members)} members, {self.seconds:g} s, " + ", ".join(
            f"{name} {value}" for name, value in self.settings.items())
        yield f"{self.seats} seats, {self.coupons} coupons, {self.stock} of the scarce thing, {self.reconcilers} reconcile" + (
            ", the payment provider misbehaves" if self.misbehaves else "")
        for fault in self.faults:
            yield str(fault)


def _settings(draw):
    rate = draw.choice([5, 8, 12, 20])
    tick, release = draw.choice([50, 100, 200, 400]), draw.choice(["order", "payment"])
    return {"ratePerSecond": rate, "burst": max(draw.choice([3, 5, 10]), rate * tick // 1000 + 1), "tickMs": tick,
            "maxActive": draw.choice([6, 12, 30]) if release == "order" else draw.choice([12, 30]),
            "maxInFlight": draw.choice([2, 5, 20]), "batchCap": draw.choice([1, 5, 500]),
            "entryTtlSeconds": 90, "claimLeaseSeconds": 2, "pickupSeconds": 6, "recoverySeconds": 3,
            "releaseOn": release}


def _binding(seed):
    """What makes the rate the narrowest place, in a third of the plans; by dice of its own, so that the others stay as they were."""
    draw = random.Random(f"sluice chaos {seed}: rate")
    if draw.random() >= 1 / 3:
        return {}
    tick = draw.choice([50, 100, 200])
    return {"ratePerSecond": draw.choice([3, 4]), "burst": 2, "tickMs": tick, "maxActive": 60, "maxInFlight": 20, "batchCap": 500}


def _member(draw, number, seed, arrival_ms):
    wants = draw.choices(["thing", "free", "seats", "coupon"], [34, 22, 22, 22])[0]
    plan = MemberPlan(draw.randrange(arrival_ms), wants, seed=f"{seed}:{number}")
    plan.leaves = draw.random() < .05
    plan.vanishes = draw.choices(["", "waiting", "ready"], [94, 4, 2])[0]
    plan.takes_over = draw.random() < .08
    plan.twins = draw.random() < .15
    plan.spends_twice = draw.random() < .08
    plan.replays = draw.random() < .2
    plan.pays = draw.choices(["pay", "cancel", "fail", ""], [74, 8, 8, 10])[0]
    plan.cancels = draw.random() < .12
    plan.returns = draw.random() < .08
    return plan


def _words(draw, name):
    if name in ("kill_worker", "stop_worker"):
        return (draw.choice(POOLS),)
    if name.startswith("hook_"):
        return (draw.choice(HOOKS),)
    if name.startswith("link_"):
        return draw.choice(LINKS)
    return ()


def _choice(text):
    """"name", "name:word:word" or "name:word@ms"."""
    text, _, ms = text.partition("@")
    name, *words = text.split(":")
    return name, tuple(words), int(ms or 0)


def _faults(draw, count, span_ms, allowed):
    """`allowed`: those to choose from, empty: all that have a weight. Their times do not overlap where one needs the server
    as the other has left it."""
    chosen, busy, losses = [], {}, 0
    choices = [_choice(word) for word in allowed] or [(name, (), 0) for name in FAULTS if FAULTS[name][0]]
    weights = [FAULTS[name][0] or 1 for name, *_ in choices]
    for _ in range(count * 20):
        if len(chosen) == count:
            break
        name, words, ms = draw.choices(choices, weights)[0]
        _, server, least, most = FAULTS[name]
        fault = Fault(name, draw.randrange(300, span_ms), ms or draw.randint(least, most), draw.randrange(1000),
                      words or _words(draw, name))
        if name in LOSSES and losses == MOST_LOSSES:
            continue
        begin, end = fault.at_ms - 400, fault.at_ms + fault.ms + 400
        if server and any(begin < other_end and other_begin < end for other_begin, other_end in busy.get(server, [])):
            continue
        if server:
            busy.setdefault(server, []).append((begin, end))
        losses += name in LOSSES
        chosen.append(fault)
    return sorted(chosen, key=lambda fault: fault.at_ms)


def make_plan(seed, seconds=5.0, members=40, fault_count=None, allowed=None):
    """The plan of a seed. `allowed`: the only faults to choose from, see _choice()."""
    draw = random.Random(f"sluice chaos {seed}")
    settings = {**_settings(draw), **_binding(seed)}
    span_ms = int(seconds * 1000)
    people = [_member(draw, number, seed, span_ms * 3 // 4) for number in range(members)]
    goods = {"seats": draw.choice([12, 30]), "coupons": draw.choice([5, 12, 40]), "stock": draw.choice([5, 20, 1000])}
    misbehaves = draw.random() < .5
    count = draw.randint(4, 9) if fault_count is None else fault_count
    faults = _faults(draw, count, span_ms, list(allowed or ()))
    return Plan(seed, seconds, settings, people, faults, misbehaves=misbehaves, reconcilers=draw.choice([1, 2]), **goods)
