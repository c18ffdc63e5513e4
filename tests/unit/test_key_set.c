#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/identity/key_set.h"
#include "tests/unit/capture.h"
#include "tests/unit/scratch.h"
#include "tests/unit/token_maker.h"

/* 32 bytes each. */
#define SECRET_A "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE"
#define SECRET_B "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI"

static struct key_set *open_ring(const char *text, char error[SECRET_ERROR])
{
    return key_set_open(scratch_write("ring", text, 0600), error);
}

TEST(the_first_key_signs_and_all_are_found)
{
    char error[SECRET_ERROR];
    unsigned char by_ring[SHA256_BYTES];
    unsigned char plain[SHA256_BYTES];
    struct key_set *keys = open_ring("# new\n\n  b:" SECRET_B "  \na_-9:" SECRET_A, error);

    assert_non_null(keys);
    assert_string_equal(key_set_signer(keys)->kid, "b");
    mac_key_sign(key_set_signer(keys)->mac, STR("x"), by_ring);
    hmac_sha256(STR("BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"), STR("x"), plain);
    assert_memory_equal(by_ring, plain, SHA256_BYTES);
    assert_string_equal(key_set_find(keys, STR("a_-9"))->kid, "a_-9");
    assert_null(key_set_find(keys, STR("c")));
    assert_null(key_set_find(keys, STR("")));
    assert_null(key_set_find(keys, STR("B")));
    assert_null(key_set_find(keys, STR("../../etc/passwd")));
    key_set_free(keys);
    key_set_free(NULL);
}

TEST(what_is_wrong_in_a_ring_is_named_with_its_line_and_no_secret)
{
    static const char *const CASES[][2] = {
        {"\n# nothing\n", "has no key"},
        {SECRET_A "\n", "line 1 is not of the form"},
        {":" SECRET_A "\n", "line 1 is not of the form"},
        {"a/b:" SECRET_A "\n", "line 1 is not of the form"},
        {"a.b:" SECRET_A "\n", "line 1 is not of the form"},
        {"../x:" SECRET_A "\n", "line 1 is not of the form"},
        {"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk:" SECRET_A "\n", "line 1 is not of the form"},
        {"a:" SECRET_A "\n\na:" SECRET_B "\n", "line 3 has a kid that was there before"},
        {"a:\n", "line 1 has a secret that is not base64url of 32 to 512 bytes"},
        {"a:QUFB\n", "of 32 to 512 bytes"},
        {"a:" SECRET_A "=\n", "of 32 to 512 bytes"},
        {"a:" SECRET_A " x\n", "of 32 to 512 bytes"},
        {"a: " SECRET_A "\n", "of 32 to 512 bytes"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        char error[SECRET_ERROR] = "";
        assert_null(open_ring(CASES[i][0], error));
        assert_contains(error, CASES[i][1]);
        assert_contains(error, scratch_path("ring"));
        assert_lacks(error, "QUFB");
    }
}

TEST(a_ring_has_at_most_16_keys)
{
    char error[SECRET_ERROR];
    const char *text = "";

    for (int i = 0; i < KEY_SET_MAX; i++) {
        text = maker_text("%sk%d:" SECRET_A "\n", text, i);
    }
    struct key_set *keys = open_ring(text, error);
    assert_non_null(keys);
    key_set_free(keys);
    assert_null(open_ring(maker_text("%sone-more:" SECRET_A "\n", text), error));
    assert_contains(error, "line 17 is one key too many");
}

TEST(a_ring_that_others_may_read_is_refused)
{
    char error[SECRET_ERROR];

    assert_null(key_set_open(scratch_write("ring", "a:" SECRET_A "\n", 0640), error));
    assert_contains(error, "chmod 600");
    assert_null(key_set_open(scratch_path("missing"), error));
}

TEST(a_changed_file_is_read_at_most_once_a_second)
{
    char error[SECRET_ERROR];
    struct key_set *keys = open_ring("a:" SECRET_A "\n", error);
    int64_t now = clock_monotonic_ms();

    (void)scratch_write("ring", "b:" SECRET_B "\na:" SECRET_A "\n", 0600);
    key_set_refresh(keys, now + 500);
    assert_string_equal(key_set_signer(keys)->kid, "a");
    capture_begin(STDERR_FILENO);
    key_set_refresh(keys, now + 1500);
    assert_contains(capture_end(STDERR_FILENO), "\"event\":\"keys.read\"");
    assert_string_equal(key_set_signer(keys)->kid, "b");
    assert_non_null(key_set_find(keys, STR("a")));
    capture_begin(STDERR_FILENO);
    key_set_refresh(keys, now + 10000);
    assert_string_equal(capture_end(STDERR_FILENO), "");
    key_set_free(keys);
}

TEST(a_bad_or_missing_file_leaves_the_old_keys_and_is_logged_once)
{
    char error[SECRET_ERROR];
    struct key_set *keys = open_ring("a:" SECRET_A "\n", error);
    int64_t now = clock_monotonic_ms();

    (void)scratch_write("ring", "b:short\n", 0600);
    capture_begin(STDERR_FILENO);
    key_set_refresh(keys, now += 2000);
    key_set_refresh(keys, now += 2000);
    const char *log = capture_end(STDERR_FILENO);
    assert_contains(log, "\"level\":\"warning\",\"event\":\"keys.kept\"");
    assert_null(strstr(strchr(log, '\n') + 1, "keys.kept"));
    assert_string_equal(key_set_signer(keys)->kid, "a");

    assert_int_equal(unlink(scratch_path("ring")), 0);
    key_set_refresh(keys, now += 2000);
    assert_string_equal(key_set_signer(keys)->kid, "a");

    capture_begin(STDERR_FILENO);
    const char *path = scratch_write("ring", "c:" SECRET_B "\n", 0644);
    key_set_refresh(keys, now += 2000);
    assert_string_equal(key_set_signer(keys)->kid, "a");
    assert_int_equal(chmod(path, 0600), 0); /* mended without another content */
    key_set_refresh(keys, now += 2000);
    (void)capture_end(STDERR_FILENO);
    assert_string_equal(key_set_signer(keys)->kid, "c");
    assert_null(key_set_find(keys, STR("a")));
    key_set_free(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_key_signs_and_all_are_found),
        cmocka_unit_test(what_is_wrong_in_a_ring_is_named_with_its_line_and_no_secret),
        cmocka_unit_test(a_ring_has_at_most_16_keys),
        cmocka_unit_test(a_ring_that_others_may_read_is_refused),
        cmocka_unit_test(a_changed_file_is_read_at_most_once_a_second),
        cmocka_unit_test(a_bad_or_missing_file_leaves_the_old_keys_and_is_logged_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
