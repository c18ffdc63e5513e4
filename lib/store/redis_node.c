#include "lib/store/redis_node.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "lib/metrics/metrics.h"

bool redis_node_close(struct redis_node *node)
{
    if (node->context == NULL) {
        return false;
    }
    redisFree(node->context);
    node->context = NULL;
    node->checked_ms = 0;
    return true;
}

/* Detects a closed connection before anything is sent: what was not sent was not executed. Nothing
 * is in flight here, so anything readable is the end of the connection. */
bool redis_node_has_ended(const struct redis_node *node)
{
    char byte;

    if (node->context == NULL) {
        return false;
    }
    ssize_t n = recv(node->context->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    return n >= 0 || (errno != EAGAIN && errno != EINTR);
}

bool redis_node_connect(struct redis_node *node, const struct redis_access *access,
                        int64_t timeout_ms, char error[REDIS_ACCESS_ERROR])
{
    if (redis_node_has_ended(node)) {
        (void)redis_node_close(node);
    }
    if (node->context != NULL) {
        return true;
    }
    node->context = redis_dial(access, &node->server, false, timeout_ms, error);
    metrics_add(node->context == NULL ? METRIC_REDIS_NOT_CONNECTED : METRIC_REDIS_CONNECTED, 1);
    return node->context != NULL;
}

static redisReply *take(struct redis_node *node, char error[REDIS_ACCESS_ERROR])
{
    void *reply = NULL;

    if (redisGetReply(node->context, &reply) != REDIS_OK) {
        (void)snprintf(error, REDIS_ACCESS_ERROR, "%s", node->context->errstr);
        (void)redis_node_close(node);
        return NULL;
    }
    return reply;
}

redisReply *redis_node_ask(struct redis_node *node, const struct redis_command *command,
                           bool asking, char error[REDIS_ACCESS_ERROR])
{
    /* The wire format is built here: hiredis would format every word. */
    struct str wire = redis_command_wire(command);

    if ((asking && redisAppendCommand(node->context, "ASKING") != REDIS_OK) ||
        redisAppendFormattedCommand(node->context, wire.p, wire.n) != REDIS_OK) {
        (void)snprintf(error, REDIS_ACCESS_ERROR, "%s", node->context->errstr);
        (void)redis_node_close(node);
        return NULL;
    }
    if (asking) {
        redisReply *reply = take(node, error);
        if (reply == NULL) {
            return NULL;
        }
        freeReplyObject(reply);
    }
    return take(node, error);
}
