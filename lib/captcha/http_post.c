#include "lib/captcha/http_post.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include <curl/curl.h>

struct http_post {
    CURL *curl;
    struct buffer *body; /* of the exchange at hand */
    size_t received;     /* bytes of its answer */
    char error[CURL_ERROR_SIZE];
};

static bool refuse(char error[HTTP_POST_ERROR], const char *url, const char *why)
{
    (void)snprintf(error, HTTP_POST_ERROR, "%.400s: %s", url, why);
    return false;
}

static bool is_this_machine(const char *host)
{
    return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "[::1]") == 0 ||
           strcmp(host, "localhost") == 0;
}

static char *part_of(CURLU *parsed, CURLUPart part)
{
    char *text = NULL;

    return curl_url_get(parsed, part, &text, 0) == CURLUE_OK ? text : NULL;
}

/* `*local`: the address is one of this machine. */
static bool judge_parts(CURLU *parsed, const char *url, bool *local, char error[HTTP_POST_ERROR])
{
    char *scheme = part_of(parsed, CURLUPART_SCHEME);
    char *host = part_of(parsed, CURLUPART_HOST);
    char *user = part_of(parsed, CURLUPART_USER);
    bool good = true;

    *local = host != NULL && is_this_machine(host);
    if (scheme == NULL || host == NULL) {
        good = refuse(error, url, "is no address");
    } else if (user != NULL) {
        good = refuse(error, url, "must not hold a user or a password");
    } else if (strcmp(scheme, "https") != 0 && !(strcmp(scheme, "http") == 0 && *local)) {
        good = refuse(error, url, "must begin with https://, or with http:// and this machine");
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    return good;
}

static bool judge_url(const char *url, bool *local, char error[HTTP_POST_ERROR])
{
    CURLU *parsed = curl_url();

    if (parsed == NULL) {
        abort();
    }
    bool good = curl_url_set(parsed, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK
                    ? judge_parts(parsed, url, local, error)
                    : refuse(error, url, "is no address");
    curl_url_cleanup(parsed);
    return good;
}

static bool is_within_bounds(struct http_post *post, size_t more)
{
    post->received += more;
    return post->received <= HTTP_POST_ANSWER_MAX;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *post)
{
    (void)bytes;
    return is_within_bounds(post, size * count) ? size * count : 0;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *owner)
{
    struct http_post *post = owner;

    if (!is_within_bounds(post, size * count)) {
        return 0;
    }
    buffer_add(post->body, str_sized(bytes, size * count));
    return buffer_ok(post->body) ? size * count : 0;
}

static void set_options(struct http_post *post, const char *url, bool local, int64_t timeout_ms)
{
    CURL *curl = post->curl;

    (void)curl_easy_setopt(curl, CURLOPT_URL, url);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, local ? "http,https" : "https");
    (void)curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    (void)curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)(timeout_ms + 1) / 2);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_MAXFILESIZE, (long)HTTP_POST_ANSWER_MAX);
    (void)curl_easy_setopt(curl, CURLOPT_USERAGENT, "sluice/" PACKAGE_VERSION);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERDATA, post);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, post);
    (void)curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, post->error);
    if (local) {
        (void)curl_easy_setopt(curl, CURLOPT_PROXY, "");
    }
}

struct http_post *http_post_open(const char *url, int64_t timeout_ms, char error[HTTP_POST_ERROR])
{
    bool local;

    if (!judge_url(url, &local, error)) {
        return NULL;
    }
    struct http_post *post = calloc(1, sizeof(*post));
    if (post == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        abort();
    }
    post->curl = curl_easy_init();
    if (post->curl == NULL) {
        abort();
    }
    set_options(post, url, local, timeout_ms);
    return post;
}

void http_post_close(struct http_post *post)
{
    if (post != NULL) {
        curl_easy_cleanup(post->curl);
        curl_global_cleanup();
        free(post);
    }
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void http_form_write(struct buffer *out, const struct http_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_format(out, "%s%s=", i > 0 ? "&" : "", fields[i].name);
        for (size_t n = 0; n < fields[i].value.n; n++) {
            char c = fields[i].value.p[n];
            if (is_unreserved(c)) {
                buffer_add_char(out, c);
            } else {
                buffer_format(out, "%%%02X", (unsigned int)(unsigned char)c);
            }
        }
    }
}

static long perform(struct http_post *post, struct str form, const char **why)
{
    long status = 0;

    (void)curl_easy_setopt(post->curl, CURLOPT_POSTFIELDSIZE, (long)form.n);
    (void)curl_easy_setopt(post->curl, CURLOPT_POSTFIELDS, form.p);
    post->error[0] = '\0';
    CURLcode code = curl_easy_perform(post->curl);
    (void)curl_easy_setopt(post->curl, CURLOPT_POSTFIELDS, "");
    if (code == CURLE_OK) {
        (void)curl_easy_getinfo(post->curl, CURLINFO_RESPONSE_CODE, &status);
        return status;
    }
    *why = post->received > HTTP_POST_ANSWER_MAX || code == CURLE_FILESIZE_EXCEEDED
               ? "the answer is too large"
           : post->error[0] != '\0' ? post->error
                                    : curl_easy_strerror(code);
    return 0;
}

long http_post_send(struct http_post *post, const struct http_field *fields, size_t count,
                    struct buffer *body, const char **why)
{
    struct buffer form;
    long status = 0;

    buffer_init(&form, HTTP_POST_FORM_MAX);
    http_form_write(&form, fields, count);
    post->body = body;
    post->received = 0;
    *why = "the form is too large";
    if (buffer_ok(&form)) {
        status = perform(post, buffer_text(&form), why);
    }
    if (form.length > 0) {
        OPENSSL_cleanse(form.bytes, form.length);
    }
    buffer_free(&form);
    return status;
}
