/*
 * identifier — syntax of the API's ids: which characters, how many.
 */
#ifndef SLUICE_BASE_IDENTIFIER_H
#define SLUICE_BASE_IDENTIFIER_H

#include <stdbool.h>

#include "lib/base/str.h"

enum { SLUG_MAX = 63, MEMBER_MAX = 64, SEAT_MAX = 32 };

/** An id of a queue, concert, show, coupon event or SKU: [a-z0-9][a-z0-9-]{0,62}. */
bool identifier_is_slug(struct str text);

/** A member id: 1 to 64 of [A-Za-z0-9._:-]. */
bool identifier_is_member(struct str text);

/** A seat of a show: 1 to 32 of [A-Za-z0-9._-]. */
bool identifier_is_seat(struct str text);

/** Parses an Idempotency-Key header, bare or quoted
 *  (draft-ietf-httpapi-idempotency-key-header): `key` (borrowed from `header`) gets the 1 to 255
 *  printable ASCII characters inside the quotes. Returns false for anything else. */
bool identifier_idempotency_key(struct str header, struct str *key);

#endif
