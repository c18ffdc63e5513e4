"""Redis has lost everything: people with tickets keep their numbers, those who ordered get no second place."""

import threading
from contextlib import closing

import pytest

from lib import processes
from lib.api import some_name, ticket_payload
from lib.client import assert_problem
from lib.wait import until


@pytest.fixture
def lost(parts, api):
    """A queue with fifteen people: three ordered, three READY, one in the middle of nothing, eight in line."""
    queue = api.queue(maxActive=6, recoverySeconds=3)
    sku = api.product(queue)
    members = [api.member() for _ in range(15)]
    for member in members:
        assert member.enter(queue).status == 201
    for member in members[:6]:
        member.wait_ready(queue)
    api.act(queue, "pause")
    items = [{"sku": sku, "quantity": 1}]
    for member in members[:3]:
        assert member.order(queue, items, key="first").status == 201
    parts.forget_everything()
    return queue, items, members


@pytest.mark.limit(90)
def test_flushall(parts, api, lost):
    queue, items, members = lost
    ordered, ready, waiting = members[:3], members[3:6], members[6:]
    seqs = {member: ticket_payload(member.ticket)["seq"] for member in members}
    assert_problem(waiting[0].position(queue), 503, "ADMISSION_UNAVAILABLE")
    assert_problem(ready[0].order(queue, items), 503, "ADMISSION_UNAVAILABLE")
    assert_problem(api.member().enter(queue), 503, "ADMISSION_UNAVAILABLE")
    parts.reconcile_until(lambda: waiting[0].position(queue).status == 200, what="the queue is back")
    # Whoever comes without a ticket stands behind every number that was ever given.
    newcomer = api.member()
    until(lambda: newcomer.enter(queue).status == 201, 5)
    assert ticket_payload(newcomer.ticket)["seq"] > max(seqs.values())
    for member in reversed(waiting):
        assert member.position(queue)["status"] == "WAITING"
    assert [member.position(queue)["rank"] for member in waiting] == list(range(len(waiting)))
    for member in ordered:
        assert member.position(queue)["status"] == "NOT_ENTERED"
    # A token that Redis does not know is void; its owner stands at the number of old.
    token = ready[0].token
    assert_problem(ready[0].order(queue, items, token=token), 401, "ENTRY_TOKEN_INVALID")
    for member in ready:
        assert member.position(queue)["status"] == "WAITING"
    line = [*ready, *waiting, newcomer]
    assert [member.position(queue)["rank"] for member in line] == list(range(len(line)))
    # An order of before, asked again, is the same order.
    until(lambda: ordered[0].orders()["orders"], 5)
    api.act(queue, "resume")
    for member in line[:6]:
        member.wait_ready(queue)
    assert [member.position(queue)["rank"] for member in line[6:]] == list(range(len(line) - 6))
    assert line[0].order(queue, items).status == 201
    assert line[0].position(queue)["status"] == "NOT_ENTERED"
    assert parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", queue) == 4
    assert api.state(queue)["incarnation"] == 2


def test_every_page_of_spent_numbers_is_loaded(parts, api):
    """And nothing is left of a recovery of a line before, which had been given up."""
    queue = api.queue(recoverySeconds=0)
    parts.postgres.query("INSERT INTO admission_use (admission_id, queue, epoch, seq, kind, ref) "
                         "SELECT %s || n, %s, 1, 2 * n, 'order', 'r' FROM generate_series(1, 2001) n", queue, queue)
    parts.forget_everything()
    state, seated = f"sluice:{{{queue}}}:state", f"sluice:{{{queue}}}:seated"
    parts.redis.hset(state, mapping={"preparedFor": 1, "preparedEpoch": 1, "preparedTo": "all"})
    parts.redis.setbit(seated, 3, 1)
    parts.reconcile_until(lambda: api.member().enter(queue).status == 201, what="the queue is back")
    assert parts.redis.hmget(state, "preparedFor", "preparedEpoch", "preparedTo") == ["2", "1", "all"]
    assert parts.redis.bitcount(seated) == 2001
    assert [parts.redis.getbit(seated, number) for number in (2, 3, 2000, 2002, 4000, 4002)] == [1, 0, 1, 1, 1, 1]


def test_one_reconcile_recovers_at_a_time(parts, api):
    """Else each raises the incarnation, and ends the other's recovery by that."""
    queue = api.queue(recoverySeconds=0)
    parts.forget_everything()
    with closing(parts.postgres.connection()) as other:
        other.cursor().execute("SELECT pg_advisory_lock(hashtextextended('recovery', 5417))")
        assert "another reconcile is recovering a queue" in parts.reconcile()
        assert parts.postgres.value("SELECT incarnation FROM queue WHERE id = %s", queue) == 1
        assert_problem(api.member().enter(queue), 503, "ADMISSION_UNAVAILABLE")
    parts.reconcile_until(lambda: api.member().enter(queue).status == 201, what="the queue is back")


@pytest.mark.limit(120)
def test_a_reconcile_that_stands_still_in_a_recovery_leaves_it_to_another(parts, api):
    queue = api.queue(recoverySeconds=0)
    parts.forget_everything()
    with closing(parts.postgres.connection()) as order:
        order.cursor().execute("SELECT pg_advisory_lock_shared(queue_lock_number(%s))", [queue])
        parts.start_reconcile(1)
        until(lambda: parts.postgres.value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"), 5,
              "its recovery waits for the order")
        pid = parts.reconciler.pid
        processes.stop(pid)
    try:
        assert "another reconcile is recovering a queue" in parts.reconcile()
        # PostgreSQL ends its session.
        parts.reconcile_until(lambda: api.member().enter(queue).status == 201, 30, "the queue is back")
    finally:
        processes.cont(pid)
    assert parts.postgres.value("SELECT incarnation FROM queue WHERE id = %s", queue) == 3


def spend(parts, queue, numbers):
    parts.postgres.query("INSERT INTO admission_use (admission_id, queue, epoch, seq, kind, ref) "
                         "SELECT %s || n, %s, 1, n, 'order', 'r' FROM generate_series(1, %s) n", queue, queue, numbers)


def test_a_loss_between_two_pages_costs_no_interval(parts, api):
    """The only reconcile begins again at once; its next pass would be a minute later."""
    queue = api.queue(recoverySeconds=0)
    spend(parts, queue, 1500)
    parts.forget_everything()
    parts.arm_pause("reconcile.page_loaded")
    parts.start_reconcile(60)
    pid = parts.wait_hit("reconcile.page_loaded")
    try:
        parts.redis.flushall()
    finally:
        processes.cont(pid)
    until(lambda: api.member().enter(queue).status == 201, 10, "the queue is back")
    assert parts.redis.bitcount(f"sluice:{{{queue}}}:seated") == 1500


def test_a_reconcile_that_has_lost_the_lock_does_not_begin_again(parts, api):
    """Its recovery is another one's by then."""
    queue = api.queue(recoverySeconds=0)
    spend(parts, queue, 1500)
    parts.forget_everything()
    parts.arm_pause("reconcile.page_loaded")
    parts.start_reconcile(60)
    pid = parts.wait_hit("reconcile.page_loaded")
    try:
        parts.postgres.superuser("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
        parts.reconcile_until(lambda: api.member().enter(queue).status == 201, what="the queue is back")
        incarnation = parts.postgres.value("SELECT incarnation FROM queue WHERE id = %s", queue)
    finally:
        processes.cont(pid)
    parts.stop_reconcile()
    assert parts.postgres.value("SELECT incarnation FROM queue WHERE id = %s", queue) == incarnation
    assert api.member().enter(queue).status == 201


def test_a_recovery_that_needs_more_attempts_than_a_pass_has_is_continued_at_once(parts, api):
    """PostgreSQL has lost thousands of incarnations, and each attempt raises it by a thousand. Nobody else recovers the queue."""
    queue = api.queue(recoverySeconds=0)
    for name in ("settings", "state"):
        parts.redis.hset(f"sluice:{{{queue}}}:{name}", "incarnation", 4000)
    parts.redis.delete("sluice:tenures")
    parts.redis.hset("sluice:tenures", 40 * "0", 40 * "1")
    parts.start_reconcile(60)
    until(lambda: parts.redis.hget(f"sluice:{{{queue}}}:state", "incarnation") == "4001", 10, "the queue is back")
    assert api.member().enter(queue).status == 201


@pytest.fixture
def restored(parts):
    """A function that makes PostgreSQL lose what `change` does to a queue, as a failover or a backup would."""
    columns = "settings, operator_state, version, epoch, incarnation, seq_checkpoint, deleted_at"

    def lose(queue, change):
        before = parts.postgres.query("SELECT to_jsonb(queue)::text FROM queue WHERE id = %s", queue)[0][0]
        answer = change()
        parts.postgres.query(f"UPDATE queue SET ({columns}) = (SELECT {columns} FROM jsonb_populate_record(NULL::queue, %s)) "
                             "WHERE id = %s", before, queue)
        return answer
    return lose


def test_a_change_after_lost_versions_takes_effect(parts, api, restored):
    queue = api.still_queue()
    member = api.member()
    restored(queue, lambda: api.act(queue, "pause"))
    until(lambda: api.state(queue)["state"] == "PAUSED", 5)
    parts.reconcile()
    until(lambda: api.state(queue)["state"] == "OPEN", 5)
    assert api.state(queue)["incarnation"] == 1, "the line has lost nothing"
    api.act(queue, "pause")
    until(lambda: api.state(queue)["state"] == "PAUSED", 5)
    api.act(queue, "resume")
    assert member.enter(queue).status == 201


@pytest.mark.parametrize("lost", ["reset", "deletion"])
def test_no_number_is_given_twice_after_a_lost_reset_or_deletion(parts, api, restored, lost):
    """What PostgreSQL has is recovered: tickets of its epoch count again."""
    queue = api.still_queue(recoverySeconds=0)
    early, late = api.member(), api.member()
    assert early.enter(queue).status == 201
    restored(queue, lambda: api.act(queue, "reset") if lost == "reset" else
             api.admin("DELETE", f"/queues/{queue}?force=true"))
    parts.reconcile()
    assert api.state(queue)["incarnation"] == 2
    assert late.enter(queue).status == 201
    assert early.position(queue)["status"] == "WAITING"
    assert [member.position(queue)["rank"] for member in (early, late)] == [0, 1]
    assert ticket_payload(early.ticket)["seq"] == 1 < ticket_payload(late.ticket)["seq"]


@pytest.mark.parametrize("lost", ["line", "end", "nothing"])
def test_postgresql_that_has_lost_incarnations_catches_up_in_one_pass(parts, api, lost):
    """Redis has a recovery in incarnation 40, prepared or published, that PostgreSQL has lost, and a version with it."""
    queue = api.queue(recoverySeconds=0)
    sku, member = api.product(queue), api.ready_member(queue)
    settings, state = (f"sluice:{{{queue}}}:{name}" for name in ("settings", "state"))
    if lost == "line":
        parts.forget_everything()
        parts.redis.hset(state, mapping={"preparedFor": 40, "preparedEpoch": 1, "preparedTo": "all"})
    else:
        parts.redis.hset(settings, mapping={"version": 99, "incarnation": 40})
        parts.redis.hset(state, "incarnation", 40)
        assert_problem(member.order(queue, [{"sku": sku, "quantity": 1}]), 503)
    if lost == "end":
        tenures = parts.redis.hgetall("sluice:tenures")
        parts.redis.delete("sluice:tenures")
        parts.redis.hset("sluice:tenures", mapping={name: value for name, value in tenures.items() if len(name) < 40} |
                         {40 * "0": 40 * "1"})
    parts.reconcile()
    assert parts.postgres.value("SELECT incarnation FROM queue WHERE id = %s", queue) == 41
    assert parts.redis.hget(state, "incarnation") == "41"
    assert api.member().enter(queue).status == 201
    if lost != "line":
        assert member.order(queue, [{"sku": sku, "quantity": 1}]).status == 201


def late(parts, call):
    """A change by an operator's worker that stands still between its commit and its publication. Returns a function that
    lets it go on and gives the answer."""
    parts.arm_pause("operator.stored")
    answers = []
    thread = threading.Thread(target=lambda: answers.append(call()))
    thread.start()
    pid = parts.wait_hit("operator.stored")

    def go_on():
        processes.cont(pid)
        thread.join(20)
        return answers[0]
    return go_on


def come_back(parts, queue, members):
    """A crowd whose queue Redis has lost, and that nothing late has made known."""
    for member in members:
        assert_problem(member.position(queue), 503, "ADMISSION_UNAVAILABLE")
    parts.reconcile_until(lambda: members[0].position(queue).status == 200, what="the queue is back")
    for member in reversed(members):
        assert member.position(queue)["status"] == "WAITING"
    assert [member.position(queue)["rank"] for member in members] == list(range(len(members)))


@pytest.mark.limit(90)
def test_a_creation_that_is_late_makes_no_lost_queue_known(parts, api):
    """Reconcile has recovered the queue meanwhile, a crowd has come, and Redis has lost its memory."""
    queue = some_name("q")
    created = late(parts, lambda: api.admin("PUT", f"/queues/{queue}", {"ratePerSecond": 1, "maxActive": 1, "recoverySeconds": 30,
                                                                         "activation": "hold"}))
    try:
        parts.forget_everything()
        first = api.member()
        parts.reconcile_until(lambda: first.enter(queue).status == 201, what="reconcile makes the queue")
        members = [first, *(api.member() for _ in range(4))]
        for member in members[1:]:
            assert member.enter(queue).status == 201
        parts.forget_everything()
    finally:
        answer = created()
    assert_problem(answer, 503, "ADMISSION_UNAVAILABLE")
    come_back(parts, queue, members)


@pytest.mark.limit(90)
def test_a_deletion_that_is_late_makes_no_lost_queue_known(parts, api):
    """The queue was created again meanwhile, a crowd has come, and Redis has lost its memory."""
    queue = api.queue(ratePerSecond=1, maxActive=1, recoverySeconds=30, activation="hold")
    deleted = late(parts, lambda: api.admin("DELETE", f"/queues/{queue}?force=true"))
    try:
        parts.postgres.query("SELECT queue_write(id, NULL, true, settings, 'me', 'r') FROM queue WHERE id = %s", queue)
        parts.reconcile()
        members = [api.member() for _ in range(5)]
        for member in members:
            assert member.enter(queue).status == 201
        parts.forget_everything()
    finally:
        answer = deleted()
    assert answer.status == 204, answer.body
    come_back(parts, queue, members)


def test_a_queue_can_be_deleted_and_created_while_redis_is_empty(parts, api):
    queue = api.queue()
    parts.forget_everything()
    assert api.admin("DELETE", f"/queues/{queue}?force=true").status == 204
    assert_problem(api.member().enter(queue), 404, "NOT_FOUND")
    other = api.queue()
    assert api.member().enter(other).status == 201
    assert api.state(other)["incarnation"] == 1


def test_promotion_waits_for_those_who_come_back(parts, api, lost):
    """Nobody overtakes: promotion begins recoverySeconds after the queue is back, with an empty bucket."""
    queue, _items, members = lost
    # It is stored, and in force once the queue is back.
    assert_problem(api.admin("POST", f"/queues/{queue}/actions/resume"), 503, "ADMISSION_UNAVAILABLE")
    parts.reconcile_until(lambda: members[10].position(queue).status == 200, what="the queue is back")
    key = f"sluice:{{{queue}}}:state"
    seconds, micros = parts.redis.time()
    until_ms = int(parts.redis.hget(key, "recoveringUntil"))
    assert 1000 < until_ms - (seconds * 1000 + micros // 1000) <= 3000
    assert int(parts.redis.hget(key, "admitted") or 0) == 0
    for member in reversed(members[3:]):
        assert member.position(queue)["status"] == "WAITING"
    for member in members[3:9]:
        member.wait_ready(queue)
    seconds, micros = parts.redis.time()
    assert seconds * 1000 + micros // 1000 >= until_ms


def test_order_of_before_the_loss_does_not_commit_afterwards(parts, api):
    """A worker stopped before its transaction; Redis is lost and recovered; then it goes on."""
    from lib.processes import cont
    queue = api.queue(recoverySeconds=0)
    sku = api.product(queue)
    member = api.ready_member(queue)
    parts.arm_pause("order.before_transaction")
    answers = []
    thread = threading.Thread(target=lambda: answers.append(member.order(queue, [{"sku": sku, "quantity": 1}])))
    thread.start()
    pid = parts.wait_hit("order.before_transaction")
    parts.forget_everything()
    parts.reconcile_until(lambda: member.position(queue).status == 200)
    cont(pid)
    thread.join(20)
    assert_problem(answers[0], 503)
    assert parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", queue) == 0
    member.wait_ready(queue)
    assert member.order(queue, [{"sku": sku, "quantity": 1}]).status == 201
    assert parts.postgres.value("SELECT count(*) FROM customer_order WHERE queue = %s", queue) == 1
    assert parts.postgres.value("SELECT stock - available FROM product WHERE sku = %s", sku) == 1


def test_deleted_queue_stays_deleted_after_a_loss(parts, api):
    queue = api.queue()
    assert api.admin("DELETE", f"/queues/{queue}").status == 204
    assert_problem(api.member().enter(queue), 404, "NOT_FOUND")
    parts.redis.flushall()
    other = api.queue()
    parts.reconcile()
    until(lambda: api.member().enter(other).status == 201, 10)
    answer = api.member().enter(queue)
    assert answer.status in (404, 503), answer.body
    parts.reconcile()
    assert_problem(api.member().enter(queue), 404, "NOT_FOUND")


def replace_queue_workers(parts, api):
    """None of them has seen any queue."""
    for pid in parts.workers("queue"):
        processes.kill9(pid)
    parts.all_workers("queue")
    until(lambda: api.call("GET", "/livez").status == 200, 10)


def test_a_worker_started_after_the_loss_answers_503_not_404(parts, api):
    """It has never seen the queue, and whoever comes now has no ticket: Redis remembers nothing, so that is an outage."""
    queue = api.queue(recoverySeconds=0)
    parts.reconcile(expect=None)
    assert_problem(api.member().enter("misspelt"), 404, "NOT_FOUND")
    parts.forget_everything()
    replace_queue_workers(parts, api)
    for _ in range(8):
        assert_problem(api.member().enter(queue), 503, "ADMISSION_UNAVAILABLE")
    assert_problem(api.call("GET", f"/v1/queues/{queue}"), 503, "ADMISSION_UNAVAILABLE")
    parts.reconcile_until(lambda: api.member().enter(queue).status == 201, what="the queue is back")
    assert_problem(api.member().enter("misspelt"), 404, "NOT_FOUND")


@pytest.mark.limit(90)
def test_no_queue_is_misspelt_until_the_last_one_is_back(parts, api):
    """Reconcile has written down that the memory is new, an operator has made another queue, and one is still missing."""
    queue = api.queue(recoverySeconds=0)
    parts.reconcile(expect=None)
    parts.forget_everything()
    replace_queue_workers(parts, api)
    with closing(parts.postgres.connection()) as holding:
        holding.cursor().execute("SELECT 1 FROM queue WHERE id = %s FOR UPDATE", [queue])
        parts.reconcile(expect=None)
        other = api.queue()
        assert parts.redis.hget("sluice:tenures", "since"), "it knows of the loss"
        for _ in range(8):
            assert_problem(api.member().enter(queue), 503, "ADMISSION_UNAVAILABLE")
        assert_problem(api.call("GET", f"/v1/queues/{queue}"), 503, "ADMISSION_UNAVAILABLE")
        assert api.member().enter(other).status == 201
    parts.reconcile_until(lambda: api.member().enter(queue).status == 201, what="the queue is back")
    assert_problem(api.member().enter("misspelt"), 404, "NOT_FOUND")


@pytest.mark.parametrize("left", [False, True], ids=["gone", "of-a-moved-line"])
def test_what_is_known_of_the_memory_is_found_anew(parts, api, left):
    """However it went: deleted by hand before a restart, or written by scripts/move-redis."""
    queue = api.queue(recoverySeconds=0)
    parts.reconcile(expect=None)
    parts.redis.delete("sluice:tenures")
    if left:
        run, replication = parts.redis.info("server")["run_id"], parts.redis.info("replication")["master_replid"]
        parts.redis.hset("sluice:tenures", run, replication)
    assert_problem(api.member().enter("misspelt"), 503, "ADMISSION_UNAVAILABLE")
    parts.reconcile(expect=None)
    assert_problem(api.member().enter("misspelt"), 404, "NOT_FOUND")
    assert api.member().enter(queue).status == 201
    assert api.state(queue)["incarnation"] == 1, "nothing was lost"
    parts.redis.delete("sluice:tenures")
    parts.reconcile(expect=None)
    assert_problem(api.member().enter("misspelt"), 404, "NOT_FOUND")
