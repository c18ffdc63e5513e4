/*
 * lottery: the draw's places are those of the shared vectors, every place has one number, and
 * nothing of another form is taken for ranges.
 */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "lib/admission/lottery/lottery.h"

#define SEED "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static const struct vector {
    const char *seed;
    const char *ranges;
    int64_t number;
    int64_t place;
} VECTORS[] = {
#define VECTOR(seed, ranges, number, place) {seed, ranges, number, place},
#include "tests/vectors/lottery.tbl"
#undef VECTOR
};

TEST(every_vector_has_its_place)
{
    struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT(VECTORS); i++) {
        const struct vector *it = &VECTORS[i];
        const struct lottery *lottery = lottery_read(arena, str_of(it->seed), str_of(it->ranges));
        assert_non_null(lottery);
        assert_int_equal(lottery_place(lottery, it->number), it->place);
        if (it->place >= 0) {
            assert_int_equal(lottery_number(lottery, it->place), it->number);
        }
        arena_reset(arena);
    }
    arena_free(arena);
}

TEST(every_place_has_one_number)
{
    struct arena *arena = arena_new();

    for (int64_t count = 1; count <= 600; count += count < 40 ? 1 : 37) {
        const char *ranges = count < 3
                                 ? arena_format(arena, "5-%lld", (long long)(4 + count))
                                 : arena_format(arena, "5-6,100-%lld", (long long)(97 + count));
        const struct lottery *lottery = lottery_read(arena, STR(SEED), str_of(ranges));
        bool *taken = arena_alloc(arena, (size_t)count * sizeof(*taken));
        assert_int_equal(lottery->count, count);
        for (int64_t place = 0; place < count; place++) {
            int64_t number = lottery_number(lottery, place);
            assert_int_equal(lottery_place(lottery, number), place);
            int64_t at = number < 100 ? number - 5 : number - 98;
            assert_in_range(at, 0, count - 1);
            assert_false(taken[at]);
            taken[at] = true;
        }
    }
    arena_free(arena);
}

TEST(ranges_of_another_form_are_refused)
{
    static const char *const WRONG[] = {"",
                                        "1",
                                        "1-",
                                        "-1",
                                        "0-5",
                                        "5-4",
                                        "1-5,",
                                        ",1-5",
                                        "1-5,5-9",
                                        "1-5,3-4",
                                        "1-5 7-9",
                                        "a-b",
                                        "1-2-3",
                                        "1-99999999999999999999",
                                        "1-4294967297",
                                        "1-2199023255553"};
    struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT(WRONG); i++) {
        if (lottery_read(arena, STR(SEED), str_of(WRONG[i])) != NULL) {
            fail_msg("'%s' was taken for ranges", WRONG[i]);
        }
    }
    assert_non_null(lottery_read(arena, STR(SEED), STR("1-4294967296")));
    arena_free(arena);
}

TEST(commitment_seed_and_list_hash_are_those_of_other_programs)
{
    struct arena *arena = arena_new();
    char text[LOTTERY_SEED_TEXT + 1];
    char hash[LOTTERY_LIST_HASH_TEXT + 1] = "";

    /* By hashlib and hmac. */
    lottery_commitment(STR("secret"), text);
    assert_string_equal(text, "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b");
    lottery_list_add(arena, STR("1 m1"), hash);
    lottery_list_add(arena, STR("2 m2"), hash);
    assert_string_equal(hash, "b012df55c79ed50657d11fef33efa999e31058a1");
    lottery_seed(arena, STR("secret"), STR("drop"), 3, str_of(hash), STR("1-2"), text);
    assert_string_equal(text, "92bf9a7d208b9d8f8ce02e369738d8bf6a48637771c36dd2723a0b8786c81153");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vector_has_its_place),
        cmocka_unit_test(every_place_has_one_number),
        cmocka_unit_test(ranges_of_another_form_are_refused),
        cmocka_unit_test(commitment_seed_and_list_hash_are_those_of_other_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
