/*
 * endpoint — a server's address as settings write it: host:port, an IPv6 address in brackets.
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

/** Reads host:port. Returns false, `endpoint` untouched, for anything else. */
bool endpoint_parse(struct str text, struct endpoint *endpoint);

/** Reads a list of them with spaces between, 1..ENDPOINTS_MAX. Returns how many there are, 0
 *  where one is wrong or there are too many. */
size_t endpoint_list(struct str text, struct endpoint endpoints[ENDPOINTS_MAX]);

#endif
