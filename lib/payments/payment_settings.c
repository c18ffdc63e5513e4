#include "lib/payments/payment_settings.h"

#include <stdio.h>
#include <string.h>

static bool refuse(char error[PAYMENT_PROVIDER_ERROR], const char *why)
{
    (void)snprintf(error, PAYMENT_PROVIDER_ERROR, "%s", why);
    return false;
}

static bool is_clean(struct str url)
{
    for (size_t i = 0; i < url.n; i++) {
        char c = url.p[i];
        if (c <= 0x20 || c > 0x7e || strchr("\"<>\\^`{|}'", c) != NULL) {
            return false;
        }
    }
    return true;
}

/* http:// and this machine, for trying Sluice locally. */
static bool is_this_machine(struct str url)
{
    static const char *const BEGINNINGS[] = {"http://localhost", "http://127.0.0.1",
                                             "http://[::1]"};

    for (size_t i = 0; i < sizeof(BEGINNINGS) / sizeof(BEGINNINGS[0]); i++) {
        struct str beginning = str_of(BEGINNINGS[i]);
        if (str_starts(url, beginning)) {
            char next = url.n > beginning.n ? url.p[beginning.n] : '/';
            return next == '/' || next == ':';
        }
    }
    return false;
}

static bool is_path(struct str url)
{
    return url.n >= 1 && url.p[0] == '/' && (url.n == 1 || url.p[1] != '/');
}

bool payment_redirect_is_good(struct str url, bool local)
{
    if (url.n == 0 || url.n > PAYMENT_REDIRECT_URL_MAX || !is_clean(url)) {
        return false;
    }
    return str_starts(url, STR("https://")) ||
           (local && (str_starts(url, STR("http://")) || is_path(url)));
}

static bool public_url_fits(struct str url, bool local)
{
    if (url.n == 0) {
        return local;
    }
    return is_clean(url) && url.p[url.n - 1] != '/' && memchr(url.p, '?', url.n) == NULL &&
           memchr(url.p, '#', url.n) == NULL &&
           (str_starts(url, STR("https://")) || is_this_machine(url));
}

bool payment_settings_fit(const struct settings *settings, bool local,
                          char error[PAYMENT_PROVIDER_ERROR])
{
    if (settings->payment_secret_key_file[0] == '\0') {
        return refuse(error, "payment_secret_key_file must be set where payment_provider is");
    }
    if (settings->payment_cid[0] == '\0' && strcmp(settings->payment_provider, "kakaopay") == 0) {
        return refuse(error, "payment_cid must be set for kakaopay");
    }
    if (!public_url_fits(str_of(settings->payment_public_url), local)) {
        return refuse(error,
                      "payment_public_url must begin with https://, or with http:// and this "
                      "machine, and have no / at its end; only for a provider on this "
                      "machine it may be empty");
    }
    if (settings->payment_connect_timeout_ms > settings->payment_timeout_ms) {
        return refuse(error, "payment_connect_timeout_ms is above payment_timeout_ms");
    }
    if (settings->payment_grace_seconds * 1000 <
        settings->payment_timeout_ms + PAYMENT_SEND_WITHIN_MS) {
        return refuse(error, "payment_grace_seconds must be at least payment_timeout_ms plus three "
                             "seconds: an approval that begins at the end of the session may take "
                             "so long");
    }
    return true;
}
