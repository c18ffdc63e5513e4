/*
 * certificate — how long the certificates of a PEM file remain valid.
 */
#ifndef SLUICE_IDENTITY_CERTIFICATE_H
#define SLUICE_IDENTITY_CERTIFICATE_H

#include <stdbool.h>
#include <stdint.h>

enum { CERTIFICATE_CHAIN_MAX = 16 };

/** Reads the certificates of a PEM file, at most CERTIFICATE_CHAIN_MAX: `*seconds_left` gets the
 *  time until the first of them expires, by this host's clock, negative if one has expired;
 *  `*begun` is false while one is not valid yet. Returns false if the file cannot be read or has
 *  no certificate. */
bool certificate_read(const char *path, int64_t *seconds_left, bool *begun);

#endif
