#include "lib/admission/outcome.h"

#include "lib/store/redis_reply.h"

static const struct str WORDS[OUTCOME_COUNT] = {
#define OUTCOME(word) [OUTCOME_##word] = {.p = #word, .n = sizeof(#word) - 1},
#include "lib/admission/outcomes.tbl"
#undef OUTCOME
};

enum outcome outcome_of(const redisReply *reply)
{
    struct str word = redis_reply_text(reply, 0);

    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (str_equal(word, WORDS[i])) {
            return (enum outcome)i;
        }
    }
    return OUTCOME_ADMISSION_UNAVAILABLE;
}

const char *outcome_word(enum outcome outcome)
{
    return WORDS[outcome].p;
}
