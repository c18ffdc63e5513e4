#include "lib/identity/certificate.h"

#include <stdio.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

enum { DAY_S = 86400 };

/* Seconds from now until `time`; false if OpenSSL cannot read the time. */
static bool seconds_until(const ASN1_TIME *time, int64_t *seconds)
{
    int days = 0;
    int rest = 0;

    if (ASN1_TIME_diff(&days, &rest, NULL, time) != 1) {
        return false;
    }
    *seconds = (int64_t)days * DAY_S + rest;
    return true;
}

/* Refuses encrypted files: there is nobody to ask for a passphrase. */
static int no_passphrase(char *text, int size, int writing, void *context)
{
    (void)text;
    (void)size;
    (void)writing;
    (void)context;
    return 0;
}

bool certificate_read(const char *path, int64_t *seconds_left, bool *begun)
{
    FILE *file = fopen(path, "re");
    int count = 0;

    if (file == NULL) {
        return false;
    }
    *seconds_left = INT64_MAX;
    *begun = true;
    while (count < CERTIFICATE_CHAIN_MAX) {
        int64_t ends = 0;
        int64_t begins = 0;
        X509 *certificate = PEM_read_X509(file, NULL, no_passphrase, NULL);
        if (certificate == NULL) {
            break;
        }
        if (seconds_until(X509_get0_notAfter(certificate), &ends) &&
            seconds_until(X509_get0_notBefore(certificate), &begins)) {
            count++;
            *seconds_left = ends < *seconds_left ? ends : *seconds_left;
            *begun = *begun && begins <= 0;
        }
        X509_free(certificate);
    }
    ERR_clear_error();
    (void)fclose(file);
    return count > 0;
}
