#include "lib/store/redis_access.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "lib/base/secret.h"
#include "lib/base/str.h"

void redis_access_init(struct redis_access *access, const struct settings *settings)
{
    *access = (struct redis_access){.settings = settings};
    if (settings->redis_sentinels[0] != '\0') {
        access->mode = REDIS_SENTINEL;
        access->seed_count = endpoint_list(str_of(settings->redis_sentinels), access->seeds);
    } else if (settings->redis_cluster[0] != '\0') {
        access->mode = REDIS_CLUSTER;
        access->seed_count = endpoint_list(str_of(settings->redis_cluster), access->seeds);
    } else if (settings->redis_address[0] != '\0') {
        (void)endpoint_parse(str_of(settings->redis_address), &access->server.endpoint);
    } else {
        access->server.socket = settings->redis_socket;
    }
}

void redis_access_prefer(struct redis_access *access, size_t seed)
{
    struct endpoint first = access->seeds[seed];

    memmove(&access->seeds[1], &access->seeds[0], seed * sizeof(first));
    access->seeds[0] = first;
}

bool redis_server_equal(const struct redis_server *a, const struct redis_server *b)
{
    if (a->socket != NULL || b->socket != NULL) {
        return a->socket != NULL && b->socket != NULL && strcmp(a->socket, b->socket) == 0;
    }
    return a->endpoint.port == b->endpoint.port && strcmp(a->endpoint.host, b->endpoint.host) == 0;
}

const char *redis_server_name(const struct redis_server *server, char name[ENDPOINT_HOST + 16])
{
    if (server->socket != NULL) {
        return server->socket;
    }
    (void)snprintf(name, ENDPOINT_HOST + 16, "%s:%d", server->endpoint.host, server->endpoint.port);
    return name;
}

/* Reads the password, the file's first line. False, with one sentence in `error`, if it is
 * missing. */
static bool read_password(const char *path, char **bytes, size_t *length, struct str *password,
                          char error[REDIS_ACCESS_ERROR])
{
    struct str rest;

    *bytes = NULL;
    *length = 0;
    *password = str_sized(NULL, 0);
    if (path[0] == '\0') {
        return true;
    }
    if (!secret_read(path, bytes, length, error)) {
        return false;
    }
    (void)str_split(str_sized(*bytes, *length), '\n', password, &rest);
    if (password->n == 0) {
        (void)snprintf(error, REDIS_ACCESS_ERROR, "%s: its first line is empty", path);
        secret_free(*bytes, *length);
        return false;
    }
    return true;
}

_Static_assert((int)SECRET_ERROR <= (int)REDIS_ACCESS_ERROR,
               "one sentence fits where the other does");

/* Appends AUTH if there is a password. */
static bool append_login(const struct redis_access *access, bool sentinel, redisContext *context,
                         int *login, char error[REDIS_ACCESS_ERROR])
{
    const struct settings *settings = access->settings;
    const char *user = sentinel ? settings->redis_sentinel_user : settings->redis_user;
    const char *words[3] = {"AUTH", user};
    size_t lengths[3] = {4, strlen(user)};
    int count = user[0] != '\0' ? 3 : 2;
    char *bytes;
    size_t length;
    struct str password;

    *login = 0;
    if (!read_password(sentinel ? settings->redis_sentinel_password_file
                                : settings->redis_password_file,
                       &bytes, &length, &password, error)) {
        return false;
    }
    if (password.n == 0) {
        return true;
    }
    words[count - 1] = password.p;
    lengths[count - 1] = password.n;
    bool appended = redisAppendCommandArgv(context, count, words, lengths) == REDIS_OK;
    secret_free(bytes, length);
    *login = 1;
    return appended;
}

/* Discards unsent data when a connection is closed. Otherwise the kernel would retry for minutes
 * without our knowledge, and an entry that arrives then, long after its member has entered through
 * another host, would take over the place. */
static void forget_unsent_on_close(int fd)
{
    const struct linger nothing = {.l_onoff = 1, .l_linger = 0};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &nothing, sizeof(nothing));
}

static redisContext *connect_to(const struct redis_server *server, bool waits, int64_t timeout_ms)
{
    struct timeval timeout = {.tv_sec = (time_t)(timeout_ms / 1000),
                              .tv_usec = (suseconds_t)(timeout_ms % 1000 * 1000)};
    const char *host = server->endpoint.host;
    int port = server->endpoint.port;

    if (server->socket != NULL) {
        return waits ? redisConnectUnixWithTimeout(server->socket, timeout)
                     : redisConnectUnixNonBlock(server->socket);
    }
    redisContext *context =
        waits ? redisConnectWithTimeout(host, port, timeout) : redisConnectNonBlock(host, port);
    if (context != NULL && context->err == 0) {
        forget_unsent_on_close(context->fd);
    }
    /* Detects a connection that the network has dropped even while it is idle. */
    if (waits && context != NULL && context->err == 0) {
        (void)redisEnableKeepAlive(context);
    }
    return context;
}

static redisContext *refuse(redisContext *context, const char *why, char error[REDIS_ACCESS_ERROR])
{
    if (why != NULL) {
        (void)snprintf(error, REDIS_ACCESS_ERROR, "%s", why);
    }
    if (context != NULL) {
        redisFree(context);
    }
    return NULL;
}

/* Reads the reply to AUTH. */
static bool read_auth_reply(redisContext *context, char error[REDIS_ACCESS_ERROR])
{
    void *taken = NULL;

    if (redisGetReply(context, &taken) != REDIS_OK) {
        (void)snprintf(error, REDIS_ACCESS_ERROR, "%s", context->errstr);
        return false;
    }
    redisReply *reply = taken;
    bool good = reply->type != REDIS_REPLY_ERROR;
    if (!good) {
        (void)snprintf(error, REDIS_ACCESS_ERROR, "%s", reply->str);
    }
    freeReplyObject(reply);
    return good;
}

redisContext *redis_dial(const struct redis_access *access, const struct redis_server *server,
                         bool sentinel, int64_t timeout_ms, char error[REDIS_ACCESS_ERROR])
{
    struct timeval timeout = {.tv_sec = (time_t)(timeout_ms / 1000),
                              .tv_usec = (suseconds_t)(timeout_ms % 1000 * 1000)};
    redisContext *context = connect_to(server, true, timeout_ms);
    int login = 0;

    if (context == NULL || context->err != 0 || redisSetTimeout(context, timeout) != REDIS_OK) {
        return refuse(context, context == NULL ? "out of memory" : context->errstr, error);
    }
    if (!append_login(access, sentinel, context, &login, error) ||
        (login > 0 && !read_auth_reply(context, error))) {
        return refuse(context, NULL, error);
    }
    return context;
}

redisContext *redis_dial_begin(const struct redis_access *access, const struct redis_server *server,
                               bool sentinel, int *login, char error[REDIS_ACCESS_ERROR])
{
    redisContext *context = connect_to(server, false, 0);

    if (context == NULL || context->err != 0) {
        return refuse(context, context == NULL ? "out of memory" : context->errstr, error);
    }
    if (!append_login(access, sentinel, context, login, error)) {
        return refuse(context, NULL, error);
    }
    return context;
}
