#include "tests/unit/unit.h"

#include <string.h>
#include <sys/stat.h>
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
        assert_contains(error, "chmod 600");
        assert_lacks(error, "secret\n");
    }
}

TEST(a_group_that_is_not_our_user_s_may_read_a_secret_file)
{
    char error[SECRET_ERROR] = "";
    char *bytes;
    size_t length;
    const char *path = scratch_write("key", "secret", 0640);

    if (chown(path, (uid_t)-1, getegid() + 1) != 0) {
        skip(); /* only root gives a file to a group that it is not in */
    }
    assert_true(secret_read(path, &bytes, &length, error));
    secret_free(bytes, length);
    for (mode_t extra = 01; extra <= 04; extra <<= 1) {
        assert_int_equal(chmod(path, 0640 | extra), 0);
        assert_false(secret_read(path, &bytes, &length, error));
    }
    assert_int_equal(chmod(path, 0660), 0);
    assert_false(secret_read(path, &bytes, &length, error));
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
        cmocka_unit_test(a_group_that_is_not_our_user_s_may_read_a_secret_file),
        cmocka_unit_test(an_empty_large_or_missing_file_and_a_directory_are_refused),
        cmocka_unit_test(freeing_no_secret_is_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
