#include "tests/unit/unit.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/store/redis_pipeline.h"
#include "tests/unit/scratch.h"

enum { NOW_MS = 1000 };

/* A server that accepts connections and never answers. */
struct deaf_server {
    struct sockaddr_un address;
    int listener;
    int epoll;
};

static void listen_deaf(struct deaf_server *server)
{
    *server = (struct deaf_server){.address.sun_family = AF_UNIX};
    strncpy(server->address.sun_path, scratch_path("redis.sock"),
            sizeof(server->address.sun_path) - 1);
    server->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_return_code(
        bind(server->listener, (const struct sockaddr *)&server->address, sizeof(server->address)),
        0);
    assert_return_code(listen(server->listener, 1), 0);
    server->epoll = epoll_create1(0);
}

static void count_refusal(void *context, const redisReply *reply)
{
    assert_null(reply);
    ++*(int *)context;
}

TEST(an_asking_command_is_refused_where_asking_has_no_room)
{
    struct deaf_server server;
    const struct settings settings = {
        .redis_user = "", .redis_sentinel_user = "", .redis_sentinel_password_file = ""};
    const struct redis_access access = {.settings = &settings};
    struct arena *arena = arena_new();
    struct redis_command *command = redis_command_new(arena, "PING");
    int refused = 0;

    listen_deaf(&server);
    struct redis_pipeline *pipeline = redis_pipeline_new(
        &(struct redis_pipeline_options){.access = &access,
                                         .server.socket = server.address.sun_path,
                                         .sentinel = true,
                                         .timeout_ms = 1000,
                                         .epoll_fd = server.epoll},
        NOW_MS);
    assert_true(redis_pipeline_is_up(pipeline));
    for (int i = 0; i < REDIS_PIPELINE_MAX - 2; i++) {
        redis_pipeline_send(pipeline, command, count_refusal, &refused, NOW_MS);
    }
    redis_pipeline_send_asking(pipeline, command, count_refusal, &refused, NOW_MS);
    assert_int_equal(refused, 0);
    redis_pipeline_send_asking(pipeline, command, count_refusal, &refused, NOW_MS);
    assert_int_equal(refused, 1);
    redis_pipeline_send(pipeline, command, count_refusal, &refused, NOW_MS);
    assert_int_equal(refused, 1);
    redis_pipeline_send(pipeline, command, count_refusal, &refused, NOW_MS);
    assert_int_equal(refused, 2);
    redis_pipeline_free(pipeline);
    assert_int_equal(refused, 2 + REDIS_PIPELINE_MAX);
    arena_free(arena);
    (void)close(server.epoll);
    (void)close(server.listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_asking_command_is_refused_where_asking_has_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
