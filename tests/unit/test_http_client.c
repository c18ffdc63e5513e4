#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/http_client/http_client.h"

enum { ANSWER_MAX = 1024, QUICK_MS = 300, PATIENT_MS = 10000, SEEN_MAX = 4096 };

TEST(only_tls_and_this_machine_are_spoken_to)
{
    static const char *const ALLOWED[][2] = {
        {"https://challenges.example.com/turnstile/v0/siteverify", ""},
        {"https://[2001:db8::1]:8443/siteverify", ""},
        {"http://127.0.0.1:8000/siteverify", "local"},
        {"http://[::1]:8000/siteverify", "local"},
        {"http://localhost/siteverify", "local"},
    };
    static const char *const REFUSED[][2] = {
        {"", "is no address"},
        {"siteverify", "is no address"},
        {"http://example.com/siteverify", "must begin with https://"},
        {"http://127.0.0.1.example.com/", "must begin with https://"},
        {"http://localhost.example.com/", "must begin with https://"},
        {"http://127.0.0.1@example.com/", "must not hold a user"},
        {"https://user:word@example.com/", "must not hold a user"},
        {"ftp://127.0.0.1/siteverify", "must begin with https://"},
        {"file:///etc/passwd", "is no address"},
        {"https://", "is no address"},
        {"https://exa mple.com/", "is no address"},
    };

    for (size_t i = 0; i < COUNT(ALLOWED); i++) {
        char error[HTTP_CLIENT_ERROR] = "";
        struct http_client *client = http_client_open(
            &(struct http_client_options){
                .url = ALLOWED[i][0], .connect_timeout_ms = 1, .timeout_ms = 1, .answer_max = 1},
            error);
        assert_string_equal(error, "");
        assert_non_null(client);
        assert_int_equal(http_client_is_local(client), ALLOWED[i][1][0] != '\0');
        http_client_close(client);
    }
    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        char error[HTTP_CLIENT_ERROR] = "";
        if (http_client_open(&(struct http_client_options){.url = REFUSED[i][0],
                                                           .connect_timeout_ms = 1,
                                                           .timeout_ms = 1,
                                                           .answer_max = 1},
                             error) != NULL) {
            fail_msg("'%s' was accepted", REFUSED[i][0]);
        }
        if (strstr(error, REFUSED[i][1]) == NULL) {
            fail_msg("'%s': %s", REFUSED[i][0], error);
        }
    }
    http_client_close(NULL);
}

TEST(no_value_can_add_a_field_to_the_form)
{
    const struct http_field fields[] = {
        {.name = "secret", .value = STR("a&b=c d+e%\n")},
        {.name = "response", .value = STR("A-Z._~\xed\x95\x9c\0x")},
        {.name = "empty", .value = {NULL, 0}},
    };
    struct buffer form;

    buffer_init(&form, 1024);
    http_form_write(&form, fields, COUNT(fields));
    assert_text(buffer_text(&form),
                "secret=a%26b%3Dc%20d%2Be%25%0A&response=A-Z._~%ED%95%9C%00x&empty=");
    buffer_free(&form);
}

/* A socket that listens on the loopback. */
static int listen_somewhere(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 4), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    *port = ntohs(address.sin_port);
    return listener;
}

static struct http_client *client_of(int port, int64_t timeout_ms)
{
    char error[HTTP_CLIENT_ERROR] = "";
    char url[64];

    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/base/", port);
    struct http_client *client =
        http_client_open(&(struct http_client_options){.url = url,
                                                       .connect_timeout_ms = timeout_ms,
                                                       .timeout_ms = timeout_ms,
                                                       .answer_max = ANSWER_MAX,
                                                       .fresh = true,
                                                       .direct = true},
                         error);
    assert_non_null(client);
    return client;
}

static const struct http_request REQUEST = {
    .method = "POST", .path = {"/pay", 4}, .body = {"{}", 2}};

TEST(what_nobody_listens_to_was_not_sent)
{
    int port;
    struct buffer body;

    close(listen_somewhere(&port));
    struct http_client *client = client_of(port, PATIENT_MS);
    buffer_init(&body, ANSWER_MAX);
    struct http_answer answer = http_client_send(client, &REQUEST, &body);
    assert_int_equal(answer.outcome, HTTP_NOT_SENT);
    assert_int_equal(answer.status, 0);
    assert_contains(answer.why, "onnect");
    http_client_close(client);
    buffer_free(&body);
}

TEST(what_a_silent_server_may_have_read_may_have_been_sent)
{
    int port;
    struct buffer body;
    int listener = listen_somewhere(&port);
    struct http_client *client = client_of(port, QUICK_MS);

    buffer_init(&body, ANSWER_MAX);
    struct http_answer answer = http_client_send(client, &REQUEST, &body);
    assert_int_equal(answer.outcome, HTTP_MAYBE_SENT);
    assert_int_equal(answer.status, 0);
    http_client_close(client);
    buffer_free(&body);
    close(listener);
}

TEST(what_would_break_the_head_is_not_sent)
{
    static const char *const BAD[] = {"a\r\nX: b", "a\nb", "\x7f", "\xed\x95\x9c"};
    int port;
    struct buffer body;
    int listener = listen_somewhere(&port);
    struct http_client *client = client_of(port, QUICK_MS);

    buffer_init(&body, ANSWER_MAX);
    for (size_t i = 0; i < COUNT(BAD); i++) {
        const struct http_header header = {.name = "X-Bad", .value = str_of(BAD[i])};
        struct http_request request = REQUEST;
        request.headers = &header;
        request.header_count = 1;
        assert_int_equal(http_client_send(client, &request, &body).outcome, HTTP_NOT_SENT);
        request = REQUEST;
        request.path = str_of(BAD[i]);
        assert_int_equal(http_client_send(client, &request, &body).outcome, HTTP_NOT_SENT);
    }
    http_client_close(client);
    buffer_free(&body);
    close(listener);
}

/* Takes one connection, reads what comes until `end`, answers, and gives what was read to
 * `report`. */
static pid_t serve(int listener, const char *end, const char *answer, int report)
{
    pid_t child = fork();

    if (child == 0) {
        char seen[SEEN_MAX] = "";
        size_t length = 0;
        int link = accept(listener, NULL, NULL);
        while (strstr(seen, end) == NULL && length < sizeof(seen) - 1) {
            ssize_t n = read(link, seen + length, sizeof(seen) - 1 - length);
            if (n <= 0) {
                break;
            }
            length += (size_t)n;
            seen[length] = '\0';
        }
        (void)!write(report, seen, length);
        (void)!write(link, answer, strlen(answer));
        _exit(0);
    }
    return child;
}

static struct http_answer exchange(const struct http_request *request, const char *end,
                                   const char *text, char seen[SEEN_MAX], struct buffer *body)
{
    int port;
    int report[2];
    int listener = listen_somewhere(&port);

    assert_int_equal(pipe(report), 0);
    pid_t child = serve(listener, end, text, report[1]);
    assert_true(child > 0);
    close(report[1]);
    struct http_client *client = client_of(port, PATIENT_MS);
    struct http_answer answer = http_client_send(client, request, body);
    ssize_t n = read(report[0], seen, SEEN_MAX - 1);
    seen[n > 0 ? n : 0] = '\0';
    assert_int_equal(waitpid(child, NULL, 0), child);
    http_client_close(client);
    close(report[0]);
    close(listener);
    return answer;
}

TEST(a_request_goes_out_as_it_was_given)
{
    const struct http_header headers[] = {
        {.name = "Authorization", .value = STR("SECRET_KEY abc")},
        {.name = "Content-Type", .value = STR("application/json")},
    };
    const struct http_request request = {.method = "POST",
                                         .path = STR("/a/../b%2Fc"),
                                         .headers = headers,
                                         .header_count = COUNT(headers),
                                         .body = STR("{\"n\":1}")};
    char seen[SEEN_MAX];
    struct buffer body;

    buffer_init(&body, ANSWER_MAX);
    struct http_answer answer = exchange(
        &request, "{\"n\":1}",
        "HTTP/1.1 402 No\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnope", seen, &body);
    assert_int_equal(answer.outcome, HTTP_ANSWERED);
    assert_int_equal(answer.status, 402);
    assert_text(buffer_text(&body), "nope");
    assert_contains(seen, "POST /base/a/../b%2Fc HTTP/1.1\r\n");
    assert_contains(seen, "\r\nAuthorization: SECRET_KEY abc\r\n");
    assert_contains(seen, "\r\nContent-Type: application/json\r\n");
    assert_lacks(seen, "Expect");
    buffer_free(&body);
}

TEST(a_redirect_is_an_answer_and_half_an_answer_is_none)
{
    const struct http_request request = {.method = "GET", .path = STR("/x")};
    char seen[SEEN_MAX];
    struct buffer body;

    buffer_init(&body, ANSWER_MAX);
    struct http_answer answer =
        exchange(&request, "\r\n\r\n",
                 "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
                 seen, &body);
    assert_int_equal(answer.outcome, HTTP_ANSWERED);
    assert_int_equal(answer.status, 302);
    assert_contains(seen, "GET /base/x HTTP/1.1\r\n");
    answer = exchange(&request, "\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", seen,
                      &body);
    assert_int_equal(answer.outcome, HTTP_MAYBE_SENT);
    assert_int_equal(answer.status, 0);
    buffer_clear(&body);
    answer = exchange(&request, "\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nabc",
                      seen, &body);
    assert_int_equal(answer.outcome, HTTP_MAYBE_SENT);
    assert_string_equal(answer.why, "the answer is too large");
    buffer_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_tls_and_this_machine_are_spoken_to),
        cmocka_unit_test(no_value_can_add_a_field_to_the_form),
        cmocka_unit_test(what_nobody_listens_to_was_not_sent),
        cmocka_unit_test(what_a_silent_server_may_have_read_may_have_been_sent),
        cmocka_unit_test(what_would_break_the_head_is_not_sent),
        cmocka_unit_test(a_request_goes_out_as_it_was_given),
        cmocka_unit_test(a_redirect_is_an_answer_and_half_an_answer_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
