/*
 * ip_network — IP addresses and networks in CIDR notation.
 * An IPv4-mapped IPv6 address (::ffff:192.0.2.7) equals its IPv4 address; otherwise no IPv6 network
 * contains an IPv4 address.
 */
#ifndef SLUICE_ADMISSION_IP_NETWORK_H
#define SLUICE_ADMISSION_IP_NETWORK_H

#include <stdbool.h>

#include "lib/base/str.h"

enum { IP_ADDRESS_BYTES = 16 };

struct ip_address {
    bool v4;                               /* 4 bytes, else 16 */
    unsigned char bytes[IP_ADDRESS_BYTES]; /* network byte order */
};

struct ip_network {
    struct ip_address base;
    unsigned int bits; /* of the prefix: 0..32 or 0..128 */
};

/** Parses an address: "192.0.2.7" or "2001:db8::1". Returns false for anything else, zones and
 *  ports included. */
bool ip_address_parse(struct str text, struct ip_address *address);

/** Parses "10.0.0.0/8", "2001:db8::/32" or a single address. Returns false for anything else, and
 *  if bits beyond the prefix are set: 10.1.2.3/8 may have been meant as one host. */
bool ip_network_parse(struct str text, struct ip_network *network);

/** True when `address` lies in `network`. */
bool ip_network_holds(const struct ip_network *network, const struct ip_address *address);

#endif
