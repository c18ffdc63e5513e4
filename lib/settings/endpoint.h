/*
 * endpoint — a server's address as written in settings: host:port, an IPv6 address in brackets.
 */
#ifndef SLUICE_SETTINGS_ENDPOINT_H
#define SLUICE_SETTINGS_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/str.h"

enum { ENDPOINT_HOST = 255, ENDPOINTS_MAX = 16 };

struct endpoint {
    char host[ENDPOINT_HOST + 1]; /* without brackets */
    int port;                     /* 1..65535 */
};

/** Parses host:port. Returns false, `endpoint` untouched, for anything else. */
bool endpoint_parse(struct str text, struct endpoint *endpoint);

/** Parses a list of 1..ENDPOINTS_MAX endpoints separated by spaces. Returns their number, 0 if
 *  one is invalid or there are too many. */
size_t endpoint_list(struct str text, struct endpoint endpoints[ENDPOINTS_MAX]);

#endif
