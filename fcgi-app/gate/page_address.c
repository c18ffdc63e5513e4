#include "fcgi-app/gate/page_address.h"

#include <stdbool.h>

enum { ADDRESS_MAX = 4096, HOST_MAX = 256 };

/* Browsers take a path that starts with two slashes or contains a backslash for another host. */
static bool path_is_fit(struct str path)
{
    for (size_t i = 0; i < path.n; i++) {
        unsigned char c = (unsigned char)path.p[i];
        if (c <= 0x20 || c >= 0x7f || c == '\\') {
            return false;
        }
    }
    return path.n >= 1 && path.p[0] == '/' && (path.n == 1 || path.p[1] != '/');
}

struct str page_address(const struct request *request)
{
    struct str referer = {0}, host = {0}, rest, found;
    const struct request_parameter wanted[] = {
        {STR("HTTP_REFERER"), &referer, ADDRESS_MAX},
        {STR("SLUICE_HOST"), &host, HOST_MAX},
    };

    (void)request_parameters(request, wanted, sizeof(wanted) / sizeof(wanted[0]));
    if (str_starts(referer, STR("https://"))) {
        rest = str_sized(referer.p + 8, referer.n - 8);
    } else if (str_starts(referer, STR("http://"))) {
        rest = str_sized(referer.p + 7, referer.n - 7);
    } else {
        return STR("/");
    }
    (void)str_split(rest, '/', &found, &rest);
    if (host.n == 0 || !str_equal(found, host)) {
        return STR("/");
    }
    struct str path =
        str_sized(found.p + found.n, referer.n - (size_t)(found.p + found.n - referer.p));
    return path_is_fit(path) ? path : STR("/");
}
