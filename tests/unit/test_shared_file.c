#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/shared_file.h"
#include "tests/unit/scratch.h"

enum { SIZE = 4096, WAIT_MS = 10000, LOOK_US = 1000, HIGH = 64 };

static const uint64_t LAYOUT = 7;

static int open_it(const char *path)
{
    return shared_file_open(path, SIZE, &LAYOUT, sizeof(LAYOUT));
}

static bool is_named(int fd, const char *path)
{
    struct stat opened, named;

    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_ino == named.st_ino;
}

/* A process that has opened the file asks for its lock from then on. Inherited ones are above. */
static bool has_open(pid_t process, const char *path)
{
    char name[64];
    struct stat opened, named;
    bool found = false;

    assert_int_equal(stat(path, &named), 0);
    for (int fd = 3; fd < HIGH && !found; fd++) {
        (void)snprintf(name, sizeof(name), "/proc/%d/fd/%d", (int)process, fd);
        found = stat(name, &opened) == 0 && opened.st_ino == named.st_ino;
    }
    return found;
}

TEST(a_file_of_another_layout_is_replaced)
{
    const char *path = scratch_write("shared", "another release", 0660);
    struct stat about;

    int fd = open_it(path);
    assert_true(fd >= 0 && is_named(fd, path));
    assert_int_equal(fstat(fd, &about), 0);
    assert_int_equal(about.st_size, SIZE);
    int again = open_it(path);
    assert_true(is_named(fd, path) && is_named(again, path));
    (void)close(again);
    (void)close(fd);
}

/* Two programs start after an upgrade: both open the old file, and the second one gets its lock when
 * the first has replaced it. */
TEST(a_successor_is_not_taken_for_the_old_file)
{
    const char *path = scratch_write("shared", "another release", 0660);
    int opened = open(path, O_RDWR | O_CLOEXEC);
    int old = fcntl(opened, F_DUPFD_CLOEXEC, HIGH);

    assert_true(opened >= 0 && old >= HIGH);
    (void)close(opened);
    assert_int_equal(flock(old, LOCK_EX), 0);
    pid_t second = fork();
    assert_true(second >= 0);
    if (second == 0) {
        (void)close(old);
        int fd = open_it(path);
        _exit(fd >= 0 && is_named(fd, path) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int64_t end_ms = clock_monotonic_ms() + WAIT_MS;
    while (!has_open(second, path) && clock_monotonic_ms() < end_ms) {
        (void)usleep(LOOK_US);
    }
    assert_true(has_open(second, path));
    assert_int_equal(unlink(path), 0);
    int first = open_it(path);
    assert_true(first >= 0);
    (void)close(old);

    int status;
    assert_int_equal(waitpid(second, &status, 0), second);
    assert_true(is_named(first, path));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
    (void)close(first);
}

TEST(a_process_that_keeps_the_lock_does_not_keep_others_from_starting)
{
    const char *path = scratch_write("shared", "another release", 0660);
    int held = open(path, O_RDWR | O_CLOEXEC);
    int64_t began_ms = clock_monotonic_ms();

    assert_true(held >= 0);
    assert_int_equal(flock(held, LOCK_EX), 0);
    errno = 0;
    assert_int_equal(open_it(path), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_true(clock_monotonic_ms() - began_ms < WAIT_MS);
    (void)close(held);
    int fd = open_it(path);
    assert_true(fd >= 0);
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_another_layout_is_replaced),
        cmocka_unit_test(a_successor_is_not_taken_for_the_old_file),
        cmocka_unit_test(a_process_that_keeps_the_lock_does_not_keep_others_from_starting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
