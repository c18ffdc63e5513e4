#include "lib/admission/line/line_facts.h"

#include <math.h>
#include <stdlib.h>

/* Indexes in the order of lua/include/conf_fields.lua. */
enum field {
    FIELD_DELETED,
    FIELD_EPOCH,
    FIELD_OPERATOR_STATE,
    FIELD_ACTIVATION,
    FIELD_IDENTITY,
    FIELD_OPENS_AT,
    FIELD_CLOSES_AT,
    FIELD_POLL_TIERS = 9,
    FIELD_COUNT = 18 /* what an earlier release packed has fewer: scripts only */
};

enum state_field { STATE_INCARNATION, STATE_RATE_EMA, STATE_SOLD_OUT, STATE_SOLD_OUT_DUE };

const char *const LINE_FACTS_STATE[LINE_FACTS_STATE_FIELDS] = {
    [STATE_INCARNATION] = "incarnation",
    [STATE_RATE_EMA] = "rateEma",
    [STATE_SOLD_OUT] = "soldOut",
    [STATE_SOLD_OUT_DUE] = "soldOutDue",
};

static const double RATE_MOST = 1e12;

/* MessagePack's types of texts, and of nil and false, which are read as empty. */
enum {
    PACKED_NIL = 0xc0,
    PACKED_FALSE = 0xc2,
    PACKED_SHORT_TEXT = 0xa0,
    PACKED_SHORT_TEXT_LAST = 0xbf,
    PACKED_TEXT_8 = 0xd9,
    PACKED_TEXT_16 = 0xda
};

static bool take(struct str *rest, size_t n, struct str *taken)
{
    if (rest->n < n) {
        return false;
    }
    *taken = str_sized(rest->p, n);
    *rest = str_sized(rest->p + n, rest->n - n);
    return true;
}

static bool take_length(struct str *rest, size_t bytes, size_t *length)
{
    struct str digits;

    if (!take(rest, bytes, &digits)) {
        return false;
    }
    *length = 0;
    for (size_t i = 0; i < bytes; i++) {
        *length = *length << 8 | (unsigned char)digits.p[i];
    }
    return true;
}

static bool take_text(struct str *rest, struct str *text)
{
    size_t kind;
    size_t length;

    if (!take_length(rest, 1, &kind)) {
        return false;
    }
    if (kind == PACKED_NIL || kind == PACKED_FALSE) {
        *text = str_sized(NULL, 0);
        return true;
    }
    if (kind >= PACKED_SHORT_TEXT && kind <= PACKED_SHORT_TEXT_LAST) {
        return take(rest, kind - PACKED_SHORT_TEXT, text);
    }
    if (kind != PACKED_TEXT_8 && kind != PACKED_TEXT_16) {
        return false;
    }
    return take_length(rest, kind == PACKED_TEXT_8 ? 1 : 2, &length) && take(rest, length, text);
}

static bool unpack(const redisReply *packed, struct str fields[FIELD_COUNT])
{
    if (packed->type != REDIS_REPLY_STRING) {
        return false;
    }
    struct str rest = str_sized(packed->str, packed->len);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (!take_text(&rest, &fields[i])) {
            return false;
        }
    }
    return true;
}

/* An unset time is 0. Anything but digits is left to the scripts. */
static bool read_ms(struct str text, int64_t *ms)
{
    *ms = 0;
    return text.n == 0 || str_to_int64(text, 0, INT64_MAX, ms);
}

static bool read_now(const redisReply *time, int64_t *now_ms)
{
    int64_t seconds;
    int64_t micros;

    if (!str_to_int64(redis_reply_text(time, 0), 0, INT64_MAX / 1000 - 1, &seconds) ||
        !str_to_int64(redis_reply_text(time, 1), 0, 999999, &micros)) {
        return false;
    }
    *now_ms = seconds * 1000 + micros / 1000;
    return true;
}

static bool read_rate(struct str text, int64_t *rate_milli)
{
    char digits[64];
    char *end;

    if (text.n == 0 || text.n >= sizeof(digits)) {
        return false;
    }
    str_copy(text, digits, sizeof(digits));
    double rate = strtod(digits, &end);
    if (*end != '\0' || !(rate >= 0 && rate <= RATE_MOST)) {
        return false;
    }
    *rate_milli = (int64_t)floor(rate * 1000);
    return true;
}

static bool read_state(const struct str fields[FIELD_COUNT], const redisReply *state,
                       struct line_facts *facts)
{
    int64_t opens_ms;
    int64_t closes_ms;
    int64_t due_ms;

    if (!read_ms(fields[FIELD_OPENS_AT], &opens_ms) ||
        !read_ms(fields[FIELD_CLOSES_AT], &closes_ms) ||
        !read_ms(redis_reply_text(state, STATE_SOLD_OUT_DUE), &due_ms)) {
        return false;
    }
    bool sold_out = str_equal(redis_reply_text(state, STATE_SOLD_OUT), STR("1")) ||
                    (due_ms > 0 && facts->now_ms >= due_ms);
    if (fields[FIELD_CLOSES_AT].n > 0 && facts->now_ms >= closes_ms) {
        facts->queue_state = STR("CLOSED");
    } else if (sold_out) {
        facts->queue_state = STR("SOLD_OUT");
    } else if (fields[FIELD_OPENS_AT].n > 0 && facts->now_ms < opens_ms &&
               !str_equal(fields[FIELD_OPERATOR_STATE], STR("SOLD_OUT"))) {
        facts->queue_state = STR("PRE_OPEN");
    } else {
        facts->queue_state = fields[FIELD_OPERATOR_STATE];
    }
    return true;
}

bool line_facts_read(const redisReply *time, const redisReply *packed, const redisReply *state,
                     struct line_facts *facts)
{
    struct str fields[FIELD_COUNT];

    *facts = (struct line_facts){0};
    if (!unpack(packed, fields) || str_equal(fields[FIELD_DELETED], STR("1")) ||
        !str_to_int64(fields[FIELD_EPOCH], 1, INT64_MAX, &facts->epoch) ||
        !str_to_int64(redis_reply_text(state, STATE_INCARNATION), 1, INT64_MAX,
                      &facts->incarnation) ||
        !read_now(time, &facts->now_ms) ||
        !read_rate(redis_reply_text(state, STATE_RATE_EMA), &facts->rate_milli) ||
        !read_state(fields, state, facts)) {
        return false;
    }
    facts->identity = fields[FIELD_IDENTITY];
    facts->poll_tiers = fields[FIELD_POLL_TIERS];
    facts->on_hold = str_equal(fields[FIELD_ACTIVATION], STR("hold"));
    return true;
}
