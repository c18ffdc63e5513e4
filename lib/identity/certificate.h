/*
 * certificate — how long a server's certificate is good.
 */
#ifndef SLUICE_IDENTITY_CERTIFICATE_H
#define SLUICE_IDENTITY_CERTIFICATE_H

#include <stdbool.h>
#include <stdint.h>

enum { CERTIFICATE_CHAIN_MAX = 16 };

/** Reads the certificates of a PEM file, at most CERTIFICATE_CHAIN_MAX: `*seconds_left` gets
 *  until when all of them are good, by this host's clock, below 0 for one that has ended;
 *  `*begun` is false while one is not good yet. Returns false where the file cannot be read or
 *  holds none. */
bool certificate_read(const char *path, int64_t *seconds_left, bool *begun);

#endif
