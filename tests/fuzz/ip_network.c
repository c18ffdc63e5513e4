/*
 * IP addresses and networks: read as the C library reads them, and written and read again as the
 * same.
 */
#include "lib/admission/gate/ip_network.h"

#include <arpa/inet.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static const char *written(struct arena *arena, const struct ip_address *address)
{
    char *text = arena_alloc(arena, INET6_ADDRSTRLEN);

    REQUIRE(inet_ntop(address->v4 ? AF_INET : AF_INET6, address->bytes, text, INET6_ADDRSTRLEN));
    return text;
}

static bool is_same(const struct ip_address *a, const struct ip_address *b)
{
    return a->v4 == b->v4 && memcmp(a->bytes, b->bytes, a->v4 ? 4 : 16) == 0;
}

static void addresses(struct arena *arena, struct str text)
{
    struct ip_address address = {.v4 = false};
    struct ip_address again = {.v4 = false};
    unsigned char bytes[IP_ADDRESS_BYTES];
    const char *c_string = arena_copy(arena, text);
    bool known = strlen(c_string) == text.n && (inet_pton(AF_INET, c_string, bytes) == 1 ||
                                                inet_pton(AF_INET6, c_string, bytes) == 1);

    REQUIRE(ip_address_parse(text, &address) == known);
    if (known) {
        REQUIRE(ip_address_parse(str_of(written(arena, &address)), &again));
        REQUIRE(is_same(&address, &again));
    }
}

static void networks(struct arena *arena, struct str text)
{
    struct ip_network network;
    struct ip_network again;

    if (!ip_network_parse(text, &network)) {
        return;
    }
    REQUIRE(network.bits <= (network.base.v4 ? 32u : 128u));
    REQUIRE(ip_network_holds(&network, &network.base));
    const char *same = arena_format(arena, "%s/%u", written(arena, &network.base), network.bits);
    REQUIRE(ip_network_parse(str_of(same), &again));
    REQUIRE(again.bits == network.bits && is_same(&again.base, &network.base));
    if (network.bits > 0) {
        struct ip_address other = network.base;
        other.bytes[0] ^= 0x80;
        REQUIRE(!ip_network_holds(&network, &other));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();

    addresses(arena, fuzz_text(data, size));
    networks(arena, fuzz_text(data, size));
    return 0;
}
