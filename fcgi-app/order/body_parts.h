/*
 * body_parts — the parts that the bodies of orders and holds have in common, and the description of
 * what is wrong with them.
 */
#ifndef SLUICE_ORDER_BODY_PARTS_H
#define SLUICE_ORDER_BODY_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"

/** What is wrong with a body. */
struct body_fault {
    const char *pointer; /* RFC 6901, in the arena */
    const char *why;     /* a sentence */
};

/** Seats named in a body, by id. */
struct body_seats {
    const struct str *seats; /* in the arena; their text is borrowed from the JSON */
    size_t count;
};

/** Fills `fault`; returns false. */
bool body_fail(struct body_fault *fault, const char *pointer, const char *why);

/** True if `object`, at the pointer `at`, has no members but those named (NULL-terminated). */
bool body_only_members(struct arena *arena, json_object *object, const char *at,
                       const char *const *names, struct body_fault *fault);

/** Reads the member `name`, which must be a slug. */
bool body_slug(json_object *object, const char *name, struct str *slug);

/** Reads the member "seats", a list of `least` to `most` different seat ids. */
bool body_seats_read(struct arena *arena, json_object *object, size_t least, size_t most,
                     struct body_seats *seats, struct body_fault *fault);

/** The length of the member "seats", whatever its elements are; 0 if it is no list. */
size_t body_seats_count(json_object *object);

#endif
