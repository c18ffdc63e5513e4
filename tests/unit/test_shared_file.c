#include "tests/unit/unit.h"

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

enum { SIZE = 4096, WAIT_MS = 10000, LOOK_US = 1000 };

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

/* /proc/locks has a line with "->" for each process that waits for a lock. */
static bool waits_for_lock(pid_t process)
{
    char line[256];
    bool waits = false;
    FILE *locks = fopen("/proc/locks", "re");

    assert_non_null(locks);
    while (fgets(line, sizeof(line), locks) != NULL) {
        char pid[32];
        (void)snprintf(pid, sizeof(pid), " %d ", (int)process);
        waits |= strstr(line, "->") != NULL && strstr(line, pid) != NULL;
    }
    (void)fclose(locks);
    return waits;
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
    int old = open(path, O_RDWR | O_CLOEXEC);

    assert_true(old >= 0);
    assert_int_equal(flock(old, LOCK_EX), 0);
    pid_t second = fork();
    assert_true(second >= 0);
    if (second == 0) {
        (void)close(old);
        int fd = open_it(path);
        _exit(fd >= 0 && is_named(fd, path) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int64_t end_ms = clock_monotonic_ms() + WAIT_MS;
    while (!waits_for_lock(second) && clock_monotonic_ms() < end_ms) {
        (void)usleep(LOOK_US);
    }
    assert_true(waits_for_lock(second));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_another_layout_is_replaced),
        cmocka_unit_test(a_successor_is_not_taken_for_the_old_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
