#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "lib/settings/endpoint.h"
#include "lib/store/redis_servers.h"
#include "lib/store/redis_tenure.h"

TEST(endpoints_are_host_and_port)
{
    static const struct {
        const char *text;
        const char *host; /* NULL: refused */
        int port;
    } CASES[] = {
        {"redis.example:6379", "redis.example", 6379},
        {"10.0.0.1:1", "10.0.0.1", 1},
        {"[::1]:65535", "::1", 65535},
        {"[fe80::1%eth0]:7", "fe80::1%eth0", 7},
        {"redis", NULL, 0},
        {":6379", NULL, 0},
        {"redis:0", NULL, 0},
        {"redis:65536", NULL, 0},
        {"redis:6379x", NULL, 0},
        {"::1:6379", NULL, 0},
        {"[::1]6379", NULL, 0},
        {"[::1", NULL, 0},
        {"a b:6379", NULL, 0},
        {"a/b:6379", NULL, 0},
        {"", NULL, 0},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct endpoint endpoint;
        bool good = endpoint_parse(str_of(CASES[i].text), &endpoint);
        assert_int_equal(good, CASES[i].host != NULL);
        if (good) {
            assert_string_equal(endpoint.host, CASES[i].host);
            assert_int_equal(endpoint.port, CASES[i].port);
        }
    }
}

TEST(a_list_of_endpoints_is_all_right_or_none)
{
    struct endpoint endpoints[ENDPOINTS_MAX];

    assert_int_equal(endpoint_list(STR("a:1 b:2  c:3"), endpoints), 3);
    assert_string_equal(endpoints[2].host, "c");
    assert_int_equal(endpoint_list(STR("a:1 b"), endpoints), 0);
    assert_int_equal(endpoint_list(STR(""), endpoints), 0);
    assert_int_equal(
        endpoint_list(STR("a:1 a:1 a:1 a:1 a:1 a:1 a:1 a:1 a:1 a:1 a:1 a:1 a:1 a:1 a:1 a:1 a:1"),
                      endpoints),
        0);
}

TEST(slots_are_those_of_redis)
{
    assert_int_equal(redis_slot_of(STR("123456789")), 12739);
    assert_int_equal(redis_slot_of(STR("foo")), 12182);
    assert_int_equal(redis_slot_of(STR("sluice:{foo}:settings")), 12182);
    assert_int_equal(redis_slot_of(STR("sluice:{foo}:show:{bar}:plan")), 12182);
    /* An empty tag is none, and so is one without an end. */
    assert_int_not_equal(redis_slot_of(STR("{}foo")), 12182);
    assert_int_not_equal(redis_slot_of(STR("{foo")), 12182);
    assert_int_equal(redis_slot_of(STR("")), 0);
}

static redisReply *reply_of(const char *wire)
{
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;

    assert_int_equal(redisReaderFeed(reader, wire, strlen(wire)), REDIS_OK);
    assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_OK);
    assert_non_null(reply);
    redisReaderFree(reader);
    return reply;
}

static enum redis_redirect redirect_of(const char *wire, int *slot, struct redis_server *server)
{
    const struct redis_server from = {.endpoint = {.host = "10.0.0.9", .port = 1}};
    redisReply *reply = reply_of(wire);
    enum redis_redirect redirect = redis_redirect_of(reply, &from, slot, server);

    freeReplyObject(reply);
    return redirect;
}

TEST(redirects_are_read)
{
    struct redis_server server;
    int slot = -1;

    assert_int_equal(redirect_of("-MOVED 3999 127.0.0.1:6381\r\n", &slot, &server), REDIS_MOVED);
    assert_int_equal(slot, 3999);
    assert_string_equal(server.endpoint.host, "127.0.0.1");
    assert_int_equal(server.endpoint.port, 6381);
    assert_int_equal(redirect_of("-ASK 1 ::1:6381\r\n", &slot, &server), REDIS_ASK);
    assert_string_equal(server.endpoint.host, "::1");
    /* Whoever does not know its own name leaves it out. */
    assert_int_equal(redirect_of("-MOVED 1 :7000\r\n", &slot, &server), REDIS_MOVED);
    assert_string_equal(server.endpoint.host, "10.0.0.9");
    assert_int_equal(redirect_of("-TRYAGAIN Multiple keys\r\n", &slot, &server), REDIS_AGAIN);
    assert_int_equal(redirect_of("-CLUSTERDOWN x\r\n", &slot, &server), REDIS_AGAIN);
    assert_int_equal(redirect_of("-READONLY x\r\n", &slot, &server), REDIS_NO_PRIMARY);
    assert_int_equal(redirect_of("-LOADING x\r\n", &slot, &server), REDIS_NO_PRIMARY);
}

TEST(hostile_redirects_lead_nowhere)
{
    static const char *const WIRES[] = {
        "-MOVED 16384 h:1\r\n", "-MOVED -1 h:1\r\n",    "-MOVED 1 h\r\n",   "-MOVED 1 h:0\r\n",
        "-MOVED 1 h:65536\r\n", "-MOVED\r\n",           "-MOVED x h:1\r\n", "-ASK 1\r\n",
        "-MOVEDx 1 h:1\r\n",    "-ERR MOVED 1 h:1\r\n", "+MOVED 1 h:1\r\n", "-ASK 1 :\r\n"};
    struct redis_server server;
    int slot;

    for (size_t i = 0; i < COUNT(WIRES); i++) {
        assert_int_equal(redirect_of(WIRES[i], &slot, &server), REDIS_STAYS);
    }
}

TEST(the_map_of_slots_is_taken_whole_or_not_at_all)
{
    const struct redis_server from = {.endpoint = {.host = "10.0.0.9", .port = 1}};
    static struct redis_slots slots;
    redisReply *reply = reply_of("*2\r\n*3\r\n:0\r\n:8191\r\n*2\r\n$1\r\na\r\n:1\r\n"
                                 "*3\r\n:8192\r\n:16383\r\n*2\r\n$0\r\n\r\n:2\r\n");

    redis_slots_clear(&slots);
    assert_false(redis_slots_complete(&slots));
    assert_true(redis_slots_read(&slots, reply, &from));
    freeReplyObject(reply);
    assert_true(redis_slots_complete(&slots));
    assert_int_equal(slots.count, 2);
    assert_string_equal(slots.servers[slots.owner[8191]].endpoint.host, "a");
    assert_string_equal(slots.servers[slots.owner[8192]].endpoint.host, "10.0.0.9");
    reply = reply_of("*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n");
    assert_false(redis_slots_read(&slots, reply, &from));
    assert_int_equal(slots.count, 2);
    freeReplyObject(reply);
    assert_false(redis_slots_read(&slots, NULL, &from));
}

#define RUN_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B  "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define ID_C  "cccccccccccccccccccccccccccccccccccccccc"
#define NONE  "0000000000000000000000000000000000000000"

static bool read_info(const char *role, const char *second, struct redis_tenure *tenure)
{
    char info[512];
    redisReply reply = {.type = REDIS_REPLY_STRING, .str = info};

    reply.len = (size_t)snprintf(info, sizeof(info),
                                 "# Server\r\nrun_id:" RUN_A "\r\n\r\n# Replication\r\nrole:%s\r\n"
                                 "master_replid:" ID_B "\r\nmaster_replid2:%s\r\n",
                                 role, second);
    return redis_tenure_read(&reply, tenure);
}

static bool is_known(const char *wire, const struct redis_tenure *tenure)
{
    redisReply *reply = reply_of(wire);
    bool known = redis_tenure_is_known(reply, tenure);

    freeReplyObject(reply);
    return known;
}

TEST(a_tenure_is_known_by_its_replication_id)
{
    struct redis_tenure tenure;

    assert_true(read_info("master", ID_C, &tenure));
    assert_true(tenure.is_primary);
    assert_string_equal(tenure.run, RUN_A);
    assert_true(is_known("*2\r\n$40\r\n" ID_B "\r\n$1\r\n1\r\n", &tenure));
    /* The same process, promoted again since. */
    assert_false(is_known("*2\r\n$40\r\n" ID_C "\r\n$1\r\n1\r\n", &tenure));
    assert_false(is_known("*2\r\n$-1\r\n$1\r\n1\r\n", &tenure));
    /* Nothing was ever written down. */
    assert_true(is_known("*2\r\n$-1\r\n$-1\r\n", &tenure));
    assert_false(is_known("-ERR\r\n", &tenure));
    assert_false(is_known("*0\r\n", &tenure));
    assert_false(redis_tenure_is_known(NULL, &tenure));
}

TEST(a_primary_that_was_never_a_replica_may_change_its_id)
{
    struct redis_tenure tenure;

    assert_true(read_info("master", NONE, &tenure));
    assert_true(is_known("*2\r\n$40\r\n" ID_C "\r\n$1\r\n1\r\n", &tenure));
    assert_false(is_known("*2\r\n$-1\r\n$1\r\n1\r\n", &tenure));
}

TEST(a_replica_is_no_primary)
{
    struct redis_tenure tenure;

    assert_true(read_info("slave", NONE, &tenure));
    assert_false(tenure.is_primary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endpoints_are_host_and_port),
        cmocka_unit_test(a_list_of_endpoints_is_all_right_or_none),
        cmocka_unit_test(slots_are_those_of_redis),
        cmocka_unit_test(redirects_are_read),
        cmocka_unit_test(hostile_redirects_lead_nowhere),
        cmocka_unit_test(the_map_of_slots_is_taken_whole_or_not_at_all),
        cmocka_unit_test(a_tenure_is_known_by_its_replication_id),
        cmocka_unit_test(a_primary_that_was_never_a_replica_may_change_its_id),
        cmocka_unit_test(a_replica_is_no_primary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
