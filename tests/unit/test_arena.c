#include "tests/unit/unit.h"

#include <stdalign.h>
#include <string.h>

#include "lib/base/arena.h"

static int released[4];
static size_t released_count;

static void note_release(void *object)
{
    released[released_count++] = *(int *)object;
}

TEST(allocations_are_aligned_zeroed_and_apart)
{
    struct arena *arena = arena_new();
    char *before = NULL;

    for (size_t size = 1; size < 2000; size += 37) {
        char *memory = arena_alloc(arena, size);
        assert_int_equal((uintptr_t)memory % alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(memory[i], 0);
        }
        memset(memory, 0xa5, size);
        assert_true(memory != before);
        before = memory;
    }
    arena_free(arena);
}

TEST(memory_that_was_used_before_a_reset_is_zeroed_again)
{
    struct arena *arena = arena_new();

    memset(arena_alloc(arena, 500), 0xff, 500);
    arena_reset(arena);
    const char *memory = arena_alloc(arena, 500);
    for (size_t i = 0; i < 500; i++) {
        assert_int_equal(memory[i], 0);
    }
    arena_free(arena);
}

TEST(allocations_larger_than_a_block_work_and_leave_with_a_reset)
{
    struct arena *arena = arena_new();

    for (int round = 0; round < 3; round++) {
        memset(arena_alloc(arena, 1024 * 1024), 1, 1024 * 1024);
        memset(arena_alloc(arena, 16 * 1024), 2, 16 * 1024);
        memset(arena_alloc(arena, 10), 3, 10);
        arena_reset(arena);
    }
    arena_free(arena);
}

TEST(a_copy_and_a_formatted_text_end_with_a_nul)
{
    struct arena *arena = arena_new();

    assert_string_equal(arena_copy(arena, STR("abc")), "abc");
    assert_string_equal(arena_copy(arena, str_of(NULL)), "");
    assert_string_equal(arena_format(arena, "%s-%d", "a", 7), "a-7");
    arena_free(arena);
}

TEST(joined_texts_stand_one_behind_the_other)
{
    struct arena *arena = arena_new();

    assert_string_equal(arena_join(arena, STR("ab"), STR("cde")), "abcde");
    assert_string_equal(arena_join(arena, STR(""), STR("x")), "x");
    assert_string_equal(arena_join(arena, STR("x"), str_sized(NULL, 0)), "x");
    assert_string_equal(arena_join(arena, str_sized(NULL, 0), STR("")), "");
    arena_free(arena);
}

TEST(a_formatted_text_of_any_length_is_whole_and_leaves_the_next_allocation_alone)
{
    struct arena *arena = arena_new();

    for (int length = 0; length < 40000; length = 3 * length + 1) {
        const char *text = arena_format(arena, "%*s|", length, "");
        unsigned char *next = arena_alloc(arena, 32);
        assert_int_equal((uintptr_t)next % alignof(max_align_t), 0);
        memset(next, 0xff, 32);
        assert_int_equal(strlen(text), length + 1);
        assert_int_equal(text[length], '|');
    }
    arena_free(arena);
}

TEST(objects_of_others_are_released_once_the_last_one_first)
{
    struct arena *arena = arena_new();
    int one = 1;
    int two = 2;

    released_count = 0;
    arena_on_reset(arena, note_release, &one);
    arena_on_reset(arena, note_release, &two);
    arena_reset(arena);
    arena_reset(arena);
    assert_int_equal(released_count, 2);
    assert_int_equal(released[0], 2);
    assert_int_equal(released[1], 1);
    arena_on_reset(arena, note_release, &one);
    arena_free(arena);
    assert_int_equal(released_count, 3);
}

TEST(freeing_no_arena_is_allowed)
{
    arena_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_zeroed_and_apart),
        cmocka_unit_test(memory_that_was_used_before_a_reset_is_zeroed_again),
        cmocka_unit_test(allocations_larger_than_a_block_work_and_leave_with_a_reset),
        cmocka_unit_test(a_copy_and_a_formatted_text_end_with_a_nul),
        cmocka_unit_test(joined_texts_stand_one_behind_the_other),
        cmocka_unit_test(
            a_formatted_text_of_any_length_is_whole_and_leaves_the_next_allocation_alone),
        cmocka_unit_test(objects_of_others_are_released_once_the_last_one_first),
        cmocka_unit_test(freeing_no_arena_is_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
