/*
 * sale_file — a sale as a JSON file: queues, concerts, shows, products and coupon events.
 * {"queues": {"spring-sale": {"ratePerSecond": 100}}, "products": {"mug": {"name": "A mug", …}}, …}
 * Each id maps to the fields that the operator API accepts; a show has its seats as "seats", or a
 * "plan" to generate them from.
 */
#ifndef SLUICE_SLUICECTL_SALE_FILE_H
#define SLUICE_SLUICECTL_SALE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "sluicectl/invocation.h"

/** A kind of object, in the order of creation: objects that others refer to come first. */
struct sale_kind {
    const char *name; /* in the file: "queues" */
    const char *one;  /* for people: "queue" */
    const char *path; /* of the list in the API; a slash and the id follow for a single one */
    const char *list; /* the list's name in the answer */
    const char *id;   /* the id's name in an object of the answer */
    const char *const
        *fields; /* that operators set, NULL-terminated; NULL: every setting of a queue */
};

enum { SALE_KINDS = 5 };
extern const struct sale_kind SALE_KIND_ROWS[SALE_KINDS];

/** Whether `field` is one that operators set for such an object. */
bool sale_field_is_known(const struct sale_kind *kind, const char *field);

/** Reads and checks the file that the invocation names ("-": standard input). The object lives as
 *  long as the arena; NULL, with the cause and the place reported, for a file that cannot be read
 *  or is not valid. */
json_object *sale_file_read(const struct invocation *invocation);

/** Writes `sale` to the file that the invocation names, atomically; to standard output for "" and
 *  "-". */
enum exit_code sale_file_write(const struct invocation *invocation, json_object *sale);

#endif
