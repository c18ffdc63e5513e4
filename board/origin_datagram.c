#include <string.h>

#include "board/origin_load.h"
#include "lib/base/identifier.h"

enum {
    GIVEN_UP_AFTER_MS = 1000, /* a client that disconnects earlier does not count as timed out */
    LONGEST_MS = 24 * 3600 * 1000,
    NO_STATUS = -1
};

/* The part before `separator`. */
static struct str cut_at(struct str text, const char *separator, struct str *rest)
{
    size_t length = strlen(separator);

    for (size_t i = 0; i + length <= text.n; i++) {
        if (memcmp(text.p + i, separator, length) == 0) {
            *rest = str_sized(text.p + i + length, text.n - i - length);
            return str_sized(text.p, i);
        }
    }
    *rest = str_sized(NULL, 0);
    return text;
}

/* "0.123" in ms; -1 for anything else. */
static int64_t seconds_to_ms(struct str text)
{
    struct str whole;
    struct str fraction;
    int64_t seconds = 0;
    int64_t ms = 0;

    if (!str_split(text, '.', &whole, &fraction) || fraction.n != 3 ||
        !str_to_int64(whole, 0, LONGEST_MS / 1000, &seconds) ||
        !str_to_int64(fraction, 0, 999, &ms)) {
        return -1;
    }
    return seconds * 1000 + ms;
}

/* The status of the last server tried; what nginx did with the request afterwards follows " : ". */
static int64_t status_of(struct str text)
{
    int64_t status = NO_STATUS;
    struct str other;
    struct str rest = cut_at(text, " : ", &other);

    do {
        struct str one = cut_at(rest, ", ", &rest);
        if (!str_to_int64(one, 100, 599, &status)) {
            status = NO_STATUS;
        }
    } while (rest.n > 0);
    return status;
}

static int64_t duration_of(struct str text)
{
    int64_t sum = -1;
    struct str other;
    struct str rest = cut_at(text, " : ", &other);

    do {
        int64_t ms = seconds_to_ms(cut_at(rest, ", ", &rest));
        if (ms >= 0) {
            sum = (sum < 0 ? 0 : sum) + ms;
        }
    } while (rest.n > 0);
    return sum < LONGEST_MS ? sum : LONGEST_MS;
}

static bool count(int64_t status, int64_t ms, struct load_counts *counts)
{
    if (status == 504 || (status == NO_STATUS && ms >= GIVEN_UP_AFTER_MS)) {
        counts->timeouts++;
    } else if (status >= 500 || status == 429) {
        counts->errors++;
    } else if (status != NO_STATUS && ms >= 0) {
        counts->buckets[order_load_bucket((double)ms)]++;
    } else {
        return false;
    }
    return true;
}

bool origin_load_read(struct str datagram, struct origin_answer *answer, struct load_counts *counts)
{
    struct str head;
    struct str statuses;
    struct str seconds;
    struct str rest;

    if (!str_split(datagram, '|', &head, &rest) || !str_split(rest, '|', &answer->queue, &rest) ||
        !str_split(rest, '|', &statuses, &rest) || !str_split(rest, '|', &seconds, &rest) ||
        !identifier_is_slug(answer->queue)) {
        return false;
    }
    (void)str_split(rest, '|', &answer->network, &rest);
    return count(status_of(statuses), duration_of(seconds), counts);
}
