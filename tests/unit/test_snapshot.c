#include "tests/unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include "lib/admission/snapshot/snapshot.h"
#include "lib/admission/snapshot/snapshot_keeper.h"
#include "lib/admission/snapshot/snapshot_writer.h"
#include "tests/unit/scratch.h"

enum { NOW = 1000000, EPOCH = 3, INCARNATION = 2, CHANGES_MAX = 64 };

/* A file with one queue in it, as the keeper and as a reader have it. */
struct fixture {
    struct snapshot_file *file;
    int fd;
    struct snapshot_writer writer;
    struct snapshot *reader;
    struct arena *arena;
};

static struct fixture made(void)
{
    struct fixture it = {.fd = -1, .arena = arena_new()};
    const char *path = scratch_path("snapshot");

    (void)unlink(path);
    it.file = snapshot_file_map(path, &it.fd);
    assert_non_null(it.file);
    assert_true(snapshot_file_own(it.fd));
    assert_true(snapshot_writer_open(&it.writer, it.file, it.fd, STR("sale")));
    it.reader = snapshot_open(path);
    assert_non_null(it.reader);
    return it;
}

static void gone_again(struct fixture *it)
{
    snapshot_close(it->reader);
    snapshot_file_unmap(it->file);
    (void)close(it->fd);
    arena_free(it->arena);
}

/* Numbers above `front` up to `last`, nobody gone; `at_front` stand up to it. */
static struct snapshot_view view_of(int64_t front, int64_t last, int64_t at_front)
{
    return (struct snapshot_view){
        .queue_state = STR("OPEN"),
        .waiting = last - front + at_front,
        .in_main = last - front + at_front,
        .last = last,
        .front = front,
        .at_front = at_front,
        .rate_milli = 5000,
        .epoch = EPOCH,
        .incarnation = INCARNATION,
        .now_ms = 1700000000000,
        .near = 10,
    };
}

/* Shows `view` with these changes, each number * 4 + mark. Returns whether it added up. */
static bool show(struct fixture *it, struct snapshot_view view, const int64_t *changes,
                 size_t count)
{
    redisReply numbers[CHANGES_MAX];
    redisReply *elements[CHANGES_MAX];
    redisReply reply = {.type = REDIS_REPLY_ARRAY, .elements = count, .element = elements};

    for (size_t i = 0; i < count; i++) {
        numbers[i] = (redisReply){.type = REDIS_REPLY_INTEGER, .integer = changes[i]};
        elements[i] = &numbers[i];
    }
    view.reply = &reply;
    view.first_change = 0;
    return snapshot_writer_show(&it->writer, &view, NOW);
}

static struct line_caller caller_of(int64_t seq)
{
    return (struct line_caller){.queue = STR("sale"),
                                .member = STR("m"),
                                .has_ticket = true,
                                .seq = seq,
                                .epoch = EPOCH,
                                .incarnation = INCARNATION};
}

/* -1 where Redis is to be asked. */
static int64_t rank_at(struct fixture *it, struct line_caller caller, int64_t now_ms)
{
    struct line_position position;
    int64_t age_ms;

    arena_reset(it->arena);
    return snapshot_position(it->reader, &caller, now_ms, it->arena, &position, &age_ms)
               ? position.rank
               : -1;
}

static int64_t rank_of(struct fixture *it, int64_t seq)
{
    return rank_at(it, caller_of(seq), NOW);
}

TEST(a_rank_is_those_before_less_those_gone)
{
    struct fixture it = made();
    struct snapshot_view view = view_of(1000, 5000, 7);
    const int64_t changes[] = {1500 * 4 + SNAPSHOT_GONE, 1535 * 4 + SNAPSHOT_GONE,
                               1536 * 4 + SNAPSHOT_GONE, 4999 * 4 + SNAPSHOT_GONE,
                               3000 * 4 + SNAPSHOT_ASK};

    view.in_main -= 4;
    snapshot_writer_begin(&it.writer, &view);
    assert_true(show(&it, view, changes, COUNT(changes)));
    assert_int_equal(rank_of(&it, 1100), 7 + 99);
    assert_int_equal(rank_of(&it, 1499), 7 + 498);
    assert_int_equal(rank_of(&it, 1501), 7 + 500 - 1);
    assert_int_equal(rank_of(&it, 1537), 7 + 536 - 3);
    assert_int_equal(rank_of(&it, 5000), 7 + 3999 - 4);
    /* Gone, asked about, at the front, not given yet. */
    assert_int_equal(rank_of(&it, 1500), -1);
    assert_int_equal(rank_of(&it, 3000), -1);
    assert_int_equal(rank_of(&it, 1000), -1);
    assert_int_equal(rank_of(&it, 1002), -1);
    assert_int_equal(rank_of(&it, 5001), -1);
    gone_again(&it);
}

TEST(the_answer_has_every_field)
{
    struct fixture it = made();
    struct snapshot_view view = view_of(0, 100, 0);
    struct line_caller caller = caller_of(50);
    struct line_position position;
    int64_t age_ms;

    view.poll_tiers = STR("[{\"seconds\":9}]");
    view.on_hold = true;
    view.exact_only = true;
    view.before_main = 30;
    snapshot_writer_begin(&it.writer, &view);
    assert_true(show(&it, view, NULL, 0));
    assert_true(snapshot_position(it.reader, &caller, NOW + 300, it.arena, &position, &age_ms));
    assert_int_equal(age_ms, 300);
    assert_int_equal(position.status, LINE_WAITING);
    assert_int_equal(position.rank, 79);
    assert_int_equal(position.waiting, 100);
    assert_int_equal(position.rate_milli, 5000);
    assert_int_equal(position.seq, 50);
    assert_int_equal(position.now_ms, 1700000000300);
    assert_true(position.on_hold && position.exact_only);
    assert_text(position.queue_state, "OPEN");
    assert_text(position.poll_tiers, "[{\"seconds\":9}]");
    gone_again(&it);
}

TEST(what_is_not_certain_is_for_redis)
{
    struct fixture it = made();
    struct snapshot_view view = view_of(0, 1000, 0);
    struct line_caller caller = caller_of(500);

    snapshot_writer_begin(&it.writer, &view);
    assert_int_equal(rank_of(&it, 500), -1); /* not shown yet */
    assert_true(show(&it, view, NULL, 0));
    assert_int_equal(rank_of(&it, 500), 499);
    assert_int_equal(rank_at(&it, caller, NOW + SNAPSHOT_AGE_MAX_MS), 499);
    assert_int_equal(rank_at(&it, caller, NOW + SNAPSHOT_AGE_MAX_MS + 1), -1);
    caller.generation = 1;
    assert_int_equal(rank_at(&it, caller, NOW), -1);
    caller = caller_of(500);
    caller.epoch++;
    assert_int_equal(rank_at(&it, caller, NOW), -1);
    caller = caller_of(500);
    caller.incarnation--;
    assert_int_equal(rank_at(&it, caller, NOW), -1);
    caller = caller_of(500);
    caller.lane = STR("priority");
    assert_int_equal(rank_at(&it, caller, NOW), -1);
    caller.lane = STR("main");
    caller.by_visitor = true;
    assert_int_equal(rank_at(&it, caller, NOW), -1);
    caller = caller_of(500);
    caller.queue = STR("other");
    assert_int_equal(rank_at(&it, caller, NOW), -1);
    caller = caller_of(500);
    caller.has_ticket = false;
    assert_int_equal(rank_at(&it, caller, NOW), -1);
    snapshot_doubt(it.reader, STR("sale"), 500);
    assert_int_equal(rank_of(&it, 500), -1);
    assert_int_equal(rank_of(&it, 501), 500);
    /* What this host has learnt by itself stays, also where the marks are read anew. */
    snapshot_writer_begin(&it.writer, &view);
    assert_true(show(&it, view, NULL, 0));
    assert_int_equal(rank_of(&it, 500), -1);
    view.epoch++;
    snapshot_writer_begin(&it.writer, &view);
    assert_true(show(&it, view, NULL, 0));
    caller = caller_of(500);
    caller.epoch++;
    assert_int_equal(rank_at(&it, caller, NOW), 499);
    snapshot_writer_close(it.file, it.writer.slot_number);
    assert_int_equal(rank_at(&it, caller, NOW), -1);
    gone_again(&it);
}

TEST(what_does_not_add_up_is_not_shown)
{
    struct fixture it = made();
    struct snapshot_view view = view_of(0, 1000, 0);
    const int64_t gone[] = {10 * 4 + SNAPSHOT_GONE};
    const int64_t back[] = {10 * 4 + SNAPSHOT_ASK};

    snapshot_writer_begin(&it.writer, &view);
    assert_true(show(&it, view, NULL, 0));
    assert_false(show(&it, view, gone, 1));
    assert_int_equal(rank_of(&it, 500), -1);
    assert_true(show(&it, view, back, 1));
    assert_int_equal(rank_of(&it, 500), 499);
    gone_again(&it);
}

/* What the bits should say, kept the slow way. */
static int64_t slow_rank(const bool *gone, int64_t base, int64_t front, int64_t seq)
{
    int64_t rank = 0;

    for (int64_t number = front + 1; number < seq; number++) {
        rank += gone[number - base] ? 0 : 1;
    }
    return rank;
}

TEST(numbers_make_room_for_those_that_come)
{
    enum { STEPS = 60, LENGTH = 5000, STEP = 900 };
    static bool gone[STEPS * STEP + LENGTH + 1];
    const int64_t base =
        ((int64_t)SNAPSHOT_NUMBERS << 3) - STEPS * STEP / 2; /* over the end of the ring */
    struct fixture it = made();
    struct snapshot_view view = view_of(base, base + LENGTH, 0);
    int64_t missing = 0;

    srand(7);
    memset(gone, 0, sizeof(gone));
    snapshot_writer_begin(&it.writer, &view);
    for (int64_t front = base; front < base + STEPS * STEP; front += STEP) {
        int64_t changes[CHANGES_MAX];
        for (size_t i = 0; i < CHANGES_MAX; i++) {
            int64_t number = front + 1 + rand() % LENGTH;
            changes[i] = number * 4 + SNAPSHOT_GONE;
            gone[number - base] = true;
        }
        view = view_of(front, front + LENGTH, 0);
        missing = LENGTH - slow_rank(gone, base, front, front + LENGTH + 1);
        view.in_main -= missing;
        assert_true(show(&it, view, changes, COUNT(changes)));
        for (int i = 0; i < 100; i++) {
            int64_t seq = front + 100 + rand() % (LENGTH - 99);
            int64_t expected = gone[seq - base] ? -1 : slow_rank(gone, base, front, seq);
            assert_int_equal(rank_of(&it, seq), expected);
        }
    }
    gone_again(&it);
}

/* Two states that a reader could mix up: in the second some of the first are gone, and many more
 * stand at the front, so that no mixture gives a rank of either. */
static struct fixture *changing;
static volatile sig_atomic_t turns;

static void change(int signal_number)
{
    bool first = turns % 2 == 0;
    struct snapshot_view view = view_of(0, 4000, first ? 100 : 1000000);
    int64_t changes[CHANGES_MAX];

    (void)signal_number;
    for (int i = 0; i < CHANGES_MAX; i++) {
        changes[i] = (3400 + i) * 4 + (first ? SNAPSHOT_ASK : SNAPSHOT_GONE);
    }
    view.in_main -= first ? 0 : CHANGES_MAX;
    (void)show(changing, view, changes, CHANGES_MAX);
    turns++;
}

TEST(nobody_sees_half_of_a_change)
{
    enum { LOOKS = 200000, TURNS = 2000 };
    struct fixture it = made();
    struct snapshot_view view = view_of(0, 4000, 100);
    struct itimerval often = {.it_interval = {.tv_usec = 50}, .it_value = {.tv_usec = 50}};
    const struct itimerval never = {0};
    int seen[2] = {0, 0};

    snapshot_writer_begin(&it.writer, &view);
    changing = &it;
    turns = 0;
    change(0);
    (void)signal(SIGALRM, change); /* the reader is interrupted by the writer, wherever it is */
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (int i = 0; i < LOOKS || turns < TURNS; i++) {
        int64_t rank = rank_of(&it, 3500);
        assert_true(rank == -1 || rank == 100 + 3499 || rank == 1000000 + 3499 - CHANGES_MAX);
        seen[0] += rank == 100 + 3499 ? 1 : 0;
        seen[1] += rank > 1000000 ? 1 : 0;
    }
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    (void)signal(SIGALRM, SIG_DFL);
    assert_true(seen[0] > 0 && seen[1] > 0);
    gone_again(&it);
}

TEST(a_writer_that_was_killed_in_the_middle_leaves_nothing_to_read)
{
    struct fixture it = made();
    struct snapshot_view view = view_of(0, 1000, 0);

    snapshot_writer_begin(&it.writer, &view);
    assert_true(show(&it, view, NULL, 0));
    atomic_fetch_add(&it.writer.slot->version, 1);
    assert_int_equal(rank_of(&it, 500), -1);
    assert_true(show(&it, view, NULL, 0));
    assert_int_equal(rank_of(&it, 500), 499);
    gone_again(&it);
}

TEST(one_process_of_a_host_keeps_it)
{
    const char *path = scratch_path("kept");
    struct snapshot_keeper *keeper = snapshot_keeper_open(path);
    struct stat about;

    assert_non_null(keeper);
    assert_null(snapshot_keeper_open(path));
    assert_true(errno == EAGAIN || errno == EACCES);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0660);
    snapshot_keeper_see(keeper, STR("short"), 10);
    assert_int_equal(snapshot_keeper_count(keeper), 0);
    for (int i = 0; i < SNAPSHOT_QUEUES + 5; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "q%d", i);
        snapshot_keeper_see(keeper, str_of(name), 1000);
        snapshot_keeper_see(keeper, str_of(name), 1000);
    }
    assert_int_equal(snapshot_keeper_count(keeper), SNAPSHOT_QUEUES);
    snapshot_keeper_see(keeper, STR("q3"), 0);
    assert_int_equal(snapshot_keeper_count(keeper), SNAPSHOT_QUEUES - 1);
    snapshot_keeper_close(keeper);
    keeper = snapshot_keeper_open(path);
    assert_non_null(keeper);
    snapshot_keeper_close(keeper);
}

TEST(a_file_of_another_release_is_begun_anew)
{
    struct snapshot *snapshot = snapshot_open(scratch_write("old", "something else", 0600));

    assert_non_null(snapshot);
    snapshot_close(snapshot);
    assert_null(snapshot_open("/nonexistent/snapshot"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_is_those_before_less_those_gone),
        cmocka_unit_test(the_answer_has_every_field),
        cmocka_unit_test(what_is_not_certain_is_for_redis),
        cmocka_unit_test(what_does_not_add_up_is_not_shown),
        cmocka_unit_test(numbers_make_room_for_those_that_come),
        cmocka_unit_test(nobody_sees_half_of_a_change),
        cmocka_unit_test(a_writer_that_was_killed_in_the_middle_leaves_nothing_to_read),
        cmocka_unit_test(one_process_of_a_host_keeps_it),
        cmocka_unit_test(a_file_of_another_release_is_begun_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
