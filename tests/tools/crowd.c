/*
 * Usage: crowd --port N --key FILE --queue Q --members N [--connections N] [--prefix TEXT]
 *              [--until entered|ready|ordered] [--sku SKU] [--seconds N]
 * Prints a CSV line for each member. Exit code: 0 all came through, 1 not all in time, 64 usage.
 */
#include "tests/tools/crowd.h"

#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/http_reply.h"
#include "bench/program.h"
#include "lib/base/secret.h"

enum {
    ANSWER_MAX = 16 * 1024,
    REQUEST_MAX = 8 * 1024,
    NOBODY = -1,
    EVENTS = 256,
    RECONNECT_US = 20000,
    PAUSE_MS = 100
};

struct link {
    int fd;         /* -1: not connected */
    int64_t member; /* whose request is under way, or NOBODY */
    struct buffer request;
    size_t written;
    char answer[ANSWER_MAX];
    size_t length;
};

struct due {
    int64_t at_us;
    uint32_t member;
};

struct crowd {
    struct crowd_options options;
    struct mac_key *key;
    struct member *members;
    struct link *links;
    struct due *heap; /* who asks next, earliest first */
    size_t heap_size;
    uint32_t *idle; /* links without a request */
    size_t idle_count;
    uint32_t done;
    int epoll;
};

static void heap_push(struct crowd *crowd, int64_t at_us, uint32_t member)
{
    size_t i = crowd->heap_size++;

    for (; i > 0 && crowd->heap[(i - 1) / 2].at_us > at_us; i = (i - 1) / 2) {
        crowd->heap[i] = crowd->heap[(i - 1) / 2];
    }
    crowd->heap[i] = (struct due){at_us, member};
}

static uint32_t heap_pop(struct crowd *crowd)
{
    uint32_t first = crowd->heap[0].member;
    struct due last = crowd->heap[--crowd->heap_size];
    size_t i = 0;

    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= crowd->heap_size) {
            break;
        }
        if (child + 1 < crowd->heap_size &&
            crowd->heap[child + 1].at_us < crowd->heap[child].at_us) {
            child++;
        }
        if (crowd->heap[child].at_us >= last.at_us) {
            break;
        }
        crowd->heap[i] = crowd->heap[child];
        i = child;
    }
    crowd->heap[i] = last;
    return first;
}

static void watch(struct crowd *crowd, uint32_t number, uint32_t events, int operation)
{
    struct epoll_event event = {.events = events, .data.u32 = number};

    if (epoll_ctl(crowd->epoll, operation, crowd->links[number].fd, &event) < 0) {
        perror("epoll_ctl");
        exit(1);
    }
}

/* The loopback answers at once, so a blocking connect will do. */
static bool connect_link(struct crowd *crowd, uint32_t number)
{
    struct link *link = &crowd->links[number];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)crowd->options.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;

    link->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (link->fd < 0 || connect(link->fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        if (link->fd >= 0) {
            close(link->fd);
        }
        link->fd = -1;
        return false;
    }
    setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    watch(crowd, number, EPOLLIN, EPOLL_CTL_ADD);
    return true;
}

static void finish_link(struct crowd *crowd, uint32_t number)
{
    crowd->links[number].member = NOBODY;
    crowd->links[number].length = 0;
    crowd->idle[crowd->idle_count++] = number;
}

/* The connection is lost: its request is sent again, which the protocol makes harmless. */
static void lose_link(struct crowd *crowd, uint32_t number)
{
    struct link *link = &crowd->links[number];
    int64_t member = link->member;

    close(link->fd);
    link->fd = -1;
    if (member != NOBODY) {
        crowd->members[member].retries++;
        heap_push(crowd, crowd_now_us() + RECONNECT_US, (uint32_t)member);
        finish_link(crowd, number);
    }
}

static void write_link(struct crowd *crowd, uint32_t number)
{
    struct link *link = &crowd->links[number];

    while (link->written < link->request.length) {
        ssize_t count = send(link->fd, link->request.bytes + link->written,
                             link->request.length - link->written, MSG_NOSIGNAL);
        if (count <= 0) {
            lose_link(crowd, number);
            return;
        }
        link->written += (size_t)count;
    }
}

/* Gives those who are due to idle connections. Returns how many ms nobody is due, at most
 * PAUSE_MS. */
static int send_due(struct crowd *crowd)
{
    while (crowd->heap_size > 0 && crowd->idle_count > 0) {
        int64_t now = crowd_now_us();
        if (crowd->heap[0].at_us > now) {
            int64_t wait = (crowd->heap[0].at_us - now) / 1000 + 1;
            return wait < PAUSE_MS ? (int)wait : PAUSE_MS;
        }
        uint32_t number = crowd->idle[--crowd->idle_count];
        struct link *link = &crowd->links[number];
        if (link->fd < 0 && !connect_link(crowd, number)) {
            crowd->idle[crowd->idle_count++] = number;
            return PAUSE_MS;
        }
        uint32_t index = heap_pop(crowd);
        struct member *member = &crowd->members[index];
        link->member = index;
        link->written = 0;
        link->length = 0;
        crowd_write_request(&crowd->options, crowd->key, member, index, &link->request);
        if (member->sent_us == 0) {
            member->sent_us = crowd_now_us();
        }
        write_link(crowd, number);
    }
    return PAUSE_MS;
}

static void read_link(struct crowd *crowd, uint32_t number)
{
    struct link *link = &crowd->links[number];
    ssize_t count = recv(link->fd, link->answer + link->length, ANSWER_MAX - link->length, 0);
    struct http_reply answer;

    if (count <= 0 || link->member == NOBODY) {
        lose_link(crowd, number);
        return;
    }
    link->length += (size_t)count;
    enum http_reply_state state = http_reply_parse(link->answer, link->length, &answer);
    if (state != HTTP_REPLY_WHOLE) {
        if (state == HTTP_REPLY_NONE || link->length == ANSWER_MAX) {
            lose_link(crowd, number);
        }
        return;
    }
    uint32_t index = (uint32_t)link->member;
    int64_t again = crowd_read_answer(&crowd->options, &crowd->members[index], answer.status,
                                      answer.retry_after_s, answer.body);
    if (again < 0) {
        crowd->done++;
    } else {
        heap_push(crowd, crowd_now_us() + again, index);
    }
    finish_link(crowd, number);
}

static void run(struct crowd *crowd)
{
    struct epoll_event events[EVENTS];
    int64_t deadline = crowd_now_us() + crowd->options.seconds * 1000000;

    while (crowd->done < crowd->options.members && crowd_now_us() < deadline) {
        int wait = send_due(crowd);
        int count = epoll_wait(crowd->epoll, events, EVENTS, wait);
        for (int i = 0; i < count; i++) {
            read_link(crowd, events[i].data.u32);
        }
    }
}

static void print(const struct crowd *crowd)
{
    printf("member,status,seq,sentUs,receivedUs,polls,retries,readyUs,tokenEndsMs,orderStatus\n");
    for (uint32_t i = 0; i < crowd->options.members; i++) {
        const struct member *member = &crowd->members[i];
        printf("%s%u,%d,%lld,%lld,%lld,%u,%u,%lld,%lld,%d\n", crowd->options.prefix, i,
               member->status, (long long)member->seq, (long long)member->sent_us,
               (long long)member->received_us, member->polls, member->retries,
               (long long)member->ready_us, (long long)member->token_ends_ms, member->order_status);
    }
}

static bool read_options(int argc, char **argv, struct crowd_options *options)
{
    static const struct option NAMES[] = {
        {"port", required_argument, NULL, 'p'},        {"key", required_argument, NULL, 'k'},
        {"queue", required_argument, NULL, 'q'},       {"members", required_argument, NULL, 'm'},
        {"connections", required_argument, NULL, 'c'}, {"prefix", required_argument, NULL, 'x'},
        {"until", required_argument, NULL, 'u'},       {"sku", required_argument, NULL, 's'},
        {"seconds", required_argument, NULL, 't'},     {NULL, 0, NULL, 0}};

    *options = (struct crowd_options){
        .connections = 100, .prefix = "c", .seconds = 60, .until = STAGE_POLL};
    for (int name; (name = getopt_long(argc, argv, "", NAMES, NULL)) != -1;) {
        switch (name) {
        case 'p':
            options->port = (int)program_number("crowd", optarg, 1, 65535);
            break;
        case 'k':
            options->key_file = optarg;
            break;
        case 'q':
            options->queue = optarg;
            break;
        case 'm':
            options->members = (uint32_t)program_number("crowd", optarg, 1, 10000000);
            break;
        case 'c':
            options->connections = (uint32_t)program_number("crowd", optarg, 1, 20000);
            break;
        case 'x':
            options->prefix = optarg;
            break;
        case 's':
            options->sku = optarg;
            break;
        case 't':
            options->seconds = (int64_t)program_number("crowd", optarg, 1, 3600);
            break;
        case 'u':
            options->until = strcmp(optarg, "ready") == 0     ? STAGE_ORDER
                             : strcmp(optarg, "ordered") == 0 ? STAGE_DONE
                                                              : STAGE_POLL;
            break;
        default:
            return false;
        }
    }
    return options->port > 0 && options->key_file != NULL && options->queue != NULL &&
           options->members > 0 && strlen(options->prefix) < 32 && strlen(options->queue) < 64 &&
           (options->until != STAGE_DONE || (options->sku != NULL && strlen(options->sku) < 64));
}

int main(int argc, char **argv)
{
    struct crowd crowd = {0};
    char error[SECRET_ERROR];

    if (!read_options(argc, argv, &crowd.options)) {
        fprintf(stderr, "usage: crowd --port N --key FILE --queue Q --members N [--connections N] "
                        "[--prefix TEXT] [--until entered|ready|ordered] [--sku SKU] "
                        "[--seconds N]\n");
        return 64;
    }
    program_raise_file_limit();
    char *secret;
    size_t length;
    if (!secret_read(crowd.options.key_file, &secret, &length, error)) {
        fprintf(stderr, "crowd: %s\n", error);
        return 64;
    }
    crowd.key = mac_key_new((struct str){secret, strcspn(secret, "\r\n")});
    secret_free(secret, length);
    uint32_t links = crowd.options.connections;
    crowd.members = calloc(crowd.options.members, sizeof(*crowd.members));
    crowd.links = calloc(links, sizeof(*crowd.links));
    crowd.idle = calloc(links, sizeof(*crowd.idle));
    crowd.heap = calloc((size_t)crowd.options.members + 1, sizeof(*crowd.heap));
    crowd.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (crowd.members == NULL || crowd.links == NULL || crowd.idle == NULL || crowd.heap == NULL ||
        crowd.epoll < 0) {
        perror("crowd");
        return 1;
    }
    for (uint32_t i = 0; i < links; i++) {
        crowd.links[i].fd = -1;
        buffer_init(&crowd.links[i].request, REQUEST_MAX);
        finish_link(&crowd, links - 1 - i);
    }
    for (uint32_t i = 0; i < crowd.options.members; i++) {
        heap_push(&crowd, 0, i);
    }
    run(&crowd);
    print(&crowd);
    bool complete = crowd.done == crowd.options.members;
    for (uint32_t i = 0; i < links; i++) {
        buffer_free(&crowd.links[i].request);
    }
    for (uint32_t i = 0; i < crowd.options.members; i++) {
        free(crowd.members[i].ticket);
        free(crowd.members[i].token);
    }
    mac_key_free(crowd.key);
    free(crowd.members);
    free(crowd.links);
    free(crowd.idle);
    free(crowd.heap);
    return complete ? 0 : 1;
}
