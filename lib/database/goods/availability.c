#include "lib/database/goods/availability.h"

#include "lib/admission/goods/goods_finding.h"
#include "lib/base/log.h"
#include "lib/database/store_refusal.h"

static enum postgres_outcome query_availability(struct postgres *postgres, struct arena *arena,
                                                struct str queue, bool reopen, int64_t above,
                                                const PGresult **result)
{
    const char *const parameters[] = {arena_copy(arena, queue), reopen ? "t" : "f",
                                      arena_int(arena, above)};
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_AVAILABILITY, parameters, result);

    if (outcome != POSTGRES_OK) {
        (void)store_refusal_of(postgres, outcome, "availability");
    }
    return outcome;
}

static void read_finding(const PGresult *result, struct goods_finding *finding)
{
    finding->sold_out = str_equal(postgres_text(result, 0, 0), STR("t"));
    finding->change = postgres_int(result, 0, 1, 0);
    finding->due_ms = postgres_int(result, 0, 2, 0);
    finding->with_events = true;
    finding->coupons = postgres_text(result, 0, 3);
}

bool availability_drifted(struct postgres *postgres, struct arena *arena, struct str queue)
{
    const char *const parameters[] = {arena_copy(arena, queue)};
    const PGresult *result;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_AVAILABILITY_DRIFT, parameters, &result);

    if (outcome != POSTGRES_OK) {
        (void)store_refusal_of(postgres, outcome, "availability_drift");
        return false;
    }
    return PQntuples(result) > 0 && str_equal(postgres_text(result, 0, 0), STR("t"));
}

/** A finding and what Redis said to it. */
struct publication {
    struct goods_finding found;
    enum outcome outcome; /* NOT_FOUND also if nothing was to be found */
    int64_t known;        /* for OLDER: the number that Redis has */
};

/** Finds and publishes. `above`: only if the queue's last number is lower, and with a higher one;
 *  0: in any case. */
static void publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                    struct str queue, bool reopen, int64_t above, struct publication *publication)
{
    const PGresult *result;
    struct goods_finding *found = &publication->found;

    *publication = (struct publication){.outcome = OUTCOME_ADMISSION_UNAVAILABLE};
    if (query_availability(postgres, arena, queue, reopen, above, &result) != POSTGRES_OK) {
        return;
    }
    if (PQntuples(result) == 0) {
        publication->outcome = OUTCOME_NOT_FOUND;
        return;
    }
    read_finding(result, found);
    publication->outcome = sold_out_set(redis, arena, queue, found, &publication->known);
    log_event(LOG_LEVEL_INFO, "queue.availability",
              LOG_FIELDS(LOG_STR("queue", queue), LOG_INT("soldOut", found->sold_out),
                         LOG_INT("change", found->change),
                         LOG_TEXT("outcome", outcome_word(publication->outcome))));
}

bool availability_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                          struct str queue, bool reopen)
{
    struct publication it;

    publish(postgres, redis, arena, queue, reopen, 0, &it);
    if (it.outcome == OUTCOME_OLDER) {
        /* Mostly another finding was faster: PostgreSQL has given that number by now. One that it
         * has not given, or has given to this finding, is of a finding that it has lost. */
        int64_t least = it.found.change + 1;
        publish(postgres, redis, arena, queue, reopen, it.known > least ? it.known : least, &it);
    }
    /* NOT_FOUND: Redis has lost the queue; its recovery publishes a new finding. */
    return it.outcome != OUTCOME_ADMISSION_UNAVAILABLE;
}
