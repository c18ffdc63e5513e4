#include "demo/api_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "lib/base/arena.h"
#include "lib/base/buffer.h"

enum { ANSWER_MAX = 1024 * 1024, MOST_CONNECTIONS = 64, ANSWER_WITHIN_MS = 10000 };

struct call {
    CURL *easy;
    struct curl_slist *headers;
    struct buffer answer;
    api_done *done;
    void *context;
    struct call *next;
    struct call *previous;
};

struct api_client {
    CURLM *multi;
    const char *url;
    struct arena *arena; /* for the text of one request */
    struct call *calls;
};

static _Noreturn void give_up(const char *what)
{
    (void)fprintf(stderr, "sluice-shoppers: libcurl: %s\n", what);
    exit(EXIT_FAILURE);
}

struct api_client *api_client_new(const char *url)
{
    struct api_client *client = calloc(1, sizeof(*client));

    if (client == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        give_up("cannot be started");
    }
    client->multi = curl_multi_init();
    if (client->multi == NULL) {
        give_up("cannot be started");
    }
    (void)curl_multi_setopt(client->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)MOST_CONNECTIONS);
    (void)curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)MOST_CONNECTIONS);
    client->url = url;
    client->arena = arena_new();
    return client;
}

static void call_free(struct api_client *client, struct call *call)
{
    if (call->previous != NULL) {
        call->previous->next = call->next;
    } else {
        client->calls = call->next;
    }
    if (call->next != NULL) {
        call->next->previous = call->previous;
    }
    (void)curl_multi_remove_handle(client->multi, call->easy);
    curl_easy_cleanup(call->easy);
    curl_slist_free_all(call->headers);
    buffer_free(&call->answer);
    free(call);
}

void api_client_free(struct api_client *client)
{
    while (client->calls != NULL) {
        call_free(client, client->calls);
    }
    (void)curl_multi_cleanup(client->multi);
    curl_global_cleanup();
    arena_free(client->arena);
    free(client);
}

static size_t take_bytes(char *bytes, size_t size, size_t count, void *context)
{
    struct call *call = context;

    buffer_add(&call->answer, str_sized(bytes, size * count));
    return buffer_ok(&call->answer) ? size * count : 0;
}

static void add_header(struct api_client *client, struct call *call, const char *name,
                       const char *value)
{
    if (value == NULL) {
        return;
    }
    struct curl_slist *longer =
        curl_slist_append(call->headers, arena_format(client->arena, "%s%s", name, value));
    if (longer == NULL) {
        give_up("out of memory");
    }
    call->headers = longer;
}

/* Setting an option fails only without memory. */
#define SET(option, value)                                                                         \
    do {                                                                                           \
        if (curl_easy_setopt(call->easy, (option), (value)) != CURLE_OK) {                         \
            give_up("out of memory");                                                              \
        }                                                                                          \
    } while (0)

void api_send(struct api_client *client, const struct api_request *request, api_done *done,
              void *context)
{
    struct call *call = calloc(1, sizeof(*call));

    if (call == NULL || (call->easy = curl_easy_init()) == NULL) {
        give_up("out of memory");
    }
    call->done = done;
    call->context = context;
    buffer_init(&call->answer, ANSWER_MAX);
    call->next = client->calls;
    if (call->next != NULL) {
        call->next->previous = call;
    }
    client->calls = call;

    add_header(client, call, "Authorization: Bearer ", request->bearer);
    add_header(client, call, "X-Queue-Ticket: ", request->queue_ticket);
    add_header(client, call, "X-Entry-Token: ", request->entry_token);
    add_header(client, call, "Idempotency-Key: ", request->idempotency_key);
    if (request->body != NULL) {
        add_header(client, call, "Content-Type: ", "application/json");
    }
    SET(CURLOPT_URL, arena_format(client->arena, "%s%s", client->url, request->path));
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_PROTOCOLS_STR, "http");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_TIMEOUT_MS, (long)ANSWER_WITHIN_MS);
    SET(CURLOPT_WRITEFUNCTION, take_bytes);
    SET(CURLOPT_WRITEDATA, call);
    SET(CURLOPT_PRIVATE, call);
    if (request->body != NULL || strcmp(request->method, "POST") == 0) {
        SET(CURLOPT_COPYPOSTFIELDS, request->body != NULL ? request->body : "");
    }
    SET(CURLOPT_CUSTOMREQUEST, request->method);
    SET(CURLOPT_HTTPHEADER, call->headers);
    if (curl_multi_add_handle(client->multi, call->easy) != CURLM_OK) {
        give_up("out of memory");
    }
    arena_reset(client->arena);
}

static void answer(struct api_client *client, struct call *call, CURLcode result)
{
    struct api_reply reply = {.code = "", .retry_after_ms = -1};

    if (result == CURLE_OK) {
        curl_off_t seconds = 0;
        struct str text = buffer_text(&call->answer);
        (void)curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &reply.status);
        if (curl_easy_getinfo(call->easy, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK &&
            seconds > 0) {
            reply.retry_after_ms = (int64_t)seconds * 1000;
        }
        struct json_tokener *tokener = json_tokener_new();
        if (tokener != NULL && text.n > 0) {
            reply.body = json_tokener_parse_ex(tokener, text.p, (int)text.n);
        }
        if (tokener != NULL) {
            json_tokener_free(tokener);
        }
        reply.code = api_text(&reply, "code");
    }
    api_done *done = call->done;
    void *context = call->context;
    call_free(client, call);
    done(context, &reply);
    json_object_put(reply.body);
}

bool api_client_step(struct api_client *client, int64_t wait_ms, int stop_fd)
{
    struct curl_waitfd stop = {.fd = stop_fd, .events = CURL_WAIT_POLLIN};
    int running = 0;
    int left = 0;
    CURLMsg *message;

    (void)curl_multi_perform(client->multi, &running);
    while ((message = curl_multi_info_read(client->multi, &left)) != NULL) {
        struct call *call = NULL;
        if (message->msg == CURLMSG_DONE &&
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call) == CURLE_OK) {
            answer(client, call, message->data.result);
            wait_ms = 0;
        }
    }
    if (curl_multi_poll(client->multi, &stop, 1, (int)wait_ms, NULL) != CURLM_OK) {
        give_up("cannot wait");
    }
    return stop.revents != 0;
}

const char *api_text(const struct api_reply *reply, const char *name)
{
    json_object *value = NULL;

    if (!json_object_is_type(reply->body, json_type_object) ||
        !json_object_object_get_ex(reply->body, name, &value) ||
        !json_object_is_type(value, json_type_string)) {
        return "";
    }
    return json_object_get_string(value);
}

double api_number(const struct api_reply *reply, const char *name, double otherwise)
{
    json_object *value = NULL;

    if (!json_object_is_type(reply->body, json_type_object) ||
        !json_object_object_get_ex(reply->body, name, &value) ||
        (!json_object_is_type(value, json_type_int) &&
         !json_object_is_type(value, json_type_double))) {
        return otherwise;
    }
    return json_object_get_double(value);
}
