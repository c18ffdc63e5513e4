#include "bench/booking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/connections.h"
#include "lib/base/buffer.h"

enum {
    TAG_BITS = 3,
    SEAT_ROOM = 24,
    TOKEN_ROOM = 64,
    TICKET_ROOM = 800,
    TRIES = 3,
    MAPS = 3,
    REQUEST_MAX = 8192,
    CONNECTIONS = 8000,
    GRACE_US = 20000000,
    BATCH = 64
};

struct member {
    char *headers; /* in the file */
    int64_t due_us;
    char seats[TRIES][SEAT_ROOM]; /* candidates of the last map */
    uint8_t seat_count;
    uint8_t tries; /* of this map */
    uint8_t maps;
    char token[TOKEN_ROOM]; /* with --enter */
    char *ticket;           /* with --enter, TICKET_ROOM */
};

struct due {
    int64_t at_us;
    uint32_t tag;
};

struct booking {
    const struct booking_options *options;
    struct booking_result *result;
    struct connections *connections;
    struct member *members;
    uint32_t count;
    struct due *heap;
    size_t heap_size;
    struct buffer request;
    unsigned int seed;
};

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void *need(void *memory)
{
    if (memory == NULL) {
        perror("sluice-booking");
        exit(1);
    }
    return memory;
}

static void plan(struct booking *booking, uint32_t index, enum booking_step step, int64_t at_us)
{
    size_t i = booking->heap_size++;

    for (; i > 0 && booking->heap[(i - 1) / 2].at_us > at_us; i = (i - 1) / 2) {
        booking->heap[i] = booking->heap[(i - 1) / 2];
    }
    booking->heap[i] = (struct due){at_us, index << TAG_BITS | (uint32_t)step};
}

static struct due take_first(struct booking *booking)
{
    struct due first = booking->heap[0];
    struct due last = booking->heap[--booking->heap_size];
    size_t i = 0;

    for (size_t child; (child = 2 * i + 1) < booking->heap_size; i = child) {
        if (child + 1 < booking->heap_size &&
            booking->heap[child + 1].at_us < booking->heap[child].at_us) {
            child++;
        }
        if (booking->heap[child].at_us >= last.at_us) {
            break;
        }
        booking->heap[i] = booking->heap[child];
    }
    booking->heap[i] = last;
    return first;
}

static void end(struct booking *booking, uint32_t index, bool booked)
{
    booking->result->under_way--;
    booking->result->booked += booked;
    booking->result->gave_up += !booked;
    free(booking->members[index].ticket);
    booking->members[index].ticket = NULL;
}

static void write_request(struct booking *booking, uint32_t index, enum booking_step step)
{
    struct member *member = &booking->members[index];
    struct buffer *out = &booking->request;
    char body[256] = "";
    uint32_t show = booking->options->first_show + index % booking->options->shows;

    buffer_clear(out);
    switch (step) {
    case BOOKING_ENTER:
        buffer_format(out, "POST /v1/queues/%s/entries", booking->options->queue);
        break;
    case BOOKING_POSITION:
        buffer_format(out, "GET /v1/queues/%s/position", booking->options->queue);
        break;
    case BOOKING_MAP:
        buffer_format(out, "GET /v1/shows/bench-%u/seats", show);
        break;
    case BOOKING_HOLD:
        buffer_format(out, "POST /v1/shows/bench-%u/holds", show);
        (void)snprintf(body, sizeof(body), "{\"seats\":[\"%s\"]}", member->seats[member->tries]);
        break;
    case BOOKING_ORDER:
    default:
        buffer_format(out, "POST /v1/orders");
        (void)snprintf(body, sizeof(body),
                       "{\"queue\":\"%s\",\"show\":\"bench-%u\",\"seats\":[\"%s\"]}",
                       booking->options->queue, show, member->seats[member->tries]);
        break;
    }
    buffer_format(out, " HTTP/1.1\r\nHost: 127.0.0.1\r\n%s", member->headers);
    if (member->token[0] != '\0') {
        buffer_format(out, "X-Entry-Token: %s\r\n", member->token);
    }
    if (step == BOOKING_POSITION) {
        buffer_format(out, "X-Queue-Ticket: %s\r\n", member->ticket);
    }
    if (step == BOOKING_ORDER) {
        buffer_format(out, "Idempotency-Key: booking-%u\r\n", index);
    }
    if (body[0] != '\0') {
        buffer_format(out, "Content-Type: application/json\r\n");
    }
    if (step != BOOKING_MAP && step != BOOKING_POSITION) {
        buffer_format(out, "Content-Length: %zu\r\n", strlen(body));
    }
    buffer_format(out, "\r\n%s", body);
}

static void send_one(struct booking *booking, struct due due)
{
    uint32_t index = due.tag >> TAG_BITS;
    enum booking_step step = (enum booking_step)(due.tag & ((1U << TAG_BITS) - 1));

    booking->members[index].due_us = due.at_us;
    write_request(booking, index, step);
    histogram_add(&booking->result->lateness, now_us() - due.at_us);
    if (!connections_send(booking->connections, due.tag, buffer_text(&booking->request))) {
        booking->result->dropped++;
        end(booking, index, false);
    }
}

/* Copies a text member of the answer, if it fits; false if it is null or missing. */
static bool read_text(struct str body, const char *name, char *out, size_t room)
{
    char wanted[32];
    int length = snprintf(wanted, sizeof(wanted), "\"%s\":\"", name);
    const char *at = memmem(body.p, body.n, wanted, (size_t)length);

    if (at == NULL) {
        return false;
    }
    at += length;
    const char *last = memchr(at, '"', body.n - (size_t)(at - body.p));
    if (last == NULL || (size_t)(last - at) >= room) {
        return false;
    }
    memcpy(out, at, (size_t)(last - at));
    out[last - at] = '\0';
    return true;
}

static int64_t read_retry_ms(struct str body)
{
    static const char NAME[] = "\"retryAfterMs\":";
    const char *at = memmem(body.p, body.n, NAME, sizeof(NAME) - 1);

    return at == NULL ? 1000 : strtol(at + sizeof(NAME) - 1, NULL, 10);
}

/* Picks some of the free seats, uniformly (reservoir sampling). */
static void read_map(struct booking *booking, struct member *member, struct str body)
{
    static const char FREE[] = "\"status\":\"AVAILABLE\"";
    static const char ID[] = "{\"id\":\"";
    const char *end = body.p + body.n;
    uint32_t free_seats = 0;

    member->seat_count = 0;
    member->tries = 0;
    for (const char *at = body.p;
         (at = memmem(at, (size_t)(end - at), ID, sizeof(ID) - 1)) != NULL;) {
        const char *id = at + sizeof(ID) - 1;
        const char *next = memmem(id, (size_t)(end - id), ID, sizeof(ID) - 1);
        const char *stop = next == NULL ? end : next;
        const char *quote = memchr(id, '"', (size_t)(stop - id));
        if (quote != NULL && quote - id < SEAT_ROOM &&
            memmem(id, (size_t)(stop - id), FREE, sizeof(FREE) - 1) != NULL) {
            uint32_t place = free_seats++;
            if (place >= TRIES) {
                place = (uint32_t)rand_r(&booking->seed) % free_seats;
            } else {
                member->seat_count++;
            }
            if (place < TRIES) {
                memcpy(member->seats[place], id, (size_t)(quote - id));
                member->seats[place][quote - id] = '\0';
            }
        }
        at = stop;
    }
}

/* Advances a member after a successful answer. */
static void go_on(struct booking *booking, uint32_t index, enum booking_step step, struct str body)
{
    struct member *member = &booking->members[index];
    int64_t now = now_us();

    switch (step) {
    case BOOKING_ENTER:
        member->ticket = need(calloc(1, TICKET_ROOM));
        (void)read_text(body, "queueTicket", member->ticket, TICKET_ROOM);
        /* fallthrough */
    case BOOKING_POSITION:
        if (read_text(body, "entryToken", member->token, TOKEN_ROOM)) {
            plan(booking, index, BOOKING_MAP, now);
        } else {
            plan(booking, index, BOOKING_POSITION, now + read_retry_ms(body) * 1000);
        }
        break;
    case BOOKING_MAP:
        member->maps++;
        read_map(booking, member, body);
        if (member->seat_count == 0) {
            end(booking, index, false);
        } else {
            plan(booking, index, BOOKING_HOLD, now + booking->options->think_us);
        }
        break;
    case BOOKING_HOLD:
        plan(booking, index, BOOKING_ORDER, now + booking->options->think_us);
        break;
    case BOOKING_ORDER:
    default:
        end(booking, index, true);
        break;
    }
}

/* The seat is taken: tries another one of this map, then another map. */
static void seat_is_gone(struct booking *booking, uint32_t index)
{
    struct member *member = &booking->members[index];

    if (++member->tries < member->seat_count) {
        plan(booking, index, BOOKING_HOLD, now_us());
    } else if (member->maps < MAPS) {
        plan(booking, index, BOOKING_MAP, now_us());
    } else {
        end(booking, index, false);
    }
}

static void answered(void *owner, uint32_t tag, int status, int64_t retry_after_s, struct str body)
{
    struct booking *booking = owner;
    uint32_t index = tag >> TAG_BITS;
    enum booking_step step = (enum booking_step)(tag & ((1U << TAG_BITS) - 1));

    histogram_add(&booking->result->latency[step], now_us() - booking->members[index].due_us);
    booking->result->statuses[step][status < BOOKING_STATUSES ? status : 0]++;
    if (status == 200 || status == 201) {
        go_on(booking, index, step, body);
    } else if (step == BOOKING_HOLD && status == 409) {
        seat_is_gone(booking, index);
    } else if (status == 503 || status == 429) {
        plan(booking, index, step, now_us() + (retry_after_s > 0 ? retry_after_s : 1) * 1000000);
    } else {
        end(booking, index, false);
    }
}

static void run(struct booking *booking)
{
    uint32_t wanted = booking->options->rate * booking->options->seconds;
    uint32_t come = 0;
    int64_t start = now_us();
    int64_t stop = start + (int64_t)booking->options->seconds * 1000000 + GRACE_US;

    wanted = wanted < booking->count ? wanted : booking->count;
    while ((come < wanted || booking->result->under_way > 0) && now_us() < stop) {
        int64_t now = now_us();
        for (int batch = 0; batch < BATCH && come < wanted; batch++) {
            int64_t at = start + (int64_t)come * 1000000 / booking->options->rate;
            if (at > now) {
                break;
            }
            booking->result->under_way++;
            plan(booking, come++, booking->options->enters ? BOOKING_ENTER : BOOKING_MAP, at);
        }
        while (booking->heap_size > 0 && booking->heap[0].at_us <= now) {
            send_one(booking, take_first(booking));
        }
        connections_receive(booking->connections, 500);
    }
}

static void read_members(struct booking *booking)
{
    FILE *in = fopen(booking->options->file, "rb");
    char *line = NULL;
    size_t room = 0;
    uint32_t most = booking->options->rate * booking->options->seconds;

    if (in == NULL) {
        need(NULL);
    }
    booking->members = need(calloc(most, sizeof(*booking->members)));
    while (booking->count < most && getdelim(&line, &room, '\0', in) > 0) {
        booking->members[booking->count++].headers = need(strdup(line));
    }
    free(line);
    (void)fclose(in);
    booking->heap = need(calloc(most + 1, sizeof(*booking->heap)));
}

void booking_run(const struct booking_options *options, struct booking_result *result)
{
    struct booking booking = {.options = options, .result = result, .seed = 1};

    read_members(&booking);
    buffer_init(&booking.request, REQUEST_MAX);
    booking.connections = connections_new(options->port, CONNECTIONS, answered, &booking);
    connections_warm_up(booking.connections, 64);
    run(&booking);
    connections_free(booking.connections);
    buffer_free(&booking.request);
    for (uint32_t i = 0; i < booking.count; i++) {
        free(booking.members[i].ticket);
        free(booking.members[i].headers);
    }
    free(booking.members);
    free(booking.heap);
}
