#include "tests/tools/crowd.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/encoding.h"

enum { JWT_PART = 256, POLL_US_PER_MS = 1000, LIFE_SECONDS = 86400 };

int64_t crowd_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void add_jwt(const struct crowd_options *options, struct mac_key *key, uint32_t index,
                    struct buffer *out)
{
    static const char HEAD[] = "{\"alg\":\"HS256\",\"typ\":\"JWT\"}";
    char claims[JWT_PART];
    char text[3 * JWT_PART];
    unsigned char mac[SHA256_BYTES];

    int length =
        snprintf(claims, sizeof(claims), "{\"sub\":\"%s%u\",\"exp\":%lld}", options->prefix, index,
                 (long long)(clock_wall_ms() / 1000 + LIFE_SECONDS));
    size_t at = base64url_encode(HEAD, sizeof(HEAD) - 1, text);
    text[at++] = '.';
    at += base64url_encode(claims, (size_t)length, text + at);
    mac_key_sign(key, (struct str){text, at}, mac);
    text[at++] = '.';
    at += base64url_encode(mac, sizeof(mac), text + at);
    buffer_add(out, (struct str){text, at});
}

void crowd_write_request(const struct crowd_options *options, struct mac_key *key,
                         const struct member *member, uint32_t index, struct buffer *out)
{
    char body[JWT_PART] = "";

    buffer_clear(out);
    switch (member->stage) {
    case STAGE_ENTER:
        buffer_format(out, "POST /v1/queues/%s/entries HTTP/1.1\r\n", options->queue);
        break;
    case STAGE_POLL:
        buffer_format(out, "GET /v1/queues/%s/position HTTP/1.1\r\nX-Queue-Ticket: %s\r\n",
                      options->queue, member->ticket);
        break;
    case STAGE_ORDER:
    case STAGE_DONE:
        snprintf(body, sizeof(body),
                 "{\"queue\":\"%s\",\"items\":[{\"sku\":\"%s\",\"quantity\":1}]}", options->queue,
                 options->sku);
        buffer_format(out,
                      "POST /v1/orders HTTP/1.1\r\nX-Entry-Token: %s\r\nIdempotency-Key: "
                      "order-of-%s%u\r\nContent-Type: application/json\r\n",
                      member->token, options->prefix, index);
        break;
    }
    buffer_add(out, STR("Host: 127.0.0.1\r\nAuthorization: Bearer "));
    add_jwt(options, key, index, out);
    buffer_format(out, "\r\nContent-Length: %zu\r\n\r\n%s", strlen(body), body);
}

static char *text_of(json_object *answer, const char *name)
{
    json_object *value;

    if (!json_object_object_get_ex(answer, name, &value) ||
        !json_object_is_type(value, json_type_string)) {
        return NULL;
    }
    return strdup(json_object_get_string(value));
}

static int64_t number_of(json_object *answer, const char *name)
{
    json_object *value;

    return json_object_object_get_ex(answer, name, &value) ? json_object_get_int64(value) : 0;
}

/* The number in the ticket's payload, 0 where there is none. */
static int64_t seq_of(const char *ticket)
{
    unsigned char payload[1024];
    size_t length;
    const char *from = strchr(ticket, '.');
    const char *to = from == NULL ? NULL : strchr(from + 1, '.');

    if (to == NULL || !base64url_decode((struct str){from + 1, (size_t)(to - from - 1)}, payload,
                                        sizeof(payload) - 1, &length)) {
        return 0;
    }
    payload[length] = '\0';
    json_object *claims = json_tokener_parse((const char *)payload);
    int64_t seq = number_of(claims, "seq");
    json_object_put(claims);
    return seq;
}

static void take_token(struct member *member, json_object *answer)
{
    char *ends = text_of(answer, "entryTokenExpiresAt");

    member->ready_us = crowd_now_us();
    member->token = text_of(answer, "entryToken");
    if (ends == NULL || !rfc3339_parse(str_of(ends), &member->token_ends_ms)) {
        member->token_ends_ms = 0;
    }
    free(ends);
}

static int64_t move_on(const struct crowd_options *options, struct member *member,
                       json_object *answer)
{
    if (member->stage == STAGE_ENTER) {
        member->received_us = crowd_now_us();
        member->ticket = text_of(answer, "queueTicket");
        member->seq = member->ticket == NULL ? 0 : seq_of(member->ticket);
        member->stage = options->until == STAGE_POLL ? STAGE_DONE : STAGE_POLL;
    } else if (member->stage == STAGE_POLL) {
        member->polls++;
        char *token = text_of(answer, "entryToken");
        if (token != NULL) {
            free(token);
            take_token(member, answer);
            member->stage = options->until == STAGE_ORDER ? STAGE_DONE : STAGE_ORDER;
        }
    } else {
        member->order_status = member->status;
        member->stage = STAGE_DONE;
    }
    if (member->stage == STAGE_DONE) {
        return -1;
    }
    return member->stage == STAGE_ORDER ? 0 : number_of(answer, "retryAfterMs") * POLL_US_PER_MS;
}

int64_t crowd_read_answer(const struct crowd_options *options, struct member *member, int status,
                          int64_t retry_after_s, struct str body)
{
    member->status = status;
    if (status == 429 || status == 503 || (status == 409 && retry_after_s > 0)) {
        member->retries++;
        return retry_after_s * 1000000;
    }
    if (status != 200 && status != 201) {
        member->order_status = member->stage == STAGE_ORDER ? status : 0;
        member->stage = STAGE_DONE;
        return -1;
    }
    json_tokener *tokener = json_tokener_new();
    json_object *answer = json_tokener_parse_ex(tokener, body.p, (int)body.n);
    int64_t again = move_on(options, member, answer);
    json_object_put(answer);
    json_tokener_free(tokener);
    return again;
}
