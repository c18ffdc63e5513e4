#include "lib/database/store_refusal.h"

#include <string.h>

#include "lib/base/log.h"

/* Classes of SQLSTATEs that mean "not now": connection, transaction state, resources, locks and
 * timeouts, operator intervention, system errors. */
static const char *const NOT_NOW[] = {"08", "25", "40", "53", "55", "57", "58"};

bool store_refusal_is(const struct postgres *postgres, const char *sqlstate)
{
    return strcmp(postgres_sqlstate(postgres), sqlstate) == 0;
}

enum store_refusal store_refusal_of(const struct postgres *postgres, enum postgres_outcome outcome,
                                    const char *call)
{
    if (outcome == POSTGRES_UNREACHABLE) {
        return STORE_UNAVAILABLE;
    }
    if (outcome == POSTGRES_UNKNOWN) {
        log_event(LOG_LEVEL_WARNING, "postgres.no_answer", LOG_FIELDS(LOG_TEXT("call", call)));
        return STORE_UNKNOWN;
    }
    if (strncmp(postgres_sqlstate(postgres), "SL", 2) == 0) {
        return STORE_RULE;
    }
    if (store_refusal_is(postgres, "40001") || store_refusal_is(postgres, "40P01")) {
        return STORE_RETRY;
    }
    bool not_now = false;
    for (size_t i = 0; i < sizeof(NOT_NOW) / sizeof(*NOT_NOW); i++) {
        not_now = not_now || strncmp(postgres_sqlstate(postgres), NOT_NOW[i], 2) == 0;
    }
    log_event(not_now ? LOG_LEVEL_WARNING : LOG_LEVEL_ERROR, "postgres.refused",
              LOG_FIELDS(LOG_TEXT("call", call), LOG_TEXT("sqlstate", postgres_sqlstate(postgres)),
                         LOG_TEXT("message", postgres_message(postgres))));
    return not_now ? STORE_UNAVAILABLE : STORE_DEFECT;
}

void store_spender_read(struct str detail, struct claim_spender *spender)
{
    struct str rest;
    struct str flag;

    (void)str_split(detail, '/', &spender->by, &rest);
    (void)str_split(rest, '/', &spender->key_hash, &flag);
    spender->keep_place = str_equal(flag, STR("t"));
}
