/*
 * ip_network: what is an address, what is a network, and which lies in which.
 */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "lib/admission/gate/ip_network.h"
#include "lib/base/random.h"

static bool holds(const char *network_text, const char *address_text)
{
    struct ip_network network;
    struct ip_address address;

    if (!ip_network_parse(str_of(network_text), &network)) {
        fail_msg("'%s' is no network", network_text);
    }
    if (!ip_address_parse(str_of(address_text), &address)) {
        fail_msg("'%s' is no address", address_text);
    }
    return ip_network_holds(&network, &address);
}

TEST(a_network_holds_the_addresses_with_its_prefix)
{
    assert_true(holds("10.0.0.0/8", "10.0.0.0"));
    assert_true(holds("10.0.0.0/8", "10.255.255.255"));
    assert_false(holds("10.0.0.0/8", "11.0.0.0"));
    assert_false(holds("10.0.0.0/8", "9.255.255.255"));
    assert_true(holds("192.0.2.7", "192.0.2.7"));
    assert_true(holds("192.0.2.7/32", "192.0.2.7"));
    assert_false(holds("192.0.2.7", "192.0.2.6"));
    assert_true(holds("192.0.2.6/31", "192.0.2.7"));
    assert_false(holds("192.0.2.6/31", "192.0.2.8"));
    assert_true(holds("172.16.0.0/12", "172.31.255.255"));
    assert_false(holds("172.16.0.0/12", "172.32.0.0"));
    assert_true(holds("128.0.0.0/1", "255.255.255.255"));
    assert_false(holds("128.0.0.0/1", "127.255.255.255"));
    assert_true(holds("0.0.0.0/0", "203.0.113.9"));
    assert_true(holds("2001:db8::/32", "2001:db8:ffff::1"));
    assert_true(holds("2001:DB8::/32", "2001:db8::1"));
    assert_false(holds("2001:db8::/32", "2001:db9::1"));
    assert_true(holds("2001:db8::1", "2001:0db8:0:0:0:0:0:1"));
    assert_true(holds("2001:db8::/127", "2001:db8::1"));
    assert_false(holds("2001:db8::/127", "2001:db8::2"));
    assert_true(holds("::/0", "2001:db8::1"));
}

TEST(a_mapped_address_is_the_one_that_it_carries)
{
    assert_true(holds("10.0.0.0/8", "::ffff:10.1.2.3"));
    assert_true(holds("10.0.0.0/8", "::ffff:a01:203"));
    assert_false(holds("10.0.0.0/8", "::ffff:11.1.2.3"));
    assert_true(holds("::ffff:10.0.0.0/104", "10.1.2.3"));
    assert_false(holds("::ffff:10.0.0.0/104", "11.1.2.3"));
    assert_true(holds("::ffff:192.0.2.7", "192.0.2.7"));
    assert_false(holds("::ffff:192.0.2.7", "192.0.2.8"));
    assert_true(holds("::ffff:0:0/96", "203.0.113.9"));
    assert_false(holds("::/0", "203.0.113.9"));
    assert_false(holds("::/0", "::ffff:203.0.113.9"));
    assert_false(holds("0.0.0.0/0", "2001:db8::1"));
    /* Compatible, not mapped. */
    assert_false(holds("10.0.0.0/8", "::10.1.2.3"));
}

TEST(anything_else_is_no_address)
{
    static const char *const NO_ADDRESS[] = {
        "",
        "unix:",
        "localhost",
        "10",
        "10.0.0",
        "10.0.0.256",
        "010.0.0.1",
        "10.0.0.1 ",
        " 10.0.0.1",
        "10.0.0.1:80",
        "[::1]",
        "fe80::1%eth0",
        "10.0.0.0/8",
        "0x0a000001",
        ":::",
        "::ffff:10.0.0",
        "1::2::3",
        ":",
        "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0001",
    };
    struct ip_address address;

    for (size_t i = 0; i < COUNT(NO_ADDRESS); i++) {
        if (ip_address_parse(str_of(NO_ADDRESS[i]), &address)) {
            fail_msg("'%s' was taken", NO_ADDRESS[i]);
        }
    }
    assert_false(ip_address_parse(STR("10.0.0.1\0002"), &address));
}

TEST(anything_else_is_no_network)
{
    static const char *const NO_NETWORK[] = {
        "",
        "/",
        "/8",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/08",
        "10.0.0.0/-0",
        "10.0.0.0/+8",
        "10.0.0.0/8 ",
        "10.0.0.0/8/8",
        "10.0.0.0/255.0.0.0",
        "10.0.0.0/99999999999999999999",
        "10.0.0.1/8",
        "192.0.2.7/31",
        "192.0.2.7/0",
        "2001:db8::/129",
        "2001:db8::1/127",
        "::ffff:10.0.0.0/95",
        "::ffff:10.0.0.1/104",
        "example.com",
        "example.com/24",
    };
    struct ip_network network;

    for (size_t i = 0; i < COUNT(NO_NETWORK); i++) {
        if (ip_network_parse(str_of(NO_NETWORK[i]), &network)) {
            fail_msg("'%s' was taken", NO_NETWORK[i]);
        }
    }
}

TEST(no_bytes_whatever_do_harm)
{
    static const char ALPHABET[] = "0123456789abf.::/";

    for (int round = 0; round < 20000; round++) {
        size_t length = random_below(56);
        char *bytes = malloc(length == 0 ? 1 : length); /* so that a read too far is found */
        struct ip_address address;
        struct ip_network network;
        assert_non_null(bytes);
        random_bytes(bytes, length);
        for (size_t i = 0; round % 2 == 0 && i < length; i++) {
            bytes[i] = ALPHABET[(unsigned char)bytes[i] % (sizeof(ALPHABET) - 1)];
        }
        if (ip_address_parse(str_sized(bytes, length), &address) &&
            ip_network_parse(str_sized(bytes, length), &network)) {
            assert_true(ip_network_holds(&network, &address));
        }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_holds_the_addresses_with_its_prefix),
        cmocka_unit_test(a_mapped_address_is_the_one_that_it_carries),
        cmocka_unit_test(anything_else_is_no_address),
        cmocka_unit_test(anything_else_is_no_network),
        cmocka_unit_test(no_bytes_whatever_do_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
