#include "lib/captcha/siteverify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <openssl/crypto.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/identity/jwt.h"
#include "lib/identity/text_secret.h"

enum {
    DEPTH_MAX = 8,
    HTTP_OK = 200,
    ANSWER_MAX = 16 * 1024, /* head and body */
    FAILURES_ALLOWED = 3,   /* in a row, before the provider is not asked for a while */
    PAUSE_MS = 5000         /* how long it is then not asked */
};

struct siteverify {
    struct http_client *client;
    struct text_secret secret;
    const char *hostname; /* expected; "": any */
    const char *action;   /* expected; "": any */
    int failures;         /* in a row */
    int64_t asked_again;  /* monotonic ms: when the provider may be asked after too many failures */
};

static const char WHY_PASSED[] = "The captcha is solved.";
static const char WHY_REFUSED[] = "The captcha's provider does not accept the answer.";
static const char WHY_USED[] =
    "The captcha was solved too long ago, or its answer was used before.";
static const char WHY_ELSEWHERE[] = "The captcha was solved for another site or another purpose.";
static const char WHY_SILENT[] = "The captcha's provider gives no verdict.";

/* Error codes that mean the provider cannot judge any token. bad-request is not among them, as the
 * sender of the token could provoke it. */
static const char *const NO_VERDICT[] = {
    "missing-input-secret",
    "invalid-input-secret",
    "invalid-parsed-secret",
    "invalid-widget-id",
    "sitekey-secret-mismatch",
    "internal-error",
    NULL,
};

static const char *const USED[] = {
    "timeout-or-duplicate",
    "expired-input-response",
    "already-seen-response",
    "invalid-or-already-seen-response",
    NULL,
};

static bool is_printable(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] <= 0x20 || text.p[i] > 0x7e) {
            return false;
        }
    }
    return true;
}

struct siteverify *siteverify_open(const struct settings *settings, char error[HTTP_CLIENT_ERROR])
{
    struct siteverify *siteverify = calloc(1, sizeof(*siteverify));
    const char *path = settings->captcha_secret_file;

    if (siteverify == NULL) {
        abort();
    }
    siteverify->hostname = settings->captcha_hostname;
    siteverify->action = settings->captcha_action;
    if (path[0] == '\0') {
        (void)snprintf(error, HTTP_CLIENT_ERROR,
                       "captcha_secret_file must be set where captcha_siteverify_url is");
    } else if (text_secret_open(&siteverify->secret, path, error)) {
        siteverify->client = http_client_open(
            &(struct http_client_options){.url = settings->captcha_siteverify_url,
                                          .connect_timeout_ms =
                                              (settings->captcha_timeout_ms + 1) / 2,
                                          .timeout_ms = settings->captcha_timeout_ms,
                                          .answer_max = ANSWER_MAX},
            error);
    }
    if (siteverify->client == NULL) {
        siteverify_close(siteverify);
        return NULL;
    }
    return siteverify;
}

void siteverify_close(struct siteverify *siteverify)
{
    if (siteverify != NULL) {
        http_client_close(siteverify->client);
        text_secret_close(&siteverify->secret);
        free(siteverify);
    }
}

/* True if one of the answer's error codes is among `codes`. */
static bool has_code(json_object *answer, const char *const codes[])
{
    json_object *list;

    if (!json_object_object_get_ex(answer, "error-codes", &list) ||
        !json_object_is_type(list, json_type_array)) {
        return false;
    }
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        json_object *code = json_object_array_get_idx(list, i);
        for (size_t n = 0; codes[n] != NULL; n++) {
            if (json_object_is_type(code, json_type_string) &&
                strcmp(json_object_get_string(code), codes[n]) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* True if nothing is expected or the answer's member has the expected value. */
static bool names(json_object *answer, const char *member, const char *expected)
{
    json_object *value;

    return expected[0] == '\0' || (json_object_object_get_ex(answer, member, &value) &&
                                   json_object_is_type(value, json_type_string) &&
                                   strcmp(json_object_get_string(value), expected) == 0);
}

/* `*detail` is set to the log's reason when there is no verdict. */
static enum siteverify_outcome judge(const struct siteverify *siteverify, json_object *answer,
                                     const char **why, const char **detail)
{
    json_object *success;

    if (!json_object_object_get_ex(answer, "success", &success) ||
        !json_object_is_type(success, json_type_boolean)) {
        *detail = "the answer does not say success";
        return SITEVERIFY_NO_ANSWER;
    }
    if (!json_object_get_boolean(success)) {
        *detail = "the provider refuses our secret or has a fault";
        *why = has_code(answer, USED) ? WHY_USED : WHY_REFUSED;
        return has_code(answer, NO_VERDICT) ? SITEVERIFY_NO_ANSWER : SITEVERIFY_REFUSED;
    }
    if (!names(answer, "hostname", siteverify->hostname) ||
        !names(answer, "action", siteverify->action)) {
        *why = WHY_ELSEWHERE;
        return SITEVERIFY_REFUSED;
    }
    *why = WHY_PASSED;
    return SITEVERIFY_PASSED;
}

/* Sends the secret and the token as a form. */
static struct http_answer send_form(struct siteverify *siteverify, struct str token,
                                    struct buffer *body)
{
    const struct http_field fields[] = {
        {.name = "secret", .value = text_secret_now(&siteverify->secret)},
        {.name = "response", .value = token},
    };
    const struct http_header type = {.name = "Content-Type",
                                     .value = STR("application/x-www-form-urlencoded")};
    struct buffer form;

    buffer_init(&form, HTTP_CLIENT_BODY_MAX);
    http_form_write(&form, fields, sizeof(fields) / sizeof(fields[0]));
    const struct http_request request = {
        .method = "POST", .headers = &type, .header_count = 1, .body = buffer_text(&form)};
    struct http_answer answer = {.why = "the form is too large"};
    if (buffer_ok(&form)) {
        answer = http_client_send(siteverify->client, &request, body);
    }
    if (form.length > 0) {
        OPENSSL_cleanse(form.bytes, form.length);
    }
    buffer_free(&form);
    return answer;
}

static enum siteverify_outcome exchange(struct siteverify *siteverify, struct str token,
                                        const char **why, const char **detail, long *status)
{
    enum siteverify_outcome outcome = SITEVERIFY_NO_ANSWER;
    struct buffer body;

    buffer_init(&body, ANSWER_MAX);
    struct http_answer sent = send_form(siteverify, token, &body);
    *status = sent.status;
    if (sent.status == HTTP_OK) {
        json_object *answer = jwt_json_object(buffer_text(&body), DEPTH_MAX);
        *detail = "the answer is no JSON object";
        if (answer != NULL) {
            outcome = judge(siteverify, answer, why, detail);
            json_object_put(answer);
        }
    } else {
        *detail = sent.status == 0 ? sent.why : "the answer has another status than 200";
    }
    buffer_free(&body);
    return outcome;
}

static bool is_left_alone(const struct siteverify *siteverify)
{
    return siteverify->failures >= FAILURES_ALLOWED &&
           clock_monotonic_ms() < siteverify->asked_again;
}

static enum siteverify_outcome ask(struct siteverify *siteverify, struct str token,
                                   const char **why)
{
    const char *detail = "";
    long status = 0;

    enum siteverify_outcome outcome = exchange(siteverify, token, why, &detail, &status);
    if (outcome != SITEVERIFY_NO_ANSWER) {
        siteverify->failures = 0;
        return outcome;
    }
    siteverify->failures += siteverify->failures < FAILURES_ALLOWED ? 1 : 0;
    siteverify->asked_again = clock_monotonic_ms() + PAUSE_MS;
    log_event(LOG_LEVEL_WARNING, "captcha.no_verdict",
              LOG_FIELDS(LOG_TEXT("reason", detail), LOG_INT("status", status)));
    *why = WHY_SILENT;
    return outcome;
}

enum siteverify_outcome siteverify_ask(struct siteverify *siteverify, struct str token,
                                       const char **why)
{
    if (token.n == 0 || token.n > SITEVERIFY_TOKEN_MAX || !is_printable(token)) {
        *why = WHY_REFUSED;
        return SITEVERIFY_REFUSED;
    }
    if (is_left_alone(siteverify)) {
        *why = WHY_SILENT;
        return SITEVERIFY_NO_ANSWER;
    }
    return ask(siteverify, token, why);
}

bool siteverify_answers(struct siteverify *siteverify)
{
    const char *why;

    return !is_left_alone(siteverify) && ask(siteverify, STR("none"), &why) != SITEVERIFY_NO_ANSWER;
}
