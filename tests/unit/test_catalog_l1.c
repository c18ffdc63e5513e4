#include "tests/unit/unit.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/catalog/l1.h"
#include "lib/catalog/l1_file.h"
#include "lib/catalog/l1_folder.h"
#include "lib/metrics/metrics.h"
#include "tests/unit/scratch.h"

enum { MIB = 8, LATER_US = 60000000 };

static struct arena *arena;

static const char *folder(void)
{
    return scratch_path(".");
}

static int set_up(void **state)
{
    static const char *const FILES[] = {"data.mdb", "lock.mdb", "host"};

    (void)state;
    log_start("unit", LOG_LEVEL_ERROR);
    for (size_t i = 0; i < COUNT(FILES); i++) {
        (void)unlink(scratch_path(FILES[i]));
    }
    arena = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static struct catalog_key key_of(const char *id)
{
    struct catalog_key key;

    assert_true(catalog_key_make(CATALOG_SEAT_PLAN, str_of(id), &key));
    return key;
}

static struct catalog_entry entry_of(struct str text, int64_t started)
{
    struct catalog_entry entry = {.exists = true,
                                  .version = 7,
                                  .generation = 3,
                                  .stamp = 5,
                                  .started = started,
                                  .stale_until = clock_monotonic_us() + LATER_US,
                                  .text = text};

    catalog_etag_make(text, entry.etag);
    return entry;
}

static bool put(struct l1 *l1, const char *id, struct str text, int64_t started)
{
    const struct catalog_key key = key_of(id);
    const struct catalog_entry entry = entry_of(text, started);

    return l1_write(l1, &key, &entry, clock_monotonic_us());
}

static bool has(struct l1 *l1, const char *id, struct str text)
{
    const struct catalog_key key = key_of(id);
    struct catalog_entry entry;

    return l1_read(l1, &key, arena, &entry) && str_equal(entry.text, text);
}

static struct str long_text(size_t n, int letter)
{
    char *bytes = arena_alloc(arena, n);

    memset(bytes, letter, n);
    return str_sized(bytes, n);
}

static void empty_folder(const char *path)
{
    static const char *const FILES[] = {"data.mdb", "lock.mdb", "host", "locks"};

    for (size_t i = 0; i < COUNT(FILES); i++) {
        char file[PATH_MAX + 16];
        (void)snprintf(file, sizeof(file), "%s/%s", path, FILES[i]);
        (void)unlink(file);
    }
    assert_int_equal(rmdir(path), 0);
}

/* What `act` returns in another process. */
static int elsewhere(int (*act)(void))
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        _exit(act());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(without_a_folder_nothing_is_kept)
{
    struct l1 *l1 = l1_open("", MIB);

    assert_false(put(l1, "a", STR("text"), 1));
    assert_false(has(l1, "a", STR("text")));
    assert_true(host_lock_try(l1_locks(l1), STR("x")));
    assert_int_equal(strlen(l1_host(l1)), L1_HOST_TEXT);
    l1_close(l1);
}

static int reads_three_megabytes(void)
{
    struct l1 *l1 = l1_open(folder(), 64);
    bool good = has(l1, "large", long_text(3 << 20, 's'));

    l1_close(l1);
    return good ? 0 : 1;
}

TEST(another_process_reads_what_was_written_also_three_megabytes)
{
    struct l1 *l1 = l1_open(folder(), 64);
    struct catalog_entry entry;
    const struct catalog_key key = key_of("large");

    assert_true(put(l1, "large", long_text(3 << 20, 's'), 1));
    assert_true(l1_read(l1, &key, NULL, &entry));
    assert_int_equal(entry.version, 7);
    assert_int_equal(entry.generation, 3);
    assert_int_equal(entry.stamp, 5);
    assert_int_equal(entry.text.n, 0);
    l1_close(l1);
    assert_int_equal(elsewhere(reads_three_megabytes), 0);
}

TEST(the_answer_to_an_earlier_question_does_not_replace_a_later_one)
{
    struct l1 *l1 = l1_open(folder(), MIB);

    assert_true(put(l1, "a", STR("new"), 20));
    assert_true(put(l1, "a", STR("old"), 10));
    assert_true(has(l1, "a", STR("new")));
    assert_true(put(l1, "a", STR("newer"), 30));
    assert_true(has(l1, "a", STR("newer")));
    l1_close(l1);
}

TEST(that_there_is_none_is_kept_too)
{
    struct l1 *l1 = l1_open(folder(), MIB);
    const struct catalog_key key = key_of("a");
    struct catalog_entry none = {.started = 40};
    struct catalog_entry found;

    assert_true(put(l1, "a", STR("text"), 30));
    assert_true(l1_write(l1, &key, &none, clock_monotonic_us()));
    assert_true(l1_read(l1, &key, arena, &found));
    assert_false(found.exists);
    l1_close(l1);
}

TEST(when_it_is_full_what_has_run_out_goes_first)
{
    struct l1 *l1 = l1_open(folder(), MIB);
    const struct catalog_key past = key_of("past");
    struct catalog_entry entry = entry_of(long_text(1 << 20, 'p'), 1);

    assert_true(put(l1, "alive", long_text(1 << 20, 'a'), 1));
    entry.stale_until = clock_monotonic_us() - 1;
    assert_true(l1_write(l1, &past, &entry, clock_monotonic_us()));
    assert_true(put(l1, "b", long_text(1 << 20, 'b'), 1));
    assert_true(put(l1, "c", long_text(1 << 20, 'c'), 1)); /* beyond half of the room */
    assert_false(l1_read(l1, &past, NULL, &entry));
    assert_true(has(l1, "alive", long_text(1 << 20, 'a')));
    assert_true(has(l1, "c", long_text(1 << 20, 'c')));
    l1_close(l1);
}

TEST(however_much_comes_it_stays_within_its_room_and_takes_the_latest)
{
    struct l1 *l1 = l1_open(folder(), MIB);
    struct stat about;

    for (int i = 0; i < 400; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "s%d", i);
        struct str text = long_text(1000 + (size_t)(i % 7) * 40000, 'a' + i % 26);
        assert_true(put(l1, id, text, 1));
        assert_true(has(l1, id, text));
        arena_reset(arena);
    }
    assert_int_equal(stat(scratch_path("data.mdb"), &about), 0);
    assert_true(about.st_size <= (off_t)MIB << 20);
    assert_true(metrics_value(METRIC_CATALOG_L1_LOSSES) > 0);
    l1_close(l1);
}

TEST(what_is_larger_than_a_quarter_of_the_room_is_not_kept)
{
    struct l1 *l1 = l1_open(folder(), MIB);

    assert_true(put(l1, "a", STR("text"), 1));
    assert_false(put(l1, "large", long_text(3 << 20, 's'), 1));
    assert_true(has(l1, "a", STR("text")));
    l1_close(l1);
}

TEST(a_file_that_is_none_is_made_anew)
{
    static const char *const DAMAGES[] = {"x", "no database, but longer than nothing"};
    static char zeros[8192];

    for (size_t i = 0; i <= COUNT(DAMAGES); i++) {
        if (i < COUNT(DAMAGES)) {
            (void)scratch_write("data.mdb", DAMAGES[i], 0600);
        } else {
            FILE *file = fopen(scratch_path("data.mdb"), "wb");
            assert_non_null(file);
            assert_int_equal(fwrite(zeros, sizeof(zeros), 1, file), 1);
            (void)fclose(file);
        }
        struct l1 *l1 = l1_open(folder(), MIB);
        assert_true(put(l1, "a", STR("text"), 1));
        assert_true(has(l1, "a", STR("text")));
        l1_close(l1);
    }
}

TEST(a_file_that_was_cut_short_is_made_anew)
{
    struct l1 *l1 = l1_open(folder(), MIB);

    assert_true(put(l1, "a", long_text(1 << 20, 'a'), 1));
    l1_close(l1);
    assert_int_equal(truncate(scratch_path("data.mdb"), 64 * 1024), 0);
    l1 = l1_open(folder(), MIB);
    assert_false(has(l1, "a", long_text(1 << 20, 'a')));
    assert_true(put(l1, "a", STR("text"), 1));
    assert_true(has(l1, "a", STR("text")));
    l1_close(l1);
}

static int reads_a_file_that_is_being_cut(void)
{
    struct l1 *l1 = l1_open(folder(), MIB);

    if (!put(l1, "a", long_text(1 << 20, 'a'), 1) ||
        truncate(scratch_path("data.mdb"), 8192) != 0) {
        return 1;
    }
    (void)has(l1, "a", STR("text"));
    return 2;
}

TEST(a_process_that_meets_a_hole_removes_the_file_before_it_dies)
{
    assert_int_equal(elsewhere(reads_a_file_that_is_being_cut), 128 + SIGBUS);
    assert_int_equal(access(scratch_path("data.mdb"), F_OK), -1);
}

TEST(a_file_that_another_has_replaced_is_left)
{
    struct l1 *l1 = l1_open(folder(), MIB);

    assert_true(put(l1, "a", STR("text"), 1));
    assert_int_equal(unlink(scratch_path("data.mdb")), 0);
    wait_until(!has(l1, "a", STR("text")), 15);
    assert_false(has(l1, "a", STR("text")));
    assert_int_equal(access(scratch_path("data.mdb"), F_OK), 0);
    l1_close(l1);
}

TEST(a_writer_that_was_stopped_holds_nobody_up)
{
    struct l1 *l1 = l1_open(folder(), MIB);
    int ready[2];
    char byte = 0;

    assert_true(put(l1, "a", STR("text"), 1));
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct host_locks locks;
        bool got =
            host_locks_open(&locks, scratch_path("locks")) && host_lock_try(&locks, STR("gate"));
        (void)!write(ready[1], got ? "y" : "n", 1);
        (void)pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    int64_t begin = clock_monotonic_ms();
    assert_false(put(l1, "a", STR("other"), 2));
    assert_true(clock_monotonic_ms() - begin < 1000);
    assert_true(has(l1, "a", STR("text")));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(put(l1, "a", STR("other"), 2)); /* the lock went with its process */
    l1_close(l1);
    (void)close(ready[0]);
    (void)close(ready[1]);
}

TEST(a_folder_that_others_may_write_to_is_not_used)
{
    assert_int_equal(chmod(folder(), 0777), 0);
    struct l1 *l1 = l1_open(folder(), MIB);
    assert_false(put(l1, "a", STR("text"), 1));
    l1_close(l1);
    assert_int_equal(chmod(folder(), 0700), 0);
}

TEST(a_folder_that_another_has_replaced_is_not_used_until_it_is_back)
{
    char ours[PATH_MAX];
    char aside[PATH_MAX];

    (void)snprintf(ours, sizeof(ours), "%s", scratch_path("ours"));
    (void)snprintf(aside, sizeof(aside), "%s", scratch_path("aside"));
    struct l1 *l1 = l1_open(ours, MIB);
    assert_true(put(l1, "a", STR("text"), 1));
    assert_int_equal(rename(ours, aside), 0);
    assert_int_equal(mkdir(ours, 0700), 0);
    assert_int_equal(geteuid() == 0 ? chown(ours, 1, 1) : chmod(ours, 0777), 0);
    wait_until(!has(l1, "a", STR("text")), 15);
    assert_false(has(l1, "a", STR("text")));
    assert_false(put(l1, "a", STR("text"), 2));
    assert_int_equal(rmdir(ours), 0); /* nothing was put there */
    assert_int_equal(symlink(aside, ours), 0);
    struct l1 *other = l1_open(ours, MIB);
    assert_false(has(other, "a", STR("text")));
    l1_close(other);
    assert_int_equal(unlink(ours), 0);
    assert_int_equal(rename(aside, ours), 0);
    wait_until(has(l1, "a", STR("text")), 15);
    assert_true(has(l1, "a", STR("text")));
    l1_close(l1);
    empty_folder(ours);
}

TEST(what_is_in_a_folder_that_was_held_open_is_not_looked_up_by_its_name)
{
    char ours[PATH_MAX];
    char aside[PATH_MAX];

    (void)snprintf(ours, sizeof(ours), "%s", scratch_path("ours"));
    (void)snprintf(aside, sizeof(aside), "%s", scratch_path("aside"));
    struct l1_folder folder;
    assert_true(l1_folder_open(&folder, ours));
    assert_true(l1_folder_is_in_place(&folder, ours));
    assert_int_equal(rename(ours, aside), 0);
    assert_int_equal(mkdir(ours, 0700), 0);
    assert_false(l1_folder_is_in_place(&folder, ours));
    struct l1_file file = {.env = NULL};
    assert_int_equal(l1_file_open(&file, folder.path, MIB << 20), 0);
    assert_true(l1_file_is_current(&file));
    l1_file_close(&file);
    l1_folder_close(&folder);
    assert_int_equal(rmdir(ours), 0);
    empty_folder(aside);
}

TEST(another_boots_times_mean_nothing)
{
    struct l1 *l1 = l1_open(folder(), MIB);
    char name[L1_HOST_TEXT + 1];

    (void)snprintf(name, sizeof(name), "%s", l1_host(l1));
    assert_true(put(l1, "a", STR("text"), 1));
    l1_close(l1);
    l1 = l1_open(folder(), MIB);
    assert_string_equal(l1_host(l1), name);
    assert_true(has(l1, "a", STR("text")));
    l1_close(l1);
    (void)scratch_write("host", "abcdefghijklmnopqrstuv 00000000-0000-0000-0000-000000000000",
                        0600);
    l1 = l1_open(folder(), MIB);
    assert_string_not_equal(l1_host(l1), name);
    assert_false(has(l1, "a", STR("text")));
    l1_close(l1);
}

int main(void)
{
#define L1_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        L1_TEST(without_a_folder_nothing_is_kept),
        L1_TEST(another_process_reads_what_was_written_also_three_megabytes),
        L1_TEST(the_answer_to_an_earlier_question_does_not_replace_a_later_one),
        L1_TEST(that_there_is_none_is_kept_too),
        L1_TEST(when_it_is_full_what_has_run_out_goes_first),
        L1_TEST(however_much_comes_it_stays_within_its_room_and_takes_the_latest),
        L1_TEST(what_is_larger_than_a_quarter_of_the_room_is_not_kept),
        L1_TEST(a_file_that_is_none_is_made_anew),
        L1_TEST(a_file_that_was_cut_short_is_made_anew),
        L1_TEST(a_process_that_meets_a_hole_removes_the_file_before_it_dies),
        L1_TEST(a_file_that_another_has_replaced_is_left),
        L1_TEST(a_writer_that_was_stopped_holds_nobody_up),
        L1_TEST(a_folder_that_others_may_write_to_is_not_used),
        L1_TEST(a_folder_that_another_has_replaced_is_not_used_until_it_is_back),
        L1_TEST(what_is_in_a_folder_that_was_held_open_is_not_looked_up_by_its_name),
        L1_TEST(another_boots_times_mean_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
