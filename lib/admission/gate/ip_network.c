#include "lib/admission/gate/ip_network.h"

#include <arpa/inet.h>
#include <string.h>

enum { V4_BYTES = 4, V4_BITS = 32, V6_BITS = 128, MAPPED_BITS = 96 };

static const unsigned char MAPPED[MAPPED_BITS / 8] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/* Parses without unmapping: an IPv4-mapped address stays an IPv6 address. */
static bool read_address(struct str text, struct ip_address *address)
{
    char terminated[INET6_ADDRSTRLEN];

    if (text.n == 0 || text.n >= sizeof(terminated) || memchr(text.p, '\0', text.n) != NULL) {
        return false;
    }
    str_copy(text, terminated, sizeof(terminated));
    *address = (struct ip_address){.v4 = memchr(text.p, ':', text.n) == NULL};
    return inet_pton(address->v4 ? AF_INET : AF_INET6, terminated, address->bytes) == 1;
}

static bool is_mapped(const struct ip_address *address)
{
    return !address->v4 && memcmp(address->bytes, MAPPED, sizeof(MAPPED)) == 0;
}

static void unmap(struct ip_address *address)
{
    struct ip_address carried = {.v4 = true};

    memcpy(carried.bytes, address->bytes + sizeof(MAPPED), V4_BYTES);
    *address = carried;
}

/* The mask for byte `i` of a prefix of `bits` bits. */
static unsigned char prefix_mask(unsigned int bits, size_t i)
{
    size_t before = i * 8;
    size_t within = bits <= before ? 0 : bits - before;

    return (unsigned char)(within >= 8 ? 0xffU : 0xffU << (8 - within) & 0xffU);
}

bool ip_address_parse(struct str text, struct ip_address *address)
{
    if (!read_address(text, address)) {
        return false;
    }
    if (is_mapped(address)) {
        unmap(address);
    }
    return true;
}

bool ip_network_parse(struct str text, struct ip_network *network)
{
    struct str base;
    struct str digits;
    bool cut = str_split(text, '/', &base, &digits);

    if (!read_address(base, &network->base)) {
        return false;
    }
    int64_t bits = network->base.v4 ? V4_BITS : V6_BITS;
    if (cut && (digits.n == 0 || digits.p[0] == '-' || (digits.n > 1 && digits.p[0] == '0') ||
                !str_to_int64(digits, 0, bits, &bits))) {
        return false;
    }
    network->bits = (unsigned int)bits;
    for (size_t i = 0; i < IP_ADDRESS_BYTES; i++) {
        if ((network->base.bytes[i] & (unsigned char)~prefix_mask(network->bits, i)) != 0) {
            return false;
        }
    }
    /* Its base has no bits beyond the prefix, so the prefix of a mapped network is at least 96. */
    if (is_mapped(&network->base)) {
        unmap(&network->base);
        network->bits -= MAPPED_BITS;
    }
    return true;
}

bool ip_network_holds(const struct ip_network *network, const struct ip_address *address)
{
    if (network->base.v4 != address->v4) {
        return false;
    }
    for (size_t i = 0; i < IP_ADDRESS_BYTES; i++) {
        if ((address->bytes[i] & prefix_mask(network->bits, i)) != network->base.bytes[i]) {
            return false;
        }
    }
    return true;
}
