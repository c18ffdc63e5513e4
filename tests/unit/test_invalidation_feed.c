#include "tests/unit/unit.h"

#include <stdio.h>

#include "lib/catalog/invalidation_feed.h"

static const struct settings NOWHERE = {.redis_socket = "/nonexistent",
                                        .redis_address = "",
                                        .redis_sentinels = "",
                                        .redis_cluster = "",
                                        .redis_password_file = ""};

static struct catalog_key key_of(const char *id)
{
    struct catalog_key key;

    assert_true(catalog_key_make(CATALOG_SHOW, str_of(id), &key));
    return key;
}

static bool is_old(const struct invalidation_feed *feed, const char *id, int64_t started,
                   int64_t generation)
{
    const struct catalog_key key = key_of(id);
    const struct catalog_entry entry = {.started = started, .generation = generation};

    return invalidation_feed_outdates(feed, &key, &entry);
}

TEST(what_was_asked_before_a_change_was_heard_of_is_old)
{
    struct invalidation_feed *feed = invalidation_feed_new(&NOWHERE);

    assert_false(is_old(feed, "a", 1, 0));
    invalidation_feed_note(feed, STR("show:a 500"), 100);
    assert_true(is_old(feed, "a", 99, 0));
    assert_true(is_old(feed, "a", 100, 499));
    assert_false(is_old(feed, "a", 101, 0));
    assert_false(is_old(feed, "b", 99, 0));
    invalidation_feed_free(feed);
}

TEST(what_is_of_the_changes_generation_is_good_however_late_it_was_heard_of)
{
    struct invalidation_feed *feed = invalidation_feed_new(&NOWHERE);

    invalidation_feed_note(feed, STR("show:a 500"), 100);
    assert_false(is_old(feed, "a", 50, 500));
    assert_false(is_old(feed, "a", 50, 501));
    invalidation_feed_note(feed, STR("show:a 600"), 200);
    assert_true(is_old(feed, "a", 150, 500));
    invalidation_feed_free(feed);
}

TEST(what_was_asked_before_listening_began_is_old)
{
    struct invalidation_feed *feed = invalidation_feed_new(&NOWHERE);

    invalidation_feed_reset(feed, 1000);
    assert_true(is_old(feed, "a", 1000, 999));
    assert_false(is_old(feed, "a", 1001, 0));
    invalidation_feed_free(feed);
}

TEST(more_changes_than_can_be_remembered_make_everything_old_and_lose_none)
{
    struct invalidation_feed *feed = invalidation_feed_new(&NOWHERE);

    for (int i = 0; i < 1000; i++) {
        char message[64];
        (void)snprintf(message, sizeof(message), "show:s%d 7", i);
        invalidation_feed_note(feed, str_of(message), i + 1);
    }
    for (int i = 0; i < 1000; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "s%d", i);
        assert_true(is_old(feed, id, i + 1, 0));
    }
    assert_false(is_old(feed, "other", 1000, 0));
    invalidation_feed_free(feed);
}

TEST(words_that_are_no_message_change_nothing)
{
    static const char *const MESSAGES[] = {"",          " ",  "show:a",    "show:a x",
                                           "show:a -1", " 5", "show:a 5 6"};
    struct invalidation_feed *feed = invalidation_feed_new(&NOWHERE);

    for (size_t i = 0; i < COUNT(MESSAGES); i++) {
        invalidation_feed_note(feed, str_of(MESSAGES[i]), 100);
    }
    assert_false(is_old(feed, "a", 1, 0));
    invalidation_feed_free(feed);
}

TEST(keys_are_of_slugs_only)
{
    struct catalog_key key;

    assert_true(catalog_key_make(CATALOG_CONCERTS, str_sized(NULL, 0), &key));
    assert_string_equal(key.text, "concerts");
    assert_true(catalog_key_make(CATALOG_SEAT_PLAN, STR("a-1"), &key));
    assert_string_equal(key.text, "plan:a-1");
    assert_false(catalog_key_make(CATALOG_CONCERTS, STR("a"), &key));
    assert_false(catalog_key_make(CATALOG_CONCERT, str_sized(NULL, 0), &key));
    assert_false(catalog_key_make(CATALOG_SHOW, STR("A"), &key));
    assert_false(catalog_key_make(CATALOG_SHOW, STR("a}b"), &key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_asked_before_a_change_was_heard_of_is_old),
        cmocka_unit_test(what_is_of_the_changes_generation_is_good_however_late_it_was_heard_of),
        cmocka_unit_test(what_was_asked_before_listening_began_is_old),
        cmocka_unit_test(more_changes_than_can_be_remembered_make_everything_old_and_lose_none),
        cmocka_unit_test(words_that_are_no_message_change_nothing),
        cmocka_unit_test(keys_are_of_slugs_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
