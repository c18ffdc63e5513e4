#include "lib/admission/line/poll_tiers.h"

#include <stdbool.h>
#include <string.h>

#include <json-c/json.h>

#include "lib/base/random.h"

enum { TIERS_MAX = 16, TEXT_MAX = 1024, SECONDS_MAX = 3600 };

static const struct poll_tier DEFAULT_TIERS[] = {
    {100, 1}, {1000, 2}, {10000, 5}, {100000, 10}, {INT64_MAX, 30},
};

/* The tiers read last: most polls at a time are about one queue. */
static struct {
    char text[TEXT_MAX];
    size_t length;
    struct poll_tier tiers[TIERS_MAX];
    size_t count; /* 0: the text is not usable */
} last;

static bool read_tier(json_object *row, struct poll_tier *tier)
{
    json_object *seconds;

    if (!json_object_is_type(row, json_type_object) ||
        !json_object_object_get_ex(row, "seconds", &seconds)) {
        return false;
    }
    json_object *up_to = json_object_object_get(row, "upToRank");
    tier->seconds = json_object_get_int64(seconds);
    tier->up_to_rank = up_to == NULL ? INT64_MAX : json_object_get_int64(up_to);
    return tier->seconds >= 1 && tier->seconds <= SECONDS_MAX && tier->up_to_rank >= 0;
}

static size_t read_tiers(const char *text, struct poll_tier tiers[TIERS_MAX])
{
    json_object *rows = json_tokener_parse(text);
    size_t count = json_object_is_type(rows, json_type_array) ? json_object_array_length(rows) : 0;
    bool fit = count <= TIERS_MAX;

    for (size_t i = 0; i < count && fit; i++) {
        fit = read_tier(json_object_array_get_idx(rows, i), &tiers[i]);
    }
    (void)json_object_put(rows);
    return fit ? count : 0;
}

const struct poll_tier *poll_tiers_default(size_t *count)
{
    *count = sizeof(DEFAULT_TIERS) / sizeof(DEFAULT_TIERS[0]);
    return DEFAULT_TIERS;
}

static const struct poll_tier *find_tiers(struct str text, size_t *count)
{
    if (text.n > 0 && text.n < TEXT_MAX) {
        if (!str_equal(text, str_sized(last.text, last.length))) {
            memcpy(last.text, text.p, text.n);
            last.text[text.n] = '\0';
            last.length = text.n;
            last.count = read_tiers(last.text, last.tiers);
        }
        if (last.count > 0) {
            *count = last.count;
            return last.tiers;
        }
    }
    return poll_tiers_default(count);
}

/* A first tier of few ranks has none: those next in line learn of their turn at once. */
static int64_t most_jitter_ms(const struct poll_tier *table, size_t i)
{
    bool is_front = i == 0 && table[i].up_to_rank <= POLL_FRONT_RANK;

    return is_front ? 0 : table[i].seconds * 1000 * POLL_JITTER_PERCENT / 100;
}

int64_t poll_tiers_longest_ms(struct str tiers)
{
    size_t count;
    const struct poll_tier *table = find_tiers(tiers, &count);
    int64_t longest = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t ms = table[i].seconds * 1000 + most_jitter_ms(table, i);
        longest = ms > longest ? ms : longest;
    }
    return longest;
}

struct poll_pause poll_tiers_pause(struct str tiers, int64_t rank)
{
    size_t count, i = 0;
    const struct poll_tier *table = find_tiers(tiers, &count);

    while (i + 1 < count && rank > table[i].up_to_rank) {
        i++;
    }
    struct poll_pause pause = poll_tiers_fixed(table[i].seconds);
    int64_t jitter = most_jitter_ms(table, i);

    if (jitter > 0) {
        pause.retry_ms += random_below((uint32_t)jitter + 1);
    }
    return pause;
}

struct poll_pause poll_tiers_fixed(int64_t seconds)
{
    return (struct poll_pause){.seconds = seconds, .retry_ms = seconds * 1000};
}
