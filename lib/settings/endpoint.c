#include "lib/settings/endpoint.h"

/* A name, an IPv4 address or, in brackets, an IPv6 address: only the characters are checked. */
static bool is_host(struct str host, bool in_brackets)
{
    if (host.n == 0 || host.n > ENDPOINT_HOST) {
        return false;
    }
    for (size_t i = 0; i < host.n; i++) {
        char c = host.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '.' && !(in_brackets ? c == ':' || c == '%' : c == '-' || c == '_')) {
            return false;
        }
    }
    return true;
}

bool endpoint_parse(struct str text, struct endpoint *endpoint)
{
    bool in_brackets = str_starts(text, STR("["));
    struct str host;
    struct str port;
    int64_t number;

    if (in_brackets) {
        text.p++;
        text.n--;
        if (!str_split(text, ']', &host, &port) || !str_starts(port, STR(":"))) {
            return false;
        }
        port.p++;
        port.n--;
    } else if (!str_split(text, ':', &host, &port)) {
        return false;
    }
    if (!is_host(host, in_brackets) || !str_to_int64(port, 1, 65535, &number)) {
        return false;
    }
    str_copy(host, endpoint->host, sizeof(endpoint->host));
    endpoint->port = (int)number;
    return true;
}

size_t endpoint_list(struct str text, struct endpoint endpoints[ENDPOINTS_MAX])
{
    size_t count = 0;
    bool more = true;

    while (more) {
        struct str word;
        more = str_split(text, ' ', &word, &text);
        if (word.n == 0) {
            continue;
        }
        if (count == ENDPOINTS_MAX || !endpoint_parse(word, &endpoints[count])) {
            return 0;
        }
        count++;
    }
    return count;
}
