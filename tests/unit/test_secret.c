#include "tests/unit/unit.h"

#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/secret.h"
#include "tests/unit/scratch.h"

TEST(a_secret_file_of_the_owner_alone_is_read_whole)
{
    char error[SECRET_ERROR];
    char *bytes;
    size_t length;

    assert_true(secret_read(scratch_write("key", "secret\n", 0600), &bytes, &length, error));
    assert_text(str_sized(bytes, length), "secret\n");
    assert_int_equal(bytes[length], '\0');
    secret_free(bytes, length);
    assert_true(secret_read(scratch_write("key", "x", 0400), &bytes, &length, error));
    secret_free(bytes, length);
}

TEST(a_secret_file_that_others_may_touch_is_refused)
{
    static const mode_t MODES[] = {0640, 0604, 0620, 0602, 0610, 0644, 0666, 0777};

    for (size_t i = 0; i < COUNT(MODES); i++) {
        char error[SECRET_ERROR] = "";
        char *bytes;
        size_t length;
        const char *path = scratch_write("key", "secret", MODES[i]);
        assert_false(secret_read(path, &bytes, &length, error));
        assert_contains(error, path);
        assert_contains(error, "run: chmod 600");
        assert_lacks(error, "secret\n");
    }
}

enum { USER = 61183, OWN = 61183, MADE_FOR_IT = 63351, FOREIGN = 63350 };

static bool is_read(const char *path)
{
    char error[SECRET_ERROR] = "";
    char *bytes;
    size_t length;
    bool good = secret_read(path, &bytes, &length, error);

    if (good) {
        secret_free(bytes, length);
    } else {
        assert_contains(error, "run: chmod 600");
    }
    return good;
}

/* As a user with a group of its own and one more. */
static bool is_read_by_a_user(const char *path)
{
    const gid_t more[] = {MADE_FOR_IT};
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        bool other = setgroups(COUNT(more), more) == 0 && setgid(OWN) == 0 && setuid(USER) == 0;
        _exit(!other ? 2 : is_read(path) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status) == 0;
}

TEST(a_group_that_was_made_for_it_may_read_a_secret_file)
{
    const char *path = scratch_write("key", "secret", 0640);

    if (geteuid() != 0) {
        skip(); /* only root gives a file to a group that it is not in */
    }
    assert_int_equal(chmod(scratch_path("."), 0711), 0);
    assert_int_equal(chown(path, USER, MADE_FOR_IT), 0);
    assert_true(is_read_by_a_user(path));
    for (mode_t extra = 01; extra <= 04; extra <<= 1) {
        assert_int_equal(chmod(path, 0640 | extra), 0);
        assert_false(is_read_by_a_user(path));
    }
    assert_int_equal(chmod(path, 0660), 0);
    assert_false(is_read_by_a_user(path));
}

TEST(a_group_that_is_not_ours_may_not_read_a_secret_file)
{
    const char *path = scratch_write("key", "secret", 0640);

    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(chmod(scratch_path("."), 0711), 0);
    assert_int_equal(chown(path, USER, FOREIGN), 0);
    assert_false(is_read_by_a_user(path));
    assert_true(is_read(path)); /* root, who may be looking at the keys of others */
    assert_int_equal(chown(path, USER, OWN), 0);
    assert_false(is_read_by_a_user(path));
    assert_int_equal(chown(path, USER, 0), 0);
    assert_true(is_read_by_a_user(path));
}

TEST(an_empty_large_or_missing_file_and_a_directory_are_refused)
{
    static char large[SECRET_MAX + 2];
    char error[SECRET_ERROR];
    char *bytes;
    size_t length;

    assert_false(secret_read(scratch_write("key", "", 0600), &bytes, &length, error));
    memset(large, 'x', SECRET_MAX + 1);
    assert_false(secret_read(scratch_write("key", large, 0600), &bytes, &length, error));
    large[SECRET_MAX] = '\0';
    assert_true(secret_read(scratch_write("key", large, 0600), &bytes, &length, error));
    assert_int_equal(length, SECRET_MAX);
    secret_free(bytes, length);
    assert_false(secret_read(scratch_path("missing"), &bytes, &length, error));
    assert_contains(error, "No such file");
    assert_false(secret_read("/", &bytes, &length, error));
}

TEST(freeing_no_secret_is_allowed)
{
    secret_free(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_file_of_the_owner_alone_is_read_whole),
        cmocka_unit_test(a_secret_file_that_others_may_touch_is_refused),
        cmocka_unit_test(a_group_that_was_made_for_it_may_read_a_secret_file),
        cmocka_unit_test(a_group_that_is_not_ours_may_not_read_a_secret_file),
        cmocka_unit_test(an_empty_large_or_missing_file_and_a_directory_are_refused),
        cmocka_unit_test(freeing_no_secret_is_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
