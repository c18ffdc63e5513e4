#include "lib/orders/goods/availability.h"

#include "lib/admission/tokens/claim.h"
#include "lib/base/log.h"
#include "lib/orders/store_refusal.h"

static enum postgres_outcome query_availability(struct postgres *postgres, struct arena *arena,
                                                struct str queue, bool reopen,
                                                const PGresult **result)
{
    const char *const parameters[] = {arena_copy(arena, queue), reopen ? "t" : "f"};
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

bool availability_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                          struct str queue, bool reopen)
{
    const PGresult *result;
    struct goods_finding found;

    if (query_availability(postgres, arena, queue, reopen, &result) != POSTGRES_OK) {
        return false;
    }
    if (PQntuples(result) == 0) {
        return true;
    }
    read_finding(result, &found);
    enum outcome outcome = sold_out_set(redis, arena, queue, &found);
    log_event(LOG_LEVEL_INFO, "queue.availability",
              LOG_FIELDS(LOG_STR("queue", queue), LOG_INT("soldOut", found.sold_out),
                         LOG_INT("change", found.change),
                         LOG_TEXT("outcome", outcome_word(outcome))));
    /* NOT_FOUND: Redis has lost the queue; its recovery publishes a new finding. */
    return outcome != OUTCOME_ADMISSION_UNAVAILABLE;
}
