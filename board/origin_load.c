#include "board/origin_load.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "board/failing_networks.h"
#include "lib/base/clock.h"
#include "lib/base/identifier.h"

enum {
    QUEUES_MAX = 50,     /* further queues are not measured */
    DATAGRAM_MAX = 2048, /* longer ones are cut, and then ignored */
    LOOK_UP_MS = 200,    /* how long the thread may take to notice that it is to exit */
    REPORT_MS = 1000,
    BUFFER_BYTES = 1 << 20
};

struct tally {
    char queue[SLUG_MAX + 1];
    struct load_counts counts;
};

/* Kept over reports, by queue. The thread's alone. */
struct network_memory {
    char queue[SLUG_MAX + 1];
    struct failing_networks networks;
    int64_t used_ms;
};

struct origin_load {
    int socket;
    struct sockaddr_un address;
    pthread_t thread;
    atomic_bool ends;
    pthread_mutex_t lock; /* of the tallies */
    struct tally tallies[QUEUES_MAX];
    size_t count;
    int64_t reported_ms;
    struct network_memory memories[QUEUES_MAX];
};

static void add(struct load_counts *sum, const struct load_counts *more)
{
    for (int i = 0; i < LOAD_BUCKETS; i++) {
        sum->buckets[i] += more->buckets[i];
    }
    sum->errors += more->errors;
    sum->timeouts += more->timeouts;
}

/* Called with the lock held. */
static void tally(struct origin_load *load, struct str queue, const struct load_counts *counts)
{
    size_t i = 0;

    while (i < load->count && !str_equal(str_of(load->tallies[i].queue), queue)) {
        i++;
    }
    if (i == QUEUES_MAX) {
        return;
    }
    if (i == load->count) {
        load->tallies[i] = (struct tally){.counts = {.errors = 0}};
        str_copy(queue, load->tallies[i].queue, sizeof(load->tallies[i].queue));
        load->count++;
    }
    add(&load->tallies[i].counts, counts);
}

/* That of the queue; the one that was not used for longest makes room for it. */
static struct failing_networks *networks_of(struct origin_load *load, struct str queue,
                                            int64_t now_ms)
{
    struct network_memory *memory = &load->memories[0];

    for (size_t i = 0; i < QUEUES_MAX; i++) {
        if (str_equal(str_of(load->memories[i].queue), queue)) {
            memory = &load->memories[i];
            break;
        }
        memory = load->memories[i].used_ms < memory->used_ms ? &load->memories[i] : memory;
    }
    if (!str_equal(str_of(memory->queue), queue)) {
        *memory = (struct network_memory){.used_ms = 0};
        str_copy(queue, memory->queue, sizeof(memory->queue));
    }
    memory->used_ms = now_ms;
    return &memory->networks;
}

static void receive(struct origin_load *load, struct str datagram)
{
    struct load_counts counts = {.errors = 0};
    struct origin_answer answer;
    int64_t now_ms = clock_monotonic_ms();

    if (!origin_load_read(datagram, &answer, &counts) ||
        !failing_networks_note(networks_of(load, answer.queue, now_ms), answer.network,
                               counts.errors + counts.timeouts > 0, now_ms)) {
        return;
    }
    (void)pthread_mutex_lock(&load->lock);
    tally(load, answer.queue, &counts);
    (void)pthread_mutex_unlock(&load->lock);
}

static void *take(void *context)
{
    struct origin_load *load = context;
    char datagram[DATAGRAM_MAX];

    while (!atomic_load(&load->ends)) {
        ssize_t length = recv(load->socket, datagram, sizeof(datagram), 0);
        if (length > 0) {
            receive(load, str_sized(datagram, (size_t)length));
        }
    }
    return NULL;
}

static bool listen_at(struct origin_load *load, const char *path)
{
    const struct timeval look_up = {.tv_usec = LOOK_UP_MS * 1000};
    const int bytes = BUFFER_BYTES;

    load->address.sun_family = AF_UNIX;
    str_copy(str_of(path), load->address.sun_path, sizeof(load->address.sun_path));
    load->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (load->socket < 0) {
        return false;
    }
    (void)unlink(path);
    (void)setsockopt(load->socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    return setsockopt(load->socket, SOL_SOCKET, SO_RCVTIMEO, &look_up, sizeof(look_up)) == 0 &&
           bind(load->socket, (const struct sockaddr *)&load->address, sizeof(load->address)) ==
               0 &&
           chmod(path, 0666) == 0;
}

struct origin_load *origin_load_open(const char *path)
{
    struct origin_load *load = calloc(1, sizeof(*load));

    if (load == NULL) {
        abort();
    }
    (void)pthread_mutex_init(&load->lock, NULL);
    bool there = listen_at(load, path);
    int why = there ? pthread_create(&load->thread, NULL, take, load) : errno;
    if (why != 0) {
        if (load->socket >= 0) {
            (void)close(load->socket);
        }
        (void)pthread_mutex_destroy(&load->lock);
        free(load);
        errno = why;
        return NULL;
    }
    return load;
}

/* Removes and returns all tallies. */
static size_t drain_tallies(struct origin_load *load, struct tally out[QUEUES_MAX])
{
    (void)pthread_mutex_lock(&load->lock);
    size_t count = load->count;
    memcpy(out, load->tallies, count * sizeof(*out));
    load->count = 0;
    (void)pthread_mutex_unlock(&load->lock);
    return count;
}

static void put_back(struct origin_load *load, const struct tally *tallies, size_t count)
{
    (void)pthread_mutex_lock(&load->lock);
    for (size_t i = 0; i < count; i++) {
        tally(load, str_of(tallies[i].queue), &tallies[i].counts);
    }
    (void)pthread_mutex_unlock(&load->lock);
}

void origin_load_report(struct origin_load *load, struct redis *redis, struct arena *arena,
                        int64_t now_ms)
{
    struct tally tallies[QUEUES_MAX];

    if (now_ms - load->reported_ms < REPORT_MS) {
        return;
    }
    load->reported_ms = now_ms;
    size_t count = drain_tallies(load, tallies);
    for (size_t i = 0; i < count; i++) {
        if (order_load_add_counts(redis, arena, str_of(tallies[i].queue), LOAD_ORIGIN,
                                  &tallies[i].counts) == OUTCOME_ADMISSION_UNAVAILABLE) {
            put_back(load, tallies + i, count - i);
            return;
        }
    }
}

void origin_load_close(struct origin_load *load)
{
    if (load == NULL) {
        return;
    }
    atomic_store(&load->ends, true);
    (void)pthread_join(load->thread, NULL);
    (void)close(load->socket);
    (void)unlink(load->address.sun_path);
    (void)pthread_mutex_destroy(&load->lock);
    free(load);
}
