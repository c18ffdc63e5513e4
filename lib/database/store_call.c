#include "lib/database/store_call.h"

#include "lib/base/test_pause.h"

static bool read_once(struct postgres *postgres, struct arena *arena, struct postgres_call *call,
                      const char *name, const PGresult **rows, enum store_refusal *refusal)
{
    enum postgres_outcome outcome = postgres_take(postgres, arena, call, rows);

    if (outcome != POSTGRES_OK) {
        *refusal = store_refusal_of(postgres, outcome, name);
    }
    return outcome == POSTGRES_OK;
}

bool store_call_read(struct postgres *postgres, struct arena *arena, struct postgres_call *call,
                     const char *name, const PGresult **rows, enum store_refusal *refusal)
{
    if (read_once(postgres, arena, call, name, rows, refusal)) {
        return true;
    }
    if (*refusal != STORE_RETRY) {
        return false;
    }
    test_pause("order.before_transaction");
    postgres_send(postgres, call);
    postgres_finish(postgres, call);
    if (read_once(postgres, arena, call, name, rows, refusal)) {
        return true;
    }
    if (*refusal == STORE_RETRY) {
        *refusal = STORE_UNAVAILABLE;
    }
    return false;
}
