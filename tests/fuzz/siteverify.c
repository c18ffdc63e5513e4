/*
 * Answers of a captcha's provider. First line: the status; the rest: the body. The HTTP client is
 * played here.
 */
#include "lib/captcha/siteverify.h"

#include <string.h>

#include "lib/identity/jwt.h"
#include "tests/fuzz/fuzz.h"

static long status;
static struct str body;

struct http_client *http_client_open(const struct http_client_options *options,
                                     char error[HTTP_CLIENT_ERROR])
{
    static char client;

    (void)options;
    error[0] = '\0';
    return (struct http_client *)(void *)&client;
}

void http_client_close(struct http_client *client)
{
    (void)client;
}

struct http_answer http_client_send(struct http_client *client, const struct http_request *request,
                                    struct buffer *answer)
{
    (void)client;
    REQUIRE(request->body.n > 0);
    buffer_add(answer, body);
    if (!buffer_ok(answer)) {
        return (struct http_answer){.outcome = HTTP_MAYBE_SENT, .why = "too large"};
    }
    return (struct http_answer){.outcome = HTTP_ANSWERED, .status = status, .why = ""};
}

void http_form_write(struct buffer *out, const struct http_field *fields, size_t count)
{
    REQUIRE(count == 2 && str_equal(fields[0].value, STR("secret")));
    buffer_add(out, STR("form"));
}

static bool says(json_object *answer, const char *name, const char *expected)
{
    json_object *value = json_object_object_get(answer, name);

    return json_object_is_type(value, json_type_string) &&
           strcmp(json_object_get_string(value), expected) == 0;
}

/* Only an answer that says so, for this site and this action, is one. */
static void says_so(void)
{
    json_object *answer = jwt_json_object(body, JWT_DEPTH_MAX);
    json_object *success = json_object_object_get(answer, "success");

    REQUIRE(status == 200);
    REQUIRE(json_object_is_type(success, json_type_boolean) && json_object_get_boolean(success));
    REQUIRE(says(answer, "hostname", "shop.example") && says(answer, "action", "coupon"));
    (void)json_object_put(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct settings settings = {.captcha_siteverify_url = "https://captcha.example/",
                                      .captcha_secret_file = fuzz_file(STR("secret\n")),
                                      .captcha_hostname = "shop.example",
                                      .captcha_action = "coupon",
                                      .captcha_timeout_ms = 1000};
    struct arena *arena = fuzz_arena();
    char error[HTTP_CLIENT_ERROR];
    const char *why = NULL;

    body = fuzz_text(data, size);
    status = (long)fuzz_number(arena, &body);
    struct siteverify *siteverify = siteverify_open(&settings, error);
    REQUIRE(siteverify != NULL);
    enum siteverify_outcome outcome = siteverify_ask(siteverify, STR("token"), &why);
    REQUIRE(why != NULL);
    if (outcome == SITEVERIFY_PASSED) {
        says_so();
    }
    siteverify_close(siteverify);
    return 0;
}
