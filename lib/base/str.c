#include "lib/base/str.h"

#include <string.h>

bool str_equal(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && str_equal(str_sized(s.p, prefix.n), prefix);
}

bool str_split(struct str s, char delimiter, struct str *head, struct str *rest)
{
    const char *at = s.n == 0 ? NULL : memchr(s.p, delimiter, s.n);

    if (at == NULL) {
        *head = s;
        *rest = str_sized(NULL, 0);
        return false;
    }
    *head = str_sized(s.p, (size_t)(at - s.p));
    *rest = str_sized(at + 1, s.n - head->n - 1);
    return true;
}

struct str str_trim(struct str s)
{
    while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t')) {
        s.p++;
        s.n--;
    }
    while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t')) {
        s.n--;
    }
    return s;
}

void str_copy(struct str s, char *to, size_t room)
{
    size_t length = s.n < room ? s.n : room - 1;

    if (length > 0) {
        memcpy(to, s.p, length);
    }
    to[length] = '\0';
}

bool str_to_int64(struct str s, int64_t min, int64_t max, int64_t *out)
{
    bool negative = s.n > 0 && s.p[0] == '-';
    int64_t value = 0;
    size_t i = negative ? 1 : 0;

    if (i == s.n) {
        return false;
    }
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9') {
            return false;
        }
        int64_t digit = s.p[i] - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value)) {
            return false;
        }
    }
    /* Accumulated as a negative number, as the negative range is the larger one. */
    if (!negative && __builtin_sub_overflow((int64_t)0, value, &value)) {
        return false;
    }
    if (value < min || value > max) {
        return false;
    }
    *out = value;
    return true;
}

size_t str_from_int64(int64_t value, char out[STR_INT64_TEXT + 1])
{
    char reversed[STR_INT64_TEXT];
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t digits = 0, length = 0;

    do {
        reversed[digits++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0) {
        out[length++] = '-';
    }
    while (digits > 0) {
        out[length++] = reversed[--digits];
    }
    out[length] = '\0';
    return length;
}
