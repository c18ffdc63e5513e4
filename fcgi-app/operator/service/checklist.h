/*
 * checklist — what must be right before an opening, as a list: each item has a state and says what
 * to do.
 */
#ifndef SLUICE_OPERATOR_CHECKLIST_H
#define SLUICE_OPERATOR_CHECKLIST_H

#include <stdbool.h>

#include <json-c/json.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/pool/services.h"
#include "lib/database/queues/queue_store.h"
#include "lib/database/service/service_figures.h"

enum check_state { CHECK_OK, CHECK_WARN, CHECK_FAIL };

/** A list being built. */
struct checklist {
    const struct services *services;
    const struct request *request;
    json_object *items;
    struct str queue; /* the queue that the items are about; empty: the service as a whole */
    bool redis_answers;
    bool postgres_answers;
    int64_t redis_ms;               /* Redis's time, if it answers */
    struct service_figures figures; /* if PostgreSQL answers */
};

/** Adds an item. `what_to_do` is one sentence, omitted if the item is OK. `detail` is printf
 *  style. */
void check_add(struct checklist *list, const char *name, enum check_state state,
               const char *what_to_do, const char *detail, ...)
    __attribute__((format(printf, 5, 6)));

/** The parts of the service: Redis, PostgreSQL, clocks, order pool, reconcile, outbox, payments,
 *  disks, certificate. */
void checklist_service(struct checklist *list);

/** One queue: whether Redis has it as it is stored, its scheduler, opening, gate, rate, places,
 *  poll intervals, goods, and what is left of a rehearsal. */
void checklist_queue(struct checklist *list, const struct queue_row *row);

#endif
