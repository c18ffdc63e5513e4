/*
 * sale_file — what a sale is made of, as a file of JSON: queues, concerts, shows, products and
 * coupon events. {"queues": {"spring-sale": {"ratePerSecond": 100}}, "products": {"mug": {"name":
 * "A mug", …}}, …} Under each id stand the fields that the operator API takes; a show has its seats
 * as "seats", or a "plan" to make them from.
 */
#ifndef SLUICE_SLUICECTL_SALE_FILE_H
#define SLUICE_SLUICECTL_SALE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "sluicectl/invocation.h"

/** A kind of object, in the order in which they are made: what is named by others comes first. */
struct sale_kind {
    const char *name; /* in the file: "queues" */
    const char *one;  /* for people: "queue" */
    const char *path; /* of the list in the API; a slash and the id behind it for one of them */
    const char *list; /* the list's name in the answer */
    const char *id;   /* the id's name in an object of the answer */
    const char *const
        *fields; /* that operators say, the last one NULL; NULL: every setting of a queue */
};

enum { SALE_KINDS = 5 };
extern const struct sale_kind SALE_KIND_ROWS[SALE_KINDS];

/** Whether `field` is one that operators say of such an object. */
bool sale_field_is_known(const struct sale_kind *kind, const char *field);

/** Reads and checks the file that the invocation names ("-": standard input). The object lives
 *  as long as the arena; NULL, and said why and where, for a file that cannot be read or says
 *  what it cannot. */
json_object *sale_file_read(const struct invocation *invocation);

/** Writes `sale` to the file that the invocation names, all or nothing; to standard output for
 *  "" and "-". */
enum exit_code sale_file_write(const struct invocation *invocation, json_object *sale);

#endif
