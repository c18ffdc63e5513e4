#include "bench/connections.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench/http_reply.h"

enum { ANSWER_ROOM = 16 * 1024, ANSWER_MAX = 1024 * 1024, EVENTS = 256 };

struct connection {
    int fd; /* -1: not connected */
    bool waiting;
    uint32_t tag;
    size_t length;
    size_t room;
    char *answer; /* of `room` bytes, allocated with the connection; grows up to ANSWER_MAX */
};

struct connections {
    int port;
    int epoll;
    uint32_t most;
    uint32_t in_flight;
    uint32_t idle_count;
    uint32_t *idle; /* a stack, so that a light load uses few connections */
    struct connection *all;
    connections_answered answered;
    void *owner;
};

static void *need(void *memory)
{
    if (memory == NULL) {
        perror("sluice-load");
        exit(1);
    }
    return memory;
}

struct connections *connections_new(int port, uint32_t most, connections_answered answered,
                                    void *owner)
{
    struct connections *connections = need(calloc(1, sizeof(*connections)));

    *connections = (struct connections){.port = port,
                                        .epoll = epoll_create1(EPOLL_CLOEXEC),
                                        .most = most,
                                        .idle_count = most,
                                        .idle = need(calloc(most, sizeof(uint32_t))),
                                        .all = need(calloc(most, sizeof(struct connection))),
                                        .answered = answered,
                                        .owner = owner};
    if (connections->epoll < 0) {
        need(NULL);
    }
    for (uint32_t i = 0; i < most; i++) {
        connections->all[i].fd = -1;
        connections->idle[i] = most - 1 - i;
    }
    return connections;
}

void connections_free(struct connections *connections)
{
    for (uint32_t i = 0; i < connections->most; i++) {
        if (connections->all[i].fd >= 0) {
            close(connections->all[i].fd);
        }
        free(connections->all[i].answer);
    }
    close(connections->epoll);
    free(connections->all);
    free(connections->idle);
    free(connections);
}

/* The loopback connects immediately, so a blocking connect will do. */
static bool connect_one(struct connections *connections, uint32_t number)
{
    struct connection *connection = &connections->all[number];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)connections->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    int on = 1;

    if (connection->answer == NULL) {
        connection->answer = need(malloc(ANSWER_ROOM));
        connection->room = ANSWER_ROOM;
    }
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0) {
        return false;
    }
    if (connect(connection->fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ||
        epoll_ctl(connections->epoll, EPOLL_CTL_ADD, connection->fd, &event) < 0) {
        close(connection->fd);
        connection->fd = -1;
        return false;
    }
    return true;
}

void connections_warm_up(struct connections *connections, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < connections->most; i++) {
        if (connections->all[i].fd < 0 && !connect_one(connections, i)) {
            return;
        }
    }
}

static void answer(struct connections *connections, uint32_t number, int status,
                   int64_t retry_after_s, struct str body)
{
    struct connection *connection = &connections->all[number];

    connection->waiting = false;
    connection->length = 0;
    connections->in_flight--;
    connections->idle[connections->idle_count++] = number;
    connections->answered(connections->owner, connection->tag, status, retry_after_s, body);
}

static void lose(struct connections *connections, uint32_t number)
{
    struct connection *connection = &connections->all[number];

    close(connection->fd);
    connection->fd = -1;
    connection->length = 0;
    if (connection->waiting) {
        answer(connections, number, 0, 0, STR(""));
    }
}

bool connections_send(struct connections *connections, uint32_t tag, struct str request)
{
    if (connections->idle_count == 0) {
        return false;
    }
    uint32_t number = connections->idle[connections->idle_count - 1];
    struct connection *connection = &connections->all[number];
    if (connection->fd < 0 && !connect_one(connections, number)) {
        return false;
    }
    connections->idle_count--;
    connections->in_flight++;
    connection->waiting = true;
    connection->tag = tag;
    for (size_t sent = 0; sent < request.n;) {
        ssize_t count = send(connection->fd, request.p + sent, request.n - sent, MSG_NOSIGNAL);
        if (count <= 0) {
            lose(connections, number);
            return true;
        }
        sent += (size_t)count;
    }
    return true;
}

static void receive_one(struct connections *connections, uint32_t number)
{
    struct connection *connection = &connections->all[number];
    struct http_reply parts;
    ssize_t count = recv(connection->fd, connection->answer + connection->length,
                         connection->room - connection->length, 0);

    if (count <= 0 || !connection->waiting) {
        lose(connections, number);
        return;
    }
    connection->length += (size_t)count;
    switch (http_reply_parse(connection->answer, connection->length, &parts)) {
    case HTTP_REPLY_WHOLE:
        if (parts.closes) {
            close(connection->fd);
            connection->fd = -1;
        }
        answer(connections, number, parts.status, parts.retry_after_s, parts.body);
        return;
    case HTTP_REPLY_NONE:
        lose(connections, number);
        return;
    case HTTP_REPLY_PART:
        if (connection->length == ANSWER_MAX) {
            lose(connections, number);
        } else if (connection->length == connection->room) {
            connection->room *= 2;
            connection->answer = need(realloc(connection->answer, connection->room));
        }
        return;
    }
}

void connections_receive(struct connections *connections, int64_t wait_us)
{
    struct epoll_event events[EVENTS];
    struct timespec wait = {.tv_sec = wait_us / 1000000, .tv_nsec = wait_us % 1000000 * 1000};
    int count = epoll_pwait2(connections->epoll, events, EVENTS, &wait, NULL);

    for (int i = 0; i < count; i++) {
        receive_one(connections, events[i].data.u32);
    }
}

uint32_t connections_in_flight(const struct connections *connections)
{
    return connections->in_flight;
}
