#include "lib/catalog/entry.h"

#include <stdio.h>

#include "lib/base/digest.h"

enum { ETAG_CHARACTERS = CATALOG_ETAG_TEXT - 2 }; /* 132 bits of the digest */

static const char *const PREFIXES[] = {
    [CATALOG_CONCERTS] = "concerts",
    [CATALOG_CONCERT] = "concert:",
    [CATALOG_SHOW] = "show:",
    [CATALOG_SEAT_PLAN] = "plan:",
};

bool catalog_key_make(enum catalog_kind kind, struct str id, struct catalog_key *key)
{
    if (kind == CATALOG_CONCERTS ? id.n != 0 : !identifier_is_slug(id)) {
        return false;
    }
    (void)snprintf(key->text, sizeof(key->text), "%s%.*s", PREFIXES[kind], STR_ARG(id));
    return true;
}

void catalog_etag_make(struct str text, char etag[CATALOG_ETAG_TEXT + 1])
{
    char digest[SHA256_TEXT + 1];

    sha256_text(text, digest);
    (void)snprintf(etag, CATALOG_ETAG_TEXT + 1, "\"%.*s\"", (int)ETAG_CHARACTERS, digest);
}
