#include "lib/http_client/http_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include <curl/curl.h>

enum { URL_MAX = 4096, HEADER_MAX = 8192 };

struct http_client {
    CURL *curl;
    char *url; /* a path is appended to it, without its final '/' */
    bool local;
    size_t answer_max;
    struct buffer *body; /* of the current exchange */
    size_t received;     /* bytes of its response */
    bool began;          /* connected: from here on something may have been sent */
    char error[CURL_ERROR_SIZE];
};

static bool refuse(char error[HTTP_CLIENT_ERROR], const char *url, const char *why)
{
    (void)snprintf(error, HTTP_CLIENT_ERROR, "%.400s: %s", url, why);
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

/* `*local`: the URL is on this machine. */
static bool judge_parts(CURLU *parsed, const char *url, bool *local, char error[HTTP_CLIENT_ERROR])
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

static bool judge_url(const char *url, bool *local, char error[HTTP_CLIENT_ERROR])
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

/* Called when the connection is established, before anything of the request is sent. */
static int take_connection(void *owner, char *remote, char *local, int remote_port, int local_port)
{
    struct http_client *client = owner;

    (void)remote;
    (void)local;
    (void)remote_port;
    (void)local_port;
    client->began = true;
    return CURL_PREREQFUNC_OK;
}

static bool is_within_bounds(struct http_client *client, size_t more)
{
    client->received += more;
    return client->received <= client->answer_max;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *owner)
{
    (void)bytes;
    return is_within_bounds(owner, size * count) ? size * count : 0;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *owner)
{
    struct http_client *client = owner;

    if (!is_within_bounds(client, size * count)) {
        return 0;
    }
    buffer_add(client->body, str_sized(bytes, size * count));
    return buffer_ok(client->body) ? size * count : 0;
}

static void set_options(struct http_client *client, const struct http_client_options *options)
{
    CURL *curl = client->curl;

    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, client->local ? "http,https" : "https");
    (void)curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    (void)curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)options->connect_timeout_ms);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)options->timeout_ms);
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_MAXFILESIZE, (long)options->answer_max);
    (void)curl_easy_setopt(curl, CURLOPT_USERAGENT, "sluice/" PACKAGE_VERSION);
    (void)curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, take_connection);
    (void)curl_easy_setopt(curl, CURLOPT_PREREQDATA, client);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERDATA, client);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, client);
    (void)curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->error);
    if (options->fresh) {
        (void)curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
        (void)curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
    }
    if (client->local || options->direct) {
        (void)curl_easy_setopt(curl, CURLOPT_PROXY, "");
    }
}

struct http_client *http_client_open(const struct http_client_options *options,
                                     char error[HTTP_CLIENT_ERROR])
{
    bool local;

    if (strlen(options->url) > URL_MAX / 2) {
        (void)refuse(error, options->url, "is too long");
        return NULL;
    }
    if (!judge_url(options->url, &local, error)) {
        return NULL;
    }
    struct http_client *client = calloc(1, sizeof(*client));
    if (client == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        abort();
    }
    client->curl = curl_easy_init();
    client->url = strdup(options->url);
    if (client->curl == NULL || client->url == NULL) {
        abort();
    }
    client->local = local;
    client->answer_max = options->answer_max;
    set_options(client, options);
    return client;
}

void http_client_close(struct http_client *client)
{
    if (client != NULL) {
        curl_easy_cleanup(client->curl);
        curl_global_cleanup();
        free(client->url);
        free(client);
    }
}

bool http_client_is_local(const struct http_client *client)
{
    return client->local;
}

static bool is_printable(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < 0x20 || text.p[i] > 0x7e) {
            return false;
        }
    }
    return true;
}

static void free_headers(struct curl_slist *list)
{
    for (struct curl_slist *line = list; line != NULL; line = line->next) {
        OPENSSL_cleanse(line->data, strlen(line->data));
    }
    curl_slist_free_all(list);
}

static void add_header(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);

    if (longer == NULL) {
        abort();
    }
    *list = longer;
}

/* Builds the header lines; false if one may not be sent. */
static bool write_headers(const struct http_request *request, struct curl_slist **list)
{
    char line[HEADER_MAX];
    bool good = request->header_count <= HTTP_CLIENT_HEADERS_MAX;

    for (size_t i = 0; good && i < request->header_count; i++) {
        const struct http_header *header = &request->headers[i];
        good = is_printable(header->value) && header->value.n < sizeof(line) &&
               snprintf(line, sizeof(line), "%s: %.*s", header->name, STR_ARG(header->value)) <
                   (int)sizeof(line);
        if (good) {
            add_header(list, line);
        }
    }
    OPENSSL_cleanse(line, sizeof(line));
    return good;
}

/* Concatenates the client's url and the path. */
static bool write_url(const struct http_client *client, struct str path, char url[URL_MAX])
{
    struct str base = str_of(client->url);

    if (path.n > 0 && base.n > 0 && base.p[base.n - 1] == '/') {
        base.n--;
    }
    return is_printable(path) && base.n + path.n < URL_MAX &&
           snprintf(url, URL_MAX, "%.*s%.*s", STR_ARG(base), STR_ARG(path)) < URL_MAX;
}

static void set_method(CURL *curl, const struct http_request *request)
{
    if (strcmp(request->method, "GET") == 0) {
        (void)curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
        return;
    }
    (void)curl_easy_setopt(curl, CURLOPT_POST, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)request->body.n);
    (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body.n > 0 ? request->body.p : "");
}

static const char *reason(const struct http_client *client, CURLcode code)
{
    if (client->received > client->answer_max || code == CURLE_FILESIZE_EXCEEDED) {
        return "the answer is too large";
    }
    return client->error[0] != '\0' ? client->error : curl_easy_strerror(code);
}

static struct http_answer perform(struct http_client *client)
{
    struct http_answer answer = {.outcome = HTTP_ANSWERED};

    client->error[0] = '\0';
    client->received = 0;
    client->began = false;
    CURLcode code = curl_easy_perform(client->curl);
    (void)curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, "");
    (void)curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, NULL);
    if (code == CURLE_OK) {
        (void)curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &answer.status);
    } else {
        answer.outcome = client->began ? HTTP_MAYBE_SENT : HTTP_NOT_SENT;
        answer.why = reason(client, code);
    }
    return answer;
}

struct http_answer http_client_send(struct http_client *client, const struct http_request *request,
                                    struct buffer *body)
{
    struct http_answer answer = {.outcome = HTTP_NOT_SENT,
                                 .why = "the request cannot be sent in this form"};
    struct curl_slist *headers = NULL;
    char url[URL_MAX];

    client->body = body;
    if (write_headers(request, &headers) && write_url(client, request->path, url) &&
        request->body.n <= HTTP_CLIENT_BODY_MAX) {
        (void)curl_easy_setopt(client->curl, CURLOPT_URL, url);
        (void)curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers);
        set_method(client->curl, request);
        answer = perform(client);
    }
    free_headers(headers);
    return answer;
}

void http_percent_write(struct buffer *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '-' || c == '.' || c == '_' || c == '~') {
            buffer_add_char(out, c);
        } else {
            buffer_format(out, "%%%02X", (unsigned int)(unsigned char)c);
        }
    }
}

void http_form_write(struct buffer *out, const struct http_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_format(out, "%s%s=", i > 0 ? "&" : "", fields[i].name);
        http_percent_write(out, fields[i].value);
    }
}
