/*
 * Usage: sluice-closed --port N --requests FILE [--connections N] [--seconds N | --once] [--first
 * N]
 *
 * Requests over kept connections, each sending its next one when it has the answer: measures the
 * maximum throughput of a server. FILE holds complete HTTP requests, each followed by a NUL; they
 * are taken in turn, from number `first` on (modulo their count). With --once each is sent once,
 * otherwise for the given seconds (default 2). Prints one JSON object. Exit code: 0, 1 if the
 * server cannot be reached, 64 for wrong usage.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/histogram.h"
#include "bench/http_reply.h"
#include "bench/program.h"

enum {
    ANSWER_MAX = 64 * 1024,
    EVENTS = 256,
    STATUSES = 600,
    CONNECTIONS_MAX = 20000,
    WAIT_MS = 100
};

struct connection {
    int fd; /* -1: has no requests left */
    int64_t sent_us;
    uint64_t answered;
    size_t length;
    char answer[ANSWER_MAX];
};

struct options {
    int port;
    const char *file;
    uint32_t connections;
    uint32_t seconds;
    uint64_t first;
    bool once;
};

struct loop {
    struct options options;
    const char **requests; /* count + 1 of them: each ends a byte before the next */
    uint64_t count;
    uint64_t next;
    int epoll;
    int64_t end_us;
    uint32_t open;
    struct connection *all;
    struct histogram latency;
    uint64_t statuses[STATUSES]; /* 0: the connection was lost */
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void read_requests(struct loop *loop)
{
    int fd = open(loop->options.file, O_RDONLY | O_CLOEXEC);
    struct stat found;

    if (fd < 0 || fstat(fd, &found) < 0 || found.st_size == 0) {
        fail(loop->options.file);
    }
    size_t size = (size_t)found.st_size;
    const char *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (text == MAP_FAILED) {
        fail(loop->options.file);
    }
    close(fd);
    for (const char *at = text; (at = memchr(at, '\0', size - (size_t)(at - text))) != NULL; at++) {
        loop->count++;
    }
    loop->requests = calloc(loop->count + 1, sizeof(*loop->requests));
    if (loop->requests == NULL || loop->count == 0) {
        fail("requests");
    }
    loop->requests[0] = text;
    for (uint64_t i = 0; i < loop->count; i++) {
        loop->requests[i + 1] = loop->requests[i] + strlen(loop->requests[i]) + 1;
    }
}

static void connect_one(struct loop *loop, uint32_t number)
{
    struct connection *connection = &loop->all[number];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)loop->options.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    int on = 1;

    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 ||
        connect(connection->fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ||
        epoll_ctl(loop->epoll, EPOLL_CTL_ADD, connection->fd, &event) < 0) {
        fail("connect");
    }
}

static void end(struct loop *loop, struct connection *connection)
{
    close(connection->fd);
    connection->fd = -1;
    loop->open--;
}

static void send_next(struct loop *loop, struct connection *connection)
{
    uint64_t number = loop->next;

    if (loop->options.once ? number - loop->options.first >= loop->count
                           : now_us() >= loop->end_us) {
        end(loop, connection);
        return;
    }
    loop->next++;
    const char *request = loop->requests[number % loop->count];
    size_t length = (size_t)(loop->requests[number % loop->count + 1] - request) - 1;
    connection->length = 0;
    connection->sent_us = now_us();
    for (size_t sent = 0; sent < length;) {
        ssize_t count = send(connection->fd, request + sent, length - sent, MSG_NOSIGNAL);
        if (count <= 0) {
            break; /* the receiving side will notice */
        }
        sent += (size_t)count;
    }
}

static void restart_connection(struct loop *loop, uint32_t number)
{
    close(loop->all[number].fd);
    connect_one(loop, number);
    send_next(loop, &loop->all[number]);
}

static void lose(struct loop *loop, uint32_t number)
{
    loop->statuses[0]++;
    restart_connection(loop, number);
}

static void receive(struct loop *loop, uint32_t number)
{
    struct connection *connection = &loop->all[number];
    struct http_reply answer;
    ssize_t count = recv(connection->fd, connection->answer + connection->length,
                         ANSWER_MAX - connection->length, 0);

    if (count <= 0) {
        lose(loop, number);
        return;
    }
    connection->length += (size_t)count;
    switch (http_reply_parse(connection->answer, connection->length, &answer)) {
    case HTTP_REPLY_WHOLE:
        histogram_add(&loop->latency, now_us() - connection->sent_us);
        loop->statuses[answer.status > 0 && answer.status < STATUSES ? answer.status : 0]++;
        connection->answered++;
        if (answer.closes) {
            restart_connection(loop, number);
        } else {
            send_next(loop, connection);
        }
        break;
    case HTTP_REPLY_PART:
        if (connection->length < ANSWER_MAX) {
            break;
        }
        lose(loop, number);
        break;
    case HTTP_REPLY_NONE:
    default:
        lose(loop, number);
        break;
    }
}

static void run(struct loop *loop)
{
    struct epoll_event events[EVENTS];

    for (uint32_t i = 0; i < loop->options.connections; i++) {
        connect_one(loop, i);
    }
    loop->open = loop->options.connections;
    loop->end_us = now_us() + (int64_t)loop->options.seconds * 1000000;
    for (uint32_t i = 0; i < loop->options.connections; i++) {
        send_next(loop, &loop->all[i]);
    }
    while (loop->open > 0) {
        int count = epoll_wait(loop->epoll, events, EVENTS, WAIT_MS);
        /* An answer that never comes must not keep the run alive. */
        if (count == 0 && !loop->options.once && now_us() > loop->end_us + 10000000) {
            break;
        }
        for (int i = 0; i < count; i++) {
            if (loop->all[events[i].data.u32].fd >= 0) {
                receive(loop, events[i].data.u32);
            }
        }
    }
}

static void print(const struct loop *loop, double seconds)
{
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    struct rusage used;
    const char *separator = "";

    for (uint32_t i = 0; i < loop->options.connections; i++) {
        least = loop->all[i].answered < least ? loop->all[i].answered : least;
        most = loop->all[i].answered > most ? loop->all[i].answered : most;
    }
    (void)getrusage(RUSAGE_SELF, &used);
    printf("{\"seconds\":%.3f,\"answered\":%llu,\"perSecond\":%.1f,\"p50Ms\":%.3f,\"p90Ms\":%.3f,"
           "\"p95Ms\":%.3f,\"p99Ms\":%.3f,\"maxMs\":%.3f,\"leastOfAConnection\":%llu,"
           "\"mostOfAConnection\":%llu,\"unanswered\":%u,\"next\":%llu,\"senderCpuS\":%.3f,"
           "\"statuses\":{",
           seconds, (unsigned long long)loop->latency.count, (double)loop->latency.count / seconds,
           histogram_quantile_ms(&loop->latency, 0.5), histogram_quantile_ms(&loop->latency, 0.9),
           histogram_quantile_ms(&loop->latency, 0.95), histogram_quantile_ms(&loop->latency, 0.99),
           (double)loop->latency.longest_us / 1000, (unsigned long long)least,
           (unsigned long long)most, loop->open, (unsigned long long)(loop->next % loop->count),
           (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
    for (int status = 0; status < STATUSES; status++) {
        if (loop->statuses[status] > 0) {
            printf("%s\"%d\":%llu", separator, status, (unsigned long long)loop->statuses[status]);
            separator = ",";
        }
    }
    printf("}}\n");
}

static uint64_t number(const char *text, uint64_t least, uint64_t most)
{
    return program_number("sluice-closed", text, least, most);
}

static bool read_options(int argc, char **argv, struct options *options)
{
    static const struct option NAMES[] = {{"port", required_argument, NULL, 'p'},
                                          {"requests", required_argument, NULL, 'r'},
                                          {"connections", required_argument, NULL, 'c'},
                                          {"seconds", required_argument, NULL, 's'},
                                          {"first", required_argument, NULL, 'f'},
                                          {"once", no_argument, NULL, 'o'},
                                          {NULL, 0, NULL, 0}};

    for (int name; (name = getopt_long(argc, argv, "", NAMES, NULL)) != -1;) {
        switch (name) {
        case 'p':
            options->port = (int)number(optarg, 1, 65535);
            break;
        case 'r':
            options->file = optarg;
            break;
        case 'c':
            options->connections = (uint32_t)number(optarg, 1, CONNECTIONS_MAX);
            break;
        case 's':
            options->seconds = (uint32_t)number(optarg, 1, 3600);
            break;
        case 'f':
            options->first = number(optarg, 0, UINT32_MAX);
            break;
        case 'o':
            options->once = true;
            break;
        default:
            return false;
        }
    }
    return options->port > 0 && options->file != NULL && optind == argc;
}

int main(int argc, char **argv)
{
    static struct loop loop = {.options = {.connections = 64, .seconds = 2}};

    if (!read_options(argc, argv, &loop.options)) {
        (void)fprintf(stderr, "usage: sluice-closed --port N --requests FILE [--connections N] "
                              "[--seconds N | --once] [--first N]\n");
        return PROGRAM_USAGE;
    }
    program_raise_file_limit();
    read_requests(&loop);
    loop.next = loop.options.first;
    loop.epoll = epoll_create1(EPOLL_CLOEXEC);
    loop.all = calloc(loop.options.connections, sizeof(*loop.all));
    if (loop.epoll < 0 || loop.all == NULL) {
        fail("sluice-closed");
    }
    int64_t start = now_us();
    run(&loop);
    print(&loop, (double)(now_us() - start) / 1e6);
    return 0;
}
