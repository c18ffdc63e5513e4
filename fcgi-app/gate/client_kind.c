#include "fcgi-app/gate/client_kind.h"

#include <string.h>
#include <strings.h>

#include "fcgi-app/http/weight.h"

static bool same_word(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || strncasecmp(a.p, b.p, a.n) == 0);
}

/* True if one of the words between commas and semicolons is `word`. */
static bool names(struct str header, struct str word)
{
    struct str item;
    struct str part;

    while (header.n > 0) {
        (void)str_split(header, ',', &item, &header);
        while (item.n > 0) {
            (void)str_split(item, ';', &part, &item);
            if (same_word(str_trim(part), word)) {
                return true;
            }
        }
    }
    return false;
}

static bool is_prefetch(const struct client_headers *headers)
{
    const struct str prefetch = STR("prefetch");

    return names(headers->sec_purpose, prefetch) || names(headers->sec_purpose, STR("prerender")) ||
           names(headers->purpose, prefetch) || names(headers->x_purpose, prefetch) ||
           names(headers->x_moz, prefetch);
}

static bool is_document(struct str destination)
{
    static const char *const DOCUMENTS[] = {"document", "iframe", "frame",
                                            "embed",    "object", "fencedframe"};

    for (size_t i = 0; i < sizeof(DOCUMENTS) / sizeof(DOCUMENTS[0]); i++) {
        if (same_word(destination, str_of(DOCUMENTS[i]))) {
            return true;
        }
    }
    return false;
}

/* The weight among the parameters of a media range. */
static int range_weight(struct str parameters)
{
    struct str parameter;
    struct str name;
    struct str value;

    while (parameters.n > 0) {
        (void)str_split(parameters, ';', &parameter, &parameters);
        if (str_split(parameter, '=', &name, &value) && same_word(str_trim(name), STR("q"))) {
            return weight_parse(str_trim(value));
        }
    }
    return WEIGHT_ONE;
}

static bool is_html(struct str type)
{
    return same_word(type, STR("text/html")) || same_word(type, STR("application/xhtml+xml"));
}

static bool is_json(struct str type)
{
    const struct str suffix = STR("+json");

    return same_word(type, STR("application/json")) ||
           (type.n > suffix.n &&
            same_word(str_sized(type.p + type.n - suffix.n, suffix.n), suffix));
}

static bool prefers_html(struct str accept)
{
    struct str range;
    struct str type;
    int html = 0;
    int others = 0;
    int json_before_html = 0;

    while (accept.n > 0) {
        (void)str_split(accept, ',', &range, &accept);
        (void)str_split(range, ';', &type, &range);
        type = str_trim(type);
        int weight = range_weight(range);
        if (is_html(type)) {
            html = weight > html ? weight : html;
        } else if (type.n > 0 && memchr(type.p, '/', type.n) != NULL) {
            others = weight > others ? weight : others;
            if (html == 0 && is_json(type) && weight > json_before_html) {
                json_before_html = weight;
            }
        }
    }
    return html > json_before_html && html >= others;
}

/* Browsers name first what they need for a page: an image's Accept begins with image/avif. */
static bool prefers_part(struct str accept)
{
    static const char *const PARTS[] = {"image/", "text/css", "video/", "audio/", "font/"};
    struct str type = str_trim(accept);

    for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++) {
        size_t length = strlen(PARTS[i]);
        if (type.n >= length && same_word(str_sized(type.p, length), str_of(PARTS[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_app_name(struct str requested_with)
{
    return requested_with.n > 0 && memchr(requested_with.p, '.', requested_with.n) != NULL;
}

static enum client_kind navigation(struct str method)
{
    return str_equal(method, STR("GET")) || str_equal(method, STR("HEAD")) ? CLIENT_PAGE
                                                                           : CLIENT_FORM;
}

enum client_kind client_kind(const struct client_headers *headers)
{
    struct str mode = str_trim(headers->sec_fetch_mode);
    struct str destination = str_trim(headers->sec_fetch_dest);

    if (str_equal(headers->method, STR("OPTIONS")) &&
        headers->access_control_request_method.n > 0) {
        return CLIENT_PREFLIGHT;
    }
    if (is_prefetch(headers)) {
        return CLIENT_PREFETCH;
    }
    if (mode.n > 0) {
        return same_word(mode, STR("navigate")) ? navigation(headers->method) : CLIENT_FETCH;
    }
    if (destination.n > 0) {
        return is_document(destination) ? navigation(headers->method) : CLIENT_FETCH;
    }
    if (headers->x_requested_with.n > 0 && !is_app_name(headers->x_requested_with)) {
        return CLIENT_FETCH;
    }
    if (prefers_html(headers->accept)) {
        return navigation(headers->method);
    }
    return prefers_part(headers->accept) ? CLIENT_FETCH : CLIENT_APP;
}
