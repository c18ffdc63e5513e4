/*
 * accept_language: which of a few languages a header asks for.
 */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "fcgi-app/gate/page/accept_language.h"

static const char *const NAMES[] = {"en", "ko", "pt-br"};

TEST(the_highest_weight_wins_and_what_is_malformed_is_passed_over)
{
    static const struct {
        const char *header;
        const char *best; /* NULL: none */
    } ROWS[] = {
        {"ko", "ko"},
        {"ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7", "ko"},
        {"en-US,en;q=0.9,ko;q=0.8", "en"},
        {"fr, ko;q=0.1", "ko"},
        {"EN", "en"},
        {"pt-BR", "pt-br"},
        {"pt", "pt-br"},
        {"en;q=0, ko;q=0.001", "ko"},
        {"ko;q=1.0", "ko"},
        {"ko;q=1.5, en;q=0.2", "en"},
        {"ko;q=, en;q=0.2", "en"},
        {"ko;q=0,5", NULL},
        {"fr, de;q=0.5", NULL},
        {"*", NULL},
        {"", NULL},
        {",,;;,", NULL},
        {"-", NULL},
    };

    for (size_t i = 0; i < COUNT(ROWS); i++) {
        const char *best = accept_language_best(str_of(ROWS[i].header), NAMES, COUNT(NAMES));
        if (ROWS[i].best == NULL) {
            assert_null(best);
        } else {
            assert_non_null(best);
            assert_string_equal(best, ROWS[i].best);
        }
    }
}

TEST(any_bytes_are_survived)
{
    char bytes[64];

    srand(1);
    for (int round = 0; round < 20000; round++) {
        size_t n = (size_t)rand() % sizeof(bytes);
        for (size_t i = 0; i < n; i++) {
            bytes[i] = "ko-en;q=0.19, *\xff\n"[(size_t)rand() % 17];
        }
        (void)accept_language_best(str_sized(bytes, n), NAMES, COUNT(NAMES));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_highest_weight_wins_and_what_is_malformed_is_passed_over),
        cmocka_unit_test(any_bytes_are_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
