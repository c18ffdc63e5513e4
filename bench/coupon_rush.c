#include "bench/coupon_rush.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/connections.h"
#include "demo/member_token.h"

enum { BODY_MAX = 8, NAME_MAX = 64, TAG_BITS = 2, REQUEST_MAX = 4096, BATCH = 64 };

struct member {
    char *token;    /* entry token, once READY */
    int64_t due_us; /* of the request in flight, or of the next in a burst */
};

/* Members who may send a kind of request next, longest waiting first. */
struct line {
    uint32_t *members;
    uint32_t room;
    uint32_t first;
    uint32_t count;
};

struct rush {
    const struct rush_options *options;
    struct rush_result *result;
    struct connections *connections;
    struct member *members;
    uint32_t entered; /* how many have sent their entry */
    uint32_t done;    /* of a burst */
    struct line next[RUSH_REQUESTS];
    struct buffer request;
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
        perror("sluice-load");
        exit(1);
    }
    return memory;
}

const char *rush_request_name(enum rush_request request)
{
    static const char *const NAMES[] = {"enter", "position", "coupon"};

    return NAMES[request];
}

static void line_join(struct line *line, uint32_t member)
{
    line->members[(line->first + line->count++) % line->room] = member;
}

static bool line_take(struct line *line, uint32_t *member)
{
    if (line->count == 0) {
        return false;
    }
    *member = line->members[line->first];
    line->first = (line->first + 1) % line->room;
    line->count--;
    return true;
}

static void write_request(struct rush *rush, uint32_t index, enum rush_request kind)
{
    const struct rush_options *options = rush->options;
    struct buffer *out = &rush->request;
    char name[NAME_MAX];
    char login[MEMBER_TOKEN_TEXT];
    const char *body = kind == RUSH_COUPON ? "{}" : "";

    buffer_clear(out);
    switch (kind) {
    case RUSH_ENTER:
        buffer_format(out, "POST /v1/queues/%s/entries", options->queue);
        break;
    case RUSH_POSITION:
        buffer_format(out, "GET /v1/queues/%s/position", options->queue);
        break;
    case RUSH_COUPON:
    default:
        buffer_format(out, "POST /v1/coupon-events/%s/coupons", options->event);
        break;
    }
    (void)snprintf(name, sizeof(name), "%s%u", options->prefix, index);
    member_token_sign(options->key, name, login);
    buffer_format(out, " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n", login);
    if (kind == RUSH_COUPON) {
        buffer_format(out, "X-Entry-Token: %s\r\nContent-Type: application/json\r\n",
                      rush->members[index].token);
    }
    if (kind != RUSH_POSITION) {
        buffer_format(out, "Content-Length: %zu\r\n", strlen(body));
    }
    buffer_format(out, "\r\n%s", body);
}

static void send_one(struct rush *rush, uint32_t index, enum rush_request kind, int64_t due_us)
{
    rush->members[index].due_us = due_us;
    write_request(rush, index, kind);
    rush->result->sent++;
    histogram_add(&rush->result->lateness, now_us() - due_us);
    if (!connections_send(rush->connections, index << TAG_BITS | (uint32_t)kind,
                          buffer_text(&rush->request))) {
        rush->result->dropped++;
        rush->done++;
    }
}

/* The entry token of a position, NULL before its turn; `*again_ms` is when to poll next. */
static char *read_position(struct str body, int64_t *again_ms)
{
    json_tokener *tokener = need(json_tokener_new());
    json_object *answer = json_tokener_parse_ex(tokener, body.p, (int)body.n);
    json_object *value;
    char *token = NULL;

    if (json_object_object_get_ex(answer, "entryToken", &value) &&
        json_object_is_type(value, json_type_string)) {
        token = need(strdup(json_object_get_string(value)));
    }
    *again_ms = json_object_object_get_ex(answer, "retryAfterMs", &value)
                    ? json_object_get_int64(value)
                    : 1000;
    json_object_put(answer);
    json_tokener_free(tokener);
    return token;
}

/* Advances a member after an answer. In a burst the answer schedules its next request. */
static void move_on(struct rush *rush, uint32_t index, enum rush_request kind, int status,
                    int64_t retry_after_s, struct str body)
{
    struct member *member = &rush->members[index];
    bool good = status == 200 || status == 201;
    enum rush_request next = kind;
    int64_t again_ms = retry_after_s * 1000;

    if (good && kind == RUSH_COUPON) {
        rush->result->issued += status == 201;
        rush->done++;
        return;
    }
    if (good) {
        member->token = read_position(body, &again_ms);
        next = member->token == NULL ? RUSH_POSITION : RUSH_COUPON;
        again_ms = member->token == NULL ? again_ms : 0;
    } else if (status != 0 && status != 429 && status != 503 && status != 409) {
        rush->done++;
        return;
    }
    if (next == RUSH_ENTER && rush->options->rate > 0) {
        return; /* in a steady mix another member enters */
    }
    member->due_us = now_us() + again_ms * 1000;
    line_join(&rush->next[next], index);
}

static void answered(void *owner, uint32_t tag, int status, int64_t retry_after_s, struct str body)
{
    struct rush *rush = owner;
    uint32_t index = tag >> TAG_BITS;
    enum rush_request kind = (enum rush_request)(tag & ((1U << TAG_BITS) - 1));

    histogram_add(&rush->result->latency[kind], now_us() - rush->members[index].due_us);
    rush->result->statuses[kind][status < RUSH_STATUSES ? status : 0]++;
    rush->result->curt += (status == 503 || status == 429) && retry_after_s <= 0;
    move_on(rush, index, kind, status, retry_after_s, body);
}

/* The next request of a steady mix: kinds take turns; if no member can send one, a member sends
 * another kind. */
static void send_mixed(struct rush *rush, uint64_t number, int64_t due_us)
{
    uint32_t index;
    enum rush_request kind = (enum rush_request)(number % RUSH_REQUESTS);

    if (kind == RUSH_COUPON && line_take(&rush->next[RUSH_COUPON], &index)) {
        send_one(rush, index, RUSH_COUPON, due_us);
    } else if (kind != RUSH_ENTER && line_take(&rush->next[RUSH_POSITION], &index)) {
        send_one(rush, index, RUSH_POSITION, due_us);
    } else if (rush->entered < rush->options->members) {
        send_one(rush, rush->entered++, RUSH_ENTER, due_us);
    } else {
        rush->result->dropped++;
    }
}

static void run_steady(struct rush *rush)
{
    uint64_t wanted = (uint64_t)rush->options->rate * (uint64_t)rush->options->seconds;
    int64_t start = now_us();

    for (uint64_t sent = 0; sent < wanted;) {
        int64_t now = now_us();
        int64_t due = start;
        for (int batch = 0; batch < BATCH && sent < wanted; batch++) {
            due = start + (int64_t)(sent * 1000000 / rush->options->rate);
            if (due > now) {
                break;
            }
            send_mixed(rush, sent++, due);
        }
        connections_receive(rush->connections, due > now ? due - now : 0);
    }
    rush->result->sending_s = (double)(now_us() - start) / 1e6;
}

/* Sends the due requests of one kind in a burst. Members told to wait longer stay in line. */
static void send_due(struct rush *rush, enum rush_request kind)
{
    struct line *line = &rush->next[kind];
    uint32_t index;

    for (uint32_t looked = line->count; looked > 0 && line_take(line, &index); looked--) {
        if (rush->members[index].due_us <= now_us()) {
            send_one(rush, index, kind, rush->members[index].due_us);
        } else {
            line_join(line, index);
        }
    }
}

static void run_burst(struct rush *rush)
{
    int64_t start = now_us();
    int64_t deadline = start + rush->options->seconds * 1000000;

    while (rush->done < rush->options->members && now_us() < deadline) {
        for (int batch = 0; batch < BATCH && rush->entered < rush->options->members; batch++) {
            send_one(rush, rush->entered++, RUSH_ENTER, start);
        }
        connections_receive(rush->connections, rush->entered < rush->options->members ? 0 : 1000);
        send_due(rush, RUSH_ENTER);
        send_due(rush, RUSH_POSITION);
        send_due(rush, RUSH_COUPON);
    }
    rush->result->sending_s = (double)(now_us() - start) / 1e6;
}

void rush_run(const struct rush_options *options, struct rush_result *result)
{
    struct rush rush = {.options = options, .result = result};

    rush.connections = connections_new(options->port, options->connections, answered, &rush);
    rush.members = need(calloc(options->members, sizeof(*rush.members)));
    for (int kind = 0; kind < RUSH_REQUESTS; kind++) {
        rush.next[kind].room = options->members;
        rush.next[kind].members = need(calloc(options->members, sizeof(uint32_t)));
    }
    buffer_init(&rush.request, REQUEST_MAX);
    connections_warm_up(rush.connections, options->rate == 0 ? options->connections : 64);

    if (options->rate == 0) {
        run_burst(&rush);
    } else {
        run_steady(&rush);
    }
    int64_t deadline = now_us() + options->grace_us;
    while (connections_in_flight(rush.connections) > 0 && now_us() < deadline) {
        connections_receive(rush.connections, 10000);
    }
    result->unanswered = connections_in_flight(rush.connections);

    connections_free(rush.connections);
    buffer_free(&rush.request);
    for (uint32_t i = 0; i < options->members; i++) {
        free(rush.members[i].token);
    }
    for (int kind = 0; kind < RUSH_REQUESTS; kind++) {
        free(rush.next[kind].members);
    }
    free(rush.members);
}
