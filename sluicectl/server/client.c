#include "sluicectl/server/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "lib/base/buffer.h"
#include "lib/base/secret.h"
#include "sluicectl/server/installation.h"

enum {
    CONNECT_TIMEOUT_MS = 3000,
    TIMEOUT_MS = 15000,
    PUT_TIMEOUT_MS = 130000, /* a complete plan of seats is stored in one request */
    ANSWER_MAX = 32 * 1024 * 1024
};

static void release_json(void *object)
{
    (void)json_object_put(object);
}

static size_t receive(char *bytes, size_t size, size_t count, void *buffer)
{
    buffer_add(buffer, str_sized(bytes, size * count));
    return buffer_ok(buffer) ? size * count : 0;
}

/** Records that there is no answer. Returns false. */
static bool no_answer(struct client_answer *answer, enum exit_code code, const char *why)
{
    answer->failure = code;
    answer->why = why;
    return false;
}

/** The first line that is not a comment: of several keys the one to use. */
static struct str first_key(struct str text)
{
    struct str line;

    while (str_split(text, '\n', &line, &text) && str_starts(line, STR("#"))) {
    }
    return str_sized(line.p, line.n > 0 && line.p[line.n - 1] == '\r' ? line.n - 1 : line.n);
}

/** The header with the admin key; NULL, with the reason recorded, if there is none. */
static struct curl_slist *key_header(const struct invocation *invocation,
                                     struct client_answer *answer)
{
    const char *refusal;
    const char *path = installation_key_file(invocation, &refusal);
    char error[SECRET_ERROR];
    char *bytes = NULL;
    size_t length = 0;

    if (refusal != NULL || !secret_read(path, &bytes, &length, error)) {
        (void)no_answer(answer, EXIT_CONFIG,
                        arena_format(invocation->arena,
                                     "the admin key cannot be read: %s. %s Sluice's folder with "
                                     "--data or SLUICE_DATA, or the key with "
                                     "SLUICE_ADMIN_KEY_FILE.",
                                     refusal != NULL ? refusal : error,
                                     installation_is_system(invocation)
                                         ? "Use root's rights, or name"
                                         : "Name"));
        return NULL;
    }
    struct str key = first_key(str_sized(bytes, length));
    char *header = arena_format(invocation->arena, "Authorization: Bearer %.*s", STR_ARG(key));
    struct curl_slist *headers = curl_slist_append(NULL, header);
    secret_free(bytes, length);
    return headers;
}

/** The server's time from the Date header; 0 without one. */
static int64_t date_of(CURL *curl)
{
    struct curl_header *date = NULL;

    if (curl_easy_header(curl, "Date", 0, CURLH_HEADER, -1, &date) != CURLHE_OK) {
        return 0;
    }
    time_t seconds = curl_getdate(date->value, NULL);
    return seconds > 0 ? (int64_t)seconds * 1000 : 0;
}

/** Sends it; false, with the reason recorded, if no answer came. */
static bool perform(const struct invocation *invocation, CURL *curl, struct client_answer *answer)
{
    CURLcode code = curl_easy_perform(curl);

    if (code == CURLE_OK) {
        (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->status);
        answer->date_ms = date_of(curl);
        return true;
    }
    if (code != CURLE_COULDNT_CONNECT && code != CURLE_COULDNT_RESOLVE_HOST) {
        return no_answer(answer, EXIT_UNAVAILABLE,
                         arena_format(invocation->arena, "%s sent an incomplete answer: %s.",
                                      invocation->url, curl_easy_strerror(code)));
    }
    return no_answer(
        answer, EXIT_UNAVAILABLE,
        arena_format(invocation->arena,
                     installation_is_system(invocation)
                         ? "%s does not answer (%s). Is nginx running (nginx -t), and does its "
                           "configuration include /var/lib/sluice/nginx/http.conf? Another address "
                           "is named with --url or SLUICE_URL."
                         : "%s does not answer (%s). Is Sluice running? Start it with scripts/run, "
                           "or name its address with --url or SLUICE_URL.",
                     invocation->url, curl_easy_strerror(code)));
}

/** The sentences for an answer that is not Sluice's: `path` was requested. */
static const char *stranger(const struct invocation *invocation, CURL *curl, const char *path,
                            long status)
{
    char *target = NULL;

    (void)curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &target);
    if (target == NULL) {
        return arena_format(invocation->arena,
                            "%s answered with status %ld and without JSON. Is that Sluice?",
                            invocation->url, status);
    }
    size_t length = strlen(target);
    size_t end = strlen(path);
    bool same_path = length > end && strcmp(target + length - end, path) == 0;
    return arena_format(invocation->arena,
                        "%s redirects to %.*s, where sluicectl does not follow with the admin key. "
                        "If that is Sluice, name it with --url or SLUICE_URL.",
                        invocation->url, (int)(same_path ? length - end : length), target);
}

static void set_options(CURL *curl, const char *url, const char *method, struct curl_slist *headers,
                        struct buffer *received)
{
    (void)curl_easy_setopt(curl, CURLOPT_URL, url);
    (void)curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    /* A proxy from the environment would see the admin key. */
    (void)curl_easy_setopt(curl, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                           strcmp(method, "PUT") == 0 ? (long)PUT_TIMEOUT_MS : (long)TIMEOUT_MS);
    (void)curl_easy_setopt(curl, CURLOPT_USERAGENT, "sluicectl/" PACKAGE_VERSION);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, received);
}

bool client_try(const struct invocation *invocation, const char *method, const char *path,
                json_object *body, struct client_answer *answer)
{
    /* Public routes are requested without the key. */
    bool needs_key = str_starts(str_of(path), STR("/v1/admin/"));

    *answer = (struct client_answer){0};
    if (invocation->url[0] == '\0') {
        return no_answer(
            answer, EXIT_CONFIG,
            "this host serves no address of its own: /etc/sluice/local-address says none. "
            "Name the server with --url or SLUICE_URL.");
    }
    struct curl_slist *headers = needs_key ? key_header(invocation, answer) : NULL;
    if (needs_key && headers == NULL) {
        return false;
    }
    CURL *curl = curl_easy_init();
    if (curl == NULL) {
        abort();
    }
    struct buffer received;
    buffer_init(&received, ANSWER_MAX);
    set_options(curl, arena_format(invocation->arena, "%s%s", invocation->url, path), method,
                headers, &received);
    if (body != NULL) {
        headers = curl_slist_append(headers, "Content-Type: application/json");
        (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS,
                               json_object_to_json_string_ext(body, JSON_C_TO_STRING_PLAIN));
    }
    bool answered = perform(invocation, curl, answer);
    if (answered && answer->status >= 300 && answer->status < 400) {
        answered =
            no_answer(answer, EXIT_UNAVAILABLE, stranger(invocation, curl, path, answer->status));
    } else if (answered && received.length > 0) {
        answer->body = json_tokener_parse(arena_copy(invocation->arena, buffer_text(&received)));
        arena_on_reset(invocation->arena, release_json, answer->body);
        if (!json_object_is_type(answer->body, json_type_object)) {
            answered = no_answer(answer, EXIT_UNAVAILABLE,
                                 stranger(invocation, curl, path, answer->status));
        }
    }
    buffer_free(&received);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    return answered;
}

bool client_request(const struct invocation *invocation, const char *method, const char *path,
                    json_object *body, struct client_answer *answer)
{
    if (client_try(invocation, method, path, body, answer)) {
        return true;
    }
    (void)failed_as(answer->failure, "%s", answer->why);
    return false;
}

/** 401 and 403 concern the key; 429, 502, 503 and 504 are temporary. */
static enum exit_code code_of(long status)
{
    switch (status) {
    case 401:
    case 403:
        return EXIT_FORBIDDEN;
    case 429:
    case 502:
    case 503:
    case 504:
        return EXIT_UNAVAILABLE;
    default:
        return EXIT_FAILED;
    }
}

enum exit_code client_refused(const struct invocation *invocation,
                              const struct client_answer *answer)
{
    enum exit_code exit_code = code_of(answer->status);

    if (answer->body == NULL) {
        return failed_as(exit_code, "%s answered with status %ld and an empty body.",
                         invocation->url, answer->status);
    }
    const char *code = text_field(answer->body, "code", "");
    const char *pointer = text_field(answer->body, "pointer", "");
    if (invocation->json) {
        print_json(answer->body);
    }
    if (strcmp(code, "UNAUTHENTICATED") == 0) {
        const char *refusal;
        return failed_as(
            exit_code,
            "the admin key was not accepted (%s): is the one in %s that of the Sluice at %s?", code,
            installation_key_file(invocation, &refusal), invocation->url);
    }
    return failed_as(
        exit_code, "%s%s%s (%s)", pointer, pointer[0] != '\0' ? ": " : "",
        text_field(answer->body, "detail", "refused without a reason"),
        code[0] != '\0' ? code : arena_format(invocation->arena, "status %ld", answer->status));
}

bool client_call(const struct invocation *invocation, const char *method, const char *path,
                 json_object *body, struct client_answer *answer)
{
    if (!client_request(invocation, method, path, body, answer)) {
        return false;
    }
    if (answer->status < 200 || answer->status > 299) {
        (void)client_refused(invocation, answer);
        return false;
    }
    return true;
}
