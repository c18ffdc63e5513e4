/*
 * unit — what every unit test includes: cmocka after the headers that it wants, and a few short
 * forms.
 */
#ifndef SLUICE_TESTS_UNIT_H
#define SLUICE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <unistd.h>

#include <cmocka.h>

#include "lib/base/clock.h"
#include "lib/base/str.h"

/** A test; its name is a sentence. */
#define TEST(name) static void name(__attribute__((unused)) void **state)

/** The number of elements of an array. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/** Fails unless the str `actual` reads `expected` (a C string). */
#define assert_text(actual, expected)                                                              \
    do {                                                                                           \
        const struct str assert_text_actual = (actual);                                            \
        const struct str assert_text_expected = str_of(expected);                                  \
        if (!str_equal(assert_text_actual, assert_text_expected)) {                                \
            fail_msg("'%.*s' instead of '%.*s'", (int)assert_text_actual.n,                        \
                     assert_text_actual.n == 0 ? "" : assert_text_actual.p,                        \
                     (int)assert_text_expected.n,                                                  \
                     assert_text_expected.n == 0 ? "" : assert_text_expected.p);                   \
        }                                                                                          \
    } while (0)

/** Fails unless `needle` occurs in `haystack` (C strings). */
#define assert_contains(haystack, needle)                                                          \
    do {                                                                                           \
        if (strstr((haystack), (needle)) == NULL) {                                                \
            fail_msg("'%s' is not in '%s'", (needle), (haystack));                                 \
        }                                                                                          \
    } while (0)

/** Evaluates `condition` until it is true, for `seconds` at most; assert it afterwards. */
#define wait_until(condition, seconds)                                                             \
    do {                                                                                           \
        const int64_t wait_until_end = clock_monotonic_ms() + (seconds)*INT64_C(1000);             \
        while (!(condition) && clock_monotonic_ms() < wait_until_end) {                            \
            (void)usleep(20000);                                                                   \
        }                                                                                          \
    } while (0)

/** Fails where `needle` occurs in `haystack` (C strings). */
#define assert_lacks(haystack, needle)                                                             \
    do {                                                                                           \
        if (strstr((haystack), (needle)) != NULL) {                                                \
            fail_msg("'%s' is in '%s'", (needle), (haystack));                                     \
        }                                                                                          \
    } while (0)

#endif
