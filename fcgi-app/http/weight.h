/*
 * weight — the weight of an element in Accept and Accept-Language (RFC 9110, 12.4.2).
 */
#ifndef SLUICE_HTTP_WEIGHT_H
#define SLUICE_HTTP_WEIGHT_H

#include "lib/base/str.h"

/** The highest weight, also that of an element without one. */
enum { WEIGHT_ONE = 1000 };

/** The value of a parameter q, 0 to 1 with at most three decimal places, in thousandths; 0 for
 *  anything else. */
int weight_parse(struct str text);

#endif
