/*
 * GET /v1/concerts — all concerts, those with the next show first, past ones last; at
 * most 1000.
 *
 * Reply     200 {"concerts": [{"id", "title", "venue", "shows", "firstShowAt", "lastShowAt"}]},
 *           with an ETag; 304 if If-None-Match names it. The times are null for a concert
 *           without shows
 * Errors    503 CATALOG_UNAVAILABLE
 * Touches   the catalogue's cache; sql/queries/catalog/catalog_concerts.sql if that has expired
 */
#include "fcgi-app/catalog/catalog_answer.h"
#include "fcgi-app/pool/handler.h"

void get_concerts(const struct services *services, const struct request *request,
                  struct response *response)
{
    catalog_answer(services, request, response, CATALOG_CONCERTS, str_sized(NULL, 0));
}
