"""Rules taken out of the product, one at a time, and what the harness must find then. tests/chaos/mutate plays them;
`in_place()` holds the texts against the sources, so that none of them goes stale unseen."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    name: str
    file: str
    old: str
    new: str
    faults: str           # those that bring it to light
    found_by: tuple       # words of findings of which one must come
    runs: int = 4


MUTATIONS = [
    Mutation("an order takes nothing out of stock", "sql/migrations/0017_order_cost.sql", "available = p.available - v_quantities[n]",
             "available = p.available - 0", "kill_worker,link_slow,postgres_cut", ("STOCK", "NOT_QUIET", "UNEXPECTED_ANSWER"), runs=2),
    Mutation("a late order may commit though its claim was given back, and though Redis was lost", "sql/migrations/0017_order_cost.sql",
             "ELSIF v_incarnation <> p_incarnation THEN", "ELSIF v_incarnation < 0 THEN",
             "redis_flush,hook_hold:order.before_transaction@9000,hook_hold:order.claimed@9000",
             ("NUMBER_SPENT_TWICE", "MORE_THAN_ONE"), runs=6),
    Mutation("an overdue claim is given back without PostgreSQL's word", "reconcile/claims.c",
             "if (answer != POSTGRES_OK) {", "settlement.committed = settlement.committed && false;\n    if (answer != POSTGRES_OK) {",
             "hook_kill:order.committed,link_deaf:order:redis", ("MORE_THAN_ONE", "USES", "STUCK", "PUT_BACK", "ORDERS_ONE_TOKEN"),
             runs=6),
    Mutation("the outbox is never worked off", "reconcile/reconcile.c", "        reconcile_outbox(reconcile);\n", "        (void)0;\n",
             "hook_kill:order.committed,link_cut:order:redis,redis_kill", ("NOT_QUIET", "STUCK"), runs=3),
    Mutation("a call of the provider whose answer is lost has failed", "lib/payments/payment_verdict.c",
             ".outcome = PAYMENT_UNKNOWN, .answered = answered", ".outcome = PAYMENT_REJECTED, .answered = answered",
             "link_deaf:all:provider,provider_kill", ("MONEY", "WRONG_RESULT"), runs=6),
    Mutation("the room is counted without those who order", "lua/line/promote.lua",
             "conf.maxActive - ready - claimed - unpaid", "conf.maxActive - ready - unpaid",
             "hook_hold:order.claimed,link_slow:order:postgres", ("ROOM",)),
    Mutation("the rate is each scheduler's own: a call refills from what the tick was long, not from Redis TIME",
             "lua/include/bucket.lua", "math.max(now - tonumber(run.bucketAt or now), 0) * rate / 1000",
             "math.max(now - tonumber(run.bucketAt or now), 300) * rate / 1000", "kill_leader,stop_leader", ("RATE",)),
    Mutation("promotion does not wait for those who come back", "lua/queues/queue_publish.lua",
             "tonumber(arg_recoveryMs) > 0 and now + tonumber(arg_recoveryMs) or 0", "0", "redis_flush,redis_lost",
             ("OVERTAKEN", "RANK_GROWS", "NUMBER_TWICE"), runs=6),
    Mutation("the counter starts anew after a loss", "lua/queues/queue_publish.lua",
             "'seq', math.max(tonumber(state[3] or 0), tonumber(arg_seqFloor))", "'seq', tonumber(state[3] or 0)",
             "redis_flush,redis_lost", ("NUMBER_TWICE", "NUMBER_CHANGED", "LOST")),
    Mutation("those who have ordered are not marked before a lost queue comes back", "lua/include/preparation.lua",
             "redis.call('SETBIT', key_seatedNext, tonumber(ARGV[i]) % 4294967296, 1)", "local _ = ARGV[i]",
             "redis_flush,redis_lost", ("NUMBER_SPENT_TWICE", "MORE_THAN_ONE", "PUT_BACK"), runs=6),
    Mutation("who enters again gets a new number", "lua/line/enter.lua",
             "            generation = (generation + 1) % 4096\n",
             "            generation = (generation + 1) % 4096\n            seq = redis.call('HINCRBY', key_state, 'seq', 1)\n",
             "stop_worker,link_deaf,link_silent", ("NUMBER_CHANGED",), runs=2),
    Mutation("the last in line goes first", "lua/include/admit.lua", "redis.call('ZPOPMIN', set, count)", "redis.call('ZPOPMAX', set, count)",
             "kill_scheduler,stop_scheduler", ("OVERTAKEN",), runs=2),
    Mutation("whoever slept through the lock promotes all the same", "lua/line/promote.lua",
             "if redis.call('GET', key_leader) ~= arg_owner then", "if redis.call('GET', key_leader) == 'nobody' then",
             "stop_leader,hook_hold,stop_scheduler", (), runs=4),
]


def _replaced_since(root, one):
    """Whether a later migration has the same text: a function is written anew there, and nobody calls the former one."""
    path = root / one.file
    return path.parent.name == "migrations" and any(
        later.name > path.name and one.old in later.read_text() for later in path.parent.glob("*.sql"))


def in_place(root):
    """Mutations whose text does not stand exactly once in its file, or is not what runs any more."""
    return [one.name for one in MUTATIONS if (root / one.file).read_text().count(one.old) != 1 or _replaced_since(root, one)]
